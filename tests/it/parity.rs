//! The operator's own objects, against ours: `testdata/parity` holds what its code renders, `README.md` there says how.
//!
//! Whatever differs on purpose is named in [`DIFFERENCES`], and a difference that is no longer there fails as well.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use expose_valkey::run;
use serde::Deserialize;
use serde_json::Value;

/// How our objects differ from the operator's.
enum Difference {
    /// None come out.
    NothingRendered,
    /// None come out, and an error of this rule says why.
    Refused(&'static str),
    /// The operator writes this field in objects of this kind, we do not.
    LeftOut(&'static str, &'static str),
    /// We write this field in objects of this kind, the operator does not.
    Added(&'static str, &'static str),
}

use Difference::{Added, LeftOut, NothingRendered, Refused};

/// Every difference that is meant: vector, what differs, and why.
const DIFFERENCES: &[(&str, Difference, &str)] = &[
    ("pr281/minimal", NothingRendered, "external access is off: the operator renders its own ValkeyNodes"),
    ("pr281/ea-disabled", NothingRendered, "external access is off, whatever else is set"),
    ("pr281/ea-empty-object", NothingRendered, "external access is off unless `enabled` is true"),
    ("pr281/nodeport-status", LeftOut("Service", "spec.ports.*.nodePort"), NODE_PORTS),
    ("pr281/nodeport-status-partial", LeftOut("Service", "spec.ports.*.nodePort"), NODE_PORTS),
    ("pr281/nodeport-hostname-domain-defaultprefix", LeftOut("Service", "spec.ports.*.nodePort"), NODE_PORTS),
    (
        "pr281/gateway-local-traffic-policy",
        LeftOut("Service", "spec.externalTrafficPolicy"),
        "the API server refuses it on a ClusterIP Service",
    ),
    (
        "pr281/gateway-ports-past-65535",
        Refused("port-range"),
        "the Gateway API has no such ports: a third of the nodes would be out of reach",
    ),
    ("pr281/gateway-baseport-70000", Refused("out-of-range"), "the operator's CRD refuses it"),
    ("pr281/gateway-baseport-0", Refused("out-of-range"), "the operator's CRD refuses it"),
    ("pr281/hostname-without-domain", Refused("hostname-without-domain"), "the operator's CRD refuses it"),
    ("pr281/hostname-empty-domain", Refused("hostname-without-domain"), "nodes would prefer a hostname that they do not have"),
    ("pr281/name-49", Refused("name-length"), "the API server refuses the Services"),
    ("pr281/name-64", Refused("name-length"), "the API server refuses the Services"),
    ("pr281/name-dotted", Refused("cluster-name"), "the API server refuses the Services"),
    ("pr281/shards-omitted", Refused("counts"), "the CRD accepts it and the operator then does nothing, in silence"),
    ("pr281/unknown-fields", Added("ValkeyNode", "spec.tls"), BOTH_SPELLINGS),
    ("pr281/unknown-fields", Added("ValkeyNode", "spec.priorityClassName"), BOTH_SPELLINGS),
    ("main/old-pr281-fields-pruned", Added("ValkeyNode", "spec.tls"), BOTH_SPELLINGS),
    ("main/old-pr281-fields-pruned", Added("ValkeyNode", "spec.nodeSelector"), BOTH_SPELLINGS),
    ("main/old-pr281-fields-pruned", Added("ValkeyNode", "spec.tolerations"), BOTH_SPELLINGS),
];

const NODE_PORTS: &str = "what Kubernetes has allocated is announced, but not pinned: Git must not claim ports that it does not own";
const BOTH_SPELLINGS: &str =
    "the CRD of one branch drops what only the other knows; the list does not say which one is installed, so neither is lost";

#[test]
fn services_nodes_and_routes_are_the_operators() {
    compare_all("pr281", |vector| (vector.input.clone(), vector.expected("expected.yaml")));
}

/// The released operator knows no external access: its ValkeyNodes, and what ours say beyond that.
#[test]
fn nodes_are_those_of_the_released_operator() {
    compare_all("main", |vector| {
        let on = "  externalAccess:\n    enabled: true\n";
        let input =
            if vector.input.contains(on) { vector.input.clone() } else { vector.input.replacen("\nspec:\n", &format!("\nspec:\n{on}"), 1) };
        assert!(input.contains(on), "{}: external access could not be turned on", vector.name);
        (input, vector.expected("expected.yaml"))
    });
}

/// A cluster at Gateway API 1.6 gets the same routes in another version.
#[test]
fn routes_of_both_versions_say_the_same() {
    let mut seen = 0;
    for vector in vectors("pr281") {
        let (old, new) = (rendered(&vector.input, "v1alpha2"), rendered(&vector.input, "v1"));
        let as_new = |mut object: Value| {
            if object["kind"] == "TCPRoute" {
                assert_eq!(object["apiVersion"], "gateway.networking.k8s.io/v1alpha2", "{}", vector.name);
                object["apiVersion"] = "gateway.networking.k8s.io/v1".into();
                seen += 1;
            }
            object
        };
        let old: Vec<Value> = old.objects.into_iter().map(as_new).collect();
        assert_eq!(old, new.objects, "{}", vector.name);
    }
    assert!(seen > 100, "only {seen} routes were compared");
}

/// Once the Services in the list show their NodePorts, the nodes announce them, and the Services keep them.
#[test]
fn allocated_node_ports_are_kept_and_announced() {
    let mut seen = Vec::new();
    for vector in vectors("pr281") {
        let file = if vector.has("expected.allocated.yaml") { "expected.allocated.yaml" } else { "expected.yaml" };
        let (text, expected) = (vector.read(file), vector.expected(file));
        if !text.contains("nodePort:") {
            continue;
        }
        let services: String = text
            .split_inclusive("---\n")
            .filter(|document| document.contains("kind: Service"))
            .map(|document| item(document.trim_end_matches("---\n")))
            .collect();
        // The ports must come from the Services alone.
        let cluster = vector.input.split("\nstatus:\n").next().unwrap().to_owned() + "\n";
        let ours = outcome(&run(&list(&format!("{}{services}", item(&cluster)), "v1alpha2")), 1);
        assert_eq!(normal(ours.objects), normal(expected), "{}", vector.name);
        seen.push(vector.name);
    }
    let wanted = ["nodeport-default", "nodeport-hostname-domain-defaultprefix", "nodeport-status", "nodeport-status-partial"];
    assert_eq!(seen, wanted.map(|name| format!("pr281/{name}")));
}

#[test]
fn every_named_difference_is_about_a_vector() {
    let known: BTreeSet<String> = ["pr281", "main"].into_iter().flat_map(vectors).map(|vector| vector.name).collect();
    for (name, _, _) in DIFFERENCES {
        assert!(known.contains(*name), "{name}");
    }
}

#[test]
fn quantities_are_compared_by_what_they_mean() {
    for (a, b) in [
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("2000m", "2"),
        ("1e9", "1G"),
        ("1.5Gi", "1536Mi"),
        ("10737418240", "10Gi"),
        ("100u", "0.1m"),
        ("1E", "1e18"),
    ] {
        assert_eq!(quantity(a), quantity(b), "{a} {b}");
    }
    for (a, b) in [("1G", "1Gi"), ("1m", "1"), ("1M", "1m"), ("-1", "1")] {
        assert_ne!(quantity(a), quantity(b), "{a} {b}");
    }
    for text in ["", "Gi", "1.2.3", "1x", "1ee", "fast"] {
        assert_eq!(quantity(text), None, "{text}");
    }
}

// === vectors ===

struct Vector {
    /// Branch of the operator and name of the vector.
    name: String,
    folder: PathBuf,
    input: String,
}

fn vectors(branch: &str) -> Vec<Vector> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/parity").join(branch);
    let mut folders: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let vector = |folder: PathBuf| Vector {
        name: format!("{branch}/{}", folder.file_name().unwrap().to_str().unwrap()),
        input: fs::read_to_string(folder.join("input.yaml")).unwrap(),
        folder,
    };
    folders.into_iter().map(vector).collect()
}

