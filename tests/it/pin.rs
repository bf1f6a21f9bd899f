//! `pin`: what Kubernetes has allocated gets into the file, and nothing else of the file changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

const CLUSTER: &str = "\
apiVersion: valkey.io/v1alpha1
kind: ValkeyCluster
metadata: {name: cache, namespace: shop}
spec: {shards: 2, replicas: 1, externalAccess: {enabled: true, serviceType: NodePort}}
";
const HEAD: &str = "apiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata:\n  name: expose\n";

/// A file with what people write into files.
const COMMENTED: &str = "\
# Settings of the function; see the team's page.
apiVersion: fn.valkey.io/v1alpha1
kind: \"ExposeValkey\"
metadata:
    name:   'expose'   # any name
    annotations: {config.kubernetes.io/local-config: \"true\"}

spec:
    # Ports by hand.
    pinned:
    # the queue, not in this folder
    - {name: queue, namespace: shop, nodePorts: [[31900]]}
    -   namespace: 'shop'
        name: \"cache\"   # the cache
        nodePorts:
        # shard 0
        -   - 31000   # primary
            - 0x7919  # hexadecimal, as somebody liked it
        # shard 1
        - [ 32000,   32001 ] # both
    emit: {\"services\": yes} # as it is
# end
";

/// A folder of manifests, and what is given as `--ports-from`.
struct Folder(PathBuf);

struct Ran {
    code: i32,
    said: String,
}

impl Folder {
    /// With the cluster, an ExposeValkey of this text, and these ports.
    fn new(name: &str, config: &str, ports: &str) -> Folder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pin").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("manifests")).unwrap();
        let folder = Folder(folder);
        folder.write("manifests/cluster.yaml", CLUSTER);
        if !config.is_empty() {
            folder.write("manifests/expose.yaml", config);
        }
        folder.write("ports.yaml", ports);
        folder
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    fn config(&self) -> String {
        self.text("manifests/expose.yaml")
    }

    fn run(&self, args: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(&self.0).args(args).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "nothing is printed but on standard error");
        Ran { code: output.status.code().unwrap(), said: String::from_utf8(output.stderr).unwrap() }
    }

    /// What it says, after it has succeeded.
    fn pins(&self) -> String {
        let ran = self.run(&["pin", "-f", "manifests", "--ports-from", "ports.yaml"]);
        assert_eq!(ran.code, 0, "{}: {}", self.0.display(), ran.said);
        ran.said
    }

    /// What it says, after it has failed; no file may have changed.
    fn refuses(&self, args: &[&str]) -> String {
        let before = self.files();
        let ran = self.run(args);
        assert_eq!(ran.code, 1, "{}", ran.said);
        assert!(ran.said.starts_with("[error] ") && ran.said.ends_with('\n'), "{}", ran.said);
        assert_eq!(self.files(), before);
        ran.said
    }

    fn refuses_to_pin(&self) -> String {
        self.refuses(&["pin", "-f", "manifests", "--ports-from", "ports.yaml"])
    }

    /// Every file, and its bytes.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files: Vec<PathBuf> = [self.0.clone(), self.0.join("manifests")]
            .iter()
            .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
            .filter(|path| path.is_file())
            .collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    /// `spec.pinned` as another reader sees it, in the first document that has one.
    fn pinned(&self) -> Value {
        let text = self.config();
        let documents = yaml_serde::Deserializer::from_str(&text).map(|document| Value::deserialize(document).unwrap());
        documents.map(|document| document["spec"]["pinned"].clone()).find(|pinned| !pinned.is_null()).unwrap_or_default()
    }
}

/// What `kubectl get services -o yaml` prints of Services with these ports, nothing for a port that is not allocated.
fn services(namespace: &str, shards: &[&[Option<u16>]]) -> String {
    let service = |(shard, ports): (usize, &&[Option<u16>])| {
        let ports = ports.iter().enumerate().map(|(node, node_port)| {
            let node_port = node_port.map(|port| format!("      nodePort: {port}\n")).unwrap_or_default();
            format!("    - name: vk-n{node}\n{node_port}      port: {}\n      protocol: TCP\n      targetPort: vk-n{node}\n", 6379 + node)
        });
        format!(
            "- apiVersion: v1\n  kind: Service\n  metadata:\n    creationTimestamp: \"2026-11-02T10:00:00Z\"\n    labels:\n      valkey.io/cluster: cache\n      valkey.io/shard-index: \"{shard}\"\n    name: valkey-cache-shard-{shard}\n    namespace: {namespace}\n  spec:\n    ports:\n{}    type: NodePort\n  status:\n    loadBalancer: {{}}\n",
            ports.collect::<String>()
        )
    };
    let other = "- apiVersion: v1\n  kind: Service\n  metadata: {name: web, namespace: shop}\n  spec: {type: NodePort, ports: [{name: vk-n0, port: 80, nodePort: 31111}]}\n";
    let items: String = shards.iter().enumerate().map(service).collect();
    format!("apiVersion: v1\nitems:\n{other}{items}kind: List\nmetadata:\n  resourceVersion: \"\"\n")
}

fn allocated() -> String {
    services("shop", &[&[Some(31904), Some(30422)], &[Some(30087), Some(32511)]])
}

#[test]
fn only_the_ports_change_in_a_file_of_comments_and_quotes() {
    let folder = Folder::new("comments", COMMENTED, &allocated());
    assert_eq!(folder.pins(), "");
    let expected = COMMENTED.replace("31000 ", "31904 ").replace("0x7919 ", "30422 ").replace("32000,   32001", "30087,   32511");
    assert_eq!(folder.config(), expected);
    assert_eq!(folder.text("manifests/cluster.yaml"), CLUSTER);
}

#[test]
fn a_second_run_writes_nothing() {
    for (name, config) in [("commented", COMMENTED.to_owned()), ("empty", format!("{HEAD}spec: {{}}\n"))] {
        let folder = Folder::new(&format!("again-{name}"), &config, &allocated());
        folder.pins();
        let file = folder.0.join("manifests/expose.yaml");
        let (text, written) = (folder.config(), fs::metadata(&file).unwrap().modified().unwrap());
        assert_eq!(folder.pins(), "");
        assert_eq!((folder.config(), fs::metadata(&file).unwrap().modified().unwrap()), (text, written), "{name}");
    }
}

#[test]
fn an_entry_is_added_whatever_is_there() {
    let entry = json!({"name": "cache", "namespace": "shop", "nodePorts": [[31904, 30422], [30087, 32511]]});
    let queue = json!({"name": "queue", "namespace": "shop", "nodePorts": [[31900]]});
    let only = json!([entry]);
    let both = json!([queue, entry]);
    for (name, rest, expected) in [
        ("no-spec", "", &only),
        ("no-spec-and-no-newline", "#", &only),
        ("no-value", "spec:\n", &only),
        ("no-value-and-a-comment", "spec: # nothing yet\n  # to come\n# end\n", &only),
        ("null", "spec: null\n", &only),
        ("tilde", "spec: ~ # none\n", &only),
        ("braces", "spec: {}\n", &only),
        ("braces-below", "spec:\n  {}\n", &only),
        ("flow", "spec: {emit: {services: true}}\n", &only),
        ("block", "spec:\n    emit:\n        services: true\n# end\n", &only),
        ("pinned-without-value", "spec:\n  pinned:\n  emit: {}\n", &only),
        ("pinned-null", "spec:\n  pinned: ~ # none\n", &only),
        ("pinned-empty", "spec: {pinned: []}\n", &only),
        ("other-in-block", "spec:\n  pinned:\n  - name: queue\n    namespace: shop\n    nodePorts: [[31900]]\n  emit: {}\n", &both),
        ("other-in-flow", "spec:\n  pinned: [{name: queue, namespace: shop, nodePorts: [[31900]]}]\n", &both),
        ("no-ports", "spec:\n  pinned:\n  - name: cache\n    namespace: shop\n", &only),
        ("ports-without-value", "spec:\n  pinned:\n  - nodePorts:\n    name: cache\n    namespace: shop\n", &only),
        ("ports-null", "spec:\n  pinned:\n  - {name: cache, namespace: shop, nodePorts: null}\n", &only),
        ("ports-empty", "spec:\n  pinned:\n  - name: cache\n    nodePorts: []\n    namespace: shop\n", &only),
        ("a-shard-more", "spec:\n  pinned:\n  - name: cache\n    nodePorts:\n    - - 31000\n      - 31001\n    namespace: shop\n", &only),
        ("a-shard-less", "spec:\n  pinned:\n  - name: cache\n    nodePorts: [[1, 2], [3, 4], [5, 6]]\n    namespace: shop\n", &only),
        ("a-node-more", "spec:\n  pinned:\n  - name: cache\n    nodePorts:\n    - [31000]\n    - - 31001\n    namespace: shop\n", &only),
    ] {
        let config = format!("{}{rest}", HEAD);
        let config = config.strip_suffix("\n#").unwrap_or(&config);
        for (form, config) in
            [("", config.to_owned()), ("-crlf", config.replace('\n', "\r\n")), ("-second", format!("{CLUSTER}---\n{config}"))]
        {
            let folder = Folder::new(&format!("added-{name}{form}"), "", &allocated());
            folder.write("manifests/expose.yaml", &config);
            if form == "-second" {
                fs::remove_file(folder.0.join("manifests/cluster.yaml")).unwrap();
            }
            folder.pins();
            let text = folder.config();
            assert_eq!(&folder.pinned(), expected, "{name}{form}:\n{text}");
            assert_eq!(text.contains("\r\n"), form == "-crlf", "{name}{form}:\n{text}");
            assert!(!text.replace("\r\n", "").contains('\r'), "{name}{form}: {text:?}");
            for comment in ["# nothing yet", "# to come", "# end", "# none"] {
                assert!(!config.contains(comment) || text.contains(comment), "{name}{form}: {comment} is lost:\n{text}");
            }
            folder.pins();
            assert_eq!(folder.config(), text, "{name}{form}: a second run changes nothing");
        }
    }
}

#[test]
fn json_stays_json() {
    for (name, spec, has_spec) in [("spec", ", \"spec\": {}", true), ("null", ", \"spec\": null", true), ("none", "", false)] {
        let config = format!(
            "{{\"apiVersion\": \"fn.valkey.io/v1alpha1\", \"kind\": \"ExposeValkey\", \"metadata\": {{\"name\": \"expose\"}}{spec}}}\n"
        );
        let folder = Folder::new(&format!("json-{name}"), &config, &allocated());
        folder.pins();
        let value: Value = serde_json::from_str(&folder.config()).unwrap_or_else(|error| panic!("{error}:\n{}", folder.config()));
        assert_eq!(value["spec"]["pinned"][0]["nodePorts"], json!([[31904, 30422], [30087, 32511]]), "{name}");
        assert_eq!(has_spec, config.contains("spec"));
    }
}

#[test]
fn comments_of_shards_stay_when_a_shard_is_added() {
    let rest = "spec:\n  pinned:\n  - name: cache\n    namespace: shop\n    nodePorts:\n    # the first\n    - [31904, 30422] # as it was\n  # what comes out\n  emit: {}\n";
    let folder = Folder::new("shard-added", &format!("{HEAD}{rest}"), &allocated());
    folder.pins();
    let added = "as it was\n    - - 30087\n      - 32511\n  # what comes out\n";
    assert_eq!(folder.config(), format!("{HEAD}{rest}").replace("as it was\n  # what comes out\n", added));
}

#[test]
fn ports_come_from_the_status_too() {
    let status = format!(
        "apiVersion: v1\nkind: List\nitems:\n{}  status:\n    externalEndpoints:\n    - {{shardIndex: 1, nodePorts: [30087, 32511]}}\n    - {{shardIndex: 0, nodePorts: [31904, 30422]}}\n",
        CLUSTER.lines().enumerate().map(|(n, line)| format!("{}{line}\n", if n == 0 { "- " } else { "  " })).collect::<String>()
    );
    let folder = Folder::new("status", &format!("{HEAD}spec: {{}}\n"), &status);
    folder.pins();
    assert_eq!(folder.pinned()[0]["nodePorts"], json!([[31904, 30422], [30087, 32511]]));
}

#[test]
fn pinned_ports_are_those_of_the_services_then() {
    let folder = Folder::new("rendered", &format!("{HEAD}spec: {{}}\n"), &allocated());
    folder.pins();
    let output =
        Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(&folder.0).args(["ports", "-f", "manifests", "-o", "json"]).output();
    let rows: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let ports: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["clientPort"]).collect();
    assert_eq!(json!(ports), json!([31904, 30422, 30087, 32511]));
}

