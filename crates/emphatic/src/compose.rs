//! Recipes become learners.

mod fused;

use crate::catalogue::{Acts, Catalogue, Declared, Entry, Role, Tells};
use crate::critic::{ActionCritic, Critic, SlopeCritic};
use crate::emphasis::Emphasis;
use crate::features::Features;
use crate::isa::Isa;
use crate::leaf::Leaf;
use crate::learner::{ActorCritic, AllActions, DeterministicActorCritic, Learner};
use crate::part::ComposeError;
use crate::policy::{DeterministicPolicy, FinitePolicy, Softmax, StochasticPolicy};
use crate::problem::KnownProblem;
use crate::real::{Lanes, Real};
use crate::recipe::{PartRecipe, Recipe, RuleKind};
use crate::theory::Objective;
use std::any::Any;
use std::marker::PhantomData;

/// A part that was built.
pub enum Built<R> {
    /// A learner, which a policy builds around itself.
    Learner(Box<dyn Learner<R>>),
    /// A critic that tells δ.
    Critic(Box<dyn Critic<R>>),
    /// A critic that tells advantages.
    ActionCritic(Box<dyn ActionCritic<R>>),
    /// A critic that tells ∂q/∂a.
    SlopeCritic(Box<dyn SlopeCritic<R>>),
    /// An emphasis.
    Emphasis(Box<dyn Emphasis<R>>),
}

impl<R> std::fmt::Debug for Built<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Learner(_) => "a learner",
            Self::Critic(_) => "a critic of values",
            Self::ActionCritic(_) => "a critic of actions",
            Self::SlopeCritic(_) => "a critic of ∂q/∂a",
            Self::Emphasis(_) => "an emphasis",
        })
    }
}

/// A number type that learners are composed in.
pub trait Composable: Real {
    /// Puts learners together, one in each lane; lanes without a recipe do as the first. The recipes must differ in numbers alone.
    fn compose(
        catalogue: &Catalogue,
        recipes: &[&Recipe],
        problems: &[KnownProblem],
        isa: Isa,
    ) -> Result<Box<dyn Learner<Self>>, ComposeError>;

    /// J_μ of policies of this form in a problem.
    fn objective(problem: &KnownProblem, policy: &dyn Any) -> Result<Box<dyn Objective<Self>>, ComposeError>;

    /// m(S_t)/d_μ(S_t) of policies of this form.
    fn exact_emphasis(
        problem: &KnownProblem,
        policy: &dyn Any,
        isa: Isa,
    ) -> Result<Box<dyn Emphasis<Self>>, ComposeError>;
}

/// A builder in every number type that learners are composed in. A part that is a type has one: [`Declared`].
pub trait Build: Any + Send + Sync {
    /// Builds the part of one learner.
    fn one(&self, with: &PartBuilder<f64>) -> Result<Built<f64>, ComposeError>;
    /// Builds it in eight lanes.
    fn eight(&self, with: &PartBuilder<Lanes<8>>) -> Result<Built<Lanes<8>>, ComposeError>;
    /// Builds it in sixteen lanes.
    fn sixteen(&self, with: &PartBuilder<Lanes<16>>) -> Result<Built<Lanes<16>>, ComposeError>;
}

/// The builder of a declared part.
pub(crate) struct Of<T>(PhantomData<fn() -> T>);

impl<T> Default for Of<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Declared> Build for Of<T> {
    fn one(&self, with: &PartBuilder<f64>) -> Result<Built<f64>, ComposeError> {
        T::build(with)
    }

    fn eight(&self, with: &PartBuilder<Lanes<8>>) -> Result<Built<Lanes<8>>, ComposeError> {
        T::build(with)
    }

    fn sixteen(&self, with: &PartBuilder<Lanes<16>>) -> Result<Built<Lanes<16>>, ComposeError> {
        T::build(with)
    }
}

macro_rules! composable {
    ($($number:ty => $method:ident, $fused:expr;)*) => {
        $(impl Composable for $number {
            fn compose(
                catalogue: &Catalogue,
                recipes: &[&Recipe],
                problems: &[KnownProblem],
                isa: Isa,
            ) -> Result<Box<dyn Learner<Self>>, ComposeError> {
                let build = |entry: &Entry, with: &PartBuilder<Self>| entry.builder.$method(with);
                compose(Composer { catalogue, recipes, problems, isa, build: &build, fused: $fused })
            }

            fn objective(
                problem: &KnownProblem,
                policy: &dyn Any,
            ) -> Result<Box<dyn Objective<Self>>, ComposeError> {
                problem.objective(policy)
            }

            fn exact_emphasis(
                problem: &KnownProblem,
                policy: &dyn Any,
                isa: Isa,
            ) -> Result<Box<dyn Emphasis<Self>>, ComposeError> {
                problem.exact_emphasis(policy, isa)
            }
        })*
    };
}
// Few settings have no great hurry: fewer than sixteen stand side by side as boxed parts alone.
composable! {
    f64 => one, Some(fused::softmax);
    Lanes<8> => eight, None;
    Lanes<16> => sixteen, Some(fused::softmax);
}

