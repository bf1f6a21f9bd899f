//! `pin`: NodePorts that Kubernetes has allocated, written into the source so that they stay. Only the lines of the ports change.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::files::{self, File};
use super::{FAILED, Input, findings, objects};
use crate::api::CONFIG_API;
use crate::expose::Exposure;
use crate::finding::{Finding, any_error};
use crate::krm::edit::Edits;
use crate::krm::entries::EntryChange;
use crate::krm::yaml::{Content, Node};
use crate::krm::{Tree, manifests, yaml};
use crate::object::Object;
use crate::own::Own;
use crate::plan::{NodePortSource, Ports, route_name};
use crate::rule::Rule;
use crate::validate::Exposed;

type Cluster = (Option<String>, String);
type NodePorts = BTreeMap<(u32, u32), u16>;

pub(super) fn run(input: &Input, ports_from: &PathBuf, err: &mut dyn Write) -> io::Result<u8> {
    let objects::Loaded { files: manifests, mut exposure, .. } = objects::load(input);
    let mut found = std::mem::take(&mut exposure.findings);
    if !any_error(&found) {
        let sources = files::read(std::slice::from_ref(ports_from), &mut found);
        let allocated = allocated(&sources, &mut found);
        let wanted = wanted(&exposure, &allocated, &mut found);
        if !any_error(&found) {
            let configs = match &input.config {
                Some(path) => files::read(std::slice::from_ref(path), &mut found),
                None => manifests,
            };
            if let Some((path, text)) = pinned(&configs, &wanted, &mut found) {
                found.extend(files::write(Path::new(&path), &text).err().map(|finding| *finding));
            }
        }
    }
    findings::print(&found, err)?;
    Ok(if any_error(&found) { FAILED } else { 0 })
}

/// NodePorts by cluster, from Services and from the status of ValkeyClusters.
fn allocated(sources: &[File], findings: &mut Vec<Finding>) -> BTreeMap<Cluster, NodePorts> {
    let mut all: BTreeMap<Cluster, NodePorts> = BTreeMap::new();
    let (objects, _) = objects::read(sources, findings);
    for object in &objects {
        let namespace = object.reference.namespace.clone();
        if let Some(own) = Own::new(object) {
            let ports = all.entry((namespace, own.cluster.clone())).or_default();
            ports.extend(own.node_ports().map(|(at, port)| (at, port.get())));
        } else if object.group() == "valkey.io" && object.reference.kind == "ValkeyCluster" {
            let ports = all.entry((namespace, object.reference.name.clone())).or_default();
            for (at, port) in crate::validate::read_back(object) {
                ports.entry(at).or_insert(port.get());
            }
        }
    }
    all
}

/// The ports to pin, shard by shard, for each cluster whose NodePorts are allocated.
fn wanted(exposure: &Exposure, allocated: &BTreeMap<Cluster, NodePorts>, findings: &mut Vec<Finding>) -> Vec<(Cluster, Vec<Vec<u16>>)> {
    let mut wanted = Vec::new();
    for cluster in &exposure.clusters {
        let is_allocated = matches!(cluster.plan.cluster.ports, Ports::NodePorts { .. });
        if !is_allocated || matches!(cluster.plan.cluster.node_ports, NodePortSource::Formula { .. }) {
            continue;
        }
        let key = (cluster.plan.cluster.namespace.clone(), cluster.name().to_owned());
        let ports = allocated.get(&key).cloned().unwrap_or_default();
        match by_shard(cluster, &ports) {
            Ok(ports) => wanted.push((key, ports)),
            Err((shard, node)) => {
                let message = format!(
                    "there is no NodePort of node {} in `--ports-from`: give the Services of namespace {}, or the ValkeyCluster with its status, once Kubernetes has allocated it",
                    route_name(cluster.name(), shard, node).trim_start_matches("valkey-"),
                    cluster.namespace().unwrap_or("of the cluster"),
                );
                findings.push(cluster.finding(Finding::error(Rule::Pin, message)));
            }
        }
    }
    if wanted.is_empty() && !any_error(findings) {
        findings.push(Finding::info(Rule::Pin, "no cluster has allocated NodePorts: nothing to pin"));
    }
    wanted
}

fn by_shard(cluster: &Exposed, ports: &NodePorts) -> Result<Vec<Vec<u16>>, (u32, u32)> {
    let port = |shard: u32, node: u32| ports.get(&(shard, node)).copied().ok_or((shard, node));
    cluster.plan.shards.iter().map(|shard| shard.nodes.iter().map(|node| port(shard.index, node.index)).collect()).collect()
}