impl Vector {
    fn has(&self, file: &str) -> bool {
        self.folder.join(file).exists()
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap()
    }

    fn expected(&self, file: &str) -> Vec<Value> {
        documents(&self.read(file))
    }

    fn differences(&self) -> impl Iterator<Item = &'static Difference> {
        DIFFERENCES.iter().filter(|(name, _, _)| *name == self.name).map(|(_, difference, _)| difference)
    }
}

fn documents(text: &str) -> Vec<Value> {
    let documents = yaml_serde::Deserializer::from_str(text).map(|document| Value::deserialize(document).unwrap());
    documents.filter(|document| !document.is_null()).collect()
}

// === running ===

struct Outcome {
    /// What came out beside the input.
    objects: Vec<Value>,
    errors: Vec<String>,
}

fn rendered(cluster: &str, version: &str) -> Outcome {
    outcome(&run(&list(&item(cluster), version)), 1)
}

/// A document as an item of a block sequence.
fn item(document: &str) -> String {
    let document = document.trim_start_matches("---\n");
    document.lines().enumerate().map(|(line, text)| format!("{}{text}\n", if line == 0 { "- " } else { "  " })).collect()
}

fn list(items: &str, version: &str) -> String {
    format!(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  apiVersion: fn.valkey.io/v1alpha1\n  kind: ExposeValkey\n  spec:\n    gatewayAPI: {{tcpRoute: {version}}}\n    # What GitOps tools are told is ours alone.\n    gitops: {{prune: Allow}}\nitems:\n{items}"
    )
}

