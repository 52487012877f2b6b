//! `emphatic solve`.

use crate::arguments::{Lines, SolveArguments};
use crate::print;
use crate::progress::Display;
use emphatic_diagnosis::solve as solution;
use emphatic_problems::ProblemFile;
use miette::miette;

pub(crate) fn solve(arguments: &SolveArguments) -> miette::Result<()> {
    let mut display = Display::new(arguments.quiet);
    display.begin("solving");
    let problem = ProblemFile::open(&arguments.file);
    let solution = problem.as_ref().ok().map(|problem| solution::solve(problem, arguments.lambda_a));
    display.clear();
    let problem = problem?;
    let solution = solution.transpose().map_err(|error| miette!("{}: {error}", problem.name))?;
    let Some(solution) = solution else { return Ok(()) };
    print(&match (arguments.json, arguments.csv) {
        (true, _) => format!("{:#}\n", solution.json()),
        (_, Some(Lines::States)) => solution.csv(),
        (_, Some(Lines::Weights)) => solution.weights_csv(),
        _ => solution.text(arguments.top),
    })
}
