//! The nearest known name for a misspelled one.

/// The name with the fewest changed letters, if it is near enough to be meant.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    known
        .map(|name| (distance(word, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Letters to insert, delete or replace (Levenshtein), case aside; two neighbours swapped count as two.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut before = row.first().copied().unwrap_or_default();
        let mut left = i.saturating_add(1);
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let replaced = before.saturating_add(usize::from(x != *y));
            left = replaced.min(above.saturating_add(1)).min(left.saturating_add(1));
            before = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names() {
        let known = ["enabled", "serviceType", "externalTrafficPolicy", "domain"];
        for (word, near) in [
            ("enbled", Some("enabled")),
            ("serviceTyp", Some("serviceType")),
            ("externalTrafficPolciy", Some("externalTrafficPolicy")),
            ("nodePortBase", None),
        ] {
            assert_eq!(nearest(word, known.into_iter()), near, "{word}");
        }
        assert_eq!(distance("externalAcess", "externalAccess"), 1);
    }
}
