//! The function for a web page: text in, and what the page shows as JSON.

use expose_valkey::finding::{Finding, any_error};
use expose_valkey::krm::write;
use expose_valkey::manifests::{self, Document, Source};
use expose_valkey::ports::{self, Seen};
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;

/// The name that the findings of a pasted text carry.
const NAME: &str = "input";
/// More marks than anyone can follow are not made: each costs a look through the text.
const MARKS: usize = 200;

#[wasm_bindgen]
extern "C" {
    /// Of the page's worker: it keeps the text until the instance, which is of no more use, is thrown away.
    #[wasm_bindgen(js_name = exposeValkeyPanicked)]
    fn panicked(message: &str);
}

/// To be called once, before anything else.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| panicked(&panic.to_string())));
}

/// The function, on a ResourceList: `{text, failed, findings: [text]}`.
#[wasm_bindgen]
#[must_use]
pub fn run(list: &str) -> String {
    let output = expose_valkey::run(list);
    let findings: Vec<String> = output.findings.iter().map(ToString::to_string).collect();
    json!({"text": output.text.to_string(), "failed": output.failed(), "findings": findings}).to_string()
}

/// What exposes the clusters of plain manifests: `{failed, clusters, exposed, ports, objects, findings}`.
#[wasm_bindgen]
#[must_use]
pub fn explain(text: &str) -> String {
    let sources = [Source { name: NAME.to_owned(), text: text.to_owned(), explicit: true }];
    let mut exposed = manifests::expose_all(&sources, None, Vec::new());
    let failed = any_error(&exposed.exposure.findings);
    let mut more = Vec::new();
    let clusters = if failed { Vec::new() } else { manifests::edited_clusters(&sources, &exposed.exposure, &mut more) };
    exposed.exposure.findings.append(&mut more);
    let exposure = &exposed.exposure;
    let clusters =
        clusters.into_iter().map(|edited| json!({"kind": edited.cluster.kind, "name": edited.cluster.name, "yaml": edited.text}));
    let findings: Vec<Value> =
        exposure.findings.iter().enumerate().map(|(index, found)| finding(text, found, &exposed.documents, index < MARKS)).collect();
    json!({
        "failed": any_error(&exposure.findings),
        "clusters": exposure.known.len(),
        "exposed": exposure.clusters.len(),
        "ports": ports::json(&ports::rows(&exposure.clusters, &exposure.config, &Seen::default())),
        "objects": clusters.chain(exposure.rendered().iter().map(object)).collect::<Vec<Value>>(),
        "findings": findings,
    })
    .to_string()
}

fn object(object: &Value) -> Value {
    let mut yaml = String::new();
    write::mapping(&mut yaml, object, 0);
    json!({"kind": object.get("kind"), "name": object.pointer("/metadata/name"), "yaml": yaml})
}

/// A finding, and what of the text to mark for it: `from` and `to` in the units that a browser counts in.
fn finding(text: &str, finding: &Finding, documents: &[Document<'_>], mark: bool) -> Value {
    let line = finding.file.as_ref().and_then(|file| file.line);
    let span = if mark { manifests::span(finding, documents) } else { None };
    let start = span.as_ref().map(|span| span.start);
    // A field that is missing has no place: the first line of what it is missing in stands for it.
    let end = span.and_then(|span| Some(span.start.saturating_add(text.get(span)?.lines().next()?.trim_end().len())));
    let units = |at: Option<usize>| at.and_then(|at| text.get(..at)).map(|before| before.encode_utf16().count());
    json!({
        "severity": finding.severity.as_str(),
        "rule": finding.rule.id(),
        "object": finding.object.as_ref().map(ToString::to_string),
        "field": finding.field,
        "message": finding.message,
        "proposed": finding.proposed,
        "line": line,
        "from": units(start),
        "to": units(end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(text: &str) -> Value {
        serde_json::from_str(&explain(text)).unwrap()
    }

    const CLUSTER: &str = "# ü𝄞\napiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: c}\nspec:\n  shards: 2\n  replicas: 1\n  externalAccess: {enabled: true}\n";

    #[test]
    fn a_cluster_is_explained() {
        let shown = explained(CLUSTER);
        assert_eq!(shown["failed"], false);
        assert_eq!((shown["clusters"].as_u64(), shown["exposed"].as_u64()), (Some(1), Some(1)));
        assert_eq!(shown["ports"].as_array().unwrap().len(), 4);
        let kinds: Vec<&str> = shown["objects"].as_array().unwrap().iter().map(|object| object["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == "Service").count(), 2, "{kinds:?}");
        assert!(shown["objects"][0]["yaml"].as_str().unwrap().starts_with("apiVersion: v1\nkind: Service\n"));
    }

    #[test]
    fn a_cluster_that_is_edited_is_shown_with_its_command() {
        let config = "---\napiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata: {name: e}\nspec: {mode: OperatorManaged, clusters: [{externalAccess: {domain: kv.example.org, nodePorts: {base: 31000}}}]}\n";
        let shown = explained(&format!("{CLUSTER}{config}"));
        assert_eq!((shown["failed"].as_bool(), shown["objects"][0]["kind"].as_str()), (Some(false), Some("ValkeyCluster")));
        let yaml = shown["objects"][0]["yaml"].as_str().unwrap();
        assert!(yaml.starts_with("# ü𝄞\n") && yaml.contains("exec valkey-server"), "{yaml}");
    }

    #[test]
    fn a_finding_marks_its_field() {
        let text = CLUSTER.replace("shards: 2", "shards: none");
        let shown = explained(&text);
        assert_eq!(shown["failed"], true);
        let finding = &shown["findings"][0];
        assert_eq!((finding["field"].as_str(), finding["line"].as_u64()), (Some("spec.shards"), Some(6)));
        let units: Vec<u16> = text.encode_utf16().collect();
        let at = |key: &str| finding[key].as_u64().unwrap() as usize;
        assert_eq!(String::from_utf16(&units[at("from")..at("to")]).unwrap(), "none");
    }

    #[test]
    fn text_that_is_no_manifest_is_a_finding() {
        for text in ["", "a: [", "kind: Pod\n"] {
            let shown = explained(text);
            assert_eq!(shown["exposed"], 0, "{text:?}");
            assert!(shown["ports"].as_array().unwrap().is_empty());
        }
        assert_eq!(explained("a: [")["findings"][0]["severity"], "error");
    }
}
