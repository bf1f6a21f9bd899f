//! One route for each node, from the Gateway to the node's port on its Service: a TCPRoute on a listener of the node's
//! own, or a TLSRoute that is chosen by the node's name.

use std::collections::BTreeMap;

use gateway_api::apis::experimental::tcproutes::{TcpRouteParentRefs, TcpRouteRules, TcpRouteRulesBackendRefs, TcpRouteSpec};
use serde_json::{Map, Value, json};

use super::listeners::{GROUP, gateway_listener_name, part_of};
use super::metadata::{Part, metadata, node_extension};
use super::{Gvk, LISTENER_SET, TLS_ROUTE, dns};
use crate::api::{Dns, Listeners};
use crate::plan::{Node, Ports, SNI_LISTENER, listener_name, listener_set_name};
use crate::validate::{Config, Exposed, Gateway};

pub(super) fn route(exposed: &Exposed, gateway: &Gateway, config: &Config, version: Gvk, node: &Node) -> Value {
    let spec = TcpRouteSpec {
        parent_refs: Some(vec![parent(exposed, gateway, config, node)]),
        rules: vec![TcpRouteRules {
            backend_refs: vec![TcpRouteRulesBackendRefs {
                name: node.service.clone(),
                port: Some(i32::from(node.service_port)),
                ..TcpRouteRulesBackendRefs::default()
            }],
            ..TcpRouteRules::default()
        }],
        ..TcpRouteSpec::default()
    };
    // A TLSRoute is a TCPRoute with hostnames.
    let mut full = Map::new();
    if let (TLS_ROUTE, Some(hostname)) = (version, &node.hostname) {
        full.insert("hostnames".to_owned(), json!([hostname.as_str()]));
    }
    if let Ok(Value::Object(spec)) = serde_json::to_value(spec) {
        full.extend(spec);
    }
    let mut meta = if config.is_operator_managed() {
        node_extension(exposed, node.route.clone(), node)
    } else {
        metadata(exposed, node.route.clone(), "valkey-cluster", Part::Node(node.shard, node.index))
    };
    if config.dns == Dns::ExternalDNS && version != TLS_ROUTE {
        let mut annotations = BTreeMap::new();
        dns::annotate(&mut annotations, node.hostname.as_ref());
        meta.annotations = (!annotations.is_empty()).then_some(annotations);
    }
    json!({"apiVersion": version.api_version, "kind": version.kind, "metadata": meta, "spec": full})
}

/// What the route attaches to: the Gateway, or the cluster's own ListenerSet on it.
fn parent(exposed: &Exposed, gateway: &Gateway, config: &Config, node: &Node) -> TcpRouteParentRefs {
    let port = node.listener_port.map(|port| i32::from(port.get()));
    if config.listeners != Listeners::ListenerSet {
        return TcpRouteParentRefs {
            name: gateway.name.clone(),
            namespace: gateway.namespace.clone(),
            port,
            // Listeners that are added have names of ours.
            section_name: match config.listeners {
                Listeners::Gateway => gateway.section_name.as_ref().map(|_| gateway_listener_name(exposed, node)),
                _ => gateway.section_name_for(node),
            },
            ..TcpRouteParentRefs::default()
        };
    }
    let section = match exposed.plan.cluster.ports {
        Ports::Sni { .. } => SNI_LISTENER.to_owned(),
        _ => listener_name(node.shard, node.index),
    };
    TcpRouteParentRefs {
        group: Some(GROUP.to_owned()),
        kind: Some(LISTENER_SET.kind.to_owned()),
        name: listener_set_name(exposed.name(), part_of(exposed, node)),
        port,
        section_name: Some(section),
        ..TcpRouteParentRefs::default()
    }
}
