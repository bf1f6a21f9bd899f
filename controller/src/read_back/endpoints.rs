//! Ports of a cluster's nodes, from its shards' Services. Pure.

use expose_valkey::plan::{port_name, service_name};

use super::facts::{Cluster, Endpoints, Service};

/// What the Services say, and what they do not say yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Port of each node that has one, by shard and node index.
    pub(super) ports: Vec<Vec<Option<u16>>>,
    /// Whether the Service of each shard is of type NodePort.
    pub(super) node_port: Vec<bool>,
    /// What is missing, in words.
    pub(super) missing: Vec<String>,
}

/// Looks for the port of each node of `cluster` in the Service of its shard, by the port's name.
pub(super) fn find<'a>(name: &str, cluster: &Cluster, service: impl Fn(u32) -> Option<&'a Service>) -> Found {
    let mut found = Found::default();
    for shard in cluster.shards() {
        let service = service(shard);
        if service.is_none() {
            found.missing.push(format!("Service {} does not exist yet", service_name(name, shard)));
        }
        let ports: Vec<_> = cluster.nodes().map(|node| service.and_then(|service| port(service, node))).collect();
        if service.is_some() {
            found.missing.extend(
                ports
                    .iter()
                    .zip(0..)
                    .filter(|(port, _)| port.is_none())
                    .map(|(_, node)| format!("port of {}/{} not allocated yet", service_name(name, shard), port_name(node))),
            );
        }
        found.ports.push(ports);
        found.node_port.push(service.is_some_and(|service| service.node_port));
    }
    found
}

fn port(service: &Service, node: u32) -> Option<u16> {
    let port = service.ports.iter().find(|port| port.node == node)?;
    let port = if service.node_port { port.node_port } else { port.port };
    (port != 0).then_some(port)
}

impl Found {
    /// What `status.externalEndpoints` should hold. The place in a shard's list is the node index, and 0 is no port: a
    /// list ends before the first port that is not known.
    pub(super) fn endpoints(&self) -> Vec<Endpoints> {
        let shards = self.ports.iter().zip(0..);
        let endpoints = shards.map(|(ports, shard)| Endpoints { shard, ports: ports.iter().map_while(|port| *port).collect() });
        endpoints.filter(|shard| !shard.ports.is_empty()).collect()
    }

    /// The port that the node must announce for what Kubernetes allocated; none where another source gives it.
    pub(super) fn node_port(&self, shard: u32, node: u32) -> Option<u16> {
        let shard = usize::try_from(shard).ok()?;
        let ports = self.ports.get(shard).filter(|_| self.node_port.get(shard) == Some(&true))?;
        *ports.get(usize::try_from(node).ok()?)?
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::read_back::store::{Store, Watched};
    use crate::read_back::wire::{ClusterStatus, ShardService, ValkeyCluster};

    #[allow(clippy::disallowed_methods, reason = "a test may read its files")]
    fn documents(file: &Path) -> Vec<Value> {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        yaml_serde::Deserializer::from_str(&text).map(|document| serde::Deserialize::deserialize(document).unwrap()).collect()
    }

    fn put<K: Watched + serde::de::DeserializeOwned>(store: &mut Store, object: &Value) {
        let mut object = object.clone();
        // Some inputs name no namespace; one that is in a cluster has one.
        object["metadata"]["namespace"] = "prod".into();
        store.put(&serde_json::from_value::<K>(object).unwrap());
    }

    /// What the operator's own code publishes for the case, a 0 for each port that is not known.
    fn theirs(folder: &Path) -> BTreeMap<u32, Vec<u16>> {
        let status: ClusterStatus = serde_json::from_value(documents(&folder.join("status.yaml")).remove(0)).unwrap();
        status.external_endpoints.unwrap_or_default().into_iter().map(|shard| (shard.shard_index, shard.node_ports)).collect()
    }

    fn ours(folder: &Path, services: &str) -> Option<Found> {
        let input = documents(&folder.join("input.yaml")).remove(0);
        let name = input["metadata"]["name"].as_str().unwrap().to_owned();
        let mut store = Store::default();
        put::<ValkeyCluster>(&mut store, &input);
        for object in documents(&folder.join(services)).iter().filter(|object| object["kind"] == "Service") {
            put::<ShardService>(&mut store, object);
        }
        let key = store.keys().into_iter().next().unwrap();
        let entry = store.get(&key).unwrap();
        let cluster = entry.cluster.as_ref().filter(|cluster| cluster.access.is_some())?;
        Some(find(&name, cluster, |shard| entry.services.get(&shard)))
    }

    fn case(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/parity/pr281").join(name)
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test may read its files")]
    fn ports_are_those_that_the_operator_finds() {
        let mut compared = 0;
        for folder in std::fs::read_dir(case("")).unwrap() {
            let folder = folder.unwrap().path();
            let Some(found) = ours(&folder, "expected.yaml") else {
                assert_eq!(theirs(&folder), BTreeMap::new(), "{}", folder.display());
                continue;
            };
            let with_zeros =
                found.ports.iter().zip(0..).map(|(ports, shard)| (shard, ports.iter().map(|port| port.unwrap_or(0)).collect()));
            assert_eq!(with_zeros.collect::<BTreeMap<_, Vec<_>>>(), theirs(&folder), "{}", folder.display());
            compared += 1;
        }
        assert!(compared > 30, "only {compared} cases have external access");
    }

    #[test]
    fn a_port_that_is_not_allocated_is_waited_for_and_never_published() {
        let found = ours(&case("nodeport-status-partial"), "expected.yaml").unwrap();
        let published = [Endpoints { shard: 0, ports: vec![31000] }, Endpoints { shard: 2, ports: vec![31777, 32767] }];
        assert_eq!(found.endpoints(), published);
        let missing = ["0/vk-n1", "1/vk-n0", "1/vk-n1"].map(|port| format!("port of valkey-cache-shard-{port} not allocated yet"));
        assert_eq!(found.missing, missing);
    }

    #[test]
    fn nodes_announce_what_kubernetes_allocated() {
        let found = ours(&case("nodeport-default"), "expected.allocated.yaml").unwrap();
        assert_eq!(found.missing, Vec::<String>::new());
        assert_eq!(found.node_port(1, 1), Some(31101), "invented by the case: 31000 + 100 * shard + node");
    }

    #[test]
    fn ports_of_other_types_are_the_status_and_not_the_nodes() {
        let found = ours(&case("loadbalancer-local-annotations"), "expected.yaml").unwrap();
        assert_eq!(found.endpoints()[2], Endpoints { shard: 2, ports: vec![6379, 6380] });
        assert_eq!(found.node_port(2, 0), None, "it is known from the start, and rendered");
    }

    #[test]
    fn a_service_that_is_not_there_is_waited_for() {
        let found = ours(&case("nodeport-status"), "input.yaml").unwrap();
        assert_eq!(found.endpoints(), []);
        assert_eq!(found.missing[0], "Service valkey-cache-shard-0 does not exist yet");
    }
}
