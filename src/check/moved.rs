//! Nodes that were there before and get other ports now.

use std::collections::BTreeMap;

use crate::api::Announce;
use crate::finding::Finding;
use crate::own::ByCluster;
use crate::plan::{self, NodePortSource, Port, Ports};
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

/// How many moved ports a message lists.
const LISTED: usize = 8;

pub(super) fn ports(cluster: &Exposed, config: &Config, own: &ByCluster<'_>, findings: &mut Vec<Finding>) {
    let key = (cluster.plan.cluster.namespace.clone(), cluster.name().to_owned());
    let by_node_port = matches!(cluster.plan.cluster.ports, Ports::NodePorts { .. });
    let mut before: BTreeMap<(u32, u32), Port> = BTreeMap::new();
    for own in own.get(&key).into_iter().flatten() {
        // Behind a Gateway a Service's NodePort leads no client anywhere.
        if own.key.0 == "Service" && !by_node_port {
            continue;
        }
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
    let (field, way_out) = way_out(cluster, &before);
    // What is announced on running servers restarts none.
    let restart = if config.announce == Some(Announce::Live) { "" } else { ", and restart for it" };
    let message =
        format!("{} nodes get other ports{restart}: {}; firewalls and listeners must follow. {way_out}", moved.len(), list.join(", "));
    findings.push(cluster.finding(Finding::warning(Rule::PortsMoved, message).at(field)));
}

/// The field that is most likely behind it, and what keeps the ports of the nodes that are still there.
fn way_out(cluster: &Exposed, before: &BTreeMap<(u32, u32), Port>) -> (String, String) {
    let plan = &cluster.plan.cluster;
    let replicas = || "spec.replicas".to_owned();
    let (field, base) = match (&plan.ports, &plan.node_ports) {
        (Ports::Listeners { base }, _) => ("gateway.basePort", *base),
        (Ports::Sni { .. }, _) => {
            return ("spec.externalAccess.gateway.basePort".to_owned(), "Put `basePort` back if that is not meant".to_owned());
        }
        (Ports::NodePorts { .. }, NodePortSource::Formula { base, .. }) => ("nodePorts.base", *base),
        _ => return (replicas(), "`expose-valkey pin` keeps NodePorts that Kubernetes has allocated".to_owned()),
    };
    let still_there: BTreeMap<(u32, u32), Port> = cluster
        .plan
        .nodes()
        .filter_map(|node| {
            let at = (node.shard, node.index);
            Some((at, *before.get(&at)?))
        })
        .collect();
    if let Some(stride) = plan::stride_that_gives(base, plan.topology, &still_there) {
        return (replicas(), format!("`portsPerShard: {}` keeps them where they are", stride.get()));
    }
    let key = field.rsplit('.').next().unwrap_or_default();
    if let Some(base) = plan::base_that_gives(plan.stride, &still_there) {
        return (format!("spec.externalAccess.{field}"), format!("`{key}: {base}` keeps them where they are"));
    }
    let needed = plan.topology.nodes_per_shard();
    let way_out = match cluster.access.ports_per_shard {
        Some(_) => format!("Put `{key}` and `portsPerShard` back if that is not meant"),
        None => format!("`portsPerShard` of {needed} or more from the start would have kept them: set it now, with room for more replicas"),
    };
    (replicas(), way_out)
}
