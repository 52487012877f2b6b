//! `emphatic run`.

use crate::Exit;
use crate::arguments::{InstructionSet, Lanes, RunArguments};
use crate::output::{path, say};
use crate::progress::{Display, duration, short};
use crate::signals::stop_on_signals;
use emphatic::Isa;
use emphatic_lab::{Ending, Experiment, LaneCount, Machine, Merged, Options, Report, Shard};
use miette::{IntoDiagnostic, miette};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(arguments: &RunArguments) -> miette::Result<Exit> {
    let experiment = Experiment::open(&arguments.file)?;
    let experiment = match arguments.runs {
        Some(runs) => experiment.with_runs(runs).into_diagnostic()?,
        None => experiment,
    };
    let out = arguments.out.clone().unwrap_or_else(|| default_out(&arguments.file, arguments.shard));
    let kept = out.join("experiment.toml");
    if arguments.runs.is_some()
        && arguments.file.canonicalize().ok() == kept.canonicalize().ok()
        && !out.join("manifest.json").exists()
    {
        // The file as run is kept there, with that number of runs: it would overwrite the user's own.
        return Err(miette!("--out is where {} lies; with --runs give another directory", kept.display()));
    }
    let options = options(arguments);
    let stop = stop_on_signals()?;

    let start = Instant::now();
    let mut display = Display::new(arguments.quiet);
    let report = emphatic_lab::run(&experiment, &out, &options, &stop, &mut |news| display.hear(news));
    display.clear();
    let report = report.map_err(|error| miette!("{error}"))?;
    if !arguments.quiet {
        say(told(&report, &experiment, &out, start).trim_end());
    }
    Ok(match report.ending {
        Ending::Stopped => Exit::Stopped,
        Ending::Finished | Ending::ShardFinished => Exit::Done,
    })
}

/// `results/NAME`, and for a shard its number too.
fn default_out(file: &Path, shard: Option<Shard>) -> PathBuf {
    let name = file.file_stem().unwrap_or(file.as_os_str()).to_os_string();
    let mut out = PathBuf::from("results").join(name).into_os_string();
    if let Some(Shard { index, count }) = shard {
        out.push(format!("-shard-{index}-of-{count}"));
    }
    out.into()
}

fn options(arguments: &RunArguments) -> Options {
    let machine = Machine {
        lanes: match arguments.lanes {
            Some(Lanes::One) => LaneCount::One,
            Some(Lanes::Eight) => LaneCount::Eight,
            Some(Lanes::Sixteen) | None => LaneCount::Sixteen,
        },
        isa: match arguments.isa {
            Some(InstructionSet::Plain) => Isa::Plain,
            Some(InstructionSet::Best) | None => Isa::best(),
        },
    };
    let default = Options::default();
    Options {
        threads: arguments.threads.map_or(default.threads, usize::from),
        shard: arguments.shard,
        machine,
    }
}

fn told(report: &Report, experiment: &Experiment, out: &Path, start: Instant) -> String {
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
        text += &format!(
            "{diverged} of {} runs of settings diverged.\n",
            experiment.settings() * experiment.runs as usize
        );
    }
    text += &match report.ending {
        Ending::Finished => format!("What came out: emphatic summarise {shown}\n"),
        Ending::ShardFinished => "When all shards are finished: emphatic merge DIR... --out DIR\n".to_owned(),
        Ending::Stopped => "Give the same command again to go on.\n".to_owned(),
    };
    text
}

pub(crate) fn merged(merged: &Merged, out: &Path) -> String {
    let (Merged { done, units, fresh, .. }, out) = (merged, path(out));
    let mut text = format!("{done} of {units} units are in {out}.\n");
    if done < units || *fresh {
        let what = if done < units { "the rest" } else { "the fresh runs" };
        text += &format!("For {what}: emphatic run {out}/experiment.toml --out {out}\n");
    }
    text
}
