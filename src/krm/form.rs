//! Where a list's items lie in its text and where an edit may go, worked out from the parsed tree.

use std::ops::Range;

use super::item::Item;
use super::lines::{line_start, next_line, tail_end};
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
    /// A block sequence; new entries go to `at`. `colon`: past that of its key.
    Sequence { indent: usize, at: usize, colon: usize },
    /// A flow sequence between the bytes of its brackets.
    Brackets { open: usize, close: usize },
    /// A key with nothing, null or `[]`: what is in `value` makes way for a list, in block style on the lines at `below`.
    Empty { value: Range<usize>, below: Option<usize> },
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
    let (items, place) = items(text, root, true, text.len())?;
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
    let keys = || root.entries().iter().map(|(key, _)| key.span.start);
    let column = indent_of(text, line_start(text, keys().next().unwrap_or(root.span.start)));
    let results = match root.entry("results") {
        Some((key, value)) => {
            let end = next_line(text, value_range(text, key, value)?.end);
            Some(line_start(text, key.span.start)..tail_end(text, end, column, false))
        }
        None => None,
    };
    let own = root.entry("items").map_or(0, |(key, _)| line_start(text, key.span.start));
    let next = keys().map(|key| line_start(text, key)).filter(|at| *at > own).min();
    let (items, place) = items(text, root, false, next.unwrap_or(end))?;
    Ok((Form::Block { column, items: place, results, end }, items))
}

fn items<'a>(text: &'a str, root: &Node<'a>, in_flow: bool, stop: usize) -> Result<(Vec<Item<'a>>, Place), Problem> {
    let Some((key, node)) = root.entry("items") else { return Ok((Vec::new(), Place::Absent)) };
    let (ranges, place) = list_under(text, key, node, in_flow, stop)?;
    let Content::Sequence { entries, .. } = &node.resolved().content else { return Ok((Vec::new(), place)) };
    let item = |(range, entry): (Range<usize>, &Node<'a>)| Item { head: None, range, node: Some(entry.clone()) };
    Ok((ranges.into_iter().zip(entries).map(item).collect(), place))
}

/// The list under a key: its entries' lines or values, and where it lies. `stop`: the end of the last entry's lines.
pub(super) fn list_under(
    text: &str,
    key: &Node<'_>,
    node: &Node<'_>,
    in_flow: bool,
    stop: usize,
) -> Result<(Vec<Range<usize>>, Place), Problem> {
    let refused = |what: &str| {
        let name = key.text().unwrap_or_default();
        Err(Problem::at(ProblemKind::Syntax, node.span.start, format!("`{name}` must be {what}")))
    };
    if is_alias(text, node) {
        return refused("a list of its own, not an alias");
    }
    let value = value_range(text, key, node)?;
    match &node.resolved().content {
        Content::Sequence { flow: false, entries } => match block_entries(text, past_colon(text, key)?, entries, stop) {
            Some(found) => Ok(found),
            None => refused("a list that starts on a line of its own"),
        },
        Content::Sequence { entries, .. } if !entries.is_empty() => {
            let (open, close) = (node.span.start, node.span.end.saturating_sub(1));
            Ok((flow_entries(text, open, entries), Place::Brackets { open, close }))
        }
        // What is put between brackets of a flow mapping leaves everything before them as it is.
        Content::Sequence { .. } if in_flow && text.get(node.span.clone()).is_some_and(|list| list.starts_with('[')) => {
            Ok((Vec::new(), Place::Brackets { open: node.span.start, close: node.span.end.saturating_sub(1) }))
        }
        Content::Sequence { .. } => Ok((Vec::new(), empty(text, key, value, in_flow)?)),
        Content::Scalar { .. } if matches!(node.value(), Ok(serde_json::Value::Null)) => {
            Ok((Vec::new(), empty(text, key, value, in_flow)?))
        }
        _ => refused("a list"),
    }
}

fn block_entries(text: &str, colon: usize, entries: &[Node<'_>], stop: usize) -> Option<(Vec<Range<usize>>, Place)> {
    let content = entries.first().map_or(colon, |entry| entry.span.start);
    let (first, indent) = first_dash(text, next_line(text, colon), content)?;
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(entries.len());
    let mut from = first;
    for entry in entries {
        let start = dash_line(text, from, stop, indent);
        if let Some(last) = ranges.last_mut() {
            last.end = start;
        }
        ranges.push(start..stop);
        from = next_line(text, entry.span.end.max(start));
    }
    let at = insertion_point(text, from.min(stop)..stop, indent);
    Some((ranges, Place::Sequence { indent, at, colon }))
}

fn flow_entries(text: &str, open: usize, entries: &[Node<'_>]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(entries.len());
    let mut from = open.saturating_add(1);
    for (index, entry) in entries.iter().enumerate() {
        // An entry's anchor and tag are not part of its span, but nothing else stands between it and the comma.
        let start = skip_gap(text, from, entry.span.start, index > 0);
        from = entry.span.end.max(start);
        ranges.push(start..from);
    }
    ranges
}

/// On the colon's line the blanks around the value are part of it, so that none are left at the line's end.
fn empty(text: &str, key: &Node<'_>, value: Range<usize>, in_flow: bool) -> Result<Place, Problem> {
    let colon = past_colon(text, key)?;
    let same_line = text.get(colon..value.start).is_some_and(|blank| !blank.contains('\n'));
    let rest = text.get(value.end..).unwrap_or_default();
    let blanks = rest.len().saturating_sub(rest.trim_start_matches([' ', '\t']).len());
    let at_line_end = rest.get(blanks..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['\r', '\n']));
    let end = if at_line_end { value.end.saturating_add(blanks) } else { value.end };
    let value = if same_line { colon..end } else { value.start..end };
    let column = indent_of(text, line_start(text, key.span.start));
    Ok(Place::Empty { below: (!in_flow).then(|| tail_end(text, next_line(text, value.end), column, false)), value })
}

/// All of a key's value, its anchor and tag too: nothing, right behind the colon, where there is none.
pub(super) fn value_range(text: &str, key: &Node<'_>, value: &Node<'_>) -> Result<Range<usize>, Problem> {
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
    Err(Problem::at(ProblemKind::Syntax, key.span.start, format!("`{name}` must be written as `{name}:`, with the colon behind it")))
}

/// An alias's span is its own, not that of what it stands for.
pub(super) fn is_alias(text: &str, node: &Node<'_>) -> bool {
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
