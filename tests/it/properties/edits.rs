//! Any items replaced, removed and appended, in lists of every style: the text that comes out must hold exactly the items
//! that it should, and those that were not touched as they were written.

use std::cell::Cell;

use expose_valkey::krm::entries::EntryChange;
use expose_valkey::krm::{Change, ResourceList, yaml};
use serde_json::{Value, json};

use crate::splitting::{content, data_of};
use crate::styled::{self, Styled, Tape, Wildness, for_lists, for_tapes};

/// What is done to each item, and what must come of it.
#[derive(Default)]
struct Edit {
    change: Change,
    expected: Vec<Value>,
    /// Index before and after of those that stay.
    kept: Vec<(usize, usize)>,
}

impl Edit {
    fn choose(list: &ResourceList<'_>, items: &[Value], tape: &mut Tape<'_>) -> Result<Edit, String> {
        let mut edit = Edit::default();
        for (index, (item, value)) in list.items.iter().zip(items).enumerate() {
            // What others refer to cannot be taken away; the function refuses to, see `hostile.rs`.
            let referred_to = list.item_text(item).contains('&');
            let end = list.item_tree(item).map_err(|problem| format!("{problem:?}"))?.end();
            match if referred_to { 0 } else { tape.pick(4) } {
                0 | 1 => {
                    edit.kept.push((index, edit.expected.len()));
                    edit.expected.push(value.clone());
                }
                2 => edit.change.removed.push((index, end)),
                _ => {
                    let new = new_object(tape);
                    edit.change.replaced.push((index, end, new.clone()));
                    edit.expected.push(new);
                }
            }
        }
        for _ in 0..tape.pick(3) {
            edit.append(list, new_object(tape));
        }
        edit.change.results = match tape.pick(3) {
            _ if list.results_are_referred_to() => None,
            0 => None,
            1 => Some(Vec::new()),
            _ => Some(vec![json!({"message": styled::value(tape, 0), "severity": "info"})]),
        };
        Ok(edit)
    }

    fn append(&mut self, list: &ResourceList<'_>, new: Value) {
        self.change.appended.push(list.new_item(&new));
        self.expected.push(new);
    }

    /// Makes the change and looks at what comes out.
    fn check(&self, list: &ResourceList<'_>) -> Result<String, String> {
        let output = list.with(&self.change).to_string();
        let told = |reason: String| format!("{reason}\n--- edited\n{output}\n--- by {:#?}", self.change);
        yaml::parse_strict(&output).map_err(|problem| told(format!("not YAML: {problem:?}")))?;
        for again in [ResourceList::read(&output), ResourceList::read_with_parser(&output)] {
            let again = again.map_err(|problems| told(format!("not a list: {problems:?}")))?;
            let data = data_of(&again).map_err(told)?;
            if data != self.expected {
                return Err(told(format!("items {data:#?}\nexpected {:#?}", self.expected)));
            }
            for (before, after) in &self.kept {
                let (old, new) = (list.item_text(&list.items[*before]), again.item_text(&again.items[*after]));
                if content(old) != content(new) {
                    return Err(told(format!("an item changed from\n{old}\nto\n{new}")));
                }
            }
            let results = self.change.results.as_ref().unwrap_or(&list.results);
            if &again.results != results {
                return Err(told(format!("results {:#?}\nexpected {results:#?}", again.results)));
            }
            let config = |list: &ResourceList<'_>| list.function_config.as_ref().map(|read| read.value.clone());
            if config(list) != config(&again) {
                return Err(told("the functionConfig changed".to_owned()));
            }
        }
        Ok(output)
    }
}

fn new_object(tape: &mut Tape<'_>) -> Value {
    json!({"apiVersion": "v1", "kind": "New", "metadata": {"name": "a"}, "text": styled::value(tape, 1)})
}

