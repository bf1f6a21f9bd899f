//! What comes out beside the cluster: a Service for each node, and routes to them.

use std::fs;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{config, items, list, names, objects, printed, said};

const TLS: &str = "networking: {tls: {certificates: {server: {secretName: cache-tls}}}}";
const GATEWAY: &str = "domain: kv.example.org, gateway: {gatewayRef: {name: edge, namespace: infra}, basePort: 7000}";

/// One object as YAML.
fn shown(object: &Value) -> String {
    let mut text = String::new();
    expose_valkey::krm::write::mapping(&mut text, object, 0);
    text
}

#[test]
fn each_node_has_a_service_and_no_valkey_node_comes_out() {
    let text = printed(&list(&config("Command", "domain: kv.example.org, nodePorts: {base: 31000}", ""), ""));
    let expected = ["0-0", "0-1", "1-0", "1-1", "2-0", "2-1"].map(|node| format!("Service valkey-cache-{node}"));
    assert_eq!(names(&text)[1..], expected);
    insta::assert_snapshot!(shown(&objects(&text, "Service")[3]));
}

#[test]
fn routes_lead_to_the_nodes_service() {
    let text = printed(&list(&config("Command", GATEWAY, ""), ""));
    insta::assert_snapshot!(shown(&objects(&text, "TCPRoute")[3]));
    let sni = printed(&list(&config("Command", GATEWAY, ", emit: {routes: TLSRoute, listeners: ListenerSet}"), TLS));
    insta::assert_snapshot!(format!("{}---\n{}", shown(&objects(&sni, "TLSRoute")[3]), shown(&objects(&sni, "ListenerSet")[0])));
    assert_eq!(
        said(&list(&config("Command", GATEWAY, ", emit: {routes: TLSRoute}"), TLS)),
        "",
        "there is somebody who announces the names"
    );
}

#[test]
fn live_services_say_what_is_known_and_the_cluster_is_not_touched() {
    let live = ", live: {nodeAddressTypes: [InternalIP, ExternalIP], credentials: {username: announcer, passwordSecret: {name: s, key: password}}}";
    let spec = "containers: [{name: server, command: [mine]}]";
    let cases = [
        (config("Live", "serviceType: NodePort", live), spec),
        (config("Live", "serviceType: LoadBalancer, serviceAnnotations: {ip: '192.0.2.{shard}{node}'}", ""), spec),
        (config("Live", GATEWAY, ", emit: {routes: TLSRoute}"), TLS),
    ];
    let mut shown_all = Vec::new();
    for (config, spec) in cases {
        let input = list(&config, spec);
        let text = printed(&input);
        assert!(text.starts_with(&input), "the list as it was comes first:\n{text}");
        shown_all.push(shown(&objects(&text, "Service")[3]));
        let routes = items(&text).into_iter().filter(|item| item["kind"] == "TLSRoute");
        assert!(routes.clone().all(|route| route["metadata"]["labels"].get("fn.valkey.io/announce").is_none()));
    }
    insta::assert_snapshot!(shown_all.join("---\n"));
}

#[test]
fn switching_modes_takes_the_other_ones_objects_away() {
    let rendered =
        "{clusters: [{externalAccess: {enabled: true, domain: kv.example.org, gateway: {gatewayRef: {name: edge}, basePort: 7000}}}]}";
    let managed = rendered.replace("{clusters", "{mode: OperatorManaged, announce: Live, clusters");
    let one = printed(&list(rendered, ""));
    let two = printed(&one.replace(rendered, &managed));
    let fresh = |config: &str| {
        let mut names = names(&printed(&list(config, "")));
        names.sort();
        names
    };
    let sorted = |text: &str| {
        let mut names = names(text);
        names.sort();
        names
    };
    assert_eq!(sorted(&two), fresh(&managed));
    assert!(objects(&two, "TCPRoute").iter().all(|route| route["spec"]["rules"][0]["backendRefs"][0]["name"] == route["metadata"]["name"]));
    assert!(objects(&two, "TCPRoute").iter().all(|route| route["metadata"]["labels"].get("valkey.io/shard-index").is_none()));
    assert_eq!(sorted(&printed(&two.replace(&managed, rendered))), fresh(rendered));
    let off = printed(&two.replace("enabled: true", "enabled: false"));
    assert_eq!(names(&off), ["ValkeyCluster cache"]);
}

