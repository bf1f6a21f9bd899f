use k8s_openapi::api::core::v1::{Node, Pod, Service};
use serde_json::{Value, json};

use super::{Around, needed_gateway, needs_machine, wanted};
use crate::live::facts::{gateway_addresses, machine_addresses, node_service, server_pod};

/// A Service as the function writes it and Kubernetes completes it.
fn service(kind: &str, annotations: Value, node_port: Option<u16>, ingress: Value) -> Service {
    let mut port = json!({"name": "vk-n1", "port": 6380, "targetPort": "client", "protocol": "TCP"});
    if let Some(node_port) = node_port {
        port["nodePort"] = node_port.into();
    }
    serde_json::from_value(json!({
        "metadata": {
            "name": "valkey-cache-0-1", "namespace": "team", "annotations": annotations,
            "labels": {
                "fn.valkey.io/cluster": "cache", "fn.valkey.io/shard-index": "0", "fn.valkey.io/node-index": "1",
                "fn.valkey.io/announce": "live",
            },
        },
        "spec": {"type": kind, "ports": [port]},
        "status": {"loadBalancer": {"ingress": ingress}},
    }))
    .unwrap()
}

fn pod() -> Pod {
    serde_json::from_value(json!({
        "metadata": {
            "name": "valkey-cache-0-1-0", "namespace": "team", "uid": "u1",
            "labels": {"valkey.io/cluster": "cache", "valkey.io/shard-index": "0", "valkey.io/node-index": "1"},
        },
        "spec": {"nodeName": "worker-1", "containers": [{"name": "server", "ports": [{"name": "client", "containerPort": 6379}]}]},
        "status": {"podIP": "198.51.100.7"},
    }))
    .unwrap()
}

fn machine(addresses: Value) -> Node {
    serde_json::from_value(json!({"metadata": {"name": "worker-1"}, "status": {"addresses": addresses}})).unwrap()
}

/// What is announced, or what is missing, for a Service beside that pod, that Kubernetes node and that Gateway.
fn outcome(service: &Service, machine: Option<&Node>, gateway: Option<&Value>) -> String {
    let (key, service) = match node_service(service).unwrap() {
        (key, Ok(read)) => (key, read),
        (_, Err(words)) => return words,
    };
    let (_, pod) = server_pod(&pod()).unwrap();
    let machine = machine.map(machine_addresses);
    let gateway = gateway.map(gateway_addresses);
    let around =
        Around { key: &key, service: &service, pod: Some(&pod), machine: machine.as_deref(), gateway: gateway.as_deref(), tls: false };
    match wanted(&around) {
        Ok(announcement) => announcement.to_string(),
        Err(missing) => missing.to_string(),
    }
}

/// Addresses with their types.
type Typed<'a> = &'a [(&'a str, &'a str)];

fn addresses(of: Typed) -> Value {
    of.iter().map(|(kind, address)| json!({"type": kind, "address": address})).collect()
}

#[test]
fn a_node_port_sends_clients_to_the_node_of_the_pod() {
    let internal = [("InternalIP", "10.0.0.4"), ("Hostname", "worker-1")];
    let both = [("InternalIP", "10.0.0.4"), ("InternalIP", "fd00::4"), ("ExternalIP", "192.0.2.4")];
    let cases: [(Value, Typed, &str); 7] = [
        (json!({}), &internal, "10.0.0.4:30001"),
        (json!({}), &both, "192.0.2.4:30001 and [fd00::4]:30001"),
        (json!({"fn.valkey.io/node-address-types": "InternalIP"}), &both, "10.0.0.4:30001 and [fd00::4]:30001"),
        (json!({"fn.valkey.io/node-address-types": "InternalIP, ExternalIP"}), &both, "10.0.0.4:30001 and [fd00::4]:30001"),
        (json!({"fn.valkey.io/node-address-types": "Hostname"}), &internal, "worker-1:30001"),
        (json!({"fn.valkey.io/node-address-types": "ExternalIP"}), &internal, "Kubernetes node worker-1 has no address of type ExternalIP"),
        (json!({}), &[("ExternalIP", "2001:db8::4")], "[2001:db8::4]:30001"),
    ];
    for (annotations, of, expected) in cases {
        let service = service("NodePort", annotations.clone(), Some(30001), json!([]));
        assert_eq!(outcome(&service, Some(&machine(addresses(of))), None), expected, "{annotations} {of:?}");
    }
}

#[test]
fn a_hostname_wins_over_every_address() {
    let named = json!({"fn.valkey.io/hostname": "shard-0.example.com"});
    let balanced = json!([{"ip": "192.0.2.50"}]);
    assert_eq!(outcome(&service("NodePort", named.clone(), Some(30001), json!([])), None, None), "shard-0.example.com:30001");
    assert_eq!(outcome(&service("LoadBalancer", named, Some(30001), balanced), None, None), "shard-0.example.com:6380");
    let sni = json!({
        "fn.valkey.io/hostname": "shard-0-1.example.com", "fn.valkey.io/client-port": "6443", "fn.valkey.io/gateway": "infra/edge",
    });
    assert_eq!(outcome(&service("ClusterIP", sni, None, json!([])), None, None), "shard-0-1.example.com:6443");
}

