//! Settings become learners.
//!
//! Every composition is a type of its own, so that each loop is as fast as in Rust; where speed matters less, a part is [`Either`]
//! of two, since the compiler takes long over every type.

use crate::agent::Composition;
use crate::columns::State;
use crate::error::OrRaise;
use crate::settings::{CriticPart, EmphasisPart, FeaturesPart, LearnerKind, PolicyPart, Settings, Structure};
use emphatic::{
    ActionCritic, ActionValues, Active, ActorCritic, AllActions, Compatible, ContinuousCounterexample,
    Critic, Dense, DeterministicActorCritic, DeterministicLinear, Either, Emphasis, ExactCritic,
    ExactEmphasis, Features, FollowOn, Gaussian, Gtd, LearnedAdvantage, NoEmphasis, RatioFree, Real,
    SlopeCritic, Softmax, StochasticPolicy, Table, Task,
};
use emphatic_problems::{ProblemFile, World};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// The settings of one learner, or of as many as there are lanes, all of one structure.
#[derive(Clone, Copy)]
pub(crate) struct Lot<'a> {
    pub(crate) settings: &'a [&'a Settings],
    pub(crate) problems: &'a [Arc<ProblemFile>],
}

/// What is done with a learner once its type is known.
pub(crate) trait Receive<R: Real> {
    type Output;

    fn receive<L: Composition<R>>(self, learner: L) -> PyResult<Self::Output>;
}

/// Puts learners together from their settings.
pub(crate) fn compose<R: Real, T: Receive<R>>(lot: Lot, to: T) -> PyResult<T::Output> {
    lot.structure().check()?;
    lot.structure().check_memory(R::LANES)?;
    match &lot.structure().policy {
        PolicyPart::Softmax { features, actions } => match features {
            FeaturesPart::Dense { .. } => softmax::<R, Dense, T>(lot, features, *actions, to),
            FeaturesPart::Active { .. } => softmax::<R, Active, T>(lot, features, *actions, to),
            _ if lot.structure().is_exact() => exact_softmax(lot, features, *actions, to),
            _ => softmax::<R, Table, T>(lot, features, *actions, to),
        },
        PolicyPart::Gaussian { features } => match features {
            FeaturesPart::Dense { .. } => gaussian::<R, Dense, T>(lot, features, to),
            FeaturesPart::Active { .. } => gaussian::<R, Active, T>(lot, features, to),
            _ if lot.structure().is_exact() => exact_gaussian(lot, features, to),
            _ => gaussian::<R, Table, T>(lot, features, to),
        },
        PolicyPart::DeterministicLinear { features } => match features {
            FeaturesPart::Dense { .. } => deterministic::<R, Dense, T>(lot, features, to),
            FeaturesPart::Active { .. } => deterministic::<R, Active, T>(lot, features, to),
            _ if lot.structure().is_exact() => exact_deterministic(lot, features, to),
            _ => deterministic::<R, Table, T>(lot, features, to),
        },
    }
}

/// Features that settings can describe.
trait Described: Features<State: State> + Clone + Send + Sized + 'static {
    fn described(features: &FeaturesPart) -> PyResult<Self>;
}

fn other_features() -> PyErr {
    PyTypeError::new_err(
        "all parts of a learner must see the state in the same form: vectors, active features, or numbers",
    )
}

impl Described for Dense {
    fn described(features: &FeaturesPart) -> PyResult<Self> {
        let FeaturesPart::Dense { len } = *features else { return Err(other_features()) };
        Ok(Self { len })
    }
}

impl Described for Active {
    fn described(features: &FeaturesPart) -> PyResult<Self> {
        let FeaturesPart::Active { len, most_active } = *features else { return Err(other_features()) };
        Ok(Self { len, most_active })
    }
}

impl Described for Table {
    fn described(features: &FeaturesPart) -> PyResult<Self> {
        match features {
            // What does not exist under its number is here a wrong value like any other.
            FeaturesPart::Table { len, rows } => {
                Table::new(*len, rows).map_err(|error| PyValueError::new_err(error.to_string()))
            }
            FeaturesPart::OneHot { states } => Ok(Table::aliased(&(0..*states).collect::<Vec<_>>())),
            FeaturesPart::Dense { .. } | FeaturesPart::Active { .. } => Err(other_features()),
        }
    }
}

/// Softmax policies with learned critics.
fn softmax<R: Real, F: Described, T: Receive<R>>(
    lot: Lot,
    features: &FeaturesPart,
    actions: usize,
    to: T,
) -> PyResult<T::Output> {
    let policy = Softmax { features: F::described(features)?, actions };
    let trace = lot.trace::<R>()?;
    match lot.structure().learner {
        LearnerKind::AllActions => {
            let critic = lot.action_critic::<R, F, _>(actions, |values| lot.gtd::<R, F>(values))?;
            to.receive(lot.all_actions(policy, critic, trace)?)
        }
        _ => to.receive(lot.actor_critic(policy, lot.gtd::<R, F>(&lot.structure().critic)?, trace)?),
    }
}

