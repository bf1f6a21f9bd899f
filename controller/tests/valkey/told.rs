//! Servers that are told, and what clients see then.

use expose_valkey_controller::live::settings::Settings;
use expose_valkey_controller::live::source::{Announcement, Host};

use crate::certificates::{NAME, signed};
use crate::servers::Running;

fn address(last: u8, port: u16, tls: bool) -> Settings {
    Settings::of(&Announcement { host: Host::Addresses { v4: Some([192, 0, 2, last].into()), v6: None }, port, tls })
}

fn name(port: u16) -> Settings {
    Settings::of(&Announcement { host: Host::Name("shard-0.example.com".into()), port, tls: false })
}

#[tokio::test]
async fn clients_are_sent_where_the_server_was_told() {
    let running = Running::plain();
    let server = running.server("_operator", "secret");
    server.settle(&address(1, 30001, false), true).await.unwrap();
    assert_eq!(running.told_to_clients().await, ("192.0.2.1".into(), 30001));

    server.settle(&name(30002), true).await.unwrap();
    assert_eq!(running.told_to_clients().await, ("shard-0.example.com".into(), 30002));

    let back = server.settle(&Settings::defaults(), true).await.unwrap();
    assert_eq!(back.len(), 3, "hostname, endpoint type and port were set: {back:?}");
    assert_eq!(running.told_to_clients().await.1, i64::from(running.address.port()));
}

#[tokio::test]
async fn only_what_differs_is_set() {
    let running = Running::plain();
    let server = running.server("_operator", "secret");
    server.settle(&address(1, 30001, false), true).await.unwrap();
    assert_eq!(server.settle(&address(1, 30001, false), true).await, Ok(vec![]));
    let changes = server.settle(&address(1, 30009, false), true).await.unwrap();
    assert_eq!(changes, [("cluster-announce-client-port", "30009".to_owned())]);
}

#[tokio::test]
async fn a_dry_run_sets_nothing() {
    let running = Running::plain();
    let server = running.server("_operator", "secret");
    let would = server.settle(&address(1, 30001, false), false).await.unwrap();
    assert_eq!(would.len(), 2, "{would:?}");
    assert_eq!(running.told_to_clients().await.1, i64::from(running.address.port()));
}

#[tokio::test]
async fn a_user_gets_by_with_reading_and_setting_configuration() {
    let running = Running::plain();
    running.server("announcer", "secret").settle(&address(1, 30001, false), true).await.unwrap();
    assert_eq!(running.told_to_clients().await, ("192.0.2.1".into(), 30001));
}

#[tokio::test]
async fn a_server_with_tls_is_verified_by_the_name_of_its_cluster() {
    let certificate = signed(&[NAME, "localhost"], 2100);
    let running = Running::tls(&certificate);
    let server = running.trusting(&certificate.ca);
    let changes = server.settle(&address(1, 6443, true), true).await.unwrap();
    assert!(changes.contains(&("cluster-announce-client-tls-port", "6443".to_owned())), "{changes:?}");
    assert_eq!(server.settle(&address(1, 6443, true), true).await, Ok(vec![]));
}
