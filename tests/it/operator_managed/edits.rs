//! `announce: Command` in the cluster's own text: only its lines come, and only they go.

use std::fs;
use std::path::Path;
use std::process::Command;

use expose_valkey::run;

use super::{config, list, objects, printed};

const ACCESS: &str = "domain: kv.example.org, nodePorts: {base: 31000}";

fn off(text: &str) -> String {
    text.replace("enabled: true", "enabled: false")
}

/// A list without what we have put into it: everything before the results.
fn bare(text: &str) -> &str {
    text.split("\nresults:").next().unwrap().trim_end()
}

/// On and off again; what the cluster was with it.
fn there_and_back(spec: &str) -> String {
    let input = list(&config("Command", ACCESS, ""), spec);
    let on = printed(&input);
    let back = run(&off(&on)).text.to_string();
    assert_eq!(bare(&back), bare(&off(&input)), "by way of\n{on}");
    on[on.find("  spec:\n").unwrap()..on.find("- apiVersion: v1\n").unwrap()].to_owned()
}

#[test]
fn a_cluster_without_containers_gets_some_at_its_end() {
    insta::assert_snapshot!(there_and_back("# why\nconfig:\n  maxmemory: '100'   # much\n"));
}

#[test]
fn a_container_that_is_there_keeps_what_it_has() {
    insta::assert_snapshot!(there_and_back(
        "containers:\n# first\n- name: sidecar\n  image: 'x'\n- name: server   # ours too\n  env:\n  - {name: A, value: \"1\"}   # theirs\n  resources: {}\n# last\npersistence:\n  size: 1Gi\n"
    ));
    let on = there_and_back("containers:\n- name: server\n  resources:\n    limits: {cpu: 500m}\n");
    assert!(on.contains("limits: {cpu: 500m}\n      command:\n"), "{on}");
    let on = there_and_back("containers:\n  - name: sidecar\n");
    assert!(on.contains("      - name: sidecar\n      - name: server\n"), "{on}");
    there_and_back("containers: [{name: server}, {name: b}]");
    there_and_back("containers: []\nimage: valkey:9.1.2");
    there_and_back("containers:\n- name: server\n");
    there_and_back("containers:\n- name: server\n  env: []\n");
}

#[test]
fn a_variable_of_our_name_that_was_there_before_is_left() {
    let own = list("{mode: Rendered}", "containers: [{name: server, env: [{name: EXPOSE_VALKEY_SHARD, value: '1'}]}]");
    assert_eq!(bare(&printed(&own)), bare(&own));
}

#[test]
fn what_the_user_adds_later_stays_when_the_command_goes() {
    let on = printed(&list(&config("Command", ACCESS, ""), ""));
    let more = on.replace(
        "      env:\n      - name: EXPOSE",
        "      resources: {}\n      env:\n      - name: MINE\n        value: '1'\n      - name: EXPOSE",
    );
    assert_ne!(on, more);
    let back = run(&off(&more)).text.to_string();
    assert!(
        back.contains("    containers:\n    - name: server\n      resources: {}\n      env:\n      - name: MINE\n        value: '1'\n"),
        "{back}"
    );
    assert!(!back.contains("EXPOSE_VALKEY") && !back.contains("exec valkey-server"), "{back}");
}

#[test]
fn other_modes_take_the_command_out() {
    let input = list(&config("Command", ACCESS, ""), "");
    let on = printed(&input);
    let before = objects(&input, "ValkeyCluster");
    for other in [on.replace("announce: Command", "announce: Live"), on.replace("mode: OperatorManaged, announce: Command, ", "")] {
        assert_eq!(objects(&printed(&other), "ValkeyCluster"), before);
    }
    // ValkeyNodes are made from the cluster as it was, not as it is for one more run.
    let rendered = printed(&on.replace("mode: OperatorManaged, announce: Command, ", ""));
    assert!(!rendered.contains("EXPOSE_VALKEY"), "{rendered}");
}

#[test]
fn another_port_changes_the_command_and_nothing_else() {
    let on = printed(&list(&config("Command", ACCESS, ""), "image: valkey:9.1.2 # pinned\n"));
    let moved = printed(&on.replace("base: 31000", "base: 32000"));
    let lines = |text: &str| bare(text).lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(&on), lines(&moved));
    let differing: Vec<_> = old.iter().zip(&new).filter(|(old, new)| old != new && !old.contains("nodePort")).collect();
    assert_eq!((old.len(), differing.len()), (new.len(), 1), "{differing:?}");
}

#[test]
fn texts_that_could_not_be_put_back_are_refused_and_left() {
    for spec in ["containers:", "containers: null", "containers: &c\n- name: server\nx: *c", "containers:\n- &s {name: server}\nx: *s"] {
        let input = list(&config("Command", ACCESS, ""), spec);
        let output = run(&input);
        let rules: Vec<&str> = output.findings.iter().map(|finding| finding.rule.id()).collect();
        assert_eq!(rules, ["cluster-not-editable"], "{spec}");
        assert_eq!(bare(&output.text.to_string()), bare(&input));
    }
}

