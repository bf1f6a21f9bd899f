//! Names and labels of our objects: the operator's own, so that it knows them for what they are.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::validate::Exposed;

/// Label with the cluster's name.
pub const CLUSTER_LABEL: &str = "valkey.io/cluster";
/// Label with the shard's index.
pub const SHARD_LABEL: &str = "valkey.io/shard-index";
/// Label with the node's index.
pub const NODE_LABEL: &str = "valkey.io/node-index";

/// Label with the cluster's name on objects that the operator does not know: never its own shard label, as it deletes Services
/// that have that and are none of its own.
pub const EXTENSION_LABEL: &str = "fn.valkey.io/cluster";

/// What `metadata` of our objects holds. The ObjectMeta of the Kubernetes types has dates as well, and with them a library of
/// dates that nothing here needs: a tenth of a WebAssembly module.
#[derive(Debug, Serialize)]
pub(super) struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) annotations: Option<BTreeMap<String, String>>,
    labels: BTreeMap<String, String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

/// What an object stands for.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Shard(u32),
    Node(u32, u32),
}

/// Labels of the cluster below the operator's own, which they never replace.
pub(super) fn metadata(exposed: &Exposed, name: String, component: &str, part: Part) -> Metadata {
    let mut labels = exposed.labels.clone();
    let mut set = |key: &str, value: String| labels.insert(key.to_owned(), value);
    set("app.kubernetes.io/name", "valkey".to_owned());
    set("app.kubernetes.io/instance", exposed.name().to_owned());
    set("app.kubernetes.io/component", component.to_owned());
    set("app.kubernetes.io/part-of", "valkey".to_owned());
    set("app.kubernetes.io/managed-by", "valkey-operator".to_owned());
    set(CLUSTER_LABEL, exposed.name().to_owned());
    match part {
        Part::Shard(shard) => set(SHARD_LABEL, shard.to_string()),
        Part::Node(shard, node) => {
            set(NODE_LABEL, node.to_string());
            set(SHARD_LABEL, shard.to_string())
        }
    };
    Metadata { annotations: None, labels, name, namespace: exposed.plan.cluster.namespace.clone() }
}

/// Metadata of an object that is this program's alone.
pub(super) fn extension(exposed: &Exposed, name: String) -> Metadata {
    let mut labels = exposed.labels.clone();
    labels.retain(|key, _| key != CLUSTER_LABEL && key != SHARD_LABEL && key != NODE_LABEL);
    let own = [
        ("app.kubernetes.io/name", "valkey"),
        ("app.kubernetes.io/instance", exposed.name()),
        ("app.kubernetes.io/component", "external-access"),
        ("app.kubernetes.io/part-of", "valkey"),
        ("app.kubernetes.io/managed-by", "expose-valkey"),
        (EXTENSION_LABEL, exposed.name()),
    ];
    labels.extend(own.map(|(key, value)| (key.to_owned(), value.to_owned())));
    Metadata { annotations: None, labels, name, namespace: exposed.plan.cluster.namespace.clone() }
}

/// What the operator puts on the shard's pods: these two keys and no others, whatever labels the user has.
pub(super) fn selector(exposed: &Exposed, shard: u32) -> BTreeMap<String, String> {
    BTreeMap::from([(CLUSTER_LABEL.to_owned(), exposed.name().to_owned()), (SHARD_LABEL.to_owned(), shard.to_string())])
}
