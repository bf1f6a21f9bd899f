//! Annotations of the Services: what cannot be the same for all shards, and placeholders that stand for nothing.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::plan::{Hostname, Services};
use crate::render::FIXED_ADDRESS;
use crate::rule::Rule;
use crate::validate::Exposed;

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
        for value in values_of_services(cluster, value, !fixed_address) {
            let count = values.entry(value).or_default();
            *count = count.saturating_add(1);
        }
        let Some((value, count)) = values.into_iter().find(|(_, count)| *count > 1) else { continue };
        let finding = if fixed_address {
            let message = format!(
                "{count} Services carry the same address `{value}` in annotation `{key}`, and all of them use ports from 6379 on: at most one can be served; write it in the functionConfig's `serviceAnnotations`, with `{{shard}}` in the value, so that each shard has an address of its own"
            );
            Finding::warning(Rule::SameAddress, message)
        } else {
            let mut names: Vec<&str> = cluster.plan.nodes().filter_map(|node| node.hostname.as_ref().map(Hostname::as_str)).collect();
            names.dedup();
            let more = if names.len() > 3 { ", …" } else { "" };
            names.truncate(3);
            let (way_out, proposed) = match names.as_slice() {
                [] if cluster.plan.cluster.has_node_hostnames() => (
                    "write it in the functionConfig's `serviceAnnotations`, with `{shard}-{node}` in the value, so that each node has a name of its own"
                        .to_owned(),
                    None,
                ),
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
    let plan = &cluster.plan;
    let (rendered, whose, operator) = match plan.cluster.services {
        Services::PerShard => {
            let rendered = plan.shards.first().map(|shard| cluster.annotation_for(value, shard));
            (rendered, "shard", "the operator, which knows no placeholders, writes")
        }
        // The operator of today does not read the field: those words are for the one that will.
        Services::PerNode => {
            let rendered = plan.nodes().next().map(|node| cluster.annotation_for_node(value, node));
            (rendered, "node", "an operator that reads this field knows no placeholders, and would write")
        }
    };
    let Some(rendered) = rendered.filter(|rendered| rendered != value) else { return };
    if cluster.is_given(&["serviceAnnotations", key]) {
        return;
    }
    let message = format!(
        "annotation `{key}` is `{rendered}` on the Service of the first {whose}, but {operator} `{value}` over it: move it to the functionConfig, `spec.clusters[].externalAccess.serviceAnnotations`"
    );
    let finding = Finding::warning(Rule::PlaceholderInCluster, message).current(value);
    findings.push(cluster.finding_of_annotation(key, finding));
}

/// What the annotation says on Services that must not say the same. Nodes of a shard have different ports, so that their Services
/// may share an address; but where each node has a hostname of its own, each Service must have that.
fn values_of_services(cluster: &Exposed, value: &str, is_name: bool) -> Vec<String> {
    let plan = &cluster.plan;
    let of_node = |node| cluster.annotation_for_node(value, node);
    match plan.cluster.services {
        Services::PerShard => plan.shards.iter().map(|shard| cluster.annotation_for(value, shard)).collect(),
        Services::PerNode if is_name && plan.cluster.has_node_hostnames() => plan.nodes().map(of_node).collect(),
        Services::PerNode => plan.shards.iter().filter_map(|shard| shard.nodes.first()).map(of_node).collect(),
    }
}
