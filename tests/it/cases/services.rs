//! Services: types, ports, names, annotations, labels.

use serde_json::{Value, json};

use super::harness::{Case, NONE};
use expose_valkey::krm;

#[test]
fn nodeport_one_service_for_each_shard_one_port_for_each_node() {
    let case = Case::run("nodeport-one-port-for-each-node");
    case.finds(&[]);
    assert_eq!(case.names("Service"), ["valkey-orders-shard-0", "valkey-orders-shard-1"]);
    for (shard, service) in case.all("Service").into_iter().enumerate() {
        assert_eq!(service["metadata"]["namespace"], "cache");
        // The whole of it: no `nodePort` at all, no `externalTrafficPolicy`.
        let spec = json!({
            "ports": [{"name": "vk-n0", "port": 6379, "targetPort": "vk-n0"}, {"name": "vk-n1", "port": 6380, "targetPort": "vk-n1"}],
            "selector": {"valkey.io/cluster": "orders", "valkey.io/shard-index": shard.to_string()},
            "type": "NodePort",
        });
        assert_eq!(service["spec"], spec);
    }
    assert_eq!(case.names("ValkeyNode"), ["orders-0-0", "orders-0-1", "orders-1-0", "orders-1-1"]);
    assert_eq!(case.client_ports(), [("orders-0-0", None), ("orders-0-1", None), ("orders-1-0", None), ("orders-1-1", None)]);
    assert_eq!(case.names("TCPRoute"), NONE);
}

#[test]
fn enabled_alone_is_one_nodeport_service() {
    let case = Case::run("enabled-and-nothing-else");
    case.finds(&[]);
    assert_eq!(case.names("Service"), ["valkey-tiny-shard-0"]);
    let service = case.get("Service", "valkey-tiny-shard-0");
    assert_eq!(service["spec"]["type"], "NodePort");
    assert_eq!(service["spec"]["ports"], json!([{"name": "vk-n0", "port": 6379, "targetPort": "vk-n0"}]));
    assert_eq!(case.hostnames("tiny"), [None::<String>]);
    assert_eq!(case.get("ValkeyNode", "tiny-0-0")["spec"]["externalAccess"].get("domain"), None);
    assert_eq!(case.names("TCPRoute"), NONE);
}

#[test]
fn access_off_changes_nothing() {
    let case = Case::run("access-off");
    case.finds(&[]);
    assert_eq!(case.output, case.input);
}

#[test]
fn loadbalancer_nodes_announce_a_hostname_and_the_service_port() {
    let case = Case::run("loadbalancer-with-hostnames");
    case.finds(&[]);
    assert_eq!(case.types(), ["LoadBalancer", "LoadBalancer"]);
    let hostnames = [Some("sess-0.kv.example.org".to_owned()), Some("sess-1.kv.example.org".to_owned())];
    assert_eq!(case.hostnames("session"), hostnames);
    let ports = [6379, 6380, 6381];
    let nodes = case.client_ports();
    assert_eq!(nodes.len(), 6);
    for (index, (node, port)) in nodes.into_iter().enumerate() {
        assert_eq!(port, Some(ports[index % 3]), "{node}");
        let access = &case.get("ValkeyNode", node)["spec"]["externalAccess"];
        assert_eq!((&access["hostnamePrefix"], &access["domain"]), (&json!("sess"), &json!("kv.example.org")), "{node}");
    }
    // Nodes find each other by what the operator announces, and inside names are of no use outside.
    for inside in ["svc.cluster.local", "cluster-announce-bus", "cluster-announce-ip", "busPort"] {
        assert!(!case.output.contains(inside), "{inside}");
    }
}

#[test]
fn clusterip_service_has_no_traffic_policy() {
    let case = Case::run("clusterip-with-traffic-policy");
    case.finds(&["warning traffic-policy-unused edge"]);
    assert_eq!(case.types(), ["ClusterIP"]);
    assert_eq!(case.get("Service", "valkey-edge-shard-0")["spec"].get("externalTrafficPolicy"), None);
    let finding = &case.findings[0];
    assert_eq!(finding.field.as_deref(), Some("spec.externalAccess.externalTrafficPolicy"));
    assert!(finding.message.contains("ClusterIP because a gateway is set"), "{}", finding.message);
}

