//! One TCPRoute for each node: a listener of the Gateway leads to the node's port on its shard's Service.

use gateway_api::apis::experimental::tcproutes::{TcpRouteParentRefs, TcpRouteRules, TcpRouteRulesBackendRefs, TcpRouteSpec};
use serde_json::{Value, json};

use super::Gvk;
use super::metadata::{Part, metadata};
use crate::plan::{Node, Shard};
use crate::validate::{Exposed, Gateway};

pub(super) fn tcp_route(exposed: &Exposed, gateway: &Gateway, version: Gvk, shard: &Shard, node: &Node) -> Value {
    let spec = TcpRouteSpec {
        parent_refs: Some(vec![TcpRouteParentRefs {
            name: gateway.name.clone(),
            namespace: gateway.namespace.clone(),
            port: node.listener_port.map(|port| i32::from(port.get())),
            section_name: gateway.section_name_for(node),
            ..TcpRouteParentRefs::default()
        }]),
        rules: vec![TcpRouteRules {
            backend_refs: vec![TcpRouteRulesBackendRefs {
                name: shard.service.clone(),
                port: Some(i32::from(node.service_port)),
                ..TcpRouteRulesBackendRefs::default()
            }],
            ..TcpRouteRules::default()
        }],
        ..TcpRouteSpec::default()
    };
    json!({
        "apiVersion": version.api_version,
        "kind": version.kind,
        "metadata": metadata(exposed, node.route.clone(), "valkey-cluster", Part::Node(node.shard, node.index)),
        "spec": spec,
    })
}
