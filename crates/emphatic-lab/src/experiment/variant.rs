//! Settings that differ in numbers alone.

use super::Cell;
use emphatic::catalogue::{Algorithm, Role};
use emphatic::{PartRecipe, Recipe, Subset};
use std::ops::Range;

/// What settings that share the lanes of one learner have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Structure {
    pub(crate) scenario: usize,
    /// What the learner is made of, without its numbers.
    pub(crate) recipe: Recipe,
    /// The method's own interest.
    pub(crate) interest: Option<Vec<f64>>,
}

/// The values of one numeric setting.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Its column in the table of settings.
    pub(crate) column: String,
    pub(crate) name: &'static str,
    pub(crate) owner: Owner,
    pub(crate) values: Vec<f64>,
}

/// Whose setting it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Actor,
    /// The part of this role, or the part so deep inside it.
    Part(Role, usize),
}

/// A grid of settings that differ in numbers alone.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) method: usize,
    pub(crate) structure: Structure,
    /// The name of the composition, if it has one.
    pub(crate) algorithm: Option<&'static Algorithm>,
    /// The policy's weights at the start.
    pub(crate) weights: Vec<f64>,
    /// What is written in the table of settings, beside the numbers.
    pub(crate) columns: Vec<(&'static str, Cell)>,
    pub(crate) axes: Vec<Axis>,
    /// The numbers of its settings; the last axis varies fastest.
    pub(crate) settings: Range<usize>,
}

impl Variant {
    /// The numbers of a setting, each with its axis.
    pub(crate) fn numbers(&self, setting: usize) -> impl Iterator<Item = (&Axis, f64)> {
        let (index, mut stride) = (setting - self.settings.start, self.settings.len());
        self.axes.iter().map(move |axis| {
            stride /= axis.values.len();
            (axis, axis.values[index / stride % axis.values.len()])
        })
    }

    /// What a setting's learner is made of. Some actions are drawn by this seed and run.
    pub(crate) fn recipe(&self, setting: usize, seed: u64, run: u64) -> Recipe {
        let mut recipe = self.structure.recipe.clone();
        recipe.subset = recipe.subset.map(|Subset { count, .. }| Subset { count, seed, run });
        for (axis, x) in self.numbers(setting) {
            let Owner::Part(role, depth) = axis.owner else {
                recipe.alpha = x;
                continue;
            };
            let part = match role {
                Role::Policy => &mut recipe.policy,
                Role::Emphasis => &mut recipe.emphasis,
                Role::Critic => &mut recipe.critic,
            };
            inside(part, depth).numbers.insert(axis.name.to_owned(), x);
        }
        recipe
    }
}

/// The part so deep inside another. (It is as deep as its axes were made for.)
fn inside(part: &mut PartRecipe, depth: usize) -> &mut PartRecipe {
    match (depth, &mut part.inner) {
        (0, _) | (_, None) => part,
        (_, Some(_)) => inside(part.inner.as_mut().expect("it has a part inside it"), depth - 1),
    }
}
