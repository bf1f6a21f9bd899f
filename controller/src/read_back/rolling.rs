//! In which order nodes get a new port. Pure.
//!
//! A new port is a new command of the server, so the operator restarts it. One node at a time: replicas before primaries,
//! so that a fault shows where it hurts least, and the next one when the last is Ready again.

use super::facts::Node;

/// What a node's `spec.externalAccessClientPort` should become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// As it is.
    Keep,
    /// This port.
    Port(u16),
    /// Absent: the field is given up.
    Release,
}

/// A node, its place and what it should become.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// Index of its shard.
    pub(super) shard: u32,
    /// Its index in the shard.
    pub(super) index: u32,
    /// What is known of it.
    pub(super) node: &'a Node,
    /// What it should become.
    pub(super) wanted: Wanted,
}

/// What to do now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is left to be done.
    Done,
    /// Change this node: its place among the candidates.
    Change(usize),
    /// Wait until this one is Ready again, so many are to follow.
    Wait {
        /// Its place among the candidates.
        on: usize,
        /// How many nodes still need a change.
        left: usize,
    },
}

/// The next step.
///
/// A node that is down already is changed before others are touched, and nobody waits for one that was never Ready.
pub(super) fn next(candidates: &[Candidate<'_>]) -> Step {
    let changes = |candidate: &Candidate<'_>| candidate.wanted != Wanted::Keep;
    let Some(first) = first_of(candidates, changes) else { return Step::Done };
    if let Some(down) = first_of(candidates, |candidate| changes(candidate) && !candidate.node.ready) {
        return Step::Change(down);
    }
    match first_of(candidates, |candidate| candidate.node.was_ready && !candidate.node.settled()) {
        Some(on) => Step::Wait { on, left: candidates.iter().filter(|candidate| changes(candidate)).count() },
        None => Step::Change(first),
    }
}

fn first_of(candidates: &[Candidate<'_>], condition: impl Fn(&Candidate<'_>) -> bool) -> Option<usize> {
    let chosen = candidates.iter().enumerate().filter(|(_, candidate)| condition(candidate));
    chosen.min_by_key(|(_, candidate)| (is_primary(candidate), candidate.shard, candidate.index)).map(|(place, _)| place)
}

/// Node 0 is the first primary, as long as the operator does not know better.
fn is_primary(candidate: &Candidate<'_>) -> bool {
    candidate.node.primary.unwrap_or(candidate.index == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ready, in its place, never changed.
    fn node(primary: bool) -> Node {
        Node {
            version: 0,
            uid: "uid".into(),
            generation: 1,
            observed_generation: 1,
            ready: true,
            was_ready: true,
            primary: Some(primary),
            pod_ip: "10.0.0.1".into(),
            port: 0,
            owners: Default::default(),
        }
    }

    fn never_ready() -> Node {
        Node { ready: false, was_ready: false, primary: None, ..node(false) }
    }

    /// Two shards of two, all to get a port.
    fn all(nodes: &[Node; 4]) -> Vec<Candidate<'_>> {
        let place = [(0, 0), (0, 1), (1, 0), (1, 1)];
        nodes.iter().zip(place).map(|(node, (shard, index))| Candidate { shard, index, node, wanted: Wanted::Port(30_000) }).collect()
    }

    /// Changes nodes until nothing is left; each one is Ready again at once.
    fn order(nodes: &[Node; 4]) -> Vec<(u32, u32)> {
        let mut candidates = all(nodes);
        let mut order = Vec::new();
        while let Step::Change(place) = next(&candidates) {
            order.push((candidates[place].shard, candidates[place].index));
            candidates[place].wanted = Wanted::Keep;
        }
        order
    }

    #[test]
    fn replicas_go_before_primaries_wherever_a_failover_put_them() {
        let as_made = [node(true), node(false), node(true), node(false)];
        assert_eq!(order(&as_made), [(0, 1), (1, 1), (0, 0), (1, 0)]);
        let failed_over = [node(false), node(true), node(true), node(false)];
        assert_eq!(order(&failed_over), [(0, 0), (1, 1), (0, 1), (1, 0)]);
    }

    #[test]
    fn the_next_node_waits_until_the_last_is_ready_with_its_new_port() {
        let restarting = Node { ready: false, ..node(false) };
        let not_seen_yet = Node { generation: 2, ..node(false) };
        for changed in [restarting, not_seen_yet] {
            let nodes = [node(true), changed, node(true), node(false)];
            let mut candidates = all(&nodes);
            candidates[1].wanted = Wanted::Keep;
            assert_eq!(next(&candidates), Step::Wait { on: 1, left: 3 });
        }
    }

    #[test]
    fn a_node_that_was_never_ready_holds_nobody_up() {
        let nodes = [node(true), never_ready(), node(true), node(false)];
        let mut candidates = all(&nodes);
        candidates[1].wanted = Wanted::Keep;
        assert_eq!(next(&candidates), Step::Change(3));
    }

    #[test]
    fn a_new_cluster_gets_all_its_ports_at_once() {
        let nodes = [never_ready(), never_ready(), never_ready(), never_ready()];
        assert_eq!(order(&nodes).len(), 4);
    }

    #[test]
    fn a_node_that_is_down_gets_its_port_before_another_one_goes_down() {
        let nodes = [node(true), node(false), node(true), Node { ready: false, ..node(false) }];
        assert_eq!(next(&all(&nodes)), Step::Change(3));
    }

    #[test]
    fn a_node_that_is_down_for_other_reasons_stops_the_roll() {
        let nodes = [node(true), node(false), node(true), Node { ready: false, ..node(false) }];
        let mut candidates = all(&nodes);
        candidates[3].wanted = Wanted::Keep;
        assert_eq!(next(&candidates), Step::Wait { on: 3, left: 3 });
    }

    #[test]
    fn without_a_change_nothing_is_waited_for() {
        let nodes = [node(true), Node { ready: false, ..node(false) }, node(true), node(false)];
        let mut candidates = all(&nodes);
        candidates.iter_mut().for_each(|candidate| candidate.wanted = Wanted::Keep);
        assert_eq!(next(&candidates), Step::Done);
    }
}
