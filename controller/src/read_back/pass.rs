//! One pass over one cluster: decide, write, tell.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tracing::debug;

use super::apply::{self, Refused};
use super::decide::{Decision, Foreign, NodeStep, Status, decide};
use super::facts::{Endpoints, Key};
use super::rolling::Wanted;
use super::store::{Entry, Store};
use crate::context::Context;
use crate::events::Kind;
use crate::gateway_api::{ASKED_AGAIN_AFTER, GatewayApi};
use crate::metrics::Job;
use crate::report::{Action, What};
use crate::words;

/// Reasons of events.
mod reason {
    pub(super) const PUBLISHED: &str = "EndpointsPublished";
    pub(super) const RELEASED: &str = "EndpointsReleased";
    pub(super) const PORT_SET: &str = "ClientPortSet";
    pub(super) const PORT_RELEASED: &str = "ClientPortReleased";
    pub(super) const WAITING_FOR_PORTS: &str = "WaitingForPorts";
    pub(super) const WAITING_FOR_NODE: &str = "WaitingForNode";
    pub(super) const STANDING_DOWN: &str = "StandingDown";
    pub(super) const CONFLICT: &str = "FieldConflict";
    pub(super) const NOT_SUPPORTED: &str = "ReadBackNotSupported";
    pub(super) const NO_GATEWAY_API: &str = "GatewayAPIUnavailable";
    pub(super) const GATEWAY_API: &str = "GatewayAPIAvailable";
    pub(super) const FAILED: &str = "ReadBackFailed";
}

/// So many of the things that are waited for are named; then they are counted.
const NAMED: usize = 3;

/// What changed under our hands is looked at again after this time.
const CHANGED_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// What passes work with.
#[derive(Clone)]
pub(super) struct Pass {
    /// Client, events, metrics.
    pub(super) context: Context,
    /// The facts.
    pub(super) store: Arc<Mutex<Store>>,
    /// Whether Gateway API is there.
    pub(super) gateway_api: GatewayApi,
    /// Only say what would be done.
    pub(super) dry_run: bool,
}

/// How a pass ended.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// What was done, or would be.
    pub(super) actions: Vec<Action>,
    /// Kind of exposure and number of nodes whose ports are published.
    pub(super) targets: Option<(&'static str, usize)>,
    /// Something is waited for that no watch need tell of: look again after this time.
    pub(super) again: Option<Duration>,
    /// Something is waited for.
    pub(super) waits: bool,
}

impl Pass {
    /// All that can be done now for the cluster `key`.
    ///
    /// # Errors
    /// When the API server fails: to be tried again, with backoff. What it refuses for good is told in an event instead.
    pub(super) async fn run(&self, key: &Key) -> Result<Outcome, kube::Error> {
        let mut outcome = Outcome::default();
        let Some((about, decision)) = self.look(key, &mut outcome) else { return Ok(outcome) };
        self.look_for_gateway_api(key, &about, &mut outcome).await?;
        self.tell_waits(key, &about, &decision, &mut outcome).await;
        self.tell_foreign(key, &about, &decision.foreign, &mut outcome).await;
        if !self.write_status(key, &about, decision.status, &mut outcome).await? {
            return Ok(outcome);
        }
        self.roll(key, &about, decision.node, &mut outcome).await?;
        Ok(outcome)
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, key: &Key, outcome: &mut Outcome) -> Option<(ObjectReference, Decision)> {
        let store = self.lock();
        let entry = store.get(key)?;
        let cluster = entry.cluster.as_ref()?;
        outcome.targets = targets(entry);
        Some((about(key, &cluster.uid), decide(&key.name, entry)))
    }

    fn decide_again(&self, key: &Key) -> NodeStep {
        self.lock().get(key).map_or(NodeStep::Done, |entry| decide(&key.name, entry).node)
    }

    async fn look_for_gateway_api(&self, key: &Key, about: &ObjectReference, outcome: &mut Outcome) -> Result<(), kube::Error> {
        let asks = self.lock().get(key).is_some_and(asks_for_gateway);
        if !asks || self.gateway_api.is_served().await? {
            if self.context.events.over(about, reason::NO_GATEWAY_API) && asks {
                self.context.events.publish(about, Kind::Normal, reason::GATEWAY_API, "Gateway API is served now").await;
            }
            return Ok(());
        }
        let note = "the cluster asks for a Gateway, but neither TCPRoute nor TLSRoute is served here: install the CRDs of Gateway API";
        self.tell_once(about, Kind::Warning, reason::NO_GATEWAY_API, note).await;
        self.wait(key, note.to_owned(), outcome);
        outcome.again = Some(ASKED_AGAIN_AFTER);
        Ok(())
    }

