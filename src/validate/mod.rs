//! From what users wrote to values that cannot be wrong. Every fault becomes a finding; none stops the others from being found.

mod access;
mod announce;
mod cluster;
mod config;
mod flat;
mod nearest;
mod origin;
pub mod server;
mod shape;
mod spellings;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

pub use cluster::{cluster, read_back};
pub use config::{Config, LiveSettings, config};
pub use origin::Origin;
pub use shape::schema_of;

use crate::api::{ExternalAccess, ServiceType, TrafficPolicy};
use crate::finding::{FileRef, Finding, ObjectRef};
use crate::plan::{self, Plan, Port};

/// What a cluster's nodes already have in the list, by shard and node.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// NodePorts of Services that are there.
    pub node_ports: BTreeMap<(u32, u32), Port>,
}

/// A cluster that is to be exposed: every value in range, all names valid, every port fits.
#[derive(Clone, Debug)]
pub struct Exposed {
    /// Shards, nodes, names, ports.
    pub plan: Plan,
    /// The shards' Services.
    pub service: Service,
    /// The Gateway, if there is one.
    pub gateway: Option<Gateway>,
    /// The cluster's own settings with those of the functionConfig below them.
    pub access: ExternalAccess,
    /// Which of them are whose.
    pub origin: Origin,
    /// Whether clients are sent to hostnames.
    pub prefers_hostnames: bool,
    /// Whether the servers speak TLS.
    pub tls: bool,
    /// The Secret with the servers' certificate.
    pub tls_secret: Option<String>,
    /// Labels of the cluster.
    pub labels: BTreeMap<String, String>,
    /// `spec` as it was written, without what `announce: Command` has added to it: for what is only handed on.
    pub spec: Map<String, Value>,
    /// The cluster, for findings.
    pub object: ObjectRef,
    /// Its file.
    pub file: Option<FileRef>,
    /// Keys of its annotations that name a file: new objects of its get the same.
    pub file_annotations: BTreeSet<String>,
    /// Its place in the input.
    pub order: usize,
}

/// Settings of the shards' Services.
#[derive(Clone, Debug)]
pub struct Service {
    /// Type of the Services.
    pub service_type: ServiceType,
    /// Only where the type has a use for it.
    pub traffic_policy: Option<TrafficPolicy>,
    /// Annotations as written, placeholders and all.
    pub annotations: BTreeMap<String, String>,
}

/// The Gateway that routes attach to.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// Name of the Gateway.
    pub name: String,
    /// Its namespace as written: without one it is the cluster's. It may be that, written out: see [`Exposed::gateway_is_elsewhere`].
    pub namespace: Option<String>,
    /// Name of the listener, `{shard}` and `{node}` not yet replaced.
    pub section_name: Option<String>,
}

impl Exposed {
    /// Whether the Gateway is in another namespace than the cluster.
    #[must_use]
    pub fn gateway_is_elsewhere(&self) -> bool {
        let namespace = self.gateway.as_ref().and_then(|gateway| gateway.namespace.as_deref());
        namespace.is_some_and(|namespace| Some(namespace) != self.namespace())
    }

    /// A finding about this cluster; about the functionConfig, if the field is one below `spec.externalAccess` that comes from
    /// there.
    #[must_use]
    pub fn finding(&self, finding: Finding) -> Finding {
        self.origin.attribute(finding.of(self.object.clone(), self.file.clone(), self.order))
    }

    /// A finding about one of the `serviceAnnotations`.
    #[must_use]
    pub fn finding_of_annotation(&self, key: &str, finding: Finding) -> Finding {
        let finding = finding.of(self.object.clone(), self.file.clone(), self.order);
        self.origin.attribute_entry(finding, "serviceAnnotations", key)
    }

    /// Whether a field below `externalAccess` comes from the functionConfig.
    #[must_use]
    pub fn is_given(&self, steps: &[&str]) -> bool {
        self.origin.is_given(steps)
    }

    /// Whether this cluster and another have a field below `externalAccess` from the same entry of the functionConfig.
    #[must_use]
    pub fn shares(&self, other: &Exposed, steps: &[&str]) -> bool {
        self.origin.shares(&other.origin, steps)
    }

