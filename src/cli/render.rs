//! `render`: plain manifests in, plain manifests out.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::{self, File};
use super::{FAILED, Input, findings, objects};
use crate::api::Listeners;
use crate::finding::{Finding, any_error};
use crate::function;
use crate::krm::{manifests, write};
use crate::manifests::{EditedCluster, edited_clusters};
use crate::rule::Rule;

/// Where the objects go.
pub(super) struct Target {
    pub(super) in_list: bool,
    pub(super) output: Option<PathBuf>,
    pub(super) check: bool,
    pub(super) in_place: bool,
}

pub(super) fn run(input: &Input, target: &Target, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let objects::Loaded { files, config, mut exposure } = objects::load_beside(input, target.output.as_deref());
    if !target.in_list && exposure.config.listeners == Listeners::Gateway && !any_error(&exposure.findings) {
        let message = "`emit.listeners: Gateway` changes a Gateway that is in the manifests, and `render` changes no manifests: use `ListenerSet`, or run the function by kustomize or kpt";
        exposure.findings.push(Finding::error(Rule::WrongValue, message).at("spec.emit.listeners"));
    }
    let mut found = std::mem::take(&mut exposure.findings);
    let clusters = if any_error(&found) || target.in_list { Vec::new() } else { edited_clusters(&files, &exposure, &mut found) };
    if any_error(&found) {
        findings::print(&found, err)?;
        return Ok(FAILED);
    }
    if target.in_list {
        let list = as_list(&files, config.map(|config| config.value).as_ref());
        let output = function::run(&list);
        output.text.write_to(out)?;
        findings::print(&output.findings, err)?;
        return Ok(if output.failed() { FAILED } else { 0 });
    }
    let (in_place, printed): (Vec<_>, Vec<_>) = clusters.into_iter().partition(|_| target.in_place);
    let sources = changed_files(&files, &in_place, &mut found);
    if let Some(output) = target.output.as_deref().filter(|output| input.files.iter().any(|folder| files::is_in(folder, output))) {
        found.extend(printed.iter().map(|cluster| is_there_twice(cluster, output)));
    }
    findings::print(&found, err)?;
    if any_error(&found) {
        return Ok(FAILED);
    }
    let objects = exposure.rendered().into_iter().map(|object| {
        let mut text = String::new();
        write::mapping(&mut text, &object, 0);
        text
    });
    let mut text = String::new();
    for document in printed.into_iter().map(|cluster| cluster.text).chain(objects) {
        if !text.is_empty() {
            text.push_str(if text.ends_with('\n') { "---\n" } else { "\n---\n" });
        }
        text.push_str(&document);
    }
    let Some(path) = &target.output else {
        out.write_all(text.as_bytes())?;
        return write(&sources, err);
    };
    let mut all = sources;
    all.push((path.clone(), text));
    if !target.check {
        return write(&all, err);
    }
    let mut code = 0;
    for (path, text) in &all {
        code = code.max(check(path, text, out, err)?);
    }
    Ok(code)
}

/// Whoever applies the folder applies the cluster as it is in its own file too.
fn is_there_twice(cluster: &EditedCluster, output: &Path) -> Finding {
    let message = format!(
        "it is now in `{}`, with what its servers announce, and in `{}`, without: whoever applies both changes it to and fro; use `--in-place`, or write outside of the folder",
        output.display(),
        cluster.source
    );
    let mut finding = Finding::warning(Rule::DuplicateCluster, message);
    finding.object = Some(cluster.cluster.clone());
    finding
}

fn write(files: &[(PathBuf, String)], err: &mut dyn Write) -> io::Result<u8> {
    for (path, text) in files {
        if let Err(finding) = files::write(path, text) {
            findings::print(&[*finding], err)?;
            return Ok(FAILED);
        }
    }
    Ok(0)
}

/// The files of edited clusters, each with its new text.
fn changed_files(files: &[File], edited: &[EditedCluster], findings: &mut Vec<Finding>) -> Vec<(PathBuf, String)> {
    let mut changed = Vec::new();
    for file in files {
        let mut text = file.text.clone();
        let mut clusters: Vec<&EditedCluster> = edited.iter().filter(|cluster| cluster.source == file.name).collect();
        // From the end, so that the places before stay what they are.
        clusters.sort_by_key(|cluster| Reverse(cluster.place.start));
        for cluster in &clusters {
            text.replace_range(cluster.place.clone(), &cluster.text);
        }
        match clusters.first() {
            Some(cluster) if file.name == "-" => {
                let message = format!("{} came from standard input, and cannot be written back: name its file", cluster.cluster);
                findings.push(Finding::error(Rule::File, message));
            }
            Some(_) => changed.push((PathBuf::from(&file.name), text)),
            None => {}
        }
    }
    changed
}

/// Compares what would be written with what is there.
fn check(path: &Path, new: &str, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let mut unreadable = Vec::new();
    let present = if path.exists() { files::read(&[path.to_path_buf()], &mut unreadable) } else { Vec::new() };
    if !unreadable.is_empty() {
        findings::print(&unreadable, err)?;
        return Ok(FAILED);
    }
    let old = present.first().map_or("", |file| file.text.as_str());
    if old == new {
        return Ok(0);
    }
    let name = path.display().to_string();
    let diff = similar::TextDiff::from_lines(old, new);
    write!(out, "{}", diff.unified_diff().header(&name, &format!("{name} (rendered)")))?;
    let message = format!("`{name}` is not up to date: run the same command without `--check`, and commit the file");
    findings::print(&[Finding::error(Rule::Stale, message)], err)?;
    Ok(FAILED)
}

/// The documents of the files as the items of a list, line by line as they are.
fn as_list(files: &[File], config: Option<&Value>) -> String {
    let mut list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n".to_owned();
    if let Some(config) = config {
        list.push_str("functionConfig:\n  ");
        write::mapping(&mut list, config, 2);
    }
    list.push_str("items:\n");
    let header = list.len();
    for file in files {
        for range in manifests::documents(&file.text) {
            let document = file.text.get(range).unwrap_or_default();
            let mut dash = "- ";
            for line in document.lines().map(|line| line.trim_start_matches('\u{feff}')) {
                let line = if manifests::is_marker(line, "---") { line.get(3..).unwrap_or_default().trim_start() } else { line };
                let before = dash == "- ";
                if before && line.trim().is_empty() {
                    // A blank line here could become part of the last text of the item before.
                    continue;
                } else if line.is_empty() {
                    list.push('\n');
                } else if before && line.trim_start().starts_with('#') {
                    list.push_str(line.trim_start());
                    list.push('\n');
                } else if !(manifests::is_marker(line, "...") || before && line.starts_with('%')) {
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
