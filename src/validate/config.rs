//! The functionConfig in its three forms: `ExposeValkey`, a ConfigMap of flat keys, or a ValkeyCluster of its own.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::{announce, flat, shape};
use crate::api::{
    Announce, CONFIG_API, Certificates, Dns, ExposeValkey, ExternalAccess, IssuerRef, Listeners, Mode, NodeAddressType, Order, Pinned,
    Prune, Routes, Selector, TcpRouteVersion,
};
use crate::finding::{FileRef, Finding, ObjectRef};
use crate::object::Object;
use crate::plan::Port;
use crate::rule::Rule;

/// NodePorts by shard and node, of clusters by namespace and name.
type PinnedPorts = HashMap<(Option<String>, String), BTreeMap<(u32, u32), Port>>;

/// Settings of `announce: Live`, checked.
#[derive(Clone, Debug, Default)]
pub struct LiveSettings {
    /// Which addresses of Kubernetes nodes may be announced, if that is set.
    pub node_address_types: Vec<NodeAddressType>,
    /// User, Secret and key, if the controller is not to sign in as the operator's own user.
    pub credentials: Option<(String, String, String)>,
}

/// Settings of the function, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The functionConfig, for findings.
    pub(super) source: Option<Source>,
    /// Who announces the nodes' addresses in OperatorManaged mode; nothing in Rendered mode.
    pub announce: Option<Announce>,
    /// What the controller is told.
    pub live: LiveSettings,
    /// For which clusters what holds; the first that matches applies.
    pub rules: Vec<ClusterDefaults>,
    /// Version of TCPRoutes.
    pub tcp_route: TcpRouteVersion,
    /// Whether Services come out.
    pub services: bool,
    /// Whether ValkeyNodes come out.
    pub valkey_nodes: bool,
    /// Which routes come out.
    pub routes: Routes,
    /// Who has the listeners.
    pub listeners: Listeners,
    /// How hostnames get into DNS.
    pub dns: Dns,
    /// Who signs certificates, if they come out.
    pub issuer: Option<IssuerRef>,
    /// Whether ValkeyNodes are kept when they leave Git.
    pub prune: Prune,
    /// In which order objects are applied.
    pub order: Order,
    /// NodePorts that stay, by namespace and name of the cluster.
    pub pinned: PinnedPorts,
    /// A ValkeyCluster that is the functionConfig itself (kustomize `generators:`).
    pub cluster: Option<Object>,
}

/// The object that settings come from.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) reference: ObjectRef,
    pub(super) file: Option<FileRef>,
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
        Config {
            source: None,
            announce: None,
            live: LiveSettings::default(),
            rules: Vec::new(),
            tcp_route: TcpRouteVersion::Auto,
            services: true,
            valkey_nodes: true,
            routes: Routes::Tcp,
            listeners: Listeners::None,
            dns: Dns::None,
            issuer: None,
            prune: Prune::Protect,
            order: Order::None,
            pinned: HashMap::new(),
            cluster: None,
        }
    }
}

impl Config {
    /// Whether the operator knows nothing of external access, and each node has a Service of its own.
    #[must_use]
    pub fn is_operator_managed(&self) -> bool {
        self.announce.is_some()
    }

    /// What holds for a cluster where it does not say it itself, and the index of the entry that says it.
    pub(super) fn defaults_for(&self, cluster: &Object) -> Option<(usize, &Value)> {
        let (index, rule) = self.rules.iter().enumerate().find(|(_, rule)| rule.selects(cluster))?;
        Some((index, rule.access.as_ref()?))
    }

    /// Whether this functionConfig says what becomes of a cluster, on or off. One whose entries all choose clusters, and not this
    /// one, may stand beside others: unless the cluster itself says it, what exposes it is not ours to judge.
    #[must_use]
    pub fn speaks_for(&self, cluster: &Object) -> bool {
        let says = |pointer: &str| cluster.value.pointer(pointer).is_some_and(|value| !value.is_null());
        self.rules.is_empty()
            || self.rules.iter().any(|rule| rule.selects(cluster))
            || says("/spec/externalAccess/enabled")
            || says("/spec/networking/external")
    }

    /// The ports that are pinned for a cluster. An entry without namespace holds in each: manifests often leave it to Kustomize.
    pub fn pinned_for(&self, cluster: &ObjectRef) -> impl Iterator<Item = ((u32, u32), Port)> {
        let of = |namespace: Option<String>| self.pinned.get(&(namespace, cluster.name.clone()));
        let ports = of(cluster.namespace.clone()).or_else(|| of(None));
        ports.into_iter().flatten().map(|(at, port)| (*at, *port))
    }
}

