//! Live announcement: tells running servers, by `CONFIG SET`, where clients reach them.
//!
//! ```text
//! watch ─► facts ─► world ─► work: who is due ─► pass ─► source: what to announce ─► settings ─► server
//!          kept     by node  state: when again,  one     pure                        pure        CONFIG GET, SET
//!                            what was said       node
//!                            record: what was told, for after a restart
//! ```

mod facts;
mod load;
mod pass;
mod reasons;
mod record;
mod report;
mod resources;
mod saver;
mod secrets;
pub mod server;
pub mod settings;
pub mod source;
mod state;
mod tell;
pub mod trust;
mod watch;
mod work;
mod world;

use std::sync::Arc;

use crate::context::Context;
use crate::report::{Action, Row};

use pass::Passes;
use record::Record;
use secrets::Secrets;

/// Keeps announcements right until [`Context::stop`].
pub async fn run(context: Context) {
    work::run(context).await;
}

/// One pass over all clusters of the scope; writes nothing in a dry run.
///
/// # Errors
/// When the API server cannot be read. What goes wrong with one node is an action of its own.
pub async fn once(context: &Context, dry_run: bool) -> Result<Vec<Action>, kube::Error> {
    let record = Record::new(context.client.clone(), &context.live.home);
    let told = record.load(&context.scope).await?;
    let world = Arc::new(load::world(context, told.keys()).await?);
    let secrets = Arc::new(Secrets::new(context.client.clone()));
    let passes = Passes { world, secrets, set: !dry_run };
    let (mut actions, after) = report::actions(&passes, &told).await;
    if !dry_run {
        actions.extend(report::save(&record, &told, &after).await);
    }
    Ok(actions)
}

/// What the nodes were told to announce, and what is still waited for. Asks no server: it works from anywhere.
///
/// # Errors
/// When the API server cannot be read.
pub async fn status(context: &Context) -> Result<Vec<Row>, kube::Error> {
    let told = Record::new(context.client.clone(), &context.live.home).load(&context.scope).await?;
    let world = load::world(context, told.keys()).await?;
    Ok(report::rows(&world, &told))
}

#[cfg(test)]
mod fake_server;
#[cfg(test)]
mod tests;
