//! Passwords and CAs, read by name.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use tokio::time::Instant;

use super::facts::Ref;
use super::source::Missing;
use crate::words;

/// Nodes of one cluster share their Secrets: they are read once for all of them.
const FRESH: Duration = Duration::from_secs(30);

/// By Secret and key: when it was read, and the value.
type Cache = HashMap<(Ref, String), (Instant, Vec<u8>)>;

/// Reads Secrets by name. Never lists or watches them, so that a right to `get` some of them is enough.
pub(crate) struct Secrets {
    client: Client,
    cache: Mutex<Cache>,
}

impl Secrets {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, cache: Mutex::default() }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a key.
    ///
    /// # Errors
    /// What is missing, in words.
    pub(crate) async fn value(&self, secret: &Ref, key: &str) -> Result<Vec<u8>, Missing> {
        let id = (secret.clone(), key.to_owned());
        let now = Instant::now();
        {
            let mut cache = self.cache();
            cache.retain(|_, (read, _)| now.duration_since(*read) < FRESH);
            if let Some((_, value)) = cache.get(&id) {
                return Ok(value.clone());
            }
        }
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &secret.namespace);
        let read = api.get(&secret.name).await.map_err(|error| missing(secret, &error))?;
        let value = read.data.unwrap_or_default().remove(key).ok_or_else(|| Missing::Wait(format!("Secret {secret} has no key {key}")))?;
        self.cache().insert(id, (now, value.0.clone()));
        Ok(value.0)
    }

    /// What was read of this Secret may be out of date.
    pub(crate) fn forget(&self, secret: &Ref) {
        self.cache().retain(|(name, _), _| name != secret);
    }
}

fn missing(secret: &Ref, error: &kube::Error) -> Missing {
    match error {
        kube::Error::Api(status) if status.code == 404 => Missing::Wait(format!("Secret {secret} is not there yet")),
        kube::Error::Api(status) if status.code == 403 => Missing::Mistake(format!(
            "the controller may not read Secret {secret}: give its ServiceAccount the verb `get` on this Secret, by a Role in namespace {}",
            secret.namespace
        )),
        other => Missing::Wait(format!("Secret {secret} cannot be read: {}", words::of_client(other))),
    }
}
