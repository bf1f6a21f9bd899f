//! The command line.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::context::{LiveOptions, Scope};

/// Tells clients of Valkey clusters in Kubernetes the ports and addresses that only the running cluster knows.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do; none: `run`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What all commands take.
    #[command(flatten)]
    pub common: Common,
    /// What `run` takes.
    #[command(flatten)]
    pub run: Run,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Keep everything right until SIGTERM (the default)
    Run,
    /// Do one pass over all clusters and exit: 0 if nothing is left to do, 2 if something is waited for, 1 if something failed
    Once {
        /// Only print what would be applied and announced; exits with 2 if that is anything
        #[arg(long)]
        dry_run: bool,
    },
    /// Print a table: cluster, node, where clients are sent, since when, what is waited for
    Status,
}

/// What all commands take.
#[derive(Debug, Args)]
pub struct Common {
    /// Look at this namespace only; may be given more than once, or with commas [default: all namespaces]
    #[arg(long = "namespace", short = 'n', global = true, value_name = "NAME", env = "WATCH_NAMESPACES", value_delimiter = ',')]
    pub namespaces: Vec<String>,
    /// Kubeconfig to read [default: $KUBECONFIG, the one in the home directory, or the pod's ServiceAccount]
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// How to write logs, on stderr
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, env = "LOG_FORMAT")]
    pub log_format: LogFormat,
    /// The least severe lines to write
    #[arg(long, global = true, value_enum, default_value_t = LogLevel::Info, env = "LOG_LEVEL")]
    pub log_level: LogLevel,
}

/// What `run` takes.
#[derive(Debug, Args)]
pub struct Run {
    /// Address of /healthz, /readyz and /metrics [default: port 8080 of every address]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Work without a Lease: for a single process only
    #[arg(long)]
    pub no_leader_election: bool,
    /// Namespace of the Lease, and of the record of what servers were told [default: the namespace of the client's configuration]
    #[arg(long, global = true, value_name = "NAME", env = "POD_NAMESPACE")]
    pub lease_namespace: Option<String>,
    /// Look at each server that announces live that often, even though nothing has changed
    #[arg(long, value_name = "SECONDS", default_value_t = 180, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub announce_every: u64,
    /// Name of the Lease
    #[arg(long, value_name = "NAME", default_value = crate::NAME)]
    pub lease_name: String,
    /// Name of this replica, in the Lease and in events
    #[arg(long, value_name = "NAME", env = "POD_NAME", default_value = crate::NAME)]
    pub identity: String,
}

impl Run {
    /// What live announcement needs; `namespace` is that of the client's configuration.
    pub fn live(&self, namespace: &str) -> LiveOptions {
        let home = self.lease_namespace.as_deref().unwrap_or(namespace).to_owned();
        LiveOptions { every: Duration::from_secs(self.announce_every), home }
    }
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// An object a line.
    Json,
}

/// The least severe lines to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "their names say all")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Common {
    /// The namespaces to look at.
    pub fn scope(&self) -> Scope {
        let names: BTreeSet<_> = self.namespaces.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
        if names.is_empty() { Scope::Cluster } else { Scope::Namespaces(names.into_iter().map(str::to_owned).collect()) }
    }
}
