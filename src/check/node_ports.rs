//! NodePorts that are fixed in Git: each belongs to one Service of the whole Kubernetes cluster, and a node has one.

use std::collections::{BTreeMap, HashMap};
use std::ptr;

use serde_json::Value;

use crate::api::ServiceType;
use crate::finding::Finding;
use crate::object::Object;
use crate::own::Own;
use crate::plan::Port;
use crate::rule::Rule;
use crate::validate::{Config, Exposed, full_name};

/// Ports that two of our Services ask for, or ours and any other Service of the list.
pub(super) fn taken(clusters: &[Exposed], objects: &[Object], findings: &mut Vec<Finding>) {
    // What has a port, and which of our clusters that is.
    let mut owners: HashMap<Port, (String, Option<&Exposed>)> = HashMap::new();
    for object in objects.iter().filter(|object| object.group().is_empty() && object.reference.kind == "Service") {
        let regenerated = Own::new(object).is_some_and(|own| clusters.iter().any(|cluster| is_of(&own, cluster)));
        if regenerated {
            continue;
        }
        let name = format!("Service {}", full_name(object.reference.namespace.as_deref(), &object.reference.name));
        for port in node_ports(object) {
            owners.entry(port).or_insert_with(|| (name.clone(), None));
        }
    }
    for cluster in clusters.iter().filter(|cluster| cluster.service.service_type != ServiceType::ClusterIp) {
        let mut taken: Vec<(Port, (String, Option<&Exposed>))> = Vec::new();
        for node in cluster.plan.nodes() {
            let Some(port) = node.node_port else { continue };
            let own = format!("cluster {}", cluster.full_name());
            match owners.get(&port) {
                // A cluster that is there twice has been reported.
                Some((_, Some(other))) if !ptr::eq(*other, cluster) && other.full_name() == cluster.full_name() => {}
                Some(other) => taken.push((port, other.clone())),
                None => {
                    owners.insert(port, (own, Some(cluster)));
                }
            }
        }
        let Some((port, (other, shared))) = taken.first() else { continue };
        let more =
            if taken.len() > 1 { format!(", and {} more of its ports are taken", taken.len().saturating_sub(1)) } else { String::new() };
        let alone = match shared {
            Some(other) if cluster.shares(other, &["nodePorts", "base"]) => " for this cluster alone",
            _ => "",
        };
        let message = format!(
            "NodePort {port} of cluster {} belongs to {other}{more}: choose another `nodePorts.base`{alone}, or pinned ports that are free",
            cluster.full_name()
        );
        findings.push(
            cluster.finding(Finding::error(Rule::NodePortTaken, message).at("spec.externalAccess.nodePorts.base").current(port.get())),
        );
    }
}

/// Pins that no Service gets. Those of nodes that are not there any more wait for them to come back.
pub(super) fn pinned_unused(cluster: &Exposed, config: &Config, findings: &mut Vec<Finding>) {
    let pinned: BTreeMap<(u32, u32), Port> = config.pinned_for(&cluster.object).collect();
    let inside_only = cluster.service.service_type == ServiceType::ClusterIp;
    let unused = cluster.plan.nodes().filter_map(|node| {
        let pinned = pinned.get(&(node.shard, node.index))?;
        let used = node.node_port.filter(|_| !inside_only);
        let instead = used.map(|port| format!("{port}, ")).unwrap_or_default();
        (used != Some(*pinned)).then(|| format!("{} ({instead}pinned {pinned})", node.name))
    });
    let unused: Vec<String> = unused.collect();
    let Some(first) = unused.first() else { return };
    let more = match unused.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (field, message) = if inside_only {
        ("serviceType", format!("the Services are of type ClusterIP, and the ports that `spec.pinned` has are not used: {first}{more}"))
    } else {
        let message = format!("`nodePorts.base` wins over `spec.pinned`, which has other ports: {first}{more}; take one of the two out");
        ("nodePorts.base", message)
    };
    findings.push(cluster.finding(Finding::warning(Rule::PinnedUnused, message).at(format!("spec.externalAccess.{field}"))));
}

fn is_of(own: &Own<'_>, cluster: &Exposed) -> bool {
    own.cluster == cluster.name() && own.key.1.as_deref() == cluster.namespace()
}

fn node_ports(object: &Object) -> Vec<Port> {
    let ports = object.value.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let health = object.value.pointer("/spec/healthCheckNodePort");
    ports.filter_map(|port| port.get("nodePort")).chain(health).filter_map(|port| Port::new(port.as_u64()?)).collect()
}
