//! Changes to the entries of one list inside of an object: those that stay keep their text, comments and order.

use std::ops::Range;

use serde_json::Value;

use super::form::line_start;
use super::list::{Tree, next_line};
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

    /// The change as replacements in the whole text, for the list under `key` of the mapping `parent` in `tree`.
    #[must_use]
    pub fn edits(&self, whole: &str, tree: &Tree<'_>, parent: &Node<'_>, key: &str) -> Vec<(Range<usize>, String)> {
        let place = |range: &Range<usize>| range.start.saturating_add(tree.offset)..range.end.saturating_add(tree.offset);
        let Some((name, list)) = parent.entry(key) else {
            return self.new_list(whole, &place(&parent.resolved().span), key, is_flow(parent));
        };
        let list = list.resolved();
        match &list.content {
            Content::Sequence { flow: false, entries } => self.in_block(whole, place(&name.span).end, &place(&list.span), entries, place),
            Content::Sequence { flow: true, entries } => self.in_flow(&place(&list.span), entries, place),
            _ => vec![(place(&name.span).end.saturating_add(1)..place(&list.span).end.max(place(&name.span).end.saturating_add(1)), format!(" {}", Value::Array(self.appended.clone())))],
        }
    }

    fn new_list(&self, whole: &str, parent: &Range<usize>, key: &str, flow: bool) -> Vec<(Range<usize>, String)> {
        if flow {
            let at = parent.end.saturating_sub(1);
            return vec![(at..at, format!(", \"{key}\": {}", Value::Array(self.appended.clone())))];
        }
        let indent = parent.start.saturating_sub(line_start(whole, parent.start));
        let mut text = format!("{}{key}:\n", " ".repeat(indent));
        write::sequence(&mut text, &self.appended, indent);
        let at = next_line(whole, parent.end);
        vec![(at..at, text)]
    }

    fn in_block(
        &self,
        whole: &str,
        key_end: usize,
        list: &Range<usize>,
        entries: &[Node<'_>],
        place: impl Fn(&Range<usize>) -> Range<usize>,
    ) -> Vec<(Range<usize>, String)> {
        let indent = list.start.saturating_sub(line_start(whole, list.start));
        let lines = |entry: &Node<'_>| {
            let span = place(&entry.span);
            line_start(whole, span.start)..next_line(whole, span.end)
        };
        let mut edits = Vec::new();
        for (index, value) in &self.replaced {
            if let Some(entry) = entries.get(*index) {
                let mut text = String::new();
                write::sequence(&mut text, std::slice::from_ref(value), indent);
                edits.push((lines(entry), text));
            }
        }
        for index in &self.removed {
            edits.extend(entries.get(*index).map(|entry| (lines(entry), String::new())));
        }
        if self.removed.len() == entries.len() && self.appended.is_empty() {
            edits.push((key_end.saturating_add(1)..key_end.saturating_add(1), " []".to_owned()));
        }
        if !self.appended.is_empty() {
            let at = next_line(whole, list.end);
            let mut text = if whole.get(..at).is_some_and(|before| before.ends_with('\n')) { String::new() } else { "\n".to_owned() };
            write::sequence(&mut text, &self.appended, indent);
            edits.push((at..at, text));
        }
        edits
    }

    fn in_flow(&self, list: &Range<usize>, entries: &[Node<'_>], place: impl Fn(&Range<usize>) -> Range<usize>) -> Vec<(Range<usize>, String)> {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (index, value) in &self.replaced {
            edits.extend(entries.get(*index).map(|entry| (place(&entry.span), value.to_string())));
        }
        // Each entry goes with the comma behind it, the last ones with the comma before them.
        let stays = |index: &usize| !self.removed.contains(index);
        let last_left = (0..entries.len()).filter(stays).next_back();
        for index in &self.removed {
            let Some(entry) = entries.get(*index).map(|entry| place(&entry.span)) else { continue };
            let next = entries.get(index.saturating_add(1)).map(|next| place(&next.span).start);
            match (next, last_left) {
                (Some(next), Some(last)) if *index < last => edits.push((entry.start..next, String::new())),
                _ => {}
            }
        }
        let end = entries.last().map(|entry| place(&entry.span).end);
        match (last_left.and_then(|last| entries.get(last)), end) {
            (Some(last), Some(end)) if place(&last.span).end < end => edits.push((place(&last.span).end..end, String::new())),
            (None, Some(end)) => edits.push((list.start.saturating_add(1)..end, String::new())),
            _ => {}
        }
        let close = list.end.saturating_sub(1);
        for (index, value) in self.appended.iter().enumerate() {
            let comma = if last_left.is_some() || index > 0 { ", " } else { "" };
            edits.push((close..close, format!("{comma}{value}")));
        }
        edits
    }
}

fn is_flow(node: &Node<'_>) -> bool {
    matches!(node.resolved().content, Content::Mapping { flow: true, .. })
}
