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
        if is_marker(this, "---") && !text.get(start..line).is_some_and(is_only_directives) {
            documents.push(start..line);
            start = line;
        } else if is_marker(this, "...") {
            documents.push(start..end);
            start = end;
        }
        line = end;
    }
    documents.push(start..text.len());
    documents.retain(|range| text.get(range.clone()).is_some_and(has_content));
    documents
}

/// The document that starts at a byte of the text, without the markers around it.
#[must_use]
pub fn content_of(text: &str, start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    let body = match rest.lines().next() {
        Some(first) if is_marker(first, "---") => {
            let behind = rest.get(3..).unwrap_or_default().trim_start_matches([' ', '\t']);
            behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix('\n')).unwrap_or(behind)
        }
        _ => rest,
    };
    let lines = body.split_inclusive('\n').take_while(|line| !is_marker(line, "---") && !is_marker(line, "..."));
    let start = text.len().saturating_sub(body.len());
    start..start.saturating_add(lines.map(str::len).sum())
}

/// Whether a line starts or ends a document.
#[must_use]
pub fn is_marker(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

fn content(document: &str) -> impl Iterator<Item = &str> {
    let lines = document.lines().map(|line| line.trim_start_matches('\u{feff}'));
    lines
        .map(|line| if is_marker(line, "---") { line.get(3..).unwrap_or_default() } else { line }.trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn has_content(document: &str) -> bool {
    content(document).any(|line| line != "...")
}

/// `%YAML` and the like belong to the document whose `---` is still to come.
fn is_only_directives(text: &str) -> bool {
    content(text).next().is_some() && content(text).all(|line| line.starts_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_between_markers() {
        let text = "# head\n---\na: 1\n---\n# nothing\n--- # c\nb: 2\n...\n";
        let found: Vec<&str> = documents(text).into_iter().map(|r| text.get(r).unwrap_or_default()).collect();
        assert_eq!(found, ["---\na: 1\n", "--- # c\nb: 2\n...\n"]);
        let contents: Vec<&str> = documents(text).into_iter().filter_map(|r| text.get(content_of(text, r.start))).collect();
        assert_eq!(contents, ["a: 1\n", "# c\nb: 2\n"]);
        assert_eq!(content_of("---\r\n# own\r\na: 1", 0), 5..16);
        assert_eq!(content_of("--- {a: 1}\n", 0), 4..11);
        assert_eq!(documents("--- {a: 1}\n").len(), 1);
        assert_eq!(documents("").len(), 0);
        assert_eq!(documents("%YAML 1.2\n# c\n---\na: 1\n...\n%YAML 1.2\n---\nb: 2\n").len(), 2);
        assert_eq!(documents("---\n...\n---a: 1\n").len(), 1);
    }
}
