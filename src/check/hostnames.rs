//! One hostname in two clusters: fine while the ports differ, a trap otherwise.

use std::collections::{BTreeMap, HashMap};

use crate::finding::Finding;
use crate::plan::{Hostname, Port};
use crate::rule::Rule;
use crate::validate::{Exposed, Gateway};

/// The way in that a hostname leads to.
struct Claim<'e> {
    cluster: &'e Exposed,
    ports: Vec<Option<Port>>,
}

impl Claim<'_> {
    fn is_behind_gateway(&self) -> Option<&Gateway> {
        self.cluster.gateway.as_ref()
    }
}

pub(super) fn overlap(clusters: &[Exposed], findings: &mut Vec<Finding>) {
    let mut claims: HashMap<&Hostname, Vec<Claim<'_>>> = HashMap::new();
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
            let claim = Claim { cluster, ports };
            let others = claims.entry(hostname).or_default();
            // A cluster that is there twice has been reported.
            for other in others.iter().filter(|other| other.cluster.full_name() != cluster.full_name()) {
                let Some(finding) = judge(hostname, &claim, other) else { continue };
                let pair = (other.cluster.order, cluster.order);
                let entry = pairs.entry(pair).or_insert((finding.clone(), 0));
                if finding.severity < entry.0.severity {
                    entry.0 = finding;
                }
                entry.1 = entry.1.saturating_add(1);
            }
            others.push(claim);
        }
    }
    for (mut finding, count) in pairs.into_values() {
        if count > 1 {
            finding.message = format!("{} (and {} more of their hostnames)", finding.message, count.saturating_sub(1));
        }
        findings.push(finding);
    }
}

fn judge(hostname: &Hostname, claim: &Claim<'_>, other: &Claim<'_>) -> Option<Finding> {
    let same_port = claim.ports.iter().flatten().find(|port| other.ports.contains(&Some(**port)));
    let unknown = claim.ports.contains(&None) || other.ports.contains(&None);
    let both_behind_gateways = claim.is_behind_gateway().is_some() && other.is_behind_gateway().is_some();
    let names = format!("clusters {} and {}", other.cluster.full_name(), claim.cluster.full_name());
    let way_out = "give one of them another `hostnamePrefix` or domain";
    let finding = if let Some(port) = same_port {
        let message = format!("{names} both announce {hostname} with port {port}: clients of one reach the other; {way_out}");
        Finding::error(Rule::HostnameOverlap, message)
    } else if unknown || !both_behind_gateways {
        let message = format!("{names} both announce {hostname}, which leads to one place, with ports that may be the same: {way_out}");
        Finding::warning(Rule::HostnameOverlap, message)
    } else {
        return None;
    };
    let prefix = claim.cluster.access.hostname_prefix.clone().unwrap_or_else(|| "shard".to_owned());
    Some(claim.cluster.finding(finding.at("spec.externalAccess.hostnamePrefix").current(prefix).proposed(claim.cluster.name())))
}
