//! The program: arguments in, exit code out.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use expose_valkey_controller::args::{Cli, Command, Common};
use expose_valkey_controller::context::Context;
use expose_valkey_controller::events::Events;
use expose_valkey_controller::metrics::Metrics;
use expose_valkey_controller::{logs, serve, twin};
use hyper::header::{HeaderValue, USER_AGENT};
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    logs::start(cli.common.log_format, cli.common.log_level);
    match run(&cli).await {
        Ok(code) => ExitCode::from(code),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "[error] {error}");
            ExitCode::from(twin::FAILED)
        }
    }
}

async fn run(cli: &Cli) -> io::Result<u8> {
    // The client of the API server and that of Valkey find it here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = config(&cli.common).await?;
    // So that the API server's logs and limits know who asks.
    config.headers.push((USER_AGENT, HeaderValue::from_static(concat!("expose-valkey-controller/", env!("CARGO_PKG_VERSION")))));
    let namespace = config.default_namespace.clone();
    let client = Client::try_from(config).map_err(io::Error::other)?;
    let scope = cli.common.scope();
    let context = |client: Client| Context {
        client: client.clone(),
        scope: scope.clone(),
        events: Events::new(client, cli.run.identity.clone()),
        metrics: Metrics::default(),
        live: cli.run.live(&namespace),
        stop: CancellationToken::new(),
    };
    match &cli.command {
        None | Some(Command::Run) => serve::serve(client, &namespace, scope, &cli.run).await.map(|()| 0),
        Some(Command::Once { dry_run }) => twin::once(&context(client), *dry_run, &mut io::stdout()).await,
        Some(Command::Status) => twin::status(&context(client), &mut io::stdout()).await,
    }
}

async fn config(common: &Common) -> io::Result<Config> {
    let options = KubeConfigOptions { context: common.context.clone(), ..KubeConfigOptions::default() };
    let config = match (&common.kubeconfig, &common.context) {
        (None, None) => Config::infer().await.map_err(io::Error::other)?,
        (None, Some(_)) => Config::from_kubeconfig(&options).await.map_err(io::Error::other)?,
        (Some(file), _) => {
            let kubeconfig = Kubeconfig::read_from(file).map_err(io::Error::other)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(io::Error::other)?
        }
    };
    Ok(config)
}
