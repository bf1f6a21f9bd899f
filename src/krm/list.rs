//! A ResourceList as text: where its items lie, and where new ones go. Nothing is taken apart that need not be.

use std::ops::Range;

use serde_json::Value;

use super::split::{self, Head, Section};
use super::yaml::{self, Content, Node, Problem, ProblemKind};

/// Largest input, in bytes.
pub const MAX_INPUT: usize = 256 * 1024 * 1024;

/// The spellings of a ResourceList's `apiVersion`.
pub const API_VERSIONS: [&str; 3] = ["config.kubernetes.io/v1", "config.kubernetes.io/v1beta1", "config.kubernetes.io/v1alpha1"];

/// A list whose items are known by their place in the text.
#[derive(Debug)]
pub struct ResourceList<'a> {
    /// All of the text, without a byte order mark.
    pub text: &'a str,
    /// The items in their order.
    pub items: Vec<Item<'a>>,
    /// Data of `functionConfig`, with its tree, if there is one.
    pub function_config: Option<Read<'a>>,
    /// Entries of `results` from functions before us, or from us.
    pub results: Vec<Value>,
    pub(crate) form: Form,
}

/// A tree, and where it lies in the whole input.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    /// The text that `node`'s spans count in.
    pub text: &'a str,
    /// Where `text` starts in the whole input, in bytes.
    pub offset: usize,
    /// The tree.
    pub node: Node<'a>,
}

/// Data, and the tree that it was read from.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    /// The tree.
    pub tree: Tree<'a>,
    /// The data.
    pub value: Value,
}

impl<'a> Tree<'a> {
    /// As data.
    ///
    /// # Errors
    /// As [`Node::value`], offsets counted in the whole input.
    pub fn read(self) -> Result<Read<'a>, Vec<Problem>> {
        match self.node.value() {
            Ok(value) => Ok(Read { tree: self, value }),
            Err(problems) => Err(problems
                .into_iter()
                .map(|mut problem| {
                    problem.offset = problem.offset.saturating_add(self.offset);
                    problem
                })
                .collect()),
        }
    }

    /// Where its content ends in the whole input.
    #[must_use]
    pub fn end(&self) -> usize {
        self.offset.saturating_add(self.node.span.end)
    }
}

/// One item.
#[derive(Debug)]
pub struct Item<'a> {
    /// `apiVersion` and `kind`, where they are plain to see; otherwise the item must be read.
    pub head: Option<(&'a str, &'a str)>,
    /// Its lines in block style, or its value in flow style.
    pub range: Range<usize>,
    /// Its tree, where the whole list was parsed.
    node: Option<Node<'a>>,
}

/// How a list is written: what an edit has to know.
#[derive(Debug)]
pub(crate) enum Form {
    /// Block style at the top, items in block style in this column.
    Block { items: Place, results: Option<Range<usize>>, end: usize },
    /// One flow mapping: JSON, as a rule.
    Flow { items: Place, results: Option<Range<usize>>, close: usize, empty: bool },
}

/// Where items lie.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A block sequence; new items go to `at`.
    Sequence { indent: usize, at: usize, key: usize },
    /// A flow sequence; new items go before its bracket at `close`.
    Brackets { close: usize },
    /// `items:` with nothing, null or `[]`: the value in `value` makes way for a block sequence below the line.
    Empty { value: Range<usize>, below: usize },
    /// No `items` at all.
    Absent,
}

