//! Life in a repository: what others wrote stays, what we wrote is kept up to date.

use expose_valkey::run;
use serde_json::{Value, json};

use super::harness::{Case, NONE, ONE_CLUSTER, read};

#[test]
fn the_config_itself_is_the_only_item() {
    let case = Case::run("generator-config-is-an-item");
    case.finds(&[]);
    assert_eq!(case.generated().len(), 3);
    assert_no_bookkeeping(&case);
}

#[test]
fn the_config_itself_is_no_item() {
    let case = Case::run("generator-config-is-no-item");
    case.finds(&[]);
    // It is rendered, and does not become an item.
    assert_eq!(
        (0..3).map(|index| case.item(index)).collect::<Vec<String>>(),
        ["Service valkey-gen-shard-0", "ValkeyNode gen-0-0", "ValkeyNode gen-0-1"]
    );
    assert_eq!(case.list["items"].as_array().unwrap().len(), 3);
    assert_no_bookkeeping(&case);
}

/// Annotations, but those that keep a ValkeyNode from being pruned.
fn without_prune(object: &Value) -> Value {
    let keys = ["argocd.argoproj.io/sync-options", "kustomize.toolkit.fluxcd.io/prune", "client.lifecycle.config.k8s.io/deletion"];
    let mut annotations = object["metadata"].get("annotations").cloned().unwrap_or_else(|| json!({}));
    let kept: Vec<&str> = keys.into_iter().filter(|key| annotations.as_object_mut().unwrap().shift_remove(*key).is_some()).collect();
    assert_eq!(kept.len(), if object["kind"] == "ValkeyNode" { 3 } else { 0 }, "{object}");
    annotations
}

/// kustomize drops what is `local-config`, and the other annotations are about the cluster itself.
fn assert_no_bookkeeping(case: &Case) {
    for object in case.generated() {
        assert_eq!(without_prune(object), json!({}));
    }
}

#[test]
fn new_objects_get_a_file_of_their_own() {
    let case = Case::run("files-of-a-package");
    case.finds(&[]);
    let mut taken = Vec::new();
    for spelling in ["internal.config.kubernetes.io", "config.kubernetes.io"] {
        for item in case.list["items"].as_array().unwrap() {
            let annotations = &item["metadata"]["annotations"];
            let key = |name: &str| annotations[format!("{spelling}/{name}")].as_str().unwrap().to_owned();
            taken.push((spelling, key("path"), key("index")));
        }
    }
    let all = taken.len();
    taken.sort();
    taken.dedup();
    assert_eq!((taken.len(), all), (12, 12));
    for (index, object) in case.generated().into_iter().enumerate() {
        let file = json!({
            "config.kubernetes.io/index": index.to_string(),
            "config.kubernetes.io/path": "cache/filed-external-access.yaml",
            "internal.config.kubernetes.io/index": index.to_string(),
            "internal.config.kubernetes.io/path": "cache/filed-external-access.yaml",
        });
        // Nothing else: `seqindent` is about the cluster's file.
        assert_eq!(without_prune(object), file);
    }
}

#[test]
fn an_output_is_regenerated_where_it_stands() {
    let case = Case::run("rerun-over-an-edited-service");
    case.finds(&[]);
    assert_eq!(case.names("Service"), ["valkey-twice-shard-0"]);
    assert_eq!((case.item(0), case.item(1)), ("Service valkey-twice-shard-0".to_owned(), "ValkeyCluster twice".to_owned()));
    let service = case.get("Service", "valkey-twice-shard-0");
    assert_eq!(service["metadata"]["labels"].get("env"), None, "edits by hand are overwritten");
    assert_eq!(service["spec"]["selector"], json!({"valkey.io/cluster": "twice", "valkey.io/shard-index": "0"}));
    assert!(case.output.contains("  # rendered last week, committed to git\n  - apiVersion: v1\n"), "the comment above it stays");
}

