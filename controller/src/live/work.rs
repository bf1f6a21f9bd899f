//! The loop: which node is due, and what follows from a pass over it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::time::{DelayQueue, delay_queue};
use tracing::{debug, error, warn};

use super::facts::{NodeKey, Ref};
use super::pass::Passes;
use super::record::{Record, Told, now};
use super::saver::Saver;
use super::secrets::Secrets;
use super::state::{Outcome, State, spread};
use super::tell::Tell;
use super::watch::{Signal, Sink, Watched};
use super::world::Needs;
use crate::context::Context;
use crate::pending::Pending;
use crate::words;

/// So many servers are spoken to at a time: more than are likely to hang.
const AT_ONCE: usize = 128;
/// A Service that is deleted may be on its way back with another port: only then is the announcement taken back.
const WITHDRAW_AFTER: Duration = Duration::from_secs(3);
/// How often metrics are counted, and lasting conditions looked at.
const COUNT_EVERY: Duration = Duration::from_secs(5);
/// Passes that have begun may end within this time when the program stops.
const GRACE: Duration = Duration::from_secs(2);
/// Pause before the record is read again after an error.
const RETRY_RECORD: Duration = Duration::from_secs(5);

/// A pass that has ended: what it came to, and how long it took.
type Done = (Outcome, Duration);

/// Works until [`Context::stop`].
pub(crate) async fn run(context: Context) {
    let (sender, signals) = unbounded_channel();
    let record = Record::new(context.client.clone(), &context.live.home);
    context.stop.run_until_cancelled(read_record(&record, &context, &sender)).await;
    let sink = Sink { context: context.clone(), world: Arc::default(), signals: sender };
    Work::new(sink, record).run(signals).await;
}

/// Reads what was told before this start: nothing is announced or taken back before it is known.
async fn read_record(record: &Record, context: &Context, sender: &UnboundedSender<Signal>) {
    loop {
        match record.load(&context.scope).await {
            Ok(told) => {
                let _ = sender.send(Signal::Recorded(told));
                return;
            }
            Err(error) => {
                let home = &context.live.home;
                warn!("the record of what servers were told cannot be read in namespace {home}: {}", words::of_client(&error));
                tokio::time::sleep(RETRY_RECORD).await;
            }
        }
    }
}

struct Work {
    sink: Sink,
    passes: Passes,
    tell: Tell,
    saver: Saver,
    nodes: BTreeMap<NodeKey, State>,
    due: DelayQueue<NodeKey>,
    due_keys: HashMap<NodeKey, delay_queue::Key>,
    running: JoinSet<Done>,
    running_keys: HashMap<Id, NodeKey>,
    /// Changed while a pass was under way.
    again: BTreeSet<NodeKey>,
    started: Needs,
    /// Watches that have not shown yet all that there is; `None`: not started.
    services_pending: Option<Pending>,
    servers_pending: Option<Pending>,
}

impl Work {
    fn new(sink: Sink, record: Record) -> Self {
        let context = &sink.context;
        let world = Arc::clone(&sink.world);
        let secrets = Arc::new(Secrets::new(context.client.clone()));
        Self {
            passes: Passes { world: Arc::clone(&world), secrets, set: true },
            tell: Tell::new(context.clone(), world),
            saver: Saver::start(record, context.stop.clone()),
            nodes: BTreeMap::new(),
            due: DelayQueue::new(),
            due_keys: HashMap::new(),
            running: JoinSet::new(),
            running_keys: HashMap::new(),
            again: BTreeSet::new(),
            started: Needs::default(),
            services_pending: None,
            servers_pending: None,
            sink,
        }
    }

