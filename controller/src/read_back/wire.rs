//! The few fields that are read of an object, as the API server sends them. Whatever else there is, is skipped while it is
//! parsed: with thousands of nodes, what is not kept is what keeps the process small.

use std::borrow::Cow;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A ValkeyCluster, in either place of its external access.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ValkeyCluster {
    /// Identity, labels and owners of fields.
    pub(super) metadata: ObjectMeta,
    pub(super) spec: ClusterSpec,
    pub(super) status: ClusterStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClusterSpec {
    #[serde(deserialize_with = "lenient")]
    pub(super) shards: Option<u32>,
    #[serde(deserialize_with = "lenient")]
    pub(super) replicas: Option<u32>,
    #[serde(deserialize_with = "lenient")]
    pub(super) external_access: Option<Access>,
    #[serde(deserialize_with = "lenient")]
    pub(super) networking: Option<Networking>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Networking {
    pub(super) external: Option<Access>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Access {
    pub(super) enabled: Option<bool>,
    pub(super) gateway: Option<Value>,
    pub(super) domain: Option<String>,
    pub(super) hostname_prefix: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClusterStatus {
    #[serde(deserialize_with = "lenient")]
    pub(super) external_endpoints: Option<Vec<Endpoint>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Endpoint {
    pub(super) shard_index: u32,
    pub(super) node_ports: Vec<u16>,
}

/// A ValkeyNode.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ValkeyNode {
    /// Identity, labels and owners of fields.
    pub(super) metadata: ObjectMeta,
    pub(super) spec: NodeSpec,
    pub(super) status: NodeStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NodeSpec {
    #[serde(deserialize_with = "lenient")]
    pub(super) external_access_client_port: Option<u16>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NodeStatus {
    #[serde(deserialize_with = "lenient")]
    pub(super) ready: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) observed_generation: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) role: Option<String>,
    #[serde(rename = "podIP", deserialize_with = "lenient")]
    pub(super) pod_ip: Option<String>,
}

/// The Service of a shard.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShardService {
    /// Identity and labels.
    pub(super) metadata: ObjectMeta,
    pub(super) spec: ServiceSpec,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ServiceSpec {
    #[serde(rename = "type")]
    pub(super) type_: String,
    pub(super) ports: Vec<ServicePort>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ServicePort {
    pub(super) name: String,
    pub(super) port: u16,
    pub(super) node_port: u16,
}

/// One object of a kind that is not understood must not end the watch of all: what does not fit is taken for absent.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// The kinds differ in their names alone.
macro_rules! resource {
    ($type:ty, $group:literal, $version:literal, $kind:literal, $plural:literal) => {
        impl kube::Resource for $type {
            type DynamicType = ();
            type Scope = NamespaceResourceScope;

            fn kind((): &()) -> Cow<'_, str> {
                $kind.into()
            }
            fn group((): &()) -> Cow<'_, str> {
                $group.into()
            }
            fn version((): &()) -> Cow<'_, str> {
                $version.into()
            }
            fn plural((): &()) -> Cow<'_, str> {
                $plural.into()
            }
            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

resource!(ValkeyCluster, "valkey.io", "v1alpha1", "ValkeyCluster", "valkeyclusters");
resource!(ValkeyNode, "valkey.io", "v1alpha1", "ValkeyNode", "valkeynodes");
resource!(ShardService, "", "v1", "Service", "services");
