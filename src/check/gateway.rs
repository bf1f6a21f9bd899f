//! Listeners: who claims which port of which Gateway, and whether the Gateway has it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::Listeners;
use crate::finding::Finding;
use crate::object::{Object, find_gateway};
use crate::plan::{self, Hostname, Node, Port, Ports, Services};
use crate::render::{self, MAX_LISTENERS};
use crate::rule::Rule;
use crate::validate::{Config, Exposed, Gateway, full_name};

/// Namespace and name of a Gateway.
pub(super) type GatewayKey = (Option<String>, String);

pub(super) fn key(cluster: &Exposed, gateway: &Gateway) -> GatewayKey {
    (gateway.namespace.clone().or_else(|| cluster.plan.cluster.namespace.clone()), gateway.name.clone())
}

pub(super) fn shown(key: &GatewayKey) -> String {
    full_name(key.0.as_deref(), &key.1)
}

/// The Gateway, if it is in the list.
pub(super) fn find<'o>(objects: &'o [Object], key: &GatewayKey) -> Option<&'o Object> {
    find_gateway(objects, key.0.as_deref(), &key.1)
}

/// Listener names are unique to a port, so one name can serve one node only.
pub(super) fn section_name(cluster: &Exposed, config: &Config, findings: &mut Vec<Finding>) {
    let Some(gateway) = &cluster.gateway else { return };
    if config.listeners != Listeners::None || matches!(cluster.plan.cluster.ports, Ports::Sni { .. }) {
        return;
    }
    let mut names: Vec<String> = cluster.plan.nodes().filter_map(|node| gateway.section_name_for(node)).collect();
    let nodes = names.len();
    let written = gateway.section_name.clone().unwrap_or_default();
    if names.iter().any(|name| *name != written) && !cluster.is_given(&["gateway", "gatewayRef", "sectionName"]) {
        let operator = match cluster.plan.cluster.services {
            Services::PerShard => "the operator, which knows no placeholders, makes it attach to",
            // The operator of today does not read the field: those words are for the one that will.
            Services::PerNode => "an operator that reads this field knows no placeholders, and would make it attach to",
        };
        let message = format!(
            "the first node's route attaches to listener `{}`, but {operator} `{written}`: move it to the functionConfig, `spec.clusters[].externalAccess.gateway.gatewayRef.sectionName`",
            names.first().map(String::as_str).unwrap_or_default(),
        );
        let finding = Finding::warning(Rule::PlaceholderInCluster, message).at("spec.externalAccess.gateway.gatewayRef.sectionName");
        findings.push(cluster.finding(finding.current(written.clone())));
    }
    names.sort_unstable();
    names.dedup();
    if names.len() < nodes {
        let message = format!(
            "{nodes} nodes have {} listener name{} between them: a listener has one port, so at most one node can attach to each; leave it out, or write a name for each node in the functionConfig, as in `vk-{{shard}}-{{node}}`",
            names.len(),
            if names.len() == 1 { "" } else { "s" }
        );
        let finding = Finding::warning(Rule::SectionName, message).at("spec.externalAccess.gateway.gatewayRef.sectionName");
        findings.push(cluster.finding(finding.current(written).proposed("vk-{shard}-{node}")));
    }
}

/// Who has a port of a Gateway, and whether it may be shared: nodes behind one passthrough port are told apart by name.
#[derive(Clone, Copy)]
struct Claim {
    cluster: usize,
    by_name: bool,
}

/// Two clusters on one port of a Gateway, and Gateways with more ports than they may have.
pub(super) fn listeners(clusters: &[Exposed], config: &Config, objects: &[Object], findings: &mut Vec<Finding>) {
    let mut gateways: BTreeMap<GatewayKey, BTreeMap<Port, Claim>> = BTreeMap::new();
    for (index, cluster) in clusters.iter().enumerate() {
        let Some(gateway) = &cluster.gateway else { continue };
        let key = key(cluster, gateway);
        let by_name = matches!(cluster.plan.cluster.ports, Ports::Sni { .. });
        let ports = gateways.entry(key.clone()).or_default();
        let mut shared: BTreeMap<usize, Vec<Port>> = BTreeMap::new();
        for port in cluster.plan.nodes().filter_map(|node| node.listener_port) {
            match ports.get(&port) {
                // ListenerSets of two clusters cannot have the same port, whatever is told apart on it.
                Some(other) if other.cluster == index || (by_name && other.by_name && config.listeners == Listeners::None) => {}
                Some(other) => shared.entry(other.cluster).or_default().push(port),
                None => {
                    ports.insert(port, Claim { cluster: index, by_name });
                }
            }
        }
        for (other, mut shared) in shared {
            shared.dedup();
            let Some(other) = clusters.get(other) else { continue };
            findings.push(overlap(cluster, other, &shown(&key), &shared));
        }
    }
    if config.listeners == Listeners::ListenerSet {
        return;
    }
    if config.listeners == Listeners::Gateway {
        same_names(clusters, findings);
    }
    for (key, ports) in &gateways {
        // What is to be added comes on top of what others have there.
        let of_others = match find(objects, key) {
            Some(gateway) if config.listeners == Listeners::Gateway => listeners_of_others(gateway, objects),
            _ => 0,
        };
        let needed = ports.len().saturating_add(of_others);
        if needed <= MAX_LISTENERS {
            continue;
        }
        let Some(last) = ports.values().map(|claim| claim.cluster).max().and_then(|index| clusters.get(index)) else { continue };
        let message = format!(
            "Gateway {} needs {} listeners, and may have {MAX_LISTENERS}: set `emit.listeners: ListenerSet`, or spread the clusters over several Gateways",
            shown(key),
            needed
        );
        let finding = if config.listeners == Listeners::Gateway {
            Finding::error(Rule::ListenerCount, message)
        } else {
            Finding::warning(Rule::ListenerCount, message)
        };
        findings.push(last.finding(finding.at("spec.externalAccess.gateway.gatewayRef.name").current(key.1.clone())));
    }
}

