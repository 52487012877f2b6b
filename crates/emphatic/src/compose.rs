//! Composing: builds learners from recipes.

mod fused;

use crate::catalogue::{Acts, Entry, Inner, Need, Role, Signal};
use crate::learner::Rule;
use crate::theory::Objective;
use crate::{
    ActionCritic, ActorCritic, ActorRule, AllActions, Catalogue, ComposeError, Critic, Declared,
    DeterministicActorCritic, DeterministicPolicy, Emphasis, Features, FinitePolicy, Isa, KnownProblem,
    Lanes, Learner, LearnerBuilder, Part, PartRecipe, Policy, Real, Recipe, RuleKind, Schedule, SettingError,
    Settings, SlopeCritic, Softmax, StochasticPolicy, WithActionsActor, WithActor, WithIsa,
};
use std::any::Any;
use std::marker::PhantomData;

/// A part that was built.
pub enum Built<R> {
    /// A learner, which a policy builds around itself.
    Learner(Box<dyn Learner<R>>),
    /// A critic of values, which gives δ.
    Critic(Box<dyn Critic<R>>),
    /// A critic that gives the advantage of every action.
    ActionCritic(Box<dyn ActionCritic<R>>),
    /// A critic that gives ∂q/∂a.
    SlopeCritic(Box<dyn SlopeCritic<R>>),
    /// An emphasis.
    Emphasis(Box<dyn Emphasis<R>>),
    /// An actor that needs a critic of values.
    ActorByValues(Box<dyn ActorRule<R, dyn Critic<R>>>),
    /// An actor that needs a critic of actions.
    ActorByActions(Box<dyn ActorRule<R, dyn ActionCritic<R>>>),
    /// A schedule of step-sizes.
    Schedule(Box<Schedule<R>>),
}

impl<R> std::fmt::Debug for Built<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Self::Learner(_) => "a learner",
            Self::Critic(_) => "a critic of values",
            Self::ActionCritic(_) => "a critic of actions",
            Self::SlopeCritic(_) => "a critic of ∂q/∂a",
            Self::Emphasis(_) => "an emphasis",
            Self::ActorByValues(_) => "an actor that needs a critic of values",
            Self::ActorByActions(_) => "an actor that needs a critic of actions",
            Self::Schedule(_) => "a schedule",
        })
    }
}

/// A number type that learners are composed in.
pub trait Composable: Real {
    /// Builds learners, one in each lane; lanes without a recipe take the first. The recipes must differ in numbers alone.
    fn compose(
        catalogue: &Catalogue,
        recipes: &[&Recipe],
        problems: &[KnownProblem],
        isa: Isa,
    ) -> Result<Box<dyn Learner<Self>>, ComposeError>;

    /// Builds the emphasis of recipes alone, to be used with ratios of one's own. It cannot depend on the policy.
    fn emphasis(
        catalogue: &Catalogue,
        recipes: &[&Recipe],
        isa: Isa,
    ) -> Result<Box<dyn Emphasis<Self>>, ComposeError>;

    /// Builds the critic of recipes alone, as one that gives this signal.
    fn critic(
        catalogue: &Catalogue,
        recipes: &[&Recipe],
        signal: Signal,
        isa: Isa,
    ) -> Result<Built<Self>, ComposeError>;

    /// Returns a function that computes J_μ in a problem for the weights of policies of this form.
    fn objective(problem: &KnownProblem, policy: &dyn Any) -> Result<Box<dyn Objective<Self>>, ComposeError>;

    /// Returns the exact critic, which knows v_π, in a problem for policies of this form.
    fn exact_critic(problem: &KnownProblem, policy: &dyn Any) -> Result<Box<dyn Critic<Self>>, ComposeError>;

    /// Returns the exact emphasis m(S_t)/d_μ(S_t) in a problem for policies of this form.
    fn exact_emphasis(
        problem: &KnownProblem,
        policy: &dyn Any,
        isa: Isa,
    ) -> Result<Box<dyn Emphasis<Self>>, ComposeError>;
}

