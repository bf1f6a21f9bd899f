//! One node: a Valkey server with a port of its own.

use super::{
    CLIENT_PORT, Cluster, Hostname, Port, Ports, Services, node_name, node_service_name, port_at, port_name, route_name, service_name,
};

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
    /// Name of the Service that leads to it: its shard's, or its own.
    pub service: String,
    /// Name of its port on the Service.
    pub port_name: String,
    /// Its port on the Service: 6379 + index.
    pub service_port: u16,
    /// The name that it announces, if the cluster has a domain: its shard's, or its own see [`Cluster::has_node_hostnames`].
    pub hostname: Option<Hostname>,
    /// The port of the Gateway that leads to it, if there is a Gateway.
    pub listener_port: Option<Port>,
    /// The NodePort that its Service asks for; Kubernetes allocates one where there is none.
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
            Ports::Sni { port } => Some(*port),
            Ports::NodePorts { .. } | Ports::ServicePorts => None,
        };
        let node_port = cluster.node_ports.port(cluster.stride, shard, index);
        let client_port = match &cluster.ports {
            Ports::Listeners { .. } | Ports::Sni { .. } => listener_port,
            Ports::NodePorts { read_back } => node_port.or_else(|| read_back.get(&(shard, index)).copied()),
            Ports::ServicePorts => Port::new(u64::from(service_port)),
        };
        let hostname = cluster.domain.as_ref().map(|domain| {
            if cluster.has_node_hostnames() {
                Hostname::of_node(&cluster.hostname_prefix, shard, index, domain)
            } else {
                Hostname::of_shard(&cluster.hostname_prefix, shard, domain)
            }
        });
        let name = cluster.name.as_str();
        Node {
            shard,
            index,
            name: node_name(name, shard, index),
            route: route_name(name, shard, index),
            service: match cluster.services {
                Services::PerShard => service_name(name, shard),
                Services::PerNode => node_service_name(name, shard, index),
            },
            port_name: port_name(index),
            service_port,
            hostname,
            listener_port,
            node_port,
            client_port,
        }
    }
}
