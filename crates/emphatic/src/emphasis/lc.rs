//! The follow-on trace that forgets ever less: the emphasis of LC-ETD.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use crate::catalogue::{Need, Role};
use crate::schedule::Power;
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    Lc<R>() => LcBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    variant: Count = 1.0, "which c_t: 1 is (1 − β) t^−β, 2 is t^−β, 3 is (1 − β)/t";
    beta: Fraction, "β: how fast c_t, the share of what is new, falls";
}

impl Declared for Lc {
    const DECLARATION: Declaration = Declaration {
        source: "He, Che, Wan and Mahmood 2023",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "lc",
            "LC",
            "the trace of LC-ETD: F_t = (1 − c_t) ρ_{t−1} F_{t−1} + c_t i_t, with c_t that falls, toward the target's own states",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Lc::new(with.settings())?)
    }
}

/// The trace of LC-ETD (He et al. 2023), in which no discount appears:
///
/// ```text
/// F_t = (1 − c_t) ρ_{t−1} F_{t−1} + c_t i_t,  F_1 = i_1
/// c_t = (1 − β) t^−β, or t^−β, or (1 − β)/t      (variants 1, 2 and 3)
/// ```
///
/// As c_t falls, the weights tend to those of the states that the target itself would visit. The steps t are counted from 1 where an episode starts. A constant c_t would be a decayed trace times 1 − β.
///
/// Inside the critic `etd` with λ = 0 it is LC-ETD. For λ > 0 LC-ETD has M_t = (1 − λ k_1) F_t + λ k_2, where k_1 and k_2 fall with t; `etd` has M_t = (1 − λ) F_t + λ i_t, as always.
#[derive(Clone, Debug)]
pub struct Lc<R = f64> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    /// c_1, and how c_t falls from there.
    first: R,
    power: Power<R>,
    /// ρ_{t−1} F_{t−1}.
    carried: R,
    /// How many steps there have been in this episode.
    steps: u64,
}

/// c_1 and p in c_t = c_1 t^−p; `None` if there is no such variant.
pub(crate) fn lc_share<R: Real>(variant: usize, beta: R) -> Option<(R, R)> {
    match variant {
        1 => Some((R::one() - beta, beta)),
        2 => Some((R::one(), beta)),
        3 => Some((R::one() - beta, R::one())),
        _ => None,
    }
}

impl<R: Real> Lc<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        let variant = settings.count("variant")?;
        let Some((first, power)) = lc_share(variant, settings.number("beta")?) else {
            let (name, right) = ("variant", "it must be 1, 2 or 3");
            return Err(SettingError::OutOfRange { name, value: variant as f64, lane: None, right });
        };
        Ok(Self {
            lambda_a: LambdaA::new(&settings)?,
            first,
            power: Power::new(power),
            settings,
            carried: R::zero(),
            steps: 0,
        })
    }
}

impl<R: Real> Part<R> for Lc<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.numbers("rho_f", std::iter::once(&mut self.carried))?;
        visitor.counts("steps", std::slice::from_mut(&mut self.steps))
    }
}

impl<R: Real> Emphasis<R> for Lc<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let interest = R::splat(step.interest);
        let follow_on = if step.gamma > 0.0 && self.steps > 0 {
            self.steps = self.steps.saturating_add(1);
            let new = self.first * self.power.of(self.steps as f64);
            product(R::one() - new, self.carried) + product(new, interest)
        } else {
            self.steps = 1;
            interest
        };
        self.carried = product(rho, follow_on);
        self.lambda_a.mix(interest, follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decayed, Step};

    fn weigh(trace: &mut impl Emphasis<f64>, gamma: f64, interest: f64, rho: f64) -> f64 {
        let step = Step { gamma, interest, ..Step::between(0, 0, 0) };
        trace.weigh(&Seen::without_features(&step.view()), rho)
    }

    fn lc(variant: f64, beta: f64) -> Lc {
        Lc::builder().variant(variant).beta(beta).build().unwrap()
    }

    #[test]
    fn by_hand() {
        let root = 0.5 / 2f64.sqrt();
        for (variant, c) in [(1.0, root), (2.0, 2.0 * root), (3.0, 0.25)] {
            let mut trace = lc(variant, 0.5);
            // Two episodes are two of them alone.
            for _ in 0..2 {
                assert_eq!(weigh(&mut trace, 0.0, 2.0, 3.0), 2.0);
                let second = (1.0 - c) * 6.0 + c;
                assert!((weigh(&mut trace, 0.9, 1.0, 0.0) - second).abs() < 1e-15);
                let c = if variant == 3.0 { 0.5 / 3.0 } else { c * (2.0f64 / 3.0).sqrt() };
                assert!((weigh(&mut trace, 0.9, 4.0, 1.0) - 4.0 * c).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn without_a_power_it_is_a_decayed_trace_times_a_factor() {
        // Variant 1 with c_t held at 1 − β: only its first entry is another.
        let beta = 0.75;
        let mut lc = Lc { power: Power::new(0.0), ..lc(1.0, beta) };
        let mut decayed = Decayed::builder().beta(beta).build().unwrap();
        weigh(&mut lc, 0.0, 1.0, 0.0);
        weigh(&mut decayed, 0.0, 1.0, 0.0);
        for t in 0..20 {
            let (interest, rho) = (1.0 + f64::from(t % 3), 0.5 + f64::from(t % 4) / 2.0);
            let [own, other] = [weigh(&mut lc, 0.9, interest, rho), weigh(&mut decayed, 0.9, interest, rho)];
            assert!((own - (1.0 - beta) * other).abs() < 1e-14, "{own} {other}");
        }
    }

    #[test]
    fn a_fourth_variant_is_refused() {
        let error = Lc::builder().variant(4.0).beta(0.5).build().unwrap_err();
        assert_eq!(error.to_string(), "variant is 4; it must be 1, 2 or 3");
    }
}
