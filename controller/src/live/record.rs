//! What servers were told, kept where a restart of the controller does not lose it: without it, nobody could say later which
//! announcements are ours to take back.
//!
//! One ConfigMap for each cluster, in the controller's own namespace: no right to write anything of the cluster's is needed.

use std::collections::{BTreeMap, HashMap};

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::facts::{Login, NodeKey, Ref, ServerPod};
use crate::NAME;
use crate::context::Scope;

const LABEL: (&str, &str) = ("fn.valkey.io/record", "live");
const CLUSTER: &str = "cluster";

/// What one server was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Where clients are sent.
    pub(crate) target: String,
    /// Since when the node sends them there, whatever pod it was.
    pub(crate) since: Timestamp,
    /// The run of the server that was told.
    pub(crate) run: Run,
    /// Who signed in: by the time that it is taken back the Service that says so may be gone.
    pub(crate) login: Login,
}

/// One run of a server: another one has forgotten what it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) pod: String,
    pub(crate) restarts: i32,
}

impl Run {
    pub(crate) fn of(pod: &ServerPod) -> Self {
        Self { pod: pod.uid.clone(), restarts: pod.restarts }
    }
}

/// The time, in whole seconds: nobody wants to read more of it.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// The ConfigMaps of one namespace.
#[derive(Clone)]
pub(crate) struct Record(Api<ConfigMap>);

impl Record {
    pub(crate) fn new(client: Client, home: &str) -> Self {
        Self(Api::namespaced(client, home))
    }

    /// All that was told to servers of the scope.
    ///
    /// # Errors
    /// When the API server cannot be read.
    pub(crate) async fn load(&self, scope: &Scope) -> Result<HashMap<NodeKey, Told>, kube::Error> {
        let ours = ListParams::default().labels(&format!("{}={}", LABEL.0, LABEL.1));
        let told = self.0.list(&ours).await?.items.into_iter().flat_map(read);
        Ok(told.filter(|(key, _)| scope.holds(&key.cluster.namespace)).collect())
    }

    /// Writes what the nodes of one cluster were told.
    ///
    /// # Errors
    /// When the API server does not take it.
    pub(crate) async fn save(&self, cluster: &Ref, told: &BTreeMap<NodeKey, Told>) -> Result<(), kube::Error> {
        let name = name(cluster);
        if told.is_empty() {
            return match self.0.delete(&name, &DeleteParams::default()).await {
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
                other => other.map(|_| ()),
            };
        }
        let patch = Patch::Apply(written(cluster, told));
        self.0.patch(&name, &PatchParams::apply(NAME).force(), &patch).await.map(|_| ())
    }
}

/// Namespaces hold no dots, so no two clusters share a name.
fn name(cluster: &Ref) -> String {
    format!("live.{}.{}", cluster.namespace, cluster.name)
}

fn written(cluster: &Ref, told: &BTreeMap<NodeKey, Told>) -> Value {
    let mut data: BTreeMap<String, String> =
        told.iter().map(|(key, told)| (format!("{}-{}", key.shard, key.node), json!(told).to_string())).collect();
    data.insert(CLUSTER.to_owned(), cluster.to_string());
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name(cluster), "labels": {LABEL.0: LABEL.1, "app.kubernetes.io/managed-by": NAME}},
        "data": data,
    })
}

/// What cannot be read is as good as not there.
fn read(map: ConfigMap) -> Vec<(NodeKey, Told)> {
    let mut data = map.data.unwrap_or_default();
    let Some(cluster) = data.remove(CLUSTER).as_deref().and_then(Ref::parse) else { return Vec::new() };
    data.into_iter()
        .filter_map(|(indexes, told)| {
            let (shard, node) = indexes.split_once('-')?;
            let key = NodeKey { cluster: cluster.clone(), shard: shard.parse().ok()?, node: node.parse().ok()? };
            Some((key, serde_json::from_str(&told).ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let cluster = Ref::new("team", "cache");
        let told: BTreeMap<NodeKey, Told> = [(0, 0), (0, 1), (12, 3)]
            .into_iter()
            .map(|(shard, node)| {
                let run = Run { pod: format!("uid-{shard}-{node}"), restarts: 2 };
                let since = "2026-11-30T10:00:00Z".parse().unwrap();
                let login = Login { username: "announcer".into(), secret: "mine".into(), key: "password".into() };
                (NodeKey::new("team", "cache", shard, node), Told { target: format!("192.0.2.1:3000{node}"), since, run, login })
            })
            .collect();
        let map: ConfigMap = serde_json::from_value(written(&cluster, &told)).unwrap();
        assert_eq!(read(map).into_iter().collect::<BTreeMap<_, _>>(), told);
    }

    #[test]
    fn what_somebody_spoilt_is_passed_over() {
        let data = json!({"data": {"cluster": "team/cache", "0-0": "?", "x": "{}"}});
        assert_eq!(read(serde_json::from_value(data).unwrap()), []);
        assert_eq!(read(ConfigMap::default()), []);
    }
}
