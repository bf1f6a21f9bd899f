//! What the objects that are asked for need of their cluster.

use crate::api::{Announce, Dns, Order};
use crate::finding::Finding;
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

pub(super) fn needs(cluster: &Exposed, config: &Config, findings: &mut Vec<Finding>) {
    let has_targets = cluster.access.dns_targets.as_ref().is_some_and(|targets| !targets.is_empty());
    if config.dns == Dns::DNSEndpoint && cluster.plan.cluster.domain.is_some() && !has_targets {
        let message = "`emit.dns: DNSEndpoint` needs to know where the hostnames lead: set `dnsTargets` in the functionConfig, to addresses or a name";
        findings.push(cluster.finding(Finding::error(Rule::DnsTargets, message).at("spec.externalAccess.dnsTargets")));
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
    if config.issuer.is_some() && cluster.tls {
        let message = format!(
            "the certificate needs the name `valkey-{}.NAMESPACE.svc.cluster.local`, or the cluster never forms, and the cluster has no namespace: set it here, not by kustomize",
            cluster.name()
        );
        findings.push(cluster.finding(Finding::error(Rule::NamespaceMissing, message).at("metadata.namespace")));
    }
}
