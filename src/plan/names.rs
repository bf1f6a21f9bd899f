//! Names of the objects that belong to a cluster, as the operator makes them.

use std::fmt;

use super::{Services, Topology};

/// Longest name of a Service (DNS label, RFC 1035).
const LABEL: usize = 63;

/// A cluster's name: lower-case letters, digits and hyphens, so that Services can carry it. Dots, which the API server
/// allows in the name of a custom resource, make every Service of the cluster invalid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterName(String);

impl ClusterName {
    /// Takes a name whose characters a Service name may have.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let ok = !name.is_empty() && name.bytes().all(inner) && !name.starts_with('-') && !name.ends_with('-');
        ok.then(|| ClusterName(name.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The Service of a shard: `valkey-C-shard-s`.
#[must_use]
pub fn service_name(cluster: &str, shard: u32) -> String {
    format!("valkey-{cluster}-shard-{shard}")
}

/// The ValkeyNode of a node: `C-s-n`.
#[must_use]
pub fn node_name(cluster: &str, shard: u32, node: u32) -> String {
    format!("{cluster}-{shard}-{node}")
}

/// The route of a node, and the workload that the operator makes for it: `valkey-C-s-n`.
#[must_use]
pub fn route_name(cluster: &str, shard: u32, node: u32) -> String {
    format!("valkey-{cluster}-{shard}-{node}")
}

/// The Service of a node that has one of its own: `valkey-C-s-n`, as its workload and its route.
#[must_use]
pub fn node_service_name(cluster: &str, shard: u32, node: u32) -> String {
    route_name(cluster, shard, node)
}

/// The headless Service that the operator makes for a cluster: `valkey-C`.
#[must_use]
pub fn headless_name(cluster: &str) -> String {
    format!("valkey-{cluster}")
}

/// The Service over all nodes: `valkey-C-bootstrap`.
#[must_use]
pub fn bootstrap_name(cluster: &str) -> String {
    format!("valkey-{cluster}-bootstrap")
}

/// A ListenerSet of a cluster: `valkey-C-listeners-<part>`.
#[must_use]
pub fn listener_set_name(cluster: &str, part: usize) -> String {
    format!("valkey-{cluster}-listeners-{part}")
}

/// What there is one of for a cluster, DNSEndpoint and Certificate: `valkey-C-external`.
#[must_use]
pub fn external_name(cluster: &str) -> String {
    format!("valkey-{cluster}-external")
}

/// The listener of a node in a ListenerSet of its cluster: `vk-<s>-<n>`.
#[must_use]
pub fn listener_name(shard: u32, node: u32) -> String {
    format!("vk-{shard}-{node}")
}

/// The one listener of a cluster whose nodes are told apart by name.
pub const SNI_LISTENER: &str = "vk-sni";

/// The Service port of a node: `vk-n<n>`.
#[must_use]
pub fn port_name(node: u32) -> String {
    format!("vk-n{node}")
}

/// The longest Service name of a cluster: that of its last shard, or of its last node.
#[must_use]
pub fn last_service_name(cluster: &str, topology: Topology, services: Services) -> String {
    let (shard, node) = (topology.shards().saturating_sub(1), topology.nodes_per_shard().saturating_sub(1));
    match services {
        Services::PerShard => service_name(cluster, shard),
        Services::PerNode => node_service_name(cluster, shard, node),
    }
}

/// The longest cluster name with which all Services have names of at most 63 characters.
#[must_use]
pub fn longest_cluster_name(topology: Topology, services: Services) -> usize {
    LABEL.saturating_sub(last_service_name("", topology, services).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_node() {
        assert_eq!(service_name("cache", 2), "valkey-cache-shard-2");
        assert_eq!(node_name("cache", 2, 1), "cache-2-1");
        assert_eq!(route_name("cache", 2, 1), "valkey-cache-2-1");
        assert_eq!(port_name(10), "vk-n10");
    }

    #[test]
    fn the_longest_name_shrinks_with_the_digits_of_the_last_shard() {
        for (shards, longest) in [(1, 48), (10, 48), (11, 47), (100, 47), (101, 46)] {
            assert_eq!(longest_cluster_name(Topology::new(shards, 0).unwrap(), Services::PerShard), longest, "{shards} shards");
        }
        for (shards, replicas, longest) in [(1, 0, 52), (10, 9, 52), (11, 9, 51), (11, 10, 50)] {
            let topology = Topology::new(shards, replicas).unwrap();
            assert_eq!(longest_cluster_name(topology, Services::PerNode), longest, "{shards} shards, {replicas} replicas");
        }
    }

    #[test]
    fn a_name_must_suit_a_service() {
        for good in ["cache", "9lives", "a-shard-0"] {
            assert!(ClusterName::new(good).is_some(), "{good}");
        }
        for bad in ["", "a.b", "Cache", "-a", "a-", "a_b", "é"] {
            assert!(ClusterName::new(bad).is_none(), "{bad}");
        }
    }
}
