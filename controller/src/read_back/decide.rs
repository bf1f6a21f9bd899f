//! From the facts of one cluster to what should be written, what is waited for and what is another's. Pure.

use expose_valkey::plan::node_name;

use super::endpoints::{Found, find};
use super::facts::{Cluster, Endpoints, Node};
use super::rolling::{Candidate, Step, Wanted, next};
use super::store::Entry;

/// What becomes of `status.externalEndpoints`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It is right, or not ours to change.
    Keep,
    /// These, and no others.
    Publish(Vec<Endpoints>),
    /// The field is given up.
    Release,
}

/// A field that another manager owns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    /// The field and its object.
    pub(super) field: String,
    /// Who owns it.
    pub(super) owner: Box<str>,
    /// It says what we would say.
    pub(super) agrees: bool,
}

/// What to do about one cluster.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// `status.externalEndpoints`.
    pub(super) status: Status,
    /// The next node to change.
    pub(super) node: NodeStep,
    /// Ports that are not known yet, in words.
    pub(super) missing: Vec<String>,
    /// Fields that are left to others.
    pub(super) foreign: Vec<Foreign>,
}

/// [`Step`] with all that is needed to take it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NodeStep {
    /// Nothing is left to be done.
    Done,
    /// Change this ValkeyNode.
    Change {
        /// Its name.
        name: String,
        /// Its identifier: a node of the same name that was made meanwhile is another one.
        uid: Box<str>,
        /// What it gets.
        wanted: Wanted,
        /// The operator restarts it for that.
        restarts: bool,
    },
    /// Wait until this ValkeyNode is Ready again.
    Wait {
        /// Its name.
        name: String,
        /// How many nodes are to follow.
        left: usize,
    },
}

/// Decides for the cluster `name`; nothing is to be done for one that is on its way out.
pub(super) fn decide(name: &str, entry: &Entry) -> Decision {
    let Some(cluster) = entry.cluster.as_ref().filter(|cluster| !cluster.deleting) else { return nothing() };
    let found = match cluster.access {
        Some(_) => find(name, cluster, |shard| entry.services.get(&shard)),
        None => Found::default(),
    };
    let mut foreign = Vec::new();
    let status = status(cluster, &found, &mut foreign);
    let node = match foreign.is_empty() {
        true => node_step(name, cluster, entry, &found, &mut foreign),
        // Whoever keeps the status keeps the nodes.
        false => NodeStep::Done,
    };
    Decision { status, node, missing: found.missing, foreign }
}

fn nothing() -> Decision {
    Decision { status: Status::Keep, node: NodeStep::Done, missing: Vec::new(), foreign: Vec::new() }
}

fn status(cluster: &Cluster, found: &Found, foreign: &mut Vec<Foreign>) -> Status {
    let wanted = found.endpoints();
    if let (Some(owner), Some(_)) = (&cluster.owners.other, &cluster.access) {
        let field = "`status.externalEndpoints` of the ValkeyCluster".to_owned();
        foreign.push(Foreign { field, owner: owner.clone(), agrees: same(&wanted, &cluster.published) });
        return Status::Keep;
    }
    match (wanted.is_empty(), cluster.owners.ours.is_some()) {
        (true, true) => Status::Release,
        (true, false) => Status::Keep,
        (false, _) if same(&wanted, &cluster.published) => Status::Keep,
        (false, _) => Status::Publish(wanted),
    }
}

/// Whether two lists say the same; their order is the API server's.
fn same(wanted: &[Endpoints], published: &[Endpoints]) -> bool {
    wanted.len() == published.len() && wanted.iter().all(|shard| published.contains(shard))
}

fn node_step(name: &str, cluster: &Cluster, entry: &Entry, found: &Found, foreign: &mut Vec<Foreign>) -> NodeStep {
    let nodes = entry.nodes.iter().map(|((shard, index), node)| {
        let wanted = wanted(cluster, node, found.node_port(*shard, *index));
        Candidate { shard: *shard, index: *index, node, wanted }
    });
    let mut candidates: Vec<_> = nodes.collect();
    for candidate in &mut candidates {
        leave_to_others(name, candidate, foreign);
    }
    let name_of = |candidate: &Candidate<'_>| node_name(name, candidate.shard, candidate.index);
    match next(&candidates) {
        Step::Done => NodeStep::Done,
        Step::Wait { on, left } => match candidates.get(on) {
            Some(candidate) => NodeStep::Wait { name: name_of(candidate), left },
            None => NodeStep::Done,
        },
        Step::Change(place) => match candidates.get(place) {
            Some(candidate) => NodeStep::Change {
                name: name_of(candidate),
                uid: candidate.node.uid.clone(),
                wanted: candidate.wanted,
                restarts: candidate.node.ready,
            },
            None => NodeStep::Done,
        },
    }
}

/// With NodePort a node gets its port and keeps the last one while none is known: an announcement that is a moment late
/// does less harm than a restart. Where another source gives the port, a field of ours is given up.
fn wanted(cluster: &Cluster, node: &Node, port: Option<u16>) -> Wanted {
    match (&cluster.access, port) {
        (Some(reach), Some(port)) if !reach.gateway => {
            if node.port == port {
                Wanted::Keep
            } else {
                Wanted::Port(port)
            }
        }
        (Some(reach), None) if !reach.gateway => Wanted::Keep,
        _ if node.owners.ours.is_some() => Wanted::Release,
        _ => Wanted::Keep,
    }
}

fn leave_to_others(name: &str, candidate: &mut Candidate<'_>, foreign: &mut Vec<Foreign>) {
    let Some(owner) = &candidate.node.owners.other else { return };
    if let Wanted::Port(_) = candidate.wanted {
        let node = node_name(name, candidate.shard, candidate.index);
        let field = format!("`spec.externalAccessClientPort` of ValkeyNode {node}");
        foreign.push(Foreign { field, owner: owner.clone(), agrees: false });
        candidate.wanted = Wanted::Keep;
    }
}
