//! The `emphatic` command: reproduces the paper; solves and diagnoses problems; runs, continues, merges and summarises
//! experiments.

mod arguments;
mod check;
mod diagnose;
mod new;
mod progress;
mod reproduce;
mod run;
mod solve;

use arguments::{Arguments, Command};
use clap::{CommandFactory, Parser};
use emphatic_lab::Select;
use miette::{IntoDiagnostic, Report};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// What a command leaves behind for the shell: see `EXAMPLES` in `arguments`.
pub(crate) enum Exit {
    Done,
    Stopped,
}

fn main() -> ExitCode {
    match perform(Arguments::parse().command) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Stopped) => ExitCode::from(130),
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::FAILURE
        }
    }
}

fn perform(command: Command) -> miette::Result<Exit> {
    match command {
        Command::Reproduce(arguments) => return reproduce::reproduce(&arguments),
        Command::Run(arguments) => return run::run(&arguments),
        Command::Check(arguments) => check::check(&arguments)?,
        Command::New(arguments) => new::new(&arguments)?,
        Command::Solve(arguments) => solve::solve(&arguments)?,
        Command::Diagnose(arguments) => diagnose::diagnose(&arguments)?,
        Command::Schema { of } => {
            let schema = match of {
                arguments::FileKind::Experiment => emphatic_lab::schema(),
                arguments::FileKind::Problem => emphatic_problems::schema(),
            };
            print(&format!("{schema:#}\n"))?;
        }
        Command::Merge { dirs, out } => {
            let merged = emphatic_lab::merge(&dirs, &out)?;
            warn(&merged.warnings);
            print(&run::merged(&merged, &out))?;
        }
        Command::Summarise { dir, json, csv, select } => {
            let by = select.map(|select| match select {
                arguments::Select::Final => Select::Final,
                arguments::Select::Area => Select::Area,
            });
            let summary = emphatic_lab::summarise(&dir, by)?;
            warn(&summary.warnings);
            let text = match (json, csv) {
                (true, _) => serde_json::to_string_pretty(&summary).into_diagnostic()? + "\n",
                (_, true) => summary.csv(),
                _ => summary.text(),
            };
            print(&text)?;
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "emphatic", &mut script);
            print(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(Exit::Done)
}

fn warn(warnings: &[String]) {
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
}

/// Prints to standard output. Whoever reads it may stop reading.
pub(crate) fn print(text: &str) -> miette::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Report::msg(format!("could not write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
