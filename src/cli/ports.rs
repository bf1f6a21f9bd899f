//! `ports`: which node is reached by which name and port.

use std::io::{self, Write};

use super::{FAILED, Input, Table, findings, objects};
use crate::finding::any_error;
use crate::plan::Node;
use crate::ports::rows;
use crate::validate::Exposed;

const HEAD: [&str; 8] = ["CLUSTER", "SHARD", "NODE", "HOSTNAME", "CLIENT PORT", "SERVICE", "SERVICE PORT", "LISTENER"];

pub(super) fn run(input: &Input, format: Table, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let exposure = objects::load(input).exposure;
    findings::print(&exposure.findings, err)?;
    if any_error(&exposure.findings) {
        return Ok(FAILED);
    }
    match format {
        Table::Table => out.write_all(table(&exposure.clusters).as_bytes())?,
        Table::Json => {
            serde_json::to_writer_pretty(&mut *out, &rows(&exposure.clusters))?;
            writeln!(out)?;
        }
    }
    Ok(0)
}

fn table(clusters: &[Exposed]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for cluster in clusters {
        for shard in &cluster.plan.shards {
            let hostname = shard.hostname.as_ref().map_or("-", |name| name.as_str());
            for node in &shard.nodes {
                rows.push(vec![
                    cluster.full_name(),
                    shard.index.to_string(),
                    node.index.to_string(),
                    hostname.to_owned(),
                    node.client_port.map_or_else(|| unknown(cluster), |port| port.to_string()),
                    shard.service.clone(),
                    node.service_port.to_string(),
                    listener(cluster, node),
                ]);
            }
        }
    }
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
