//! From a checked plan to objects. Nothing here can fail: whatever could go wrong was found before.

mod gvk;
mod metadata;
mod service;
mod tcp_route;
mod valkey_node;

use serde_json::Value;

pub use gvk::{Gvk, SERVICE, TCP_ROUTE_V1, TCP_ROUTE_V1ALPHA2, VALKEY_NODE};
pub use metadata::{CLUSTER_LABEL, NODE_LABEL, SHARD_LABEL};

use crate::validate::Exposed;

/// Which kinds come out.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    /// Services.
    pub services: bool,
    /// ValkeyNodes.
    pub valkey_nodes: bool,
    /// Routes, in this version of theirs.
    pub routes: Option<Gvk>,
}

/// All objects of a cluster: Services, then ValkeyNodes, then routes, each by shard and node.
#[must_use]
pub fn cluster(exposed: &Exposed, kinds: Kinds) -> Vec<Value> {
    let mut objects = Vec::new();
    if kinds.services {
        objects.extend(exposed.plan.shards.iter().map(|shard| service::service(exposed, shard)));
    }
    if kinds.valkey_nodes {
        let template = valkey_node::Template::new(exposed);
        objects.extend(exposed.plan.nodes().map(|node| template.node(node)));
    }
    if let (Some(version), Some(gateway)) = (kinds.routes, &exposed.gateway) {
        for shard in &exposed.plan.shards {
            objects.extend(shard.nodes.iter().map(|node| tcp_route::tcp_route(exposed, gateway, version, shard, node)));
        }
    }
    objects
}
