//! Names in the world: hostnames, DNS records, certificates; and what is copied to many objects.

use expose_valkey::run;

use crate::beyond::{list, objects, rules};

/// Clusters in one list, with one functionConfig.
fn clusters(config: &str, clusters: &[(&str, &str)]) -> String {
    let items = clusters.iter().map(|(name, spec)| {
        format!("- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: {name}, namespace: team}}\n  spec: {spec}\n")
    });
    let (head, _) = list(config, "{}", "").split_once("items:\n").map(|(head, rest)| (head.to_owned(), rest.to_owned())).unwrap();
    format!("{head}items:\n{}", items.collect::<String>())
}

fn told(input: &str) -> Vec<String> {
    run(input).findings.iter().map(ToString::to_string).collect()
}

#[test]
fn one_domain_for_many_clusters_is_told_once_for_each() {
    let config = "{clusters: [{externalAccess: {enabled: true, serviceType: LoadBalancer, domain: kv.example.org}}]}";
    let names: Vec<String> = (0..300).map(|number| format!("c{number}")).collect();
    let all: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "{shards: 2}")).collect();
    let told = told(&clusters(config, &all));
    assert_eq!(told.len(), 299);
    assert!(
        told.iter().all(|told| told.contains("clusters team/c0 and team/c") && told.contains("(and 1 more of their hostnames)")),
        "{told:?}"
    );
}

#[test]
fn who_is_at_odds_with_a_cluster_is_not_always_the_first_that_has_its_hostname() {
    let config = "{clusters: [{externalAccess: {enabled: true, domain: kv.example.org}}]}";
    let at = |port: u16| format!("{{shards: 1, externalAccess: {{gateway: {{gatewayRef: {{name: g{port}}}, basePort: {port}}}}}}}");
    let (one, two, again) = (at(9000), at(9100), at(9100).replace("g9100", "other"));
    assert_eq!(rules(&clusters(config, &[("a", &one), ("b", &two)])), [""; 0]);
    let found = told(&clusters(config, &[("a", &one), ("b", &two), ("c", &again)]));
    let [found] = &found[..] else { panic!("{found:?}") };
    assert!(found.contains("clusters team/b and team/c both announce shard-0.kv.example.org with port 9100"), "{found}");
    let told = told(&clusters(config, &[("a", &one), ("b", "{shards: 1}"), ("c", &two)]));
    assert!(
        told.len() == 2 && told[0].contains("clusters team/a and team/b") && told[1].contains("clusters team/b and team/c"),
        "{told:?}"
    );
}

#[test]
fn a_hostname_is_on_the_service_or_behind_a_gateway_on_the_route() {
    let access = "enabled: true, domain: kv.example.org, serviceType: NodePort";
    let config =
        |more: &str, mode: &str| format!("{{{mode}emit: {{dns: ExternalDNS}}, clusters: [{{externalAccess: {{{access}{more}}}}}]}}");
    let has_name =
        |object: &serde_json::Value| object["metadata"]["annotations"].get("external-dns.alpha.kubernetes.io/hostname").is_some();
    for mode in ["", "mode: OperatorManaged, announce: Live, "] {
        let alone = list(&config("", mode), "{shards: 1}", "");
        assert!(objects(&alone, "Service").iter().all(has_name));
        let behind = list(&config(", gateway: {gatewayRef: {name: gw}, basePort: 9000}", mode), "{shards: 1}", "");
        assert!(!objects(&behind, "Service").iter().any(has_name));
        assert!(objects(&behind, "TCPRoute").iter().all(has_name));
    }
}

#[test]
fn dns_records_lead_to_addresses_or_to_one_name() {
    let told = |targets: &str| {
        let access = format!("{{enabled: true, domain: kv.example.org, dnsTargets: {targets}}}");
        rules(&list(&format!("{{emit: {{dns: DNSEndpoint}}, clusters: [{{externalAccess: {access}}}]}}"), "{shards: 2}", ""))
    };
    for right in [
        "[192.0.2.1, 192.0.2.2, '2001:db8::1']",
        "[lb.example.org]",
        "['lb-{shard}.example.org.']",
        "['192.0.2.{shard}', '198.51.100.{shard}']",
    ] {
        assert_eq!(told(right), [""; 0], "{right}");
    }
    for wrong in ["[192.0.2.1, lb.example.org]", "[a.example.org, b.example.org]", "['192.0.2.1:9000']", "['']", "['lb example']"] {
        assert_eq!(told(wrong), ["error dns-targets"], "{wrong}");
    }
}

#[test]
fn two_certificates_for_one_secret_are_refused() {
    let config = "{emit: {certificates: CertManager, valkeyNodes: false}, certManager: {issuerRef: {name: ca}}, clusters: [{externalAccess: {enabled: true, serviceType: LoadBalancer}}]}";
    let cluster = |domain: &str, secret: &str| {
        format!("{{shards: 1, tls: {{certificate: {{secretName: {secret}}}}}, externalAccess: {{domain: {domain}.example.org}}}}")
    };
    let (a, b) = (cluster("a", "one"), cluster("b", "two"));
    assert_eq!(rules(&clusters(config, &[("a", &a), ("b", &b)])), [""; 0]);
    let b = cluster("b", "one");
    assert_eq!(rules(&clusters(config, &[("a", &a), ("b", &b)])), ["error certificate-shared"]);
    let own = "- apiVersion: cert-manager.io/v1\n  kind: Certificate\n  metadata: {name: mine, namespace: team}\n  spec: {secretName: one, dnsNames: ['*.a.example.org', valkey-a.team.svc.cluster.local, localhost]}\n";
    let with_own = clusters(config, &[("a", &a)]) + own;
    assert_eq!(rules(&with_own), ["error certificate-shared"]);
    assert_eq!(rules(&with_own.replace("namespace: team}\n  spec: {secret", "namespace: other}\n  spec: {secret")), [""; 0]);
}

#[test]
fn what_fills_memory_once_copied_to_every_object_is_refused() {
    let access = |value: &str| format!("{{enabled: true, serviceType: LoadBalancer, serviceAnnotations: {{example.org/note: {value}}}}}");
    let told = |value: &str| {
        let config = format!("{{mode: OperatorManaged, announce: Live, clusters: [{{externalAccess: {}}}]}}", access(value));
        rules(&list(&config, "{shards: 4000, replicas: 3}", ""))
    };
    assert!(told(&"x".repeat(20_000)).contains(&"error budget".to_owned()));
    assert_eq!(told("x"), ["warning many-nodes"]);
}

#[test]
fn labels_of_ours_on_a_cluster_are_not_on_its_objects() {
    let input = list("{}", "{shards: 1, externalAccess: {enabled: true, serviceType: NodePort}}", "")
        .replace("name: cache,", "name: cache, labels: {fn.valkey.io/cluster: cache, team: x},");
    let services = objects(&input, "Service");
    assert_eq!(services[0]["metadata"]["labels"]["team"], "x");
    assert!(services[0]["metadata"]["labels"].get("fn.valkey.io/cluster").is_none());
}
