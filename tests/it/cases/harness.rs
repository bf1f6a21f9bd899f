//! Running over an input, what must hold for every input, and reading what came out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use expose_valkey::finding::Finding;
use expose_valkey::object::Object;
use expose_valkey::plan::Plan;
use expose_valkey::rule::Rule;
use expose_valkey::{expose, krm, run};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const NONE: [&str; 0] = [];

pub(crate) fn folders() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases");
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// One document, read by a YAML reader that is not ours; nothing if that one refuses it.
pub(crate) fn read(text: &str) -> Option<Value> {
    let documents = yaml_serde::Deserializer::from_str(text).map(Value::deserialize);
    let mut documents: Vec<Value> = documents.collect::<Result<_, _>>().ok()?;
    documents.retain(|document| !document.is_null());
    assert!(documents.len() <= 1, "more than one document:\n{text}");
    documents.pop().or(Some(Value::Null))
}

/// An input of one cluster, for variants of a line.
pub(crate) const ONE_CLUSTER: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n  - {apiVersion: valkey.io/v1alpha1, kind: ValkeyCluster, metadata: {name: one}, spec: {shards: 1, externalAccess: {enabled: true}}}\n";

/// What a run over an input comes to.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) input: String,
    pub(crate) output: String,
    pub(crate) findings: Vec<Finding>,
    failed: bool,
    /// The input as data; nothing if no list came out of it, or if it is too odd for another reader.
    before: Option<Value>,
    /// The output as data.
    pub(crate) list: Value,
    /// Items of the input as data.
    pub(crate) inputs: Vec<Value>,
}

impl Case {
    /// Runs over a folder's input, and checks what must hold for every input.
    pub(crate) fn run(name: &str) -> Case {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases").join(name).join("input.yaml");
        let input = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let case = Case { name: name.to_owned(), ..Case::unchecked(&input) };
        case.check();
        case
    }

    /// Runs over a variant of a folder's input.
    pub(crate) fn of(input: &str) -> Case {
        let case = Case::unchecked(input);
        case.check();
        case
    }

    fn unchecked(input: &str) -> Case {
        let output = run(input);
        let text = output.text.to_string();
        let before = if text.is_empty() { None } else { read(input) };
        let list = before.as_ref().map(|_| read(&text).unwrap_or_else(|| panic!("not YAML:\n{text}")));
        let inputs = before.as_ref().and_then(|list| list["items"].as_array().cloned()).unwrap_or_default();
        Case {
            name: "variant".to_owned(),
            input: input.to_owned(),
            list: list.unwrap_or_default(),
            before,
            failed: output.failed(),
            findings: output.findings,
            output: text,
            inputs,
        }
    }

    /// The findings in their order: severity, rule, name of the object.
    pub(crate) fn finds(&self, expected: &[&str]) {
        let found: Vec<String> = self.findings.iter().map(shown).collect();
        assert_eq!(found, expected, "{}\n{}", self.name, self.messages());
    }

    fn messages(&self) -> String {
        self.findings.iter().map(|finding| format!("{finding}\n")).collect()
    }

