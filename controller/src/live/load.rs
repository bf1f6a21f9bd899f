//! Fills a [`World`] once, without watches.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::Api;
use kube::api::ListParams;
use serde::de::DeserializeOwned;

use super::facts::{ANNOUNCE, NodeKey, POD_LABELS};
use super::resources;
use super::watch::Read;
use super::world::World;
use crate::context::Context;

/// Reads what there is now; pods too where only these recorded nodes ask for them.
///
/// # Errors
/// When the API server cannot be read.
pub(crate) async fn world(context: &Context, mut recorded: impl Iterator<Item = &NodeKey>) -> Result<World, kube::Error> {
    let Context { client, scope, .. } = context;
    let world = World::default();
    let selector = format!("{}={}", ANNOUNCE.0, ANNOUNCE.1);
    for api in scope.apis::<Service>(client) {
        list(&world, &api, &selector, resources::service).await?;
    }
    let needs = world.needs();
    if needs.servers || recorded.next().is_some() {
        for api in scope.apis::<Pod>(client) {
            list(&world, &api, POD_LABELS[0], resources::pod).await?;
        }
        for api in resources::dynamic_apis(scope, client, &resources::clusters()) {
            list(&world, &api, "", resources::cluster).await?;
        }
    }
    if needs.machines {
        list(&world, &Api::<Node>::all(client.clone()), "", resources::machine).await?;
    }
    for namespace in needs.gateways {
        let api = Api::namespaced_with(client.clone(), &namespace, &resources::gateways());
        list(&world, &api, "", resources::gateway).await?;
    }
    Ok(world)
}

async fn list<K>(world: &World, api: &Api<K>, selector: &str, read: Read<K>) -> Result<(), kube::Error>
where
    K: Clone + DeserializeOwned + Debug,
{
    match api.list(&ListParams::default().labels(selector)).await {
        Ok(objects) => objects.items.iter().filter_map(read).for_each(|change| drop(world.take(change))),
        // Without the CRD there are no such objects.
        Err(kube::Error::Api(status)) if status.code == 404 => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
