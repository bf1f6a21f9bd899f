//! Two functionConfigs over one list, each for some of its clusters: neither undoes what the other has done.

use expose_valkey::run;

const COMMAND: &str = "{mode: OperatorManaged, announce: Command, clusters: [{selector: {names: [queue]}, externalAccess: {enabled: true, domain: kv.example.org, nodePorts: {base: 31000}}}]}";
const LIVE: &str = "{mode: OperatorManaged, announce: Live, clusters: [{selector: {names: [jobs]}, externalAccess: {enabled: true}}]}";
const LISTENERS: &str = "{emit: {listeners: Gateway, valkeyNodes: false}, clusters: [{selector: {names: [cache]}, externalAccess: {enabled: true, domain: c.example.org, gateway: {gatewayRef: {name: edge}, basePort: 9000}}}]}";
const MORE_LISTENERS: &str = "{emit: {listeners: Gateway, valkeyNodes: false}, clusters: [{selector: {names: [cart]}, externalAccess: {enabled: true, domain: d.example.org, gateway: {gatewayRef: {name: edge}, basePort: 9100}}}]}";

/// Clusters, and a Gateway that they share.
fn items() -> String {
    let cluster = |name: &str| {
        format!(
            "- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: {name}, namespace: team, labels: {{of: {name}}}}}\n  spec:\n    shards: 2   # few\n    replicas: 1\n"
        )
    };
    let gateway = "- apiVersion: gateway.networking.k8s.io/v1\n  kind: Gateway\n  metadata: {name: edge, namespace: team}\n  spec:\n    gatewayClassName: any\n    listeners:\n    - name: web\n      port: 80\n      protocol: HTTP\n";
    ["queue", "jobs", "cache", "cart"].map(cluster).concat() + gateway
}

/// What a run makes of items; results do not go into the next.
fn after(config: &str, items: &str) -> (String, String) {
    let list = format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: fn.valkey.io/v1alpha1\n  kind: ExposeValkey\n  metadata: {{name: expose}}\n  spec: {config}\nitems:\n{items}"
    );
    let output = run(&list);
    assert!(!output.failed(), "{:?}", output.findings);
    let said = output.findings.iter().map(|finding| format!("{}: {finding}\n", finding.rule.id())).collect();
    let text = output.text.to_string();
    let (_, items) = text.split_once("\nitems:\n").unwrap();
    (items.split("\nresults:").next().unwrap().trim_end().to_owned() + "\n", said)
}

/// All of them, one after the other.
fn all(configs: &[&str], items: &str) -> String {
    configs.iter().fold(items.to_owned(), |items, config| after(config, &items).0)
}

#[test]
fn each_leaves_what_the_other_has_made() {
    let configs = [COMMAND, LIVE, LISTENERS, MORE_LISTENERS];
    let first = all(&configs, &items());
    for config in configs {
        let alone = after(config, &items()).0;
        let made = alone.lines().filter(|line| !items().contains(line));
        for line in made {
            assert!(first.contains(line), "{line:?} of\n{config}\nis gone from\n{first}");
        }
    }
    for cluster in ["queue", "jobs", "cache", "cart"] {
        assert!(first.contains(&format!("name: valkey-{cluster}-")), "{cluster}\n{first}");
    }
    assert_eq!(all(&configs, &first), first, "a second run changes the list");
}

#[test]
fn the_order_does_not_matter_to_what_comes_out() {
    let sorted = |text: String| {
        let mut items: Vec<String> = text.split("\n- ").map(|item| item.trim_end().to_owned()).collect();
        items.sort();
        items
    };
    assert_eq!(sorted(all(&[COMMAND, LIVE, LISTENERS], &items())), sorted(all(&[LISTENERS, LIVE, COMMAND], &items())));
}

#[test]
fn what_is_left_is_said_once_for_each_cluster() {
    let (_, said) = after(LIVE, &all(&[COMMAND, LISTENERS], &items()));
    insta::assert_snapshot!(said);
}

#[test]
fn an_entry_that_switches_a_cluster_off_removes_what_it_had() {
    let off = LIVE.replace("clusters: [", "clusters: [{selector: {matchLabels: {of: queue}}, externalAccess: {enabled: false}}, ");
    let with_both = all(&[LIVE, COMMAND], &items());
    assert_ne!(with_both, all(&[LIVE], &items()));
    assert_eq!(after(&off, &with_both).0, all(&[LIVE], &items()));
}

#[test]
fn so_does_a_cluster_that_says_so_itself() {
    let with_both = all(&[LIVE, COMMAND], &items());
    let off = |text: &str| text.replacen("shards: 2   # few\n", "externalAccess: {enabled: false}\n    shards: 2   # few\n", 1);
    assert_eq!(after(LIVE, &off(&with_both)).0, all(&[LIVE], &off(&items())));
}

#[test]
fn a_functionconfig_for_all_clusters_removes_what_it_does_not_make() {
    for config in ["{}", "{clusters: [{externalAccess: {portsPerShard: 4}}]}", "{mode: OperatorManaged, announce: Live}"] {
        assert!(!after(config, &all(&[COMMAND, LIVE, LISTENERS], &items())).0.contains("name: valkey-"), "{config}");
    }
}
