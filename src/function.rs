//! The KRM function: a ResourceList in, the same list out with what exposes its clusters.

use std::collections::HashSet;

use serde_json::Value;

use crate::expose::expose;
use crate::finding::{self, Finding};
use crate::krm::{Change, Pieces, ResourceList, annotations};
use crate::merge::merge;
use crate::object::Object;
use crate::rule::Rule;
use crate::select::{problem_finding, select};

/// What a run comes to.
#[derive(Debug)]
pub struct Output<'a> {
    /// The list to write: with an error among the findings, the items as they came; empty if the input could not be read.
    pub text: Pieces<'a>,
    /// What was found, in the order of the items.
    pub findings: Vec<Finding>,
}

impl Output<'_> {
    /// Whether the exit code must be 1.
    #[must_use]
    pub fn failed(&self) -> bool {
        finding::any_error(&self.findings)
    }
}

/// Runs the function over a ResourceList's text.
#[must_use]
pub fn run(input: &str) -> Output<'_> {
    let list = match ResourceList::read(input) {
        Ok(list) => list,
        Err(problems) => {
            let findings = problems.iter().map(|problem| problem_finding(input, problem)).collect();
            return Output { text: Pieces::default(), findings };
        }
    };
    let mut findings = Vec::new();
    let selection = select(&list, &mut findings);
    let config = list.function_config.as_ref().map(|read| Object::new(read.value.clone(), annotations::file(&read.value), 0));
    let mut exposure = expose(&selection.objects, config.as_ref());
    findings.append(&mut exposure.findings);
    let mut change = if finding::any_error(&findings) { Change::default() } else { merge(&list, &exposure, &selection, &mut findings) };
    finding::sort(&mut findings);
    if finding::any_error(&findings) {
        change = Change::default();
        findings.retain(|finding| finding.rule != Rule::StaleRemoved);
    }
    change.results = results(&list.results, &findings).filter(|_| !list.results_are_referred_to());
    let bom = if input.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let mut text = list.with(&change);
    if !bom.is_empty() {
        text.0.insert(0, bom.into());
    }
    Output { text, findings }
}

/// All of `results`, if they change: those that were there stay, so that a second run over the output changes nothing; but
/// an error of ours is judged anew.
fn results(present: &[Value], findings: &[Finding]) -> Option<Vec<Value>> {
    let is_own_error = |result: &Value| {
        let rule = result.pointer("/tags/rule").and_then(Value::as_str);
        let own = Rule::ALL.iter().any(|known| rule == Some(known.id()));
        own && result.get("severity").and_then(Value::as_str) == Some("error")
    };
    let mut results: Vec<Value> = present.iter().filter(|result| !is_own_error(result)).cloned().collect();
    let mut there: HashSet<String> = results.iter().map(Value::to_string).collect();
    results.extend(findings.iter().map(Finding::to_result).filter(|result| there.insert(result.to_string())));
    (results != present).then_some(results)
}
