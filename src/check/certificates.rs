//! Certificates that somebody has written by hand into the Secret that a cluster's servers use: whether they have the names that
//! clients, the operator and the probes verify. Secrets are not looked into: what is in them is no text.

use serde_json::Value;

use crate::finding::Finding;
use crate::object::Object;
use crate::own::Own;
use crate::render::certificate_names;
use crate::rule::Rule;
use crate::validate::Exposed;

/// How many names a message lists.
const LISTED: usize = 4;

pub(super) fn names(clusters: &[Exposed], objects: &[Object], findings: &mut Vec<Finding>) {
    for cluster in clusters.iter().filter(|cluster| cluster.tls) {
        let Some(secret) = cluster.tls_secret.as_deref() else { continue };
        let wanted = certificate_names(cluster);
        for object in objects.iter().filter(|object| is_certificate(object) && Own::new(object).is_none()) {
            let field = |pointer: &str| object.value.pointer(pointer).and_then(Value::as_str);
            let same_namespace = object.reference.namespace.as_deref() == cluster.namespace();
            if !same_namespace || field("/spec/secretName") != Some(secret) {
                continue;
            }
            let mut has: Vec<&str> = strings(object.value.pointer("/spec/dnsNames")).collect();
            has.extend(field("/spec/commonName"));
            let lacking: Vec<&str> = wanted.iter().map(String::as_str).filter(|name| !has.iter().any(|has| covers(has, name))).collect();
            if lacking.is_empty() {
                continue;
            }
            let mut list = lacking.iter().take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            if lacking.len() > LISTED {
                list.push_str(&format!(" and {} more", lacking.len().saturating_sub(LISTED)));
            }
            let message = format!(
                "the servers of cluster {} use this certificate, and it lacks {list}: add to `dnsNames` what clients, the operator and the probes verify",
                cluster.full_name()
            );
            findings.push(object.finding(Finding::warning(Rule::CertificateName, message).at("spec.dnsNames").proposed(wanted.clone())));
        }
    }
}

fn is_certificate(object: &Object) -> bool {
    object.group() == "cert-manager.io" && object.reference.kind == "Certificate"
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// A wildcard stands for one label.
fn covers(pattern: &str, name: &str) -> bool {
    let matches_wildcard = || name.split_once('.').is_some_and(|(_, domain)| pattern.strip_prefix("*.") == Some(domain));
    pattern.eq_ignore_ascii_case(name) || matches_wildcard()
}
