//! Of two replicas one works: the holder of a Lease.
//!
//! Of our own, as no kept library does it safely with this client: kube-leader-election takes and renews a Lease without its
//! resourceVersion, so that two replicas can both believe to hold it; kubert and kube-coordinate are bound to older clients.
//! Here every write carries the resourceVersion, and a Lease is free when it did not change for its whole duration by the
//! clock of the one who looks: clocks of two machines are never compared.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client, Error};
use tokio::time::{Instant, timeout};

/// A Lease that was not renewed for so long may be taken.
pub const DURATION: Duration = Duration::from_secs(15);
/// So often it is renewed, or looked at.
pub const PERIOD: Duration = Duration::from_secs(3);
/// Not renewed for so long, its holder stops: well before another one may take it.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// Jobs that were stopped have so long to end what they are at.
pub const GRACE: Duration = Duration::from_secs(4);
/// An answer that takes longer is no answer.
const ANSWER: Duration = Duration::from_secs(4);

/// A candidate for one Lease.
pub struct Candidate {
    leases: Api<Lease>,
    name: String,
    holder: String,
    /// The Lease as last seen, by its resourceVersion, and since when it is so.
    seen: Option<(String, Instant)>,
}

/// What may be done with a Lease that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// It is ours: go on.
    Renew,
    /// It is free.
    Take,
    /// Another one holds it.
    Wait,
}

impl Candidate {
    /// For the Lease `name` of `namespace`; `holder` names this process and no other.
    pub fn new(client: Client, namespace: &str, name: &str, holder: &str) -> Self {
        Self { leases: Api::namespaced(client, namespace), name: name.to_owned(), holder: holder.to_owned(), seen: None }
    }

    /// Takes the Lease or renews it, if that can be within `limit`; answers whether it is held.
    ///
    /// # Errors
    /// When the API server does not answer, or refuses.
    pub async fn turn(&mut self, limit: Duration) -> Result<bool, Error> {
        match timeout(limit.min(ANSWER), self.turn_slowly()).await {
            Ok(result) => result,
            Err(_) => Err(Error::Service("the API server did not answer in time".into())),
        }
    }

    async fn turn_slowly(&mut self) -> Result<bool, Error> {
        let Some(lease) = self.leases.get_opt(&self.name).await? else { return self.create().await };
        let version = lease.metadata.resource_version.clone().unwrap_or_default();
        let since = match &self.seen {
            Some((seen, since)) if *seen == version => *since,
            _ => Instant::now(),
        };
        self.seen = Some((version, since));
        match turn(lease.spec.as_ref(), &self.holder, since.elapsed()) {
            Turn::Wait => Ok(false),
            turn => self.replace(lease, turn).await,
        }
    }

    async fn create(&mut self) -> Result<bool, Error> {
        let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
        let lease = Lease { metadata, spec: Some(self.spec(0, now())) };
        self.held(self.leases.create(&PostParams::default(), &lease).await)
    }

    async fn replace(&mut self, lease: Lease, turn: Turn) -> Result<bool, Error> {
        let old = lease.spec.unwrap_or_default();
        let spec = match turn {
            Turn::Renew => self.spec(old.lease_transitions.unwrap_or(0), old.acquire_time.unwrap_or_else(now)),
            Turn::Take | Turn::Wait => self.spec(old.lease_transitions.unwrap_or(0).saturating_add(1), now()),
        };
        // With the resourceVersion that was read: whoever was faster wins.
        let lease = Lease { metadata: lease.metadata, spec: Some(spec) };
        self.held(self.leases.replace(&self.name, &PostParams::default(), &lease).await)
    }

    fn held(&mut self, written: Result<Lease, Error>) -> Result<bool, Error> {
        match written {
            Ok(lease) => {
                self.seen = lease.metadata.resource_version.map(|version| (version, Instant::now()));
                Ok(true)
            }
            Err(Error::Api(status)) if status.code == 409 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives the Lease back, so that another replica need not wait. Fails in silence: then it runs out.
    pub async fn release(&mut self) {
        let _ = timeout(ANSWER, self.release_slowly()).await;
    }

    async fn release_slowly(&self) -> Result<(), Error> {
        let Some(mut lease) = self.leases.get_opt(&self.name).await? else { return Ok(()) };
        let Some(spec) = lease.spec.as_mut().filter(|spec| spec.holder_identity.as_deref() == Some(&self.holder)) else { return Ok(()) };
        spec.holder_identity = Some(String::new());
        self.leases.replace(&self.name, &PostParams::default(), &lease).await.map(drop)
    }

    fn spec(&self, transitions: i32, acquired: MicroTime) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            lease_transitions: Some(transitions),
            acquire_time: Some(acquired),
            renew_time: Some(now()),
            ..LeaseSpec::default()
        }
    }
}

fn now() -> MicroTime {
    MicroTime(Timestamp::now())
}

/// `unchanged`: for so long the Lease was seen to be as it is.
fn turn(spec: Option<&LeaseSpec>, holder: &str, unchanged: Duration) -> Turn {
    let current = spec.and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default();
    let duration = spec.and_then(|spec| spec.lease_duration_seconds).and_then(|seconds| u64::try_from(seconds).ok());
    match current {
        "" => Turn::Take,
        current if current == holder => Turn::Renew,
        _ if unchanged >= duration.map_or(DURATION, Duration::from_secs) => Turn::Take,
        _ => Turn::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_by(holder: &str) -> LeaseSpec {
        LeaseSpec { holder_identity: Some(holder.to_owned()), lease_duration_seconds: Some(15), ..LeaseSpec::default() }
    }

    #[test]
    fn a_lease_of_another_is_taken_only_after_its_whole_duration_without_a_change() {
        assert_eq!(turn(Some(&held_by("a")), "b", Duration::from_secs(14)), Turn::Wait);
        assert_eq!(turn(Some(&held_by("a")), "b", Duration::from_secs(15)), Turn::Take);
    }

    #[test]
    fn a_lease_that_was_given_back_is_taken_at_once() {
        assert_eq!(turn(Some(&held_by("")), "b", Duration::ZERO), Turn::Take);
        assert_eq!(turn(None, "b", Duration::ZERO), Turn::Take);
    }

    #[test]
    fn the_holder_renews() {
        assert_eq!(turn(Some(&held_by("b")), "b", Duration::from_secs(60)), Turn::Renew);
    }

    #[test]
    fn a_holder_stops_before_another_one_starts() {
        assert!(DEADLINE + GRACE < DURATION, "jobs may use all of their grace");
    }
}
