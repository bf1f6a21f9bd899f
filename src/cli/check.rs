//! `check`: findings, and nothing else.

use std::io::{self, Write};

use serde_json::Value;

use super::{FAILED, Format, Input, findings, objects};
use crate::finding::{Finding, any_error};

pub(super) fn run(input: &Input, format: Format, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let (_, exposure) = objects::load(input);
    match format {
        Format::Json => {
            let results: Vec<Value> = exposure.findings.iter().map(Finding::to_result).collect();
            serde_json::to_writer_pretty(&mut *out, &results)?;
            writeln!(out)?;
        }
        Format::Text => {
            findings::print(&exposure.findings, out)?;
            if !any_error(&exposure.findings) {
                let nodes: usize = exposure.clusters.iter().map(|cluster| cluster.plan.nodes().count()).sum();
                writeln!(err, "{} of {} ValkeyClusters with external access, {nodes} nodes: no errors", exposure.clusters.len(), exposure.known.len())?;
            }
        }
    }
    Ok(if any_error(&exposure.findings) { FAILED } else { 0 })
}
