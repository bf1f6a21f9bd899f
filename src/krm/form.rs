//! Where a list's items lie in its text and where an edit may go, worked out from the parsed tree.

use std::ops::Range;

use super::list::{Item, next_line};
use super::yaml::{Content, Node, Problem, ProblemKind};

/// How a list is written: what an edit has to know.
#[derive(Debug)]
pub(crate) enum Form {
    /// Block style at the top: its keys stand in `column`, further keys go to `end`.
    Block { column: usize, items: Place, results: Option<Range<usize>>, end: usize },
    /// One flow mapping: JSON, as a rule. Further keys go behind the last value, to `end`.
    Flow { items: Place, results: Option<Range<usize>>, end: usize, empty: bool },
}

/// Where items lie.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A block sequence; new items go to `at`. `colon`: past the colon of `items:`.
    Sequence { indent: usize, at: usize, colon: usize },
    /// A flow sequence between the bytes of its brackets.
    Brackets { open: usize, close: usize },
    /// `items:` with nothing, null or `[]`: the value in `value` makes way for a sequence, in block style below the line.
    Empty { value: Range<usize>, below: usize },
    /// No `items` at all.
    Absent,
}

/// The form of a list that was parsed, and its items.
pub(super) fn of<'a>(text: &'a str, root: &Node<'a>) -> Result<(Form, Vec<Item<'a>>), Problem> {
    match &root.resolved().content {
        Content::Mapping { flow: true, entries } => flow(text, root, entries),
        _ => block(text, root),
    }
}

fn flow<'a>(text: &'a str, root: &Node<'a>, entries: &[(Node<'a>, Node<'a>)]) -> Result<(Form, Vec<Item<'a>>), Problem> {
    let (items, place) = match root.entry("items") {
        None => (Vec::new(), Place::Absent),
        Some((key, node)) => flow_value(text, key, node)?,
    };
    let results = match root.entry("results") {
        Some((key, value)) => Some(value_range(text, key, value)?),
        None => None,
    };
    let close = root.resolved().span.end.saturating_sub(1);
    // Behind the last value, so that a comma or comment in front of the bracket does no harm.
    let end = match entries.last() {
        Some((key, value)) => value_range(text, key, value)?.end,
        None => close,
    };
    Ok((Form::Flow { items: place, results, end, empty: entries.is_empty() }, items))
}

fn block<'a>(text: &'a str, root: &Node<'a>) -> Result<(Form, Vec<Item<'a>>), Problem> {
    let end = document_end(text, root.span.end);
    let first_key = root.entries().first().map_or(root.span.start, |(key, _)| key.span.start);
    let column = indent_of(text, line_start(text, first_key));
    let results = match root.entry("results") {
        Some((key, value)) => Some(line_start(text, key.span.start)..next_line(text, value_range(text, key, value)?.end)),
        None => None,
    };
    let (items, place) = match root.entry("items") {
        None => (Vec::new(), Place::Absent),
        Some((key, node)) => {
            let start = line_start(text, key.span.start);
            let next = root.entries().iter().map(|(key, _)| line_start(text, key.span.start)).filter(|at| *at > start).min();
            match &node.resolved().content {
                Content::Sequence { flow: false, entries } if !is_alias(text, node) => {
                    let colon = past_colon(text, key)?;
                    block_items(text, colon, entries, next.unwrap_or(end))?
                }
                _ => flow_value(text, key, node)?,
            }
        }
    };
    Ok((Form::Block { column, items: place, results, end }, items))
}

fn block_items<'a>(text: &'a str, colon: usize, entries: &[Node<'a>], stop: usize) -> Result<(Vec<Item<'a>>, Place), Problem> {
    let content = entries.first().map_or(colon, |entry| entry.span.start);
    let (first, indent) = first_dash(text, next_line(text, colon), content)
        .ok_or_else(|| Problem::at(ProblemKind::Syntax, content, "the first of the `items` must start on a line of its own"))?;
    let mut items: Vec<Item<'a>> = Vec::with_capacity(entries.len());
    let mut from = first;
    for entry in entries {
        let start = dash_line(text, from, stop, indent);
        if let Some(last) = items.last_mut() {
            last.range.end = start;
        }
        items.push(Item { head: None, range: start..stop, node: Some(entry.clone()) });
        from = next_line(text, entry.span.end.max(start));
    }
    let at = insertion_point(text, from.min(stop)..stop, indent);
    Ok((items, Place::Sequence { indent, at, colon }))
}

