//! The program as a user runs it: arguments and standard input in, two streams and an exit code out.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const CLUSTER: &str = "testdata/cli/cluster.yaml";
const FAULTY: &str = "testdata/cli/faulty.yaml";

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn start(args: &[&str], out: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_expose-valkey"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command.stdin(Stdio::piped()).stdout(out).stderr(Stdio::piped()).spawn().unwrap()
}

fn run_with(args: &[&str], input: &[u8]) -> Ran {
    let mut child = start(args, Stdio::piped());
    // A program that fails at once does not read what it is given.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn run(args: &[&str]) -> Ran {
    run_with(args, b"")
}

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The cluster as the only item of a list.
fn list() -> String {
    let item = text(CLUSTER).lines().skip(1).map(|line| format!("  {line}\n")).collect::<String>();
    format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n-{}", &item[1..])
}

fn kinds(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|object| object["kind"].as_str().unwrap()).collect()
}

const RENDERED: [&str; 10] =
    ["Service", "Service", "ValkeyNode", "ValkeyNode", "ValkeyNode", "ValkeyNode", "TCPRoute", "TCPRoute", "TCPRoute", "TCPRoute"];

#[test]
fn function_adds_to_the_list_and_is_silent() {
    let ran = run_with(&[], list().as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with(&list()));
    let output: Value = yaml_serde::from_str(&ran.out).unwrap();
    assert_eq!(kinds(&output["items"].as_array().unwrap()[1..]), RENDERED);
}

#[test]
fn function_with_a_fault_passes_the_items_on_and_fails() {
    let input = list().replace("basePort: 7000", "basePort: 65535");
    let ran = run_with(&[], input.as_bytes());
    assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{}", ran.err);
    assert!(
        ran.err.starts_with("[error] valkey.io/v1alpha1/ValkeyCluster/team/cache spec.externalAccess.gateway.basePort: "),
        "{}",
        ran.err
    );
    assert!(ran.out.starts_with(&input));
    let output: Value = yaml_serde::from_str(&ran.out).unwrap();
    assert_eq!(output["items"].as_array().unwrap().len(), 1);
    assert_eq!(output["results"][0]["tags"]["rule"], "port-range");
}

#[test]
fn what_is_no_list_is_refused_in_one_line_that_says_what_to_do() {
    let plain = "for plain manifests use `expose-valkey render -f FILE`";
    for (input, hint) in [
        (&b""[..], plain),
        (b" \n\n", plain),
        (b"# nothing\n", "there is no document in it"),
        (text(CLUSTER).as_bytes(), "this is a ValkeyCluster: for plain manifests use `expose-valkey render -f FILE` (or `-f -`)"),
        (b"apiVersion: v1\nkind: List\nitems: []\n", "this is a List"),
        (b"a: 1\n", "this is text without a `kind`"),
        (b"- a\n", plain),
        (b"Hello", plain),
        (b"{\"kind\": \"ResourceList\"", "line 1: "),
        (b"kind: ResourceList\nitems:\n- a: \"b\n", "line 3: unclosed quote"),
        (b"kind: ResourceList\napiVersion: config.kubernetes.io/v2\n", "must be one of config.kubernetes.io/v1, "),
        (b"kind: Resource\xffList\n", "the input is not UTF-8: byte 14 "),
        (b"\x7fELF\x02\x01\x01\x00\x00", ""),
    ] {
        let ran = run_with(&[], input);
        let shown = String::from_utf8_lossy(input);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (1, "", 1), "{shown}: {}", ran.err);
        assert!(ran.err.starts_with("[error] ") && ran.err.contains(hint), "{shown}: {}", ran.err);
    }
}

#[test]
fn help_of_every_command_has_an_example() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    assert!(help.out.contains("expose-valkey < resourcelist.yaml"));
    let commands = help.out.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let names: Vec<&str> =
        commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty()).collect();
    assert!(["render", "check", "ports", "pin", "schema", "completions"].iter().all(|name| names.contains(name)), "{names:?}");
    for name in names.iter().filter(|name| **name != "help") {
        let ran = run(&[name, "--help"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}");
        let example = ran.out.split_once("Example:\n").unwrap_or_else(|| panic!("{name} has no example:\n{}", ran.out)).1;
        assert!(example.contains(&format!("expose-valkey {name}")), "{name}: {example}");
    }
}

