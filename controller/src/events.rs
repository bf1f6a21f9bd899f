//! Events of Kubernetes, by which the controller tells what it did and what it waits for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::time::Instant;
use tracing::{info, warn};

use crate::NAME;
use crate::words;

/// A condition that was not seen for so long is news again.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);
/// The longest note that the API takes, in bytes.
const LONGEST_NOTE: usize = 1024;

/// How an event is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// All is as it should be.
    Normal,
    /// Somebody should look.
    Warning,
}

/// Publishes events, each condition once and not on every pass. Cheap to clone.
///
/// Not kube's `Recorder`: that one counts events of equal reason as one series and drops all notes but the first.
#[derive(Clone)]
pub struct Events {
    client: Client,
    instance: String,
    seen: Arc<Mutex<HashMap<Key, Instant>>>,
}

/// One condition of one object.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    object: String,
    reason: &'static str,
    note: String,
}

impl Events {
    /// Events that say they come from `instance`, the name of this replica.
    pub fn new(client: Client, instance: impl Into<String>) -> Self {
        Self { client, instance: instance.into(), seen: Arc::default() }
    }

    /// Publishes what happened just now, and logs it. An API server that refuses does not stop the caller.
    pub async fn publish(&self, about: &ObjectReference, kind: Kind, reason: &'static str, note: &str) {
        let object = name_of(about);
        match kind {
            Kind::Normal => info!(object, reason, "{note}"),
            Kind::Warning => warn!(object, reason, "{note}"),
        }
        let namespace = about.namespace.as_deref().unwrap_or("default");
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let event = event(about, kind, reason, note, &self.instance);
        if let Err(error) = events.create(&PostParams::default(), &event).await {
            warn!(object, reason, "the event could not be published: {}", words::of_client(&error));
        }
    }

    /// Publishes a condition that lasts: the first time that it is seen, not each time. Equal object, reason and note
    /// are one condition.
    pub async fn publish_once(&self, about: &ObjectReference, kind: Kind, reason: &'static str, note: &str) {
        if self.is_news(Key { object: key_of(about), reason, note: note.to_owned() }) {
            self.publish(about, kind, reason, note).await;
        }
    }

    /// The conditions of that reason are over: should one come again, it is news. Answers whether there was one.
    pub fn over(&self, about: &ObjectReference, reason: &'static str) -> bool {
        let object = key_of(about);
        let mut seen = self.lock();
        let before = seen.len();
        seen.retain(|key, _| key.object != object || key.reason != reason);
        seen.len() < before
    }

    fn is_news(&self, key: Key) -> bool {
        let now = Instant::now();
        let mut seen = self.lock();
        seen.retain(|_, last| now.duration_since(*last) < FORGOTTEN_AFTER);
        seen.insert(key, now).is_none()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Instant>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an event is about, from an object that was read or watched.
pub fn reference<K>(object: &K) -> ObjectReference
where
    K: kube::Resource,
    K::DynamicType: Default,
{
    object.object_ref(&K::DynamicType::default())
}

fn key_of(about: &ObjectReference) -> String {
    format!("{} {}", name_of(about), about.uid.as_deref().unwrap_or_default())
}

fn name_of(about: &ObjectReference) -> String {
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    format!("{} {}/{}", part(&about.kind), part(&about.namespace), part(&about.name))
}

fn event(about: &ObjectReference, kind: Kind, reason: &str, note: &str, instance: &str) -> Event {
    let kind = match kind {
        Kind::Normal => "Normal",
        Kind::Warning => "Warning",
    };
    Event {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", about.name.as_deref().unwrap_or(NAME))),
            namespace: Some(about.namespace.clone().unwrap_or_else(|| "default".to_owned())),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(Timestamp::now())),
        reporting_controller: Some(format!("valkey.io/{NAME}")),
        reporting_instance: Some(instance.to_owned()),
        action: Some(reason.to_owned()),
        reason: Some(reason.to_owned()),
        type_: Some(kind.to_owned()),
        note: Some(shortened(note)),
        regarding: Some(about.clone()),
        ..Event::default()
    }
}

fn shortened(note: &str) -> String {
    let end = (0..=LONGEST_NOTE.min(note.len())).rev().find(|end| note.is_char_boundary(*end)).unwrap_or(0);
    note.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_api::context;

    fn cluster() -> ObjectReference {
        ObjectReference {
            kind: Some("ValkeyCluster".into()),
            namespace: Some("prod".into()),
            name: Some("cache".into()),
            ..Default::default()
        }
    }

    #[tokio::test]
    async fn what_lasts_is_told_once_and_again_after_it_was_over() {
        let (context, log) = context(|_| unreachable!("only events are asked for"));
        let about = cluster();
        let tell = || context.events.publish_once(&about, Kind::Normal, "Waiting", "for a port");
        tell().await;
        tell().await;
        assert_eq!(log.take_events(), ["Waiting"]);
        context.events.over(&about, "Other");
        tell().await;
        assert_eq!(log.take_events(), Vec::<String>::new(), "another condition was over");
        context.events.over(&about, "Waiting");
        tell().await;
        assert_eq!(log.take_events(), ["Waiting"]);
    }

    #[tokio::test]
    async fn a_note_is_as_long_as_the_api_allows_and_ends_between_letters() {
        let (context, log) = context(|_| unreachable!("only events are asked for"));
        context.events.publish(&cluster(), Kind::Warning, "Long", &"é".repeat(600)).await;
        let events = log.take("POST");
        assert_eq!(events[0].body["note"], "é".repeat(512));
        assert_eq!(events[0].path, "/apis/events.k8s.io/v1/namespaces/prod/events?");
    }
}
