//! Certificates as cert-manager makes them: a CA, and what it signs.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};

/// The name that the operator verifies for cluster `cache` in namespace `team`.
pub const NAME: &str = "valkey-cache.team.svc.cluster.local";

/// A server's certificate, all in PEM.
pub struct Signed {
    pub pem: String,
    pub key: String,
    pub ca: String,
}

/// A certificate for these names, of a CA of its own.
pub fn signed(names: &[&str], until: i32) -> Signed {
    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.distinguished_name.push(DnType::CommonName, "test CA");
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let mut server = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
    server.not_before = date_time_ymd(2020, 1, 1);
    server.not_after = date_time_ymd(until, 1, 1);
    let certificate = server.signed_by(&key, &ca).unwrap();
    Signed { pem: certificate.pem(), key: key.serialize_pem(), ca: ca.pem() }
}
