//! `emphatic solve`.

use crate::arguments::{Lines, SolveArguments};
use crate::print;
use crate::progress::Display;
use emphatic::ProblemError;
use emphatic_diagnosis::solve as solution;
use emphatic_problems::ProblemFile;
use miette::MietteDiagnostic;

/// Why a problem has no solution for its target policy.
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

pub(crate) fn solve(arguments: &SolveArguments) -> miette::Result<()> {
    let mut display = Display::new(arguments.quiet);
    display.begin("solving");
    let problem = ProblemFile::open(&arguments.file);
    let solution = problem.as_ref().ok().map(|problem| solution::solve(problem, arguments.lambda_a));
    display.clear();
    let problem = problem?;
    let solution = solution.transpose().map_err(|error| unsolved(&problem, &error))?;
    let Some(solution) = solution else { return Ok(()) };
    print(&match (arguments.json, arguments.csv) {
        (true, _) => format!("{:#}\n", solution.json()),
        (_, Some(Lines::States)) => solution.csv(),
        (_, Some(Lines::Weights)) => solution.weights_csv(),
        _ => solution.text(arguments.top),
    })
}
