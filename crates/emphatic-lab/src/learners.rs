//! Learners by name: where the words of a file become parts.
//!
//! A new critic or emphasis is one more name here.

use crate::experiment::{Experiment, Quantity, Structure};
use crate::file::{Actions, CriticKind, EmphasisKind, FeaturesKind, PolicyKind, ValuesKind};
use crate::rows::Rows;
use crate::world::World;
use emphatic::learner::ActionOf;
use emphatic::{
    ActionValues, ActorCritic, AllActions, ComposeError, ContinuousCounterexample, DeterministicActorCritic,
    DeterministicLinear, Either, Emphasis, Exact, ExactCritic, ExactEmphasis, FollowOn, Gaussian, Gtd, Isa,
    LearnError, LearnedAdvantage, Learner, Model, NoEmphasis, Part, Policy, Real, RestoreError, SettingError,
    Softmax, Step, StepError, Table, Task,
};
use std::sync::Arc;
use thiserror::Error;

/// Learners side by side, as many as there are lanes, with actions of the type `A`.
pub(crate) trait Learners<A> {
    /// Learns from some steps.
    fn learn(&mut self, steps: &[Step<usize, A>]) -> Result<(), LearnError>;

    /// Records the quantities.
    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows);
}

/// A setting that cannot be learned with. (Reading a file has refused all that are known.)
#[derive(Debug, Error)]
pub enum SetUpError {
    /// Parts that do not go together.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A setting out of its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A problem that does not fit.
    #[error(transparent)]
    Problem(#[from] emphatic::ProblemError),
    /// Weights that do not fit.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}

/// The settings of some learners, and what is recorded of them.
#[derive(Clone, Copy)]
pub(crate) struct Lot<'a> {
    pub(crate) experiment: &'a Experiment,
    /// The numbers of the settings, at least one and at most as many as there are lanes.
    pub(crate) settings: &'a [usize],
    /// The place of the first of them in its unit.
    pub(crate) first: usize,
    pub(crate) quantities: &'a [Quantity],
    pub(crate) isa: Isa,
}

impl Lot<'_> {
    fn structure(&self) -> &Structure {
        self.experiment.structure(self.settings[0])
    }

    /// A number in every lane. Lanes without a setting do as the first.
    fn lanes<R: Real>(&self, of: impl Fn(usize) -> f64) -> R {
        R::from_lanes(|lane| of(*self.settings.get(lane).unwrap_or(&self.settings[0])))
    }

    fn number<R: Real>(&self, name: &str) -> R {
        self.lanes(|setting| self.experiment.values(setting).get(name))
    }

    fn weights<R: Real>(&self) -> Vec<R> {
        let len = self.experiment.values(self.settings[0]).weights().len();
        (0..len).map(|k| self.lanes(|setting| self.experiment.values(setting).weights()[k])).collect()
    }

    fn world(&self) -> &World {
        &self.experiment.scenarios[self.structure().scenario].world
    }

    fn features(&self) -> Table {
        match self.structure().features {
            FeaturesKind::Critic => self.world().critic(),
            FeaturesKind::Actor => self.world().actor().clone(),
            FeaturesKind::States => self.world().identity(),
        }
    }

    /// A critic of values.
    fn values<R: Real, P: Policy<State = usize>, M: Model<P>>(
        &self,
        model: &Arc<M>,
        policy: &P,
    ) -> Result<Values<R, M, P>, SetUpError> {
        Ok(match self.structure().values {
            ValuesKind::Exact => Either::First(ExactCritic::new(model.clone(), policy)?),
            ValuesKind::Gtd => {
                let [alpha_v, alpha_w, lambda] =
                    ["alpha_v", "alpha_w", "lambda"].map(|name| self.number(name));
                Either::Second(Gtd::new(self.features(), alpha_v, alpha_w, lambda)?)
            }
        })
    }

