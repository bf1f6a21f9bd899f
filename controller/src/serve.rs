//! The lifetime of the program: health port, signals, Lease, and the two jobs while the Lease is held.

use std::io;
use std::time::Duration;

use kube::Client;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::NAME;
use crate::args::Run;
use crate::context::{Context, Scope};
use crate::events::Events;
use crate::health::{self, Health};
use crate::leader::{Candidate, DEADLINE, GRACE, PERIOD};
use crate::metrics::Metrics;
use crate::{live, read_back, words};

/// Runs until SIGTERM or SIGINT.
///
/// # Errors
/// When the health port cannot be opened, signals cannot be heard, or one of the two jobs has ended by itself.
pub async fn serve(client: Client, namespace: &str, scope: Scope, args: &Run) -> io::Result<()> {
    let stop = CancellationToken::new();
    stop_on_signals(stop.clone())?;
    let (health, metrics) = (Health::default(), Metrics::default());
    let listener = health::listen(args.listen).await?;
    let pages = tokio::spawn(health::serve(listener, health.clone(), metrics.clone(), stop.clone()));

    // A pod that was replaced under its old name is another holder.
    let holder = format!("{}_{:08x}", args.identity, fastrand::u32(..));
    let events = Events::new(client.clone(), args.identity.clone());
    let context = Context { client: client.clone(), scope, events, metrics, live: args.live(namespace), stop };
    info!(version = env!("CARGO_PKG_VERSION"), scope = ?context.scope, "{NAME} starts");
    let result = if args.no_leader_election {
        alone(&context, &health, Jobs::start(&context)).await
    } else {
        let namespace = args.lease_namespace.as_deref().unwrap_or(namespace);
        let candidate = Candidate::new(client, namespace, &args.lease_name, &holder);
        take_turns(&context, &health, candidate, Jobs::start).await
    };
    info!("stopped");
    context.stop.cancel();
    let _ = pages.await;
    result
}

fn stop_on_signals(stop: CancellationToken) -> io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => info!("SIGTERM: stopping"),
            _ = interrupt.recv() => info!("SIGINT: stopping"),
        }
        stop.cancel();
    });
    Ok(())
}

/// Works without a Lease.
async fn alone(context: &Context, health: &Health, jobs: Jobs) -> io::Result<()> {
    let mut result = Ok(());
    loop {
        health.sign(context.client.apiserver_version().await.is_ok());
        if !context.sleep(PERIOD).await {
            break;
        }
        result = jobs.work();
        if result.is_err() {
            break;
        }
    }
    jobs.end().await;
    result
}

/// Works while the Lease is held; gives it back at the end.
async fn take_turns(context: &Context, health: &Health, mut candidate: Candidate, start: impl Fn(&Context) -> Jobs) -> io::Result<()> {
    let mut jobs: Option<Jobs> = None;
    let mut renewed = Instant::now();
    let mut trouble = false;
    let mut result = Ok(());
    loop {
        // From before the request: what counts is when the API server wrote it, at the earliest.
        let begun = Instant::now();
        let turn = candidate.turn(left(jobs.is_some(), renewed)).await;
        health.sign(turn.is_ok());
        match &turn {
            Ok(true) if jobs.is_none() => {
                info!("holding the lease: this replica works");
                jobs = Some(start(context));
            }
            Ok(true) => {}
            Ok(false) => end(context, &mut jobs, "another replica took the lease").await,
            Err(error) if !trouble => warn!("the lease cannot be taken or renewed: {}", words::of_client(error)),
            Err(_) => {}
        }
        trouble = turn.is_err();
        if let Ok(true) = turn {
            renewed = begun;
        }
        if renewed.elapsed() >= DEADLINE {
            end(context, &mut jobs, "the lease could not be renewed in time").await;
        }
        context.metrics.set_leader(jobs.is_some());
        if !context.sleep(PERIOD.min(left(jobs.is_some(), renewed))).await {
            break;
        }
        result = jobs.as_ref().map_or(Ok(()), Jobs::work);
        if result.is_err() {
            break;
        }
    }
    if jobs.is_some() {
        end(context, &mut jobs, "stopping").await;
        candidate.release().await;
    }
    result
}

/// Time until the holder must have renewed; without end for who holds nothing.
fn left(holds: bool, renewed: Instant) -> Duration {
    if holds { DEADLINE.saturating_sub(renewed.elapsed()) } else { Duration::MAX }
}

async fn end(context: &Context, jobs: &mut Option<Jobs>, why: &str) {
    if let Some(jobs) = jobs.take() {
        info!("this replica stops working: {why}");
        jobs.end().await;
        context.metrics.forget_gauges();
    }
}

/// Both jobs, for as long as they may work.
struct Jobs {
    stop: CancellationToken,
    read_back: tokio::task::JoinHandle<()>,
    live: tokio::task::JoinHandle<()>,
}

impl Jobs {
    fn start(context: &Context) -> Self {
        let stop = context.stop.child_token();
        let context = Context { stop: stop.clone(), ..context.clone() };
        Self { stop, read_back: tokio::spawn(read_back::run(context.clone())), live: tokio::spawn(live::run(context)) }
    }

    /// Whether both are at work.
    ///
    /// # Errors
    /// One has ended by itself, which is a fault of the program: it has to be started again, or nobody would do that job.
    fn work(&self) -> io::Result<()> {
        match (self.read_back.is_finished(), self.live.is_finished()) {
            (false, false) => Ok(()),
            _ if self.stop.is_cancelled() => Ok(()),
            (true, _) => Err(io::Error::other("read-back ended by itself: this is a fault of the program")),
            (false, true) => Err(io::Error::other("live announcement ended by itself: this is a fault of the program")),
        }
    }

    async fn end(mut self) {
        self.stop.cancel();
        let both = async { (&mut self.read_back).await.and((&mut self.live).await) };
        if timeout(GRACE, both).await.is_err() {
            self.read_back.abort();
            self.live.abort();
        }
    }
}

#[cfg(test)]
mod tests;
