//! `check`: findings, and nothing else.

use std::io::{self, IsTerminal, Write};

use anstream::ColorChoice;

use serde_json::Value;

use super::{FAILED, Format, Input, findings, objects};
use crate::check::left_to_the_controller;
use crate::finding::{self, Finding, any_error};
use crate::manifests::edited_clusters;

/// Colours on a terminal only, whatever the terminal on standard error is.
fn color() -> ColorChoice {
    if io::stdout().is_terminal() { anstream::AutoStream::choice(&io::stdout()) } else { ColorChoice::Never }
}

pub(super) fn run(input: &Input, format: Format, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let objects::Loaded { files, mut exposure, .. } = objects::load(input);
    if !any_error(&exposure.findings) {
        let mut found = left_to_the_controller(&exposure.clusters, &exposure.config);
        edited_clusters(&files, &exposure, &mut found);
        exposure.findings.append(&mut found);
        finding::sort(&mut exposure.findings);
    }
    match format {
        Format::Json => {
            let results: Vec<Value> = exposure.findings.iter().map(with_line).collect();
            serde_json::to_writer_pretty(&mut *out, &results)?;
            writeln!(out)?;
        }
        Format::Text => {
            let mut text = anstream::AutoStream::new(Vec::new(), color());
            findings::print(&exposure.findings, &mut text)?;
            out.write_all(&text.into_inner())?;
            if !any_error(&exposure.findings) {
                let nodes: usize = exposure.clusters.iter().map(|cluster| cluster.plan.nodes().count()).sum();
                writeln!(
                    err,
                    "{} of {} ValkeyClusters with external access, {nodes} nodes: no errors",
                    exposure.clusters.len(),
                    exposure.known.len()
                )?;
            }
        }
    }
    Ok(if any_error(&exposure.findings) { FAILED } else { 0 })
}

/// A finding as a KRM result, and the line beside its file: whoever annotates a change needs it.
fn with_line(finding: &Finding) -> Value {
    let mut result = finding.to_result();
    if let (Some(line), Some(file)) =
        (finding.file.as_ref().and_then(|file| file.line), result.get_mut("file").and_then(Value::as_object_mut))
    {
        file.insert("line".to_owned(), line.into());
    }
    result
}
