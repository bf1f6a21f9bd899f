//! The facts of all clusters, as the watches bring them.

use std::collections::{BTreeMap, HashMap, HashSet};

use expose_valkey::plan::{node_name, service_name};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::facts::{Cluster, Key, Node, Service, place, version};
use super::wire::{ShardService, ValkeyCluster, ValkeyNode};

/// A cluster and what belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    /// The cluster; none as long as only its parts were seen.
    pub(super) cluster: Option<Cluster>,
    /// Services by shard.
    pub(super) services: BTreeMap<u32, Service>,
    /// ValkeyNodes by shard and node index.
    pub(super) nodes: BTreeMap<(u32, u32), Node>,
}

impl Entry {
    fn is_empty(&self) -> bool {
        self.cluster.is_none() && self.services.is_empty() && self.nodes.is_empty()
    }
}

/// All clusters of the scope.
#[derive(Debug, Default)]
pub(super) struct Store {
    entries: HashMap<Key, Entry>,
}

/// Where an object has its place in the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// The cluster itself.
    Cluster,
    /// The Service of a shard.
    Service(u32),
    /// A node by shard and index.
    Node(u32, u32),
}

/// An object of the three kinds that are watched.
pub(super) trait Watched {
    /// Its place; none if it is nothing of ours.
    fn slot(&self) -> Option<(Key, Slot)>;
    /// Puts its facts into the entry of its cluster.
    fn put(&self, slot: &Slot, entry: &mut Entry);
    /// Whether the slot is one of this kind.
    fn holds(slot: &Slot) -> bool;
    /// Whether the entry knows a newer state of the same object.
    fn is_old(&self, slot: &Slot, entry: &Entry) -> bool;
}

impl Watched for ValkeyCluster {
    fn slot(&self) -> Option<(Key, Slot)> {
        Some((Key::new(self.metadata.namespace.as_deref()?, self.metadata.name.as_deref()?), Slot::Cluster))
    }
    fn put(&self, _: &Slot, entry: &mut Entry) {
        entry.cluster = Some(Cluster::of(self));
    }
    fn holds(slot: &Slot) -> bool {
        matches!(slot, Slot::Cluster)
    }
    fn is_old(&self, _: &Slot, entry: &Entry) -> bool {
        let known = entry.cluster.as_ref();
        known.is_some_and(|known| Some(&*known.uid) == self.metadata.uid.as_deref() && known.version > version(&self.metadata))
    }
}

impl Watched for ShardService {
    fn slot(&self) -> Option<(Key, Slot)> {
        let (key, shard) = place(&self.metadata, "valkey.io/shard-index")?;
        let name = service_name(&key.name, shard);
        is_named(&self.metadata, &name).then_some((key, Slot::Service(shard)))
    }
    fn put(&self, slot: &Slot, entry: &mut Entry) {
        if let Slot::Service(shard) = slot {
            entry.services.insert(*shard, Service::of(self));
        }
    }
    fn holds(slot: &Slot) -> bool {
        matches!(slot, Slot::Service(_))
    }
    /// We write none.
    fn is_old(&self, _: &Slot, _: &Entry) -> bool {
        false
    }
}

impl Watched for ValkeyNode {
    fn slot(&self) -> Option<(Key, Slot)> {
        let (key, shard) = place(&self.metadata, "valkey.io/shard-index")?;
        let (_, node) = place(&self.metadata, "valkey.io/node-index")?;
        let name = node_name(&key.name, shard, node);
        is_named(&self.metadata, &name).then_some((key, Slot::Node(shard, node)))
    }
    fn put(&self, slot: &Slot, entry: &mut Entry) {
        let Slot::Node(shard, index) = slot else { return };
        let mut node = Node::of(self);
        if let Some(known) = entry.nodes.get(&(*shard, *index)).filter(|known| known.uid == node.uid) {
            // An event that was on its way when we wrote is older than the answer to our own write.
            if known.generation > node.generation {
                return;
            }
            node.was_ready |= known.was_ready;
        }
        entry.nodes.insert((*shard, *index), node);
    }
    fn holds(slot: &Slot) -> bool {
        matches!(slot, Slot::Node(..))
    }
    fn is_old(&self, slot: &Slot, entry: &Entry) -> bool {
        let Slot::Node(shard, index) = slot else { return false };
        let known = entry.nodes.get(&(*shard, *index));
        known.is_some_and(|known| Some(&*known.uid) == self.metadata.uid.as_deref() && known.version > version(&self.metadata))
    }
}

