//! Lists in every style that YAML has, with the data that they hold: what the property tests feed on.
//!
//! All choices come from a tape of bytes, so that proptest can shrink them: a zero is always the plainest choice.

mod mutation;
mod writer;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestError, TestRunner};
use serde_json::{Map, Value, json};

pub(crate) use mutation::mutated;
use writer::Writer;

/// A text and what it says.
#[derive(Clone, Debug)]
pub(crate) struct Styled {
    pub(crate) text: String,
    pub(crate) items: Vec<Value>,
}

/// How far the style may go from what tools write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wildness {
    /// Only what kustomize, kpt and people write at the list's own level; anything inside of the items.
    Inside,
    /// Anything anywhere.
    Everywhere,
}

pub(crate) struct Tape<'t> {
    bytes: std::slice::Iter<'t, u8>,
}

impl<'t> Tape<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        Tape { bytes: bytes.iter() }
    }

    /// 0 to `count - 1`.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        usize::from(*self.bytes.next().unwrap_or(&0)) % count
    }

    pub(crate) fn one_of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.pick(choices.len())]
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.pick(count) == count - 1
    }
}

/// Text that looks like structure, like another type, or like nothing that a reader would expect.
#[rustfmt::skip]
pub(crate) const NASTY: &[&str] = &[
    "", "a", "two words", "three words in-it", "- item", "a - b", "kind: Fake", "apiVersion: v1", "# no comment", "a # b", "a #b", "a: b",
    "a:", ":a", "items:", "---", "--- a", "...", "yes", "n", "NO", "True", "0400", "1_000", "0o7", "0x1F", "1e3", ".5", ".inf", "12:30:45",
    "2001-01-01", "null", "~", "<<", "=", "*a", "&a", "!t", "%d", "@a", "`a", "{a}", "[a", "],", "}", "?", "? a", "-", "'", "\"", "it's", "\\",
    "\\n", "tab\there", "\tlead", " lead", "trail ", "trail\t", "  ", "\n", "\n\n", "a\n", "a\n\n", "a\n\n\nb", "line one\nline two\n", "- a\n- b\n",
    "\n\nx\n\n", "# c\n# d\n", "---\n", "...\nb\n", "items:\n- kind: Fake\n", "  indented\nless\n", "less\n  indented\n", "x\n\n\n", "a\n \nb\n", "a\n\tb\n",
    "trail \nx\n", "kind: A\napiVersion: b\n", "é", "日本語", "😀", "a\u{85}b", "a\u{2028}b", "a\u{a0}b", "a\u{feff}b", "\u{feff}", "a\u{7f}b", "\u{1}",
    "\u{0}", "a\rb", "a\r\nb", "\u{1b}[0m", "{{ .Values.x }}", "$(POD_IP)", "500m", "1Gi", "/bin/sh -c", "key: 'v'", "a,b", "a, b", "x: {y: [z]}",
];

/// Data of an object: any values, nasty strings among them.
pub(crate) fn value(tape: &mut Tape<'_>, depth: usize) -> Value {
    match tape.pick(if depth == 0 { 10 } else { 16 }) {
        0 => json!("plain"),
        1 => json!(i64::try_from(tape.pick(200)).unwrap() - 20),
        2 => json!(true),
        3 => Value::Null,
        4 | 5 => Value::String(words(tape)),
        6..=9 => json!(tape.one_of(NASTY)),
        10 | 11 => (0..tape.pick(4)).map(|_| value(tape, depth - 1)).collect(),
        _ => {
            let mut map = Map::new();
            for _ in 0..tape.pick(5) {
                let key = if tape.one_in(4) {
                    tape.one_of(NASTY)
                } else {
                    tape.one_of(&["a", "data", "kind", "b-c", "apiVersion", "items", "spec", "x/y"])
                };
                map.insert(key.to_owned(), value(tape, depth - 1));
            }
            Value::Object(map)
        }
    }
}

