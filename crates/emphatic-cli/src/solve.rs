//! `emphatic solve`.

use crate::output::{print, print_json};
use crate::part_argument::{PartArgument, part_argument};
use crate::progress::Display;
use clap::{Args, ValueEnum};
use emphatic::catalogue::Role;
use emphatic::{Features, KnownProblem, ProblemError, Table, Task};
use emphatic_diagnosis::Solution;
use emphatic_diagnosis::linear_methods::{LinearMethod, LinearMethods, PartOf};
use emphatic_problems::ProblemFile;
use miette::{MietteDiagnostic, miette};
use std::path::PathBuf;
use std::sync::Arc;

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
    fn asked(&self, problem: &KnownProblem) -> miette::Result<Vec<Asked>> {
        let critics = self.critic.iter().map(|text| (Role::Critic, text));
        let emphases = self.emphasis.iter().map(|text| (Role::Emphasis, text));
        let asked = |(role, text): (Role, &String)| {
            let PartArgument { part, name } = part_argument(role, text, problem)?;
            Ok(Asked { of: PartOf { role, part }, name })
        };
        critics.chain(emphases).map(asked).collect()
    }
}

/// A part that is asked for, and what it is called.
struct Asked {
    of: PartOf,
    name: String,
}

impl Asked {
    /// Returns the problem whose critics have the features of this one, if it is a critic with features of its own.
    fn own_problem(&self, problem: &ProblemFile) -> Result<Option<ProblemFile>, ProblemError> {
        let (KnownProblem::Finite(task), Role::Critic, Some(Features::Table(table))) =
            (&problem.known, self.of.role, &self.of.part.features)
        else {
            return Ok(None);
        };
        let task = Task::clone(task).with_critic(Table::clone(table))?;
        Ok(Some(ProblemFile { known: KnownProblem::Finite(Arc::new(task)), ..problem.clone() }))
    }
}

/// Returns the lists of what linear methods learn.
fn lists(methods: &mut LinearMethods) -> [&mut Vec<LinearMethod>; 3] {
    [&mut methods.critics, &mut methods.action_critics, &mut methods.emphases]
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
    let (mut common, mut others) = (Vec::new(), Vec::new());
    for asked in &asked {
        match asked.own_problem(&problem).map_err(|error| unsolved(&problem, &error))? {
            Some(own) => others.push((own, asked)),
            None => common.push(asked),
        }
    }
    let mut solution = solved(&problem, arguments.lambda_a, &common)?;
    // What has other features comes first, as all that is asked for does.
    for (own, asked) in others.into_iter().rev() {
        let found = solved(&own, arguments.lambda_a, &[asked])?.linear_methods;
        let none =
            LinearMethods { critics: vec![], action_critics: vec![], emphases: vec![], refused: vec![] };
        let all = solution.linear_methods.get_or_insert(none);
        for (list, found) in lists(all).into_iter().zip(found.into_iter().flat_map(found_lists)) {
            let of_asked = found.into_iter().filter(|method| method.name == asked.name);
            list.splice(0..0, of_asked.take(1).collect::<Vec<_>>());
        }
    }
    Ok(solution)
}

fn found_lists(methods: LinearMethods) -> [Vec<LinearMethod>; 3] {
    [methods.critics, methods.action_critics, methods.emphases]
}

/// Solves a problem, with the parts that are asked for under their names.
fn solved(problem: &ProblemFile, lambda_a: f64, asked: &[&Asked]) -> miette::Result<Solution> {
    let parts: Vec<PartOf> = asked.iter().map(|asked| asked.of.clone()).collect();
    let mut solution =
        emphatic_diagnosis::solve(problem, lambda_a, &parts).map_err(|error| unsolved(problem, &error))?;
    let cannot = |Asked { of, name }: &Asked, why: &str| {
        let role = of.role.word();
        miette!(help = why.to_owned(), "{}: nothing can be computed of the {role} `{name}`", problem.name)
    };
    let Some(methods) = &mut solution.linear_methods else {
        let why = "that takes finitely many actions and at most 100 features";
        return asked.first().map_or(Ok(solution), |asked| Err(cannot(asked, why)));
    };
    for asked in asked {
        if let Some((_, why)) = methods.refused.iter().find(|(part, _)| *part == asked.of) {
            return Err(cannot(asked, why));
        }
        // Parts that are asked for come before the usual ones; their features are not in their names yet.
        let plain = asked.of.part.to_string();
        let is_role = |k: usize| (k == 2) == (asked.of.role == Role::Emphasis);
        let lists = lists(methods).into_iter().enumerate().filter(|(k, _)| is_role(*k));
        let named = lists.flat_map(|(_, list)| list).find(|method| method.name == plain);
        named.into_iter().for_each(|method| method.name.clone_from(&asked.name));
    }
    Ok(solution)
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
