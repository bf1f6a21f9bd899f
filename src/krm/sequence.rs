//! Edits of a list in a text, block or flow style: what stays keeps its bytes, and what comes out still reads as it should.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::form::Place;
use super::lines::{next_line, tail_end};
use super::write;

/// Replacements in a text.
pub(super) type Replacements = Vec<(Range<usize>, String)>;

/// A list, by the places of its entries.
pub(super) struct Sequence<'s> {
    pub(super) text: &'s str,
    /// Lines of each entry in block style, its value in flow style.
    pub(super) entries: Vec<Range<usize>>,
    pub(super) place: &'s Place,
    /// Column of the keys that the list's own key stands among.
    pub(super) column: usize,
}

/// How a new entry of a list is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// As lines of its own, the dash in this column.
    Lines { indent: usize },
    /// As JSON, between brackets.
    Json,
}

impl Style {
    /// How entries are written at a place; `column` is that of the list's key.
    pub(super) fn at(place: &Place, column: usize) -> Self {
        match place {
            Place::Sequence { indent, .. } => Style::Lines { indent: *indent },
            Place::Empty { below: Some(_), .. } | Place::Absent => Style::Lines { indent: column },
            Place::Empty { below: None, .. } | Place::Brackets { .. } => Style::Json,
        }
    }

    /// The text of an entry.
    pub(crate) fn text(self, value: &Value) -> String {
        match self {
            Style::Json => json_text(value),
            Style::Lines { indent } => {
                let mut text = String::new();
                write::sequence(&mut text, std::slice::from_ref(value), indent);
                text
            }
        }
    }
}

/// What happens to the entries. One not named stays.
pub(super) struct Entries<'c> {
    /// Index, the end of its content, and what takes its place.
    pub(super) replaced: Vec<(usize, usize, &'c Value)>,
    /// Index, and the end of its content.
    pub(super) removed: Vec<(usize, usize)>,
    /// Behind all others, as [`Style::text`] writes them.
    pub(super) appended: &'c [String],
}

impl Sequence<'_> {
    /// The replacements that make the change; nothing for a list that is not there at all.
    pub(super) fn edits(&self, change: &Entries<'_>) -> Replacements {
        match self.place {
            Place::Absent => Vec::new(),
            Place::Empty { value, below: Some(below) } if !change.appended.is_empty() => {
                let mut edits = Vec::new();
                if !value.is_empty() {
                    edits.push((value.clone(), String::new()));
                }
                edits.push((*below..*below, self.new_lines(*below, change.appended)));
                edits
            }
            Place::Empty { value, .. } if change.appended.is_empty() && self.text.get(value.clone()).map(str::trim) == Some("[]") => {
                Vec::new()
            }
            Place::Empty { value, .. } => {
                vec![(value.clone(), format!("{}[{}]", space_after_colon(self.text, value.start), change.appended.join(", ")))]
            }
            Place::Brackets { open, close } => self.in_flow(*open..*close, change),
            Place::Sequence { indent, at, colon } => self.in_block(*indent, *at, *colon, change),
        }
    }

    fn in_block(&self, indent: usize, at: usize, colon: usize, change: &Entries<'_>) -> Replacements {
        let mut edits = Vec::new();
        for (index, end, value) in &change.replaced {
            edits.push((self.lines(*index, *end, indent, false), Style::Lines { indent }.text(value)));
        }
        for (index, end) in &change.removed {
            edits.push((self.lines(*index, *end, indent, true), String::new()));
        }
        if change.removed.len() == self.entries.len() && change.appended.is_empty() {
            edits.push(self.leave_empty(colon));
        }
        if !change.appended.is_empty() {
            edits.push((at..at, self.new_lines(at, change.appended)));
        }
        edits
    }

    /// Entries as lines of their own at `at`.
    fn new_lines(&self, at: usize, entries: &[String]) -> String {
        let mut text = newline_before(self.text, at).to_owned();
        text.reserve(entries.iter().map(String::len).sum());
        entries.iter().for_each(|entry| text.push_str(entry));
        text
    }

    /// `[]` in the place of a list whose entries all go: behind the colon, unless an anchor or tag stands there.
    fn leave_empty(&self, colon: usize) -> (Range<usize>, String) {
        let first = self.entries.first().map_or(colon, |entry| entry.start);
        let between = self.text.get(colon..first).unwrap_or_default();
        if between.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
            (colon..colon, " []".to_owned())
        } else {
            (first..first, format!("{}[]\n", " ".repeat(self.column.saturating_add(2))))
        }
    }

    /// Lines from an entry's dash to the end of its content, with what lies behind that it must take along.
    fn lines(&self, index: usize, end: usize, indent: usize, blanks: bool) -> Range<usize> {
        let lines = |entry: &Range<usize>| entry.start..tail_end(self.text, next_line(self.text, end).min(entry.end), indent, blanks);
        self.entries.get(index).map_or(0..0, lines)
    }

    /// `brackets`: from the opening to the closing one.
    fn in_flow(&self, brackets: Range<usize>, change: &Entries<'_>) -> Replacements {
        let mut edits = Vec::new();
        if self.entries.is_empty() && change.appended.is_empty() {
            return edits;
        }
        for (index, _, value) in &change.replaced {
            edits.extend(self.entries.get(*index).map(|entry| (entry.clone(), json_text(value))));
        }
        let gone: HashSet<usize> = change.removed.iter().map(|(index, _)| *index).collect();
        let Some(last_kept) = (0..self.entries.len()).rev().find(|index| !gone.contains(index)) else {
            edits.push((brackets.start.saturating_add(1)..brackets.end, change.appended.join(", ")));
            return edits;
        };
        let start = |index: usize| self.entries.get(index).map_or(brackets.end, |entry| entry.start);
        let end = |index: usize| self.entries.get(index).map_or(brackets.end, |entry| entry.end);
        // Each with the comma behind it; those behind the last one that stays with the comma before.
        for index in (0..last_kept).filter(|index| gone.contains(index)) {
            edits.push((start(index)..start(index.saturating_add(1)), String::new()));
        }
        let last = self.entries.len().saturating_sub(1);
        if last > last_kept {
            edits.push((end(last_kept)..end(last), String::new()));
        }
        edits.extend(change.appended.iter().map(|value| (end(last_kept)..end(last_kept), format!(", {value}"))));
        edits
    }
}

pub(super) fn newline_before(text: &str, at: usize) -> &'static str {
    let ends_line = at == 0 || text.as_bytes().get(at.saturating_sub(1)) == Some(&b'\n');
    if ends_line { "" } else { "\n" }
}

pub(super) fn space_after_colon(text: &str, at: usize) -> &'static str {
    if text.as_bytes().get(at.saturating_sub(1)) == Some(&b':') { " " } else { "" }
}

pub(super) fn json_list(values: &[Value]) -> String {
    json_text(&Value::Array(values.to_vec()))
}

fn json_text(value: &Value) -> String {
    let mut text = String::new();
    write::flow(&mut text, value);
    text
}