/// How many listeners of a Gateway are of no cluster in the list.
fn listeners_of_others(gateway: &Object, objects: &[Object]) -> usize {
    let clusters: Vec<&Object> =
        objects.iter().filter(|object| object.group() == "valkey.io" && object.reference.kind == "ValkeyCluster").collect();
    let is_ours = |listener: &Value| {
        let of = |cluster: &&Object| {
            let cluster = &cluster.reference;
            let names = (cluster.namespace.as_deref(), cluster.name.as_str());
            render::is_gateway_listener_of(text(listener, "name"), names, gateway.reference.namespace.as_deref())
        };
        clusters.iter().any(of)
    };
    listeners_of(gateway).iter().filter(|listener| !is_ours(listener)).count()
}

/// Namespace and name of two clusters that read the same with a hyphen between them.
fn same_names(clusters: &[Exposed], findings: &mut Vec<Finding>) {
    let mut prefixes: BTreeMap<(GatewayKey, String), &Exposed> = BTreeMap::new();
    for cluster in clusters {
        let Some(gateway) = &cluster.gateway else { continue };
        let place = (key(cluster, gateway), render::gateway_listener_prefix_of(cluster));
        let Some(other) = prefixes.get(&place) else {
            prefixes.insert(place, cluster);
            continue;
        };
        if other.full_name() == cluster.full_name() {
            continue;
        }
        let message = format!(
            "listeners of clusters {} and {} would have the same names on Gateway {}, `{}0-0` and so on: use `ListenerSet`, or give one of the clusters another name",
            other.full_name(),
            cluster.full_name(),
            shown(&place.0),
            place.1,
        );
        findings.push(cluster.finding(Finding::error(Rule::ListenerOverlap, message).at("metadata.name").current(cluster.name())));
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
    let way_out = match fits {
        true if cluster.shares(other, &["gateway", "basePort"]) => {
            format!(": give {} a `basePort` of its own, {free} for instance", cluster.full_name())
        }
        true => format!(": set `basePort` to {free}, for instance"),
        false => ": use another Gateway".to_owned(),
    };
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

/// Where the Gateway is in the list, it must have a listener for each node; where listeners are to be added, it must be there.
pub(super) fn gateways_in_list(clusters: &[Exposed], config: &Config, objects: &[Object], findings: &mut Vec<Finding>) {
    for cluster in clusters {
        let Some(gateway) = &cluster.gateway else { continue };
        let key = key(cluster, gateway);
        match (config.listeners, find(objects, &key)) {
            (Listeners::None, Some(object)) => missing_listeners(cluster, object, &shown(&key), findings),
            (Listeners::Gateway, None) => {
                let message = format!(
                    "`emit.listeners: Gateway` adds listeners to Gateway {}, which is not in the list: add it, or use `ListenerSet`",
                    shown(&key)
                );
                findings.push(
                    cluster.finding(Finding::error(Rule::GatewayNotInList, message).at("spec.externalAccess.gateway.gatewayRef.name")),
                );
            }
            (Listeners::Gateway, Some(object)) => foreign_listeners(cluster, clusters, object, &shown(&key), findings),
            // None of the Gateway's own is ours then.
            (Listeners::ListenerSet, Some(object)) => foreign_listeners(cluster, &[], object, &shown(&key), findings),
            _ => {}
        }
    }
}

fn listeners_of(object: &Object) -> &[Value] {
    object.value.pointer("/spec/listeners").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn has_port(listener: &Value, port: Port) -> bool {
    listener.get("port").and_then(Value::as_u64) == Some(u64::from(port.get()))
}

fn text<'v>(listener: &'v Value, key: &str) -> &'v str {
    listener.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn missing_listeners(cluster: &Exposed, object: &Object, gateway: &str, findings: &mut Vec<Finding>) {
    let protocol = if matches!(cluster.plan.cluster.ports, Ports::Sni { .. }) { "TLS" } else { "TCP" };
    let (mut told, mut is_named_elsewhere) = (None, false);
    for node in cluster.plan.nodes() {
        let Some(port) = node.listener_port.filter(|port| told != Some(*port)) else { continue };
        let on_port = listeners_of(object).iter().filter(|listener| has_port(listener, port));
        let fits = |listener: &&Value| text(listener, "protocol") == protocol && passes(listener, node.hostname.as_ref());
        let wanted = cluster.gateway.as_ref().and_then(|gateway| gateway.section_name_for(node));
        let named = |listener: &Value| wanted.as_deref().is_none_or(|wanted| text(listener, "name") == wanted);
        if on_port.clone().filter(fits).any(named) {
            continue;
        }
        if let (Some(wanted), Some(fitting)) = (&wanted, on_port.clone().find(fits)) {
            if !std::mem::replace(&mut is_named_elsewhere, true) {
                findings.push(misnamed(cluster, node, gateway, wanted, text(fitting, "name")));
            }
            continue;
        }
        told = Some(port);
        let has = match on_port.clone().next().map(|listener| text(listener, "protocol")) {
            Some("TLS") if protocol == "TLS" => {
                "its listener for that port does not pass this node's TLS through: its `tls.mode` is another one, or its `hostname`"
                    .to_owned()
            }
            Some(other) => format!("its listener for that port is {other}"),
            None => "it has no listener for that port".to_owned(),
        };
        let name = match (wanted, protocol) {
            (Some(wanted), _) => wanted,
            (None, "TLS") => plan::SNI_LISTENER.to_owned(),
            _ => format!("vk-{}-{}-{}", cluster.name(), node.shard, node.index),
        };
        let mut listener = json!({"name": name, "port": port.get(), "protocol": protocol});
        if let (Some(listener), "TLS") = (listener.as_object_mut(), protocol) {
            listener.insert("tls".to_owned(), json!({"mode": "Passthrough"}));
        }
        let message = format!(
            "node {} is reached on port {port} of Gateway {gateway}, but {has}: add the listener {listener}, or set `emit.listeners`",
            node.name
        );
        let finding = Finding::warning(Rule::ListenerMissing, message).at("spec.externalAccess.gateway.basePort");
        findings.push(cluster.finding(finding.proposed(listener)));
    }
}

/// The listener of a node's port has another name than the node's route asks for.
fn misnamed(cluster: &Exposed, node: &Node, gateway: &str, wanted: &str, present: &str) -> Finding {
    let message = format!(
        "the route of node {} asks for listener `{wanted}` of Gateway {gateway}, and the one of its port is `{present}`: no traffic reaches the node; make the names agree, or leave `sectionName` out",
        node.name
    );
    let written = cluster.gateway.as_ref().and_then(|gateway| gateway.section_name.clone()).unwrap_or_default();
    let finding = Finding::warning(Rule::SectionName, message).at("spec.externalAccess.gateway.gatewayRef.sectionName");
    cluster.finding(finding.current(written))
}

/// Whether a listener lets the TLS of a node through. Gateway API's default is to end it; a TCP listener knows nothing of it.
fn passes(listener: &Value, hostname: Option<&Hostname>) -> bool {
    if text(listener, "protocol") != "TLS" {
        return true;
    }
    let of_listener = text(listener, "hostname");
    let covers = |hostname: &Hostname| match of_listener.strip_prefix('*') {
        // A listener's wildcard stands for any number of labels.
        Some(domain) => hostname.to_string().ends_with(domain),
        None => of_listener.is_empty() || hostname.to_string() == of_listener,
    };
    listener.pointer("/tls/mode").and_then(Value::as_str) == Some("Passthrough") && hostname.is_none_or(covers)
}

/// Listeners that somebody else has put on the ports that ours need.
fn foreign_listeners(cluster: &Exposed, clusters: &[Exposed], object: &Object, gateway: &str, findings: &mut Vec<Finding>) {
    // Those of our clusters are written anew, whatever port they have now.
    let prefixes: Vec<String> = clusters.iter().map(render::gateway_listener_prefix_of).collect();
    let is_ours = |listener: &Value| prefixes.iter().any(|prefix| render::is_gateway_listener(text(listener, "name"), prefix));
    for node in cluster.plan.nodes() {
        let Some(port) = node.listener_port else { continue };
        let mut foreign = listeners_of(object).iter().filter(|listener| has_port(listener, port) && !is_ours(listener));
        let by_name = matches!(cluster.plan.cluster.ports, Ports::Sni { .. });
        let is_in_the_way = |listener: &&Value| match text(listener, "protocol") {
            "UDP" => false,
            // Told apart by name: ours is for all names that no other listener has.
            "TLS" => !by_name || text(listener, "hostname").is_empty(),
            _ => true,
        };
        let Some(foreign) = foreign.find(is_in_the_way) else { continue };
        let message = format!(
            "port {port} of Gateway {gateway}, which node {} needs, already has the listener `{}`: choose another `basePort`, or take that listener out if `emit.listeners: Gateway` has added it before",
            node.name,
            text(foreign, "name")
        );
        findings.push(
            cluster.finding(Finding::error(Rule::ListenerOverlap, message).at("spec.externalAccess.gateway.basePort").current(port.get())),
        );
        return;
    }
}