#[test]
fn strings_that_look_typed_stay_strings() {
    let case = Case::run("annotations-that-look-typed");
    case.finds(&[]);
    let written = &case.inputs[0]["spec"]["externalAccess"]["serviceAnnotations"];
    assert_eq!(written.as_object().unwrap().len(), 17);
    assert!(written.as_object().unwrap().values().all(Value::is_string));
    assert_eq!(written["t.example.org/m"], "");
    // By a reader of YAML 1.2, and by one of YAML 1.1.
    let old = krm::yaml::parse(&case.output).unwrap().value().unwrap();
    let is_service = |item: &&Value| item["kind"] == "Service";
    for list in [&case.list, &old] {
        let service = list["items"].as_array().unwrap().iter().find(is_service).unwrap();
        assert_eq!(&service["metadata"]["annotations"], written);
    }
}

#[test]
fn one_address_for_all_shards_is_warned_of() {
    let case = Case::run("one-address-for-all-shards");
    case.finds(&["warning same-address pinned"]);
    assert_eq!(case.names("Service").len(), 3);
    for service in case.all("Service") {
        let annotations = json!({"metallb.io/loadBalancerIPs": "192.0.2.40", "metallb.io/allow-shared-ip": "pinned"});
        assert_eq!(service["metadata"]["annotations"], annotations);
    }
    for part in ["metallb.io/loadBalancerIPs", "3 Services", "ports from 6379", "at most one", "{shard}"] {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    // The way out that it shows.
    let better = Case::of(&case.input.replace("192.0.2.40", "192.0.2.4{shard}"));
    better.finds(&["warning placeholder-in-cluster pinned"]);
    let annotations = "          metallb.io/loadBalancerIPs: 192.0.2.40\n";
    let config = "functionConfig: {apiVersion: fn.valkey.io/v1alpha1, kind: ExposeValkey, metadata: {name: expose}, spec: {clusters: [{externalAccess: {serviceAnnotations: {metallb.io/loadBalancerIPs: \"192.0.2.4{shard}\"}}}]}}\nitems:\n";
    assert!(case.input.contains(annotations), "{}", case.input);
    let better = Case::of(&case.input.replace(annotations, "").replace("items:\n", config));
    better.finds(&[]);
    let addresses: Vec<&Value> =
        better.all("Service").into_iter().map(|service| &service["metadata"]["annotations"]["metallb.io/loadBalancerIPs"]).collect();
    assert_eq!(addresses, ["192.0.2.40", "192.0.2.41", "192.0.2.42"]);
}

#[test]
fn one_dns_name_for_all_shards_is_warned_of() {
    let case = Case::run("one-dns-name-for-all-shards");
    case.finds(&["warning same-dns-name dns"]);
    for part in ["2 Services", "external-dns.alpha.kubernetes.io/hostname", "shard-0.kv.example.net, shard-1.kv.example.net", "{hostname}"]
    {
        assert!(case.findings[0].message.contains(part), "{part}");
    }
    let hostnames = [Some("shard-0.kv.example.net".to_owned()), Some("shard-1.kv.example.net".to_owned())];
    assert_eq!(case.hostnames("dns"), hostnames);
    let better = Case::of(&case.input.replace("hostname: kv.example.net", "hostname: \"{hostname}\""));
    better.finds(&["warning placeholder-in-cluster dns"]);
    assert!(better.findings[0].message.contains("writes `{hostname}` over it"), "{}", better.findings[0]);
    let names: Vec<&Value> = better
        .all("Service")
        .into_iter()
        .map(|service| &service["metadata"]["annotations"]["external-dns.alpha.kubernetes.io/hostname"])
        .collect();
    assert_eq!(names, ["shard-0.kv.example.net", "shard-1.kv.example.net"]);
}

#[test]
fn placeholder_for_a_hostname_needs_a_domain() {
    let case = Case::run("hostname-asked-for-without-a-domain");
    case.finds(&["warning placeholder-in-cluster asking", "warning hostname-without-domain asking"]);
    assert_eq!(case.findings[1].field.as_deref(), Some("spec.externalAccess.serviceAnnotations"));
    let annotations = json!({"example.org/meant": "{hostname}", "external-dns.alpha.kubernetes.io/hostname": "{hostname}"});
    assert_eq!(case.get("Service", "valkey-asking-shard-1")["metadata"]["annotations"], annotations);
}

#[test]
fn labels_of_the_user_reach_no_selector() {
    let case = Case::run("labels-stay-out-of-selectors");
    case.finds(&[]);
    let service = case.get("Service", "valkey-labelled-shard-0");
    assert_eq!(service["spec"]["selector"], json!({"valkey.io/cluster": "labelled", "valkey.io/shard-index": "0"}));
    for object in case.generated() {
        let labels = &object["metadata"]["labels"];
        assert_eq!((&labels["team"], &labels["app.kubernetes.io/version"]), (&json!("checkout"), &json!("9.0")));
        assert_eq!(labels["app.kubernetes.io/instance"], "labelled", "the operator's own keys win");
    }
}

#[test]
fn what_the_server_filled_in_is_not_copied() {
    let case = Case::run("exported-live-object");
    case.finds(&[]);
    let service = case.get("Service", "valkey-exported-shard-0");
    for field in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        assert_eq!(service["spec"].get(field), None, "{field}");
    }
    for field in ["uid", "resourceVersion", "generation", "managedFields"] {
        assert!(case.generated().iter().all(|object| object["metadata"].get(field).is_none()), "{field}");
    }
    assert!(service["spec"]["ports"].as_array().unwrap().iter().all(|port| port.get("nodePort").is_none()));
    // Known from the status: announced, though not pinned.
    assert_eq!(case.client_ports(), [("exported-0-0", Some(31044)), ("exported-0-1", Some(31045))]);
}

