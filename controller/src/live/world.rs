//! What the watches have seen: facts by the node that they matter to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::facts::{Address, ClusterFacts, Kind, NodeKey, NodeService, Ref, ServerPod};
use super::source::{needed_gateway, needs_machine};

/// Shared by the watches, which write, and the passes, which read a node's part of it.
#[derive(Default)]
pub(crate) struct World(Mutex<Facts>);

#[derive(Default)]
struct Facts {
    services: HashMap<NodeKey, BTreeMap<String, Result<NodeService, String>>>,
    pods: HashMap<NodeKey, BTreeMap<String, ServerPod>>,
    machines: HashMap<String, Vec<(String, Address)>>,
    gateways: HashMap<Ref, Vec<Address>>,
    clusters: HashMap<Ref, ClusterFacts>,
    needs: Needs,
}

/// What is known about one node at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) service: Option<Result<NodeService, String>>,
    pub(crate) pod: Option<ServerPod>,
    pub(crate) machine: Option<Vec<(String, Address)>>,
    pub(crate) gateway: Option<Vec<Address>>,
    pub(crate) cluster: Option<ClusterFacts>,
}

/// What has to be watched beside the Services themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Pods and ValkeyClusters: as soon as there is a Service at all.
    pub(crate) servers: bool,
    /// Kubernetes nodes.
    pub(crate) machines: bool,
    /// Namespaces of Gateways whose addresses are to be announced.
    pub(crate) gateways: BTreeSet<String>,
    /// Whether Gateway API is there: routes lead to nodes, whoever names the address.
    pub(crate) gateway_api: bool,
}

/// One thing that a watch saw: there now, or gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Service(NodeKey, String, Option<Result<NodeService, String>>),
    Pod(NodeKey, String, Option<ServerPod>),
    Machine(String, Option<Vec<(String, Address)>>),
    Gateway(Ref, Option<Vec<Address>>),
    Cluster(Ref, Option<ClusterFacts>),
}

impl Change {
    /// The change that takes this one back.
    pub(crate) fn removal(&self) -> Self {
        match self {
            Self::Service(key, name, _) => Self::Service(key.clone(), name.clone(), None),
            Self::Pod(key, name, _) => Self::Pod(key.clone(), name.clone(), None),
            Self::Machine(name, _) => Self::Machine(name.clone(), None),
            Self::Gateway(name, _) => Self::Gateway(name.clone(), None),
            Self::Cluster(name, _) => Self::Cluster(name.clone(), None),
        }
    }
}

impl World {
    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a change in. Returns the nodes for which it makes a difference: none where nothing has changed.
    pub(crate) fn take(&self, change: Change) -> Vec<NodeKey> {
        let mut facts = self.facts();
        match change {
            Change::Service(key, name, value) => {
                facts.needs.servers |= value.is_some();
                if let Some(Ok(service)) = &value {
                    facts.needs.machines |= needs_machine(service);
                    facts.needs.gateway_api |= service.gateway.is_some();
                    facts.needs.gateways.extend(needed_gateway(service).map(|gateway| gateway.namespace.clone()));
                }
                one(key.clone(), nested(&mut facts.services, key, name, value))
            }
            Change::Pod(key, name, value) => one(key.clone(), nested(&mut facts.pods, key, name, value)),
            Change::Machine(name, value) => {
                if !put(&mut facts.machines, name.clone(), value) {
                    return Vec::new();
                }
                let here = |pods: &BTreeMap<String, ServerPod>| pods.values().any(|pod| pod.machine.as_ref() == Some(&name));
                let pods = facts.pods.iter().filter(|(_, pods)| here(pods)).map(|(key, _)| key);
                pods.filter(|key| facts.services.contains_key(key)).cloned().collect()
            }
            Change::Gateway(name, value) => {
                if !put(&mut facts.gateways, name.clone(), value) {
                    return Vec::new();
                }
                facts.nodes_where(|_, service| needed_gateway(service) == Some(&name))
            }
            Change::Cluster(name, value) => {
                if !put(&mut facts.clusters, name.clone(), value) {
                    return Vec::new();
                }
                facts.nodes_where(|key, _| key.cluster == name)
            }
        }
    }