impl ClusterDefaults {
    fn selects(&self, cluster: &Object) -> bool {
        let among = |names: &Option<Vec<String>>, name: Option<&str>| match names {
            Some(names) if !names.is_empty() => names.iter().any(|candidate| Some(candidate.as_str()) == name),
            _ => true,
        };
        let labels = self.selector.match_labels.iter().flatten().all(|(key, value)| cluster.label(key) == Some(value));
        among(&self.selector.names, Some(&cluster.reference.name))
            && among(&self.selector.namespaces, cluster.reference.namespace.as_deref())
            && labels
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
    Config { source: Some(Source { reference: object.reference.clone(), file: object.file.clone() }), ..config }
}

fn from_value(value: &Value, findings: &mut Vec<Finding>) -> Config {
    let fitted = shape::fit(&shape::schema_of::<ExposeValkey>(), value, "", findings).unwrap_or_default();
    // What fits the schema fits the type: both come from the same definition.
    let spec = serde_json::from_value::<ExposeValkey>(fitted).unwrap_or_default().spec.unwrap_or_default();
    let mode = spec.mode.unwrap_or_default();
    let live = announce::settings(mode, spec.announce, spec.live, findings);
    let emit = spec.emit.unwrap_or_default();
    if let (Mode::OperatorManaged, Some(true)) = (mode, emit.valkey_nodes) {
        let message = "with `mode: OperatorManaged` the operator makes the ValkeyNodes, and none come out: take `emit.valkeyNodes` out";
        findings.push(Finding::error(Rule::WrongValue, message).at("spec.emit.valkeyNodes").current(true));
    }
    if let (Mode::OperatorManaged, Announce::Live, Some(false)) = (mode, spec.announce.unwrap_or_default(), emit.services) {
        let message = "with `announce: Live` the controller finds the nodes by their Services: take `emit.services` out";
        findings.push(Finding::error(Rule::WrongValue, message).at("spec.emit.services").current(false));
    }
    let rules = spec.clusters.unwrap_or_default().into_iter().map(|rule| ClusterDefaults {
        selector: rule.selector.unwrap_or_default(),
        access: rule.external_access.and_then(|access: ExternalAccess| serde_json::to_value(access).ok()),
    });
    let gitops = spec.gitops.unwrap_or_default();
    let issuer = spec.cert_manager.unwrap_or_default().issuer_ref;
    let issuer = (emit.certificates == Some(Certificates::CertManager)).then(|| issuer.unwrap_or_default());
    if issuer.as_ref().is_some_and(|issuer| issuer.name.as_ref().is_none_or(String::is_empty)) {
        let message = "`emit.certificates: CertManager` needs the name of the issuer that signs";
        findings.push(Finding::error(Rule::IssuerMissing, message).at("spec.certManager.issuerRef.name"));
    }
    Config {
        source: None,
        announce: (mode == Mode::OperatorManaged).then(|| spec.announce.unwrap_or_default()),
        live,
        rules: rules.collect(),
        tcp_route: spec.gateway_api.unwrap_or_default().tcp_route.unwrap_or_default(),
        services: emit.services.unwrap_or(true),
        valkey_nodes: mode == Mode::Rendered && emit.valkey_nodes.unwrap_or(true),
        routes: emit.routes.unwrap_or_default(),
        listeners: emit.listeners.unwrap_or_default(),
        dns: emit.dns.unwrap_or_default(),
        issuer,
        prune: gitops.prune.unwrap_or_default(),
        order: gitops.order.unwrap_or_default(),
        pinned: pinned(spec.pinned.unwrap_or_default(), findings),
        cluster: None,
    }
}

/// Pinned ports by cluster, shard and node. The same port twice would be refused by the API server.
fn pinned(entries: Vec<Pinned>, findings: &mut Vec<Finding>) -> PinnedPorts {
    let mut all = HashMap::new();
    let mut taken: HashMap<Port, String> = HashMap::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let path = format!("spec.pinned[{index}]");
        let name = entry.name.unwrap_or_default();
        if name.is_empty() {
            findings.push(Finding::error(Rule::WrongValue, "the cluster's name is missing").at(format!("{path}.name")));
        }
        let mut ports = BTreeMap::new();
        for (shard, nodes) in (0u32..).zip(entry.node_ports.unwrap_or_default()) {
            for (node, number) in (0u32..).zip(nodes) {
                let field = format!("{path}.nodePorts[{shard}][{node}]");
                let Some(port) = Port::new(u64::from(number)) else {
                    findings.push(Finding::error(Rule::OutOfRange, "must be 1 to 65535, got 0").at(field).current(number));
                    continue;
                };
                if let Some(other) = taken.insert(port, field.clone()) {
                    let message = format!("NodePort {port} is pinned twice, also in `{other}`");
                    findings.push(Finding::error(Rule::NodePortTaken, message).at(field).current(number));
                }
                ports.insert((shard, node), port);
            }
        }
        all.insert((entry.namespace.filter(|namespace| !namespace.is_empty()), name), ports);
    }
    all
}
