//! What is remembered of a node between two passes: when the next one is due, and what was said already. Pure.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use tokio::time::Instant;

use super::facts::{Login, NodeKey};
use super::reasons;
use super::record::{Run, Told};
use super::server::Failure;
use super::settings::Change;
use super::source::{Announcement, Missing};
use crate::events::Kind;

/// What a pass over a node came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its server announces this.
    Announces {
        announcement: Announcement,
        /// What it had to be told just now.
        changes: Vec<Change>,
        pod: String,
        run: Run,
        login: Login,
    },
    /// Something is missing.
    Waits(Missing),
    /// The server could not be told.
    Fails(Failure),
    /// It announces no longer what we told it.
    Withdrawn {
        /// What it had to be told just now.
        changes: Vec<Change>,
    },
}

/// An event to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) kind: Kind,
    pub(crate) reason: &'static str,
    pub(crate) note: String,
    /// What is behind it, without the node's name: other nodes of the cluster may have the same trouble.
    pub(crate) cause: Option<String>,
}

/// One node's memory.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// What its server was told, as far as we know.
    pub(crate) told: Option<Told>,
    /// What is in the way, and since when.
    pub(crate) trouble: Option<Trouble>,
    /// Passes in a row that did not get through.
    failures: u32,
}

/// What is in the way of an announcement.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    pub(crate) words: String,
    since: Instant,
    said: bool,
}

/// What comes by itself within this time is not worth an event: each pod that starts refuses connections for a while.
const USUAL: Duration = Duration::from_secs(10);
/// The first pause after a failure, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(300);
/// The longest pause while a pod may be starting, so that its server is told soon after it listens.
const STARTING_PAUSE: Duration = Duration::from_secs(1);
/// How many pauses a starting pod gets.
const STARTING: u32 = 60;
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl State {
    /// A node of which is known only what its server was told before.
    pub(crate) fn recorded(told: Option<Told>) -> Self {
        Self { told, ..Self::default() }
    }

    /// Something about the node has changed: what failed before may work now.
    pub(crate) fn changed(&mut self) {
        self.failures = 0;
    }

    /// Remembers what the server was told by a pass; whether that has to be written down.
    pub(crate) fn remember(&mut self, outcome: &Outcome, now: Timestamp) -> bool {
        let told = match outcome {
            Outcome::Announces { announcement, run, login, .. } => {
                let target = announcement.to_string();
                let since = self.told.as_ref().filter(|told| told.target == target).map_or(now, |told| told.since);
                Some(Told { target, since, run: run.clone(), login: login.clone() })
            }
            Outcome::Withdrawn { .. } => None,
            Outcome::Waits(_) | Outcome::Fails(_) => return false,
        };
        let differs = self.told != told;
        self.told = told;
        differs
    }

    /// Takes in what a pass came to. Returns how long to wait for the next one, before jitter, and what there is to say.
    pub(crate) fn after(&mut self, key: &NodeKey, outcome: &Outcome, now: Instant, every: Duration) -> (Duration, Option<News>) {
        match outcome {
            Outcome::Announces { announcement, changes, pod, .. } => {
                self.failures = 0;
                self.trouble = None;
                let note = || format!("{key} sends clients to {announcement}: told to pod {pod}");
                (every, (!changes.is_empty()).then(|| News { kind: Kind::Normal, reason: reasons::ANNOUNCED, note: note(), cause: None }))
            }
            Outcome::Withdrawn { changes } => {
                self.failures = 0;
                self.trouble = None;
                let note = || format!("{key} sends clients to its own address again: its Service is not announced live any more");
                (every, (!changes.is_empty()).then(|| News { kind: Kind::Normal, reason: reasons::WITHDRAWN, note: note(), cause: None }))
            }
            Outcome::Waits(missing) => {
                let (kind, reason, at_once, how) = match missing {
                    Missing::Wait(_) => (Kind::Normal, reasons::WAITING, false, "waits to be announced"),
                    Missing::Mistake(_) => (Kind::Warning, reasons::CANNOT, true, "cannot be announced"),
                };
                let said = self.trouble(missing.to_string(), at_once, now);
                let note = format!("{key} {how}: {missing}");
                (self.pause(false).min(every), said.then_some(News { kind, reason, note, cause: Some(missing.to_string()) }))
            }
            Outcome::Fails(failure) => {
                let said = self.trouble(failure.to_string(), !failure.passes(), now);
                let note = format!("server of {key} {failure}");
                let news = News { kind: Kind::Warning, reason: reason(failure), note, cause: Some(failure.to_string()) };
                (self.pause(failure.passes()).min(every), said.then_some(news))
            }
        }
    }

    /// Remembers trouble; whether it is time to speak of it, once.
    fn trouble(&mut self, words: String, at_once: bool, now: Instant) -> bool {
        let trouble = match self.trouble.take() {
            Some(same) if same.words == words => same,
            // Trouble that changes its words still lasts: `since` stays.
            Some(other) => Trouble { words, said: false, ..other },
            None => Trouble { words, since: now, said: false },
        };
        let say = !trouble.said && (at_once || now.duration_since(trouble.since) >= USUAL);
        self.trouble = Some(Trouble { said: trouble.said || say, ..trouble });
        say
    }

    fn pause(&mut self, may_be_starting: bool) -> Duration {
        let doubled = FIRST_PAUSE.saturating_mul(1_u32.checked_shl(self.failures.min(16)).unwrap_or(u32::MAX));
        let longest = if may_be_starting && self.failures < STARTING { STARTING_PAUSE } else { LONGEST_PAUSE };
        self.failures = self.failures.saturating_add(1);
        doubled.min(longest)
    }
}

fn reason(failure: &Failure) -> &'static str {
    match failure {
        Failure::Unreachable { .. } | Failure::NotTls(_) => reasons::UNREACHABLE,
        Failure::Certificate(_) => reasons::CERTIFICATE,
        Failure::Login(_) | Failure::Denied(_) => reasons::USER,
        Failure::Lacks(_) => reasons::TOO_OLD,
        Failure::Refused(_) => reasons::REFUSES,
    }
}

/// Spreads a pause by a quarter to both sides; `random` from 0 to 1.
pub(crate) fn spread(pause: Duration, random: f64) -> Duration {
    pause.mul_f64(0.75 + random.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests;