    fn items(&self) -> &[Value] {
        self.list["items"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Kind and name of an item of the output.
    pub(crate) fn item(&self, index: usize) -> String {
        head(&self.items()[index])
    }

    pub(crate) fn all(&self, kind: &str) -> Vec<&Value> {
        self.items().iter().filter(|item| item["kind"] == kind).collect()
    }

    pub(crate) fn names(&self, kind: &str) -> Vec<&str> {
        self.all(kind).into_iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
    }

    pub(crate) fn get(&self, kind: &str, name: &str) -> &Value {
        let found = self.all(kind).into_iter().find(|item| item["metadata"]["name"] == name);
        found.unwrap_or_else(|| panic!("{}: there is no {kind} {name}\n{}", self.name, self.messages()))
    }

    /// Objects that the input does not have.
    pub(crate) fn generated(&self) -> Vec<&Value> {
        let known: Vec<Identity<'_>> = self.inputs.iter().map(identity).collect();
        self.items().iter().filter(|item| !known.contains(&identity(item))).collect()
    }

    pub(crate) fn types(&self) -> Vec<&str> {
        self.all("Service").into_iter().map(|service| service["spec"]["type"].as_str().unwrap()).collect()
    }

    /// Each node, and the port that it announces.
    pub(crate) fn client_ports(&self) -> Vec<(&str, Option<u64>)> {
        let port = |node: &Value| node["spec"].get("externalAccessClientPort").map(|port| port.as_u64().unwrap());
        self.all("ValkeyNode").into_iter().map(|node| (node["metadata"]["name"].as_str().unwrap(), port(node))).collect()
    }

    /// Each route, and the port of the listener that it attaches to.
    pub(crate) fn listener_ports(&self) -> BTreeMap<String, u64> {
        let routes = self.all("TCPRoute").into_iter();
        routes
            .map(|route| (route["metadata"]["name"].as_str().unwrap().to_owned(), route["spec"]["parentRefs"][0]["port"].as_u64().unwrap()))
            .collect()
    }

    pub(crate) fn section_names(&self) -> Vec<&str> {
        self.all("TCPRoute").into_iter().map(|route| route["spec"]["parentRefs"][0]["sectionName"].as_str().unwrap()).collect()
    }

    pub(crate) fn route_versions(&self) -> Vec<&str> {
        let versions = self.all("TCPRoute").into_iter().map(|route| route["apiVersion"].as_str().unwrap());
        versions.map(|version| version.strip_prefix("gateway.networking.k8s.io/").unwrap()).collect()
    }

    /// A cluster of the input as it is exposed.
    pub(crate) fn exposed(&self, cluster: &str) -> expose_valkey::validate::Exposed {
        // By our own reader, as merge keys are its business.
        let items = krm::yaml::parse(&self.input).unwrap().value().unwrap()["items"].as_array().cloned().unwrap_or_default();
        let objects: Vec<Object> = items.into_iter().enumerate().map(|(order, item)| Object::new(item, None, order)).collect();
        let found = expose(&objects, None).clusters.into_iter().find(|exposed| exposed.name() == cluster);
        found.unwrap_or_else(|| panic!("{cluster} is not exposed"))
    }

    /// What each shard's nodes announce.
    pub(crate) fn hostnames(&self, cluster: &str) -> Vec<Option<String>> {
        let plan: Plan = self.exposed(cluster).plan;
        plan.shards.iter().map(|shard| shard.hostname.as_ref().map(|name| name.as_str().to_owned())).collect()
    }

    /// All that a user sees. Of a very long output, only which objects are new.
    pub(crate) fn seen(&self) -> String {
        let code = if self.failed { 1 } else { 0 };
        let output = if self.output.lines().count() > 1500 {
            self.generated().into_iter().map(|object| format!("{}\n", head(object))).collect()
        } else {
            self.output.clone()
        };
        format!("exit code: {code}\n=== standard error\n{}=== standard output\n{output}", self.messages())
    }

    // === what must hold for every input ===

    fn check(&self) {
        let again = run(&self.input);
        assert_eq!(again.text.to_string(), self.output, "{}: the same input gives the same bytes", self.name);
        let is_error = |finding: &Finding| finding.severity.as_str() == "error";
        assert_eq!(self.failed, self.findings.iter().any(is_error), "{}", self.name);
        if !self.failed {
            let second = run(&self.output);
            assert_eq!(second.text.to_string(), self.output, "{}: a second run changes nothing", self.name);
        }
        match &self.before {
            Some(before) => {
                self.check_results();
                if self.failed {
                    self.check_failure();
                } else {
                    self.check_success(before);
                }
            }
            None if self.output.is_empty() => assert!(self.failed, "{}: nothing at all came out", self.name),
            None => assert!(is_insertion(&self.input, &self.output), "{}: the items come out as they came", self.name),
        }
    }

    fn check_failure(&self) {
        assert_eq!(self.items(), self.inputs, "{}: no part of what is wanted comes out", self.name);
        assert!(is_insertion(&self.input, &self.output), "{}: the items come out as they came", self.name);
        let results = self.list["results"].as_array().unwrap();
        assert!(results.iter().any(|result| result["severity"] == "error"), "{}", self.name);
    }

    fn check_success(&self, before: &Value) {
        for key in ["apiVersion", "kind", "functionConfig"] {
            assert_eq!(self.list.get(key), before.get(key), "{}: {key}", self.name);
        }
        self.check_inputs();
        for object in self.generated() {
            check_clean(object, &head(object));
            assert_eq!(object.get("status"), None, "{}: {}", self.name, head(object));
            assert_eq!(object["metadata"].get("creationTimestamp"), None, "{}: {}", self.name, head(object));
        }
        let identities: Vec<Identity<'_>> = self.items().iter().map(identity).collect();
        for (index, identity) in identities.iter().enumerate() {
            assert!(!identities[..index].contains(identity), "{}: {identity:?} is there twice", self.name);
        }
        let order: Vec<Place> = self.generated().into_iter().map(|object| self.place(object)).collect();
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{}: not in order: {order:?}", self.name);
    }

    /// Items of the input come first, in their order and as they were, but for outputs of earlier runs.
    fn check_inputs(&self) {
        let removed = |item: &Value| {
            self.findings
                .iter()
                .any(|f| f.rule == Rule::StaleRemoved && f.object.as_ref().is_some_and(|o| o.name == item["metadata"]["name"]))
        };
        let is_output = |item: &Value| item["metadata"]["labels"].get("valkey.io/cluster").is_some();
        let kept: Vec<&Value> = self.inputs.iter().filter(|item| !removed(item)).collect();
        for (index, item) in kept.iter().enumerate() {
            assert_eq!(self.item(index), head(item), "{}: item {index}", self.name);
            if !is_output(item) {
                assert_eq!(&&self.items()[index], item, "{}: item {index}", self.name);
            }
        }
        if self.inputs.is_empty() {
            return;
        }
        if !self.inputs.iter().any(is_output) {
            assert!(is_insertion(&self.input, &self.output), "{}: the text of the input is not all there", self.name);
            return;
        }
        let mut rest = self.output.as_str();
        for text in item_texts(&self.input).into_iter().filter(|text| !text.contains("valkey.io/cluster:")) {
            let at = rest.find(text).unwrap_or_else(|| panic!("{}: changed:\n{text}", self.name));
            rest = &rest[at + text.len()..];
        }
    }

    fn check_results(&self) {
        let Some(results) = self.list.get("results") else {
            assert!(self.findings.is_empty(), "{}: findings without results", self.name);
            return;
        };
        let expected: Vec<Value> = self.findings.iter().map(Finding::to_result).collect();
        assert_eq!(results, &Value::from(expected), "{}", self.name);
        for result in results.as_array().unwrap() {
            let result = result.as_object().unwrap();
            let message = result["message"].as_str().unwrap();
            assert!(!message.is_empty() && !message.ends_with('.') && !message.contains("panicked"), "{}: {message}", self.name);
            assert!(["error", "warning", "info"].contains(&result["severity"].as_str().unwrap()));
            assert!(Rule::ALL.iter().any(|rule| result["tags"] == json!({"rule": rule.id()})));
            for (key, value) in result {
                let parts: &[&str] = match key.as_str() {
                    "message" | "severity" | "tags" => continue,
                    "resourceRef" => &["apiVersion", "kind", "name"],
                    "field" | "file" => &["path"],
                    other => panic!("{}: results have no field {other}", self.name),
                };
                for part in parts {
                    assert!(value[part].as_str().is_some_and(|text| !text.is_empty()), "{}: {key}.{part}", self.name);
                }
            }
        }
    }

    /// Where an object belongs among the new ones: cluster by cluster as in the input, then kind, shard, node.
    fn place(&self, object: &Value) -> Place {
        let labels = &object["metadata"]["labels"];
        let number = |label: &str| labels.get(label).map(|text| text.as_str().unwrap().parse().unwrap());
        let cluster = labels["valkey.io/cluster"].as_str().unwrap();
        let is_cluster = |item: &Value| {
            item["kind"] == "ValkeyCluster"
                && item["metadata"]["name"] == cluster
                && item["metadata"].get("namespace") == object["metadata"].get("namespace")
        };
        let kind = ["Service", "ValkeyNode", "TCPRoute"].iter().position(|kind| object["kind"] == *kind).unwrap();
        (self.inputs.iter().position(is_cluster), kind, number("valkey.io/shard-index").unwrap(), number("valkey.io/node-index"))
    }
}

type Place = (Option<usize>, usize, u32, Option<u32>);

type Identity<'v> = (&'v Value, &'v Value, Option<&'v Value>);

fn identity(item: &Value) -> Identity<'_> {
    (&item["kind"], &item["metadata"]["name"], item["metadata"].get("namespace"))
}

