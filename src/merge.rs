//! What was rendered, laid over what an earlier run left in the list: regenerated in place, appended, or removed.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::check;
use crate::expose::Exposure;
use crate::finding::{FileRef, Finding};
use crate::gateway_listeners;
use crate::krm::{Change, ResourceList, annotations};
use crate::object::Object;
use crate::own::{self, Key, Own};
use crate::rule::Rule;
use crate::select::{Selected, Selection};
use crate::server_command;
use crate::validate::{Exposed, full_name};

/// The changes to the list, and what must be said about them.
pub(crate) fn merge(list: &ResourceList<'_>, exposure: &Exposure, selection: &Selection, findings: &mut Vec<Finding>) -> Change {
    let mut change = Change::default();
    gateway_listeners::merge(list, exposure, selection, &mut change, findings);
    server_command::merge(list, exposure, selection, &mut change, findings);
    let mut wanted: HashSet<Key> = HashSet::new();
    let mut present: HashMap<Key, Vec<usize>> = HashMap::new();
    let mut in_lists: HashMap<Key, &Object> = HashMap::new();
    for (object, origin) in selection.objects.iter().zip(&selection.origins) {
        if let (Some(key), true) = (own::key(object), origin.nested) {
            in_lists.insert(key, object);
        }
    }
    for (index, object) in selection.objects.iter().enumerate() {
        let is_item = selection.origins.get(index).is_some_and(|origin| !origin.nested);
        if let (Some(key), true) = (own::key(object), is_item) {
            present.entry(key).or_default().push(index);
        }
    }
    let mut files = Files::new(selection);
    for cluster in &exposure.clusters {
        for value in exposure.render(cluster) {
            let Some(key) = own::key_of_value(&value) else { continue };
            match present.get(&key).and_then(|indexes| indexes.first()) {
                None => match in_lists.get(&key) {
                    Some(object) => findings.extend(in_list(object, &value)),
                    None => change.appended.push(list.new_item(&files.place(cluster, value))),
                },
                Some(index) => replace(*index, value, selection, &mut change, findings),
            }
            wanted.insert(key);
        }
    }
    remove_stale(exposure, selection, &wanted, &present, &mut change, findings);
    findings.extend(left_alone(exposure, selection));
    findings.extend(referred_to(list, selection, &change));
    change
}