fn words(tape: &mut Tape<'_>) -> String {
    let words: Vec<&str> =
        (0..1 + tape.pick(5)).map(|_| tape.one_of(&["a", "word", "-", "kind:x", "#no", "b's", "x=1", "*", "10"])).collect();
    format!("w {}", words.join(" "))
}

/// An object that passes by: `apiVersion` and `kind` anywhere among its keys.
pub(crate) fn object(tape: &mut Tape<'_>) -> Value {
    let kind = tape.one_of(&["ConfigMap", "Service", "Deployment", "Gateway"]);
    let api_version = tape.one_of(&["v1", "apps/v1", "gateway.networking.k8s.io/v1"]);
    let mut map = Map::new();
    map.insert("apiVersion".into(), json!(api_version));
    map.insert("kind".into(), json!(kind));
    map.insert("metadata".into(), json!({"name": "a"}));
    for key in ["data", "spec", "x"].iter().take(tape.pick(4)) {
        let at = if tape.one_in(3) { tape.pick(map.len() + 1) } else { map.len() };
        map.shift_insert(at, (*key).to_owned(), value(tape, 3));
    }
    Value::Object(map)
}

/// A ResourceList of such objects.
pub(crate) fn list(tape: &mut Tape<'_>, wildness: Wildness) -> Styled {
    let items: Vec<Value> = (0..tape.pick(5)).map(|_| object(tape)).collect();
    list_of(tape, wildness, items)
}

/// A ResourceList of these objects.
pub(crate) fn list_of(tape: &mut Tape<'_>, wildness: Wildness, items: Vec<Value>) -> Styled {
    list_with(tape, wildness, items, |tape| {
        tape.one_in(4)
            .then(|| json!({"apiVersion": "fn.valkey.io/v1alpha1", "kind": "ExposeValkey", "metadata": {"name": tape.one_of(NASTY)}}))
    })
}

/// A ResourceList of these objects and a functionConfig.
pub(crate) fn list_with(
    tape: &mut Tape<'_>,
    wildness: Wildness,
    items: Vec<Value>,
    config: impl FnOnce(&mut Tape<'_>) -> Option<Value>,
) -> Styled {
    let mut root = Map::new();
    root.insert("apiVersion".into(), json!("config.kubernetes.io/v1"));
    root.insert("kind".into(), json!("ResourceList"));
    if !items.is_empty() || tape.one_in(2) {
        root.insert("items".into(), json!(items));
    }
    if let Some(config) = config(tape) {
        let at = tape.pick(root.len() + 1);
        root.shift_insert(at, "functionConfig".into(), config);
    }
    if tape.one_in(4) {
        let at = tape.pick(root.len() + 1);
        root.shift_insert(at, "results".into(), json!([{"message": tape.one_of(NASTY), "severity": "info"}]));
    }
    let text = Writer::new(tape, wildness).document(&root);
    Styled { text, items }
}

/// The same cases on every machine, so that only a change to the code can break them; `PROPTEST_CASES` and
/// `PROPTEST_RNG_SEED` search further.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let mut config = ProptestConfig { failure_persistence: None, max_shrink_time: 20_000, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(0x7661_6c6b_6579);
    }
    TestRunner::new(config)
}

/// Runs a property over tapes: one for what is to happen, one for the text that it happens to.
pub(crate) fn for_tapes(cases: u32, property: impl Fn(&mut Tape<'_>, &mut Tape<'_>) -> Result<(), String>) {
    let outcome = runner(cases).run(&(vec(any::<u8>(), 0..64), vec(any::<u8>(), 0..1200)), |(choices, text)| {
        property(&mut Tape::new(&choices), &mut Tape::new(&text)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(abort) => panic!("{abort}"),
    }
}

/// Runs a property over generated lists; the text is part of what a failure shows.
pub(crate) fn for_lists(cases: u32, wildness: Wildness, property: impl Fn(&Styled, &mut Tape<'_>) -> Result<(), String>) {
    for_tapes(cases, |choices, text| {
        let list = list(text, wildness);
        property(&list, choices).map_err(|reason| format!("{reason}\n--- of\n{}", list.text))
    });
}