#[test]
fn an_output_that_is_up_to_date_keeps_its_text() {
    let case = Case::run("enabled-and-nothing-else");
    let ports = "ports:\n      - name: vk-n0\n        port: 6379\n        targetPort: vk-n0\n";
    let reviewed = case
        .output
        .replace("kind: Service\n", "kind: Service  # reviewed\n")
        .replace(ports, "ports: [{port: 6379, targetPort: vk-n0, name: vk-n0}]\n");
    assert!(reviewed.contains("# reviewed") && reviewed.contains("ports: [{"));
    assert_eq!(run(&reviewed).text.to_string(), reviewed);
}

#[test]
fn stale_outputs_go_and_others_stay() {
    let case = Case::run("scale-in");
    case.finds(&["info stale-removed valkey-shrink-shard-2", "warning orphan-left valkey-other-shard-2"]);
    assert_eq!(
        case.names("Service"),
        ["valkey-shrink-shard-2-metrics", "valkey-other-shard-2", "valkey-shrink-shard-0", "valkey-shrink-shard-1"]
    );
    // With access off, nothing of it is wanted any more.
    let off = Case::of(&case.input.replace("enabled: true", "enabled: false"));
    off.finds(&["info stale-removed valkey-shrink-shard-2", "warning orphan-left valkey-other-shard-2"]);
    assert_eq!(off.names("Service"), ["valkey-shrink-shard-2-metrics", "valkey-other-shard-2"]);
}

#[test]
fn an_object_that_only_has_our_name_is_an_error() {
    let case = Case::run("foreign-object-with-our-name");
    case.finds(&["error foreign-object valkey-mine-shard-0"]);
    assert_eq!(case.findings[0].field.as_deref(), Some("metadata.name"));
}

#[test]
fn kinds_of_other_groups_are_left_alone() {
    let case = Case::run("kinds-that-look-like-ours");
    case.finds(&["warning unknown-version d"]);
    assert!(case.output.starts_with(&case.input));
    assert!(case.findings[0].message.contains("valkey.io/v1beta1"), "{}", case.findings[0].message);
}

