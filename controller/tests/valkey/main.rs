//! Real Valkey servers, told by the controller and asked by a client. Needs `valkey-server` 9.0 or newer on the PATH.
#![allow(missing_docs)]

mod certificates;
mod faults;
mod servers;
mod told;
