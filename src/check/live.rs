//! `announce: Live`: what is not known before the cluster runs, and the controller has to find out.

use crate::api::{Announce, ServiceType};
use crate::finding::Finding;
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

/// A finding for each cluster of which something is left to the controller.
#[must_use]
pub fn left_to_the_controller(clusters: &[Exposed], config: &Config) -> Vec<Finding> {
    if config.announce != Some(Announce::Live) {
        return Vec::new();
    }
    clusters.iter().filter_map(finding).collect()
}

fn finding(cluster: &Exposed) -> Option<Finding> {
    let mut unknown = Vec::new();
    if cluster.plan.nodes().any(|node| node.client_port.is_none()) {
        unknown.push("the NodePorts that Kubernetes allocates");
    }
    if cluster.plan.cluster.domain.is_none() {
        unknown.push(match (&cluster.gateway, cluster.service.service_type) {
            (Some(_), _) => "the address of the Gateway",
            (None, ServiceType::LoadBalancer) => "the address of each node's load balancer",
            (None, _) => "the address of the Kubernetes node that each pod is on",
        });
    }
    if unknown.is_empty() {
        return None;
    }
    let message = format!("the controller finds out and announces {}: nothing to do, if it runs", unknown.join(" and "));
    Some(cluster.finding(Finding::info(Rule::LiveFinds, message)))
}