#[test]
fn manifests_without_a_namespace_take_the_ports_of_the_only_one_there_is() {
    let bare = CLUSTER.replace(", namespace: shop", "");
    let folder = Folder::new("bare", &format!("{HEAD}spec: {{}}\n"), &allocated());
    folder.write("manifests/cluster.yaml", &bare);
    folder.pins();
    assert_eq!(folder.pinned(), json!([{"name": "cache", "nodePorts": [[31904, 30422], [30087, 32511]]}]));
    // They hold in whatever namespace Kustomize has put the cluster before.
    folder.write("manifests/cluster.yaml", CLUSTER);
    let output = Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(&folder.0).args(["ports", "-f", "manifests"]).output();
    assert!(String::from_utf8(output.unwrap().stdout).unwrap().contains("31904"));

    let two = format!("{}---\n{}", allocated(), services("test", &[&[Some(1), Some(2)], &[Some(3), Some(4)]]));
    let folder = Folder::new("bare-two", &format!("{HEAD}spec: {{}}\n"), &two);
    folder.write("manifests/cluster.yaml", &bare);
    let said = folder.refuses_to_pin();
    assert!(said.contains("`shop` and `test`") && said.contains("set `metadata.namespace`"), "{said}");
}

#[test]
fn an_entry_without_a_namespace_is_of_the_cluster_wherever_it_is_by_now() {
    let entry = "spec:\n  pinned:\n  - name: cache   # wherever it is\n    nodePorts: [[31904, 30422], [30087, 31000]]\n";
    let folder = Folder::new("namespace-later", &format!("{HEAD}{entry}"), &allocated());
    folder.pins();
    assert_eq!(folder.config(), format!("{HEAD}{entry}").replace("31000", "32511"));
    // The other way round it is not known whose the entry is: nothing is written that every later run would refuse.
    let entry = entry.replace("name: cache ", "namespace: shop\n    name: cache ");
    let folder = Folder::new("namespace-gone", &format!("{HEAD}{entry}"), &allocated());
    folder.write("manifests/cluster.yaml", &CLUSTER.replace(", namespace: shop", ""));
    let said = folder.refuses_to_pin();
    assert!(said.contains("would be refused with these ports: NodePort 31904 is pinned twice"), "{said}");
}