#[test]
fn version_is_that_of_the_package() {
    let ran = run(&["--version"]);
    assert_eq!((ran.code, ran.out), (0, format!("expose-valkey {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn wrong_arguments_are_told_apart_from_wrong_manifests() {
    for args in [&["ports"][..], &["nosuch"], &["render", "-f"], &["check", "-f", CLUSTER, "--format", "xml"], &["--nosuch"]] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.starts_with("error: ") && ran.err.contains("--help"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn what_cannot_be_read_is_one_line_and_a_failure() {
    let folder = folder("unreadable");
    let path = |name: &str| folder.join(name).display().to_string();
    for name in ["empty", "others", "hidden/.git"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    fs::write(folder.join("others/values.yaml"), "a: 1\n").unwrap();
    fs::write(folder.join("others/ValkeyCluster.txt"), text(CLUSTER)).unwrap();
    fs::write(folder.join("hidden/.git/cluster.yaml"), text(CLUSTER)).unwrap();
    fs::write(folder.join("broken.yaml"), "kind: ValkeyCluster\nspec:\n  a: \"b\n").unwrap();
    fs::write(folder.join("utf16.yaml"), b"\xff\xfek\x00i\x00").unwrap();
    fs::write(folder.join("nothing.yaml"), "").unwrap();
    for (args, said) in [
        (vec!["-f".to_owned(), path("missing.yaml")], format!("cannot read `{}`: ", path("missing.yaml"))),
        (vec!["-f".to_owned(), path("empty")], format!("there are no .yaml, .yml or .json files in `{}`", path("empty"))),
        (vec!["-f".to_owned(), path("hidden")], format!("there are no .yaml, .yml or .json files in `{}`", path("hidden"))),
        (vec!["-f".to_owned(), path("others")], format!("there is no ValkeyCluster in `{}`", path("others"))),
        (vec!["-f".to_owned(), path("nothing.yaml")], format!("there is no ValkeyCluster in `{}`", path("nothing.yaml"))),
        (vec!["-f".to_owned(), path("broken.yaml")], format!("unclosed quote ({}:3)", path("broken.yaml"))),
        (vec!["-f".to_owned(), path("utf16.yaml")], format!("`{}` is not UTF-8 text", path("utf16.yaml"))),
        (vec!["-f".to_owned(), CLUSTER.to_owned(), "-c".to_owned(), path("missing.yaml")], "cannot read `".to_owned()),
        (vec!["-f".to_owned(), "-".to_owned()], "there is no ValkeyCluster in `-`".to_owned()),
    ] {
        for command in ["render", "check", "ports"] {
            let ran = run(&[&[command], args.iter().map(String::as_str).collect::<Vec<_>>().as_slice()].concat());
            // `check` is asked for findings: they are its output.
            let (told, silent) = if command == "check" { (&ran.out, &ran.err) } else { (&ran.err, &ran.out) };
            assert_eq!((ran.code, silent.as_str(), told.lines().count()), (1, "", 1), "{command} {args:?}: {told}");
            assert!(told.starts_with("[error] ") && told.contains(&said), "{command} {args:?}: {told}");
        }
    }
}

#[test]
fn a_folder_is_searched_for_what_concerns_us_and_no_more() {
    let folder = folder("searched");
    fs::create_dir_all(folder.join("a/b")).unwrap();
    fs::write(folder.join("a/b/cluster.yml"), text(CLUSTER)).unwrap();
    fs::write(folder.join("template.yaml"), "{{ if .Values.x }}\na: [\n").unwrap();
    fs::write(folder.join("latin1.yaml"), b"name: M\xfcller\n").unwrap();
    let ran = run(&["ports", "-f", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.out), (0, run(&["ports", "-f", CLUSTER]).out));
    assert_eq!(ran.err, format!("[warning] `{}` is not UTF-8 text: left out\n", folder.join("latin1.yaml").display()));
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    for command in ["render", "ports"] {
        let ran = run_with(&[command, "-f", "-"], text(CLUSTER).as_bytes());
        assert_eq!((ran.code, ran.out), (0, run(&[command, "-f", CLUSTER]).out), "{command}");
    }
    let ran = run_with(&["check", "-f", "-"], text(FAULTY).as_bytes());
    assert!(ran.code == 1 && ran.out.ends_with(" (-:17)\n"), "{}", ran.out);
}

#[test]
fn findings_name_the_line_of_the_field() {
    for (args, is_json) in [(&["check", "-f", FAULTY][..], false), (&["check", "-f", FAULTY, "--format", "json"], true)] {
        let ran = run(args);
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{args:?}");
        if is_json {
            let found: Value = serde_json::from_str(&ran.out).unwrap();
            assert_eq!(found.as_array().unwrap().len(), 1);
            assert_eq!(found[0]["file"], json!({"path": FAULTY, "index": 1, "line": 17}));
            assert_eq!((&found[0]["severity"], &found[0]["tags"]["rule"]), (&json!("error"), &json!("port-range")));
            assert_eq!(found[0]["field"]["currentValue"], 65535);
        } else {
            assert!(ran.out.ends_with(&format!(" ({FAULTY}:17)\n")), "{}", ran.out);
        }
    }
    for command in ["render", "ports"] {
        let ran = run(&[command, "-f", FAULTY]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{command}");
        assert!(ran.err.ends_with(&format!(" ({FAULTY}:17)\n")), "{}", ran.err);
    }
}

#[test]
fn check_of_what_is_right_says_how_much_that_is() {
    let ran = run(&["check", "-f", CLUSTER]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert_eq!(ran.err, "1 of 1 ValkeyClusters with external access, 4 nodes: no errors\n");
    let ran = run(&["check", "-f", CLUSTER, "--format", "json"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "[]\n", ""));
}

#[test]
fn ports_as_a_table() {
    let ran = run(&["ports", "-f", CLUSTER]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(ran.out, @r"
    CLUSTER     SHARD  NODE  HOSTNAME                CLIENT PORT  SERVICE               SERVICE PORT  LISTENER
    team/cache  0      0     shard-0.kv.example.org  7000         valkey-cache-shard-0  6379          edge:7000
    team/cache  0      1     shard-0.kv.example.org  7001         valkey-cache-shard-0  6380          edge:7001
    team/cache  1      0     shard-1.kv.example.org  7002         valkey-cache-shard-1  6379          edge:7002
    team/cache  1      1     shard-1.kv.example.org  7003         valkey-cache-shard-1  6380          edge:7003
    ");
}

#[test]
fn ports_as_json() {
    let ran = run(&["ports", "-f", CLUSTER, "-o", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, rows.len()), (0, 4));
    let numbers = |pointer: &str| rows.iter().map(|row| row.pointer(pointer).and_then(Value::as_u64).unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers("/clientPort"), [7000, 7001, 7002, 7003]);
    assert_eq!(numbers("/gateway/port"), [7000, 7001, 7002, 7003]);
    assert_eq!(numbers("/service/port"), [6379, 6380, 6379, 6380]);
    assert_eq!((numbers("/shard"), numbers("/node")), (vec![0, 0, 1, 1], vec![0, 1, 0, 1]));
    assert_eq!(rows[3]["hostname"], "shard-1.kv.example.org");
    // A port that Kubernetes will allocate is null, and no guess.
    let allocated = text(CLUSTER).split("    gateway:").next().unwrap().to_owned();
    let rows: Vec<Value> = serde_json::from_str(&run_with(&["ports", "-f", "-", "-o", "json"], allocated.as_bytes()).out).unwrap();
    assert_eq!((rows[0].get("clientPort"), &rows[0]["service"]["type"]), (Some(&Value::Null), &json!("NodePort")));
}

fn documents(text: &str) -> Vec<Value> {
    yaml_serde::Deserializer::from_str(text).map(|document| serde::Deserialize::deserialize(document).unwrap()).collect()
}

#[test]
fn render_prints_manifests() {
    let ran = run(&["render", "-f", CLUSTER]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(kinds(&documents(&ran.out)), RENDERED);
}

#[test]
fn render_in_list_keeps_the_manifests_as_they_are() {
    let ran = run(&["render", "-f", FAULTY, "-f", CLUSTER, "--in-list"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let ran = run(&["render", "-f", CLUSTER, "--in-list"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let (head, items) = ran.out.split_once("items:\n").unwrap();
    assert_eq!(head, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n");
    let comment = text(CLUSTER).lines().next().unwrap().to_owned();
    assert!(items.starts_with(&format!("{comment}\n{}", list().split_once("items:\n").unwrap().1)), "{items}");
    // It is a list like any other: the function has nothing to add.
    assert_eq!(run_with(&[], ran.out.as_bytes()).out, ran.out);
}

/// All that a file of manifests may hold between its documents.
#[test]
fn render_in_list_reads_documents_as_yaml_does() {
    let odd = "\u{feff}%YAML 1.2\n# c\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  t: |+\n    x\n      \n\n---\n\n# only a comment\n---\n\n# c\n{apiVersion: v1, kind: ConfigMap,\n metadata: {name: b}}\n... # c\n# c\n%TAG ! tag:example.org,2026:\n---\n  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n---\n--- !!map\n";
    let folder = folder("odd");
    for (name, text) in [("unix", format!("{odd}{}", text(CLUSTER))), ("windows", format!("{odd}{}", text(CLUSTER)).replace('\n', "\r\n"))]
    {
        let file = folder.join(format!("{name}.yaml"));
        fs::write(&file, &text).unwrap();
        let ran = run(&["render", "--in-list", "-f", file.to_str().unwrap()]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}");
        let list: Value = yaml_serde::from_str(&ran.out).unwrap_or_else(|error| panic!("{error} in {}", ran.out));
        let items = list["items"].as_array().unwrap();
        let names: Vec<&str> = items.iter().take(4).map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!((names, items.len()), (vec!["a", "b", "c", "cache"], 4 + RENDERED.len()), "{}", ran.out);
        assert_eq!(items[0]["data"]["t"], "x\n  \n\n", "{}", ran.out);
    }
}

#[test]
fn render_writes_a_file_and_checks_it() {
    let folder = folder("written");
    let file = folder.join("external-access.yaml").display().to_string();
    let check = ["render", "-f", CLUSTER, "-o", &file, "--check"];
    let missing = run(&check);
    assert_eq!(missing.code, 1);
    assert!(missing.err.contains("is not up to date: run the same command without `--check`"), "{}", missing.err);
    let written = run(&["render", "-f", CLUSTER, "-o", &file]);
    assert_eq!((written.code, written.out.as_str(), written.err.as_str()), (0, "", ""));
    assert_eq!(fs::read_to_string(&file).unwrap(), run(&["render", "-f", CLUSTER]).out);
    let fresh = run(&check);
    assert_eq!((fresh.code, fresh.out.as_str(), fresh.err.as_str()), (0, "", ""));
    fs::write(&file, fs::read_to_string(&file).unwrap().replacen("6379", "6378", 1)).unwrap();
    let stale = run(&check);
    assert_eq!(stale.code, 1);
    assert!(stale.out.contains("\n-    port: 6378\n") && stale.out.contains("\n+    port: 6379\n"), "{}", stale.out);
    let nowhere = run(&["render", "-f", CLUSTER, "-o", "/nowhere/at/all.yaml"]);
    assert!(nowhere.code == 1 && nowhere.err.starts_with("[error] cannot write `/nowhere/at/all.yaml`: "), "{}", nowhere.err);
}

#[test]
fn no_colours_where_there_is_no_terminal() {
    for args in [&["check", "-f", FAULTY][..], &["ports", "-f", FAULTY], &["--help"], &[]] {
        let ran = run(args);
        assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{shell}");
        assert!(["render", "check", "ports", "schema"].iter().all(|command| ran.out.contains(command)), "{shell}");
    }
}

#[test]
fn schema_is_a_json_schema() {
    let ran = run(&["schema"]);
    let schema: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, ran.err.as_str(), &schema["title"]), (0, "", &json!("ExposeValkey")));
    assert!(schema.pointer("/properties/spec").is_some());
}

/// Far more output than a pipe holds, for a reader that has seen enough.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let big = text(CLUSTER).replace("shards: 2", "shards: 300");
    let list = list().replace("shards: 2", "shards: 300");
    for (args, input) in [(&["render", "-f", "-"][..], &big), (&["ports", "-f", "-"], &big), (&[], &list)] {
        let mut child = start(args, Stdio::piped());
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 16]).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(0) && !said.contains("[error]"), "{args:?}: {said}");
    }
}

/// As root nothing else would keep a rename from taking the place of /dev/null.
#[test]
#[cfg(target_os = "linux")]
fn a_pipe_is_written_into_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt as _;
    let pipe = folder("pipe").join("out");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    let ran = run(&["render", "-f", CLUSTER, "--output", pipe.to_str().unwrap()]);
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo(), "{}", ran.err);
    assert_eq!((ran.code, reader.join().unwrap()), (0, run(&["render", "-f", CLUSTER]).out));
    let ran = run(&["install", pipe.to_str().unwrap()]);
    assert!(ran.code == 1 && ran.err.contains("is no file") && fs::metadata(&pipe).unwrap().file_type().is_fifo(), "{}", ran.err);
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_a_failure() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = start(&["render", "-f", CLUSTER], full.into()).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("[error] cannot read or write: "));
}

/// The functionConfig comes last here, or from elsewhere: its findings name its lines all the same.
#[test]
fn faults_of_the_function_config_have_their_line() {
    let folder = folder("config-lines");
    let config = "apiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata: {name: expose}\nspec:\n  emit:\n    dsn: None\n";
    let cluster = folder.join("cluster.yaml");
    fs::write(&cluster, text(CLUSTER)).unwrap();
    fs::write(folder.join("config.yaml"), config).unwrap();
    fs::write(folder.join("both.yaml"), format!("{}---\n{config}", text(CLUSTER))).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let lines = text(CLUSTER).lines().count();
    for (args, line) in [
        (&["-f", &path("cluster.yaml"), "-c", &path("config.yaml")][..], "(.../config.yaml:6)".to_owned()),
        (&["-f", &path("cluster.yaml"), "-f", &path("config.yaml")], "(.../config.yaml:6)".to_owned()),
        (&["-f", &path("both.yaml")], format!("(.../both.yaml:{})", lines + 7)),
    ] {
        let ran = run(&[&["check"], args].concat());
        let said = ran.out.replace(&folder.display().to_string(), "...");
        assert!(said.contains("spec.emit.dsn: ") && said.trim_end().ends_with(&line), "{said}");
    }
}