    async fn run(mut self, mut signals: UnboundedReceiver<Signal>) {
        let stop = self.sink.context.stop.clone();
        self.services_pending = Some(self.sink.services());
        let mut count = interval(COUNT_EVERY);
        count.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(signal) = signals.recv() => self.take(signal),
                Some(due) = self.due.next(), if self.running.len() < AT_ONCE => self.begin(due.into_inner()),
                Some(done) = self.running.join_next_with_id() => self.end(done),
                _ = count.tick() => self.tell.count(&self.nodes),
            }
        }
        let rest = async {
            while let Some(done) = self.running.join_next_with_id().await {
                self.end(done);
            }
        };
        let _ = timeout(GRACE, rest).await;
        self.saver.end().await;
    }

    fn take(&mut self, signal: Signal) {
        match signal {
            Signal::Changed(keys) => keys.into_iter().for_each(|key| self.changed(key)),
            Signal::Recorded(told) => self.recorded(told),
            Signal::GatewayApi(served) => self.tell.gateway_api(served),
            Signal::Listed(watched, namespace) => {
                let pending = match watched {
                    Watched::Services => &mut self.services_pending,
                    Watched::Servers => &mut self.servers_pending,
                };
                pending.iter_mut().for_each(|pending| pending.listed(&namespace));
                let left: Vec<NodeKey> = self.nodes.keys().filter(|key| !self.sink.world.has_service(key)).cloned().collect();
                left.into_iter().for_each(|key| self.changed(key));
            }
        }
        self.watch();
    }

    /// What the controller told before it was started this time.
    fn recorded(&mut self, told: HashMap<NodeKey, Told>) {
        for (key, told) in told {
            self.nodes.insert(key, State::recorded(Some(told)));
        }
    }

    /// Starts the watches that are called for and do not run yet.
    fn watch(&mut self) {
        let needs = self.sink.world.needs();
        if (needs.servers || !self.nodes.is_empty()) && self.servers_pending.is_none() {
            self.servers_pending = Some(self.sink.servers());
        }
        if needs.machines && !self.started.machines {
            self.started.machines = true;
            self.sink.machines();
        }
        if needs.gateway_api && !self.started.gateway_api {
            self.started.gateway_api = true;
            self.sink.gateway_api();
        }
        for namespace in needs.gateways {
            if self.started.gateways.insert(namespace.clone()) {
                self.sink.gateways(namespace);
            }
        }
    }

    /// Whether what was not seen in a namespace is not there.
    fn all_seen(&self, namespace: &str) -> bool {
        let seen = |pending: &Option<Pending>| pending.as_ref().is_some_and(|pending| !pending.holds(namespace));
        seen(&self.services_pending) && seen(&self.servers_pending)
    }

    fn changed(&mut self, key: NodeKey) {
        if self.sink.world.has_service(&key) {
            self.nodes.entry(key.clone()).or_default().changed();
            self.schedule(key, Duration::ZERO);
        } else if self.all_seen(&key.cluster.namespace)
            && let Some(state) = self.nodes.get_mut(&key)
        {
            state.changed();
            self.schedule(key, WITHDRAW_AFTER);
        }
    }

    fn schedule(&mut self, key: NodeKey, pause: Duration) {
        if self.running_keys.values().any(|running| *running == key) {
            self.again.insert(key);
        } else if let Some(due) = self.due_keys.get(&key) {
            self.due.reset(due, pause);
        } else {
            let due = self.due.insert(key.clone(), pause);
            self.due_keys.insert(key, due);
        }
    }

    fn begin(&mut self, key: NodeKey) {
        self.due_keys.remove(&key);
        let Some(state) = self.nodes.get(&key) else { return };
        let (passes, told, of) = (self.passes.clone(), state.told.clone(), key.clone());
        let pass = self.running.spawn(async move {
            let begun = Instant::now();
            let outcome = passes.pass(&of, told.as_ref()).await;
            (outcome, begun.elapsed())
        });
        self.running_keys.insert(pass.id(), key);
    }

    fn end(&mut self, done: Result<(Id, Done), JoinError>) {
        let id = done.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(key) = self.running_keys.remove(&id) else { return };
        match done {
            Ok((_, (outcome, took))) => self.follow(&key, &outcome, took),
            Err(error) => {
                error!("the pass over {}/{key} ended badly: {error}", key.cluster.namespace);
                self.schedule(key.clone(), self.sink.context.live.every);
            }
        }
        if self.again.remove(&key) {
            self.changed(key);
        }
    }

    /// What follows from a pass.
    fn follow(&mut self, key: &NodeKey, outcome: &Outcome, took: Duration) {
        let Some(state) = self.nodes.get_mut(key) else { return };
        let (pause, news) = state.after(key, outcome, Instant::now(), self.sink.context.live.every);
        let write = state.remember(outcome, now());
        self.tell.passed(key, outcome, took, news);
        self.tell.services(key, self.sink.world.services(key));
        debug!(cluster = %key.cluster, node = %key, ?pause, "{outcome:?}");
        if matches!(outcome, Outcome::Withdrawn { .. }) {
            // A Service that came back meanwhile has made the node due again.
            self.nodes.remove(key);
        } else {
            self.schedule(key.clone(), spread(pause, fastrand::f64()));
        }
        if write {
            self.save(&key.cluster);
        }
    }

    fn save(&self, cluster: &Ref) {
        let first = NodeKey { cluster: cluster.clone(), shard: 0, node: 0 };
        let of_cluster = self.nodes.range(first..).take_while(|(key, _)| key.cluster == *cluster);
        let page = of_cluster.filter_map(|(key, state)| Some((key.clone(), state.told.clone()?))).collect();
        self.saver.save((cluster.clone(), page));
    }
}
