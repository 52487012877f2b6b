//! `emphatic diagnose`.

mod sampled;

use crate::new::{check_new, write_new};
use crate::output::{self, print, print_json, say};
use crate::picture::{picture_name, write_picture};
use crate::progress::Display;
use crate::solve::unsolved;
use clap::Args;
use emphatic_diagnosis::{Diagnosis, Options, figure};
use emphatic_problems::ProblemFile;
use miette::miette;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub(crate) const EXAMPLES: &str = "\
FILE is a problem file (.toml or .json), or the name of a problem of `emphatic new`. It
answers: is a semi-gradient method (OffPAC, DPG) safe here? can the emphasis be estimated? is
TD(0) stable with these features? which setting should I start with, and why?

FILE may also be a simulator (`emphatic parts` lists them), or an experiment file with one.
Nobody can solve it, so the diagnosis is by sampling: how well does the behaviour cover a
target? how unevenly do ratios and the follow-on trace weigh steps? how often do episodes
end? which features are active? are critics stable with them, as far as the steps tell?

Examples:
  emphatic diagnose counterexample
  emphatic diagnose problem.toml --figure flows.svg
  emphatic diagnose problem.toml --write experiment.toml
  emphatic diagnose problem.toml --starts 50 --json > diagnosis.json
  emphatic diagnose mountain-car --features tiles,tilings=8,tiles=8,bias=true
  emphatic diagnose cart-pole --features fourier,order=3 --target left=0.1,right=0.9
  emphatic diagnose acrobot --features tiles,tilings=8,tiles=4,memory=65536 --write a.toml";

#[derive(Args)]
pub(crate) struct DiagnoseArguments {
    /// The problem or the simulator
    file: PathBuf,
    #[command(flatten)]
    simulator: sampled::SimulatorArguments,
    /// From how many random starts flows are followed, if not as many as the size of the problem allows (10 at most)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    starts: Option<u32>,
    /// What random starts, and steps that are sampled, come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many threads, if not one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Draw the flows: a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = picture_name)]
    figure: Option<PathBuf>,
    /// Write an experiment file that tries what is suggested
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Everything, as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

/// Returns an error if a file is called such that an experiment would not read it as a problem file.
fn check_named_as_file(file: &Path) -> miette::Result<()> {
    let name = file.to_string_lossy();
    if !file.exists() || file.is_dir() || name.ends_with(".toml") || name.ends_with(".json") {
        return Ok(());
    }
    Err(miette!(
        help = "give it a name that ends in .toml or .json",
        "an experiment could not name the problem file {}",
        output::path(file)
    ))
}

pub(crate) fn diagnose(arguments: &DiagnoseArguments) -> miette::Result<()> {
    if let Some(simulated) = sampled::simulated(arguments)? {
        return sampled::diagnose(arguments, &simulated);
    }
    let problem = ProblemFile::open(&arguments.file)?;
    if let Some(path) = &arguments.write {
        check_named_as_file(&arguments.file)?;
        check_new(path)?; // Before the work, not after it.
    }
    let default = Options::default();
    let options = Options {
        starts: arguments.starts.map(|starts| starts as usize),
        seed: arguments.seed,
        threads: arguments.threads.map_or(default.threads, usize::from),
    };
    let mut display = Display::new(arguments.quiet);
    display.begin("following flows");
    let display = Mutex::new(display);
    let progress = |done: usize, all: usize| {
        if let Ok(mut display) = display.lock() {
            display.count(done, all, "flows");
        }
        ControlFlow::Continue(())
    };
    let diagnosis = emphatic_diagnosis::diagnose(&problem, &options, &progress);
    if let Ok(display) = display.lock() {
        display.clear();
    }
    let diagnosis = diagnosis.map_err(|error| unsolved(&problem, &error))?;
    let Some(diagnosis) = diagnosis else { return Ok(()) };
    match arguments.json {
        true => print_json(&diagnosis)?,
        false => print(&diagnosis.text())?,
    }
    if let Some(path) = &arguments.write {
        write_experiment(path, &problem, &diagnosis)?;
    }
    if let Some(path) = &arguments.figure {
        let svg = figure::figure(&problem, &diagnosis).ok_or_else(|| {
            miette!(
                help = "--starts 0 follows those from the given policy",
                "there is nothing to draw: the flows of this problem were not followed, or lead nowhere"
            )
        })?;
        write_picture(path, svg)?;
    }
    Ok(())
}

/// Writes an experiment file that tries what is suggested.
fn write_experiment(path: &Path, problem: &ProblemFile, diagnosis: &Diagnosis) -> miette::Result<()> {
    let suggestion = diagnosis.suggestion.as_ref();
    let suggestion =
        suggestion.ok_or_else(|| miette!("there is nothing to try: {}", diagnosis.why_no_suggestion()))?;
    write_new(path, &suggestion.experiment(problem, path))?;
    say(&format!("{} is written. Try `emphatic run {}`.", output::path(path), output::quoted(path)));
    Ok(())
}
