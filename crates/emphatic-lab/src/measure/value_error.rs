//! How far the critic's values are from the true ones.

use super::{Context, Goal, Kind, Measure, Measured, Recorder, require_known, rollouts, single};
use emphatic::{
    Composable, ComposeError, Critic, Exact, Fixed, KnownProblem, Learner, ProblemError, Real, RuleKind,
    Seen, State, Step, Task,
};
use emphatic_problems::ValueError;

pub(super) const BY_BEHAVIOUR: Kind = Kind {
    pattern: "value_error",
    about: "√(Σ_s w(s) (v̂(s) − v_π(s))² / Σ_s w(s)) of the critic's values, states weighted by w = d_μ, as they are visited; in a simulator an estimate, from two episodes in each of some states that the behaviour visits",
    parse: |name, _| single(name, "value_error", Weighting::Behaviour),
};

pub(super) const BY_TARGET: Kind = Kind {
    pattern: "value_error.target",
    about: "the same, weighted by d_π, as the target would visit them",
    parse: |name, _| single(name, "value_error.target", Weighting::Target),
};

pub(super) const BY_EMPHASIS: Kind = Kind {
    pattern: "value_error.emphatic",
    about: "the same, weighted by m, the emphatic weighting",
    parse: |name, _| single(name, "value_error.emphatic", Weighting::Emphatic),
};

pub(super) const BY_INTEREST: Kind = Kind {
    pattern: "value_error.interest",
    about: "the same, weighted by d_μ · i",
    parse: |name, _| single(name, "value_error.interest", Weighting::Interest),
};

/// The error of a critic's values, by how states are weighted in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Weighting {
    Behaviour,
    Target,
    Emphatic,
    Interest,
}

impl Weighting {
    /// Returns the weighting of a column; `None` if it is not the error of values.
    pub(crate) fn of_column(name: &str) -> Option<Self> {
        let kinds = [
            (BY_BEHAVIOUR, Self::Behaviour),
            (BY_TARGET, Self::Target),
            (BY_EMPHASIS, Self::Emphatic),
            (BY_INTEREST, Self::Interest),
        ];
        kinds.into_iter().find(|(kind, _)| kind.pattern == name).map(|(_, weighting)| weighting)
    }

    /// Returns the weight of each state for a fixed target.
    pub(crate) fn for_target(self, exact: &Exact<f64, Task, Fixed>) -> Result<Vec<f64>, ProblemError> {
        match self {
            Self::Behaviour => Ok(exact.stationary().to_vec()),
            Self::Target => exact.target_stationary(),
            Self::Emphatic => Ok(exact.emphatic_weighting(1.0)),
            Self::Interest => Ok(exact.emphatic_weighting(0.0)),
        }
    }

    /// Returns the weight of each state, which does not change while a policy learns.
    fn weights(self, problem: &KnownProblem, policy: &dyn std::any::Any) -> Result<Vec<f64>, ComposeError> {
        let (stationary, interest) = (problem.stationary().iter(), problem.interest());
        match (self, problem, policy.downcast_ref::<Fixed>()) {
            (Self::Behaviour, ..) => Ok(stationary.copied().collect()),
            (Self::Interest, ..) => Ok(stationary.zip(interest).map(|(d, i)| d * i).collect()),
            (_, KnownProblem::Finite(task), Some(target)) => {
                Ok(self.for_target(&Exact::new(&**task, target, &[])?)?)
            }
            _ => Err(ComposeError::Incompatible("this weighting changes while a policy learns".to_owned())),
        }
    }
}

impl Measure for Weighting {
    fn goal(&self) -> Option<Goal> {
        Some(Goal::Smallest)
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        of.check_critic()?;
        if of.recipe.rule == RuleKind::Deterministic {
            return Err(ValueError::new("its critic tells ∂q/∂a, and no values"));
        }
        if matches!(self, Self::Target | Self::Emphatic) {
            of.check_target()?;
        }
        let Some(known) = of.known else {
            // States are sampled as the behaviour visits them.
            return if *self == Self::Behaviour { Ok(()) } else { of.check_known().map(|_| ()) };
        };
        let weights = match (known, of.target) {
            (KnownProblem::Finite(task), Some(target)) => {
                self.for_target(&Exact::new(&**task, target, &[])?)?
            }
            (known, _) if *self == Self::Interest => known.interest().to_vec(),
            _ => return Ok(()),
        };
        if weights.iter().any(|weight| *weight > 0.0) {
            return Ok(());
        }
        Err(ValueError::new("no state has any weight in it").help("give some state that is visited interest"))
    }

    fn needs_visited_states(&self) -> bool {
        true
    }

    fn trials(&self) -> usize {
        2
    }

    fn recorder<R: Composable>(&self, context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        if context.problem.is_none() {
            return rollouts::value_error(context);
        }
        let problem = require_known(context.problem, "value")?;
        let exact = R::exact_critic(problem, context.policy)?;
        Ok(Box::new(ErrorRecorder { exact, weighting: self.weights(problem, context.policy)? }))
    }
}

struct ErrorRecorder<R> {
    exact: Box<dyn Critic<R>>,
    weighting: Vec<f64>,
}

impl<R: Real> Recorder<R> for ErrorRecorder<R> {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        self.exact.policy_changed(learner.weights(), None);
        let (mut sum, mut all) = (R::zero(), 0.0);
        // What has no weight may be anything.
        for (s, weight) in self.weighting.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            let state = State::Number(s);
            let value = self.exact.value(&Seen::without_features(&Step::in_state(state)));
            let error = learner.value(state).unwrap_or(R::splat(f64::NAN)) - value;
            sum += R::splat(*weight) * error * error;
            all += weight;
        }
        vec![(sum / R::splat(all)).sqrt()]
    }
}
