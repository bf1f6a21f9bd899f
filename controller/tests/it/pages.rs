//! The health port, asked over a real connection.

use std::time::Duration;

use expose_valkey_controller::health::{Health, listen, serve};
use expose_valkey_controller::metrics::{Job, Metrics};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

async fn get(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn it_is_ready_while_the_api_server_answers_and_counts_what_it_does() {
    let (health, metrics, stop) = (Health::default(), Metrics::default(), CancellationToken::new());
    let listener = listen(Some("127.0.0.1:0".parse().unwrap())).await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(serve(listener, health.clone(), metrics.clone(), stop.clone()));

    assert!(get(address, "/healthz").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(get(address, "/readyz").await.starts_with("HTTP/1.1 503 "), "the API server was not reached yet");
    health.sign(true);
    assert!(get(address, "/readyz").await.starts_with("HTTP/1.1 200 OK\r\n"));
    health.sign(false);
    assert!(get(address, "/readyz").await.ends_with("the API server was not reached\n"));
    assert!(get(address, "/elsewhere").await.starts_with("HTTP/1.1 404 "));

    metrics.reconciled(Job::ReadBack, false, Duration::from_millis(5));
    metrics.wrote(Job::Live, "server");
    let page = get(address, "/metrics").await;
    for line in [
        "expose_valkey_reconciles_total{job=\"read_back\",result=\"error\"} 1",
        "expose_valkey_writes_total{job=\"live\",kind=\"server\"} 1",
        "# EOF",
    ] {
        assert!(page.contains(line), "{line} is not in:\n{page}");
    }

    stop.cancel();
    server.await.unwrap();
}
