//! What the loop tells: events of the ValkeyClusters, and metrics.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use tokio::time::Instant;
use tracing::{info, warn};

use super::facts::{Kind, NodeKey, Ref};
use super::reasons::NO_GATEWAY_API;
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
    /// Namespaces whose Gateways are asked for, though the API server knows no Gateways.
    without_gateway_api: BTreeSet<String>,
    /// Causes of trouble that an event of the cluster told already, with the time: a missing right is one event, not one a node.
    causes: HashMap<(Ref, String), Instant>,
    /// Clusters whose event said so.
    said_so: BTreeSet<Ref>,
}

impl Tell {
    pub(crate) fn new(context: Context, world: Arc<World>) -> Self {
        Self { context, world, without_gateway_api: BTreeSet::new(), causes: HashMap::new(), said_so: BTreeSet::new() }
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
        match self.about(&key.cluster) {
            None => warn!(cluster = %key.cluster, reason, "{note}"),
            // The loop does not wait for the API server.
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
    pub(crate) async fn count(&mut self, nodes: &BTreeMap<NodeKey, State>) {
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
        self.speak_of_gateway_api().await;
    }

    async fn speak_of_gateway_api(&mut self) {
        let clusters = self.without_gateway_api.iter().flat_map(|namespace| self.world.clusters_of_gateways(namespace));
        let news: Vec<_> = clusters.filter(|cluster| !self.said_so.contains(cluster)).collect();
        for cluster in news {
            let Some(about) = self.about(&cluster) else { continue };
            let note = "the address of a Gateway is to be announced, and the Gateway API is not installed: install its CRDs, or give each node a hostname";
            self.context.events.publish(&about, events::Kind::Warning, NO_GATEWAY_API, note).await;
            self.said_so.insert(cluster);
        }
    }

    pub(crate) fn no_gateway_api(&mut self, namespace: String) {
        self.without_gateway_api.insert(namespace);
    }

    pub(crate) fn gateway_api(&mut self, namespace: &str) {
        self.without_gateway_api.remove(namespace);
        for cluster in self.world.clusters_of_gateways(namespace) {
            self.said_so.remove(&cluster);
        }
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
