//! Changes to a text as a list of replaced ranges: whatever no edit names leaves byte for byte.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

/// Replacements, in any order; ranges must not overlap.
#[derive(Debug, Default)]
pub struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Puts `text` in the place of `range`.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// Puts `text` before the byte at `at`.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether whole lines up to `at` are replaced by whole lines or nothing, so that what comes behind starts a line.
    #[must_use]
    pub fn end_line_at(&self, text: &str, at: usize) -> bool {
        let starts_line = |start: usize| start == 0 || text.as_bytes().get(start.saturating_sub(1)) == Some(&b'\n');
        let whole = |range: &Range<usize>, new: &str| new.ends_with('\n') || (new.is_empty() && starts_line(range.start));
        self.0.iter().any(|(range, new)| range.end == at && range.start < at && whole(range, new))
    }

    /// The pieces of the edited text: those kept are borrowed from `text`. New text gets the line ends of the old.
    #[must_use]
    pub fn apply<'a>(mut self, text: &'a str) -> Pieces<'a> {
        let crlf = has_crlf(text);
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut pieces = Vec::with_capacity(self.0.len().saturating_mul(2).saturating_add(1));
        let mut done = 0;
        for (range, new) in self.0 {
            pieces.push(Cow::Borrowed(text.get(done..range.start).unwrap_or_default()));
            let new = if crlf { new.replace('\n', "\r\n") } else { new };
            pieces.push(Cow::Owned(new));
            done = done.max(range.end);
        }
        pieces.push(Cow::Borrowed(text.get(done..).unwrap_or_default()));
        pieces.retain(|piece| !piece.is_empty());
        Pieces(pieces)
    }
}

/// Whether the first line ends as on Windows.
pub(crate) fn has_crlf(text: &str) -> bool {
    memchr::memchr(b'\n', text.as_bytes()).is_some_and(|at| at > 0 && text.as_bytes().get(at.saturating_sub(1)) == Some(&b'\r'))
}

/// A text in pieces, so that a large list need not be copied to be passed on.
#[derive(Clone, Debug, Default)]
pub struct Pieces<'a>(pub Vec<Cow<'a, str>>);

impl Pieces<'_> {
    /// Writes all pieces.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.len()).sum()
    }

    /// Whether there is no text at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Display for Pieces<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|piece| f.write_str(piece))
    }
}
