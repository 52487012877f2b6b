//! Methods, and the grids of settings that their lists make.

use super::evaluation::{check_evaluation, evaluates};
use super::fit::{
    check_actor, check_emphasis_beside, check_needs, check_policy, check_simulated, rule, rule_of,
};
use super::memory;
use super::part::{DEFAULT_FEATURES, PartChoice, entry_of, numbered, values};
use super::scenario::interest_text;
use super::{
    Axis, Cell, Grid, INITIAL_WEIGHTS, Length, MOST_KINDS, MOST_SETTINGS, Method, OwnInterest, Owner,
    Scenario, Structure, simulation,
};
use crate::experiment_file::{Actions, MethodFile, PartFile, PartValue, PolicyFile, Start, Vector, Vectors};
use crate::learners::learners;
use crate::one_or_list::{Located, OneOrList};
use emphatic::catalogue::{ALGORITHMS, Acts, Algorithm, Catalogue, Entry, Role, Signal};
use emphatic::learner::{ALPHA, WARM_UP};
use emphatic::{
    Composable, ComposeError, Declared, Features, Fixed, Isa, PartRecipe, Recipe, RuleKind, SettingError,
    Subset, TimeUnit,
};
use emphatic_problems::{Interest, Mistake, Number, Whole, softmax_weights, suggest};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;

/// One value of each list that is not of numbers, except for the critic's.
#[derive(Clone, Default)]
struct Choice<'a> {
    algorithm: Option<&'a Located<String>>,
    emphasis: Option<&'a PartChoice>,
    actor: Option<&'a PartChoice>,
    policy: Option<&'a Located<PolicyFile>>,
    /// How many policies before it in its list have the same kind.
    policy_ordinal: usize,
    policy_kind: Option<&'a Located<String>>,
    weights: Option<(&'a Vector, &'a Range<usize>)>,
    probabilities: Option<&'a Located<BTreeMap<String, Number>>>,
    interest: Option<&'a Located<Interest>>,
    actions: Option<&'a Located<Actions>>,
    subset: Option<&'a Located<Whole>>,
}

/// Reads a method, the one with this number, and adds its grids.
pub(super) fn read(
    file: &Spanned<MethodFile>,
    number: usize,
    length: Length,
    scenarios: &[Scenario],
    grids: &mut Vec<Grid>,
) -> Result<Method, Mistake> {
    let first = grids.len();
    let method = file.get_ref();
    match &method.combinations {
        None => add_grids(method, &file.span(), number, length, scenarios, grids)?,
        Some(list) if list.get_ref().is_empty() => {
            return Err(Mistake::at(&list.span(), "`combinations` is an empty list")
                .help("give at least one combination, or leave the key out"));
        }
        Some(list) => {
            for combination in list.get_ref() {
                let values = combination.get_ref();
                if values.name.is_some() || values.separate.is_some() || values.combinations.is_some() {
                    return Err(Mistake::at(
                        &combination.span(),
                        "a combination has values alone: no name, separate or combinations of its own",
                    ));
                }
                let method = method.with_combination(values);
                add_grids(&method, &combination.span(), number, length, scenarios, grids)?;
            }
        }
    }
    check_repeated(method, &grids[first..])?;
    let name = read_name(file, &grids[first..])?;
    let separate = method.separate.iter().flatten().map(|key| key.get_ref().clone()).collect();
    Ok(Method { name, separate })
}

/// Returns an error if two combinations have a setting in common, which would count twice among the best. Of very many settings only the first are compared.
fn check_repeated(method: &MethodFile, grids: &[Grid]) -> Result<(), Mistake> {
    const MOST: usize = 10_000;
    let Some(combinations) = &method.combinations else { return Ok(()) };
    // Grids that can share lanes, by the first of them, and their settings.
    let mut known: Vec<(&Grid, BTreeSet<String>)> = Vec::new();
    let settings = grids.iter().flat_map(|grid| grid.settings.clone().map(move |setting| (grid, setting)));
    for (grid, setting) in settings.take(MOST) {
        let alike =
            |(other, _): &(&Grid, _)| other.structure == grid.structure && other.weights == grid.weights;
        let k = known.iter().position(alike).unwrap_or(known.len());
        if k == known.len() {
            known.push((grid, BTreeSet::new()));
        }
        if !known[k].1.insert(format!("{:?}", grid.recipe(setting, 0, 0))) {
            return Err(Mistake::at(&combinations.span(), "two combinations have the same setting")
                .help("leave it out of one of them"));
        }
    }
    Ok(())
}

