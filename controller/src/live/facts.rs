//! What is kept of Kubernetes' objects: the few fields that an announcement depends on. Thousands of them fit in little memory.

use std::fmt;
use std::net::IpAddr;

use k8s_openapi::api::core::v1::{Node, Pod, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The label that switches live announcement on, and its value.
pub(crate) const ANNOUNCE: (&str, &str) = ("fn.valkey.io/announce", "live");
/// Labels of a Service that say which node it belongs to: cluster, shard, node.
const SERVICE_LABELS: [&str; 3] = ["fn.valkey.io/cluster", "fn.valkey.io/shard-index", "fn.valkey.io/node-index"];
/// The operator's labels of a pod, in the same order.
pub(crate) const POD_LABELS: [&str; 3] = ["valkey.io/cluster", "valkey.io/shard-index", "valkey.io/node-index"];

pub(crate) const HOSTNAME: &str = "fn.valkey.io/hostname";
pub(crate) const CLIENT_PORT: &str = "fn.valkey.io/client-port";
const GATEWAY: &str = "fn.valkey.io/gateway";
const NODE_ADDRESS_TYPES: &str = "fn.valkey.io/node-address-types";
const USERNAME: &str = "fn.valkey.io/username";
const PASSWORD_SECRET: &str = "fn.valkey.io/password-secret";

/// An object's namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ref {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Ref {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub(crate) fn of(meta: &ObjectMeta) -> Self {
        Self { namespace: meta.namespace.clone().unwrap_or_default(), name: meta.name.clone().unwrap_or_default() }
    }

    /// From `NAMESPACE/NAME`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (namespace, name) = text.split_once('/')?;
        (!namespace.is_empty() && !name.is_empty() && !name.contains('/')).then(|| Self::new(namespace, name))
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// One Valkey server: shard and node index within a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeKey {
    pub(crate) cluster: Ref,
    pub(crate) shard: u32,
    pub(crate) node: u32,
}

impl NodeKey {
    pub(crate) fn new(namespace: &str, cluster: &str, shard: u32, node: u32) -> Self {
        Self { cluster: Ref::new(namespace, cluster), shard, node }
    }

    /// Reads the three labels; `None` where one is missing or no number.
    fn from_labels(meta: &ObjectMeta, [cluster, shard, node]: [&str; 3]) -> Option<Self> {
        let labels = meta.labels.as_ref()?;
        let index = |key: &str| labels.get(key)?.parse().ok();
        Some(Self::new(meta.namespace.as_deref()?, labels.get(cluster)?, index(shard)?, index(node)?))
    }
}

impl fmt::Display for NodeKey {
    /// The node's name, as the operator has it: `cache-0-1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.cluster.name, self.shard, self.node)
    }
}

/// How a Service leads in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    NodePort,
    LoadBalancer,
    /// `ClusterIP`: somebody else leads in, a gateway for instance.
    Internal,
}

/// A name or an address that a cloud gave to a load balancer, or that a Gateway has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Name(String),
    Ip(IpAddr),
}

impl Address {
    fn ip(text: &str) -> Option<Self> {
        text.parse().ok().map(Self::Ip)
    }

    fn name(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::Name(text.to_owned()))
    }
}

/// Who signs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Login {
    pub(crate) username: String,
    /// The Secret in the cluster's namespace.
    pub(crate) secret: String,
    /// The key within the Secret that holds the password.
    pub(crate) key: String,
}

/// The Service of one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeService {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) port_name: String,
    pub(crate) port: u16,
    /// The port of the pod that the Service leads to, by name or number.
    pub(crate) target: Option<IntOrString>,
    /// Not there before Kubernetes has allocated it.
    pub(crate) node_port: Option<u16>,
    pub(crate) ingress: Vec<Address>,
    pub(crate) hostname: Option<String>,
    /// The annotation as written.
    pub(crate) client_port: Option<String>,
    pub(crate) gateway: Option<Ref>,
    pub(crate) node_address_types: Vec<String>,
    pub(crate) login: Login,
}

