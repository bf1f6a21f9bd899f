//! Groups, versions and kinds of what comes out. A table of our own, because bindings lag behind what clusters serve:
//! gateway-api types TCPRoute as v1alpha2 only, which the standard channel no longer serves since Gateway API 1.6.

/// `apiVersion` and `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gvk {
    /// Group and version.
    pub api_version: &'static str,
    /// Kind.
    pub kind: &'static str,
}

/// A Service.
pub const SERVICE: Gvk = Gvk { api_version: "v1", kind: "Service" };
/// The operator's object for one server.
pub const VALKEY_NODE: Gvk = Gvk { api_version: "valkey.io/v1alpha1", kind: "ValkeyNode" };
/// TLSRoute of Gateway API 1.5 and later.
pub const TLS_ROUTE: Gvk = Gvk { api_version: "gateway.networking.k8s.io/v1", kind: "TLSRoute" };
/// ListenerSet of Gateway API 1.5 and later.
pub const LISTENER_SET: Gvk = Gvk { api_version: "gateway.networking.k8s.io/v1", kind: "ListenerSet" };
/// DNS records of external-dns.
pub const DNS_ENDPOINT: Gvk = Gvk { api_version: "externaldns.k8s.io/v1alpha1", kind: "DNSEndpoint" };
/// A certificate of cert-manager.
pub const CERTIFICATE: Gvk = Gvk { api_version: "cert-manager.io/v1", kind: "Certificate" };
/// TCPRoute of Gateway API 1.6 and later.
pub const TCP_ROUTE_V1: Gvk = Gvk { api_version: "gateway.networking.k8s.io/v1", kind: "TCPRoute" };
/// TCPRoute of Gateway API 1.5 and earlier (experimental channel).
pub const TCP_ROUTE_V1ALPHA2: Gvk = Gvk { api_version: "gateway.networking.k8s.io/v1alpha2", kind: "TCPRoute" };
