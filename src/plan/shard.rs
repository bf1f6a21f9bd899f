//! One shard: a Service of its own, and the nodes behind it.

use super::{Cluster, Hostname, Node, service_name};

/// A primary and its replicas.
#[derive(Clone, Debug)]
pub struct Shard {
    /// From 0.
    pub index: u32,
    /// Name of its Service.
    pub service: String,
    /// The name that its nodes announce, if the cluster has a domain.
    pub hostname: Option<Hostname>,
    /// The nodes, by index.
    pub nodes: Vec<Node>,
}

impl Shard {
    pub(super) fn new(cluster: &Cluster, index: u32) -> Self {
        let hostname = cluster.domain.as_ref().map(|domain| Hostname::of_shard(&cluster.hostname_prefix, index, domain));
        let nodes = (0..cluster.topology.nodes_per_shard()).map(|node| Node::new(cluster, index, node)).collect();
        Shard { index, service: service_name(cluster.name.as_str(), index), hostname, nodes }
    }
}
