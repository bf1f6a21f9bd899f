//! The controller from outside: its documents and its pages.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod docs;
mod pages;
