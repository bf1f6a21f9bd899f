//! Objects of plain manifests, and the lines of their fields.

use serde_json::Value;

use super::Input;
use super::files::{self, File};
use crate::api::CONFIG_API;
use crate::expose::{Exposure, expose};
use crate::finding::{self, FileRef, Finding};
use crate::krm::lines::line_of;
use crate::krm::manifests;
use crate::krm::yaml::{self, Node};
use crate::object::Object;
use crate::rule::Rule;
use crate::select::problem_finding;

/// A document and the tree of it.
pub(super) struct Document<'f> {
    file: &'f File,
    /// Where it starts in the file.
    offset: usize,
    tree: Node<'f>,
}

/// Manifests that were read, and what exposes their clusters.
pub(super) struct Loaded {
    pub(super) files: Vec<File>,
    /// The functionConfig, given or found.
    pub(super) config: Option<Object>,
    pub(super) exposure: Exposure,
}

/// Reads the manifests, exposes their clusters, and gives each finding its line.
pub(super) fn load(input: &Input) -> Loaded {
    let mut findings = Vec::new();
    let files = files::read(&input.files, &mut findings);
    let config_files = input.config.as_ref().map(|path| files::read(std::slice::from_ref(path), &mut findings));
    let mut config = None;
    let mut exposure = if finding::any_error(&findings) {
        Exposure::default()
    } else {
        let (objects, documents) = read(&files, &mut findings);
        config = find_config(&objects, config_files.as_deref(), &mut findings);
        let mut exposure = expose(&objects, config.as_ref());
        if exposure.known.is_empty() && !finding::any_error(&findings) && !finding::any_error(&exposure.findings) {
            let names: Vec<String> = input.files.iter().map(|path| format!("`{}`", path.display())).collect();
            findings.push(Finding::error(Rule::NothingToDo, format!("there is no ValkeyCluster in {}", names.join(", "))));
        } else if exposure.clusters.is_empty() && !finding::any_error(&findings) && !finding::any_error(&exposure.findings) {
            let message = "no ValkeyCluster has external access on: set `spec.externalAccess.enabled: true`";
            findings.push(Finding::info(Rule::NothingToDo, message));
        }
        for finding in &mut exposure.findings {
            locate(finding, &documents);
        }
        exposure
    };
    findings.append(&mut exposure.findings);
    finding::sort(&mut findings);
    exposure.findings = findings;
    Loaded { files, config, exposure }
}

pub(super) fn read<'f>(files: &'f [File], findings: &mut Vec<Finding>) -> (Vec<Object>, Vec<Document<'f>>) {
    let mut objects = Vec::new();
    let mut documents = Vec::new();
    for file in files {
        for (index, range) in manifests::documents(&file.text).into_iter().enumerate() {
            let Some(text) = file.text.get(range.clone()) else { continue };
            if !file.explicit && !may_concern(text) {
                continue;
            }
            let order = documents.len();
            let reference = |offset: usize| FileRef {
                path: file.name.clone(),
                index: u64::try_from(index).unwrap_or(0),
                line: Some(line_of(&file.text, range.start.saturating_add(offset))),
            };
            let mut report = |problem: &yaml::Problem| {
                let mut finding = problem_finding("", problem);
                finding.message.clone_from(&problem.message);
                finding.file = Some(reference(problem.offset));
                finding.order = order;
                findings.push(finding);
            };
            let tree = match yaml::parse(text) {
                Ok(tree) => tree,
                Err(problem) => {
                    report(&problem);
                    continue;
                }
            };
            match tree.value() {
                Ok(value) => {
                    let start = reference(tree.span.start);
                    documents.push(Document { file, offset: range.start, tree });
                    match value.get("items").and_then(Value::as_array) {
                        Some(items) => objects.extend(items.iter().map(|item| Object::new(item.clone(), Some(start.clone()), order))),
                        None => objects.push(Object::new(value, Some(start), order)),
                    }
                }
                Err(problems) => problems.iter().for_each(report),
            }
        }
    }
    (objects, documents)
}

/// In a folder there may be files that are no manifests at all: only what names a kind of ours is read.
fn may_concern(text: &str) -> bool {
    ["ValkeyCluster", "ValkeyNode", "ExposeValkey", "TCPRoute", "tcproutes", "Gateway", "valkey-"].iter().any(|word| text.contains(word))
}

fn find_config(objects: &[Object], files: Option<&[File]>, findings: &mut Vec<Finding>) -> Option<Object> {
    let is_config = |object: &&Object| object.reference.api_version == CONFIG_API && object.reference.kind == "ExposeValkey";
    let Some(files) = files else {
        let mut configs = objects.iter().filter(is_config);
        let config = configs.next().cloned();
        if let Some(second) = configs.next() {
            let message = "there is more than one ExposeValkey among the manifests: choose one with `--config`";
            findings.push(second.finding(Finding::error(Rule::UnknownConfig, message)));
        }
        return config;
    };
    let (mut objects, _) = read(files, findings);
    if objects.len() != 1 && !finding::any_error(findings) {
        let message = format!("`--config` must be a file with one object, it has {}", objects.len());
        findings.push(Finding::error(Rule::UnknownConfig, message));
    }
    objects.pop()
}

/// The line of the field that a finding is about.
fn locate(finding: &mut Finding, documents: &[Document<'_>]) {
    let Some(document) = documents.get(finding.order) else { return };
    let Some(file) = finding.file.as_mut().filter(|file| file.path == document.file.name) else { return };
    if let Some(field) = &finding.field {
        let at = document.tree.nearest(field).span.start;
        file.line = Some(line_of(&document.file.text, document.offset.saturating_add(at)));
    }
}
