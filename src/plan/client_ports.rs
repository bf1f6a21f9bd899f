//! The client ports of a cluster as one rule: what a server can work out from the indexes of its shard and node.

use super::{CLIENT_PORT, NodePortSource, Plan, Port, Ports};

/// How a node's client port follows from its indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientPorts {
    /// `base + shard * stride + node`.
    Formula {
        /// That of the first node.
        base: Port,
        /// From a shard to the next; 0 where each has the same ports.
        stride: u32,
    },
    /// The same for all.
    Same(Port),
    /// By no formula: shard, node and port of each.
    Listed(Vec<(u32, u32, Port)>),
}

impl ClientPorts {
    /// What the plan's settings say decides wherever it can, so that the rule is the same with a shard more.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let stride = plan.cluster.stride.get();
        match (&plan.cluster.ports, &plan.cluster.node_ports) {
            (Ports::Listeners { base }, _) | (Ports::NodePorts { .. }, NodePortSource::Formula { base, .. }) => {
                Some(ClientPorts::Formula { base: *base, stride })
            }
            (Ports::Sni { port }, _) => Some(ClientPorts::Same(*port)),
            (Ports::ServicePorts, _) => Some(ClientPorts::Formula { base: Port::new(u64::from(CLIENT_PORT))?, stride: 0 }),
            (Ports::NodePorts { .. }, NodePortSource::Known(_)) => {
                let known = plan.nodes().map(|node| Some((node.shard, node.index, node.client_port?)));
                Some(by_formula_or_listed(known.collect::<Option<Vec<_>>>()?))
            }
        }
    }
}

/// Ports that were written down one by one may still follow a formula.
fn by_formula_or_listed(ports: Vec<(u32, u32, Port)>) -> ClientPorts {
    let number = |shard: u32, node: u32| ports.iter().find(|(s, n, _)| (*s, *n) == (shard, node)).map(|(.., port)| u64::from(port.get()));
    let base = number(0, 0).unwrap_or_default();
    let nodes = ports.iter().filter(|(shard, ..)| *shard == 0).count();
    let stride = match number(1, 0) {
        Some(second) => second.checked_sub(base).and_then(|stride| u32::try_from(stride).ok()),
        None => u32::try_from(nodes).ok(),
    };
    let formula = stride.and_then(|stride| Some(ClientPorts::Formula { base: Port::new(base)?, stride }));
    let fits = |(shard, node, port): &(u32, u32, Port)| {
        let offset = u64::from(*shard).saturating_mul(u64::from(stride.unwrap_or_default())).saturating_add(u64::from(*node));
        u64::from(port.get()) == base.saturating_add(offset)
    };
    match formula {
        Some(formula) if ports.iter().all(fits) => formula,
        _ => ClientPorts::Listed(ports),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(ports: &[&[u64]]) -> ClientPorts {
        let shard = |(shard, ports): (u32, &&[u64])| -> Vec<_> {
            (0u32..).zip(*ports).map(|(node, port)| (shard, node, Port::new(*port).unwrap())).collect()
        };
        by_formula_or_listed((0u32..).zip(ports).flat_map(shard).collect())
    }

    #[test]
    fn ports_one_by_one_may_follow_a_formula() {
        let formula = |base, stride| ClientPorts::Formula { base: Port::new(base).unwrap(), stride };
        assert_eq!(rule(&[&[31_000, 31_001], &[31_010, 31_011]]), formula(31_000, 10));
        assert_eq!(rule(&[&[31_000, 31_001]]), formula(31_000, 2));
        assert_eq!(rule(&[&[31_000], &[31_001], &[31_002]]), formula(31_000, 1));
        for irregular in
            [[&[31_000, 31_002], &[31_004, 31_006]], [&[31_000, 31_001], &[30_000, 30_001]], [&[31_000, 31_001], &[31_010, 31_012]]]
        {
            let ports: Vec<&[u64]> = irregular.iter().map(|ports| ports.as_slice()).collect();
            assert!(matches!(rule(&ports), ClientPorts::Listed(listed) if listed.len() == 4), "{irregular:?}");
        }
    }
}