#[test]
fn check_says_it_too() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("operator-managed-check");
    fs::create_dir_all(&folder).unwrap();
    let config = config("Command", ACCESS, "");
    let manifests = format!(
        "apiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {{name: cache}}\nspec: {{shards: 1, containers: null}}\n---\napiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata: {{name: e}}\nspec: {config}\n"
    );
    fs::write(folder.join("cluster.yaml"), manifests).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(&folder).args(["check", "-f", "cluster.yaml"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success() && said.contains("could not put this text back") && said.contains("(cluster.yaml:1)"), "{said}");
}

#[test]
fn line_ends_and_a_last_line_without_one_are_kept() {
    for spec in ["", "containers:\n- name: server\n  env:\n  - name: A\n    value: b", "containers:\n- name: x"] {
        let input = list(&config("Command", ACCESS, ""), spec);
        for input in [input.replace('\n', "\r\n"), input.trim_end().to_owned(), input.trim_end().replace('\n', "\r\n")] {
            let on = printed(&input);
            let back = run(&off(&on)).text.to_string();
            let results = back.find("results:").unwrap();
            assert_eq!(back[..results].trim_end(), off(&input).trim_end(), "by way of\n{on}");
            assert_eq!(on.contains("\r\n"), input.contains("\r\n"));
            assert_eq!(on.matches('\n').count(), if input.contains('\r') { on.matches("\r\n").count() } else { on.matches('\n').count() });
        }
    }
}

#[test]
fn a_list_in_json_stays_json() {
    let spec = [
        r#"{"shards":3}"#,
        r#"{"shards":3,"containers":[]}"#,
        r#"{"containers":[{"name":"server","env":[]}], "shards":3 }"#,
        "{\n  \"shards\": 3\n }",
    ];
    for spec in spec {
        let input = format!(
            r#"{{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","functionConfig":{{"apiVersion":"fn.valkey.io/v1alpha1","kind":"ExposeValkey","spec":{{"mode":"OperatorManaged","clusters":[{{"externalAccess":{{"enabled":true,"domain":"d","nodePorts":{{"base":31000}}}}}}]}}}},"items":[{{"apiVersion":"valkey.io/v1alpha1","kind":"ValkeyCluster","metadata":{{"name":"cache"}},"spec":{spec}}}]}}"#
        );
        let on = printed(&input);
        let read: serde_json::Value = serde_json::from_str(&on).unwrap();
        assert_eq!(read["items"].as_array().unwrap().len(), 4);
        let off = on.replace("\"enabled\":true", "\"enabled\":false");
        let back = run(&off).text.to_string();
        let items = |text: &str| text[text.find("\"items\"").unwrap()..].trim_end_matches('}').to_owned();
        assert!(items(&back).starts_with(&items(&input)), "{back}\n{input}");
    }
}

#[test]
fn render_prints_the_edited_cluster_with_the_objects() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("operator-managed");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let cluster = "---\n# the cache\napiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata:\n  name: cache\nspec:\n  shards: 1\n  replicas: 0   # none";
    fs::write(folder.join("cluster.yaml"), cluster).unwrap();
    fs::write(
        folder.join("expose.yaml"),
        format!("apiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata: {{name: e}}\nspec: {}\n", config("Command", ACCESS, "")),
    )
    .unwrap();
    let render = |more: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(&folder).args(["render", "-f", "."]).args(more).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let quiet = |more: &[&str]| {
        let (out, said) = render(more);
        assert_eq!(said, "", "{more:?}");
        out
    };
    let out = quiet(&[]);
    insta::assert_snapshot!(out);
    // The file may lie beside the cluster that it has a copy of, and the second run finds it up to date; but who applies the
    // folder has the cluster twice.
    for more in [&["-o", "external-access.yaml"][..], &["-o", "./external-access.yaml", "--check"]] {
        let (_, said) = render(more);
        assert!(said.starts_with("[warning] valkey.io/v1alpha1/ValkeyCluster/cache: it is now in `"), "{said}");
        assert!(said.contains("cluster.yaml`, without") && said.contains("use `--in-place`"), "{said}");
    }
    assert_eq!(fs::read_to_string(folder.join("external-access.yaml")).unwrap(), out);
    assert_eq!(fs::read_to_string(folder.join("cluster.yaml")).unwrap(), cluster);
    fs::remove_file(folder.join("external-access.yaml")).unwrap();
    quiet(&["-o", "../operator-managed.yaml"]);
    // Or the cluster's own file is edited, and then what is printed is the rest.
    let (edited, objects) = out.split_once("---\n").unwrap();
    assert_eq!(quiet(&["--in-place"]), objects);
    assert_eq!(fs::read_to_string(folder.join("cluster.yaml")).unwrap(), format!("---\n{}", edited.trim_end()));
    quiet(&["--in-place", "-o", "external-access.yaml"]);
    assert_eq!(quiet(&["-o", "external-access.yaml", "--check"]), "");
    assert_eq!(fs::read_to_string(folder.join("external-access.yaml")).unwrap(), objects);
    let config = fs::read_to_string(folder.join("expose.yaml")).unwrap().replace("enabled: true", "enabled: false");
    fs::write(folder.join("expose.yaml"), config).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(&folder).args(["render", "-f", ".", "--in-place"]).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert_eq!(fs::read_to_string(folder.join("cluster.yaml")).unwrap(), cluster);
}