    /// A critic of actions.
    fn action_values<R: Real>(
        &self,
        task: &Arc<Task>,
        policy: &Softmax<Table>,
    ) -> Result<ActionsCritic<R>, SetUpError> {
        let values = || self.values(task, policy);
        Ok(match self.structure().critic {
            CriticKind::Exact | CriticKind::Gtd => Either::First(ExactCritic::new(task.clone(), policy)?),
            CriticKind::Gq => {
                let [alpha, alpha_h, lambda] =
                    ["alpha_q", "alpha_h", "lambda_q"].map(|name| self.number(name));
                let features = self.features();
                let critic = ActionValues::new(features, policy.actions, alpha, alpha_h, lambda, values()?)?;
                Either::Second(Either::First(critic))
            }
            CriticKind::Advantage => {
                let alpha = self.number("alpha_u");
                let critic = LearnedAdvantage::new(self.features(), policy.actions, alpha, values()?)?;
                Either::Second(Either::Second(critic))
            }
        })
    }

    fn emphasis<R: Real, P: Policy<State = usize>, M: Model<P>>(
        &self,
        model: &Arc<M>,
        policy: &P,
    ) -> Result<Either<FollowOn<R>, ExactEmphasis<R, M, P>>, SetUpError> {
        Ok(match self.structure().emphasis {
            // λ_a = 0 is no emphasis, to the bit.
            EmphasisKind::None => Either::First(FollowOn::new(R::zero())?),
            EmphasisKind::FollowOn => Either::First(FollowOn::new(self.number("lambda_a"))?),
            EmphasisKind::Exact => Either::Second(ExactEmphasis::new(model.clone(), policy)?),
        })
    }

    /// The share of m/d_μ in the emphasis.
    fn lambda_a<R: Real>(&self) -> R {
        match self.structure().emphasis {
            EmphasisKind::None => R::zero(),
            EmphasisKind::FollowOn => self.number("lambda_a"),
            EmphasisKind::Exact => R::one(),
        }
    }
}

type Values<R, M, P> = Either<ExactCritic<R, M, P>, Gtd<R, Table>>;
type SoftmaxValues<R> = Values<R, Task, Softmax<Table>>;
type ActionsCritic<R> = Either<
    ExactCritic<R, Task, Softmax<Table>>,
    Either<ActionValues<R, Table, SoftmaxValues<R>>, LearnedAdvantage<R, Table, SoftmaxValues<R>>>,
>;

/// Learners of named actions.
pub(crate) fn finite<R: Real>(lot: Lot, task: &Arc<Task>) -> Result<Box<dyn Learners<usize>>, SetUpError> {
    let own = &match lot.structure().interest.clone() {
        Some(interest) => Arc::new(Task::clone(task).with_interest(interest)?),
        None => task.clone(),
    };
    let policy = task.softmax();
    let alpha: R = lot.number("alpha");
    let emphasis = lot.emphasis(own, &policy)?;
    match lot.structure().actions {
        Actions::Taken => {
            let critic = lot.values(own, &policy)?;
            watch(lot, ActorCritic::new(policy, critic, emphasis, alpha)?, own, task)
        }
        Actions::All => {
            let critic = lot.action_values(own, &policy)?;
            let mut learner = AllActions::new(policy, critic, emphasis, alpha)?;
            if let Some(subset) = lot.structure().subset {
                learner = learner.with_subset(subset, lot.experiment.seed)?;
            }
            watch(lot, learner, own, task)
        }
    }
}

