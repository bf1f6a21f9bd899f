//! The middle of the way: from objects to what exposes them, whatever text they came from and go to.

use std::collections::HashSet;

use serde_json::Value;

use crate::api::{ExternalAccess, Routes};
use crate::check;
use crate::finding::{self, Finding};
use crate::object::Object;
use crate::own::{self, ByCluster};
use crate::render::{self, Gvk, TLS_ROUTE};
use crate::validate::{self, Config, Exposed, Observed};

/// What a set of objects comes to.
#[derive(Debug, Default)]
pub struct Exposure {
    /// Clusters whose external access is on and that are valid, in the order of the objects.
    pub clusters: Vec<Exposed>,
    /// The version that routes come out in, if they do.
    routes: Option<Gvk>,
    /// The settings that held.
    pub config: Config,
    /// All findings, in no order yet.
    pub findings: Vec<Finding>,
    /// Namespace and name of every cluster seen, exposed or not.
    pub known: HashSet<(Option<String>, String)>,
    /// Those of them that the functionConfig does not speak for: what exposes them stays as it is.
    pub(crate) left_alone: HashSet<(Option<String>, String)>,
}

impl Exposure {
    /// The objects of one of the clusters. Cluster by cluster, so that those of a thousand need not be in memory at once.
    #[must_use]
    pub fn render(&self, cluster: &Exposed) -> Vec<Value> {
        render::cluster(cluster, &self.config, self.routes)
    }

    /// Whether the functionConfig does not speak for a cluster.
    pub(crate) fn leaves_alone(&self, cluster: &Object) -> bool {
        self.left_alone.contains(&(cluster.reference.namespace.clone(), cluster.reference.name.clone()))
    }

    /// The objects of all clusters; none if anything is wrong.
    #[must_use]
    pub fn rendered(&self) -> Vec<Value> {
        if finding::any_error(&self.findings) {
            return Vec::new();
        }
        self.clusters.iter().flat_map(|cluster| self.render(cluster)).collect()
    }
}

/// Reads the functionConfig, validates and plans each cluster, checks them together, and renders.
#[must_use]
pub fn expose(objects: &[Object], function_config: Option<&Object>) -> Exposure {
    let mut exposure = Exposure::default();
    let findings = &mut exposure.findings;
    let config = validate::config(function_config, findings);
    let own = own::find(objects);
    let schema = validate::schema_of::<ExternalAccess>();
    for object in clusters(objects, &config) {
        let known = (object.reference.namespace.clone(), object.reference.name.clone());
        let observed = observed(&own, &known, config.is_operator_managed());
        exposure.clusters.extend(validate::cluster(object, &config, &schema, &observed, findings));
        if !config.speaks_for(object) {
            exposure.left_alone.insert(known.clone());
        }
        if object.reference.api_version == crate::api::VALKEY_API {
            exposure.known.insert(known);
        }
    }
    check::all(&exposure.clusters, &config, objects, &own, findings);
    let routed = exposure.clusters.iter().any(|cluster| cluster.gateway.is_some());
    let version = match config.routes {
        Routes::Tcp if routed => Some(check::route_version(config.tcp_route, objects, &own, findings)),
        Routes::Tls => Some(TLS_ROUTE),
        Routes::Tcp | Routes::No => None,
    };
    exposure.routes = version;
    exposure.config = config;
    exposure
}

/// The ValkeyClusters of the objects, and that of the functionConfig if it is not among them.
fn clusters<'o>(objects: &'o [Object], config: &'o Config) -> Vec<&'o Object> {
    let is_cluster = |object: &&Object| object.group() == "valkey.io" && object.reference.kind == "ValkeyCluster";
    let mut clusters: Vec<&Object> = objects.iter().filter(is_cluster).collect();
    if let Some(own) = &config.cluster {
        let same = |other: &&&Object| other.reference.name == own.reference.name && other.reference.namespace == own.reference.namespace;
        if !clusters.iter().any(|cluster| same(&cluster)) {
            clusters.push(own);
        }
    }
    clusters
}

/// Only of Services that stay: those of the other mode go, and hold their ports until they are gone.
fn observed(own: &ByCluster<'_>, cluster: &(Option<String>, String), per_node: bool) -> Observed {
    let staying = own.get(cluster).into_iter().flatten().filter(|own| own.node.is_some() == per_node);
    Observed { node_ports: staying.flat_map(own::Own::node_ports).collect() }
}
