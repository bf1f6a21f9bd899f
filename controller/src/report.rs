//! What `once` and `status` print.

use serde_json::Value;

/// One thing that a pass did or, in a dry run, would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Namespace of the ValkeyCluster.
    pub namespace: String,
    /// Name of the ValkeyCluster.
    pub cluster: String,
    /// What it is done to: `ValkeyNode cache-0-1`, `server valkey-cache-0-1-0`.
    pub target: String,
    /// What is done.
    pub what: What,
}

/// The kinds of [`Action`].
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// An object, as it is server-side applied.
    Apply(Value),
    /// Settings of a running server, as they are set, in order. No secrets.
    Announce(Vec<(String, String)>),
    /// Nothing can be done yet: what is waited for, in words.
    Wait(String),
    /// It was tried and failed: what is wrong and what to do, in words.
    Fail(String),
}

/// A line of the table of `status`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Namespace of the ValkeyCluster.
    pub namespace: String,
    /// Name of the ValkeyCluster.
    pub cluster: String,
    /// Shard and node index, as in `cache-0-1`.
    pub node: String,
    /// Where clients are sent, `host:port`; empty if that is not known yet.
    pub target: String,
    /// Since when, as RFC 3339; empty if that is not known.
    pub since: String,
    /// What is waited for, in words; empty if nothing is.
    pub waits_for: String,
}
