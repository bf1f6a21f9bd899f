//! Writes the record beside the loop, so that a slow API server holds no server up.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::facts::{NodeKey, Ref};
use super::record::{Record, Told};
use crate::words;

/// What is new within this time is written together.
const GATHER: Duration = Duration::from_millis(500);
/// At the end.
const GRACE: Duration = Duration::from_millis(1500);
/// After an error.
const PAUSE: Duration = Duration::from_secs(5);

/// What one cluster's nodes were told.
type Page = (Ref, BTreeMap<NodeKey, Told>);

/// Takes pages; the newest of a cluster counts.
pub(crate) struct Saver {
    pages: UnboundedSender<Page>,
    task: JoinHandle<()>,
}

impl Saver {
    pub(crate) fn start(record: Record, stop: CancellationToken) -> Self {
        let (pages, received) = unbounded_channel();
        Self { pages, task: tokio::spawn(save(record, received, stop)) }
    }

    pub(crate) fn save(&self, page: Page) {
        // Closed only when the program ends.
        let _ = self.pages.send(page);
    }

    /// Writes what is left, and ends. An API server that does not answer is not waited for.
    pub(crate) async fn end(mut self) {
        drop(self.pages);
        if timeout(GRACE, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

async fn save(record: Record, mut received: UnboundedReceiver<Page>, stop: CancellationToken) {
    let mut pages: HashMap<Ref, BTreeMap<NodeKey, Told>> = HashMap::new();
    let mut open = true;
    let mut failing = false;
    while open || !pages.is_empty() {
        if pages.is_empty() {
            match received.recv().await {
                Some(page) => drop(pages.insert(page.0, page.1)),
                None => return,
            }
        }
        // While the program ends there is no time to gather.
        let _ = timeout(if failing { PAUSE } else { GATHER }, stop.cancelled()).await;
        while let Ok(page) = received.try_recv() {
            pages.insert(page.0, page.1);
        }
        open = !received.is_closed();
        failing = false;
        for cluster in pages.keys().cloned().collect::<Vec<_>>() {
            let Some(page) = pages.get(&cluster) else { continue };
            match record.save(&cluster, page).await {
                Ok(()) => drop(pages.remove(&cluster)),
                Err(error) => {
                    warn!(%cluster, "what its servers were told cannot be written down: {}", words::of_client(&error));
                    failing = true;
                    break;
                }
            }
        }
        if failing && stop.is_cancelled() {
            return;
        }
    }
}