#[test]
fn any_edit_leaves_exactly_the_items_that_it_should() {
    let (read, all) = (Cell::new(0), Cell::new(0));
    let property = |list: &Styled, tape: &mut Tape<'_>| {
        let mut outputs = Vec::new();
        let choices: Vec<u8> = (0..48).map(|_| u8::try_from(tape.pick(256)).unwrap()).collect();
        for parsed in [ResourceList::read(&list.text), ResourceList::read_with_parser(&list.text)] {
            let parsed = parsed.map_err(|problems| format!("{problems:?}"))?;
            let edit = Edit::choose(&parsed, &list.items, &mut Tape::new(&choices))?;
            let output = edit.check(&parsed)?;
            // Where tabs may stand, libyaml has rules of its own.
            if let (false, Ok(theirs)) = (list.text.contains('\t'), yaml_serde::from_str::<Value>(&list.text)) {
                all.set(all.get() + 1);
                let ours = Value::from(edit.expected.clone());
                match yaml_serde::from_str::<Value>(&output) {
                    Ok(edited) if edited.get("items") == Some(&ours) && edited.get("kind") == theirs.get("kind") => {
                        read.set(read.get() + 1)
                    }
                    other => return Err(format!("libyaml reads {other:#?}\nin\n{output}")),
                }
            }
            outputs.push(output);
        }
        if outputs[0] == outputs[1] { Ok(()) } else { Err(format!("quick:\n{}\nparser:\n{}", outputs[0], outputs[1])) }
    };
    for_lists(400, Wildness::Inside, property);
    for_lists(400, Wildness::Everywhere, property);
    assert!(all.get() > 600 && read.get() == all.get(), "libyaml read {} of {} outputs", read.get(), all.get());
}

/// Lists that are easily edited into something else: with which items removed, and whether `results` go too.
const DELICATE: &[(&str, &[usize], bool)] = &[
    // Blank lines and comments that a text before them would take for its own.
    ("items:\n- t: |+\n    a\n\n- m: 2\n\n\n- m: 3\n", &[1], false),
    ("items:\n- t: |-\n   a\n- m: 2\n   # c\n- m: 3\n", &[1], false),
    ("items:\n- t: |-\n   a\n- m: 2\n\n   # c\n  # d\n\n", &[1], false),
    ("items:\n- t: |+\n   a\nresults:\n- message: a\n\n\n", &[], true),
    ("items:\n- t: |\n   a\nresults:\n- message: a\n    # c\n", &[], true),
    ("results:\n- message: a\n\nitems:\n- m: 1\n", &[0], true),
    // Block scalars of blanks, of nothing, and without a line end.
    ("items:\n- m: 1\n- t: |1-\n      \n", &[0], false),
    ("items:\n- t: |\n- m: 2\n- t: >+\n\n- t: # |\n    |\n", &[1], false),
    ("items:\n- m: 1\n- t: \"a\n   b\"", &[0], false),
    // Empty lists, and lists that become empty.
    ("items: []", &[], false),
    ("items:", &[], false),
    ("items:\n   # c\nx: 1\n", &[], false),
    ("items: # c\n  null # d\nx: 1\n", &[], false),
    ("items: &a # c\n- m: 1\nx: *a\n", &[], false),
    ("items: &a\n- m: 1\n", &[0], false),
    ("items: !!seq\n- m: 1\n- m: 2\n", &[0, 1], false),
    ("items: # c\n- m: 1\n# d\n- m: 2 # e\n", &[0, 1], false),
    ("? items\n: # c\n  - m: 1\n", &[0], false),
    ("  \n", &[], false),
    // Flow style: commas and comments anywhere.
    ("items: [{m: 1}, {m: 2}, ] # c\n", &[0, 1], false),
    ("items: [{m: 1}, # c\n  {m: 2}, # d\n  {m: 3}, # e\n ]\n", &[0, 2], false),
    ("items: [!!map {m: 1}, &a {m: 2},\n {m: 3} # c\n , {m: 4}]\n", &[0, 3], false),
    ("items: [{m: 1} , {m: 2}, {m: 3}]\nresults: []\n", &[2], true),
];

