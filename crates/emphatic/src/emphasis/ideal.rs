//! The follow-on trace, recomputed with the current policy.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use crate::catalogue::{Extent, Need, Range, Role, Setting, Size};
use crate::importance_ratio::importance_ratio;
use crate::{
    Action, Acts, Built, ComposeError, Declaration, Declared, Features, Fixed, Gaussian, Part, PartBuilder,
    Real, Row, RuleKind, Scratch, Seen, SettingError, Settings, Softmax, State, StateError, StochasticPolicy,
    Visitor,
};
use std::any::Any;

const SETTINGS: &[Setting] = &[
    Setting {
        name: "lambda_a",
        range: Range::Fraction,
        default: Some(1.0),
        about: "λ_a: 1 is full emphasis, 0 none",
    },
    Setting {
        name: "most",
        range: Range::Count,
        default: Some(1000.0),
        about: "how many steps of an episode are remembered at most; each costs a probability at every step",
    },
];

impl Declared for Ideal {
    const DECLARATION: Declaration = Declaration {
        source: "Graves, Imani, Kumaraswamy and White 2023",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "ideal",
            "Ideal",
            "the follow-on trace, recomputed at every step from the episode's start with the ratios of the current policy",
        )
    };

    fn size(of: &Extent) -> Size {
        let most = of.numbers.get("most").copied().unwrap_or(1000.0);
        Size { in_lanes: of.features * of.actions, shared: most * (HEAD as f64 + 2.0 * of.features) }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        if let Some(policy) = with.policy().downcast_ref::<Softmax>() {
            return with.emphasis(Ideal::with_settings(policy.clone(), with.settings())?);
        }
        if let Some(policy) = with.policy().downcast_ref::<Gaussian>() {
            return with.emphasis(Ideal::with_settings(policy.clone(), with.settings())?);
        }
        if let Some(policy) = with.policy().downcast_ref::<Fixed>() {
            return with.emphasis(Ideal::with_settings(policy.clone(), with.settings())?);
        }
        Err(if with.rule() == RuleKind::Deterministic { ComposeError::Ratio } else { ComposeError::Policy })
    }
}

/// The numbers of a remembered step before its features: γ_k, i(S_k), μ, A_k, and how many features follow.
const HEAD: usize = 5;

/// Returns an action that was written as a number.
#[inline(always)]
fn action_of<P: StochasticPolicy>(action: f64) -> Option<P::Action> {
    P::Action::of(Action::Number(action as usize)).or(P::Action::of(Action::Real(action)))
}

/// F_t as the follow-on trace would be had the policy always been the current one: all ratios of the episode are computed anew at every step.
/// What is left beside the variance is no staleness. It costs O(t) a step.
#[derive(Clone, Debug)]
pub struct Ideal<R: Real = f64, P: StochasticPolicy = Softmax> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    policy: P,
    weights: Vec<R>,
    /// The steps of this episode, each with room for as many features as can be active.
    past: Vec<f64>,
    /// How many numbers a step takes.
    stride: usize,
    /// How many numbers there is room for.
    room: usize,
    row: Vec<(usize, f64)>,
    scratch: Scratch,
    at: P::Distribution<R>,
}

impl<R: Real, P: StochasticPolicy> Ideal<R, P> {
    fn with_settings(policy: P, settings: Settings<R>) -> Result<Self, SettingError> {
        let active = policy.features().most_active().min(policy.features().len());
        let stride = HEAD + 2 * active;
        let room = settings.count("most")? * stride;
        Ok(Self {
            lambda_a: LambdaA::new(&settings)?,
            settings,
            weights: vec![R::zero(); policy.len()],
            past: Vec::with_capacity(room),
            stride,
            room,
            row: Vec::with_capacity(active),
            scratch: policy.features().scratch(),
            at: policy.room(),
            policy,
        })
    }

    /// Returns ρ_k F_k of the last step, with the ratios of the current policy.
    #[inline(always)]
    fn carried(&mut self) -> R {
        let mut carried = R::zero();
        for step in self.past.chunks_exact(self.stride) {
            let [gamma, interest, mu, action, active] = [0, 1, 2, 3, 4].map(|k| step[k]);
            let follow_on = product(R::splat(gamma), carried) + R::splat(interest);
            self.row.clear();
            let features = step[HEAD..][..2 * active as usize].chunks_exact(2);
            self.row.extend(features.map(|feature| (feature[0] as usize, feature[1])));
            self.policy.distribution(&self.weights, Row::of(&self.row), &mut self.at);
            let rho = match action_of::<P>(action) {
                Some(action) => importance_ratio(self.policy.probability(&self.at, action), mu),
                None => R::zero(),
            };
            carried = product(rho, follow_on);
        }
        carried
    }

    /// Remembers a step; if there is no room, the oldest is forgotten.
    #[inline(always)]
    fn remember(&mut self, step: &Seen) {
        let stride = self.stride;
        if self.past.len() + stride > self.room {
            self.past.copy_within(stride.., 0);
            self.past.truncate(self.past.len() - stride);
        }
        let end = self.past.len() + stride;
        let action = match step.action {
            Action::Number(number) => number as f64,
            Action::Real(real) => real,
        };
        let x = self.policy.features().row(step.state, &mut self.scratch);
        self.past.extend([step.gamma, step.interest, step.mu, action, x.len() as f64]);
        self.past.extend(x.iter().flat_map(|(feature, x)| [feature as f64, x]));
        self.past.resize(end, 0.0);
    }
}

impl<R: Real, P: StochasticPolicy> Part<R> for Ideal<R, P> {
    fn all_features(&self) -> Vec<&Features> {
        vec![self.policy.features()]
    }

    fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        match policy.downcast_ref::<P>() {
            Some(policy)
                if policy.len() == self.weights.len() && policy.features() == self.policy.features() =>
            {
                Ok(())
            }
            _ => Err(ComposeError::Policy),
        }
    }

    fn depends_on_policy(&self) -> bool {
        true
    }

    #[inline(always)]
    fn policy_changed(&mut self, weights: &[R], _state: Option<State>) {
        self.weights.copy_from_slice(weights);
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.shared_list("past", &mut self.past)?;
        let (stride, len) = (self.stride, self.policy.features().len());
        let is_feature = |feature: &[f64]| (0.0..len as f64).contains(&feature[0]);
        let fits = |step: &[f64]| {
            let active = step[HEAD - 1];
            (0.0..=((stride - HEAD) / 2) as f64).contains(&active)
                && step[HEAD..][..2 * active as usize].chunks_exact(2).all(is_feature)
                && action_of::<P>(step[3]).is_some_and(|action| self.policy.check_action(action).is_ok())
        };
        let whole = self.past.len().is_multiple_of(stride);
        if visitor.restores() && !(whole && self.past.chunks_exact(stride).all(fits)) {
            self.past.clear();
            return Err(StateError::Trace("past".to_owned()));
        }
        Ok(())
    }
}

impl<R: Real, P: StochasticPolicy> Emphasis<R> for Ideal<R, P> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, _rho: R) -> R {
        let interest = R::splat(step.interest);
        if step.gamma == 0.0 {
            self.past.clear();
        }
        let follow_on = product(R::splat(step.gamma), self.carried()) + interest;
        self.remember(step);
        self.lambda_a.mix(interest, follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}
