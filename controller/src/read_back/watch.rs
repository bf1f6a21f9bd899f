//! Keeps the store up to date: one watch for each kind and namespace, begun again with backoff when it ends.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::UnboundedSender;
use tracing::{debug, info, warn};

use super::facts::Key;
use super::store::{Slot, Store, Watched};
use crate::words;

/// Labels that every Service of a shard and every ValkeyNode has.
pub(super) const SHARD_LABELS: &str = "valkey.io/cluster,valkey.io/shard-index";
/// Objects of one page of a list: all of a page are in memory at once.
pub(super) const PAGE: u32 = 200;

/// What a watch tells the loop.
#[derive(Debug)]
pub(super) enum News {
    /// Facts of this cluster changed.
    Changed(Key),
    /// All objects of a watch of this namespace (none: of all) were listed, for the first time.
    Listed(Option<String>),
}

/// One watch.
pub(super) struct Watch<K> {
    /// What is watched.
    pub(super) api: Api<K>,
    /// Labels to select by; empty: all.
    pub(super) labels: &'static str,
    /// The namespace of `api`; none: all.
    pub(super) namespace: Option<String>,
    /// Where facts go.
    pub(super) store: Arc<Mutex<Store>>,
    /// Where news goes.
    pub(super) news: UnboundedSender<News>,
}

impl<K> Watch<K>
where
    K: Watched + Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    /// Watches until nobody wants the news any more.
    pub(super) async fn run(self) {
        let config = watcher::Config::default().labels(self.labels).page_size(PAGE);
        let mut events = watcher(self.api.clone(), config).default_backoff().boxed();
        let mut listing = HashSet::new();
        let mut listed_once = false;
        let mut trouble: Option<String> = None;
        while let Some(event) = events.next().await {
            let news = match event {
                Ok(event) => {
                    if trouble.take().is_some() {
                        info!(kind = %K::kind(&()), "watching again");
                    }
                    let done = matches!(event, Event::InitDone);
                    let mut news = self.take(event, &mut listing);
                    if done && !listed_once {
                        listed_once = true;
                        news.push(News::Listed(self.namespace.clone()));
                    }
                    news
                }
                Err(error) => {
                    tell(&K::kind(&()), &error, &mut trouble);
                    Vec::new()
                }
            };
            if news.into_iter().any(|news| self.news.send(news).is_err()) {
                return;
            }
        }
    }

    fn take(&self, event: Event<K>, listing: &mut HashSet<(Key, Slot)>) -> Vec<News> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match event {
            Event::Init => {
                listing.clear();
                Vec::new()
            }
            Event::InitApply(object) => {
                let place = store.put(&object);
                let key = place.as_ref().map(|(key, _)| key.clone());
                listing.extend(place);
                key.into_iter().collect()
            }
            Event::InitDone => store.keep_only::<K>(self.namespace.as_deref(), &std::mem::take(listing)),
            Event::Apply(object) => store.put(&object).map(|(key, _)| key).into_iter().collect(),
            Event::Delete(object) => match object.slot() {
                Some((key, slot)) => {
                    store.remove(&key, &slot);
                    vec![key]
                }
                None => Vec::new(),
            },
        };
        changed.into_iter().map(News::Changed).collect()
    }
}

/// Says once what is wrong, not on each try.
fn tell(kind: &str, error: &watcher::Error, trouble: &mut Option<String>) {
    let text = words::of_watch(error);
    if words::is_expired(error) || trouble.as_ref() == Some(&text) {
        debug!(kind, "still not watching: {text}");
    } else {
        warn!(kind, "not watching, will try again: {text}");
        *trouble = Some(text);
    }
}
