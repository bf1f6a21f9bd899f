//! `spec.pinned` in the text of an ExposeValkey: the numbers that differ, one by one; comments, quotes and all else stay.

use std::ops::Range;

use serde_json::{Value, json};

use crate::krm::edit::Edits;
use crate::krm::entries::EntryChange;
use crate::krm::lines::next_line;
use crate::krm::yaml::{Content, Node};
use crate::krm::{Tree, write};

/// Namespace and name of a cluster.
pub(super) type Cluster = (Option<String>, String);

/// A cluster, and the ports of each node of each shard.
pub(super) type Pinned = (Cluster, Vec<Vec<u16>>);

type Replacement = (Range<usize>, String);

/// The ExposeValkey as it must read when the ports are written, as data.
pub(super) fn expected(tree: &Tree<'_>, wanted: &[Pinned]) -> Option<Value> {
    let mut object = tree.node.value().ok()?;
    let spec = some(object.as_object_mut()?.entry("spec").or_insert(Value::Null), json!({}));
    let entries = some(spec.as_object_mut()?.entry("pinned").or_insert(Value::Null), json!([])).as_array_mut()?;
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let present: Vec<Cluster> = entries.iter().map(|entry| named(|key| text(entry, key))).collect();
    for (cluster, ports) in wanted {
        match place_of(cluster, wanted, &present).and_then(|index| entries.get_mut(index)) {
            Some(found) => *found.as_object_mut()?.entry("nodePorts").or_insert(Value::Null) = json!(ports),
            None => entries.push(entry(cluster, ports)),
        }
    }
    Some(object)
}

/// The value, or another where it is null.
fn some(value: &mut Value, otherwise: Value) -> &mut Value {
    if value.is_null() {
        *value = otherwise;
    }
    value
}

/// The changes to the whole text.
pub(super) fn edits(tree: &Tree<'_>, wanted: &[Pinned]) -> Edits {
    let spec = tree.node.get("spec");
    let present = spec.and_then(|spec| spec.get("pinned")).map(entries).unwrap_or_default();
    let mut new = EntryChange::default();
    let mut edits = Edits::default();
    let mut replace = |replacements: Vec<Replacement>| replacements.into_iter().for_each(|(range, text)| edits.replace(range, text));
    let text = |node: &Node<'_>, key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
    let names: Vec<Cluster> = present.iter().map(|node| named(|key| text(node, key))).collect();
    for (cluster, ports) in wanted {
        match place_of(cluster, wanted, &names).and_then(|index| present.get(index)) {
            Some(node) => replace(ports_of_entry(tree, node, ports)),
            None => new.appended.push(entry(cluster, ports)),
        }
    }
    if !new.is_empty() {
        replace(match spec {
            Some(spec) if !spec.entries().is_empty() => new.edits(tree, spec, "pinned"),
            _ => new_spec(tree, &new.appended),
        });
    }
    edits
}

/// An entry of `pinned`.
pub(super) fn entry(cluster: &Cluster, ports: &[Vec<u16>]) -> Value {
    match &cluster.0 {
        Some(namespace) => json!({"name": cluster.1, "namespace": namespace, "nodePorts": ports}),
        None => json!({"name": cluster.1, "nodePorts": ports}),
    }
}

/// The cluster that an entry is of.
fn named(text: impl Fn(&str) -> Option<String>) -> Cluster {
    (text("namespace").filter(|text| !text.is_empty()), text("name").unwrap_or_default())
}

/// The entry of a cluster among those present. One without a namespace is of the cluster in whatever namespace it is, and of
/// several it cannot be.
fn place_of(cluster: &Cluster, wanted: &[Pinned], present: &[Cluster]) -> Option<usize> {
    let is_alone = wanted.iter().filter(|((_, name), _)| *name == cluster.1).count() == 1;
    let without = || is_alone.then(|| present.iter().position(|entry| entry.0.is_none() && entry.1 == cluster.1)).flatten();
    present.iter().position(|entry| entry == cluster).or_else(without)
}

fn entries<'n, 't>(node: &'n Node<'t>) -> &'n [Node<'t>] {
    match &node.resolved().content {
        Content::Sequence { entries, .. } => entries,
        _ => &[],
    }
}

/// Single ports where a shard has as many nodes as before, else the shard's list.
fn ports_of_entry(tree: &Tree<'_>, entry: &Node<'_>, ports: &[Vec<u16>]) -> Vec<Replacement> {
    let shards = entry.get("nodePorts").map(entries).unwrap_or_default();
    let mut change = EntryChange { removed: (ports.len()..shards.len()).collect(), ..EntryChange::default() };
    let mut replacements = Vec::new();
    for (index, ports) in ports.iter().enumerate() {
        match shards.get(index).map(entries) {
            None => change.appended.push(json!(ports)),
            Some(nodes) if nodes.len() != ports.len() => change.replaced.push((index, json!(ports))),
            Some(nodes) => {
                let differing = nodes.iter().zip(ports).filter(|(node, port)| node.text() != Some(&port.to_string()));
                replacements.extend(differing.map(|(node, port)| (place(tree, node), port.to_string())));
            }
        }
    }
    if !change.is_empty() {
        replacements.extend(change.edits(tree, entry, "nodePorts"));
    }
    replacements
}

/// A `spec` with the entries, where there was none, or one with nothing in it.
fn new_spec(tree: &Tree<'_>, entries: &[Value]) -> Vec<Replacement> {
    let root = &tree.node;
    let whole = |range: Range<usize>| range.start.saturating_add(tree.offset)..range.end.saturating_add(tree.offset);
    let spec = root.entry("spec");
    // Blanks and all between the colon and the end of what stands for nothing.
    let nothing = spec.map(|(key, value)| {
        let colon = key.span.end.saturating_add(1);
        colon..value.span.end.max(colon)
    });
    if matches!(root.resolved().content, Content::Mapping { flow: true, .. }) {
        let value = json!({"pinned": entries});
        let close = root.span.end.saturating_sub(1);
        return vec![match nothing {
            Some(nothing) => (whole(nothing), format!(" {value}")),
            None => (whole(close..close), format!(", \"spec\": {value}")),
        }];
    }
    let at = next_line(tree.text, nothing.as_ref().map_or(root.span.end, |nothing| nothing.end.saturating_sub(1)));
    let mut text = if tree.text.get(..at).is_some_and(|text| text.ends_with('\n')) { "" } else { "\n" }.to_owned();
    text.push_str(if spec.is_none() { "spec:\n  pinned:\n" } else { "  pinned:\n" });
    write::sequence(&mut text, entries, 2);
    let mut replacements = vec![(whole(at..at), text)];
    replacements.extend(nothing.filter(|nothing| !nothing.is_empty()).map(|nothing| (whole(nothing), String::new())));
    replacements
}

fn place(tree: &Tree<'_>, node: &Node<'_>) -> Range<usize> {
    node.span.start.saturating_add(tree.offset)..node.span.end.saturating_add(tree.offset)
}
