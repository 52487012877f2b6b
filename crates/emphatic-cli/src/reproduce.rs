//! `emphatic reproduce`: the paper's figures and claims.

use crate::Exit;
use crate::output::{path, print, say};
use crate::progress::{Display, duration, short};
use crate::signals::stop_on_signals;
use clap::Args;
use clap::builder::PossibleValuesParser;
use emphatic_paper::figures::{FIGURES, Figure};
use emphatic_paper::reproduce::{Options, ReproduceEvent, Reproduction, reproduce as run};
use emphatic_paper::verdict::{JudgedClaim, Verdict};
use miette::miette;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) const EXAMPLES: &str = "\
Everything goes to DIR (--out), by default to reproduction (reproduction-quick with --quick):
  report.html          the claims with their verdicts, interactive figures, settings
  claims.json          the claims with their verdicts, as data
  figN/*.svg, *.png    each panel alone, and the figure
  figN/summary.json    every number of the figure
  figN/results         the tables of all runs, as from `emphatic run`

The same command goes on where it was stopped or killed. The same seed gives the same bits.
The report shows the figures that were asked for. With fewer runs than the paper's no claim
is decided: the choice of settings would be luck.

Examples:
  emphatic reproduce
  emphatic reproduce --quick
  emphatic reproduce fig2 fig4 --out figures
  emphatic reproduce --seed 7 --runs 100 --out more";

#[derive(Args)]
pub(crate) struct ReproduceArguments {
    /// Which figures, if not all
    #[arg(value_name = "FIGURE", value_parser = PossibleValuesParser::new(FIGURES.map(|figure| figure.id)))]
    figures: Vec<String>,
    /// A tenth of the runs, for a first look
    #[arg(long, conflicts_with = "runs")]
    quick: bool,
    /// How many runs to choose settings by, if not as in the paper
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// What all randomness comes from, if not 1
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where everything goes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many threads, if not one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

/// The greatest width of a line of the table of claims.
const WIDEST: usize = 110;

pub(crate) fn reproduce(arguments: &ReproduceArguments) -> miette::Result<Exit> {
    let options = options(arguments);
    let stop = stop_on_signals()?;
    let start = Instant::now();
    let mut display = Display::new(arguments.quiet);
    let done = run(&options, &stop, &mut |event| match event {
        ReproduceEvent::Begin(what) => display.begin(what),
        ReproduceEvent::Experiment(event) => display.show_event(event),
    });
    display.clear();
    match done.map_err(|error| miette!("{error}"))? {
        Some(reproduction) => {
            print(&summary_text(&reproduction, &options.out, start))?;
            Ok(Exit::Done)
        }
        None => {
            say("Stopped. Give the same command again to go on.");
            Ok(Exit::Stopped)
        }
    }
}

fn options(arguments: &ReproduceArguments) -> Options {
    let asked =
        |figure: &&Figure| arguments.figures.is_empty() || arguments.figures.iter().any(|id| id == figure.id);
    let out = if arguments.quick { "reproduction-quick" } else { "reproduction" };
    let mut engine = emphatic_lab::Options::default();
    engine.threads = arguments.threads.map_or(engine.threads, usize::from);
    Options {
        figures: FIGURES.iter().filter(asked).collect(),
        runs: arguments.runs,
        quick: arguments.quick,
        seed: arguments.seed,
        out: arguments.out.clone().unwrap_or_else(|| PathBuf::from(out)),
        engine,
    }
}

/// Returns the claims with their verdicts, how long it took, and where the report is.
fn summary_text(reproduction: &Reproduction, out: &Path, start: Instant) -> String {
    let mut text: String = reproduction.claims.iter().map(claim_text).collect();
    let count = |verdict: Verdict| reproduction.claims.iter().filter(|c| c.verdict == verdict).count();
    text += &format!(
        "\n{} claims confirmed, {} refuted, {} not decided.\n",
        count(Verdict::Confirmed),
        count(Verdict::Refuted),
        count(Verdict::NotDecided)
    );
    let (updates, seconds) = (reproduction.updates as f64, reproduction.time.as_secs_f64());
    if updates > 0.0 {
        let rate = short(updates / seconds.max(1e-9));
        text += &format!("{} updates in {}, {rate} a second. ", short(updates), duration(seconds));
    }
    text += &format!("Everything took {}.\n", duration(start.elapsed().as_secs_f64()));
    text + &format!("Report: {}\n", path(&out.join("report.html")))
}

/// Returns a claim and, below it, the evidence.
fn claim_text(claim: &JudgedClaim) -> String {
    let width = textwrap::termwidth().min(WIDEST);
    let indent = if width < 50 { "  " } else { "                  " };
    let wrapped = |first: &str, text: &str| {
        let options = textwrap::Options::new(width).initial_indent(first).subsequent_indent(indent);
        textwrap::fill(text, options)
    };
    let head = format!("{:<5}{:<13}", claim.id, claim.verdict.word());
    format!("{}\n{}\n", wrapped(&head, claim.claim), wrapped(indent, &claim.evidence.join("; ")))
}
