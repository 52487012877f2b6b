//! `emphatic merge`: puts the results of shards together.

use crate::output::{path, print, quoted, warn};
use clap::Args;
use emphatic_lab::Merged;
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
Examples:
  emphatic merge shards/* --out results/experiment
  emphatic run experiment.toml --out results/experiment    runs what is missing, finalists and fresh runs";

#[derive(Args)]
pub(crate) struct MergeArguments {
    /// The directories of the shards; they stay as they are, unless one of them is where it all goes
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Where to put the results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn merge(arguments: &MergeArguments) -> miette::Result<()> {
    let Merged { done, units, complete, warnings, .. } =
        emphatic_lab::merge(&arguments.dirs, &arguments.out)?;
    warnings.iter().for_each(|warning| warn(warning));
    let out = path(&arguments.out);
    let mut text = format!("{done} of {units} units are in {out}.\n");
    if !complete {
        let (file, out) = (quoted(&arguments.out.join("experiment.toml")), quoted(&arguments.out));
        text += &format!("For the rest: emphatic run {file} --out {out}\n");
    }
    print(&text)
}
