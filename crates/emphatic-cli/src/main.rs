//! The `emphatic` command: reproduces the paper; solves and diagnoses problems; runs, continues, merges, summarises
//! and draws experiments.

mod check;
mod diagnose;
mod merge;
mod new;
mod output;
mod part_argument;
mod parts;
mod picture;
mod plot;
mod progress;
mod reproduce;
mod run;
mod signals;
mod solve;
mod summarise;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use emphatic_text::is_unprintable;
use output::{print_json, print_unchanged, report_error, say};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  emphatic reproduce                      the paper's figures, every claim judged
  emphatic new counterexample             a problem file to start from
  emphatic solve counterexample.toml      what is exactly true of it?
  emphatic diagnose counterexample.toml   is the semi-gradient safe in it? what should I try?
  emphatic check experiment.toml          how much work is it?
  emphatic run experiment.toml            run it, or go on with it
  emphatic summarise results/experiment   what came out?
  emphatic plot results/experiment        learning curves

Exit codes:
  0    done
  1    it could not be done; the message says why
  2    wrong usage
  130  stopped by Ctrl-C, a hang-up or a request to terminate; the same command goes on";

const SCHEMA: &str = "\
Examples:
  emphatic schema > experiment.schema.json
  emphatic schema problem > problem.schema.json

An editor with a TOML language server uses it if a file begins with
  #:schema ./experiment.schema.json";

const COMPLETIONS: &str = "\
Examples:
  emphatic completions bash > ~/.local/share/bash-completion/completions/emphatic
  emphatic completions zsh > ~/.zfunc/_emphatic
  emphatic completions fish > ~/.config/fish/completions/emphatic.fish";

/// Learn policies from experience that another policy generated, and follow the true gradient.
#[derive(Parser)]
#[command(name = "emphatic", version, after_help = EXAMPLES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the paper's experiments, judge its claims, draw its figures and write a report
    #[command(after_help = reproduce::EXAMPLES)]
    Reproduce(reproduce::ReproduceArguments),
    /// Write a problem file to start from
    #[command(after_help = new::EXAMPLES)]
    New(new::NewArguments),
    /// Show what is exactly true of a problem and a policy
    #[command(after_help = solve::EXAMPLES)]
    Solve(solve::SolveArguments),
    /// Say whether the semi-gradient is safe in a problem, and what to start with
    #[command(after_help = diagnose::EXAMPLES)]
    Diagnose(diagnose::DiagnoseArguments),
    /// Run an experiment, or go on with it
    #[command(after_help = run::EXAMPLES)]
    Run(run::RunArguments),
    /// Check an experiment file: how many settings, runs and updates, how long, how much disk
    #[command(after_help = check::EXAMPLES)]
    Check(check::CheckArguments),
    /// Show what came out: the best setting of each method, and how certain that is
    #[command(after_help = summarise::EXAMPLES)]
    Summarise(summarise::SummariseArguments),
    /// Draw what came out: learning curves, or where each run ends
    #[command(after_help = plot::EXAMPLES)]
    Plot(plot::PlotArguments),
    /// Put the results of shards together
    #[command(after_help = merge::EXAMPLES)]
    Merge(merge::MergeArguments),
    /// List the parts that methods are made of, bases of features and simulators, or explain one
    #[command(after_help = parts::EXAMPLES)]
    Parts(parts::PartsArguments),
    /// Print the JSON Schema of experiment or problem files, for editors
    #[command(after_help = SCHEMA)]
    Schema {
        /// Of which files
        #[arg(default_value = "experiment", value_name = "OF")]
        of: FileKind,
    },
    /// Print completions for a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// Kinds of files.
#[derive(Clone, Copy, ValueEnum)]
enum FileKind {
    Experiment,
    Problem,
}

/// How a command ended, for the exit code: see [`EXAMPLES`].
pub(crate) enum Exit {
    Done,
    Stopped,
}

fn main() -> ExitCode {
    signals::survive_file_limits();
    // A negative number is a wrong value, not an unknown option.
    let command = Arguments::command().mut_subcommands(|command| command.allow_negative_numbers(true));
    let matches = command.try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = matches.unwrap_or_else(|error| exit_with_usage(&error));
    match perform(arguments.command) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Stopped) => ExitCode::from(130),
        Err(report) => {
            report_error(report);
            ExitCode::FAILURE
        }
    }
}

/// Shows the help, or what is wrong with the arguments, and exits.
fn exit_with_usage(error: &clap::Error) -> ! {
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
        Command::Merge(arguments) => merge::merge(&arguments)?,
        Command::Summarise(arguments) => summarise::summarise(&arguments)?,
        Command::Plot(arguments) => plot::plot(&arguments)?,
        Command::Parts(arguments) => parts::parts(&arguments)?,
        Command::Schema { of: FileKind::Experiment } => print_json(&emphatic_lab::schema())?,
        Command::Schema { of: FileKind::Problem } => print_json(&emphatic_problems::schema())?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "emphatic", &mut script);
            print_unchanged(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(Exit::Done)
}