/// Returns the method's name; left out, it is that of the composition that all grids are.
fn read_name(file: &Spanned<MethodFile>, grids: &[Grid]) -> Result<String, Mistake> {
    let Some(name) = &file.get_ref().name else {
        return composition_name(grids).ok_or_else(|| {
            let message = format!("the method has several {} and no name", several(file.get_ref(), grids));
            Mistake::at(&file.span(), message).help("give it a `name`")
        });
    };
    match &name.values[..] {
        [Located { value, span }] if !name.is_list => match value.trim() {
            "" => Err(Mistake::at(span, "the name is empty")),
            _ => Ok(value.clone()),
        },
        _ => Err(Mistake::at(&name.span, "a method has one name, not a list")),
    }
}

/// Returns the name of the composition; `None` if the grids differ in it.
fn composition_name(grids: &[Grid]) -> Option<String> {
    let emphasis =
        |grid: &Grid| Catalogue::current().find(Role::Emphasis, &grid.structure.recipe.emphasis.kind);
    let actor = |grid: &Grid| {
        let actor = grid.structure.recipe.actor.as_ref();
        actor.and_then(|actor| Catalogue::current().find(Role::Actor, &actor.kind))
    };
    let critic = |grid: &Grid| {
        let critic = Some(&grid.structure.recipe.critic).filter(|_| is_evaluation(grid) && grid.has_critic);
        critic.and_then(|critic| Catalogue::current().find(Role::Critic, &critic.kind))
    };
    let name = |grid: &Grid| match grid.algorithm {
        Some(algorithm) => Some(algorithm.title),
        None => critic(grid).or_else(|| actor(grid)).or_else(|| emphasis(grid)).map(|entry| entry.class),
    };
    let first = grids.first().and_then(name)?;
    grids.iter().all(|grid| name(grid) == Some(first)).then(|| first.to_owned())
}

/// Returns what grids of different compositions have several of, in words.
fn several(file: &MethodFile, grids: &[Grid]) -> &'static str {
    let combinations = file.combinations.iter().flat_map(|list| list.get_ref()).map(Spanned::get_ref);
    let algorithms = std::iter::once(file).chain(combinations).filter_map(|file| file.algorithm.as_ref());
    let algorithms: BTreeSet<&String> =
        algorithms.flat_map(|list| &list.values).map(|name| &name.value).collect();
    if algorithms.len() > 1 {
        return "algorithms";
    }
    let differ =
        |kind: fn(&Grid) -> Option<&str>| grids.windows(2).any(|pair| kind(&pair[0]) != kind(&pair[1]));
    if grids.iter().all(is_evaluation) && differ(|grid| Some(&grid.structure.recipe.critic.kind)) {
        Role::Critic.plural()
    } else if differ(|grid| grid.structure.recipe.actor.as_ref().map(|actor| actor.kind.as_str())) {
        Role::Actor.plural()
    } else if differ(|grid| Some(&grid.structure.recipe.emphasis.kind)) {
        Role::Emphasis.plural()
    } else {
        "algorithms"
    }
}

/// Returns whether the policy of a grid is fixed.
fn is_evaluation(grid: &Grid) -> bool {
    grid.structure.recipe.policy.kind == Fixed::DECLARATION.name
}

/// Replaces every choice by one for each value of a list.
fn spread<'a, T: PartialEq>(
    choices: &mut Vec<Choice<'a>>,
    list: Option<&'a OneOrList<T>>,
    key: &str,
    set: impl Fn(&mut Choice<'a>, &'a Located<T>),
) -> Result<(), Mistake> {
    let Some(list) = list else { return Ok(()) };
    spread_over(choices, list.distinct(key)?, &list.span, set)
}

fn spread_over<'a, T>(
    choices: &mut Vec<Choice<'a>>,
    values: &'a [T],
    span: &Range<usize>,
    set: impl Fn(&mut Choice<'a>, &'a T),
) -> Result<(), Mistake> {
    check_kinds(choices.len(), values.len(), span)?;
    let with = |choice: &Choice<'a>, value| {
        let mut choice = choice.clone();
        set(&mut choice, value);
        choice
    };
    *choices = choices.iter().flat_map(|choice| values.iter().map(|value| with(choice, value))).collect();
    Ok(())
}

fn check_settings(settings: f64, span: &Range<usize>) -> Result<(), Mistake> {
    if settings <= MOST_SETTINGS as f64 {
        return Ok(());
    }
    let message = format!("the lists make {settings:.3e} settings; at most {MOST_SETTINGS} are possible");
    Err(Mistake::at(span, message).help("shorten some lists, or give `combinations`"))
}