impl<'a> ResourceList<'a> {
    /// Finds the items of a ResourceList.
    ///
    /// # Errors
    /// Text that is not one ResourceList, or is past a budget.
    pub fn read(text: &'a str) -> Result<Self, Vec<Problem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > MAX_INPUT {
            let message = format!("the input is larger than {} MiB", MAX_INPUT / 1024 / 1024);
            return Err(vec![Problem::at(ProblemKind::Budget, 0, message)]);
        }
        match split::split(text).map(|split| Self::from_split(text, split)) {
            Some(Some(list)) => list,
            // Unusual, or wrong: the parser decides which.
            Some(None) | None => Self::read_with_parser(text),
        }
    }

    /// [`ResourceList::read`] by the parser alone: slower, and what the quick way is held against.
    ///
    /// # Errors
    /// As [`ResourceList::read`].
    pub fn read_with_parser(text: &'a str) -> Result<Self, Vec<Problem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = yaml::parse(text).map_err(|problem| vec![problem])?;
        let Content::Mapping { flow, entries } = &root.resolved().content else {
            return Err(vec![Problem::at(ProblemKind::Syntax, root.span.start, "a ResourceList must be a mapping")]);
        };
        let mut problems = Vec::new();
        for (index, (key, _)) in entries.iter().enumerate() {
            let before = entries.iter().take(index);
            if key.text().is_some() && before.clone().any(|(other, _)| other.text() == key.text()) {
                let message = format!("key `{}` is there twice: keep one of them", key.text().unwrap_or_default());
                problems.push(Problem::at(ProblemKind::DuplicateKey, key.span.start, message));
            }
        }
        let field = |name: &str| root.get(name).map(Node::value).transpose();
        let api_version = field("apiVersion").map_err(|p| problems.extend(p)).unwrap_or_default();
        let kind = field("kind").map_err(|p| problems.extend(p)).unwrap_or_default();
        let text_of = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        check_head(&text_of(&api_version), &text_of(&kind)).map_err(|problem| vec![problem])?;
        let function_config = root.get("functionConfig").map(|node| read_node(text, 0, node)).transpose().map_err(|p| problems.extend(p)).ok();
        let results = match field("results") {
            Ok(Some(Value::Array(results))) => results,
            Ok(_) => Vec::new(),
            Err(p) => {
                problems.extend(p);
                Vec::new()
            }
        };
        let (form, items) = if *flow { flow_form(&root, entries) } else { block_form(text, &root, entries) }.map_err(|problem| vec![problem])?;
        if !problems.is_empty() {
            return Err(problems);
        }
        let function_config = function_config.flatten().filter(|read| !read.value.is_null());
        Ok(ResourceList { text, items, function_config, results, form })
    }

    fn from_split(text: &'a str, split: split::Split<'a>) -> Option<Result<Self, Vec<Problem>>> {
        let section = |key: &str| split.sections.iter().find(|section| section.key == key);
        let api_version = section("apiVersion").and_then(|s| plain_scalar(text, s))?;
        let kind = section("kind").and_then(|s| plain_scalar(text, s))?;
        if let Err(problem) = check_head(api_version, kind) {
            return Some(Err(vec![problem]));
        }
        let read_section = |key: &str| -> Option<Option<Read<'a>>> {
            let Some(section) = section(key) else { return Some(None) };
            let slice = text.get(section.lines.clone())?;
            let root = yaml::parse(slice).ok()?;
            let read = read_node(slice, section.lines.start, root.get(key)?).ok()?;
            Some((!read.value.is_null()).then_some(read))
        };
        let function_config = read_section("functionConfig")?;
        let read_results = read_section("results")?;
        let results_range = match (&read_results, section("results")) {
            (Some(read), Some(section)) => {
                let end = read.tree.end();
                Some(section.lines.start..next_line(text, end))
            }
            (None, Some(section)) => Some(section.lines.start..next_line(text, section.value)),
            _ => None,
        };
        let results = match read_results.map(|read| read.value) {
            Some(Value::Array(results)) => results,
            _ => Vec::new(),
        };
        let place = match section("items") {
            None => Place::Absent,
            Some(section) if split.items.is_empty() => {
                Place::Empty { value: section.value..section.value, below: next_line(text, section.value) }
            }
            Some(section) => {
                let start = split.items.last().map_or(section.value, |item| item.lines.start);
                let at = insertion_point(text, next_line(text, start)..section.lines.end, split.indent);
                Place::Sequence { indent: split.indent, at, key: section.value }
            }
        };
        let items = split
            .items
            .into_iter()
            .map(|item| Item {
                head: match item.head {
                    Head::Plain { api_version, kind } => Some((api_version, kind)),
                    Head::Unsure => None,
                },
                range: item.lines,
                node: None,
            })
            .collect();
        let form = Form::Block { items: place, results: results_range, end: text.len() };
        Some(Ok(ResourceList { text, items, function_config, results, form }))
    }

    /// The source text of an item, from its dash or bracket on.
    #[must_use]
    pub fn item_text(&self, item: &Item<'a>) -> &'a str {
        self.text.get(item.range.clone()).unwrap_or_default()
    }

    /// An item's tree.
    ///
    /// # Errors
    /// Text that is not YAML, or a spent budget. Offsets count in the whole list.
    pub fn item_tree(&self, item: &Item<'a>) -> Result<Tree<'a>, Problem> {
        if let Some(node) = &item.node {
            return Ok(Tree { text: self.text, offset: 0, node: node.clone() });
        }
        let slice = self.item_text(item);
        let shift = |mut problem: Problem| {
            problem.offset = problem.offset.saturating_add(item.range.start);
            problem
        };
        match yaml::parse(slice) {
            Ok(Node { content: Content::Sequence { mut entries, .. }, .. }) if entries.len() == 1 => {
                let node = entries.pop().ok_or_else(|| shift(Problem::at(ProblemKind::Syntax, 0, "an item must be a mapping")))?;
                Ok(Tree { text: slice, offset: item.range.start, node })
            }
            Ok(_) => Err(shift(Problem::at(ProblemKind::Syntax, 0, "an item must be a mapping"))),
            Err(problem) if problem.kind == ProblemKind::UnknownAnchor => self.item_tree_in_context(item),
            Err(problem) => Err(shift(problem)),
        }
    }

    /// An item that uses an anchor of an earlier one.
    fn item_tree_in_context(&self, item: &Item<'a>) -> Result<Tree<'a>, Problem> {
        let whole = Self::read_with_parser(self.text).map_err(|problems| problems.into_iter().next().unwrap_or_else(not_a_mapping))?;
        match whole.items.iter().find(|other| item.range.contains(&other.range.start)) {
            Some(found) => whole.item_tree(found),
            None => Err(not_a_mapping()),
        }
    }
}

fn not_a_mapping() -> Problem {
    Problem::at(ProblemKind::Syntax, 0, "an item must be a mapping")
}

fn check_head(api_version: &str, kind: &str) -> Result<(), Problem> {
    if kind == "ResourceList" && API_VERSIONS.contains(&api_version) {
        return Ok(());
    }
    let message = if kind == "ResourceList" {
        format!("apiVersion `{api_version}` of the ResourceList must be one of {}", API_VERSIONS.join(", "))
    } else {
        let found = if kind.is_empty() { "text without a `kind`".to_owned() } else { format!("a {kind}") };
        format!("one ResourceList is expected on standard input, this is {found}: for plain manifests use `expose-valkey render -f FILE` (or `-f -`)")
    };
    Err(Problem::at(ProblemKind::NotAList, 0, message))
}

fn read_node<'a>(text: &'a str, offset: usize, node: &Node<'a>) -> Result<Read<'a>, Vec<Problem>> {
    Tree { text, offset, node: node.clone() }.read()
}

fn plain_scalar<'a>(text: &'a str, section: &Section<'a>) -> Option<&'a str> {
    let value = text.get(section.value..section.lines.end)?;
    let (first, rest) = value.split_once('\n').unwrap_or((value, ""));
    let blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let word = first.split(" #").next()?.trim();
    let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/'));
    (plain && rest.lines().all(blank)).then_some(word)
}

/// Start of the line after the one that holds `at`.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |end| at.saturating_add(end).saturating_add(1))
}

pub(crate) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |end| end.saturating_add(1))
}