/// Reads a Service with the label `fn.valkey.io/announce: live`: the node that it is for, and what it says or what is wrong with it.
///
/// # Errors
/// Its labels do not say which node it is for; in words that begin with the place.
pub(crate) fn node_service(service: &Service) -> Result<(NodeKey, Result<NodeService, String>), String> {
    let name = service.metadata.name.as_deref().unwrap_or_default();
    let key = NodeKey::from_labels(&service.metadata, SERVICE_LABELS)
        .ok_or_else(|| format!("labels of Service {name}: must hold {}, the last two with a number", SERVICE_LABELS.join(", ")))?;
    let read = read_service(service, name, &key.cluster.name);
    Ok((key, read))
}

fn read_service(service: &Service, name: &str, cluster: &str) -> Result<NodeService, String> {
    let annotations = service.metadata.annotations.as_ref();
    let note = |key: &str| annotations?.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
    let spec = service.spec.clone().unwrap_or_default();
    let ports = spec.ports.unwrap_or_default();
    let [port] = ports.as_slice() else {
        return Err(format!("`spec.ports` of Service {name}: must hold one port, got {}", ports.len()));
    };
    let gateway = match note(GATEWAY) {
        None => None,
        Some(text) => Some(Ref::parse(text).ok_or_else(|| wrong_note(name, GATEWAY, "NAMESPACE/NAME", text))?),
    };
    let types = note(NODE_ADDRESS_TYPES).unwrap_or("ExternalIP,InternalIP");
    Ok(NodeService {
        name: name.to_owned(),
        kind: match spec.type_.as_deref() {
            Some("NodePort") => Kind::NodePort,
            Some("LoadBalancer") => Kind::LoadBalancer,
            _ => Kind::Internal,
        },
        port_name: port.name.clone().unwrap_or_else(|| port.port.to_string()),
        port: u16::try_from(port.port).map_err(|_| format!("`spec.ports[0].port` of Service {name}: must be a port, got {}", port.port))?,
        target: port.target_port.clone(),
        node_port: port.node_port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0),
        ingress: ingress(service),
        hostname: note(HOSTNAME).map(str::to_owned),
        client_port: note(CLIENT_PORT).map(str::to_owned),
        gateway,
        node_address_types: types.split(',').map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty()).collect(),
        login: login(name, cluster, note(USERNAME), note(PASSWORD_SECRET))?,
    })
}

fn wrong_note(service: &str, key: &str, form: &str, got: &str) -> String {
    format!("annotation {key} of Service {service}: must be {form}, got \"{got}\"")
}

/// The operator's own system user, unless both annotations name another.
fn login(service: &str, cluster: &str, username: Option<&str>, secret: Option<&str>) -> Result<Login, String> {
    match (username, secret) {
        (None, None) => {
            Ok(Login { username: "_operator".into(), secret: format!("internal-{cluster}-system-passwords"), key: "_operator".into() })
        }
        (Some(username), Some(secret)) => {
            let (name, key) = secret
                .split_once('/')
                .filter(|(name, key)| !name.is_empty() && !key.is_empty())
                .ok_or_else(|| wrong_note(service, PASSWORD_SECRET, "SECRET/KEY", secret))?;
            Ok(Login { username: username.to_owned(), secret: name.to_owned(), key: key.to_owned() })
        }
        (Some(_), None) => Err(format!("annotations of Service {service}: {USERNAME} needs {PASSWORD_SECRET}: SECRET/KEY beside it")),
        (None, Some(_)) => Err(format!("annotations of Service {service}: {PASSWORD_SECRET} needs {USERNAME} beside it")),
    }
}

fn ingress(service: &Service) -> Vec<Address> {
    let Some(ingress) =
        service.status.as_ref().and_then(|status| status.load_balancer.as_ref()).and_then(|balancer| balancer.ingress.as_ref())
    else {
        return Vec::new();
    };
    let names = ingress.iter().filter_map(|entry| Address::name(entry.hostname.as_deref()?));
    let ips = ingress.iter().filter_map(|entry| Address::ip(entry.ip.as_deref()?));
    names.chain(ips).collect()
}

