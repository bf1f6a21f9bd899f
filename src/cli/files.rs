//! Reads manifests. The only place of the program that touches files.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::finding::Finding;
use crate::rule::Rule;

pub(super) use crate::manifests::Source as File;

/// Reads all files, folders with what is in them; what cannot be read is a finding.
pub(super) fn read(paths: &[PathBuf], findings: &mut Vec<Finding>) -> Vec<File> {
    let mut files = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            let mut bytes = Vec::new();
            match io::stdin().read_to_end(&mut bytes) {
                Ok(_) => push(&mut files, "-".to_owned(), bytes, true, findings),
                Err(error) => findings.push(unreadable("standard input", &error)),
            }
        } else if path.is_dir() {
            let before = files.len();
            folder(path, &mut files, findings);
            if files.len() == before && findings.is_empty() {
                let message = format!("there are no .yaml, .yml or .json files in `{}`", path.display());
                findings.push(Finding::error(Rule::File, message));
            }
        } else {
            file(path, true, &mut files, findings);
        }
    }
    files
}

fn folder(path: &Path, files: &mut Vec<File>, findings: &mut Vec<Finding>) {
    let mut entries: Vec<PathBuf> = match fs::read_dir(path) {
        Ok(entries) => entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect(),
        Err(error) => return findings.push(unreadable(&path.display().to_string(), &error)),
    };
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let manifest = entry.extension().is_some_and(|extension| matches!(extension.to_str(), Some("yaml" | "yml" | "json")));
        if hidden {
            continue;
        } else if entry.is_dir() && !entry.is_symlink() {
            folder(&entry, files, findings);
        } else if manifest && entry.is_file() {
            file(&entry, false, files, findings);
        }
    }
}

fn file(path: &Path, explicit: bool, files: &mut Vec<File>, findings: &mut Vec<Finding>) {
    match fs::read(path) {
        Ok(bytes) => push(files, path.display().to_string(), bytes, explicit, findings),
        Err(error) => findings.push(unreadable(&path.display().to_string(), &error)),
    }
}

fn push(files: &mut Vec<File>, name: String, bytes: Vec<u8>, explicit: bool, findings: &mut Vec<Finding>) {
    match String::from_utf8(bytes) {
        Ok(text) => files.push(File { name, text, explicit }),
        // What it is, nobody can tell: a manifest in UTF-16, or no manifest at all.
        Err(_) if !explicit => findings.push(Finding::warning(Rule::File, format!("`{name}` is not UTF-8 text: left out"))),
        Err(_) => findings.push(Finding::error(Rule::YamlSyntax, format!("`{name}` is not UTF-8 text"))),
    }
}

/// Whether two paths lead to one file that is there.
pub(super) fn same(one: &Path, other: &Path) -> bool {
    matches!((real(one), real(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether a file, which need not be there, lies in a folder or in one of its folders.
pub(super) fn is_in(folder: &Path, file: &Path) -> bool {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.is_dir() && matches!((real(parent), real(folder)), (Ok(parent), Ok(folder)) if parent.starts_with(&folder))
}

/// The file that a path leads to.
#[cfg(not(target_family = "wasm"))]
fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// The file that a path leads to, but for links among its folders: the C library of some WASI toolchains has no `realpath`.
#[cfg(target_family = "wasm")]
fn real(path: &Path) -> io::Result<PathBuf> {
    let mut file = std::path::absolute(path)?;
    // As many links in a row as Linux follows.
    for _ in 0..40 {
        if !fs::symlink_metadata(&file)?.is_symlink() {
            return Ok(file);
        }
        file = file.with_file_name("").join(fs::read_link(&file)?);
    }
    Err(io::Error::other("too many links"))
}

/// Writes a file, whole or not at all: a reader sees the old text or the new one. A link stays one, and so do permissions.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Box<Finding>> {
    let file = real(path).unwrap_or_else(|_| path.to_owned());
    // A device or a pipe, such as /dev/null or /dev/stdout, must not be replaced by a file.
    if is_device(path) {
        return fs::write(path, text).map_err(|error| unwritable(path, &error));
    }
    replace(&file, |new| {
        fs::write(new, text)?;
        // A WASI host has none to set.
        #[cfg(not(target_family = "wasm"))]
        if let Ok(there) = fs::metadata(&file) {
            fs::set_permissions(new, there.permissions())?;
        }
        Ok(())
    })
}

/// Copies this program to a file.
pub(super) fn copy_program(path: &Path) -> Result<(), Box<Finding>> {
    if is_device(path) {
        return Err(unwritable(path, &io::Error::other("it is there, and is no file")));
    }
    replace(path, |new| std::env::current_exe().and_then(|program| fs::copy(program, new)).map(|_| ()))
}

fn replace(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), Box<Finding>> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let new = path.with_file_name(name);
    let written = write(&new).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        unwritable(path, &error)
    })
}

fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

fn unwritable(path: &Path, error: &io::Error) -> Box<Finding> {
    Box::new(Finding::error(Rule::File, format!("cannot write `{}`: {error}", path.display())))
}

fn unreadable(name: &str, error: &io::Error) -> Finding {
    Finding::error(Rule::File, format!("cannot read `{name}`: {error}"))
}
