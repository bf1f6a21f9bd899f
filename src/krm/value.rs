//! From a document's tree to data, the way Kubernetes reads it: YAML 1.1 scalars, aliases and merge keys written out.

use serde_json::{Map, Value};

use super::scalar;
use super::yaml::{Content, Node, Problem, ProblemKind};

/// Most nodes that one document may grow to when its aliases are written out.
const MAX_EXPANDED_NODES: usize = 1_000_000;
/// Most problems that are told of one document: more than anybody reads, and few enough to be told at once.
const MAX_PROBLEMS: usize = 100;

impl Node<'_> {
    /// As data, the way Kubernetes would read it: YAML 1.1 scalars, aliases and merge keys written out.
    ///
    /// # Errors
    /// Every duplicate key and every scalar without a value; or, alone, a spent budget.
    pub fn value(&self) -> Result<Value, Vec<Problem>> {
        let mut reader = ValueReader { budget: MAX_EXPANDED_NODES, shared: 0, problems: Vec::new(), path: Vec::new() };
        let value = reader.read(self);
        if reader.problems.is_empty() { Ok(value) } else { Err(reader.problems) }
    }
}

struct ValueReader {
    /// How many more values may stand below anchors and aliases. What is written out needs no limit: the text is one.
    budget: usize,
    /// How many anchors and aliases the value at hand is below of.
    shared: usize,
    problems: Vec<Problem>,
    path: Vec<String>,
}

impl ValueReader {
    fn problem(&mut self, kind: ProblemKind, offset: usize, message: String) {
        if self.problems.len() >= MAX_PROBLEMS && kind != ProblemKind::Budget {
            return;
        }
        let mut problem = Problem::at(kind, offset, message);
        problem.field = (!self.path.is_empty()).then(|| self.path.join("."));
        self.problems.push(problem);
    }

    fn read(&mut self, node: &Node<'_>) -> Value {
        if self.shared > 0 {
            self.budget = self.budget.saturating_sub(1);
        }
        if self.budget == 0 {
            if !self.problems.iter().any(|p| p.kind == ProblemKind::Budget) {
                self.path.clear();
                self.problem(
                    ProblemKind::Budget,
                    node.span.start,
                    format!(
                        "its aliases expand to more than {MAX_EXPANDED_NODES} values: write the repeated parts out, or use fewer aliases"
                    ),
                );
            }
            return Value::Null;
        }
        match &node.content {
            Content::Shared(target) => {
                self.shared = self.shared.saturating_add(1);
                let value = self.read(target);
                self.shared = self.shared.saturating_sub(1);
                value
            }
            Content::Scalar { text, plain, tag } => {
                let value = match tag {
                    Some(suffix) => scalar::resolve_tagged(suffix, text),
                    None if *plain => scalar::resolve(text),
                    None => Ok(Value::String(text.clone().into_owned())),
                };
                value.unwrap_or_else(|scalar::NotAValue(message)| {
                    self.problem(ProblemKind::Syntax, node.span.start, message);
                    Value::Null
                })
            }
            Content::Sequence { entries, .. } => {
                let mut values = Vec::with_capacity(entries.len().min(1024));
                for (index, entry) in entries.iter().enumerate() {
                    self.enter_index(index);
                    values.push(self.read(entry));
                    self.leave_index(index);
                    if self.budget == 0 {
                        break;
                    }
                }
                Value::Array(values)
            }
            Content::Mapping { entries, .. } => self.mapping(entries),
        }
    }

    fn mapping(&mut self, entries: &[(Node<'_>, Node<'_>)]) -> Value {
        let mut map = Map::new();
        let mut merged: Vec<Value> = Vec::new();
        for (key, value) in entries {
            if matches!(&key.content, Content::Scalar { text, plain: true, .. } if text == "<<") {
                let sources = match self.read(value) {
                    Value::Array(several) => several,
                    one => vec![one],
                };
                if self.budget > 0 && sources.iter().any(|source| !source.is_object()) {
                    self.problem(ProblemKind::Syntax, key.span.start, "`<<` must be a mapping, or a list of mappings".to_owned());
                }
                merged.extend(sources);
                continue;
            }
            let Some(name) = self.key(key) else { continue };
            self.path.push(name.clone());
            if map.contains_key(&name) {
                self.problem(ProblemKind::DuplicateKey, key.span.start, format!("key `{name}` is there twice: keep one of them"));
            }
            let value = self.read(value);
            self.path.pop();
            map.insert(name, value);
            if self.budget == 0 {
                break;
            }
        }
        // The mapping's own keys win over merged ones, and an earlier merge over a later one.
        for source in merged {
            if let Value::Object(source) = source {
                for (key, value) in source {
                    map.entry(key).or_insert(value);
                }
            }
        }
        Value::Object(map)
    }

    /// A key as Go turns it into a JSON key: the text of a string, `"true"` for `y`, `"1"` for 1.
    fn key(&mut self, node: &Node<'_>) -> Option<String> {
        match self.read(node) {
            Value::String(text) => Some(text),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                self.problem(ProblemKind::Syntax, node.span.start, "a key must be a string".to_owned());
                None
            }
        }
    }

    fn enter_index(&mut self, index: usize) {
        if let Some(last) = self.path.last_mut() {
            last.push_str(&format!("[{index}]"));
        }
    }

    fn leave_index(&mut self, index: usize) {
        if let Some(last) = self.path.last_mut() {
            let length = last.len().saturating_sub(format!("[{index}]").len());
            last.truncate(length);
        }
    }
}
