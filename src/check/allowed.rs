//! Gateways of another namespace: whether they let routes and ListenerSets of the cluster's namespace attach. What governs this
//! is `allowedRoutes` of a listener and `allowedListeners` of the Gateway, never a ReferenceGrant.

use serde_json::Value;

use super::gateway::{find, key, shown};
use crate::api::Listeners;
use crate::finding::Finding;
use crate::object::Object;
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

pub(super) fn namespaces(clusters: &[Exposed], config: &Config, objects: &[Object], findings: &mut Vec<Finding>) {
    for cluster in clusters {
        let Some(gateway) = &cluster.gateway else { continue };
        let key = key(cluster, gateway);
        let Some(object) = find(objects, &key) else { continue };
        let same = key.0.as_deref() == cluster.namespace();
        let (what, allowed) = match config.listeners {
            // Added listeners say themselves whom they allow.
            Listeners::Gateway => continue,
            Listeners::ListenerSet => ("ListenerSets", allowed_listeners(object, cluster, same, objects)),
            Listeners::None => ("routes", allowed_routes(object, cluster, same, objects)),
        };
        if allowed {
            continue;
        }
        let field = if config.listeners == Listeners::ListenerSet {
            "`spec.allowedListeners.namespaces`"
        } else {
            "`allowedRoutes.namespaces` of its listeners"
        };
        let message = format!(
            "Gateway {} does not let {what} of namespace {} attach: allow it in {field}, by `from: Selector` with the label `kubernetes.io/metadata.name: {}`",
            shown(&key),
            cluster.namespace().unwrap_or("of this cluster"),
            cluster.namespace().unwrap_or_default(),
        );
        findings.push(cluster.finding(Finding::warning(Rule::GatewayNotAllowed, message).at("spec.externalAccess.gateway.gatewayRef")));
    }
}

/// Listeners take routes of their own namespace unless they say otherwise.
fn allowed_routes(gateway: &Object, cluster: &Exposed, same: bool, objects: &[Object]) -> bool {
    let listeners = gateway.value.pointer("/spec/listeners").and_then(Value::as_array).into_iter().flatten();
    let ours: Vec<&Value> = listeners
        .filter(|listener| {
            let port = listener.get("port").and_then(Value::as_u64);
            cluster.plan.nodes().any(|node| node.listener_port.map(|port| u64::from(port.get())) == port)
        })
        .collect();
    let allows = |listener: &&Value| allows(listener.pointer("/allowedRoutes/namespaces"), "Same", cluster, same, objects);
    ours.is_empty() || ours.iter().all(allows)
}

/// A Gateway takes no ListenerSets unless it says so.
fn allowed_listeners(gateway: &Object, cluster: &Exposed, same: bool, objects: &[Object]) -> bool {
    allows(gateway.value.pointer("/spec/allowedListeners/namespaces"), "None", cluster, same, objects)
}

fn allows(namespaces: Option<&Value>, default: &str, cluster: &Exposed, same: bool, objects: &[Object]) -> bool {
    let from = namespaces.and_then(|namespaces| namespaces.get("from")).and_then(Value::as_str).unwrap_or(default);
    match from {
        "All" => true,
        "Same" => same,
        "Selector" => selects(namespaces.and_then(|namespaces| namespaces.get("selector")), cluster, objects),
        _ => false,
    }
}

/// Whether a selector takes the cluster's namespace: by the label that every namespace has, and those of the Namespace if it is
/// in the list. What cannot be known counts as allowed.
fn selects(selector: Option<&Value>, cluster: &Exposed, objects: &[Object]) -> bool {
    let Some(name) = cluster.namespace() else { return true };
    let namespace = objects.iter().find(|o| o.reference.api_version == "v1" && o.reference.kind == "Namespace" && o.reference.name == name);
    let labels = selector.and_then(|selector| selector.get("matchLabels")).and_then(Value::as_object).into_iter().flatten();
    labels.into_iter().all(|(key, value)| match (key.as_str(), namespace) {
        ("kubernetes.io/metadata.name", _) => value.as_str() == Some(name),
        (key, Some(namespace)) => namespace.label(key) == value.as_str(),
        (_, None) => true,
    })
}
