//! A certificate with every name by which a server is called.

use serde_json::{Value, json};

use super::metadata::extension;
use super::{CERTIFICATE, dns};
use crate::api::IssuerRef;
use crate::plan::external_name;
use crate::validate::Exposed;

/// Every name by which a server is called: the announced ones, the headless Service's (the operator verifies it, else the
/// cluster never forms) and `localhost` (the probes do).
#[must_use]
pub fn certificate_names(exposed: &Exposed) -> Vec<String> {
    let mut names: Vec<String> = exposed.plan.shards.iter().flat_map(|shard| dns::names(exposed, shard)).collect();
    names.extend(exposed.namespace().map(|namespace| format!("valkey-{}.{namespace}.svc.cluster.local", exposed.name())));
    names.push("localhost".to_owned());
    names
}

/// Nothing for a cluster without TLS.
pub(super) fn certificate(exposed: &Exposed, issuer: &IssuerRef) -> Option<Value> {
    let secret = exposed.tls_secret.as_ref()?;
    Some(json!({
        "apiVersion": CERTIFICATE.api_version,
        "kind": CERTIFICATE.kind,
        "metadata": extension(exposed, external_name(exposed.name())),
        "spec": {
            "dnsNames": certificate_names(exposed),
            "issuerRef": {
                "group": issuer.group.as_deref().unwrap_or("cert-manager.io"),
                "kind": issuer.kind.as_deref().unwrap_or("Issuer"),
                "name": issuer.name,
            },
            "secretName": secret,
        },
    }))
}
