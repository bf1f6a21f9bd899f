//! `once` and `status`: what the running controller does, for a terminal or a pipeline.

use std::io::{self, Write};

use crate::context::Context;
use crate::report::{Action, Row, What};
use crate::{live, read_back, words};

/// Exit code: something failed.
pub const FAILED: u8 = 1;
/// Exit code: something is waited for or, in a dry run, would be done.
pub const NOT_SETTLED: u8 = 2;

/// One pass of both jobs; the exit code.
///
/// # Errors
/// When the API server cannot be read, or `out` not written to.
pub async fn once(context: &Context, dry_run: bool, out: &mut dyn Write) -> io::Result<u8> {
    let mut actions = read_back::once(context, dry_run).await.map_err(unread)?;
    // At once: what was done is told even though the other job cannot begin.
    write_lines(&actions, dry_run, out)?;
    let more = live::once(context, dry_run).await.map_err(unread)?;
    write_lines(&more, dry_run, out)?;
    actions.extend(more);
    if actions.is_empty() {
        writeln!(out, "nothing to do")?;
    }
    Ok(code(&actions, dry_run))
}

fn write_lines(actions: &[Action], dry_run: bool, out: &mut dyn Write) -> io::Result<()> {
    actions.iter().try_for_each(|action| writeln!(out, "{}", line(action, dry_run)))
}

fn unread(error: kube::Error) -> io::Error {
    io::Error::other(format!("the API server cannot be read: {}", words::of_client(&error)))
}

fn line(action: &Action, dry_run: bool) -> String {
    let Action { namespace, cluster, target, what } = action;
    let would = if dry_run { "would " } else { "" };
    match what {
        What::Apply(object) => {
            let fields = ["spec", "status"].iter().filter_map(|part| Some(format!("{part}: {}", object.get(part)?)));
            format!("{namespace}/{cluster}: {would}apply to {target} {}", fields.collect::<Vec<_>>().join(", "))
        }
        What::Announce(settings) => {
            let settings = settings.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>();
            format!("{namespace}/{cluster}: {would}tell {target} {}", settings.join(", "))
        }
        What::Wait(note) => format!("{namespace}/{cluster}: waiting: {note}"),
        What::Fail(note) => format!("{namespace}/{cluster}: failed: {target}: {note}"),
    }
}

fn code(actions: &[Action], dry_run: bool) -> u8 {
    let fails = |action: &Action| matches!(action.what, What::Fail(_));
    let unsettled = |action: &Action| dry_run || matches!(action.what, What::Wait(_));
    match actions {
        actions if actions.iter().any(fails) => FAILED,
        actions if actions.iter().any(unsettled) => NOT_SETTLED,
        _ => 0,
    }
}

/// The table of all nodes that are reached from outside.
///
/// # Errors
/// When the API server cannot be read, or `out` not written to.
pub async fn status(context: &Context, out: &mut dyn Write) -> io::Result<u8> {
    let mut rows = read_back::status(context).await.map_err(unread)?;
    rows.extend(live::status(context).await.map_err(unread)?);
    rows.sort();
    write_table(&rows, out)?;
    Ok(0)
}

const HEAD: [&str; 6] = ["NAMESPACE", "CLUSTER", "NODE", "CLIENTS GO TO", "SINCE", "WAITS FOR"];

fn write_table(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let cells = |row: &Row| [&row.namespace, &row.cluster, &row.node, &row.target, &row.since, &row.waits_for].map(|cell| dash(cell));
    let lines: Vec<[String; 6]> = std::iter::once(HEAD.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    for line in &lines {
        let padded: Vec<_> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        writeln!(out, "{}", padded.join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn action(what: What) -> Action {
        Action { namespace: "prod".into(), cluster: "cache".into(), target: "ValkeyNode cache-0-1".into(), what }
    }

    #[test]
    fn the_exit_code_tells_how_it_ended() {
        let apply = action(What::Apply(json!({})));
        let (wait, fail) = (action(What::Wait("w".into())), action(What::Fail("f".into())));
        assert_eq!(code(&[], true), 0);
        assert_eq!(code(std::slice::from_ref(&apply), false), 0);
        assert_eq!(code(std::slice::from_ref(&apply), true), NOT_SETTLED);
        assert_eq!(code(&[apply, wait.clone()], false), NOT_SETTLED);
        assert_eq!(code(&[wait, fail], false), FAILED);
    }

    #[test]
    fn a_dry_run_says_what_it_would_do() {
        let apply = action(What::Apply(json!({"spec": {"externalAccessClientPort": 31001}})));
        let said = "prod/cache: would apply to ValkeyNode cache-0-1 spec: {\"externalAccessClientPort\":31001}";
        assert_eq!(line(&apply, true), said);
    }

    #[test]
    fn the_table_has_a_dash_where_nothing_is_known() {
        let row = Row {
            namespace: "prod".into(),
            cluster: "cache".into(),
            node: "cache-0-0".into(),
            target: String::new(),
            since: String::new(),
            waits_for: "a port".into(),
        };
        let mut out = Vec::new();
        write_table(&[row], &mut out).unwrap();
        let expected =
            "NAMESPACE  CLUSTER  NODE       CLIENTS GO TO  SINCE  WAITS FOR\nprod       cache    cache-0-0  -              -      a port\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
