//! `schema`: the JSON Schema of the functionConfig, from the types that read it.

use std::io::{self, Write};

use crate::api::ExposeValkey;
use crate::validate::schema_of;

pub(super) fn run(out: &mut dyn Write) -> io::Result<u8> {
    serde_json::to_writer_pretty(&mut *out, &schema_of::<ExposeValkey>())?;
    writeln!(out)?;
    Ok(0)
}
