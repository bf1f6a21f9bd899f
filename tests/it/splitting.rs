//! The quick cut of a list at its line starts against the full parser, and both against a parser of another family.
//!
//! What must hold: whenever the parser accepts a document under YAML 1.2's rules of indentation, the two ways agree.

use expose_valkey::krm::{ResourceList, yaml};
use expose_valkey::run;
use serde_json::Value;

use crate::styled::{Wildness, for_lists, mutated};

/// An item's text without the blank lines and comments behind it: whose these are, the two ways need not agree on.
pub(crate) fn content(text: &str) -> &str {
    let mut end = text.len();
    for line in text.split_inclusive('\n').rev() {
        if !(line.trim().is_empty() || line.trim_start().starts_with('#')) {
            break;
        }
        end -= line.len();
    }
    text[..end].trim_end_matches(['\r', '\n'])
}

fn items_of<'a>(list: &ResourceList<'a>) -> Vec<&'a str> {
    list.items.iter().map(|item| content(list.item_text(item))).collect()
}

pub(crate) fn data_of(list: &ResourceList<'_>) -> Result<Vec<Value>, String> {
    let read = |item| {
        let tree = list.item_tree(item).map_err(|problem| format!("an item cannot be parsed: {problem:?}"))?;
        Ok(tree.read().map_err(|problems| format!("an item has no data: {problems:?}"))?.value)
    };
    list.items.iter().map(read).collect()
}

/// Whether the list was cut without the parser.
fn is_quick(list: &ResourceList<'_>) -> bool {
    list.items.iter().any(|item| item.head.is_some())
}

/// Holds the two ways against each other. A text that the strict parser refuses agrees with anything.
fn both_ways(text: &str) -> Result<(), String> {
    if yaml::parse_strict(text.strip_prefix('\u{feff}').unwrap_or(text)).is_err() {
        return Ok(());
    }
    let (quick, parsed) = match (ResourceList::read(text), ResourceList::read_with_parser(text)) {
        (Ok(quick), Ok(parsed)) => (quick, parsed),
        (Err(_), Err(_)) => return Ok(()),
        (quick, parsed) => return Err(format!("one way refuses it: quick {:?}, parser {:?}", quick.err(), parsed.err())),
    };
    let (quick_items, parsed_items) = (items_of(&quick), items_of(&parsed));
    if quick_items != parsed_items {
        return Err(format!("items differ\nquick:  {quick_items:#?}\nparser: {parsed_items:#?}"));
    }
    for (item, full) in quick.items.iter().zip(&parsed.items) {
        let tree = parsed.item_tree(full).map_err(|problem| format!("{problem:?}"))?;
        if let Some((api_version, kind)) = item.head {
            let read = |key: &str| tree.node.get(key).and_then(|node| node.text());
            if (read("apiVersion"), read("kind")) != (Some(api_version), Some(kind)) {
                return Err(format!("head {:?} differs in {}", item.head, quick.item_text(item)));
            }
        }
        let by_itself = quick.item_tree(item).map_err(|problem| format!("{problem:?}"))?;
        let (quick_value, value) = (by_itself.node.value(), tree.node.value());
        if quick_value.as_ref().ok() != value.as_ref().ok() {
            return Err(format!("data differs: quick {quick_value:?}, parser {value:?}"));
        }
    }
    let config = |list: &ResourceList<'_>| list.function_config.as_ref().map(|read| read.value.clone());
    if config(&quick) != config(&parsed) {
        return Err(format!("functionConfig differs: quick {:?}, parser {:?}", config(&quick), config(&parsed)));
    }
    if quick.results != parsed.results {
        return Err(format!("results differ: quick {:?}, parser {:?}", quick.results, parsed.results));
    }
    same_output(text)
}

/// The function's output is the same when the quick way is barred by a first key that it does not know.
fn same_output(text: &str) -> Result<(), String> {
    const BAR: &str = "\"bar\": 1\n";
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) || text.contains("\r\n") || text.contains("\n---") {
        return Ok(());
    }
    let barred = format!("{BAR}{text}");
    let output = run(&barred).text.to_string();
    let expected = run(text).text.to_string();
    match output.strip_prefix(BAR) {
        Some(output) if output == expected => Ok(()),
        None if output == expected => Ok(()),
        _ => Err(format!("output differs\nquick:\n{expected}\nparser:\n{output}")),
    }
}

