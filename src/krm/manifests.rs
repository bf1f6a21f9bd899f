//! Plain manifests: files of several documents between `---` lines.

use std::ops::Range;

/// The documents of a manifest file, as ranges of its text. Documents of nothing but comments are left out.
#[must_use]
pub fn documents(text: &str) -> Vec<Range<usize>> {
    let mut documents = Vec::new();
    let mut start = 0;
    let mut line = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at.saturating_add(1)).chain(Some(text.len())) {
        let this = text.get(line..end).unwrap_or_default();
        let is_marker =
            |mark: &str| this.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if is_marker("---") {
            documents.push(start..line);
            start = line;
        } else if is_marker("...") {
            documents.push(start..end);
            start = end;
        }
        line = end;
    }
    documents.push(start..text.len());
    documents.retain(|range| text.get(range.clone()).is_some_and(has_content));
    documents
}

fn has_content(document: &str) -> bool {
    document.lines().any(|line| {
        let line = line.strip_prefix("---").unwrap_or(line).trim_start_matches('\u{feff}').trim();
        !line.is_empty() && !line.starts_with('#')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_between_markers() {
        let text = "# head\n---\na: 1\n---\n# nothing\n--- # c\nb: 2\n...\n";
        let found: Vec<&str> = documents(text).into_iter().map(|r| text.get(r).unwrap_or_default()).collect();
        assert_eq!(found, ["---\na: 1\n", "--- # c\nb: 2\n...\n"]);
        assert_eq!(documents("--- {a: 1}\n").len(), 1);
        assert_eq!(documents("").len(), 0);
    }
}
