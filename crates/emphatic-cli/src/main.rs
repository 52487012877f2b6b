//! The `emphatic` command: reproduces the paper; solves and diagnoses problems; runs, continues, merges and summarises
//! experiments.

mod arguments;
mod check;
mod diagnose;
mod new;
mod output;
mod parts;
mod progress;
mod reproduce;
mod run;
mod signals;
mod solve;

use arguments::{Arguments, Command};
use clap::{CommandFactory, Parser};
use emphatic_lab::Select;
use emphatic_text::is_unprintable;
use output::{complain, print, print_as_it_is, print_json, say, warn};
use std::process::ExitCode;

/// What a command leaves behind for the shell: see `EXAMPLES` in `arguments`.
pub(crate) enum Exit {
    Done,
    Stopped,
}

fn main() -> ExitCode {
    signals::survive_file_limits();
    let arguments = Arguments::try_parse().unwrap_or_else(|error| misused(&error));
    match perform(arguments.command) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Stopped) => ExitCode::from(130),
        Err(report) => {
            complain(report);
            ExitCode::FAILURE
        }
    }
}

/// Says how the command is to be used, or shows its help, and ends.
fn misused(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if error.use_stderr() && text.contains(|c| c != '\n' && is_unprintable(c)) {
        say(&text);
        std::process::exit(error.exit_code());
    }
    error.exit()
}

fn perform(command: Command) -> miette::Result<Exit> {
    match command {
        Command::Reproduce(arguments) => return reproduce::reproduce(&arguments),
        Command::Run(arguments) => return run::run(&arguments),
        Command::Check(arguments) => check::check(&arguments)?,
        Command::New(arguments) => new::new(&arguments)?,
        Command::Solve(arguments) => solve::solve(&arguments)?,
        Command::Diagnose(arguments) => diagnose::diagnose(&arguments)?,
        Command::Parts(arguments) => parts::parts(&arguments)?,
        Command::Schema { of } => {
            let schema = match of {
                arguments::FileKind::Experiment => emphatic_lab::schema(),
                arguments::FileKind::Problem => emphatic_problems::schema(),
            };
            print_json(&schema)?;
        }
        Command::Merge { dirs, out } => {
            let merged = emphatic_lab::merge(&dirs, &out)?;
            merged.warnings.iter().for_each(|warning| warn(warning));
            print(&run::merged(&merged, &out))?;
        }
        Command::Summarise { dir, json, csv, select } => {
            let by = select.map(|select| match select {
                arguments::Select::Final => Select::Final,
                arguments::Select::Area => Select::Area,
            });
            let summary = emphatic_lab::summarise(&dir, by)?;
            summary.warnings.iter().for_each(|warning| warn(warning));
            match (json, csv) {
                (true, _) => print_json(&summary)?,
                (_, true) => print(&summary.csv())?,
                _ => print(&summary.text())?,
            }
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "emphatic", &mut script);
            print_as_it_is(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(Exit::Done)
}
