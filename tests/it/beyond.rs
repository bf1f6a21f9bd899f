//! What goes beyond the operator's own external access: ports that stay, listeners, SNI, DNS, certificates, GitOps.

use expose_valkey::run;
use serde_json::Value;

/// A list with a functionConfig, one cluster, and what else is given.
pub(crate) fn list(config: &str, cluster: &str, others: &str) -> String {
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: fn.valkey.io/v1alpha1\n  kind: ExposeValkey\n  spec: {config}\nitems:\n- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: cache, namespace: team}}\n  spec: {cluster}\n{others}"
    )
}

/// Objects of a kind in the output, which must have no error and change nothing when run again.
pub(crate) fn objects(input: &str, kind: &str) -> Vec<Value> {
    let output = run(input);
    assert!(!output.failed(), "{:?}", output.findings);
    let text = output.text.to_string();
    assert_eq!(run(&text).text.to_string(), text, "a second run changes the output");
    let list = expose_valkey::krm::yaml::parse(&text).unwrap().value().unwrap();
    list["items"].as_array().unwrap().iter().filter(|item| item["kind"] == kind).cloned().collect()
}

pub(crate) fn rules(input: &str) -> Vec<String> {
    run(input).findings.iter().map(|finding| format!("{} {}", finding.severity.as_str(), finding.rule.id())).collect()
}

pub(crate) fn numbers(objects: &[Value], pointer: &str) -> Vec<u64> {
    objects.iter().map(|object| object.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()).collect()
}

const GATEWAY: &str =
    "{shards: 3, replicas: 1, externalAccess: {enabled: true, domain: kv.example.org, gateway: {gatewayRef: {name: gw}, basePort: 9000}}}";

#[test]
fn ports_with_room_to_spare_stay_when_replicas_change() {
    let two = |replicas: u32| {
        let config = "{clusters: [{externalAccess: {portsPerShard: 4}}]}";
        let cluster = format!(
            "{{shards: 3, replicas: {replicas}, externalAccess: {{enabled: true, gateway: {{gatewayRef: {{name: gw}}, basePort: 9000}}}}}}"
        );
        let second = "- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {name: other, namespace: team}\n  spec: {shards: 3, replicas: 1, externalAccess: {enabled: true, gateway: {gatewayRef: {name: gw}, basePort: 9012}}}\n";
        let routes = objects(&list(config, &cluster, second), "TCPRoute");
        routes
            .iter()
            .map(|route| {
                (route["metadata"]["name"].as_str().unwrap().to_owned(), numbers(std::slice::from_ref(route), "/spec/parentRefs/0/port")[0])
            })
            .collect::<Vec<_>>()
    };
    let (before, after) = (two(1), two(2));
    assert_eq!(
        before.iter().map(|(_, port)| *port).collect::<Vec<_>>(),
        [9000, 9001, 9004, 9005, 9008, 9009, 9012, 9013, 9016, 9017, 9020, 9021]
    );
    for node in &before {
        assert!(after.contains(node), "{node:?} moved");
    }
    assert_eq!(after.len(), before.len() + 3);
}

