//! How much memory learners take.

use super::part::PartChoice;
use super::{Experiment, Grid};
use emphatic::catalogue::{Extent, Role, Size};
use emphatic::{Features, PartRecipe, Recipe};
use emphatic_problems::Mistake;
use std::ops::Range;

use crate::learners::learners;

/// The most bytes that the learners of a unit take. A file is right or wrong on every machine, so this does not depend on it.
pub(crate) const MOST_BYTES: f64 = (1_u64 << 32) as f64;

/// The bytes of a number.
pub(crate) const NUMBER: f64 = 8.0;

/// Returns a number of bytes in words.
pub(crate) fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

/// What the sizes of all parts of a learner depend on.
struct Learner<'a> {
    features: Option<&'a Features>,
    outputs: f64,
    weights: f64,
}

impl<'a> Learner<'a> {
    fn of(recipe: &'a Recipe) -> Self {
        let entry = learners().find(Role::Policy, &recipe.policy.kind);
        let outputs = entry.and_then(|entry| entry.outputs).or(recipe.actions).unwrap_or(1) as f64;
        let features = recipe.policy.features.as_ref();
        let weights = features.map_or(0.0, |features| features.len() as f64) * outputs;
        Self { features, outputs, weights }
    }

    /// Returns how many numbers a part holds, with the parts inside it. Without features of its own it has these.
    fn size(&self, role: Role, part: &PartRecipe, around: Option<&Features>) -> Size {
        let features = part.features.as_ref().or(around);
        let states = features.map_or(0, |features| match features {
            Features::Table(table) => table.states(),
            _ => 0,
        });
        let extent = Extent {
            features: features.map_or(0.0, |features| features.len() as f64),
            states: states as f64,
            actions: self.outputs,
            weights: self.weights,
            numbers: &part.numbers,
        };
        let Some(entry) = learners().find(role, &part.kind) else { return Size::default() };
        let inside = entry.inner.iter().filter_map(|inner| {
            let part = part.inner.get(inner.name)?;
            // A schedule is for the features of the part around it.
            let around = if inner.role == Role::Schedule { features } else { self.features };
            Some(self.size(inner.role, part, around))
        });
        inside.fold(entry.size(&extent), plus)
    }
}

fn plus(one: Size, other: Size) -> Size {
    Size { in_lanes: one.in_lanes + other.in_lanes, shared: one.shared + other.shared }
}

fn parts(recipe: &Recipe) -> impl Iterator<Item = (Role, &PartRecipe)> {
    let others = [(Role::Critic, &recipe.critic), (Role::Emphasis, &recipe.emphasis)];
    others.into_iter().chain(recipe.actor.as_ref().map(|actor| (Role::Actor, actor)))
}

/// Returns an error if a part of a grid's learners takes more memory than there may be, even alone.
pub(super) fn check(grid: &Grid, written: &[&PartChoice]) -> Result<(), Mistake> {
    let recipe = &grid.structure.recipe;
    let learner = Learner::of(recipe);
    for (role, part) in parts(recipe) {
        let Size { in_lanes, shared } = learner.size(role, part, learner.features);
        let bytes = NUMBER * (in_lanes + shared);
        let Some(choice) = written.iter().find(|choice| choice.entry.role == role) else { continue };
        if bytes > MOST_BYTES {
            let features = part.features.as_ref().or(learner.features).map_or(0, Features::len);
            let message = format!(
                "the {} `{}` with {features} features takes {} of memory; a learner may have {}",
                role.word(),
                part.kind,
                gigabytes(bytes),
                gigabytes(MOST_BYTES)
            );
            let help = match NUMBER * features as f64 * learner.outputs > MOST_BYTES {
                true => "give it fewer features",
                false => {
                    "give it fewer features, or take a part whose memory does not grow with their square"
                }
            };
            return Err(Mistake::at(&choice.span, message).help(help));
        }
    }
    Ok(())
}

impl Experiment {
    /// Returns an error if what is recorded of a run takes more memory than there may be: it is held until the run is finished. `places` are those of the columns.
    pub(super) fn check_recorded_memory(&self, places: &[Range<usize>]) -> Result<(), Mistake> {
        let rows = self.evaluations.max(self.fresh_evaluations) as f64 + 1.0;
        for grid in &self.grids {
            let measures = self.scenarios[grid.structure.scenario].measures.iter();
            for ((measure, column), place) in measures.zip(&self.record).zip(places) {
                let numbers = measure.numbers(&grid.structure.recipe, grid.weights.len()) as f64;
                let bytes = NUMBER * numbers * rows;
                if bytes > MOST_BYTES {
                    let message = format!(
                        "`{column}` of a run takes {} of memory: {numbers} numbers at {rows} evaluations; at most {} are possible",
                        gigabytes(bytes),
                        gigabytes(MOST_BYTES)
                    );
                    return Err(Mistake::at(place, message).help("give fewer `evaluations`, or record less"));
                }
            }
        }
        Ok(())
    }

    /// Returns how many settings like this one fit into the memory of a unit, where they learn in lanes; at least one, which learns alone.
    pub(super) fn most_settings_in_memory(&self, setting: usize) -> usize {
        const LANES: usize = 16;
        let Grid { structure, .. } = self.grid(setting);
        let learner = Learner::of(&structure.recipe);
        let sizes = parts(&structure.recipe).map(|(role, part)| learner.size(role, part, learner.features));
        let Size { in_lanes, shared } = sizes.fold(Size::default(), plus);
        let measures = self.scenarios[structure.scenario].measures.iter();
        let measured: f64 = measures.map(|measure| measure.held(&structure.recipe)).sum();
        // The policy's weights, and a copy of them where it is tried out.
        let policy = 2.0 * learner.weights;
        let group = NUMBER * (LANES as f64 * (policy + in_lanes + measured) + shared);
        ((MOST_BYTES / group.max(1.0)) as usize).saturating_mul(LANES).max(1)
    }
}
