//! What users copy: the examples, the functionConfigs, and what the documents say that the program prints. Kustomize and
//! containers run the same examples in `tools/test-examples.sh`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expose_valkey::krm::{manifests, yaml};
use expose_valkey::rule::Rule;
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Folders of `examples/`, and of folders there, that are for Kustomize.
fn examples() -> Vec<PathBuf> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
    };
    let all = folders(&root().join("examples")).into_iter().flat_map(|path| folders(&path).into_iter().chain([path]));
    let mut examples: Vec<PathBuf> = all.filter(|path| path.join("exec/kustomization.yaml").is_file()).collect();
    examples.sort();
    assert!(examples.len() > 4);
    examples
}

/// A path below `examples/`.
fn name_of(example: &Path) -> &str {
    example.strip_prefix(root().join("examples")).unwrap().to_str().unwrap()
}

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(root()).args(args).output().unwrap()
}

/// What a command prints that must go well and say nothing on standard error.
fn printed(args: &[&str]) -> String {
    let output = run(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn objects(text: &str) -> Vec<Value> {
    manifests::documents(text).into_iter().map(|range| yaml::parse(&text[range]).unwrap().value().unwrap()).collect()
}

/// Kind and name: enough to find an object in one example.
fn id(object: &Value) -> (String, String) {
    let field = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    (field("/kind"), field("/metadata/name"))
}

#[test]
fn examples_print_what_lies_beside_them_and_nothing_is_found() {
    for folder in examples() {
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let input = ["--file", &path("base"), "--config", &path("exec/expose.yaml")].map(str::to_owned);
        let with_input = |command: &[&str]| {
            let args: Vec<&str> = command.iter().copied().chain(input.iter().map(String::as_str)).collect();
            printed(&args)
        };
        let found: Vec<Value> = serde_json::from_str(&with_input(&["check", "--format", "json"])).unwrap();
        assert!(found.iter().all(|finding| finding["tags"]["rule"] == "live-finds"), "{}: {found:?}", folder.display());
        assert_eq!(with_input(&["ports"]), text(folder.join("ports.txt")), "{}", folder.display());

        let rendered = objects(&with_input(&["render"]));
        let expected = objects(&text(folder.join("expected.yaml")));
        for object in &rendered {
            assert!(expected.contains(object), "{}: {:?} is not in expected.yaml", folder.display(), id(object));
        }
        let base = fs::read_dir(folder.join("base")).unwrap().map(|file| file.unwrap().path());
        let base = base.filter(|file| !file.ends_with("kustomization.yaml")).flat_map(|file| objects(&text(file)));
        let ids: BTreeSet<_> = base.chain(rendered).map(|object| id(&object)).collect();
        assert_eq!(expected.iter().map(id).collect::<BTreeSet<_>>(), ids, "{}", folder.display());
    }
}

#[test]
fn examples_differ_only_in_how_the_function_is_run() {
    let image = format!("container:\n  image: ghcr.io/expose-valkey/expose-valkey:v{}\n", env!("CARGO_PKG_VERSION"));
    for folder in examples() {
        let [exec, container] = ["exec", "container"].map(|form| {
            let mut config = objects(&text(folder.join(form).join("expose.yaml"))).remove(0);
            let annotations = config["metadata"]["annotations"].as_object_mut().unwrap();
            let function = annotations.shift_remove("config.kubernetes.io/function").unwrap();
            (config, function)
        });
        assert_eq!(exec.0, container.0, "{}", folder.display());
        let up = "../".repeat(name_of(&folder).split('/').count() + 1);
        assert_eq!(exec.1, json!(format!("exec:\n  path: {up}expose-valkey\n")), "{}", folder.display());
        assert_eq!(container.1, json!(image), "{}", folder.display());
        assert_eq!(text(folder.join("exec/kustomization.yaml")), text(folder.join("container/kustomization.yaml")));
    }
}

#[test]
fn examples_explain_themselves() {
    for folder in examples() {
        let name = name_of(&folder);
        let readme = text(folder.join("README.md"));
        for heading in ["## Overview", "## What to change", "## Invocation", "## Expected result"] {
            assert!(readme.contains(heading), "{name}: {heading}");
        }
        for command in [
            format!("kustomize build --enable-alpha-plugins --enable-exec examples/{name}/exec"),
            format!("kustomize build --enable-alpha-plugins examples/{name}/container"),
        ] {
            assert!(readme.contains(&command), "{name}: {command}");
        }
        assert!(readme.contains(&text(folder.join("ports.txt"))), "{name}: the table of ports");
    }
}

#[test]
fn function_configs_are_accepted() {
    for name in ["minimal", "gateway", "configmap"] {
        let config = format!("fn-config/{name}.yaml");
        let found = printed(&["check", "--format", "json", "-f", "examples/gateway/base/cluster.yaml", "-c", &config]);
        assert_eq!(found.trim(), "[]", "{name}");
    }
}

#[test]
fn schema_is_current() {
    assert!(text("fn-config/schema.json") == printed(&["schema"]), "fn-config/schema.json is not current: run `make schema`");
}

#[test]
fn readme_shows_what_the_demo_prints() {
    assert!(text("README.md").contains(&printed(&["ports", "-f", "examples/gateway/base"])));
}

#[test]
fn every_rule_has_a_heading_of_its_own() {
    let page = text("docs/errors.md");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let rules: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(headings.iter().copied().collect::<BTreeSet<_>>(), rules);
    assert_eq!(headings.len(), rules.len());
}

/// For each rule, `testdata/errors/` has an input that it is about, and its section of the page shows what is said to it.
#[test]
fn errors_page_shows_what_is_said() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = text("docs/errors.md");
    for rule in Rule::ALL {
        let section = page.split("\n## ").find_map(|section| section.strip_prefix(&format!("{}\n", rule.id()))).unwrap_or_default();
        let said = said_to(rule.id());
        let shown = said.lines().filter(|line| line.starts_with('[')).any(|line| words(section).contains(&words(line)));
        assert!(shown, "the section {} of docs/errors.md must show one of these lines:\n{said}", rule.id());
    }
}

/// What the program says to the input of a rule: a list goes to the function, a manifest to a command, as `cluster.yaml`.
fn said_to(rule: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("errors").join(rule);
    fs::create_dir_all(&folder).unwrap();
    let input = folder.join("cluster.yaml");
    if rule != "file" {
        fs::write(&input, text(format!("testdata/errors/{rule}.yaml"))).unwrap();
    }
    let is_list = rule == "not-a-resource-list" || fs::read_to_string(&input).is_ok_and(|text| text.contains("kind: ResourceList"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_expose-valkey"));
    command.current_dir(&folder);
    match rule {
        _ if is_list => command.stdin(fs::File::open(&input).unwrap()),
        "stale" => command.args(["render", "--file", "cluster.yaml", "--output", "external-access.yaml", "--check"]),
        "pin" => command.args(["pin", "--file", "cluster.yaml", "--ports-from", "cluster.yaml"]),
        _ => command.args(["check", "--file", "cluster.yaml"]),
    };
    let output = command.output().unwrap();
    let said = if is_list || matches!(rule, "stale" | "pin") { output.stderr } else { output.stdout };
    String::from_utf8(said).unwrap()
}

#[test]
fn every_setting_is_in_the_reference() {
    let schema: Value = serde_json::from_str(&text("fn-config/schema.json")).unwrap();
    let page = text("fn-config/README.md");
    let words: BTreeSet<&str> = page.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let mut names = BTreeSet::new();
    collect_names(&schema["properties"]["spec"], &mut names);
    for name in &names {
        assert!(words.contains(name.as_str()), "{name} is not in fn-config/README.md");
    }
    assert!(names.contains("portsPerShard"));
}

#[test]
fn every_key_of_a_config_map_is_in_the_reference() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let config = folder.join("unknown-key.yaml");
    fs::write(&config, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: expose\ndata:\n  no-such-key-at-all: \"\"\n").unwrap();
    let output = run(&["check", "-f", "examples/gateway/base", "-c", config.to_str().unwrap()]);
    let said = String::from_utf8(output.stdout).unwrap();
    let keys: Vec<&str> = said.split_once("use one of").unwrap().1.split('`').skip(1).step_by(2).collect();
    let page = text("fn-config/README.md");
    for key in &keys {
        assert!(page.contains(&format!("`{key}`")), "{key} is not in fn-config/README.md");
    }
    assert!(keys.contains(&"basePort"));
}

fn collect_names(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            names.extend(map.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()));
            map.values().for_each(|value| collect_names(value, names));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| collect_names(entry, names)),
        _ => {}
    }
}

#[test]
fn the_map_names_every_part_of_the_source() {
    let page = text("docs/architecture.md");
    for entry in fs::read_dir(root().join("src")).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        let shown = if entry.path().is_dir() { format!("`src/{name}/`") } else { format!("`src/{name}`") };
        assert!(page.contains(&shown), "{shown} is not in docs/architecture.md");
    }
    for shown in page.split('`').filter(|code| code.starts_with("src/")) {
        assert!(root().join(shown).exists(), "{shown} of docs/architecture.md does not exist");
    }
}

/// Links between our own documents lead somewhere.
#[test]
fn links_lead_to_files() {
    for page in documents() {
        let folder = page.parent().unwrap().to_owned();
        for link in links(&text(&page)) {
            let (file, _) = link.split_once('#').unwrap_or((&link, ""));
            assert!(file.is_empty() || folder.join(file).exists(), "{}: {link}", page.display());
        }
    }
}

fn documents() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    let mut folders = vec![root().join("docs"), root().join("examples"), root().join("fn-config")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "md") {
                pages.push(entry);
            }
        }
    }
    pages
}

/// Targets of `[text](target)` that are no URLs.
fn links(page: &str) -> Vec<String> {
    let ends = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")).collect()
}
