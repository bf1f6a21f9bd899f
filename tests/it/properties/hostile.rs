//! Input that nobody writes by accident: it must end in words, soon, and never in a panic.

use std::time::{Duration, Instant};

use expose_valkey::krm::{ResourceList, manifests, yaml};
use expose_valkey::run;
use proptest::prelude::*;

use super::Template;
use crate::styled::{Wildness, for_tapes, mutated, runner};

const HEAD: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
const CLUSTER: &str = "- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata:\n    name: cache\n";

/// Far more than any of it takes, far less than what it would take if it were done the simple way.
const LIMIT: Duration = Duration::from_secs(5);

fn rules(name: &str, text: &str) -> Vec<&'static str> {
    let start = Instant::now();
    let output = run(text);
    // Whatever is wrong, the items come out, unless there is no list.
    assert_eq!(output.text.is_empty(), ResourceList::read(text).is_err(), "{name}");
    assert!(start.elapsed() < LIMIT, "{name} took {:?}", start.elapsed());
    output.findings.iter().map(|finding| finding.rule.id()).collect()
}

#[test]
fn any_text_is_read_without_panic() {
    let text = prop_oneof![
        any::<String>(),
        "[-a-z{}\\[\\],:&*#?|>'\"%@`! \n\t]{0,200}",
        "(- |  |a: |'|\"|\\[|\\{|&a |\\*a|\\||>|\n|# |\u{feff}|\r|\u{85}|\t|---\n|\\.\\.\\.\n|\\? |<<: |!!map |%TAG ){0,60}",
    ];
    let outcome = runner(1500).run(&text, |text: String| {
        for text in [
            text.clone(),
            format!("{HEAD}{text}"),
            format!("{HEAD}{CLUSTER}  spec: {text}"),
            format!("{HEAD}- {}", text.replace('\n', "\n  ")),
        ] {
            let _ = run(&text);
            for range in manifests::documents(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_list_that_was_cut_up_is_read_without_panic() {
    for_tapes(400, |choices, tape| {
        let template = Template::new(choices, tape, Wildness::Everywhere)?;
        let text = mutated(&template.text(2, true), choices);
        let output = run(&text);
        // What was YAML still is.
        let edited = output.text.to_string();
        let reads = |text: &str| yaml::parse(text.trim_start_matches('\u{feff}')).is_ok();
        if reads(&text) && !edited.is_empty() && !reads(&edited) {
            return Err(format!("of\n{text}\ncame\n{edited}"));
        }
        Ok(())
    });
}

#[test]
fn bombs_end_in_a_message() {
    let levels = |count: usize, width: usize| -> String {
        (1..count).map(|level| format!("    l{level}: &l{level} [{}]\n", vec![format!("*l{}", level - 1); width].join(", "))).collect()
    };
    let bomb = format!("  spec:\n    l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n{}", levels(12, 10));
    let chain = format!("  spec:\n    l0: &l0 [x]\n{}", levels(100_000, 1));
    let merges: String = (1..12)
        .map(|level| {
            format!(
                "    l{level}: &l{level} {{<<: [{}], k{level}: {{<<: *l{}}}}}\n",
                vec![format!("*l{}", level - 1); 9].join(", "),
                level - 1
            )
        })
        .collect();
    let merged = format!("  spec:\n    l0: &l0 {{a: 1}}\n{merges}");
    for (name, spec, expected) in [
        ("aliases", bomb.clone(), "budget"),
        ("a chain of aliases", chain, "budget"),
        ("merge keys", merged, "budget"),
        ("brackets", format!("  spec: {}", "[".repeat(100_000)), "budget"),
        ("closed brackets", format!("  spec: {}{}\n", "[".repeat(100_000), "]".repeat(100_000)), "budget"),
        ("braces", format!("  spec: {}", "{a: ".repeat(100_000)), "budget"),
        ("dashes", format!("  spec:\n  - {}a\n", "- ".repeat(100_000)), "budget"),
        ("question marks", format!("  spec:\n    {}a\n", "? ".repeat(100_000)), "budget"),
        ("an open quote", format!("  spec: \"{}", "a\n    ".repeat(100_000)), "yaml-syntax"),
        ("the same key", format!("  spec:\n{}", "    a: 1\n".repeat(50_000)), "duplicate-key"),
        ("anchors on anchors", format!("  spec: {}a\n", "&a ".repeat(50_000)), "yaml-syntax"),
        ("itself", "  spec: &a [*a]\n".to_owned(), "yaml-syntax"),
    ] {
        let text = format!("{HEAD}{CLUSTER}{spec}");
        let found = rules(name, &text);
        assert!(found.contains(&expected), "{name}: {found:?}");
        // The same where it only passes by: no error, or at worst one.
        rules(name, &text.replace("ValkeyCluster", "Cluster"));
        rules(name, &format!("\"x\": 1\n{}", text.replace("ValkeyCluster", "Cluster")));
    }
    let across = format!("x: &l0 [x, x, x, x, x, x, x, x, x, x]\nspec:\n{}{HEAD}{CLUSTER}  spec: *l9\n", levels(10, 10));
    assert!(rules("aliases across items", &across).contains(&"budget"));
}

#[test]
fn numbers_that_no_machine_holds_are_refused() {
    for number in ["1e400", "-1", "0", "99999999999999999999", "0x7fffffffffffffffffff", "1.5", "1e3000000000", "-0", "0b", ".5"] {
        for field in ["shards", "replicas"] {
            let text = format!("{HEAD}{CLUSTER}  spec:\n    shards: 1\n    replicas: 0\n    externalAccess: {{enabled: true}}\n")
                .replace(&format!("{field}: "), &format!("{field}: {number} # "));
            let found = rules(number, &text);
            let fits = field == "replicas" && matches!(number, "0" | "-0");
            assert_eq!(
                found.iter().any(|rule| matches!(*rule, "counts" | "wrong-type" | "out-of-range" | "wrong-value")),
                !fits,
                "{field}: {number}: {found:?}"
            );
        }
    }
    let digits = "9".repeat(1_000_000);
    assert!(!rules("digits", &format!("{HEAD}{CLUSTER}  spec:\n    shards: {digits}\n    externalAccess: {{enabled: true}}\n")).is_empty());
}

#[test]
fn much_of_one_thing_takes_no_more_than_its_share() {
    let access = "  spec: {shards: 1, externalAccess: {enabled: true}}\n";
    let keys: String = (0..30_000).map(|index| format!("k{index}: 1\n")).collect();
    let clusters: String = (0..1_000)
        .map(|index| format!("- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: c{index}}}\n  spec: *spec\n"))
        .collect();
    let shared = format!("x: &spec {{shards: 0}}\n{HEAD}{clusters}");
    let braces = format!(
        "{HEAD}{CLUSTER}  spec: {{shards: 1, externalAccess: {{enabled: true, serviceAnnotations: {{a: \"{}\"}}}}}}\n",
        "{".repeat(200_000)
    );
    for (name, text) in [
        ("keys of the list", format!("{keys}{HEAD}{CLUSTER}{access}")),
        ("keys of the list, parsed", format!("\"x\": 1\n{keys}{HEAD}{CLUSTER}{access}")),
        ("keys of an object", format!("{HEAD}{CLUSTER}{access}  data:\n    {}", keys.replace('\n', "\n    "))),
        ("users of one anchor", shared),
        ("braces in an annotation", braces),
        ("comments", format!("{HEAD}{}{CLUSTER}{access}{}", "# c\n".repeat(200_000), "# c\n".repeat(200_000))),
        ("blank lines", format!("{HEAD}{}{CLUSTER}{access}{}", "\n".repeat(200_000), "\n".repeat(200_000))),
        ("entries", format!("{HEAD}{CLUSTER}{access}{}", "- a\n".repeat(60_000))),
        ("markers", format!("---\n{HEAD}{CLUSTER}{access}{}", "...\n---\n".repeat(100_000))),
        ("a long line", format!("{HEAD}{CLUSTER}{access}  x: {}\n", "a ".repeat(1_000_000))),
        ("own objects", format!("{HEAD}{CLUSTER}{access}{}", "- apiVersion: v1\n  kind: Service\n  metadata: {name: valkey-cache-shard-0, labels: {valkey.io/cluster: cache, valkey.io/shard-index: \"0\"}}\n".repeat(1_000))),
    ] {
        rules(name, &text);
    }
}

#[test]
fn what_is_broken_and_concerns_nobody_passes_by() {
    let cluster = format!("{CLUSTER}  spec: {{shards: 1, externalAccess: {{enabled: true}}}}\n");
    for broken in [
        "- apiVersion: v1\n  kind: A\n  x: \"1\n",
        "- apiVersion: v1\n  kind: A\n  x: 1\n  x: 2\n",
        "- apiVersion: v1\n  kind: A\n  x: *nowhere\n",
    ] {
        let text = format!("{HEAD}{broken}{cluster}");
        let output = run(&text);
        assert!(!output.failed() && output.text.to_string().starts_with(&text), "{broken}: {:?}", output.findings);
        let ours = text.replace("v1\n  kind: A", "valkey.io/v1alpha1\n  kind: ValkeyCluster");
        assert!(run(&ours).failed(), "{broken}");
    }
}

#[test]
fn an_own_object_that_others_refer_to_stays() {
    let cluster = format!("{CLUSTER}  spec: {{shards: 1, externalAccess: {{enabled: true}}}}\n");
    let once = run(&format!("{HEAD}{cluster}")).text.to_string();
    let shared = once.replace("      app.kubernetes.io/part-of: valkey\n", "      app.kubernetes.io/part-of: &part valkey\n");
    let user = "- apiVersion: v1\n  kind: ConfigMap\n  data: {a: *part}\n";
    let (used, unused) = (format!("{shared}{user}"), format!("{shared}{}", user.replace('*', "")));
    for (text, is_error) in [(&used, true), (&unused, false)] {
        let gone = text.replace("enabled: true}", "enabled: false}");
        let output = run(&gone);
        assert_eq!(output.findings.iter().any(|finding| finding.rule.id() == "foreign-object"), is_error, "{:?}", output.findings);
        assert!(ResourceList::read_with_parser(&output.text.to_string()).is_ok());
        // Nothing to change, nothing to say.
        assert!(!run(text).failed());
    }
}

#[test]
fn results_that_others_refer_to_stay() {
    let results = "results:\n- message: &a 'x'\n";
    let text = format!(
        "{results}{HEAD}{CLUSTER}  spec: {{shards: -1, externalAccess: {{enabled: true}}}}\n- kind: A\n  apiVersion: v1\n  x: *a\n"
    );
    for text in [text.clone(), text.replace("*a", "b")] {
        let output = run(&text);
        assert!(output.failed());
        let output = output.text.to_string();
        assert_eq!(output.starts_with(results), text.contains("*a"), "{output}");
        assert!(ResourceList::read_with_parser(&output).is_ok(), "{output}");
    }
}
