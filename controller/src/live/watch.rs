//! Watches of Kubernetes, which keep the [`World`] up to date. Each goes on for ever: after errors with backoff, after the API server
//! was away from a fresh list.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::{Arc, Once};

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::UnboundedSender;
use tracing::{debug, warn};

use super::facts::{ANNOUNCE, NodeKey, POD_LABELS, Ref};
use super::record::Told;
use super::resources;
use super::state::spread;
use super::world::{Change, World};
use crate::context::Context;
use crate::gateway_api::{ASKED_AGAIN_AFTER, GatewayApi};
use crate::pending::Pending;
use crate::words;

/// What the loop is told.
pub(crate) enum Signal {
    /// Something about these nodes is new.
    Changed(Vec<NodeKey>),
    /// One watch, of this namespace or of all, has seen all that was there when it began.
    Listed(Watched, Option<String>),
    /// What servers were told before this start.
    Recorded(HashMap<NodeKey, Told>),
    /// Whether this API server has the routes of Gateway API.
    GatewayApi(bool),
}

/// What a watch looks at, where it matters that all of it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    Services,
    /// Pods and ValkeyClusters.
    Servers,
}

/// What an object that is there says. `None`: it does not concern us.
pub(crate) type Read<K> = fn(&K) -> Option<Change>;

/// Where changes go.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) context: Context,
    pub(crate) world: Arc<World>,
    pub(crate) signals: UnboundedSender<Signal>,
}

impl Sink {
    fn take(&self, change: Change) {
        let nodes = self.world.take(change);
        if !nodes.is_empty() {
            self.tell(Signal::Changed(nodes));
        }
    }

    fn tell(&self, signal: Signal) {
        // The loop is gone only when the program ends.
        let _ = self.signals.send(signal);
    }

    /// Starts the watches of the Services; returns those that are awaited.
    pub(crate) fn services(&self) -> Pending {
        let Context { scope, client, .. } = &self.context;
        let selector = format!("{}={}", ANNOUNCE.0, ANNOUNCE.1);
        for (api, namespace) in scope.apis::<Service>(client).into_iter().zip(scope.namespaces()) {
            self.spawn(api, labelled(&selector), resources::service, self.listed(Watched::Services, namespace));
        }
        Pending::of(scope, 1)
    }

    /// Starts the watches of pods and ValkeyClusters; returns those that are awaited.
    pub(crate) fn servers(&self) -> Pending {
        let Context { scope, client, .. } = &self.context;
        for (api, namespace) in scope.apis::<Pod>(client).into_iter().zip(scope.namespaces()) {
            self.spawn(api, labelled(POD_LABELS[0]), resources::pod, self.listed(Watched::Servers, namespace));
        }
        for (api, namespace) in resources::dynamic_apis(scope, client, &resources::clusters()).into_iter().zip(scope.namespaces()) {
            self.spawn(api, watcher::Config::default(), resources::cluster, self.listed(Watched::Servers, namespace));
        }
        Pending::of(scope, 2)
    }

    /// Tells the first time that all was seen: a CRD that is removed and installed again lets all be seen twice.
    fn listed(&self, watched: Watched, namespace: Option<String>) -> impl Fn(Seen) + Send + Sync + use<> {
        let (sink, once) = (self.clone(), Once::new());
        move |seen| {
            if let Seen::All = seen {
                once.call_once(|| sink.tell(Signal::Listed(watched, namespace.clone())));
            }
        }
    }

    /// Starts the watch of the Kubernetes nodes.
    pub(crate) fn machines(&self) {
        self.spawn(Api::<Node>::all(self.context.client.clone()), watcher::Config::default(), resources::machine, |_| ());
    }

    /// Starts the watch of one namespace's Gateways. While the API server does not know them, it is asked again and again: they may
    /// be installed later.
    pub(crate) fn gateways(&self, namespace: String) {
        let api = Api::namespaced_with(self.context.client.clone(), &namespace, &resources::gateways());
        self.spawn(api, watcher::Config::default(), resources::gateway, |_| ());
    }

