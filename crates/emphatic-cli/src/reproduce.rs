//! `emphatic reproduce`.

use crate::Exit;
use crate::arguments::ReproduceArguments;
use crate::output::{path, print, say};
use crate::progress::{Display, duration, short};
use crate::signals::stop_on_signals;
use emphatic_paper::claims::JudgedClaim;
use emphatic_paper::figures::{FIGURES, Figure};
use emphatic_paper::reproduce::{Options, Reproduction, Tell, reproduce as run};
use emphatic_paper::verdict::Verdict;
use miette::miette;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The widest that a line of the table of claims gets.
const WIDEST: usize = 110;

pub(crate) fn reproduce(arguments: &ReproduceArguments) -> miette::Result<Exit> {
    let options = options(arguments);
    let stop = stop_on_signals()?;
    let start = Instant::now();
    let mut display = Display::new(arguments.quiet);
    let done = run(&options, &stop, &mut |tell| match tell {
        Tell::Begin(what) => display.begin(what),
        Tell::News(news) => display.hear(news),
    });
    display.clear();
    match done.map_err(|error| miette!("{error}"))? {
        Some(reproduction) => {
            print(&told(&reproduction, &options.out, start))?;
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

/// The claims with their verdicts, how long it took, and where the report is.
fn told(reproduction: &Reproduction, out: &Path, start: Instant) -> String {
    let mut text: String = reproduction.claims.iter().map(claim).collect();
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

/// A claim, and below it the evidence.
fn claim(claim: &JudgedClaim) -> String {
    let width = textwrap::termwidth().min(WIDEST);
    let indent = if width < 50 { "  " } else { "                  " };
    let wrapped = |first: &str, text: &str| {
        let options = textwrap::Options::new(width).initial_indent(first).subsequent_indent(indent);
        textwrap::fill(text, options)
    };
    let head = format!("{:<5}{:<13}", claim.id, claim.verdict.word());
    format!("{}\n{}\n", wrapped(&head, claim.claim), wrapped(indent, &claim.evidence.join("; ")))
}
