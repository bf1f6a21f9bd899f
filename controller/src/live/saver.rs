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
                    // What is refused of one cluster may be fine of the next; a server that does not answer is not asked for all.
                    if !matches!(error, kube::Error::Api(_)) {
                        break;
                    }
                }
            }
        }
        if failing && stop.is_cancelled() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fake_api::{context, failure};
    use crate::live::facts::Login;
    use crate::live::record::{Run, now};

    fn page(cluster: &str) -> Page {
        let login = Login { username: "u".into(), secret: "s".into(), key: "k".into() };
        let told = Told { target: "192.0.2.1:30001".into(), since: now(), run: Run { pod: "p".into(), restarts: 0 }, login };
        (Ref::new("team", cluster), BTreeMap::from([(NodeKey::new("team", cluster, 0, 0), told)]))
    }

    #[tokio::test]
    async fn a_page_that_is_refused_keeps_no_other_from_being_written() {
        let clusters: Vec<String> = (0..20).map(|number| format!("cache-{number}")).collect();
        let (context, log) = context(|asked| match asked.path.contains("live.team.cache-7?") {
            true => failure(422, "invalid", json!([])),
            false => (200, asked.body.clone()),
        });
        let saver = Saver::start(Record::new(context.client.clone(), "home"), context.stop.clone());
        clusters.iter().for_each(|cluster| saver.save(page(cluster)));
        tokio::time::sleep(GATHER * 3).await;
        saver.end().await;
        let written = log.take("PATCH");
        for cluster in &clusters {
            assert!(written.iter().any(|asked| asked.path.contains(&format!("live.team.{cluster}?"))), "{cluster}: {written:#?}");
        }
    }
}
