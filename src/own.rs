//! Which objects of the list are outputs of ours from an earlier run: known by kind, name and
//! labels together.

use std::collections::HashMap;

use serde_json::Value;

use crate::object::Object;
use crate::plan::{self, Port};
use crate::render::{CLUSTER_LABEL, EXTENSION_LABEL, EXTENSION_NODE_LABEL, EXTENSION_SHARD_LABEL, NODE_LABEL, SHARD_LABEL};

/// Kind, namespace and name: what makes an object the same object.
pub type Key = (&'static str, Option<String>, String);

/// An output of an earlier run.
#[derive(Debug)]
pub struct Own<'o> {
    /// Its kind, and so on.
    pub key: Key,
    /// Name of the cluster that it belongs to; the namespace is the same.
    pub cluster: String,
    /// Shard index of its label; 0 for what there is one of.
    pub shard: u32,
    /// Node index of its label, where it is a node's.
    pub node: Option<u32>,
    /// The object.
    pub object: &'o Object,
}

/// Group and kind of everything that we render; versions come and go.
const KINDS: [(&str, &str); 7] = [
    ("", "Service"),
    ("valkey.io", "ValkeyNode"),
    ("gateway.networking.k8s.io", "TCPRoute"),
    ("gateway.networking.k8s.io", "TLSRoute"),
    ("gateway.networking.k8s.io", "ListenerSet"),
    ("externaldns.k8s.io", "DNSEndpoint"),
    ("cert-manager.io", "Certificate"),
];

/// The kind of an object, if it is one that we render.
#[must_use]
pub fn rendered_kind(api_version: &str, kind: &str) -> Option<&'static str> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    KINDS.iter().find(|known| **known == (group, kind)).map(|(_, kind)| *kind)
}

/// The object's key, if it is of a kind that we render.
#[must_use]
pub fn key(object: &Object) -> Option<Key> {
    let kind = rendered_kind(&object.reference.api_version, &object.reference.kind)?;
    Some((kind, object.reference.namespace.clone(), object.reference.name.clone()))
}

/// The key of an object that was just rendered.
#[must_use]
pub fn key_of_value(value: &Value) -> Option<Key> {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let kind = rendered_kind(text("/apiVersion")?, text("/kind")?)?;
    Some((kind, text("/metadata/namespace").map(str::to_owned), text("/metadata/name")?.to_owned()))
}

impl<'o> Own<'o> {
    /// Takes an object if it is one of ours.
    #[must_use]
    pub fn new(object: &'o Object) -> Option<Self> {
        let key = key(object)?;
        let index = |label: &str| object.label(label)?.parse::<u32>().ok();
        if let (Some(cluster), Some(shard), Some(node)) =
            (object.label(EXTENSION_LABEL), index(EXTENSION_SHARD_LABEL), index(EXTENSION_NODE_LABEL))
        {
            let name = match key.0 {
                "Service" => plan::node_service_name(cluster, shard, node),
                "TCPRoute" | "TLSRoute" => plan::route_name(cluster, shard, node),
                _ => return None,
            };
            return (name == key.2).then(|| Own { cluster: cluster.to_owned(), shard, node: Some(node), object, key });
        }
        if let Some(cluster) = object.label(EXTENSION_LABEL) {
            return is_extension(key.0, &key.2, cluster).then(|| Own { cluster: cluster.to_owned(), shard: 0, node: None, object, key });
        }
        let cluster = object.label(CLUSTER_LABEL)?.to_owned();
        let shard = index(SHARD_LABEL)?;
        let (node, name) = match key.0 {
            "Service" => (None, plan::service_name(&cluster, shard)),
            "ValkeyNode" => (Some(index(NODE_LABEL)?), plan::node_name(&cluster, shard, index(NODE_LABEL)?)),
            "TCPRoute" | "TLSRoute" => (Some(index(NODE_LABEL)?), plan::route_name(&cluster, shard, index(NODE_LABEL)?)),
            _ => return None,
        };
        (name == key.2).then_some(Own { key, cluster, shard, node, object })
    }

    /// NodePorts of a Service, by the node that its port is named after.
    pub fn node_ports(&self) -> impl Iterator<Item = ((u32, u32), Port)> + '_ {
        let ports = self.object.value.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
        ports.filter_map(|port| {
            let node = port.get("name")?.as_str()?.strip_prefix("vk-n")?.parse().ok()?;
            Some(((self.shard, node), Port::new(port.get("nodePort")?.as_u64()?)?))
        })
    }

    /// The client port that this object shows for its node: a route's listener port, what a ValkeyNode announces, or the NodePort
    /// of a Service that leads to this node alone.
    #[must_use]
    pub fn client_port(&self) -> Option<Port> {
        let pointer = match self.key.0 {
            "Service" if self.node.is_some() => "/spec/ports/0/nodePort",
            "TCPRoute" | "TLSRoute" => "/spec/parentRefs/0/port",
            "ValkeyNode" => "/spec/externalAccessClientPort",
            _ => return None,
        };
        Port::new(self.object.value.pointer(pointer)?.as_u64()?)
    }
}

/// Whether an object has the name of something that there is one of, or a few of, for a cluster.
fn is_extension(kind: &str, name: &str, cluster: &str) -> bool {
    match kind {
        "Service" => name == plan::bootstrap_name(cluster),
        "ListenerSet" => {
            let part = name.rsplit('-').next().and_then(|part| part.parse().ok());
            part.is_some_and(|part| name == plan::listener_set_name(cluster, part))
        }
        "DNSEndpoint" | "Certificate" => name == plan::external_name(cluster),
        _ => false,
    }
}

/// Outputs of earlier runs, by the cluster's namespace and name.
pub type ByCluster<'o> = HashMap<(Option<String>, String), Vec<Own<'o>>>;

/// Finds all outputs of earlier runs.
#[must_use]
pub fn find(objects: &[Object]) -> ByCluster<'_> {
    let mut found = ByCluster::new();
    for own in objects.iter().filter_map(Own::new) {
        found.entry((own.object.reference.namespace.clone(), own.cluster.clone())).or_default().push(own);
    }
    found
}