    /// Asks again and again whether Gateway API is there: it may be installed later, or removed.
    pub(crate) fn gateway_api(&self) {
        let sink = self.clone();
        tokio::spawn(async move {
            let api = GatewayApi::new(sink.context.client.clone());
            loop {
                match api.is_served().await {
                    Ok(served) => sink.tell(Signal::GatewayApi(served)),
                    Err(error) => debug!("whether Gateway API is there: {}", words::of_client(&error)),
                }
                if !sink.context.sleep(spread(ASKED_AGAIN_AFTER, fastrand::f64())).await {
                    return;
                }
            }
        });
    }

    fn spawn<K>(&self, api: Api<K>, config: watcher::Config, read: Read<K>, seen: impl Fn(Seen) + Send + Sync + 'static)
    where
        K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    {
        let sink = self.clone();
        let stop = self.context.stop.clone();
        tokio::spawn(async move { stop.run_until_cancelled(follow(api, config, read, &sink, seen)).await });
    }
}

/// What a watch tells beside the objects.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    /// All that was there when the watch began.
    All,
    /// The API server does not know such objects.
    Unknown,
}

async fn follow<K>(api: Api<K>, config: watcher::Config, read: Read<K>, sink: &Sink, seen: impl Fn(Seen) + Send + Sync)
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let url = api.resource_url().to_owned();
    let mut stream = std::pin::pin!(watcher(api, config).default_backoff());
    // What would have to be taken back, should the object go or say something else: only names, not the objects.
    let mut known: HashMap<Ref, Change> = HashMap::new();
    let mut listed: HashSet<Ref> = HashSet::new();
    // Whether the objects' absence was told, and their presence: each once, until it is otherwise.
    let mut told: Option<Seen> = None;
    let mut tell = |what: Seen| {
        if told.replace(what) != Some(what) {
            seen(what);
        }
    };
    loop {
        match stream.try_next().await {
            Ok(None) => return,
            Ok(Some(event)) => match event {
                watcher::Event::Init => listed.clear(),
                watcher::Event::InitApply(object) => {
                    listed.insert(Ref::of(object.meta()));
                    apply(&mut known, &object, read, sink);
                }
                watcher::Event::InitDone => {
                    let gone = known.extract_if(|name, _| !listed.contains(name));
                    gone.for_each(|(_, removal)| sink.take(removal));
                    listed = HashSet::new();
                    tell(Seen::All);
                }
                watcher::Event::Apply(object) => apply(&mut known, &object, read, sink),
                watcher::Event::Delete(object) => {
                    known.remove(&Ref::of(object.meta())).into_iter().for_each(|removal| sink.take(removal));
                }
            },
            Err(error) if unknown(&error) => tell(Seen::Unknown),
            Err(error) if words::is_expired(&error) => debug!("{url}: {}", words::of_watch(&error)),
            Err(error) => warn!("{url}: {}", words::of_watch(&error)),
        }
    }
}

fn apply<K: Resource>(known: &mut HashMap<Ref, Change>, object: &K, read: Read<K>, sink: &Sink) {
    let name = Ref::of(object.meta());
    let change = read(object);
    let removal = change.as_ref().map(Change::removal);
    // A Service that was given to another node leaves the one that it had.
    let before = match &removal {
        Some(removal) => known.insert(name, removal.clone()),
        None => known.remove(&name),
    };
    if let Some(before) = before.filter(|before| Some(before) != removal.as_ref()) {
        sink.take(before);
    }
    if let Some(change) = change {
        sink.take(change);
    }
}

fn labelled(selector: &str) -> watcher::Config {
    watcher::Config::default().labels(selector)
}

/// Whether the API server said that there is no such kind of object.
fn unknown(error: &watcher::Error) -> bool {
    matches!(
        error,
        watcher::Error::InitialListFailed(kube::Error::Api(status)) | watcher::Error::WatchStartFailed(kube::Error::Api(status))
            if status.code == 404
    )
}
