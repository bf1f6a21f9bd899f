//! `announce: Command`: what the servers are started with.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{config, list, objects, printed, said};

const NODE_PORTS: &str = "domain: kv.example.org, nodePorts: {base: 31000}";

fn server(input: &str) -> Value {
    let cluster = objects(&printed(input), "ValkeyCluster").remove(0);
    cluster["spec"]["containers"].as_array().unwrap().iter().find(|container| container["name"] == "server").unwrap().clone()
}

fn script(input: &str) -> String {
    let command = server(input)["command"].clone();
    assert_eq!((command[0].as_str(), command[1].as_str()), (Some("/bin/sh"), Some("-c")));
    command[2].as_str().unwrap().to_owned()
}

/// What Kubernetes makes of `$(NAME)` and `$$` in a command; a reference to no variable stays as it is.
fn expanded(text: &str, variables: &BTreeMap<&str, &str>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, from)) = rest.split_once('$') {
        out.push_str(before);
        rest = match (from.strip_prefix('('), from.strip_prefix('$')) {
            (Some(inner), _) if inner.contains(')') => {
                let (name, behind) = inner.split_once(')').unwrap();
                out.push_str(&variables.get(name).map_or_else(|| format!("$({name})"), ToString::to_string));
                behind
            }
            (_, Some(behind)) => {
                out.push('$');
                behind
            }
            _ => {
                out.push('$');
                from
            }
        };
    }
    out + rest
}

/// The arguments that `valkey-server` gets from a script, run by this machine's shell as the pod of a node would.
fn arguments(script: &str, shard: u32, node: u32, password: &str) -> Vec<String> {
    let (shard, node) = (shard.to_string(), node.to_string());
    let variables = BTreeMap::from([
        ("POD_IP", "10.0.0.9"),
        ("PRIMARY_AUTH", password),
        ("EXPOSE_VALKEY_SHARD", shard.as_str()),
        ("EXPOSE_VALKEY_NODE", node.as_str()),
    ]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("valkey-server");
    let program = folder.join("valkey-server");
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&program, "#!/bin/sh\nprintf '%s\\0' \"$@\"\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    });
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut shell = Command::new("/bin/sh");
    let output = shell.args(["-c", &expanded(script, &variables)]).env_clear().env("PATH", path).envs(&variables).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().split_terminator('\0').map(str::to_owned).collect()
}

fn option(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).cloned()
}

/// Hostname and port that a node announces.
fn announced(input: &str, shard: u32, node: u32, port: &str) -> (String, String) {
    let arguments = arguments(&script(input), shard, node, "secret");
    (option(&arguments, "--cluster-announce-hostname").unwrap(), option(&arguments, port).unwrap())
}

const PORT: &str = "--cluster-announce-client-port";
const TLS_PORT: &str = "--cluster-announce-client-tls-port";

#[test]
fn the_operators_own_command_is_in_it_whatever_the_password() {
    let script = script(&list(&config("Command", NODE_PORTS, ""), ""));
    for password in
        ["secret", "", "a b", "x\"; touch /tmp/x; \"", "$(id)", "`id`", "'", "$((1 + 1))", "\\", "$HOME", "*", "a\nb", "$(POD_IP)"]
    {
        let arguments = arguments(&script, 2, 1, password);
        let expected = [
            "/config/valkey.conf",
            "--cluster-announce-ip",
            "10.0.0.9",
            "--primaryuser",
            "_replication",
            "--primaryauth",
            password,
            "--cluster-preferred-endpoint-type",
            "hostname",
            "--cluster-announce-hostname",
            "shard-2.kv.example.org",
            PORT,
            "31005",
        ];
        assert_eq!(arguments, expected);
    }
}

#[test]
fn kubernetes_leaves_the_text_as_it_is() {
    for ports in ["nodePorts: {base: 31000}", "gateway: {gatewayRef: {name: edge}, basePort: 7000}", "serviceType: LoadBalancer"] {
        let script = script(&list(&config("Command", &format!("domain: kv.example.org, {ports}"), ""), ""));
        let variables = BTreeMap::from([("POD_IP", "1"), ("PRIMARY_AUTH", "2"), ("EXPOSE_VALKEY_SHARD", "3"), ("EXPOSE_VALKEY_NODE", "4")]);
        assert_eq!(expanded(&script, &variables), script);
    }
    assert_eq!(expanded("$(A) $$(A) $((A + 1)) $A $(B", &BTreeMap::from([("A", "x")])), "x $(A) $((A + 1)) $A $(B");
}

