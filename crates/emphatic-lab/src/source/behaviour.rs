//! Behaviours: how actions are drawn in a simulator, and with which probabilities.

use super::Actions;
use super::saved_policy::{Form, SavedPolicy};
use emphatic::real::elementary::normal_density;
use emphatic::{Action, FeatureError, Normal, Policy, Random, Scratch, State, index_at};
use std::sync::Arc;

/// How actions are drawn.
#[derive(Clone, Debug)]
pub(crate) enum Behaviour {
    /// With these probabilities, whatever is observed.
    Fixed(Vec<f64>),
    /// A real action between these bounds, all alike.
    Uniform { low: f64, high: f64 },
    /// A real action.
    Normal { mean: f64, standard_deviation: f64 },
    /// By the policy of a saved learner.
    Saved(Arc<SavedPolicy>),
    /// By the most probable action of a policy, or with probability ε by any, all alike. Actions that are equally probable share the rest evenly.
    EpsilonGreedy { of: Arc<SavedPolicy>, epsilon: f64 },
    /// By one of several, drawn anew at every step with these probabilities.
    Mixture(Vec<(f64, Behaviour)>),
}

impl Behaviour {
    /// Whether it acts by a saved policy, or may do so.
    pub(crate) fn is_saved(&self) -> bool {
        match self {
            Self::Fixed(_) | Self::Uniform { .. } | Self::Normal { .. } => false,
            Self::Saved(_) | Self::EpsilonGreedy { .. } => true,
            Self::Mixture(parts) => parts.iter().any(|(_, part)| part.is_saved()),
        }
    }
}

/// The distribution of actions in one state, with room for what it is computed from, so that no step allocates.
pub(crate) struct Look {
    at: Distribution,
    row: Scratch,
    /// Those of a mixture's parts.
    parts: Vec<Look>,
}

enum Distribution {
    /// The probability of each action.
    Finite(Vec<f64>),
    Uniform {
        low: f64,
        high: f64,
    },
    Normal(Normal<f64>),
    /// Of real actions: the probability of each part.
    Mixture(Vec<f64>),
}

impl Behaviour {
    /// All actions alike; `None` if they are not bounded.
    pub(crate) fn uniform(actions: &Actions) -> Option<Self> {
        match actions {
            Actions::Finite(names) => Some(Self::Fixed(vec![1.0 / names.len() as f64; names.len()])),
            &Actions::Real { low, high, .. } => {
                (high - low).is_finite().then_some(Self::Uniform { low, high })
            }
        }
    }

    /// Returns room for its distribution.
    pub(crate) fn look(&self) -> Look {
        let saved = |policy: &SavedPolicy| match &policy.form {
            Form::Softmax(form) => (Distribution::Finite(form.room()), form.features.scratch()),
            Form::Gaussian(form) => (Distribution::Normal(form.room()), form.features.scratch()),
        };
        let (at, row) = match self {
            Self::Fixed(probabilities) => (Distribution::Finite(probabilities.clone()), Scratch::default()),
            Self::Uniform { low, high } => {
                (Distribution::Uniform { low: *low, high: *high }, Scratch::default())
            }
            Self::Normal { mean, standard_deviation } => {
                let normal =
                    Normal { mean: *mean, standard_deviation: *standard_deviation, ..Normal::default() };
                (Distribution::Normal(normal), Scratch::default())
            }
            Self::Saved(policy) | Self::EpsilonGreedy { of: policy, .. } => saved(policy),
            Self::Mixture(parts) => {
                let looks: Vec<Look> = parts.iter().map(|(_, part)| part.look()).collect();
                let at = match looks.first().map(|look| &look.at) {
                    Some(Distribution::Finite(first)) => Distribution::Finite(vec![0.0; first.len()]),
                    _ => Distribution::Mixture(parts.iter().map(|(share, _)| *share).collect()),
                };
                return Look { at, row: Scratch::default(), parts: looks };
            }
        };
        Look { at, row, parts: Vec::new() }
    }

    /// Computes the distribution of actions, given an observation.
    pub(crate) fn see(&self, observation: &[f64], look: &mut Look) -> Result<(), FeatureError> {
        match self {
            Self::Fixed(_) | Self::Uniform { .. } | Self::Normal { .. } => {}
            Self::Saved(policy) => policy.see(observation, look)?,
            Self::EpsilonGreedy { of, epsilon } => {
                of.see(observation, look)?;
                if let Distribution::Finite(at) = &mut look.at {
                    make_greedy(at, *epsilon);
                }
            }
            Self::Mixture(parts) => {
                for ((_, part), look) in parts.iter().zip(&mut look.parts) {
                    part.see(observation, look)?;
                }
                if let Distribution::Finite(at) = &mut look.at {
                    mix(parts, &look.parts, at);
                }
            }
        }
        Ok(())
    }
}

