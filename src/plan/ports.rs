//! Ports: what a Service has, what a Gateway listens on, what a Kubernetes node opens, what clients are told.

use std::collections::BTreeMap;
use std::fmt;

use super::{PortOutOfRange, Topology};

/// The port of the first node on a shard's Service; node `n` has 6379 + n.
pub const CLIENT_PORT: u16 = 6379;

/// A TCP port, 1 to 65535.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(u16);

impl Port {
    /// A number from 1 to 65535.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        u16::try_from(number).ok().filter(|port| *port > 0).map(Port)
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Ports from `first` to `last`, both in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The lowest.
    pub first: Port,
    /// The highest.
    pub last: Port,
}

impl PortRange {
    /// Every TCP port.
    pub const ALL: PortRange = PortRange { first: Port(1), last: Port(u16::MAX) };
    /// What Kubernetes allocates NodePorts from unless told otherwise (`--service-node-port-range`).
    pub const NODE_PORTS: PortRange = PortRange { first: Port(30_000), last: Port(32_767) };

    /// `first-last`, as the API server's flag has it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-')?;
        let port = |text: &str| Port::new(text.trim().parse().ok()?);
        let (first, last) = (port(first)?, port(last)?);
        (first <= last).then_some(PortRange { first, last })
    }
}

/// How many ports each shard is given: `portsPerShard`, or nodes per shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride(u32);

impl Stride {
    /// One port for each node and none to spare: the operator's own formula.
    #[must_use]
    pub fn tight(topology: Topology) -> Self {
        Stride(topology.nodes_per_shard())
    }

    /// Room to spare, so that more replicas move no port of another shard; nothing if a shard's nodes do not fit.
    #[must_use]
    pub fn new(ports_per_shard: u32, topology: Topology) -> Option<Self> {
        (ports_per_shard >= topology.nodes_per_shard()).then_some(Stride(ports_per_shard))
    }

    /// Ports for each shard, at least 1.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Where the client ports of a cluster come from.
#[derive(Clone, Debug)]
pub enum Ports {
    /// The listeners of a Gateway: `base + shard * stride + node`.
    Listeners {
        /// `gateway.basePort`.
        base: Port,
    },
    /// One listener for all nodes, which are told apart by the hostname that TLS names (SNI).
    Sni {
        /// `gateway.basePort`.
        port: Port,
    },
    /// NodePorts: those that the Services ask for, and those that the operator has read back, by shard and node.
    NodePorts {
        /// From `status.externalEndpoints`.
        read_back: BTreeMap<(u32, u32), Port>,
    },
    /// The ports of the Services themselves: a load balancer, or nothing but the inside of the Kubernetes cluster.
    ServicePorts,
}

/// Which NodePorts Services ask for.
#[derive(Clone, Debug)]
pub enum NodePortSource {
    /// `base + shard * stride + node`, within the range of the Kubernetes cluster.
    Formula {
        /// `nodePorts.base`.
        base: Port,
        /// `nodePorts.range`.
        range: PortRange,
    },
    /// Those that are known by shard and node: pinned, or in a Service of the list. The others are left to Kubernetes.
    Known(BTreeMap<(u32, u32), Port>),
}

impl NodePortSource {
    pub(super) fn port(&self, stride: Stride, shard: u32, node: u32) -> Option<Port> {
        match self {
            NodePortSource::Formula { base, .. } => Port::new(port_at(*base, stride, shard, node)),
            NodePortSource::Known(known) => known.get(&(shard, node)).copied(),
        }
    }
}

/// `base + shard * stride + node`: the one place for this formula. Past 65535 it is still the exact number.
#[must_use]
pub fn port_at(base: Port, stride: Stride, shard: u32, node: u32) -> u64 {
    let shard_offset = u64::from(shard).saturating_mul(u64::from(stride.0));
    u64::from(base.0).saturating_add(shard_offset).saturating_add(u64::from(node))
}

/// Whether the ports of all nodes are in the range.
pub(super) fn fit(base: Port, range: PortRange, stride: Stride, topology: Topology) -> Result<(), PortOutOfRange> {
    let last = u64::from(range.last.0);
    let offset = |shard, node| port_at(base, stride, shard, node).saturating_sub(u64::from(base.0));
    let last_node = topology.nodes_per_shard().saturating_sub(1);
    let greatest_base = last
        .checked_sub(offset(topology.shards().saturating_sub(1), last_node))
        .filter(|base| *base >= u64::from(range.first.0))
        .and_then(|base| u16::try_from(base).ok());
    let out = |shard, node, port| PortOutOfRange { is_node_port: false, range, shard, node, port, greatest_base };
    if base < range.first {
        return Err(out(0, 0, u64::from(base.0)));
    }
    let Some(shard) = (0..topology.shards()).find(|shard| port_at(base, stride, *shard, last_node) > last) else { return Ok(()) };
    match (0..=last_node).map(|node| (node, port_at(base, stride, shard, node))).find(|(_, port)| *port > last) {
        Some((node, port)) => Err(out(shard, node, port)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(base: u64, shards: u32, replicas: u32, stride: Option<u32>) -> Result<(), PortOutOfRange> {
        let topology = Topology::new(shards, replicas).unwrap();
        let stride = stride.map_or(Stride::tight(topology), |s| Stride::new(s, topology).unwrap());
        fit(Port::new(base).unwrap(), PortRange::ALL, stride, topology)
    }

    #[test]
    fn the_last_port_is_65535() {
        let out = |base, shards, replicas, stride| {
            outcome(base, shards, replicas, stride).map_err(|out| (out.shard, out.node, out.port, out.greatest_base))
        };
        assert_eq!(out(65_530, 3, 1, None), Ok(()));
        assert_eq!(out(65_531, 3, 1, None), Err((2, 1, 65_536, Some(65_530))));
        assert_eq!(out(65_535, 1, 0, None), Ok(()));
        assert_eq!(out(65_535, 2, 1, Some(4)), Err((0, 1, 65_536, Some(65_530))));
        // The ports to spare behind the last shard are nobody's.
        assert_eq!(out(65_530, 2, 1, Some(4)), Ok(()));
        assert_eq!(out(9, 16_384, 3, None), Err((16_381, 3, 65_536, None)));
    }

    #[test]
    fn node_ports_stay_in_their_range() {
        let topology = Topology::new(3, 1).unwrap();
        let range = PortRange::NODE_PORTS;
        let fits =
            |base| fit(Port::new(base).unwrap(), range, Stride::tight(topology), topology).map_err(|out| (out.port, out.greatest_base));
        assert_eq!(fits(30_000), Ok(()));
        assert_eq!(fits(32_762), Ok(()));
        assert_eq!(fits(32_763), Err((32_768, Some(32_762))));
        assert_eq!(fits(29_999), Err((29_999, Some(32_762))));
        assert_eq!(PortRange::parse("30000-32767"), Some(range));
        for bad in ["", "30000", "32767-30000", "0-5", "a-b", "1-65536"] {
            assert_eq!(PortRange::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_port_by_the_formula() {
        let topology = Topology::new(3, 1).unwrap();
        let base = Port::new(9000).unwrap();
        assert_eq!(port_at(base, Stride::tight(topology), 2, 1), 9005);
        assert_eq!(port_at(base, Stride::new(4, topology).unwrap(), 2, 1), 9009);
        assert!(Stride::new(1, topology).is_none());
    }

    #[test]
    fn a_port_is_never_zero() {
        for (number, port) in [(0, None), (1, Some(1)), (65_535, Some(65_535)), (65_536, None)] {
            assert_eq!(Port::new(number).map(Port::get), port, "{number}");
        }
    }
}
