//! All integration tests, one binary: what a user would notice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods
)]

mod beyond;
mod cases;
mod cli;
mod examples;
mod folders;
mod gateway_listeners;
mod names;
mod node_ports;
mod operator_managed;
mod origins;
mod parity;
mod pin;
mod pipelines;
mod properties;
mod scalars;
mod splitting;
mod styled;
mod tidy;
mod two_configs;
