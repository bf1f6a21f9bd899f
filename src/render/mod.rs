//! From a checked plan to objects. Nothing here can fail: whatever could go wrong was found before.

mod certificate;
mod command;
mod dns;
mod gitops;
mod gvk;
mod listeners;
mod metadata;
mod node_service;
mod route;
mod service;
mod valkey_node;

use serde_json::Value;

pub use certificate::certificate_names;
pub use command::server_container;
pub use gvk::{CERTIFICATE, DNS_ENDPOINT, Gvk, LISTENER_SET, SERVICE, TCP_ROUTE_V1, TCP_ROUTE_V1ALPHA2, TLS_ROUTE, VALKEY_NODE};
pub use listeners::{MAX_LISTENERS, gateway_listener, gateway_listener_prefix_of, is_gateway_listener, is_gateway_listener_of};
pub use metadata::{CLUSTER_LABEL, EXTENSION_LABEL, EXTENSION_NODE_LABEL, EXTENSION_SHARD_LABEL, NODE_LABEL, SHARD_LABEL};
pub use service::FIXED_ADDRESS;

use crate::api::{Dns, Listeners};
use crate::validate::{Config, Exposed};

/// All objects of a cluster: Services (of shards, or of nodes where the operator makes none), ValkeyNodes, ListenerSets, routes, each by shard and node; then what there is one of.
/// Routes come out in the version given, if any.
#[must_use]
pub fn cluster(exposed: &Exposed, config: &Config, routes: Option<Gvk>) -> Vec<Value> {
    let mut objects = Vec::new();
    if config.services {
        if config.is_operator_managed() {
            objects.extend(exposed.plan.nodes().map(|node| node_service::service(exposed, config, node)));
        } else {
            objects.extend(exposed.plan.shards.iter().map(|shard| service::service(exposed, config, shard)));
        }
        objects.extend((exposed.access.bootstrap_service == Some(true)).then(|| service::bootstrap(exposed)));
    }
    if config.valkey_nodes {
        let template = valkey_node::Template::new(exposed);
        objects.extend(exposed.plan.nodes().map(|node| template.node(node, config)));
    }
    if let Some(gateway) = &exposed.gateway {
        if config.listeners == Listeners::ListenerSet {
            objects.extend(listeners::listener_sets(exposed, gateway));
        }
        if let Some(version) = routes {
            objects.extend(exposed.plan.nodes().map(|node| route::route(exposed, gateway, config, version, node)));
        }
    }
    if config.dns == Dns::DNSEndpoint && exposed.plan.cluster.domain.is_some() {
        objects.push(dns::endpoint(exposed));
    }
    if let Some(issuer) = &config.issuer {
        objects.extend(certificate::certificate(exposed, issuer));
    }
    objects
}