/// Builds a learner of a softmax policy as one loop, if there is one for its parts.
type Fused<R> = fn(&PartBuilder<R>, &Softmax) -> Result<Option<Built<R>>, ComposeError>;

type BuildIn<'a, R> = &'a dyn Fn(&Entry, &PartBuilder<R>) -> Result<Built<R>, ComposeError>;

/// What is the same for all parts of a learner.
struct Composer<'a, R: Real> {
    catalogue: &'a Catalogue,
    recipes: &'a [&'a Recipe],
    problems: &'a [KnownProblem],
    isa: Isa,
    /// Builds in the number type.
    build: BuildIn<'a, R>,
    fused: Option<Fused<R>>,
}

impl<R: Real> Clone for Composer<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Real> Copy for Composer<'_, R> {}

/// What a part is built with.
pub struct PartBuilder<'a, R: Real> {
    composer: Composer<'a, R>,
    entry: &'a Entry,
    /// This part in the recipe of each learner.
    parts: Vec<&'a PartRecipe>,
    /// What a critic is to tell.
    tells: Tells,
    /// The policy that it is for; `()` for the policy itself.
    policy: &'a dyn Any,
}

impl<R: Real> std::fmt::Debug for PartBuilder<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.parts.fmt(f)
    }
}

fn unfit<T>(message: impl Into<String>) -> Result<T, ComposeError> {
    Err(ComposeError::Unfit(message.into()))
}

fn compose<R: Real>(composer: Composer<R>) -> Result<Box<dyn Learner<R>>, ComposeError> {
    let [first, others @ ..] = composer.recipes else { return unfit("there is no recipe") };
    if composer.recipes.len() > R::LANES || !others.iter().all(|other| first.is_like(other)) {
        return unfit("learners side by side must differ in numbers alone");
    }
    if first.subset.is_some() && first.rule != RuleKind::All {
        return unfit("only a learner from all actions draws some of them");
    }
    let parts = composer.recipes.iter().map(|recipe| &recipe.policy).collect();
    let acts = composer.catalogue.find(Role::Policy, &first.policy.kind).and_then(|policy| policy.acts);
    if first.actions.is_some() && acts.is_some_and(|acts| acts != Acts::Finite) {
        return unfit(format!("the policy `{}` has no finitely many actions", first.policy.kind));
    }
    match composer.built(Role::Policy, parts, Tells::Delta, &())? {
        Built::Learner(learner) => Ok(learner),
        other => unfit(format!("the policy was built as {other:?}")),
    }
}

impl<'a, R: Real> Composer<'a, R> {
    fn recipe(&self) -> &'a Recipe {
        self.recipes[0]
    }

    /// The builder of a part, if the part makes sense.
    fn builder<'b>(
        self,
        role: Role,
        parts: Vec<&'b PartRecipe>,
        tells: Tells,
        policy: &'b dyn Any,
    ) -> Result<PartBuilder<'b, R>, ComposeError>
    where
        'a: 'b,
    {
        let kind = &parts[0].kind;
        let Some(entry) = self.catalogue.find(role, kind) else {
            return unfit(format!("there is no {} `{kind}`", role.word()));
        };
        let with = PartBuilder { composer: self, entry, parts, tells, policy };
        with.check()?;
        Ok(with)
    }

    fn built(
        self,
        role: Role,
        parts: Vec<&PartRecipe>,
        tells: Tells,
        policy: &dyn Any,
    ) -> Result<Built<R>, ComposeError> {
        let with = self.builder(role, parts, tells, policy)?;
        (self.build)(with.entry, &with)
    }

    /// A number in every lane. Lanes without a recipe do as the first.
    fn lanes(&self, numbers: &[f64]) -> R {
        R::from_lanes(|lane| *numbers.get(lane).unwrap_or(&numbers[0]))
    }
}

