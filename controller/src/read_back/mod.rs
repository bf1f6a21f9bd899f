//! Read-back: ports that Kubernetes allocated, into the API of an operator that has external access of its own.
//!
//! ```text
//! watch ─► wire ─► facts ─► store ─► decide (endpoints, rolling, owners) ─► pass ─► apply
//!          parsed  kept     by       pure: what to write, what is            one     server-side,
//!                           cluster  missing, what is another's             cluster  own fields only
//! ```

mod apply;
mod decide;
mod endpoints;
mod facts;
mod owners;
mod pass;
mod queue;
mod rolling;
#[cfg(test)]
mod scenarios;
mod store;
mod table;
mod watch;
mod wire;

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use kube::api::ListParams;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::context::Context;
use crate::gateway_api::GatewayApi;
use crate::pending::Pending;
use crate::report::{Action, Row, What};
use crate::words;

use pass::Pass;
use store::{Store, Watched};
use watch::{News, PAGE, SHARD_LABELS, Watch};
use wire::{ShardService, ValkeyCluster, ValkeyNode};

/// Keeps status and ports right until [`Context::stop`].
pub async fn run(context: Context) {
    let pass = Pass::new(context, false);
    let mut watches = JoinSet::new();
    let news = start_watches(&pass, &mut watches);
    let pending = Pending::of(&pass.context.scope, KINDS);
    queue::work(pass, news, pending).await;
}

/// One pass over all clusters of the scope; writes nothing in a dry run.
///
/// # Errors
/// When the API server cannot be read. What goes wrong with one cluster is an action of its own.
pub async fn once(context: &Context, dry_run: bool) -> Result<Vec<Action>, kube::Error> {
    let pass = Pass::new(context.clone(), dry_run);
    read(&pass).await?;
    let mut keys = pass.store.lock().unwrap_or_else(PoisonError::into_inner).keys();
    keys.sort();
    let mut actions = Vec::new();
    for key in keys {
        match pass.run(&key).await {
            Ok(outcome) => actions.extend(outcome.actions),
            Err(error) => actions.push(Action {
                namespace: key.namespace.to_string(),
                cluster: key.name.to_string(),
                target: format!("ValkeyCluster {}", key.name),
                what: What::Fail(words::of_client(&error)),
            }),
        }
    }
    Ok(actions)
}

/// What the operator's API says of every node that is reached from outside.
///
/// # Errors
/// When the API server cannot be read.
pub async fn status(context: &Context) -> Result<Vec<Row>, kube::Error> {
    let pass = Pass::new(context.clone(), true);
    read(&pass).await?;
    let store = pass.store.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(table::rows(&store))
}

impl Pass {
    fn new(context: Context, dry_run: bool) -> Self {
        let gateway_api = GatewayApi::new(context.client.clone());
        Self { context, store: Arc::default(), gateway_api, dry_run }
    }
}

/// Kinds that are watched in each namespace.
const KINDS: usize = 3;

/// Starts a watch for each kind and namespace; answers with their news.
fn start_watches(pass: &Pass, tasks: &mut JoinSet<()>) -> UnboundedReceiver<News> {
    let (sender, receiver) = unbounded_channel();
    start::<ValkeyCluster>(pass, "", &sender, tasks);
    start::<ShardService>(pass, SHARD_LABELS, &sender, tasks);
    start::<ValkeyNode>(pass, SHARD_LABELS, &sender, tasks);
    receiver
}

fn start<K>(pass: &Pass, labels: &'static str, news: &UnboundedSender<News>, tasks: &mut JoinSet<()>)
where
    K: Watched + Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    for (namespace, api) in apis::<K>(&pass.context) {
        let watch = Watch { api, labels, namespace, store: Arc::clone(&pass.store), news: news.clone() };
        tasks.spawn(watch.run());
    }
}

fn apis<K>(context: &Context) -> Vec<(Option<String>, Api<K>)>
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
{
    context.scope.namespaces().into_iter().zip(context.scope.apis(&context.client)).collect()
}

/// Reads everything once.
async fn read(pass: &Pass) -> Result<(), kube::Error> {
    list::<ValkeyCluster>(&pass.context, "", &pass.store).await?;
    list::<ShardService>(&pass.context, SHARD_LABELS, &pass.store).await?;
    list::<ValkeyNode>(&pass.context, SHARD_LABELS, &pass.store).await
}

async fn list<K>(context: &Context, labels: &str, store: &Mutex<Store>) -> Result<(), kube::Error>
where
    K: Watched + Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: Clone + DeserializeOwned + Debug,
{
    for (_, api) in apis::<K>(context) {
        let mut params = ListParams::default().labels(labels).limit(PAGE);
        loop {
            let page = match api.list(&params).await {
                Ok(page) => page,
                // Without the CRD there are no such objects.
                Err(kube::Error::Api(status)) if status.code == 404 => break,
                Err(error) => return Err(error),
            };
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            page.items.iter().for_each(|object| drop(store.put(object)));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => break,
            }
        }
    }
    Ok(())
}
