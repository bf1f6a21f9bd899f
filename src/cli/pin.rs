//! `pin`: NodePorts that Kubernetes has allocated, written into the source so that they stay. Only the lines of the ports change.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::files::{self, File};
use super::pinned_text::{self, Cluster, Pinned};
use super::{FAILED, Input, findings, objects};
use crate::api::CONFIG_API;
use crate::expose::Exposure;
use crate::finding::{Finding, Severity, any_error};
use crate::krm::{Tree, manifests, yaml};
use crate::object::Object;
use crate::own::Own;
use crate::plan::{self, NodePortSource, Ports};
use crate::rule::Rule;
use crate::validate::Exposed;

type NodePorts = BTreeMap<(u32, u32), u16>;

pub(super) fn run(input: &Input, ports_from: &PathBuf, err: &mut dyn Write) -> io::Result<u8> {
    let objects::Loaded { files: manifests, mut exposure, .. } = objects::load(input);
    let mut found = std::mem::take(&mut exposure.findings);
    if !any_error(&found) {
        let sources = files::read(std::slice::from_ref(ports_from), &mut found);
        let allocated = allocated(&sources, exposure.config.is_operator_managed(), &mut found);
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

/// NodePorts by cluster, from Services and from the status of ValkeyClusters. The Services of another mode go, with their ports.
fn allocated(sources: &[File], per_node: bool, findings: &mut Vec<Finding>) -> BTreeMap<Cluster, NodePorts> {
    let mut all: BTreeMap<Cluster, NodePorts> = BTreeMap::new();
    let (objects, _) = objects::read(sources, findings);
    for object in &objects {
        let namespace = object.reference.namespace.clone();
        if let Some(own) = Own::new(object) {
            if own.node.is_some() != per_node {
                continue;
            }
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
fn wanted(exposure: &Exposure, allocated: &BTreeMap<Cluster, NodePorts>, findings: &mut Vec<Finding>) -> Vec<Pinned> {
    let mut wanted = Vec::new();
    for cluster in &exposure.clusters {
        let is_allocated = matches!(cluster.plan.cluster.ports, Ports::NodePorts { .. });
        if !is_allocated || matches!(cluster.plan.cluster.node_ports, NodePortSource::Formula { .. }) {
            continue;
        }
        let key = (cluster.plan.cluster.namespace.clone(), cluster.name().to_owned());
        match ports_of(&key, allocated).and_then(|ports| by_shard(cluster, &ports)) {
            Ok(ports) => wanted.push((key, ports)),
            Err(message) => findings.push(cluster.finding(Finding::error(Rule::Pin, message))),
        }
    }
    if wanted.is_empty() && !any_error(findings) {
        findings.push(Finding::info(Rule::Pin, "no cluster has allocated NodePorts: nothing to pin"));
    }
    wanted
}

/// The ports of a cluster. Manifests often leave the namespace to Kustomize, and what runs has one: the only one it can be.
fn ports_of(cluster: &Cluster, allocated: &BTreeMap<Cluster, NodePorts>) -> Result<NodePorts, String> {
    if cluster.0.is_some() {
        return Ok(allocated.get(cluster).cloned().unwrap_or_default());
    }
    let mut found = allocated.iter().filter(|((_, name), ports)| *name == cluster.1 && !ports.is_empty());
    let ports = found.next();
    match (ports, found.next()) {
        (Some(((first, _), _)), Some(((second, _), _))) => Err(format!(
            "the cluster has no namespace, and `--ports-from` has clusters of its name in `{}` and `{}`: set `metadata.namespace`, or give the Services of one namespace",
            first.as_deref().unwrap_or_default(),
            second.as_deref().unwrap_or_default(),
        )),
        _ => Ok(ports.map(|(_, ports)| ports.clone()).unwrap_or_default()),
    }
}

fn by_shard(cluster: &Exposed, ports: &NodePorts) -> Result<Vec<Vec<u16>>, String> {
    let missing = |name: &str| {
        let whose = cluster.namespace().map_or_else(|| "the cluster's namespace".to_owned(), |namespace| format!("namespace {namespace}"));
        format!(
            "there is no NodePort of node {name} in `--ports-from`: give the Services of {whose}, or the ValkeyCluster with its status, once Kubernetes has allocated it"
        )
    };
    let port = |node: &plan::Node| ports.get(&(node.shard, node.index)).copied().ok_or_else(|| missing(&node.name));
    cluster.plan.shards.iter().map(|shard| shard.nodes.iter().map(port).collect()).collect()
}

/// The file of the ExposeValkey and its new text, if it changes.
fn pinned(files: &[File], wanted: &[Pinned], findings: &mut Vec<Finding>) -> Option<(String, String)> {
    if wanted.is_empty() {
        return None;
    }
    let refused = |message: String| Finding::error(Rule::Pin, message);
    let found = files.iter().find_map(|file| {
        let mut documents = manifests::documents(&file.text).into_iter();
        documents.find_map(|range| Some((file, expose_valkey(file.text.get(range.clone())?, range.start)?)))
    });
    let Some((file, tree)) = found else {
        findings.push(refused(format!(
            "there is no ExposeValkey among the manifests to write the ports to: add one (`apiVersion: {CONFIG_API}`, `kind: ExposeValkey`, `metadata: {{name: expose}}`, `spec: {{}}`) and use it as functionConfig; it will hold {}",
            shown(wanted)
        )));
        return None;
    };
    let expected = pinned_text::expected(&tree, wanted)?;
    if tree.node.value().ok().as_ref() == Some(&expected) {
        return None;
    }
    // What every later run would refuse is not written.
    let mut refusals = Vec::new();
    crate::validate::config(Some(&Object::new(expected.clone(), None, 0)), &mut refusals);
    if any_error(&refusals) {
        findings.extend(refusals.into_iter().filter(|finding| finding.severity == Severity::Error).map(|finding| {
            let message = format!("nothing is written, as the ExposeValkey would be refused with these ports: {}", finding.message);
            Finding { rule: Rule::Pin, message, ..finding }
        }));
        return None;
    }
    if file.name == "-" {
        findings.push(refused("the ExposeValkey came from standard input, and cannot be written back: name its file".to_owned()));
        return None;
    }
    let text = pinned_text::edits(&tree, wanted).apply(&file.text).to_string();
    let mut written = manifests::documents(&text).into_iter().filter_map(|range| expose_valkey(text.get(range.clone())?, range.start));
    if written.next().and_then(|tree| tree.node.value().ok()) != Some(expected) {
        findings.push(refused(format!(
            "the ports cannot be written into the text of `{}`, because of an alias or an unusual style: write {} into it by hand",
            file.name,
            shown(wanted)
        )));
        return None;
    }
    Some((file.name.clone(), text))
}

fn shown(wanted: &[Pinned]) -> String {
    let entries: Vec<String> = wanted.iter().map(|(cluster, ports)| pinned_text::entry(cluster, ports).to_string()).collect();
    format!("`spec.pinned: [{}]`", entries.join(", "))
}

fn expose_valkey(text: &str, offset: usize) -> Option<Tree<'_>> {
    if !text.contains("ExposeValkey") {
        return None;
    }
    let node = yaml::parse(text).ok()?;
    let object = Object::new(node.value().ok()?, None, 0);
    (object.reference.api_version == CONFIG_API && object.reference.kind == "ExposeValkey").then_some(Tree { text, offset, node })
}
