//! Writes data as YAML, no two values in the same style.

use serde_json::{Map, Value};

use super::{Tape, Wildness};

#[rustfmt::skip]
const COMMENTS: &[&str] = &["# c", "#", "# - kind: Fake", "#kind: Fake", "# items:", "# ---", "# ' \"", "# [ {", "#\ttab", "# é"];

/// The text so far, and what must be known of it to go on.
pub(super) struct Writer<'w, 't> {
    tape: &'w mut Tape<'t>,
    wildness: Wildness,
    out: String,
    /// How rarely anything odd is written, 1 for as often as possible.
    calm: usize,
    /// Anchors so far, and what they stand for.
    anchors: Vec<Option<Value>>,
    /// The text ends in a block scalar that keeps blank lines behind it (`|+`): none may be added.
    keeps_blank_lines: bool,
    /// The text ends in a block scalar: a comment behind it must not be indented as deep.
    in_block_scalar: bool,
}

impl<'w, 't> Writer<'w, 't> {
    pub(super) fn new(tape: &'w mut Tape<'t>, wildness: Wildness) -> Self {
        let calm = *tape.one_of(&[&5, &1, &5, &20]);
        Writer { tape, wildness, out: String::new(), calm, anchors: Vec::new(), keeps_blank_lines: false, in_block_scalar: false }
    }

    pub(super) fn document(mut self, root: &Map<String, Value>) -> String {
        let bom = self.tape.one_in(12);
        let crlf = self.tape.one_in(6);
        self.gap(0);
        if self.wild() && self.tape.one_in(4) {
            self.out.push_str("%YAML 1.2\n---\n");
        } else if self.tape.one_in(4) {
            self.out.push_str(self.tape.one_of(&["---\n", "--- # start\n"]));
        }
        self.gap(0);
        if self.wild() && self.tape.one_in(5) {
            self.flow(&Value::Object(root.clone()), 1);
            self.out.push('\n');
        } else {
            let column = if self.wild() && self.tape.one_in(6) { 2 } else { 0 };
            self.spaces(column);
            self.mapping(root, column, true);
        }
        self.gap(0);
        if self.wild() && self.tape.one_in(6) {
            self.out.push_str("...\n");
        }
        if !self.in_block_scalar && self.tape.one_in(8) {
            self.out.truncate(self.out.trim_end_matches('\n').len());
        }
        let text = if crlf { self.out.replace('\n', "\r\n") } else { self.out };
        if bom { format!("\u{feff}{text}") } else { text }
    }

    fn wild(&self) -> bool {
        self.wildness == Wildness::Everywhere
    }

    fn oddly_in(&mut self, count: usize) -> bool {
        self.tape.one_in((count * self.calm).min(256))
    }

    fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    /// Blank lines and comments between lines; `column` is that of the structure around.
    fn gap(&mut self, column: usize) {
        while self.tape.one_in(8) {
            if self.tape.one_in(2) {
                if self.in_block_scalar && !self.keeps_blank_lines {
                    self.out.push('\n');
                } else if !self.in_block_scalar {
                    self.out.push_str(self.tape.one_of(&["\n", "  \n"]));
                }
            } else {
                let indent = if self.in_block_scalar { self.tape.pick(column + 1) } else { self.tape.pick(column + 4) };
                self.spaces(indent);
                self.out.push_str(self.tape.one_of(COMMENTS));
                self.out.push('\n');
                self.keeps_blank_lines = false;
            }
        }
    }

    fn end_line(&mut self) {
        if self.oddly_in(3) {
            self.out.push_str(self.tape.one_of(&[" ", " # c", "\t", " \t# - kind: Fake"]));
        } else if self.tape.one_in(12) {
            self.out.push_str(" # kpt-set: ${a}");
        }
        self.out.push('\n');
        self.keeps_blank_lines = false;
        self.in_block_scalar = false;
    }

    /// A block mapping whose first key stands where the text ends, in `column`.
    fn mapping(&mut self, map: &Map<String, Value>, column: usize, root: bool) {
        for (index, (key, value)) in map.iter().enumerate() {
            if index > 0 {
                self.gap(column);
                self.spaces(column);
            }
            let odd = if root { self.wild() } else { true };
            if odd && self.oddly_in(24) {
                self.out.push_str("? ");
                self.scalar_inline(key, column, false);
                self.end_line();
                self.spaces(column);
                self.out.push(':');
                self.value(value, column, root, false);
                continue;
            }
            if odd && self.oddly_in(40) {
                self.out.push_str("&k ");
            }
            self.key(key, odd);
            if odd && self.oddly_in(16) {
                self.out.push(' ');
            }
            self.out.push(':');
            match value {
                // As nearly everybody writes these.
                Value::String(text)
                    if matches!(key.as_str(), "apiVersion" | "kind") && is_plain(text, true) && (!odd || !self.oddly_in(5)) =>
                {
                    self.out.push(' ');
                    self.out.push_str(text);
                    self.end_line();
                }
                _ => self.value(value, column, root, true),
            }
        }
    }

