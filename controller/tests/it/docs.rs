//! `docs/controller.md` says what there is: flags, events, metrics.

use std::time::Duration;

use clap::{CommandFactory, Parser};
use expose_valkey_controller::args::Cli;
use expose_valkey_controller::metrics::{Job, Metrics};

const PAGE: &str = include_str!("../../../docs/controller.md");

#[test]
fn the_page_has_every_flag_and_command() {
    let cli = Cli::command();
    cli.clone().debug_assert();
    let own = |long: &&str| !matches!(*long, "help" | "version");
    for flag in
        cli.get_subcommands().chain([&cli]).flat_map(|command| command.get_arguments()).filter_map(|flag| flag.get_long()).filter(own)
    {
        assert!(PAGE.contains(&format!("--{flag}")), "--{flag} is not in docs/controller.md");
    }
    for variable in cli.get_arguments().filter_map(|flag| flag.get_env()) {
        assert!(PAGE.contains(&format!("`{}`", variable.display())), "{} is not in docs/controller.md", variable.display());
    }
    for command in cli.get_subcommands() {
        assert!(PAGE.contains(&format!("| `{}`", command.get_name())), "{} is not in docs/controller.md", command.get_name());
    }
}

#[test]
fn the_table_is_asked_for_with_the_namespace_of_the_installation() {
    let cli = Cli::try_parse_from(["expose-valkey-controller", "status", "--lease-namespace", "expose-valkey"]).unwrap();
    assert_eq!(cli.run.live("default").home, "expose-valkey");
}

#[test]
fn the_page_has_every_event_of_read_back() {
    let source = include_str!("../../src/read_back/pass.rs");
    let reasons: Vec<_> = source.lines().filter_map(|line| line.trim().strip_prefix("pub(super) const ")?.split('"').nth(1)).collect();
    assert!(reasons.len() > 5, "{reasons:?}");
    for reason in reasons {
        assert!(PAGE.contains(&format!("`{reason}`")), "{reason} is not in docs/controller.md");
    }
}

#[test]
fn the_page_has_every_event_of_live_announcement() {
    let source = include_str!("../../src/live/reasons.rs");
    let reasons: Vec<_> = source.lines().filter_map(|line| line.strip_prefix("pub(crate) const ")?.split('"').nth(1)).collect();
    assert!(reasons.len() > 5, "{reasons:?}");
    for reason in reasons {
        assert!(PAGE.contains(&format!("`{reason}`")), "{reason} is not in docs/controller.md");
    }
}

#[test]
fn the_page_has_every_metric() {
    let metrics = Metrics::default();
    metrics.reconciled(Job::ReadBack, true, Duration::ZERO);
    metrics.wrote(Job::ReadBack, "valkey_node");
    metrics.set_targets(Job::ReadBack, "node_port", 1);
    metrics.set_waiting(Job::ReadBack, 1);
    let text = metrics.text();
    let names: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_whitespace().next()).collect();
    assert_eq!(names.len(), 6, "{text}");
    for name in names {
        assert!(PAGE.contains(&format!("`{name}")), "{name} is not in docs/controller.md");
    }
}
