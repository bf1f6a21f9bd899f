//! Listeners: in ListenerSets of a cluster's own, or as entries of a Gateway that is in the list.

use serde_json::{Value, json};

use super::metadata::extension;
use super::{LISTENER_SET, TLS_ROUTE};
use crate::plan::{Node, Ports, SNI_LISTENER, listener_name, listener_set_name};
use crate::validate::{Exposed, Gateway};

/// Most listeners of a Gateway, and of a ListenerSet (`maxItems` of `spec.listeners`).
pub const MAX_LISTENERS: usize = 64;

pub(super) const GROUP: &str = "gateway.networking.k8s.io";

/// Which ListenerSet of its cluster has a node's listener.
pub(super) fn part_of(exposed: &Exposed, node: &Node) -> usize {
    let nodes_per_shard = exposed.plan.cluster.topology.nodes_per_shard();
    let place = node.shard.saturating_mul(nodes_per_shard).saturating_add(node.index);
    match exposed.plan.cluster.ports {
        Ports::Sni { .. } => 0,
        _ => usize::try_from(place).unwrap_or_default() / MAX_LISTENERS,
    }
}

/// The cluster's listeners, 64 to a ListenerSet.
pub(super) fn listener_sets(exposed: &Exposed, gateway: &Gateway) -> Vec<Value> {
    let listeners: Vec<Value> = match exposed.plan.cluster.ports {
        Ports::Sni { port } => vec![sni_listener(SNI_LISTENER, port.get(), from_same())],
        _ => {
            let listener = |node: &Node| tcp_listener(&listener_name(node.shard, node.index), node, from_same());
            exposed.plan.nodes().map(listener).collect()
        }
    };
    let mut parent = json!({"group": GROUP, "kind": "Gateway", "name": gateway.name});
    if let (Some(namespace), Some(parent)) = (&gateway.namespace, parent.as_object_mut()) {
        parent.insert("namespace".to_owned(), json!(namespace));
    }
    let sets = listeners.chunks(MAX_LISTENERS).enumerate().map(|(part, listeners)| {
        json!({
            "apiVersion": LISTENER_SET.api_version,
            "kind": LISTENER_SET.kind,
            "metadata": extension(exposed, listener_set_name(exposed.name(), part)),
            "spec": {"listeners": listeners, "parentRef": parent},
        })
    });
    sets.collect()
}

/// What the names of a cluster's listeners on a Gateway begin with. The namespace is part of it where the Gateway is in
/// another, as clusters of several namespaces may share it.
fn gateway_listener_prefix(namespace: Option<&str>, cluster: &str, gateway_elsewhere: bool) -> String {
    match namespace.filter(|_| gateway_elsewhere) {
        Some(namespace) => format!("vk-{namespace}-{cluster}-"),
        None => format!("vk-{cluster}-"),
    }
}

/// Whether a listener's name is one that this cluster gives, by namespace and name, on a Gateway of that namespace.
#[must_use]
pub fn is_gateway_listener_of(name: &str, (namespace, cluster): (Option<&str>, &str), gateway: Option<&str>) -> bool {
    is_gateway_listener(name, &gateway_listener_prefix(namespace, cluster, namespace != gateway))
}

/// Whether a listener's name is one that a cluster with this prefix gives.
#[must_use]
pub fn is_gateway_listener(name: &str, prefix: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let rest = name.strip_prefix(prefix);
    rest.is_some_and(|rest| rest == "sni" || rest.split_once('-').is_some_and(|(shard, node)| is_number(shard) && is_number(node)))
}

/// What the names of an exposed cluster's listeners on its Gateway begin with.
#[must_use]
pub fn gateway_listener_prefix_of(exposed: &Exposed) -> String {
    gateway_listener_prefix(exposed.namespace(), exposed.name(), exposed.gateway_is_elsewhere())
}

/// The name of a node's listener on its Gateway.
pub(super) fn gateway_listener_name(exposed: &Exposed, node: &Node) -> String {
    let prefix = gateway_listener_prefix_of(exposed);
    match exposed.plan.cluster.ports {
        Ports::Sni { .. } => format!("{prefix}sni"),
        _ => format!("{prefix}{}-{}", node.shard, node.index),
    }
}

/// The listener of a node on its Gateway; with SNI all nodes have the same.
#[must_use]
pub fn gateway_listener(exposed: &Exposed, node: &Node) -> Value {
    let allowed = match exposed.namespace().filter(|_| exposed.gateway_is_elsewhere()) {
        Some(namespace) => json!({"from": "Selector", "selector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}),
        None => from_same(),
    };
    let name = gateway_listener_name(exposed, node);
    match exposed.plan.cluster.ports {
        Ports::Sni { port } => sni_listener(&name, port.get(), allowed),
        _ => tcp_listener(&name, node, allowed),
    }
}

fn from_same() -> Value {
    json!({"from": "Same"})
}

fn tcp_listener(name: &str, node: &Node, namespaces: Value) -> Value {
    json!({
        "name": name,
        "port": node.listener_port.map(|port| port.get()),
        "protocol": "TCP",
        "allowedRoutes": {"kinds": [{"group": GROUP, "kind": "TCPRoute"}], "namespaces": namespaces},
    })
}

fn sni_listener(name: &str, port: u16, namespaces: Value) -> Value {
    json!({
        "name": name,
        "port": port,
        "protocol": "TLS",
        "tls": {"mode": "Passthrough"},
        "allowedRoutes": {"kinds": [{"group": GROUP, "kind": TLS_ROUTE.kind}], "namespaces": namespaces},
    })
}
