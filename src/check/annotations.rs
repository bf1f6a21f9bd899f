//! Annotations of the Services: what cannot be the same for all shards, and placeholders that stand for nothing.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::rule::Rule;
use crate::validate::Exposed;

/// Annotations that ask for a fixed address. Every shard's Service has port 6379, so two of them cannot share one.
const FIXED_ADDRESS: [&str; 13] = [
    "metallb.io/loadBalancerIPs",
    "metallb.universe.tf/loadBalancerIPs",
    "lbipam.cilium.io/ips",
    "io.cilium/lb-ipam-ips",
    "kube-vip.io/loadbalancerIPs",
    "service.beta.kubernetes.io/aws-load-balancer-eip-allocations",
    "service.beta.kubernetes.io/aws-load-balancer-private-ipv4-addresses",
    "service.beta.kubernetes.io/azure-load-balancer-ipv4",
    "service.beta.kubernetes.io/azure-load-balancer-ipv6",
    "service.beta.kubernetes.io/azure-pip-name",
    "networking.gke.io/load-balancer-ip-addresses",
    "load-balancer.hetzner.cloud/name",
    "service.beta.kubernetes.io/oci-load-balancer-reserved-ip",
];
const EXTERNAL_DNS: [&str; 2] = ["external-dns.alpha.kubernetes.io/hostname", "external-dns.alpha.kubernetes.io/internal-hostname"];

pub(super) fn of_services(cluster: &Exposed, findings: &mut Vec<Finding>) {
    for (key, value) in &cluster.service.annotations {
        as_it_stands(cluster, key, value, findings);
        let fixed_address = FIXED_ADDRESS.contains(&key.as_str());
        if cluster.plan.cluster.domain.is_none() && value.contains("{hostname}") && !value.contains("{{hostname}}") {
            let message = format!(
                "annotation `{key}` asks for `{{hostname}}`, and the cluster has none: set `domain`, or write `{{{{hostname}}}}` if that very text is meant"
            );
            let finding = Finding::warning(Rule::HostnameWithoutDomain, message).current(value.clone());
            findings.push(cluster.finding_of_annotation(key, finding));
            continue;
        }
        if !fixed_address && !EXTERNAL_DNS.contains(&key.as_str()) {
            continue;
        }
        let mut values: BTreeMap<String, usize> = BTreeMap::new();
        for shard in &cluster.plan.shards {
            let count = values.entry(cluster.annotation_for(value, shard)).or_default();
            *count = count.saturating_add(1);
        }
        let Some((value, count)) = values.into_iter().find(|(_, count)| *count > 1) else { continue };
        let finding = if fixed_address {
            let message = format!(
                "{count} Services carry the same address `{value}` in annotation `{key}`, and all of them use ports from 6379 on: at most one can be served; write it in the functionConfig's `serviceAnnotations`, with `{{shard}}` in the value, so that each shard has an address of its own"
            );
            Finding::warning(Rule::SameAddress, message)
        } else {
            let names: Vec<&str> =
                cluster.plan.shards.iter().filter_map(|shard| shard.hostname.as_ref().map(|name| name.as_str())).take(3).collect();
            let more = if cluster.plan.shards.len() > names.len() { ", …" } else { "" };
            let (way_out, proposed) = match names.as_slice() {
                [] => ("write it in the functionConfig's `serviceAnnotations`, with `{shard}` in the value, so that each shard has a name of its own".to_owned(), None),
                names => (format!("it must be {}{more}: write `{{hostname}}` in the functionConfig's `serviceAnnotations`", names.join(", ")), Some("{hostname}")),
            };
            let message = format!(
                "{count} Services carry the same name `{value}` in annotation `{key}`: clients that are sent to one shard reach any; {way_out}"
            );
            let mut finding = Finding::warning(Rule::SameDnsName, message);
            finding.proposed = proposed.map(Into::into);
            finding
        };
        findings.push(cluster.finding_of_annotation(key, finding.current(value)));
    }
}

/// A placeholder in the cluster's own annotations is one in the operator's eyes too, and there it is just text.
fn as_it_stands(cluster: &Exposed, key: &str, value: &str, findings: &mut Vec<Finding>) {
    let Some(shard) = cluster.plan.shards.first() else { return };
    let rendered = cluster.annotation_for(value, shard);
    if rendered == value || cluster.is_given(&["serviceAnnotations", key]) {
        return;
    }
    let message = format!(
        "annotation `{key}` is `{rendered}` on the Service of the first shard, but the operator, which knows no placeholders, writes `{value}` over it: move it to the functionConfig, `spec.clusters[].externalAccess.serviceAnnotations`"
    );
    let finding = Finding::warning(Rule::PlaceholderInCluster, message).current(value);
    findings.push(cluster.finding_of_annotation(key, finding));
}
