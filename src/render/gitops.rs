//! What GitOps tools are told about ValkeyNodes: not to prune them, and in which order to change them.

use std::collections::BTreeMap;

use crate::api::{Order, Prune};
use crate::plan::{Node, node_name};
use crate::validate::{Config, Exposed};

/// A ValkeyNode that leaves Git must stay: the operator moves its slots first, a pruned one is a lost server.
const KEEP: [(&str, &str); 3] = [
    ("argocd.argoproj.io/sync-options", "Prune=false"),
    ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
    ("client.lifecycle.config.k8s.io/deletion", "detach"),
];

/// Annotations of a ValkeyNode.
pub(super) fn annotations(exposed: &Exposed, config: &Config, node: &Node) -> BTreeMap<String, String> {
    let mut annotations = BTreeMap::new();
    if config.prune == Prune::Protect {
        annotations.extend(KEEP.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
    match config.order {
        Order::None => {}
        Order::ArgoCD => {
            annotations.insert("argocd.argoproj.io/sync-wave".to_owned(), turn(exposed, node).to_string());
        }
        Order::Kpt => {
            if let (Some((shard, index)), Some(namespace)) = (before(exposed, node), exposed.namespace()) {
                let name = node_name(exposed.name(), shard, index);
                annotations
                    .insert("config.kubernetes.io/depends-on".to_owned(), format!("valkey.io/namespaces/{namespace}/ValkeyNode/{name}"));
            }
        }
    }
    annotations
}

/// One node at a time, replicas of all shards before primaries: from 1 (everything else is 0).
fn turn(exposed: &Exposed, node: &Node) -> u32 {
    let topology = exposed.plan.cluster.topology;
    let later = topology.nodes_per_shard().saturating_sub(1).saturating_sub(node.index);
    later.saturating_mul(topology.shards()).saturating_add(node.shard).saturating_add(1)
}

/// The node whose turn is right before.
fn before(exposed: &Exposed, node: &Node) -> Option<(u32, u32)> {
    let topology = exposed.plan.cluster.topology;
    match node.shard.checked_sub(1) {
        Some(shard) => Some((shard, node.index)),
        None => (node.index.saturating_add(1) < topology.nodes_per_shard())
            .then(|| (topology.shards().saturating_sub(1), node.index.saturating_add(1))),
    }
}
