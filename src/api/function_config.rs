//! The function's own configuration, `ExposeValkey`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ExternalAccess;

/// Configuration of the function. None is needed: every ValkeyCluster whose external access is on is rendered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "ExposeValkey")]
pub struct ExposeValkey {
    /// `fn.valkey.io/v1alpha1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// `ExposeValkey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Name, annotations and labels: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
    /// The settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<ExposeValkeySpec>,
}

/// Settings of the function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExposeValkeySpec {
    /// Which operator the objects are for. Default: `Rendered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Who tells clients the nodes' addresses; for `mode: OperatorManaged` only. Default: `Command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announce: Option<Announce>,
    /// Settings of `announce: Live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// Which clusters, and what they do not say themselves. The first entry that matches a cluster applies. Default: all
    /// clusters as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Vec<ClusterRule>>,
    /// What the Kubernetes cluster serves of the Gateway API.
    #[serde(rename = "gatewayAPI", skip_serializing_if = "Option::is_none")]
    pub gateway_api: Option<GatewayApi>,
    /// Which objects come out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emit: Option<Emit>,
    /// What GitOps tools are told about the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gitops: Option<Gitops>,
    /// Settings of `emit.certificates: CertManager`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert_manager: Option<CertManager>,
    /// NodePorts that Kubernetes once allocated and that stay: written by `expose-valkey pin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Vec<Pinned>>,
}

/// Which operator the objects are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Mode {
    /// One whose ValkeyNodes have external access: Services for shards, ValkeyNodes, routes.
    #[default]
    Rendered,
    /// The one that is released today, which knows nothing of external access: a Service for each node, routes, and no
    /// ValkeyNodes.
    OperatorManaged,
}

/// Who tells clients the nodes' addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Announce {
    /// The server's own command: `spec.containers` of the ValkeyCluster is edited. Everything must be known in Git.
    #[default]
    Command,
    /// The controller, on the running servers: the ValkeyCluster stays as it is.
    Live,
}

/// Settings of `announce: Live`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Live {
    /// Which address of a Kubernetes node stands for the NodePorts on it, the first that there is: `ExternalIP`, `InternalIP`,
    /// `Hostname`, `ExternalDNS` or `InternalDNS`. Default: `ExternalIP`, then `InternalIP`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_address_types: Option<Vec<NodeAddressType>>,
    /// As whom the controller signs in to the servers. Default: the operator's own user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
}

/// A type of address in the status of a Kubernetes node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NodeAddressType {
    /// Reachable from outside.
    ExternalIP,
    /// Reachable inside of the network that the nodes are in.
    InternalIP,
    /// The machine's own name.
    Hostname,
    /// A DNS name that is known outside.
    ExternalDNS,
    /// A DNS name that is known inside.
    InternalDNS,
}

impl NodeAddressType {
    /// As Kubernetes spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            NodeAddressType::ExternalIP => "ExternalIP",
            NodeAddressType::InternalIP => "InternalIP",
            NodeAddressType::Hostname => "Hostname",
            NodeAddressType::ExternalDNS => "ExternalDNS",
            NodeAddressType::InternalDNS => "InternalDNS",
        }
    }
}

/// A user of the servers, who may `CONFIG GET` and `CONFIG SET`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Credentials {
    /// Name of the user. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Where the password is. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_secret: Option<SecretKey>,
}

/// A key of a Secret in the cluster's namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretKey {
    /// Name of the Secret. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The key in it. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Settings for some clusters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterRule {
    /// Which clusters. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<Selector>,
    /// What holds for them where they do not say it themselves: the cluster's own fields win.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_access: Option<ExternalAccess>,
}

/// Chooses clusters: all of what is given must hold, an empty list or map holds for every cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Selector {
    /// `metadata.name` is one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// `metadata.namespace` is one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<String>>,
    /// The cluster has all of these labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
}

/// What the Kubernetes cluster serves of the Gateway API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatewayApi {
    /// Version of TCPRoutes. Default: `Auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_route: Option<TcpRouteVersion>,
}

