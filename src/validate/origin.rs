//! Whose field is wrong: that of the cluster itself, or that of the functionConfig which gave it.

use serde_json::Value;

use super::{Config, flat, full_name, spellings};
use crate::finding::{FileRef, Finding, ObjectRef};
use crate::object::Object;

/// Where most findings say that a setting is; the place of the cluster may be another.
const USUAL: &str = "spec.externalAccess";

/// Where the settings of a cluster's external access come from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Namespace and name of the cluster.
    cluster: String,
    /// Path of the cluster's own settings, and what is there.
    path: &'static str,
    own: Option<Value>,
    given: Option<Given>,
}

/// Settings of the functionConfig that hold for a cluster.
#[derive(Clone, Debug)]
struct Given {
    object: ObjectRef,
    file: Option<FileRef>,
    /// Index of the entry of `spec.clusters`; none for a ConfigMap of flat keys.
    entry: Option<usize>,
    access: Value,
}

impl Origin {
    pub(super) fn new(object: &Object, config: &Config) -> Self {
        let spec = object.value.get("spec").and_then(Value::as_object);
        let place = spec.and_then(|spec| spellings::external_access(spec, &mut Vec::new()));
        let given = config.source.as_ref().zip(config.defaults_for(object)).map(|(source, (entry, access))| Given {
            object: source.reference.clone(),
            file: source.file.clone(),
            entry: (source.reference.kind != "ConfigMap").then_some(entry),
            access: access.clone(),
        });
        Origin {
            cluster: full_name(object.reference.namespace.as_deref(), &object.reference.name),
            path: place.as_ref().map_or(USUAL, |place| place.path),
            own: place.map(|place| place.value.clone()),
            given,
        }
    }

    /// The finding about a field of the cluster's settings, or of whatever gave that field.
    pub(super) fn attribute(&self, finding: Finding) -> Finding {
        let field = finding.field.clone().unwrap_or_default();
        let below = |path: &str| field.strip_prefix(path)?.strip_prefix('.').map(str::to_owned);
        let Some(rest) = below(self.path).or_else(|| below(USUAL)) else { return finding };
        let steps: Vec<&str> = rest.split('.').collect();
        match &self.given {
            Some(given) if self.is_given(&steps) => given.finding(finding, &rest, &self.cluster),
            _ => finding.at(format!("{}.{rest}", self.path)),
        }
    }

    /// The same for an entry of a mapping whose key may have dots in it; the field is that of the mapping.
    pub(super) fn attribute_entry(&self, finding: Finding, mapping: &str, key: &str) -> Finding {
        match &self.given {
            Some(given) if self.is_given(&[mapping, key]) => given.finding(finding, mapping, &self.cluster),
            _ => finding.at(format!("{}.{mapping}", self.path)),
        }
    }

    /// Whether a setting comes from the functionConfig. What is missing is missing there, if it is where the most around it is.
    pub(super) fn is_given(&self, steps: &[&str]) -> bool {
        self.given.as_ref().is_some_and(|given| depth(Some(&given.access), steps) > depth(self.own.as_ref(), steps))
    }

    /// Whether both get a setting from the same entry of the functionConfig.
    pub(super) fn shares(&self, other: &Origin, steps: &[&str]) -> bool {
        let entry = |origin: &Origin| origin.given.as_ref().filter(|_| origin.is_given(steps)).map(|given| given.entry);
        entry(self).is_some_and(|own| entry(other) == Some(own))
    }
}

impl Given {
    fn finding(&self, finding: Finding, rest: &str, cluster: &str) -> Finding {
        let field = match self.entry {
            Some(entry) => format!("spec.clusters[{entry}].externalAccess.{rest}"),
            None => flat::key_of(rest).map_or_else(|| "data".to_owned(), |key| format!("data.{key}")),
        };
        let order = finding.order;
        let message =
            if finding.message.contains(cluster) { finding.message.clone() } else { format!("for cluster {cluster}: {}", finding.message) };
        Finding { message, ..finding }.at(field).of(self.object.clone(), self.file.clone(), order)
    }
}

/// How many steps of a path are there, the start counted too.
fn depth(value: Option<&Value>, steps: &[&str]) -> usize {
    let Some(mut value) = value.filter(|value| !value.is_null()) else { return 0 };
    for (done, step) in steps.iter().enumerate() {
        match value.get(step).filter(|value| !value.is_null()) {
            Some(next) => value = next,
            None => return done.saturating_add(1),
        }
    }
    steps.len().saturating_add(1)
}
