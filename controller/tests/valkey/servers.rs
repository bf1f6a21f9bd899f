//! Starts servers, and asks them as a client does.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use expose_valkey_controller::live::server::Server;
use expose_valkey_controller::live::trust::Trust;
use redis::Value;
use tempfile::TempDir;
use tokio::net::TcpSocket;

use crate::certificates::Signed;

/// The operator's user as the operator makes it, one that may set and read configuration only, and one that may not.
const USERS: &str = "user default on nopass ~* &* +@all
user _operator on >secret -@all +config|get +config|set +cluster|info
user announcer on >secret -@all +config|get +config|set
user reader on >secret -@all +config|get
user off off >secret +@all
";

/// A running server, gone with the value.
pub struct Running {
    process: Child,
    folder: TempDir,
    pub address: SocketAddr,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    /// One without TLS.
    pub fn plain() -> Self {
        Self::start(&[], |port, _| format!("port {port}\n"))
    }

    /// One with TLS, as the operator sets it up.
    pub fn tls(certificate: &Signed) -> Self {
        let files = [("tls.crt", certificate.pem.as_str()), ("tls.key", certificate.key.as_str()), ("ca.crt", certificate.ca.as_str())];
        Self::start(&files, |port, folder| {
            format!(
                "port 0\ntls-port {port}\ntls-cluster yes\ntls-auth-clients optional\n\
                 tls-cert-file {folder}/tls.crt\ntls-key-file {folder}/tls.key\ntls-ca-cert-file {folder}/ca.crt\n"
            )
        })
    }

    fn start(files: &[(&str, &str)], config: impl Fn(u16, &str) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        for (name, text) in files {
            write(name, text);
        }
        write("users.acl", USERS);
        let dir = folder.path().to_str().unwrap();
        let address = free();
        let common = format!("bind 127.0.0.1\ncluster-enabled yes\naclfile {dir}/users.acl\ndir {dir}\nsave \"\"\n");
        write("valkey.conf", &(common + &config(address.port(), dir)));
        let process = Command::new("valkey-server")
            .arg(folder.path().join("valkey.conf"))
            .stdout(std::fs::File::create(folder.path().join("log")).unwrap())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("valkey-server must be on the PATH");
        let mut running = Self { process, folder, address };
        running.wait();
        running
    }

    fn wait(&mut self) {
        for _ in 0..200 {
            if std::net::TcpStream::connect(self.address).is_ok() {
                return;
            }
            let ended = self.process.try_wait().unwrap();
            assert!(ended.is_none(), "valkey-server ended: {}", std::fs::read_to_string(self.folder.path().join("log")).unwrap());
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("valkey-server does not answer: {}", std::fs::read_to_string(self.folder.path().join("log")).unwrap());
    }

    /// As the controller sees it, without TLS.
    pub fn server(&self, username: &str, password: &str) -> Server {
        Server { address: self.address, trust: None, username: username.into(), password: password.into() }
    }

    /// As the controller sees it, with TLS: trusting this CA.
    pub fn trusting(&self, ca: &str) -> Server {
        let trust = Trust::new("team", "cache", "cache-tls", ca.as_bytes()).unwrap();
        Server { trust: Some(trust), ..self.server("_operator", "secret") }
    }

    /// What `CLUSTER SLOTS` tells a client of the server that has all slots: host and port.
    pub async fn told_to_clients(&self) -> (String, i64) {
        let client = redis::Client::open(format!("redis://{}", self.address)).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let _: Result<(), _> = redis::cmd("CLUSTER").arg("ADDSLOTSRANGE").arg(0).arg(16383).query_async(&mut connection).await;
        let slots: Value = redis::cmd("CLUSTER").arg("SLOTS").query_async(&mut connection).await.unwrap();
        let nodes: Vec<(i64, i64, (Option<String>, i64, String, Value))> = redis::from_redis_value(slots).unwrap();
        let (_, _, (host, port, _, _)) = nodes.into_iter().next().unwrap();
        (host.unwrap_or_default(), port)
    }
}

/// An address for a server to open, that nobody uses: below the ports that the system gives to whoever asks for any,
/// so that no connection and no listener of another test takes it before the server does. 10,000 above it is the port of the cluster bus.
fn free() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Other runs of these tests at the same time begin elsewhere.
    let begin = std::process::id() as u16 % 200 * 50;
    loop {
        let port = 11_000 + (begin + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        if [port, port + 10_000].iter().all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()) {
            return (Ipv4Addr::LOCALHOST, port).into();
        }
    }
}

/// An address that nobody listens at, nor will while the socket is held.
pub fn refusing() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// A server that gives these answers to one request after the other, whatever is asked, and then no more.
pub fn answering(answers: &'static [&'static [u8]]) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().flatten() {
            for answer in answers {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer);
            }
            open.push(stream);
        }
    });
    address
}
