//! Ports of a cluster's nodes, from its shards' Services. Pure.

use expose_valkey::plan::{port_name, service_name};

use super::facts::{Cluster, Endpoints, Service};

/// What the Services say, and what they do not say yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Port of each node that has one, by shard and node index.
    pub(super) ports: Vec<Vec<Option<u16>>>,
    /// Whether the Service of each shard is of type NodePort.
    pub(super) node_port: Vec<bool>,
    /// What is missing, in words.
    pub(super) missing: Vec<String>,
}

/// Looks for the port of each node of `cluster` in the Service of its shard, by the port's name.
pub(super) fn find<'a>(name: &str, cluster: &Cluster, service: impl Fn(u32) -> Option<&'a Service>) -> Found {
    let mut found = Found::default();
    for shard in cluster.shards() {
        let service = service(shard);
        if service.is_none() {
            found.missing.push(format!("Service {} does not exist yet", service_name(name, shard)));
        }
        let ports: Vec<_> = cluster.nodes().map(|node| service.and_then(|service| port(service, node))).collect();
        if service.is_some() {
            found.missing.extend(
                ports
                    .iter()
                    .zip(0..)
                    .filter(|(port, _)| port.is_none())
                    .map(|(_, node)| format!("port of {}/{} not allocated yet", service_name(name, shard), port_name(node))),
            );
        }
        found.ports.push(ports);
        found.node_port.push(service.is_some_and(|service| service.node_port));
    }
    found
}

fn port(service: &Service, node: u32) -> Option<u16> {
    let port = service.ports.iter().find(|port| port.node == node)?;
    let port = if service.node_port { port.node_port } else { port.port };
    (port != 0).then_some(port)
}

impl Found {
    /// What `status.externalEndpoints` should hold. The place in a shard's list is the node index, and 0 is no port: a
    /// list ends before the first port that is not known.
    pub(super) fn endpoints(&self) -> Vec<Endpoints> {
        let shards = self.ports.iter().zip(0..);
        let endpoints = shards.map(|(ports, shard)| Endpoints { shard, ports: ports.iter().map_while(|port| *port).collect() });
        endpoints.filter(|shard| !shard.ports.is_empty()).collect()
    }

    /// The port that the node must announce for what Kubernetes allocated; none where another source gives it.
    pub(super) fn node_port(&self, shard: u32, node: u32) -> Option<u16> {
        let shard = usize::try_from(shard).ok()?;
        let ports = self.ports.get(shard).filter(|_| self.node_port.get(shard) == Some(&true))?;
        *ports.get(usize::try_from(node).ok()?)?
    }
}
