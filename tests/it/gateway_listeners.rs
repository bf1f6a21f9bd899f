//! Listeners of a Gateway that is in the list, and the routes that attach to them.

use expose_valkey::run;
use serde_json::Value;

use crate::beyond::{list, objects, rules};

/// A Gateway in a namespace, with these listeners.
fn gateway(namespace: &str, listeners: &str) -> String {
    format!(
        "- apiVersion: gateway.networking.k8s.io/v1\n  kind: Gateway\n  metadata: {{name: gw, namespace: {namespace}}}\n  spec:\n    gatewayClassName: x\n    allowedListeners: {{namespaces: {{from: All}}}}\n    listeners:\n{listeners}"
    )
}

const HTTP: &str = "    - {name: http, port: 80, protocol: HTTP}\n";

/// A cluster of so many shards on Gateway `gw` from port 9000 on, its listeners as said, and more of its `gatewayRef`.
fn exposed(listeners: &str, reference: &str, shards: u32, gateway: &str) -> String {
    let access = format!("{{enabled: true, domain: kv.example.org, gateway: {{basePort: 9000, gatewayRef: {{name: gw{reference}}}}}}}");
    let config = format!("{{emit: {{{listeners}valkeyNodes: false, services: false}}, clusters: [{{externalAccess: {access}}}]}}");
    list(&config, &format!("{{shards: {shards}}}"), gateway)
}

fn names(list: &str) -> Vec<String> {
    let gateways = objects(list, "Gateway");
    let listeners = gateways[0]["spec"]["listeners"].as_array().unwrap();
    listeners.iter().map(|listener| format!("{} {}", listener["name"], listener["port"]).replace('"', "")).collect()
}

#[test]
fn routes_ask_for_the_listeners_that_are_added() {
    for (routes, expected) in [("", ["vk-team-cache-0-0", "vk-team-cache-1-0"]), ("routes: TLSRoute, ", ["vk-team-cache-sni"; 2])] {
        let input = exposed(
            &format!("{routes}listeners: Gateway, "),
            ", namespace: infra, sectionName: 'vk-{shard}-{node}'",
            2,
            &gateway("infra", HTTP),
        );
        let input = match routes {
            "" => input,
            _ => input
                .replace("spec: {shards: 2}", "spec: {shards: 2, tls: {certificate: {secretName: s}}}")
                .replace("{enabled: true,", "{enabled: true, preferredEndpointType: hostname,")
                .replace("  spec: {emit", "  spec: {mode: OperatorManaged, announce: Live, emit")
                .replace(", services: false", ""),
        };
        let kind = if routes.is_empty() { "TCPRoute" } else { "TLSRoute" };
        let asked: Vec<Value> = objects(&input, kind).iter().map(|route| route["spec"]["parentRefs"][0]["sectionName"].clone()).collect();
        assert_eq!(asked, expected);
        let there = names(&input);
        assert!(expected.iter().all(|name| there.iter().any(|there| there.starts_with(&format!("{name} ")))), "{there:?}");
    }
}

#[test]
fn a_listener_of_another_name_than_the_route_asks_for_is_told() {
    let by_name = |listener: &str| {
        let input = exposed("", ", sectionName: 'vk-{shard}-{node}'", 1, &gateway("team", &format!("{HTTP}{listener}")));
        run(&input).findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(by_name("    - {name: vk-0-0, port: 9000, protocol: TCP}\n"), [""; 0]);
    let [other] = &by_name("    - {name: tcp-9000, port: 9000, protocol: TCP}\n")[..] else { panic!("one") };
    assert!(other.contains("asks for listener `vk-0-0` of Gateway team/gw, and the one of its port is `tcp-9000`"), "{other}");
    let [missing] = &by_name("")[..] else { panic!("one") };
    assert!(
        missing.contains(r#"add the listener {"name":"vk-0-0","port":9000,"protocol":"TCP"}"#),
        "what is proposed is what the route asks for: {missing}"
    );
}

#[test]
fn a_namespace_that_is_the_clusters_own_may_be_written_out() {
    let three = exposed("listeners: Gateway, ", ", namespace: team", 3, &gateway("team", HTTP));
    assert_eq!(names(&three), ["http 80", "vk-cache-0-0 9000", "vk-cache-1-0 9001", "vk-cache-2-0 9002"]);
    let output = run(&three).text.to_string();
    assert_eq!(names(&output.replace("shards: 3", "shards: 1, replicas: 1")), ["http 80", "vk-cache-0-0 9000", "vk-cache-0-1 9001"]);
}

#[test]
fn listeners_of_the_gateway_are_in_the_way_of_a_listener_set_too() {
    let set = |listeners: &str| rules(&exposed("listeners: ListenerSet, ", "", 2, &gateway("team", &format!("{HTTP}{listeners}"))));
    assert_eq!(set("    - {name: mq, port: 8999, protocol: TCP}\n"), [""; 0]);
    assert_eq!(set("    - {name: dns, port: 9001, protocol: UDP}\n"), [""; 0]);
    assert_eq!(set("    - {name: mq, port: 9001, protocol: TCP}\n"), ["error listener-overlap"]);
    // What another setting has added before is said to be that.
    let before = run(&exposed("listeners: Gateway, ", "", 2, &gateway("team", HTTP))).text.to_string();
    let after = before.replace("listeners: Gateway", "listeners: ListenerSet");
    let told: Vec<String> = run(&after).findings.iter().map(ToString::to_string).collect();
    assert!(
        told.len() == 1 && told[0].contains("`vk-cache-0-0`") && told[0].contains("take that listener out if `emit.listeners: Gateway`"),
        "{told:?}"
    );
}

#[test]
fn listeners_of_others_count_towards_what_a_gateway_may_have() {
    let others =
        |count: u32| (0..count).map(|n| format!("    - {{name: web-{n}, port: {}, protocol: HTTP}}\n", 8000 + n)).collect::<String>();
    let added = |count: u32| exposed("listeners: Gateway, ", "", 60, &gateway("team", &others(count)));
    assert_eq!(rules(&added(4)), [""; 0]);
    assert_eq!(rules(&added(5)), ["error listener-count"]);
    let again = run(&added(4)).text.to_string();
    assert_eq!(rules(&again), [""; 0], "its own do not count twice");
}

#[test]
fn whom_a_listener_elsewhere_lets_in_must_be_known() {
    let bare = exposed("listeners: Gateway, ", ", namespace: infra", 1, &gateway("infra", HTTP))
        .replace("name: cache, namespace: team", "name: cache");
    assert_eq!(rules(&bare), ["error namespace-missing"]);
}