impl<'a, R: Real> PartBuilder<'a, R> {
    /// Refuses what the part has no use for.
    fn check(&self) -> Result<(), ComposeError> {
        let (part, Entry { declaration, .. }) = (self.parts[0], self.entry);
        let name = self.name();
        if let Some(number) = part.numbers.keys().find(|number| declaration.setting(number).is_none()) {
            return unfit(format!("{name} has no setting `{number}`"));
        }
        if part.features.is_some() && !declaration.features {
            return unfit(format!("{name} looks at no features"));
        }
        if part.inner.is_some() && declaration.inner.is_none() {
            return unfit(format!("{name} has no part inside it"));
        }
        if declaration.role == Role::Critic && !declaration.tells.contains(&self.tells) {
            return unfit(format!("{name} does not tell {}, which is needed here", self.tells.words()));
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("the {} `{}`", self.entry.role.word(), self.entry.name)
    }

    /// A setting, in every lane.
    pub fn number(&self, name: &str) -> Result<R, ComposeError> {
        let Some(setting) = self.entry.setting(name) else {
            return unfit(format!("{} has no setting `{name}`", self.name()));
        };
        let of = |part: &&PartRecipe| match part.numbers.get(name).copied().or(setting.default) {
            Some(number) => Ok(number),
            None => unfit(format!("{} needs `{name}`", self.name())),
        };
        let numbers = self.parts.iter().map(of).collect::<Result<Vec<f64>, _>>()?;
        let number = self.composer.lanes(&numbers);
        setting.range.check(setting.name, number)?;
        Ok(number)
    }

    /// The features that the part looks at.
    pub fn features(&self) -> Result<Features, ComposeError> {
        match self.parts[0].features.as_ref().or(self.composer.recipe().policy.features.as_ref()) {
            Some(features) => Ok(features.clone()),
            None => unfit("the policy needs features"),
        }
    }

    /// How many actions the policy has.
    pub fn actions(&self) -> Result<usize, ComposeError> {
        match self.composer.recipe().actions {
            Some(actions) => Ok(actions),
            None => unfit(format!("{} is for finitely many actions", self.name())),
        }
    }

    /// What a critic is to tell.
    pub fn tells(&self) -> Tells {
        self.tells
    }

    /// The problem that the part knows.
    pub fn problem(&self) -> Result<&'a KnownProblem, ComposeError> {
        match self.composer.problems.get(self.parts[0].problem) {
            Some(problem) => Ok(problem),
            None => unfit(format!("{} needs a problem that is known exactly", self.name())),
        }
    }

