//! Announced hostnames for external-dns: as annotations, or as records of their own.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::DNS_ENDPOINT;
use super::metadata::extension;
use crate::plan::{Hostname, Shard, external_name};
use crate::validate::Exposed;

const HOSTNAME: &str = "external-dns.alpha.kubernetes.io/hostname";

/// The hostname as external-dns reads it; one that the user has set stays.
pub(super) fn annotate(annotations: &mut BTreeMap<String, String>, hostname: Option<&Hostname>) {
    if let Some(hostname) = hostname {
        annotations.entry(HOSTNAME.to_owned()).or_insert_with(|| hostname.as_str().to_owned());
    }
}

/// A record for each announced hostname, by type of its targets.
pub(super) fn endpoint(exposed: &Exposed) -> Value {
    let mut endpoints = Vec::new();
    let mut record = |name: &Hostname, target_for: &dyn Fn(&str) -> String| {
        let mut targets: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for target in exposed.access.dns_targets.iter().flatten() {
            let target = target_for(target);
            targets.entry(record_type(&target)).or_default().push(target);
        }
        let entry = |(record, targets)| json!({"dnsName": name.as_str(), "recordType": record, "targets": targets});
        endpoints.extend(targets.into_iter().map(entry));
    };
    for shard in &exposed.plan.shards {
        if exposed.plan.cluster.has_node_hostnames() {
            let named = shard.nodes.iter().filter_map(|node| Some((node, node.hostname.as_ref()?)));
            named.for_each(|(node, name)| record(name, &|target| exposed.annotation_for_node(target, node)));
        } else if let Some(name) = &shard.hostname {
            record(name, &|target| exposed.annotation_for(target, shard));
        }
    }
    json!({
        "apiVersion": DNS_ENDPOINT.api_version,
        "kind": DNS_ENDPOINT.kind,
        "metadata": extension(exposed, external_name(exposed.name())),
        "spec": {"endpoints": endpoints},
    })
}

/// The names that the nodes of a shard announce.
pub(super) fn names(exposed: &Exposed, shard: &Shard) -> Vec<String> {
    if exposed.plan.cluster.has_node_hostnames() {
        shard.nodes.iter().filter_map(|node| node.hostname.as_ref().map(ToString::to_string)).collect()
    } else {
        shard.hostname.iter().map(ToString::to_string).collect()
    }
}

fn record_type(target: &str) -> &'static str {
    match target.parse() {
        Ok(IpAddr::V4(_)) => "A",
        Ok(IpAddr::V6(_)) => "AAAA",
        Err(_) => "CNAME",
    }
}
