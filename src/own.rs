//! Which objects of the list are outputs of ours from an earlier run: known by kind, name and the operator's labels together.

use std::collections::HashMap;

use serde_json::Value;

use crate::object::Object;
use crate::plan::{self, Port};
use crate::render::{CLUSTER_LABEL, NODE_LABEL, SERVICE, SHARD_LABEL, VALKEY_NODE};

/// Kind, namespace and name: what makes an object the same object.
pub type Key = (&'static str, Option<String>, String);

/// An output of an earlier run.
#[derive(Debug)]
pub struct Own<'o> {
    /// Its kind, and so on.
    pub key: Key,
    /// Name of the cluster that it belongs to; the namespace is the same.
    pub cluster: String,
    /// Shard index of its label.
    pub shard: u32,
    /// Node index of its label, but for Services.
    pub node: Option<u32>,
    /// The object.
    pub object: &'o Object,
}

const TCP_ROUTE: &str = "TCPRoute";

/// The kind of an object, if it is one that we render.
#[must_use]
pub fn rendered_kind(object: &Object) -> Option<&'static str> {
    match (object.group(), object.reference.kind.as_str()) {
        ("", "Service") => Some(SERVICE.kind),
        ("valkey.io", "ValkeyNode") => Some(VALKEY_NODE.kind),
        ("gateway.networking.k8s.io", "TCPRoute") => Some(TCP_ROUTE),
        _ => None,
    }
}

/// The object's key, if it is of a kind that we render.
#[must_use]
pub fn key(object: &Object) -> Option<Key> {
    Some((rendered_kind(object)?, object.reference.namespace.clone(), object.reference.name.clone()))
}

/// The key of an object that was just rendered.
#[must_use]
pub fn key_of_value(value: &Value) -> Option<Key> {
    key(&Object::new(value.clone(), None, 0))
}

impl<'o> Own<'o> {
    /// Takes an object if it is one of ours.
    #[must_use]
    pub fn new(object: &'o Object) -> Option<Self> {
        let key = key(object)?;
        let index = |label: &str| object.label(label)?.parse::<u32>().ok();
        let cluster = object.label(CLUSTER_LABEL)?.to_owned();
        let shard = index(SHARD_LABEL)?;
        let (node, name) = match key.0 {
            "Service" => (None, plan::service_name(&cluster, shard)),
            "ValkeyNode" => (Some(index(NODE_LABEL)?), plan::node_name(&cluster, shard, index(NODE_LABEL)?)),
            _ => (Some(index(NODE_LABEL)?), plan::route_name(&cluster, shard, index(NODE_LABEL)?)),
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

    /// The client port that this object shows for its node: a route's listener port, or what a ValkeyNode announces.
    #[must_use]
    pub fn client_port(&self) -> Option<Port> {
        let pointer = match self.key.0 {
            "TCPRoute" => "/spec/parentRefs/0/port",
            "ValkeyNode" => "/spec/externalAccessClientPort",
            _ => return None,
        };
        Port::new(self.object.value.pointer(pointer)?.as_u64()?)
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