    async fn tell_waits(&self, key: &Key, about: &ObjectReference, decision: &Decision, outcome: &mut Outcome) {
        if decision.missing.is_empty() || stands_down(&decision.foreign) {
            self.context.events.over(about, reason::WAITING_FOR_PORTS);
            return;
        }
        let named = decision.missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let note = match decision.missing.len().saturating_sub(NAMED) {
            0 => named,
            more => format!("{named}, and {more} more"),
        };
        self.tell_once(about, Kind::Normal, reason::WAITING_FOR_PORTS, &note).await;
        self.wait(key, note, outcome);
    }

    async fn tell_foreign(&self, key: &Key, about: &ObjectReference, foreign: &[Foreign], outcome: &mut Outcome) {
        let Some(first) = foreign.first() else {
            self.context.events.over(about, reason::STANDING_DOWN);
            return;
        };
        let more = match foreign.len() {
            1 => String::new(),
            all => format!(", and {} more fields", all - 1),
        };
        let owned = format!("{} is owned by \"{}\"{more}", first.field, first.owner);
        if first.agrees {
            self.tell_once(about, Kind::Normal, reason::STANDING_DOWN, &format!("{owned}, which keeps it right: nothing to do here")).await;
        } else {
            let note = format!(
                "{owned}, and says something else than the Services: it is left alone; let that manager give the field up, or write the ports itself"
            );
            self.tell_once(about, Kind::Warning, reason::STANDING_DOWN, &note).await;
            self.wait(key, note, outcome);
        }
    }

    /// False if nothing more should be tried now.
    async fn write_status(&self, key: &Key, about: &ObjectReference, status: Status, outcome: &mut Outcome) -> Result<bool, kube::Error> {
        let (endpoints, reason) = match status {
            Status::Keep => return Ok(true),
            Status::Publish(endpoints) => (endpoints, reason::PUBLISHED),
            Status::Release => (Vec::new(), reason::RELEASED),
        };
        let object = apply::status(key, about.uid.as_deref().unwrap_or_default(), &endpoints);
        outcome.actions.push(action(key, format!("ValkeyCluster {}", key.name), What::Apply(object.clone())));
        if self.dry_run {
            return Ok(true);
        }
        match apply::apply_status(&self.context.client, key, &object).await {
            Ok(cluster) => {
                self.lock().put_answer(&cluster);
                self.context.metrics.wrote(Job::ReadBack, "valkey_cluster_status");
                self.trouble_is_over(about);
                self.context.events.publish(about, Kind::Normal, reason, &published(&endpoints)).await;
                Ok(true)
            }
            Err(refused) => self.refused(key, about, refused, outcome).await.map(|()| false),
        }
    }

    /// Changes one node after the other, as far as that is possible without waiting. Those that run no server yet are told of
    /// together: nobody is concerned by one of them.
    async fn roll(&self, key: &Key, about: &ObjectReference, step: NodeStep, outcome: &mut Outcome) -> Result<(), kube::Error> {
        let mut unnoticed = 0;
        let result = self.roll_on(key, about, step, outcome, &mut unnoticed).await;
        if unnoticed > 0 {
            let note = format!("changed the ports of {unnoticed} ValkeyNodes that are not Ready");
            self.context.events.publish(about, Kind::Normal, reason::PORT_SET, &note).await;
        }
        result
    }

    async fn roll_on(
        &self,
        key: &Key,
        about: &ObjectReference,
        mut step: NodeStep,
        outcome: &mut Outcome,
        unnoticed: &mut usize,
    ) -> Result<(), kube::Error> {
        loop {
            match step {
                NodeStep::Done => {
                    self.context.events.over(about, reason::WAITING_FOR_NODE);
                    return Ok(());
                }
                NodeStep::Wait { name, left } => {
                    let note = format!("waiting until ValkeyNode {name} is Ready again; {left} to follow");
                    self.tell_once(about, Kind::Normal, reason::WAITING_FOR_NODE, &note).await;
                    self.wait(key, note, outcome);
                    return Ok(());
                }
                NodeStep::Change { ref name, ref uid, wanted, restarts } => {
                    let object = apply::node(&key.namespace, name, uid, wanted);
                    outcome.actions.push(action(key, format!("ValkeyNode {name}"), What::Apply(object.clone())));
                    // What would follow depends on how the node fares.
                    if self.dry_run {
                        return Ok(());
                    }
                    match apply::apply_node(&self.context.client, &key.namespace, name, &object).await {
                        Ok(node) => {
                            self.lock().put_answer(&node);
                            self.context.metrics.wrote(Job::ReadBack, "valkey_node");
                            self.trouble_is_over(about);
                            if restarts {
                                self.tell_change(about, name, wanted).await;
                            } else {
                                *unnoticed += 1;
                            }
                        }
                        Err(refused) => return self.refused(key, about, refused, outcome).await,
                    }
                }
            }
            let next = self.decide_again(key);
            // An answer that does not show the change would let this run for ever.
            if matches!((&step, &next), (NodeStep::Change { name: done, .. }, NodeStep::Change { name, .. }) if done == name) {
                outcome.again = Some(ASKED_AGAIN_AFTER);
                return Ok(());
            }
            step = next;
        }
    }

