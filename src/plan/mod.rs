//! From one valid cluster to its shards and nodes: names, ports, hostnames. Pure arithmetic, no I/O, no YAML, no Kubernetes.
//!
//! Words: a *shard* is a primary and its replicas; a *node* is one server, *node index* 0 the first primary; *nodes per
//! shard* is `replicas + 1`; the *stride* is how many ports each shard is given.

#![deny(clippy::arithmetic_side_effects)]

mod client_ports;
mod earlier;
mod hostnames;
mod names;
mod node;
mod ports;
mod shard;

pub use client_ports::ClientPorts;
pub use earlier::{base_that_gives, stride_that_gives};
pub use hostnames::{Domain, Hostname, HostnamePrefix};
pub use names::{
    ClusterName, SNI_LISTENER, bootstrap_name, external_name, headless_name, last_service_name, listener_name, listener_set_name,
    longest_cluster_name, node_name, node_service_name, port_name, route_name, service_name,
};
pub use node::Node;
pub use ports::{CLIENT_PORT, NodePortSource, Port, PortRange, Ports, Stride, port_at};
pub use shard::Shard;

/// Most shards: a Valkey cluster has 16384 slots, and a shard without slots serves nothing.
pub const MAX_SHARDS: u32 = 16_384;
/// Most replicas of a shard.
pub const MAX_REPLICAS: u32 = 1_000;
/// Most nodes of one cluster that are planned at all: far past what Valkey can do, and small enough to be refused at once.
pub const MAX_NODES: u32 = 65_536;
/// Valkey's advised limit of nodes (<https://valkey.io/topics/cluster-spec/>).
pub const ADVISED_NODES: u32 = 1_000;

/// How many shards there are, and how many nodes each has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    shards: u32,
    nodes_per_shard: u32,
}

impl Topology {
    /// `shards` of 1 to 16384, `replicas` of 0 to 1000, at most 65536 nodes in all; otherwise nothing.
    #[must_use]
    pub fn new(shards: u32, replicas: u32) -> Option<Self> {
        let nodes_per_shard = replicas.checked_add(1)?;
        let fits = (1..=MAX_SHARDS).contains(&shards) && replicas <= MAX_REPLICAS && shards.checked_mul(nodes_per_shard)? <= MAX_NODES;
        fits.then_some(Topology { shards, nodes_per_shard })
    }

    /// Number of shards, at least 1.
    #[must_use]
    pub fn shards(self) -> u32 {
        self.shards
    }

    /// Nodes of each shard, at least 1.
    #[must_use]
    pub fn nodes_per_shard(self) -> u32 {
        self.nodes_per_shard
    }

    /// Nodes of the cluster, at most 65536.
    #[must_use]
    pub fn nodes(self) -> u32 {
        self.shards.saturating_mul(self.nodes_per_shard)
    }
}

/// A cluster whose every value is in range: what a plan is made from.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// `metadata.name`.
    pub name: ClusterName,
    /// `metadata.namespace`, if the cluster has one.
    pub namespace: Option<String>,
    /// Shards and nodes.
    pub topology: Topology,
    /// Ports that each shard is given, at least nodes per shard.
    pub stride: Stride,
    /// Where client ports come from.
    pub ports: Ports,
    /// Which NodePorts the Services ask for, if they have any.
    pub node_ports: NodePortSource,
    /// Under which domain shards have hostnames, if any.
    pub domain: Option<Domain>,
    /// First label of the hostnames.
    pub hostname_prefix: HostnamePrefix,
    /// What the Services stand for.
    pub services: Services,
}

/// What the Services of a cluster stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Services {
    /// A shard each, with a port for each of its nodes.
    PerShard,
    /// A node each: for pods whose ports are not told apart by name.
    PerNode,
}

impl Cluster {
    /// Whether each node has a hostname of its own, and not its shard's: where nodes are told apart by nothing but their names, and
    /// where each is at an address of its own.
    #[must_use]
    pub fn has_node_hostnames(&self) -> bool {
        match self.ports {
            Ports::Sni { .. } => true,
            Ports::ServicePorts => self.services == Services::PerNode,
            Ports::Listeners { .. } | Ports::NodePorts { .. } => false,
        }
    }
}

/// Everything that is known of a cluster's way to the outside before it runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it was made from.
    pub cluster: Cluster,
    /// The shards, by index.
    pub shards: Vec<Shard>,
}

/// A port that a formula puts outside of 1 to 65535: for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOutOfRange {
    /// Whether it is a NodePort; else it is a listener port.
    pub is_node_port: bool,
    /// The range that it must be in.
    pub range: PortRange,
    /// Shard of the first node that is out.
    pub shard: u32,
    /// Its node index.
    pub node: u32,
    /// The port that it would have.
    pub port: u64,
    /// The greatest base with which all nodes fit, if there is one.
    pub greatest_base: Option<u16>,
}

impl Plan {
    /// Plans a cluster.
    ///
    /// # Errors
    /// The first node whose port is past the range, by the formula `base + shard * stride + node`.
    pub fn new(cluster: Cluster) -> Result<Self, PortOutOfRange> {
        if let Ports::Listeners { base } = cluster.ports {
            ports::fit(base, PortRange::ALL, cluster.stride, cluster.topology)?;
        }
        if let NodePortSource::Formula { base, range } = cluster.node_ports {
            ports::fit(base, range, cluster.stride, cluster.topology).map_err(|out| PortOutOfRange { is_node_port: true, ..out })?;
        }
        let shards = (0..cluster.topology.shards).map(|shard| Shard::new(&cluster, shard)).collect();
        Ok(Plan { cluster, shards })
    }

    /// The client ports of all nodes as one rule, as far as there is one; nothing if one of them is not known.
    #[must_use]
    pub fn client_ports(&self) -> Option<ClientPorts> {
        ClientPorts::of(self)
    }

    /// All nodes, shard by shard.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.shards.iter().flat_map(|shard| shard.nodes.iter())
    }
}
