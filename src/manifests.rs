//! Plain manifests, whatever they were read from: their objects, what exposes the clusters among them, and the place in the
//! text that a finding is about.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use crate::api::CONFIG_API;
use crate::check;
use crate::expose::{Exposure, expose};
use crate::finding::{self, FileRef, Finding, ObjectRef};
use crate::krm::lines::line_of;
use crate::krm::manifests;
use crate::krm::yaml::{self, Node};
use crate::object::Object;
use crate::own;
use crate::rule::Rule;
use crate::select::problem_finding;
use crate::server_command;

/// A text, and the name that messages call it by.
#[derive(Clone, Debug)]
pub struct Source {
    /// A path, or whatever the user knows it by.
    pub name: String,
    /// Documents between `---` lines.
    pub text: String,
    /// It was asked for by name: anything wrong in it is worth telling.
    pub explicit: bool,
}

/// A document and the tree of it.
#[derive(Debug)]
pub struct Document<'s> {
    /// Where it is from.
    pub file: &'s Source,
    /// Which document of the file, from 0.
    pub index: u64,
    /// Where it starts in the text.
    pub offset: usize,
    /// What it holds.
    pub tree: Node<'s>,
}

/// What manifests come to, and where their findings are.
#[derive(Debug, Default)]
pub struct Exposed<'s> {
    /// What exposes the clusters, of no use after an error; its findings are those of the reading too, in the order in which they are shown.
    pub exposure: Exposure,
    /// The functionConfig, given or found.
    pub config: Option<Object>,
    /// The documents that could be read.
    pub documents: Vec<Document<'s>>,
}

/// Reads the manifests and exposes their clusters, with the object of `config` or else the ExposeValkey among them; each
/// finding gets its line. `found` is what was found on the way here: after an error nothing is read.
#[must_use]
pub fn expose_all<'s>(sources: &'s [Source], config: Option<&'s [Source]>, found: Vec<Finding>) -> Exposed<'s> {
    let mut findings = found;
    let mut exposed = Exposed::default();
    if !finding::any_error(&findings) {
        let (objects, mut documents) = read(sources, &mut findings);
        let config = choose_config(&objects, config, &mut documents, &mut findings);
        let unreadable = finding::any_error(&findings);
        let mut exposure = expose(&objects, config.as_ref());
        if exposure.clusters.is_empty() && !exposure.known.is_empty() && !unreadable && !finding::any_error(&exposure.findings) {
            let message = if exposure.config.is_operator_managed() {
                "no ValkeyCluster has external access on: no entry of the functionConfig's `spec.clusters` that selects one sets `externalAccess.enabled: true`"
            } else {
                "no ValkeyCluster has external access on: set `spec.externalAccess.enabled: true`"
            };
            findings.push(Finding::info(Rule::NothingToDo, message));
        }
        if !unreadable && !finding::any_error(&exposure.findings) {
            let foreign = foreign(&objects, &exposure);
            exposure.findings.extend(foreign);
        }
        for finding in &mut exposure.findings {
            locate(finding, &documents);
        }
        exposed = Exposed { exposure, config, documents };
    }
    findings.append(&mut exposed.exposure.findings);
    finding::sort(&mut findings);
    exposed.exposure.findings = findings;
    exposed
}

/// The objects of the texts, and their documents; what cannot be read is a finding.
pub fn read<'s>(files: &'s [Source], findings: &mut Vec<Finding>) -> (Vec<Object>, Vec<Document<'s>>) {
    let mut objects = Vec::new();
    let mut documents = Vec::new();
    for file in files {
        for (index, range) in manifests::documents(&file.text).into_iter().enumerate() {
            let Some(text) = file.text.get(range.clone()) else { continue };
            let is_asked_for = file.explicit || names_ours(text);
            if !is_asked_for && !may_matter(text) {
                continue;
            }
            let order = documents.len();
            let index = u64::try_from(index).unwrap_or(0);
            let reference = |offset: usize| FileRef {
                path: file.name.clone(),
                index,
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
                    if is_asked_for {
                        report(&problem);
                    }
                    continue;
                }
            };
            match tree.value() {
                Ok(value) => {
                    let start = reference(tree.span.start);
                    documents.push(Document { file, index, offset: range.start, tree });
                    match value.get("items").and_then(Value::as_array) {
                        Some(items) => objects.extend(items.iter().map(|item| Object::new(item.clone(), Some(start.clone()), order))),
                        None => objects.push(Object::new(value, Some(start), order)),
                    }
                }
                Err(problems) if is_asked_for => problems.iter().for_each(report),
                Err(_) => {}
            }
        }
    }
    (objects, documents)
}

