//! How much work an experiment is, in words.

use crate::collisions::{Collisions, collisions};
use crate::estimate::{Estimate, estimate};
use crate::experiment::Experiment;
use crate::unit::UnitError;
use emphatic_text::{LONGEST_CELL, duration, short, shortened};

/// Returns how much work an experiment is on so many threads: settings, updates, rows, disk, and how the time divides, from a short trial.
pub fn workload(experiment: &Experiment, threads: usize) -> Result<String, UnitError> {
    let Estimate { updates, rows, learning, evaluating, finalists, fresh, bytes } = estimate(experiment)?;
    let settings = experiment.settings();
    let mut text = String::new();
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
    // In Python threads take turns.
    let of_evaluations = if experiment.is_elsewhere() { 1 } else { threads };
    let (learning, evaluating) = (learning / threads as f64, evaluating / of_evaluations as f64);
    let mut time = |what: &str, seconds: f64| {
        text += &format!("  {what:<24} {:>12}\n", duration(seconds));
    };
    time(&format!("time on {cores}, about"), learning + evaluating);
    // Where evaluations are nothing beside learning, nobody asks.
    if evaluating > 0.1 * learning {
        time("  to learn", learning);
        let rollouts = experiment.has_rollouts();
        time(if rollouts { "  to evaluate, at most" } else { "  to evaluate" }, evaluating);
    }
    let mut later = |what: String, seconds: f64| {
        text += &format!("\nand {what}, about {} more.\n", duration(seconds / of_evaluations as f64));
    };
    if experiment.finalists > 0 {
        // By each quantity that settings are chosen by.
        let (runs, by) = (experiment.finalist_runs, experiment.judged_by.len());
        let settings = experiment.finalists as usize * by;
        later(format!("{runs} more runs of up to {settings} best settings of each method"), finalists);
    }
    if experiment.fresh_runs > 0 {
        let best = if experiment.judged_by.len() > 1 { "best settings" } else { "best setting" };
        later(format!("{} fresh runs of each method's {best}", experiment.fresh_runs), fresh);
    }
    let collisions = collisions(experiment)?;
    text.extend(collisions.iter().map(|found| format!("\n{}\n", of_collisions(found))));
    Ok(text)
}

/// Above this share of tiles that collide, more memory is advised.
const MANY: f64 = 0.1;

fn of_collisions(Collisions { features, steps, tiles, shared, .. }: &Collisions) -> String {
    let more = if *shared as f64 > MANY * *tiles as f64 { "; more `memory` keeps them apart" } else { "" };
    format!(
        "Of {tiles} tiles in {steps} steps of the behaviour {shared} share their feature with another{more} ({features})."
    )
}
