//! `announce: Command`: the ValkeyClusters themselves, with the servers' command in `spec.containers`, and without it again.
//!
//! A cluster is edited in its own text, so that nothing but the lines of `spec.containers` changes, and so that taking the command
//! out gives back the text as it was. That is tried out before anything is changed: what could not be put back is an error.

use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::api::Announce;
use crate::expose::Exposure;
use crate::finding::Finding;
use crate::krm::edit::{Edits, has_crlf};
use crate::krm::entries::EntryChange;
use crate::krm::yaml::{self, Content, Node};
use crate::krm::{Change, ResourceList, Tree, keys};
use crate::object::Object;
use crate::render::server_container;
use crate::rule::Rule;
use crate::select::Selection;
use crate::validate::Exposed;
use crate::validate::server::{self, Added, Patch};

/// Edits the clusters of a list.
pub(crate) fn merge(list: &ResourceList<'_>, exposure: &Exposure, selection: &Selection, change: &mut Change, findings: &mut Vec<Finding>) {
    for (object, origin) in selection.objects.iter().zip(&selection.origins) {
        let Some(item) = list.items.get(origin.item).filter(|_| is_cluster(object)) else { continue };
        let wanted = wanted(exposure, object);
        if !differs(exposure, object, wanted) {
            continue;
        }
        let (text, start) = (list.item_text(item), item.range.start);
        let new = if origin.nested || list.is_referred_to(item) { None } else { edited(text, wanted) };
        match new {
            Some(new) => {
                let (range, mut middle) = difference(text, &new);
                if has_crlf(list.text) {
                    middle = middle.replace("\r\n", "\n");
                }
                change.edits.push((range.start.saturating_add(start)..range.end.saturating_add(start), middle));
            }
            None => findings.push(not_editable(object)),
        }
    }
}

/// A document as it must be, if it has a cluster whose command is to change.
///
/// # Errors
/// A document that cannot be edited.
pub(crate) fn document(text: &str, object: &Object, exposure: &Exposure) -> Result<Option<String>, Box<Finding>> {
    let wanted = wanted(exposure, object);
    if !is_cluster(object) || !differs(exposure, object, wanted) {
        return Ok(None);
    }
    edited(text, wanted).map(Some).ok_or_else(|| Box::new(not_editable(object)))
}

/// The cluster whose servers announce themselves by their command, if the object is one.
fn wanted<'e>(exposure: &'e Exposure, object: &Object) -> Option<&'e Exposed> {
    if exposure.config.announce != Some(Announce::Command) {
        return None;
    }
    exposure.clusters.iter().find(|cluster| cluster.object == object.reference)
}

pub(crate) fn is_cluster(object: &Object) -> bool {
    object.group() == "valkey.io" && object.reference.kind == "ValkeyCluster"
}

fn not_editable(object: &Object) -> Finding {
    let message = "`announce: Command` edits `spec.containers`, and could not put this text back as it was: write it out, as a list in an object of its own without YAML anchors, aliases or keys without a value, or set `announce: Live`";
    object.finding(Finding::error(Rule::ClusterNotEditable, message).at("spec.containers"))
}

