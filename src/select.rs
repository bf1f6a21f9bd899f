//! Which items are read at all: a list may hold thousands of objects, and few of them concern us.

use memchr::memmem;
use serde_json::Value;

use crate::finding::{Finding, Severity};
use crate::krm::annotations::FILE_SUFFIX;
use crate::krm::lines::line_of;
use crate::krm::yaml::{Problem, ProblemKind};
use crate::krm::{Item, ResourceList, Tree, annotations};
use crate::object::Object;
use crate::render::{CLUSTER_LABEL, EXTENSION_LABEL};
use crate::rule::Rule;

/// An object that was read from an item.
#[derive(Debug)]
pub(crate) struct Selected {
    /// Index of its item.
    pub(crate) item: usize,
    /// Where the item's content ends in the text.
    pub(crate) end: usize,
    /// It lies in a `List` inside of the item: it can be looked at, not replaced.
    pub(crate) nested: bool,
}

/// The objects that concern us, with the items that they come from.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) objects: Vec<Object>,
    pub(crate) origins: Vec<Selected>,
    looked_at: LookedAt,
}

/// What makes objects matter that do not in other lists.
#[derive(Clone, Copy, Debug, Default)]
struct LookedAt {
    /// NodePorts of ours may be fixed: whose Services have NodePorts matters then.
    fixed_node_ports: bool,
    /// Services may be made for nodes: others may have their names.
    node_services: bool,
}

/// Reads what concerns us.
pub(crate) fn select(list: &ResourceList<'_>, findings: &mut Vec<Finding>) -> Selection {
    let names = |keys: &[&str]| keys.iter().any(|key| memmem::find(list.text.as_bytes(), key.as_bytes()).is_some());
    let looked_at = LookedAt {
        fixed_node_ports: names(&["nodePorts", "nodePortBase"]),
        node_services: list.function_config.is_some() && names(&["OperatorManaged"]),
    };
    let mut selection = Selection { looked_at, ..Selection::default() };
    let mut files = memmem::find_iter(list.text.as_bytes(), FILE_SUFFIX).peekable();
    for (index, item) in list.items.iter().enumerate() {
        let mut names_our_file = false;
        while files.next_if(|at| *at < item.range.end).is_some() {
            names_our_file = true;
        }
        let text = list.item_text(item);
        match item.head {
            Some((api_version, kind)) if !names_our_file && !concerns(api_version, kind, text, selection.looked_at) => continue,
            _ => read(list, index, item, text, &mut selection, findings),
        }
    }
    selection
}

/// Whether an object of this kind may concern us; the text decides where the kind alone does not.
fn concerns(api_version: &str, kind: &str, text: &str, looked_at: LookedAt) -> bool {
    let contains = |word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    let has_escape = || memchr::memchr(b'\\', text.as_bytes()).is_some();
    match kind {
        "ValkeyCluster" | "ValkeyNode" => api_version.starts_with("valkey.io/"),
        "TCPRoute" | "TLSRoute" | "Gateway" | "ListenerSet" => api_version.starts_with("gateway.networking.k8s.io/"),
        // What names of ours end with; a backslash may hide any letter of that in a quoted string. The NodePorts of others matter
        // where ours are fixed.
        "Service" => {
            ["-shard-", "-bootstrap", EXTENSION_LABEL].into_iter().any(contains)
                || has_escape()
                || (looked_at.fixed_node_ports && contains("nodePort"))
                || (looked_at.node_services && contains("valkey-"))
        }
        "DNSEndpoint" => contains("-external") || has_escape(),
        // One that somebody has written by hand may lack names.
        "Certificate" => api_version.starts_with("cert-manager.io/"),
        // And so may one that lies there as it is.
        "Secret" => contains("tls.crt"),
        "Namespace" => true,
        "CustomResourceDefinition" => contains("tcproutes"),
        _ => kind.ends_with("List"),
    }
}

