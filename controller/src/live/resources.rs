//! The kinds of objects that are looked at, and what each says.

use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::api::{ApiResource, DynamicObject};
use kube::{Api, Client, ResourceExt};
use tracing::warn;

use super::facts::{Ref, cluster_facts, gateway_addresses, machine_addresses, node_service, server_pod};
use super::world::Change;
use crate::context::Scope;

/// The operator's clusters.
pub(crate) fn clusters() -> ApiResource {
    resource("valkey.io", "v1alpha1", "ValkeyCluster", "valkeyclusters")
}

/// Gateways of the Gateway API.
pub(crate) fn gateways() -> ApiResource {
    resource("gateway.networking.k8s.io", "v1", "Gateway", "gateways")
}

fn resource(group: &str, version: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: format!("{group}/{version}"),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
    }
}

/// As [`Scope::apis`], for kinds without a type of their own.
pub(crate) fn dynamic_apis(scope: &Scope, client: &Client, resource: &ApiResource) -> Vec<Api<DynamicObject>> {
    match scope {
        Scope::Cluster => vec![Api::all_with(client.clone(), resource)],
        Scope::Namespaces(names) => names.iter().map(|name| Api::namespaced_with(client.clone(), name, resource)).collect(),
    }
}

pub(crate) fn service(service: &Service) -> Option<Change> {
    let name = Ref::of(&service.metadata);
    match node_service(service) {
        Ok((key, read)) => Some(Change::Service(key, name.name, Some(read))),
        Err(words) => {
            warn!("{name}: {words}");
            None
        }
    }
}

pub(crate) fn pod(pod: &Pod) -> Option<Change> {
    let (key, read) = server_pod(pod)?;
    Some(Change::Pod(key, read.name.clone(), Some(read)))
}

pub(crate) fn machine(node: &Node) -> Option<Change> {
    Some(Change::Machine(node.name_any(), Some(machine_addresses(node))))
}

pub(crate) fn gateway(gateway: &DynamicObject) -> Option<Change> {
    Some(Change::Gateway(Ref::of(&gateway.metadata), Some(gateway_addresses(&gateway.data))))
}

pub(crate) fn cluster(cluster: &DynamicObject) -> Option<Change> {
    let uid = cluster.metadata.uid.as_deref().unwrap_or_default();
    Some(Change::Cluster(Ref::of(&cluster.metadata), Some(cluster_facts(uid, &cluster.data))))
}
