//! Makes every node of a Valkey cluster in Kubernetes reachable from outside: from a ValkeyCluster to the Services,
//! ValkeyNodes and Gateway API routes that lead to each of its nodes, by ports that are computed and not allocated.
//!
//! ```text
//! text ─► krm ─► object ─► validate ─► plan ─► check ─► render ─► merge ─► krm ─► text
//!         items  those     findings    ports   findings  objects   own      edits
//!                we need               names                       outputs
//! ```
//!
//! No I/O, no clock, no environment: [`run`] is a function from text to text and findings. `docs/architecture.md` has the map.

pub mod finding;
pub mod rule;

pub mod krm;
pub mod object;

pub mod api;
pub mod plan;
pub mod validate;

pub mod check;
pub mod own;
pub mod render;

pub mod manifests;
pub mod ports;

mod expose;
mod function;
mod gateway_listeners;
mod merge;
mod select;
mod server_command;

#[cfg(feature = "cli")]
pub mod cli;

pub use expose::{Exposure, expose};
pub use function::{Output, run};
pub use select::problem_finding;