#[test]
fn delicate_lists_hold_what_they_should() {
    let head =
        ["apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n", "\"apiVersion\": config.kubernetes.io/v1\nkind: ResourceList\n"];
    let flow = |body: &str| format!("{{apiVersion: config.kubernetes.io/v1, kind: ResourceList, {body}}}\n");
    let indented = |text: &str| text.lines().map(|line| format!("   {line}\n")).collect::<String>();
    let mut texts: Vec<(String, &[usize], bool)> = Vec::new();
    for (body, removed, results) in DELICATE {
        texts.extend(head.iter().map(|head| (format!("{head}{body}"), *removed, *results)));
        texts.push((format!("{}{body}", head[0]).replace('\n', "\r\n"), *removed, *results));
        if body.ends_with('\n') {
            texts.push((indented(&format!("{}{body}", head[0])), *removed, *results));
        }
    }
    let flows = [
        "items: []",
        "items: ",
        "items: ,",
        "items: [],",
        "x: 1",
        "x: 1, # c\n",
        "items: [{m: 1}, ], results: [], # c\n ",
        "items: null, x: ",
    ];
    texts.extend(flows.iter().map(|body| (flow(body), if body.contains("m: 1") { &[0][..] } else { &[] }, body.contains("results"))));
    for (text, removed, results) in texts {
        let list = ResourceList::read(&text).unwrap_or_else(|problems| panic!("{problems:?} in\n{text}"));
        let data = data_of(&list).unwrap();
        for new in [0, 2] {
            let mut edit = Edit::default();
            for (index, item) in list.items.iter().enumerate() {
                if removed.contains(&index) {
                    edit.change.removed.push((index, list.item_tree(item).unwrap().end()));
                } else {
                    edit.kept.push((index, edit.expected.len()));
                    edit.expected.push(data[index].clone());
                }
            }
            edit.change.results = results.then(Vec::new);
            (0..new).for_each(|index| edit.append(&list, json!({"kind": "New", "a": index, "t": "a\nb\n"})));
            edit.check(&list).unwrap_or_else(|reason| panic!("{reason}\n--- of\n{text}"));
        }
    }
}

#[test]
fn no_change_changes_nothing() {
    for_lists(300, Wildness::Everywhere, |list, _| {
        let parsed = ResourceList::read(&list.text).map_err(|problems| format!("{problems:?}"))?;
        let output = parsed.with(&Change::default()).to_string();
        let text = list.text.trim_start_matches('\u{feff}');
        if list.items.is_empty() || output == text { Ok(()) } else { Err(output) }
    });
}

/// A Gateway with listeners in every style, or with an empty list, or with none.
fn gateway(tape: &mut Tape<'_>) -> Value {
    let mut gateway = styled::object(tape);
    let mut spec = json!({});
    for key in ["a", "listeners", "z"] {
        match (key, tape.pick(5)) {
            ("listeners", 0) | ("a" | "z", 0..=2) => {}
            ("listeners", 1) => spec[key] = json!([]),
            ("listeners", 2) => spec[key] = Value::Null,
            ("listeners", _) => spec[key] = (0..1 + tape.pick(3)).map(|_| json!({"name": styled::value(tape, 1)})).collect(),
            _ => spec[key] = styled::value(tape, 2),
        }
    }
    gateway["spec"] = spec;
    gateway
}

#[test]
fn entries_of_an_inner_list_are_edited_and_nothing_else() {
    let edited = Cell::new(0);
    for_tapes(1200, |choices, tape| {
        let mut items: Vec<Value> = (0..choices.pick(3)).map(|_| styled::object(tape)).collect();
        let at = choices.pick(items.len() + 1);
        items.insert(at, gateway(tape));
        let text = styled::list_of(tape, Wildness::Inside, items.clone()).text;
        let list = ResourceList::read(&text).map_err(|problems| format!("{problems:?}"))?;
        if text.contains('&') {
            return Ok(());
        }
        let mut change = EntryChange::default();
        let mut expected = Vec::new();
        for (index, entry) in items[at]["spec"]["listeners"].as_array().into_iter().flatten().enumerate() {
            match choices.pick(4) {
                0 | 1 => expected.push(entry.clone()),
                2 => change.removed.push(index),
                _ => {
                    let new = json!({"name": styled::value(choices, 1)});
                    change.replaced.push((index, new.clone()));
                    expected.push(new);
                }
            }
        }
        change.appended = (0..choices.pick(3)).map(|_| new_object(choices)).collect();
        expected.extend(change.appended.iter().cloned());
        if change.is_empty() {
            return Ok(());
        }
        let tree = list.item_tree(&list.items[at]).map_err(|problem| format!("{problem:?}"))?;
        let edits = change.edits(&tree, tree.node.get("spec").unwrap(), "listeners");
        let output = list.with(&Change { edits, ..Change::default() }).to_string();
        let told = |reason: String| format!("{reason}\n--- of\n{text}\n--- edited\n{output}\n--- by {change:#?}");
        yaml::parse_strict(&output).map_err(|problem| told(format!("not YAML: {problem:?}")))?;
        items[at]["spec"]["listeners"] = Value::from(expected);
        let again = ResourceList::read(&output).map_err(|problems| told(format!("not a list: {problems:?}")))?;
        let data = data_of(&again).map_err(told)?;
        edited.set(edited.get() + 1);
        if data == items { Ok(()) } else { Err(told(format!("items {data:#?}\nexpected {items:#?}"))) }
    });
    assert!(edited.get() > 400, "{} lists were edited", edited.get());
}
