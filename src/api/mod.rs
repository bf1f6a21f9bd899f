//! What users write, field by field, and nothing that is worked out. The JSON Schema comes from these types, and so do the
//! checks of types, unknown keys and enums (`validate/shape.rs`), so that the two cannot drift apart.

mod external_access;
mod function_config;

pub use external_access::{
    EndpointType, ExternalAccess, Gateway, GatewayRef, IpFamilyPolicy, NodePorts, ServiceType, TrafficPolicy, extension_fields,
};
pub use function_config::{
    Announce, CertManager, Certificates, ClusterRule, Credentials, Dns, Emit, ExposeValkey, ExposeValkeySpec, GatewayApi, Gitops,
    IssuerRef, Listeners, Live, Mode, NodeAddressType, Order, Pinned, Prune, Routes, SecretKey, Selector, TcpRouteVersion,
};

/// Group and version of the operator's API.
pub const VALKEY_API: &str = "valkey.io/v1alpha1";
/// Group and version of this function's own configuration.
pub const CONFIG_API: &str = "fn.valkey.io/v1alpha1";
