//! Findings in plain words, a line each.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::finding::{Finding, Severity};

/// Prints findings; colours are taken out where the output is no terminal.
pub(super) fn print(findings: &[Finding], err: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let color = match finding.severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Cyan,
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        let text = finding.to_string();
        let (mark, rest) = text.split_once(' ').unwrap_or((&text, ""));
        writeln!(err, "{style}{mark}{style:#} {rest}")?;
    }
    Ok(())
}