/// Puts an object in the place of its earlier self; the same data keeps the text that it has.
fn replace(index: usize, mut value: Value, selection: &Selection, change: &mut Change, findings: &mut Vec<Finding>) {
    let (Some(object), Some(origin)) = (selection.objects.get(index), selection.origins.get(index)) else { return };
    if Own::new(object).is_none() {
        return findings.push(check::foreign(object, &value));
    }
    let kept = object.value.pointer("/metadata/annotations").and_then(Value::as_object).into_iter().flatten();
    let kept: Map<String, Value> = kept.filter(|(key, _)| annotations::is_bookkeeping(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
    annotate(&mut value, kept);
    keep_node_ports(&mut value, &object.value);
    if value != object.value {
        change.replaced.push((origin.item, origin.end, value));
    }
}

/// A Service keeps the NodePorts that were allocated to it: those of nodes are in the plan, and this is about all others.
fn keep_node_ports(value: &mut Value, earlier: &Value) {
    if !matches!(value.pointer("/spec/type").and_then(Value::as_str), Some("NodePort" | "LoadBalancer")) {
        return;
    }
    let Some(ports) = value.pointer_mut("/spec/ports").and_then(Value::as_array_mut) else { return };
    for port in ports.iter_mut().filter_map(Value::as_object_mut).filter(|port| !port.contains_key("nodePort")) {
        let same = |other: &&Value| other.get("name") == port.get("name");
        let earlier = earlier.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten().find(same);
        if let Some(number) = earlier.and_then(|port| port.get("nodePort")).filter(|number| number.is_u64()) {
            port.insert("nodePort".to_owned(), number.clone());
            port.sort_keys();
        }
    }
}

/// Objects that cannot go or change, because aliases in other items stand for what is in them.
fn referred_to(list: &ResourceList<'_>, selection: &Selection, change: &Change) -> Vec<Finding> {
    let touched: HashSet<usize> =
        change.replaced.iter().map(|(item, ..)| *item).chain(change.removed.iter().map(|(item, _)| *item)).collect();
    let referred_to = |origin: &Selected| list.items.get(origin.item).is_some_and(|item| list.is_referred_to(item));
    let origins = selection.objects.iter().zip(&selection.origins);
    let objects = origins.filter(|(_, origin)| touched.contains(&origin.item) && referred_to(origin)).map(|(object, _)| object);
    let message = "this output of an earlier run holds an anchor that other items refer to: write the value out where it is used, then remove this object";
    objects.map(|object| object.finding(Finding::error(Rule::ForeignObject, message).at("metadata.name"))).collect()
}

/// What lies in a `List` inside of the items passes as it is, and one more of its name would be one too many.
fn in_list(object: &Object, value: &Value) -> Option<Finding> {
    if *value == object.value {
        return None;
    }
    let message = "this object has a name that is ours and lies in a List, whose text is left alone: it cannot be brought up to date; make it an item of its own, or remove it";
    Some(object.finding(Finding::error(Rule::ForeignObject, message).at("metadata.name").current(object.reference.name.clone())))
}

fn remove_stale(
    exposure: &Exposure,
    selection: &Selection,
    wanted: &HashSet<Key>,
    present: &HashMap<Key, Vec<usize>>,
    change: &mut Change,
    findings: &mut Vec<Finding>,
) {
    for (index, object) in selection.objects.iter().enumerate() {
        let Some(Selected { item, end, nested: false }) = selection.origins.get(index) else { continue };
        let Some(own) = Own::new(object) else { continue };
        let first = present.get(&own.key).and_then(|indexes| indexes.first()) == Some(&index);
        if wanted.contains(&own.key) && first {
            continue;
        }
        let cluster = (object.reference.namespace.clone(), own.cluster.clone());
        if exposure.left_alone.contains(&cluster) {
            continue;
        }
        let name = full_name(cluster.0.as_deref(), &cluster.1);
        if exposure.known.contains(&cluster) {
            let message = format!("removed: an output of an earlier run that cluster {name} no longer has");
            findings.push(object.finding(Finding::info(Rule::StaleRemoved, message)));
            change.removed.push((*item, *end));
        } else {
            let message =
                format!("left as it is: an output for cluster {name}, which is not in the list; remove it if the cluster is gone");
            findings.push(object.finding(Finding::warning(Rule::OrphanLeft, message)));
        }
    }
}

/// Clusters that are exposed, and of which this functionConfig says nothing: a word for each, as nobody may be meant to by now.
fn left_alone(exposure: &Exposure, selection: &Selection) -> Vec<Finding> {
    let name = |object: &Object, cluster: &str| (object.reference.namespace.clone(), cluster.to_owned());
    let exposed: HashSet<_> = selection.objects.iter().filter_map(Own::new).map(|own| name(own.object, &own.cluster)).collect();
    let is_left = |object: &&Object| {
        let name = name(object, &object.reference.name);
        exposure.left_alone.contains(&name) && (exposed.contains(&name) || server_command::is_in(object))
    };
    let clusters = selection.objects.iter().filter(|object| server_command::is_cluster(object)).filter(is_left);
    let message = "what exposes this cluster is left as it is, as no entry of this functionConfig selects it and another functionConfig may; if none does, select it here with `externalAccess: {enabled: false}`, and that is removed";
    clusters.map(|cluster| cluster.finding(Finding::info(Rule::NotSelected, message))).collect()
}

fn annotate(value: &mut Value, more: Map<String, Value>) {
    if more.is_empty() {
        return;
    }
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let mut all: Vec<(String, Value)> = match metadata.shift_remove("annotations") {
        Some(Value::Object(own)) => own.into_iter().chain(more).collect(),
        _ => more.into_iter().collect(),
    };
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    metadata.shift_insert(0, "annotations".to_owned(), Value::Object(Map::from_iter(all)));
}

/// Files for new objects, where the list says which file an object is in.
struct Files {
    /// The next free index of each file that objects of ours may go to.
    next: HashMap<String, u64>,
}

impl Files {
    fn new(selection: &Selection) -> Self {
        let mut next: HashMap<String, u64> = HashMap::new();
        for object in &selection.objects {
            let Some(FileRef { path, index, .. }) = &object.file else { continue };
            let free = next.entry(path.clone()).or_default();
            *free = (*free).max(index.saturating_add(1));
        }
        Files { next }
    }

    /// Gives a new object a place in the file beside its cluster's, in the spellings that the cluster has.
    fn place(&mut self, cluster: &Exposed, mut value: Value) -> Value {
        let Some(file) = &cluster.file else { return value };
        let folder = file.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
        let path = format!("{folder}{}{}", cluster.name(), annotations::FILE_SUFFIX);
        let index = self.next.entry(path.clone()).or_default();
        let mut more = Map::new();
        for (path_key, index_key) in annotations::PATH.iter().zip(annotations::INDEX) {
            if cluster.file_annotations.contains(*path_key) {
                more.insert((*path_key).to_owned(), json!(path));
                more.insert(index_key.to_owned(), json!(index.to_string()));
            }
        }
        *index = index.saturating_add(1);
        annotate(&mut value, more);
        value
    }
}
