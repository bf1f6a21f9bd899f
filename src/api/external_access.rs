//! `spec.externalAccess` of a ValkeyCluster: the operator's fields, and those that only this program has.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a cluster is reached from outside of Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalAccess {
    /// Turns external access on. Default: off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Type of each shard's Service. Default: ClusterIP with a gateway, else NodePort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_type: Option<ServiceType>,
    /// Whether the Service keeps the client's address (Local) or may send it by another Kubernetes node (Cluster). Only for
    /// NodePort and LoadBalancer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_traffic_policy: Option<TrafficPolicy>,
    /// Annotations of each shard's Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_annotations: Option<BTreeMap<String, String>>,
    /// First part of each shard's hostname, `<hostnamePrefix>-<shard>.<domain>`. Default: `shard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname_prefix: Option<String>,
    /// DNS domain under which shards have hostnames. Default: nodes announce no hostname.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// What clients are sent to: `hostname` needs a domain. Default: `ip`, the pod's address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_endpoint_type: Option<EndpointType>,
    /// Reaches the nodes through a Gateway, one listener port for each node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<Gateway>,
    /// Ports that each shard is given, at least `replicas + 1`. Room to spare keeps the ports of other shards where they are
    /// when replicas are added. Default: `replicas + 1`. Not in the operator's API: set it in the functionConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub ports_per_shard: Option<u32>,
    /// NodePorts that are known in Git instead of allocated. Not in the operator's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_ports: Option<NodePorts>,
    /// `loadBalancerClass` of the Services. Not in the operator's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer_class: Option<String>,
    /// `loadBalancerSourceRanges` of the Services: who may connect. Not in the operator's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer_source_ranges: Option<Vec<String>>,
    /// `allocateLoadBalancerNodePorts` of the Services. Not in the operator's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocate_load_balancer_node_ports: Option<bool>,
    /// `ipFamilyPolicy` of the Services. Not in the operator's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_family_policy: Option<IpFamilyPolicy>,
    /// Adds a Service over all nodes, `valkey-<cluster>-bootstrap`, for a client's first connection. Default: false. Not in
    /// the operator's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_service: Option<bool>,
    /// Where the hostnames lead, for `emit.dns: DNSEndpoint`: addresses or names; `{shard}` may be in them. Not in the operator's
    /// API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_targets: Option<Vec<String>>,
}

/// NodePorts by a formula: node n of shard s has `base + s * portsPerShard + n`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodePorts {
    /// NodePort of the first node. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub base: Option<u16>,
    /// The Kubernetes cluster's `--service-node-port-range`. Default: `30000-32767`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
}

/// `ipFamilyPolicy` of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum IpFamilyPolicy {
    /// One address family.
    SingleStack,
    /// Two where the cluster has them.
    PreferDualStack,
    /// Two, or the Service is refused.
    RequireDualStack,
}

impl IpFamilyPolicy {
    /// As Kubernetes spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            IpFamilyPolicy::SingleStack => "SingleStack",
            IpFamilyPolicy::PreferDualStack => "PreferDualStack",
            IpFamilyPolicy::RequireDualStack => "RequireDualStack",
        }
    }
}

/// The Gateway that leads to the nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gateway {
    /// Which Gateway the routes attach to. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_ref: Option<GatewayRef>,
    /// Listener port of the first node; node n of shard s has `basePort + s * portsPerShard + n`. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub base_port: Option<u16>,
}

/// Names a Gateway.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatewayRef {
    /// Name of the Gateway. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace of the Gateway, if it is not the cluster's. Not in the operator's API: set it in the functionConfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Listener that the routes attach to, by name. `{shard}` and `{node}` stand for the indexes, so that each node can have
    /// a listener of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_name: Option<String>,
}

/// Type of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ServiceType {
    /// Every Kubernetes node opens a port for each Valkey node.
    NodePort,
    /// A load balancer for each shard.
    LoadBalancer,
    /// Inside only: for what stands behind a Gateway.
    #[serde(rename = "ClusterIP")]
    ClusterIp,
}

impl ServiceType {
    /// As Kubernetes spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ServiceType::NodePort => "NodePort",
            ServiceType::LoadBalancer => "LoadBalancer",
            ServiceType::ClusterIp => "ClusterIP",
        }
    }
}

/// `externalTrafficPolicy` of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TrafficPolicy {
    /// Any Kubernetes node takes the traffic.
    Cluster,
    /// Only Kubernetes nodes with a pod of the shard take it.
    Local,
}

impl TrafficPolicy {
    /// As Kubernetes spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            TrafficPolicy::Cluster => "Cluster",
            TrafficPolicy::Local => "Local",
        }
    }
}

/// What `MOVED`, `ASK` and `CLUSTER SLOTS` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EndpointType {
    /// The pod's address.
    Ip,
    /// The announced hostname.
    Hostname,
}

/// Paths below `externalAccess` that the operator's API does not have: written in a cluster, the API server drops them.
#[must_use]
pub fn extension_fields() -> &'static [&'static str] {
    &[
        "portsPerShard",
        "nodePorts",
        "loadBalancerClass",
        "loadBalancerSourceRanges",
        "allocateLoadBalancerNodePorts",
        "ipFamilyPolicy",
        "bootstrapService",
        "dnsTargets",
        "gateway.gatewayRef.namespace",
    ]
}

impl ExternalAccess {
    /// The operator's own fields alone: what a ValkeyNode may carry.
    #[must_use]
    pub fn without_extensions(&self) -> Self {
        let mut access = ExternalAccess {
            ports_per_shard: None,
            node_ports: None,
            load_balancer_class: None,
            load_balancer_source_ranges: None,
            allocate_load_balancer_node_ports: None,
            ip_family_policy: None,
            bootstrap_service: None,
            dns_targets: None,
            ..self.clone()
        };
        if let Some(reference) = access.gateway.as_mut().and_then(|gateway| gateway.gateway_ref.as_mut()) {
            reference.namespace = None;
        }
        access
    }
}
