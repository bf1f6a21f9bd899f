//! One running Valkey server: what it announces, and telling it something else.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ErrorKind, ProtocolVersion, RedisConnectionInfo, RedisError, ServerErrorKind};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::settings::{Change, DEFAULTS, Settings};
use super::trust::{Trust, Untrusted};

/// How long a server may take to accept a connection, and again for each answer. One that is this slow is asked again later.
const PATIENCE: Duration = Duration::from_secs(3);

/// A server, and who signs in.
#[derive(Clone)]
pub struct Server {
    /// The pod's address and port: never the outside one, which may lead to another server.
    pub address: SocketAddr,
    /// How its certificate is verified; `None`: no TLS.
    pub trust: Option<Trust>,
    /// The user.
    pub username: String,
    /// Its password.
    pub password: String,
}

/// Why a server could not be told.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum Failure {
    /// No connection, or no answer in time. Usual while a pod starts.
    #[error("does not answer at {address}: {why}")]
    Unreachable {
        /// Where it was looked for.
        address: SocketAddr,
        /// The reason, in words of the operating system.
        why: String,
    },
    /// It takes connections, but does not answer in TLS.
    #[error("accepts a connection but speaks no TLS at {0}, though the ValkeyCluster asks for it: is the pod from before that change?")]
    NotTls(SocketAddr),
    /// Its certificate does not verify.
    #[error("{0}")]
    Certificate(Untrusted),
    /// The user is not known, or has another password.
    #[error("refuses to sign in user \"{0}\": the user is unknown to it, switched off, or has another password")]
    Login(String),
    /// The user may not do this.
    #[error("does not let user \"{0}\" read and set its configuration: give the user `+config|get +config|set`")]
    Denied(String),
    /// It is too old.
    #[error("does not know {}: Valkey 9.0 or newer does. Set a newer `spec.image`", .0.join(", "))]
    Lacks(Vec<&'static str>),
    /// It refused for another reason.
    #[error("refuses: {0}")]
    Refused(String),
}

impl Failure {
    /// Whether it passes by itself: a pod that starts, a network that is slow.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::NotTls(_))
    }
}

impl Server {
    /// What has to change so that the server has these settings; with `set`, changes it too, all at once.
    ///
    /// # Errors
    /// Why that was not possible.
    pub async fn settle(&self, settings: &Settings, set: bool) -> Result<Vec<Change>, Failure> {
        let mut connection = self.connect().await?;
        let mut get = redis::cmd("CONFIG");
        get.arg("GET");
        for (key, _) in DEFAULTS {
            get.arg(key);
        }
        let current: HashMap<String, String> = get.query_async(&mut connection).await.map_err(|error| self.failure(&error))?;
        let changes = settings.difference(&current).map_err(Failure::Lacks)?;
        if set && !changes.is_empty() {
            let mut set = redis::cmd("CONFIG");
            set.arg("SET");
            for (key, value) in &changes {
                set.arg(*key).arg(value);
            }
            let () = set.query_async(&mut connection).await.map_err(|error| self.failure(&error))?;
        }
        Ok(changes)
    }

    /// Connects and signs in.
    async fn connect(&self) -> Result<MultiplexedConnection, Failure> {
        let stream = self.in_time(TcpStream::connect(self.address)).await?.map_err(|error| self.unreachable(&error))?;
        match &self.trust {
            None => self.sign_in(stream).await,
            Some(trust) => match self.in_time(trust.connect(stream)).await {
                Ok(Ok(stream)) => self.sign_in(stream).await,
                Ok(Err(error)) => Err(self.tls_failure(trust, &error)),
                // A server without TLS waits for the end of a line that never comes.
                Err(_) => Err(Failure::NotTls(self.address)),
            },
        }
    }

    async fn sign_in(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<MultiplexedConnection, Failure> {
        // The older protocol needs no HELLO, and without its name the library needs no CLIENT SETINFO: a user may get by with
        // CONFIG alone.
        let user = RedisConnectionInfo::default()
            .set_username(&self.username)
            .set_password(&self.password)
            .set_protocol(ProtocolVersion::RESP2)
            .set_skip_set_lib_name();
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let connect = MultiplexedConnection::new_with_config(&user, stream, config);
        let (connection, driver) = self.in_time(connect).await?.map_err(|error| self.failure(&error))?;
        // Ends with the connection.
        tokio::spawn(driver);
        Ok(connection)
    }

    async fn in_time<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let why = || Failure::Unreachable { address: self.address, why: format!("no answer in {} s", PATIENCE.as_secs()) };
        timeout(PATIENCE, future).await.map_err(|_| why())
    }

    fn unreachable(&self, why: &impl ToString) -> Failure {
        Failure::Unreachable { address: self.address, why: why.to_string() }
    }

    fn tls_failure(&self, trust: &Trust, error: &io::Error) -> Failure {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(why)) => Failure::Certificate(trust.untrusted(why)),
            Some(rustls::Error::InvalidMessage(_)) => Failure::NotTls(self.address),
            _ => self.unreachable(error),
        }
    }

    fn failure(&self, error: &RedisError) -> Failure {
        match error.kind() {
            ErrorKind::AuthenticationFailed => Failure::Login(self.username.clone()),
            ErrorKind::Server(ServerErrorKind::NoPerm) => Failure::Denied(self.username.clone()),
            ErrorKind::Io => self.unreachable(error),
            _ if error.is_timeout() || error.is_connection_dropped() => self.unreachable(error),
            _ => Failure::Refused(error.to_string()),
        }
    }
}