#[test]
fn ports_are_those_of_the_services_that_the_mode_has() {
    let node = "- apiVersion: v1\n  kind: Service\n  metadata:\n    name: valkey-cache-0-0\n    namespace: shop\n    labels: {fn.valkey.io/cluster: cache, fn.valkey.io/shard-index: \"0\", fn.valkey.io/node-index: \"0\"}\n  spec: {type: NodePort, ports: [{name: vk-n0, port: 6379, nodePort: 31111}]}\n";
    // In the order of kubectl, while one mode takes the other's place.
    let ports = services("shop", &[&[Some(31904)]]).replace("kind: List", &format!("{node}kind: List"));
    let cluster = CLUSTER.replace("shards: 2, replicas: 1", "shards: 1");
    let bare = cluster.replace(", externalAccess: {enabled: true, serviceType: NodePort}", "");
    let live = "spec:\n  mode: OperatorManaged\n  announce: Live\n  clusters: [{externalAccess: {enabled: true, serviceType: NodePort}}]\n";
    for (name, cluster, spec, port) in [("live", &bare, live, 31111), ("rendered", &cluster, "spec: {}\n", 31904)] {
        for (name, cluster) in [(name.to_owned(), cluster.clone()), (format!("{name}-bare"), cluster.replace(", namespace: shop", ""))] {
            let folder = Folder::new(&format!("mode-{name}"), &format!("{HEAD}{spec}"), &ports);
            folder.write("manifests/cluster.yaml", &cluster);
            let from = ["ports", "-f", "manifests", "--from", "ports.yaml", "-o", "json"];
            let output = Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(&folder.0).args(from).output();
            let rows: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
            assert_eq!(rows[0]["clientPort"], port, "{name}");
            folder.pins();
            assert_eq!(folder.pinned()[0]["nodePorts"], json!([[port]]), "{name}");
        }
    }
}

