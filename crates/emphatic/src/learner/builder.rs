//! Builds learners: checks that the parts go together, and sets the actor's step-size by name.

use super::divergence::Divergence;
use super::effective_sample::EffectiveSample;
use super::warm_up::WarmUp;
use super::{Actor, Composed, Rule, TimeUnit};
use crate::catalogue::{Range, Setting};
use crate::part::CachedPart;
use crate::{
    ActionCritic, ActorRule, ComposeError, Critic, Emphasis, Features, FollowOn, LambdaReturn, Part, Policy,
    Real, Subset,
};
use std::marker::PhantomData;

/// The actor's step-size.
pub const ALPHA: Setting =
    Setting { name: "alpha", range: Range::StepSize, default: None, about: "step-size of the actor" };

/// What a rule is made of, beside the policy and the critic.
#[derive(Default)]
pub struct RuleSetup<R> {
    pub(super) subset: Option<Subset>,
    pub(super) by_values: Option<Box<dyn ActorRule<R, dyn Critic<R>>>>,
    pub(super) by_actions: Option<Box<dyn ActorRule<R, dyn ActionCritic<R>>>>,
}

impl<R> std::fmt::Debug for RuleSetup<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("RuleSetup").field("subset", &self.subset).finish_non_exhaustive()
    }
}

/// Builds a learner from its parts.
///
/// ```
/// use emphatic::{ActorCritic, Features, FollowOn, Gtd, Softmax};
/// let policy = Softmax { features: Features::dense(3), actions: 2 };
/// let critic = Gtd::builder(Features::dense(3)).alpha_v(0.05).alpha_w(1e-4).build()?;
/// let emphasis = FollowOn::builder().lambda_a(0.9).build()?;
/// let learner = ActorCritic::builder(policy, critic, emphasis).alpha(0.1).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct LearnerBuilder<R, P, C, E, K> {
    policy: P,
    critic: C,
    /// An emphasis that could not be made is reported when the learner is built.
    emphasis: Result<E, ComposeError>,
    alpha: Option<R>,
    warm_up: Option<(R, TimeUnit)>,
    pub(super) setup: RuleSetup<R>,
    rule: PhantomData<K>,
}

impl<R: Real, P: Policy, C: Part<R>, E: Emphasis<R>, K: Rule<R, P, C>> LearnerBuilder<R, P, C, E, K> {
    pub(super) fn new(policy: P, critic: C, emphasis: Result<E, ComposeError>) -> Self {
        Self {
            policy,
            critic,
            emphasis,
            alpha: None,
            warm_up: None,
            setup: RuleSetup::default(),
            rule: PhantomData,
        }
    }

    /// Sets `alpha`: step-size of the actor, which is divided by the number of active features.
    pub fn alpha(mut self, alpha: R) -> Self {
        self.alpha = Some(alpha);
        self
    }

    /// Sets `warm_up`: how many steps or episodes the actor waits while critic and emphasis learn.
    pub fn warm_up(mut self, length: R, unit: TimeUnit) -> Self {
        self.warm_up = Some((length, unit));
        self
    }

    /// Builds the learner. Parts that do not go together, or a setting that is missing or out of its range, are an error.
    pub fn build(self) -> Result<Composed<R, P, C, E, K>, ComposeError> {
        let Self { policy, mut critic, emphasis, alpha, warm_up, setup, .. } = self;
        // Before anything is allocated.
        if policy.len() > isize::MAX as usize / size_of::<R>() {
            return Err(ComposeError::TooMany(policy.len()));
        }
        let rule = K::new(&policy, &critic, setup)?;
        let mut emphasis = emphasis?;
        if emphasis.needs_ratio() && !K::HAS_RATIO {
            return Err(ComposeError::Ratio);
        }
        let alpha = ALPHA.checked(alpha, || "the actor".to_owned())?;
        let warm_up = warm_up.map(|(length, unit)| WarmUp::new(length, unit)).transpose()?;
        critic.set_policy(policy.form())?;
        emphasis.set_policy(policy.form())?;
        let features = distinct(
            &[vec![policy.features()], critic.all_features(), emphasis.all_features(), rule.all_features()]
                .concat(),
        );
        let states = match &features[..] {
            [Features::Table(table)] => Some(table.states()),
            _ => None,
        };
        let actor = Actor {
            weights: vec![R::zero(); policy.len()],
            alpha,
            step_size: alpha / R::splat(policy.features().most_active() as f64),
            warm_up,
            at: policy.room(),
            x: policy.features().scratch(),
            divergence: Divergence::default(),
            policy,
        };
        let emphasis_learns = emphasis.learns();
        let (critic, emphasis) = (CachedPart::new(critic), CachedPart::new(emphasis));
        let effective_sample = EffectiveSample::default();
        let mut learner =
            Composed { actor, critic, emphasis, emphasis_learns, features, states, rule, effective_sample };
        learner.policy_changed(None);
        Ok(learner)
    }
}

impl<R: Real, P, C, K> LearnerBuilder<R, P, C, LambdaReturn<R>, K> {
    /// Sets `lambda_a`: 1 is full emphasis, 0 none.
    pub fn lambda_a(mut self, lambda_a: R) -> Self {
        self.emphasis = self.emphasis.and_then(|emphasis| Ok(emphasis.with_lambda_a(lambda_a)?));
        self
    }
}

impl<R: Real, P, C, K> LearnerBuilder<R, P, C, FollowOn<R>, K> {
    /// Sets `lambda_a`: 1 is full emphasis, 0 none.
    pub fn lambda_a(mut self, lambda_a: R) -> Self {
        self.emphasis = FollowOn::builder().lambda_a(lambda_a).build().map_err(ComposeError::from);
        self
    }
}

/// Returns the features of all parts, each once.
fn distinct(all: &[&Features]) -> Vec<Features> {
    let mut once: Vec<Features> = Vec::new();
    for &features in all {
        // Tables of the same number of states refuse the same states.
        let same = |known: &Features| match (known, features) {
            (Features::Table(known), Features::Table(table)) => known.states() == table.states(),
            _ => known == features,
        };
        if !once.iter().any(same) {
            once.push(features.clone());
        }
    }
    once
}