/// Learners of a real action.
pub(crate) fn continuous<R: Real>(
    lot: Lot,
    problem: &Arc<ContinuousCounterexample>,
) -> Result<Box<dyn Learners<f64>>, SetUpError> {
    let own = &match lot.structure().interest.as_deref() {
        Some(&[s0, s1, s2]) => {
            Arc::new(ContinuousCounterexample::clone(problem).with_interest([s0, s1, s2])?)
        }
        _ => problem.clone(),
    };
    let alpha: R = lot.number("alpha");
    if lot.structure().policy == PolicyKind::Deterministic {
        let policy = problem.deterministic();
        let critic = ExactCritic::new(own.clone(), &policy)?;
        let emphasis = match lot.structure().emphasis {
            EmphasisKind::Exact => Either::Second(ExactEmphasis::new(own.clone(), &policy)?),
            EmphasisKind::None | EmphasisKind::FollowOn => Either::First(NoEmphasis),
        };
        return watch(lot, DeterministicActorCritic::new(policy, critic, emphasis, alpha)?, own, problem);
    }
    let policy = problem.gaussian();
    let critic = lot.values(own, &policy)?;
    let emphasis = lot.emphasis(own, &policy)?;
    watch(lot, ActorCritic::new(policy, critic, emphasis, alpha)?, own, problem)
}

/// Policies whose target can be recorded.
trait Recorded: Policy<State = usize> {
    /// π(a|s), or the mean action.
    fn target<R: Real>(at: &Self::Distribution<R>, action: Option<usize>) -> R;
}

impl Recorded for Softmax<Table> {
    fn target<R: Real>(at: &Vec<R>, action: Option<usize>) -> R {
        at[action.unwrap_or(0)]
    }
}

impl Recorded for Gaussian<Table> {
    fn target<R: Real>(at: &emphatic::Normal<R>, _: Option<usize>) -> R {
        at.mean
    }
}

impl Recorded for DeterministicLinear<Table> {
    fn target<R: Real>(at: &R, _: Option<usize>) -> R {
        *at
    }
}

/// Learners, with what is recorded of them.
struct Watched<L: Learner, M> {
    learner: L,
    /// The problem with the interest that counts in the objective.
    judged: Arc<M>,
    /// The method's own interest, in place of that of the steps.
    interest: Option<Vec<f64>>,
    /// What is recorded of the steps, if anything.
    means: Option<Means<L, M>>,
    settings: usize,
    first: usize,
    quantities: Vec<Quantity>,
    isa: Isa,
}

/// Sums over the steps since the last evaluation.
struct Means<L: Learner, M> {
    exact: Option<ExactEmphasis<L::Number, M, L::Policy>>,
    lambda_a: L::Number,
    steps: f64,
    rho: L::Number,
    emphasis: L::Number,
    exact_emphasis: L::Number,
}

fn watch<L, M>(
    lot: Lot,
    learner: L,
    own: &Arc<M>,
    judged: &Arc<M>,
) -> Result<Box<dyn Learners<ActionOf<L>>>, SetUpError>
where
    L: Learner<Policy: Recorded<Action: Copy>> + 'static,
    M: Model<L::Policy> + 'static,
{
    let learner = learner.with_weights(lot.weights())?;
    let wants = |quantity: Quantity| lot.quantities.contains(&quantity);
    let exact = if wants(Quantity::ExactEmphasis) {
        let policy = learner.actor().policy();
        let mut exact = ExactEmphasis::new(own.clone(), policy)?;
        exact.follow(policy, learner.weights(), None);
        Some(exact)
    } else {
        None
    };
    let means = (exact.is_some() || wants(Quantity::Rho) || wants(Quantity::Emphasis)).then(|| {
        let zero = L::Number::zero();
        let lambda_a = lot.lambda_a();
        Means { exact, lambda_a, steps: 0.0, rho: zero, emphasis: zero, exact_emphasis: zero }
    });
    Ok(Box::new(Watched {
        learner,
        judged: judged.clone(),
        interest: lot.structure().interest.clone(),
        means,
        settings: lot.settings.len(),
        first: lot.first,
        quantities: lot.quantities.to_vec(),
        isa: lot.isa,
    }))
}

