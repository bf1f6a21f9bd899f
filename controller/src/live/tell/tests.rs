use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Tell;
use crate::events::Kind;
use crate::fake_api::context;
use crate::live::facts::{ClusterFacts, NodeKey, Ref};
use crate::live::server::Failure;
use crate::live::state::{News, Outcome};
use crate::live::world::{Change, World};

fn refused(key: &NodeKey) -> (Outcome, News) {
    let failure = Failure::Login("announcer".into());
    let note = format!("server of {key} {failure}");
    let news = News { kind: Kind::Warning, reason: "ServerRefusesUser", note, cause: Some(failure.to_string()) };
    (Outcome::Fails(failure), news)
}

#[tokio::test]
async fn trouble_that_all_nodes_share_is_one_event() {
    let (context, log) = context(|_| (200, json!({})));
    let world = Arc::new(World::default());
    let facts = |uid: &str| Some(ClusterFacts { uid: uid.into(), tls: None });
    world.take(Change::Cluster(Ref::new("team", "cache"), facts("a")));
    world.take(Change::Cluster(Ref::new("team", "other"), facts("b")));
    let mut tell = Tell::new(context, world);
    let mut trouble = |cluster: &str, node: u32| {
        let key = NodeKey::new("team", cluster, 0, node);
        let (outcome, news) = refused(&key);
        tell.passed(&key, &outcome, Duration::ZERO, Some(news));
    };
    trouble("cache", 0);
    trouble("cache", 1);
    trouble("other", 0);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(log.take_events(), ["ServerRefusesUser", "ServerRefusesUser"], "one for each cluster");
    let fine = Outcome::Withdrawn { changes: vec![] };
    tell.passed(&NodeKey::new("team", "cache", 0, 0), &fine, Duration::ZERO, None);
    let key = NodeKey::new("team", "cache", 0, 1);
    let (outcome, news) = refused(&key);
    tell.passed(&key, &outcome, Duration::ZERO, Some(news));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(log.take_events(), ["ServerRefusesUser"], "what was mended and breaks again is news");
}

/// A cluster that was seen, and who tells of it.
fn teller() -> (Tell, crate::fake_api::Log, Arc<World>) {
    let (context, log) = context(|_| (200, json!({})));
    let world = Arc::new(World::default());
    world.take(Change::Cluster(Ref::new("team", "cache"), Some(ClusterFacts { uid: "a".into(), tls: None })));
    (Tell::new(context, Arc::clone(&world)), log, world)
}

/// Reason and note of each event.
async fn events(log: &crate::fake_api::Log) -> Vec<(String, String)> {
    tokio::time::sleep(Duration::from_millis(50)).await;
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    log.take("POST").iter().map(|asked| (text(&asked.body["reason"]), text(&asked.body["note"]))).collect()
}

#[tokio::test]
async fn of_two_services_for_one_node_it_is_said_once_which_one_counts() {
    let (mut tell, log, _) = teller();
    let key = NodeKey::new("team", "cache", 0, 1);
    let services = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    tell.services(&key, services(&["by-hand"]));
    assert_eq!(events(&log).await, []);
    tell.services(&key, services(&["by-hand", "valkey-cache-0-1"]));
    tell.services(&key, services(&["by-hand", "valkey-cache-0-1"]));
    let note = "cache-0-1 has more than one Service that is to be announced: by-hand counts, as the first by name, and not valkey-cache-0-1. Take the label fn.valkey.io/announce=live from those that are not meant";
    assert_eq!(events(&log).await, [("SeveralServices".to_owned(), note.to_owned())]);
    tell.services(&key, services(&["by-hand"]));
    tell.services(&key, services(&["by-hand", "valkey-cache-0-1"]));
    assert_eq!(events(&log).await.len(), 1, "it was mended and is wrong again");
}

/// A node behind a Gateway, with a hostname: the Gateway's address is not needed, its routes are.
fn behind_gateway() -> Change {
    let service = json!({
        "metadata": {"name": "valkey-cache-0-0", "namespace": "team",
            "labels": {"fn.valkey.io/cluster": "cache", "fn.valkey.io/shard-index": "0", "fn.valkey.io/node-index": "0"},
            "annotations": {
                "fn.valkey.io/gateway": "infra/edge", "fn.valkey.io/client-port": "9000", "fn.valkey.io/hostname": "shard-0.example.com",
            }},
        "spec": {"ports": [{"port": 6379}]},
    });
    crate::live::resources::service(&serde_json::from_value(service).unwrap()).unwrap()
}

#[tokio::test]
async fn a_missing_gateway_api_is_one_event_of_each_cluster_that_asks_for_it() {
    let (mut tell, log, world) = teller();
    let reasons = async || events(&log).await.into_iter().map(|(reason, _)| reason).collect::<Vec<_>>();
    let none = std::collections::BTreeMap::new();
    tell.gateway_api(false);
    tell.count(&none);
    assert_eq!(reasons().await, [""; 0], "nobody asks for it");
    world.take(behind_gateway());
    tell.count(&none);
    tell.count(&none);
    assert_eq!(reasons().await, ["GatewayAPIUnavailable"]);
    let cluster = Ref::new("team", "cache");
    world.take(Change::Cluster(cluster.clone(), None));
    tell.count(&none);
    world.take(Change::Cluster(cluster, Some(ClusterFacts { uid: "b".into(), tls: None })));
    tell.count(&none);
    assert_eq!(reasons().await, ["GatewayAPIUnavailable"], "a new cluster of the same name");
    tell.gateway_api(true);
    tell.count(&none);
    assert_eq!(reasons().await, ["GatewayAPIAvailable"]);
    tell.count(&none);
    assert_eq!(reasons().await, [""; 0]);
}