/// Returns an error if there are too many values that are not numbers: each of them makes grids of its own.
pub(super) fn check_kinds(kinds: usize, times: usize, span: &Range<usize>) -> Result<(), Mistake> {
    let kinds = kinds.saturating_mul(times);
    if kinds <= MOST_KINDS {
        return Ok(());
    }
    let message =
        format!("the lists of words make {kinds} kinds of settings; at most {MOST_KINDS} are possible");
    Err(Mistake::at(span, message).help("shorten some lists, or give `combinations`"))
}

/// Adds the grids of a method, or of one of its combinations.
fn add_grids(
    file: &MethodFile,
    span: &Range<usize>,
    number: usize,
    length: Length,
    scenarios: &[Scenario],
    grids: &mut Vec<Grid>,
) -> Result<(), Mistake> {
    let emphases = part_choices(Role::Emphasis, &file.emphasis)?.concat();
    let actors = part_choices(Role::Actor, &file.actor)?.concat();
    let mut critics = part_choices(Role::Critic, &file.critic)?;
    if evaluates(file) {
        check_evaluation(file)?;
        if file.critic.is_none() && file.emphasis.is_some() {
            // Nobody asks about its values.
            critics = vec![PartChoice::all(Role::Critic, &PartFile::named("exact"), span)?];
        }
    }
    let choices = all_choices(file, span, [&emphases, &actors], &critics, scenarios.len())?;
    for (scenario_number, scenario) in scenarios.iter().enumerate() {
        let reader = GridReader { file, span, length, scenario, scenario_number };
        for (choice, critic) in &choices {
            let (policy, emphasis) = reader.policy_and_emphasis(choice)?;
            for policy in policy_choices(policy, choice, span)? {
                let grid = reader.grid(choice, &policy, &emphasis, critic)?;
                let first = grids.last().map_or(0, |grid| grid.settings.end);
                let counts = grid.axes.iter().map(|axis| axis.values.len() as f64);
                check_settings(first as f64 + counts.product::<f64>(), span)?;
                for mut grid in grid.split() {
                    let first = grids.last().map_or(0, |grid| grid.settings.end);
                    let count: usize = grid.axes.iter().map(|axis| axis.values.len()).product();
                    grid.settings = first..first + count;
                    grid.method = number;
                    check_built(&grid, &emphasis, critic)?;
                    let parts = [Some(*critic), Some(&emphasis), choice.actor];
                    memory::check(&grid, &parts.into_iter().flatten().collect::<Vec<_>>())?;
                    grids.push(grid);
                }
            }
        }
    }
    Ok(())
}

/// Returns an error if a part of a grid's learners refuses a number when it is built. What else depends on the problem and the policy is checked elsewhere.
fn check_built(grid: &Grid, emphasis: &PartChoice, critic: &PartChoice) -> Result<(), Mistake> {
    let mut recipe = grid.recipe(grid.settings.start, 0, 0);
    // Numbers are refused whatever the features are, and one takes no time.
    let one = Features::one_hot(1);
    recipe.emphasis = with_features(recipe.emphasis, &one);
    recipe.critic = with_features(recipe.critic, &one);
    let signal = critic.entry.signals.first().copied().unwrap_or(Signal::Delta);
    let built = f64::emphasis(learners(), &[&recipe], Isa::Plain).map(|_| ());
    refused(emphasis, built)?;
    refused(critic, f64::critic(learners(), &[&recipe], signal, Isa::Plain).map(|_| ()))
}

/// Returns the error of a part that could not be built because of a number.
fn refused(part: &PartChoice, built: Result<(), ComposeError>) -> Result<(), Mistake> {
    match built {
        Err(ComposeError::Setting(SettingError::OutOfRange { name, value, right, .. })) => {
            Err(part.refused(name, value, right))
        }
        _ => Ok(()),
    }
}

/// Returns a part, with those inside it, with these features in place of its own.
fn with_features(mut part: PartRecipe, features: &Features) -> PartRecipe {
    part.features = part.features.map(|_| features.clone());
    let inner = std::mem::take(&mut part.inner).into_iter();
    part.inner = inner.map(|(name, inner)| (name, with_features(inner, features))).collect();
    part
}

