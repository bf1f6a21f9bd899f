//! Changes to a ResourceList: items replaced where they stand, removed, appended, and `results`.

use std::ops::Range;

use serde_json::{Value, json};

use super::edit::{Edits, Pieces};
use super::form::{Form, Place};
use super::lines::tail_end;
use super::list::ResourceList;
use super::sequence::{Entries, Sequence, Style, json_list, newline_before, space_after_colon};
use super::write;

/// What happens to a list. An item not named stays.
#[derive(Debug, Default)]
pub struct Change {
    /// Index of the item, the end of its content in the list's text, and what takes its place.
    pub replaced: Vec<(usize, usize, Value)>,
    /// Indexes of items that go, with the end of their content.
    pub removed: Vec<(usize, usize)>,
    /// New items, behind all others, as [`ResourceList::new_item`] writes them: their data need not be kept.
    pub appended: Vec<String>,
    /// Replacements inside of items that stay.
    pub edits: Vec<(Range<usize>, String)>,
    /// All of `results`, if they change.
    pub results: Option<Vec<Value>>,
}

impl<'a> ResourceList<'a> {
    /// The text of a new item, in the list's own style.
    #[must_use]
    pub fn new_item(&self, value: &Value) -> String {
        let style = match &self.form {
            Form::Block { column, items, .. } => Style::at(items, *column),
            Form::Flow { .. } => Style::Json,
        };
        style.text(value)
    }

    /// The list's text with the changes made.
    #[must_use]
    pub fn with(&self, change: &Change) -> Pieces<'a> {
        let mut edits = Edits::default();
        for (range, text) in &change.edits {
            edits.replace(range.clone(), text.clone());
        }
        let (items, column) = match &self.form {
            Form::Block { column, items, .. } => (items, *column),
            Form::Flow { items, .. } => (items, 0),
        };
        let sequence =
            Sequence { text: self.text, entries: self.items.iter().map(|item| item.range.clone()).collect(), place: items, column };
        let entries = Entries {
            replaced: change.replaced.iter().map(|(index, end, value)| (*index, *end, value)).collect(),
            removed: change.removed.clone(),
            appended: &change.appended,
        };
        let of_items = sequence.edits(&entries);
        match &self.form {
            Form::Block { column, items, results, end } => {
                let mut tail = String::new();
                for (range, text) in of_items {
                    // What goes to the end of the document goes there in one piece.
                    if range == (*end..*end) { tail.push_str(text.trim_start_matches('\n')) } else { edits.replace(range, text) }
                }
                if matches!(items, Place::Absent) {
                    new_items(&mut tail, &change.appended, *column);
                }
                block_results(self.text, &mut edits, &mut tail, *column, results.as_ref(), change);
                if !tail.is_empty() {
                    let newline = if edits.end_line_at(self.text, *end) { "" } else { newline_before(self.text, *end) };
                    edits.insert(*end, format!("{newline}{tail}"));
                }
            }
            Form::Flow { items, results, end, empty } => {
                of_items.into_iter().for_each(|(range, text)| edits.replace(range, text));
                let mut tail = Vec::new();
                if matches!(items, Place::Absent) {
                    tail.push(format!("\"items\": [{}]", change.appended.join(", ")));
                }
                if let Some(new) = &change.results {
                    match results {
                        Some(range) => {
                            edits.replace(range.clone(), format!("{}{}", space_after_colon(self.text, range.start), json_list(new)))
                        }
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
}

fn new_items(tail: &mut String, items: &[String], column: usize) {
    let margin = " ".repeat(column);
    if items.is_empty() {
        tail.push_str(&format!("{margin}items: []\n"));
    } else {
        tail.push_str(&format!("{margin}items:\n"));
        items.iter().for_each(|item| tail.push_str(item));
    }
}

fn block_results(whole: &str, edits: &mut Edits, tail: &mut String, column: usize, present: Option<&Range<usize>>, change: &Change) {
    let Some(results) = &change.results else { return };
    let mut text = String::new();
    if !results.is_empty() {
        text.push_str(&" ".repeat(column));
        write::mapping(&mut text, &json!({ "results": results }), column);
    }
    match present {
        Some(range) if text.is_empty() => edits.replace(range.start..tail_end(whole, range.end, column, true), text),
        Some(range) => edits.replace(range.clone(), text),
        None => tail.push_str(&text),
    }
}
