//! Passes over a cluster of one node, with an API server and a Valkey server that are not real.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::fake_server::FakeServer;
use super::{once, status};
use crate::context::Context;
use crate::fake_api::{Asked, Log, context, failure};
use crate::report::What;

/// What the API server has.
#[derive(Clone)]
struct Objects {
    services: Value,
    pod_uid: &'static str,
    port: u16,
    records: Value,
    secret: (u16, Value),
}

fn list(items: &Value) -> (u16, Value) {
    (200, json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}))
}

impl Objects {
    /// Node 0-0 of cluster `cache`, with a NodePort.
    fn of(server: &FakeServer) -> Self {
        let services = json!([{
            "metadata": {"name": "valkey-cache-0-0", "namespace": "team", "labels": {
                "fn.valkey.io/announce": "live", "fn.valkey.io/cluster": "cache",
                "fn.valkey.io/shard-index": "0", "fn.valkey.io/node-index": "0",
            }},
            "spec": {"type": "NodePort", "ports": [{"name": "vk-n0", "port": 6379, "targetPort": "client", "nodePort": 30001}]},
        }]);
        // "secret" in base64.
        let secret = (200, json!({"metadata": {}, "data": {"_operator": "c2VjcmV0"}}));
        Self { services, pod_uid: "first", port: server.port, records: json!([]), secret }
    }

    fn answer(&self, asked: &Asked) -> (u16, Value) {
        let path = asked.path.split('?').next().unwrap();
        match (asked.method.as_str(), path) {
            ("GET", "/api/v1/services") => list(&self.services),
            ("GET", "/api/v1/pods") => list(&json!([{
                "metadata": {"name": "valkey-cache-0-0-0", "namespace": "team", "uid": self.pod_uid, "labels": {
                    "valkey.io/cluster": "cache", "valkey.io/shard-index": "0", "valkey.io/node-index": "0",
                }},
                "spec": {"nodeName": "worker-1", "containers": [
                    {"name": "server", "ports": [{"name": "client", "containerPort": self.port}]},
                ]},
                "status": {"podIP": "127.0.0.1"},
            }])),
            ("GET", "/api/v1/nodes") => list(&json!([{
                "metadata": {"name": "worker-1"}, "status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]},
            }])),
            ("GET", "/apis/valkey.io/v1alpha1/valkeyclusters") => list(&json!([{
                "apiVersion": "valkey.io/v1alpha1", "kind": "ValkeyCluster",
                "metadata": {"name": "cache", "namespace": "team", "uid": "c"}, "spec": {"shards": 1},
            }])),
            ("GET", "/api/v1/namespaces/team/secrets/internal-cache-system-passwords") => self.secret.clone(),
            ("GET", "/api/v1/namespaces/expose-valkey/configmaps") => list(&self.records),
            ("PATCH", _) => (200, asked.body.clone()),
            ("DELETE", _) => (200, json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})),
            _ => panic!("{asked:?} was not to be asked"),
        }
    }

    fn serve(&self) -> (Context, Log) {
        let objects = self.clone();
        context(move |asked| objects.answer(asked))
    }

    /// The next run of the controller finds what this one recorded.
    fn with_record(mut self, log: &Log) -> Self {
        self.records = log.take("PATCH").into_iter().map(|asked| asked.body).collect();
        self
    }
}

/// A pass; each action in short.
async fn passed(context: &Context, dry_run: bool) -> Vec<String> {
    let actions = once(context, dry_run).await.unwrap();
    let words = |what| match what {
        What::Announce(settings) => settings.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", "),
        What::Wait(words) => format!("waits: {words}"),
        What::Fail(words) => format!("fails: {words}"),
        What::Apply(_) => panic!("nothing is applied"),
    };
    actions.into_iter().map(|action| words(action.what)).collect()
}

const TOLD: &str = "cluster-announce-client-ipv4 192.0.2.1, cluster-announce-client-port 30001";

#[tokio::test]
async fn a_server_is_told_once_and_a_second_pass_writes_nothing() {
    let server = FakeServer::start(&[]);
    let objects = Objects::of(&server);
    let (context, log) = objects.serve();
    assert_eq!(passed(&context, false).await, [TOLD]);
    assert_eq!(server.take(), ["AUTH", "CONFIG GET", "CONFIG SET"]);

    let (context, log) = objects.with_record(&log).serve();
    assert_eq!(passed(&context, false).await, [""; 0]);
    assert_eq!(server.take(), ["AUTH", "CONFIG GET"]);
    assert_eq!(log.take("PATCH"), []);
}

#[tokio::test]
async fn a_server_that_was_told_is_told_of_though_the_record_is_refused() {
    let server = FakeServer::start(&[]);
    let objects = Objects::of(&server);
    let (context, _) = context(move |asked| match asked.method.as_str() {
        "PATCH" => failure(403, "configmaps is forbidden", json!([])),
        _ => objects.answer(asked),
    });
    let refused = "fails: what its servers were told cannot be written down: configmaps is forbidden";
    assert_eq!(passed(&context, false).await, [TOLD, refused]);
}

