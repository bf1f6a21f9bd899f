//! Server-side apply of our own fields and no others, never by force.

use kube::api::{Patch, PatchParams};
use kube::core::response::Status;
use kube::{Api, Client, Error};
use serde_json::{Value, json};

use super::facts::{Endpoints, Key};
use super::rolling::Wanted;
use super::wire::{ValkeyCluster, ValkeyNode};
use crate::NAME;

const API_VERSION: &str = "valkey.io/v1alpha1";

/// Why a write was not taken.
#[derive(Debug)]
pub(super) enum Refused {
    /// Another manager owns the field: what the API server says of it.
    Owned(String),
    /// The CRD that is installed does not know the field.
    Unknown,
    /// The object is gone, or is another one of the same name, or changed this moment: the next event tells.
    Changed,
    /// Anything else.
    Failed(Box<Error>),
}

/// `status.externalEndpoints` of a cluster; empty: the field is given up. The `uid` keeps another cluster of the same name
/// from being written to.
pub(super) fn status(key: &Key, uid: &str, endpoints: &[Endpoints]) -> Value {
    let endpoints: Vec<_> = endpoints.iter().map(|shard| json!({"shardIndex": shard.shard, "nodePorts": shard.ports})).collect();
    let status = if endpoints.is_empty() { json!({}) } else { json!({"externalEndpoints": endpoints}) };
    json!({
        "apiVersion": API_VERSION,
        "kind": "ValkeyCluster",
        "metadata": {"name": key.name, "namespace": key.namespace, "uid": uid},
        "status": status,
    })
}

/// `spec.externalAccessClientPort` of a node. The `uid` keeps a node that is gone from being made anew.
pub(super) fn node(namespace: &str, name: &str, uid: &str, wanted: Wanted) -> Value {
    let spec = match wanted {
        Wanted::Port(port) => json!({"externalAccessClientPort": port}),
        Wanted::Keep | Wanted::Release => json!({}),
    };
    json!({
        "apiVersion": API_VERSION,
        "kind": "ValkeyNode",
        "metadata": {"name": name, "namespace": namespace, "uid": uid},
        "spec": spec,
    })
}

/// Applies what [`status`] made, and answers with the cluster as it is then.
pub(super) async fn apply_status(client: &Client, key: &Key, object: &Value) -> Result<ValkeyCluster, Refused> {
    let api: Api<ValkeyCluster> = Api::namespaced(client.clone(), &key.namespace);
    api.patch_status(&key.name, &PatchParams::apply(NAME), &Patch::Apply(object)).await.map_err(refused)
}

/// Applies what [`node`] made, and answers with the node as it is then.
pub(super) async fn apply_node(client: &Client, namespace: &str, name: &str, object: &Value) -> Result<ValkeyNode, Refused> {
    let api: Api<ValkeyNode> = Api::namespaced(client.clone(), namespace);
    api.patch(name, &PatchParams::apply(NAME), &Patch::Apply(object)).await.map_err(refused)
}

fn refused(error: Error) -> Refused {
    match &error {
        Error::Api(status) if status.code == 404 => Refused::Changed,
        Error::Api(status) if status.code == 409 => owned(status).map_or(Refused::Changed, Refused::Owned),
        // The API server's answer to a field that its schema lacks is an internal error: only the words tell.
        Error::Api(status) if status.message.contains("field not declared in schema") => Refused::Unknown,
        _ => Refused::Failed(Box::new(error)),
    }
}

fn owned(status: &Status) -> Option<String> {
    let causes = &status.details.as_ref()?.causes;
    causes.iter().find(|cause| cause.reason == "FieldManagerConflict").map(|cause| format!("`{}`: {}", cause.field, cause.message))
}
