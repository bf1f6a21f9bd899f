//! One Service for each node, for an operator that knows nothing of external access: its pods carry the node's indexes as labels,
//! and all of them call their port `client`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ServiceSpec;
use serde_json::Value;

use super::dns;
use super::metadata::{NODE_LABEL, node_extension, selector};
use super::service::{object, port, settings_of};
use crate::api::{Announce, Dns, NodeAddressType, ServiceType};
use crate::plan::Node;
use crate::validate::{Config, Exposed, full_name};

/// The name of the servers' port in their pods.
const CLIENT: &str = "client";
/// The controller announces what leads to the pods of Services with this label.
const ANNOUNCE_LABEL: &str = "fn.valkey.io/announce";

pub(super) fn service(exposed: &Exposed, config: &Config, node: &Node) -> Value {
    let settings = &exposed.service;
    let mut meta = node_extension(exposed, node.service.clone(), node);
    let mut annotations: BTreeMap<String, String> =
        settings.annotations.iter().map(|(key, value)| (key.clone(), exposed.annotation_for_node(value, node))).collect();
    // Behind a Gateway the route has the name.
    if config.dns == Dns::ExternalDNS && exposed.gateway.is_none() && settings.service_type != ServiceType::ClusterIp {
        dns::annotate(&mut annotations, node.hostname.as_ref());
    }
    if config.announce == Some(Announce::Live) {
        meta.labels.insert(ANNOUNCE_LABEL.to_owned(), "live".to_owned());
        annotations.extend(for_the_controller(exposed, config, node).map(|(key, value)| (format!("fn.valkey.io/{key}"), value)));
    }
    meta.annotations = (!annotations.is_empty()).then_some(annotations);
    let mut pods = selector(exposed, node.shard);
    pods.insert(NODE_LABEL.to_owned(), node.index.to_string());
    let mut way_in = port(exposed, node, CLIENT);
    way_in.protocol = Some("TCP".to_owned());
    object(&meta, &ServiceSpec { ports: Some(vec![way_in]), selector: Some(pods), ..settings_of(exposed, settings.service_type) })
}

/// What is known of the node's announcement before it runs: the controller finds out the rest.
fn for_the_controller(exposed: &Exposed, config: &Config, node: &Node) -> impl Iterator<Item = (&'static str, String)> {
    let gateway = exposed.gateway.as_ref();
    let types: Vec<&str> = config.live.node_address_types.iter().copied().map(NodeAddressType::as_str).collect();
    let credentials = config.live.credentials.as_ref();
    let known = [
        ("hostname", node.hostname.as_ref().map(ToString::to_string)),
        ("client-port", gateway.and(node.listener_port).map(|port| port.to_string())),
        ("gateway", gateway.map(|gateway| full_name(gateway.namespace.as_deref().or(exposed.namespace()), &gateway.name))),
        ("node-address-types", (!types.is_empty()).then(|| types.join(","))),
        ("username", credentials.map(|(username, ..)| username.clone())),
        ("password-secret", credentials.map(|(_, secret, key)| format!("{secret}/{key}"))),
    ];
    known.into_iter().filter_map(|(key, value)| Some((key, value?)))
}