fn head(item: &Value) -> String {
    format!("{} {}", item["kind"].as_str().unwrap_or_default(), item["metadata"]["name"].as_str().unwrap_or_default())
}

fn shown(finding: &Finding) -> String {
    let name = finding.object.as_ref().map_or(String::new(), |object| format!(" {}", object.name));
    format!("{} {}{name}", finding.severity.as_str(), finding.rule.id())
}

/// Nothing that means "not set", anywhere.
fn check_clean(value: &Value, at: &str) {
    match value {
        Value::Null => panic!("{at} is null"),
        Value::Object(map) => {
            assert!(!map.is_empty(), "{at} is an empty mapping");
            map.iter().for_each(|(key, value)| check_clean(value, &format!("{at}.{key}")));
        }
        Value::Array(list) => {
            assert!(!list.is_empty(), "{at} is an empty list");
            list.iter().for_each(|value| check_clean(value, &format!("{at}[]")));
        }
        _ => {}
    }
}

/// Whether `long` is `short` with something put in at one place.
fn is_insertion(short: &str, long: &str) -> bool {
    let before = short.bytes().zip(long.bytes()).take_while(|(a, b)| a == b).count();
    let behind = short.bytes().rev().zip(long.bytes().rev()).take_while(|(a, b)| a == b).count();
    long.len() >= short.len() && before + behind >= short.len()
}

/// The text of each item of a list whose dashes stand in the third column.
fn item_texts(list: &str) -> Vec<&str> {
    let starts: Vec<usize> = list.match_indices("\n  - ").map(|(at, _)| at + 1).chain([list.len()]).collect();
    starts.windows(2).map(|pair| &list[pair[0]..pair[1]]).collect()
}
