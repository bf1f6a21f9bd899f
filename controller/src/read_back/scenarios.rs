//! A cluster in the states that it can be in, and the requests that each must lead to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::facts::Key;
use super::pass::{Outcome, Pass};
use super::watch::News;
use super::wire::{ShardService, ValkeyCluster, ValkeyNode};
use crate::NAME;
use crate::context::Scope;
use crate::fake_api::{Asked, Log, context, failure};
use crate::pending::Pending;

/// One shard of two nodes, behind NodePorts 31000 and 31001, all Ready, no port known to anybody yet.
struct Scenario {
    cluster: Value,
    services: Vec<Value>,
    nodes: Vec<Value>,
}

fn managed(manager: &str, operation: &str, subresource: &str, fields: Value) -> Value {
    json!([{"manager": manager, "operation": operation, "subresource": subresource, "fieldsType": "FieldsV1", "fieldsV1": fields}])
}

fn node(index: u32, role: &str) -> Value {
    let labels = json!({"valkey.io/cluster": "cache", "valkey.io/shard-index": "0", "valkey.io/node-index": index.to_string()});
    json!({
        "metadata": {"name": format!("cache-0-{index}"), "namespace": "prod", "uid": format!("n{index}"), "generation": 1, "labels": labels},
        "spec": {},
        "status": {"ready": true, "role": role, "observedGeneration": 1},
    })
}

impl Scenario {
    fn allocated() -> Self {
        let labels = json!({"valkey.io/cluster": "cache", "valkey.io/shard-index": "0"});
        let port = |node: u32| json!({"name": format!("vk-n{node}"), "port": 6379 + node, "nodePort": 31000 + node});
        Self {
            cluster: json!({
                "metadata": {"name": "cache", "namespace": "prod", "uid": "c"},
                "spec": {"shards": 1, "replicas": 1, "externalAccess": {"enabled": true}},
            }),
            services: vec![json!({
                "metadata": {"name": "valkey-cache-shard-0", "namespace": "prod", "labels": labels},
                "spec": {"type": "NodePort", "ports": [port(0), port(1)]},
            })],
            nodes: vec![node(0, "primary"), node(1, "replica")],
        }
    }

    /// All was read back by us before.
    fn settled() -> Self {
        let mut settled = Self::allocated();
        settled.cluster["status"] = json!({"externalEndpoints": [{"shardIndex": 0, "nodePorts": [31000, 31001]}]});
        settled.cluster["metadata"]["managedFields"] = managed(NAME, "Apply", "status", json!({"f:status": {"f:externalEndpoints": {}}}));
        for (node, port) in settled.nodes.iter_mut().zip(31000..) {
            node["spec"]["externalAccessClientPort"] = json!(port);
            node["metadata"]["managedFields"] = managed(NAME, "Apply", "", json!({"f:spec": {"f:externalAccessClientPort": {}}}));
        }
        settled
    }

    /// The status has another owner.
    fn owned_by_operator(ports: [u16; 2]) -> Self {
        let mut owned = Self::allocated();
        owned.cluster["status"] = json!({"externalEndpoints": [{"shardIndex": 0, "nodePorts": ports}]});
        owned.cluster["metadata"]["managedFields"] =
            managed("valkey-operator", "Update", "status", json!({"f:status": {"f:externalEndpoints": {}}}));
        owned
    }

    fn pass(&self, answer: impl Fn(&Asked) -> (u16, Value) + Clone + Send + Sync + 'static) -> (Pass, Log) {
        let (context, log) = context(answer);
        let pass = Pass::new(context, false);
        let mut store = pass.store.lock().unwrap();
        store.put(&serde_json::from_value::<ValkeyCluster>(self.cluster.clone()).unwrap());
        for service in &self.services {
            store.put(&serde_json::from_value::<ShardService>(service.clone()).unwrap());
        }
        for node in &self.nodes {
            store.put(&serde_json::from_value::<ValkeyNode>(node.clone()).unwrap());
        }
        drop(store);
        (pass, log)
    }
}

