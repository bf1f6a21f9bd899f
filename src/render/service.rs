//! One Service for each shard, with a port for each of its nodes.

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::Value;

use super::metadata::{Part, metadata, selector};
use crate::api::ServiceType;
use crate::plan::{Node, Shard};
use crate::validate::Exposed;

pub(super) fn service(exposed: &Exposed, shard: &Shard) -> Value {
    let settings = &exposed.service;
    let mut meta = metadata(exposed, shard.service.clone(), "valkey-cluster", Part::Shard(shard.index));
    if !settings.annotations.is_empty() {
        let annotations = settings.annotations.iter().map(|(key, value)| (key.clone(), exposed.annotation_for(value, shard)));
        meta.annotations = Some(annotations.collect());
    }
    let service = Service {
        metadata: meta,
        spec: Some(ServiceSpec {
            ports: Some(shard.nodes.iter().map(|node| port(exposed, node)).collect()),
            selector: Some(selector(exposed, shard.index)),
            type_: Some(settings.service_type.as_str().to_owned()),
            external_traffic_policy: settings.traffic_policy.map(|policy| policy.as_str().to_owned()),
            ..ServiceSpec::default()
        }),
        status: None,
    };
    serde_json::to_value(service).unwrap_or_default()
}

fn port(exposed: &Exposed, node: &Node) -> ServicePort {
    let has_node_ports = exposed.service.service_type != ServiceType::ClusterIp;
    let kept = exposed.kept_node_ports.get(&(node.shard, node.index)).filter(|_| has_node_ports);
    ServicePort {
        name: Some(node.port_name.clone()),
        port: i32::from(node.service_port),
        target_port: Some(IntOrString::String(node.port_name.clone())),
        node_port: kept.map(|port| i32::from(port.get())),
        ..ServicePort::default()
    }
}
