//! The command line.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use emphatic_lab::Shard;
use emphatic_paper::figures::FIGURES;
use emphatic_problems::SHIPPED;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  emphatic reproduce                      the paper's figures, every claim judged
  emphatic new counterexample             a problem file to start from
  emphatic solve counterexample.toml      what is exactly true of it?
  emphatic diagnose counterexample.toml   is the semi-gradient safe in it? what should I try?
  emphatic check experiment.toml          how much work is it?
  emphatic run experiment.toml            run it, or go on with it
  emphatic summarise results/experiment   what came out?

Exit codes:
  0    done
  1    it could not be done; the message says why
  2    wrong usage
  130  stopped by Ctrl-C, a hang-up or a request to terminate; the same command goes on";

const REPRODUCE: &str = "\
Everything goes to DIR (--out), by default to reproduction (reproduction-quick with --quick):
  report.html          the claims with their verdicts, interactive figures, settings
  claims.json          the claims with their verdicts, as data
  figN/*.svg, *.png    each panel alone, and the figure
  figN/summary.json    every number of the figure
  figN/results         the tables of all runs, as from `emphatic run`

The same command goes on where it was stopped or killed. The same seed gives the same bits.
The report shows the figures that were asked for. With fewer runs than the paper's no claim
is decided: the choice of settings would be luck.

Examples:
  emphatic reproduce
  emphatic reproduce --quick
  emphatic reproduce fig2 fig4 --out figures
  emphatic reproduce --seed 7 --runs 100 --out more";

const NEW: &str = "\
The file is commented: change it to describe your own problem.

Examples:
  emphatic new counterexample               writes counterexample.toml
  emphatic new four-rooms --out maze.toml   a grid with walls to change";

const SOLVE: &str = "\
FILE is a problem file (.toml or .json), or the name of a problem of `emphatic new`. Shown for the target
policy of the file, or for the policy with zero weights if it has none: d_μ, π, v, q, m, m/d_μ by state, J_μ,
its gradient and the semi-gradient.

Examples:
  emphatic solve counterexample
  emphatic solve problem.toml --lambda-a 0.5
  emphatic solve problem.toml --json > solution.json
  emphatic solve problem.toml --csv > states.csv
  emphatic solve problem.toml --csv=weights > gradients.csv";

const DIAGNOSE: &str = "\
FILE is a problem file (.toml or .json), or the name of a problem of `emphatic new`. It answers: is a
semi-gradient method (OffPAC, DPG) safe here? can the emphasis be estimated? is TD(0) stable with these
features? which setting should I start with, and why?

Examples:
  emphatic diagnose counterexample
  emphatic diagnose problem.toml --figure flows.svg
  emphatic diagnose problem.toml --write experiment.toml && emphatic run experiment.toml
  emphatic diagnose problem.toml --starts 50 --json > diagnosis.json";

const RUN: &str = "\
Results go to DIR (--out), by default to results/NAME for NAME.toml
(results/NAME-shard-I-of-N for a shard):
  results.parquet    a row for each setting, run and evaluation
  settings.parquet   a row for each setting
  fresh.parquet      the best settings on fresh runs, with `fresh_runs`
  experiment.toml    the file as run
  manifest.json      versions, counts, time

The same command goes on where it was stopped or killed. More runs can be added later.
Results are the same bits for any number of threads, in one process or in shards.

Examples:
  emphatic run experiment.toml
  emphatic run experiment.toml --runs 3 --out trial
  emphatic run experiment.toml --threads 4 --quiet
  emphatic run experiment.toml --shard 2/8 --out shards/2    the second eighth";

const CHECK: &str = "\
The time is an estimate from a trial of a fraction of a second.

Examples:
  emphatic check experiment.toml
  emphatic check experiment.toml --runs 100";

const MERGE: &str = "\
Examples:
  emphatic merge shards/* --out results/experiment
  emphatic run experiment.toml --out results/experiment    runs what is missing, and fresh runs";

const SUMMARISE: &str = "\
It can be asked while the experiment is still running.

Examples:
  emphatic summarise results/experiment
  emphatic summarise results/experiment --select area
  emphatic summarise results/experiment --json > summary.json
  emphatic summarise results/experiment --csv > settings.csv    a line for each setting";

const PARTS: &str = "\
Examples:
  emphatic parts
  emphatic parts gtd
  emphatic parts exact
  emphatic parts --json > parts.json";

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
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the paper's experiments, judge its claims, draw its figures and write a report
    #[command(after_help = REPRODUCE)]
    Reproduce(ReproduceArguments),
    /// Write a problem file to start from
    #[command(after_help = NEW)]
    New(NewArguments),
    /// Show what is exactly true of a problem and a policy
    #[command(after_help = SOLVE)]
    Solve(SolveArguments),
    /// Say whether the semi-gradient is safe in a problem, and what to start with
    #[command(after_help = DIAGNOSE)]
    Diagnose(DiagnoseArguments),
    /// Run an experiment, or go on with it
    #[command(after_help = RUN)]
    Run(RunArguments),
    /// Check an experiment file: how many settings, runs and updates, how long, how much disk
    #[command(after_help = CHECK)]
    Check(CheckArguments),
    /// Show what came out: the best setting of each method, and how certain that is
    #[command(after_help = SUMMARISE)]
    Summarise {
        /// The directory of the results
        dir: PathBuf,
        /// Everything, as JSON: settings, learning curves, intervals
        #[arg(long, conflicts_with = "csv")]
        json: bool,
        /// A line for each setting, as CSV
        #[arg(long)]
        csv: bool,
        /// By what the best setting is chosen, if not as the experiment says
        #[arg(long, value_name = "BY")]
        select: Option<Select>,
    },
    /// Put the results of shards together
    #[command(after_help = MERGE)]
    Merge {
        /// The directories of the shards; they stay as they are, unless one of them is where it all goes
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
        /// Where to put the results
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// List the parts that methods are made of, or explain one
    #[command(after_help = PARTS)]
    Parts(PartsArguments),
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

#[derive(Args)]
pub(crate) struct PartsArguments {
    /// Its name in files, or its class in Python; left out, all parts are listed
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// As JSON
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// All of them as a page of Markdown
    #[arg(long, conflicts_with = "name")]
    pub(crate) markdown: bool,
}

#[derive(Args)]
pub(crate) struct ReproduceArguments {
    /// Which figures, if not all
    #[arg(value_name = "FIGURE", value_parser = PossibleValuesParser::new(FIGURES.map(|figure| figure.id)))]
    pub(crate) figures: Vec<String>,
    /// A tenth of the runs, for a first look
    #[arg(long, conflicts_with = "runs")]
    pub(crate) quick: bool,
    /// How many runs to choose settings by, if not as in the paper
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: Option<u32>,
    /// What all randomness comes from, if not 1
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Where everything goes
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How many threads, if not one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct NewArguments {
    /// Which problem
    #[arg(value_parser = PossibleValuesParser::new(SHIPPED.map(|s| PossibleValue::new(s.name).help(s.about()))))]
    pub(crate) problem: String,
    /// Where to write it, if not to PROBLEM.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct SolveArguments {
    /// The problem
    pub(crate) file: PathBuf,
    /// λ_a of the weighting m and of a third gradient
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = fraction)]
    pub(crate) lambda_a: f64,
    /// How many states and weights are shown, the largest first
    #[arg(long, value_name = "N", default_value_t = emphatic_diagnosis::solve::SHOWN)]
    pub(crate) top: usize,
    /// Everything, as JSON
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// A line for each state, or for each weight with --csv=weights
    #[arg(long, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "states")]
    pub(crate) csv: Option<Lines>,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct DiagnoseArguments {
    /// The problem
    pub(crate) file: PathBuf,
    /// From how many random starts flows are followed, if not as many as the size of the problem allows (10 at most)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) starts: Option<u32>,
    /// What random starts come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many threads, if not one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Draw the flows: a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = picture)]
    pub(crate) figure: Option<PathBuf>,
    /// Write an experiment file that tries what is suggested
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Everything, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What a line of CSV is about.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Lines {
    States,
    Weights,
}

/// Kinds of files.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FileKind {
    Experiment,
    Problem,
}

#[derive(Args)]
pub(crate) struct RunArguments {
    /// The experiment file
    pub(crate) file: PathBuf,
    /// Where the results go, if not to results/NAME
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How many threads, if not one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// How many runs, if not as the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: Option<u32>,
    /// Do only the I-th N-th of the work
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// Say nothing unless something is wrong
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// How many learners stand side by side: the same bits, another speed
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) lanes: Option<Lanes>,
    /// Which instruction set: the same bits, another speed
    #[arg(long, hide = true)]
    pub(crate) isa: Option<InstructionSet>,
}

#[derive(Args)]
pub(crate) struct CheckArguments {
    /// The experiment file
    pub(crate) file: PathBuf,
    /// How many runs, if not as the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Select {
    /// The objective at the end of a run
    Final,
    /// The average objective over a run
    Area,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Lanes {
    #[value(name = "1")]
    One,
    #[value(name = "8")]
    Eight,
    #[value(name = "16")]
    Sixteen,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum InstructionSet {
    Plain,
    Best,
}

fn fraction(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| (0.0..=1.0).contains(x));
    number.ok_or_else(|| "it is a number between 0 and 1".to_owned())
}

fn picture(text: &str) -> Result<PathBuf, String> {
    match text.ends_with(".svg") || text.ends_with(".png") {
        true => Ok(text.into()),
        false => Err("a picture's name ends in .svg or .png".to_owned()),
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let numbers =
        text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    match numbers {
        Some((index, count)) if 1 <= index && index <= count => Ok(Shard { index, count }),
        _ => Err("a shard is written I/N, with I from 1 to N: 2/8 is the second eighth".to_owned()),
    }
}
