//! What must hold for any input, searched by chance.

mod commands;
mod edits;
mod hostile;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use expose_valkey::krm::{Change, ResourceList, write, yaml};
use expose_valkey::plan::{
    Cluster, ClusterName, Domain, HostnamePrefix, NodePortSource, Plan, Port, PortRange, Ports, Services, Stride, Topology,
};
use expose_valkey::run;
use serde_json::{Value, json};

use crate::splitting::{content, data_of};
use crate::styled::{self, Tape, Wildness, for_tapes};

#[test]
fn listener_ports_of_a_plan_are_distinct_and_in_range() {
    let planned = Cell::new(0);
    for_tapes(400, |tape, _| {
        let number = |tape: &mut Tape<'_>, below: usize| {
            u32::try_from((tape.pick(256) * 65_536 + tape.pick(256) * 256 + tape.pick(256)) % below).unwrap()
        };
        let (shards, replicas) = (1 + number(tape, 400), number(tape, 12));
        let topology = Topology::new(shards, replicas).unwrap();
        let per_shard = topology.nodes_per_shard() + number(tape, 8);
        let base = Port::new(u64::from(1 + number(tape, 65_535))).unwrap();
        let cluster = Cluster {
            name: ClusterName::new("cache").unwrap(),
            namespace: None,
            topology,
            stride: Stride::new(per_shard, topology).unwrap(),
            ports: Ports::Listeners { base },
            node_ports: NodePortSource::Formula { base, range: PortRange::ALL },
            domain: Domain::new("example.org").ok(),
            hostname_prefix: HostnamePrefix::new("shard").unwrap(),
            services: Services::PerShard,
        };
        let greatest = u64::from(base.get()) + u64::from(shards - 1) * u64::from(per_shard) + u64::from(replicas);
        let plan = match Plan::new(cluster) {
            Ok(plan) => plan,
            Err(_) if greatest > 65_535 => return Ok(()),
            Err(refused) => return Err(format!("{refused:?}, though the greatest port is {greatest}")),
        };
        planned.set(planned.get() + 1);
        let ports: BTreeSet<u16> = plan.nodes().filter_map(|node| node.listener_port).map(Port::get).collect();
        let names: BTreeSet<&str> = plan.nodes().map(|node| node.name.as_str()).collect();
        let nodes = usize::try_from(topology.nodes()).unwrap();
        let all_there = greatest <= 65_535 && (ports.len(), names.len()) == (nodes, nodes);
        let exact = ports.first() == Some(&base.get()) && ports.last().map(|port| u64::from(*port)) == Some(greatest);
        if all_there && exact { Ok(()) } else { Err(format!("base {base}, {shards} shards of {per_shard}: {ports:?}")) }
    });
    assert!(planned.get() > 100, "{} plans", planned.get());
}

/// A list of objects that pass by and one cluster, in any style; the cluster's numbers are placeholders, so that two texts
/// that differ in nothing else can be made of it.
struct Template {
    text: String,
    /// The cluster's own text in it.
    cluster: String,
    /// Whether there are routes.
    routes: bool,
}

const SHARDS: u64 = 7_777;
const ENABLED: u64 = 8_888;

impl Template {
    fn new(choices: &mut Tape<'_>, text: &mut Tape<'_>, wildness: Wildness) -> Result<Self, String> {
        let mut items: Vec<Value> = (0..choices.pick(4)).map(|_| styled::object(text)).collect();
        let at = choices.pick(items.len() + 1);
        let mut access = json!({"enabled": ENABLED});
        match choices.pick(3) {
            1 => access["domain"] = json!("kv.example.org"),
            2 => access["gateway"] = json!({"gatewayRef": {"name": "edge"}, "basePort": 7000}),
            _ => {}
        }
        let routes = access.get("gateway").is_some();
        let annotations = match choices.pick(3) {
            1 => json!({"internal.config.kubernetes.io/path": "kv/cluster.yaml", "internal.config.kubernetes.io/index": "0"}),
            2 => json!({"config.kubernetes.io/path": "c.yaml", "note": "line\n  - kind: Fake\n\n"}),
            _ => json!({"note": "n"}),
        };
        let cluster = json!({
            "apiVersion": "valkey.io/v1alpha1",
            "kind": "ValkeyCluster",
            "metadata": {"name": "cache", "namespace": "team", "annotations": annotations, "labels": {"app": "y"}},
            "spec": {"shards": SHARDS, "replicas": 1, "externalAccess": access, "nodeSelector": {"x": "0400"}},
        });
        items.insert(at, cluster);
        let text = styled::list_of(text, wildness, items).text;
        let list = ResourceList::read(&text).map_err(|problems| format!("{problems:?}\n{text}"))?;
        let cluster = content(list.item_text(&list.items[at])).to_owned();
        Ok(Template { cluster, text, routes })
    }

