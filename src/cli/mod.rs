//! The command line: arguments, files, and what is printed. Each command is a file, and a function over what it writes to.

mod check;
mod files;
mod findings;
mod install;
mod objects;
mod pin;
mod pinned_text;
mod ports;
mod render;
mod schema;

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::finding::Finding;
use crate::function;
use crate::rule::Rule;

/// Exit code of a run that found an error.
pub const FAILED: u8 = 1;
/// Exit code of wrong arguments.
pub const USAGE: u8 = 2;

const EXAMPLES: &str = "\
Examples:
  expose-valkey < resourcelist.yaml        as a KRM function: kustomize and kpt call it like this
  expose-valkey ports -f cluster.yaml      which node is reached by which port
  expose-valkey render -f manifests/       the objects, for `kubectl apply -f -` or to commit
  expose-valkey check -f manifests/        findings only, for CI
  expose-valkey render -f manifests/ -o external-access.yaml --check
                                           whether the committed objects are up to date";

/// Makes every node of a Valkey cluster in Kubernetes reachable from outside.
///
/// Without a command it is a KRM function: a ResourceList on standard input, the same list with Services, ValkeyNodes and
/// TCPRoutes on standard output, and what is wrong in plain words on standard error.
#[derive(Debug, Parser)]
#[command(name = "expose-valkey", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the objects that expose the ValkeyClusters of some manifests
    #[command(after_help = "Example:\n  expose-valkey render -f manifests/ > external-access.yaml")]
    Render {
        #[command(flatten)]
        input: Input,
        /// Print a ResourceList with the manifests and the new objects in it
        #[arg(long, conflicts_with = "output")]
        in_list: bool,
        /// Write the objects to a file instead of printing them
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Write nothing: exit with 1 and print a diff if the file of `--output` is not up to date
        #[arg(long, requires = "output")]
        check: bool,
        /// Write ValkeyClusters that change, as with `announce: Command`, back into their own files instead of printing them
        #[arg(long, conflicts_with = "in_list")]
        in_place: bool,
    },
    /// Write NodePorts that Kubernetes has allocated into the ExposeValkey of some manifests, so that they stay
    #[command(
        after_help = "Example:\n  kubectl get services -A -o yaml > services.yaml\n  expose-valkey pin -f manifests/ --ports-from services.yaml"
    )]
    Pin {
        #[command(flatten)]
        input: Input,
        /// Services, or ValkeyClusters with a status, as `kubectl get … -o yaml` prints them; `-` for standard input
        #[arg(long, value_name = "FILE|-")]
        ports_from: PathBuf,
    },
    /// Print what is wrong, and nothing else
    #[command(after_help = "Example:\n  expose-valkey check -f manifests/ --format json")]
    Check {
        #[command(flatten)]
        input: Input,
        /// How to print the findings
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Print a table of nodes, hostnames and ports
    #[command(
        after_help = "Example:\n  expose-valkey ports -f cluster.yaml\n  kubectl get services,nodes -A -o yaml | expose-valkey ports -f manifests/ --from -"
    )]
    Ports {
        #[command(flatten)]
        input: Input,
        /// Where addresses and ports are that only the running cluster knows: Services, Nodes and Gateways as `kubectl get … -o
        /// yaml` prints them; `-` for standard input; may be repeated
        #[arg(long, value_name = "FILE|-")]
        from: Vec<PathBuf>,
        /// How to print the table
        #[arg(short, long, value_enum, default_value_t = Table::Table)]
        output: Table,
    },
    /// Print the JSON Schema of the functionConfig
    #[command(after_help = "Example:\n  expose-valkey schema > expose-valkey.schema.json")]
    Schema,
    /// Copy this program to a file, in an init container for instance: its image has no shell
    #[command(after_help = "Example:\n  expose-valkey install /tools/expose-valkey")]
    Install {
        /// The file to write
        file: PathBuf,
    },
    /// Print completions for a shell
    #[cfg(not(target_family = "wasm"))]
    #[command(after_help = "Example:\n  expose-valkey completions bash > /etc/bash_completion.d/expose-valkey")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Where manifests come from.
#[derive(Debug, Args)]
struct Input {
    /// Manifests: a file, a folder (all .yaml, .yml and .json files in it), or `-` for standard input; may be repeated
    #[arg(short, long = "file", value_name = "FILE|DIR|-", required = true)]
    files: Vec<PathBuf>,
    /// A functionConfig; without it, an ExposeValkey among the manifests is used
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Table {
    Table,
    Json,
}

impl Cli {
    /// Runs the command and returns the exit code.
    ///
    /// # Errors
    /// What reading standard input or writing reports; files that cannot be read are findings.
    pub fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
        match self.command {
            None => as_function(out, err),
            Some(Command::Render { input, in_list, output, check, in_place }) => {
                render::run(&input, &render::Target { in_list, output, check, in_place }, out, err)
            }
            Some(Command::Pin { input, ports_from }) => pin::run(&input, &ports_from, err),
            Some(Command::Check { input, format }) => check::run(&input, format, out, err),
            Some(Command::Ports { input, from, output }) => ports::run(&input, &from, output, out, err),
            Some(Command::Schema) => schema::run(out),
            Some(Command::Install { file }) => install::run(&file, err),
            #[cfg(not(target_family = "wasm"))]
            Some(Command::Completions { shell }) => {
                clap_complete::generate(shell, &mut Cli::command(), "expose-valkey", out);
                Ok(0)
            }
        }
    }
}

/// The KRM function on standard input and output.
fn as_function(out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    if io::stdin().is_terminal() {
        let help = Cli::command().render_long_help();
        #[cfg(not(target_family = "wasm"))]
        let help = help.ansi();
        write!(err, "{help}")?;
        return Ok(USAGE);
    }
    let text = match text(read_stdin()?) {
        Ok(text) => text,
        Err(finding) => {
            findings::print(&[*finding], err)?;
            return Ok(FAILED);
        }
    };
    let output = function::run(&text);
    output.text.write_to(out)?;
    findings::print(&output.findings, err)?;
    Ok(if output.failed() { FAILED } else { 0 })
}

/// All of standard input. A file is read in one go, as its size is known; a pipe grows as it comes.
fn read_stdin() -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?).read_to_end(&mut input)?;
    }
    #[cfg(not(unix))]
    io::stdin().read_to_end(&mut input)?;
    Ok(input)
}

/// Input as text; one that is empty or not UTF-8 is a finding.
fn text(input: Vec<u8>) -> Result<String, Box<Finding>> {
    if input.iter().all(u8::is_ascii_whitespace) {
        let message = "standard input is empty: a ResourceList is expected; for plain manifests use `expose-valkey render -f FILE`";
        return Err(Box::new(Finding::error(Rule::NotAList, message)));
    }
    String::from_utf8(input).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Box::new(Finding::error(Rule::YamlSyntax, format!("the input is not UTF-8: byte {at} is not part of a character")))
    })
}
