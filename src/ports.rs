//! The table of ports as data: which node is reached by which name and port.

use serde_json::{Value, json};

use crate::validate::Exposed;

/// A row for each node of each cluster, in their order.
#[must_use]
pub fn rows(clusters: &[Exposed]) -> Value {
    let mut rows = Vec::new();
    for cluster in clusters {
        for shard in &cluster.plan.shards {
            for node in &shard.nodes {
                let gateway = cluster.gateway.as_ref().map(|gateway| {
                    json!({"name": gateway.name, "namespace": gateway.namespace.as_deref().or(cluster.namespace()), "port": node.listener_port.map(|port| port.get())})
                });
                rows.push(json!({
                    "cluster": cluster.name(),
                    "namespace": cluster.namespace(),
                    "shard": shard.index,
                    "node": node.index,
                    "hostname": shard.hostname.as_ref().map(|name| name.as_str()),
                    "clientPort": node.client_port.map(|port| port.get()),
                    "service": {"name": shard.service, "port": node.service_port, "type": cluster.service.service_type.as_str()},
                    "gateway": gateway,
                }));
            }
        }
    }
    Value::Array(rows)
}
