//! What the loop tells: events of the ValkeyClusters, and metrics.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tokio::time::Instant;
use tracing::{info, warn};

use super::facts::{ANNOUNCE, Kind, NodeKey, Ref};
use super::reasons::{GATEWAY_API, NO_GATEWAY_API, SEVERAL_SERVICES};
use super::resources;
use super::source::Missing;
use super::state::{News, Outcome, State};
use super::world::World;
use crate::context::Context;
use crate::events;
use crate::metrics::Job;

/// For so long the nodes of a cluster share an event about the same cause.
const SAME_CAUSE: Duration = Duration::from_secs(600);

pub(crate) struct Tell {
    context: Context,
    world: Arc<World>,
    /// Whether the API server has the routes of Gateway API; `None`: nobody has asked yet.
    gateway_api: Option<bool>,
    /// Causes of trouble that an event of the cluster told already, with the time: a missing right is one event, not one a node.
    causes: HashMap<(Ref, String), Instant>,
    /// Clusters whose event said that it has not.
    said_so: BTreeSet<Ref>,
    /// Nodes with more than one Service, and those that an event named.
    several: HashMap<NodeKey, Vec<String>>,
}

impl Tell {
    pub(crate) fn new(context: Context, world: Arc<World>) -> Self {
        Self { context, world, gateway_api: None, causes: HashMap::new(), said_so: BTreeSet::new(), several: HashMap::new() }
    }

    /// A pass has ended.
    pub(crate) fn passed(&mut self, key: &NodeKey, outcome: &Outcome, took: Duration, news: Option<News>) {
        let (ok, told) = match outcome {
            Outcome::Announces { changes, .. } | Outcome::Withdrawn { changes } => (true, !changes.is_empty()),
            Outcome::Waits(Missing::Wait(_)) => (true, false),
            Outcome::Waits(Missing::Mistake(_)) | Outcome::Fails(_) => (false, false),
        };
        self.context.metrics.reconciled(Job::Live, ok, took);
        if told {
            self.context.metrics.wrote(Job::Live, "server");
        }
        if matches!(outcome, Outcome::Announces { .. } | Outcome::Withdrawn { .. }) {
            self.causes.retain(|(cluster, _), _| *cluster != key.cluster);
        }
        let Some(News { kind, reason, note, cause }) = news else { return };
        if let Some(cause) = cause
            && !self.is_news(key, cause)
        {
            info!(cluster = %key.cluster, reason, "{note}");
            return;
        }
        self.publish(&key.cluster, kind, reason, note);
    }

    /// Speaks of a node with more than one Service, once for each set of them: only the first one counts.
    pub(crate) fn services(&mut self, key: &NodeKey, names: Vec<String>) {
        let [first, others @ ..] = names.as_slice() else {
            self.several.remove(key);
            return;
        };
        if others.is_empty() {
            self.several.remove(key);
        } else if self.several.get(key) != Some(&names) {
            let others = others.join(", ");
            let note = format!(
                "{key} has more than one Service that is to be announced: {first} counts, as the first by name, and not {others}. Take the label {}={} from those that are not meant",
                ANNOUNCE.0, ANNOUNCE.1
            );
            self.publish(&key.cluster, events::Kind::Warning, SEVERAL_SERVICES, note);
            self.several.insert(key.clone(), names);
        }
    }

    /// Publishes an event of a cluster. The loop does not wait for the API server.
    fn publish(&self, cluster: &Ref, kind: events::Kind, reason: &'static str, note: String) {
        match self.about(cluster) {
            None => warn!(%cluster, reason, "{note}"),
            Some(about) => {
                let events = self.context.events.clone();
                tokio::spawn(async move { events.publish(&about, kind, reason, &note).await });
            }
        }
    }

    fn is_news(&mut self, key: &NodeKey, cause: String) -> bool {
        let now = Instant::now();
        self.causes.retain(|_, told| now.duration_since(*told) < SAME_CAUSE);
        self.causes.insert((key.cluster.clone(), cause), now).is_none()
    }

    /// Brings the gauges up to date, and speaks of what lasts.
    pub(crate) fn count(&mut self, nodes: &BTreeMap<NodeKey, State>) {
        let mut targets = [("node_port", 0), ("load_balancer", 0), ("gateway", 0)];
        for key in nodes.iter().filter(|(_, state)| state.told.is_some()).map(|(key, _)| key) {
            let kind = match self.world.kind(key) {
                Some(Kind::NodePort) => "node_port",
                Some(Kind::LoadBalancer) => "load_balancer",
                Some(Kind::Internal) => "gateway",
                None => continue,
            };
            targets.iter_mut().filter(|(name, _)| *name == kind).for_each(|(_, count)| *count += 1);
        }
        for (kind, count) in targets {
            self.context.metrics.set_targets(Job::Live, kind, count);
        }
        let waiting = nodes.values().filter(|state| state.trouble.is_some()).count();
        self.context.metrics.set_waiting(Job::Live, waiting);
        self.speak_of_gateway_api();
    }

    fn speak_of_gateway_api(&mut self) {
        let Some(served) = self.gateway_api else { return };
        // A cluster that was not seen is told of later, one that went and came back again.
        let ask: BTreeSet<Ref> = self.world.behind_gateways().into_iter().filter(|cluster| self.world.uid(cluster).is_some()).collect();
        if served {
            for cluster in ask.intersection(&self.said_so) {
                self.publish(cluster, events::Kind::Normal, GATEWAY_API, "Gateway API is served now".to_owned());
            }
            self.said_so.clear();
            return;
        }
        let note =
            "the cluster's nodes are behind a Gateway, but neither TCPRoute nor TLSRoute is served here: install the CRDs of Gateway API";
        for cluster in ask.difference(&self.said_so) {
            self.publish(cluster, events::Kind::Warning, NO_GATEWAY_API, note.to_owned());
        }
        self.said_so = ask;
    }

    /// Whether the API server has the routes of Gateway API.
    pub(crate) fn gateway_api(&mut self, served: bool) {
        self.gateway_api = Some(served);
    }

    /// The ValkeyCluster as events name it; `None`: it was not seen.
    fn about(&self, cluster: &Ref) -> Option<ObjectReference> {
        let resource = resources::clusters();
        Some(ObjectReference {
            api_version: Some(resource.api_version),
            kind: Some(resource.kind),
            namespace: Some(cluster.namespace.clone()),
            name: Some(cluster.name.clone()),
            uid: Some(self.world.uid(cluster)?),
            ..ObjectReference::default()
        })
    }
}

#[cfg(test)]
mod tests;