/// μ(a) = ε/n, and the most probable actions share 1 − ε besides.
fn make_greedy(at: &mut [f64], epsilon: f64) {
    // What is no probability stays so, and is refused where it is to act.
    if at.iter().any(|p| p.is_nan()) {
        return;
    }
    let most = at.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let any = epsilon / at.len() as f64;
    let share = (1.0 - epsilon) / at.iter().filter(|p| **p == most).count() as f64;
    at.iter_mut().for_each(|p| *p = if *p == most { any + share } else { any });
}

/// μ(a) = Σ_k share_k μ_k(a).
fn mix(parts: &[(f64, Behaviour)], looks: &[Look], at: &mut [f64]) {
    at.fill(0.0);
    for ((share, _), look) in parts.iter().zip(looks) {
        if let Distribution::Finite(of) = &look.at {
            at.iter_mut().zip(of).for_each(|(at, p)| *at += share * p);
        }
    }
}

impl SavedPolicy {
    fn see(&self, observation: &[f64], look: &mut Look) -> Result<(), FeatureError> {
        let (state, row) = (State::Vector(observation), &mut look.row);
        match (&self.form, &mut look.at) {
            (Form::Softmax(policy), Distribution::Finite(at)) => {
                policy.features.check(state)?;
                policy.distribution(&self.weights, policy.features.row(state, row), at);
            }
            (Form::Gaussian(policy), Distribution::Normal(at)) => {
                policy.features.check(state)?;
                policy.distribution(&self.weights, policy.features.row(state, row), at);
            }
            _ => {} // A look comes from its own behaviour.
        }
        Ok(())
    }
}

impl Look {
    /// Draws an action, and returns it with its probability or density.
    pub(crate) fn draw(&self, random: &mut Random) -> (Action, f64) {
        let action = self.sample(random);
        (action, self.probability(action))
    }

    fn sample(&self, random: &mut Random) -> Action {
        match &self.at {
            Distribution::Finite(at) => Action::Number(index_at(random.uniform(), at.iter().copied())),
            Distribution::Uniform { low, high } => Action::Real(low + (high - low) * random.uniform()),
            Distribution::Normal(Normal { mean, standard_deviation, .. }) => {
                Action::Real(mean + standard_deviation * random.normal())
            }
            Distribution::Mixture(shares) => {
                self.parts[index_at(random.uniform(), shares.iter().copied())].sample(random)
            }
        }
    }

