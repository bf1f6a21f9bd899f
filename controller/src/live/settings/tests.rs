use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{DEFAULTS, Settings};
use crate::live::source::{Announcement, Host};

fn fresh() -> HashMap<String, String> {
    DEFAULTS.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

fn named(port: u16, tls: bool) -> Settings {
    Settings::of(&Announcement { host: Host::Name("shard-0.example.com".into()), port, tls })
}

fn changes(settings: &Settings, current: &HashMap<String, String>) -> Vec<String> {
    settings.difference(current).unwrap().into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

#[test]
fn a_hostname_is_announced_as_the_endpoint() {
    assert_eq!(
        changes(&named(30001, false), &fresh()),
        ["cluster-announce-hostname=shard-0.example.com", "cluster-preferred-endpoint-type=hostname", "cluster-announce-client-port=30001"]
    );
}

#[test]
fn a_cluster_with_tls_announces_the_port_of_tls() {
    assert_eq!(
        changes(&named(6443, true), &fresh()),
        [
            "cluster-announce-hostname=shard-0.example.com",
            "cluster-preferred-endpoint-type=hostname",
            "cluster-announce-client-tls-port=6443"
        ]
    );
}

#[test]
fn addresses_of_both_families_are_announced() {
    let host = Host::Addresses { v4: Some(Ipv4Addr::new(192, 0, 2, 1)), v6: Some(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)) };
    let settings = Settings::of(&Announcement { host, port: 30001, tls: false });
    assert_eq!(
        changes(&settings, &fresh()),
        ["cluster-announce-client-ipv4=192.0.2.1", "cluster-announce-client-ipv6=2001:db8::1", "cluster-announce-client-port=30001"]
    );
}

#[test]
fn a_hostname_that_gives_way_to_an_address_is_taken_back() {
    let mut current = fresh();
    current.extend([
        ("cluster-announce-hostname".to_owned(), "shard-0.example.com".to_owned()),
        ("cluster-preferred-endpoint-type".to_owned(), "hostname".to_owned()),
        ("cluster-announce-client-port".to_owned(), "30001".to_owned()),
    ]);
    let host = Host::Addresses { v4: Some(Ipv4Addr::new(192, 0, 2, 1)), v6: None };
    let settings = Settings::of(&Announcement { host, port: 30001, tls: false });
    assert_eq!(
        changes(&settings, &current),
        ["cluster-announce-hostname=", "cluster-preferred-endpoint-type=ip", "cluster-announce-client-ipv4=192.0.2.1"]
    );
}

#[test]
fn switched_off_means_back_to_what_a_fresh_server_has() {
    let mut current = fresh();
    let wanted = named(30001, false);
    for (key, value) in wanted.difference(&current).unwrap() {
        current.insert(key.to_owned(), value);
    }
    assert_eq!(changes(&wanted, &current), [""; 0], "a second pass has nothing to do");
    for (key, value) in Settings::defaults().difference(&current).unwrap() {
        current.insert(key.to_owned(), value);
    }
    assert_eq!(current, fresh());
}

#[test]
fn an_old_server_is_blamed_for_what_is_needed_only() {
    let current: HashMap<String, String> =
        [("cluster-announce-hostname", ""), ("cluster-preferred-endpoint-type", "ip")].map(|(k, v)| (k.into(), v.into())).into();
    assert_eq!(named(30001, false).difference(&current), Err(vec!["cluster-announce-client-port"]));
    assert_eq!(Settings::defaults().difference(&current), Ok(Vec::new()));
}

#[test]
fn the_address_among_the_nodes_is_never_touched() {
    assert!(DEFAULTS.iter().all(|(key, _)| *key != "cluster-announce-ip" && *key != "cluster-announce-bus-port"));
}
