//! `emphatic solve`.

use crate::output::{print, print_json};
use crate::part_argument::part_argument;
use crate::progress::Display;
use clap::{Args, ValueEnum};
use emphatic::catalogue::Role;
use emphatic::{KnownProblem, ProblemError};
use emphatic_diagnosis::Solution;
use emphatic_diagnosis::linear_methods::PartOf;
use emphatic_problems::ProblemFile;
use miette::{MietteDiagnostic, miette};
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
FILE is a problem file (.toml or .json), or the name of a problem of `emphatic new`. Shown for the target
policy of the file, or for the policy with zero weights if it has none: d_μ, π, v, q, m, m/d_μ by state, J_μ,
its gradient and the semi-gradient; and what linear critics and emphases of the catalogue (`emphatic parts`) learn with
the critic's features. PART is a name with settings: etd,lambda=0.5,emphasis=truncated,emphasis.n=3. With features=states,
features=actor or features=critic, a part sees other features, and so does one inside it with emphasis.features=states.

Examples:
  emphatic solve counterexample
  emphatic solve problem.toml --lambda-a 0.5
  emphatic solve baird --critic tdrc,beta=0.1 --critic etd,emphasis=decayed,emphasis.beta=0.5
  emphatic solve problem.toml --json > solution.json
  emphatic solve problem.toml --csv > states.csv
  emphatic solve problem.toml --csv=weights > gradients.csv";

#[derive(Args)]
pub(crate) struct SolveArguments {
    /// The problem
    file: PathBuf,
    /// λ_a of the weighting m and of a third gradient
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = fraction)]
    lambda_a: f64,
    /// A critic that is shown beside the usual ones; --json has its key matrix and fixed point, too
    #[arg(long, value_name = "PART", conflicts_with = "csv")]
    critic: Vec<String>,
    /// An emphasis that is shown beside the usual ones
    #[arg(long, value_name = "PART", conflicts_with = "csv")]
    emphasis: Vec<String>,
    /// How many states and weights are shown, the largest first
    #[arg(long, value_name = "N", default_value_t = emphatic_diagnosis::solve::SHOWN)]
    top: usize,
    /// Everything, as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// A line for each state, or for each weight with --csv=weights
    #[arg(long, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "states")]
    csv: Option<Lines>,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

impl SolveArguments {
    /// Returns the parts that are asked for.
    fn asked(&self, problem: &KnownProblem) -> miette::Result<Vec<PartOf>> {
        let critics = self.critic.iter().map(|text| (Role::Critic, text));
        let emphases = self.emphasis.iter().map(|text| (Role::Emphasis, text));
        critics.chain(emphases).map(|(role, text)| part_argument(role, text, problem)).collect()
    }
}

/// What a line of CSV is about.
#[derive(Clone, Copy, ValueEnum)]
enum Lines {
    States,
    Weights,
}

fn fraction(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| (0.0..=1.0).contains(x));
    number.ok_or_else(|| "it is a number between 0 and 1".to_owned())
}

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
    let asked = arguments.asked(&problem.known)?;
    let solution = emphatic_diagnosis::solve(&problem, arguments.lambda_a, &asked)
        .map_err(|error| unsolved(&problem, &error))?;
    let cannot = |PartOf { role, name, .. }: &PartOf, why: &str| {
        let role = role.word();
        miette!(help = why.to_owned(), "{}: nothing can be computed of the {role} `{name}`", problem.name)
    };
    let is_asked = |(part, _): &&(PartOf, String)| asked.contains(part);
    let refused = solution.linear_methods.as_ref().map(|methods| methods.refused.iter().find(is_asked));
    match (refused, asked.first()) {
        (Some(Some((part, why))), _) => Err(cannot(part, why)),
        (None, Some(part)) => Err(cannot(part, "that takes finitely many actions and at most 100 features")),
        _ => Ok(solution),
    }
}

pub(crate) fn solve(arguments: &SolveArguments) -> miette::Result<()> {
    let mut display = Display::new(arguments.quiet);
    display.begin("solving");
    let solution = solution_of(arguments);
    display.clear();
    let solution = solution?;
    match (arguments.json, arguments.csv) {
        (true, _) => print_json(&solution),
        (_, Some(Lines::States)) => print(&solution.csv()),
        (_, Some(Lines::Weights)) => print(&solution.weights_csv()),
        _ => print(&solution.text(arguments.top)),
    }
}