/// Where new items go behind the last one: comments that are not indented more than the items belong to what comes next.
/// A comment is told from the text of a block scalar by its column, so a scalar is never cut.
fn insertion_point(text: &str, behind: Range<usize>, indent: usize) -> usize {
    let mut at = behind.end;
    let mut line_end = behind.end;
    while line_end > behind.start {
        let start = line_start(text, line_end.saturating_sub(1));
        let line = text.get(start..line_end).unwrap_or_default();
        let content = line.trim_start_matches(' ');
        if content.starts_with('#') && line.len().saturating_sub(content.len()) <= indent {
            at = start;
        } else if !content.trim().is_empty() {
            break;
        }
        line_end = start;
    }
    at
}

fn flow_form<'a>(root: &Node<'a>, entries: &[(Node<'a>, Node<'a>)]) -> Result<(Form, Vec<Item<'a>>), Problem> {
    let close = root.resolved().span.end.saturating_sub(1);
    let (items, place) = match root.get("items") {
        None => (Vec::new(), Place::Absent),
        Some(node) => flow_items(node)?,
    };
    let results = root.get("results").map(|node| node.span.clone());
    Ok((Form::Flow { items: place, results, close, empty: entries.is_empty() }, items))
}

fn flow_items<'a>(node: &Node<'a>) -> Result<(Vec<Item<'a>>, Place), Problem> {
    match &node.resolved().content {
        Content::Sequence { flow: true, entries } => {
            let items = entries.iter().map(|entry| Item { head: None, range: entry.span.clone(), node: Some(entry.clone()) }).collect();
            Ok((items, Place::Brackets { close: node.resolved().span.end.saturating_sub(1) }))
        }
        Content::Scalar { .. } if is_null(node) => Ok((Vec::new(), Place::Empty { value: node.span.clone(), below: node.span.end })),
        _ => Err(Problem::at(ProblemKind::Syntax, node.span.start, "`items` must be a list")),
    }
}

