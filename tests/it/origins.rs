//! Whose field a finding names: where a person must go to change it.

use expose_valkey::finding::Finding;
use expose_valkey::run;

const CLUSTER: &str = "apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata:\n    name: NAME\n    namespace: team\n    annotations: {config.kubernetes.io/path: cluster.yaml, config.kubernetes.io/index: '0'}\n  spec: ";

fn list(config: &str, clusters: &[(&str, &str)]) -> String {
    let items: String = clusters.iter().map(|(name, spec)| format!("- {}{spec}\n", CLUSTER.replace("NAME", name))).collect();
    format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  {config}\nitems:\n{items}")
}

fn entry(access: &str) -> String {
    format!(
        "{{apiVersion: fn.valkey.io/v1alpha1, kind: ExposeValkey, metadata: {{name: expose, annotations: {{config.kubernetes.io/path: expose.yaml, config.kubernetes.io/index: '0'}}}}, spec: {{clusters: [{{selector: {{names: [other]}}}}, {{externalAccess: {access}}}]}}}}"
    )
}

fn findings(input: &str) -> Vec<Finding> {
    run(input).findings
}

/// Object, field and file.
fn place(finding: &Finding) -> (String, &str, &str) {
    let file = finding.file.as_ref().map_or("", |file| file.path.as_str());
    (finding.object.as_ref().unwrap().to_string(), finding.field.as_deref().unwrap_or_default(), file)
}

const OF_CONFIG: &str = "fn.valkey.io/v1alpha1/ExposeValkey/expose";
const OF_CLUSTER: &str = "valkey.io/v1alpha1/ValkeyCluster/team/cache";

#[test]
fn what_the_function_config_gives_is_named_there() {
    let on = "{shards: 2, replicas: 1, externalAccess: {enabled: true}}";
    let behind = "{shards: 2, replicas: 1, externalAccess: {enabled: true, gateway: {gatewayRef: {name: gw}, basePort: 9000}}}";
    for (rule, given, cluster, field) in [
        ("domain", "{domain: https://x.example.org}", on, "domain"),
        ("hostname-prefix", "{hostnamePrefix: _}", on, "hostnamePrefix"),
        ("ports-per-shard", "{portsPerShard: 1}", on, "portsPerShard"),
        ("port-range", "{nodePorts: {base: 32767}}", on, "nodePorts.base"),
        ("out-of-range", "{nodePorts: {base: 30000, range: x}}", on, "nodePorts.range"),
        ("out-of-range", "{nodePorts: {range: 30000-32767}}", on, "nodePorts.base"),
        ("port-range", "{gateway: {gatewayRef: {name: gw}, basePort: 65535}}", on, "gateway.basePort"),
        ("gateway-incomplete", "{gateway: {gatewayRef: {name: gw}}}", on, "gateway.basePort"),
        ("gateway-incomplete", "{gateway: {basePort: 9000}}", on, "gateway.gatewayRef.name"),
        ("traffic-policy-unused", "{externalTrafficPolicy: Local}", behind, "externalTrafficPolicy"),
        ("load-balancer-only", "{loadBalancerClass: a/b}", on, "loadBalancerClass"),
        ("section-name", "{gateway: {gatewayRef: {sectionName: tcp}}}", behind, "gateway.gatewayRef.sectionName"),
        (
            "same-address",
            "{serviceType: LoadBalancer, serviceAnnotations: {metallb.io/loadBalancerIPs: 192.0.2.1}}",
            on,
            "serviceAnnotations",
        ),
        ("hostname-without-domain", "{preferredEndpointType: hostname, enabled: true}", "{shards: 1}", "domain"),
    ] {
        let found = findings(&list(&entry(given), &[("cache", cluster)]));
        let [finding] = found.as_slice() else { panic!("{rule}: {found:?}") };
        assert_eq!(finding.rule.id(), rule);
        assert_eq!(
            place(finding),
            (OF_CONFIG.to_owned(), format!("spec.clusters[1].externalAccess.{field}").as_str(), "expose.yaml"),
            "{given}"
        );
        assert!(finding.message.contains("team/cache"), "{rule}: for which cluster: {}", finding.message);
    }
}

#[test]
fn what_the_cluster_says_is_named_in_the_cluster() {
    let given = entry("{portsPerShard: 4, domain: kv.example.org, gateway: {gatewayRef: {name: gw}}, serviceAnnotations: {a/b: c}}");
    for (rule, access, field) in [
        ("domain", "{enabled: true, domain: https://x, gateway: {basePort: 9000}}", "domain"),
        ("port-range", "{enabled: true, gateway: {basePort: 65535}}", "gateway.basePort"),
        (
            "same-address",
            "{enabled: true, gateway: {basePort: 9000}, serviceAnnotations: {metallb.io/loadBalancerIPs: 192.0.2.1}}",
            "serviceAnnotations",
        ),
    ] {
        for (key, place_of_it) in
            [("externalAccess: ACCESS", "spec.externalAccess"), ("networking: {external: ACCESS}", "spec.networking.external")]
        {
            let spec = format!("{{shards: 2, replicas: 1, {}}}", key.replace("ACCESS", access));
            let spec = if place_of_it == "spec.networking.external" { spec.replace("enabled: true, ", "") } else { spec };
            let found = findings(&list(&given, &[("cache", &spec)]));
            let [finding] = found.as_slice() else { panic!("{rule}: {found:?}") };
            assert_eq!(finding.rule.id(), rule);
            assert_eq!(place(finding), (OF_CLUSTER.to_owned(), format!("{place_of_it}.{field}").as_str(), "cluster.yaml"), "{spec}");
        }
    }
}

#[test]
fn a_flat_key_is_named_as_it_is_written() {
    let config = "{apiVersion: v1, kind: ConfigMap, metadata: {name: flat}, data: {gatewayName: gw, basePort: '65535'}}";
    let found = findings(&list(config, &[("cache", "{shards: 2, replicas: 1, externalAccess: {enabled: true}}")]));
    let places: Vec<_> = found.iter().map(place).collect();
    assert_eq!(places, [("v1/ConfigMap/flat".to_owned(), "data.basePort", "")], "{found:?}");
}

#[test]
fn two_clusters_with_one_base_port_are_told_to_part() {
    let on = "{shards: 2, replicas: 1, externalAccess: {enabled: true}}";
    let given = entry("{gateway: {gatewayRef: {name: gw}, basePort: 9000}}");
    let found = findings(&list(&given, &[("cache", on), ("queue", on)]));
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(place(finding), (OF_CONFIG.to_owned(), "spec.clusters[1].externalAccess.gateway.basePort", "expose.yaml"));
    let given = entry("{nodePorts: {base: 30000}}");
    let node_ports = findings(&list(&given, &[("cache", on), ("queue", on)]));
    assert!(node_ports[0].message.contains("choose another `nodePorts.base` for this cluster alone"), "{node_ports:?}");
    assert!(finding.message.ends_with("give team/queue a `basePort` of its own, 9004 for instance"), "{}", finding.message);
}