#[test]
fn each_way_in_has_its_own_names_and_ports() {
    let input = |access: &str, more: &str, spec: &str| list(&config("Command", &format!("domain: kv.example.org, {access}"), more), spec);
    let tls = "networking: {tls: {certificates: {server: {secretName: t}}}}";
    let at = |input: &str, port: &str| [announced(input, 0, 0, port), announced(input, 2, 1, port)];
    let pair = |name: &str, port: &str| (format!("{name}.kv.example.org"), port.to_owned());
    let gateway = "gateway: {gatewayRef: {name: edge}, basePort: 7000}";
    assert_eq!(at(&input(gateway, "", ""), PORT), [pair("shard-0", "7000"), pair("shard-2", "7005")]);
    assert_eq!(
        at(&input(&format!("{gateway}, portsPerShard: 10, hostnamePrefix: kv"), "", ""), PORT),
        [pair("kv-0", "7000"), pair("kv-2", "7021")]
    );
    assert_eq!(at(&input("nodePorts: {base: 31000}", "", tls), TLS_PORT), [pair("shard-0", "31000"), pair("shard-2", "31005")]);
    // Each node has a load balancer of its own, and so must have a name of its own.
    assert_eq!(at(&input("serviceType: LoadBalancer", "", ""), PORT), [pair("shard-0-0", "6379"), pair("shard-2-1", "6380")]);
    let sni = input(gateway, ", emit: {routes: TLSRoute}", tls);
    assert_eq!(at(&sni, TLS_PORT), [pair("shard-0-0", "7000"), pair("shard-2-1", "7000")]);
}

#[test]
fn a_shard_more_leaves_the_command_as_it_is() {
    for access in [NODE_PORTS, "domain: d, serviceType: LoadBalancer", "domain: d, gateway: {gatewayRef: {name: edge}, basePort: 7000}"] {
        let three = list(&config("Command", access, ""), "");
        let five = three.replace("shards: 3", "shards: 5");
        assert_eq!(server(&three), server(&five));
        // Where the cluster has the command already, its text is not touched at all.
        let patched = printed(&three).split("results:").next().unwrap().to_owned();
        let more = printed(&patched.replace("shards: 3", "shards: 5"));
        let cluster = |text: &str| text[text.find("    containers:").unwrap()..text.find("kind: Service").unwrap()].to_owned();
        assert_eq!(cluster(&patched), cluster(&more));
    }
}

#[test]
fn pinned_ports_that_follow_no_formula_are_listed() {
    let pinned = |ports: &str| {
        list(&config("Command", "domain: kv.example.org", &format!(", pinned: [{{name: cache, namespace: team, nodePorts: {ports}}}]")), "")
    };
    let irregular = pinned("[[31000, 30777], [32001, 30002], [30100, 30101]]");
    assert_eq!(announced(&irregular, 0, 1, PORT).1, "30777");
    assert_eq!(announced(&irregular, 2, 1, PORT).1, "30101");
    // A node that is not listed yet announces none, rather than fail.
    assert_eq!(announced(&irregular, 3, 0, PORT).1, "0");
    insta::assert_snapshot!(script(&irregular));
    let regular = pinned("[[31000, 31001], [31002, 31003], [31004, 31005]]");
    assert_eq!(script(&regular), script(&list(&config("Command", NODE_PORTS, ""), "")));
}

#[test]
fn what_the_command_cannot_do_is_said_with_the_ways_out() {
    let all = [
        list(&config("Command", "domain: d", ""), ""),
        list(&config("Command", "nodePorts: {base: 31000}", ""), ""),
        list(&config("Command", NODE_PORTS, ""), "containers: [{name: server, command: [valkey-server]}]"),
        list(&config("Command", NODE_PORTS, ""), "containers: [{name: x}, {name: server, args: [a]}]"),
        list(&config("Command", NODE_PORTS, ""), "config: {cluster-preferred-endpoint-type: ip}"),
        list(&config("Command", NODE_PORTS, ""), "image: valkey/valkey:8.1.3"),
        list(&config("Command", NODE_PORTS, ""), "image: valkey/valkey:9.1.2\ncontainers: [{name: server, image: 'valkey:7'}]"),
        list(&config("Command", NODE_PORTS, ""), "containers:"),
        list(&config("Command", NODE_PORTS, ""), "containers: [{name: server, env: [{name: EXPOSE_VALKEY_SHARD, value: '1'}]}]"),
        list(&config("Command", &format!("{NODE_PORTS}, preferredEndpointType: ip"), ""), ""),
        list(&config("Command", "domain: d", ", pinned: [{name: cache, nodePorts: [[30500, 30501], [30502]]}]"), ""),
    ];
    insta::assert_snapshot!(all.map(|input| said(&input)).join("\n"));
}

#[test]
fn a_version_that_cannot_be_told_is_no_error() {
    let with = |image: &str| said(&list(&config("Command", NODE_PORTS, ""), image));
    assert!(with("image: valkey/valkey@sha256:00").starts_with("valkey-version: [warning]"), "{}", with("image: valkey/valkey@sha256:00"));
    assert_eq!(with(""), "");
    assert_eq!(with("image: registry.example.org:5000/valkey:9.0.0-alpine"), "");
    assert_eq!(with("config: {cluster-preferred-endpoint-type: hostname}"), "");
}