    fn key(&mut self, key: &str, odd: bool) {
        let text = match if odd && self.oddly_in(5) { self.tape.pick(2) } else { 2 } {
            0 => single(key),
            1 => Some(double(self.tape, key)),
            _ => is_plain(key, true).then(|| key.to_owned()),
        };
        self.out.push_str(&text.unwrap_or_else(|| double(self.tape, key)));
    }

    /// What stands behind a colon or dash: the rest of the line and the lines below. `compact`: a block sequence may have its
    /// dashes in the parent's own column.
    fn value(&mut self, value: &Value, parent: usize, root: bool, compact: bool) {
        let odd = !root || self.wild();
        if odd
            && self.oddly_in(10)
            && let Some(anchor) = self.anchors.iter().position(|known| known.as_ref() == Some(value))
        {
            self.out.push_str(&format!(" *a{anchor}"));
            return self.end_line();
        }
        let inline = match value {
            Value::Object(map) => map.is_empty() || (odd && self.oddly_in(6)),
            Value::Array(list) => list.is_empty() || (odd && self.oddly_in(6)),
            _ => true,
        };
        let anchor = (odd && self.oddly_in(12)).then_some(self.anchors.len());
        if let Some(anchor) = anchor {
            // Its value is known to others only when it is complete.
            self.anchors.push(None);
            self.out.push_str(&format!(" &a{anchor}"));
        }
        if odd && self.oddly_in(16) {
            self.out.push_str(match value {
                Value::Object(_) => " !!map",
                Value::Array(_) => " !!seq",
                Value::String(_) => " !!str",
                Value::Null => " !!null",
                Value::Bool(_) => " !!bool",
                // Greater ones stand for something else, which may be of another type.
                Value::Number(number) if number.as_i64() < Some(1000) => " !!int",
                Value::Number(_) => "",
            });
        }
        if inline {
            let blank = if odd && self.oddly_in(4) { self.tape.one_of(&["  ", "\t", " \t "]) } else { " " };
            self.out.push_str(blank);
            match value {
                Value::String(text) => self.scalar(text, parent),
                Value::Object(_) | Value::Array(_) => self.flow(value, parent + 1),
                other => self.out.push_str(&other.to_string()),
            }
            if !self.in_block_scalar || !self.out.ends_with('\n') {
                self.end_line();
            }
        } else {
            self.end_line();
            self.gap(parent + 1);
            match value {
                Value::Object(map) => {
                    let column = parent + 1 + self.tape.one_of(&[&1, &0, &3]);
                    self.spaces(column);
                    self.mapping(map, column, false);
                }
                Value::Array(list) => {
                    let column = if compact && !self.tape.one_in(3) { parent } else { parent + 1 + self.tape.one_of(&[&1, &0, &3]) };
                    self.spaces(column);
                    self.sequence(list, column);
                }
                _ => {}
            }
        }
        if let Some(anchor) = anchor {
            self.anchors[anchor] = Some(value.clone());
        }
    }

    /// A block sequence whose first dash stands where the text ends, in `column`.
    fn sequence(&mut self, list: &[Value], column: usize) {
        for (index, entry) in list.iter().enumerate() {
            if index > 0 {
                self.gap(column);
                self.spaces(column);
            }
            self.out.push('-');
            let inner = column + 2 + self.tape.one_of(&[&0, &0, &0, &2]);
            match entry {
                Value::Object(map) if !map.is_empty() && !self.tape.one_in(8) => {
                    self.spaces(inner - column - 1);
                    self.mapping(map, inner, false);
                }
                Value::Array(list) if !list.is_empty() && !self.tape.one_in(8) => {
                    self.spaces(inner - column - 1);
                    self.sequence(list, inner);
                }
                other => self.value(other, column, false, false),
            }
        }
    }

    /// A scalar of a block collection in column `parent`, in any style that can hold it.
    fn scalar(&mut self, text: &str, parent: usize) {
        if self.tape.one_in(2)
            && let Some(block) = self.block_scalar(text, parent)
        {
            self.out.push_str(&block);
            self.in_block_scalar = true;
            return;
        }
        self.scalar_inline(text, parent, true);
    }

    /// In quotes or plain, on several lines where `fold` allows it.
    fn scalar_inline(&mut self, text: &str, parent: usize, fold: bool) {
        let styled = match self.tape.pick(4) {
            1 => single(text),
            2 => Some(double(self.tape, text)),
            _ => is_plain(text, true).then(|| text.to_owned()),
        };
        let styled = styled.unwrap_or_else(|| double(self.tape, text));
        if fold && self.tape.one_in(3) {
            let folded = fold_once(self.tape, &styled, parent);
            self.out.push_str(&folded);
        } else {
            self.out.push_str(&styled);
        }
    }