/// Gaussian policies with a learned critic.
fn gaussian<R: Real, F: Described, T: Receive<R>>(
    lot: Lot,
    features: &FeaturesPart,
    to: T,
) -> PyResult<T::Output> {
    let policy = Gaussian { features: F::described(features)? };
    to.receive(lot.actor_critic(policy, lot.gtd::<R, F>(&lot.structure().critic)?, lot.trace()?)?)
}

/// Deterministic policies with a learned critic.
fn deterministic<R: Real, F: Described, T: Receive<R>>(
    lot: Lot,
    features: &FeaturesPart,
    to: T,
) -> PyResult<T::Output> {
    let policy = DeterministicLinear { features: F::described(features)? };
    let critic = lot.compatible::<R, F>()?;
    to.receive(lot.deterministic(policy, critic, NoEmphasis)?)
}

/// Softmax policies with an exact part.
fn exact_softmax<R: Real, T: Receive<R>>(
    lot: Lot,
    features: &FeaturesPart,
    actions: usize,
    to: T,
) -> PyResult<T::Output> {
    let policy = Softmax { features: Table::described(features)?, actions };
    let exact = |part: &CriticPart| -> PyResult<_> {
        let CriticPart::Exact { problem } = part else { return Ok(None) };
        Ok(Some(ExactCritic::<R, Task, _>::new(lot.task(*problem)?, &policy).or_raise()?))
    };
    let values = |part: &CriticPart| {
        Ok(match exact(part)? {
            Some(critic) => Either::First(critic),
            None => Either::Second(lot.gtd::<R, Table>(part)?),
        })
    };
    let emphasis = match lot.structure().emphasis {
        EmphasisPart::Exact { problem } => {
            Either::Second(ExactEmphasis::new(lot.task(problem)?, &policy).or_raise()?)
        }
        _ => Either::First(lot.trace()?),
    };
    let critic = &lot.structure().critic;
    match lot.structure().learner {
        LearnerKind::AllActions => {
            let critic = match exact(critic)? {
                Some(critic) => Either::First(critic),
                None => Either::Second(lot.action_critic::<R, Table, _>(actions, values)?),
            };
            to.receive(lot.all_actions(policy.clone(), critic, emphasis)?)
        }
        _ => to.receive(lot.actor_critic(policy.clone(), values(critic)?, emphasis)?),
    }
}

/// Gaussian policies with an exact part.
fn exact_gaussian<R: Real, T: Receive<R>>(lot: Lot, features: &FeaturesPart, to: T) -> PyResult<T::Output> {
    let policy = Gaussian { features: Table::described(features)? };
    let critic = match &lot.structure().critic {
        CriticPart::Exact { problem } => {
            Either::First(ExactCritic::<R, _, _>::new(lot.continuous(*problem)?, &policy).or_raise()?)
        }
        learned => Either::Second(lot.gtd::<R, Table>(learned)?),
    };
    let emphasis = match lot.structure().emphasis {
        EmphasisPart::Exact { problem } => {
            Either::Second(ExactEmphasis::new(lot.continuous(problem)?, &policy).or_raise()?)
        }
        _ => Either::First(lot.trace()?),
    };
    to.receive(lot.actor_critic(policy, critic, emphasis)?)
}

/// Deterministic policies with an exact part.
fn exact_deterministic<R: Real, T: Receive<R>>(
    lot: Lot,
    features: &FeaturesPart,
    to: T,
) -> PyResult<T::Output> {
    let policy = DeterministicLinear { features: Table::described(features)? };
    let critic = match &lot.structure().critic {
        CriticPart::Exact { problem } => {
            Either::First(ExactCritic::<R, _, _>::new(lot.continuous(*problem)?, &policy).or_raise()?)
        }
        _ => Either::Second(lot.compatible::<R, Table>()?),
    };
    let emphasis = match lot.structure().emphasis {
        EmphasisPart::Exact { problem } => {
            Either::Second(ExactEmphasis::new(lot.continuous(problem)?, &policy).or_raise()?)
        }
        _ => Either::First(NoEmphasis),
    };
    to.receive(lot.deterministic(policy, critic, emphasis)?)
}

type ActionCriticOf<R, F, V> = Either<ActionValues<R, F, V>, LearnedAdvantage<R, F, V>>;