#[test]
fn generated_lists_are_cut_as_they_are_parsed() {
    for_lists(400, Wildness::Everywhere, |list, _| both_ways(&list.text));
    for_lists(400, Wildness::Inside, |list, _| both_ways(&list.text));
}

#[test]
fn generated_lists_hold_what_was_written() {
    let (quick, all) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_lists(500, Wildness::Inside, |list, _| {
        let read = ResourceList::read(&list.text).map_err(|problems| format!("{problems:?}"))?;
        quick.set(quick.get() + usize::from(is_quick(&read)));
        all.set(all.get() + usize::from(!read.items.is_empty()));
        let data = data_of(&read)?;
        if data == list.items { Ok(()) } else { Err(format!("read {data:#?}\nwritten {:#?}", list.items)) }
    });
    // A test of two ways is worth nothing if one of them is never gone.
    assert!(quick.get() * 2 > all.get(), "{} of {} lists were cut the quick way", quick.get(), all.get());
}

#[test]
fn libyaml_finds_the_same_items() {
    let (read, all) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_lists(500, Wildness::Everywhere, |list, _| {
        all.set(all.get() + 1);
        let Ok(value) = yaml_serde::from_str::<Value>(&list.text) else { return Ok(()) };
        read.set(read.get() + 1);
        let items = value.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        let ours = data_of(&ResourceList::read(&list.text).map_err(|problems| format!("{problems:?}"))?)?;
        if ours == items { Ok(()) } else { Err(format!("ours {ours:#?}\nlibyaml {items:#?}")) }
    });
    assert!(read.get() * 10 > all.get() * 9, "libyaml accepts {} of {} lists", read.get(), all.get());
}

#[test]
fn mutated_lists_are_cut_as_they_are_parsed() {
    let (valid, all) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_lists(1500, Wildness::Inside, |list, tape| {
        let text = mutated(&list.text, tape);
        all.set(all.get() + 1);
        valid.set(valid.get() + usize::from(yaml::parse_strict(&text).is_ok()));
        both_ways(&text).map_err(|reason| format!("{reason}\n--- mutated\n{text}"))
    });
    assert!(valid.get() * 5 > all.get(), "{} of {} are still YAML", valid.get(), all.get());
}

/// Which way a list goes.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    Quick,
    Parser,
    Refused,
}

/// The way that a text goes, and the data of its items.
fn way(text: &str) -> (Way, Vec<Value>) {
    match ResourceList::read(text) {
        Err(_) => (Way::Refused, Vec::new()),
        Ok(list) => (if is_quick(&list) { Way::Quick } else { Way::Parser }, data_of(&list).unwrap()),
    }
}

