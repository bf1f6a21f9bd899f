//! Text that once was a list.

use super::Tape;

/// Lines that look like structure, put where they are not expected.
const LINES: &[&str] = &[
    "- kind: Fake",
    "  - a",
    "  kind: Fake",
    "apiVersion: v1",
    "items:",
    "---",
    "...",
    "# c",
    "",
    "   ",
    "\t",
    "\t- a",
    " -",
    "-",
    "- - a",
    "? a",
    ": b",
    "  \"",
    "\"",
    "'",
    "  - |",
    "  x: >",
    "    text",
    "  ]",
    "]",
    "}",
    "[",
    "- [",
    "  &a",
    "- *a",
    "- &a b",
    "%TAG ! a",
    "results:",
    "  - \"a",
    "b\"",
    "kind: B",
    "  !!str",
    "items: []",
    "foo:",
    "\u{feff}",
    "a: 'x",
    "  y'",
    "- ? a",
    "\r",
    "!!map",
    "functionConfig: null",
];

/// The text with some lines moved, lost, shifted, doubled, or broken up.
pub(crate) fn mutated(text: &str, tape: &mut Tape<'_>) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..=[0, 0, 1, 2][tape.pick(4)] {
        let at = (tape.pick(256) * 256 + tape.pick(256)) % (lines.len() + 1);
        let other = (tape.pick(256) * 256 + tape.pick(256)) % (lines.len() + 1);
        match tape.pick(8) {
            0 | 1 => lines.insert(at, format!("{}\n", tape.one_of(LINES))),
            _ if at >= lines.len() => {}
            2 => drop(lines.remove(at)),
            3 => lines[at].insert_str(0, tape.one_of(&[" ", "  ", "- ", "\t", "# ", "\"", "'"])),
            4 => lines[at] = lines[at].trim_start().to_owned(),
            5 => {
                lines[at] = format!(
                    "{}{}\n",
                    lines[at].trim_end(),
                    tape.one_of(&[" |", " >", ":", " \"", "\"", " [", "]", " {", "}", ",", " &a", " *a", " #", "'", " '", "\\"])
                )
            }
            6 if other < lines.len() => lines.swap(at, other),
            _ => {
                let line = &lines[at];
                let cut = (0..=tape.pick(40)).rev().find(|cut| line.is_char_boundary(*cut)).unwrap_or(0);
                let (before, behind) = line.split_at(cut);
                lines[at] =
                    format!("{before}{}{behind}", tape.one_of(&["\n", "", "\"", ": ", " #", "- ", "\n- ", "\n  ", "|", "\t", "{", "\r"]));
            }
        }
    }
    lines.concat()
}
