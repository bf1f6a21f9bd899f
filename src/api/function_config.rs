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
    /// Routes, one for each node, where there is a gateway. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<bool>,
}