fn outcome(output: &expose_valkey::Output<'_>, inputs: usize) -> Outcome {
    let list = documents(&output.text.to_string()).remove(0);
    let objects = list["items"].as_array().unwrap().iter().skip(inputs).cloned().collect();
    let errors: Vec<String> = output.findings.iter().filter(|f| f.severity.as_str() == "error").map(|f| f.rule.id().to_owned()).collect();
    assert_eq!(output.failed(), !errors.is_empty());
    Outcome { objects, errors }
}

// === comparing ===

/// Runs all vectors of a branch and tells of every one that does not match.
fn compare_all(branch: &str, prepare: impl Fn(&Vector) -> (String, Vec<Value>)) {
    let mut faults = Vec::new();
    let vectors = vectors(branch);
    assert!(vectors.len() >= 37, "vectors are missing");
    for vector in vectors {
        let (input, expected) = prepare(&vector);
        let ours = rendered(&input, "v1alpha2");
        faults.extend(compare(&vector, ours, expected).into_iter().map(|fault| format!("{}: {fault}", vector.name)));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

fn compare(vector: &Vector, ours: Outcome, mut expected: Vec<Value>) -> Vec<String> {
    let mut faults = Vec::new();
    let Outcome { mut objects, errors } = ours;
    if vector.name.starts_with("main/") {
        // Only ValkeyNodes are to be compared, and the operator knows nothing of these two.
        objects.retain(|object| object["kind"] == "ValkeyNode");
        for field in ["spec.externalAccess", "spec.externalAccessClientPort"] {
            objects.iter_mut().for_each(|object| _ = take(object, field));
        }
    }
    for difference in vector.differences() {
        match difference {
            NothingRendered | Refused(_) => {
                let wanted: Vec<&str> = if let Refused(rule) = difference { vec![*rule] } else { Vec::new() };
                if errors != wanted {
                    faults.push(format!("errors are {errors:?}, not {wanted:?}"));
                }
                if !objects.is_empty() {
                    faults.push(format!("{} objects were rendered", objects.len()));
                }
                return faults;
            }
            LeftOut(kind, field) => {
                let (here, there) = (take_all(&mut objects, kind, field), take_all(&mut expected, kind, field));
                if here > 0 || there == 0 {
                    faults.push(format!("{kind} {field} is not left out: {here} times here, {there} times there"));
                }
            }
            Added(kind, field) => {
                let (here, there) = (take_all(&mut objects, kind, field), take_all(&mut expected, kind, field));
                if here == 0 || there > 0 {
                    faults.push(format!("{kind} {field} is not added: {here} times here, {there} times there"));
                }
            }
        }
    }
    if !errors.is_empty() {
        faults.push(format!("refused: {errors:?}"));
    }
    let (objects, expected) = (normal(objects), normal(expected));
    if objects.len() != expected.len() {
        faults.push(format!("{} objects, not {}", objects.len(), expected.len()));
    }
    let differing = objects.iter().zip(&expected).filter(|(object, expected)| object != expected);
    faults.extend(differing.map(|(object, expected)| format!("ours\n  {object}\nthe operator's\n  {expected}")));
    faults
}

fn take_all(objects: &mut [Value], kind: &str, field: &str) -> usize {
    objects.iter_mut().filter(|object| object["kind"] == kind).map(|object| take(object, field)).sum()
}

/// Removes a field, `*` in its path standing for all entries of a list; tells how often it was there.
fn take(value: &mut Value, field: &str) -> usize {
    match (field.split_once('.'), value) {
        (None, Value::Object(map)) => usize::from(map.remove(field).is_some()),
        (Some(("*", rest)), Value::Array(entries)) => entries.iter_mut().map(|entry| take(entry, rest)).sum(),
        (Some((key, rest)), Value::Object(map)) => map.get_mut(key).map_or(0, |value| take(value, rest)),
        _ => 0,
    }
}

/// As data that can be compared: without empty mappings and lists, which Go writes for some structs, and with quantities
/// by their meaning, which the operator writes in canonical form. The order of the objects stays.
fn normal(objects: Vec<Value>) -> Vec<Value> {
    objects.into_iter().map(|object| without_empty(with_quantities(object))).collect()
}

fn without_empty(value: Value) -> Value {
    let is_empty =
        |value: &Value| matches!(value, Value::Object(map) if map.is_empty()) || matches!(value, Value::Array(list) if list.is_empty());
    match value {
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (key, without_empty(value))).filter(|(_, value)| !is_empty(value)).collect()
        }
        Value::Array(list) => list.into_iter().map(without_empty).filter(|value| !is_empty(value)).collect(),
        other => other,
    }
}