/// `items` with a value that is no block sequence.
fn flow_value<'a>(text: &'a str, key: &Node<'a>, node: &Node<'a>) -> Result<(Vec<Item<'a>>, Place), Problem> {
    if is_alias(text, node) {
        return Err(Problem::at(ProblemKind::Syntax, node.span.start, "`items` must be a list of its own, not an alias"));
    }
    let value = value_range(text, key, node)?;
    match &node.resolved().content {
        Content::Sequence { entries, .. } if !entries.is_empty() => {
            let (open, close) = (node.span.start, node.span.end.saturating_sub(1));
            let mut items: Vec<Item<'a>> = Vec::with_capacity(entries.len());
            let mut from = open.saturating_add(1);
            for (index, entry) in entries.iter().enumerate() {
                // An entry's anchor and tag are not part of its span, but nothing else stands between it and the comma.
                let start = skip_gap(text, from, entry.span.start, index > 0);
                let end = entry.span.end.max(start);
                items.push(Item { head: None, range: start..end, node: Some(entry.clone()) });
                from = end;
            }
            Ok((items, Place::Brackets { open, close }))
        }
        Content::Sequence { .. } => Ok((Vec::new(), empty(text, key, value)?)),
        Content::Scalar { .. } if matches!(node.value(), Ok(serde_json::Value::Null)) => Ok((Vec::new(), empty(text, key, value)?)),
        _ => Err(Problem::at(ProblemKind::Syntax, node.span.start, "`items` must be a list")),
    }
}

/// On the colon's line the blank before the value is part of it, so that nothing is left at the line's end.
fn empty(text: &str, key: &Node<'_>, value: Range<usize>) -> Result<Place, Problem> {
    let colon = past_colon(text, key)?;
    let same_line = text.get(colon..value.start).is_some_and(|blank| !blank.contains('\n'));
    let value = if same_line { colon..value.end } else { value };
    Ok(Place::Empty { below: next_line(text, value.end), value })
}

/// All of a key's value, its anchor and tag too: nothing, right behind the colon, where there is none.
fn value_range(text: &str, key: &Node<'_>, value: &Node<'_>) -> Result<Range<usize>, Problem> {
    let colon = past_colon(text, key)?;
    if value.span.end <= colon {
        return Ok(colon..colon);
    }
    let start = skip_gap(text, colon, value.span.start.max(colon), false);
    Ok(start..value.span.end.max(start))
}

fn past_colon(text: &str, key: &Node<'_>) -> Result<usize, Problem> {
    // With `? key` the colon stands in a later line.
    let at = skip_gap(text, key.span.end, text.len(), false);
    if text.as_bytes().get(at) == Some(&b':') {
        return Ok(at.saturating_add(1));
    }
    let name = key.text().unwrap_or_default();
    Err(Problem::at(
        ProblemKind::Syntax,
        key.span.start,
        format!("the list's `{name}` must be written as `{name}:`, with the colon behind it"),
    ))
}

/// An alias's span is its own, not that of what it stands for.
fn is_alias(text: &str, node: &Node<'_>) -> bool {
    matches!(node.content, Content::Shared(_)) && text.as_bytes().get(node.span.start) == Some(&b'*')
}

/// Past blanks, comments, and a comma if there is one to come.
fn skip_gap(text: &str, from: usize, to: usize, mut comma: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < to {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => at = at.saturating_add(1),
            Some(b'#') => at = next_line(text, at),
            Some(b',') if comma => {
                comma = false;
                at = at.saturating_add(1);
            }
            _ => break,
        }
    }
    at.min(to)
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |end| end.saturating_add(1))
}

fn indent_of(text: &str, line: usize) -> usize {
    text.as_bytes().get(line..).unwrap_or_default().iter().take_while(|b| **b == b' ').count()
}

/// Where new items go behind the last one: comments that are not indented more than the items belong to what comes next.
/// A comment is told from the text of a block scalar by its column, so a scalar is never cut.
pub(super) fn insertion_point(text: &str, behind: Range<usize>, indent: usize) -> usize {
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

/// The line of the first dash, and its column. Only comments, an anchor or a tag may stand before it.
fn first_dash(text: &str, from: usize, content: usize) -> Option<(usize, usize)> {
    let mut start = from;
    while start <= content && start < text.len() {
        let indent = indent_of(text, start);
        if text.as_bytes().get(start.saturating_add(indent)) == Some(&b'-') {
            return Some((start, indent));
        }
        start = next_line(text, start);
    }
    None
}

/// The line of an item's dash: the first from `from` on that has one in the items' column. Only blank lines and comments
/// lie between an item's content and the next dash.
fn dash_line(text: &str, from: usize, stop: usize, indent: usize) -> usize {
    let mut start = from;
    while start < stop {
        if indent_of(text, start) == indent && text.as_bytes().get(start.saturating_add(indent)) == Some(&b'-') {
            return start;
        }
        start = next_line(text, start);
    }
    from
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
