//! `emphatic summarise`: shows the best setting of each method.

use crate::output::{print, print_json, warn};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use emphatic_lab::{Select, SummaryOptions, summarise_as};
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
It can be asked while the experiment is still running.

Examples:
  emphatic summarise results/experiment
  emphatic summarise results/experiment --select area
  emphatic summarise results/experiment --above 1               how many fresh runs are above 1
  emphatic summarise results/experiment --quantity emphasis     another quantity that was recorded
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
    /// Show the median of fresh runs, and how many are above this number
    #[arg(long, value_name = "X", conflicts_with_all = ["json", "csv"], allow_negative_numbers = true, value_parser = finite)]
    above: Option<f64>,
    /// The recorded quantity that is shown, if not the one that the best setting is chosen by
    #[arg(long, value_name = "NAME")]
    quantity: Option<String>,
    /// By what the best setting is chosen, if not as the experiment says
    #[arg(long, value_name = "BY", value_parser = select())]
    select: Option<Select>,
    /// The recorded quantity that it is chosen by: one of the experiment's `select_by`, if not the first
    #[arg(long, value_name = "NAME")]
    select_by: Option<String>,
}

fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| x.is_finite());
    number.ok_or_else(|| "it is a finite number".to_owned())
}

fn select() -> impl TypedValueParser<Value = Select> {
    let by_end = PossibleValue::new("final").help("The objective, or the error, at the end of a run");
    let by_area = PossibleValue::new("area").help("Its average over a run");
    PossibleValuesParser::new([by_end, by_area])
        .map(|text| if text == "area" { Select::Area } else { Select::Final })
}

pub(crate) fn summarise(arguments: &SummariseArguments) -> miette::Result<()> {
    let mut options = SummaryOptions::default();
    options.select = arguments.select;
    options.select_by.clone_from(&arguments.select_by);
    options.quantity.clone_from(&arguments.quantity);
    let summary = summarise_as(&arguments.dir, &options)?;
    summary.warnings.iter().for_each(|warning| warn(warning));
    match (arguments.json, arguments.csv) {
        (true, _) => print_json(&summary),
        (_, true) => print(&summary.csv()),
        _ => print(&arguments.above.map_or_else(|| summary.text(), |x| summary.text_above(x))),
    }
}
