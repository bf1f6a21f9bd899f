//! Certificates of Valkey servers, verified against the cluster's own CA.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Whom to trust, and the name that the certificate must hold: the server is reached by its pod's address, which no certificate
/// holds.
#[derive(Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// The Secret that the CA is from, for messages.
    secret: String,
}

/// A certificate that does not verify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untrusted {
    name: String,
    secret: String,
    why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    Issuer,
    Name,
    Expired,
    NotYet,
    Other(String),
}

impl Trust {
    /// Trusts the CA certificates of `pem`, which is `ca.crt` of the Secret `secret`, for the servers of one cluster.
    ///
    /// # Errors
    /// What is wrong with the Secret, in words.
    pub fn new(namespace: &str, cluster: &str, secret: &str, pem: &[u8]) -> Result<Self, String> {
        let wrong = |why: String| format!("key ca.crt of Secret {secret}: must hold the certificate of the CA in PEM, {why}");
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(wrong("got no certificate".into()));
        }
        // The name that the operator itself verifies, so that each working cluster has it.
        let name = format!("valkey-{cluster}.{namespace}.svc.cluster.local");
        let name = ServerName::try_from(name.clone()).map_err(|error| format!("{name} is no name for a certificate: {error}"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config), name, secret: secret.to_owned() })
    }

    /// Speaks TLS over a connection.
    pub(super) async fn connect(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        TlsConnector::from(Arc::clone(&self.config)).connect(self.name.clone(), stream).await
    }

    pub(super) fn untrusted(&self, why: &CertificateError) -> Untrusted {
        let why = match why {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Why::Issuer,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Why::Name,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Why::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Why::NotYet,
            other => Why::Other(other.to_string()),
        };
        Untrusted { name: self.name.to_str().into_owned(), secret: self.secret.clone(), why }
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, secret, why } = self;
        match why {
            Why::Issuer => write!(
                f,
                "has a certificate that `ca.crt` of Secret {secret} has not signed: put the CA of the certificate there, and restart the pod if the certificate is newer than it"
            ),
            Why::Name => write!(f, "has a certificate without the name {name}: add that name to the certificate of Secret {secret}"),
            Why::Expired => write!(f, "has a certificate that is no longer valid: renew the certificate of Secret {secret}"),
            Why::NotYet => write!(f, "has a certificate that is not valid yet: compare the clocks of its node and of this one"),
            Why::Other(words) => write!(f, "has a certificate that does not verify ({words}): renew the certificate of Secret {secret}"),
        }
    }
}
