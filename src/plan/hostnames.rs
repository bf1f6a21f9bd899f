//! Hostnames that nodes announce: `<prefix>-<shard>.<domain>`.

use std::fmt;

/// Longest DNS name.
const NAME: usize = 253;
/// Longest label of a DNS name.
const LABEL: usize = 63;

/// A DNS name of lower-case labels, without a dot at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Domain(String);

impl Domain {
    /// Takes a DNS name. One dot at the end, which marks a name as complete, is left out: clients look names up without it.
    ///
    /// # Errors
    /// What is wrong with it, in words that follow the value.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.contains("://") {
            return Err("is a URL: leave out everything but the host");
        }
        if name.contains(':') {
            return Err("has a port: ports come from the Services or the Gateway");
        }
        if name.starts_with("*.") {
            return Err("is a wildcard: write the domain that is under it, and keep the wildcard in DNS");
        }
        if name.len() > NAME {
            return Err("is longer than 253 characters");
        }
        if name.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err("has capitals: write it in lower case");
        }
        for label in name.split('.') {
            let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            if label.is_empty() {
                return Err("has an empty label");
            }
            if label.len() > LABEL {
                return Err("has a label of more than 63 characters");
            }
            if !label.bytes().all(inner) || label.starts_with('-') || label.ends_with('-') {
                return Err(
                    "is not a DNS name: labels are lower-case letters, digits and hyphens, and begin and end with a letter or digit",
                );
            }
        }
        Ok(Domain(name.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// First part of each shard's hostname.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostnamePrefix(String);

impl HostnamePrefix {
    /// Takes what the CRD takes: `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let ok = !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-');
        ok.then(|| HostnamePrefix(text.to_owned()))
    }

    /// The prefix.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for HostnamePrefix {
    /// The CRD's default.
    fn default() -> Self {
        HostnamePrefix("shard".to_owned())
    }
}

/// A name that a client looks up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hostname(String);

impl Hostname {
    /// `<prefix>-<shard>.<domain>`.
    #[must_use]
    pub fn of_shard(prefix: &HostnamePrefix, shard: u32, domain: &Domain) -> Self {
        Hostname(format!("{}-{shard}.{}", prefix.0, domain.0))
    }

    /// `<prefix>-<shard>-<node>.<domain>`: where one port serves all nodes, each needs a name of its own.
    #[must_use]
    pub fn of_node(prefix: &HostnamePrefix, shard: u32, node: u32, domain: &Domain) -> Self {
        Hostname(format!("{}-{shard}-{node}.{}", prefix.0, domain.0))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether DNS can hold it: 253 characters, the first label 63.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.0.len() <= NAME && self.0.split('.').next().is_some_and(|label| label.len() <= LABEL)
    }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains() {
        for good in ["kv.example.org", "kv.example.org.", "a", "xn--bcher-kva.example", "1.2.3"] {
            assert!(Domain::new(good).is_ok(), "{good}");
        }
        let long = "a".repeat(64);
        for bad in [
            "",
            ".",
            "https://kv.example.org",
            "*.example.org",
            "kv_prod.example.org",
            "kv.example.org:6379",
            "a..b",
            "Kv.example.org",
            "-a.org",
            &long,
        ] {
            assert!(Domain::new(bad).is_err(), "{bad}");
        }
        assert_eq!(Domain::new("kv.example.org.").unwrap().as_str(), "kv.example.org");
    }

    #[test]
    fn hostname_of_a_shard() {
        let domain = Domain::new("kv.example.org").unwrap();
        let name = Hostname::of_shard(&HostnamePrefix::default(), 2, &domain);
        assert_eq!(name.as_str(), "shard-2.kv.example.org");
        assert!(name.fits());
        let prefix = HostnamePrefix::new(&"a".repeat(62)).unwrap();
        assert!(!Hostname::of_shard(&prefix, 0, &domain).fits());
    }
}
