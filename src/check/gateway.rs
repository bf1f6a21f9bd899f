//! Listeners: who claims which port of which Gateway, and whether the Gateway has it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::finding::Finding;
use crate::object::Object;
use crate::plan::Port;
use crate::rule::Rule;
use crate::validate::{Exposed, Gateway, full_name};

/// Most listeners of a Gateway (`spec.listeners`, `maxItems`).
const MAX_LISTENERS: usize = 64;

type GatewayKey = (Option<String>, String);

fn key(cluster: &Exposed, gateway: &Gateway) -> GatewayKey {
    (gateway.namespace.clone().or_else(|| cluster.plan.cluster.namespace.clone()), gateway.name.clone())
}

fn shown(key: &GatewayKey) -> String {
    full_name(key.0.as_deref(), &key.1)
}

/// Listener names are unique to a port, so one name can serve one node only.
pub(super) fn section_name(cluster: &Exposed, findings: &mut Vec<Finding>) {
    let Some(gateway) = &cluster.gateway else { return };
    let mut names: Vec<String> = cluster.plan.nodes().filter_map(|node| gateway.section_name_for(node)).collect();
    let nodes = names.len();
    names.sort_unstable();
    names.dedup();
    if names.len() < nodes {
        let message = format!(
            "{nodes} nodes have {} listener name{} between them: a listener has one port, so at most one node can attach to each; write a name for each node, as in `vk-{{shard}}-{{node}}`, or leave it out",
            names.len(),
            if names.len() == 1 { "" } else { "s" }
        );
        let finding = Finding::warning(Rule::SectionName, message).at("spec.externalAccess.gateway.gatewayRef.sectionName");
        findings.push(cluster.finding(finding.current(gateway.section_name.clone().unwrap_or_default()).proposed("vk-{shard}-{node}")));
    }
}

/// Two clusters on one port of a Gateway, and Gateways with more ports than they may have.
pub(super) fn listeners(clusters: &[Exposed], findings: &mut Vec<Finding>) {
    let mut gateways: BTreeMap<GatewayKey, BTreeMap<Port, usize>> = BTreeMap::new();
    for (index, cluster) in clusters.iter().enumerate() {
        let Some(gateway) = &cluster.gateway else { continue };
        let key = key(cluster, gateway);
        let ports = gateways.entry(key.clone()).or_default();
        let mut shared: BTreeMap<usize, Vec<Port>> = BTreeMap::new();
        for port in cluster.plan.nodes().filter_map(|node| node.listener_port) {
            match ports.get(&port) {
                Some(other) => shared.entry(*other).or_default().push(port),
                None => {
                    ports.insert(port, index);
                }
            }
        }
        for (other, shared) in shared {
            let Some(other) = clusters.get(other) else { continue };
            findings.push(overlap(cluster, other, &shown(&key), &shared));
        }
    }
    for (key, ports) in gateways.iter().filter(|(_, ports)| ports.len() > MAX_LISTENERS) {
        let Some(last) = ports.values().max().and_then(|index| clusters.get(*index)) else { continue };
        let message = format!(
            "Gateway {} needs {} listeners, and may have {MAX_LISTENERS}: spread the clusters over several Gateways, or attach a ListenerSet to it for the rest",
            shown(key),
            ports.len()
        );
        findings.push(last.finding(Finding::warning(Rule::ListenerCount, message).at("spec.externalAccess.gateway.gatewayRef.name").current(key.1.clone())));
    }
}

fn overlap(cluster: &Exposed, other: &Exposed, gateway: &str, shared: &[Port]) -> Finding {
    let span = |cluster: &Exposed| {
        let mut ports = cluster.plan.nodes().filter_map(|node| node.listener_port);
        let first = ports.next();
        let last = ports.last().or(first);
        match (first, last) {
            (Some(first), Some(last)) => (first.get(), last.get()),
            _ => (0, 0),
        }
    };
    let ((first, last), (other_first, other_last)) = (span(cluster), span(other));
    let port = shared.first().map(ToString::to_string).unwrap_or_default();
    let free = u32::from(other_last).saturating_add(1);
    let fits = free.saturating_add(u32::from(last.saturating_sub(first))) <= u32::from(u16::MAX);
    let way_out = if fits { format!(": set `basePort` to {free}, for instance") } else { ": use another Gateway".to_owned() };
    let message = format!(
        "clusters {} ({other_first} to {other_last}) and {} ({first} to {last}) claim the same {} of Gateway {gateway}, the first is {port}: only the older route of a listener gets traffic{way_out}",
        other.full_name(),
        cluster.full_name(),
        if shared.len() == 1 { "port".to_owned() } else { format!("{} ports", shared.len()) },
    );
    let mut finding = Finding::error(Rule::ListenerOverlap, message).at("spec.externalAccess.gateway.basePort").current(first);
    if fits {
        finding = finding.proposed(free);
    }
    cluster.finding(finding)
}

/// Where the Gateway is in the list, it must have a TCP listener for each node.
pub(super) fn gateways_in_list(clusters: &[Exposed], objects: &[Object], findings: &mut Vec<Finding>) {
    let gateways: Vec<&Object> = objects.iter().filter(|o| o.group() == "gateway.networking.k8s.io" && o.reference.kind == "Gateway").collect();
    for cluster in clusters {
        let Some(gateway) = &cluster.gateway else { continue };
        let key = key(cluster, gateway);
        let Some(object) = gateways.iter().find(|o| o.reference.namespace == key.0 && o.reference.name == key.1) else { continue };
        let listeners = object.value.pointer("/spec/listeners").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for node in cluster.plan.nodes() {
            let Some(port) = node.listener_port else { continue };
            let on_port = |listener: &&Value| listener.get("port").and_then(Value::as_u64) == Some(u64::from(port.get()));
            let protocol = |listener: &Value| listener.get("protocol").and_then(Value::as_str).unwrap_or_default().to_owned();
            if listeners.iter().filter(on_port).any(|listener| protocol(listener) == "TCP") {
                continue;
            }
            let found = listeners.iter().find(on_port).map(protocol);
            let has = match found {
                Some(other) => format!("its listener for that port is {other}"),
                None => "it has no listener for that port".to_owned(),
            };
            let listener = json!({"name": format!("vk-{}-{}-{}", cluster.name(), node.shard, node.index), "port": port.get(), "protocol": "TCP"});
            let message = format!("node {} is reached on port {port} of Gateway {}, but {has}: add the listener {listener}", node.name, shown(&key));
            let finding = Finding::warning(Rule::ListenerMissing, message).at("spec.externalAccess.gateway.basePort");
            findings.push(cluster.finding(finding.proposed(listener)));
        }
    }
}
