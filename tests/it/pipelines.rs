//! What pipelines print, as it lies in `examples/`: every reference must lead to something. `tools/test-kustomize.sh` and
//! others hold these files against the real tools.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use expose_valkey::krm::{manifests, yaml};
use serde_json::{Value, json};

fn objects(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(path)).unwrap();
    manifests::documents(&text).into_iter().map(|range| yaml::parse(&text[range]).unwrap().value().unwrap()).collect()
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn of_kind<'o>(objects: &'o [Value], kind: &str) -> Vec<&'o Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// Namespace and name.
fn id(object: &Value) -> (&str, &str) {
    (text(object, "/metadata/namespace"), text(object, "/metadata/name"))
}

#[test]
fn references_lead_to_objects_of_the_output() {
    for file in ["kustomize-overlay/overlay/expected.yaml", "kustomize-overlay/both/expected.yaml"] {
        let objects = objects(file);
        let names = |kind: &str| of_kind(&objects, kind).into_iter().map(id).collect::<BTreeSet<_>>();
        let (services, gateways, secrets) = (names("Service"), names("Gateway"), names("Secret"));
        let routes = of_kind(&objects, "TCPRoute");
        assert_eq!(routes.len(), 4, "{file}");
        for route in routes {
            let namespace = id(route).0;
            assert!(services.contains(&(namespace, text(route, "/spec/rules/0/backendRefs/0/name"))), "{file}: {route}");
            assert!(gateways.contains(&(namespace, text(route, "/spec/parentRefs/0/name"))), "{file}: {route}");
            let port = &route["spec"]["parentRefs"][0]["port"];
            let listeners = of_kind(&objects, "Gateway")[0]["spec"]["listeners"].as_array().unwrap();
            assert_eq!(listeners.iter().filter(|listener| listener["port"] == *port).count(), 1, "{file}: {route}");
        }
        let cluster = of_kind(&objects, "ValkeyCluster")[0];
        assert!(secrets.contains(&(id(cluster).0, text(cluster, "/spec/users/0/passwordSecret/name"))), "{file}: {cluster}");
        for object in of_kind(&objects, "ValkeyCluster").into_iter().chain(of_kind(&objects, "ValkeyNode")) {
            if let Some(name) = object.pointer("/spec/externalAccess/gateway/gatewayRef/name").and_then(Value::as_str) {
                assert!(gateways.contains(&(id(object).0, name)), "{file}: {object}");
            }
        }
    }
}

/// The operator finds its objects by names and labels that come from the cluster's name as it is applied.
#[test]
fn names_labels_and_selectors_are_of_the_final_name_of_the_cluster() {
    for (file, cluster) in [("overlay", "prod-cache"), ("generator", "queue"), ("both", "prod-cache"), ("both", "queue")] {
        let objects = objects(&format!("kustomize-overlay/{file}/expected.yaml"));
        let ours = |kind: &str| {
            let all = of_kind(&objects, kind).into_iter();
            all.filter(|object| object["metadata"]["labels"]["valkey.io/cluster"] == *cluster).collect::<Vec<_>>()
        };
        let services = ours("Service");
        assert_eq!(services.len(), 2, "{file} {cluster}");
        for (shard, service) in services.iter().enumerate() {
            assert_eq!(id(service), ("shop", format!("valkey-{cluster}-shard-{shard}").as_str()));
            assert_eq!(service["spec"]["selector"], json!({"valkey.io/cluster": cluster, "valkey.io/shard-index": shard.to_string()}));
        }
        let nodes = ours("ValkeyNode");
        let names: Vec<_> = nodes.iter().map(|node| id(node)).collect();
        let expected = ["0-0", "0-1", "1-0", "1-1"].map(|node| format!("{cluster}-{node}"));
        assert_eq!(names, expected.iter().map(|name| ("shop", name.as_str())).collect::<Vec<_>>(), "{file}");
        for node in nodes {
            assert_eq!(node["spec"]["serverConfigMapName"], *format!("valkey-{cluster}"), "{file}");
        }
    }
}

/// A list on standard output is what the function would make of it, settings and all.
#[test]
fn a_list_is_rendered_with_the_given_functionconfig() {
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(env!("CARGO_MANIFEST_DIR")).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        yaml::parse(std::str::from_utf8(&output.stdout).unwrap()).unwrap().value().unwrap()
    };
    let base = "examples/kustomize-overlay/base";
    let files = ["render", "--in-list", "-f", &format!("{base}/cluster.yaml"), "-f", &format!("{base}/gateway.yaml")].map(str::to_owned);
    let mut args: Vec<&str> = files.iter().map(String::as_str).collect();
    let plain = run(&args);
    args.extend(["-c", "examples/kustomize-overlay/overlay/expose.yaml"]);
    let with_config = run(&args);
    let listeners = |list: &Value| of_kind(list["items"].as_array().unwrap(), "Gateway")[0]["spec"]["listeners"].as_array().unwrap().len();
    assert_eq!((listeners(&plain), listeners(&with_config)), (1, 5));
    assert_eq!(with_config["functionConfig"]["kind"], "ExposeValkey");
    assert!(plain.get("functionConfig").is_none() && with_config.get("results").is_none());
}

/// An init container has nothing but the image's own program to copy it with.
#[test]
fn the_program_copies_itself() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("install");
    fs::create_dir_all(&folder).unwrap();
    let copy = folder.join("expose-valkey");
    let install = |to: &Path| Command::new(env!("CARGO_BIN_EXE_expose-valkey")).arg("install").arg(to).output().unwrap();
    assert!(install(&copy).status.success());
    // Over one that is there, too.
    assert!(install(&copy).status.success());
    let versions = [copy.as_path(), Path::new(env!("CARGO_BIN_EXE_expose-valkey"))]
        .map(|program| Command::new(program).arg("--version").output().unwrap().stdout);
    assert!(!versions[0].is_empty() && versions[0] == versions[1]);
    let failed = install(&folder.join("no/such/folder"));
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&failed.stderr).starts_with("[error] cannot write `"), "{failed:?}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left there");
}

/// Every functionConfig in the documents is one that the program takes, and changes what comes out.
#[test]
fn functionconfigs_of_the_documents_are_accepted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
    fs::create_dir_all(&folder).unwrap();
    let cluster = folder.join("cluster.yaml");
    let access = "externalAccess: {enabled: true, domain: cache.example.org, preferredEndpointType: hostname";
    let head = "apiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {name: cache, namespace: shop}\n";
    let spec = "spec: {shards: 3, replicas: 1, tls: {certificate: {secretName: cache-tls}}";
    let render = |config: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_expose-valkey"));
        command.arg("render").arg("-f").arg(&cluster).args(config.map(|_| "-c")).args(config);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{config:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let mut seen = 0;
    for page in ["gateways.md", "ports-that-stay.md", "names.md", "gitops.md", "pipelines/argocd.md"] {
        let text = fs::read_to_string(root.join("docs").join(page)).unwrap();
        for (index, block) in text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).enumerate() {
            if !block.contains("kind: ExposeValkey") {
                continue;
            }
            let node_ports = block.contains("nodePorts");
            let gateway = if node_ports { "" } else { ", gateway: {gatewayRef: {name: valkey}, basePort: 9000}" };
            fs::write(&cluster, format!("{head}{spec}, {access}{gateway}}}}}\n")).unwrap();
            let config = folder.join(format!("{}-{index}.yaml", page.replace('/', "-")));
            fs::write(&config, block).unwrap();
            assert_ne!(render(Some(&config)), render(None), "{page}: this changes nothing:\n{block}");
            seen += 1;
        }
    }
    assert_eq!(seen, 12);
}