/// Builds a part in every number type that learners are composed in. A [`Declared`] part has such a builder.
pub trait Build: Any + Send + Sync {
    /// Builds the part of one learner.
    fn one(&self, with: &PartBuilder<f64>) -> Result<Built<f64>, ComposeError>;
    /// Builds it in sixteen lanes.
    fn sixteen(&self, with: &PartBuilder<Lanes<16>>) -> Result<Built<Lanes<16>>, ComposeError>;
}

/// The builder of a declared part.
pub(crate) type DeclaredBuilder<T> = PhantomData<fn() -> T>;

impl<T: Declared> Build for DeclaredBuilder<T> {
    fn one(&self, with: &PartBuilder<f64>) -> Result<Built<f64>, ComposeError> {
        T::build(with)
    }

    fn sixteen(&self, with: &PartBuilder<Lanes<16>>) -> Result<Built<Lanes<16>>, ComposeError> {
        // Unit tests are compiled apart from the library, and all parts in lanes take minutes.
        if cfg!(test) { incompatible("unit tests have no parts in lanes") } else { T::build(with) }
    }
}

macro_rules! composable {
    ($($number:ty => $method:ident;)*) => {
        $(impl Composable for $number {
            fn compose(
                catalogue: &Catalogue,
                recipes: &[&Recipe],
                problems: &[KnownProblem],
                isa: Isa,
            ) -> Result<Box<dyn Learner<Self>>, ComposeError> {
                let build = |entry: &Entry, with: &PartBuilder<Self>| entry.builder.$method(with);
                compose(Composer { catalogue, recipes, problems, isa, build: &build })
            }

            fn emphasis(
                catalogue: &Catalogue,
                recipes: &[&Recipe],
                isa: Isa,
            ) -> Result<Box<dyn Emphasis<Self>>, ComposeError> {
                let build = |entry: &Entry, with: &PartBuilder<Self>| entry.builder.$method(with);
                let composer = Composer { catalogue, recipes, problems: &[], isa, build: &build };
                composer.check()?;
                let parts = recipes.iter().map(|recipe| &recipe.emphasis).collect();
                composer.emphasis(parts, &())
            }

            fn critic(
                catalogue: &Catalogue,
                recipes: &[&Recipe],
                signal: Signal,
                isa: Isa,
            ) -> Result<Built<Self>, ComposeError> {
                let build = |entry: &Entry, with: &PartBuilder<Self>| entry.builder.$method(with);
                let composer = Composer { catalogue, recipes, problems: &[], isa, build: &build };
                composer.check()?;
                let parts = recipes.iter().map(|recipe| &recipe.critic).collect();
                composer.builder(Role::Critic, parts, signal, &())?.build()
            }

            fn objective(
                problem: &KnownProblem,
                policy: &dyn Any,
            ) -> Result<Box<dyn Objective<Self>>, ComposeError> {
                problem.objective(policy)
            }

            fn exact_critic(
                problem: &KnownProblem,
                policy: &dyn Any,
            ) -> Result<Box<dyn Critic<Self>>, ComposeError> {
                problem.exact_critic(policy)
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
composable! {
    f64 => one;
    Lanes<16> => sixteen;
}

type BuildIn<'a, R> = &'a dyn Fn(&Entry, &PartBuilder<R>) -> Result<Built<R>, ComposeError>;

/// What is the same for all parts of a learner.
#[derive(Clone, Copy)]
struct Composer<'a, R: Real> {
    catalogue: &'a Catalogue,
    recipes: &'a [&'a Recipe],
    problems: &'a [KnownProblem],
    isa: Isa,
    /// Builds a part in the number type.
    build: BuildIn<'a, R>,
}

/// What a part is built with.
pub struct PartBuilder<'a, R: Real> {
    composer: Composer<'a, R>,
    entry: &'a Entry,
    /// This part in the recipe of each learner.
    parts: Vec<&'a PartRecipe>,
    settings: Settings<R>,
    /// The signal that a critic is to give.
    signal: Signal,
    /// The policy that it is for; `()` for the policy itself.
    policy: &'a dyn Any,
}

impl<R: Real> std::fmt::Debug for PartBuilder<'_, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.parts.fmt(f)
    }
}

fn incompatible<T>(message: impl Into<String>) -> Result<T, ComposeError> {
    Err(ComposeError::Incompatible(message.into()))
}