/// A pod with a Valkey server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerPod {
    pub(crate) name: String,
    pub(crate) uid: String,
    /// When it was made, as written: later texts sort later.
    pub(crate) created: String,
    pub(crate) ip: Option<IpAddr>,
    /// The Kubernetes node where it runs.
    pub(crate) machine: Option<String>,
    /// Its named ports.
    pub(crate) ports: Vec<(String, u16)>,
    /// How often the server's container was started again: each time the server forgets what it was told.
    pub(crate) restarts: i32,
    pub(crate) ready: bool,
    pub(crate) leaving: bool,
}

/// Reads a pod of the operator; `None` where its labels do not say which node it is.
pub(crate) fn server_pod(pod: &Pod) -> Option<(NodeKey, ServerPod)> {
    let meta = &pod.metadata;
    let key = NodeKey::from_labels(meta, POD_LABELS)?;
    let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
    let ports = spec.into_iter().flat_map(|spec| &spec.containers).flat_map(|container| container.ports.iter().flatten());
    let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    let containers = status.and_then(|status| status.container_statuses.as_ref()).into_iter().flatten();
    let read = ServerPod {
        name: meta.name.clone().unwrap_or_default(),
        uid: meta.uid.clone().unwrap_or_default(),
        created: meta.creation_timestamp.as_ref().map(|time| time.0.to_string()).unwrap_or_default(),
        ip: status.and_then(|status| status.pod_ip.as_ref()?.parse().ok()),
        machine: spec.and_then(|spec| spec.node_name.clone()).filter(|name| !name.is_empty()),
        ports: ports.filter_map(|port| Some((port.name.clone()?, u16::try_from(port.container_port).ok()?))).collect(),
        restarts: containers.filter(|container| container.name == "server").map(|container| container.restart_count).sum(),
        ready: conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True"),
        leaving: meta.deletion_timestamp.is_some(),
    };
    Some((key, read))
}

/// The addresses of a Kubernetes node, with their types, in its order.
pub(crate) fn machine_addresses(node: &Node) -> Vec<(String, Address)> {
    let addresses = node.status.as_ref().and_then(|status| status.addresses.as_ref()).into_iter().flatten();
    addresses
        .filter_map(|address| {
            let read = Address::ip(&address.address).or_else(|| Address::name(&address.address))?;
            Some((address.type_.clone(), read))
        })
        .collect()
}

/// The addresses of a Gateway, names first.
pub(crate) fn gateway_addresses(gateway: &Value) -> Vec<Address> {
    let listed = gateway.pointer("/status/addresses").and_then(Value::as_array).into_iter().flatten();
    let read = |address: &Value| {
        let value = address.get("value")?.as_str()?;
        match address.get("type").and_then(Value::as_str) {
            None | Some("IPAddress") => Address::ip(value),
            Some("Hostname") => Address::name(value),
            // A type of the implementation's own: nothing that a client could connect to.
            Some(_) => None,
        }
    };
    let (names, ips): (Vec<_>, Vec<_>) = listed.filter_map(read).partition(|address| matches!(address, Address::Name(_)));
    names.into_iter().chain(ips).collect()
}

/// What is asked of a ValkeyCluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClusterFacts {
    pub(crate) uid: String,
    pub(crate) tls: Option<TlsFacts>,
}

/// A cluster whose servers speak TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsFacts {
    /// The Secret with `ca.crt`, where it is named.
    pub(crate) secret: Option<String>,
}

/// Reads a ValkeyCluster, of today's operator or of the pull request.
pub(crate) fn cluster_facts(uid: &str, cluster: &Value) -> ClusterFacts {
    let places = [
        ("/spec/networking/tls", "/spec/networking/tls/certificates/server/secretName"),
        ("/spec/tls", "/spec/tls/certificate/secretName"),
    ];
    let on = |(place, _): &(&str, &str)| cluster.pointer(place).is_some_and(|value| !value.is_null());
    let tls = places.into_iter().find(on).map(|(_, secret)| {
        let secret = cluster.pointer(secret).and_then(Value::as_str).filter(|name| !name.is_empty());
        TlsFacts { secret: secret.map(str::to_owned) }
    });
    ClusterFacts { uid: uid.to_owned(), tls }
}