/// Version of TCPRoutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TcpRouteVersion {
    /// `v1`, unless the list has a CustomResourceDefinition that serves only v1alpha2, or routes of ours in v1alpha2.
    #[default]
    Auto,
    /// `gateway.networking.k8s.io/v1`: Gateway API 1.6 and later.
    #[serde(rename = "v1")]
    V1,
    /// `gateway.networking.k8s.io/v1alpha2`: Gateway API 1.5 and earlier, experimental channel.
    #[serde(rename = "v1alpha2")]
    V1Alpha2,
}

/// Which objects come out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Emit {
    /// Services, one for each shard. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub services: Option<bool>,
    /// ValkeyNodes, one for each node. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valkey_nodes: Option<bool>,
    /// Routes, one for each node, where there is a gateway. `true` and `TCPRoute` are a port for each node; `TLSRoute` is one
    /// port for all, and a hostname for each node by which the Gateway tells them apart (SNI). Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<Routes>,
    /// Who has the listeners that routes attach to. Default: `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listeners: Option<Listeners>,
    /// How announced hostnames get into DNS. Default: `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<Dns>,
    /// Where certificates with the announced hostnames come from. Default: `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificates: Option<Certificates>,
}

/// Whether routes come out, and of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routes {
    /// `false`.
    No,
    /// `true` or `TCPRoute`.
    #[default]
    Tcp,
    /// `TLSRoute`.
    Tls,
}

impl Serialize for Routes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Routes::No => serializer.serialize_bool(false),
            Routes::Tcp => serializer.serialize_str("TCPRoute"),
            Routes::Tls => serializer.serialize_str("TLSRoute"),
        }
    }
}

impl<'de> Deserialize<'de> for Routes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Bool(false) => Ok(Routes::No),
            serde_json::Value::Bool(true) => Ok(Routes::Tcp),
            serde_json::Value::String(name) if name == "TCPRoute" => Ok(Routes::Tcp),
            serde_json::Value::String(name) if name == "TLSRoute" => Ok(Routes::Tls),
            _ => Err(serde::de::Error::custom("must be true, false, `TCPRoute` or `TLSRoute`")),
        }
    }
}

impl JsonSchema for Routes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Routes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"enum": [true, false, "TCPRoute", "TLSRoute"]})
    }
}

/// Who has the listeners that routes attach to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Listeners {
    /// Somebody else writes them.
    #[default]
    None,
    /// A ListenerSet of each cluster's own, several where one cannot hold them all.
    ListenerSet,
    /// The Gateway, which must be in the list: listeners are added to it.
    Gateway,
}

/// How announced hostnames get into DNS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Dns {
    /// Somebody else writes the records.
    #[default]
    None,
    /// Annotations for external-dns on Services, or on routes where there is a gateway.
    ExternalDNS,
    /// A `DNSEndpoint` of external-dns for each cluster, targets to be filled in by annotation.
    DNSEndpoint,
}

/// Where certificates come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Certificates {
    /// Somebody else makes them.
    #[default]
    None,
    /// A `Certificate` of cert-manager for each cluster with TLS.
    CertManager,
}

/// What GitOps tools are told about the objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gitops {
    /// Whether ValkeyNodes are kept when they leave Git. Default: `Protect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune: Option<Prune>,
    /// In which order objects are applied. Default: `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
}

/// Whether ValkeyNodes are kept when they leave Git.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Prune {
    /// Annotations tell Argo CD, Flux and kpt to leave them to the operator, which moves their slots first.
    #[default]
    Protect,
    /// They are pruned like anything else: a server is gone before its slots have moved.
    Allow,
}

/// In which order objects are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Order {
    /// Whatever order the tool has.
    #[default]
    None,
    /// Sync waves of Argo CD: replicas before primaries.
    ArgoCD,
    /// `depends-on` of kpt: replicas before primaries.
    Kpt,
}

/// Settings of cert-manager.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CertManager {
    /// Who signs. Required with `emit.certificates: CertManager`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_ref: Option<IssuerRef>,
}

/// An issuer of cert-manager.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IssuerRef {
    /// Name of the issuer. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `Issuer` or `ClusterIssuer`. Default: `Issuer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Default: `cert-manager.io`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// NodePorts of one cluster that stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pinned {
    /// Name of the cluster. Required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace of the cluster; without it, a cluster of this name in any namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// For each shard, by index, the NodePorts of its nodes, by index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_ports: Option<Vec<Vec<u16>>>,
}