/// Documents with a list's head before them, and what their items hold.
const BEHIND_HEAD: &[(&str, Way, &str)] = &[
    (
        "items:\n- kind: A\n  apiVersion: v1\n- kind: B\n  apiVersion: v1\n",
        Way::Quick,
        r#"[{"kind":"A","apiVersion":"v1"},{"kind":"B","apiVersion":"v1"}]"#,
    ),
    (
        "items:\n     - apiVersion: v1\n       kind: A\n     # c\n\n     -   m: 2\n",
        Way::Quick,
        r#"[{"apiVersion":"v1","kind":"A"},{"m":2}]"#,
    ),
    // Dashes on lines of their own, entries of every kind.
    ("items:\n-\n  m: 1\n-\n- # c\n  m: 3\n- - 4\n  - - 5\n- |\n- m\n", Way::Parser, r#"[{"m":1},null,{"m":3},[4,[5]],"","m"]"#),
    // Block scalars whose text looks like structure.
    (
        "items:\n- apiVersion: v1\n  kind: A\n  t: |\n   - kind: Fake\n   items:\n   # c\n   ---\n- m: 2\n",
        Way::Quick,
        r##"[{"apiVersion":"v1","kind":"A","t":"- kind: Fake\nitems:\n# c\n---\n"},{"m":2}]"##,
    ),
    (
        "items:\n- t: |2\n     kind: Fake\n    - a\n  apiVersion: v1\n  kind: A\n- t: >+\n   a\n   b\n\n# c\n- t: |-\n\n   x\n\n",
        Way::Quick,
        r#"[{"t":" kind: Fake\n- a\n","apiVersion":"v1","kind":"A"},{"t":"a b\n\n"},{"t":"\nx"}]"#,
    ),
    // Plain and quoted scalars of several lines.
    (
        "items:\n- apiVersion: v1\n  kind: A\n  t: a\n   - b\n   kind\n  u: 'a\n\n   - kind: B'\n  v: \"\\\n   items:\n   # c\"\n- m: 2\n",
        Way::Quick,
        r##"[{"apiVersion":"v1","kind":"A","t":"a - b kind","u":"a\n- kind: B","v":"items: # c"},{"m":2}]"##,
    ),
    (
        "items:\n- apiVersion: v1\n  kind: A\n   B\n- apiVersion: v1\n  kind: C\n",
        Way::Quick,
        r#"[{"apiVersion":"v1","kind":"A B"},{"apiVersion":"v1","kind":"C"}]"#,
    ),
    // Keys and heads in every spelling.
    (
        "items:\n- apiVersion: v1\n  kind : A\n- \"apiVersion\": v1\n  'kind': B\n- ? kind\n  : C\n- apiVersion: v1\n  kind:\t\"D\"\n- {kind: E}\n- !!map\n  kind: F\n",
        Way::Parser,
        r#"[{"apiVersion":"v1","kind":"A"},{"apiVersion":"v1","kind":"B"},{"kind":"C"},{"apiVersion":"v1","kind":"D"},{"kind":"E"},{"kind":"F"}]"#,
    ),
    (
        "items:\n- apiVersion: v1\n  kind: A\n  \"k\\x69nd2\": B\n- apiVersion: v1\n  kind: A\n",
        Way::Quick,
        r#"[{"apiVersion":"v1","kind":"A","kind2":"B"},{"apiVersion":"v1","kind":"A"}]"#,
    ),
    ("\"items\":\n- m: 1\n", Way::Parser, r#"[{"m":1}]"#),
    ("items :\n- m: 1\n", Way::Parser, r#"[{"m":1}]"#),
    ("? items\n# c\n:\n- m: 1\n", Way::Parser, r#"[{"m":1}]"#),
    ("items: # c\n# c\n\n # c\n- apiVersion: v1\n  kind: A\n", Way::Quick, r#"[{"apiVersion":"v1","kind":"A"}]"#),
    ("items: !!seq\n- m: 1\n", Way::Parser, r#"[{"m":1}]"#),
    ("items: &a\n  - m: 1\n", Way::Parser, r#"[{"m":1}]"#),
    ("items:\n  &a\n  - m: 1\n", Way::Parser, r#"[{"m":1}]"#),
    // Anchors over items.
    (
        "items:\n- apiVersion: v1\n  kind: A\n  x: &x {m: 1}\n- apiVersion: v1\n  kind: B\n  <<: *x\n- *x\n- &y\n  m: *x\n",
        Way::Quick,
        r#"[{"apiVersion":"v1","kind":"A","x":{"m":1}},{"apiVersion":"v1","kind":"B","m":1},{"m":1},{"m":{"m":1}}]"#,
    ),
    ("x: &x\n  - m: 1\nitems:\n- apiVersion: v1\n  kind: A\n  m: *x\n", Way::Quick, r#"[{"apiVersion":"v1","kind":"A","m":[{"m":1}]}]"#),
    // Flow style, whole and in part, closed where the letter of YAML forbids it too.
    ("items: [{m: 1}, # c\n  {m: 2},\n]\n", Way::Parser, r#"[{"m":1},{"m":2}]"#),
    ("items:\n  [{\"m\":1},\n   {m: 2}]\n", Way::Parser, r#"[{"m":1},{"m":2}]"#),
    ("items: [&a {m: 1}, !!map {m: 2}, *a]\n", Way::Parser, r#"[{"m":1},{"m":2},{"m":1}]"#),
    ("items:\n- m: [\n  1\n]\n- m: 2\n", Way::Parser, r#"[{"m":[1]},{"m":2}]"#),
    // None.
    ("items: []\n", Way::Parser, "[]"),
    ("items:\n", Way::Parser, "[]"),
    ("items: # c\n  # c\nx: 1\n", Way::Parser, "[]"),
    ("items:\n  null\n", Way::Parser, "[]"),
    ("", Way::Parser, "[]"),
    // Sections in any order, before and behind.
    (
        "results:\n- message: |\n    items:\n    - a\nitems:\n- apiVersion: v1\n  kind: A\nfunctionConfig:\n  a:\n  - m: 1\n",
        Way::Quick,
        r#"[{"apiVersion":"v1","kind":"A"}]"#,
    ),
    // Tabs, where YAML lets them be.
    ("items:\t# c\n- m:\t1 \t# c\n\t\n- t: |\n   a\n   \tb\n", Way::Parser, r#"[{"m":1},{"t":"a\n\tb\n"}]"#),
    // The ends of a document.
    ("items:\n- m: 1\n...\n# c\n", Way::Parser, r#"[{"m":1}]"#),
    ("items:\n- apiVersion: v1\n  kind: A\n  t: |\n   a", Way::Quick, r#"[{"apiVersion":"v1","kind":"A","t":"a"}]"#),
    ("items:\n- apiVersion: v1\n  kind: A", Way::Quick, r#"[{"apiVersion":"v1","kind":"A"}]"#),
    // What is no ResourceList, or not one.
    ("items:\n- m: 1\n---\na: 1\n", Way::Refused, "[]"),
    ("items: []\nitems:\n- m: 1\n", Way::Refused, "[]"),
    ("items: a\n", Way::Refused, "[]"),
    ("items:\n  m: 1\n", Way::Refused, "[]"),
    ("x: &x [{m: 1}]\nitems: *x\n", Way::Refused, "[]"),
    ("items: \n - m: 1\n- m: 2\n", Way::Refused, "[]"),
];

const HEAD: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";

#[test]
fn nasty_documents() {
    for (body, expected, items) in BEHIND_HEAD {
        let items: Vec<Value> = serde_json::from_str(items).unwrap();
        for before in ["", "---\n", "# c\n\n--- # c\n", "\u{feff}", "\u{feff}# c\n"] {
            for text in [format!("{before}{HEAD}{body}"), format!("{before}{HEAD}{body}").replace('\n', "\r\n")] {
                let (taken, found) = way(&text);
                assert_eq!((&taken, &found), (expected, &items), "{text:?}");
                both_ways(&text).unwrap_or_else(|reason| panic!("{reason}\n{text:?}"));
            }
        }
        // What the quick way cannot know must not change what is found.
        for before in ["%YAML 1.2\n---\n", "? q\n: 1\n", "\"q\": 1\n", "--- !!map\n"] {
            let text = format!("{before}{HEAD}{body}");
            let (taken, found) = way(&text);
            assert_eq!((taken == Way::Refused, &found), (*expected == Way::Refused, &items), "{text:?}");
            assert_ne!(taken, Way::Quick, "{text:?}");
        }
    }
}

#[test]
fn heads_in_odd_places() {
    for (text, expected, count) in [
        ("{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [{m: 1}]}", Way::Parser, 1),
        ("{\"kind\":\"ResourceList\",\"apiVersion\":\"config.kubernetes.io/v1\",\"items\":[{\"m\":1},{\"m\":2}]}", Way::Parser, 2),
        ("  apiVersion: config.kubernetes.io/v1\n  kind: ResourceList\n  items:\n  - m: 1\n", Way::Parser, 1),
        ("kind: 'ResourceList'\nitems:\n- m: 1\napiVersion: config.kubernetes.io/v1\n", Way::Parser, 1),
        ("kind: ResourceList # c\nitems:\n- {}\n- apiVersion: v1\n  kind: A\napiVersion:   config.kubernetes.io/v1\n", Way::Quick, 2),
        ("---\n---\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: A\n", Way::Refused, 0),
        ("kind: ResourceList\nitems: []\n", Way::Refused, 0),
        ("kind: ResourceList\n  A\napiVersion: config.kubernetes.io/v1\nitems: []\n", Way::Refused, 0),
        ("apiVersion: v1\nkind: Service\n", Way::Refused, 0),
        ("- a\n", Way::Refused, 0),
        ("a", Way::Refused, 0),
        ("", Way::Refused, 0),
        ("---\n", Way::Refused, 0),
    ] {
        let (taken, items) = way(text);
        assert_eq!((taken, items.len()), (expected, count), "{text:?}");
    }
}
