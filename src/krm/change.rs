//! Changes to a ResourceList: items replaced where they stand, removed, appended, and `results`.

use std::ops::Range;

use serde_json::{Value, json};

use super::edit::{Edits, Pieces};
use super::list::{Form, Place, ResourceList, next_line};
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
            Form::Block { items, results, end } => {
                let mut tail = String::new();
                self.block_items(&mut edits, &mut tail, items, change);
                block_results(&mut edits, &mut tail, results.as_ref(), change);
                if !tail.is_empty() {
                    let newline = if self.text.get(..*end).is_some_and(|t| t.ends_with('\n') || t.is_empty()) { "" } else { "\n" };
                    edits.insert(*end, format!("{newline}{tail}"));
                }
            }
            Form::Flow { items, results, close, empty } => {
                let mut tail = Vec::new();
                match items {
                    Place::Absent => tail.push(format!("\"items\": {}", Value::Array(change.appended.clone()))),
                    Place::Empty { value, .. } => edits.replace(value.clone(), Value::Array(change.appended.clone()).to_string()),
                    Place::Brackets { close } => self.flow_items(&mut edits, *close, change),
                    Place::Sequence { .. } => {}
                }
                if let Some(new) = &change.results {
                    let new = Value::Array(new.clone()).to_string();
                    match results {
                        Some(range) => edits.replace(range.clone(), new),
                        None => tail.push(format!("\"results\": {new}")),
                    }
                }
                if !tail.is_empty() {
                    let comma = if *empty { "" } else { ", " };
                    edits.insert(*close, format!("{comma}{}", tail.join(", ")));
                }
            }
        }
        edits.apply(self.text)
    }

    fn block_items(&self, edits: &mut Edits, tail: &mut String, place: &Place, change: &Change) {
        match place {
            Place::Absent if change.appended.is_empty() => tail.push_str("items: []\n"),
            Place::Absent => {
                tail.push_str("items:\n");
                write::sequence(tail, &change.appended, 0);
            }
            Place::Empty { value, .. } if change.appended.is_empty() => {
                if self.text.get(value.clone()) != Some("[]") {
                    edits.replace(value.clone(), if value.is_empty() { " []" } else { "[]" });
                }
            }
            Place::Empty { value, below } => {
                let mut text = self.newline_before(*below);
                write::sequence(&mut text, &change.appended, 0);
                if !value.is_empty() {
                    edits.replace(value.clone(), "");
                }
                edits.insert(*below, text);
            }
            Place::Brackets { close } => self.flow_items(edits, *close, change),
            Place::Sequence { indent, at, key } => {
                for (index, end, value) in &change.replaced {
                    let mut text = String::new();
                    write::sequence(&mut text, std::slice::from_ref(value), *indent);
                    edits.replace(self.item_lines(*index, *end), text);
                }
                for (index, end) in &change.removed {
                    edits.replace(self.item_lines(*index, *end), "");
                }
                if change.removed.len() == self.items.len() && change.appended.is_empty() {
                    edits.insert(*key, " []");
                }
                if !change.appended.is_empty() {
                    let mut text = self.newline_before(*at);
                    write::sequence(&mut text, &change.appended, *indent);
                    edits.insert(*at, text);
                }
            }
        }
    }

    /// Lines from an item's dash to the end of its content.
    fn item_lines(&self, index: usize, end: usize) -> Range<usize> {
        self.items.get(index).map_or(0..0, |item| item.range.start..next_line(self.text, end).min(item.range.end))
    }

    fn newline_before(&self, at: usize) -> String {
        let ends_line = at == 0 || self.text.as_bytes().get(at.saturating_sub(1)) == Some(&b'\n');
        if ends_line { String::new() } else { "\n".to_owned() }
    }

    fn flow_items(&self, edits: &mut Edits, close: usize, change: &Change) {
        for (index, _, value) in &change.replaced {
            if let Some(item) = self.items.get(*index) {
                edits.replace(item.range.clone(), value.to_string());
            }
        }
        let removed = |index: usize| change.removed.iter().any(|(gone, _)| *gone == index);
        let mut left = 0usize;
        for (index, item) in self.items.iter().enumerate() {
            if !removed(index) {
                left = left.saturating_add(1);
                continue;
            }
            // With the comma behind it; the last ones with the comma before, so that none is left over.
            let next = self.items.get(index.saturating_add(1)).map(|item| item.range.start);
            let all_removed_from_here = (index..self.items.len()).all(&removed);
            match next {
                Some(next) if !all_removed_from_here => edits.replace(item.range.start..next, ""),
                _ => {
                    let from = match index.checked_sub(1).and_then(|before| self.items.get(before)) {
                        Some(before) => before.range.end,
                        None => item.range.start,
                    };
                    let to = self.items.last().map_or(item.range.end, |last| last.range.end);
                    edits.replace(from..to, "");
                    break;
                }
            }
        }
        for (index, value) in change.appended.iter().enumerate() {
            let comma = if left > 0 || index > 0 { ", " } else { "" };
            edits.insert(close, format!("{comma}{value}"));
        }
    }
}

fn block_results(edits: &mut Edits, tail: &mut String, present: Option<&Range<usize>>, change: &Change) {
    let Some(results) = &change.results else { return };
    let mut text = String::new();
    if !results.is_empty() {
        write::mapping(&mut text, &json!({ "results": results }), 0);
    }
    match present {
        Some(range) => edits.replace(range.clone(), text),
        None => tail.push_str(&text),
    }
}