    /// Returns the probability or the density of an action.
    pub(crate) fn probability(&self, action: Action) -> f64 {
        match (&self.at, action) {
            (Distribution::Finite(at), Action::Number(action)) => at[action],
            (Distribution::Uniform { low, high }, Action::Real(action)) => {
                let is_within = (*low..=*high).contains(&action);
                if is_within { 1.0 / (high - low) } else { 0.0 }
            }
            (Distribution::Normal(Normal { mean, standard_deviation, .. }), Action::Real(action)) => {
                normal_density(action, *mean, *standard_deviation)
            }
            (Distribution::Mixture(shares), _) => {
                let of = shares.iter().zip(&self.parts);
                of.fold(0.0, |sum, (share, part)| sum + share * part.probability(action))
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::saved_policy::tests::{dense_gaussian, dense_softmax};

    fn drawn(behaviour: &Behaviour, observation: &[f64], count: usize) -> Vec<(Action, f64)> {
        let (mut look, mut random) = (behaviour.look(), Random::new(3, 0));
        behaviour.see(observation, &mut look).unwrap();
        (0..count).map(|_| look.draw(&mut random)).collect()
    }

    /// Returns μ of each action, and checks that actions are drawn that often.
    fn probabilities(behaviour: &Behaviour, observation: &[f64], actions: usize) -> Vec<f64> {
        const COUNT: usize = 100_000;
        let (mut mu, mut counts) = (vec![0.0; actions], vec![0.0; actions]);
        for (action, probability) in drawn(behaviour, observation, COUNT) {
            let Action::Number(action) = action else { unreachable!("it is one of finitely many") };
            (mu[action], counts[action]) = (probability, counts[action] + 1.0);
        }
        for (p, count) in mu.iter().zip(&counts) {
            let (mean, n) = (count / COUNT as f64, COUNT as f64);
            assert!((mean - p).abs() <= 5.0 * (p * (1.0 - p) / n).sqrt(), "{mean} {p}");
        }
        mu
    }

    fn assert_near(got: &[f64], right: &[f64]) {
        assert!(got.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-14), "{got:?} {right:?}");
    }

    #[test]
    fn densities_belong_to_the_actions_that_are_drawn() {
        let normal = Behaviour::Normal { mean: 1.0, standard_deviation: 2.0 };
        let (Action::Real(action), density) = drawn(&normal, &[], 1)[0] else { unreachable!("it is real") };
        assert!((density - by_hand(action, 1.0, 2.0)).abs() < 1e-15);
        let uniform = Behaviour::Uniform { low: -2.0, high: 2.0 };
        let (Action::Real(action), density) = drawn(&uniform, &[], 1)[0] else { unreachable!("it is real") };
        assert!((-2.0..2.0).contains(&action) && density == 0.25);
    }

    fn by_hand(action: f64, mean: f64, deviation: f64) -> f64 {
        let z = (action - mean) / deviation;
        (-0.5 * z * z).exp() / (deviation * (2.0 * std::f64::consts::PI).sqrt())
    }

    /// Once every action had the probability ε/n, and the last one was drawn.
    #[test]
    fn what_is_no_probability_is_not_made_one() {
        let mut at = [f64::NAN; 3];
        make_greedy(&mut at, 0.3);
        assert!(at.iter().all(|p| p.is_nan()));
    }

    #[test]
    fn a_saved_softmax_acts_by_its_own_probabilities() {
        // Preferences x₀ ln 2 of action 1 and x₁ ln 5 of action 2.
        let weights = [0.0, 2f64.ln(), 0.0, 0.0, 0.0, 5f64.ln()];
        let policy = Arc::new(dense_softmax(2, 3, &weights));
        let saved = Behaviour::Saved(policy.clone());
        assert_near(&probabilities(&saved, &[1.0, 1.0], 3), &[0.125, 0.25, 0.625]);
        assert_near(&probabilities(&saved, &[2.0, 0.0], 3), &[1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0]);
        let greedy = Behaviour::EpsilonGreedy { of: policy.clone(), epsilon: 0.3 };
        assert_near(&probabilities(&greedy, &[1.0, 1.0], 3), &[0.1, 0.1, 0.8]);
        // Ties share evenly; two are tied, or all.
        assert_near(&probabilities(&greedy, &[-1.0, 0.0], 3), &[0.45, 0.1, 0.45]);
        assert_near(&probabilities(&greedy, &[0.0, 0.0], 3), &[1.0 / 3.0; 3]);
        let mixture = Behaviour::Mixture(vec![
            (0.5, Behaviour::Fixed(vec![0.0, 0.0, 1.0])),
            (0.25, saved),
            (0.25, Behaviour::Mixture(vec![(1.0, Behaviour::Fixed(vec![0.5, 0.5, 0.0]))])),
        ]);
        let right = [0.25 * 0.125 + 0.125, 0.25 * 0.25 + 0.125, 0.5 + 0.25 * 0.625];
        assert_near(&probabilities(&mixture, &[1.0, 1.0], 3), &right);
    }

    #[test]
    fn a_mixture_of_real_actions_has_the_density_of_the_mixture() {
        // Mean 2 x, deviation softplus(0) = ln 2.
        let saved = Behaviour::Saved(Arc::new(dense_gaussian(1, &[2.0, 0.0])));
        let uniform = Behaviour::Uniform { low: -1.0, high: 1.0 };
        let mixture = Behaviour::Mixture(vec![(0.25, uniform), (0.75, saved)]);
        let drawn = drawn(&mixture, &[1.5], 50_000);
        let mut sum = 0.0;
        for (action, density) in &drawn {
            let Action::Real(action) = *action else { unreachable!("it is real") };
            let uniform = if (-1.0..=1.0).contains(&action) { 0.5 } else { 0.0 };
            let right = 0.25 * uniform + 0.75 * by_hand(action, 3.0, 2f64.ln());
            assert!((density - right).abs() < 1e-12, "{density} {right}");
            sum += action;
        }
        // The mean is 0.75 · 3.
        assert!((sum / drawn.len() as f64 - 2.25).abs() < 0.03);
    }
}
