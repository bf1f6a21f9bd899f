//! What only the running Kubernetes cluster knows, put where Valkey's clients learn of it: ports that were allocated and
//! addresses that were given are read back into the operator's API, or announced by the running servers themselves.
//!
//! ```text
//!            ┌─ read_back: Services ─► status of the ValkeyCluster, ports of the ValkeyNodes
//! leader ─►  │
//!            └─ live: Services, pods, Gateways ─► CONFIG SET on each server
//! ```
//!
//! Both jobs take a [`context::Context`]: the client, where to look, events and metrics. `access` lists what they may do.

/// Name of the program: field manager of all that it applies, and who its events come from.
pub const NAME: &str = "expose-valkey-controller";

pub mod args;

pub mod access;
pub mod context;
pub mod events;
pub mod gateway_api;
pub mod metrics;
mod pending;
pub mod report;
pub mod words;

pub mod live;
pub mod read_back;

pub mod health;
pub mod leader;
pub mod logs;
pub mod serve;
pub mod twin;

#[cfg(test)]
mod fake_api;
