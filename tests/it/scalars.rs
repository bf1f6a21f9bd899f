//! Scalars as Kubernetes reads them, and strings that everybody reads as strings.

use expose_valkey::krm::{scalar, write, yaml};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::styled::{NASTY, runner};

const GO: &str = include_str!("../../testdata/yaml11.tsv");

/// The values, and what Go makes of them: nothing where it refuses.
fn rows() -> Vec<(&'static str, Option<Value>)> {
    let rows = GO.lines().skip(2).map(|line| {
        let (value, go) = line.split_once('\t').unwrap();
        (value, (!go.starts_with("ERR ")).then(|| serde_json::from_str(go).unwrap_or_else(|error| panic!("{line}: {error}"))))
    });
    rows.collect()
}

fn read(text: &str) -> Option<Value> {
    yaml::parse(text).ok()?.value().ok()
}

/// JSON has one kind of number.
fn same(ours: &Value, go: &Value) -> bool {
    match (ours, go) {
        (Value::Number(ours), Value::Number(go)) if !ours.is_f64() && !go.is_f64() => ours == go,
        (Value::Number(ours), Value::Number(go)) => ours.as_f64() == go.as_f64(),
        (Value::Array(ours), Value::Array(go)) => ours.len() == go.len() && ours.iter().zip(go).all(|(ours, go)| same(ours, go)),
        (Value::Object(ours), Value::Object(go)) => {
            ours.len() == go.len() && ours.iter().all(|(key, value)| go.get(key).is_some_and(|other| same(value, other)))
        }
        _ => ours == go,
    }
}

/// Where we differ from Go, and know why.
const DIFFERENT: &[(&str, Option<&str>, &str)] = &[
    ("{a: 0, <<: {a: 1}}", Some("{\"a\":0}"), "a mapping's own keys win wherever they stand, as YAML has it and kustomize reads it"),
    ("{1: a, \"1\": b}", None, "one of two keys would be lost"),
    ("!!binary /w==", None, "what is not text cannot be a string of JSON"),
];

#[test]
fn plain_scalars_are_read_as_go_reads_them() {
    let rows = rows();
    assert!(rows.len() > 250 && rows.iter().filter(|(_, go)| go.is_none()).count() > 20, "{} rows", rows.len());
    for (value, go) in &rows {
        let ours = read(&format!("k: {value}\n")).map(|object| object["k"].clone());
        if let Some((_, expected, why)) = DIFFERENT.iter().find(|(different, ..)| different == value) {
            assert_eq!(ours, expected.map(|json| serde_json::from_str(json).unwrap()), "{value}: {why}");
            assert_ne!(&ours, go, "{value} is no longer different");
            continue;
        }
        let agree = match (&ours, go) {
            (Some(ours), Some(go)) => same(ours, go),
            (ours, go) => ours == go,
        };
        assert!(agree, "`{value}`: we read {ours:?}, Go reads {go:?}");
    }
}

/// Whole documents; Go's answers, by the same program as those of the table.
#[test]
fn documents_are_read_as_go_reads_them() {
    for (text, go) in [
        ("a: &a {x: 1}\n<<: *a\ny: 2\n", Some(json!({"a": {"x": 1}, "true": 2, "x": 1}))),
        ("k: \"a\n- b\"\n", Some(json!({"k": "a - b"}))),
        ("k: [\n1\n]\n", Some(json!({"k": [1]}))),
        ("k: |\n a\n\n\n", Some(json!({"k": "a\n"}))),
        ("k: |+\n a\n\n\n", Some(json!({"k": "a\n\n\n"}))),
        ("k: |\n a", Some(json!({"k": "a"}))),
        ("k: >\n a\n b\n\n c\n", Some(json!({"k": "a b\nc\n"}))),
        ("k: \"a\n\n  b\\\n  c\"\n", Some(json!({"k": "a\nbc"}))),
        ("k: 1\r\n", Some(json!({"k": 1}))),
        ("%YAML 1.1\n---\nk: 1\n", Some(json!({"k": 1}))),
        ("k: 1\n...\n", Some(json!({"k": 1}))),
        ("k: a # b\nl: a#b\n", Some(json!({"k": "a", "l": "a#b"}))),
        ("- a\n", Some(json!(["a"]))),
        ("a", Some(json!("a"))),
        ("a:\n\tb: 1\n", None),
        ("a: b\n c: d\n", None),
        ("k: &a [*a]\n", None),
        // Go takes the last of two keys and the first of two documents, without a word. Here both are refused.
        ("k: 1\nk: 2\n", None),
        ("k: 1\n---\nk: 2\n", None),
    ] {
        assert_eq!(read(text), go, "{text}");
    }
}

fn written(text: &str) -> String {
    let mut out = String::new();
    write::mapping(&mut out, &json!({"k": text, text: "k"}), 0);
    out
}

fn is_quoted(text: &str) -> bool {
    let out = written(text);
    !out.starts_with(&format!("k: {text}\n"))
}

#[test]
fn strings_come_back_as_strings() {
    let rows = rows();
    let spellings = rows.iter().map(|(value, _)| *value);
    for text in NASTY.iter().copied().chain(spellings) {
        let out = written(text);
        let expected = json!({"k": text, text: "k"});
        assert_eq!(read(&out).as_ref(), Some(&expected), "{out}");
        assert_eq!(yaml_serde::from_str::<Value>(&out).ok().as_ref(), Some(&expected), "libyaml, {out}");
    }
    // What Go reads as anything else is never written bare.
    for (text, go) in rows {
        assert!(is_quoted(text) || go == Some(json!(text)), "{text} is {go:?} to Go");
    }
}

/// The patterns of YAML 1.1's types (as in PyYAML's resolver) and of YAML 1.2's core schema.
#[test]
fn no_string_is_written_as_what_another_reader_takes_for_a_type() {
    const PATTERNS: &[&str] = &[
        "(y|Y|n|N|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)",
        "(~|null|Null|NULL|<<|=|)",
        "[-+]?0b[01_]{1,9}",
        "[-+]?0[0-7_]{1,9}",
        "[-+]?(0|[1-9][0-9_]{0,9})",
        "[-+]?0x[0-9a-fA-F_]{1,9}",
        "[-+]?0o[0-7]{1,9}",
        "[-+]?[1-9][0-9_]{0,5}(:[0-5]?[0-9]){1,3}",
        "[-+]?[0-9][0-9_]{0,5}(:[0-5]?[0-9]){1,3}\\.[0-9_]{0,4}",
        "[-+]?[0-9][0-9_]{0,5}\\.[0-9_]{0,5}([eE][-+]?[0-9]{1,3})?",
        "[-+]?(\\.[0-9]{1,5}|[0-9]{1,5}(\\.[0-9]{0,5})?)([eE][-+]?[0-9]{1,3})?",
        "\\.[0-9][0-9_]{0,5}([eE][-+][0-9]{1,3})?",
        "([-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN))",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}",
        "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]{1,3})[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,3})?([ \t]{0,2}(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?",
    ];
    for pattern in PATTERNS {
        let outcome = runner(150).run(pattern, |text: String| {
            prop_assert!(!scalar::is_safe_plain(&text), "{text}");
            prop_assert!(is_quoted(&text), "{}", written(&text));
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("{pattern}: {failure}"));
    }
}

#[test]
fn what_needs_no_quotes_has_none() {
    for text in
        ["valkey-cache-shard-0", "500m", "1Gi", "/data", "kv.example.org", "app.kubernetes.io/name", "IfNotPresent", "$(POD_IP)", "a b"]
    {
        assert!(!is_quoted(text), "{text}");
    }
}
