use std::net::Ipv4Addr;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use tokio::time::Instant;

use super::{Outcome, State, spread};
use crate::live::facts::{Login, NodeKey};
use crate::live::record::Run;
use crate::live::server::Failure;
use crate::live::source::{Announcement, Host, Missing};

const EVERY: Duration = Duration::from_secs(180);

fn announces(port: u16, changed: bool) -> Outcome {
    let announcement = Announcement { host: Host::Addresses { v4: Some(Ipv4Addr::new(192, 0, 2, 1)), v6: None }, port, tls: false };
    let changes = if changed { vec![("cluster-announce-client-port", port.to_string())] } else { vec![] };
    let login = Login { username: "_operator".into(), secret: "internal-cache-system-passwords".into(), key: "_operator".into() };
    Outcome::Announces { announcement, changes, pod: "valkey-cache-0-1-0".into(), run: Run { pod: "u1".into(), restarts: 0 }, login }
}

fn unreachable() -> Outcome {
    Outcome::Fails(Failure::Unreachable { address: "198.51.100.7:6379".parse().unwrap(), why: "connection refused".into() })
}

/// Passes at these seconds with these outcomes; what is said at each.
fn said(passes: &[(u64, Outcome)]) -> Vec<String> {
    let begun = Instant::now();
    let key = NodeKey::new("team", "cache", 0, 1);
    let mut state = State::default();
    let mut pass = |(second, outcome): &(u64, Outcome)| {
        let (_, news) = state.after(&key, outcome, begun + Duration::from_secs(*second), EVERY);
        news.map(|news| format!("{second} {}: {}", news.reason, news.note))
    };
    passes.iter().filter_map(&mut pass).collect()
}

#[test]
fn each_change_is_told_once() {
    assert_eq!(
        said(&[(0, announces(30001, true)), (180, announces(30001, false)), (200, announces(30002, true))]),
        [
            "0 Announced: cache-0-1 sends clients to 192.0.2.1:30001: told to pod valkey-cache-0-1-0",
            "200 Announced: cache-0-1 sends clients to 192.0.2.1:30002: told to pod valkey-cache-0-1-0",
        ]
    );
}

#[test]
fn a_pod_that_starts_is_no_news_and_one_that_never_does_is() {
    assert_eq!(said(&[(0, unreachable()), (1, unreachable()), (3, unreachable()), (4, announces(30001, false))]), [""; 0]);
    assert_eq!(
        said(&[(0, unreachable()), (9, unreachable()), (11, unreachable()), (60, unreachable())]),
        ["11 ServerUnreachable: server of cache-0-1 does not answer at 198.51.100.7:6379: connection refused"]
    );
}

#[test]
fn what_a_person_must_do_is_said_at_once_and_once() {
    let denied = || Outcome::Fails(Failure::Login("_operator".into()));
    assert_eq!(
        said(&[(0, denied()), (1, denied()), (60, denied()), (120, announces(30001, true)), (180, denied())]),
        [
            "0 ServerRefusesUser: server of cache-0-1 refuses to sign in user \"_operator\": the user is unknown to it, switched off, or has another password",
            "120 Announced: cache-0-1 sends clients to 192.0.2.1:30001: told to pod valkey-cache-0-1-0",
            "180 ServerRefusesUser: server of cache-0-1 refuses to sign in user \"_operator\": the user is unknown to it, switched off, or has another password",
        ]
    );
}

#[test]
fn what_is_waited_for_is_told_when_it_lasts() {
    let waits = |words: &str| Outcome::Waits(Missing::Wait(words.into()));
    assert_eq!(
        said(&[
            (0, waits("load balancer of valkey-cache-0-1 has no address yet")),
            (20, waits("load balancer of valkey-cache-0-1 has no address yet")),
            (30, waits("load balancer of valkey-cache-0-1 has no address yet")),
        ]),
        ["20 WaitingToAnnounce: cache-0-1 waits to be announced: load balancer of valkey-cache-0-1 has no address yet"]
    );
}

#[test]
fn pauses_grow_and_stay_short_for_a_pod_that_may_be_starting() {
    let key = NodeKey::new("team", "cache", 0, 1);
    let now = Instant::now();
    let pauses = |outcome: Outcome, passes: usize| {
        let mut state = State::default();
        let all: Vec<_> = (0..passes).map(|_| state.after(&key, &outcome, now, EVERY).0.as_millis()).collect();
        all
    };
    assert_eq!(pauses(Outcome::Fails(Failure::Login("a".into())), 10)[..4], [300, 600, 1200, 2400]);
    assert_eq!(pauses(Outcome::Fails(Failure::Login("a".into())), 100)[99], 60_000);
    assert!(pauses(unreachable(), 30).iter().all(|pause| *pause <= 1000));
    assert_eq!(pauses(unreachable(), 100)[99], 60_000);
}

#[test]
fn a_change_makes_the_next_pause_short_again() {
    let key = NodeKey::new("team", "cache", 0, 1);
    let mut state = State::default();
    for _ in 0..50 {
        state.after(&key, &Outcome::Fails(Failure::Login("a".into())), Instant::now(), EVERY);
    }
    state.changed();
    assert_eq!(state.after(&key, &unreachable(), Instant::now(), EVERY).0, Duration::from_millis(300));
}

#[test]
fn jitter_spreads_by_a_quarter() {
    let second = Duration::from_secs(1);
    assert_eq!([spread(second, 0.0), spread(second, 0.5), spread(second, 1.0)].map(|pause| pause.as_millis()), [750, 1000, 1250]);
}

#[test]
fn since_when_is_kept_while_the_target_stays() {
    let (early, late) = (Timestamp::from_second(1000).unwrap(), Timestamp::from_second(2000).unwrap());
    let mut state = State::default();
    assert!(state.remember(&announces(30001, true), early));
    assert!(!state.remember(&announces(30001, false), late), "nothing new, nothing to write");
    assert!(!state.remember(&unreachable(), late), "a server that is away is still the one that was told");
    assert_eq!(state.told.as_ref().map(|told| told.since), Some(early));
    assert!(state.remember(&announces(30002, true), late));
    assert_eq!(state.told.as_ref().map(|told| told.since), Some(late));
    assert!(state.remember(&Outcome::Withdrawn { changes: vec![] }, late));
    assert_eq!(state.told, None);
}
