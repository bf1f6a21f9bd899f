//! The quick way into a large ResourceList: one pass over line starts that finds the sections, the items, and each item's
//! `apiVersion` and `kind`.
//!
//! It is exact for block style, because nothing that belongs to an item may be indented less than the item: a line that
//! starts with `-` in the items' column is a new item, whatever stands between. Anything that it does not know for certain
//! (flow style, quoted keys, tabs, directives, several documents) makes it give up, and `list.rs` asks the parser instead.
//! `tests/it/splitting.rs` holds the two against each other.

use std::collections::HashSet;
use std::ops::Range;

/// A top-level key and all lines up to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    pub(crate) key: &'a str,
    pub(crate) lines: Range<usize>,
    /// Where the value may start: past the colon.
    pub(crate) value: usize,
}

/// The lines of an item, from its dash to the next item, and what it says that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemLines<'a> {
    pub(crate) lines: Range<usize>,
    pub(crate) head: Head<'a>,
}

/// What an item says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head<'a> {
    /// Written plainly, once each, in the item's own column.
    Plain { api_version: &'a str, kind: &'a str },
    /// Only the parser can tell.
    Unsure,
}

/// A list cut at its line starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    pub(crate) sections: Vec<Section<'a>>,
    pub(crate) items: Vec<ItemLines<'a>>,
    /// Column of the items' dashes.
    pub(crate) indent: usize,
}

/// Cuts a list, or nothing if that takes a parser.
pub(crate) fn split(text: &str) -> Option<Split<'_>> {
    let bytes = text.as_bytes();
    if !line_ends_are_plain(bytes) {
        return None;
    }
    let mut splitter = Splitter {
        text,
        sections: Vec::new(),
        keys: HashSet::new(),
        items: Vec::new(),
        indent: None,
        item: None,
        in_items: false,
        started: false,
    };
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes).map(|at| at.saturating_add(1)).chain(Some(bytes.len())) {
        if start < end {
            splitter.line(start, end)?;
        }
        start = end;
    }
    splitter.close_item(bytes.len());
    splitter.close_section(bytes.len());
    Some(Split { sections: splitter.sections, items: splitter.items, indent: splitter.indent.unwrap_or_default() })
}

/// A carriage return of its own is a line break in YAML.
fn line_ends_are_plain(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', bytes).all(|at| bytes.get(at.saturating_add(1)) == Some(&b'\n'))
}

struct Splitter<'a> {
    text: &'a str,
    sections: Vec<Section<'a>>,
    keys: HashSet<&'a str>,
    items: Vec<ItemLines<'a>>,
    indent: Option<usize>,
    item: Option<OpenItem<'a>>,
    in_items: bool,
    /// A `---` was there: one more starts a second document.
    started: bool,
}

/// The item whose lines are being read.
struct OpenItem<'a> {
    start: usize,
    /// Column of its keys.
    column: usize,
    api_version: Option<&'a str>,
    kind: Option<&'a str>,
    unsure: bool,
    /// The last line held `apiVersion` or `kind`: a deeper line now would go on with that value.
    after_head: bool,
}

impl<'a> Splitter<'a> {
    fn line(&mut self, start: usize, end: usize) -> Option<()> {
        let line = self.text.as_bytes().get(start..end)?;
        if self.item.as_ref().is_some_and(|item| !item.after_head && is_deeper(line, item.column)) {
            return Some(());
        }
        let indent = line.iter().take_while(|b| **b == b' ').count();
        match line.get(indent) {
            // Blank, or a comment: part of whatever it stands in, and never a boundary.
            None | Some(b'\n' | b'\r' | b'#') => return Some(()),
            Some(b'\t') => {
                // A tab can hide structure only where structure may start.
                return if indent == 0 && self.sections.is_empty() { None } else { self.tab(indent) };
            }
            Some(_) => {}
        }
        let item_at_margin = self.in_items && is_dash(line, 0) && self.indent.unwrap_or(0) == 0;
        if indent == 0 && !item_at_margin {
            // `results` as most write them: an entry of the section's own.
            let entry = !self.in_items && is_dash(line, 0) && !self.sections.is_empty();
            return if entry { Some(()) } else { self.top_level(start, line) };
        }
        if !self.in_items {
            return if self.sections.is_empty() { None } else { Some(()) };
        }
        let column = *self.indent.get_or_insert(indent);
        if indent == column && is_dash(line, indent) {
            self.close_item(start);
            self.open_item(start, end, indent);
            return Some(());
        }
        if indent <= column {
            return None;
        }
        self.inside(start, end, indent);
        Some(())
    }

    fn tab(&mut self, indent: usize) -> Option<()> {
        match &mut self.item {
            Some(item) if indent <= item.column => item.unsure = true,
            Some(_) => {}
            None if self.in_items => return None,
            None => {}
        }
        Some(())
    }

