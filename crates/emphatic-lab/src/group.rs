//! Settings that learn side by side in lanes, and what is recorded of them.

use crate::experiment::Experiment;
use crate::measure::{Measure, Meter, Subject};
use crate::rows::Rows;
use emphatic::learner::Watcher;
use emphatic::{
    Action, Catalogue, Composable, ComposeError, Isa, KnownProblem, Lanes, LearnError, Learner, Real, Recipe,
    State, StateError, Step, Update,
};
use std::sync::Arc;
use thiserror::Error;

/// A setting that cannot be learned with. (Reading a file has refused all that are known.)
#[derive(Debug, Error)]
pub enum SetUpError {
    /// Parts that do not go together.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A problem that does not fit.
    #[error(transparent)]
    Problem(#[from] emphatic::ProblemError),
    /// Weights that do not fit.
    #[error(transparent)]
    Restore(#[from] StateError),
}

/// Learners side by side, in any number of lanes.
pub(crate) trait Group {
    /// Learns from some steps.
    fn learn(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError>;

    /// Records what is asked for.
    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows);
}

/// The settings of a group, and what is recorded of them.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) catalogue: &'a Catalogue,
    /// The numbers of the settings, at least one and at most as many as there are lanes.
    pub(crate) settings: &'a [usize],
    /// The place of the first of them in its unit.
    pub(crate) first: usize,
    pub(crate) measures: &'a [Arc<dyn Measure>],
    /// The number of the stream they learn from.
    pub(crate) stream: u64,
    pub(crate) isa: Isa,
}

/// A number type in which settings learn.
pub(crate) trait InLanes: Composable {
    fn meter(measure: &dyn Measure, of: &Subject) -> Result<Box<dyn Meter<Self>>, ComposeError>;
}

macro_rules! in_lanes {
    ($($number:ty => $method:ident),*) => {
        $(impl InLanes for $number {
            fn meter(measure: &dyn Measure, of: &Subject) -> Result<Box<dyn Meter<Self>>, ComposeError> {
                measure.$method(of)
            }
        })*
    };
}
in_lanes!(f64 => one, Lanes<8> => eight, Lanes<16> => sixteen);

impl Members<'_> {
    /// Puts the learners together.
    pub(crate) fn set_up<R: InLanes>(self) -> Result<Box<dyn Group>, SetUpError> {
        let Self { experiment, settings, isa, .. } = self;
        let structure = experiment.structure(settings[0]);
        let source = &experiment.scenarios[structure.scenario].source;
        let judged = source.clone().known();
        let own = match structure.interest.clone() {
            Some(interest) => source.with_interest(interest)?.known(),
            None => judged.clone(),
        };
        let recipes: Vec<Recipe> =
            settings.iter().map(|setting| experiment.recipe(*setting, self.stream)).collect();
        let all: Vec<&Recipe> = recipes.iter().collect();
        let problems: Vec<KnownProblem> = own.clone().into_iter().collect();
        let mut learner = R::compose(self.catalogue, &all, &problems, isa)?;
        learner.set_weights(self.weights())?;
        let subject = Subject {
            judged: judged.as_ref(),
            own: own.as_ref(),
            recipes: &recipes,
            policy: learner.policy(),
            isa,
        };
        let meters = self
            .measures
            .iter()
            .map(|measure| R::meter(&**measure, &subject))
            .collect::<Result<_, ComposeError>>()?;
        Ok(Box::new(Learning {
            learner,
            meters: Meters(meters),
            interest: structure.interest.clone(),
            settings: settings.len(),
            first: self.first,
            isa,
        }))
    }

    /// The policy's weights at the start. Lanes without a setting do as the first.
    fn weights<R: Real>(&self) -> Vec<R> {
        let weights: Vec<&[f64]> =
            self.settings.iter().map(|setting| self.experiment.weights(*setting)).collect();
        let of = |k: usize| R::from_lanes(|lane| weights.get(lane).unwrap_or(&weights[0])[k]);
        (0..weights[0].len()).map(of).collect()
    }
}

struct Learning<R> {
    learner: Box<dyn Learner<R>>,
    meters: Meters<R>,
    /// The method's own interest, in place of that of the steps.
    interest: Option<Vec<f64>>,
    settings: usize,
    first: usize,
    isa: Isa,
}

/// A meter for each column.
struct Meters<R>(Vec<Box<dyn Meter<R>>>);

impl<R: Real> Watcher<R> for Meters<R> {
    fn before(&mut self, step: &Step<State, Action>) {
        self.0.iter_mut().for_each(|meter| meter.before(step));
    }

    fn after(&mut self, step: &Step<State, Action>, update: &Update<R>, learner: &dyn Learner<R>) {
        self.0.iter_mut().for_each(|meter| meter.after(step, update, learner));
    }
}

impl<R: Real> Learning<R> {
    fn teach(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError> {
        let watched = self.meters.0.iter().any(|meter| meter.watches());
        let watcher: Option<&mut dyn Watcher<R>> = if watched { Some(&mut self.meters) } else { None };
        self.learner.learn_watched(self.isa, steps, watcher)
    }
}

impl<R: Real> Group for Learning<R> {
    fn learn(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError> {
        let Some(interest) = &self.interest else { return self.teach(steps) };
        let own = |step: &Step<State<'_>, Action>| match step.state {
            State::Number(state) => interest[state],
            State::Vector(_) | State::Active(_) => step.interest,
        };
        let steps: Vec<_> = steps.iter().map(|step| Step { interest: own(step), ..*step }).collect();
        self.teach(&steps)
    }

    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows) {
        let lanes = self.first..self.first + self.settings;
        for (lane, setting) in lanes.clone().enumerate() {
            rows.set_diverged(setting, evaluation, self.learner.diverged(lane));
        }
        for (column, meter) in self.meters.0.iter_mut().enumerate() {
            let numbers = meter.read(&*self.learner);
            for (lane, setting) in lanes.clone().enumerate() {
                rows.set(column, setting, evaluation, numbers.iter().map(|number| number.lane(lane)));
            }
        }
    }
}
