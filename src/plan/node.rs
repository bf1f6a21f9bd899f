//! One node: a Valkey server with a port of its own.

use super::{CLIENT_PORT, Cluster, Port, Ports, node_name, port_at, port_name, route_name};

/// A Valkey server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of its shard.
    pub shard: u32,
    /// Index in the shard, 0 the first primary.
    pub index: u32,
    /// Name of its ValkeyNode.
    pub name: String,
    /// Name of its route.
    pub route: String,
    /// Name of its port on the shard's Service.
    pub port_name: String,
    /// Its port on the shard's Service: 6379 + index.
    pub service_port: u16,
    /// The port of the Gateway that leads to it, if there is a Gateway.
    pub listener_port: Option<Port>,
    /// The port that every Kubernetes node opens for it, if the Service has such and it is known.
    pub node_port: Option<Port>,
    /// The port that it announces to clients, if that is known before the cluster runs.
    pub client_port: Option<Port>,
}

impl Node {
    pub(super) fn new(cluster: &Cluster, shard: u32, index: u32) -> Self {
        // Replicas are at most 1000, so this cannot pass 65535.
        let service_port = CLIENT_PORT.saturating_add(u16::try_from(index).unwrap_or(u16::MAX));
        let listener_port = match &cluster.ports {
            Ports::Listeners { base } => Port::new(port_at(*base, cluster.stride, shard, index)),
            Ports::NodePorts { .. } | Ports::ServicePorts => None,
        };
        let node_port = match &cluster.ports {
            Ports::NodePorts { known } => known.get(&(shard, index)).copied(),
            Ports::Listeners { .. } | Ports::ServicePorts => None,
        };
        let client_port = match &cluster.ports {
            Ports::Listeners { .. } => listener_port,
            Ports::NodePorts { .. } => node_port,
            Ports::ServicePorts => Port::new(u64::from(service_port)),
        };
        let name = cluster.name.as_str();
        Node {
            shard,
            index,
            name: node_name(name, shard, index),
            route: route_name(name, shard, index),
            port_name: port_name(index),
            service_port,
            listener_port,
            node_port,
            client_port,
        }
    }
}
