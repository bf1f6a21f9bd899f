//! Logs on stderr.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use crate::args::{LogFormat, LogLevel};

/// The part of a line's target that is ours.
const OURS: &str = "expose_valkey_controller";

/// Writes logs from now on. Lines of the libraries come with `debug` only: what goes wrong there is told by our own lines,
/// with the object that it is about.
pub fn start(format: LogFormat, level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let others = if level >= LevelFilter::DEBUG { level } else { LevelFilter::OFF };
    let filter = Targets::new().with_default(others).with_target(OURS, level);
    let layer = layer().with_writer(std::io::stderr).with_target(false);
    let layer = match format {
        LogFormat::Text => layer.with_ansi(false).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(filter)).init();
}
