//! What is wrong, said where it is wrong and with a way out.

use expose_valkey::run;
use serde_json::{Value, json};

use super::harness::{Case, NONE, ONE_CLUSTER};

#[test]
fn preferring_hostnames_needs_a_domain() {
    let case = Case::run("hostname-without-domain");
    case.finds(&["error hostname-without-domain noname"]);
    assert_eq!(case.findings[0].field.as_deref(), Some("spec.externalAccess.domain"));
    assert!(case.findings[0].message.contains("`preferredEndpointType: hostname` needs a domain"));
    Case::of(&case.input.replace("preferredEndpointType", "domain: \"\"\n        preferredEndpointType"))
        .finds(&["error hostname-without-domain noname"]);
}

#[test]
fn domains_that_are_none_are_errors() {
    let case = Case::run("domains-that-are-none");
    case.finds(&["error domain url", "error domain star", "error domain under", "error domain port", "warning domain ok"]);
    let values = ["https://kv.example.org", "*.example.org", "kv_prod.example.org", "kv.example.org:6379", "kv.example.org."];
    for (finding, value) in case.findings.iter().zip(values) {
        assert_eq!(finding.field.as_deref(), Some("spec.externalAccess.domain"));
        assert_eq!(finding.current, Some(json!(value)));
        assert!(finding.message.contains(&format!("`{value}`")), "{}", finding.message);
    }
    // By itself, the one with the dot is taken without it.
    let lines: Vec<&str> = case.input.lines().filter(|line| !line.contains("domain: ") || line.contains("name: ok,")).collect();
    let alone = Case::of(&(lines.join("\n") + "\n"));
    alone.finds(&["warning domain ok"]);
    assert_eq!(alone.hostnames("ok"), [Some("shard-0.kv.example.org".to_owned())]);
    assert_eq!(alone.get("ValkeyNode", "ok-0-0")["spec"]["externalAccess"]["domain"], "kv.example.org");
}

#[test]
fn a_name_that_is_too_long_for_the_last_shard() {
    let case = Case::run("name-too-long-for-shard-10");
    case.finds(&[&format!("error name-length {LONG_NAME}"), &format!("warning workload-name-length {LONG_NAME}")]);
    let finding = &case.findings[0];
    assert_eq!((finding.field.as_deref(), &finding.current), (Some("metadata.name"), &Some(json!(LONG_NAME))));
    for part in ["has 48 characters", &format!("`valkey-{LONG_NAME}-shard-10` would have 64"), "11 shards", "at most 47"] {
        assert!(finding.message.contains(part), "{part}");
    }
}

#[test]
fn a_name_that_is_just_short_enough() {
    let case = Case::run("name-long-enough-for-shard-9");
    case.finds(&[&format!("warning workload-name-length {LONG_NAME}")]);
    let names = case.names("Service");
    assert_eq!(names.len(), 10);
    assert_eq!(names[9].len(), 63);
}

const LONG_NAME: &str = "cluster-luster-luster-luster-luster-luster-abcde";

#[test]
fn misspelled_fields_are_errors() {
    let case = Case::run("misspelled-fields");
    case.finds(&["error unknown-field typo", "error unknown-field typo", "error unknown-field typo", "error unknown-field typo2"]);
    let expected = [
        ("spec.externalAccess.enbled", Some("enabled")),
        ("spec.externalAccess.externalTrafficPolciy", Some("externalTrafficPolicy")),
        ("spec.externalAccess.nodePortBase", Some("nodePorts")),
        ("spec.externalAcess", Some("externalAccess")),
    ];
    for (finding, (field, meant)) in case.findings.iter().zip(expected) {
        assert_eq!((finding.field.as_deref(), finding.proposed.as_ref().and_then(Value::as_str)), (Some(field), meant));
        if let Some(meant) = meant {
            assert!(finding.message.contains(&format!("did you mean `{meant}`?")), "{}", finding.message);
        }
    }
    // The rest of the spec is the operator's.
    let others = case
        .input
        .replace("enbled", "enabled")
        .replace("        externalTrafficPolciy: Local\n        nodePortBase: 30100\n", "")
        .replace("externalAcess", "externalAccess");
    Case::of(&others).finds(&[]);
}

