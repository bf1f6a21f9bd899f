//! What `/metrics` tells. Labels are bounded: no names of objects, no addresses.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

type Labels<const N: usize> = [(&'static str, &'static str); N];

/// The two jobs, as a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Job {
    /// Ports into the operator's API.
    ReadBack,
    /// Announcements of running servers.
    Live,
}

impl Job {
    fn label(self) -> &'static str {
        match self {
            Job::ReadBack => "read_back",
            Job::Live => "live",
        }
    }
}

/// Counters of this process. Cheap to clone.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    reconciles: Family<Labels<2>, Counter>,
    durations: Family<Labels<1>, Histogram>,
    writes: Family<Labels<2>, Counter>,
    targets: Family<Labels<2>, Gauge>,
    waiting: Family<Labels<1>, Gauge>,
    leader: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("expose_valkey");
        let reconciles = Family::default();
        let durations = Family::new_with_constructor(histogram as fn() -> Histogram);
        let writes = Family::default();
        let targets = Family::default();
        let waiting = Family::default();
        let leader = Gauge::default();
        registry.register("reconciles", "Passes over one cluster, by job and result", reconciles.clone());
        registry.register("reconcile_duration_seconds", "Time of one pass over one cluster, by job", durations.clone());
        registry.register("writes", "What was written: objects applied, servers told, by job and kind", writes.clone());
        registry.register("targets", "Nodes for which clients are sent to a known place, by job and kind of exposure", targets.clone());
        registry.register("waiting", "Nodes or clusters for which something is waited for, by job", waiting.clone());
        registry.register("leader", "1 if this replica does the work", leader.clone());
        Self { registry: Arc::new(registry), reconciles, durations, writes, targets, waiting, leader }
    }
}

impl Metrics {
    /// A pass over one cluster ended.
    pub fn reconciled(&self, job: Job, ok: bool, took: Duration) {
        let result = if ok { "ok" } else { "error" };
        self.reconciles.get_or_create(&[("job", job.label()), ("result", result)]).inc();
        self.durations.get_or_create(&[("job", job.label())]).observe(took.as_secs_f64());
    }

    /// Something was written; `kind` is a word of the code (`valkey_cluster_status`, `valkey_node`, `server`).
    pub fn wrote(&self, job: Job, kind: &'static str) {
        self.writes.get_or_create(&[("job", job.label()), ("kind", kind)]).inc();
    }

    /// So many nodes are published or announced now, by kind of exposure (`node_port`, `load_balancer`, `gateway`, …).
    pub fn set_targets(&self, job: Job, kind: &'static str, count: usize) {
        self.targets.get_or_create(&[("job", job.label()), ("kind", kind)]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// For so many nodes or clusters something is waited for.
    pub fn set_waiting(&self, job: Job, count: usize) {
        self.waiting.get_or_create(&[("job", job.label())]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// This replica works no longer: what it last found is no fact any more, and another one counts now.
    pub fn forget_gauges(&self) {
        self.targets.clear();
        self.waiting.clear();
    }

    /// Whether this replica holds the lease.
    pub fn set_leader(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// The text of `/metrics`.
    pub fn text(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            Err(_) => String::new(),
        }
    }
}

fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 4.0, 9))
}