fn with_quantities(mut object: Value) -> Value {
    let canonical = |value: &mut Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        *value = quantity(&text).unwrap_or_else(|| panic!("{text} is not a quantity")).to_string().into();
    };
    let spec = &mut object["spec"];
    if let Some(size) = spec.pointer_mut("/persistence/size") {
        canonical(size);
    }
    for holder in ["", "/exporter"] {
        for group in ["limits", "requests"] {
            let amounts = spec.pointer_mut(&format!("{holder}/resources/{group}")).and_then(Value::as_object_mut);
            amounts.into_iter().flat_map(|map| map.values_mut()).for_each(canonical);
        }
    }
    for container in spec.get_mut("containers").and_then(Value::as_array_mut).into_iter().flatten() {
        for group in ["limits", "requests"] {
            let amounts = container.pointer_mut(&format!("/resources/{group}")).and_then(Value::as_object_mut);
            amounts.into_iter().flat_map(|map| map.values_mut()).for_each(canonical);
        }
    }
    object
}

/// A quantity of Kubernetes in millionths of a unit.
fn quantity(text: &str) -> Option<i128> {
    const MICRO: i128 = 1_000_000;
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let binary = |power: u32| Some(MICRO << (10 * power));
    let scale = match suffix {
        "" => Some(MICRO),
        "u" => Some(1),
        "m" => Some(1_000),
        "k" => Some(MICRO * 1_000),
        "M" => Some(MICRO * 1_000_000),
        "G" => Some(MICRO * 1_000_000_000),
        "T" => Some(MICRO * 1_000_000_000_000),
        "P" => Some(MICRO * 1_000_000_000_000_000),
        "E" => Some(MICRO * 1_000_000_000_000_000_000),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => 10i128.checked_pow(exponent.strip_prefix(['e', 'E'])?.parse().ok()?).map(|power| MICRO * power),
    }?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    (!fraction.contains('.')).then(|| digits * scale / 10i128.pow(fraction.len() as u32))
}
