//! Learners by name: where the words of a file become parts.
//!
//! A new critic or emphasis is one more name here. The commonest compositions are types of their own; where speed matters less,
//! a part is [`Either`] of two, since the compiler takes long over every type.

use crate::experiment::{Experiment, Quantity, Structure};
use crate::file::{Actions, CriticKind, EmphasisKind, FeaturesKind, PolicyKind, ValuesKind};
use crate::rows::Rows;
use emphatic::learner::ActionOf;
use emphatic::theory::Judge;
use emphatic::{
    ActionCritic, ActionValues, ActorCritic, AllActions, ComposeError, ContinuousCounterexample, Critic,
    DeterministicActorCritic, DeterministicLinear, Either, Emphasis, ExactCritic, ExactEmphasis, FollowOn,
    Gaussian, Gtd, Isa, Kernel, LearnError, LearnedAdvantage, Learner, Model, NoEmphasis, Part, Policy, Real,
    RestoreError, SettingError, Softmax, Step, StochasticPolicy, Table, Task, Update,
};
use emphatic_problems::World;
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
    /// The number of the stream they learn from.
    pub(crate) stream: u64,
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

    fn gtd<R: Real>(&self) -> Result<Gtd<R, Table>, SetUpError> {
        let [alpha_v, alpha_w, lambda] = ["alpha_v", "alpha_w", "lambda"].map(|name| self.number(name));
        Ok(Gtd::new(self.features(), alpha_v, alpha_w, lambda)?)
    }

    /// The critic of values behind a critic of actions.
    fn values<R: Real>(&self, task: &Arc<Task>, policy: &Softmax<Table>) -> Result<Values<R>, SetUpError> {
        Ok(match self.structure().values {
            ValuesKind::Exact => Either::First(ExactCritic::new(task.clone(), policy)?),
            ValuesKind::Gtd => Either::Second(self.gtd()?),
        })
    }

    /// The follow-on trace; with λ_a = 0 it is no emphasis, to the bit.
    fn trace<R: Real>(&self) -> Result<FollowOn<R>, SetUpError> {
        Ok(FollowOn::new(self.lambda_a())?)
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

type Values<R> = Either<ExactCritic<R, Task, Softmax<Table>>, Gtd<R, Table>>;

/// Learners of named actions.
pub(crate) fn finite<R: Real>(lot: Lot, task: &Arc<Task>) -> Result<Box<dyn Learners<usize>>, SetUpError> {
    let own = &match lot.structure().interest.clone() {
        Some(interest) => Arc::new(Task::clone(task).with_interest(interest)?),
        None => task.clone(),
    };
    let policy = task.softmax();
    let exact = || ExactCritic::<R, _, _>::new(own.clone(), &policy);
    let Structure { actions, critic, values, .. } = lot.structure();
    match (actions, critic, values) {
        (Actions::Taken, _, ValuesKind::Gtd) => taken(lot, policy, lot.gtd::<R>()?, own, task),
        (Actions::Taken, _, ValuesKind::Exact) => taken(lot, policy.clone(), exact()?, own, task),
        (Actions::All, CriticKind::Gq, _) => {
            let [alpha_q, alpha_h, lambda] = ["alpha_q", "alpha_h", "lambda_q"].map(|name| lot.number(name));
            let values = lot.values::<R>(own, &policy)?;
            let critic = ActionValues::new(lot.features(), policy.actions, alpha_q, alpha_h, lambda, values)?;
            all(lot, policy, critic, own, task)
        }
        (Actions::All, CriticKind::Advantage, _) => {
            let values = lot.values::<R>(own, &policy)?;
            let critic =
                LearnedAdvantage::new(lot.features(), policy.actions, lot.number("alpha_u"), values)?;
            all(lot, policy, critic, own, task)
        }
        (Actions::All, CriticKind::Exact | CriticKind::Gtd, _) => {
            all(lot, policy.clone(), exact()?, own, task)
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
    if lot.structure().policy == PolicyKind::Deterministic {
        let policy = problem.deterministic();
        let critic = ExactCritic::new(own.clone(), &policy)?;
        let emphasis = match lot.structure().emphasis {
            EmphasisKind::Exact => Either::Second(ExactEmphasis::new(own.clone(), &policy)?),
            EmphasisKind::None | EmphasisKind::FollowOn => Either::First(NoEmphasis),
        };
        let alpha: R = lot.number("alpha");
        return watch(lot, DeterministicActorCritic::new(policy, critic, emphasis, alpha)?, own, problem);
    }
    let policy = problem.gaussian();
    match lot.structure().values {
        ValuesKind::Gtd => taken(lot, policy, lot.gtd::<R>()?, own, problem),
        ValuesKind::Exact => {
            let critic = ExactCritic::<R, _, _>::new(own.clone(), &policy)?;
            taken(lot, policy, critic, own, problem)
        }
    }
}

/// Learners from the action taken.
fn taken<R, P, C, M>(
    lot: Lot,
    policy: P,
    critic: C,
    own: &Arc<M>,
    judged: &Arc<M>,
) -> Result<Box<dyn Learners<P::Action>>, SetUpError>
where
    R: Real,
    P: StochasticPolicy + Recorded<Action: Copy> + 'static,
    C: Critic<R, P> + 'static,
    M: Model<P> + 'static,
{
    let alpha = lot.number("alpha");
    if lot.structure().emphasis == EmphasisKind::Exact {
        let emphasis = ExactEmphasis::new(own.clone(), &policy)?;
        return watch(lot, ActorCritic::new(policy, critic, emphasis, alpha)?, own, judged);
    }
    watch(lot, ActorCritic::new(policy, critic, lot.trace()?, alpha)?, own, judged)
}

/// Learners from all actions, or some.
fn all<R: Real, C: ActionCritic<R, Softmax<Table>> + 'static>(
    lot: Lot,
    policy: Softmax<Table>,
    critic: C,
    own: &Arc<Task>,
    judged: &Arc<Task>,
) -> Result<Box<dyn Learners<usize>>, SetUpError> {
    let emphasis = match lot.structure().emphasis {
        EmphasisKind::Exact => Either::Second(ExactEmphasis::new(own.clone(), &policy)?),
        EmphasisKind::None | EmphasisKind::FollowOn => Either::First(lot.trace()?),
    };
    let learner = AllActions::new(policy, critic, emphasis, lot.number("alpha"))?;
    match lot.structure().subset {
        Some(subset) => {
            watch(lot, learner.with_subset(subset, lot.experiment.seed, lot.stream)?, own, judged)
        }
        None => watch(lot, learner, own, judged),
    }
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
    /// Knows the interest that counts in the objective.
    judge: Judge<L::Number, M, L::Policy>,
    at: <L::Policy as Policy>::Distribution<L::Number>,
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
    let policy = learner.actor().policy();
    let wants = |quantity: Quantity| lot.quantities.contains(&quantity);
    let exact = if wants(Quantity::ExactEmphasis) {
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
        judge: Judge::new(judged.clone(), policy)?,
        at: policy.room(),
        interest: lot.structure().interest.clone(),
        means,
        settings: lot.settings.len(),
        first: lot.first,
        quantities: lot.quantities.to_vec(),
        isa: lot.isa,
        learner,
    }))
}

