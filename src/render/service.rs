//! One Service for each shard, with a port for each of its nodes; on request one over all nodes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Value, json};

use super::dns;
use super::metadata::{CLUSTER_LABEL, Metadata, Part, extension, metadata, selector};
use crate::api::{Dns, IpFamilyPolicy, ServiceType};
use crate::plan::{CLIENT_PORT, Node, Shard, bootstrap_name};
use crate::validate::{Config, Exposed};

/// Annotations that ask for a fixed address. Every shard's Service has port 6379, so two of them cannot share one.
pub const FIXED_ADDRESS: [&str; 13] = [
    "metallb.io/loadBalancerIPs",
    "metallb.universe.tf/loadBalancerIPs",
    "lbipam.cilium.io/ips",
    "io.cilium/lb-ipam-ips",
    "kube-vip.io/loadbalancerIPs",
    "service.beta.kubernetes.io/aws-load-balancer-eip-allocations",
    "service.beta.kubernetes.io/aws-load-balancer-private-ipv4-addresses",
    "service.beta.kubernetes.io/azure-load-balancer-ipv4",
    "service.beta.kubernetes.io/azure-load-balancer-ipv6",
    "service.beta.kubernetes.io/azure-pip-name",
    "networking.gke.io/load-balancer-ip-addresses",
    "load-balancer.hetzner.cloud/name",
    "service.beta.kubernetes.io/oci-load-balancer-reserved-ip",
];

pub(super) fn service(exposed: &Exposed, config: &Config, shard: &Shard) -> Value {
    let settings = &exposed.service;
    let mut meta = metadata(exposed, shard.service.clone(), "valkey-cluster", Part::Shard(shard.index));
    let mut annotations: BTreeMap<String, String> =
        settings.annotations.iter().map(|(key, value)| (key.clone(), exposed.annotation_for(value, shard))).collect();
    // Behind a Gateway the routes have the name.
    if config.dns == Dns::ExternalDNS && exposed.gateway.is_none() && settings.service_type != ServiceType::ClusterIp {
        dns::annotate(&mut annotations, shard.hostname.as_ref());
    }
    meta.annotations = (!annotations.is_empty()).then_some(annotations);
    let ports = shard.nodes.iter().map(|node| port(exposed, node, &node.port_name)).collect();
    object(
        &meta,
        &ServiceSpec { ports: Some(ports), selector: Some(selector(exposed, shard.index)), ..settings_of(exposed, settings.service_type) },
    )
}

/// What the user's settings say of a Service of this type that leads to nodes.
pub(super) fn settings_of(exposed: &Exposed, service_type: ServiceType) -> ServiceSpec {
    let (settings, access) = (&exposed.service, &exposed.access);
    let is_load_balancer = service_type == ServiceType::LoadBalancer;
    let traffic_policy = settings.traffic_policy.filter(|_| service_type != ServiceType::ClusterIp);
    ServiceSpec {
        type_: Some(service_type.as_str().to_owned()),
        external_traffic_policy: traffic_policy.map(|policy| policy.as_str().to_owned()),
        ip_family_policy: access.ip_family_policy.map(IpFamilyPolicy::as_str).map(str::to_owned),
        load_balancer_class: access.load_balancer_class.clone().filter(|_| is_load_balancer),
        load_balancer_source_ranges: access.load_balancer_source_ranges.clone().filter(|ranges| is_load_balancer && !ranges.is_empty()),
        allocate_load_balancer_node_ports: access.allocate_load_balancer_node_ports.filter(|_| is_load_balancer),
        ..ServiceSpec::default()
    }
}

pub(super) fn object(metadata: &Metadata, spec: &ServiceSpec) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
}

/// The port of a node. `target`: the name that its pod gives the port.
pub(super) fn port(exposed: &Exposed, node: &Node, target: &str) -> ServicePort {
    let has_node_ports = exposed.service.service_type != ServiceType::ClusterIp;
    ServicePort {
        name: Some(node.port_name.clone()),
        port: i32::from(node.service_port),
        target_port: Some(IntOrString::String(target.to_owned())),
        node_port: node.node_port.filter(|_| has_node_ports).map(|port| i32::from(port.get())),
        ..ServicePort::default()
    }
}

/// A Service over all nodes of the cluster: any of them tells a client where the others are. Pods name their ports each by its
/// own node, so this one targets the number. Who may come in is as restricted as with the others.
pub(super) fn bootstrap(exposed: &Exposed) -> Value {
    let service_type = if exposed.gateway.is_some() { ServiceType::ClusterIp } else { exposed.service.service_type };
    let mut meta = extension(exposed, bootstrap_name(exposed.name()));
    if exposed.gateway.is_none() {
        // An address that is fixed is taken: another Service has it with the same port.
        let shared = exposed.service.annotations.iter().filter(|(key, _)| !FIXED_ADDRESS.contains(&key.as_str()));
        let annotations: BTreeMap<String, String> =
            shared.filter_map(|(key, value)| Some((key.clone(), exposed.annotation_for_all(value)?))).collect();
        meta.annotations = (!annotations.is_empty()).then_some(annotations);
    }
    object(
        &meta,
        &ServiceSpec {
            ports: Some(vec![ServicePort {
                name: Some("client".to_owned()),
                port: i32::from(CLIENT_PORT),
                target_port: Some(IntOrString::Int(i32::from(CLIENT_PORT))),
                ..ServicePort::default()
            }]),
            selector: Some(BTreeMap::from([(CLUSTER_LABEL.to_owned(), exposed.name().to_owned())])),
            ..settings_of(exposed, service_type)
        },
    )
}
