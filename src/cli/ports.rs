//! `ports`: which node is reached by which name and port.

use std::io::{self, Write};
use std::path::PathBuf;

use super::{FAILED, Input, Table, files, findings, objects};
use crate::finding::any_error;
use crate::plan::Node;
use crate::ports::{Host, Row, Seen, json, rows};
use crate::validate::Exposed;

const HEAD: [&str; 8] = ["CLUSTER", "SHARD", "NODE", "HOSTNAME", "CLIENT PORT", "SERVICE", "SERVICE PORT", "LISTENER"];

pub(super) fn run(input: &Input, from: &[PathBuf], format: Table, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let mut exposure = objects::load(input).exposure;
    let mut found = std::mem::take(&mut exposure.findings);
    let sources = files::read(from, &mut found);
    let (seen, _) = objects::read(&sources, &mut found);
    findings::print(&found, err)?;
    if any_error(&found) {
        return Ok(FAILED);
    }
    let rows = rows(&exposure.clusters, &exposure.config, &Seen::new(&seen));
    match format {
        Table::Table => out.write_all(table(&rows).as_bytes())?,
        Table::Json => {
            serde_json::to_writer_pretty(&mut *out, &json(&rows))?;
            writeln!(out)?;
        }
    }
    Ok(0)
}

fn table(nodes: &[Row<'_>]) -> String {
    let cells = |row: &Row<'_>| {
        vec![
            row.cluster.full_name(),
            row.node.shard.to_string(),
            row.node.index.to_string(),
            host(&row.host),
            row.client_port.map_or_else(|| unknown(row.cluster), |port| port.to_string()),
            row.node.service.clone(),
            row.node.service_port.to_string(),
            listener(row.cluster, row.node),
        ]
    };
    let mut rows: Vec<Vec<String>> = nodes.iter().map(cells).collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.insert(0, HEAD.iter().map(ToString::to_string).collect());
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn host(host: &Host) -> String {
    match host {
        Host::Name(name) => name.clone(),
        Host::Addresses(addresses) => addresses.join(" or "),
        Host::From(what) => (*what).to_owned(),
        Host::Nothing => "-".to_owned(),
    }
}

/// A port that only the running cluster knows.
fn unknown(cluster: &Exposed) -> String {
    if cluster.gateway.is_none() { "allocated".to_owned() } else { "-".to_owned() }
}

fn listener(cluster: &Exposed, node: &Node) -> String {
    match (&cluster.gateway, node.listener_port) {
        (Some(gateway), Some(port)) => format!("{}:{port}", gateway.name),
        _ => "-".to_owned(),
    }
}