fn spec_of(value: &Value) -> Map<String, Value> {
    value.get("spec").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Whether a cluster's servers have a command of ours.
pub(crate) fn is_in(object: &Object) -> bool {
    Patch::find(&spec_of(&object.value)).is_some()
}

/// Whether the object's command is not what it must be.
fn differs(exposure: &Exposure, object: &Object, wanted: Option<&Exposed>) -> bool {
    let Some(exposed) = wanted else { return is_in(object) && !exposure.leaves_alone(object) };
    let spec = spec_of(&object.value);
    let (present, added) = match (server::container(&spec), Patch::find(&spec)) {
        (Some((_, container)), Some(patch)) => (container, patch.added),
        _ => return true,
    };
    let Some(wanted) = server_container(exposed, added) else { return false };
    let variables = |container: &Value| container.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
    let present = Value::Object(present.clone());
    let there = variables(&present);
    present.get("command") != wanted.get("command") || variables(&wanted).iter().any(|variable| !there.contains(variable))
}

/// The text with the command that is wanted, or without one. Nothing where that could not be undone.
fn edited(text: &str, wanted: Option<&Exposed>) -> Option<String> {
    let bare = without(text)?;
    let Some(exposed) = wanted else { return Some(bare) };
    let new = with(&bare, exposed)?;
    let same_data = server::without_patch(&spec_of(&value(&new)?)) == spec_of(&value(&bare)?);
    (same_data && without(&new)? == bare).then_some(new)
}

fn with(text: &str, exposed: &Exposed) -> Option<String> {
    let spec = spec_of(&value(text)?);
    let there = server::container(&spec);
    let added = match (spec.get("containers"), there) {
        (None, _) => Added::Containers,
        (_, None) => Added::Container,
        (_, Some((_, container))) if container.contains_key("env") => Added::Command,
        _ => Added::Env,
    };
    let ours = server_container(exposed, added)?;
    let Some((index, _)) = there else {
        let entries = EntryChange { appended: vec![ours.clone()], ..EntryChange::default() };
        return step(text, |tree, node| {
            let spec = node.get("spec")?;
            match added {
                Added::Containers => keys::append(text, spec, &Map::from_iter([("containers".to_owned(), json!([ours]))])),
                _ => Some(entries.edits(tree, spec, "containers")),
            }
        });
    };
    let key = |name: &str| Some((name.to_owned(), ours.get(name)?.clone()));
    if added == Added::Env {
        let both = Map::from_iter([key("command")?, key("env")?]);
        return step(text, |_, node| keys::append(text, entry(node, index)?, &both));
    }
    let variables = ours.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
    let variables = EntryChange { appended: variables, ..EntryChange::default() };
    let text = step(text, |tree, node| Some(variables.edits(tree, entry(node, index)?, "env")))?;
    step(&text, |_, node| keys::append(&text, entry(node, index)?, &Map::from_iter([key("command")?])))
}

fn without(text: &str) -> Option<String> {
    let Some(patch) = Patch::find(&spec_of(&value(text)?)) else { return Some(text.to_owned()) };
    let index = patch.entry;
    match patch.whole {
        Added::Containers => step(text, |_, node| keys::remove(text, node.get("spec")?, &["containers"])),
        Added::Container => {
            let entries = EntryChange { removed: vec![index], ..EntryChange::default() };
            step(text, |tree, node| Some(entries.edits(tree, node.get("spec")?, "containers")))
        }
        Added::Env => {
            let own: &[&str] = if patch.command { &["command", "env"] } else { &["env"] };
            step(text, |_, node| keys::remove(text, entry(node, index)?, own))
        }
        Added::Command => {
            let text =
                if patch.command { step(text, |_, node| keys::remove(text, entry(node, index)?, &["command"]))? } else { text.to_owned() };
            if patch.env.is_empty() {
                return Some(text);
            }
            let variables = EntryChange { removed: patch.env, ..EntryChange::default() };
            step(&text, |tree, node| Some(variables.edits(tree, entry(node, index)?, "env")))
        }
    }
}

/// One edit, made by the places of the text as it is now. What changes nothing has failed.
fn step(text: &str, edits: impl FnOnce(&Tree<'_>, &Node<'_>) -> Option<Vec<(Range<usize>, String)>>) -> Option<String> {
    let tree = Tree { text, offset: 0, node: standalone(text)? };
    let found = edits(&tree, &tree.node)?;
    if found.is_empty() {
        return None;
    }
    let mut edits = Edits::default();
    for (range, new) in joined(found) {
        let (range, new) = at_the_end(text, range, new);
        edits.replace(range, new);
    }
    Some(edits.apply(text).to_string())
}

/// Pieces that go one behind the other, as one.
fn joined(mut edits: Vec<(Range<usize>, String)>) -> Vec<(Range<usize>, String)> {
    edits.sort_by_key(|(range, _)| range.start);
    let mut joined: Vec<(Range<usize>, String)> = Vec::new();
    for (range, new) in edits {
        match joined.last_mut() {
            Some((before, text)) if text.is_empty() && new.is_empty() && before.end == range.start => before.end = range.end,
            _ => joined.push((range, new)),
        }
    }
    joined
}

/// A text that ends in the middle of a line goes on doing so, with new lines at its end and when they go again.
fn at_the_end(text: &str, mut range: Range<usize>, mut new: String) -> (Range<usize>, String) {
    if range.end < text.len() || text.ends_with('\n') {
        return (range, new);
    }
    if range.is_empty() && new.ends_with('\n') {
        new.pop();
    } else if new.is_empty() {
        let before = text.get(..range.start).unwrap_or_default();
        let kept = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before);
        range.start = kept.len();
    }
    (range, new)
}

fn entry<'n, 't>(node: &'n Node<'t>, index: usize) -> Option<&'n Node<'t>> {
    match &node.get("spec")?.get("containers")?.resolved().content {
        Content::Sequence { entries, .. } => entries.get(index),
        _ => None,
    }
}

/// The object in an item's text, behind its dash, or in a document's.
fn standalone(text: &str) -> Option<Node<'_>> {
    match yaml::parse(text).ok()? {
        Node { content: Content::Sequence { mut entries, .. }, .. } if entries.len() == 1 => entries.pop(),
        node => Some(node),
    }
}

fn value(text: &str) -> Option<Value> {
    standalone(text)?.value().ok()
}

/// What differs between two texts, as one replacement of whole lines: new ones go exactly where they were put, and not into a
/// line behind that begins as they do.
fn difference(old: &str, new: &str) -> (Range<usize>, String) {
    let before: usize =
        old.split_inclusive('\n').zip(new.split_inclusive('\n')).take_while(|(a, b)| a == b).map(|(line, _)| line.len()).sum();
    let (old_rest, new_rest) = (old.get(before..).unwrap_or_default(), new.get(before..).unwrap_or_default());
    let behind = old_rest.split_inclusive('\n').rev().zip(new_rest.split_inclusive('\n').rev()).take_while(|(a, b)| a == b);
    let behind: usize = behind.map(|(line, _)| line.len()).sum();
    let middle = new_rest.get(..new_rest.len().saturating_sub(behind)).unwrap_or_default();
    (before..old.len().saturating_sub(behind), middle.to_owned())
}
