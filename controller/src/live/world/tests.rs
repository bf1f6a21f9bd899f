use super::{Change, World};
use crate::live::facts::{Address, Kind, Login, NodeKey, NodeService, Ref, ServerPod};

fn key(node: u32) -> NodeKey {
    NodeKey::new("team", "cache", 0, node)
}

fn service(node_port: u16, gateway: Option<&str>) -> Change {
    let read = NodeService {
        name: "valkey-cache-0-0".into(),
        kind: Kind::NodePort,
        port_name: "vk-n0".into(),
        port: 6379,
        target: None,
        node_port: Some(node_port),
        ingress: vec![],
        hostname: None,
        client_port: None,
        gateway: gateway.and_then(Ref::parse),
        node_address_types: vec!["InternalIP".into()],
        login: Login { username: "_operator".into(), secret: "s".into(), key: "k".into() },
    };
    Change::Service(key(0), read.name.clone(), Some(Ok(read)))
}

fn pod(name: &str, created: &str, leaving: bool) -> Change {
    let read = ServerPod {
        name: name.into(),
        uid: format!("uid of {name}"),
        created: created.into(),
        ip: None,
        machine: Some("worker-1".into()),
        ports: vec![],
        restarts: 0,
        ready: false,
        leaving,
    };
    Change::Pod(key(0), name.into(), Some(read))
}

fn machine(address: &str) -> Change {
    Change::Machine("worker-1".into(), Some(vec![("InternalIP".into(), Address::Ip(address.parse().unwrap()))]))
}

#[test]
fn what_says_the_same_again_is_no_change() {
    let world = World::default();
    assert_eq!(world.take(service(30001, None)), [key(0)]);
    assert_eq!(world.take(service(30001, None)), []);
    assert_eq!(world.take(service(30002, None)), [key(0)], "a Service that was made again has another port");
    assert_eq!(world.take(service(30002, None).removal()), [key(0)]);
    assert!(!world.has_service(&key(0)));
}

#[test]
fn a_machine_concerns_the_nodes_whose_pods_it_runs() {
    let world = World::default();
    world.take(service(30001, None));
    assert_eq!(world.take(machine("192.0.2.1")), [], "nobody runs there");
    world.take(pod("valkey-cache-0-0-0", "2026-11-30T10:00:00Z", false));
    assert_eq!(world.take(machine("192.0.2.2")), [key(0)]);
    assert_eq!(world.take(machine("192.0.2.2")), []);
}

#[test]
fn a_gateway_concerns_the_nodes_that_it_leads_to() {
    let world = World::default();
    world.take(service(30001, Some("infra/edge")));
    let gateway = |name| Change::Gateway(Ref::new("infra", name), Some(vec![]));
    assert_eq!(world.take(gateway("other")), []);
    assert_eq!(world.take(gateway("edge")), [key(0)]);
    assert_eq!(world.behind_gateways().into_iter().collect::<Vec<_>>(), [Ref::new("team", "cache")]);
}

#[test]
fn of_two_pods_the_newer_that_stays_is_told() {
    let world = World::default();
    let seen = || world.seen(&key(0)).pod.map(|pod| pod.name);
    world.take(pod("old", "2026-11-30T10:00:00Z", false));
    world.take(pod("new", "2026-11-30T10:00:05Z", false));
    assert_eq!(seen().as_deref(), Some("new"));
    world.take(pod("new", "2026-11-30T10:00:05Z", true));
    assert_eq!(seen().as_deref(), Some("old"));
    world.take(pod("old", "2026-11-30T10:00:00Z", false).removal());
    assert_eq!(seen(), None, "a pod that leaves is left alone");
}
