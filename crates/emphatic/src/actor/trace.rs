//! OffPAC's actor trace.

use super::{ActorInput, ActorRule};
use crate::catalogue::{Extent, Role, Signal, Size};
use crate::learner::unless_waiting;
use crate::real::product;
use crate::settings::settings;
use crate::{
    AnyPolicy, Built, ComposeError, Critic, Declaration, Declared, PartBuilder, Real, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    ActorTrace<R>() => ActorTraceBuilder;
    lambda: Fraction, "λ of the actor's trace; 0 is the actor without one";
}

impl Declared for ActorTrace {
    const DECLARATION: Declaration = Declaration {
        source: "Degris, White and Sutton 2012",
        settings: SETTINGS,
        signals: &[Signal::Delta],
        ..Declaration::new(
            Role::Actor,
            "trace",
            "ActorTrace",
            "θ follows δ_t e_t, with the trace e_t = ρ_t (γ_t λ e_{t−1} + M_t ∇ ln π(A_t|S_t))",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: of.weights, shared: 2.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.actor_by_values(ActorTrace::new(with.settings())?)
    }
}

/// θ ← θ + α δ_t e_t, with e_t = ρ_t (γ_t λ e_{t−1} + M_t ∇ ln π(A_t|S_t)).
///
/// OffPAC is this without emphasis. The trace credits earlier actions with what follows, as a critic's does; it does not take the place of an emphasis.
#[derive(Clone, Debug)]
pub struct ActorTrace<R = f64> {
    settings: Settings<R>,
    lambda: R,
    e: Vec<R>,
    /// How many weights each feature of the policy has.
    outputs: usize,
    /// The features that are traced, and whether each is.
    traced: Vec<usize>,
    is_traced: Vec<bool>,
}

impl<R: Real> ActorTrace<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self {
            lambda: settings.number("lambda")?,
            settings,
            e: Vec::new(),
            outputs: 0,
            traced: Vec::new(),
            is_traced: Vec::new(),
        })
    }

    /// The weights of the features that are traced.
    fn listed(traced: &[usize], outputs: usize) -> impl Iterator<Item = usize> {
        traced.iter().flat_map(move |feature| feature * outputs..(feature + 1) * outputs)
    }

    /// e ← factor e, or e ← 0 where an episode starts.
    fn decay(&mut self, gamma: f64) {
        let factor = R::splat(gamma) * self.lambda;
        if !factor.all_zero() {
            Self::listed(&self.traced, self.outputs).for_each(|k| self.e[k] = product(factor, self.e[k]));
            return;
        }
        Self::listed(&self.traced, self.outputs).for_each(|k| self.e[k] = R::zero());
        self.traced.drain(..).for_each(|feature| self.is_traced[feature] = false);
    }
}

impl<R: Real> ActorRule<R, dyn Critic<R>> for ActorTrace<R> {
    fn set_policy(&mut self, policy: &dyn AnyPolicy<R>) -> Result<(), ComposeError> {
        let features = policy.features().len();
        self.e = vec![R::zero(); policy.weights()];
        self.outputs = policy.weights() / features.max(1);
        (self.traced, self.is_traced) = (Vec::with_capacity(features), vec![false; features]);
        Ok(())
    }

    fn learn(&mut self, input: ActorInput<R>, critic: &mut (dyn Critic<R> + 'static)) -> [R; 2] {
        let ActorInput { policy, weights, step_size, x, step, seen, rho, emphasis, .. } = input;
        self.decay(step.gamma);
        for (feature, _) in x.iter() {
            if !std::mem::replace(&mut self.is_traced[feature], true) {
                self.traced.push(feature);
            }
        }
        policy.see(weights, x);
        policy.add_score(x, step.action, emphasis, &mut self.e);
        let [delta, mut changed] = critic.update(&seen, rho);
        changed += delta.nan_unless_finite();
        for k in Self::listed(&self.traced, self.outputs) {
            self.e[k] = product(rho, self.e[k]);
            // What only other lanes trace is 0 here, even where α δ overflows.
            weights[k] += unless_waiting(step_size, product(self.e[k], step_size * delta));
            changed += weights[k].nan_unless_finite();
        }
        [delta, changed]
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.weights("e", self.e.iter_mut())?;
        if visitor.restores() {
            self.traced.clear();
            let rows = self.e.chunks_exact(self.outputs.max(1));
            for (feature, (row, is_traced)) in rows.zip(&mut self.is_traced).enumerate() {
                *is_traced = row.iter().any(|e| !e.all_zero());
                self.traced.extend(is_traced.then_some(feature));
            }
        }
        Ok(())
    }
}
