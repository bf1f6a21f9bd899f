//! What every part of the controller works with.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::NamespaceResourceScope;
use kube::{Api, Client, Resource};
use tokio_util::sync::CancellationToken;

use crate::events::Events;
use crate::metrics::Metrics;

/// Cheap to clone: all of it is shared.
#[derive(Clone)]
pub struct Context {
    /// The API server.
    pub client: Client,
    /// Where to look.
    pub scope: Scope,
    /// Publishes events of ValkeyClusters.
    pub events: Events,
    /// Counted for `/metrics`.
    pub metrics: Metrics,
    /// What live announcement was told by the command line.
    pub live: LiveOptions,
    /// Cancelled when the program has to stop, or has lost the lease: jobs finish what they are at and return.
    pub stop: CancellationToken,
}

/// What live announcement is told by the command line.
#[derive(Debug, Clone)]
pub struct LiveOptions {
    /// Every server is looked at that often, even though nothing has changed.
    pub every: Duration,
    /// Namespace of the controller's own objects: what servers were told is recorded there.
    pub home: String,
}

/// Which namespaces are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Cluster,
    /// These, of which there is at least one.
    Namespaces(BTreeSet<String>),
}

impl Scope {
    /// Whether this namespace is looked at.
    pub fn holds(&self, namespace: &str) -> bool {
        match self {
            Scope::Cluster => true,
            Scope::Namespaces(names) => names.contains(namespace),
        }
    }

    /// The namespaces, in the order of [`Scope::apis`]; `None`: all.
    pub fn namespaces(&self) -> Vec<Option<String>> {
        match self {
            Scope::Cluster => vec![None],
            Scope::Namespaces(names) => names.iter().cloned().map(Some).collect(),
        }
    }

    /// The APIs to list and watch so that the whole scope is seen: one, or one for each namespace.
    pub fn apis<K>(&self, client: &Client) -> Vec<Api<K>>
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        match self {
            Scope::Cluster => vec![Api::all(client.clone())],
            Scope::Namespaces(names) => names.iter().map(|name| Api::namespaced(client.clone(), name)).collect(),
        }
    }
}

impl Context {
    /// Waits for `duration`; false if the program has to stop before.
    pub async fn sleep(&self, duration: Duration) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => false,
            () = tokio::time::sleep(duration) => true,
        }
    }
}
