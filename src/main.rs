//! The program: arguments in, exit code out.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use expose_valkey::cli::{Cli, FAILED};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Large lists are passed on in large pieces: no line buffer, and no filter that looks for colours in every byte.
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut err = anstream::stderr().lock();
    let code = cli.run(&mut out, &mut err).and_then(|code| out.flush().map(|()| code));
    match code {
        Ok(code) => ExitCode::from(code),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(err, "[error] cannot read or write: {error}");
            ExitCode::from(FAILED)
        }
    }
}
