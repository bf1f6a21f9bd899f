//! Gateways: listener ports, routes, and who else is on them.

use serde_json::json;

use super::harness::{Case, NONE};

#[test]
fn gateway_each_route_is_bound_to_one_listener() {
    let case = Case::run("gateway-port-for-each-node");
    case.finds(&[]);
    assert_eq!(case.types(), ["ClusterIP", "ClusterIP", "ClusterIP"]);
    let routes = ["valkey-gw-0-0", "valkey-gw-0-1", "valkey-gw-1-0", "valkey-gw-1-1", "valkey-gw-2-0", "valkey-gw-2-1"];
    assert_eq!(case.names("TCPRoute"), routes);
    for (index, route) in case.all("TCPRoute").into_iter().enumerate() {
        let (shard, node) = (index / 2, index % 2);
        assert_eq!(route["apiVersion"], "gateway.networking.k8s.io/v1");
        let spec = json!({
            "parentRefs": [{"name": "tcp-gw", "port": 9000 + index}],
            "rules": [{"backendRefs": [{"name": format!("valkey-gw-shard-{shard}"), "port": 6379 + node}]}],
        });
        assert_eq!(route["spec"], spec);
        let node = case.get("ValkeyNode", &format!("gw-{shard}-{node}"));
        assert_eq!(node["spec"]["externalAccessClientPort"], 9000 + index);
        assert_eq!(node["spec"]["externalAccess"]["domain"], "gw.example.org");
    }
    let hostnames = [0, 1, 2].map(|shard| Some(format!("shard-{shard}.gw.example.org")));
    assert_eq!(case.hostnames("gw"), hostnames);
}

#[test]
fn routes_are_of_the_version_that_the_list_shows_unless_it_is_set() {
    let case = Case::run("gateway-definition-serves-v1alpha2");
    case.finds(&[]);
    assert_eq!(case.route_versions(), ["v1alpha2", "v1alpha2"]);
    let without_definition = {
        let (head, rest) = case.input.split_once("  - apiVersion: apiextensions.k8s.io/v1").unwrap();
        let cluster = rest.split_once("  - apiVersion: valkey.io/v1alpha1").unwrap().1;
        format!("{head}  - apiVersion: valkey.io/v1alpha1{cluster}")
    };
    assert_eq!(Case::of(&without_definition).route_versions(), ["v1", "v1"]);
    let set = |input: &str, version: &str| {
        let config = format!(
            "functionConfig: {{apiVersion: fn.valkey.io/v1alpha1, kind: ExposeValkey, spec: {{gatewayAPI: {{tcpRoute: {version}}}}}}}\nitems:\n"
        );
        Case::of(&input.replacen("items:\n", &config, 1))
    };
    assert_eq!(set(&without_definition, "v1alpha2").route_versions(), ["v1alpha2", "v1alpha2"]);
    let forced = set(&case.input, "v1");
    assert_eq!(forced.route_versions(), ["v1", "v1"]);
    forced.finds(&["warning route-version tcproutes.gateway.networking.k8s.io"]);
    // A definition that serves both.
    let both =
        case.input.replace("        - name: v1alpha2\n", "        - {name: v1, served: true, storage: false}\n        - name: v1alpha2\n");
    assert_eq!(Case::of(&both).route_versions(), ["v1", "v1"]);
}

