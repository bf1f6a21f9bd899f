//! A ResourceList as text: where its items lie, and where new ones go. Nothing is taken apart that need not be.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use serde_json::Value;

use super::form::{self, Form, Place, insertion_point};
use super::item::Item;
use super::lines::{next_line, tail_end};
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
    /// The items by the parser, where the quick way needs it after all; once, however many items ask.
    parsed: OnceLock<Result<Vec<Item<'a>>, Problem>>,
    /// See [`aliases`].
    aliases: OnceLock<HashMap<&'a str, usize>>,
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
        let Content::Mapping { entries, .. } = &root.resolved().content else {
            let found =
                if matches!(root.resolved().content, Content::Sequence { .. }) { "a list of something else" } else { "no object at all" };
            return Err(vec![not_a_list(found)]);
        };
        let mut problems = Vec::new();
        let mut seen = HashSet::new();
        for (key, _) in entries {
            if let Some(name) = key.text().filter(|name| !seen.insert(*name)) {
                let message = format!("key `{name}` is there twice: keep one of them");
                problems.push(Problem::at(ProblemKind::DuplicateKey, key.span.start, message));
            }
        }
        let field = |name: &str| root.get(name).map(Node::value).transpose();
        let api_version = field("apiVersion").map_err(|p| problems.extend(p)).unwrap_or_default();
        let kind = field("kind").map_err(|p| problems.extend(p)).unwrap_or_default();
        let text_of = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        check_head(&text_of(&api_version), &text_of(&kind)).map_err(|problem| vec![problem])?;
        let function_config =
            root.get("functionConfig").map(|node| read_node(text, 0, node)).transpose().map_err(|p| problems.extend(p)).ok();
        let results = match field("results") {
            Ok(Some(Value::Array(results))) => results,
            Ok(_) => Vec::new(),
            Err(p) => {
                problems.extend(p);
                Vec::new()
            }
        };
        let (form, items) = form::of(text, &root).map_err(|problem| vec![problem])?;
        if !problems.is_empty() {
            return Err(problems);
        }
        let function_config = function_config.flatten().filter(|read| !read.value.is_null());
        Ok(ResourceList { text, items, function_config, results, form, parsed: OnceLock::new(), aliases: OnceLock::new() })
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
            Some(Some(read_node(slice, section.lines.start, root.get(key)?).ok()?))
        };
        let function_config = read_section("functionConfig")?.filter(|read| !read.value.is_null());
        let read_results = read_section("results")?;
        let results_range = match (&read_results, section("results")) {
            (Some(read), Some(section)) => {
                Some(section.lines.start..tail_end(text, next_line(text, read.tree.end().max(section.value)), 0, false))
            }
            _ => None,
        };
        let results = match read_results.map(|read| read.value) {
            Some(Value::Array(results)) => results,
            _ => Vec::new(),
        };
        let place = match section("items") {
            None => Place::Absent,
            Some(section) if split.items.is_empty() => {
                Place::Empty { value: section.value..section.value, below: Some(tail_end(text, next_line(text, section.value), 0, false)) }
            }
            Some(section) => {
                let last = split.items.last().map_or(section.value..section.value, |item| item.lines.clone());
                let at = insertion_point(text, next_line(text, last.start)..section.lines.end, split.indent);
                // What looks like a comment may be the end of a quoted text whose lines are not indented.
                let reads = |end: usize| text.get(last.start..end).is_some_and(|item| yaml::parse(item).is_ok());
                if at < section.lines.end && !reads(at) && reads(section.lines.end) {
                    return None;
                }
                Place::Sequence { indent: split.indent, at, colon: section.value }
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
        let form = Form::Block { column: 0, items: place, results: results_range, end: text.len() };
        Some(Ok(ResourceList { text, items, function_config, results, form, parsed: OnceLock::new(), aliases: OnceLock::new() }))
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

    /// Whether an anchor of this item is used behind it.
    #[must_use]
    pub fn is_referred_to(&self, item: &Item<'a>) -> bool {
        self.has_anchor_for_others(&item.range)
    }

    /// Whether an anchor of `results` is used behind them: then they cannot change.
    #[must_use]
    pub fn results_are_referred_to(&self) -> bool {
        let (Form::Block { results, .. } | Form::Flow { results, .. }) = &self.form;
        results.as_ref().is_some_and(|range| self.has_anchor_for_others(range))
    }

    /// Told by the text, so rather once too often than once too rarely.
    fn has_anchor_for_others(&self, range: &Range<usize>) -> bool {
        let mut anchors = self.text.get(range.clone()).unwrap_or_default().split('&').skip(1).filter_map(first_word);
        let last = |name: &str| self.aliases.get_or_init(|| aliases(self.text)).get(name).copied();
        anchors.any(|name| last(name).is_some_and(|last| last >= range.end))
    }

    /// An item that uses an anchor of an earlier one.
    fn item_tree_in_context(&self, item: &Item<'a>) -> Result<Tree<'a>, Problem> {
        let parse = || match Self::read_with_parser(self.text) {
            Ok(whole) => Ok(whole.items),
            Err(problems) => Err(problems.into_iter().next().unwrap_or_else(not_a_mapping)),
        };
        let whole = self.parsed.get_or_init(parse).as_ref().map_err(Problem::clone)?;
        let after = whole.partition_point(|other| other.range.start < item.range.start);
        match whole.get(after).filter(|other| item.range.contains(&other.range.start)).and_then(|other| other.node.as_ref()) {
            Some(node) => Ok(Tree { text: self.text, offset: 0, node: node.clone() }),
            None => Err(not_a_mapping()),
        }
    }
}

/// What stands behind each `*`, and where its last one is.
fn aliases(text: &str) -> HashMap<&str, usize> {
    memchr::memchr_iter(b'*', text.as_bytes()).filter_map(|at| Some((first_word(text.get(at.saturating_add(1)..)?)?, at))).collect()
}

/// The name of the anchor or alias that a text begins with.
fn first_word(text: &str) -> Option<&str> {
    text.split([' ', '\t', '\r', '\n', ',', '[', ']', '{', '}', '*', '&']).next().filter(|name| !name.is_empty())
}

fn not_a_mapping() -> Problem {
    Problem::at(ProblemKind::Syntax, 0, "an item must be a mapping")
}

fn check_head(api_version: &str, kind: &str) -> Result<(), Problem> {
    if kind == "ResourceList" && API_VERSIONS.contains(&api_version) {
        return Ok(());
    }
    if kind == "ResourceList" {
        let message = format!("apiVersion `{api_version}` of the ResourceList must be one of {}", API_VERSIONS.join(", "));
        return Err(Problem::at(ProblemKind::NotAList, 0, message));
    }
    Err(not_a_list(&if kind.is_empty() { "text without a `kind`".to_owned() } else { format!("a {kind}") }))
}

fn not_a_list(found: &str) -> Problem {
    let message = format!(
        "one ResourceList is expected on standard input, this is {found}: for plain manifests use `expose-valkey render -f FILE` (or `-f -`)"
    );
    Problem::at(ProblemKind::NotAList, 0, message)
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
