//! The functionConfig in its three forms: `ExposeValkey`, a ConfigMap of flat keys, or a ValkeyCluster of its own.

use serde_json::Value;

use super::{flat, shape};
use crate::api::{CONFIG_API, ExposeValkey, ExternalAccess, Selector, TcpRouteVersion};
use crate::finding::Finding;
use crate::object::Object;
use crate::rule::Rule;

/// Settings of the function, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// For which clusters what holds; the first that matches applies.
    pub rules: Vec<ClusterDefaults>,
    /// Version of TCPRoutes.
    pub tcp_route: TcpRouteVersion,
    /// Whether Services come out.
    pub services: bool,
    /// Whether ValkeyNodes come out.
    pub valkey_nodes: bool,
    /// Whether routes come out.
    pub routes: bool,
    /// A ValkeyCluster that is the functionConfig itself (kustomize `generators:`).
    pub cluster: Option<Object>,
}

/// Settings for the clusters that a selector chooses.
#[derive(Clone, Debug, Default)]
pub struct ClusterDefaults {
    selector: Selector,
    /// Fields below `externalAccess`, checked.
    pub(super) access: Option<Value>,
}

impl Default for Config {
    fn default() -> Self {
        Config { rules: Vec::new(), tcp_route: TcpRouteVersion::Auto, services: true, valkey_nodes: true, routes: true, cluster: None }
    }
}

impl Config {
    /// What holds for a cluster where it does not say it itself.
    pub(super) fn defaults_for(&self, cluster: &Object) -> Option<&Value> {
        self.rules.iter().find(|rule| rule.selects(cluster))?.access.as_ref()
    }
}

impl ClusterDefaults {
    fn selects(&self, cluster: &Object) -> bool {
        let among = |names: &Option<Vec<String>>, name: Option<&str>| match names {
            Some(names) if !names.is_empty() => names.iter().any(|candidate| Some(candidate.as_str()) == name),
            _ => true,
        };
        let labels = self.selector.match_labels.iter().flatten().all(|(key, value)| cluster.label(key) == Some(value));
        among(&self.selector.names, Some(&cluster.reference.name)) && among(&self.selector.namespaces, cluster.reference.namespace.as_deref()) && labels
    }
}

/// Reads the functionConfig, if there is one.
pub fn config(object: Option<&Object>, findings: &mut Vec<Finding>) -> Config {
    let Some(object) = object else { return Config::default() };
    let mut own = Vec::new();
    let config = match (object.reference.api_version.as_str(), object.reference.kind.as_str()) {
        (CONFIG_API, "ExposeValkey") => from_value(&object.value, &mut own),
        ("v1", "ConfigMap") => from_value(&flat::to_expose_valkey(&object.value, &mut own), &mut own),
        (_, "ValkeyCluster") if object.group() == "valkey.io" => Config { cluster: Some(object.clone()), ..Config::default() },
        (api_version, kind) => {
            let message = format!(
                "functionConfig of {api_version:?} {kind:?} is not known: it must be `{CONFIG_API}` ExposeValkey, `v1` ConfigMap, or the ValkeyCluster to expose"
            );
            own.push(Finding::error(Rule::UnknownConfig, message).at("kind"));
            Config::default()
        }
    };
    findings.extend(own.into_iter().map(|finding| Finding { order: 0, ..object.finding(finding) }));
    config
}

fn from_value(value: &Value, findings: &mut Vec<Finding>) -> Config {
    let fitted = shape::fit(&shape::schema_of::<ExposeValkey>(), value, "", findings).unwrap_or_default();
    // What fits the schema fits the type: both come from the same definition.
    let spec = serde_json::from_value::<ExposeValkey>(fitted).unwrap_or_default().spec.unwrap_or_default();
    let emit = spec.emit.unwrap_or_default();
    let rules = spec.clusters.unwrap_or_default().into_iter().map(|rule| ClusterDefaults {
        selector: rule.selector.unwrap_or_default(),
        access: rule.external_access.and_then(|access: ExternalAccess| serde_json::to_value(access).ok()),
    });
    Config {
        rules: rules.collect(),
        tcp_route: spec.gateway_api.unwrap_or_default().tcp_route.unwrap_or_default(),
        services: emit.services.unwrap_or(true),
        valkey_nodes: emit.valkey_nodes.unwrap_or(true),
        routes: emit.routes.unwrap_or(true),
        cluster: None,
    }
}
