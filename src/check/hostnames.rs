//! One hostname in two clusters: fine while the ports differ, a trap otherwise.

use std::collections::{BTreeMap, HashMap};

use crate::finding::Finding;
use crate::plan::{Hostname, Port};
use crate::rule::Rule;
use crate::validate::Exposed;

/// Who was first to announce a hostname, in each way that another cluster may be at odds with.
#[derive(Default)]
struct Claims<'e> {
    any: Option<&'e Exposed>,
    without_gateway: Option<&'e Exposed>,
    with_unknown_port: Option<&'e Exposed>,
    by_port: HashMap<Port, &'e Exposed>,
}

/// A cluster is held against the first of those that have its hostname: one finding for each, however many share it.
pub(super) fn overlap(clusters: &[Exposed], findings: &mut Vec<Finding>) {
    let mut claims: HashMap<&Hostname, Claims<'_>> = HashMap::new();
    // By pair of clusters, so that ten shared names are one finding.
    let mut pairs: BTreeMap<(usize, usize), (Finding, usize)> = BTreeMap::new();
    for cluster in clusters {
        let mut ports: BTreeMap<&Hostname, Vec<Option<Port>>> = BTreeMap::new();
        for node in cluster.plan.nodes() {
            if let Some(hostname) = &node.hostname {
                ports.entry(hostname).or_default().push(node.client_port);
            }
        }
        for (hostname, ports) in ports {
            let claims = claims.entry(hostname).or_default();
            if let Some((other, finding)) = judge(hostname, cluster, &ports, claims) {
                let entry = pairs.entry((other.order, cluster.order)).or_insert((finding.clone(), 0));
                if finding.severity < entry.0.severity {
                    entry.0 = finding;
                }
                entry.1 = entry.1.saturating_add(1);
            }
            claims.any.get_or_insert(cluster);
            if cluster.gateway.is_none() {
                claims.without_gateway.get_or_insert(cluster);
            }
            for port in ports {
                match port {
                    Some(port) => drop(claims.by_port.entry(port).or_insert(cluster)),
                    None => drop(claims.with_unknown_port.get_or_insert(cluster)),
                }
            }
        }
    }
    for (mut finding, count) in pairs.into_values() {
        if count > 1 {
            finding.message = format!("{} (and {} more of their hostnames)", finding.message, count.saturating_sub(1));
        }
        findings.push(finding);
    }
}

fn judge<'e>(hostname: &Hostname, cluster: &Exposed, ports: &[Option<Port>], claims: &Claims<'e>) -> Option<(&'e Exposed, Finding)> {
    // A cluster that is there twice has been reported.
    let is_other = |other: &&Exposed| other.full_name() != cluster.full_name();
    let same_port = ports.iter().flatten().find_map(|port| Some((port, claims.by_port.get(port).copied().filter(is_other)?)));
    let names = |other: &Exposed| format!("clusters {} and {}", other.full_name(), cluster.full_name());
    let way_out = "give one of them another `hostnamePrefix` or domain";
    let (other, finding) = if let Some((port, other)) = same_port {
        let message = format!("{} both announce {hostname} with port {port}: clients of one reach the other; {way_out}", names(other));
        (other, Finding::error(Rule::HostnameOverlap, message))
    } else {
        let at_odds_with_all = ports.contains(&None) || cluster.gateway.is_none();
        let others = if at_odds_with_all { [claims.any, None] } else { [claims.with_unknown_port, claims.without_gateway] };
        let other = others.into_iter().flatten().find(is_other)?;
        let message =
            format!("{} both announce {hostname}, which leads to one place, with ports that may be the same: {way_out}", names(other));
        (other, Finding::warning(Rule::HostnameOverlap, message))
    };
    let prefix = cluster.access.hostname_prefix.clone().unwrap_or_else(|| "shard".to_owned());
    Some((other, cluster.finding(finding.at("spec.externalAccess.hostnamePrefix").current(prefix).proposed(cluster.name()))))
}