fn read<'a>(list: &ResourceList<'a>, index: usize, item: &Item<'a>, text: &str, selection: &mut Selection, findings: &mut Vec<Finding>) {
    let tree = match list.item_tree(item) {
        Ok(tree) => tree,
        Err(problem) => return findings.push(Finding { order: index, ..problem_finding(list.text, &problem) }),
    };
    let head = |key: &str| tree.node.get(key).and_then(|node| node.text()).unwrap_or_default().to_owned();
    let (api_version, kind) = (head("apiVersion"), head("kind"));
    if item.head.is_none() && !concerns(&api_version, &kind, text, selection.looked_at) && !text.contains("-external-access.yaml") {
        return;
    }
    let end = tree.end();
    match tree.clone().read() {
        Ok(read) => {
            let is_list = kind.ends_with("List") && read.value.get("items").is_some_and(Value::is_array);
            if let (true, Some(inner)) = (is_list, read.value.get("items").and_then(Value::as_array)) {
                for value in inner {
                    selection
                        .push(Object::new(value.clone(), annotations::file(value), index), Selected { item: index, end, nested: true });
                }
            } else {
                let file = annotations::file(&read.value);
                selection.push(Object::new(read.value, file, index), Selected { item: index, end, nested: false });
            }
        }
        // What only passes by may be as odd as it likes.
        Err(problems)
            if kind == "ValkeyCluster"
                || text.contains(CLUSTER_LABEL)
                || text.contains(EXTENSION_LABEL)
                || (kind.ends_with("List") && text.contains("ValkeyCluster")) =>
        {
            let object = identity(&tree, index);
            findings.extend(problems.iter().map(|problem| object.finding(problem_finding(list.text, problem))));
        }
        Err(_) => {}
    }
}

impl Selection {
    fn push(&mut self, object: Object, origin: Selected) {
        self.objects.push(object);
        self.origins.push(origin);
    }
}

/// Who an object is, though its data cannot be read.
fn identity(tree: &Tree<'_>, order: usize) -> Object {
    let mut value = serde_json::json!({"metadata": {}});
    let text = |path: &str| {
        let mut node = &tree.node;
        for step in path.split('.') {
            node = node.get(step)?;
        }
        node.text().map(str::to_owned)
    };
    for (path, pointer) in [("apiVersion", ""), ("kind", ""), ("metadata.name", "/metadata"), ("metadata.namespace", "/metadata")] {
        let key = path.rsplit('.').next().unwrap_or_default();
        if let (Some(text), Some(Value::Object(map))) = (text(path), value.pointer_mut(pointer)) {
            map.insert(key.to_owned(), text.into());
        }
    }
    let file = crate::krm::annotations::PATH.iter().find_map(|key| tree.node.get("metadata")?.get("annotations")?.get(key)?.text());
    let file = file.map(|path| crate::finding::FileRef { path: path.to_owned(), index: 0, line: None });
    Object::new(value, file, order)
}

/// A finding for text that cannot be read.
#[must_use]
pub fn problem_finding(text: &str, problem: &Problem) -> Finding {
    let (rule, message) = match problem.kind {
        ProblemKind::Syntax | ProblemKind::UnknownAnchor => {
            (Rule::YamlSyntax, format!("line {}: {}", line_of(text, problem.offset), problem.message))
        }
        ProblemKind::DuplicateKey => (Rule::DuplicateKey, format!("line {}: {}", line_of(text, problem.offset), problem.message)),
        ProblemKind::Budget => (Rule::Budget, format!("line {}: {}", line_of(text, problem.offset), problem.message)),
        ProblemKind::Documents => {
            (Rule::NotAList, format!("one ResourceList is expected; line {}: {}", line_of(text, problem.offset), problem.message))
        }
        ProblemKind::NotAList => (Rule::NotAList, problem.message.clone()),
    };
    let mut finding = Finding { severity: Severity::Error, ..Finding::error(rule, message) };
    finding.field.clone_from(&problem.field);
    finding
}
