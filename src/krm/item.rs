//! One item of a list: a place in its text.

use std::ops::Range;

use super::yaml::Node;

/// One item.
#[derive(Debug)]
pub struct Item<'a> {
    /// `apiVersion` and `kind`, where they are plain to see; otherwise the item must be read.
    pub head: Option<(&'a str, &'a str)>,
    /// Its lines in block style, or its value in flow style.
    pub range: Range<usize>,
    /// Its tree, where the whole list was parsed.
    pub(super) node: Option<Node<'a>>,
}