    /// The cluster's namespace.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.plan.cluster.namespace.as_deref()
    }

    /// The cluster's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.plan.cluster.name.as_str()
    }

    /// Namespace and name, as people say it.
    #[must_use]
    pub fn full_name(&self) -> String {
        full_name(self.namespace(), self.name())
    }

    /// An annotation value with `{shard}`, `{cluster}`, `{namespace}` and `{hostname}` replaced for a shard. All other braces
    /// stay, so that JSON in an annotation is safe; `{{shard}}` stands for the text `{shard}`. A namespace or hostname that
    /// the cluster does not have leaves its placeholder as it is.
    #[must_use]
    pub fn annotation_for(&self, value: &str, shard: &plan::Shard) -> String {
        self.annotation(value, shard.index, None, shard.hostname.as_ref())
    }

    /// The same for a node that has a Service of its own: with `{node}`, and with the hostname that the node announces.
    #[must_use]
    pub fn annotation_for_node(&self, value: &str, node: &plan::Node) -> String {
        self.annotation(value, node.shard, Some(node.index), node.hostname.as_ref())
    }

    /// The same for a Service that leads to all nodes: nothing, if it is about one shard or one node.
    #[must_use]
    pub fn annotation_for_all(&self, value: &str) -> Option<String> {
        let with = |one: &str| self.replaced(value, |name| matches!(name, "shard" | "node" | "hostname").then(|| one.to_owned()));
        let text = with("0");
        (text == with("1")).then_some(text)
    }

    fn annotation(&self, value: &str, shard: u32, node: Option<u32>, hostname: Option<&plan::Hostname>) -> String {
        let hostname = hostname.map(plan::Hostname::as_str);
        self.replaced(value, |name| match name {
            "shard" => Some(shard.to_string()),
            "node" => node.map(|node| node.to_string()),
            "hostname" => Some(hostname.unwrap_or("{hostname}").to_owned()),
            _ => None,
        })
    }

    fn replaced(&self, value: &str, of_one: impl Fn(&str) -> Option<String>) -> String {
        replace_placeholders(value, |name| match name {
            "cluster" => Some(self.name().to_owned()),
            "namespace" => Some(self.namespace().unwrap_or("{namespace}").to_owned()),
            _ => of_one(name),
        })
    }
}

impl Gateway {
    /// The listener's name for a node.
    #[must_use]
    pub fn section_name_for(&self, node: &plan::Node) -> Option<String> {
        let name = self.section_name.as_ref()?;
        Some(replace_placeholders(name, |placeholder| match placeholder {
            "shard" => Some(node.shard.to_string()),
            "node" => Some(node.index.to_string()),
            _ => None,
        }))
    }
}

/// `namespace/name`, or the name alone.
#[must_use]
pub fn full_name(namespace: Option<&str>, name: &str) -> String {
    namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

fn replace_placeholders(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let doubled = from.starts_with("{{");
        let (inner, close) = if doubled { (from.get(2..), "}}") } else { (from.get(1..), "}") };
        let inner = inner.unwrap_or_default();
        let (word, behind) = inner.split_at(inner.bytes().take_while(u8::is_ascii_lowercase).count());
        match value(word).filter(|_| behind.starts_with(close)) {
            Some(found) => {
                out.push_str(&if doubled { format!("{{{word}}}") } else { found });
                rest = behind.get(close.len()..).unwrap_or_default();
            }
            None => {
                out.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::replace_placeholders;

    #[test]
    fn only_known_placeholders_are_replaced() {
        let value = |name: &str| (name == "shard").then(|| "2".to_owned());
        for (text, expected) in [
            ("kv-{shard}.example.org", "kv-2.example.org"),
            ("{shard}{shard}", "22"),
            ("{{shard}}", "{shard}"),
            (r#"{"a": {"b": 1}}"#, r#"{"a": {"b": 1}}"#),
            (r#"{"a": "{shard}"}"#, r#"{"a": "2"}"#),
            ("{other} {", "{other} {"),
            ("{{ .Values.x }}", "{{ .Values.x }}"),
            ("", ""),
        ] {
            assert_eq!(replace_placeholders(text, value), expected, "{text}");
        }
    }
}