/// An object of another name that bears our labels is not ours.
fn is_named(meta: &ObjectMeta, name: &str) -> bool {
    meta.name.as_deref() == Some(name)
}

impl Store {
    /// The facts of a cluster, as they are now.
    pub(super) fn get(&self, key: &Key) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// All clusters that are there.
    pub(super) fn keys(&self) -> Vec<Key> {
        self.entries.iter().filter(|(_, entry)| entry.cluster.is_some()).map(|(key, _)| key.clone()).collect()
    }

    /// An object is there, or changed. Answers whose facts changed by it.
    pub(super) fn put<K: Watched>(&mut self, object: &K) -> Option<(Key, Slot)> {
        let (key, slot) = object.slot()?;
        object.put(&slot, self.entries.entry(key.clone()).or_default());
        Some((key, slot))
    }

    /// The answer to a write of ours. A watch may have been quicker, and have brought what came after it: no event would follow.
    pub(super) fn put_answer<K: Watched>(&mut self, object: &K) {
        let Some((key, slot)) = object.slot() else { return };
        if !self.entries.get(&key).is_some_and(|entry| object.is_old(&slot, entry)) {
            self.put(object);
        }
    }

    /// An object is gone.
    pub(super) fn remove(&mut self, key: &Key, slot: &Slot) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        match slot {
            Slot::Cluster => entry.cluster = None,
            Slot::Service(shard) => drop(entry.services.remove(shard)),
            Slot::Node(shard, node) => drop(entry.nodes.remove(&(*shard, *node))),
        }
        if entry.is_empty() {
            self.entries.remove(key);
        }
    }

    /// A list of all objects of kind `K`, in one namespace or in all, has ended: whatever it did not hold is gone. Answers
    /// whose facts changed by it.
    pub(super) fn keep_only<K: Watched>(&mut self, namespace: Option<&str>, listed: &HashSet<(Key, Slot)>) -> Vec<Key> {
        let mut gone = Vec::new();
        for (key, entry) in &self.entries {
            if namespace.is_some_and(|namespace| *key.namespace != *namespace) {
                continue;
            }
            let slots = entry.slots().filter(|slot| K::holds(slot));
            gone.extend(slots.map(|slot| (key.clone(), slot)).filter(|place| !listed.contains(place)));
        }
        for (key, slot) in &gone {
            self.remove(key, slot);
        }
        gone.into_iter().map(|(key, _)| key).collect()
    }
}

impl Entry {
    fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let cluster = self.cluster.iter().map(|_| Slot::Cluster);
        let services = self.services.keys().map(|shard| Slot::Service(*shard));
        cluster.chain(services).chain(self.nodes.keys().map(|(shard, node)| Slot::Node(*shard, *node)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(version: &str, observed: i64) -> ValkeyNode {
        let labels = json!({"valkey.io/cluster": "cache", "valkey.io/shard-index": "0", "valkey.io/node-index": "0"});
        let meta =
            json!({"name": "cache-0-0", "namespace": "prod", "uid": "n", "generation": 2, "resourceVersion": version, "labels": labels});
        serde_json::from_value(json!({"metadata": meta, "spec": {}, "status": {"ready": true, "observedGeneration": observed}})).unwrap()
    }

    #[test]
    fn an_answer_that_comes_after_a_later_event_changes_nothing() {
        let mut store = Store::default();
        store.put(&node("10", 2));
        store.put_answer(&node("9", 1));
        let is_settled = |store: &Store| store.get(&Key::new("prod", "cache")).unwrap().nodes[&(0, 0)].settled();
        assert!(is_settled(&store), "what the watch brought is lost, and no event comes any more");
        store.put_answer(&node("11", 1));
        assert!(!is_settled(&store));
    }
}