/// Returns one choice, with a critic, for each combination of values that are not numbers.
fn all_choices<'a>(
    file: &'a MethodFile,
    span: &Range<usize>,
    [emphases, actors]: [&'a [PartChoice]; 2],
    critics: &'a [Vec<PartChoice>],
    scenarios: usize,
) -> Result<Vec<(Choice<'a>, &'a PartChoice)>, Mistake> {
    if critics.is_empty() && evaluates(file) {
        return Err(Mistake::at(span, "the method has neither a critic nor an emphasis").help(
            "critic = { kind = \"td\", alpha_v = 0.1 } or emphasis = \"follow-on\" evaluates the target; a method that learns a policy has `algorithm` and `alpha`, too",
        ));
    }
    if critics.is_empty() {
        return Err(Mistake::at(span, "the method has no critic")
            .help("critic = \"exact\", or { kind = \"gtd\", alpha_v = 0.1, alpha_w = 0.01 }"));
    }
    let mut choices = vec![Choice::default()];
    spread(&mut choices, file.algorithm.as_ref(), "algorithm", |c, x| c.algorithm = Some(x))?;
    if file.emphasis.is_some() {
        spread_over(&mut choices, emphases, span, |c, x| c.emphasis = Some(x))?;
    }
    if file.actor.is_some() {
        spread_over(&mut choices, actors, span, |c, x| c.actor = Some(x))?;
    }
    spread(&mut choices, file.interest.as_ref(), "interest", |c, x| c.interest = Some(x))?;
    spread(&mut choices, file.actions.as_ref(), "actions", |c, x| c.actions = Some(x))?;
    spread(&mut choices, file.subset.as_ref(), "subset", |c, x| c.subset = Some(x))?;
    let policies: Vec<Option<(usize, &Located<PolicyFile>)>> = match &file.policy {
        Some(policies) => numbered_policies(policies.non_empty("policy")?).map(Some).collect(),
        None => vec![None],
    };
    let mut all = Vec::new();
    for policy in policies {
        for critics in critics {
            let mut choices = choices.clone();
            if let Some((ordinal, policy)) = policy {
                choices.iter_mut().for_each(|choice| choice.policy_ordinal = ordinal);
                spread_policy(&mut choices, policy)?;
            }
            check_kinds(choices.len(), critics.len(), span)?;
            let with_critics =
                |choice: Choice<'a>| critics.iter().map(move |critic| (choice.clone(), critic));
            all.extend(choices.into_iter().flat_map(with_critics));
            check_kinds(all.len(), scenarios, span)?;
        }
    }
    Ok(all)
}

/// Returns the choices that each table of a part leaves open.
fn part_choices(role: Role, parts: &Option<OneOrList<PartFile>>) -> Result<Vec<Vec<PartChoice>>, Mistake> {
    let Some(parts) = parts else { return Ok(Vec::new()) };
    let choices = |part: &Located<PartFile>| {
        let value = PartChoice::all(role, &part.value, &part.span)?;
        Ok(Located { value, span: part.span.clone() })
    };
    let values: Result<_, Mistake> = parts.non_empty(role.word())?.iter().map(choices).collect();
    numbered(role.word(), values?)
}

/// Returns policies, each with the number of those before it that are written with the same kind.
fn numbered_policies(list: &[Located<PolicyFile>]) -> impl Iterator<Item = (usize, &Located<PolicyFile>)> {
    let kinds = |policy: &Located<PolicyFile>| {
        let kinds = policy.value.part.kind.iter().flat_map(|kinds| &kinds.values);
        kinds.map(|kind| kind.value.clone()).collect::<Vec<_>>()
    };
    list.iter().enumerate().map(move |(k, policy)| {
        let own = kinds(policy);
        (list[..k].iter().filter(|before| kinds(before) == own).count(), policy)
    })
}

fn spread_policy<'a>(choices: &mut Vec<Choice<'a>>, policy: &'a Located<PolicyFile>) -> Result<(), Mistake> {
    let PolicyFile { part, start: Start { weights, probabilities } } = &policy.value;
    choices.iter_mut().for_each(|choice| choice.policy = Some(policy));
    spread(choices, part.kind.as_ref(), "policy.kind", |c, x| c.policy_kind = Some(x))?;
    spread(choices, probabilities.as_ref(), "policy.probabilities", |c, x| c.probabilities = Some(x))?;
    let Some(Vectors { values, span }) = weights else { return Ok(()) };
    if probabilities.is_some() {
        return Err(Mistake::at(span, "a policy starts from `weights` or from `probabilities`, not both"));
    }
    spread_over(choices, values, span, |choice, vector| choice.weights = Some((vector, span)))
}

/// Returns the policy that is used if none is named.
fn default_policy(acts: Acts) -> Result<&'static Entry, Mistake> {
    let found = Catalogue::current().of(Role::Policy).find(|entry| entry.acts == Some(acts));
    found.ok_or_else(|| Mistake::whole_file("the catalogue has no policy for this problem"))
}

