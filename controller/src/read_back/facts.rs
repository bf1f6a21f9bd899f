//! What is kept of an object: the facts that decide, and nothing else.

use expose_valkey::plan::Topology;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::owners::{Owners, owners};
use super::wire::{Access, Endpoint, ShardService, ValkeyCluster, ValkeyNode};

/// A ValkeyCluster by namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    /// Its namespace.
    pub(super) namespace: Box<str>,
    /// Its name.
    pub(super) name: Box<str>,
}

/// A ValkeyCluster.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    /// Grows with every change of the object; 0 if that cannot be told.
    pub(super) version: u64,
    /// Identifier that a re-created cluster of the same name does not share.
    pub(super) uid: Box<str>,
    /// On its way out: nothing is written any more.
    pub(super) deleting: bool,
    /// Shards and nodes of each; none if the spec does not say, or says more than any cluster can have.
    pub(super) topology: Option<Topology>,
    /// How it is reached from outside; none if that is off.
    pub(super) access: Option<Reach>,
    /// `status.externalEndpoints` as it stands, by shard.
    pub(super) published: Vec<Endpoints>,
    /// Who owns `status.externalEndpoints`.
    pub(super) owners: Owners,
}

/// What external access asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reach {
    /// Through a Gateway: its listeners' ports are the clients' ports.
    pub(super) gateway: bool,
    /// `<prefix>-<shard>.<domain>` is a shard's hostname; none without a domain.
    pub(super) hostnames: Option<(Box<str>, Box<str>)>,
}

/// The ports of one shard, by node index. Never 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoints {
    /// Index of the shard.
    pub(super) shard: u32,
    /// Port of node 0, 1, …
    pub(super) ports: Vec<u16>,
}

/// The Service of a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    /// Its type is NodePort: clients come in by the node ports.
    pub(super) node_port: bool,
    /// Its ports, by node index.
    pub(super) ports: Vec<NodePorts>,
}

/// A port `vk-n<n>` of a Service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodePorts {
    /// Node index, from the port's name.
    pub(super) node: u32,
    /// Port of the Service.
    pub(super) port: u16,
    /// Its node port, 0 as long as none is allocated.
    pub(super) node_port: u16,
}

/// A ValkeyNode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Grows with every change of the object; 0 if that cannot be told.
    pub(super) version: u64,
    /// Identifier that a re-created node of the same name does not share.
    pub(super) uid: Box<str>,
    /// `metadata.generation`.
    pub(super) generation: i64,
    /// The operator has acted on this generation.
    pub(super) observed_generation: i64,
    /// The operator calls it Ready.
    pub(super) ready: bool,
    /// It was Ready before, or is: a node that never was holds nobody up.
    pub(super) was_ready: bool,
    /// It is its shard's primary, as far as the operator knows.
    pub(super) primary: Option<bool>,
    /// Address of its pod; empty if there is none.
    pub(super) pod_ip: Box<str>,
    /// `spec.externalAccessClientPort`; 0 if absent.
    pub(super) port: u16,
    /// Who owns that field.
    pub(super) owners: Owners,
}

impl Node {
    /// Ready, with all that its spec asks for.
    pub(super) fn settled(&self) -> bool {
        self.ready && self.observed_generation >= self.generation
    }
}

impl Cluster {
    pub(super) fn of(object: &ValkeyCluster) -> Self {
        let spec = &object.spec;
        Self {
            version: version(&object.metadata),
            uid: object.metadata.uid.as_deref().unwrap_or_default().into(),
            deleting: object.metadata.deletion_timestamp.is_some(),
            topology: spec.shards.and_then(|shards| Topology::new(shards, spec.replicas.unwrap_or(0))),
            access: reach(object),
            published: object.status.external_endpoints.iter().flatten().map(Endpoints::of).collect(),
            owners: owners(&object.metadata, "status", &["status", "externalEndpoints"]),
        }
    }

    /// Indexes of the shards.
    pub(super) fn shards(&self) -> std::ops::Range<u32> {
        0..self.topology.map_or(0, Topology::shards)
    }

    /// Indexes of the nodes of each shard.
    pub(super) fn nodes(&self) -> std::ops::Range<u32> {
        0..self.topology.map_or(0, Topology::nodes_per_shard)
    }

    /// Name that clients reach the shard by.
    pub(super) fn hostname(&self, shard: u32) -> Option<String> {
        let (prefix, domain) = self.access.as_ref()?.hostnames.as_ref()?;
        Some(format!("{prefix}-{shard}.{domain}"))
    }
}

/// In the place of the pull request a switch says whether it is on; in the decided one, being there is being on.
fn reach(object: &ValkeyCluster) -> Option<Reach> {
    let old = object.spec.external_access.as_ref().filter(|access| access.enabled == Some(true));
    let new = object.spec.networking.as_ref().and_then(|networking| networking.external.as_ref());
    let new = new.filter(|access| access.enabled != Some(false));
    let access: &Access = old.or(new)?;
    let domain = access.domain.as_deref().filter(|domain| !domain.is_empty());
    let prefix = access.hostname_prefix.as_deref().unwrap_or("shard");
    Some(Reach { gateway: access.gateway.is_some(), hostnames: domain.map(|domain| (prefix.into(), domain.into())) })
}

impl Endpoints {
    fn of(endpoint: &Endpoint) -> Self {
        Self { shard: endpoint.shard_index, ports: endpoint.node_ports.clone() }
    }
}

impl Service {
    pub(super) fn of(object: &ShardService) -> Self {
        let spec = &object.spec;
        let ports = spec.ports.iter().filter_map(|port| {
            let node = port.name.strip_prefix("vk-n")?.parse().ok()?;
            Some(NodePorts { node, port: port.port, node_port: port.node_port })
        });
        Self { node_port: spec.type_ == "NodePort", ports: ports.collect() }
    }
}

impl Node {
    pub(super) fn of(object: &ValkeyNode) -> Self {
        let status = &object.status;
        let role = status.role.as_deref().filter(|role| !role.is_empty());
        let ready = status.ready.unwrap_or(false);
        Self {
            version: version(&object.metadata),
            uid: object.metadata.uid.as_deref().unwrap_or_default().into(),
            generation: object.metadata.generation.unwrap_or(0),
            observed_generation: status.observed_generation.unwrap_or(0),
            ready,
            // The operator asks a server for its role once it is Ready, and keeps the answer.
            was_ready: ready || role.is_some(),
            primary: role.map(|role| role == "primary"),
            pod_ip: status.pod_ip.as_deref().unwrap_or_default().into(),
            port: object.spec.external_access_client_port.unwrap_or(0),
            owners: owners(&object.metadata, "", &["spec", "externalAccessClientPort"]),
        }
    }
}

/// The resourceVersion, as a number: those of one object can be compared.
pub(super) fn version(meta: &ObjectMeta) -> u64 {
    meta.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or(0)
}

/// The cluster that an object belongs to, and an index of it, by its labels.
pub(super) fn place(meta: &ObjectMeta, index: &str) -> Option<(Key, u32)> {
    let labels = meta.labels.as_ref()?;
    let name = labels.get("valkey.io/cluster")?;
    let index = labels.get(index)?.parse().ok()?;
    Some((Key::new(meta.namespace.as_deref()?, name), index))
}

impl Key {
    /// The cluster `name` in `namespace`.
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