/// Takes every patch, as the API server does: with the node's own labels and the next generation.
fn takes_all(asked: &Asked) -> (u16, Value) {
    let mut object = asked.body.clone();
    if object["kind"] == "ValkeyNode" {
        let index = if object["metadata"]["name"] == "cache-0-0" { 0 } else { 1 };
        let mut node = node(index, if index == 0 { "primary" } else { "replica" });
        node["metadata"]["generation"] = json!(2);
        node["spec"] = object["spec"].clone();
        object = node;
    } else {
        let on = object["status"] != json!({});
        object["spec"] = json!({"shards": 1, "replicas": 1, "externalAccess": {"enabled": on}});
    }
    (200, object)
}

async fn run(pass: &Pass) -> Outcome {
    pass.run(&Key::new("prod", "cache")).await.unwrap()
}

#[tokio::test]
async fn allocated_ports_are_applied_to_the_status_and_to_one_replica_as_our_own_fields_only() {
    let (pass, log) = Scenario::allocated().pass(takes_all);
    let outcome = run(&pass).await;
    let patches = log.take("PATCH");
    let [status, replica] = patches.as_slice() else { panic!("{patches:#?}") };
    assert_eq!(status.path, "/apis/valkey.io/v1alpha1/namespaces/prod/valkeyclusters/cache/status?&fieldManager=expose-valkey-controller");
    assert_eq!(
        status.body,
        json!({
            "apiVersion": "valkey.io/v1alpha1", "kind": "ValkeyCluster", "metadata": {"name": "cache", "namespace": "prod", "uid": "c"},
            "status": {"externalEndpoints": [{"shardIndex": 0, "nodePorts": [31000, 31001]}]},
        })
    );
    assert_eq!(replica.path, "/apis/valkey.io/v1alpha1/namespaces/prod/valkeynodes/cache-0-1?&fieldManager=expose-valkey-controller");
    assert_eq!(
        replica.body,
        json!({
            "apiVersion": "valkey.io/v1alpha1", "kind": "ValkeyNode", "metadata": {"name": "cache-0-1", "namespace": "prod", "uid": "n1"},
            "spec": {"externalAccessClientPort": 31001},
        })
    );
    assert_eq!(log.take_events(), ["EndpointsPublished", "ClientPortSet", "WaitingForNode"]);
    assert!(outcome.waits);
}

#[tokio::test]
async fn what_is_right_is_not_asked_about() {
    let (pass, log) = Scenario::settled().pass(takes_all);
    run(&pass).await;
    for method in ["GET", "PATCH", "POST", "PUT", "DELETE"] {
        assert_eq!(log.take(method), []);
    }
}

#[tokio::test]
async fn an_operator_that_publishes_the_ports_itself_is_left_alone_with_one_event() {
    for (ports, kind) in [([31000, 31001], "Normal"), ([0, 0], "Warning")] {
        let (pass, log) = Scenario::owned_by_operator(ports).pass(takes_all);
        run(&pass).await;
        run(&pass).await;
        assert_eq!(log.take("PATCH"), []);
        let events = log.take("POST");
        assert_eq!(events.len(), 1, "{events:#?}");
        assert_eq!((&events[0].body["reason"], &events[0].body["type"]), (&json!("StandingDown"), &json!(kind)));
    }
}

#[tokio::test]
async fn a_conflict_ends_the_pass_without_force() {
    let conflict = |_: &Asked| {
        let cause = json!([{"reason": "FieldManagerConflict", "field": ".status.externalEndpoints", "message": "conflict with \"other\""}]);
        failure(409, "Apply failed with 1 conflict", cause)
    };
    let (pass, log) = Scenario::allocated().pass(conflict);
    run(&pass).await;
    run(&pass).await;
    let patches = log.take("PATCH");
    assert!(patches.iter().all(|patch| patch.path.contains("/valkeyclusters/cache/status") && !patch.path.contains("force=true")));
    assert_eq!(log.take_events(), ["FieldConflict"]);
}

