//! One cluster that is there twice: what is rendered for it would be there twice too.

use std::collections::HashMap;

use crate::finding::Finding;
use crate::rule::Rule;
use crate::validate::Exposed;

pub(super) fn clusters(clusters: &[Exposed], findings: &mut Vec<Finding>) {
    let mut seen = HashMap::new();
    for cluster in clusters {
        let Some(first) = seen.insert((cluster.namespace(), cluster.name()), cluster) else { continue };
        let place = match (&first.file, &cluster.file) {
            (Some(first), Some(_)) => format!(", first in {}", first.path),
            _ => String::new(),
        };
        let message = format!("cluster {} is there twice{place}: its objects would be too; keep one of them", cluster.full_name());
        findings.push(cluster.finding(Finding::error(Rule::DuplicateCluster, message).at("metadata.name").current(cluster.name())));
    }
}
