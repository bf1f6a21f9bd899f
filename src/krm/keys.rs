//! Changes to the keys of one mapping inside of an object: new ones behind all others, and keys that go with their values.

use std::ops::Range;

use serde_json::{Map, Value};

use super::entries::{column_of, lines_end};
use super::form::{is_alias, value_range};
use super::lines::{line_start, next_line};
use super::sequence::{Replacements, newline_before};
use super::write;
use super::yaml::{Content, Node};

/// Puts keys behind the last one of a mapping. Nothing for a mapping that is an alias or has no keys.
#[must_use]
pub fn append(text: &str, parent: &Node<'_>, keys: &Map<String, Value>) -> Option<Replacements> {
    let Content::Mapping { flow, entries } = &parent.resolved().content else { return None };
    let ((first, _), (last, value)) = (entries.first()?, entries.last()?);
    if is_alias(text, parent) {
        return None;
    }
    if *flow {
        let at = value_range(text, last, value).ok()?.end;
        let mut new = String::new();
        write::flow(&mut new, &Value::Object(keys.clone()));
        let inner = new.strip_prefix('{')?.strip_suffix('}')?;
        return Some(vec![(at..at, format!(", {inner}"))]);
    }
    let column = column_of(text, first.span.start);
    let at = lines_end(text, parent, column);
    let mut new = format!("{}{}", newline_before(text, at), " ".repeat(column));
    write::mapping(&mut new, &Value::Object(keys.clone()), column);
    Some(vec![(at..at, new)])
}

/// Takes keys out of a mapping, each with its value. Nothing for a mapping that is an alias, and where no key would be left.
#[must_use]
pub fn remove(text: &str, parent: &Node<'_>, keys: &[&str]) -> Option<Replacements> {
    let Content::Mapping { flow, entries } = &parent.resolved().content else { return None };
    let goes = |(key, _): &(Node<'_>, Node<'_>)| key.text().is_some_and(|key| keys.contains(&key));
    if is_alias(text, parent) || entries.iter().all(goes) {
        return None;
    }
    let mut edits = Vec::new();
    for (index, (key, value)) in entries.iter().enumerate().filter(|(_, entry)| goes(entry)) {
        let end = value_range(text, key, value).ok()?.end;
        let next = entries.get(index.saturating_add(1)).map(|(key, _)| key.span.start);
        let before = index.checked_sub(1).and_then(|before| entries.get(before));
        edits.push(match (flow, before) {
            (true, Some((key, value))) => (value_range(text, key, value).ok()?.end..end, String::new()),
            (true, None) => (key.span.start..next?, String::new()),
            (false, _) => (lines(text, key.span.start, end, next)?, String::new()),
        });
    }
    Some(edits)
}

/// The lines of a key and its value. What is on a line with something else, a dash for instance, makes way for the next key.
fn lines(text: &str, start: usize, end: usize, next: Option<usize>) -> Option<Range<usize>> {
    let line = line_start(text, start);
    if !text.get(line..start)?.trim().is_empty() {
        return Some(start..next?);
    }
    // A block scalar may reach to where the next token stands.
    let content = text.get(start..end)?.trim_end().len();
    Some(line..next_line(text, start.saturating_add(content).saturating_sub(1)))
}
