//! Runs the paper's experiments, judges its claims and writes a report.

use crate::figure_numbers::FigureNumbers;
use crate::figures::Figure;
use crate::panels;
use crate::report;
use crate::theory_claims::{self, TheoryError};
use crate::verdict::JudgedClaim;
use emphatic::ProblemError;
use emphatic_chart::{RenderError, Renderer};
use emphatic_lab::atomic_file::overwrite;
use emphatic_lab::store::StoreError;
use emphatic_lab::{Ending, Event, Experiment, FileError, RunError, Stop};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How something is to be reproduced.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many runs settings are chosen by, if not as in the files.
    pub runs: Option<u32>,
    /// Few runs, fresh ones included, and of the follow-up study a thin grid, for a first look.
    pub quick: bool,
    /// The seed of all randomness, if not that of the files.
    pub seed: Option<u64>,
    /// Where everything goes.
    pub out: PathBuf,
    /// Threads and lanes.
    pub engine: emphatic_lab::Options,
}

/// The seed of the experiment files.
pub(crate) const SEED: u64 = 1;

/// The outcome of a reproduction.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The claims, in the paper's order.
    pub claims: Vec<JudgedClaim>,
    /// The figures.
    pub figures: Vec<FigureNumbers>,
    /// How many updates were made.
    pub updates: u64,
    /// How long the experiments took.
    pub time: Duration,
}

/// A reproduction that could not be finished.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// An experiment file has an error.
    #[error(transparent)]
    File(#[from] FileError),
    /// An experiment could not be run.
    #[error("{figure}: {error}")]
    Run {
        /// The figure.
        figure: &'static str,
        /// The reason.
        error: Box<RunError>,
    },
    /// The results could not be read.
    #[error("{figure}: {error}")]
    Summary {
        /// The figure.
        figure: &'static str,
        /// The reason.
        error: Box<StoreError>,
    },
    /// The theory could not be checked.
    #[error(transparent)]
    Theory(#[from] TheoryError),
    /// A problem could not be solved.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A figure could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A file could not be written.
    #[error("{path} cannot be written: {error}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
}

/// An event while a reproduction runs.
#[derive(Debug)]
pub enum ReproduceEvent<'a> {
    /// This part begins.
    Begin(&'a str),
    /// An event of the experiment.
    Experiment(Event<'a>),
}

/// Runs what is missing of these figures, judges the claims and writes the report. `None` if it was stopped: the same call continues.
pub fn reproduce(
    asked: &[&'static Figure],
    options: &Options,
    stop: &Stop,
    on_event: &mut dyn FnMut(ReproduceEvent),
) -> Result<Option<Reproduction>, ReproduceError> {
    let mut figures = Vec::new();
    let (mut updates, mut time) = (0, Duration::ZERO);
    for figure in asked {
        on_event(ReproduceEvent::Begin(figure.id));
        let start = Instant::now();
        let experiment = experiment(figure, options)?;
        let Some(made) = run(figure.id, &experiment, options, stop, on_event)? else { return Ok(None) };
        (updates, time) = (updates + made, time + start.elapsed());
        let results = options.out.join(figure.id).join("results");
        let numbers = FigureNumbers::read(figure, figure.bounds()?, &results)
            .map_err(|error| ReproduceError::Summary { figure: figure.id, error: error.into() })?;
        for warning in &numbers.warnings {
            on_event(ReproduceEvent::Experiment(Event::Warning(warning)));
        }
        figures.push(numbers);
    }
    if stop.is_stopped() {
        return Ok(None);
    }
    on_event(ReproduceEvent::Begin("theory"));
    let mut claims = theory_claims::check(options.seed.unwrap_or(SEED), options.engine.threads)?;
    claims.extend(figures.iter().flat_map(|figure| figure.claims.iter().cloned()));
    if stop.is_stopped() {
        return Ok(None);
    }
    on_event(ReproduceEvent::Begin("figures"));
    let reproduction = Reproduction { claims, figures, updates, time };
    write(&reproduction, asked, options)?;
    Ok(Some(reproduction))
}

/// Runs what is missing of an experiment. Returns how many updates that took; `None` if it was stopped.
pub(crate) fn run(
    figure: &'static str,
    experiment: &Experiment,
    options: &Options,
    stop: &Stop,
    on_event: &mut dyn FnMut(ReproduceEvent),
) -> Result<Option<u64>, ReproduceError> {
    let dir = options.out.join(figure).join("results");
    let report = emphatic_lab::run(experiment, &dir, &options.engine, stop, &mut |event| {
        on_event(ReproduceEvent::Experiment(event))
    });
    let report = report.map_err(|error| ReproduceError::Run { figure, error: error.into() })?;
    Ok((report.ending == Ending::Finished).then_some(report.updates))
}

/// A figure's experiment as it is asked for.
pub fn experiment(figure: &Figure, options: &Options) -> Result<Experiment, FileError> {
    let parse = |text: &str| Experiment::parse(text, &format!("{}.toml", figure.id), Path::new(""));
    let paper = parse(figure.experiment)?;
    let tenth = |runs: u32| if options.quick { runs.div_ceil(10) } else { runs };
    let runs = options.runs.unwrap_or(tenth(paper.runs));
    let mut numbers = vec![("runs", runs.into()), ("fresh_runs", tenth(paper.fresh_runs).into())];
    numbers.extend(options.seed.map(|seed| ("seed", seed)));
    parse(&figure.experiment_with(&numbers))
}

/// Writes the figures, their numbers and the report.
fn write(reproduction: &Reproduction, asked: &[&Figure], options: &Options) -> Result<(), ReproduceError> {
    let renderer = Renderer::new();
    for (figure, numbers) in asked.iter().zip(&reproduction.figures) {
        let dir = options.out.join(figure.id);
        put_json(&dir.join("summary.json"), numbers)?;
        for (name, svg) in panels::drawings(figure, numbers) {
            put(&dir.join(format!("{name}.svg")), svg.as_bytes())?;
            put(&dir.join(format!("{name}.png")), &renderer.png(&svg)?)?;
        }
    }
    put_json(&options.out.join("claims.json"), &reproduction.claims)?;
    put(&options.out.join("report.html"), report::page(reproduction, asked, options).as_bytes())
}

/// Writes a file whole or not at all.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), ReproduceError> {
    let failed = |error| ReproduceError::Write { path: path.to_owned(), error };
    overwrite(path, |out| out.write_all(bytes)).map_err(failed)
}

pub(crate) fn put_json(path: &Path, data: &impl Serialize) -> Result<(), ReproduceError> {
    let failed =
        |error: serde_json::Error| ReproduceError::Write { path: path.to_owned(), error: error.into() };
    put(path, (serde_json::to_string_pretty(data).map_err(failed)? + "\n").as_bytes())
}