    async fn tell_change(&self, about: &ObjectReference, name: &str, wanted: Wanted) {
        let (reason, note) = match wanted {
            Wanted::Port(port) => (reason::PORT_SET, format!("ValkeyNode {name} is to announce port {port}: the operator restarts it")),
            _ => (reason::PORT_RELEASED, format!("the port of ValkeyNode {name} is given up: the operator restarts it")),
        };
        self.context.events.publish(about, Kind::Normal, reason, &note).await;
    }

    async fn refused(&self, key: &Key, about: &ObjectReference, why: Refused, outcome: &mut Outcome) -> Result<(), kube::Error> {
        let (reason, note) = match why {
            Refused::Changed => {
                outcome.again = Some(CHANGED_AGAIN_AFTER);
                return Ok(());
            }
            Refused::Owned(what) => (reason::CONFLICT, format!("another manager owns {what}: it is left alone")),
            Refused::Unknown => (
                reason::NOT_SUPPORTED,
                "the CRDs of the operator do not know `status.externalEndpoints` or `spec.externalAccessClientPort`: \
                 install an operator that has external access, or let the nodes announce their ports live"
                    .to_owned(),
            ),
            Refused::Failed(error) => {
                let note = words::of_client(&error);
                self.tell_once(about, Kind::Warning, reason::FAILED, &note).await;
                return Err(*error);
            }
        };
        self.tell_once(about, Kind::Warning, reason, &note).await;
        outcome.actions.push(action(key, format!("ValkeyCluster {}", key.name), What::Fail(note)));
        Ok(())
    }

    fn trouble_is_over(&self, about: &ObjectReference) {
        for reason in [reason::CONFLICT, reason::NOT_SUPPORTED, reason::FAILED] {
            self.context.events.over(about, reason);
        }
    }

    async fn tell_once(&self, about: &ObjectReference, kind: Kind, reason: &'static str, note: &str) {
        if self.dry_run {
            debug!(reason, "{note}");
        } else {
            self.context.events.publish_once(about, kind, reason, note).await;
        }
    }

    fn wait(&self, key: &Key, note: String, outcome: &mut Outcome) {
        outcome.waits = true;
        outcome.actions.push(action(key, format!("ValkeyCluster {}", key.name), What::Wait(note)));
    }
}

fn stands_down(foreign: &[Foreign]) -> bool {
    foreign.iter().any(|foreign| foreign.field.starts_with("`status."))
}

fn asks_for_gateway(entry: &Entry) -> bool {
    entry.cluster.as_ref().and_then(|cluster| cluster.access.as_ref()).is_some_and(|access| access.gateway)
}

fn about(key: &Key, uid: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("valkey.io/v1alpha1".to_owned()),
        kind: Some("ValkeyCluster".to_owned()),
        namespace: Some(key.namespace.to_string()),
        name: Some(key.name.to_string()),
        uid: Some(uid.to_owned()),
        ..ObjectReference::default()
    }
}

fn action(key: &Key, target: String, what: What) -> Action {
    Action { namespace: key.namespace.to_string(), cluster: key.name.to_string(), target, what }
}

fn published(endpoints: &[Endpoints]) -> String {
    match endpoints.iter().map(|shard| shard.ports.len()).sum::<usize>() {
        0 => "`status.externalEndpoints` is given up".to_owned(),
        nodes => format!("published the ports of {nodes} nodes"),
    }
}

fn targets(entry: &Entry) -> Option<(&'static str, usize)> {
    let access = entry.cluster.as_ref()?.access.as_ref()?;
    let published = &entry.cluster.as_ref()?.published;
    let kind = match entry.services.values().next() {
        _ if access.gateway => "gateway",
        Some(service) if service.node_port => "node_port",
        _ => "service_port",
    };
    Some((kind, published.iter().map(|shard| shard.ports.len()).sum()))
}
