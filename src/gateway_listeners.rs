//! `emit.listeners: Gateway`: the listeners of our clusters as entries of Gateways that are in the list. Everybody else's stay.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::api::Listeners;
use crate::expose::Exposure;
use crate::finding::Finding;
use crate::krm::entries::EntryChange;
use crate::krm::{Change, ResourceList};
use crate::object::{Object, find_gateway};
use crate::render::{gateway_listener, is_gateway_listener_of};
use crate::rule::Rule;
use crate::select::Selection;

/// Adds, replaces and removes listeners; a Gateway whose text cannot be changed is a finding, never passed over.
pub(crate) fn merge(list: &ResourceList<'_>, exposure: &Exposure, selection: &Selection, change: &mut Change, findings: &mut Vec<Finding>) {
    if exposure.config.listeners != Listeners::Gateway {
        return;
    }
    for (object, origin) in selection.objects.iter().zip(&selection.origins) {
        let is_gateway = object.group() == "gateway.networking.k8s.io" && object.reference.kind == "Gateway";
        let Some(item) = list.items.get(origin.item).filter(|_| is_gateway) else { continue };
        let entries = entries(exposure, object, &selection.objects);
        if entries.is_empty() {
            continue;
        }
        let tree = list.item_tree(item).ok().filter(|_| !origin.nested);
        let edits = tree.and_then(|tree| Some(entries.edits(&tree, tree.node.get("spec")?, "listeners"))).unwrap_or_default();
        if edits.is_empty() {
            let message = "the listeners of this Gateway are to be changed, and stand inside of a List or behind a YAML alias: write the Gateway out as an object of its own, or use `ListenerSet`";
            findings.push(object.finding(Finding::error(Rule::GatewayNotInList, message).at("spec.listeners")));
        }
        change.edits.extend(edits);
    }
}

/// What must happen to the listeners of a Gateway.
fn entries(exposure: &Exposure, gateway: &Object, objects: &[Object]) -> EntryChange {
    let mut wanted: BTreeMap<String, Value> = BTreeMap::new();
    let mut order = Vec::new();
    for cluster in &exposure.clusters {
        let Some(reference) = &cluster.gateway else { continue };
        let namespace = reference.namespace.as_deref().or(cluster.namespace());
        if !find_gateway(objects, namespace, &reference.name).is_some_and(|found| std::ptr::eq(found, gateway)) {
            continue;
        }
        for node in cluster.plan.nodes() {
            let listener = gateway_listener(cluster, node);
            let name = name(&listener).to_owned();
            if wanted.insert(name.clone(), listener).is_none() {
                order.push(name);
            }
        }
    }
    let present = gateway.value.pointer("/spec/listeners").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut change = EntryChange::default();
    let mut there: HashSet<&str> = HashSet::new();
    for (index, listener) in present.iter().enumerate() {
        match wanted.get(name(listener)) {
            Some(own) if own != listener => change.replaced.push((index, own.clone())),
            Some(_) => {}
            None if is_stale(name(listener), exposure, gateway) => change.removed.push(index),
            None => {}
        }
        there.insert(name(listener));
    }
    change.appended = order.iter().filter(|name| !there.contains(name.as_str())).filter_map(|name| wanted.get(name).cloned()).collect();
    change
}

fn name(listener: &Value) -> &str {
    listener.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a listener is one of ours that no node of a cluster in the list has any more.
fn is_stale(name: &str, exposure: &Exposure, gateway: &Object) -> bool {
    let mut known = exposure.known.difference(&exposure.left_alone);
    known.any(|(namespace, cluster)| {
        is_gateway_listener_of(name, (namespace.as_deref(), cluster.as_str()), gateway.reference.namespace.as_deref())
    })
}