#[test]
fn counts_out_of_range_are_errors() {
    let case = Case::run("counts-out-of-range");
    case.finds(&["error counts zero", "error counts neg", "error counts huge"]);
    let expected = [
        ("spec.shards", json!(0), "1 to 16384"),
        ("spec.replicas", json!(-1), "0 to 1000"),
        ("spec.shards", json!(2_000_000), "1 to 16384"),
    ];
    for (finding, (field, value, range)) in case.findings.iter().zip(expected) {
        assert_eq!(finding.field.as_deref(), Some(field));
        assert!(finding.message.contains(range) && finding.message.ends_with(&format!("got {value}")), "{}", finding.message);
        assert_eq!(finding.current, Some(value));
    }
    for value in ["\"3\"", "1.5", "[1]", "18446744073709551616", "yes"] {
        Case::of(&ONE_CLUSTER.replace("shards: 1", &format!("shards: {value}"))).finds(&["error counts one"]);
    }
    // Each number by itself is in range.
    Case::of(&ONE_CLUSTER.replace("shards: 1", "shards: 16384, replicas: 1000")).finds(&["error counts one"]);
    Case::of(&ONE_CLUSTER.replace("shards: 1", "shards: 334, replicas: 2")).finds(&["warning many-nodes one"]);
}

#[test]
fn the_newer_path_is_never_taken_for_off() {
    let case = Case::run("newer-api-path");
    case.finds(&["error unknown-field newpath", "error two-places mixed", "warning wrong-value casing"]);
    let fields: Vec<&str> = case.findings.iter().filter_map(|finding| finding.field.as_deref()).collect();
    assert_eq!(fields, ["spec.networking.external.mode", "spec.networking.external", "spec.externalAccess.preferredEndpointType"]);
    assert!(case.findings[1].message.contains("`spec.externalAccess` and `spec.networking.external`"));
    // Where its fields are those that are known, it is read, and being there is being on.
    let known = ONE_CLUSTER.replace(
        "externalAccess: {enabled: true}",
        "networking: {external: {serviceType: LoadBalancer, domain: kv.example.org, preferredEndpointType: Hostname}}",
    );
    let known = Case::of(&known);
    known.finds(&["warning wrong-value one"]);
    assert_eq!(known.types(), ["LoadBalancer"]);
    assert_eq!(known.get("ValkeyNode", "one-0-0")["spec"]["externalAccess"]["preferredEndpointType"], "hostname");
}

#[test]
fn tls_is_seen_in_both_spellings() {
    let case = Case::run("tls-in-both-spellings");
    case.finds(&[]);
    // The operator announces the port by its TLS setting where the node has `tls`.
    assert_eq!(case.get("ValkeyNode", "oldtls-0-0")["spec"]["tls"], json!({"certificate": {"secretName": "kv-cert"}}));
    for node in ["newtls-0-0", "newtls-1-0"] {
        assert_eq!(case.get("ValkeyNode", node)["spec"]["tls"], json!({"certificates": {"server": {"secretName": "kv-cert"}}}), "{node}");
    }
    assert_eq!(case.get("ValkeyNode", "plain-0-0")["spec"].get("tls"), None);
    let tls = ["oldtls", "newtls", "plain"].map(|name| case.exposed(name).tls);
    assert_eq!(tls, [true, true, false]);
    assert!(case.client_ports().iter().all(|(_, port)| *port == Some(6379)));
    assert_eq!(case.hostnames("newtls"), [0, 1].map(|shard| Some(format!("shard-{shard}.kv.example.org"))));
}

#[test]
fn both_spellings_of_one_setting_are_an_error() {
    let twice = "shards: 1, tls: {certificate: {secretName: a}}, networking: {tls: {certificates: {server: {secretName: b}}}}, nodeSelector: {a: b}, scheduling: {nodeSelector: {c: d}}";
    let case = Case::of(&ONE_CLUSTER.replace("shards: 1", twice));
    case.finds(&["error two-places one", "error two-places one"]);
    let fields: Vec<&str> = case.findings.iter().filter_map(|finding| finding.field.as_deref()).collect();
    assert_eq!(fields, ["spec.tls", "spec.nodeSelector"]);
}

#[test]
fn a_misspelled_setting_fails() {
    let case = Case::run("config-map-misspelled");
    case.finds(&["error unknown-field render-settings"]);
    let finding = &case.findings[0];
    assert_eq!((finding.field.as_deref(), &finding.proposed), (Some("data.serviceTyp"), &Some(json!("serviceType"))));
    assert_eq!(case.list["results"][0]["resourceRef"], json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "render-settings"}));
    // Though there is nothing to render.
    let alone = case.input.split_once("items:\n").unwrap().0.to_owned() + "items: []\n";
    Case::of(&alone).finds(&["error unknown-field render-settings"]);
}

