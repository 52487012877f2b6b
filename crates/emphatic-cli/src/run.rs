//! `emphatic run`: runs an experiment, or goes on with it.

use crate::Exit;
use crate::output::{path, quoted, say, warn};
use crate::progress::Display;
use crate::signals::stop_on_signals;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use emphatic::Isa;
use emphatic_lab::{Ending, Experiment, LaneCount, Options, Report, Shard};
use emphatic_text::{duration, short};
use miette::{IntoDiagnostic, miette};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const EXAMPLES: &str = "\
Results go to DIR (--out), by default to results/NAME for NAME.toml
(results/NAME-shard-I-of-N for a shard):
  results.parquet    a row for each setting, run and evaluation
  settings.parquet   a row for each setting
  finalists.parquet  more runs of the best settings, with `finalists`
  fresh.parquet      the best setting of each method on fresh runs, with `fresh_runs`
  experiment.toml    the file as run
  manifest.json      versions, counts, time

The same command goes on where it was stopped or killed. More runs can be added later.
Results are the same bits for any number of threads, in one process or in shards.

Examples:
  emphatic run experiment.toml
  emphatic run experiment.toml --runs 3 --out trial
  emphatic run experiment.toml --threads 4 --quiet
  emphatic run experiment.toml --shard 2/8 --out shards/2    the second eighth";

#[derive(Args)]
pub(crate) struct RunArguments {
    /// The experiment file
    file: PathBuf,
    /// Where the results go, if not to results/NAME
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many threads, if not one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How many runs, if not as the file says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// Do only the I-th N-th of the work
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Say nothing unless something is wrong
    #[arg(long, short)]
    quiet: bool,
    /// How many learners stand side by side: the same bits, another speed
    #[arg(long, value_name = "N", hide = true, value_parser = lane_count())]
    lanes: Option<LaneCount>,
    /// Which instruction set: the same bits, another speed
    #[arg(long, hide = true, value_parser = instruction_set())]
    isa: Option<Isa>,
}

fn lane_count() -> impl TypedValueParser<Value = LaneCount> {
    PossibleValuesParser::new(["1", "16"]).map(|text| match text.as_str() {
        "1" => LaneCount::One,
        _ => LaneCount::Sixteen,
    })
}

fn instruction_set() -> impl TypedValueParser<Value = Isa> {
    PossibleValuesParser::new(["plain", "best"])
        .map(|text| if text == "plain" { Isa::Plain } else { Isa::best() })
}

/// Reads an experiment file, with another number of runs if one is given.
pub(crate) fn open_experiment(file: &Path, runs: Option<u32>) -> miette::Result<Experiment> {
    let experiment = Experiment::open(file)?;
    match runs {
        Some(runs) => experiment.with_runs(runs).into_diagnostic(),
        None => Ok(experiment),
    }
}

pub(crate) fn run(arguments: &RunArguments) -> miette::Result<Exit> {
    let experiment = open_experiment(&arguments.file, arguments.runs)?;
    let out = arguments.out.clone().unwrap_or_else(|| default_out(&arguments.file, arguments.shard));
    let copy = out.join("experiment.toml");
    if arguments.runs.is_some()
        && arguments.file.canonicalize().ok() == copy.canonicalize().ok()
        && !out.join("manifest.json").exists()
    {
        // The copy of the file has that number of runs: it would overwrite the user's own file.
        return Err(miette!("--out is where {} lies; with --runs give another directory", copy.display()));
    }
    experiment.warnings().iter().for_each(|warning| warn(warning));
    let options = options(arguments);
    let stop = stop_on_signals()?;

    let start = Instant::now();
    let mut display = Display::new(arguments.quiet);
    let report =
        emphatic_lab::run(&experiment, &out, &options, &stop, &mut |event| display.show_event(event));
    display.clear();
    let report = report.map_err(|error| miette!("{error}"))?;
    if !arguments.quiet {
        say(report_text(&report, &out, start).trim_end());
    }
    Ok(match report.ending {
        Ending::Stopped => Exit::Stopped,
        Ending::Finished | Ending::ShardFinished => Exit::Done,
    })
}

/// Returns `results/NAME`, with the number of the shard if there is one.
fn default_out(file: &Path, shard: Option<Shard>) -> PathBuf {
    let name = file.file_stem().unwrap_or(file.as_os_str()).to_os_string();
    let mut out = PathBuf::from("results").join(name).into_os_string();
    if let Some(Shard { index, count }) = shard {
        out.push(format!("-shard-{index}-of-{count}"));
    }
    out.into()
}

fn options(arguments: &RunArguments) -> Options {
    let mut options = Options::default();
    options.threads = arguments.threads.map_or(options.threads, usize::from);
    options.shard = arguments.shard;
    options.lanes = arguments.lanes.unwrap_or_default();
    options.isa = arguments.isa.unwrap_or(options.isa);
    options
}

fn report_text(report: &Report, out: &Path, start: Instant) -> String {
    let seconds = start.elapsed().as_secs_f64();
    let Report { done, units, before, updates, diverged, .. } = *report;
    let shown = path(out);
    let mut text = match report.ending {
        Ending::Finished => format!("Finished: all {units} units are in {shown}"),
        Ending::ShardFinished => format!("This shard is finished: {done} of {units} units are in {shown}"),
        Ending::Stopped => format!("Stopped: {done} of {units} units are in {shown}"),
    };
    if before > 0 {
        text += &format!(" ({before} were there before)");
    }
    text += ".\n";
    if updates > 0 {
        let rate = short(updates as f64 / seconds.max(1e-9));
        text += &format!("{} updates in {}, {rate} a second.\n", short(updates as f64), duration(seconds));
    }
    if diverged > 0 {
        text += &format!("{diverged} of the runs of settings diverged.\n");
    }
    text += &match report.ending {
        Ending::Finished => format!("What came out: emphatic summarise {}\n", quoted(out)),
        Ending::ShardFinished => "When all shards are finished: emphatic merge DIR... --out DIR\n".to_owned(),
        Ending::Stopped => "Give the same command again to go on.\n".to_owned(),
    };
    text
}

fn shard(text: &str) -> Result<Shard, String> {
    let numbers =
        text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    match numbers {
        Some((index, count)) if 1 <= index && index <= count => Ok(Shard { index, count }),
        _ => Err("a shard is written I/N, with I from 1 to N: 2/8 is the second eighth".to_owned()),
    }
}