/// The file of the ExposeValkey and its new text, if it changes.
fn pinned(files: &[File], wanted: &[(Cluster, Vec<Vec<u16>>)], findings: &mut Vec<Finding>) -> Option<(String, String)> {
    if wanted.is_empty() {
        return None;
    }
    for file in files {
        for range in manifests::documents(&file.text) {
            let text = file.text.get(range.clone())?;
            let Some(tree) = expose_valkey(text, range.start) else { continue };
            let mut edits = Edits::default();
            for (range, text) in changes(&file.text, &tree, wanted) {
                edits.replace(range, text);
            }
            if edits.is_empty() {
                return None;
            }
            if file.name == "-" {
                findings.push(Finding::error(
                    Rule::Pin,
                    "the ExposeValkey came from standard input, and cannot be written back: name its file",
                ));
                return None;
            }
            return Some((file.name.clone(), edits.apply(&file.text).to_string()));
        }
    }
    let example = wanted.first().map(|(cluster, ports)| entry(cluster, ports).to_string()).unwrap_or_default();
    let message = format!(
        "there is no ExposeValkey among the manifests to write the ports to: add one (`apiVersion: {CONFIG_API}`, `kind: ExposeValkey`, `metadata: {{name: expose}}`, `spec: {{}}`) and use it as functionConfig; it will hold `spec.pinned: [{example}]`"
    );
    findings.push(Finding::error(Rule::Pin, message));
    None
}

fn expose_valkey(text: &str, offset: usize) -> Option<Tree<'_>> {
    if !text.contains("ExposeValkey") {
        return None;
    }
    let node = yaml::parse(text).ok()?;
    let object = Object::new(node.value().ok()?, None, 0);
    (object.reference.api_version == CONFIG_API && object.reference.kind == "ExposeValkey").then_some(Tree { text, offset, node })
}

/// Replacements in the text: single ports where the numbers of shards and nodes are the same, else the whole value.
fn changes(whole: &str, tree: &Tree<'_>, wanted: &[(Cluster, Vec<Vec<u16>>)]) -> Vec<(std::ops::Range<usize>, String)> {
    let place = |node: &Node<'_>| node.span.start.saturating_add(tree.offset)..node.span.end.saturating_add(tree.offset);
    let spec = tree.node.get("spec");
    let present: Vec<&Node<'_>> = match spec.and_then(|spec| spec.get("pinned")).map(|node| &node.resolved().content) {
        Some(Content::Sequence { entries, .. }) => entries.iter().collect(),
        _ => Vec::new(),
    };
    let mut edits = Vec::new();
    let mut new = EntryChange::default();
    for (cluster, ports) in wanted {
        let text = |node: &Node<'_>, key: &str| node.get(key).and_then(Node::text).map(str::to_owned).filter(|text| !text.is_empty());
        let found = present.iter().find(|node| text(node, "name").as_ref() == Some(&cluster.1) && text(node, "namespace") == cluster.0);
        match found.and_then(|node| node.get("nodePorts")) {
            Some(node) => match single_ports(node, ports) {
                Some(singles) => edits.extend(singles.into_iter().map(|(node, port)| (place(node), port.to_string()))),
                None => edits.push((place(node), flow(ports))),
            },
            None => new.appended.push(entry(cluster, ports)),
        }
    }
    if new.is_empty() {
        return edits;
    }
    match spec.filter(|spec| matches!(spec.resolved().content, Content::Mapping { .. })) {
        Some(spec) if !spec.entries().is_empty() => edits.extend(new.edits(tree, spec, "pinned")),
        Some(spec) => edits.push((place(spec), json!({"pinned": new.appended}).to_string())),
        None => {
            let at = crate::krm::lines::next_line(whole, place(&tree.node).end);
            let newline = if whole.get(..at).is_some_and(|text| text.ends_with('\n')) { "" } else { "\n" };
            let mut text = format!("{newline}spec:\n  pinned:\n");
            crate::krm::write::sequence(&mut text, &new.appended, 2);
            edits.push((at..at, text));
        }
    }
    edits
}

/// The ports that differ, if all that is there is a port for each node of each shard.
fn single_ports<'n, 't>(node: &'n Node<'t>, ports: &[Vec<u16>]) -> Option<Vec<(&'n Node<'t>, u16)>> {
    let entries = |node: &'n Node<'t>| match &node.resolved().content {
        Content::Sequence { entries, .. } => Some(entries),
        _ => None,
    };
    let shards = entries(node)?;
    let mut differing = Vec::new();
    if shards.len() != ports.len() {
        return None;
    }
    for (shard, ports) in shards.iter().zip(ports) {
        let nodes = entries(shard)?;
        if nodes.len() != ports.len() {
            return None;
        }
        for (node, port) in nodes.iter().zip(ports) {
            if node.text()? != port.to_string() {
                differing.push((node, *port));
            }
        }
    }
    Some(differing)
}

fn entry(cluster: &Cluster, ports: &[Vec<u16>]) -> Value {
    match &cluster.0 {
        Some(namespace) => json!({"name": cluster.1, "namespace": namespace, "nodePorts": ports}),
        None => json!({"name": cluster.1, "nodePorts": ports}),
    }
}

fn flow(ports: &[Vec<u16>]) -> String {
    let list = |ports: &Vec<u16>| format!("[{}]", ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", "));
    let lists: Vec<String> = ports.iter().map(list).collect();
    format!("[{}]", lists.join(", "))
}