    fn fill(template: &str, shards: u32, enabled: bool) -> String {
        template.replace(&SHARDS.to_string(), &shards.to_string()).replace(&ENABLED.to_string(), &enabled.to_string())
    }

    fn text(&self, shards: u32, enabled: bool) -> String {
        Template::fill(&self.text, shards, enabled)
    }

    /// The cluster in an output as it would be with these numbers.
    fn edited(&self, output: &str, from: (u32, bool), to: (u32, bool)) -> String {
        output.replacen(&Template::fill(&self.cluster, from.0, from.1), &Template::fill(&self.cluster, to.0, to.1), 1)
    }
}

fn rendered(text: &str) -> Result<String, String> {
    let output = run(text);
    match output.findings.iter().find(|finding| output.failed() && finding.to_string().starts_with("[error]")) {
        Some(error) => Err(format!("{error}\n--- of\n{text}")),
        None => Ok(output.text.to_string()),
    }
}

/// Results tell of what was done, and stay. A text that ends in the middle of a line gets a line end with them.
fn same_but_results(before: &str, after: &str) -> Result<(), String> {
    let bare = |text: &str| {
        let list = ResourceList::read(text).unwrap();
        let results = (!list.results_are_referred_to()).then(Vec::new);
        list.with(&Change { results, ..Change::default() }).to_string()
    };
    let (before, after) = (bare(before), bare(after));
    let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
    if after == before || after == format!("{before}{newline}") { Ok(()) } else { Err(format!("before:\n{before}\nafter:\n{after}")) }
}

fn for_clusters(cases: u32, property: impl Fn(&Template) -> Result<(), String>) {
    for wildness in [Wildness::Inside, Wildness::Everywhere] {
        for_tapes(cases, |choices, text| {
            let template = Template::new(choices, text, wildness)?;
            property(&template).map_err(|reason| format!("{reason}\n--- of\n{}", template.text))
        });
    }
}

#[test]
fn a_second_run_changes_nothing() {
    for_clusters(100, |template| {
        let once = rendered(&template.text(2, true))?;
        let twice = rendered(&once)?;
        if once == twice { Ok(()) } else { Err(format!("once:\n{once}\ntwice:\n{twice}")) }
    });
}

#[test]
fn what_passes_by_keeps_its_bytes_and_ours_is_added() {
    for_clusters(100, |template| {
        let text = template.text(2, true);
        let output = rendered(&text)?;
        yaml::parse_strict(output.trim_start_matches('\u{feff}')).map_err(|problem| format!("{problem:?}\n{output}"))?;
        let (before, after) = (ResourceList::read(&text).unwrap(), ResourceList::read(&output).unwrap());
        let texts = |list: &ResourceList<'_>| list.items.iter().map(|item| content(list.item_text(item)).to_owned()).collect::<Vec<_>>();
        let (old, new) = (texts(&before), texts(&after));
        if !new.starts_with(&old) {
            return Err(format!("before {old:#?}\nafter {new:#?}"));
        }
        let data = data_of(&after)?;
        let kinds: Vec<&str> = data[old.len()..].iter().map(|object| object["kind"].as_str().unwrap_or_default()).collect();
        let count = |kind: &str| kinds.iter().filter(|found| **found == kind).count();
        let expected = (2, 4, if template.routes { 4 } else { 0 });
        let found = (count("Service"), count("ValkeyNode"), count("TCPRoute"));
        if data[..old.len()] == data_of(&before)? && found == expected { Ok(()) } else { Err(format!("{found:?} in\n{output}")) }
    });
}

