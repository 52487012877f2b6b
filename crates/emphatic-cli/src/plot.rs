//! `emphatic plot`: draws the best setting of each method.

use crate::output::{say, warn};
use crate::picture::{picture_name, write_picture};
use clap::{Args, ValueEnum};
use emphatic_lab::{PlotKind, PlotOptions};
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
Shown is the best setting of each method, as `emphatic summarise` chooses it: its fresh runs if there are
any, otherwise the runs it was chosen by. It can be asked while the experiment is still running.

Examples:
  emphatic plot results/experiment                              learning curves, in results/experiment/curves.svg
  emphatic plot results/experiment --kind strips                where each run ends: do they agree?
  emphatic plot results/experiment --quantity value_error --log
  emphatic plot results/experiment --method ACE --method OffPAC --out curves.png";

#[derive(Args)]
pub(crate) struct PlotArguments {
    /// The directory of the results
    dir: PathBuf,
    /// What to draw
    #[arg(long, value_enum, default_value_t = Kind::Curves)]
    kind: Kind,
    /// The recorded quantity, if not the one that settings are judged by
    #[arg(long, value_name = "NAME")]
    quantity: Option<String>,
    /// Make its axis logarithmic
    #[arg(long)]
    log: bool,
    /// Draw this method, by its name or as `emphatic summarise` lists it, and others that are given, not all
    #[arg(long = "method", value_name = "NAME")]
    methods: Vec<String>,
    /// Where the picture goes, if not to DIR/curves.svg or DIR/strips.svg: a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", value_parser = picture_name)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Learning curves: the mean over runs, with its 95 % bootstrap interval
    Curves,
    /// The end of each run as a dot, with mean and median
    Strips,
}

pub(crate) fn plot(arguments: &PlotArguments) -> miette::Result<()> {
    let (kind, name) = match arguments.kind {
        Kind::Curves => (PlotKind::Curves, "curves.svg"),
        Kind::Strips => (PlotKind::Strips, "strips.svg"),
    };
    let options = PlotOptions {
        kind,
        quantity: arguments.quantity.clone(),
        log: arguments.log,
        methods: arguments.methods.clone(),
    };
    let plot = emphatic_lab::plot(&arguments.dir, &options)?;
    plot.warnings.iter().for_each(|warning| warn(warning));
    plot.under_way.iter().for_each(|under_way| say(under_way));
    let path = arguments.out.clone().unwrap_or_else(|| arguments.dir.join(name));
    write_picture(&path, plot.svg)
}
