//! Certificates that somebody has written by hand into the Secret that a cluster's servers use: whether they have the names that
//! clients, the operator and the probes verify, and so have certificates that lie in the Secret itself. And whether a Certificate of
//! ours is the only one for its Secret.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::finding::Finding;
use crate::object::Object;
use crate::own::Own;
use crate::render::certificate_names;
use crate::rule::Rule;
use crate::validate::{Config, Exposed, full_name};

/// How many names a message lists.
const LISTED: usize = 4;

/// Two Certificates for one Secret: cert-manager makes one or the other, or none.
pub(super) fn shared(clusters: &[Exposed], config: &Config, objects: &[Object], findings: &mut Vec<Finding>) {
    if config.issuer.is_none() {
        return;
    }
    // By namespace and name of the Secret: the Certificate of somebody else, or the cluster that gets one.
    let mut foreign: HashMap<(Option<&str>, &str), &Object> = HashMap::new();
    for object in objects.iter().filter(|object| is_certificate(object) && Own::new(object).is_none()) {
        if let Some(secret) = object.value.pointer("/spec/secretName").and_then(Value::as_str) {
            foreign.insert((object.reference.namespace.as_deref(), secret), object);
        }
    }
    let mut own: HashMap<(Option<&str>, &str), &Exposed> = HashMap::new();
    for cluster in clusters {
        let Some(secret) = cluster.tls_secret.as_deref() else { continue };
        let place = (cluster.namespace(), secret);
        let first = *own.entry(place).or_insert(cluster);
        let other = match foreign.get(&place) {
            Some(object) => format!("Certificate {}", full_name(place.0, &object.reference.name)),
            // A cluster that is there twice has been reported.
            None if first.full_name() != cluster.full_name() => format!("the Certificate of cluster {}", first.full_name()),
            None => continue,
        };
        let message = format!(
            "`emit.certificates: CertManager` writes a Certificate for Secret `{secret}`, which {other} makes already, with other names: give the cluster a Secret of its own, or keep one Certificate only"
        );
        findings.push(cluster.finding(Finding::error(Rule::CertificateShared, message).at("spec").current(secret)));
    }
}

pub(super) fn names(clusters: &[Exposed], objects: &[Object], findings: &mut Vec<Finding>) {
    let holds_names = |object: &&Object| is_certificate(object) || object.reference.kind == "Secret";
    let objects: Vec<&Object> = objects.iter().filter(holds_names).filter(|object| Own::new(object).is_none()).collect();
    for cluster in clusters.iter().filter(|cluster| cluster.tls) {
        let Some(secret) = cluster.tls_secret.as_deref() else { continue };
        let wanted = certificate_names(cluster);
        for object in &objects {
            let same_namespace = object.reference.namespace.as_deref() == cluster.namespace();
            let Some(names) = Names::of(object, secret).filter(|_| same_namespace) else { continue };
            let has = names.list();
            let lacking: Vec<&str> = wanted.iter().map(String::as_str).filter(|name| !has.iter().any(|has| covers(has, name))).collect();
            if lacking.is_empty() {
                continue;
            }
            let mut list = lacking.iter().take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            if lacking.len() > LISTED {
                list.push_str(&format!(" and {} more", lacking.len().saturating_sub(LISTED)));
            }
            let finding = match names {
                Names::Asked(_) => {
                    let message = format!(
                        "the servers of cluster {} use this certificate, and it lacks {list}: add to `dnsNames` what clients, the operator and the probes verify",
                        cluster.full_name()
                    );
                    Finding::warning(Rule::CertificateName, message).at("spec.dnsNames").proposed(wanted.clone())
                }
                Names::Given(_) => {
                    let message = format!(
                        "the servers of cluster {} use the certificate in `tls.crt`, and it lacks {list}: have one made that has all names that clients, the operator and the probes verify",
                        cluster.full_name()
                    );
                    Finding::warning(Rule::CertificateName, message).at("data")
                }
            };
            findings.push(object.finding(finding));
        }
    }
}

/// The names of a certificate.
enum Names {
    /// That cert-manager is to make.
    Asked(Vec<String>),
    /// That is there.
    Given(Vec<String>),
}

impl Names {
    /// Those of what ends up in the Secret of this name, where the object says it. A common name counts for nothing: the operator,
    /// in Go, does not look at it.
    fn of(object: &Object, secret: &str) -> Option<Self> {
        let field = |pointer: &str| object.value.pointer(pointer).and_then(Value::as_str);
        if is_certificate(object) {
            return (field("/spec/secretName") == Some(secret))
                .then(|| Names::Asked(strings(object.value.pointer("/spec/dnsNames")).map(str::to_owned).collect()));
        }
        if object.reference.api_version != "v1" || object.reference.kind != "Secret" || object.reference.name != secret {
            return None;
        }
        let encoded = || field("/data/tls.crt").and_then(base64).and_then(|data| String::from_utf8(data).ok());
        let pem = field("/stringData/tls.crt").map(str::to_owned).or_else(encoded)?;
        names_of_pem(&pem).map(Names::Given)
    }

    fn list(&self) -> &[String] {
        let (Names::Asked(list) | Names::Given(list)) = self;
        list
    }
}

/// DNS names of the first certificate of a file, the server's own; nothing where it is none, as when it is encrypted in Git.
fn names_of_pem(pem: &str) -> Option<Vec<String>> {
    let (_, rest) = pem.split_once("-----BEGIN CERTIFICATE-----")?;
    let (body, _) = rest.split_once("-----END CERTIFICATE-----")?;
    alternative_names(&base64(body)?)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(text).ok()
}

/// The DNS names of a certificate's extension subjectAltName, RFC 5280, 4.2.1.6; empty where there is no such extension.
fn alternative_names(der: &[u8]) -> Option<Vec<String>> {
    const OID: &[u8] = &[0x55, 0x1d, 0x11];
    let (_, certificate, _) = element(der)?;
    let (_, signed, _) = element(certificate)?;
    let Some((_, extensions)) = elements(signed).find(|(tag, _)| *tag == 0xa3) else { return Some(Vec::new()) };
    let (_, extensions, _) = element(extensions)?;
    let names = elements(extensions).find_map(|(_, extension)| {
        let (_, id, _) = element(extension)?;
        let (_, value) = elements(extension).last()?;
        (id == OID).then_some(value)
    });
    let Some(names) = names else { return Some(Vec::new()) };
    let (_, names, _) = element(names)?;
    Some(elements(names).filter(|(tag, _)| *tag == 0x82).filter_map(|(_, name)| String::from_utf8(name.to_vec()).ok()).collect())
}

/// Tag and content of the first element of some DER, and what comes after it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, length], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        // Four bytes of length are more than any file here has.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            (bytes.iter().try_fold(0_usize, |length, byte| length.checked_mul(256)?.checked_add(usize::from(*byte)))?, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Tag and content of each element of some DER.
fn elements(mut der: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, content, rest) = element(der)?;
        der = rest;
        Some((tag, content))
    })
}

fn is_certificate(object: &Object) -> bool {
    object.group() == "cert-manager.io" && object.reference.kind == "Certificate"
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// A wildcard stands for one label.
fn covers(pattern: &str, name: &str) -> bool {
    let matches_wildcard = || {
        let (_, domain) = name.split_once('.')?;
        Some(pattern.strip_prefix("*.")?.eq_ignore_ascii_case(domain))
    };
    pattern.eq_ignore_ascii_case(name) || matches_wildcard() == Some(true)
}