    fn top_level(&mut self, start: usize, line: &'a [u8]) -> Option<()> {
        if line.starts_with(b"---") && self.sections.is_empty() && !self.started && rest_is_blank(line.get(3..)?) {
            self.started = true;
            return Some(());
        }
        let length = key_length(line)?;
        self.close_item(start);
        self.close_section(start);
        let key = self.text.get(start..start.checked_add(length)?)?;
        if !self.keys.insert(key) {
            return None;
        }
        let value = start.checked_add(length)?.checked_add(1)?;
        self.in_items = key == "items";
        if self.in_items && !rest_is_blank(line.get(length.checked_add(1)?..)?) {
            return None;
        }
        self.sections.push(Section { key, lines: start..start, value });
        Some(())
    }

    fn open_item(&mut self, start: usize, end: usize, indent: usize) {
        let after_dash = start.saturating_add(indent).saturating_add(1);
        let rest = self.text.as_bytes().get(after_dash..end).unwrap_or_default();
        let spaces = rest.iter().take_while(|b| **b == b' ').count();
        let column = indent.saturating_add(1).saturating_add(spaces);
        self.item = Some(OpenItem { start, column, api_version: None, kind: None, unsure: spaces == 0, after_head: false });
        self.inside(start, end, column);
    }

    /// A line of the open item whose content starts at `indent`.
    fn inside(&mut self, start: usize, end: usize, indent: usize) {
        let Some(item) = &mut self.item else { return };
        if item.unsure || indent > item.column {
            if item.after_head {
                item.unsure = true;
            }
            return;
        }
        item.after_head = false;
        let line = self.text.get(start.saturating_add(indent)..end).unwrap_or_default();
        let known = indent == item.column
            && match line.as_bytes().first() {
                Some(b'-') => is_dash(line.as_bytes(), 0),
                Some(b) => b.is_ascii_alphabetic(),
                None => false,
            };
        if !known {
            item.unsure = true;
            return;
        }
        for (slot, key) in [(&mut item.kind, "kind"), (&mut item.api_version, "apiVersion")] {
            let Some(rest) = line.strip_prefix(key) else { continue };
            match rest.strip_prefix(':').map(|value| (slot.is_none(), simple_value(value))) {
                Some((true, Some(value))) => {
                    *slot = Some(value);
                    item.after_head = true;
                }
                Some(_) => item.unsure = true,
                // `kind :` is the same key; `kinds:` is another.
                None => item.unsure |= rest.starts_with([' ', '\t']),
            }
        }
    }

    fn close_item(&mut self, end: usize) {
        if let Some(item) = self.item.take() {
            let head = match (item.api_version, item.kind, item.unsure) {
                (Some(api_version), Some(kind), false) => Head::Plain { api_version, kind },
                _ => Head::Unsure,
            };
            self.items.push(ItemLines { lines: item.start..end, head });
        }
    }

    fn close_section(&mut self, end: usize) {
        if let Some(section) = self.sections.last_mut() {
            section.lines.end = end;
        }
    }
}

/// Whether nothing stands in the columns up to this one: most lines, and none that could matter here.
fn is_deeper(line: &[u8], column: usize) -> bool {
    line.get(..=column).is_some_and(|start| start.iter().all(|b| *b == b' '))
}

fn is_dash(line: &[u8], at: usize) -> bool {
    line.get(at) == Some(&b'-') && matches!(line.get(at.saturating_add(1)), None | Some(b' ' | b'\n' | b'\r'))
}

/// Length of a plain key that ends with a colon.
fn key_length(line: &[u8]) -> Option<usize> {
    let length = line.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/')).count();
    let plain = line.first().is_some_and(u8::is_ascii_alphabetic) && line.get(length) == Some(&b':');
    (plain && matches!(line.get(length.saturating_add(1)), None | Some(b' ' | b'\n' | b'\r'))).then_some(length)
}

/// Only blanks and a comment.
fn rest_is_blank(rest: &[u8]) -> bool {
    let blanks = rest.iter().take_while(|b| **b == b' ').count();
    match rest.get(blanks) {
        None | Some(b'\n' | b'\r') => true,
        Some(b'#') => blanks > 0,
        Some(_) => false,
    }
}

/// A value that is one plain word, with nothing behind it but a comment.
fn simple_value(rest: &str) -> Option<&str> {
    let value = rest.strip_prefix(' ')?.trim_start_matches(' ');
    let length = value.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'-' | b'_')).count();
    let word = value.get(..length)?;
    (word.starts_with(|c: char| c.is_ascii_alphabetic()) && rest_is_blank(value.as_bytes().get(length..)?)).then_some(word)
}