#[test]
fn objects_of_a_package_get_the_file_beside_their_cluster() {
    let annotated = |config: &str| {
        list(config, "").replace(
            "namespace: team,",
            "namespace: team, annotations: {internal.config.kubernetes.io/path: kv/cluster.yaml, internal.config.kubernetes.io/index: '0'},",
        )
    };
    let text = printed(&annotated(&config("Command", "domain: kv.example.org, nodePorts: {base: 31000}", "")));
    let annotation = |object: &Value, key: &str| object["metadata"]["annotations"][format!("internal.config.kubernetes.io/{key}")].clone();
    let places: Vec<_> = objects(&text, "Service").iter().map(|object| (annotation(object, "path"), annotation(object, "index"))).collect();
    assert_eq!(places.len(), 6);
    assert_eq!(places[5], (json!("kv/cache-external-access.yaml"), json!("5")));
    let cluster = objects(&text, "ValkeyCluster").remove(0);
    assert_eq!((annotation(&cluster, "path"), annotation(&cluster, "index")), (json!("kv/cluster.yaml"), json!("0")));
}

#[test]
fn allocated_node_ports_can_be_pinned() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("operator-managed-pin");
    fs::create_dir_all(&folder).unwrap();
    let config = config("Live", "serviceType: NodePort", "");
    fs::write(
        folder.join("cluster.yaml"),
        format!("apiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {{name: cache}}\nspec: {{shards: 1, replicas: 0}}\n---\napiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata: {{name: e}}\nspec: {config}\n"),
    )
    .unwrap();
    let services = ran(&folder, &["render", "-f", "cluster.yaml"]).replace("    port: 6379", "    nodePort: 31777\n    port: 6379");
    fs::write(folder.join("services.yaml"), services).unwrap();
    ran(&folder, &["pin", "-f", "cluster.yaml", "--ports-from", "services.yaml"]);
    assert!(ran(&folder, &["render", "-f", "cluster.yaml"]).contains("nodePort: 31777"));
}

#[test]
fn ports_that_move_are_told_and_restart_nothing_where_they_are_announced_live() {
    let live = config("Live", GATEWAY, "");
    let text = printed(&list(&live, ""));
    let moved = said(&text.replace("basePort: 7000", "basePort: 8000"));
    assert!(moved.contains("6 nodes get other ports: cache-0-0 7000 -> 8000"), "{moved}");
    let moved = said(&text.replace("basePort: 7000", "basePort: 8000").replace("announce: Live", "announce: Command"));
    assert!(moved.contains("6 nodes get other ports, and restart for it: cache-0-0 7000 -> 8000"), "{moved}");
}

#[test]
fn node_ports_that_were_allocated_stay() {
    let text = printed(&list(&config("Live", "serviceType: NodePort", ""), ""));
    let allocated = text.replacen("      port: 6379", "      nodePort: 30123\n      port: 6379", 1);
    let again = printed(&allocated);
    assert_eq!(objects(&again, "Service")[0]["spec"]["ports"][0]["nodePort"], json!(30123));
    let shard = printed(&again.replace("mode: OperatorManaged, announce: Live, ", ""));
    assert!(!shard.contains("30123"), "a port that another Service still holds cannot be asked for:\n{shard}");
}

#[test]
fn a_service_of_somebody_else_with_our_name_is_an_error() {
    let foreign = "- apiVersion: v1\n  kind: Service\n  metadata: {name: valkey-cache-1-0, namespace: team}\n  spec: {}\n";
    let input = list(&config("Live", "serviceType: NodePort", ""), "") + foreign;
    let said = said(&input);
    assert!(said.starts_with("foreign-object") && said.contains("`fn.valkey.io/shard-index`"), "{said}");
}

