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
    /// NodePorts. Those that are known, by shard and node; the others are allocated when the Service is created.
    NodePorts {
        /// What is known: from `status.externalEndpoints`, or from Services in the list.
        known: BTreeMap<(u32, u32), Port>,
    },
    /// The ports of the Services themselves: a load balancer, or nothing but the inside of the Kubernetes cluster.
    ServicePorts,
}

/// A base that ports are counted from, and the range that they must stay in.
pub(super) struct Formula {
    pub(super) base: Port,
    pub(super) range: PortRange,
}

impl Ports {
    pub(super) fn formula(&self) -> Option<Formula> {
        match self {
            Ports::Listeners { base } => Some(Formula { base: *base, range: PortRange::ALL }),
            Ports::NodePorts { .. } | Ports::ServicePorts => None,
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
    let span = port_at(base, stride, topology.shards().saturating_sub(1), topology.nodes_per_shard().saturating_sub(1)).saturating_sub(u64::from(base.0));
    let greatest_base = last.checked_sub(span).filter(|base| *base >= u64::from(range.first.0)).and_then(|base| u16::try_from(base).ok());
    if base < range.first {
        return Err(PortOutOfRange { shard: 0, node: 0, port: u64::from(base.0), greatest_base });
    }
    for shard in 0..topology.shards() {
        if port_at(base, stride, shard, topology.nodes_per_shard().saturating_sub(1)) <= last {
            continue;
        }
        for node in 0..topology.nodes_per_shard() {
            let port = port_at(base, stride, shard, node);
            if port > last {
                return Err(PortOutOfRange { shard, node, port, greatest_base });
            }
        }
    }
    Ok(())
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
        assert_eq!(outcome(65_530, 3, 1, None), Ok(()));
        let out = PortOutOfRange { shard: 2, node: 1, port: 65_536, greatest_base: Some(65_530) };
        assert_eq!(outcome(65_531, 3, 1, None), Err(out));
        assert_eq!(outcome(65_535, 1, 0, None), Ok(()));
        let out = PortOutOfRange { shard: 0, node: 1, port: 65_536, greatest_base: Some(65_530) };
        assert_eq!(outcome(65_535, 2, 1, Some(4)), Err(out));
        // The ports to spare behind the last shard are nobody's.
        assert_eq!(outcome(65_530, 2, 1, Some(4)), Ok(()));
        let out = PortOutOfRange { shard: 16_383, node: 0, port: 65_536, greatest_base: None };
        assert_eq!(outcome(4, 16_384, 3, None), Err(out));
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
