//! Grids: settings that differ in numbers alone, so that they can learn side by side in lanes.

use super::Cell;
use super::part::LAMBDA_A;
use crate::source;
use emphatic::catalogue::{Algorithm, Role, Setting};
use emphatic::learner::WARM_UP;
use emphatic::{PartRecipe, Recipe, Subset};
use std::ops::Range;

/// What settings that share the lanes of one learner have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Structure {
    pub(crate) scenario: usize,
    /// The parts of the learner, without their numbers.
    pub(crate) recipe: Recipe,
    /// The method's own interest.
    pub(crate) interest: Option<OwnInterest>,
}

/// The interest of a method, if not the experiment's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnInterest {
    /// In each state of a problem.
    ByState(Vec<f64>),
    /// In the states of a simulator.
    Simulated(source::Interest),
}

/// Settings that differ in numbers alone.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) method: usize,
    pub(super) structure: Structure,
    /// The name of the composition, if it has one.
    pub(super) algorithm: Option<&'static Algorithm>,
    /// The policy's weights at the start.
    pub(super) weights: Vec<f64>,
    /// Whether the critic is one that the file names. A method that evaluates an emphasis alone has a critic that nobody asks about.
    pub(super) has_critic: bool,
    /// The same of the emphasis.
    pub(super) has_emphasis: bool,
    /// The parts that see the problem's features for critics.
    pub(super) critic_features: Vec<Owner>,
    /// The parts that are the method's own emphasis, inside others.
    pub(super) actors_emphasis: Vec<Owner>,
    /// How many values of the same kind stand before each part in its list, by the column that names the part.
    pub(super) ordinals: Vec<(String, usize)>,
    /// The columns of the table of settings, except for the numbers.
    pub(super) columns: Vec<(String, Cell)>,
    pub(super) axes: Vec<Axis>,
    /// The numbers of its settings; the last axis varies fastest.
    pub(super) settings: Range<usize>,
}

/// The values of one numeric setting.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Its column in the table of settings.
    pub(super) column: String,
    pub(super) setting: Setting,
    pub(super) owner: Owner,
    pub(super) values: Vec<f64>,
}

/// What a numeric setting belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Actor,
    /// The part of this role, or the part inside it that these names lead to.
    Part {
        role: Role,
        inside: Vec<&'static str>,
    },
}

impl Owner {
    /// Returns the column that names the part; `None` for the actor's own settings.
    pub(super) fn column(&self) -> Option<String> {
        let Self::Part { role, inside } = self else { return None };
        Some(inside.iter().fold(role.word().to_owned(), |place, name| format!("{place}_{name}")))
    }

    /// Returns the part in a recipe; `None` for the actor.
    pub(super) fn part<'a>(&self, recipe: &'a mut Recipe) -> Option<&'a mut PartRecipe> {
        let Self::Part { role, inside } = self else { return None };
        let part = match role {
            Role::Policy => &mut recipe.policy,
            Role::Emphasis => &mut recipe.emphasis,
            Role::Actor => recipe.actor.get_or_insert_default(),
            Role::Critic | Role::Schedule => &mut recipe.critic,
        };
        Some(inside.iter().fold(part, |part, name| part.inner.entry((*name).to_owned()).or_default()))
    }

    /// Sets a number in a recipe.
    pub(super) fn set(&self, recipe: &mut Recipe, name: &str, x: f64) {
        if let Some(part) = self.part(recipe) {
            part.numbers.insert(name.to_owned(), x);
            return;
        }
        match &mut recipe.warm_up {
            Some((length, _)) if name == WARM_UP.name => *length = x,
            _ => recipe.alpha = x,
        }
    }
}

impl Grid {
    /// Returns the numbers of a setting, each with its axis.
    pub(super) fn numbers(&self, setting: usize) -> impl Iterator<Item = (&Axis, f64)> {
        let (index, mut stride) = (setting - self.settings.start, self.settings.len());
        self.axes.iter().map(move |axis| {
            stride /= axis.values.len();
            (axis, axis.values[index / stride % axis.values.len()])
        })
    }

    /// Returns grids of settings that fit in lanes together: one for each choice of the numbers that lanes share.
    pub(super) fn split(self) -> Vec<Self> {
        let is_shared = |axis: &Axis| axis.setting.range == emphatic::Range::Count;
        let Some(k) = self.axes.iter().position(|axis| is_shared(axis) && axis.values.len() > 1) else {
            let mut grid = self;
            for axis in grid.axes.iter().filter(|axis| is_shared(axis)) {
                axis.owner.set(&mut grid.structure.recipe, axis.setting.name, axis.values[0]);
            }
            return vec![grid];
        };
        let with = |x: &f64| {
            let mut grid = self.clone();
            grid.axes[k].values = vec![*x];
            grid.split()
        };
        self.axes[k].values.iter().flat_map(with).collect()
    }

    /// Returns the recipe of a setting's learner. Subsets of actions are drawn by this seed and run.
    pub(super) fn recipe(&self, setting: usize, seed: u64, run: u64) -> Recipe {
        let mut recipe = self.structure.recipe.clone();
        recipe.subset = recipe.subset.map(|Subset { count, .. }| Subset { count, seed, run });
        for (axis, x) in self.numbers(setting) {
            axis.owner.set(&mut recipe, axis.setting.name, x);
        }
        let mut emphasis = recipe.emphasis.clone();
        emphasis.numbers.remove(LAMBDA_A);
        for owner in &self.actors_emphasis {
            if let Some(part) = owner.part(&mut recipe) {
                part.clone_from(&emphasis);
            }
        }
        recipe
    }
}