#[tokio::test]
async fn an_operator_without_the_fields_is_told_of_once() {
    let unknown =
        |_: &Asked| failure(500, "failed to create typed patch object: .status.externalEndpoints: field not declared in schema", json!([]));
    let (pass, log) = Scenario::allocated().pass(unknown);
    run(&pass).await;
    run(&pass).await;
    assert_eq!(log.take_events(), ["ReadBackNotSupported"]);
}

#[tokio::test]
async fn a_node_that_was_made_anew_meanwhile_is_looked_at_again() {
    let (pass, log) = Scenario::allocated().pass(|asked| match asked.path.contains("valkeynodes") {
        true => failure(409, "Precondition failed: UID in precondition: n1, UID in object meta: other", json!([])),
        false => takes_all(asked),
    });
    assert!(run(&pass).await.again.is_some());
    assert_eq!(log.take_events(), ["EndpointsPublished"]);
}

#[tokio::test]
async fn a_failure_of_the_api_server_is_tried_again_by_the_caller() {
    let (pass, _) = Scenario::allocated().pass(|_| failure(503, "etcdserver: leader changed", json!([])));
    assert!(pass.run(&Key::new("prod", "cache")).await.is_err());
}

#[tokio::test]
async fn access_that_was_switched_off_gives_up_our_fields_and_no_others() {
    let mut off = Scenario::settled();
    off.cluster["spec"]["externalAccess"]["enabled"] = json!(false);
    let (pass, log) = off.pass(takes_all);
    run(&pass).await;
    let patches = log.take("PATCH");
    let parts: Vec<_> = patches.iter().map(|patch| (&patch.body["metadata"]["name"], &patch.body["status"], &patch.body["spec"])).collect();
    let (cluster, replica, empty, null) = (json!("cache"), json!("cache-0-1"), json!({}), json!(null));
    assert_eq!(parts, [(&cluster, &empty, &null), (&replica, &null, &empty)], "the primary's turn comes when the replica is Ready");
}