#[test]
fn settings_of_a_config_map_are_strings() {
    let case = Case::run("config-map-of-strings");
    case.finds(&[]);
    assert_eq!(case.types(), ["LoadBalancer", "LoadBalancer"]);
    assert_eq!(case.names("ValkeyNode"), NONE);
    assert_eq!(case.route_versions(), ["v1alpha2"; 4]);
    let ports: Vec<u64> = case.listener_ports().into_values().collect();
    assert_eq!(ports, [9000, 9001, 9004, 9005]);
    Case::of(&case.input.replace("\"false\"", "\"no\"")).finds(&["error wrong-type render-settings"]);
}

#[test]
fn all_faults_come_in_one_run_with_their_files() {
    let case = Case::run("three-faults-in-three-objects");
    case.finds(&["error wrong-value one", "error counts two", "error hostname-without-domain three"]);
    let expected = [("one", "spec.externalAccess.serviceType", 0), ("two", "spec.shards", 0), ("three", "spec.externalAccess.domain", 1)];
    let results = case.list["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for (result, (name, field, index)) in results.iter().zip(expected) {
        let reference = json!({"apiVersion": "valkey.io/v1alpha1", "kind": "ValkeyCluster", "name": name, "namespace": "a"});
        assert_eq!((&result["severity"], &result["resourceRef"]), (&json!("error"), &reference));
        assert_eq!(
            (&result["field"]["path"], &result["file"]),
            (&json!(field), &json!({"path": format!("a/{name}.yaml"), "index": index}))
        );
    }
}

#[test]
fn one_hostname_for_two_clusters() {
    let case = Case::run("one-hostname-for-two-clusters");
    case.finds(&["error hostname-overlap two", "warning hostname-overlap three"]);
    for part in ["a/one", "b/two", "shard-0.kv.example.org", "port 6379"] {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    // Node ports are not known yet: they may be others.
    let lines: Vec<&str> = case.input.lines().filter(|line| !line.contains("name: two,")).collect();
    Case::of(&(lines.join("\n") + "\n")).finds(&["warning hostname-overlap three"]);
}

#[test]
fn a_cluster_that_is_there_twice() {
    let (head, cluster) = ONE_CLUSTER.split_once("items:\n").unwrap();
    let twice = Case::of(&format!("{head}items:\n{cluster}{cluster}"));
    twice.finds(&["error duplicate-cluster one"]);
    let other = cluster.replace("{name: one}", "{name: one, namespace: other}");
    Case::of(&format!("{head}items:\n{cluster}{other}")).finds(&[]);
}

#[test]
fn a_duplicate_key_is_an_error_where_it_is_read() {
    let case = Case::run("duplicate-key");
    case.finds(&["error duplicate-key dup"]);
    assert_eq!(case.findings[0].field.as_deref(), Some("spec.externalAccess.domain"));
    assert!(case.findings[0].message.contains("line 14: key `domain` is there twice"), "{}", case.findings[0].message);
    // In what only passes it is no concern of ours.
    let bystander =
        ONE_CLUSTER.to_owned() + "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: twice}\n    data: {a: \"1\", a: \"2\"}\n";
    let passed = run(&bystander);
    assert!(!passed.failed() && passed.findings.is_empty());
    assert!(passed.text.to_string().starts_with(&bystander));
}

#[test]
fn aliases_that_expand_without_end_pass_where_nothing_is_read() {
    let case = Case::run("alias-bomb-passes");
    case.finds(&[]);
    assert_eq!(case.output, case.input);
}

#[test]
fn aliases_that_expand_without_end_are_an_error_where_they_are_read() {
    let case = Case::run("alias-bomb-in-a-cluster");
    case.finds(&["error budget bomb"]);
    assert!(case.findings[0].message.contains("aliases expand to more than 1000000 values"), "{}", case.findings[0].message);
    // In a list within an item the cluster would else be left out in silence.
    let (head, items) = case.input.split_once("items:\n").unwrap();
    let items: String = items.lines().map(|line| format!("    {line}\n")).collect();
    let list = format!("{head}items:\n  - apiVersion: v1\n    kind: List\n    items:\n{items}");
    let output = run(&list);
    let rules: Vec<&str> = output.findings.iter().map(|finding| finding.rule.id()).collect();
    assert_eq!(rules, ["budget"], "{list}");
}