fn compose<R: Real>(composer: Composer<R>) -> Result<Box<dyn Learner<R>>, ComposeError> {
    composer.check()?;
    let first = composer.recipe();
    if first.subset.is_some() && (first.rule != RuleKind::All || first.actor.is_some()) {
        return incompatible("only a learner from all actions draws some of them");
    }
    let parts = composer.recipes.iter().map(|recipe| &recipe.policy).collect();
    let acts = composer.catalogue.find(Role::Policy, &first.policy.kind).and_then(|policy| policy.acts);
    if first.actions.is_some() && acts.is_some_and(|acts| acts != Acts::Finite) {
        return incompatible(format!("the policy `{}` has no finitely many actions", first.policy.kind));
    }
    match composer.builder(Role::Policy, parts, Signal::Delta, &())?.build()? {
        Built::Learner(learner) => Ok(learner),
        other => incompatible(format!("the policy was built as {other:?}")),
    }
}

impl<'a, R: Real> Composer<'a, R> {
    fn recipe(&self) -> &'a Recipe {
        self.recipes[0]
    }

    /// Returns an error if the recipes do not fit in lanes side by side.
    fn check(&self) -> Result<(), ComposeError> {
        let [first, others @ ..] = self.recipes else { return incompatible("there is no recipe") };
        if self.recipes.len() > R::LANES || !others.iter().all(|other| first.is_like(other, self.catalogue)) {
            return incompatible("learners side by side must differ in numbers alone");
        }
        Ok(())
    }

    fn emphasis(
        self,
        parts: Vec<&PartRecipe>,
        policy: &dyn Any,
    ) -> Result<Box<dyn Emphasis<R>>, ComposeError> {
        match self.builder(Role::Emphasis, parts, Signal::Delta, policy)?.build()? {
            Built::Emphasis(emphasis) => Ok(emphasis),
            other => incompatible(format!("the emphasis was built as {other:?}")),
        }
    }

    /// Returns the builder of a part, or an error if its recipe does not fit its declaration.
    fn builder<'b>(
        self,
        role: Role,
        parts: Vec<&'b PartRecipe>,
        signal: Signal,
        policy: &'b dyn Any,
    ) -> Result<PartBuilder<'b, R>, ComposeError>
    where
        'a: 'b,
    {
        let kind = &parts[0].kind;
        let Some(entry) = self.catalogue.find(role, kind) else {
            return incompatible(format!("there is no {} `{kind}`", role.word()));
        };
        let settings = self.settings(entry, &parts)?;
        let with = PartBuilder { composer: self, entry, parts, settings, signal, policy };
        with.check()?;
        Ok(with)
    }

    /// Returns the settings of a part in every lane.
    fn settings(&self, entry: &Entry, parts: &[&PartRecipe]) -> Result<Settings<R>, SettingError> {
        let mut settings = Settings::new(entry.declaration);
        for name in parts[0].numbers.keys() {
            let Some(setting) = entry.setting(name) else {
                return Err(SettingError::Unknown { part: entry.title(), name: name.clone() });
            };
            // Recipes side by side differ in numbers alone, so all of them have this one.
            let numbers: Vec<f64> = parts.iter().map(|part| part.numbers[name]).collect();
            settings.set(setting.name, self.lanes(&numbers));
        }
        Ok(settings)
    }

    /// Returns a number in every lane. Lanes without a recipe take the first.
    fn lanes(&self, numbers: &[f64]) -> R {
        R::from_lanes(|lane| *numbers.get(lane).unwrap_or(&numbers[0]))
    }
}

