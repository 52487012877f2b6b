//! `emphatic solve`.

use crate::arguments::{Lines, SolveArguments};
use crate::output::{print, print_json};
use crate::progress::Display;
use emphatic::ProblemError;
use emphatic_diagnosis::Solution;
use emphatic_problems::ProblemFile;
use miette::MietteDiagnostic;

/// The report that a problem has no solution for its target policy.
pub(crate) fn unsolved(problem: &ProblemFile, error: &ProblemError) -> miette::Report {
    let help = match error {
        ProblemError::NeverEnds(_) => {
            Some("let the target policy come to an end from everywhere, or give a `gamma` below 1")
        }
        _ => None,
    };
    let mut report = MietteDiagnostic::new(format!("{}: {error}", problem.name));
    report.help = help.map(str::to_owned);
    report.into()
}

fn solution_of(arguments: &SolveArguments) -> miette::Result<Solution> {
    let problem = ProblemFile::open(&arguments.file)?;
    emphatic_diagnosis::solve(&problem, arguments.lambda_a).map_err(|error| unsolved(&problem, &error))
}

pub(crate) fn solve(arguments: &SolveArguments) -> miette::Result<()> {
    let mut display = Display::new(arguments.quiet);
    display.begin("solving");
    let solution = solution_of(arguments);
    display.clear();
    let solution = solution?;
    match (arguments.json, arguments.csv) {
        (true, _) => print_json(&solution.json()),
        (_, Some(Lines::States)) => print(&solution.csv()),
        (_, Some(Lines::Weights)) => print(&solution.weights_csv()),
        _ => print(&solution.text(arguments.top)),
    }
}