#[tokio::test]
async fn a_dry_run_says_what_it_would_tell_and_changes_nothing() {
    let server = FakeServer::start(&[]);
    let (context, log) = Objects::of(&server).serve();
    assert_eq!(passed(&context, true).await, [TOLD]);
    assert_eq!(server.take(), ["AUTH", "CONFIG GET"]);
    assert_eq!(log.take("PATCH"), []);
}

#[tokio::test]
async fn what_was_told_is_taken_back_when_the_service_is_gone_even_after_a_restart() {
    let server = FakeServer::start(&[]);
    let (context, log) = Objects::of(&server).serve();
    passed(&context, false).await;
    let (context, log) = Objects { services: json!([]), ..Objects::of(&server).with_record(&log) }.serve();
    assert_eq!(passed(&context, false).await, ["cluster-announce-client-ipv4 \"\", cluster-announce-client-port 0"]);
    assert_eq!(server.setting("cluster-announce-client-port"), "0");
    let deleted: Vec<_> = log.take("DELETE").into_iter().map(|asked| asked.path).collect();
    assert!(deleted.iter().all(|path| path.contains("/namespaces/expose-valkey/configmaps/live.team.cache")), "{deleted:?}");
    assert_eq!(deleted.len(), 1);
}

#[tokio::test]
async fn a_pod_that_was_replaced_since_is_not_robbed_of_what_its_command_says() {
    let server = FakeServer::start(&[]);
    let (context, log) = Objects::of(&server).serve();
    passed(&context, false).await;
    server.take();
    let next = Objects { services: json!([]), pod_uid: "second", ..Objects::of(&server).with_record(&log) };
    let (context, _) = next.serve();
    assert_eq!(passed(&context, false).await, [""; 0]);
    assert_eq!(server.take(), [""; 0], "it is not even asked");
}

#[tokio::test]
async fn servers_that_we_never_told_are_left_alone() {
    let server = FakeServer::start(&[("cluster-announce-hostname", "by-command.example.com")]);
    let (context, _) = Objects { services: json!([]), ..Objects::of(&server) }.serve();
    assert_eq!(passed(&context, false).await, [""; 0]);
    assert_eq!(server.take(), [""; 0]);
}

#[tokio::test]
async fn a_secret_that_may_not_be_read_says_which_right_is_missing() {
    let server = FakeServer::start(&[]);
    let (context, _) = Objects { secret: failure(403, "forbidden", json!([])), ..Objects::of(&server) }.serve();
    assert_eq!(
        passed(&context, false).await,
        [
            "fails: the controller may not read Secret team/internal-cache-system-passwords: give its ServiceAccount the verb `get` on this Secret, by a Role in namespace team"
        ]
    );
    let (context, _) = Objects { secret: failure(404, "not found", json!([])), ..Objects::of(&server) }.serve();
    assert_eq!(passed(&context, false).await, ["waits: Secret team/internal-cache-system-passwords is not there yet"]);
}

#[tokio::test]
async fn a_password_that_was_just_replaced_is_no_trouble() {
    let server = FakeServer::start(&[]);
    server.set_password("new");
    let objects = Objects::of(&server);
    // The first look finds the old one; "new" in base64.
    let looks = Arc::new(AtomicU32::new(0));
    let (context, _) = context(move |asked| match asked.path.contains("/secrets/") && looks.fetch_add(1, Ordering::Relaxed) > 0 {
        true => (200, json!({"metadata": {}, "data": {"_operator": "bmV3"}})),
        false => objects.answer(asked),
    });
    assert_eq!(passed(&context, false).await, [TOLD]);
    server.set_password("newer");
    let (context, _) = Objects::of(&server).serve();
    let refused = "fails: refuses to sign in user \"_operator\": the user is unknown to it, switched off, or has another password";
    assert_eq!(passed(&context, false).await, [refused]);
}

#[tokio::test]
async fn the_table_tells_where_clients_are_sent_and_what_is_open() {
    let server = FakeServer::start(&[]);
    let objects = Objects::of(&server);
    let (context, log) = objects.serve();
    let row = async |context: &Context| {
        let row = status(context).await.unwrap().remove(0);
        (row.node, row.target, row.waits_for)
    };
    let open = "pod valkey-cache-0-0-0 to be told 192.0.2.1:30001";
    assert_eq!(row(&context).await, ("cache-0-0".into(), String::new(), open.into()));
    passed(&context, false).await;
    let (context, log) = objects.with_record(&log).serve();
    assert_eq!(row(&context).await, ("cache-0-0".into(), "192.0.2.1:30001".into(), String::new()));
    drop(log);
    server.take();
    status(&context).await.unwrap();
    assert_eq!(server.take(), [""; 0], "the table asks no server");
}