#[test]
fn the_controller_is_given_the_gateways_namespace() {
    let without = |access: &str| list(&config("Live", access, ""), "").replace("namespace: team, ", "");
    let elsewhere = printed(&without(GATEWAY));
    assert_eq!(objects(&elsewhere, "Service")[0]["metadata"]["annotations"]["fn.valkey.io/gateway"], "infra/edge");
    let unknown = said(&without(&GATEWAY.replace(", namespace: infra", "")));
    assert!(unknown.starts_with("namespace-missing: [error]") && unknown.contains("`gatewayRef.namespace`"), "{unknown}");
}

#[test]
fn names_are_as_long_as_a_service_may_have_them() {
    let named = |length: usize| {
        list(&config("Live", "serviceType: NodePort", ""), "").replace("name: cache", &format!("name: {}", "c".repeat(length)))
    };
    assert!(!said(&named(52)).contains("name-length: [error]"), "{}", said(&named(52)));
    assert!(said(&named(53)).contains("name-length: [error]") && said(&named(53)).contains("at most 52"), "{}", said(&named(53)));
    let with_bootstrap =
        |length: usize| said(&named(length).replace("serviceType: NodePort", "serviceType: NodePort, bootstrapService: true"));
    assert!(!with_bootstrap(46).contains("name-length: [error]"), "{}", with_bootstrap(46));
    assert!(with_bootstrap(47).contains("name-length: [error]") && with_bootstrap(47).contains("at most 46"), "{}", with_bootstrap(47));
}

#[test]
fn settings_that_do_not_go_together_are_said() {
    let all = [
        "{announce: Live}",
        "{mode: OperatorManged}",
        "{mode: OperatorManaged, announce: Comand}",
        "{mode: OperatorManaged, live: {}}",
        "{mode: OperatorManaged, announce: Live, live: {credentials: {username: a}, nodeAddressTypes: [ExternalIp]}}",
        "{mode: OperatorManaged, emit: {valkeyNodes: true}}",
        "{mode: OperatorManaged, announce: Live, emit: {services: false}}",
        "{mode: OperatorManaged, announce: Live, clusters: [{externalAccess: {enabled: true, serviceType: ClusterIP}}]}",
        "{mode: OperatorManaged, announce: Live, emit: {routes: TLSRoute}, clusters: [{externalAccess: {enabled: true, gateway: {gatewayRef: {name: g}, basePort: 1}}}]}",
    ];
    insta::assert_snapshot!(all.map(|config| said(&list(config, ""))).join("\n"));
}

#[test]
fn external_access_of_the_cluster_itself_is_used_and_nothing_is_exposed_without_any() {
    let own = printed(&list("{mode: OperatorManaged, announce: Live}", "externalAccess: {enabled: true}"));
    assert_eq!(objects(&own, "Service").len(), 6);
    let told = said(&list("{mode: OperatorManaged, announce: Live}", "externalAccess: {enabled: true}"));
    assert!(told.starts_with("dropped-by-crd: [warning] valkey.io/v1alpha1/ValkeyCluster/team/cache spec.externalAccess: "), "{told}");
    assert_eq!(names(&printed(&list("{mode: OperatorManaged}", ""))), ["ValkeyCluster cache"]);
}

#[test]
fn a_config_map_can_set_the_mode() {
    let list = list("X", "").replace(
        "apiVersion: fn.valkey.io/v1alpha1\n  kind: ExposeValkey\n  spec: X",
        "apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: x}\n  data: {mode: OperatorManaged, announce: Live, enabled: 'true'}",
    );
    assert_eq!(objects(&printed(&list), "Service").len(), 6);
}

