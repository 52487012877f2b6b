//! The report of the study.

use super::numbers::{MethodNumbers, ObjectiveNumbers, ProblemNumbers};
use super::published::Score;
use super::{Objective, PROBLEMS, SEED, StudyProblem, StudyReproduction, panels};
use crate::report::page::{self, Table};
use crate::report::{command_of, differences, facts, known_with_error, number, preamble, text};
use crate::reproduce::Options;
use crate::verdict::{JudgedClaim, shown};

const ABOUT: &str = "The experiments of “Off-Policy Actor-Critic with Emphatic Weightings” (Graves, Imani, Kumaraswamy and White, JMLR 2023), run again with the study's whole grids, and what the study says judged by rules that were written down before they were first run. Settings are chosen by the return, averaged over a run, with a cheap evaluation, in two steps: the best of each method by a few runs are tried out on more; curves, tables and claims are about fresh runs of the chosen settings, evaluated thoroughly. Step-size panels show the few runs that all settings have. In panels and tables ± is one standard error. “Certainty” is the share of resamples of the runs in which the chosen setting is the best of these finalists.";

const VERDICTS: &str = "A claim is confirmed if all conditions of its rule hold, refuted if one fails, and not decided otherwise. A condition compares a mean over fresh runs with a threshold: it holds if the whole 99 % interval (here ± is half of it) lies on the right side, fails if the whole interval lies on the wrong side, and is open otherwise or if a run diverged. The score of a run is its return, averaged over its checkpoints; the gap is the score of the best method minus the return of the policy that all start from.";

/// How this differs from the study, and why, as it is in the documentation.
const DIFFERENCES: &str = include_str!("../../../../docs/jmlr.md");

/// The whole page.
pub(super) fn page(reproduction: &StudyReproduction, asked: &[&StudyProblem], options: &Options) -> String {
    let command = command(asked, options);
    let problems = asked.iter().zip(&reproduction.problems);
    // Before it, the page of the documentation says what the reader of the report sees anyway.
    let own = DIFFERENCES.split_once("\n# ").map_or(DIFFERENCES, |(_, differences)| differences);
    page::page(&page::Report {
        title: "Off-policy actor-critic with emphatic weightings, reproduced".to_owned(),
        about: ABOUT.to_owned(),
        claims_about: VERDICTS.to_owned(),
        facts: facts(&command, "as in the study", SEED, options),
        claims: reproduction.claims.iter().map(judged).collect(),
        figures: problems.flat_map(|(problem, numbers)| figures(problem, numbers, options)).collect(),
        differences_about: preamble(own),
        differences: differences(own),
    })
}

fn command(asked: &[&StudyProblem], options: &Options) -> String {
    match asked.len() == PROBLEMS.len() {
        true => command_of(&["jmlr"], options),
        false => command_of(&asked.iter().map(|problem| problem.id).collect::<Vec<_>>(), options),
    }
}

fn judged(claim: &JudgedClaim) -> page::Claim {
    page::Claim { judged: claim.clone(), figures: Vec::new() }
}

fn figures(problem: &StudyProblem, numbers: &ProblemNumbers, options: &Options) -> Vec<page::Figure> {
    numbers.objectives.iter().map(|of_objective| figure(problem, numbers, of_objective, options)).collect()
}

fn figure(
    problem: &StudyProblem,
    numbers: &ProblemNumbers,
    of_objective: &ObjectiveNumbers,
    options: &Options,
) -> page::Figure {
    let objective = of_objective.objective;
    let tiles = panels::tiles(of_objective);
    let mut files: Vec<(String, String)> = vec![
        ("every number (JSON)".to_owned(), format!("{}/summary.json", problem.id)),
        ("experiment file".to_owned(), format!("{}/results/experiment.toml", problem.id)),
    ];
    let alone = tiles.iter().map(|tile| format!("{objective}-{}", tile.name()));
    for drawing in alone.chain([objective.to_string()]) {
        for kind in ["svg", "png"] {
            files.push((format!("{drawing}.{kind}"), format!("{}/{drawing}.{kind}", problem.id)));
        }
    }
    let what = match objective {
        Objective::Episodic => "Returns of episodes from the start.",
        Objective::Excursions => "Returns from states in which the behaviour is.",
    };
    page::Figure {
        id: panels::id(problem, objective),
        name: format!("{}, {objective}", problem.title),
        title: match objective {
            Objective::Episodic => "returns from the start".to_owned(),
            Objective::Excursions => "returns of excursions".to_owned(),
        },
        caption: format!("{} {what}", problem.caption),
        settings: numbers.settings.iter().map(|(key, value)| (key.replace('_', " "), text(value))).collect(),
        runs: table(problem, of_objective),
        command: format!("{} --out {}", command(&[problem], options), problem.id),
        tiles,
        files,
    }
}

/// Every method with its critic: the chosen setting, its fresh runs, and what was published.
fn table(problem: &StudyProblem, numbers: &ObjectiveNumbers) -> Table {
    let columns = [
        "method",
        "critic",
        "mean return",
        "published",
        "at the end",
        "published",
        "α",
        "α_v",
        "α_u",
        "λ",
        "certainty",
        "diverged",
        "of the grid",
    ];
    Table {
        caption: "The chosen settings on fresh runs, beside what was published (≈: read off a plot)"
            .to_owned(),
        columns: columns.map(str::to_owned).into(),
        rows: numbers.methods.iter().map(|method| row(problem, numbers.objective, method)).collect(),
    }
}

fn row(problem: &StudyProblem, objective: Objective, method: &MethodNumbers) -> Vec<String> {
    let is_it = |found: &&super::Published| {
        (found.objective, found.critic, found.method) == (objective, method.critic, method.method)
    };
    let published = |text: fn(Score) -> Option<String>| {
        let scores = problem.published.iter().filter(is_it).map(|found| found.score);
        scores.into_iter().find_map(text).unwrap_or_else(|| "–".to_owned())
    };
    let mean = published(|score| if let Score::Mean(x) = score { Some(shown(x)) } else { None });
    let end =
        published(|score| if let Score::End(x) = score { Some(format!("≈ {}", shown(x))) } else { None });
    let chosen = |key: &str| {
        let value = method.best.get(key).and_then(serde_json::Value::as_f64);
        value.map_or_else(|| "–".to_owned(), number)
    };
    let fresh = &method.fresh;
    vec![
        method.method.to_string(),
        method.critic.to_string(),
        known_with_error(fresh.mean, fresh.mean_error),
        mean,
        known_with_error(fresh.end, fresh.end_error),
        end,
        chosen("alpha"),
        chosen("alpha_v"),
        chosen("emphasis.alpha_u"),
        chosen("lambda"),
        method.probability_best.map_or_else(|| "–".to_owned(), |p| format!("{:.0} %", 100.0 * p)),
        format!("{} of {}", fresh.diverged, fresh.runs),
        format!("{:.0} %", 100.0 * method.diverged as f64 / method.grid_runs.max(1) as f64),
    ]
}