#[tokio::test]
async fn a_cluster_on_its_way_out_is_not_written_to() {
    let mut deleted = Scenario::allocated();
    deleted.cluster["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let (pass, log) = deleted.pass(takes_all);
    run(&pass).await;
    assert_eq!(log.take("PATCH"), []);
}

#[tokio::test]
async fn a_service_that_is_away_does_not_restart_the_nodes() {
    let mut away = Scenario::settled();
    away.services.clear();
    let (pass, log) = away.pass(takes_all);
    run(&pass).await;
    let patches = log.take("PATCH");
    assert_eq!(patches.len(), 1, "{patches:#?}");
    assert_eq!(patches[0].body["status"], json!({}), "a wrong port is not published on");
    assert_eq!(log.take_events(), ["WaitingForPorts", "EndpointsReleased"]);
}

#[tokio::test]
async fn with_a_gateway_a_port_of_ours_is_given_up() {
    let mut moved = Scenario::settled();
    moved.cluster["spec"]["externalAccess"]["gateway"] = json!({"basePort": 6400});
    let (pass, log) = moved.pass(|asked| match asked.method.as_str() {
        "GET" => (
            200,
            json!({"kind": "APIResourceList", "groupVersion": "gateway.networking.k8s.io/v1", "resources": [
                {"name": "tcproutes", "singularName": "tcproute", "namespaced": true, "kind": "TCPRoute", "verbs": ["get"]},
            ]}),
        ),
        _ => takes_all(asked),
    });
    run(&pass).await;
    assert_eq!(log.take_events(), ["ClientPortReleased", "WaitingForNode"]);
    let patches = log.take("PATCH");
    assert_eq!(patches[0].body["spec"], json!({}));
}

#[tokio::test]
async fn a_gateway_without_gateway_api_is_told_of_once_and_looked_for_again() {
    let mut gateway = Scenario::settled();
    gateway.nodes.clear();
    gateway.cluster["spec"]["externalAccess"]["gateway"] = json!({"basePort": 6400});
    let (pass, log) = gateway.pass(|_| failure(404, "the server could not find the requested resource", json!([])));
    assert!(run(&pass).await.again.is_some());
    assert!(run(&pass).await.again.is_some());
    assert_eq!(log.take_events(), ["GatewayAPIUnavailable"]);
}

#[tokio::test]
async fn a_field_of_a_node_that_another_manager_has_is_left_to_it() {
    let mut owned = Scenario::settled();
    owned.nodes[1]["spec"]["externalAccessClientPort"] = json!(30000);
    owned.nodes[1]["metadata"]["managedFields"] = managed("gitops", "Apply", "", json!({"f:spec": {"f:externalAccessClientPort": {}}}));
    let (pass, log) = owned.pass(takes_all);
    run(&pass).await;
    assert_eq!(log.take("PATCH"), []);
    let events = log.take("POST");
    let note = events[0].body["note"].as_str().unwrap();
    assert!(note.starts_with("`spec.externalAccessClientPort` of ValkeyNode cache-0-1 is owned by \"gitops\""), "{note}");
}

#[tokio::test]
async fn a_dry_run_writes_nothing_and_says_what_it_would() {
    let (pass, log) = Scenario::allocated().pass(takes_all);
    let pass = Pass { dry_run: true, ..pass };
    let outcome = run(&pass).await;
    assert_eq!(
        outcome.actions.iter().map(|action| action.target.as_str()).collect::<Vec<_>>(),
        ["ValkeyCluster cache", "ValkeyNode cache-0-1"]
    );
    for method in ["PATCH", "POST"] {
        assert_eq!(log.take(method), []);
    }
}

#[tokio::test]
async fn nodes_without_a_server_yet_are_changed_together_and_told_of_together() {
    let mut new = Scenario::allocated();
    new.nodes.iter_mut().for_each(|node| node["status"] = json!({}));
    let (pass, log) = new.pass(|asked| {
        let (code, mut object) = takes_all(asked);
        if object["metadata"]["labels"].is_object() {
            object["status"] = json!({});
        }
        (code, object)
    });
    run(&pass).await;
    assert_eq!(log.take("PATCH").len(), 3);
    let events = log.take("POST");
    let notes: Vec<_> = events.iter().map(|event| event.body["note"].as_str().unwrap()).collect();
    assert_eq!(notes, ["published the ports of 2 nodes", "changed the ports of 2 ValkeyNodes that are not Ready"]);
}

#[tokio::test]
async fn a_namespace_that_may_not_be_watched_keeps_no_other_waiting() {
    let (pass, log) = Scenario::allocated().pass(takes_all);
    let stop = pass.context.stop.clone();
    let scope = Scope::Namespaces(["forbidden".to_owned(), "prod".to_owned()].into());
    let (news, received) = tokio::sync::mpsc::unbounded_channel();
    let work = tokio::spawn(super::queue::work(pass, received, Pending::of(&scope, 2)));
    news.send(News::Changed(Key::new("prod", "cache"))).unwrap();
    news.send(News::Listed(Some("prod".to_owned()))).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(log.take("PATCH"), [], "its own Services may not have been seen yet");
    news.send(News::Listed(Some("prod".to_owned()))).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(log.take("PATCH").len(), 2);
    stop.cancel();
    work.await.unwrap();
}

#[tokio::test]
async fn a_pass_that_broke_is_made_again() {
    let broken = Arc::new(AtomicBool::new(false));
    let (pass, log) = Scenario::allocated().pass(move |asked| {
        assert!(broken.swap(true, Ordering::Relaxed), "the first request breaks the pass");
        takes_all(asked)
    });
    let stop = pass.context.stop.clone();
    let (news, received) = tokio::sync::mpsc::unbounded_channel();
    let work = tokio::spawn(super::queue::work(pass, received, Pending::default()));
    news.send(News::Changed(Key::new("prod", "cache"))).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    assert_eq!(log.take("PATCH").len(), 2);
    stop.cancel();
    work.await.unwrap();
}