    /// All that is known about a node.
    pub(crate) fn seen(&self, key: &NodeKey) -> Seen {
        let facts = self.facts();
        // Of two Services for one node the first by name: any choice will do, as long as it is always the same.
        let service = facts.services.get(key).and_then(|services| services.values().next()).cloned();
        let pods = facts.pods.get(key).into_iter().flat_map(BTreeMap::values);
        let pod = pods.filter(|pod| !pod.leaving).max_by_key(|pod| (&pod.created, &pod.name)).cloned();
        let machine = pod.as_ref().and_then(|pod| facts.machines.get(pod.machine.as_ref()?)).cloned();
        let gateway = match &service {
            Some(Ok(service)) => needed_gateway(service).and_then(|name| facts.gateways.get(name)).cloned(),
            _ => None,
        };
        Seen { service, pod, machine, gateway, cluster: facts.clusters.get(&key.cluster).cloned() }
    }

    /// Whether a node has a Service.
    pub(crate) fn has_service(&self, key: &NodeKey) -> bool {
        self.facts().services.contains_key(key)
    }

    /// Names of a node's Services, in the order in which they count.
    pub(crate) fn services(&self, key: &NodeKey) -> Vec<String> {
        self.facts().services.get(key).map(|services| services.keys().cloned().collect()).unwrap_or_default()
    }

    /// How a node's Service leads in.
    pub(crate) fn kind(&self, key: &NodeKey) -> Option<Kind> {
        let facts = self.facts();
        facts.services.get(key)?.values().flatten().next().map(|service| service.kind)
    }

    /// The nodes with a Service.
    pub(crate) fn nodes(&self) -> Vec<NodeKey> {
        self.facts().services.keys().cloned().collect()
    }

    /// What the Services that were seen called for: what was needed once may be needed again.
    pub(crate) fn needs(&self) -> Needs {
        self.facts().needs.clone()
    }

    /// The clusters with a node behind a Gateway.
    pub(crate) fn behind_gateways(&self) -> BTreeSet<Ref> {
        let nodes = self.facts().nodes_where(|_, service| service.gateway.is_some());
        nodes.into_iter().map(|key| key.cluster).collect()
    }

    /// What a ValkeyCluster's uid is, for events about it.
    pub(crate) fn uid(&self, cluster: &Ref) -> Option<String> {
        self.facts().clusters.get(cluster).map(|facts| facts.uid.clone())
    }
}

impl Facts {
    fn nodes_where(&self, concerned: impl Fn(&NodeKey, &NodeService) -> bool) -> Vec<NodeKey> {
        let any = |(key, services): &(&NodeKey, &BTreeMap<String, _>)| services.values().flatten().any(|service| concerned(key, service));
        self.services.iter().filter(any).map(|(key, _)| key.clone()).collect()
    }
}

fn one(key: NodeKey, changed: bool) -> Vec<NodeKey> {
    if changed { vec![key] } else { Vec::new() }
}

/// Sets or removes a value; whether that made a difference.
fn put<K: std::hash::Hash + Eq, V: PartialEq>(map: &mut HashMap<K, V>, key: K, value: Option<V>) -> bool {
    match value {
        Some(value) if map.get(&key) == Some(&value) => false,
        Some(value) => {
            map.insert(key, value);
            true
        }
        None => map.remove(&key).is_some(),
    }
}

fn nested<V: PartialEq>(map: &mut HashMap<NodeKey, BTreeMap<String, V>>, key: NodeKey, name: String, value: Option<V>) -> bool {
    let inner = map.entry(key.clone()).or_default();
    let changed = match value {
        Some(value) if inner.get(&name) == Some(&value) => false,
        Some(value) => {
            inner.insert(name, value);
            true
        }
        None => inner.remove(&name).is_some(),
    };
    if inner.is_empty() {
        map.remove(&key);
    }
    changed
}

#[cfg(test)]
mod tests;
