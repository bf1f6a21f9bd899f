//! What the objects that are asked for need of their cluster.

use std::net::IpAddr;

use crate::api::{Announce, Dns, Listeners, Order};
use crate::finding::Finding;
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

pub(super) fn needs(cluster: &Exposed, config: &Config, findings: &mut Vec<Finding>) {
    let has_targets = cluster.access.dns_targets.as_ref().is_some_and(|targets| !targets.is_empty());
    if config.dns == Dns::DNSEndpoint && cluster.plan.cluster.domain.is_some() && !has_targets {
        let message = "`emit.dns: DNSEndpoint` needs to know where the hostnames lead: set `dnsTargets` in the functionConfig, to addresses or a name";
        findings.push(cluster.finding(Finding::error(Rule::DnsTargets, message).at("spec.externalAccess.dnsTargets")));
    }
    if config.dns == Dns::DNSEndpoint {
        targets(cluster, findings);
    }
    if cluster.namespace().is_some() {
        return;
    }
    if config.order == Order::Kpt {
        let message = "`gitops.order: Kpt` names objects with their namespace, and the cluster has none: set it";
        findings.push(cluster.finding(Finding::error(Rule::NamespaceMissing, message).at("metadata.namespace")));
    }
    if let (Some(Announce::Live), Some(gateway)) = (config.announce, cluster.gateway.as_ref().filter(|gateway| gateway.namespace.is_none()))
    {
        let message = format!(
            "`announce: Live` names Gateway {} with its namespace for the controller, and the cluster has none: set it, or `gatewayRef.namespace`",
            gateway.name
        );
        findings.push(cluster.finding(Finding::error(Rule::NamespaceMissing, message).at("metadata.namespace")));
    }
    if config.listeners == Listeners::Gateway && cluster.gateway_is_elsewhere() {
        let message = "the listeners that are added to a Gateway of another namespace let the routes of the cluster's namespace in, and the cluster has none: set it here, not by kustomize";
        findings.push(cluster.finding(Finding::error(Rule::NamespaceMissing, message).at("metadata.namespace")));
    }
    if config.issuer.is_some() && cluster.tls {
        let message = format!(
            "the certificate needs the name `valkey-{}.NAMESPACE.svc.cluster.local`, or the cluster never forms, and the cluster has no namespace: set it here, not by kustomize",
            cluster.name()
        );
        findings.push(cluster.finding(Finding::error(Rule::NamespaceMissing, message).at("metadata.namespace")));
    }
}

/// A name leads either to addresses or to one other name.
fn targets(cluster: &Exposed, findings: &mut Vec<Finding>) {
    let written = cluster.access.dns_targets.as_deref().unwrap_or_default();
    // Placeholders are the same for all but in their numbers.
    let Some((shard, node)) = cluster.plan.shards.first().and_then(|shard| Some((shard, shard.nodes.first()?))) else { return };
    let by_node = cluster.plan.cluster.has_node_hostnames();
    let replaced = |target: &String| match by_node {
        true => cluster.annotation_for_node(target, node),
        false => cluster.annotation_for(target, shard),
    };
    let (addresses, names): (Vec<_>, Vec<_>) = written.iter().map(replaced).partition(|target| target.parse::<IpAddr>().is_ok());
    let mut refuse = |message: String| {
        findings.push(cluster.finding(Finding::error(Rule::DnsTargets, message).at("spec.externalAccess.dnsTargets").current(written)));
    };
    for name in &names {
        let is_label = |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !name.trim_end_matches('.').split('.').all(is_label) {
            refuse(format!("`{name}` is neither an address nor a DNS name: write one of the two, without a port"));
        }
    }
    if names.len() > 1 || !(names.is_empty() || addresses.is_empty()) {
        refuse("a hostname leads to addresses, or to one other name, and not to both: leave one kind".to_owned());
    }
}