/// Returns the policies of this kind that a choice leaves open.
fn policy_choices(
    kind: &'static Entry,
    choice: &Choice,
    span: &Range<usize>,
) -> Result<Vec<PartChoice>, Mistake> {
    let nothing = PartFile::default();
    let (file, table) = choice.policy.map_or((&nothing, span), |policy| (&policy.value.part, &policy.span));
    let place = choice.policy_kind.map_or(table, |kind| &kind.span);
    let mut choices = PartChoice::of_kind(kind, file, place, table)?;
    choices.iter_mut().for_each(|policy| policy.ordinal = choice.policy_ordinal);
    Ok(choices)
}

/// Returns the algorithm that is made of these parts, if it has a name. (OffPAC's trace belongs to it.)
fn algorithm_of(policy: &Entry, emphasis: &Entry, actor: Option<&Entry>) -> Option<&'static Algorithm> {
    let deterministic = policy.acts == Some(Acts::Deterministic);
    let actor = actor.map(|actor| actor.name).filter(|name| *name != "trace");
    let is_made_of = |known: &&Algorithm| {
        known.deterministic == deterministic
            && known.actor == actor
            && (known.emphasis == emphasis.name || known.takes_emphasis && emphasis.name == "follow-on")
    };
    ALGORITHMS.iter().find(is_made_of)
}

fn algorithm_named(name: &Located<String>) -> Result<&'static Algorithm, Mistake> {
    ALGORITHMS.iter().find(|known| known.name == name.value).ok_or_else(|| {
        Mistake::at(&name.span, format!("there is no algorithm `{}`", name.value))
            .maybe_help(suggest(&name.value, ALGORITHMS.iter().map(|known| known.name)))
    })
}

/// Reads the grids of a method in one scenario.
struct GridReader<'a> {
    file: &'a MethodFile,
    /// The place of the method, or of the combination.
    span: &'a Range<usize>,
    /// The length of a run.
    length: Length,
    scenario: &'a Scenario,
    scenario_number: usize,
}

/// The parts of a method, which fit together.
struct Parts<'a> {
    policy: &'a PartChoice,
    emphasis: &'a PartChoice,
    critic: &'a PartChoice,
    actor: Option<&'a PartChoice>,
    rule: RuleKind,
    /// How many actions are drawn at each step, if not all.
    subset: Option<usize>,
}

