//! Services that have NodePorts, static and pinned ones, and Services that have none.

use expose_valkey::run;

use crate::beyond::{list, numbers, objects, rules};

#[test]
fn static_node_ports_are_written_and_announced() {
    let config = "{clusters: [{externalAccess: {nodePorts: {base: 31000}, portsPerShard: 3}}]}";
    let cluster = "{shards: 2, replicas: 1, externalAccess: {enabled: true}}";
    let services = objects(&list(config, cluster, ""), "Service");
    assert_eq!(numbers(&services, "/spec/ports/0/nodePort"), [31000, 31003]);
    assert_eq!(numbers(&services, "/spec/ports/1/nodePort"), [31001, 31004]);
    let nodes = objects(&list(config, cluster, ""), "ValkeyNode");
    assert_eq!(numbers(&nodes, "/spec/externalAccessClientPort"), [31000, 31001, 31003, 31004]);
    assert!(nodes.iter().all(|node| node["spec"]["externalAccess"].get("nodePorts").is_none()), "the CRD has no such field");
}

#[test]
fn static_node_ports_are_held_against_the_range_and_every_service() {
    let at = |ports: &str, others: &str| {
        rules(&list(
            &format!("{{clusters: [{{externalAccess: {{nodePorts: {ports}}}}}]}}"),
            "{shards: 3, replicas: 1, externalAccess: {enabled: true}}",
            others,
        ))
    };
    assert_eq!(at("{base: 32762}", ""), [""; 0]);
    assert_eq!(at("{base: 32763}", ""), ["error port-range"]);
    assert_eq!(at("{base: 29999}", ""), ["error port-range"]);
    assert_eq!(at("{base: 20000, range: 20000-20005}", ""), [""; 0]);
    assert_eq!(at("{base: 20000, range: 20000-20004}", ""), ["error port-range"]);
    assert_eq!(at("{base: 20000, range: '20000'}", ""), ["error out-of-range"]);
    assert_eq!(at("{}", ""), ["error out-of-range"]);
    let web = "- apiVersion: v1\n  kind: Service\n  metadata: {name: web, namespace: shop}\n  spec: {type: NodePort, ports: [{port: 80, nodePort: 31005}]}\n";
    assert_eq!(at("{base: 31000}", web), ["error node-port-taken"]);
    assert_eq!(at("{base: 31006}", web), [""; 0]);
    let message = run(&list(
        "{clusters: [{externalAccess: {nodePorts: {base: 31000}}}]}",
        "{shards: 3, replicas: 1, externalAccess: {enabled: true}}",
        web,
    ))
    .findings[0]
        .to_string();
    assert!(message.contains("31005") && message.contains("shop/web"), "{message}");
}

#[test]
fn pinned_node_ports_win_over_what_is_there() {
    let config = "{pinned: [{name: cache, namespace: team, nodePorts: [[31000, 31001], [32100, 30555]]}]}";
    let cluster = "{shards: 2, replicas: 1, externalAccess: {enabled: true}}";
    let services = objects(&list(config, cluster, ""), "Service");
    assert_eq!(
        (numbers(&services, "/spec/ports/0/nodePort"), numbers(&services, "/spec/ports/1/nodePort")),
        (vec![31000, 32100], vec![31001, 30555])
    );
    let twice = "{pinned: [{name: cache, namespace: team, nodePorts: [[31000], [31000]]}]}";
    // Once where it is written, once where it would be refused.
    assert_eq!(rules(&list(twice, cluster, "")), ["error node-port-taken"; 2]);
}

#[test]
fn pinned_node_ports_that_are_not_used_are_told() {
    let said = |access: &str| {
        let config = format!(
            "{{pinned: [{{name: cache, namespace: team, nodePorts: [[31000, 31001], [32100, 30555], [30999]]}}], clusters: [{{externalAccess: {access}}}]}}"
        );
        let list = list(&config, "{shards: 2, replicas: 1, externalAccess: {enabled: true}}", "");
        run(&list).findings.iter().map(ToString::to_string).filter(|said| said.contains("pinned")).collect::<Vec<_>>()
    };
    assert_eq!(said("{domain: kv.example.org}"), [""; 0], "nor are those of a shard that may come back");
    let [base] = &said("{nodePorts: {base: 31000}}")[..] else { panic!("one") };
    assert!(base.contains("nodePorts.base: ") && base.contains("cache-1-0 (31002, pinned 32100) and 1 more"), "{base}");
    let [inside] = &said("{serviceType: ClusterIP}")[..] else { panic!("one") };
    assert!(inside.contains("serviceType: ") && inside.contains("cache-0-0 (pinned 31000) and 3 more"), "{inside}");
}

#[test]
fn the_bootstrap_service_is_as_restricted_as_the_others_and_keeps_its_port() {
    let annotations = "{example.org/scheme: internal, example.org/of: '{namespace}/{cluster}', example.org/one: 's{shard}', external-dns.alpha.kubernetes.io/hostname: '{hostname}', metallb.io/loadBalancerIPs: 192.0.2.7, example.org/json: '{{shard}}'}";
    let access = format!(
        "{{enabled: true, serviceType: LoadBalancer, externalTrafficPolicy: Local, bootstrapService: true, domain: kv.example.org, serviceAnnotations: {annotations}}}"
    );
    let input = list(&format!("{{clusters: [{{externalAccess: {access}}}]}}"), "{shards: 1}", "");
    let services = objects(&input, "Service");
    assert_eq!(services[1]["spec"]["externalTrafficPolicy"], "Local");
    assert_eq!(
        services[1]["metadata"]["annotations"],
        serde_json::json!({"example.org/json": "{shard}", "example.org/of": "team/cache", "example.org/scheme": "internal"})
    );
    let output = run(&input).text.to_string();
    let allocated = output.replace("  - name: client\n      port: 6379\n", "  - name: client\n      nodePort: 30777\n      port: 6379\n");
    assert_ne!(allocated, output);
    assert_eq!(run(&allocated).text.to_string(), allocated);
    let inside =
        allocated.replace("serviceType: LoadBalancer, externalTrafficPolicy: Local", "gateway: {gatewayRef: {name: gw}, basePort: 9000}");
    let bootstrap = &objects(&inside, "Service")[1];
    assert_eq!((&bootstrap["spec"]["type"], bootstrap["spec"]["ports"][0].get("nodePort")), (&"ClusterIP".into(), None));
    assert!(bootstrap["metadata"].get("annotations").is_none(), "{bootstrap}");
}

#[test]
fn services_that_lead_nobody_in_are_told() {
    let said = |spec: &str, gateway: &str| {
        let access = format!("{{enabled: true, serviceType: ClusterIP, domain: kv.example.org{gateway}}}");
        rules(&list(&format!("{{{spec}clusters: [{{externalAccess: {access}}}]}}"), "{shards: 2, replicas: 1}", ""))
    };
    assert_eq!(said("", ""), ["warning inside-only"]);
    assert_eq!(said("", ", gateway: {gatewayRef: {name: gw}, basePort: 9000}"), [""; 0]);
    assert_eq!(said("mode: OperatorManaged, announce: Command, ", ""), ["warning inside-only"]);
    assert_eq!(said("mode: OperatorManaged, announce: Live, ", ""), ["error live-needs"], "nothing else says it");
}
