//! What an experiment's results depend on, and the files that lie beside them.

use super::{Cell, Experiment, Grid, RolloutPlan, Scenario};
use crate::source::{self, Described};
use crate::store::fingerprint;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::ops::Range;

impl Experiment {
    /// Returns the names and bytes of the files that belong to it: `experiment.toml` as run, copies of the problem files and saved
    /// policies that it names, and what is known of environments that live elsewhere.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let copies = self.problem_copies.iter();
        let mut changes: Vec<(Range<usize>, String)> =
            copies.clone().map(|file| (file.span.clone(), file.replacement(&self.text))).collect();
        changes.extend(self.policies.replacements());
        if self.runs != self.runs_in_text {
            changes.push((self.runs_span.clone(), self.runs.to_string()));
        }
        // From the end, so that the places before stay as they are.
        changes.sort_by_key(|(span, _)| Reverse(span.start));
        let mut text = self.text.clone();
        changes.into_iter().for_each(|(span, with)| text.replace_range(span, &with));
        let experiment = ("experiment.toml".to_owned(), text.into_bytes());
        let copies = copies.map(|file| (file.path(), file.text.clone().into_bytes()));
        let environments = self.described_environments();
        std::iter::once(experiment).chain(copies).chain(self.policies.files()).chain(environments).collect()
    }

    /// Returns the file that describes the environments that live elsewhere, if there are any.
    fn described_environments(&self) -> Option<(String, Vec<u8>)> {
        let elsewhere = |scenario: &'_ Scenario| {
            let environment = scenario.simulator()?.elsewhere()?.environment.clone();
            Some((scenario.problem.clone()?, environment))
        };
        let all: Vec<_> = self.scenarios.iter().filter_map(elsewhere).collect();
        let text = || Described::text(all.iter().map(|(name, environment)| (name.as_str(), &**environment)));
        (!all.is_empty()).then(|| (source::ENVIRONMENTS.to_owned(), text().into_bytes()))
    }

    /// Returns everything that its results depend on. The number of runs is not part of it, since more can be added.
    pub fn identity(&self) -> Value {
        let cells = |columns: &[(String, Cell)]| -> Value {
            columns.iter().map(|(name, cell)| (name.clone(), cell.json())).collect()
        };
        let grid = |g: &Grid| {
            let mut grid = json!({
                "method": self.methods[g.method].name,
                "scenario": g.structure.scenario,
                "values": cells(&g.columns),
                "grid": g.axes.iter().map(|a| (a.column.clone(), json!(a.values))).collect::<Value>(),
            });
            // With many features there are millions of zeros.
            if g.weights.iter().any(|weight| *weight != 0.0) {
                grid["weights"] = json!(g.weights);
            }
            grid
        };
        // A problem counts by its name, or by the text of its file, not by what it is called.
        let problem = |s: &Scenario| {
            let others = s.columns.iter().filter(|(name, _)| name != "problem").cloned();
            let name = s.problem.iter().map(|name| ("problem".to_owned(), Cell::Text(name.clone())));
            let mut problem = cells(&name.chain(others).collect::<Vec<_>>());
            if let Some(simulator) = s.simulator() {
                problem["simulator"] = simulator.identity();
            }
            problem
        };
        let mut identity = json!({
            "seed": self.seed,
            self.length.word(): self.length.count(),
            "evaluations": self.evaluations,
            "record": self.record,
            "problems": self.scenarios.iter().map(problem).collect::<Vec<_>>(),
            "problem_files": self.problem_copies.iter().map(|f| fingerprint(&json!(f.text))).collect::<Vec<_>>(),
            "methods": self.grids.iter().map(grid).collect::<Vec<_>>(),
        });
        if self.fresh_evaluations != self.evaluations {
            identity["fresh_evaluations"] = json!(self.fresh_evaluations);
        }
        if self.scenarios.iter().any(|scenario| scenario.simulator().is_some()) {
            identity["rollouts"] = json!(self.rollouts.map(RolloutPlan::identity));
        }
        if let Some(drawn) = &self.drawn {
            identity["random_binary"] = json!(drawn.counts());
        }
        if let Some(weights) = &self.critic_weights {
            identity["critic_weights"] = json!(weights);
        }
        identity
    }
}