impl GridReader<'_> {
    /// Checks that the choices fit together and with the problem, and returns their grid, which has yet to be numbered.
    fn grid(
        &self,
        choice: &Choice,
        policy: &PartChoice,
        emphasis: &PartChoice,
        critic: &PartChoice,
    ) -> Result<Grid, Mistake> {
        let emphasis = match &self.file.lambda_a {
            Some(lambda_a) => &emphasis.clone().with_number("lambda_a", &part_values(lambda_a))?,
            None => emphasis,
        };
        let critic = &critic.with_actors(emphasis);
        check_needs(policy.entry, critic, &critic.span)?;
        let actor = choice.actor;
        if self.scenario.known().is_none() {
            [Some(critic), Some(emphasis), actor].into_iter().flatten().try_for_each(check_simulated)?;
        }
        if let Some(actor) = actor {
            check_needs(policy.entry, actor, &actor.span)?;
            check_emphasis_beside(actor, emphasis)?;
        }
        let rule = match actor {
            Some(actor) => rule_of(actor, choice.actions, policy.entry, critic)?,
            None => rule(choice.actions, policy.entry, critic)?,
        };
        let parts = Parts { policy, emphasis, critic, actor, rule, subset: self.subset(choice, rule)? };
        let interest = self.interest(choice)?;
        let weights = self.weights(choice, policy.entry)?;
        let axes = self.axes([Some(policy), Some(emphasis), actor, Some(critic)])?;

        let evaluates = evaluates(self.file);
        let has_critic = !evaluates || self.file.critic.is_some();
        let has_emphasis = !evaluates || self.file.emphasis.is_some();
        let algorithm = algorithm_of(policy.entry, emphasis.entry, actor.map(|actor| actor.entry));
        let algorithm = algorithm.filter(|_| !evaluates);
        let mut columns = parts.columns(algorithm);
        columns.retain(|(name, _)| has_critic || name != "critic");
        let own_interest = |interest: &OwnInterest| match (interest, choice.interest) {
            (OwnInterest::ByState(by_state), _) => format!("{by_state:?}"),
            (OwnInterest::Simulated(_), written) => {
                written.map_or(String::new(), |i| interest_text(&i.value))
            }
        };
        let own_interest = interest.as_ref().map(own_interest);
        columns.extend(own_interest.map(|text| ("method_interest".to_owned(), Cell::Text(text))));
        if choice.weights.is_some() || choice.probabilities.is_some() {
            columns.push((INITIAL_WEIGHTS.to_owned(), Cell::Text(format!("{weights:?}"))));
        }
        let structure = Structure { scenario: self.scenario_number, recipe: self.recipe(&parts)?, interest };
        let mut critic_features = Vec::new();
        for part in [Some(critic), Some(emphasis), actor].into_iter().flatten() {
            part.add_critic_features(part.entry.role, &[], &mut critic_features);
        }
        let mut actors_emphasis = Vec::new();
        critic.add_actors(Role::Critic, &[], &mut actors_emphasis);
        Ok(Grid {
            method: 0,
            structure,
            algorithm,
            weights,
            has_critic,
            has_emphasis,
            critic_features,
            actors_emphasis,
            ordinals: parts.ordinals(),
            columns,
            axes,
            settings: 0..0,
        })
    }

    /// Returns the recipe of the learner, without its numbers.
    fn recipe(&self, parts: &Parts) -> Result<Recipe, Mistake> {
        let mut recipe = parts.recipe(self.scenario)?;
        let unit = match self.length {
            Length::Episodes(_) => TimeUnit::Episodes,
            Length::Steps(_) => TimeUnit::Steps,
        };
        if let Some(target) = &self.scenario.evaluated {
            recipe.policy = target.recipe().map_err(|error| Mistake::at(self.span, error.to_string()))?;
        }
        recipe.warm_up = self.file.warm_up.as_ref().map(|_| (0.0, unit));
        Ok(recipe)
    }

    /// Returns the kind of policy and the emphasis that are meant.
    fn policy_and_emphasis(&self, choice: &Choice) -> Result<(&'static Entry, PartChoice), Mistake> {
        if evaluates(self.file) {
            return self.target_and_emphasis(choice);
        }
        let drawn = if self.scenario.source.actions().is_some() { Acts::Finite } else { Acts::Real };
        let kind = |kind: &Located<String>| entry_of(Role::Policy, &kind.value, &kind.span);
        let asked = choice.policy_kind.map(kind).transpose()?;
        let (policy, emphasis, place) = match (choice.algorithm, choice.emphasis) {
            (Some(name), emphasis) => {
                let algorithm = algorithm_named(name)?;
                let is_other = |given: &&PartChoice| given.entry.name != algorithm.emphasis;
                if let Some(emphasis) = emphasis.filter(is_other).filter(|_| !algorithm.takes_emphasis) {
                    let message = format!("the algorithm `{}` has its own emphasis", algorithm.name);
                    return Err(Mistake::at(&emphasis.span, message)
                        .help("give `algorithm`, or `emphasis` (and a policy), not both"));
                }
                check_actor(algorithm, name, choice.actor)?;
                let acts = if algorithm.deterministic { Acts::Deterministic } else { drawn };
                let default = default_policy(acts)?;
                // Any policy that acts in the same way fits as well.
                let policy = asked.filter(|asked| asked.acts == default.acts).unwrap_or(default);
                let default = PartFile::named(algorithm.emphasis);
                let default = || {
                    PartChoice::all(Role::Emphasis, &default, &name.span).map(|mut all| all.swap_remove(0))
                };
                (policy, emphasis.cloned().map_or_else(default, Ok)?, &name.span)
            }
            (None, Some(emphasis)) => {
                let policy = asked.map_or_else(|| default_policy(drawn), Ok)?;
                (policy, emphasis.clone(), &emphasis.span)
            }
            (None, None) if let Some(actor) = choice.actor => {
                let policy = asked.map_or_else(|| default_policy(drawn), Ok)?;
                let none = PartFile::named("none");
                (policy, PartChoice::all(Role::Emphasis, &none, &actor.span)?.swap_remove(0), &actor.span)
            }
            (None, None) => {
                let names: Vec<String> =
                    ALGORITHMS.iter().map(|known| format!("\"{}\"", known.name)).collect();
                return Err(Mistake::at(self.span, "the method has no algorithm")
                    .help(format!("algorithm = {}", names.join(" or "))));
            }
        };
        check_policy(policy, choice.policy_kind, asked, drawn, place)?;
        check_needs(policy, &emphasis, place)?;
        Ok((policy, emphasis))
    }

    /// Returns the kind of policy of a target that is evaluated, and the emphasis beside it.
    fn target_and_emphasis(&self, choice: &Choice) -> Result<(&'static Entry, PartChoice), Mistake> {
        let Some(policy) = learners().find(Role::Policy, Fixed::DECLARATION.name) else {
            return Err(Mistake::whole_file("the catalogue has no fixed policy"));
        };
        let none = || PartChoice::all(Role::Emphasis, &PartFile::named("none"), self.span);
        let emphasis = match choice.emphasis {
            Some(emphasis) => emphasis.clone(),
            None => none()?.swap_remove(0),
        };
        check_needs(policy, &emphasis, &emphasis.span)?;
        Ok((policy, emphasis))
    }

    fn interest(&self, choice: &Choice) -> Result<Option<OwnInterest>, Mistake> {
        let Some(Located { value, span }) = choice.interest else { return Ok(None) };
        let interest = match self.scenario.known() {
            Some(known) => {
                value.applied_to(known).map(|known| OwnInterest::ByState(known.interest().to_vec()))
            }
            None => simulation::interest(value).map(OwnInterest::Simulated),
        };
        interest.map(Some).map_err(|error| error.at(span))
    }

    /// Returns how many actions are drawn at each step; `None` if all are used.
    fn subset(&self, choice: &Choice, rule: RuleKind) -> Result<Option<usize>, Mistake> {
        let Some(Located { value: Whole(n), span }) = choice.subset else { return Ok(None) };
        if rule != RuleKind::All || choice.actor.is_some() {
            return Err(
                Mistake::at(span, "`subset` has no meaning here").help("it belongs to `actions = \"all\"`")
            );
        }
        let most = self.scenario.source.actions().unwrap_or(0);
        match usize::try_from(*n) {
            Ok(n) if (1..=most).contains(&n) => Ok(Some(n)),
            _ => Err(Mistake::at(
                span,
                format!("`subset` is {n}; it must lie between 1 and {most}, the number of actions"),
            )),
        }
    }

    /// Returns the policy's weights at the start.
    fn weights(&self, choice: &Choice, policy: &Entry) -> Result<Vec<f64>, Mistake> {
        let features = self.scenario.features("actor").map_or(0, |features| features.len());
        let len = features * policy.outputs.or(self.scenario.source.actions()).unwrap_or(1);
        if let Some(Located { value, span }) = choice.probabilities {
            // The logarithms of probabilities are weights of a softmax alone, though another policy may have as many.
            if policy.name != "softmax" {
                return Err(Mistake::at(span, "only a softmax policy starts from probabilities")
                    .help("give `weights`"));
            }
            let Some(known) = self.scenario.known() else {
                return Err(Mistake::at(
                    span,
                    "in a simulator a policy starts from `weights`, not from probabilities",
                ));
            };
            return softmax_weights(known, value).map_err(|error| error.at(span));
        }
        let Some((vector, span)) = choice.weights else { return Ok(vec![0.0; len]) };
        let weights = match vector {
            Vector::All(x) => vec![*x; len],
            Vector::Each(list) => list.clone(),
        };
        if weights.len() != len {
            let each = match policy.outputs {
                None => "one for each feature and action, the actions of a feature side by side".to_owned(),
                Some(1) => "one for each feature".to_owned(),
                Some(n) => format!("{n} for each feature, side by side: {}", policy.about),
            };
            let message = format!("{} weights for a policy that has {len}", weights.len());
            return Err(Mistake::at(span, message).help(each));
        }
        match weights.iter().find(|w| !w.is_finite()) {
            Some(w) => Err(Mistake::at(span, format!("a weight is {w}; weights must be finite"))),
            None => Ok(weights),
        }
    }

    /// Returns the numeric settings. The actor's come first, so that settings with the same step-size share lanes.
    fn axes(&self, parts: [Option<&PartChoice>; 4]) -> Result<Vec<Axis>, Mistake> {
        let mut axes = Vec::new();
        if let Some(alpha) = &self.file.alpha {
            let values = values(&ALPHA, &part_values(alpha))?;
            axes.push(Axis { column: ALPHA.name.to_owned(), setting: ALPHA, owner: Owner::Actor, values });
        } else if !evaluates(self.file) {
            return Err(Mistake::at(self.span, "the method needs `alpha`")
                .help("it is the actor's step-size; give a number, or a list to sweep"));
        }
        if let Some(warm_up) = &self.file.warm_up {
            let (column, values) = (WARM_UP.name.to_owned(), self.warm_up(warm_up)?);
            axes.push(Axis { column, setting: WARM_UP, owner: Owner::Actor, values });
        }
        for part in parts.into_iter().flatten() {
            part.add_axes(part.entry.role, &[], &mut axes)?;
        }
        Ok(axes)
    }

    /// Returns how many episodes or steps the actor waits.
    fn warm_up(&self, list: &OneOrList<Number>) -> Result<Vec<f64>, Mistake> {
        let (length, unit) = (self.length.count() as f64, self.length.word());
        let given = values(&WARM_UP, &part_values(list))?;
        if let Some((x, place)) = given.iter().zip(&list.values).find(|(x, _)| **x >= 1.0 && x.fract() != 0.0)
        {
            let message =
                format!("`warm_up` is {x}; it must be a share less than 1, or a whole number of {unit}");
            return Err(Mistake::at(&place.span, message));
        }
        let waits: Vec<f64> =
            given.iter().map(|x| if *x < 1.0 { (x * length).round() } else { *x }).collect();
        for (k, (wait, place)) in waits.iter().zip(&list.values).enumerate() {
            if *wait >= length {
                let message = format!(
                    "`warm_up` is {wait} {unit}, and a run has {length}: the actor would never learn"
                );
                return Err(
                    Mistake::at(&place.span, message).help("it must be less than the length of a run")
                );
            }
            if waits[..k].contains(wait) {
                let message = format!("two values of `warm_up` are {wait} {unit}");
                return Err(Mistake::at(&place.span, message).help("leave one of them out"));
            }
        }
        Ok(waits)
    }
}

