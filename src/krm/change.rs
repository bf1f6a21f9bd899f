//! Changes to a ResourceList: items replaced where they stand, removed, appended, and `results`.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::{Value, json};

use super::edit::{Edits, Pieces};
use super::form::{Form, Place};
use super::list::{ResourceList, next_line};
use super::write;

/// What happens to a list. An item not named stays.
#[derive(Debug, Default)]
pub struct Change {
    /// Index of the item, the end of its content in the list's text, and what takes its place.
    pub replaced: Vec<(usize, usize, Value)>,
    /// Indexes of items that go, with the end of their content.
    pub removed: Vec<(usize, usize)>,
    /// New items, behind all others.
    pub appended: Vec<Value>,
    /// Replacements inside of items that stay.
    pub edits: Vec<(Range<usize>, String)>,
    /// All of `results`, if they change.
    pub results: Option<Vec<Value>>,
}

impl<'a> ResourceList<'a> {
    /// The list's text with the changes made.
    #[must_use]
    pub fn with(&self, change: &Change) -> Pieces<'a> {
        let mut edits = Edits::default();
        for (range, text) in &change.edits {
            edits.replace(range.clone(), text.clone());
        }
        match &self.form {
            Form::Block { column, items, results, end } => {
                let mut tail = String::new();
                self.block_items(&mut edits, &mut tail, (*column, *end), items, change);
                block_results(&mut edits, &mut tail, *column, results.as_ref(), change);
                if !tail.is_empty() {
                    let newline = if edits.reach(*end) { "" } else { self.newline_before(*end) };
                    edits.insert(*end, format!("{newline}{tail}"));
                }
            }
            Form::Flow { items, results, end, empty } => {
                let mut tail = Vec::new();
                match items {
                    Place::Absent => tail.push(format!("\"items\": {}", json_list(&change.appended))),
                    Place::Empty { value, .. } => {
                        edits.replace(value.clone(), format!("{}{}", self.space_after_colon(value.start), json_list(&change.appended)));
                    }
                    Place::Brackets { open, close } => self.flow_items(&mut edits, *open..*close, change),
                    Place::Sequence { .. } => {}
                }
                if let Some(new) = &change.results {
                    match results {
                        Some(range) => edits.replace(range.clone(), format!("{}{}", self.space_after_colon(range.start), json_list(new))),
                        None => tail.push(format!("\"results\": {}", json_list(new))),
                    }
                }
                if !tail.is_empty() {
                    let comma = if *empty { "" } else { ", " };
                    edits.insert(*end, format!("{comma}{}", tail.join(", ")));
                }
            }
        }
        edits.apply(self.text)
    }

    /// `(column, end)`: of the list's own keys, and of the document.
    fn block_items(&self, edits: &mut Edits, tail: &mut String, (column, end): (usize, usize), place: &Place, change: &Change) {
        let margin = " ".repeat(column);
        let mut new = String::new();
        match place {
            Place::Absent if change.appended.is_empty() => tail.push_str(&format!("{margin}items: []\n")),
            Place::Absent => {
                tail.push_str(&format!("{margin}items:\n"));
                write::sequence(tail, &change.appended, column);
            }
            Place::Empty { value, .. } if change.appended.is_empty() => {
                if self.text.get(value.clone()).map(str::trim) != Some("[]") {
                    edits.replace(value.clone(), format!("{}[]", self.space_after_colon(value.start)));
                }
            }
            Place::Empty { value, below } => {
                if !value.is_empty() {
                    edits.replace(value.clone(), "");
                }
                write::sequence(&mut new, &change.appended, column);
                self.insert_lines(edits, tail, *below, end, new);
            }
            Place::Brackets { open, close } => self.flow_items(edits, *open..*close, change),
            Place::Sequence { indent, at, colon } => {
                for (index, end, value) in &change.replaced {
                    let mut text = String::new();
                    write::sequence(&mut text, std::slice::from_ref(value), *indent);
                    edits.replace(self.item_lines(*index, *end), text);
                }
                for (index, end) in &change.removed {
                    edits.replace(self.with_blank_lines(self.item_lines(*index, *end)), "");
                }
                if change.removed.len() == self.items.len() && change.appended.is_empty() {
                    self.leave_empty(edits, *colon, column);
                }
                if !change.appended.is_empty() {
                    write::sequence(&mut new, &change.appended, *indent);
                    self.insert_lines(edits, tail, *at, end, new);
                }
            }
        }
    }

    /// Whole lines at `at`; at the end of the document together with all else that goes there.
    fn insert_lines(&self, edits: &mut Edits, tail: &mut String, at: usize, end: usize, lines: String) {
        if at == end {
            tail.push_str(&lines);
        } else {
            edits.insert(at, lines);
        }
    }

    /// `[]` in the place of a sequence whose items all go: behind the colon, unless an anchor or tag stands there.
    fn leave_empty(&self, edits: &mut Edits, colon: usize, column: usize) {
        let first = self.items.first().map_or(colon, |item| item.range.start);
        let between = self.text.get(colon..first).unwrap_or_default();
        if between.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            edits.insert(colon, " []");
        } else {
            edits.insert(first, format!("{}[]\n", " ".repeat(column.saturating_add(2))));
        }
    }

    /// Lines from an item's dash to the end of its content.
    fn item_lines(&self, index: usize, end: usize) -> Range<usize> {
        self.items.get(index).map_or(0..0, |item| item.range.start..next_line(self.text, end).min(item.range.end))
    }

    /// The blank lines behind an item go with it: behind the item before they could be part of that one's last text.
    fn with_blank_lines(&self, lines: Range<usize>) -> Range<usize> {
        let mut end = lines.end;
        while end < self.text.len() {
            let next = next_line(self.text, end);
            if !self.text.get(end..next).is_some_and(|line| line.trim().is_empty()) {
                break;
            }
            end = next;
        }
        lines.start..end
    }

    fn newline_before(&self, at: usize) -> &'static str {
        let ends_line = at == 0 || self.text.as_bytes().get(at.saturating_sub(1)) == Some(&b'\n');
        if ends_line { "" } else { "\n" }
    }

    fn space_after_colon(&self, at: usize) -> &'static str {
        if self.text.as_bytes().get(at.saturating_sub(1)) == Some(&b':') { " " } else { "" }
    }

    /// `brackets`: from the opening to the closing one.
    fn flow_items(&self, edits: &mut Edits, brackets: Range<usize>, change: &Change) {
        for (index, _, value) in &change.replaced {
            if let Some(item) = self.items.get(*index) {
                edits.replace(item.range.clone(), value.to_string());
            }
        }
        let gone: HashSet<usize> = change.removed.iter().map(|(index, _)| *index).collect();
        let new: Vec<String> = change.appended.iter().map(Value::to_string).collect();
        let Some(last_kept) = (0..self.items.len()).rev().find(|index| !gone.contains(index)) else {
            return edits.replace(brackets.start.saturating_add(1)..brackets.end, new.join(", "));
        };
        let start = |index: usize| self.items.get(index).map_or(brackets.end, |item| item.range.start);
        let end = |index: usize| self.items.get(index).map_or(brackets.end, |item| item.range.end);
        // Each with the comma behind it; those behind the last one that stays with the comma before.
        for index in (0..last_kept).filter(|index| gone.contains(index)) {
            edits.replace(start(index)..start(index.saturating_add(1)), "");
        }
        let last = self.items.len().saturating_sub(1);
        if last > last_kept {
            edits.replace(end(last_kept)..end(last), "");
        }
        for value in new {
            edits.insert(end(last_kept), format!(", {value}"));
        }
    }
}

fn json_list(values: &[Value]) -> String {
    Value::Array(values.to_vec()).to_string()
}

fn block_results(edits: &mut Edits, tail: &mut String, column: usize, present: Option<&Range<usize>>, change: &Change) {
    let Some(results) = &change.results else { return };
    let mut text = String::new();
    if !results.is_empty() {
        text.push_str(&" ".repeat(column));
        write::mapping(&mut text, &json!({ "results": results }), column);
    }
    match present {
        Some(range) => edits.replace(range.clone(), text),
        None => tail.push_str(&text),
    }
}
