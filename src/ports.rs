//! The table of ports as data: which node is reached by which name and port.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::{Announce, NodeAddressType, ServiceType};
use crate::object::Object;
use crate::own::Own;
use crate::plan::Node;
use crate::validate::{Config, Exposed};

/// A row: a node, and how it is reached.
#[derive(Debug)]
pub struct Row<'e> {
    /// Its cluster.
    pub cluster: &'e Exposed,
    /// The node.
    pub node: &'e Node,
    /// What clients are sent to.
    pub host: Host,
    /// The port that goes with it, if it is known.
    pub client_port: Option<u16>,
}

/// What clients are sent to.
#[derive(Debug, PartialEq, Eq)]
pub enum Host {
    /// The hostname that the node announces.
    Name(String),
    /// An address, or one of several: that of the Kubernetes node which the pod is on.
    Addresses(Vec<String>),
    /// An address that only the running cluster knows, and what it comes from.
    From(&'static str),
    /// Nothing that leads here from outside.
    Nothing,
}

/// What a running Kubernetes cluster shows of addresses and ports.
#[derive(Debug, Default)]
pub struct Seen {
    services: BTreeMap<(Option<String>, String), Value>,
    nodes: Vec<Value>,
    gateways: BTreeMap<(Option<String>, String), Value>,
}

impl Seen {
    /// Takes what matters of objects: Services, Nodes, Gateways.
    #[must_use]
    pub fn new(objects: &[Object]) -> Self {
        let mut seen = Seen::default();
        for object in objects {
            let (namespace, name) = (object.reference.namespace.clone(), object.reference.name.clone());
            match (object.group(), object.reference.kind.as_str()) {
                ("", "Service") if Own::new(object).is_some() => drop(seen.services.insert((namespace, name), object.value.clone())),
                ("", "Node") => seen.nodes.push(object.value.clone()),
                ("gateway.networking.k8s.io", "Gateway") => drop(seen.gateways.insert((namespace, name), object.value.clone())),
                _ => {}
            }
        }
        seen
    }

    /// The Service that leads to a node. Manifests often leave the namespace to Kustomize, and what runs has one: the only one that
    /// has a Service of this name.
    fn service(&self, cluster: &Exposed, node: &Node) -> Option<&Value> {
        let key = (cluster.plan.cluster.namespace.clone(), node.service.clone());
        if key.0.is_some() {
            return self.services.get(&key);
        }
        let mut named = self.services.iter().filter(|((_, name), _)| *name == key.1);
        named.next().filter(|_| named.next().is_none()).map(|(_, service)| service)
    }

    fn node_port(&self, cluster: &Exposed, node: &Node) -> Option<u16> {
        let ports = self.service(cluster, node)?.pointer("/spec/ports")?.as_array()?;
        let port = ports.iter().find(|port| port.get("name").is_some_and(|name| *name == node.port_name.as_str()))?;
        port.get("nodePort")?.as_u64()?.try_into().ok()
    }

    fn load_balancer(&self, cluster: &Exposed, node: &Node) -> Vec<String> {
        let ingress =
            self.service(cluster, node).and_then(|service| service.pointer("/status/loadBalancer/ingress")).and_then(Value::as_array);
        let address = |entry: &Value| entry.get("hostname").or_else(|| entry.get("ip")).and_then(Value::as_str).map(str::to_owned);
        ingress.into_iter().flatten().filter_map(address).collect()
    }

    /// Of each Kubernetes node the first address of a type that may be announced.
    fn kubernetes_nodes(&self, config: &Config) -> Vec<String> {
        let default = [NodeAddressType::ExternalIP, NodeAddressType::InternalIP];
        let types = if config.live.node_address_types.is_empty() { default.as_slice() } else { &config.live.node_address_types };
        let address = |node: &Value| {
            let addresses = node.pointer("/status/addresses")?.as_array()?;
            let of_type =
                |wanted: &NodeAddressType| addresses.iter().find(|address| address.get("type").is_some_and(|of| of == wanted.as_str()));
            types.iter().find_map(of_type)?.get("address")?.as_str().map(str::to_owned)
        };
        self.nodes.iter().filter_map(address).collect()
    }

    fn gateway(&self, cluster: &Exposed) -> Vec<String> {
        let Some(gateway) = &cluster.gateway else { return Vec::new() };
        let namespace = gateway.namespace.clone().or_else(|| cluster.plan.cluster.namespace.clone());
        let addresses = self.gateways.get(&(namespace, gateway.name.clone())).and_then(|gateway| gateway.pointer("/status/addresses"));
        let addresses = addresses.and_then(Value::as_array).into_iter().flatten();
        addresses.filter_map(|address| address.get("value")?.as_str().map(str::to_owned)).collect()
    }
}

/// A row for each node of each cluster, in their order.
#[must_use]
pub fn rows<'e>(clusters: &'e [Exposed], config: &Config, seen: &Seen) -> Vec<Row<'e>> {
    let row = |cluster: &'e Exposed, node: &'e Node| Row {
        cluster,
        node,
        host: host(cluster, node, config, seen),
        client_port: node.client_port.map(|port| port.get()).or_else(|| {
            let has_node_port = cluster.gateway.is_none() && cluster.service.service_type == ServiceType::NodePort;
            seen.node_port(cluster, node).filter(|_| has_node_port)
        }),
    };
    clusters.iter().flat_map(|cluster| cluster.plan.nodes().map(move |node| row(cluster, node))).collect()
}

fn host(cluster: &Exposed, node: &Node, config: &Config, seen: &Seen) -> Host {
    if let Some(name) = &node.hostname {
        return Host::Name(name.as_str().to_owned());
    }
    if config.announce != Some(Announce::Live) {
        return Host::Nothing;
    }
    let (addresses, from) = match (&cluster.gateway, cluster.service.service_type) {
        (Some(_), _) => (seen.gateway(cluster), "from the Gateway"),
        (None, ServiceType::LoadBalancer) => (seen.load_balancer(cluster, node), "from the load balancer"),
        (None, _) => (seen.kubernetes_nodes(config), "from the Kubernetes node"),
    };
    if addresses.is_empty() { Host::From(from) } else { Host::Addresses(addresses) }
}

/// The rows as JSON.
#[must_use]
pub fn json(rows: &[Row<'_>]) -> Value {
    rows.iter().map(Row::json).collect()
}

impl Row<'_> {
    fn json(&self) -> Value {
        let (cluster, node) = (self.cluster, self.node);
        let gateway = cluster.gateway.as_ref().map(|gateway| {
            json!({"name": gateway.name, "namespace": gateway.namespace.as_deref().or(cluster.namespace()), "port": node.listener_port.map(|port| port.get())})
        });
        let mut row = json!({
            "cluster": cluster.name(),
            "namespace": cluster.namespace(),
            "shard": node.shard,
            "node": node.index,
            "hostname": node.hostname.as_ref().map(|name| name.as_str()),
            "clientPort": self.client_port,
            "service": {"name": node.service, "port": node.service_port, "type": cluster.service.service_type.as_str()},
            "gateway": gateway,
        });
        if let (Host::Addresses(addresses), Some(row)) = (&self.host, row.as_object_mut()) {
            row.insert("addresses".to_owned(), json!(addresses));
        }
        row
    }
}
