//! `emphatic check`: how much work an experiment is.

use crate::output::{path, print, warn};
use crate::run::open_experiment;
use clap::Args;
use emphatic_lab::{Options, workload};
use miette::miette;
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
The time is an estimate from a short trial. In a simulator, evaluations are rollouts, which
take as long as this only if every episode lasts until its cap.

Examples:
  emphatic check experiment.toml
  emphatic check experiment.toml --runs 100";

#[derive(Args)]
pub(crate) struct CheckArguments {
    /// The experiment file
    file: PathBuf,
    /// How many runs, if not as the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
}

pub(crate) fn check(arguments: &CheckArguments) -> miette::Result<()> {
    let experiment = open_experiment(&arguments.file, arguments.runs)?;
    experiment.warnings().iter().for_each(|warning| warn(warning));
    let work = workload(&experiment, Options::default().threads).map_err(|error| miette!("{error}"))?;
    print(&format!("{} makes sense.\n\n{work}", path(&arguments.file)))
}
