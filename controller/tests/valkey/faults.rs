//! Servers that cannot be told, and what the person who must act reads.

use std::time::{Duration, Instant};

use expose_valkey_controller::live::server::{Failure, Server};
use expose_valkey_controller::live::settings::Settings;
use expose_valkey_controller::live::source::{Announcement, Host};
use expose_valkey_controller::live::trust::Trust;

use crate::certificates::{NAME, signed};
use crate::servers::{Running, answering, refusing};

fn wanted() -> Settings {
    Settings::of(&Announcement { host: Host::Name("shard-0.example.com".into()), port: 30001, tls: false })
}

async fn failure(server: &Server) -> String {
    server.settle(&wanted(), true).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_refused_login_names_the_user_and_not_the_password() {
    let running = Running::plain();
    for (username, password) in [("_operator", "guessed"), ("nobody", "secret"), ("off", "secret")] {
        let words = failure(&running.server(username, password)).await;
        assert_eq!(
            words,
            format!("refuses to sign in user \"{username}\": the user is unknown to it, switched off, or has another password")
        );
    }
}

#[tokio::test]
async fn a_user_without_the_right_is_told_which() {
    let running = Running::plain();
    assert_eq!(
        failure(&running.server("reader", "secret")).await,
        "does not let user \"reader\" read and set its configuration: give the user `+config|get +config|set`"
    );
}

#[tokio::test]
async fn a_value_that_the_server_refuses_comes_back_with_its_words() {
    let running = Running::plain();
    let settings = Settings::of(&Announcement { host: Host::Name("no name".into()), port: 30001, tls: false });
    let failure = running.server("_operator", "secret").settle(&settings, true).await.unwrap_err();
    assert!(failure.to_string().contains("Hostnames may only contain"), "{failure}");
}

#[tokio::test]
async fn certificates_that_do_not_verify_say_why() {
    let other = signed(&[NAME], 2100);
    let cases = [
        (signed(&[NAME], 2100), Some(&other.ca), "that `ca.crt` of Secret cache-tls has not signed"),
        (signed(&["localhost"], 2100), None, "without the name valkey-cache.team.svc.cluster.local"),
        (signed(&[NAME], 2021), None, "that is no longer valid"),
    ];
    for (certificate, ca, expected) in cases {
        let running = Running::tls(&certificate);
        let words = failure(&running.trusting(ca.unwrap_or(&certificate.ca))).await;
        assert!(words.contains(expected), "{words}");
        assert!(words.contains("Secret cache-tls"), "says where to act: {words}");
    }
}

#[test]
fn a_secret_without_a_certificate_is_named() {
    let why = |pem: &[u8]| Trust::new("team", "cache", "cache-tls", pem).err().unwrap();
    assert_eq!(why(b""), "key ca.crt of Secret cache-tls: must hold the certificate of the CA in PEM, got no certificate");
    assert!(why(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").starts_with("key ca.crt of Secret cache-tls: "));
}

#[tokio::test]
async fn a_server_without_tls_is_told_apart_from_one_that_does_not_answer() {
    let running = Running::plain();
    let words = failure(&running.trusting(&signed(&[NAME], 2100).ca)).await;
    assert!(words.starts_with("accepts a connection but speaks no TLS"), "{words}");
}

#[tokio::test]
async fn nobody_there_passes_by_itself() {
    let (_held, address) = refusing();
    let server = Server { address, trust: None, username: "_operator".into(), password: "secret".into() };
    let failure = server.settle(&wanted(), true).await.unwrap_err();
    assert!(failure.passes(), "{failure}");
    assert!(failure.to_string().contains("refused"), "{failure}");
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_in_time() {
    let server = Server { address: answering(&[]), trust: None, username: "_operator".into(), password: "secret".into() };
    let begun = Instant::now();
    let failure = server.settle(&wanted(), true).await.unwrap_err();
    assert!(failure.passes(), "{failure}");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_old_server_is_told_apart() {
    // Signed in; then of all settings that were asked for, it knows two, as Redis 7 does.
    const KNOWN: &[u8] = b"*4\r\n$25\r\ncluster-announce-hostname\r\n$0\r\n\r\n$31\r\ncluster-preferred-endpoint-type\r\n$2\r\nip\r\n";
    let server = Server { address: answering(&[b"+OK\r\n", KNOWN]), trust: None, username: "_operator".into(), password: "secret".into() };
    let failure = server.settle(&wanted(), true).await.unwrap_err();
    assert_eq!(failure, Failure::Lacks(vec!["cluster-announce-client-port"]));
    assert_eq!(failure.to_string(), "does not know cluster-announce-client-port: Valkey 9.0 or newer does. Set a newer `spec.image`");
}
