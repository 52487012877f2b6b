//! An estimate of a gradient that is linear in features: a row of weights for each feature, as long as the policy's weights.

use crate::settings::SettingError;
use crate::{Features, Real, Settings, StateError, Visitor};

/// Gᵀφ, with second weights H, learned by TDRC from an error ε:
///
/// ```text
/// G ← G + α c (φ εᵀ − γ_{t+1} φ̄_{t+1} (φᵀH))
/// H ← H + α η (c φ (ε − Hᵀφ)ᵀ − β H)
/// ```
///
/// With η = 0 this is TD.
#[derive(Clone, Debug)]
pub(super) struct GradientWeights<R> {
    width: usize,
    g: Vec<R>,
    h: Vec<R>,
    alpha: R,
    alpha_h: R,
    beta: R,
    has_second: bool,
    /// Room for φᵀH.
    correction: Vec<R>,
}

impl<R: Real> GradientWeights<R> {
    /// Zeros, without rows: [`Self::resize`] makes them.
    pub(super) fn new(features: &Features, settings: &Settings<R>) -> Result<Self, SettingError> {
        let alpha = settings.number("alpha_g")? / R::splat(features.most_active().max(1) as f64);
        let alpha_h = alpha * settings.number("eta")?;
        Ok(Self {
            width: 0,
            g: Vec::new(),
            h: Vec::new(),
            alpha,
            alpha_h,
            beta: settings.number("beta")?,
            has_second: !alpha_h.all_zero(),
            correction: Vec::new(),
        })
    }

    /// Makes as many rows as there are features, each as long as the policy's weights.
    pub(super) fn resize(&mut self, rows: usize, width: usize) {
        self.width = width;
        self.g = vec![R::zero(); rows * width];
        // Also where they stay zero: in lanes beside others they are there.
        self.h = vec![R::zero(); rows * width];
        self.correction = vec![R::zero(); width];
    }

    /// out ← out + scale Gᵀφ.
    pub(super) fn add_estimate(&self, phi: impl Iterator<Item = (usize, R)>, scale: R, out: &mut [R]) {
        for (k, x) in phi {
            let scale = scale * x;
            for (out, g) in out.iter_mut().zip(&self.g[k * self.width..]) {
                *out += scale * *g;
            }
        }
    }

    /// Learns from an error ε. `back` is γ_{t+1} φ̄_{t+1}. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    pub(super) fn learn(
        &mut self,
        phi: impl Iterator<Item = (usize, f64)> + Clone,
        back: impl Iterator<Item = (usize, R)>,
        scale: R,
        error: &[R],
    ) -> R {
        let Self { width, g, h, correction, .. } = self;
        let width = *width;
        let mut sum = scale.nan_unless_finite();
        let step = self.alpha * scale;
        for (k, x) in phi.clone() {
            let step = step * R::splat(x);
            for (g, e) in g[k * width..].iter_mut().zip(error) {
                *g += step * *e;
                sum += g.nan_unless_finite();
            }
        }
        if !self.has_second {
            return sum;
        }
        correction.fill(R::zero());
        for (k, x) in phi.clone() {
            let x = R::splat(x);
            correction.iter_mut().zip(&h[k * width..]).for_each(|(c, h)| *c += x * *h);
        }
        for (k, x) in back {
            let step = step * x;
            for (g, c) in g[k * width..].iter_mut().zip(&*correction) {
                *g -= step * *c;
                sum += g.nan_unless_finite();
            }
        }
        let keep = R::one() - self.alpha_h * self.beta;
        h.iter_mut().for_each(|h| *h *= keep);
        for (k, x) in phi {
            let step = self.alpha_h * scale * R::splat(x);
            for ((h, e), c) in h[k * width..].iter_mut().zip(error).zip(&*correction) {
                *h += step * (*e - *c);
                sum += h.nan_unless_finite();
            }
        }
        sum
    }

    pub(super) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.estimate("g", self.g.iter_mut())?;
        visitor.weights("h", self.h.iter_mut())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Features, GradientValues, Gtd, Lanes, Learner, NoEmphasis, Real, Softmax, WithActor};

    fn learner<R: Real>(eta: R) -> WithActor<R, Softmax, Gtd<R>, NoEmphasis> {
        let policy = Softmax { features: Features::dense(2), actions: 2 };
        let (zero, one) = (R::zero(), R::one());
        let critic =
            Gtd::builder(Features::dense(2)).alpha_v(one).alpha_w(zero).lambda(zero).build().unwrap();
        let actor = GradientValues::builder(Features::dense(2)).alpha_g(one).eta(eta).build().unwrap();
        WithActor::builder(policy, critic, NoEmphasis).actor(actor).alpha(one).build().unwrap()
    }

    /// Regression: with η = 0 a learner had no second weights, so it could not be taken out of lanes with others.
    #[test]
    fn a_learner_without_second_weights_shares_lanes_with_others() {
        let state = learner(Lanes::<16>::from_lanes(|lane| lane as f64)).state().unwrap();
        learner(0.0).restore(&state.lane(0)).unwrap();
        learner(1.0).restore(&state.lane(1)).unwrap();
    }
}