/// Defines methods that box a part; in lanes it is compiled for wide registers too.
macro_rules! boxing {
    ($($(#[$doc:meta])* $method:ident => $role:ident;)*) => {
        $($(#[$doc])*
        pub fn $method(&self, part: impl $role<R> + 'static) -> Result<Built<R>, ComposeError> {
            // One learner needs no wide registers.
            Ok(Built::$role(if R::LANES == 1 {
                Box::new(part)
            } else {
                Box::new(WithIsa { isa: self.composer.isa, part })
            }))
        })*
    };
}

impl<'a, R: Real> PartBuilder<'a, R> {
    /// Returns an error if the recipe has something that the part does not.
    fn check(&self) -> Result<(), ComposeError> {
        let (part, Entry { declaration, .. }) = (self.parts[0], self.entry);
        let name = self.entry.title();
        if part.features.is_some() && !declaration.features {
            return incompatible(format!("{name} looks at no features"));
        }
        let declared = |inside: &&String| declaration.inner.iter().any(|inner| inner.name == **inside);
        if let Some(inside) = part.inner.keys().find(|inside| !declared(inside)) {
            return incompatible(format!("{name} has no part `{inside}` inside it"));
        }
        if declaration.role == Role::Critic && !declaration.signals.contains(&self.signal) {
            return incompatible(format!(
                "{name} does not tell {}, which is needed here",
                self.signal.words()
            ));
        }
        Ok(())
    }

    /// Returns a setting, in every lane.
    pub fn number(&self, name: &str) -> Result<R, ComposeError> {
        Ok(self.settings.number(name)?)
    }

    /// Returns all settings of the part.
    pub fn settings(&self) -> Settings<R> {
        self.settings.clone()
    }

    /// Returns the features of the part.
    pub fn features(&self) -> Result<Features, ComposeError> {
        match self.parts[0].features.as_ref().or(self.composer.recipe().policy.features.as_ref()) {
            Some(features) => Ok(features.clone()),
            None => incompatible("the policy needs features"),
        }
    }

    /// Returns the number of actions of the policy.
    pub fn actions(&self) -> Result<usize, ComposeError> {
        match self.composer.recipe().actions {
            Some(actions) => Ok(actions),
            None => incompatible(format!("{} is for finitely many actions", self.entry.title())),
        }
    }

    /// The signal that a critic is to give.
    pub fn signal(&self) -> Signal {
        self.signal
    }

    /// Returns the problem that the part is computed from.
    pub fn problem(&self) -> Result<&'a KnownProblem, ComposeError> {
        match self.composer.problems.get(self.parts[0].problem) {
            Some(problem) => Ok(problem),
            None => incompatible(format!("{} needs a problem that is known exactly", self.entry.title())),
        }
    }

    /// The policy that the part is for, of any type.
    pub fn policy(&self) -> &'a dyn Any {
        self.policy
    }

    /// Returns the declaration of the part of this name inside the part.
    fn declared_inside(&self, name: &str) -> Result<&'static Inner, ComposeError> {
        match self.entry.inner.iter().find(|inner| inner.name == name) {
            Some(inner) => Ok(inner),
            None => incompatible(format!("{} has no part `{name}` inside it", self.entry.title())),
        }
    }

    /// Builds the part of this name inside the part.
    fn inside(&self, name: &str) -> Result<Built<R>, ComposeError> {
        let inner = self.declared_inside(name)?;
        let default = PartRecipe::new(inner.default);
        let parts = self.parts.iter().map(|part| part.inner.get(name).unwrap_or(&default)).collect();
        self.composer.builder(inner.role, parts, inner.signal.unwrap_or(Signal::Delta), self.policy)?.build()
    }

    /// Builds the critic of values inside the part.
    pub fn critic_inside(&self, name: &str) -> Result<Box<dyn Critic<R>>, ComposeError> {
        match self.inside(name)? {
            Built::Critic(critic) => Ok(critic),
            other => self.other_inside(name, &other),
        }
    }

    /// Builds the emphasis inside the part, which gives F_t: its λ_a is 1.
    pub fn emphasis_inside(&self, name: &str) -> Result<Box<dyn Emphasis<R>>, ComposeError> {
        let inner = self.declared_inside(name)?;
        let default = PartRecipe::new(inner.default);
        let mut parts: Vec<PartRecipe> =
            self.parts.iter().map(|part| part.inner.get(name).unwrap_or(&default).clone()).collect();
        let has_lambda_a =
            |part: &PartRecipe| self.composer.catalogue.find(Role::Emphasis, &part.kind)?.setting("lambda_a");
        for part in &mut parts {
            if has_lambda_a(part).is_some() && part.numbers.insert("lambda_a".to_owned(), 1.0).is_some() {
                let title = self.entry.title();
                return incompatible(format!("`lambda_a` has no meaning in `{name}` of {title}"));
            }
        }
        self.composer.emphasis(parts.iter().collect(), self.policy)
    }

    /// Builds the schedule of the part's step-sizes.
    pub fn schedule(&self) -> Result<Schedule<R>, ComposeError> {
        match self.inside("schedule")? {
            Built::Schedule(schedule) => Ok(*schedule),
            other => self.other_inside("schedule", &other),
        }
    }

    fn other_inside<T>(&self, name: &str, built: &Built<R>) -> Result<T, ComposeError> {
        incompatible(format!("`{name}` of {} was built as {built:?}", self.entry.title()))
    }

    boxing! {
        /// Boxes a critic of values.
        critic => Critic;
        /// Boxes a critic of actions.
        action_critic => ActionCritic;
        /// Boxes a critic of slopes.
        slope_critic => SlopeCritic;
        /// Boxes an emphasis.
        emphasis => Emphasis;
    }

    /// Boxes an actor that needs a critic of values. (What takes long is in its critic.)
    pub fn actor_by_values(
        &self,
        actor: impl ActorRule<R, dyn Critic<R>> + 'static,
    ) -> Result<Built<R>, ComposeError> {
        Ok(Built::ActorByValues(Box::new(actor)))
    }

    /// Boxes an actor that needs a critic of actions.
    pub fn actor_by_actions(
        &self,
        actor: impl ActorRule<R, dyn ActionCritic<R>> + 'static,
    ) -> Result<Built<R>, ComposeError> {
        Ok(Built::ActorByActions(Box::new(actor)))
    }

    /// Sets the actor's step-size and its warm-up, in every lane.
    fn with_step_size<P: Policy, C: Part<R>, E: Emphasis<R>, K: Rule<R, P, C>>(
        &self,
        learner: LearnerBuilder<R, P, C, E, K>,
    ) -> LearnerBuilder<R, P, C, E, K> {
        let Composer { recipes, .. } = &self.composer;
        let numbers = |of: &dyn Fn(&Recipe) -> f64| {
            self.composer.lanes(&recipes.iter().map(|recipe| of(recipe)).collect::<Vec<_>>())
        };
        let learner = learner.alpha(numbers(&|recipe| recipe.alpha));
        let Some((_, unit)) = self.composer.recipe().warm_up else { return learner };
        learner.warm_up(numbers(&|recipe| recipe.warm_up.map_or(0.0, |(length, _)| length)), unit)
    }

    /// Returns the builder of the learner's critic or emphasis.
    fn beside<'b>(
        &'b self,
        role: Role,
        signal: Signal,
        policy: &'b dyn Any,
    ) -> Result<PartBuilder<'b, R>, ComposeError> {
        let of = |recipe: &&'a Recipe| if role == Role::Critic { &recipe.critic } else { &recipe.emphasis };
        self.composer.builder(role, self.composer.recipes.iter().map(of).collect(), signal, policy)
    }

    /// Returns whether the part is this one, not another of the same name.
    fn is<T: Declared>(&self) -> bool {
        self.entry.is::<T>()
    }

    fn build(&self) -> Result<Built<R>, ComposeError> {
        (self.composer.build)(self.entry, self)
    }

    fn critic_of(&self, signal: Signal, policy: &dyn Any) -> Result<Built<R>, ComposeError> {
        self.beside(Role::Critic, signal, policy)?.build()
    }

    fn emphasis_of(&self, policy: &dyn Any) -> Result<Box<dyn Emphasis<R>>, ComposeError> {
        self.composer.emphasis(self.composer.recipes.iter().map(|recipe| &recipe.emphasis).collect(), policy)
    }

    /// Builds the learner's actor; `None` if it is the rule's own.
    fn actor_of(&self, policy: &dyn Any) -> Result<Option<Built<R>>, ComposeError> {
        let actors = self.composer.recipes.iter().filter_map(|recipe| recipe.actor.as_ref());
        let actors: Vec<&PartRecipe> = actors.collect();
        let emphasis = &self.composer.recipe().emphasis.kind;
        let is_ignored = |entry: &Entry| entry.needs.contains(&Need::NoEmphasis) && emphasis != "none";
        let find = |part: &&PartRecipe| self.composer.catalogue.find(Role::Actor, &part.kind);
        if let Some(actor) = actors.first().and_then(find).filter(|entry| is_ignored(entry)) {
            let (name, words) = (actor.name, Need::NoEmphasis.words());
            return incompatible(format!("the actor `{name}` needs {words}: use `none`, not `{emphasis}`"));
        }
        if actors.is_empty() {
            return Ok(None);
        }
        self.composer.builder(Role::Actor, actors, Signal::Delta, policy)?.build().map(Some)
    }

    /// The rule by which the actor learns.
    pub fn rule(&self) -> RuleKind {
        self.composer.recipe().rule
    }

    /// Builds the learner of a softmax policy as one loop; `None` if there is no such loop for its parts.
    pub(crate) fn fused(&self, policy: &Softmax) -> Result<Option<Built<R>>, ComposeError> {
        if self.composer.recipe().actor.is_some() { Ok(None) } else { fused::softmax(self, policy) }
    }

    /// Builds a learner with a policy that draws its actions; it learns from the action taken.
    pub fn stochastic<P: StochasticPolicy>(&self, policy: P) -> Result<Built<R>, ComposeError> {
        let Built::Critic(critic) = self.critic_of(Signal::Delta, &policy)? else {
            return incompatible("a learner from the action taken needs a critic of values");
        };
        let emphasis = self.emphasis_of(&policy)?;
        Ok(Built::Learner(match self.actor_of(&policy)? {
            None => Box::new(self.with_step_size(ActorCritic::builder(policy, critic, emphasis)).build()?),
            Some(Built::ActorByValues(actor)) => {
                let learner = self.with_step_size(WithActor::builder(policy, critic, emphasis));
                Box::new(learner.actor(actor).build()?)
            }
            Some(other) => return incompatible(format!("{other:?} does not learn from the action taken")),
        }))
    }

    /// Builds a learner with a policy of finitely many actions; it learns from all of them.
    pub fn finite<P: FinitePolicy>(&self, policy: P) -> Result<Built<R>, ComposeError> {
        let Built::ActionCritic(critic) = self.critic_of(Signal::Advantages, &policy)? else {
            return incompatible("a learner from all actions needs a critic that compares them");
        };
        let emphasis = self.emphasis_of(&policy)?;
        match self.actor_of(&policy)? {
            None => {}
            Some(Built::ActorByActions(actor)) => {
                let learner = self.with_step_size(WithActionsActor::builder(policy, critic, emphasis));
                return Ok(Built::Learner(Box::new(learner.actor(actor).build()?)));
            }
            Some(other) => return incompatible(format!("{other:?} does not learn from all actions")),
        }
        let mut learner = self.with_step_size(AllActions::builder(policy, critic, emphasis));
        if let Some(subset) = self.composer.recipe().subset {
            learner = learner.subset(subset);
        }
        Ok(Built::Learner(Box::new(learner.build()?)))
    }

    /// Builds a learner with a policy that computes its action.
    pub fn deterministic<P: DeterministicPolicy>(&self, policy: P) -> Result<Built<R>, ComposeError> {
        let Built::SlopeCritic(critic) = self.critic_of(Signal::Slope, &policy)? else {
            return incompatible("a deterministic policy needs a critic that tells ∂q/∂a");
        };
        if self.actor_of(&policy)?.is_some() {
            return incompatible("a deterministic policy follows ∂q/∂a: it has no other actor");
        }
        let emphasis = self.emphasis_of(&policy)?;
        let learner = self.with_step_size(DeterministicActorCritic::builder(policy, critic, emphasis));
        Ok(Built::Learner(Box::new(learner.build()?)))
    }

    /// Returns the error of a policy that cannot learn by the rule.
    pub fn wrong_rule(&self) -> Result<Built<R>, ComposeError> {
        incompatible(match self.rule() {
            RuleKind::Taken => "this learner needs a policy that draws its actions",
            RuleKind::All => "a learner from all actions needs finitely many",
            RuleKind::Deterministic => "this learner needs a policy that computes its action",
        })
    }
}
