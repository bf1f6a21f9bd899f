//! Watches that have not shown yet all that there was when they began. Until then, what was not seen may be there all the same.

use std::collections::BTreeMap;

use crate::context::Scope;

/// How many of a job's watches are awaited, by namespace; `None`: they are for all namespaces. One that may not be watched keeps
/// no other waiting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pending(BTreeMap<Option<String>, usize>);

impl Pending {
    /// So many kinds are watched in each namespace of the scope.
    pub(crate) fn of(scope: &Scope, kinds: usize) -> Self {
        Self(scope.namespaces().into_iter().map(|namespace| (namespace, kinds)).collect())
    }

    /// One watch of this namespace has shown all: each may say so once.
    pub(crate) fn listed(&mut self, namespace: &Option<String>) {
        if let Some(count) = self.0.get_mut(namespace) {
            *count = count.saturating_sub(1);
        }
        self.0.retain(|_, count| *count > 0);
    }

    /// Whether something of this namespace may not have been seen yet.
    pub(crate) fn holds(&self, namespace: &str) -> bool {
        self.0.keys().any(|pending| pending.as_deref().is_none_or(|pending| pending == namespace))
    }

    /// Whether nothing is awaited any more.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_waits_for_its_own_watches_only() {
        let mut pending = Pending::of(&Scope::Namespaces(["a".to_owned(), "b".to_owned()].into()), 2);
        pending.listed(&Some("a".to_owned()));
        assert!(pending.holds("a") && pending.holds("b"));
        pending.listed(&Some("a".to_owned()));
        assert!(!pending.holds("a") && pending.holds("b") && !pending.is_empty());
    }

    #[test]
    fn watches_of_all_namespaces_concern_each() {
        let mut pending = Pending::of(&Scope::Cluster, 1);
        assert!(pending.holds("a"));
        pending.listed(&None);
        assert!(!pending.holds("a") && pending.is_empty());
    }
}
