//! Names and labels of our objects: the operator's own, so that it knows them for what they are.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::Node;
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
    pub(super) labels: BTreeMap<String, String>,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

/// Labels with the indexes of a node on objects that the operator does not know.
pub const EXTENSION_SHARD_LABEL: &str = "fn.valkey.io/shard-index";
/// See [`EXTENSION_SHARD_LABEL`].
pub const EXTENSION_NODE_LABEL: &str = "fn.valkey.io/node-index";

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
    let of_the_operator = [CLUSTER_LABEL, SHARD_LABEL, NODE_LABEL];
    labels.retain(|key, _| !of_the_operator.contains(&key.as_str()));
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

/// Metadata of what leads to one node, where the operator knows nothing of external access.
pub(super) fn node_extension(exposed: &Exposed, name: String, node: &Node) -> Metadata {
    let mut meta = extension(exposed, name);
    let own = [
        ("app.kubernetes.io/component", "valkey-cluster".to_owned()),
        (EXTENSION_SHARD_LABEL, node.shard.to_string()),
        (EXTENSION_NODE_LABEL, node.index.to_string()),
    ];
    meta.labels.extend(own.map(|(key, value)| (key.to_owned(), value)));
    meta
}

/// What the operator puts on the shard's pods: these two keys and no others, whatever labels the user has.
pub(super) fn selector(exposed: &Exposed, shard: u32) -> BTreeMap<String, String> {
    BTreeMap::from([(CLUSTER_LABEL.to_owned(), exposed.name().to_owned()), (SHARD_LABEL.to_owned(), shard.to_string())])
}
