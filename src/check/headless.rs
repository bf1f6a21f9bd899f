//! The operator gives each cluster a headless Service, `valkey-<cluster>`: the name of another cluster's Service, if clusters are
//! named so.

use std::collections::HashMap;

use crate::finding::Finding;
use crate::object::Object;
use crate::plan::{self, Node, Services, Shard};
use crate::rule::Rule;
use crate::validate::{Config, Exposed};

pub(super) fn services(clusters: &[Exposed], config: &Config, objects: &[Object], findings: &mut Vec<Finding>) {
    // Exposed or not: the operator makes it for each.
    let is_cluster = |object: &&Object| object.group() == "valkey.io" && object.reference.kind == "ValkeyCluster";
    let all = objects.iter().filter(is_cluster).chain(config.cluster.as_ref());
    let headless: HashMap<(Option<&str>, String), &Object> =
        all.map(|object| ((object.reference.namespace.as_deref(), plan::headless_name(&object.reference.name)), object)).collect();
    for cluster in clusters {
        for (what, name) in service_names(cluster) {
            let Some(other) = headless.get(&(cluster.namespace(), name.clone())) else { continue };
            let message = format!(
                "the headless Service that the operator makes for it would be `{name}`, which is {what} of cluster {}: give one of the clusters another name",
                cluster.full_name()
            );
            let finding = Finding::error(Rule::HeadlessService, message).at("metadata.name").current(other.reference.name.clone());
            findings.push(other.finding(finding));
        }
    }
}

/// Services that are rendered for a cluster, and what each is.
fn service_names(cluster: &Exposed) -> impl Iterator<Item = (String, String)> + '_ {
    let name = cluster.name();
    let of_shard = move |shard: &Shard| (format!("the Service of shard {}", shard.index), plan::service_name(name, shard.index));
    let of_node = move |node: &Node| (format!("the Service of node {}", node.name), plan::node_service_name(name, node.shard, node.index));
    let (shards, nodes) = match cluster.plan.cluster.services {
        Services::PerShard => (Some(cluster.plan.shards.iter().map(of_shard)), None),
        Services::PerNode => (None, Some(cluster.plan.nodes().map(of_node))),
    };
    let bootstrap = cluster.access.bootstrap_service == Some(true);
    let bootstrap = bootstrap.then(|| ("the bootstrap Service".to_owned(), plan::bootstrap_name(name)));
    shards.into_iter().flatten().chain(nodes.into_iter().flatten()).chain(bootstrap)
}
