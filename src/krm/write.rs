//! Writes objects of ours as YAML that every reader takes for the same data: block style, compact sequences as kustomize
//! has them, strings quoted wherever YAML 1.1 or 1.2 could see anything else in them.

use serde_json::Value;

use super::scalar;

/// Appends a mapping, its first line where `out` stands, every further line indented by `indent` spaces.
pub fn mapping(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    spaces(out, indent);
                }
                string(out, key, None);
                out.push(':');
                match value {
                    Value::Object(inner) if !inner.is_empty() => {
                        out.push('\n');
                        spaces(out, indent.saturating_add(2));
                        mapping(out, value, indent.saturating_add(2));
                    }
                    Value::Array(inner) if !inner.is_empty() => {
                        out.push('\n');
                        sequence(out, inner, indent);
                    }
                    _ => {
                        out.push(' ');
                        leaf(out, value, indent.saturating_add(2));
                        out.push('\n');
                    }
                }
            }
        }
        _ => {
            leaf(out, value, indent);
            out.push('\n');
        }
    }
}

/// Appends a sequence whose dashes stand in column `indent`.
pub fn sequence(out: &mut String, entries: &[Value], indent: usize) {
    for entry in entries {
        spaces(out, indent);
        out.push_str("- ");
        match entry {
            Value::Array(inner) if !inner.is_empty() => {
                // A sequence right inside a sequence: its first dash on this line.
                let mut nested = String::new();
                sequence(&mut nested, inner, indent.saturating_add(2));
                out.push_str(nested.trim_start_matches(' '));
            }
            _ => mapping(out, entry, indent.saturating_add(2)),
        }
    }
}

/// Appends a value on one line, as JSON that YAML readers take for the same: they see line breaks in characters that JSON
/// leaves as they are.
pub fn flow(out: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                quoted(out, key);
                out.push(':');
                flow(out, value);
            }
            out.push('}');
        }
        Value::Array(entries) => {
            out.push('[');
            for (index, value) in entries.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                flow(out, value);
            }
            out.push(']');
        }
        Value::String(text) => quoted(out, text),
        other => out.push_str(&other.to_string()),
    }
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

fn leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(text) => string(out, text, Some(indent)),
        // JSON's spelling of the others is YAML's: null, true, 1, 1.5, {}, [].
        other => out.push_str(&other.to_string()),
    }
}

/// `block`: the column for a block scalar, where one may stand.
fn string(out: &mut String, text: &str, block: Option<usize>) {
    if scalar::is_safe_plain(text) {
        out.push_str(text);
    } else if let (Some(indent), true) = (block, is_block_text(text)) {
        let body = text.trim_end_matches('\n');
        out.push_str(if body.len() == text.len() { "|-" } else { "|" });
        // The caller ends the last line.
        for line in body.split('\n') {
            out.push('\n');
            if !line.is_empty() {
                spaces(out, indent);
                out.push_str(line);
            }
        }
    } else {
        quoted(out, text);
    }
}

/// Text of several lines that reads as it was in a literal block scalar, whatever comes behind it: one that ends in blank
/// lines would take those that follow for its own.
fn is_block_text(text: &str) -> bool {
    let body = text.trim_end_matches('\n');
    body.contains('\n')
        && !text.ends_with("\n\n")
        && !body.starts_with([' ', '\n'])
        && text.chars().all(|c| c == '\n' || (c >= ' ' && c != '\u{7f}' && !is_odd(c)))
        && !body.split('\n').any(|line| line.ends_with(' '))
}

/// Line breaks of YAML 1.1, control characters, and what some reader refuses.
fn is_odd(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Double quotes with JSON's escapes; YAML knows all of them.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' || is_odd(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn block_style_as_kustomize_has_it() {
        let value = json!({"a": "yes", "b": [{"c": 1, "d": {"e": "x"}}, [1, [2]], {}, []], "t": "l1\n  l2\n", "u": "a\nb", "v": "a\n\n\n", "n": null});
        let mut out = String::new();
        mapping(&mut out, &value, 0);
        assert_eq!(
            out,
            "a: \"yes\"\nb:\n- c: 1\n  d:\n    e: x\n- - 1\n  - - 2\n- {}\n- []\nt: |\n  l1\n    l2\nu: |-\n  a\n  b\nv: \"a\\n\\n\\n\"\n\"n\": null\n"
        );
        let back = super::super::yaml::parse(&out).unwrap().value().unwrap();
        assert_eq!(back, value);
    }
}