    /// `|` or `>`, with its lines and the end of the last one.
    fn block_scalar(&mut self, text: &str, parent: usize) -> Option<String> {
        let body = text.trim_end_matches('\n');
        let newlines = text.len() - body.len();
        let odd = |c: char| (c < ' ' && c != '\n' && c != '\t') || matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
        if body.is_empty() || text.contains(odd) {
            return None;
        }
        let lines: Vec<&str> = body.split('\n').collect();
        let folds = lines.iter().all(|line| !line.is_empty() && !line.starts_with([' ', '\t']));
        let mut out = if folds && self.tape.one_in(3) { ">".to_owned() } else { "|".to_owned() };
        let folded = out == ">";
        let step = 1 + self.tape.pick(4);
        if lines.iter().any(|line| line.starts_with([' ', '\t'])) || lines[0].is_empty() || self.tape.one_in(4) {
            out.push_str(&step.to_string());
        }
        match newlines {
            0 => out.push('-'),
            1 if !self.tape.one_in(4) => {}
            _ => out.push('+'),
        }
        self.keeps_blank_lines = out.ends_with('+');
        out.push_str(self.tape.one_of(&["\n", "\n", " # c\n"]));
        for (index, line) in lines.iter().enumerate() {
            if folded && index > 0 {
                out.push('\n');
            }
            let words = if folded && self.tape.one_in(2) {
                line.rsplit_once(' ').filter(|(a, b)| !a.is_empty() && !a.ends_with(' ') && !b.is_empty() && !b.starts_with('\t'))
            } else {
                None
            };
            let pieces = words.map_or_else(|| vec![*line], |(a, b)| vec![a, b]);
            for piece in pieces {
                if !piece.is_empty() {
                    out.extend(std::iter::repeat_n(' ', parent + step));
                    out.push_str(piece);
                }
                out.push('\n');
            }
        }
        out.extend(std::iter::repeat_n('\n', newlines.saturating_sub(1)));
        Some(out)
    }

    /// A flow collection whose further lines stand in column `indent` or behind it.
    fn flow(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) => {
                self.out.push('{');
                for (index, (key, value)) in map.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.flow_gap(indent);
                    if is_plain(key, false) && !self.tape.one_in(3) {
                        self.out.push_str(key);
                        self.out.push_str(": ");
                    } else {
                        let key = double(self.tape, key);
                        self.out.push_str(&key);
                        self.out.push_str(self.tape.one_of(&[": ", ":"]));
                    }
                    self.flow(value, indent);
                }
                if !map.is_empty() && self.tape.one_in(8) {
                    self.out.push(',');
                }
                self.flow_gap(indent);
                self.out.push('}');
            }
            Value::Array(list) => {
                self.out.push('[');
                for (index, value) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.flow_gap(indent);
                    self.flow(value, indent);
                }
                if !list.is_empty() && self.tape.one_in(8) {
                    self.out.push(',');
                }
                self.flow_gap(indent);
                self.out.push(']');
            }
            Value::String(text) => {
                let styled = match self.tape.pick(3) {
                    1 => single(text),
                    2 => Some(double(self.tape, text)),
                    _ => is_plain(text, false).then(|| text.clone()),
                };
                let styled = styled.unwrap_or_else(|| double(self.tape, text));
                self.out.push_str(&styled);
            }
            other => self.out.push_str(&other.to_string()),
        }
    }

    fn flow_gap(&mut self, indent: usize) {
        if self.tape.one_in(8) {
            self.out.push_str(self.tape.one_of(&["\n", " # c\n", "\n\n", " \n"]));
            let column = indent + self.tape.pick(4);
            self.spaces(column);
        } else if self.tape.one_in(3) {
            self.out.push(' ');
        }
    }
}

/// Whether every YAML reader takes the text, unquoted, for itself.
fn is_plain(text: &str, block: bool) -> bool {
    let typed = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    let allowed = |c: char| {
        c.is_ascii_alphanumeric() || " ./-_='#*".contains(c) || (block && ":{}[],&!\"".contains(c)) || ('\u{c0}'..'\u{2000}').contains(&c)
    };
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(allowed)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !typed.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn single(text: &str) -> Option<String> {
    let printable = |c: char| c >= ' ' && !matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    text.chars().all(printable).then(|| format!("'{}'", text.replace('\'', "''")))
}

fn double(tape: &mut Tape<'_>, text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\0' => out.push_str("\\0"),
            c if c < ' ' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            '\u{7f}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if c.is_ascii_alphanumeric() && tape.one_in(30) => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The same scalar with one of its single spaces as a line break.
fn fold_once(tape: &mut Tape<'_>, styled: &str, parent: usize) -> String {
    let quoted = styled.starts_with(['"', '\'']);
    let bytes = styled.as_bytes();
    let plain_byte = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_graphic() && *b != b'\\');
    let places: Vec<usize> = (1..bytes.len()).filter(|at| bytes[*at] == b' ' && plain_byte(at - 1) && plain_byte(at + 1)).collect();
    let fits = |at: &usize| {
        quoted && (2..bytes.len() - 1).contains(at) && plain_byte(at + 1) && bytes[at + 1] != b'"' || !quoted && bytes[at + 1] != b'#'
    };
    let places: Vec<usize> = places.into_iter().filter(fits).collect();
    if places.is_empty() {
        return styled.to_owned();
    }
    let at = places[tape.pick(places.len())];
    format!("{}\n{}{}", &styled[..at], " ".repeat(parent + 1 + tape.pick(4)), &styled[at + 1..])
}
