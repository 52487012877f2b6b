//! `emphatic summarise`: shows the best setting of each method.

use crate::output::{print, print_json, warn};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
It can be asked while the experiment is still running.

Examples:
  emphatic summarise results/experiment
  emphatic summarise results/experiment --select area
  emphatic summarise results/experiment --json > summary.json
  emphatic summarise results/experiment --csv > settings.csv    a line for each setting";

#[derive(Args)]
pub(crate) struct SummariseArguments {
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
}

#[derive(Clone, Copy, ValueEnum)]
enum Select {
    /// The objective at the end of a run
    Final,
    /// The average objective over a run
    Area,
}

pub(crate) fn summarise(arguments: &SummariseArguments) -> miette::Result<()> {
    let by = arguments.select.map(|select| match select {
        Select::Final => emphatic_lab::Select::Final,
        Select::Area => emphatic_lab::Select::Area,
    });
    let summary = emphatic_lab::summarise(&arguments.dir, by)?;
    summary.warnings.iter().for_each(|warning| warn(warning));
    match (arguments.json, arguments.csv) {
        (true, _) => print_json(&summary),
        (_, true) => print(&summary.csv()),
        _ => print(&summary.text()),
    }
}
