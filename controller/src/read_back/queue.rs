//! The loop: which cluster is looked at when. Events that come together are one pass, a cluster is never in two passes at
//! once, and one that failed is tried again later and later.

use std::collections::HashMap;
use std::time::Duration;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use kube::runtime::scheduler::{ScheduleRequest, scheduler};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::{debug, error, info, warn};

use super::facts::Key;
use super::pass::{Outcome, Pass};
use super::watch::News;
use crate::metrics::Job;
use crate::pending::Pending;
use crate::words;

/// Events of this time are one pass: an operator writes in bursts.
const GATHERED: Duration = Duration::from_millis(100);
/// All clusters are looked at again, whatever the watches say.
const SLOW: Duration = Duration::from_secs(300);
/// Passes at the same time.
const PASSES: usize = 8;
/// First and longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// Kind of exposure and number of nodes, if there are any; whether something is waited for.
type Tally = (Option<(&'static str, usize)>, bool);
type Ended = Result<(Id, (Result<Outcome, kube::Error>, Duration)), JoinError>;

struct Work {
    pass: Pass,
    requests: UnboundedSender<ScheduleRequest<Key>>,
    running: HashMap<Id, Key>,
    passes: JoinSet<(Result<Outcome, kube::Error>, Duration)>,
    failures: HashMap<Key, u32>,
    tallies: HashMap<Key, Tally>,
    /// Watches that have not listed everything yet. Until then a missing Service may just not have been seen.
    unlisted: Pending,
}

/// Works until the context is stopped; then lets the passes end that have begun.
pub(super) async fn work(pass: Pass, mut news: UnboundedReceiver<News>, unlisted: Pending) {
    let (requests, due) = unbounded();
    let mut due = std::pin::pin!(scheduler(due));
    let stop = pass.context.stop.clone();
    let mut work = Work {
        pass,
        requests,
        running: HashMap::new(),
        passes: JoinSet::new(),
        failures: HashMap::new(),
        tallies: HashMap::new(),
        unlisted,
    };
    let mut slow = interval(SLOW);
    slow.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let (running, unlisted, room) = (&work.running, &work.unlisted, work.passes.len() < PASSES);
        let mut next =
            due.as_mut().hold_unless(|key| room && !unlisted.holds(&key.namespace) && running.values().all(|running| running != key));
        tokio::select! {
            () = stop.cancelled() => break,
            Some(news) = news.recv() => work.hear(news),
            Some(ended) = work.passes.join_next_with_id() => work.end(ended),
            Some(key) = next.next() => work.begin(key),
            _ = slow.tick() => work.all(),
        }
    }
    while let Some(ended) = work.passes.join_next_with_id().await {
        work.end(ended);
    }
}

impl Work {
    fn hear(&mut self, news: News) {
        match news {
            News::Changed(key) => self.at(key, GATHERED),
            News::Listed(namespace) => {
                self.unlisted.listed(&namespace);
                if self.unlisted.is_empty() {
                    info!("all ValkeyClusters, their Services and nodes are known: reading back");
                }
            }
        }
    }

    fn all(&self) {
        let keys = self.pass.store.lock().unwrap_or_else(std::sync::PoisonError::into_inner).keys();
        // Not all at once.
        keys.into_iter().for_each(|key| self.at(key, jittered(SLOW / 10)));
    }

    fn at(&self, key: Key, pause: Duration) {
        // The receiver lives as long as this does.
        let _ = self.requests.unbounded_send(ScheduleRequest { message: key, run_at: Instant::now() + pause });
    }

    fn begin(&mut self, key: Key) {
        let (pass, of) = (self.pass.clone(), key.clone());
        let task = self.passes.spawn(async move {
            let begun = Instant::now();
            let result = pass.run(&of).await;
            (result, begun.elapsed())
        });
        self.running.insert(task.id(), key);
    }

    fn end(&mut self, ended: Ended) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(key) = self.running.remove(&id) else { return };
        let (result, took) = match ended {
            Ok((_, ended)) => ended,
            Err(error) => {
                error!(cluster = %key, "the pass ended badly: {error}");
                return self.later(key, "the program has a fault");
            }
        };
        self.pass.context.metrics.reconciled(Job::ReadBack, result.is_ok(), took);
        match result {
            Ok(outcome) => {
                self.failures.remove(&key);
                if let Some(pause) = outcome.again {
                    self.at(key.clone(), jittered(pause));
                }
                self.tally(&key, &outcome);
                debug!(cluster = %key, ?took, "looked at");
            }
            Err(error) => {
                self.later(key, &words::of_client(&error));
            }
        }
    }

    /// After a failure: later each time.
    fn later(&mut self, key: Key, why: &str) {
        let failures = self.failures.entry(key.clone()).or_default();
        *failures = failures.saturating_add(1);
        let pause = jittered(PAUSES.0.saturating_mul(1 << (*failures).min(10)).min(PAUSES.1));
        warn!(cluster = %key, ?pause, "trying again later: {why}");
        self.at(key, pause);
    }

    /// Sets the gauges from what each cluster's last pass found.
    fn tally(&mut self, key: &Key, outcome: &Outcome) {
        let tally = (outcome.targets, outcome.waits);
        if tally == (None, false) {
            self.tallies.remove(key);
        } else {
            self.tallies.insert(key.clone(), tally);
        }
        let metrics = &self.pass.context.metrics;
        for kind in ["node_port", "service_port", "gateway"] {
            let counts = self.tallies.values().filter_map(|(targets, _)| *targets).filter(|(of, _)| *of == kind);
            metrics.set_targets(Job::ReadBack, kind, counts.map(|(_, count)| count).sum());
        }
        metrics.set_waiting(Job::ReadBack, self.tallies.values().filter(|(_, waits)| *waits).count());
    }
}

/// Half of `pause` to all of it, by chance: what failed together is not tried again together.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(fastrand::f64().mul_add(0.5, 0.5))
}