#[test]
fn no_namespace_in_no_namespace_out() {
    let case = Case::run("no-namespace");
    case.finds(&[]);
    assert_eq!(case.generated().len(), 3);
    for object in case.generated() {
        assert!(!object.to_string().contains("\"namespace\""), "{object}");
    }
}

#[test]
fn allocated_node_ports_stay_and_are_announced() {
    let case = Case::run("node-ports-stay");
    case.finds(&[]);
    let service = case.get("Service", "valkey-kept-shard-0");
    let ports = json!([
        {"name": "vk-n0", "nodePort": 31000, "port": 6379, "targetPort": "vk-n0"},
        {"name": "vk-n1", "nodePort": 31001, "port": 6380, "targetPort": "vk-n1"},
        {"name": "vk-n2", "port": 6381, "targetPort": "vk-n2"},
    ]);
    assert_eq!(service["spec"]["ports"], ports);
    let file = json!({"internal.config.kubernetes.io/index": "3", "internal.config.kubernetes.io/path": "live/services.yaml"});
    assert_eq!(service["metadata"]["annotations"], file);
    for field in ["uid", "resourceVersion"] {
        assert_eq!(service["metadata"].get(field), None, "{field}");
    }
    assert_eq!(service["spec"].get("clusterIP"), None);
    assert_eq!(case.client_ports(), [("kept-0-0", Some(31000)), ("kept-0-1", Some(31001)), ("kept-0-2", None)]);
    // A Service without NodePorts has none to keep.
    let inside = Case::of(&case.input.replace("{enabled: true}", "{enabled: true, serviceType: ClusterIP}"));
    assert!(!inside.get("Service", "valkey-kept-shard-0").to_string().contains("nodePort"));
    assert_eq!(inside.client_ports()[0], ("kept-0-0", Some(6379)));
}
