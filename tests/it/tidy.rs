//! What the source must be like, beyond what the compiler and its lints can see.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files that belong to the repository, new ones too, by their paths from the root.
fn files() -> Vec<String> {
    let output = Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = String::from_utf8(output.stdout).unwrap();
    files.lines().filter(|path| root().join(path).is_file()).map(str::to_owned).collect()
}

fn rust_files() -> Vec<(String, String)> {
    let paths = files().into_iter().filter(|path| path.ends_with(".rs"));
    let files: Vec<_> = paths.map(|path| (path.clone(), fs::read_to_string(root().join(path)).unwrap())).collect();
    assert!(files.len() > 50, "{} files", files.len());
    files
}

/// Words in back-quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The module of a file below `src`: the first part of its path.
fn module(path: &str) -> Option<&str> {
    let path = path.strip_prefix("src/")?;
    let name = path.split_once('/').map_or(path.strip_suffix(".rs").unwrap_or(path), |(folder, _)| folder);
    (name != "lib").then_some(name)
}

/// Top-level modules that a text names behind `crate::`, one by one or in braces.
fn used(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let word = |text: &str| -> String { text.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect() };
    for rest in text.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => used.extend(list.split('}').next().unwrap_or_default().split(',').map(word)),
            None => drop(used.insert(word(rest))),
        }
    }
    used.remove("");
    used
}

/// The table of `docs/architecture.md` is the law, and says no more than what is so.
#[test]
fn modules_use_what_the_map_lets_them_use() {
    let mut really: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in rust_files() {
        if let Some(module) = module(&path) {
            let mut others = used(&text);
            others.remove(module);
            really.entry(module.to_owned()).or_default().extend(others);
        }
    }
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let table = page.split_once("## Who may use whom").unwrap().1.split("\n## ").next().unwrap();
    let mut above: BTreeSet<String> = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let [_, modules, uses, _] = row.split('|').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{row}"));
        let modules: BTreeSet<String> = quoted(modules).map(str::to_owned).collect();
        let named: BTreeSet<String> = quoted(uses).map(str::to_owned).collect();
        assert!(named.is_subset(&above), "{row}: a module may only use those above it");
        let may = if uses.contains("all of these") { above.union(&modules).cloned().collect() } else { named.clone() };
        for module in &modules {
            let uses = really.remove(module).unwrap_or_else(|| panic!("there is no module `{module}`"));
            let wrong: Vec<_> = uses.difference(&may).collect();
            assert!(wrong.is_empty(), "`{module}` must not use {wrong:?}");
            let unused: Vec<_> = named.difference(&uses).collect();
            assert!(unused.is_empty(), "`{module}` does not use {unused:?}: say so in docs/architecture.md");
        }
        above.extend(modules);
    }
    // The program is a shell around one module, and names it as any other crate would.
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    let uses: BTreeSet<&str> = main.split("expose_valkey::").skip(1).filter_map(|rest| rest.split("::").next()).collect();
    assert_eq!(uses, BTreeSet::from(["cli"]));
    assert_eq!(really.remove("main"), Some(BTreeSet::new()));
    assert!(really.is_empty(), "not in the table of docs/architecture.md: {:?}", really.keys());
}

#[test]
fn source_has_no_tabs_no_trailing_blanks_and_no_file_too_long_to_read() {
    for (path, text) in rust_files() {
        for (index, line) in text.lines().enumerate() {
            assert!(!line.contains('\t'), "{path}:{}: a tab", index + 1);
            assert_eq!(line, line.trim_end(), "{path}:{}: blanks at the end", index + 1);
        }
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path}: one line end at the end");
        let lines = text.lines().count();
        assert!(lines <= 500, "{path} has {lines} lines: split it by what it is about");
    }
}

/// A test file that no `mod` names is never run, and nothing says so.
#[test]
fn every_test_file_is_part_of_the_test() {
    for (path, _) in rust_files().iter().filter(|(path, _)| path.starts_with("tests/it/") && path != "tests/it/main.rs") {
        let path = PathBuf::from(path);
        let (folder, stem) = (path.parent().unwrap(), path.file_stem().unwrap().to_str().unwrap());
        let (folder, name) = match stem {
            "mod" => (folder.parent().unwrap(), folder.file_name().unwrap().to_str().unwrap()),
            name => (folder, name),
        };
        let parents = match folder.to_str().unwrap() {
            "tests/it" => vec![folder.join("main.rs")],
            _ => vec![folder.join("mod.rs"), folder.with_extension("rs")],
        };
        let declares = |parent: &PathBuf| {
            let text = fs::read_to_string(root().join(parent)).unwrap_or_default();
            text.lines().any(|line| line.trim_start_matches("pub(crate) ") == format!("mod {name};"))
        };
        assert!(parents.iter().any(declares), "no `mod {name};` in {parents:?}");
    }
    let outside = |path: &String| !path.starts_with("tests/it/") && !path.starts_with("tests/node/");
    let others: Vec<String> = files().into_iter().filter(|path| path.starts_with("tests/") && outside(path)).collect();
    assert!(others.is_empty(), "tests that nothing runs: {others:?}");
}

/// Tests on a real node: each file is a suite that `tools/test-node.sh` takes, or is used by one that is there.
#[test]
fn every_suite_of_the_node_can_be_run() {
    let script = fs::read_to_string(root().join("tools/test-node.sh")).unwrap();
    let all: Vec<String> = files().into_iter().filter(|path| path.starts_with("tests/node/") && path.ends_with(".py")).collect();
    for path in &all {
        let stem = path.trim_start_matches("tests/node/").trim_end_matches(".py");
        let is_suite = script.contains(&format!("test-node.sh {} ", stem.replace('_', "-")));
        let uses = |other: &&String| {
            let text = fs::read_to_string(root().join(other)).unwrap();
            text.contains(&format!("from {stem} import")) || text.contains(&format!("{stem}.py"))
        };
        assert!(is_suite || all.iter().filter(|other| *other != path).any(|other| uses(&other)), "{path} is never run");
    }
    assert!(all.len() > 2, "{all:?}");
}

/// The repository stands alone: it names nothing that lies beside it.
#[test]
fn no_file_names_what_is_outside_of_the_repository() {
    let outside = [concat!("..", "/shared"), concat!(".lib", "rary")];
    for path in files().iter().filter(|path| !matches!(path.as_str(), ".ci/run" | "Cargo.lock")) {
        let bytes = fs::read(root().join(path)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for word in outside {
            assert!(!text.contains(word), "{path} has `{word}`");
        }
    }
}
