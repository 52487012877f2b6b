//! The commonest compositions, each compiled as one loop.
//!
//! A boxed part costs a few calls at every step. These compositions do without; their results are the same bits.

use super::{Built, PartBuilder};
use crate::critic::{Critic, ExactCritic, Gtd};
use crate::emphasis::{Emphasis, ExactEmphasis, FollowOn, NoEmphasis};
use crate::learner::ActorCritic;
use crate::part::{ComposeError, Part, Seen};
use crate::policy::Softmax;
use crate::problem::known_problem::Solvable;
use crate::real::Real;
use crate::tensors::{StateError, Visitor};

/// No emphasis or the follow-on trace: alike enough to share a loop.
#[derive(Debug)]
enum Trace<R> {
    None(NoEmphasis),
    FollowOn(FollowOn<R>),
}

impl<R: Real> Part<R> for Trace<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        match self {
            Self::None(_) => Ok(()),
            Self::FollowOn(trace) => trace.tensors(visitor),
        }
    }
}

impl<R: Real> Emphasis<R> for Trace<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        match self {
            Self::None(none) => none.weigh(step, rho),
            Self::FollowOn(trace) => trace.weigh(step, rho),
        }
    }

    fn learns(&self) -> bool {
        false
    }
}

/// The learner of a softmax policy, if it is one of these; the parts that come with the library, not others of their names.
pub(crate) fn softmax<R: Real>(
    with: &PartBuilder<R>,
    policy: &Softmax,
) -> Result<Option<Built<R>>, ComposeError> {
    let critic = with.declared_critic::<crate::critic::gtd::InCatalogue>(policy)?;
    if let Some(critic) = critic {
        let [alpha_v, alpha_w, lambda] = ["alpha_v", "alpha_w", "lambda"].map(|name| critic.number(name));
        let critic = Gtd::new(critic.features()?, alpha_v?, alpha_w?, lambda?)?;
        return match trace(with, policy)? {
            Some(trace) => learner(with, policy, critic, trace),
            None => Ok(None),
        };
    }
    let Some(critic) = with.declared_critic::<crate::critic::exact::InCatalogue>(policy)? else {
        return Ok(None);
    };
    let Solvable::Softmax(task, _) = critic.problem()?.with_policy(policy)? else { return Ok(None) };
    let critic = ExactCritic::new(task, policy)?;
    if let Some(trace) = trace(with, policy)? {
        return learner(with, policy, critic, trace);
    }
    let Some(emphasis) = with.declared_emphasis::<crate::emphasis::exact::InCatalogue>(policy)? else {
        return Ok(None);
    };
    let Solvable::Softmax(task, _) = emphasis.problem()?.with_policy(policy)? else { return Ok(None) };
    learner(with, policy, critic, ExactEmphasis::new(task, policy)?)
}

fn trace<R: Real>(with: &PartBuilder<R>, policy: &Softmax) -> Result<Option<Trace<R>>, ComposeError> {
    if with.declared_emphasis::<crate::emphasis::none::InCatalogue>(policy)?.is_some() {
        return Ok(Some(Trace::None(NoEmphasis)));
    }
    match with.declared_emphasis::<crate::emphasis::follow_on::InCatalogue>(policy)? {
        Some(emphasis) => Ok(Some(Trace::FollowOn(FollowOn::new(emphasis.number("lambda_a")?)?))),
        None => Ok(None),
    }
}

fn learner<R: Real>(
    with: &PartBuilder<R>,
    policy: &Softmax,
    critic: impl Critic<R> + 'static,
    emphasis: impl Emphasis<R> + 'static,
) -> Result<Option<Built<R>>, ComposeError> {
    let learner = ActorCritic::new(policy.clone(), critic, emphasis, with.alpha())?;
    Ok(Some(Built::Learner(Box::new(learner))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Declaration, Declared};
    use crate::compose::Composable;
    use crate::isa::Isa;
    use crate::learner::Learner;
    use crate::problem::{KnownProblem, Task};
    use crate::real::Lanes;
    use crate::recipe::{PartRecipe, Recipe, RuleKind};
    use std::marker::PhantomData;
    use std::sync::Arc;

    /// The same part under another type: it is not fused.
    struct Boxed<T>(PhantomData<T>);

    impl<T: Declared> Declared for Boxed<T> {
        const DECLARATION: Declaration = T::DECLARATION;

        fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
            T::build(with)
        }
    }

    fn boxed() -> Catalogue {
        Catalogue::standard()
            .clone()
            .with::<Boxed<crate::critic::gtd::InCatalogue>>()
            .with::<Boxed<crate::critic::exact::InCatalogue>>()
    }

    fn learned<R: Composable>(catalogue: &Catalogue, recipe: &Recipe) -> Box<dyn Learner<R>> {
        let task = Arc::new(Task::long_counterexample(3));
        let mut learner =
            R::compose(catalogue, &[recipe], &[KnownProblem::Finite(task.clone())], Isa::best()).unwrap();
        let steps: Vec<_> = task.stream(5, 0).take(1000).collect();
        learner.learn(Isa::best(), &steps).unwrap();
        learner
    }

    #[test]
    fn fused_and_boxed_learners_have_the_same_bits_and_the_same_tensors() {
        let task = Task::long_counterexample(3);
        let gtd = PartRecipe::new("gtd").with("alpha_v", 0.1).with("alpha_w", 0.01).with("lambda", 0.5);
        for critic in [gtd.with_features(task.critic()), PartRecipe::new("exact")] {
            for emphasis in [
                PartRecipe::new("none"),
                PartRecipe::new("follow-on").with("lambda_a", 0.7),
                PartRecipe::new("exact"),
            ] {
                let recipe = Recipe {
                    rule: RuleKind::Taken,
                    policy: PartRecipe::new("softmax").with_features(task.actor()),
                    actions: Some(2),
                    critic: critic.clone(),
                    emphasis,
                    alpha: 0.1,
                    subset: None,
                };
                let [mut fused, mut plain] =
                    [Catalogue::standard(), &boxed()].map(|c| learned::<f64>(c, &recipe));
                assert_eq!(fused.state().unwrap(), plain.state().unwrap());
                let [mut fused, mut plain] =
                    [Catalogue::standard(), &boxed()].map(|c| learned::<Lanes<16>>(c, &recipe));
                assert_eq!(fused.state().unwrap(), plain.state().unwrap());
            }
        }
    }
}
