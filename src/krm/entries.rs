//! Changes to the entries of one list inside of an object: those that stay keep their text, comments and order.

use std::ops::Range;

use serde_json::Value;

use super::form::{is_alias, list_under, value_range};
use super::lines::{line_start, next_line, tail_end};
use super::list::Tree;
use super::sequence::{Entries, Replacements, Sequence, Style, json_list, newline_before};
use super::write;
use super::yaml::{Content, Node};

/// What happens to the entries of a list. An entry not named stays.
#[derive(Debug, Default)]
pub struct EntryChange {
    /// Index, and what takes its place.
    pub replaced: Vec<(usize, Value)>,
    /// Indexes of entries that go.
    pub removed: Vec<usize>,
    /// New entries, behind all others.
    pub appended: Vec<Value>,
}

impl EntryChange {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.removed.is_empty() && self.appended.is_empty()
    }

    /// The change as replacements in the whole text, for the list under `key` of the mapping `parent` in `tree`. None for a
    /// parent or list that is an alias: what it stands for belongs to others too.
    #[must_use]
    pub fn edits(&self, tree: &Tree<'_>, parent: &Node<'_>, key: &str) -> Vec<(Range<usize>, String)> {
        let text = tree.text;
        let Content::Mapping { flow, .. } = parent.resolved().content else { return Vec::new() };
        if is_alias(text, parent) {
            return Vec::new();
        }
        let edits = match parent.entry(key) {
            None => self.new_list(text, parent, key, flow),
            Some((name, list)) => self.in_list(text, (name, list), flow),
        };
        let whole = |range: Range<usize>| range.start.saturating_add(tree.offset)..range.end.saturating_add(tree.offset);
        edits.into_iter().map(|(range, text)| (whole(range), text)).collect()
    }

    fn in_list(&self, text: &str, (name, list): (&Node<'_>, &Node<'_>), in_flow: bool) -> Replacements {
        let stop = lines_end(text, list, column_of(text, list.resolved().span.start));
        let Ok((entries, place)) = list_under(text, name, list, in_flow, stop) else { return Vec::new() };
        let nodes = match &list.resolved().content {
            Content::Sequence { entries, .. } => entries.as_slice(),
            _ => &[],
        };
        let end = |index: usize| nodes.get(index).map_or(0, |node| node.span.end);
        let column = column_of(text, name.span.start);
        let style = Style::at(&place, column);
        let appended: Vec<String> = self.appended.iter().map(|value| style.text(value)).collect();
        let change = Entries {
            replaced: self.replaced.iter().map(|(index, value)| (*index, end(*index), value)).collect(),
            removed: self.removed.iter().map(|index| (*index, end(*index))).collect(),
            appended: &appended,
        };
        Sequence { text, entries, place: &place, column }.edits(&change)
    }

    fn new_list(&self, text: &str, parent: &Node<'_>, key: &str, in_flow: bool) -> Replacements {
        let (Some((first, _)), Some((last, value))) = (parent.entries().first(), parent.entries().last()) else {
            let at = parent.span.start.saturating_add(1);
            return vec![(at..at, format!("\"{key}\": {}", json_list(&self.appended)))];
        };
        if in_flow {
            let at = value_range(text, last, value).map_or(value.span.end, |value| value.end);
            return vec![(at..at, format!(", \"{key}\": {}", json_list(&self.appended)))];
        }
        let column = column_of(text, first.span.start);
        let at = lines_end(text, parent, column);
        let mut new = format!("{}{}{key}:\n", newline_before(text, at), " ".repeat(column));
        write::sequence(&mut new, &self.appended, column);
        vec![(at..at, new)]
    }
}

/// Past the last line of a node whose keys or dashes stand in `column`: with the blank lines behind it where they are part
/// of its last text.
pub(super) fn lines_end(text: &str, node: &Node<'_>, column: usize) -> usize {
    tail_end(text, next_line(text, node.span.end), column, ends_in_blank_lines(text, node))
}

/// Whether the last text of a node is a block scalar that keeps the line ends behind it.
fn ends_in_blank_lines(text: &str, node: &Node<'_>) -> bool {
    match &node.content {
        Content::Shared(target) => !is_alias(text, node) && ends_in_blank_lines(text, target),
        Content::Sequence { flow: false, entries } => entries.last().is_some_and(|last| ends_in_blank_lines(text, last)),
        Content::Mapping { flow: false, entries } => entries.last().is_some_and(|(_, last)| ends_in_blank_lines(text, last)),
        Content::Scalar { text: value, plain: false, .. } => {
            let quoted = text.get(node.span.start..).is_some_and(|rest| rest.starts_with(['"', '\'']));
            !quoted && (value.ends_with("\n\n") || value.trim_matches('\n').is_empty())
        }
        _ => false,
    }
}

/// Column of a key, or of an anchor before it: what stands to the left are blanks, and dashes of the lists that it is in.
pub(super) fn column_of(text: &str, at: usize) -> usize {
    let start = line_start(text, at);
    let line = text.as_bytes().get(start..at).unwrap_or_default();
    let mut column = 0usize;
    while let Some(byte) = line.get(column) {
        let blank_next = line.get(column.saturating_add(1)).is_none_or(|next| *next == b' ');
        if *byte != b' ' && !(matches!(byte, b'-' | b':') && blank_next) {
            break;
        }
        column = column.saturating_add(1);
    }
    column
}
