//! The places where the operator's API keeps the same thing: that of pull request 281, today's main, and the one decided for
//! external access (`spec.networking.external`).

use serde_json::{Map, Value};

use super::nearest::distance;
use super::shape::shown;
use crate::finding::Finding;
use crate::rule::Rule;

/// A value at a path of keys, null taken for absent.
pub(super) fn at<'a>(spec: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut steps = path.split('.');
    let mut value = spec.get(steps.next()?)?;
    for step in steps {
        value = value.get(step)?;
    }
    (!value.is_null()).then_some(value)
}

/// Old place, new place of what is handed on to the nodes.
const MOVED: [(&str, &str); 5] = [
    ("tls", "networking.tls"),
    ("nodeSelector", "scheduling.nodeSelector"),
    ("affinity", "scheduling.affinity"),
    ("tolerations", "scheduling.tolerations"),
    ("topologySpreadConstraints", "scheduling.topologySpreadConstraints"),
];

/// Reports what is said in both places.
pub(super) fn check_places(spec: &Map<String, Value>, findings: &mut Vec<Finding>) {
    for (old, new) in MOVED {
        if at(spec, old).is_some() && at(spec, new).is_some() {
            let message =
                format!("`spec.{old}` and `spec.{new}` are two spellings of the same setting: keep the one that your operator reads");
            findings.push(Finding::error(Rule::TwoPlaces, message).at(format!("spec.{old}")));
        }
    }
}

/// Where a cluster's external access is written.
pub(super) struct AccessPlace<'a> {
    /// Path of the mapping.
    pub(super) path: &'static str,
    /// The mapping, or what stands in its place.
    pub(super) value: &'a Value,
    /// In the new place there is no `enabled`: being there is being on.
    pub(super) on_by_presence: bool,
}

/// Finds external access, in either place; a near miss of its name is an error, as it would switch the feature off unseen.
pub(super) fn external_access<'a>(spec: &'a Map<String, Value>, findings: &mut Vec<Finding>) -> Option<AccessPlace<'a>> {
    for key in spec.keys() {
        if key != "externalAccess" && distance(key, "externalAccess") <= 2 {
            let message = format!("there is no field `{key}`: did you mean `externalAccess`?");
            findings.push(Finding::error(Rule::UnknownField, message).at(format!("spec.{key}")).proposed("externalAccess"));
        }
    }
    let old = at(spec, "externalAccess");
    let new = at(spec, "networking.external");
    if let (Some(_), Some(_)) = (old, new) {
        let message = "`spec.externalAccess` and `spec.networking.external` are both set: keep the one that your operator reads";
        findings.push(Finding::error(Rule::TwoPlaces, message).at("spec.networking.external"));
    }
    match (old, new) {
        (Some(value), _) => Some(AccessPlace { path: "spec.externalAccess", value, on_by_presence: false }),
        (None, Some(value)) => Some(AccessPlace { path: "spec.networking.external", value, on_by_presence: true }),
        (None, None) => None,
    }
}

/// Where TLS is set, and where its Secret is named, in either spelling.
const TLS: [(&str, &str); 2] = [("tls", "tls.certificate.secretName"), ("networking.tls", "networking.tls.certificates.server.secretName")];

/// The Secret with the servers' certificate.
pub(super) fn tls_secret(spec: &Map<String, Value>) -> Option<String> {
    TLS.iter().find_map(|(_, secret)| at(spec, secret)?.as_str().map(str::to_owned))
}

/// Whether the servers speak TLS.
pub(super) fn tls(spec: &Map<String, Value>, findings: &mut Vec<Finding>) -> bool {
    for (place, secret) in TLS {
        let Some(value) = at(spec, place) else { continue };
        if !value.is_object() {
            let message = format!("must be a mapping, got {}", shown(value));
            findings.push(Finding::error(Rule::WrongType, message).at(format!("spec.{place}")));
        } else if at(spec, secret).is_none() {
            let message =
                format!("TLS is on, but the certificate's Secret is not named where the operator looks for it: set `spec.{secret}`");
            findings.push(Finding::warning(Rule::UnknownField, message).at(format!("spec.{secret}")));
        }
    }
    TLS.iter().any(|(place, _)| at(spec, place).is_some())
}
