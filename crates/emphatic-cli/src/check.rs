//! `emphatic check`: how much work an experiment is.

use crate::output::{path, print, warn};
use crate::progress::{duration, short};
use crate::run::open_experiment;
use clap::Args;
use emphatic_lab::{Collisions, Estimate, Options, collisions, estimate};
use emphatic_text::{LONGEST_CELL, shortened};
use miette::miette;
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
The time is an estimate from a trial of a fraction of a second. In a simulator, evaluations are rollouts, which take as
long as this only if every episode lasts until its cap.

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
    let Estimate { updates, rows, learning, evaluating, finalists, fresh, bytes } =
        estimate(&experiment).map_err(|error| miette!("{error}"))?;
    let settings = experiment.settings();
    let threads = Options::default().threads;
    let mut text = format!("{} makes sense.\n\n", path(&arguments.file));
    let mut counts = vec![0_usize; experiment.methods.len()];
    (0..settings).for_each(|setting| counts[experiment.method_of(setting)] += 1);
    for (method, count) in experiment.methods.iter().zip(counts) {
        text += &format!("  {:<24} {count:>12} settings\n", shortened(&method.name, LONGEST_CELL));
    }
    text += &format!("\n  {:<24} {settings:>12}\n", "settings");
    text += &format!("  {:<24} {:>12}\n", "runs", experiment.runs);
    text += &format!("  {:<24} {:>12}\n", experiment.length.word(), experiment.length.count());
    text += &format!("  {:<24} {:>12}\n", "updates, about", short(updates));
    text += &format!("  {:<24} {:>12}\n", "units of work", experiment.units());
    text += &format!("  {:<24} {:>12}\n", "rows", short(rows));
    text += &format!("  {:<24} {:>12}\n", "disk, about", format!("{}B", short(bytes)));
    let cores = if threads == 1 { "1 core".to_owned() } else { format!("{threads} cores") };
    let mut time = |what: &str, seconds: f64| {
        text += &format!("  {what:<24} {:>12}\n", duration(seconds / threads as f64));
    };
    time(&format!("time on {cores}, about"), learning + evaluating);
    // Where evaluations are nothing beside learning, nobody asks.
    if evaluating > 0.1 * learning {
        time("  to learn", learning);
        let rollouts = experiment.has_rollouts();
        time(if rollouts { "  to evaluate, at most" } else { "  to evaluate" }, evaluating);
    }
    let mut later = |what: String, seconds: f64| {
        text += &format!("\nand {what}, about {} more.\n", duration(seconds / threads as f64));
    };
    if experiment.finalists > 0 {
        let (runs, settings) = (experiment.finalist_runs, experiment.finalists);
        later(format!("{runs} more runs of each method's {settings} best settings"), finalists);
    }
    if experiment.fresh_runs > 0 {
        later(format!("{} fresh runs of each method's best setting", experiment.fresh_runs), fresh);
    }
    let collisions = collisions(&experiment).map_err(|error| miette!("{error}"))?;
    text.extend(collisions.iter().map(|found| format!("\n{}\n", of_collisions(found))));
    print(&text)
}

/// Above this share of tiles that collide, more memory is advised.
const MANY: f64 = 0.1;

fn of_collisions(Collisions { features, steps, tiles, shared, .. }: &Collisions) -> String {
    let more = if *shared as f64 > MANY * *tiles as f64 { "; more `memory` keeps them apart" } else { "" };
    format!(
        "Of {tiles} tiles in {steps} steps of the behaviour {shared} share their feature with another{more} ({features})."
    )
}
