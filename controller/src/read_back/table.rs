//! The rows of `status`. Pure.

use expose_valkey::plan::node_name;

use super::decide::{NodeStep, decide};
use super::endpoints::find;
use super::facts::{Cluster, Key, Node};
use super::store::{Entry, Store};
use crate::report::Row;

/// A row for each node of each cluster that is reached from outside, in order.
pub(super) fn rows(store: &Store) -> Vec<Row> {
    let mut rows: Vec<_> = store.keys().iter().filter_map(|key| Some(of_cluster(key, store.get(key)?))).flatten().collect();
    rows.sort();
    rows
}

fn of_cluster(key: &Key, entry: &Entry) -> Vec<Row> {
    let Some(cluster) = entry.cluster.as_ref().filter(|cluster| cluster.access.is_some()) else { return Vec::new() };
    let found = find(&key.name, cluster, |shard| entry.services.get(&shard));
    let waits_on = match decide(&key.name, entry).node {
        NodeStep::Wait { name, .. } => Some(name),
        _ => None,
    };
    let places = cluster.shards().flat_map(|shard| cluster.nodes().map(move |index| (shard, index)));
    let row = |(shard, index): (u32, u32)| {
        let name = node_name(&key.name, shard, index);
        let node = entry.nodes.get(&(shard, index));
        let port = found.node_port(shard, index);
        let waits_for = match node {
            None => format!("ValkeyNode {name} does not exist yet"),
            Some(node) if waits_on.as_ref() == Some(&name) || !node.ready => "to be Ready".to_owned(),
            Some(node) => match port {
                Some(port) if port != node.port && node.owners.other.is_some() => format!("another manager to write port {port}"),
                Some(port) if port != node.port => format!("its turn to announce port {port}"),
                _ if node.port == 0 => "a port".to_owned(),
                _ => String::new(),
            },
        };
        Row {
            namespace: key.namespace.to_string(),
            cluster: key.name.to_string(),
            node: name,
            target: node.map(|node| target(cluster, shard, node)).unwrap_or_default(),
            since: node.and_then(|node| node.owners.ours.as_deref()).unwrap_or_default().to_owned(),
            waits_for,
        }
    };
    places.map(row).collect()
}

/// Where clients are sent by what the node announces now: its hostname, else its pod's address.
fn target(cluster: &Cluster, shard: u32, node: &Node) -> String {
    let host = cluster.hostname(shard).unwrap_or_else(|| node.pod_ip.to_string());
    match (host.as_str(), node.port) {
        ("", _) | (_, 0) => String::new(),
        (host, port) if host.contains(':') => format!("[{host}]:{port}"),
        (host, port) => format!("{host}:{port}"),
    }
}
