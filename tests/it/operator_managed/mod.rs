//! External access with an operator that knows nothing of it: `mode: OperatorManaged`.

mod command;
mod edits;
mod services;

use expose_valkey::run;
use serde_json::Value;

/// A list with a functionConfig, a cluster of 3 shards with a replica each, and what else is given. `spec`: more of the
/// cluster's, as lines.
fn list(config: &str, spec: &str) -> String {
    let spec: String = spec.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: fn.valkey.io/v1alpha1\n  kind: ExposeValkey\n  spec: {config}\nitems:\n- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: cache, namespace: team, labels: {{tier: gold, app.kubernetes.io/name: mine}}}}\n  spec:\n    shards: 3\n    replicas: 1\n{spec}"
    )
}

/// A functionConfig of this mode: how it is announced, what of external access, and what else.
fn config(announce: &str, access: &str, more: &str) -> String {
    format!("{{mode: OperatorManaged, announce: {announce}, clusters: [{{externalAccess: {{enabled: true, {access}}}}}]{more}}}")
}

/// What comes out, which must have no error and change nothing when run again.
fn printed(input: &str) -> String {
    let output = run(input);
    assert!(!output.failed(), "{:?}\n{input}", output.findings);
    let text = output.text.to_string();
    assert_eq!(run(&text).text.to_string(), text, "a second run changes the output");
    text
}

fn items(text: &str) -> Vec<Value> {
    let list = expose_valkey::krm::yaml::parse(text).unwrap().value().unwrap();
    list["items"].as_array().unwrap().clone()
}

fn objects(text: &str, kind: &str) -> Vec<Value> {
    items(text).into_iter().filter(|item| item["kind"] == kind).collect()
}

/// Kind and name of everything that comes out.
fn names(text: &str) -> Vec<String> {
    items(text).iter().map(|item| format!("{} {}", item["kind"], item["metadata"]["name"]).replace('"', "")).collect()
}

/// What is said, a line each.
fn said(input: &str) -> String {
    run(input).findings.iter().map(|finding| format!("{}: {finding}\n", finding.rule.id())).collect()
}
