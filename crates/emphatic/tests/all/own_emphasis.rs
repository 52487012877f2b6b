//! Emphases written by a user: one that learns, and one that cannot be saved.

use crate::every_learner;
use emphatic::{Emphasis, Features, Learner, Numbers, Part, Real, Seen, Softmax, StateError, Step, Visitor};

/// Weights of its own, which learn by steps that double them: m̂(s) = w·x(s).
struct Growing<R> {
    features: Features,
    weights: Vec<R>,
}

impl<R: Real> Part<R> for Growing<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.estimate("m", self.weights.iter_mut())
    }
}

impl<R: Real> Emphasis<R> for Growing<R> {
    fn weigh(&mut self, step: &Seen, _rho: R) -> R {
        R::splat(step.interest)
    }

    fn learn(&mut self, step: &Seen, _rho: R) -> R {
        let mut sum = R::zero();
        for (k, x) in step.x.iter() {
            let weight = self.weights[k];
            self.weights[k] += R::splat(x) * weight;
            sum += self.weights[k].nan_unless_finite();
        }
        sum
    }
}

fn step(state: usize) -> Step<usize, usize> {
    Step { gamma: 0.5, gamma_next: 0.5, ..every_learner::step(state, 0, 1) }
}

fn learner<E: Emphasis<f64>>(emphasis: E) -> impl Learner<f64> {
    let policy = Softmax { features: Features::one_hot(2), actions: 2 };
    let critic = every_learner::gtd(Features::one_hot(2), 1e-3, 1e-3, 0.0);
    emphatic::ActorCritic::builder(policy, critic, emphasis).alpha(1e-3).build().unwrap()
}

/// Once only the weights of actor and critic were checked: an emphasis could diverge unnoticed.
#[test]
fn an_emphasis_that_diverges_is_seen_at_that_step() {
    let mut learner = learner(Growing { features: Features::one_hot(2), weights: vec![1.0, 1.0] });
    // 2¹⁰²⁴ overflows.
    for k in 1..1024 {
        learner.step(&step(0)).unwrap();
        assert_eq!(learner.diverged(0), None, "after {k} steps");
    }
    learner.step(&step(0)).unwrap();
    assert_eq!(learner.diverged(0), Some(1024));
    assert!(learner.weights().iter().all(|w| w.is_nan()));
    let all = learner.state().unwrap();
    let of_emphasis = all.tensors().iter().find(|(name, _)| *name == "emphasis.m").unwrap().1;
    assert!(matches!(of_emphasis, Numbers::Real(weights) if weights.iter().all(|w| w.is_nan())));
}

#[test]
fn what_an_emphasis_has_learned_is_saved_restored_and_listed() {
    let make = || learner(Growing { features: Features::one_hot(2), weights: vec![1.0, 1.0] });
    let (mut one, mut other) = (make(), make());
    one.step(&step(0)).unwrap();
    other.restore(&one.state().unwrap()).unwrap();
    assert_eq!(other.estimates().unwrap(), one.estimates().unwrap());
    let estimates = one.estimates().unwrap();
    assert!(estimates.contains(&("emphasis.m".to_owned(), vec![2.0, 1.0])), "{estimates:?}");
}

/// Two lists of numbers of one name.
struct Twice([f64; 2]);

impl Part<f64> for Twice {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        let [one, other] = &mut self.0;
        visitor.numbers("x", std::iter::once(one))?;
        visitor.numbers("x", std::iter::once(other))
    }
}

impl Emphasis<f64> for Twice {
    fn weigh(&mut self, step: &Seen, _rho: f64) -> f64 {
        step.interest
    }
}

/// Once the second was saved in place of the first, silently unless debug assertions were on.
#[test]
fn two_lists_of_one_name_cannot_be_saved() {
    let mut twice = learner(Twice([1.0, 2.0]));
    let error = twice.state().unwrap_err();
    assert_eq!(error.to_string(), "two lists of numbers are named `emphasis.x`");
    twice.step(&step(0)).unwrap();
    let other = learner(Twice([3.0, 4.0])).state();
    assert!(other.is_err());
}
