//! The emphasis by least squares.

use super::Emphasis;
use super::estimate::Estimate;
use super::time_reversed::ReversedTrace;
use crate::catalogue::{Extent, Need, Role, Size};
use crate::linear_system::{Due, LinearSystem};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Seen, SettingError,
    Settings, StateError, Visitor,
};

settings! {
    LstdEmphasis<R>(features) => LstdEmphasisBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    lambda_e: Fraction = 0.5, "λ_e of the return: 1 is the follow-on trace, 0 looks one step back";
    read: Fraction = 1.0, "the share of the return F_t in what is read; 0 reads û(S_t)";
    forgetting: Fraction = 0.0, "the share of the past that each step forgets: ratios of old policies are stale; 0 for a policy that stays";
    solve_every: Count = 100.0, "after how many steps u is solved for anew; also where an episode starts";
}

impl Declared for LstdEmphasis {
    const DECLARATION: Declaration = Declaration {
        source: "after Bradtke and Barto 1996, on the time-reversed chain",
        settings: SETTINGS,
        features: true,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "lstd",
            "LSTDEmphasis",
            "û(s) = u·x(s) by least squares on the time-reversed chain, with forgetting",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: of.features * (of.features + 6.0), shared: of.features * (of.features + 1.0) }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(LstdEmphasis::new(with.features()?, with.settings())?)
    }
}

/// The weights of features that were never active, or the ridge towards them.
const RIDGE: f64 = 1e-3;
const START: f64 = 1.0;

/// û(s) = u·x(s) by least squares. With c_t and y_t such that F_t = c_t + y_t·u is the emphasis's λ-return and a forgetting φ:
///
/// ```text
/// A ← (1 − φ) A + x_t (x_t − y_t)ᵀ          b ← (1 − φ) b + c_t x_t
/// (A + ε I) u = b + ε 1,  ε = 0.001
/// ```
///
/// u is solved for where an episode starts and after `solve_every` steps, from all steps before. It costs d² numbers and d³ operations a
/// solution.
#[derive(Clone, Debug)]
pub struct LstdEmphasis<R = f64> {
    settings: Settings<R>,
    estimate: Estimate<R>,
    trace: ReversedTrace<R>,
    system: LinearSystem<R>,
    /// x_t − y_t.
    difference: Vec<R>,
    keep: R,
    due: Due,
    changed: R,
}

impl<R: Real> LstdEmphasis<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let mut estimate = Estimate::new(features.clone(), &settings)?;
        estimate.u.fill(R::splat(START));
        Ok(Self {
            estimate,
            trace: ReversedTrace::new(&features, settings.number("lambda_e")?),
            system: LinearSystem::new(features.len()),
            difference: vec![R::zero(); features.len()],
            keep: R::one() - settings.number("forgetting")?,
            due: Due::new(&settings)?,
            settings,
            changed: R::zero(),
        })
    }

    /// Solves for u if it is time.
    #[inline(always)]
    fn solve(&mut self, step: &Seen) {
        self.changed = R::zero();
        if self.due.is_now(step) {
            self.system.solve(RIDGE, START, &mut self.estimate.u);
            self.estimate.u.iter().for_each(|u| self.changed += u.nan_unless_finite());
        }
        self.due.count();
    }
}

impl<R: Real> Part<R> for LstdEmphasis<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.estimate.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.estimate.tensors(visitor)?;
        self.trace.tensors(visitor)?;
        self.system.tensors(visitor)?;
        self.due.tensors(visitor)
    }
}

impl<R: Real> Emphasis<R> for LstdEmphasis<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let interest = R::splat(step.interest);
        self.solve(step);
        self.trace.arrive(step, interest);
        let follow_on = self.trace.c + self.trace.dot(&self.estimate.u);
        self.difference.iter_mut().zip(&self.trace.y).for_each(|(difference, y)| *difference = -*y);
        step.x.iter().for_each(|(j, x)| self.difference[j] += R::splat(x));
        if !(R::one() - self.keep).all_zero() {
            self.system.keep(self.keep);
        }
        self.system.add(step.x, &self.difference, self.trace.c);
        self.trace.leave(step, rho);
        self.estimate.read(interest, self.estimate.value(step.x), follow_on)
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.changed
    }
}