/// A ValkeyCluster whose text must change.
#[derive(Debug)]
pub struct EditedCluster {
    /// Which one.
    pub cluster: ObjectRef,
    /// The name of its source.
    pub source: String,
    /// Where its document lies in the source's text.
    pub place: Range<usize>,
    /// What must take its place.
    pub text: String,
}

/// The ValkeyClusters of the manifests whose servers are to announce themselves by their command, or no longer so, and whose text
/// does not say it yet. One that cannot be edited is a finding.
pub fn edited_clusters(sources: &[Source], exposure: &Exposure, findings: &mut Vec<Finding>) -> Vec<EditedCluster> {
    let mut edited = Vec::new();
    let (objects, documents) = read(sources, &mut Vec::new());
    for object in &objects {
        let Some(document) = documents.get(object.order) else { continue };
        let place = manifests::content_of(&document.file.text, document.offset);
        let Some(text) = document.file.text.get(place.clone()) else { continue };
        match server_command::document(text, object, exposure) {
            Ok(None) => {}
            Ok(Some(text)) => {
                edited.push(EditedCluster { cluster: object.reference.clone(), source: document.file.name.clone(), place, text })
            }
            Err(finding) => findings.push(*finding),
        }
    }
    edited
}

/// Objects of others with names of ours: whoever applies both writes over them.
fn foreign(objects: &[Object], exposure: &Exposure) -> Vec<Finding> {
    let others: HashMap<own::Key, &Object> =
        objects.iter().filter(|object| own::Own::new(object).is_none()).filter_map(|object| Some((own::key(object)?, object))).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let rendered = exposure.rendered();
    rendered.iter().filter_map(|value| Some(check::foreign(others.get(&own::key_of_value(value)?)?, value))).collect()
}

/// In a folder there may be files that are no manifests at all: what names a kind of ours must be one.
fn names_ours(text: &str) -> bool {
    ["ValkeyCluster", "ValkeyNode", "ExposeValkey", "TCPRoute", "tcproutes", "Gateway", "cert-manager.io/", "valkey-"]
        .iter()
        .any(|word| text.contains(word))
}

/// And what is known of others matters: NodePorts that they have, labels that select namespaces, certificates. Where it cannot be
/// read, as a template of Helm cannot, it is none of those.
fn may_matter(text: &str) -> bool {
    ["nodePort", "Namespace", "tls.crt"].iter().any(|word| text.contains(word))
}

fn choose_config<'s>(
    objects: &[Object],
    files: Option<&'s [Source]>,
    documents: &mut Vec<Document<'s>>,
    findings: &mut Vec<Finding>,
) -> Option<Object> {
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
    let (mut objects, mut own) = read(files, findings);
    documents.append(&mut own);
    if objects.len() != 1 && !finding::any_error(findings) {
        let message = format!("`--config` must be a file with one object, it has {}", objects.len());
        findings.push(Finding::error(Rule::UnknownConfig, message));
    }
    objects.pop()
}

/// The document that a finding is about: that of its object, or of the functionConfig, which is told before all others.
fn document<'d, 's>(finding: &Finding, documents: &'d [Document<'s>]) -> Option<&'d Document<'s>> {
    let file = finding.file.as_ref()?;
    let is_it = |document: &&Document<'s>| document.file.name == file.path && document.index == file.index;
    documents.get(finding.order).filter(is_it).or_else(|| documents.iter().find(is_it))
}

/// The bytes of the field that a finding is about, in the text of its document's source.
#[must_use]
pub fn span(finding: &Finding, documents: &[Document<'_>]) -> Option<Range<usize>> {
    let document = document(finding, documents)?;
    let span = &document.tree.nearest(finding.field.as_ref()?).span;
    Some(document.offset.saturating_add(span.start)..document.offset.saturating_add(span.end))
}

fn locate(finding: &mut Finding, documents: &[Document<'_>]) {
    let (Some(document), Some(span)) = (document(finding, documents), span(finding, documents)) else { return };
    let line = line_of(&document.file.text, span.start);
    if let Some(file) = &mut finding.file {
        file.line = Some(line);
    }
}
