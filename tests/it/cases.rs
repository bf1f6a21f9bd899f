//! What users write, one folder of `testdata/cases` each: what must hold for it, word for word, and the whole of what they
//! see as a snapshot beside it.

mod faults;
mod gateways;
mod harness;
mod repository;
mod services;

use std::fs;

use harness::{Case, folders};

#[test]
fn what_users_see() {
    insta::glob!("../../testdata/cases", "*/input.yaml", |path| {
        let folder = path.parent().unwrap();
        let case = Case::run(folder.file_name().unwrap().to_str().unwrap());
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.remove_snapshot_suffix();
        settings.remove_input_file();
        settings.bind(|| insta::assert_snapshot!("expected", case.seen()));
    });
}

#[test]
fn every_folder_says_why_and_has_a_test() {
    let tests = [
        include_str!("cases/services.rs"),
        include_str!("cases/gateways.rs"),
        include_str!("cases/faults.rs"),
        include_str!("cases/repository.rs"),
    ];
    for folder in folders() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let call = format!("Case::run(\"{name}\")");
        assert!(tests.iter().any(|file| file.contains(&call)), "{name} has no test");
        let why = fs::read_to_string(folder.join("why.md")).unwrap_or_default();
        assert!(why.trim().len() > 40, "{name} does not say why");
    }
}
