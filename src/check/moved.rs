//! Nodes that were there before and get other ports now.

use std::collections::BTreeMap;

use crate::api::Announce;
use crate::finding::Finding;
use crate::own::ByCluster;
use crate::plan::Port;
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

/// How many moved ports a message lists.
const LISTED: usize = 8;

pub(super) fn ports(cluster: &Exposed, config: &Config, own: &ByCluster<'_>, findings: &mut Vec<Finding>) {
    let key = (cluster.plan.cluster.namespace.clone(), cluster.name().to_owned());
    let mut before: BTreeMap<(u32, u32), Port> = BTreeMap::new();
    for own in own.get(&key).into_iter().flatten() {
        if let (Some(node), Some(port)) = (own.node, own.client_port()) {
            before.insert((own.shard, node), port);
        }
    }
    let moved: Vec<(&str, Port, Port)> = cluster
        .plan
        .nodes()
        .filter_map(|node| {
            let (old, new) = (before.get(&(node.shard, node.index))?, node.client_port?);
            (*old != new).then_some((node.name.as_str(), *old, new))
        })
        .collect();
    if moved.is_empty() {
        return;
    }
    let mut list: Vec<String> = moved.iter().take(LISTED).map(|(name, old, new)| format!("{name} {old} -> {new}")).collect();
    if moved.len() > LISTED {
        list.push(format!("and {} more", moved.len().saturating_sub(LISTED)));
    }
    // What is announced on running servers restarts none.
    let restart = if config.announce == Some(Announce::Live) { "" } else { ", and restart for it" };
    let mut message = format!("{} nodes get other ports{restart}: {}", moved.len(), list.join(", "));
    let needed = cluster.plan.cluster.topology.nodes_per_shard();
    message.push_str("; firewalls and listeners must follow. ");
    match stride_before(cluster, &before) {
        Some(stride) => message.push_str(&format!("`portsPerShard: {stride}` keeps them where they are")),
        None => message.push_str(&format!(
            "`portsPerShard` of {needed} or more from the start would have kept them: set it now, with room for more replicas"
        )),
    }
    findings.push(cluster.finding(Finding::warning(Rule::PortsMoved, message).at("spec.replicas")));
}

/// The stride that keeps the ports of the nodes that were there, if the nodes of today fit into it. Ports that were given
/// without room to spare cannot be kept by any.
fn stride_before(cluster: &Exposed, before: &BTreeMap<(u32, u32), Port>) -> Option<u32> {
    let gateway = cluster.access.gateway.as_ref()?;
    let base = u32::from(gateway.base_port?);
    let (at, port) = before.iter().find(|((shard, _), _)| *shard > 0)?;
    let offset = u32::from(port.get()).checked_sub(base)?.checked_sub(at.1)?;
    let stride = offset.checked_div(at.0)?;
    (stride >= cluster.plan.cluster.topology.nodes_per_shard()).then_some(stride)
}