#[test]
fn names_of_load_balancers_are_each_nodes_own() {
    let access = |name: &str| {
        format!(
            "domain: kv.example.org, serviceType: LoadBalancer, serviceAnnotations: {{external-dns.alpha.kubernetes.io/hostname: '{name}'}}"
        )
    };
    let with = |name: &str| list(&config("Live", &access(name), ""), "");
    let services = objects(&printed(&with("{hostname}")), "Service");
    let annotations = &services[3]["metadata"]["annotations"];
    assert_eq!(annotations["external-dns.alpha.kubernetes.io/hostname"], "shard-1-1.kv.example.org");
    assert_eq!(annotations["fn.valkey.io/hostname"], "shard-1-1.kv.example.org");
    assert!(said(&with("kv-{shard}.example.org")).starts_with("same-dns-name: [warning]"));
    assert_eq!(said(&with("kv-{shard}-{node}.example.org")), "");
}

#[test]
fn certificates_have_all_names_and_a_hand_made_one_is_looked_at() {
    let config = config("Command", GATEWAY, ", emit: {routes: TLSRoute, certificates: CertManager}, certManager: {issuerRef: {name: ca}}");
    let certificate = objects(&printed(&list(&config, TLS)), "Certificate").remove(0);
    let names: Vec<&str> = certificate["spec"]["dnsNames"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((names[0], names[5]), ("shard-0-0.kv.example.org", "shard-2-1.kv.example.org"));
    assert_eq!(names[6..], ["valkey-cache.team.svc.cluster.local", "localhost"]);

    let by_hand = |secret: &str, names: &str| {
        let config = config.replace(", certificates: CertManager", "");
        said(&format!(
            "{}- apiVersion: cert-manager.io/v1\n  kind: Certificate\n  metadata: {{name: mine, namespace: team}}\n  spec: {{secretName: {secret}, dnsNames: {names}}}\n",
            list(&config, TLS)
        ))
    };
    assert_eq!(by_hand("other", "[]"), "");
    assert!(
        by_hand("cache-tls, commonName: localhost", "['*.KV.example.org', valkey-cache.team.svc.cluster.local]")
            .contains("lacks `localhost`:")
    );
    assert_eq!(by_hand("cache-tls", "['*.kv.example.org', valkey-cache.team.svc.cluster.local, localhost]"), "");
    insta::assert_snapshot!(by_hand("cache-tls", "['*.kv.example.org', shard-0-0.example.org]"));
}

#[test]
fn a_certificate_in_a_secret_is_looked_at() {
    let config = config("Command", GATEWAY, ", emit: {routes: TLSRoute}");
    let pem = include_str!("../../../testdata/certificates/server.crt");
    let with = |secret: &str, text: &str| {
        said(&format!("{}- apiVersion: v1\n  kind: Secret\n  metadata: {{name: {secret}, namespace: team}}\n{text}", list(&config, TLS)))
    };
    let plain: String = pem.lines().map(|line| format!("      {line}\n")).collect();
    let plain = format!("  stringData:\n    tls.crt: |\n{plain}");
    let encoded = format!("  data:\n    tls.crt: {}\n", STANDARD.encode(pem));
    for text in [&plain, &encoded] {
        let said = with("cache-tls", text);
        assert_eq!(
            said,
            "certificate-name: [warning] v1/Secret/team/cache-tls data: the servers of cluster team/cache use the certificate in `tls.crt`, and it lacks `valkey-cache.team.svc.cluster.local`: have one made that has all names that clients, the operator and the probes verify\n"
        );
        assert_eq!(with("other", text), "");
    }
    for unreadable in ["ENC[AES256_GCM,data:x]", "''", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUI=", "{a: b}"] {
        assert_eq!(
            with(
                "cache-tls",
                &format!("  data: {{tls.crt: {unreadable}}}\n")
                    .replace("{tls.crt: ENC[AES256_GCM,data:x]}", "{tls.crt: 'ENC[AES256_GCM,data:x]'}")
            ),
            ""
        );
    }
}

#[test]
fn node_ports_that_move_are_told() {
    let base = |announce: &str| config(announce, "domain: kv.example.org, nodePorts: {base: 31000}", "");
    for (announce, what) in [("Live", "6 nodes get other ports: "), ("Command", "6 nodes get other ports, and restart for it: ")] {
        let text = printed(&list(&base(announce), ""));
        let moved = said(&text.replace("base: 31000", "base: 31100"));
        assert!(
            moved.contains(&format!(
                "spec.clusters[0].externalAccess.nodePorts.base: for cluster team/cache: {what}cache-0-0 31000 -> 31100"
            )),
            "{moved}"
        );
        let more = said(&text.replace("replicas: 1", "replicas: 2"));
        assert!(more.contains("cache-1-0 31002 -> 31003") && more.contains("portsPerShard"), "{more}");
        assert_eq!(said(&text.replace("shards: 3", "shards: 4")), "");
    }
    // Behind a Gateway the Services' own ports lead no client anywhere.
    let text = printed(&list(&base("Live"), ""));
    let behind = said(&text.replace("nodePorts: {base: 31000}", "gateway: {gatewayRef: {name: edge}, basePort: 7000}"));
    assert!(!behind.contains("ports-moved"), "{behind}");
}

#[test]
fn a_listener_that_does_not_pass_the_servers_tls_through_is_told() {
    let config = config("Live", &GATEWAY.replace(", namespace: infra", ""), ", emit: {routes: TLSRoute}");
    let with = |listener: &str| {
        said(&format!(
            "{}- apiVersion: gateway.networking.k8s.io/v1\n  kind: Gateway\n  metadata: {{name: edge, namespace: team}}\n  spec: {{gatewayClassName: any, listeners: [{{name: kv, port: 7000, {listener}}}]}}\n",
            list(&config, TLS)
        ))
    };
    for passes in ["", ", hostname: '*.kv.example.org'", ", hostname: '*.example.org'"] {
        assert_eq!(with(&format!("protocol: TLS, tls: {{mode: Passthrough}}{passes}")), "");
    }
    for other in
        ["protocol: TLS", "protocol: TLS, tls: {mode: Terminate}", "protocol: TLS, tls: {mode: Passthrough}, hostname: '*.org.example'"]
    {
        let said = with(other);
        assert!(
            said.starts_with("listener-missing: [warning]")
                && said.contains("does not pass this node's TLS through")
                && said.contains("\"vk-sni\""),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

fn ran(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_expose-valkey")).current_dir(folder).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_only_the_running_cluster_knows_is_named_and_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("operator-managed-ports");
    fs::create_dir_all(&folder).unwrap();
    let manifest = |access: &str| {
        format!(
            "apiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster\nmetadata: {{name: cache, namespace: team}}\nspec: {{shards: 1, replicas: 1}}\n---\napiVersion: fn.valkey.io/v1alpha1\nkind: ExposeValkey\nmetadata: {{name: e}}\nspec: {}\n",
            config("Live", access, "")
        )
    };
    let service = |node: u32| {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": format!("valkey-cache-0-{node}"), "namespace": "team", "labels": {
                "fn.valkey.io/cluster": "cache", "fn.valkey.io/shard-index": "0", "fn.valkey.io/node-index": node.to_string(),
            }},
            "spec": {"ports": [{"name": format!("vk-n{node}"), "port": 6379 + node, "nodePort": 31500 + node}]},
            "status": {"loadBalancer": {"ingress": [{"ip": format!("192.0.2.{node}")}]}},
        })
    };
    let kubernetes_node = |name: &str, last: u32| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"addresses": [
            {"type": "Hostname", "address": name}, {"type": "InternalIP", "address": format!("10.0.0.{last}")},
        ]}})
    };
    let seen =
        json!({"apiVersion": "v1", "kind": "List", "items": [service(0), service(1), kubernetes_node("a", 1), kubernetes_node("b", 2)]});
    fs::write(folder.join("seen.yaml"), seen.to_string()).unwrap();
    let mut all = String::new();
    for access in ["serviceType: NodePort", "serviceType: LoadBalancer", "serviceType: NodePort, domain: kv.example.org"] {
        fs::write(folder.join("cluster.yaml"), manifest(access)).unwrap();
        all.push_str(&format!("# {access}\n"));
        all.push_str(&ran(&folder, &["check", "-f", "cluster.yaml"]));
        all.push_str(&ran(&folder, &["ports", "-f", "cluster.yaml"]));
        all.push_str(&ran(&folder, &["ports", "-f", "cluster.yaml", "--from", "seen.yaml"]));
    }
    insta::assert_snapshot!(all);
    fs::write(folder.join("cluster.yaml"), manifest("serviceType: NodePort")).unwrap();
    let rows: Value = serde_json::from_str(&ran(&folder, &["ports", "-o", "json", "-f", "cluster.yaml", "--from", "seen.yaml"])).unwrap();
    assert_eq!((&rows[1]["clientPort"], &rows[1]["addresses"]), (&json!(31501), &json!(["10.0.0.1", "10.0.0.2"])));
}

