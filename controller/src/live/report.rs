//! What `once` and `status` tell.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::StreamExt;

use super::facts::{NodeKey, Ref};
use super::pass::{Passes, around};
use super::record::{Record, Run, Told, now};
use super::source::{Missing, wanted};
use super::state::{Outcome, State};
use super::world::World;
use crate::report::{Action, Row, What};
use crate::words;

/// So many servers are spoken to at a time.
const AT_ONCE: usize = 16;

type AllTold = HashMap<NodeKey, Told>;

/// A pass over every node that has a Service or was told something. Returns what was told then, too.
pub(crate) async fn actions(passes: &Passes, told: &AllTold) -> (Vec<Action>, AllTold) {
    let all: BTreeSet<NodeKey> = passes.world.nodes().into_iter().chain(told.keys().cloned()).collect();
    let done = futures::stream::iter(all).map(|key| async move {
        let outcome = passes.pass(&key, told.get(&key)).await;
        (key, outcome)
    });
    let done: Vec<(NodeKey, Outcome)> = done.buffered(AT_ONCE).collect().await;
    let mut after = told.clone();
    let mut actions = Vec::new();
    for (key, outcome) in done {
        let mut state = State::recorded(after.remove(&key));
        state.remember(&outcome, now());
        if let Some(told) = state.told {
            after.insert(key.clone(), told);
        }
        actions.extend(action(&key, outcome));
    }
    (actions, after)
}

/// `None`: nothing had to be done.
fn action(key: &NodeKey, outcome: Outcome) -> Option<Action> {
    let (pod, what) = match outcome {
        Outcome::Announces { changes, pod, .. } => (pod, announced(changes)?),
        Outcome::Withdrawn { changes } => (key.to_string(), announced(changes)?),
        Outcome::Waits(Missing::Wait(words)) => (key.to_string(), What::Wait(words)),
        Outcome::Waits(Missing::Mistake(words)) => (key.to_string(), What::Fail(words)),
        Outcome::Fails(failure) => (key.to_string(), What::Fail(failure.to_string())),
    };
    let Ref { namespace, name } = key.cluster.clone();
    Some(Action { namespace, cluster: name, target: format!("server {pod}"), what })
}

fn announced(changes: Vec<(&'static str, String)>) -> Option<What> {
    let quoted = |value: String| if value.is_empty() { "\"\"".to_owned() } else { value };
    (!changes.is_empty()).then(|| What::Announce(changes.into_iter().map(|(key, value)| (key.to_owned(), quoted(value))).collect()))
}

/// Writes down what was told, cluster by cluster; returns what was not taken. The servers are told by then, whatever becomes of it.
pub(crate) async fn save(record: &Record, before: &AllTold, after: &AllTold) -> Vec<Action> {
    let by_cluster = |all: &AllTold| {
        let mut clusters: BTreeMap<Ref, BTreeMap<NodeKey, Told>> = BTreeMap::new();
        for (key, told) in all {
            clusters.entry(key.cluster.clone()).or_default().insert(key.clone(), told.clone());
        }
        clusters
    };
    let (before, after) = (by_cluster(before), by_cluster(after));
    let clusters: BTreeSet<&Ref> = before.keys().chain(after.keys()).collect();
    let mut failed = Vec::new();
    for cluster in clusters.into_iter().filter(|cluster| before.get(cluster) != after.get(cluster)) {
        if let Err(error) = record.save(cluster, after.get(cluster).unwrap_or(&BTreeMap::new())).await {
            let why = format!("what its servers were told cannot be written down: {}", words::of_client(&error));
            let Ref { namespace, name } = cluster.clone();
            failed.push(Action { namespace, target: format!("ValkeyCluster {name}"), cluster: name, what: What::Fail(why) });
        }
    }
    failed
}

/// A line for every node that has a Service or was told something.
pub(crate) fn rows(world: &World, told: &AllTold) -> Vec<Row> {
    let all: BTreeSet<NodeKey> = world.nodes().into_iter().chain(told.keys().cloned()).collect();
    all.into_iter().filter_map(|key| row(world, &key, told.get(&key))).collect()
}

/// `None`: the node is gone, or its server has forgotten what it was told, and is to be told nothing.
fn row(world: &World, key: &NodeKey, told: Option<&Told>) -> Option<Row> {
    let seen = world.seen(key);
    let waits_for = match &seen.service {
        None if told?.run != Run::of(seen.pod.as_ref()?) => return None,
        None => "the announcement to be taken back".to_owned(),
        Some(Err(words)) => words.clone(),
        Some(Ok(service)) => match (wanted(&around(key, service, &seen)), &seen.pod) {
            (Err(missing), _) => missing.to_string(),
            (Ok(_), None) => format!("there is no pod of {key} yet"),
            (Ok(wanted), Some(pod)) => match told {
                Some(told) if told.target == wanted.to_string() && told.run == Run::of(pod) => String::new(),
                _ => format!("pod {} to be told {wanted}", pod.name),
            },
        },
    };
    Some(Row {
        namespace: key.cluster.namespace.clone(),
        cluster: key.cluster.name.clone(),
        node: key.to_string(),
        target: told.map(|told| told.target.clone()).unwrap_or_default(),
        since: told.map(|told| told.since.to_string()).unwrap_or_default(),
        waits_for,
    })
}