#[test]
fn more_listeners_than_a_gateway_may_have_are_warned_of() {
    let case = Case::run("gateway-with-66-listeners");
    case.finds(&["warning listener-count wide"]);
    for part in ["66", "64", "ListenerSet", "several Gateways"] {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    assert_eq!(case.listener_ports().into_values().collect::<Vec<u64>>().len(), 66);
    let mut ports: Vec<u64> = case.listener_ports().into_values().collect();
    ports.sort_unstable();
    assert_eq!(ports, (9000..=9065).collect::<Vec<u64>>());
}

#[test]
fn port_65536_is_an_error() {
    let case = Case::run("gateway-port-65536");
    case.finds(&["error port-range highport"]);
    let finding = &case.findings[0];
    assert_eq!(finding.field.as_deref(), Some("spec.externalAccess.gateway.basePort"));
    assert_eq!((&finding.current, &finding.proposed), (&Some(json!(65531)), &Some(json!(65530))));
    for part in ["65531", "6 nodes", "65536", "highport-2-1"] {
        assert!(finding.message.contains(part), "{part}");
    }
}

#[test]
fn port_65535_is_the_last() {
    let case = Case::run("gateway-port-65535");
    case.finds(&[]);
    let mut ports: Vec<u64> = case.listener_ports().into_values().collect();
    ports.sort_unstable();
    assert_eq!(ports, [65530, 65531, 65532, 65533, 65534, 65535]);
}

#[test]
fn two_clusters_on_one_listener_are_an_error() {
    let case = Case::run("gateway-clusters-overlap");
    // The third cluster has the same ports on another Gateway.
    case.finds(&["error listener-overlap beta"]);
    for part in ["cache/alpha (9000 to 9005)", "cache/beta (9004 to 9007)", "Gateway cache/tcp-gw", "9004"] {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    assert_eq!(case.findings[0].proposed, Some(json!(9006)));
}

#[test]
fn clusters_side_by_side_are_fine() {
    let case = Case::run("gateway-clusters-side-by-side");
    case.finds(&[]);
    let ports = case.listener_ports();
    let of = |cluster: &str| {
        ports.iter().filter(|(name, _)| name.starts_with(&format!("valkey-{cluster}-"))).map(|(_, port)| *port).collect::<Vec<u64>>()
    };
    assert_eq!(of("alpha"), [9000, 9001, 9002, 9003, 9004, 9005]);
    assert_eq!(of("beta"), [9006, 9007, 9008, 9009]);
    assert_eq!(of("gamma"), of("alpha"));
}

#[test]
fn one_section_name_for_several_nodes_is_warned_of() {
    let case = Case::run("section-name-for-four-nodes");
    case.finds(&["warning section-name section"]);
    let finding = &case.findings[0];
    assert_eq!(finding.field.as_deref(), Some("spec.externalAccess.gateway.gatewayRef.sectionName"));
    assert!(finding.message.starts_with("4 nodes"), "{}", finding.message);
    assert_eq!(case.section_names(), ["valkey", "valkey", "valkey", "valkey"]);
}

#[test]
fn one_section_name_for_one_node_is_fine() {
    let case = Case::run("section-name-for-one-node");
    case.finds(&[]);
    let parent = json!([{"name": "tcp-gw", "port": 9200, "sectionName": "valkey"}]);
    assert_eq!(case.get("TCPRoute", "valkey-section-0-0")["spec"]["parentRefs"], parent);
}

#[test]
fn a_section_name_for_each_node() {
    let case = Case::run("section-name-for-each-node");
    // In the cluster itself the operator takes it for text.
    case.finds(&["warning placeholder-in-cluster section"]);
    assert!(case.findings[0].message.contains("`spec.clusters[].externalAccess.gateway.gatewayRef.sectionName`"));
    assert_eq!(case.section_names(), ["vk-0-0", "vk-0-1", "vk-1-0", "vk-1-1"]);
}

#[test]
fn listeners_that_the_gateway_lacks_are_named() {
    let case = Case::run("gateway-lacks-listeners");
    case.finds(&["warning listener-missing lacking", "warning listener-missing lacking", "warning listener-missing lacking"]);
    let ports: Vec<u64> = case.listener_ports().into_values().collect();
    assert_eq!(ports, [9300, 9301, 9302, 9303]);
    let missing = [("lacking-0-1", 9301, "is HTTP"), ("lacking-1-0", 9302, "no listener"), ("lacking-1-1", 9303, "no listener")];
    for (finding, (node, port, reason)) in case.findings.iter().zip(missing) {
        for part in ["Gateway cache/tcp-gw", node, &port.to_string(), reason] {
            assert!(finding.message.contains(part), "{part}: {}", finding.message);
        }
        assert_eq!(finding.proposed, Some(json!({"name": format!("vk-{node}"), "port": port, "protocol": "TCP"})));
    }
    // With the listeners that the warnings propose there is nothing left to warn of.
    let listeners: String = case.findings.iter().map(|finding| format!("        - {}\n", finding.proposed.as_ref().unwrap())).collect();
    let wrong = "        - {name: web, port: 9301, protocol: HTTP}\n";
    assert!(case.input.contains(wrong));
    Case::of(&case.input.replace(wrong, &listeners)).finds(&[]);
}

#[test]
fn a_gateway_in_another_namespace_is_named_in_the_routes() {
    let case = Case::run("gateway-in-another-namespace");
    case.finds(&["warning dropped-by-crd shared"]);
    let finding = &case.findings[0];
    assert_eq!(finding.field.as_deref(), Some("spec.externalAccess.gateway.gatewayRef.namespace"));
    assert!(finding.message.contains("set it in the functionConfig"), "{}", finding.message);
    assert_eq!(case.all("TCPRoute").len(), 2);
    for route in case.all("TCPRoute") {
        assert_eq!(route["spec"]["parentRefs"][0]["namespace"], "infra");
        assert_eq!(route["metadata"]["namespace"], "shop");
    }
    // No grant governs how a route attaches, and the nodes hold what the operator's API has.
    assert_eq!(case.names("ReferenceGrant"), NONE);
    assert!(case.all("ValkeyNode").iter().all(|node| node["spec"]["externalAccess"]["gateway"]["gatewayRef"] == json!({"name": "tcp-gw"})));
    // Set where the warning says, it is the same without the warning.
    let config = "functionConfig: {apiVersion: fn.valkey.io/v1alpha1, kind: ExposeValkey, spec: {clusters: [{externalAccess: {gateway: {gatewayRef: {namespace: infra}}}}]}}\nitems:\n";
    let moved = Case::of(&case.input.replacen("items:\n", config, 1).replace("{name: tcp-gw, namespace: infra}", "{name: tcp-gw}"));
    moved.finds(&[]);
    assert_eq!(moved.all("TCPRoute"), case.all("TCPRoute"));
}

#[test]
fn ports_that_move_are_listed() {
    let case = Case::run("replica-added-ports-move");
    case.finds(&["warning ports-moved grow"]);
    for part in ["grow-1-0 9502 -> 9503", "grow-1-1 9503 -> 9504", "`portsPerShard` of 3 or more"] {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    let ports = [
        ("valkey-grow-0-0", 9500),
        ("valkey-grow-0-1", 9501),
        ("valkey-grow-0-2", 9502),
        ("valkey-grow-1-0", 9503),
        ("valkey-grow-1-1", 9504),
        ("valkey-grow-1-2", 9505),
    ];
    assert_eq!(case.listener_ports(), ports.map(|(name, port)| (name.to_owned(), port)).into());
    // Replaced where they stand.
    assert_eq!((case.item(1), case.item(2)), ("TCPRoute valkey-grow-1-0".to_owned(), "TCPRoute valkey-grow-1-1".to_owned()));
    // With ports to spare from the start, one more replica moves none.
    let spare = case
        .input
        .replace("basePort: 9500}", "basePort: 9500}\n        portsPerShard: 4")
        .replace("port: 9502", "port: 9504")
        .replace("port: 9503", "port: 9505");
    let spare = Case::of(&spare);
    spare.finds(&["warning dropped-by-crd grow"]);
    assert_eq!((spare.listener_ports()["valkey-grow-1-0"], spare.listener_ports()["valkey-grow-0-2"]), (9504, 9502));
    // A stride that is only guessed at is proposed, where it still fits.
    let shown = case.input.replace("port: 9502", "port: 9504").replace("port: 9503", "port: 9505");
    let shown = Case::of(&shown);
    assert!(shown.findings[0].message.ends_with("`portsPerShard: 4` keeps them where they are"), "{}", shown.findings[0].message);
}
