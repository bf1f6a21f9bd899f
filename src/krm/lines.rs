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
