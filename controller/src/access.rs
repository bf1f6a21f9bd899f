//! What the controller may do in Kubernetes: the one table that `deploy/` is compared with. Who adds a request to the code
//! adds a line here.

/// Where a right is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In every namespace that is watched.
    Watched,
    /// In the controller's own namespace.
    Home,
    /// In no namespace: what belongs to the whole cluster.
    Whole,
    /// In the namespaces of clusters that announce live, and for Secrets that are named there.
    Named,
}

/// Verbs on one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    /// Where.
    pub place: Place,
    /// API group; empty for the core.
    pub group: &'static str,
    /// Resource, with its subresource.
    pub resource: &'static str,
    /// Only the object of this name; none: all.
    pub name: Option<&'static str>,
    /// What may be done.
    pub verbs: &'static [&'static str],
}

const fn right(place: Place, group: &'static str, resource: &'static str, verbs: &'static [&'static str]) -> Right {
    Right { place, group, resource, name: None, verbs }
}

/// All rights. What is not here is refused by the API server.
pub const RIGHTS: [Right; 12] = [
    // Both jobs: which clusters there are. `once` and `status` list, `run` watches.
    right(Place::Watched, "valkey.io", "valkeyclusters", &["list", "watch"]),
    // Read-back: what it reads, and the two fields that it applies. No `create`: an apply must not make what is gone.
    right(Place::Watched, "", "services", &["list", "watch"]),
    right(Place::Watched, "valkey.io", "valkeyclusters/status", &["patch"]),
    right(Place::Watched, "valkey.io", "valkeynodes", &["list", "watch", "patch"]),
    // Live announcement: the servers, and what gives them an address. Services are above.
    right(Place::Watched, "", "pods", &["list", "watch"]),
    right(Place::Watched, "gateway.networking.k8s.io", "gateways", &["list", "watch"]),
    right(Place::Whole, "", "nodes", &["list", "watch"]),
    right(Place::Named, "", "secrets", &["get"]),
    // Live announcement remembers what it told each server.
    right(Place::Home, "", "configmaps", &["list", "create", "patch", "delete"]),
    // Both tell what they do.
    right(Place::Watched, "events.k8s.io", "events", &["create"]),
    // Of two replicas one works. A right to create cannot be bound to a name.
    right(Place::Home, "coordination.k8s.io", "leases", &["create"]),
    Right { place: Place::Home, group: "coordination.k8s.io", resource: "leases", name: Some(crate::NAME), verbs: &["get", "update"] },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// A right as it is compared: place, group, resource, name, verb.
    type Line = (Place, String, String, Option<String>, String);

    #[allow(clippy::disallowed_methods, reason = "a test may read its files")]
    fn documents(file: &str) -> Vec<Value> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        yaml_serde::Deserializer::from_str(&text).map(|document| serde::Deserialize::deserialize(document).unwrap()).collect()
    }

    fn texts(value: &Value) -> Vec<String> {
        value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    fn place_of(file: &str, role: &Value) -> Place {
        match (file, role["metadata"]["name"].as_str().unwrap()) {
            ("base/cluster-role.yaml", "expose-valkey-controller") => Place::Watched,
            ("base/cluster-role.yaml", "expose-valkey-controller-nodes") => Place::Whole,
            ("base/role.yaml", "expose-valkey-controller") => Place::Home,
            ("cluster-secrets/role.yaml", "expose-valkey-controller-secrets") => Place::Named,
            other => panic!("{other:?} is a role that nobody expects"),
        }
    }

    fn given() -> BTreeSet<Line> {
        let mut lines = BTreeSet::new();
        for file in ["base/cluster-role.yaml", "base/role.yaml", "cluster-secrets/role.yaml"] {
            for role in documents(file).iter().filter(|object| object["rules"].is_array()) {
                let place = place_of(file, role);
                for rule in role["rules"].as_array().unwrap() {
                    let names = texts(&rule["resourceNames"]);
                    assert!(place != Place::Named || !names.is_empty(), "Secrets must be named");
                    // Which Secrets is for the user to say.
                    let name = if place == Place::Named { None } else { names.first().cloned() };
                    assert!(names.len() <= 1, "{rule}");
                    for group in texts(&rule["apiGroups"]) {
                        for resource in texts(&rule["resources"]) {
                            let line = |verb| (place, group.clone(), resource.clone(), name.clone(), verb);
                            lines.extend(texts(&rule["verbs"]).into_iter().map(line));
                        }
                    }
                }
            }
        }
        lines
    }

    fn needed() -> BTreeSet<Line> {
        let lines = RIGHTS.iter().flat_map(|right| {
            let name = right.name.map(str::to_owned);
            let line =
                move |verb: &&str| (right.place, right.group.to_owned(), right.resource.to_owned(), name.clone(), (*verb).to_owned());
            right.verbs.iter().map(line)
        });
        lines.collect()
    }

    #[test]
    fn deploy_gives_what_the_code_needs_and_nothing_else() {
        let (given, needed) = (given(), needed());
        let missing: Vec<_> = needed.difference(&given).collect();
        let surplus: Vec<_> = given.difference(&needed).collect();
        assert!(missing.is_empty() && surplus.is_empty(), "missing in deploy/: {missing:#?}\nonly in deploy/: {surplus:#?}");
    }

    #[test]
    fn nothing_may_be_done_to_everything() {
        for (_, group, resource, _, verb) in given() {
            assert!([group, resource, verb].iter().all(|word| !word.contains('*')));
        }
    }
}