#[test]
fn forty_shards_of_three_come_out_as_two_listener_sets() {
    let config = "{emit: {listeners: ListenerSet}}";
    let cluster = "{shards: 40, replicas: 2, externalAccess: {enabled: true, gateway: {gatewayRef: {name: gw}, basePort: 9000}}}";
    let input = list(config, cluster, "");
    let sets = objects(&input, "ListenerSet");
    let names: Vec<&str> = sets.iter().map(|set| set["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["valkey-cache-listeners-0", "valkey-cache-listeners-1"]);
    assert_eq!(sets.iter().map(|set| set["spec"]["listeners"].as_array().unwrap().len()).collect::<Vec<_>>(), [64, 56]);
    assert_eq!(rules(&input), [""; 0], "a ListenerSet has no limit over all of them");
    let routes = objects(&input, "TCPRoute");
    assert_eq!(routes.len(), 120);
    for route in &routes {
        let parent = &route["spec"]["parentRefs"][0];
        assert_eq!((parent["kind"].as_str(), parent["group"].as_str()), (Some("ListenerSet"), Some("gateway.networking.k8s.io")));
        let bound: Vec<&Value> = sets
            .iter()
            .filter(|set| set["metadata"]["name"] == parent["name"])
            .flat_map(|set| set["spec"]["listeners"].as_array().unwrap())
            .filter(|listener| listener["name"] == parent["sectionName"] && listener["port"] == parent["port"])
            .collect();
        assert_eq!(bound.len(), 1, "{route}");
    }
}

const SHARED_GATEWAY: &str = "\
- apiVersion: gateway.networking.k8s.io/v1
  kind: Gateway
  metadata: {name: gw, namespace: team}
  spec:
    gatewayClassName: any
    listeners:
    - {name: web, port: 80, protocol: HTTP} # the shop
    # ours, from last year
    - name: vk-cache-9-0
      port: 9999
      protocol: TCP
";

#[test]
fn listeners_are_added_to_a_gateway_and_taken_out_again() {
    let config = "{emit: {listeners: Gateway}}";
    let input = list(config, GATEWAY, SHARED_GATEWAY);
    let gateways = objects(&input, "Gateway");
    let names: Vec<&str> =
        gateways[0]["spec"]["listeners"].as_array().unwrap().iter().map(|listener| listener["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["web", "vk-cache-0-0", "vk-cache-0-1", "vk-cache-1-0", "vk-cache-1-1", "vk-cache-2-0", "vk-cache-2-1"]);
    assert_eq!(numbers(gateways[0]["spec"]["listeners"].as_array().unwrap(), "/port"), [80, 9000, 9001, 9002, 9003, 9004, 9005]);
    let text = run(&input).text.to_string();
    assert!(
        text.contains("    - {name: web, port: 80, protocol: HTTP} # the shop\n    # ours, from last year\n    - name: vk-cache-0-0\n"),
        "{text}"
    );
    // Off again: the listeners go, everybody else's stay as they were.
    let off = run(&text.replace("enabled: true, domain", "enabled: false, domain")).text.to_string();
    assert!(off.contains("    - {name: web, port: 80, protocol: HTTP} # the shop\n    # ours, from last year\n"), "{off}");
    assert!(!off.contains("vk-cache-"), "{off}");
}

/// Kustomize has put a prefix on names, and not yet on the references to them.
#[test]
fn a_gateway_is_found_by_the_name_that_it_had_before_a_prefix() {
    let renamed = SHARED_GATEWAY.replace(
        "{name: gw, namespace: team}",
        "{name: prod-gw, namespace: team, annotations: {internal.config.kubernetes.io/previousNames: 'gw,gw'}}",
    );
    let config = "{emit: {listeners: Gateway}}";
    let gateways = objects(&list(config, GATEWAY, &renamed), "Gateway");
    assert_eq!(numbers(gateways[0]["spec"]["listeners"].as_array().unwrap(), "/port"), [80, 9000, 9001, 9002, 9003, 9004, 9005]);
    // Its own name comes first: then the renamed one is somebody else's, and what was ours in it goes.
    let both = objects(&list(config, GATEWAY, &format!("{renamed}{SHARED_GATEWAY}")), "Gateway");
    assert_eq!(both.iter().map(|gateway| gateway["spec"]["listeners"].as_array().unwrap().len()).collect::<Vec<_>>(), [1, 7]);
    let other = renamed.replace("'gw,gw'", "'gw2,gwx'");
    assert_eq!(rules(&list(config, GATEWAY, &other)), ["error gateway-not-in-list"]);
}

#[test]
fn listeners_need_their_gateway_and_its_ports() {
    assert_eq!(rules(&list("{emit: {listeners: Gateway}}", GATEWAY, "")), ["error gateway-not-in-list"]);
    let taken = SHARED_GATEWAY.replace("port: 80, protocol: HTTP", "port: 9003, protocol: TCP");
    assert_eq!(rules(&list("{emit: {listeners: Gateway}}", GATEWAY, &taken)), ["error listener-overlap"]);
    let wide = "{shards: 33, replicas: 1, externalAccess: {enabled: true, gateway: {gatewayRef: {name: gw}, basePort: 9000}}}";
    assert_eq!(rules(&list("{emit: {listeners: Gateway}}", wide, SHARED_GATEWAY)), ["error listener-count"]);
    assert_eq!(rules(&list("{}", wide, "")), ["warning listener-count"]);
}

#[test]
fn a_gateway_of_another_namespace_must_allow_us() {
    let config = |emit: &str| {
        format!("{{emit: {{listeners: {emit}}}, clusters: [{{externalAccess: {{gateway: {{gatewayRef: {{namespace: infra}}}}}}}}]}}")
    };
    let gateway = |more: &str, listener: &str| {
        format!(
            "- apiVersion: gateway.networking.k8s.io/v1\n  kind: Gateway\n  metadata: {{name: gw, namespace: infra}}\n  spec: {{gatewayClassName: any, {more} listeners: [{{name: a, port: 9000, protocol: TCP, {listener}}}]}}\n"
        )
    };
    let one = "{shards: 1, externalAccess: {enabled: true, gateway: {gatewayRef: {name: gw}, basePort: 9000}}}";
    let found = |emit: &str, more: &str, listener: &str| rules(&list(&config(emit), one, &gateway(more, listener)));
    assert_eq!(found("None", "", ""), ["warning gateway-not-allowed"]);
    assert_eq!(found("None", "", "allowedRoutes: {namespaces: {from: All}}"), [""; 0]);
    let selector = "{from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: team}}}";
    assert_eq!(found("None", "", &format!("allowedRoutes: {{namespaces: {selector}}}")), [""; 0]);
    assert_eq!(
        found("None", "", &format!("allowedRoutes: {{namespaces: {}}}", selector.replace("team", "else"))),
        ["warning gateway-not-allowed"]
    );
    let set = |more: &str| rules(&list(&config("ListenerSet"), one, &gateway(more, "").replace("port: 9000", "port: 8000")));
    assert_eq!(set(""), ["warning gateway-not-allowed"]);
    assert_eq!(set("allowedListeners: {namespaces: {from: All}},"), [""; 0]);
    let routes = objects(&list(&config("None"), one, ""), "TCPRoute");
    assert_eq!(routes[0]["spec"]["parentRefs"][0]["namespace"], "infra");
    let sets = objects(&list(&config("ListenerSet"), one, ""), "ListenerSet");
    assert_eq!(
        (sets[0]["metadata"]["namespace"].as_str(), sets[0]["spec"]["parentRef"]["namespace"].as_str()),
        (Some("team"), Some("infra"))
    );
}

#[test]
fn one_port_for_all_nodes_by_name() {
    let tls = "{shards: 2, replicas: 1, tls: {certificate: {secretName: s}}, externalAccess: {enabled: true, domain: kv.example.org, gateway: {gatewayRef: {name: gw}, basePort: 6443}}}";
    let config = "{emit: {routes: TLSRoute}}";
    let routes = objects(&list(config, tls, ""), "TLSRoute");
    let names: Vec<&str> = routes.iter().map(|route| route["spec"]["hostnames"][0].as_str().unwrap()).collect();
    assert_eq!(names, ["shard-0-0.kv.example.org", "shard-0-1.kv.example.org", "shard-1-0.kv.example.org", "shard-1-1.kv.example.org"]);
    assert_eq!(numbers(&routes, "/spec/parentRefs/0/port"), [6443; 4]);
    assert_eq!(rules(&list(config, tls, "")), ["warning sni-announcement"]);
    assert_eq!(
        rules(&list(config, &tls.replace("tls: {certificate: {secretName: s}}, ", ""), "")),
        ["error sni-needs", "warning sni-announcement"]
    );
    assert_eq!(rules(&list(config, &tls.replace("domain: kv.example.org, ", ""), "")), ["error sni-needs", "warning sni-announcement"]);
    let sets = objects(&list("{emit: {routes: TLSRoute, listeners: ListenerSet}}", tls, ""), "ListenerSet");
    let listener = &sets[0]["spec"]["listeners"][0];
    assert_eq!((listener["protocol"].as_str(), listener["tls"]["mode"].as_str(), sets.len()), (Some("TLS"), Some("Passthrough"), 1));
}

#[test]
fn changing_the_kind_of_routes_takes_the_old_ones_out() {
    let tls = "{shards: 1, tls: {certificate: {secretName: s}}, externalAccess: {enabled: true, domain: kv.example.org, gateway: {gatewayRef: {name: gw}, basePort: 6443}}}";
    let text = run(&list("{}", tls, "")).text.to_string();
    let changed = text.replacen("spec: {}", "spec: {emit: {routes: TLSRoute}}", 1);
    assert_eq!(objects(&changed, "TCPRoute"), [Value::Null; 0]);
    assert_eq!(objects(&changed, "TLSRoute").len(), 1);
}

#[test]
fn hostnames_get_into_dns() {
    let load_balancer = "{shards: 2, externalAccess: {enabled: true, serviceType: LoadBalancer, domain: kv.example.org}}";
    let annotation = |object: &Value| {
        object.pointer("/metadata/annotations/external-dns.alpha.kubernetes.io~1hostname").and_then(Value::as_str).map(str::to_owned)
    };
    let services = objects(&list("{emit: {dns: ExternalDNS}}", load_balancer, ""), "Service");
    assert_eq!(services.iter().filter_map(annotation).collect::<Vec<_>>(), ["shard-0.kv.example.org", "shard-1.kv.example.org"]);
    let input = list("{emit: {dns: ExternalDNS}}", GATEWAY, "");
    assert!(objects(&input, "Service").iter().all(|service| annotation(service).is_none()), "nobody reaches a ClusterIP from outside");
    assert_eq!(objects(&input, "TCPRoute").iter().filter_map(annotation).count(), 6);
    assert_eq!(rules(&list("{emit: {dns: DNSEndpoint}}", load_balancer, "")), ["error dns-targets"]);
    let records = |targets: &str| {
        let config = format!("{{emit: {{dns: DNSEndpoint}}, clusters: [{{externalAccess: {{dnsTargets: {targets}}}}}]}}");
        let endpoints = objects(&list(&config, load_balancer, ""), "DNSEndpoint");
        let records = endpoints[0]["spec"]["endpoints"].as_array().unwrap().iter();
        records.map(|e| format!("{} {} {}", e["dnsName"], e["recordType"], e["targets"]).replace('"', "")).collect::<Vec<_>>()
    };
    assert_eq!(
        records("['192.0.2.1', '2001:db8::1']"),
        [
            "shard-0.kv.example.org A [192.0.2.1]",
            "shard-0.kv.example.org AAAA [2001:db8::1]",
            "shard-1.kv.example.org A [192.0.2.1]",
            "shard-1.kv.example.org AAAA [2001:db8::1]",
        ]
    );
    assert_eq!(
        records("['lb-{shard}.example.net']"),
        ["shard-0.kv.example.org CNAME [lb-0.example.net]", "shard-1.kv.example.org CNAME [lb-1.example.net]"]
    );
}

#[test]
fn a_certificate_has_every_name_that_is_called() {
    let tls = "{shards: 2, tls: {certificate: {secretName: kv-tls}}, externalAccess: {enabled: true, serviceType: LoadBalancer, domain: kv.example.org}}";
    let config = "{emit: {certificates: CertManager}, certManager: {issuerRef: {name: ca, kind: ClusterIssuer}}}";
    let certificates = objects(&list(config, tls, ""), "Certificate");
    let spec = &certificates[0]["spec"];
    let names: Vec<&str> = spec["dnsNames"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names, ["shard-0.kv.example.org", "shard-1.kv.example.org", "valkey-cache.team.svc.cluster.local", "localhost"]);
    assert_eq!((spec["secretName"].as_str(), spec["issuerRef"]["kind"].as_str()), (Some("kv-tls"), Some("ClusterIssuer")));
    assert_eq!(rules(&list("{emit: {certificates: CertManager}}", tls, "")), ["error issuer-missing"]);
    let plain = tls.replace("tls: {certificate: {secretName: kv-tls}}, ", "");
    assert_eq!(objects(&list(config, &plain, ""), "Certificate"), [Value::Null; 0]);
    let nowhere = list(config, tls, "").replace(", namespace: team", "");
    assert_eq!(rules(&nowhere), ["error namespace-missing"]);
}

#[test]
fn load_balancers_take_what_they_know() {
    let config = "{clusters: [{externalAccess: {loadBalancerClass: example.org/nlb, loadBalancerSourceRanges: [192.0.2.0/24], allocateLoadBalancerNodePorts: false, ipFamilyPolicy: PreferDualStack, bootstrapService: true}}]}";
    let cluster = "{shards: 1, externalAccess: {enabled: true, serviceType: LoadBalancer}}";
    let services = objects(&list(config, cluster, ""), "Service");
    let spec = &services[0]["spec"];
    assert_eq!(spec["loadBalancerClass"], "example.org/nlb");
    assert_eq!(spec["loadBalancerSourceRanges"][0], "192.0.2.0/24");
    assert_eq!(spec["allocateLoadBalancerNodePorts"], false);
    assert_eq!(spec["ipFamilyPolicy"], "PreferDualStack");
    let bootstrap = &services[1];
    assert_eq!(bootstrap["metadata"]["name"], "valkey-cache-bootstrap");
    assert_eq!(bootstrap["spec"]["selector"], serde_json::json!({"valkey.io/cluster": "cache"}));
    for restriction in ["type", "loadBalancerClass", "loadBalancerSourceRanges", "allocateLoadBalancerNodePorts", "ipFamilyPolicy"] {
        assert_eq!(bootstrap["spec"][restriction], spec[restriction], "{restriction}: who may come in is the same");
    }
    assert!(bootstrap["metadata"]["labels"].get("valkey.io/shard-index").is_none(), "an operator deletes Services with that label");
    let node_port = "{shards: 1, externalAccess: {enabled: true}}";
    assert_eq!(rules(&list(config, node_port, "")), ["warning load-balancer-only"; 3]);
}

#[test]
fn nodes_change_one_at_a_time_replicas_first() {
    let waves = |config: &str, key: &str| {
        let nodes = objects(&list(config, "{shards: 2, replicas: 1, externalAccess: {enabled: true}}", ""), "ValkeyNode");
        nodes
            .iter()
            .map(|node| {
                format!("{} {}", node["metadata"]["name"].as_str().unwrap(), node["metadata"]["annotations"][key].as_str().unwrap_or("-"))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        waves("{gitops: {order: ArgoCD}}", "argocd.argoproj.io/sync-wave"),
        ["cache-0-0 3", "cache-0-1 1", "cache-1-0 4", "cache-1-1 2"]
    );
    assert_eq!(
        waves("{gitops: {order: Kpt}}", "config.kubernetes.io/depends-on"),
        [
            "cache-0-0 valkey.io/namespaces/team/ValkeyNode/cache-1-1",
            "cache-0-1 -",
            "cache-1-0 valkey.io/namespaces/team/ValkeyNode/cache-0-0",
            "cache-1-1 valkey.io/namespaces/team/ValkeyNode/cache-0-1",
        ]
    );
    assert_eq!(
        waves("{gitops: {prune: Allow}}", "argocd.argoproj.io/sync-options"),
        ["cache-0-0 -", "cache-0-1 -", "cache-1-0 -", "cache-1-1 -"]
    );
    assert_eq!(waves("{}", "argocd.argoproj.io/sync-options")[0], "cache-0-0 Prune=false");
    assert_eq!(waves("{}", "kustomize.toolkit.fluxcd.io/prune")[0], "cache-0-0 disabled");
    assert_eq!(waves("{}", "client.lifecycle.config.k8s.io/deletion")[0], "cache-0-0 detach");
}

#[test]
fn a_spec_that_fills_memory_once_copied_to_every_node_is_refused() {
    let cluster =
        |length: usize| format!("{{shards: 1000, replicas: 9, image: {}, externalAccess: {{enabled: true}}}}", "a".repeat(length));
    assert_eq!(
        rules(&list("{}", &cluster(30_000), "")),
        ["warning many-nodes", "error budget"].map(str::to_owned).into_iter().rev().collect::<Vec<_>>()
    );
}

#[test]
fn a_namespace_that_is_a_word_of_yaml_is_not_lost() {
    let input = list("{}", "{shards: 1, externalAccess: {enabled: true}}", "").replace("namespace: team", "namespace: on");
    assert_eq!(rules(&input), ["error wrong-type"]);
    assert_eq!(rules(&input.replace("namespace: on", "namespace: 'on'")), [""; 0]);
}

#[test]
fn a_gateway_that_cannot_be_changed_is_not_passed_over() {
    let config = "{emit: {listeners: Gateway}}";
    let gateway = "apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw, namespace: team}";
    let in_list = format!("- {{apiVersion: v1, kind: List, items: [{{{gateway}, spec: {{gatewayClassName: any, listeners: []}}}}]}}\n");
    assert_eq!(rules(&list(config, GATEWAY, &in_list)), ["error gateway-not-in-list"]);
    let alias =
        format!("- {{apiVersion: v1, kind: Other, spec: &spec {{gatewayClassName: any, listeners: []}}}}\n- {{{gateway}, spec: *spec}}\n");
    assert_eq!(rules(&list(config, GATEWAY, &alias)), ["error gateway-not-in-list"]);
}

/// Ports have moved for another reason than too little room: what is proposed must keep them, and not be there already.
#[test]
fn what_is_proposed_for_ports_that_move_keeps_them() {
    let list =
        |config: &str, cluster: &str, others: &str| list(&format!("{{clusters: [{{externalAccess: {{{config}}}}}]}}"), cluster, others);
    let gateway = "{shards: 2, replicas: 1, externalAccess: {enabled: true, gateway: {gatewayRef: {name: gw}, basePort: BASE}}}";
    let node_port = "{shards: 2, replicas: 1, externalAccess: {enabled: true}}";
    // What it was, what it is now, what is said.
    for (cluster, was, is, said) in [
        (gateway, ("9000", ""), ("9100", ""), "`basePort: 9000` keeps them where they are"),
        (gateway, ("9000", "portsPerShard: 4"), ("8999", "portsPerShard: 4"), "`basePort: 9000` keeps them where they are"),
        (gateway, ("9000", "portsPerShard: 4"), ("9000", "portsPerShard: 5"), "`portsPerShard: 4` keeps them where they are"),
        (gateway, ("9000", "portsPerShard: 4"), ("9000", ""), "`portsPerShard: 4` keeps them where they are"),
        (gateway, ("9000", "portsPerShard: 4"), ("9100", "portsPerShard: 5"), "Put `basePort` and `portsPerShard` back"),
        (node_port, ("", "nodePorts: {base: 30000}"), ("", "nodePorts: {base: 30100}"), "`base: 30000` keeps them where they are"),
        (
            node_port,
            ("", "portsPerShard: 3, nodePorts: {base: 30000}"),
            ("", "nodePorts: {base: 30000}"),
            "`portsPerShard: 3` keeps them where they are",
        ),
    ] {
        let at = |(base, config): (&str, &str), others: &str| list(config, &cluster.replace("BASE", base), others);
        let input = at(was, "");
        let before = run(&input).text.to_string();
        let outputs = before.strip_prefix(&input).unwrap_or_else(|| panic!("{before}"));
        let now = at(is, outputs);
        let moved = run(&now);
        let messages: Vec<String> = moved.findings.iter().map(ToString::to_string).collect();
        assert_eq!(moved.findings.len(), 1, "{messages:?}");
        assert_eq!(moved.findings[0].rule.id(), "ports-moved", "{messages:?}");
        assert!(messages[0].contains(said), "{was:?} -> {is:?}: {messages:?}");
    }
}

#[test]
fn a_cluster_must_not_have_the_name_of_anothers_service() {
    let other = |name: &str, namespace: &str| {
        format!(
            "- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: {name}, namespace: {namespace}}}\n  spec: {{shards: 1}}\n"
        )
    };
    let found = |name: &str, namespace: &str| {
        rules(&list("{}", "{shards: 2, externalAccess: {enabled: true, bootstrapService: true}}", &other(name, namespace)))
            .into_iter()
            .filter(|rule| !rule.ends_with("dropped-by-crd"))
            .collect::<Vec<_>>()
    };
    for taken in ["cache-shard-0", "cache-shard-1", "cache-bootstrap"] {
        assert_eq!(found(taken, "team"), ["error headless-service"], "{taken}");
        assert_eq!(found(taken, "other"), [""; 0], "{taken} in another namespace");
    }
    for free in ["cache-shard-2", "cache-shard", "cache-shard-00", "cache-shard-0-0", "cache2"] {
        assert_eq!(found(free, "team"), [""; 0], "{free}");
    }
}

#[test]
fn nodes_told_apart_by_name_must_be_announced_by_name() {
    let said = |access: &str| {
        let cluster = format!(
            "{{shards: 1, tls: {{certificate: {{secretName: s}}}}, externalAccess: {{enabled: true, domain: kv.example.org, {access}gateway: {{gatewayRef: {{name: gw}}, basePort: 6379}}}}}}"
        );
        run(&list("{emit: {routes: TLSRoute}}", &cluster, "")).findings[0].to_string()
    };
    let hint = "without `preferredEndpointType: hostname` clients are sent to addresses";
    assert!(said("").contains(hint) && said("preferredEndpointType: ip, ").contains(hint));
    assert!(!said("preferredEndpointType: hostname, ").contains(hint));
}

/// A Gateway of namespace `infra` with one listener more, and clusters of other namespaces on it.
fn on_one_gateway(listener: &str, clusters: &[(&str, &str, u16)]) -> String {
    let gateway = format!(
        "- apiVersion: gateway.networking.k8s.io/v1\n  kind: Gateway\n  metadata: {{name: gw, namespace: infra}}\n  spec: {{gatewayClassName: x, listeners: [{listener}]}}\n"
    );
    let cluster = |(namespace, name, base): &(&str, &str, u16)| {
        format!(
            "- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: {name}, namespace: {namespace}}}\n  spec: {{shards: 1, externalAccess: {{enabled: true, gateway: {{basePort: {base}}}}}}}\n"
        )
    };
    let items: String = clusters.iter().map(cluster).collect();
    let config = "{emit: {listeners: Gateway}, clusters: [{externalAccess: {gateway: {gatewayRef: {name: gw, namespace: infra}}}}]}";
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: fn.valkey.io/v1alpha1\n  kind: ExposeValkey\n  spec: {config}\nitems:\n{gateway}{items}"
    )
}

#[test]
fn clusters_whose_listeners_would_have_one_name_are_refused() {
    let http = "{name: http, port: 80, protocol: HTTP}";
    assert_eq!(rules(&on_one_gateway(http, &[("a", "b-c", 9000), ("a-b", "c", 9010)])), ["error listener-overlap"]);
    assert_eq!(rules(&on_one_gateway(http, &[("a", "b-c", 9000), ("a-b", "d", 9010)])), [""; 0]);
}

#[test]
fn only_listeners_of_others_are_in_the_way() {
    let at = |name: &str, clusters: &[(&str, &str, u16)]| {
        rules(&on_one_gateway(&format!("{{name: {name}, port: 9000, protocol: TCP}}"), clusters))
    };
    let cache = ("team", "cache", 9000);
    assert_eq!(at("vk-team-cache-0-0", &[cache]), [""; 0]);
    // Not of `cache`, though it begins like one of its own.
    for foreign in ["other", "vk-team-cache2-0-0", "vk-team-cache-2", "vk-team-cache-0-0-0", "vk-team-queue-0-0"] {
        assert_eq!(at(foreign, &[cache]), ["error listener-overlap"], "{foreign}");
    }
    // That of a cluster which moves away in the same run.
    assert_eq!(at("vk-team-queue-0-0", &[cache, ("team", "queue", 9001)]), [""; 0]);
}