fn is_null(node: &Node<'_>) -> bool {
    matches!(node.value(), Ok(Value::Null))
}

fn block_form<'a>(text: &'a str, root: &Node<'a>, entries: &[(Node<'a>, Node<'a>)]) -> Result<(Form, Vec<Item<'a>>), Problem> {
    let end = document_end(text, root.span.end);
    let section_end = |start: usize| {
        let next = entries.iter().map(|(key, _)| line_start(text, key.span.start)).filter(|at| *at > start).min();
        next.unwrap_or(end)
    };
    let results = root.entry("results").map(|(key, value)| {
        let start = line_start(text, key.span.start);
        start..next_line(text, value.span.end.max(key.span.end))
    });
    let Some((key, node)) = root.entry("items") else {
        return Ok((Form::Block { items: Place::Absent, results, end }, Vec::new()));
    };
    let (items, place) = match &node.resolved().content {
        Content::Sequence { flow: false, entries } => {
            let first = node.resolved().span.start;
            let indent = first.saturating_sub(line_start(text, first));
            let stop = section_end(line_start(text, key.span.start));
            let mut items: Vec<Item<'a>> = Vec::with_capacity(entries.len());
            let mut from = line_start(text, first);
            for entry in entries {
                let start = dash_line(text, from, entry.span.start.max(from), indent);
                if let Some(last) = items.last_mut() {
                    last.range.end = start;
                }
                items.push(Item { head: None, range: start..stop, node: Some(entry.clone()) });
                from = next_line(text, entry.span.end.max(start));
            }
            let behind = items.last().map_or(first, |item| next_line(text, item.range.start));
            let at = insertion_point(text, behind.min(stop)..stop, indent);
            (items, Place::Sequence { indent, at, key: key.span.end.saturating_add(1) })
        }
        Content::Sequence { entries, .. } if entries.is_empty() => {
            (Vec::new(), Place::Empty { value: node.span.clone(), below: next_line(text, node.span.end) })
        }
        Content::Sequence { .. } => flow_items(node)?,
        Content::Scalar { .. } if is_null(node) => {
            let value = if node.span.is_empty() { key.span.end.saturating_add(1)..key.span.end.saturating_add(1) } else { node.span.clone() };
            (Vec::new(), Place::Empty { below: next_line(text, value.end), value })
        }
        _ => return Err(Problem::at(ProblemKind::Syntax, node.span.start, "`items` must be a list")),
    };
    Ok((Form::Block { items: place, results, end }, items))
}

/// The line of an item's dash: the first line from `from` on that has one in the items' column.
fn dash_line(text: &str, from: usize, content: usize, indent: usize) -> usize {
    let mut start = from;
    while start < content {
        let line = text.as_bytes().get(start..).unwrap_or_default();
        if line.iter().take_while(|b| **b == b' ').count() == indent && line.get(indent) == Some(&b'-') {
            return start;
        }
        start = next_line(text, start);
    }
    line_start(text, content)
}

/// Where the document ends: at a marker that follows it, or with the text.
fn document_end(text: &str, from: usize) -> usize {
    let mut start = next_line(text, from);
    while start < text.len() {
        let line = text.get(start..).unwrap_or_default();
        if line.starts_with("---") || line.starts_with("...") {
            return start;
        }
        start = next_line(text, start);
    }
    text.len()
}