/// The operator of today makes a headless Service for each cluster too.
#[test]
fn a_cluster_must_not_have_the_name_of_a_nodes_service() {
    let found = |name: &str| {
        let other = format!(
            "- apiVersion: valkey.io/v1alpha1\n  kind: ValkeyCluster\n  metadata: {{name: {name}, namespace: team}}\n  spec: {{shards: 1}}\n"
        );
        let config = config("Live", "serviceType: NodePort, bootstrapService: true", "");
        let config = config.replace("clusters: [{", "clusters: [{selector: {names: [cache]}, ");
        said(&format!("{}{other}", list(&config, "")))
    };
    for (taken, what) in [("cache-2-1", "the Service of node cache-2-1"), ("cache-bootstrap", "the bootstrap Service")] {
        let said = found(taken);
        assert!(said.starts_with("headless-service: [error]") && said.contains(what), "{taken}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    for free in ["cache-2-2", "cache-3-0", "cache-shard-0", "cache-0"] {
        assert_eq!(found(free), "", "{free}");
    }
}

#[test]
fn placeholders_belong_into_the_function_config() {
    let annotations = "serviceAnnotations: {example.org/address: 'cache-{shard}-{node}'}";
    let access = "domain: kv.example.org, nodePorts: {base: 31000}";
    assert_eq!(said(&list(&config("Command", &format!("{access}, {annotations}"), ""), "")), "");
    let own = format!("externalAccess: {{{annotations}}}");
    let found = said(&list(&config("Command", access, ""), &own));
    assert!(found.contains("\nplaceholder-in-cluster: [warning]"), "{found}");
    assert!(found.contains("is `cache-0-0` on the Service of the first node"), "{found}");
    assert_eq!(found.lines().count(), 2, "{found}");
    let gateway = "externalAccess: {gateway: {gatewayRef: {sectionName: 'vk-{shard}-{node}'}}}";
    let found = said(&list(&config("Command", GATEWAY, ""), gateway));
    assert!(found.contains("\nplaceholder-in-cluster: [warning]"), "{found}");
    assert!(found.contains("attaches to listener `vk-0-0`"), "{found}");
    assert_eq!(found.lines().count(), 2, "{found}");
}

#[test]
fn what_is_missing_is_named_where_external_access_is_set() {
    let own = "externalAccess: {enabled: true, serviceType: LoadBalancer}";
    let found = said(&list("{mode: OperatorManaged}", own));
    assert!(
        found.starts_with("command-needs: [error] valkey.io/v1alpha1/ValkeyCluster/team/cache spec.externalAccess.domain: "),
        "{found}"
    );
    let found = said(&list(&config("Command", "serviceType: LoadBalancer", ""), ""));
    assert!(found.contains(" spec.clusters[0].externalAccess.domain: for cluster team/cache: "), "{found}");
}
