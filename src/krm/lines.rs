//! Places of lines in a text.

/// Start of the line after the one that holds `at`.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |end| at.saturating_add(end).saturating_add(1))
}

/// Start of the line that holds `at`.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |end| end.saturating_add(1))
}

/// Line of a byte offset, from 1.
#[must_use]
pub fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    memchr::memchr_iter(b'\n', before).count().saturating_add(1)
}

/// Where the lines end that belong to the block style before `at`: comments deeper than `column`, and with `blanks` blank
/// lines too. Left behind, or put behind something else, they could become part of a block scalar there.
pub(super) fn tail_end(text: &str, at: usize, column: usize, blanks: bool) -> usize {
    let (mut end, mut start) = (at, at);
    while start < text.len() {
        let next = next_line(text, start);
        let line = text.get(start..next).unwrap_or_default();
        let content = line.trim_start_matches(' ');
        let is_deep_comment = content.trim_start().starts_with('#') && line.len().saturating_sub(content.len()) > column;
        let is_blank = content.trim().is_empty();
        if is_deep_comment || (is_blank && blanks) {
            end = next;
        } else if !is_blank {
            break;
        }
        start = next;
    }
    end
}
