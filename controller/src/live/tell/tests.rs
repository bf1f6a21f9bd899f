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