#[test]
fn nothing_in_nothing_out() {
    for case in [Case::run("no-items"), Case::run("no-items-but-the-key"), Case::run("no-items-and-no-key")] {
        case.finds(&[]);
        assert_eq!(case.output, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n", "{}", case.name);
    }
}

#[test]
fn yaml_11_of_others_passes() {
    let case = Case::run("yaml11-passes");
    case.finds(&[]);
    for text in [
        "defaultMode: 0400}",
        "defaultMode: 0o755}",
        "defaultMode: 0644}",
        "bool1: yes\n",
        "bool2: off\n",
        "grouped: 1_000\n",
        "bits: 0b101\n",
        "sexagesimal: 12:30:45\n",
        "big: 12345678901234567890\n",
        "float: 1.10\n",
    ] {
        assert_eq!(case.output.matches(text).count(), 1, "{text}");
    }
    assert_eq!(case.names("Service"), ["valkey-oct-shard-0"]);
}

#[test]
fn comments_order_and_style_of_others_pass() {
    let case = Case::run("comments-and-style-pass");
    case.finds(&[]);
    assert!(case.output.starts_with(&case.input));
    assert!(case.input.contains("echo one  \n"), "the trailing spaces are what this is about");
    let order = [
        "ConfigMap styled",
        "ValkeyCluster styled",
        "Service valkey-styled-shard-0",
        "Service valkey-styled-shard-1",
        "ValkeyNode styled-0-0",
        "ValkeyNode styled-1-0",
    ];
    assert_eq!((0..6).map(|index| case.item(index)).collect::<Vec<String>>(), order);
}

#[test]
fn document_markers_around_the_list_are_fine() {
    let case = Case::run("document-markers");
    case.finds(&[]);
    assert!(case.output.starts_with("---\n") && case.output.ends_with("\n---\n# nothing here\n"));
    assert_eq!(case.names("Service"), ["valkey-marks-shard-0"]);
}

#[test]
fn a_second_document_is_an_error() {
    let case = Case::run("two-documents");
    case.finds(&["error not-a-resource-list"]);
    for part in ["one ResourceList is expected", "line 10", "a second document"] {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    assert_eq!(case.output, "");
}

#[test]
fn a_plain_manifest_is_told_where_to_go() {
    let case = Case::run("plain-manifest");
    case.finds(&["error not-a-resource-list"]);
    for part in ["this is a ValkeyCluster", "expose-valkey render -f FILE"] {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    assert_eq!(case.output, "");
}

#[test]
fn keys_without_values_are_not_set() {
    let case = Case::run("keys-without-values");
    case.finds(&[]);
    assert_eq!(case.names("Service"), ["valkey-nulls-shard-0"]);
    assert_eq!(case.types(), ["NodePort"]);
    assert_eq!(case.get("Service", "valkey-nulls-shard-0")["metadata"].get("annotations"), None);
    assert_eq!((case.names("TCPRoute"), case.hostnames("nulls")), (NONE.to_vec(), vec![None]));
}

#[test]
fn a_list_inside_of_items_is_looked_into() {
    let case = Case::run("list-inside-items");
    case.finds(&[]);
    assert!(case.output.starts_with(&case.input));
    assert_eq!(case.names("Service"), ["valkey-inner-shard-0"]);
    // An output in there cannot be replaced, and must not be doubled.
    let old = "      - {apiVersion: v1, kind: Service, metadata: {name: valkey-inner-shard-0, namespace: cache, labels: {valkey.io/cluster: inner, valkey.io/shard-index: \"0\"}}}\n";
    let with_old = Case::of(&(case.input.clone() + old));
    with_old.finds(&["error foreign-object valkey-inner-shard-0"]);
    let current = format!("      - {}\n", case.get("Service", "valkey-inner-shard-0"));
    let with_current = Case::of(&(case.input.clone() + &current));
    with_current.finds(&[]);
    assert_eq!((with_current.names("Service"), with_current.names("ValkeyNode")), (NONE.to_vec(), vec!["inner-0-0"]));
}

#[test]
fn aliases_and_merge_keys_are_resolved_where_they_are_read() {
    let case = Case::run("aliases-and-merge-keys");
    case.finds(&[]);
    assert_eq!(case.types(), ["LoadBalancer", "LoadBalancer"]);
    assert_eq!(case.hostnames("left"), [Some("left-0.kv.example.org".to_owned())]);
    assert_eq!(case.hostnames("right"), [Some("right-0.kv.example.org".to_owned())]);
}

#[test]
fn new_text_has_the_line_ends_of_the_old() {
    let windows = format!("\u{feff}{}", ONE_CLUSTER.replace('\n', "\r\n"));
    let output = run(&windows).text.to_string();
    assert!(output.starts_with(&windows), "{output}");
    assert_eq!(output.matches('\n').count(), output.matches("\r\n").count());
    assert!(output.contains("\r\n  - apiVersion: v1\r\n    kind: Service\r\n"), "{output}");
    assert_eq!(run(&output).text.to_string(), output);
}

/// Real builds hold thousands of objects, and every function gets all of them.
#[test]
fn three_thousand_others_pass_around_one_large_cluster() {
    let filler = |n: usize| {
        format!(
            "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {{name: filler-{n:04}, namespace: ns-{:02}}}\n    data: {{k: \"{n:04}\", note: padding text for item number {n}}}\n",
            n % 40
        )
    };
    let cluster = "  - apiVersion: valkey.io/v1alpha1\n    kind: ValkeyCluster\n    metadata: {name: needle, namespace: cache}\n    spec: {shards: 100, replicas: 2, externalAccess: {enabled: true}}\n";
    let fillers: String = (0..3000).map(filler).collect();
    let input = format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{fillers}{cluster}");
    let output = run(&input);
    assert!(output.findings.is_empty());
    let text = output.text.to_string();
    assert!(text.starts_with(&input), "the items come first, as they were");
    assert!(text.contains("k: \"0042\""));
    let new = read(&text[input.len()..]).unwrap();
    let new = new.as_array().unwrap();
    let services: Vec<&Value> = new.iter().filter(|object| object["kind"] == "Service").collect();
    assert_eq!((services.len(), new.len()), (100, 400));
    assert!(services.iter().all(|service| service["spec"]["ports"].as_array().unwrap().len() == 3));
    assert_eq!(services[99]["metadata"]["name"], "valkey-needle-shard-99");
    assert_eq!(run(&text).text.to_string(), text);
}