#[test]
fn scaling_out_and_in_gives_the_text_back() {
    for_clusters(70, |template| {
        let two = rendered(&template.text(2, true))?;
        let three = rendered(&template.edited(&two, (2, true), (3, true)))?;
        if ResourceList::read(&three).unwrap().items.len() <= ResourceList::read(&two).unwrap().items.len() {
            return Err(format!("nothing was added:\n{three}"));
        }
        let back = rendered(&template.edited(&three, (3, true), (2, true)))?;
        same_but_results(&two, &back)
    });
}

#[test]
fn turning_access_on_and_off_gives_the_text_back() {
    for_clusters(70, |template| {
        let off = rendered(&template.text(2, false))?;
        let on = rendered(&template.edited(&off, (2, false), (2, true)))?;
        let back = rendered(&template.edited(&on, (2, true), (2, false)))?;
        same_but_results(&off, &back)
    });
}

#[test]
fn what_is_rendered_does_not_depend_on_the_order_of_the_items() {
    for_tapes(60, |choices, text| {
        let cluster = |name: &str, base: u32| {
            json!({
                "apiVersion": "valkey.io/v1alpha1", "kind": "ValkeyCluster", "metadata": {"name": name},
                "spec": {"shards": 2, "replicas": 1, "externalAccess": {"enabled": true, "gateway": {"gatewayRef": {"name": "g"}, "basePort": base}}},
            })
        };
        let mut items: Vec<Value> = vec![cluster("a", 7000), cluster("b", 8000), cluster("c", 9000)];
        items.extend((0..choices.pick(4)).map(|_| styled::object(text)));
        let objects = |items: Vec<Value>, text: &mut Tape<'_>| -> Result<BTreeMap<String, Value>, String> {
            let output = rendered(&styled::list_of(text, Wildness::Inside, items).text)?;
            let data = data_of(&ResourceList::read(&output).unwrap())?;
            let ours = data.into_iter().filter(|object| object.pointer("/metadata/labels/valkey.io~1cluster").is_some());
            Ok(ours.map(|object| (format!("{}/{}", object["kind"], object["metadata"]["name"]), object)).collect())
        };
        let first = objects(items.clone(), text)?;
        for at in 0..items.len() {
            let other = choices.pick(items.len());
            items.swap(at, other);
        }
        let second = objects(items, text)?;
        if first == second && first.len() == 3 * (2 + 4 + 4) { Ok(()) } else { Err(format!("{first:#?}\n{second:#?}")) }
    });
}

#[test]
fn what_is_written_is_read_back_by_us_and_by_libyaml() {
    for_tapes(1500, |choices, tape| {
        let mut object = json!({"first": styled::value(tape, 4), "list": [styled::value(tape, 3), styled::value(tape, 2)]});
        let number: Value = [json!(0), json!(-1), json!(u64::MAX), json!(i64::MIN), json!(1.5), json!(-0.25), json!(1e300), json!(5e-324)]
            [choices.pick(8)]
        .clone();
        object["number"] = number;
        // Also a text of any characters at all.
        let chars = (0..tape.pick(12))
            .filter_map(|_| char::from_u32(u32::try_from(tape.pick(256) << [0, 8, 12][tape.pick(3)] | tape.pick(256)).unwrap()));
        object["any"] = json!(chars.collect::<String>());
        let mut text = String::new();
        write::mapping(&mut text, &object, 0);
        let ours = yaml::parse_strict(&text)
            .map_err(|problem| format!("{problem:?}\n{text}"))?
            .value()
            .map_err(|problems| format!("{problems:?}\n{text}"))?;
        if ours != object {
            return Err(format!("we read {ours:#}\nin {text}"));
        }
        let theirs: Value = yaml_serde::from_str(&text).map_err(|error| format!("{error} in\n{text}"))?;
        if theirs == object { Ok(()) } else { Err(format!("libyaml reads {theirs:#}\nin {text}")) }
    });
}