impl Parts<'_> {
    /// Returns the columns of the table of settings that name the parts.
    fn columns(&self, algorithm: Option<&Algorithm>) -> Vec<(String, Cell)> {
        let Self { policy, emphasis, critic, actor, .. } = self;
        let features = |part: &PartChoice| {
            part.features.as_ref().map_or(DEFAULT_FEATURES.to_owned(), |features| features.value.clone())
        };
        let mut words: Vec<(&str, String)> = Vec::new();
        words.extend(algorithm.map(|algorithm| ("algorithm", algorithm.name.to_owned())));
        for (column, part) in [("policy", policy), ("emphasis", emphasis), ("critic", critic)] {
            words.push((column, part.entry.name.to_owned()));
        }
        words.extend(actor.map(|actor| ("actor", actor.entry.name.to_owned())));
        let parts = [
            ("critic_features", Some(critic)),
            ("emphasis_features", Some(emphasis)),
            ("actor_features", actor.as_ref()),
        ];
        for (column, part) in parts {
            words.extend(part.filter(|part| part.entry.features).map(|part| (column, features(part))));
        }
        let mut columns: Vec<_> =
            words.into_iter().map(|(column, word)| (column.to_owned(), Cell::Text(word))).collect();
        for part in [Some(critic), Some(emphasis), actor.as_ref()].into_iter().flatten() {
            let mut place = part.entry.role.word().to_owned();
            part.add_columns_inside(&mut place, &features(part), &mut columns);
        }
        columns.extend(
            (self.rule == RuleKind::All).then(|| ("actions".to_owned(), Cell::Text("all".to_owned()))),
        );
        columns.extend(self.subset.map(|n| ("subset".to_owned(), Cell::Number(n as f64))));
        columns
    }

    /// Returns the ordinals of all parts, by the columns that name them.
    fn ordinals(&self) -> Vec<(String, usize)> {
        let mut ordinals = Vec::new();
        for part in
            [Some(self.policy), Some(self.emphasis), Some(self.critic), self.actor].into_iter().flatten()
        {
            part.add_ordinals(part.entry.role.word(), &mut ordinals);
        }
        ordinals
    }

    /// Returns the recipe of the learner, without its numbers.
    fn recipe(&self, scenario: &Scenario) -> Result<Recipe, Mistake> {
        let (policy, critic) = (self.policy.recipe(scenario)?, self.critic.recipe(scenario)?);
        let emphasis = self.emphasis.recipe(scenario)?;
        let mut recipe = Recipe::new(self.rule, policy, critic, emphasis, 0.0);
        recipe.actor = self.actor.map(|actor| actor.recipe(scenario)).transpose()?;
        recipe.actions = scenario.source.actions();
        recipe.subset = self.subset.map(|count| Subset { count, seed: 0, run: 0 });
        Ok(recipe)
    }
}

/// Converts numbers to values of a part's table.
fn part_values(numbers: &OneOrList<Number>) -> OneOrList<PartValue> {
    numbers.map(|number| PartValue::Number(number.0))
}
