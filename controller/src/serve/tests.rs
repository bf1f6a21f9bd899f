use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::*;
use crate::fake_api::{Asked, context, failure};
use crate::metrics::Job;

/// Of the paused clock.
const LONG: Duration = Duration::from_secs(60);

/// Keeps one Lease.
fn leases() -> (impl Fn(&Asked) -> (u16, Value) + Clone + Send + Sync + 'static, Arc<Mutex<Value>>) {
    let lease = Arc::new(Mutex::new(Value::Null));
    let kept = Arc::clone(&lease);
    let answer = move |asked: &Asked| {
        let mut lease = kept.lock().unwrap();
        match asked.method.as_str() {
            "GET" if lease.is_null() => {
                let (code, mut body) = failure(404, "not found", json!([]));
                body["reason"] = "NotFound".into();
                return (code, body);
            }
            "GET" => {}
            _ => *lease = asked.body.clone(),
        }
        (200, lease.clone())
    };
    (answer, lease)
}

fn jobs(context: &Context, read_back: impl Future<Output = ()> + Send + 'static) -> Jobs {
    let stop = context.stop.child_token();
    let live = stop.clone();
    Jobs { stop, read_back: tokio::spawn(read_back), live: tokio::spawn(async move { live.cancelled().await }) }
}

fn candidate(context: &Context) -> Candidate {
    Candidate::new(context.client.clone(), "home", "lease", "a")
}

#[tokio::test(start_paused = true)]
async fn a_job_that_broke_ends_the_program_so_that_it_is_started_again() {
    let (answer, lease) = leases();
    let (context, _log) = context(answer);
    let health = Health::default();
    let turns = take_turns(&context, &health, candidate(&context), |context| jobs(context, async {}));
    let result = timeout(LONG, turns).await.unwrap();
    assert_eq!(result.unwrap_err().to_string(), "read-back ended by itself: this is a fault of the program");
    assert_eq!(lease.lock().unwrap()["spec"]["holderIdentity"], "", "another replica may go on at once");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_lost_the_lease_counts_nothing() {
    let (answer, lease) = leases();
    let (context, _log) = context(answer);
    let stop = context.stop.clone();
    let works = |context: &Context| {
        context.metrics.set_targets(Job::Live, "node_port", 6);
        context.metrics.set_waiting(Job::Live, 1);
        jobs(context, std::future::pending())
    };
    let robber = async {
        tokio::time::sleep(PERIOD).await;
        assert!(context.metrics.text().contains("expose_valkey_targets{"), "{}", context.metrics.text());
        lease.lock().unwrap()["spec"]["holderIdentity"] = "b".into();
        tokio::time::sleep(PERIOD * 3).await;
        let text = context.metrics.text();
        assert!(!text.contains("_targets{") && !text.contains("_waiting{"), "{text}");
        assert!(text.contains("expose_valkey_leader 0"), "{text}");
        stop.cancel();
    };
    let health = Health::default();
    let turns = timeout(LONG, take_turns(&context, &health, candidate(&context), works));
    let (result, ()) = tokio::join!(turns, robber);
    result.unwrap().unwrap();
}