impl<'a> Lot<'a> {
    fn structure(&self) -> &'a Structure {
        &self.settings[0].structure
    }

    /// A number in every lane. Lanes without settings do as the first.
    fn number<R: Real>(&self, name: &str) -> PyResult<R> {
        let of = |settings: &&Settings| settings.number(name);
        let numbers: Vec<f64> = self.settings.iter().map(of).collect::<PyResult<_>>()?;
        Ok(R::from_lanes(|lane| *numbers.get(lane).unwrap_or(&numbers[0])))
    }

    fn gtd<R: Real, F: Described>(&self, part: &CriticPart) -> PyResult<Gtd<R, F>> {
        let CriticPart::Gtd { features } = part else {
            return Err(PyTypeError::new_err(
                "a learner from δ needs a critic of values: GTD or ExactCritic",
            ));
        };
        let [alpha_v, alpha_w, lambda] = ["alpha_v", "alpha_w", "lambda"].map(|name| self.number(name));
        Gtd::new(F::described(features)?, alpha_v?, alpha_w?, lambda?).or_raise()
    }

    /// The critic of an [`AllActions`] learner that has learned to compare actions.
    fn action_critic<R: Real, F: Described, V>(
        &self,
        actions: usize,
        make: impl Fn(&CriticPart) -> PyResult<V>,
    ) -> PyResult<ActionCriticOf<R, F, V>> {
        match &self.structure().critic {
            CriticPart::ActionValues { features, values } => {
                let [alpha_q, alpha_h, lambda] =
                    ["alpha_q", "alpha_h", "lambda_q"].map(|name| self.number(name));
                let features = F::described(features)?;
                let critic = ActionValues::new(features, actions, alpha_q?, alpha_h?, lambda?, make(values)?);
                Ok(Either::First(critic.or_raise()?))
            }
            CriticPart::LearnedAdvantage { features, values } => {
                let features = F::described(features)?;
                let critic = LearnedAdvantage::new(features, actions, self.number("alpha_u")?, make(values)?);
                Ok(Either::Second(critic.or_raise()?))
            }
            _ => Err(PyTypeError::new_err(
                "a learner from all actions needs a critic that compares them: ActionValues, LearnedAdvantage or ExactCritic",
            )),
        }
    }

    fn compatible<R: Real, F: Described>(&self) -> PyResult<Compatible<R, F>> {
        let CriticPart::Compatible { features } = &self.structure().critic else {
            return Err(PyTypeError::new_err(
                "a deterministic policy needs a critic that knows ∂q/∂a: Compatible or ExactCritic",
            ));
        };
        let [alpha_v, alpha_u, alpha_h] = ["alpha_v", "alpha_u", "alpha_h"].map(|name| self.number(name));
        Compatible::new(F::described(features)?, alpha_v?, alpha_u?, alpha_h?).or_raise()
    }

    /// The follow-on trace; with λ_a = 0 it is no emphasis, to the bit.
    fn trace<R: Real>(&self) -> PyResult<FollowOn<R>> {
        let lambda_a = match self.structure().emphasis {
            EmphasisPart::None => R::zero(),
            EmphasisPart::FollowOn => self.number("lambda_a")?,
            EmphasisPart::Exact { .. } => R::one(),
        };
        FollowOn::new(lambda_a).or_raise()
    }

    fn actor_critic<R, P, C, E>(&self, policy: P, critic: C, emphasis: E) -> PyResult<ActorCritic<R, P, C, E>>
    where
        R: Real,
        P: StochasticPolicy,
        C: Critic<R, P>,
        E: Emphasis<R, P>,
    {
        ActorCritic::new(policy, critic, emphasis, self.number("alpha")?).or_raise()
    }

    fn all_actions<R, F, C, E>(
        &self,
        policy: Softmax<F>,
        critic: C,
        emphasis: E,
    ) -> PyResult<AllActions<R, Softmax<F>, C, E>>
    where
        R: Real,
        F: Features,
        C: ActionCritic<R, Softmax<F>>,
        E: Emphasis<R, Softmax<F>>,
    {
        let learner = AllActions::new(policy, critic, emphasis, self.number("alpha")?).or_raise()?;
        match self.structure().subset {
            Some((subset, seed)) => learner.with_subset(subset, seed, 0).or_raise(),
            None => Ok(learner),
        }
    }

    fn deterministic<R, P, C, E>(
        &self,
        policy: P,
        critic: C,
        emphasis: E,
    ) -> PyResult<DeterministicActorCritic<R, P, C, E>>
    where
        R: Real,
        P: emphatic::DeterministicPolicy,
        C: SlopeCritic<R, P>,
        E: Emphasis<R, P> + RatioFree,
    {
        DeterministicActorCritic::new(policy, critic, emphasis, self.number("alpha")?).or_raise()
    }

    fn task(&self, problem: usize) -> PyResult<Arc<Task>> {
        match &self.problem(problem)?.world {
            World::Finite(task) => Ok(task.clone()),
            World::Continuous(_) => Err(PyTypeError::new_err(
                "this problem has a real action: it needs a Gaussian or a DeterministicLinear policy",
            )),
        }
    }

    fn continuous(&self, problem: usize) -> PyResult<Arc<ContinuousCounterexample>> {
        match &self.problem(problem)?.world {
            World::Continuous(problem) => Ok(problem.clone()),
            World::Finite(_) => {
                Err(PyTypeError::new_err("this problem has finitely many actions: it needs a Softmax policy"))
            }
        }
    }

    fn problem(&self, number: usize) -> PyResult<&'a ProblemFile> {
        let missing =
            || PyTypeError::new_err(format!("the settings name problem {number}, which was not given"));
        let problem = self.problems.get(number).ok_or_else(missing)?;
        let (states, seen) = (problem.world.states().len(), self.structure().policy.features().extent());
        if seen != Some(states) {
            let seen = seen.unwrap_or(0);
            let message = format!("the policy's features are of {seen} states; the problem has {states}");
            return Err(PyValueError::new_err(message));
        }
        Ok(problem)
    }
}