/// Steps as one piece of work.
struct Teach<'a, L: Learner, M> {
    learner: &'a mut L,
    means: Option<&'a mut Means<L, M>>,
    steps: &'a [Step<usize, ActionOf<L>>],
}

impl<L: Learner<Policy: Recorded>, M: Model<L::Policy>> Kernel for Teach<'_, L, M> {
    type Output = Result<(), LearnError>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { learner, mut means, steps } = self;
        for (index, step) in steps.iter().enumerate() {
            let density = means.as_deref_mut().map(|means| means.density(step));
            let update = learner.step(step).map_err(|source| LearnError { index, source })?;
            if let (Some(means), Some(density)) = (means.as_deref_mut(), density) {
                means.add(learner, step, update, density);
            }
        }
        Ok(())
    }
}

impl<L: Learner<Policy: Recorded>, M: Model<L::Policy>> Means<L, M> {
    /// m(S_t)/d_μ(S_t) of the policy before the step.
    #[inline(never)] // Not wanted often enough to be compiled into every loop.
    fn density(&mut self, step: &Step<usize, ActionOf<L>>) -> L::Number {
        let zero = L::Number::zero();
        self.exact.as_mut().map_or(zero, |exact| exact.weigh(&step.view(), L::Number::one()))
    }

    #[inline(never)]
    fn add(
        &mut self,
        learner: &L,
        step: &Step<usize, ActionOf<L>>,
        update: Update<L::Number>,
        density: L::Number,
    ) {
        self.steps += 1.0;
        self.rho += update.rho;
        self.emphasis += update.emphasis;
        let rest = (L::Number::one() - self.lambda_a) * L::Number::splat(step.interest);
        self.exact_emphasis += rest + self.lambda_a * density;
        if let Some(exact) = &mut self.exact {
            exact.follow(learner.actor().policy(), learner.weights(), Some(&step.state));
        }
    }
}

impl<L, M> Watched<L, M>
where
    L: Learner<Policy: Recorded<Action: Copy>>,
    M: Model<L::Policy>,
{
    fn teach(&mut self, steps: &[Step<usize, ActionOf<L>>]) -> Result<(), LearnError> {
        self.isa.run(Teach { learner: &mut self.learner, means: self.means.as_mut(), steps })
    }

    fn target(&mut self, state: usize, action: Option<usize>) -> L::Number {
        let (policy, weights) = (self.learner.actor().policy(), self.learner.weights());
        policy.distribution(weights, &state, &mut self.at);
        L::Policy::target(&self.at, action)
    }

    fn mean(&self, sum: impl Fn(&Means<L, M>) -> L::Number) -> L::Number {
        // Before the first step there is no mean: 0/0.
        self.means.as_ref().map_or(L::Number::zero(), |means| sum(means) / L::Number::splat(means.steps))
    }

    fn quantity(&mut self, quantity: Quantity) -> L::Number {
        match quantity {
            Quantity::Objective => {
                let (policy, weights) = (self.learner.actor().policy(), self.learner.weights());
                let objective = self.judge.objective(self.isa, policy, weights);
                objective.unwrap_or(L::Number::splat(f64::NAN))
            }
            Quantity::Probability { state, action } => self.target(state, Some(action)),
            Quantity::MeanAction { state } => self.target(state, None),
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
        let Some(interest) = &self.interest else { return self.teach(steps) };
        let own = |step: &Step<usize, ActionOf<L>>| Step { interest: interest[step.state], ..*step };
        let steps: Vec<_> = steps.iter().map(own).collect();
        self.teach(&steps)
    }

    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows) {
        let lanes = self.first..self.first + self.settings;
        for (lane, setting) in lanes.clone().enumerate() {
            rows.set_diverged(setting, evaluation, self.learner.diverged(lane));
        }
        for column in 0..self.quantities.len() {
            if self.quantities[column] == Quantity::Weights {
                for (lane, setting) in lanes.clone().enumerate() {
                    rows.set_weights(
                        setting,
                        evaluation,
                        self.learner.weights().iter().map(|w| w.lane(lane)),
                    );
                }
                continue;
            }
            let value = self.quantity(self.quantities[column]);
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
