//! `emphatic reproduce`: the paper's figures and claims, and those of the study that followed it.

use crate::Exit;
use crate::output::{path, print, say};
use crate::progress::Display;
use crate::signals::stop_on_signals;
use clap::Args;
use clap::builder::PossibleValuesParser;
use emphatic_paper::figures::{FIGURES, Figure};
use emphatic_paper::reproduce::{Options, ReproduceEvent, Reproduction, reproduce as run};
use emphatic_paper::study::{self, PROBLEMS, StudyProblem, StudyReproduction};
use emphatic_paper::verdict::{JudgedClaim, Verdict};
use emphatic_text::{duration, short};
use miette::miette;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) const EXAMPLES: &str = "\
Everything goes to DIR (--out), by default to reproduction (reproduction-quick with --quick):
  report.html          the claims with their verdicts, interactive figures, settings
  claims.json          the claims with their verdicts, as data
  figN/*.svg, *.png    each panel alone, and the figure
  figN/summary.json    every number of the figure
  figN/results         the tables of all runs, as from `emphatic run`

`jmlr` is the study that followed the paper (Graves, Imani, Kumaraswamy and White 2023), in
three simulators; each has its name, too. It takes an hour on two cores (--quick: a
minute or two, with a thin grid) and goes to reproduction-jmlr.

The same command goes on where it was stopped or killed. The same seed gives the same bits.
The report shows the figures that were asked for. With fewer runs than the paper's no claim
is decided: the choice of settings would be luck.

Examples:
  emphatic reproduce
  emphatic reproduce --quick
  emphatic reproduce fig2 fig4 --out figures
  emphatic reproduce --seed 7 --runs 100 --out more
  emphatic reproduce jmlr --quick
  emphatic reproduce jmlr-virtual-office";

/// The whole study.
const STUDY: &str = "jmlr";

#[derive(Args)]
pub(crate) struct ReproduceArguments {
    /// Which figures, if not all of the paper's
    #[arg(value_name = "FIGURE", value_parser = PossibleValuesParser::new(names()))]
    figures: Vec<String>,
    /// Few runs, and of the follow-up study a thin grid, for a first look
    #[arg(long, conflicts_with = "runs")]
    quick: bool,
    /// How many runs to choose settings by, if not as in the paper
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// What all randomness comes from, if not 1 (2 in the follow-up study)
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

/// Returns the names of what can be reproduced.
fn names() -> impl Iterator<Item = &'static str> {
    let study = PROBLEMS.iter().map(|problem| problem.id);
    FIGURES.iter().map(|figure| figure.id).chain([STUDY]).chain(study)
}

/// What is asked for.
enum Asked {
    Paper(Vec<&'static Figure>),
    Study(Vec<&'static StudyProblem>),
}

impl Asked {
    fn of(arguments: &ReproduceArguments) -> miette::Result<Self> {
        let is_asked = |id: &str| arguments.figures.iter().any(|asked| asked == id);
        let figures: Vec<&Figure> = FIGURES.iter().filter(|figure| is_asked(figure.id)).collect();
        let whole = is_asked(STUDY);
        let problems: Vec<&StudyProblem> =
            PROBLEMS.iter().filter(|problem| whole || is_asked(problem.id)).collect();
        match (figures.is_empty(), problems.is_empty()) {
            (true, true) => Ok(Self::Paper(FIGURES.iter().collect())),
            (false, true) => Ok(Self::Paper(figures)),
            (true, false) => Ok(Self::Study(problems)),
            (false, false) => Err(miette!(
                help = "give two commands",
                "figures of the paper and the study are reproduced apart, each with a report of its own"
            )),
        }
    }

    /// Returns where everything goes by default.
    fn out(&self, quick: bool) -> PathBuf {
        let name = match self {
            Self::Paper(_) => "reproduction",
            Self::Study(_) => "reproduction-jmlr",
        };
        PathBuf::from(if quick { format!("{name}-quick") } else { name.to_owned() })
    }
}

/// What came of it.
struct Outcome {
    claims: Vec<JudgedClaim>,
    updates: u64,
    time: Duration,
}

pub(crate) fn reproduce(arguments: &ReproduceArguments) -> miette::Result<Exit> {
    let asked = Asked::of(arguments)?;
    let options = options(arguments, &asked);
    let stop = stop_on_signals()?;
    let start = Instant::now();
    let mut display = Display::new(arguments.quiet);
    let mut on_event = |event: ReproduceEvent| match event {
        ReproduceEvent::Begin(what) => display.begin(what),
        ReproduceEvent::Experiment(event) => display.show_event(event),
    };
    let done = match &asked {
        Asked::Paper(figures) => run(figures, &options, &stop, &mut on_event).map(|done| {
            done.map(|Reproduction { claims, updates, time, .. }| Outcome { claims, updates, time })
        }),
        Asked::Study(problems) => study::reproduce(problems, &options, &stop, &mut on_event).map(|done| {
            done.map(|StudyReproduction { claims, updates, time, .. }| Outcome { claims, updates, time })
        }),
    };
    display.clear();
    match done.map_err(|error| miette!("{error}"))? {
        Some(outcome) => {
            print(&summary_text(&outcome, &options.out, start))?;
            Ok(Exit::Done)
        }
        None => {
            say("Stopped. Give the same command again to go on.");
            Ok(Exit::Stopped)
        }
    }
}

fn options(arguments: &ReproduceArguments, asked: &Asked) -> Options {
    let mut engine = emphatic_lab::Options::default();
    engine.threads = arguments.threads.map_or(engine.threads, usize::from);
    Options {
        runs: arguments.runs,
        quick: arguments.quick,
        seed: arguments.seed,
        out: arguments.out.clone().unwrap_or_else(|| asked.out(arguments.quick)),
        engine,
    }
}

/// Returns the claims with their verdicts, how long it took, and where the report is.
fn summary_text(outcome: &Outcome, out: &Path, start: Instant) -> String {
    let mut text: String = outcome.claims.iter().map(claim_text).collect();
    let count = |verdict: Verdict| outcome.claims.iter().filter(|c| c.verdict == verdict).count();
    text += &format!(
        "\n{} claims confirmed, {} refuted, {} not decided.\n",
        count(Verdict::Confirmed),
        count(Verdict::Refuted),
        count(Verdict::NotDecided)
    );
    let (updates, seconds) = (outcome.updates as f64, outcome.time.as_secs_f64());
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
