//! `announce: Command` edits clusters, and takes its edits back, in any style that a list can be written in.

use std::cell::Cell;

use expose_valkey::krm::ResourceList;
use expose_valkey::run;
use serde_json::{Value, json};

use super::{ENABLED, same_but_results};
use crate::splitting::data_of;
use crate::styled::{self, NASTY, Tape, Wildness, for_tapes};

/// `spec.containers` in all shapes that an edit has to tell apart.
fn containers(tape: &mut Tape<'_>) -> Option<Value> {
    let nasty = tape.one_of(NASTY);
    let shapes = [
        None,
        Some(json!([])),
        Some(json!([{"name": "sidecar", "image": nasty}])),
        Some(json!([{"name": "server"}])),
        Some(json!([{"name": "server", "env": []}])),
        Some(json!([{"name": "server", "resources": {"limits": {"cpu": "1"}}}])),
        Some(json!([{"name": "server", "env": [{"name": "A", "value": nasty}]}])),
        Some(json!([{"name": "server", "env": [{"name": "A", "value": nasty}], "x": nasty}, {"name": "other", "note": nasty}])),
        Some(json!([{"name": "other"}, {"note": nasty, "name": "server"}])),
    ];
    shapes[tape.pick(shapes.len())].clone()
}

fn list(choices: &mut Tape<'_>, text: &mut Tape<'_>, wildness: Wildness) -> String {
    let mut spec = json!({"shards": 2, "replicas": 1});
    let note = json!({"note": choices.one_of(NASTY)});
    if choices.one_in(2) {
        spec["config"] = note.clone();
    }
    if let Some(containers) = containers(choices) {
        spec["containers"] = containers;
    }
    if choices.one_in(2) {
        spec["scheduling"] = note;
    }
    let cluster = json!({
        "apiVersion": "valkey.io/v1alpha1", "kind": "ValkeyCluster", "metadata": {"name": "cache", "namespace": "team"}, "spec": spec,
    });
    let mut items: Vec<Value> = (0..choices.pick(3)).map(|_| styled::object(text)).collect();
    items.insert(choices.pick(items.len() + 1), cluster);
    let access = json!({"enabled": ENABLED, "domain": "kv.example.org", "nodePorts": {"base": 31000}});
    let config = json!({
        "apiVersion": "fn.valkey.io/v1alpha1", "kind": "ExposeValkey",
        "spec": {"mode": "OperatorManaged", "clusters": [{"externalAccess": access}]},
    });
    styled::list_with(text, wildness, items, |_| Some(config)).text
}

/// The text with external access on or off: another word in its functionConfig.
fn switched(text: &str, from: &str, to: &str) -> String {
    let list = ResourceList::read(text).unwrap();
    let config = list.function_config.as_ref().unwrap();
    let start = text.len() - list.text.len() + config.tree.offset + config.tree.node.span.start;
    let end = start + config.tree.node.span.len();
    format!("{}{}{}", &text[..start], text[start..end].replacen(from, to, 1), &text[end..])
}

/// Nothing where a cluster is written in a way that is refused.
fn printed(text: &str) -> Result<Option<String>, String> {
    let output = run(text);
    match output.findings.iter().find(|_| output.failed()) {
        None => Ok(Some(output.text.to_string())),
        Some(finding) if finding.rule.id() == "cluster-not-editable" => Ok(None),
        Some(_) => Err(format!("{:?}\n--- of\n{text}", output.findings)),
    }
}

fn cluster(text: &str) -> Result<Value, String> {
    let data = ResourceList::read(text).map_err(|problems| format!("{problems:?}")).and_then(|list| data_of(&list));
    let data = data.map_err(|reason| format!("{reason}\n--- of\n{text}"))?;
    data.into_iter().find(|object| object["kind"] == "ValkeyCluster").ok_or_else(|| "no cluster".to_owned())
}

#[test]
fn the_command_comes_and_goes_and_leaves_every_byte() {
    let (tried, refused) = (Cell::new(0), Cell::new(0));
    for wildness in [Wildness::Inside, Wildness::Everywhere] {
        for_tapes(200, |choices, text| {
            let template = list(choices, text, wildness);
            let enabled = ENABLED.to_string();
            tried.set(tried.get() + 1);
            let Some(off) = printed(&switched(&template, &enabled, "false"))? else { return Err(format!("nothing to edit:\n{template}")) };
            let Some(on) = printed(&switched(&off, "false", "true"))? else {
                refused.set(refused.get() + 1);
                return Ok(());
            };
            let server =
                cluster(&on)?["spec"]["containers"].as_array().and_then(|all| all.iter().find(|entry| entry["name"] == "server").cloned());
            let script = server.map(|server| server["command"][2].to_string()).unwrap_or_default();
            if !script.contains("exec valkey-server") {
                return Err(format!("there is no command:\n{on}"));
            }
            if printed(&on)?.as_ref() != Some(&on) {
                return Err(format!("a second run changes the text:\n{on}"));
            }
            let Some(back) = printed(&switched(&on, "true", "false"))? else { return Err(format!("cannot go back:\n{on}")) };
            same_but_results(&off, &back).map_err(|reason| format!("{reason}\n--- by way of\n{on}"))
        });
    }
    assert!(refused.get() * 4 < tried.get(), "{} of {} are refused", refused.get(), tried.get());
}