impl<L, M> Watched<L, M>
where
    L: Learner<Policy: Recorded<Action: Copy>>,
    M: Model<L::Policy>,
{
    /// Learns from steps, and adds up what is recorded of them.
    fn learn_and_add(&mut self, steps: &[Step<usize, ActionOf<L>>]) -> Result<(), LearnError> {
        let Some(means) = &mut self.means else { return self.learner.learn(self.isa, steps) };
        for (index, step) in steps.iter().enumerate() {
            let exact = means.exact.as_mut().map(|exact| exact.weigh(&step.view(), L::Number::one()));
            let step_error = |source: StepError| LearnError { index, source };
            let update = self.learner.step(step).map_err(step_error)?;
            means.steps += 1.0;
            means.rho += update.rho;
            means.emphasis += update.emphasis;
            if let (Some(density), Some(exact)) = (exact, &mut means.exact) {
                let rest = (L::Number::one() - means.lambda_a) * L::Number::splat(step.interest);
                means.exact_emphasis += rest + means.lambda_a * density;
                exact.follow(self.learner.actor().policy(), self.learner.weights(), Some(&step.state));
            }
        }
        Ok(())
    }

    /// J_μ in every lane; NaN where there is none. What is true of a lane does not depend on its neighbours.
    fn objective(&self) -> L::Number {
        let (policy, weights) = (self.learner.actor().policy(), self.learner.weights());
        if let Ok(exact) = Exact::new(&*self.judged, policy, weights) {
            return exact.objective();
        }
        L::Number::from_lanes(|lane| {
            let weights: Vec<f64> = weights.iter().map(|w| w.lane(lane)).collect();
            Exact::new(&*self.judged, policy, &weights).map_or(f64::NAN, |exact| exact.objective())
        })
    }

    fn mean(&self, sum: impl Fn(&Means<L, M>) -> L::Number) -> L::Number {
        // Before the first step there is no mean: 0/0.
        self.means.as_ref().map_or(L::Number::zero(), |means| sum(means) / L::Number::splat(means.steps))
    }

    fn quantity(&self, quantity: Quantity) -> L::Number {
        let target = |state: usize, action: Option<usize>| {
            let at = self.learner.actor().distribution(&state);
            at.map_or(L::Number::splat(f64::NAN), |at| L::Policy::target(&at, action))
        };
        match quantity {
            Quantity::Objective => self.objective(),
            Quantity::Probability { state, action } => target(state, Some(action)),
            Quantity::MeanAction { state } => target(state, None),
            Quantity::Emphasis => self.mean(|means| means.emphasis),
            Quantity::ExactEmphasis => self.mean(|means| means.exact_emphasis),
            Quantity::Rho => self.mean(|means| means.rho),
            Quantity::Weights => L::Number::zero(),
        }
    }
}

impl<L, M> Learners<ActionOf<L>> for Watched<L, M>
where
    L: Learner<Policy: Recorded<Action: Copy>>,
    M: Model<L::Policy>,
{
    fn learn(&mut self, steps: &[Step<usize, ActionOf<L>>]) -> Result<(), LearnError> {
        let Some(interest) = &self.interest else { return self.learn_and_add(steps) };
        let own = |step: &Step<usize, ActionOf<L>>| Step { interest: interest[step.state], ..*step };
        let steps: Vec<_> = steps.iter().map(own).collect();
        self.learn_and_add(&steps)
    }

    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows) {
        let lanes = self.first..self.first + self.settings;
        for (lane, setting) in lanes.clone().enumerate() {
            rows.set_diverged(setting, evaluation, self.learner.diverged(lane));
        }
        for (column, &quantity) in self.quantities.iter().enumerate() {
            if quantity == Quantity::Weights {
                for (lane, setting) in lanes.clone().enumerate() {
                    rows.set_weights(
                        setting,
                        evaluation,
                        self.learner.weights().iter().map(|w| w.lane(lane)),
                    );
                }
                continue;
            }
            let value = self.quantity(quantity);
            for (lane, setting) in lanes.clone().enumerate() {
                rows.set(column, setting, evaluation, value.lane(lane));
            }
        }
        if let Some(means) = &mut self.means {
            let zero = L::Number::zero();
            (means.steps, means.rho, means.emphasis, means.exact_emphasis) = (0.0, zero, zero, zero);
        }
    }
}
