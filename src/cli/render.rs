//! `render`: plain manifests in, plain manifests out.

use std::io::{self, Write};

use super::files::File;
use super::{FAILED, Input, findings, objects};
use crate::finding::any_error;
use crate::function;
use crate::krm::{manifests, write};

pub(super) fn run(input: &Input, in_list: bool, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let (files, exposure) = objects::load(input);
    if any_error(&exposure.findings) {
        findings::print(&exposure.findings, err)?;
        return Ok(FAILED);
    }
    if in_list {
        let list = as_list(&files);
        let output = function::run(&list);
        output.text.write_to(out)?;
        findings::print(&output.findings, err)?;
        return Ok(if output.failed() { FAILED } else { 0 });
    }
    let mut text = String::new();
    for object in exposure.rendered.iter().flatten() {
        if !text.is_empty() {
            text.push_str("---\n");
        }
        write::mapping(&mut text, object, 0);
    }
    out.write_all(text.as_bytes())?;
    findings::print(&exposure.findings, err)?;
    Ok(0)
}

/// The documents of the files as the items of a list, line by line as they are.
fn as_list(files: &[File]) -> String {
    let mut list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n".to_owned();
    let header = list.len();
    for file in files {
        for range in manifests::documents(&file.text) {
            let document = file.text.get(range).unwrap_or_default();
            let mut dash = "- ";
            for line in document.lines().map(|line| line.trim_start_matches('\u{feff}')) {
                let line = line.strip_prefix("---").map_or(line, str::trim_start);
                let comment = line.trim_start().starts_with('#');
                if line.trim().is_empty() {
                    list.push('\n');
                } else if dash == "- " && comment {
                    list.push_str(line.trim_start());
                    list.push('\n');
                } else if line != "..." {
                    list.push_str(dash);
                    list.push_str(line);
                    list.push('\n');
                    dash = "  ";
                }
            }
        }
    }
    if list.len() == header {
        list.insert_str(header.saturating_sub(1), " []");
    }
    list
}