#[test]
fn a_load_balancer_is_announced_as_the_cloud_gave_it() {
    let cases = [
        (json!([{"ip": "192.0.2.50"}]), "192.0.2.50:6380"),
        (json!([{"ip": "192.0.2.50"}, {"ip": "2001:db8::50"}]), "192.0.2.50:6380 and [2001:db8::50]:6380"),
        (json!([{"hostname": "a1.elb.example.com"}]), "a1.elb.example.com:6380"),
        (json!([{"ip": "192.0.2.50", "hostname": "a1.elb.example.com"}]), "a1.elb.example.com:6380"),
        (json!([]), "load balancer of valkey-cache-0-1 has no address yet"),
    ];
    for (ingress, expected) in cases {
        assert_eq!(outcome(&service("LoadBalancer", json!({}), Some(30001), ingress.clone()), None, None), expected, "{ingress}");
    }
}

#[test]
fn a_gateway_gives_its_address_and_the_annotation_the_port() {
    let annotated =
        service("ClusterIP", json!({"fn.valkey.io/gateway": "infra/edge", "fn.valkey.io/client-port": "6401"}), None, json!([]));
    let gateway = |addresses: Value| json!({"status": {"addresses": addresses}});
    let cases = [
        (Some(gateway(json!([{"type": "IPAddress", "value": "192.0.2.60"}]))), "192.0.2.60:6401"),
        (Some(gateway(json!([{"value": "2001:db8::60"}, {"value": "192.0.2.60"}]))), "192.0.2.60:6401 and [2001:db8::60]:6401"),
        (Some(gateway(json!([{"value": "192.0.2.60"}, {"type": "Hostname", "value": "edge.example.com"}]))), "edge.example.com:6401"),
        (Some(gateway(json!([{"type": "example.com/own", "value": "x"}]))), "Gateway infra/edge has no address yet"),
        (Some(json!({})), "Gateway infra/edge has no address yet"),
        (None, "Gateway infra/edge is not there yet, or the controller may not list and watch Gateways in namespace infra"),
    ];
    for (gateway, expected) in cases {
        assert_eq!(outcome(&annotated, None, gateway.as_ref()), expected, "{gateway:?}");
    }
}

#[test]
fn what_is_not_there_yet_is_named() {
    let node_port = service("NodePort", json!({}), None, json!([]));
    assert_eq!(outcome(&node_port, None, None), "port of valkey-cache-0-1/vk-n1 not allocated yet");
    let zero = service("NodePort", json!({}), Some(0), json!([]));
    assert_eq!(outcome(&zero, None, None), "port of valkey-cache-0-1/vk-n1 not allocated yet");
    let allocated = service("NodePort", json!({}), Some(30001), json!([]));
    assert_eq!(outcome(&allocated, None, None), "Kubernetes node worker-1 is not seen yet");
}

#[test]
fn mistakes_say_where_they_are_and_what_to_write() {
    let cases = [
        (
            json!({"fn.valkey.io/client-port": "http"}),
            "annotation fn.valkey.io/client-port of Service valkey-cache-0-1: must be a number from 1 to 65535, got \"http\"",
        ),
        (
            json!({"fn.valkey.io/client-port": "0"}),
            "annotation fn.valkey.io/client-port of Service valkey-cache-0-1: must be a number from 1 to 65535, got \"0\"",
        ),
        (
            json!({"fn.valkey.io/gateway": "edge"}),
            "annotation fn.valkey.io/gateway of Service valkey-cache-0-1: must be NAMESPACE/NAME, got \"edge\"",
        ),
        (
            json!({"fn.valkey.io/username": "announcer"}),
            "annotations of Service valkey-cache-0-1: fn.valkey.io/username needs fn.valkey.io/password-secret: SECRET/KEY beside it",
        ),
    ];
    for (annotations, expected) in cases {
        assert_eq!(outcome(&service("ClusterIP", annotations, None, json!([])), None, None), expected);
    }
    let lost = outcome(&service("ClusterIP", json!({}), None, json!([])), None, None);
    assert!(lost.contains("has no annotation fn.valkey.io/client-port"), "{lost}");
}

#[test]
fn only_what_is_needed_is_watched() {
    let needs = |kind: &str, annotations: Value| {
        let read = node_service(&service(kind, annotations, Some(30001), json!([]))).unwrap().1.unwrap();
        (needs_machine(&read), needed_gateway(&read).map(ToString::to_string))
    };
    assert_eq!(needs("NodePort", json!({})), (true, None));
    assert_eq!(needs("NodePort", json!({"fn.valkey.io/hostname": "a.example.com"})), (false, None));
    assert_eq!(needs("LoadBalancer", json!({})), (false, None));
    let gateway = json!({"fn.valkey.io/gateway": "infra/edge", "fn.valkey.io/client-port": "6401"});
    assert_eq!(needs("ClusterIP", gateway), (false, Some("infra/edge".to_owned())));
}

#[test]
fn the_operators_user_signs_in_unless_another_is_named() {
    let login = |annotations: Value| node_service(&service("NodePort", annotations, None, json!([]))).unwrap().1.unwrap().login;
    let own = login(json!({"fn.valkey.io/username": "announcer", "fn.valkey.io/password-secret": "my-secret/password"}));
    assert_eq!((own.username.as_str(), own.secret.as_str(), own.key.as_str()), ("announcer", "my-secret", "password"));
    let operator = login(json!({}));
    assert_eq!(
        (operator.username.as_str(), operator.secret.as_str(), operator.key.as_str()),
        ("_operator", "internal-cache-system-passwords", "_operator")
    );
}
