//! `install`: the program copies itself to where others look for it. Its image has no shell that could.

use std::io::{self, Write};
use std::path::Path;

use super::{FAILED, files, findings};

pub(super) fn run(path: &Path, err: &mut dyn Write) -> io::Result<u8> {
    if let Err(finding) = files::copy_program(path) {
        findings::print(&[*finding], err)?;
        return Ok(FAILED);
    }
    Ok(0)
}
