//! Runs the study, judges what it says and writes a report.

use super::claims::{CLAIMS, Evidence};
use super::numbers::ProblemNumbers;
use super::{StudyProblem, panels, report};
use crate::reproduce::{Options, ReproduceError, ReproduceEvent, put, put_json, run};
use crate::verdict::JudgedClaim;
use emphatic_chart::Renderer;
use emphatic_lab::{Event, Experiment, FileError, Stop};
use std::path::Path;
use std::time::{Duration, Instant};

/// The study, reproduced.
#[derive(Clone, Debug)]
pub struct StudyReproduction {
    /// What it says, judged.
    pub claims: Vec<JudgedClaim>,
    /// The numbers of each problem.
    pub problems: Vec<ProblemNumbers>,
    /// How many updates were made.
    pub updates: u64,
    /// How long the experiments took.
    pub time: Duration,
}

/// Runs what is missing of these problems, judges the claims and writes the report. `None` if it was stopped: the same call continues.
pub fn reproduce(
    asked: &[&'static StudyProblem],
    options: &Options,
    stop: &Stop,
    on_event: &mut dyn FnMut(ReproduceEvent),
) -> Result<Option<StudyReproduction>, ReproduceError> {
    let (mut problems, mut updates, mut time) = (Vec::new(), 0, Duration::ZERO);
    for problem in asked {
        on_event(ReproduceEvent::Begin(problem.id));
        let (start, experiment) = (Instant::now(), experiment(problem, options)?);
        let Some(made) = run(problem.id, &experiment, options, stop, on_event)? else { return Ok(None) };
        (updates, time) = (updates + made, time + start.elapsed());
        let numbers = ProblemNumbers::read(problem, &options.out.join(problem.id).join("results"));
        let numbers =
            numbers.map_err(|error| ReproduceError::Summary { figure: problem.id, error: error.into() })?;
        for warning in &numbers.warnings {
            on_event(ReproduceEvent::Experiment(Event::Warning(warning)));
        }
        problems.push(numbers);
    }
    if stop.is_stopped() {
        return Ok(None);
    }
    on_event(ReproduceEvent::Begin("report"));
    let enough =
        !options.quick && asked.iter().zip(&problems).all(|(problem, numbers)| is_whole(problem, numbers));
    let claims = CLAIMS.iter().filter_map(|claim| claim.judged(&Evidence(&problems), enough)).collect();
    let reproduction = StudyReproduction { claims, problems, updates, time };
    write(&reproduction, asked, options)?;
    Ok(Some(reproduction))
}

/// Returns whether settings were chosen by as many runs as the file has.
fn is_whole(problem: &StudyProblem, numbers: &ProblemNumbers) -> bool {
    let file = Experiment::parse(problem.experiment, problem.id, Path::new(""));
    file.is_ok_and(|file| numbers.runs >= (file.runs + file.finalist_runs) as usize)
}

/// A problem's experiment as it is asked for.
pub fn experiment(problem: &StudyProblem, options: &Options) -> Result<Experiment, FileError> {
    let parse = |text: &str| Experiment::parse(text, &format!("{}.toml", problem.id), Path::new(""));
    let mut text = problem.experiment.to_owned();
    if options.quick {
        text = thinned(&text);
        for (key, number) in [
            ("runs", 1),
            ("finalists", 5),
            ("finalist_runs", 2),
            ("fresh_runs", 5),
            ("fresh_evaluations", 10),
        ] {
            text = crate::figures::with(&text, key, number);
        }
    }
    if let Some(runs) = options.runs {
        text = crate::figures::with(&text, "runs", runs.into());
    }
    if let Some(seed) = options.seed {
        text = crate::figures::with(&text, "seed", seed);
    }
    parse(&text)
}

/// Returns the file with fewer values in its long lists of numbers: every third.
fn thinned(text: &str) -> String {
    const LONG: usize = 5;
    let mut parts = text.split('[');
    let mut thin = parts.next().unwrap_or("").to_owned();
    for part in parts {
        thin.push('[');
        let (list, rest) = part.split_once(']').unwrap_or((part, ""));
        let values: Vec<&str> = list.split(',').collect();
        let is_long = values.len() >= LONG && values.iter().all(|value| value.trim().parse::<f64>().is_ok());
        if is_long {
            thin += &values.into_iter().step_by(3).collect::<Vec<_>>().join(",");
        } else {
            thin += list;
        }
        if part.contains(']') {
            thin.push(']');
        }
        thin += rest;
    }
    thin
}

/// Writes the figures, their numbers and the report.
fn write(
    reproduction: &StudyReproduction,
    asked: &[&StudyProblem],
    options: &Options,
) -> Result<(), ReproduceError> {
    let renderer = Renderer::new();
    for (problem, numbers) in asked.iter().zip(&reproduction.problems) {
        let dir = options.out.join(problem.id);
        put_json(&dir.join("summary.json"), numbers)?;
        for (name, svg) in panels::drawings(problem, numbers) {
            put(&dir.join(format!("{name}.svg")), svg.as_bytes())?;
            put(&dir.join(format!("{name}.png")), &renderer.png(&svg)?)?;
        }
    }
    put_json(&options.out.join("claims.json"), &reproduction.claims)?;
    put(&options.out.join("report.html"), report::page(reproduction, asked, options).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::{PROBLEMS, SEED};
    use super::*;

    fn options(quick: bool) -> Options {
        let engine = emphatic_lab::Options::default();
        Options { runs: None, quick, seed: None, out: "out".into(), engine }
    }

    #[test]
    fn the_files_have_the_grids_of_the_study() {
        for problem in &PROBLEMS {
            let experiment = experiment(problem, &options(false)).unwrap();
            // Two critics; for the trace and the direct estimate two interests. The recomputed trace has a coarse grid.
            let ideal = if problem.id == "jmlr-puddle-world" { 4 * 50 } else { 0 };
            assert_eq!(experiment.settings(), 2 * 1350 + 4 * 1350 + 4 * 20_250 + ideal, "{}", problem.id);
            assert_eq!((experiment.length.count(), experiment.seed), (100_000, SEED));
        }
    }

    #[test]
    fn a_quick_look_has_every_third_value() {
        assert_eq!(
            thinned("a = [1, 2, 3, 4, 5, 6, 7] # [x]\nb = [1, 2]\n[[m]]"),
            "a = [1, 4, 7] # [x]\nb = [1, 2]\n[[m]]"
        );
        for problem in &PROBLEMS {
            let experiment = experiment(problem, &options(true)).unwrap();
            let ideal = if problem.id == "jmlr-puddle-world" { 4 * 8 } else { 0 };
            assert_eq!(experiment.settings(), 2 * 50 + 4 * 50 + 4 * 250 + ideal, "{}", problem.id);
            assert_eq!((experiment.runs, experiment.finalist_runs, experiment.fresh_runs), (1, 2, 5));
        }
    }
}