#[test]
fn a_port_that_is_not_allocated_is_an_error_that_names_its_node() {
    for (name, ports, node) in [
        ("one", services("shop", &[&[Some(31904), Some(30422)], &[Some(30087), None]]), "cache-1-1"),
        ("shard", services("shop", &[&[Some(31904), Some(30422)]]), "cache-1-0"),
        ("namespace", services("test", &[&[Some(31904), Some(30422)], &[Some(30087), Some(32511)]]), "cache-0-0"),
        ("none", "apiVersion: v1\nkind: List\nitems: []\n".to_owned(), "cache-0-0"),
    ] {
        let folder = Folder::new(&format!("unallocated-{name}"), COMMENTED, &ports);
        let said = folder.refuses_to_pin();
        assert!(said.contains(&format!("there is no NodePort of node {node} ")), "{name}: {said}");
        assert!(said.contains("give the Services of namespace shop") && said.contains("manifests/cluster.yaml:1"), "{name}: {said}");
    }
}

#[test]
fn without_an_expose_valkey_the_error_shows_what_to_write() {
    let folder = Folder::new("no-config", "", &allocated());
    let said = folder.refuses_to_pin();
    assert!(said.contains("there is no ExposeValkey among the manifests") && said.contains("kind: ExposeValkey"), "{said}");
    assert!(said.contains(r#"`spec.pinned: [{"name":"cache","namespace":"shop","nodePorts":[[31904,30422],[30087,32511]]}]`"#), "{said}");
    // One that is named is used, though it lies elsewhere.
    folder.write("elsewhere.yaml", &format!("{HEAD}spec: {{}}\n"));
    let ran = folder.run(&["pin", "-f", "manifests", "-c", "elsewhere.yaml", "--ports-from", "ports.yaml"]);
    assert_eq!((ran.code, ran.said.as_str()), (0, ""));
    assert!(folder.text("elsewhere.yaml").contains("31904"));
}

#[test]
fn what_cannot_be_read_or_written_is_told_and_left() {
    let folder = Folder::new("bad", COMMENTED, "a: [1\n");
    let said = folder.refuses_to_pin();
    assert!(said.contains("ports.yaml:"), "{said}");
    let said = folder.refuses(&["pin", "-f", "manifests", "--ports-from", "nosuch.yaml"]);
    assert!(said.contains("cannot read `nosuch.yaml`"), "{said}");
    folder.write("ports.yaml", &allocated());
    let said = folder.refuses(&["pin", "-f", "nosuch", "--ports-from", "ports.yaml"]);
    assert!(said.contains("cannot read `nosuch`"), "{said}");
    folder.write("manifests/expose.yaml", &COMMENTED.replace("emit: {", "emit: {{"));
    let said = folder.refuses_to_pin();
    assert!(said.contains("manifests/expose.yaml:"), "{said}");
    folder.write("manifests/expose.yaml", &COMMENTED.replace("31000", "\"31000\""));
    let said = folder.refuses_to_pin();
    assert!(said.contains("spec.pinned[1].nodePorts[0][0]: must be a whole number"), "{said}");
    // A shard that is left out would give its place to the next one.
    folder.write("manifests/expose.yaml", &COMMENTED.replace("[ 32000,   32001 ] ", ""));
    let said = folder.refuses_to_pin();
    assert!(said.contains("spec.pinned[1].nodePorts[1]: must be a list, got null (manifests/expose.yaml:17)"), "{said}");
}

/// What an alias stands for belongs to others too: there is no line that could be changed alone.
#[test]
fn ports_behind_an_alias_are_left_and_the_error_shows_what_to_write() {
    let head = HEAD.replace("  name: expose\n", "  name: expose\n  x: &ports [[31000, 31001], [31002, 31003]]\n");
    let rest = "spec:\n  pinned:\n  - {name: cache, namespace: shop, nodePorts: *ports}\n";
    let folder = Folder::new("alias", &format!("{head}{rest}"), &allocated());
    let said = folder.refuses_to_pin();
    assert!(said.contains("cannot be written into the text of `manifests/expose.yaml`, because of an alias"), "{said}");
    assert!(
        said.contains(r#"write `spec.pinned: [{"name":"cache","namespace":"shop","nodePorts":[[31904,30422],[30087,32511]]}]`"#),
        "{said}"
    );
    // The alias itself can make way for a number.
    let rest = "spec:\n  clusters:\n  - externalAccess: {portsPerShard: &port 31904}\n  pinned:\n  - name: cache\n    namespace: shop\n    nodePorts: [[*port, 31001], [31002, &other 31003]]\n  emit: {services: true}\n";
    let folder = Folder::new("alias-of-port", &format!("{HEAD}{rest}"), &allocated());
    folder.write("ports.yaml", &services("shop", &[&[Some(31905), Some(30422)], &[Some(30087), Some(32511)]]));
    folder.pins();
    assert_eq!(folder.pinned()[0]["nodePorts"], json!([[31905, 30422], [30087, 32511]]), "{}", folder.config());
    assert!(folder.config().contains("portsPerShard: &port 31904}"), "{}", folder.config());
}

#[test]
fn clusters_with_ports_that_are_known_have_nothing_to_pin() {
    let folder =
        Folder::new("static", &format!("{HEAD}spec: {{clusters: [{{externalAccess: {{nodePorts: {{base: 30000}}}}}}]}}\n"), &allocated());
    let before = folder.files();
    assert!(folder.pins().contains("[info] no cluster has allocated NodePorts: nothing to pin"));
    assert_eq!(folder.files(), before);
}

#[cfg(unix)]
#[test]
fn the_file_stays_what_it_was_to_the_system() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new("link", "", &allocated());
    folder.write("real.yaml", &format!("{HEAD}spec: {{}}\n"));
    fs::set_permissions(folder.0.join("real.yaml"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../real.yaml", folder.0.join("manifests/expose.yaml")).unwrap();
    folder.pins();
    assert!(folder.0.join("manifests/expose.yaml").is_symlink());
    assert!(folder.text("real.yaml").contains("31904"));
    assert_eq!(fs::metadata(folder.0.join("real.yaml")).unwrap().permissions().mode() & 0o777, 0o640);
}