    /// The policy that the part is for, of any type.
    pub fn policy(&self) -> &'a dyn Any {
        self.policy
    }

    /// The critic of values inside the part.
    pub fn inner(&self) -> Result<Box<dyn Critic<R>>, ComposeError> {
        let Some(inner) = self.entry.inner else {
            return unfit(format!("{} has no part inside it", self.name()));
        };
        let default = PartRecipe::new(inner.default);
        let parts = self.parts.iter().map(|part| part.inner.as_deref().unwrap_or(&default)).collect();
        match self.composer.built(Role::Critic, parts, inner.tells, self.policy)? {
            Built::Critic(critic) => Ok(critic),
            other => unfit(format!("`{}` of {} was built as {other:?}", inner.name, self.name())),
        }
    }

    /// Puts a critic of values in its box.
    pub fn critic(&self, part: impl Critic<R> + 'static) -> Result<Built<R>, ComposeError> {
        Ok(Built::Critic(match R::LANES {
            1 => Box::new(part),
            _ => Box::new(Leaf { isa: self.composer.isa, part }),
        }))
    }

    /// Puts a critic of actions in its box.
    pub fn action_critic(&self, part: impl ActionCritic<R> + 'static) -> Result<Built<R>, ComposeError> {
        Ok(Built::ActionCritic(match R::LANES {
            1 => Box::new(part),
            _ => Box::new(Leaf { isa: self.composer.isa, part }),
        }))
    }

    /// Puts a critic of slopes in its box.
    pub fn slope_critic(&self, part: impl SlopeCritic<R> + 'static) -> Result<Built<R>, ComposeError> {
        Ok(Built::SlopeCritic(match R::LANES {
            1 => Box::new(part),
            _ => Box::new(Leaf { isa: self.composer.isa, part }),
        }))
    }

    /// Puts an emphasis in its box.
    pub fn emphasis(&self, part: impl Emphasis<R> + 'static) -> Result<Built<R>, ComposeError> {
        Ok(Built::Emphasis(match R::LANES {
            1 => Box::new(part),
            _ => Box::new(Leaf { isa: self.composer.isa, part }),
        }))
    }

    fn alpha(&self) -> R {
        let numbers: Vec<f64> = self.composer.recipes.iter().map(|recipe| recipe.alpha).collect();
        self.composer.lanes(&numbers)
    }

    /// The builder of the critic of values, if it is this part.
    fn declared_critic<'b, T: Declared>(
        &'b self,
        policy: &'b dyn Any,
    ) -> Result<Option<PartBuilder<'b, R>>, ComposeError> {
        let parts = self.composer.recipes.iter().map(|recipe| &recipe.critic).collect();
        let with = self.composer.builder(Role::Critic, parts, Tells::Delta, policy)?;
        Ok(with.entry.is::<T>().then_some(with))
    }

    /// The builder of the emphasis, if it is this part.
    fn declared_emphasis<'b, T: Declared>(
        &'b self,
        policy: &'b dyn Any,
    ) -> Result<Option<PartBuilder<'b, R>>, ComposeError> {
        let parts = self.composer.recipes.iter().map(|recipe| &recipe.emphasis).collect();
        let with = self.composer.builder(Role::Emphasis, parts, Tells::Delta, policy)?;
        Ok(with.entry.is::<T>().then_some(with))
    }

    fn critic_of(&self, tells: Tells, policy: &dyn Any) -> Result<Built<R>, ComposeError> {
        let parts = self.composer.recipes.iter().map(|recipe| &recipe.critic).collect();
        self.composer.built(Role::Critic, parts, tells, policy)
    }

    fn emphasis_of(&self, policy: &dyn Any) -> Result<Box<dyn Emphasis<R>>, ComposeError> {
        let parts = self.composer.recipes.iter().map(|recipe| &recipe.emphasis).collect();
        match self.composer.built(Role::Emphasis, parts, Tells::Delta, policy)? {
            Built::Emphasis(emphasis) => Ok(emphasis),
            other => unfit(format!("the emphasis was built as {other:?}")),
        }
    }

    /// By which rule the actor learns.
    pub fn rule(&self) -> RuleKind {
        self.composer.recipe().rule
    }

    /// The learner of a softmax policy as one loop, if there is one for its parts.
    pub(crate) fn fused(&self, policy: &Softmax) -> Result<Option<Built<R>>, ComposeError> {
        self.composer.fused.map_or(Ok(None), |fused| fused(self, policy))
    }

    /// A learner around a policy that draws its actions, from the action taken.
    pub fn stochastic<P: StochasticPolicy>(&self, policy: P) -> Result<Built<R>, ComposeError> {
        let Built::Critic(critic) = self.critic_of(Tells::Delta, &policy)? else {
            return unfit("a learner from the action taken needs a critic of values");
        };
        let emphasis = self.emphasis_of(&policy)?;
        Ok(Built::Learner(Box::new(ActorCritic::new(policy, critic, emphasis, self.alpha())?)))
    }

    /// A learner around a policy of finitely many actions, from all of them.
    pub fn finite<P: FinitePolicy>(&self, policy: P) -> Result<Built<R>, ComposeError> {
        let Built::ActionCritic(critic) = self.critic_of(Tells::Advantages, &policy)? else {
            return unfit("a learner from all actions needs a critic that compares them");
        };
        let emphasis = self.emphasis_of(&policy)?;
        let learner = AllActions::new(policy, critic, emphasis, self.alpha())?;
        Ok(Built::Learner(match self.composer.recipe().subset {
            Some(subset) => Box::new(learner.with_subset(subset.count, subset.seed, subset.run)?),
            None => Box::new(learner),
        }))
    }

    /// A learner around a policy that computes its action.
    pub fn deterministic<P: DeterministicPolicy>(&self, policy: P) -> Result<Built<R>, ComposeError> {
        let Built::SlopeCritic(critic) = self.critic_of(Tells::Slope, &policy)? else {
            return unfit("a deterministic policy needs a critic that tells ∂q/∂a");
        };
        let emphasis = self.emphasis_of(&policy)?;
        let learner = DeterministicActorCritic::new(policy, critic, emphasis, self.alpha())?;
        Ok(Built::Learner(Box::new(learner)))
    }

    /// Refuses the rule: a policy that cannot learn by it.
    pub fn wrong_rule(&self) -> Result<Built<R>, ComposeError> {
        unfit(match self.rule() {
            RuleKind::Taken => "this learner needs a policy that draws its actions",
            RuleKind::All => "a learner from all actions needs finitely many",
            RuleKind::Deterministic => "this learner needs a policy that computes its action",
        })
    }
}
