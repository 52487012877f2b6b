//! What is questionable about an experiment, though it can be run.

use super::{Axis, Experiment, Grid, Owner, Scenario};
use emphatic::catalogue::Role;
use emphatic_text::exact_number;
use std::collections::BTreeSet;

/// The actors that know the whole gradient without an emphasis.
const WITHOUT_EMPHASIS: [&str; 3] = ["gradient-critic", "gradient-values", "model-gradient"];

impl Experiment {
    /// Returns what is wrong with the experiment, though it can be run.
    pub fn warnings(&self) -> Vec<String> {
        let warning = |(state, action): (String, String)| {
            format!(
                "the target takes `{action}` in `{state}`, and the behaviour never does: what comes of it cannot be learned"
            )
        };
        let uncovered = self.scenarios.iter().filter_map(Scenario::uncovered);
        let mut warnings: Vec<String> = uncovered.map(warning).collect();
        let never = self.scenarios.iter().map(Scenario::never_taken).filter(|actions| !actions.is_empty());
        warnings.extend(never.map(|actions| match actions[..] {
            [action] => format!("the behaviour never takes `{action}`: what comes of it cannot be learned"),
            _ => {
                let actions = actions.join("`, `");
                format!("the behaviour never takes `{actions}`: what comes of them cannot be learned")
            }
        }));
        warnings.dedup();
        warnings.extend((0..self.methods.len()).filter_map(|method| self.chooses_among_errors(method)));
        let mut of_grids: Vec<String> = Vec::new();
        for grid in &self.grids {
            let found = [self.biased_emphasis(grid), self.counts_twice(grid)];
            for warning in found.into_iter().flatten() {
                if !of_grids.contains(&warning) {
                    of_grids.push(warning);
                }
            }
        }
        warnings.extend(of_grids);
        warnings
    }

    /// Each λ has its own projected error: the smallest of several is no reason to prefer one.
    fn chooses_among_errors(&self, method: usize) -> Option<String> {
        self.judged_by.iter().find(|judged| judged.column == "projected_error")?;
        let is_separate = |key: &str| self.methods[method].separate.iter().any(|separate| separate == key);
        let lambdas = |grid: &Grid| -> BTreeSet<u64> {
            let axis = own_axis(grid, Role::Critic, "lambda");
            // A critic without λ is judged as with 0.
            axis.map_or(vec![0.0], |axis| axis.values.clone()).into_iter().map(f64::to_bits).collect()
        };
        let grids = || self.grids.iter().filter(|grid| grid.method == method);
        let several = match is_separate("critic") {
            true => grids().any(|grid| lambdas(grid).len() > 1),
            false => grids().flat_map(lambdas).collect::<BTreeSet<_>>().len() > 1,
        };
        (several && !is_separate("lambda")).then(|| {
            format!(
                "the best setting of {} is chosen by `projected_error` among several λ, and each λ has its own error: the choice compares \
                 different quantities; give `separate = [\"lambda\"]`, or `select_by = \"value_error\"`",
                self.methods[method].name
            )
        })
    }

    /// λ_a below 1 moves M_t away from what its error is measured from.
    fn biased_emphasis(&self, grid: &Grid) -> Option<String> {
        let is_recorded = self.record.iter().any(|column| column == "emphasis_error");
        let axis = own_axis(grid, Role::Emphasis, "lambda_a").filter(|_| is_recorded && grid.has_emphasis)?;
        let biased = axis.values.iter().find(|x| **x != 1.0)?;
        Some(format!(
            "the `emphasis_error` of {} counts the bias that λ_a = {} gives M_t on purpose; `lambda_a = 1` estimates m/d_μ itself",
            self.methods[grid.method].name,
            exact_number(*biased)
        ))
    }

    /// An emphasis beside an actor that needs none.
    fn counts_twice(&self, grid: &Grid) -> Option<String> {
        let recipe = &grid.structure.recipe;
        let actor = recipe.actor.as_ref().filter(|actor| WITHOUT_EMPHASIS.contains(&actor.kind.as_str()))?;
        (recipe.emphasis.kind != "none").then(|| {
            format!(
                "{} has the emphasis `{}` beside the actor `{}`, which needs none: later states count twice; give `emphasis = \"none\"`",
                self.methods[grid.method].name, recipe.emphasis.kind, actor.kind
            )
        })
    }
}

/// Returns the values of a setting of a grid's part of this role, not of a part inside it.
fn own_axis<'a>(grid: &'a Grid, role: Role, name: &str) -> Option<&'a Axis> {
    let owner = Owner::Part { role, inside: Vec::new() };
    grid.axes.iter().find(|axis| axis.setting.name == name && axis.owner == owner)
}
