//! Methods, and the settings their lists make.

use super::{Cell, MOST_KINDS, MOST_SETTINGS, Method, Scenario};
use crate::file::{
    Actions, Algorithm, Critic, CriticFile, CriticKind, EmphasisKind, FeaturesKind, MethodFile, PolicyFile,
    PolicyKind, ValuesKind, Vector, Vectors,
};
use crate::sweep::{Located, Sweep};
use emphatic::{PartRecipe, Recipe, RuleKind, Subset};
use emphatic_problems::Wrong;
use emphatic_problems::{Interest, Number, Whole};
use emphatic_problems::{Unfit, World};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use toml::Spanned;

/// What settings that share the lanes of one learner have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Structure {
    pub(crate) scenario: usize,
    /// What the learner is made of, without its numbers.
    pub(crate) recipe: Recipe,
    /// The method's own interest.
    pub(crate) interest: Option<Vec<f64>>,
}

/// The values of one numeric setting.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    pub(crate) owner: Owner,
    pub(crate) values: Vec<f64>,
}

/// Whose setting it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Actor,
    Emphasis,
    Critic,
    /// The critic of values behind the critic.
    Values,
}

/// A grid of settings that differ in numbers alone.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) method: usize,
    pub(crate) structure: Structure,
    algorithm: Algorithm,
    /// The policy's weights at the start.
    pub(crate) weights: Vec<f64>,
    /// What is written in the table of settings, beside the numbers.
    pub(crate) columns: Vec<(&'static str, Cell)>,
    pub(crate) axes: Vec<Axis>,
    /// The numbers of its settings; the last axis varies fastest.
    pub(crate) settings: Range<usize>,
}

impl Variant {
    /// The numbers of a setting, each with its axis.
    fn numbers(&self, setting: usize) -> impl Iterator<Item = (&Axis, f64)> {
        let (index, mut stride) = (setting - self.settings.start, self.settings.len());
        self.axes.iter().map(move |axis| {
            stride /= axis.values.len();
            (axis, axis.values[index / stride % axis.values.len()])
        })
    }

    /// The numbers of a setting by name.
    pub(crate) fn values(&self, setting: usize) -> impl Iterator<Item = (&'static str, f64)> {
        self.numbers(setting).map(|(axis, x)| (axis.name, x))
    }

    /// What a setting's learner is made of. Actions are drawn by the stream of `drawn`.
    pub(crate) fn recipe(&self, setting: usize, drawn: Subset) -> Recipe {
        let mut recipe = self.structure.recipe.clone();
        recipe.subset = recipe.subset.map(|subset| Subset { count: subset.count, ..drawn });
        for (axis, x) in self.numbers(setting) {
            let part = match axis.owner {
                Owner::Actor => {
                    recipe.alpha = x;
                    continue;
                }
                Owner::Emphasis => Some(&mut recipe.emphasis),
                Owner::Critic => Some(&mut recipe.critic),
                Owner::Values => recipe.critic.inner.as_deref_mut(),
            };
            part.into_iter().for_each(|part| _ = part.numbers.insert(axis.name.to_owned(), x));
        }
        recipe
    }
}

/// What is chosen before numbers are: one value of each list that is not of numbers.
#[derive(Clone, Default)]
struct Draft<'a> {
    algorithm: Option<&'a Located<Algorithm>>,
    emphasis: Option<&'a Located<EmphasisKind>>,
    policy_kind: Option<&'a Located<PolicyKind>>,
    weights: Option<(&'a Vector, &'a Range<usize>)>,
    probabilities: Option<&'a Located<BTreeMap<String, Number>>>,
    critic: Option<&'a (CriticFile, Range<usize>)>,
    critic_kind: Option<&'a Located<CriticKind>>,
    features: Option<&'a Located<FeaturesKind>>,
    values: Option<&'a Located<ValuesKind>>,
    interest: Option<&'a Located<Interest>>,
    actions: Option<&'a Located<Actions>>,
    subset: Option<&'a Located<Whole>>,
}

/// Understands a method, and adds its settings.
pub(super) fn method(
    file: &Spanned<MethodFile>,
    number: usize,
    scenarios: &[Scenario],
    variants: &mut Vec<Variant>,
) -> Result<Method, Wrong> {
    let first = variants.len();
    let whole = file.get_ref();
    match &whole.combinations {
        None => grid(whole, &file.span(), number, scenarios, variants)?,
        Some(list) if list.get_ref().is_empty() => {
            return Err(Wrong::at(&list.span(), "`combinations` is an empty list")
                .help("give at least one combination, or leave the key out"));
        }
        Some(list) => {
            for combination in list.get_ref() {
                let part = combination.get_ref();
                if part.name.is_some() || part.separate.is_some() || part.combinations.is_some() {
                    return Err(Wrong::at(
                        &combination.span(),
                        "a combination has values alone: no name, separate or combinations of its own",
                    ));
                }
                grid(&overlay(whole, part), &combination.span(), number, scenarios, variants)?;
            }
        }
    }
    let name = match &whole.name {
        Some(name) => {
            let Located { value, span } = name.single("name")?;
            if value.trim().is_empty() {
                return Err(Wrong::at(span, "the name is empty"));
            }
            value.clone()
        }
        None => display_name(&variants[first..]).ok_or_else(|| {
            Wrong::at(&file.span(), "the method has several algorithms and no name").help("give it a `name`")
        })?,
    };
    let separate = whole.separate.iter().flatten().map(|key| key.get_ref().clone()).collect();
    Ok(Method { name, separate })
}

/// The name of the algorithm that all variants have.
fn display_name(variants: &[Variant]) -> Option<String> {
    let name = |v: &Variant| match v.algorithm {
        Algorithm::OffPac => "OffPAC",
        Algorithm::Ace => "ACE",
        Algorithm::TrueAce => "True-ACE",
        Algorithm::Dpg => "DPG",
        Algorithm::TrueDpge => "True-DPGE",
    };
    let first = variants.first().map(name)?;
    variants.iter().all(|v| name(v) == first).then(|| first.to_owned())
}

/// A method's values with a combination's in their place. A critic without a kind adds to the method's.
fn overlay(whole: &MethodFile, part: &MethodFile) -> MethodFile {
    macro_rules! either {
        ($($key:ident),*) => {
            MethodFile {
                $($key: part.$key.clone().or_else(|| whole.$key.clone()),)*
                policy: overlay_tables(&whole.policy, &part.policy, |_| false, overlay_policy),
                critic: overlay_tables(&whole.critic, &part.critic, has_kind, overlay_critic),
                combinations: None,
            }
        };
    }
    either!(name, algorithm, emphasis, interest, alpha, lambda_a, actions, subset, separate)
}

fn overlay_tables<T: Clone>(
    whole: &Option<Sweep<T>>,
    part: &Option<Sweep<T>>,
    replaces: impl Fn(&T) -> bool,
    overlay: impl Fn(&T, &T) -> T,
) -> Option<Sweep<T>> {
    let (Some(whole), Some(part)) = (whole, part) else { return part.clone().or_else(|| whole.clone()) };
    let mut all = Sweep { values: Vec::new(), ..part.clone() };
    for over in &part.values {
        if replaces(&over.value) {
            all.values.push(over.clone());
            continue;
        }
        let with = |under: &Located<T>| Located {
            value: overlay(&under.value, &over.value),
            span: over.span.clone(),
        };
        all.values.extend(whole.values.iter().map(with));
    }
    Some(all)
}

fn overlay_policy(whole: &PolicyFile, part: &PolicyFile) -> PolicyFile {
    let start = part.weights.is_some() || part.probabilities.is_some();
    let below =
        if start { PolicyFile { kind: whole.kind.clone(), ..PolicyFile::default() } } else { whole.clone() };
    PolicyFile {
        kind: part.kind.clone().or(below.kind),
        weights: part.weights.clone().or(below.weights),
        probabilities: part.probabilities.clone().or(below.probabilities),
    }
}

fn has_kind(critic: &Critic) -> bool {
    !matches!(critic, Critic::Table(table) if table.kind.is_none())
}

fn overlay_critic(whole: &Critic, part: &Critic) -> Critic {
    let (whole, part) = (critic_table(whole), critic_table(part));
    macro_rules! either {
        ($($key:ident),*) => {
            Critic::Table(Box::new(CriticFile {
                $($key: part.$key.clone().or_else(|| whole.$key.clone()),)*
            }))
        };
    }
    either!(kind, features, alpha_v, alpha_w, lambda, values, alpha_q, alpha_h, lambda_q, alpha_u)
}

/// A critic as a table.
fn critic_table(critic: &Critic) -> CriticFile {
    match critic {
        Critic::Table(table) => (**table).clone(),
        Critic::Kind(kind) => {
            let values = vec![Located { value: *kind, span: 0..0 }];
            let kind = Sweep { values, span: 0..0, is_list: false };
            CriticFile { kind: Some(kind), ..CriticFile::default() }
        }
    }
}

/// Every draft with every value of a list.
fn spread<'a, T>(
    drafts: &mut Vec<Draft<'a>>,
    sweep: Option<&'a Sweep<T>>,
    key: &str,
    set: impl Fn(&mut Draft<'a>, &'a Located<T>),
) -> Result<(), Wrong> {
    let Some(sweep) = sweep else { return Ok(()) };
    let values = sweep.several(key)?;
    check_kinds(drafts.len(), values.len(), &sweep.span)?;
    *drafts = drafts
        .iter()
        .flat_map(|draft| {
            values.iter().map(|value| {
                let mut draft = draft.clone();
                set(&mut draft, value);
                draft
            })
        })
        .collect();
    Ok(())
}

fn check_count(settings: f64, span: &Range<usize>) -> Result<(), Wrong> {
    if settings <= MOST_SETTINGS as f64 {
        return Ok(());
    }
    let message = format!("the lists make {settings:.3e} settings; at most {MOST_SETTINGS} are possible");
    Err(Wrong::at(span, message).help("shorten some lists, or give `combinations`"))
}

/// The same for what is not a number: every value of it makes grids of their own.
fn check_kinds(kinds: usize, times: usize, span: &Range<usize>) -> Result<(), Wrong> {
    let kinds = kinds.saturating_mul(times);
    if kinds <= MOST_KINDS {
        return Ok(());
    }
    let message =
        format!("the lists of words make {kinds} kinds of settings; at most {MOST_KINDS} are possible");
    Err(Wrong::at(span, message).help("shorten some lists, or give `combinations`"))
}

/// Adds the settings of one grid.
fn grid(
    file: &MethodFile,
    span: &Range<usize>,
    number: usize,
    scenarios: &[Scenario],
    variants: &mut Vec<Variant>,
) -> Result<(), Wrong> {
    let mut drafts = vec![Draft::default()];
    spread(&mut drafts, file.algorithm.as_ref(), "algorithm", |d, x| d.algorithm = Some(x))?;
    spread(&mut drafts, file.emphasis.as_ref(), "emphasis", |d, x| d.emphasis = Some(x))?;
    spread(&mut drafts, file.interest.as_ref(), "interest", |d, x| d.interest = Some(x))?;
    spread(&mut drafts, file.actions.as_ref(), "actions", |d, x| d.actions = Some(x))?;
    spread(&mut drafts, file.subset.as_ref(), "subset", |d, x| d.subset = Some(x))?;
    let tables: Vec<PolicyFile> = match &file.policy {
        Some(policies) => policies.several("policy")?.iter().map(|p| p.value.clone()).collect(),
        None => vec![PolicyFile::default()],
    };
    let critics: Vec<(CriticFile, Range<usize>)> = match &file.critic {
        Some(critics) => {
            critics.several("critic")?.iter().map(|c| (critic_table(&c.value), c.span.clone())).collect()
        }
        None => {
            return Err(Wrong::at(span, "the method has no critic")
                .help("critic = \"exact\", or { kind = \"gtd\", alpha_v = 0.1, alpha_w = 0.01 }"));
        }
    };
    let mut all = Vec::new();
    for policy in &tables {
        for place @ (critic, _) in &critics {
            let mut drafts = drafts.clone();
            drafts.iter_mut().for_each(|d| d.critic = Some(place));
            spread_policy(&mut drafts, policy)?;
            spread(&mut drafts, critic.kind.as_ref(), "critic.kind", |d, x| d.critic_kind = Some(x))?;
            spread(&mut drafts, critic.features.as_ref(), "critic.features", |d, x| d.features = Some(x))?;
            spread(&mut drafts, critic.values.as_ref(), "critic.values", |d, x| d.values = Some(x))?;
            all.extend(drafts);
            check_kinds(all.len(), scenarios.len(), span)?;
        }
    }
    for (scenario, scene) in scenarios.iter().enumerate() {
        for draft in &all {
            let mut variant = resolve(draft, file, span, scenario, scene)?;
            let count: f64 = variant.axes.iter().map(|axis| axis.values.len() as f64).product();
            let first = variants.last().map_or(0, |v| v.settings.end);
            check_count(first as f64 + count, span)?;
            variant.settings = first..first + count as usize;
            variant.method = number;
            variants.push(variant);
        }
    }
    Ok(())
}

fn spread_policy<'a>(drafts: &mut Vec<Draft<'a>>, policy: &'a PolicyFile) -> Result<(), Wrong> {
    spread(drafts, policy.kind.as_ref(), "policy.kind", |d, x| d.policy_kind = Some(x))?;
    spread(drafts, policy.probabilities.as_ref(), "policy.probabilities", |d, x| d.probabilities = Some(x))?;
    let Some(Vectors { values, span }) = &policy.weights else { return Ok(()) };
    if policy.probabilities.is_some() {
        return Err(Wrong::at(span, "a policy starts from `weights` or from `probabilities`, not both"));
    }
    check_kinds(drafts.len(), values.len(), span)?;
    let with = |draft: &Draft<'a>, vector| Draft { weights: Some((vector, span)), ..draft.clone() };
    *drafts = drafts.iter().flat_map(|draft| values.iter().map(move |vector| with(draft, vector))).collect();
    Ok(())
}

/// Which policies and emphases an algorithm is a name for.
fn parts(algorithm: Algorithm) -> (bool, EmphasisKind) {
    match algorithm {
        Algorithm::OffPac => (true, EmphasisKind::None),
        Algorithm::Ace => (true, EmphasisKind::FollowOn),
        Algorithm::TrueAce => (true, EmphasisKind::Exact),
        Algorithm::Dpg => (false, EmphasisKind::None),
        Algorithm::TrueDpge => (false, EmphasisKind::Exact),
    }
}

/// The name of a composition.
fn algorithm(policy: PolicyKind, emphasis: EmphasisKind) -> Algorithm {
    match (policy, emphasis) {
        (PolicyKind::Deterministic, EmphasisKind::Exact) => Algorithm::TrueDpge,
        (PolicyKind::Deterministic, _) => Algorithm::Dpg,
        (_, EmphasisKind::None) => Algorithm::OffPac,
        (_, EmphasisKind::FollowOn) => Algorithm::Ace,
        (_, EmphasisKind::Exact) => Algorithm::TrueAce,
    }
}

/// Checks that the choices fit together and with the problem.
fn resolve(
    draft: &Draft,
    file: &MethodFile,
    span: &Range<usize>,
    scenario: usize,
    scene: &Scenario,
) -> Result<Variant, Wrong> {
    let world = &scene.world;
    let (policy, emphasis) = policy_and_emphasis(draft, span, world)?;
    let Draft { critic_kind, values, features, actions, .. } = draft;
    let critic_table = draft.critic.map_or(span, |(_, place)| place);
    let Some(Located { value: critic, span: critic_span }) = *critic_kind else {
        return Err(Wrong::at(critic_table, "the critic has no kind")
            .help("kind = \"exact\", \"gtd\", \"gq\" or \"advantage\""));
    };
    let critic_span = if critic_span.is_empty() { critic_table } else { critic_span };
    let compares = matches!(critic, CriticKind::Gq | CriticKind::Advantage);
    let refuse = |here: &Range<usize>, key: &str, right: &str| {
        Err(Wrong::at(here, format!("`{key}` has no meaning here")).help(right.to_owned()))
    };
    let actions = match actions {
        Some(Located { value: Actions::Taken, span }) if compares => {
            return refuse(
                span,
                "actions",
                "this critic compares actions: the actor learns from all of them",
            );
        }
        Some(Located { value: Actions::All, span }) if *critic == CriticKind::Gtd => {
            return refuse(
                span,
                "actions",
                "GTD(λ) has no values of actions: use `exact`, `gq` or `advantage`",
            );
        }
        Some(Located { value: Actions::All, span }) if policy != PolicyKind::Softmax => {
            return refuse(span, "actions", "a real action has no list of alternatives");
        }
        Some(Located { value, .. }) => *value,
        None if compares => Actions::All,
        None => Actions::Taken,
    };
    if compares && policy != PolicyKind::Softmax {
        let message = format!(
            "the critic `{}` compares named actions; this problem's action is a number",
            critic.word()
        );
        return Err(Wrong::at(critic_span, message).help("use `exact` or `gtd`"));
    }
    if *critic == CriticKind::Gtd && policy == PolicyKind::Deterministic {
        let message = "a deterministic policy needs ∂q/∂a, which GTD(λ) does not have";
        return Err(Wrong::at(critic_span, message).help("use the exact critic"));
    }
    if let (Some(values), false) = (values, compares) {
        return refuse(&values.span, "values", "it belongs to the critics `gq` and `advantage`");
    }
    let values = match (critic, values) {
        (CriticKind::Exact, _) => ValuesKind::Exact,
        (CriticKind::Gtd, _) => ValuesKind::Gtd,
        (_, Some(values)) => values.value,
        (_, None) => ValuesKind::Gtd,
    };
    if let (Some(features), CriticKind::Exact) = (features, critic) {
        return refuse(&features.span, "features", "the exact critic sees the states themselves");
    }
    let features = features.map_or(FeaturesKind::Critic, |f| f.value);
    let subset = subset(draft, actions, world)?;
    let interest = match draft.interest {
        Some(Located { value, span }) => {
            Some(world.with_interest(value).map_err(at(span))?.interest().to_vec())
        }
        None => None,
    };
    let weights = weights(draft, policy, world)?;
    let axes = axes(draft, file, span, emphasis, *critic, values)?;

    let word = |name, word: &str| (name, Cell::Text(word.to_owned()));
    let mut columns = vec![
        word("algorithm", algorithm(policy, emphasis).word()),
        word("policy", policy.word()),
        word("emphasis", emphasis.word()),
        word("critic", critic.word()),
    ];
    if *critic != CriticKind::Exact {
        columns.push(word("critic_features", features.word()));
    }
    if compares {
        columns.push(word("critic_values", values.word()));
    }
    if actions == Actions::All {
        columns.push(word("actions", actions.word()));
    }
    columns.extend(subset.map(|n| ("subset", Cell::Number(n as f64))));
    columns.extend(interest.as_ref().map(|i| ("method_interest", Cell::Text(format!("{i:?}")))));
    if draft.weights.is_some() || draft.probabilities.is_some() {
        columns.push(("initial_weights", Cell::Text(format!("{weights:?}"))));
    }
    let recipe = recipe(scene, policy, emphasis, *critic, values, features, actions, subset);
    let structure = Structure { scenario, recipe, interest };
    let name = algorithm(policy, emphasis);
    Ok(Variant { method: 0, structure, algorithm: name, weights, columns, axes, settings: 0..0 })
}

fn at(span: &Range<usize>) -> impl Fn(Unfit) -> Wrong {
    move |Unfit { message, help }| Wrong::at(span, message).maybe_help(help)
}

fn policy_and_emphasis(
    draft: &Draft,
    span: &Range<usize>,
    world: &World,
) -> Result<(PolicyKind, EmphasisKind), Wrong> {
    let stochastic = if world.actions().is_empty() { PolicyKind::Gaussian } else { PolicyKind::Softmax };
    let fits = |kind: PolicyKind| (kind == PolicyKind::Softmax) == (stochastic == PolicyKind::Softmax);
    let (wanted, emphasis, place) = match (draft.algorithm, draft.emphasis) {
        (Some(name), None) => {
            let (is_stochastic, emphasis) = parts(name.value);
            (if is_stochastic { stochastic } else { PolicyKind::Deterministic }, emphasis, &name.span)
        }
        (None, Some(emphasis)) => {
            (draft.policy_kind.map_or(stochastic, |kind| kind.value), emphasis.value, &emphasis.span)
        }
        (Some(_), Some(emphasis)) => {
            return Err(Wrong::at(&emphasis.span, "an algorithm has its own emphasis")
                .help("give `algorithm`, or `emphasis` (and a policy), not both"));
        }
        (None, None) => {
            return Err(Wrong::at(span, "the method has no algorithm")
                .help("algorithm = \"offpac\", \"ace\", \"true-ace\", \"dpg\" or \"true-dpge\""));
        }
    };
    if !fits(wanted) {
        let (has, needs) = match stochastic {
            PolicyKind::Softmax => ("named actions", "a softmax policy (offpac, ace or true-ace)"),
            _ => ("one real action", "a gaussian or deterministic policy"),
        };
        let place = draft.policy_kind.map_or(place, |kind| &kind.span);
        let message = format!("a {} policy does not fit this problem, which has {has}", wanted.word());
        return Err(Wrong::at(place, message).help(format!("it needs {needs}")));
    }
    if let Some(kind) = draft.policy_kind.filter(|kind| kind.value != wanted) {
        let message =
            format!("the algorithm needs a {} policy here, not a {} one", wanted.word(), kind.value.word());
        return Err(Wrong::at(&kind.span, message).help("leave `kind` out"));
    }
    if wanted == PolicyKind::Deterministic && emphasis == EmphasisKind::FollowOn {
        return Err(Wrong::at(place, "a deterministic policy has no ratio, and so no follow-on trace")
            .help("use the emphasis `none` or `exact`"));
    }
    Ok((wanted, emphasis))
}

fn subset(draft: &Draft, actions: Actions, world: &World) -> Result<Option<usize>, Wrong> {
    let Some(Located { value: Whole(n), span }) = draft.subset else { return Ok(None) };
    if actions == Actions::Taken {
        return Err(Wrong::at(span, "`subset` has no meaning here").help("it belongs to `actions = \"all\"`"));
    }
    let most = world.actions().len();
    match usize::try_from(*n) {
        Ok(n) if (1..=most).contains(&n) => Ok(Some(n)),
        _ => Err(Wrong::at(
            span,
            format!("`subset` is {n}; it must lie between 1 and {most}, the number of actions"),
        )),
    }
}

/// The policy's weights at the start.
fn weights(draft: &Draft, policy: PolicyKind, world: &World) -> Result<Vec<f64>, Wrong> {
    let features = world.actor().len();
    let len = match policy {
        PolicyKind::Softmax => features * world.actions().len(),
        PolicyKind::Gaussian => 2 * features,
        PolicyKind::Deterministic => features,
    };
    if let Some(Located { value, span }) = draft.probabilities {
        if policy != PolicyKind::Softmax {
            return Err(
                Wrong::at(span, "only a softmax policy starts from probabilities").help("give `weights`")
            );
        }
        return world.softmax_weights(value).map_err(at(span));
    }
    let Some((vector, span)) = draft.weights else { return Ok(vec![0.0; len]) };
    let weights = match vector {
        Vector::All(x) => vec![*x; len],
        Vector::Each(list) => list.clone(),
    };
    if weights.len() != len {
        let each = match policy {
            PolicyKind::Softmax => "one for each feature and action, the actions of a feature side by side",
            PolicyKind::Gaussian => "two for each feature, for the mean and for the standard deviation",
            PolicyKind::Deterministic => "one for each feature",
        };
        let message = format!("{} weights for a policy that has {len}", weights.len());
        return Err(Wrong::at(span, message).help(each));
    }
    match weights.iter().find(|w| !w.is_finite()) {
        Some(w) => Err(Wrong::at(span, format!("a weight is {w}; weights must be finite"))),
        None => Ok(weights),
    }
}

/// The values of a list, each once.
fn distinct(name: &str, sweep: &Sweep<Number>, kind: Kind) -> Result<Vec<f64>, Wrong> {
    let mut values = Vec::new();
    let mut seen = HashSet::new();
    for located in sweep.several(name)? {
        let x = number(name, located, kind)?;
        if !seen.insert(x.to_bits()) {
            return Err(Wrong::at(&located.span, format!("`{name}` has {x} twice"))
                .help("each value is a setting of its own: leave one out"));
        }
        values.push(x);
    }
    Ok(values)
}

/// What numbers must be.
#[derive(Clone, Copy)]
enum Kind {
    StepSize,
    Fraction,
}

/// The numeric settings. The actor's come first, so that settings with the same step-size share lanes.
fn axes(
    draft: &Draft,
    file: &MethodFile,
    span: &Range<usize>,
    emphasis: EmphasisKind,
    kind: CriticKind,
    values: ValuesKind,
) -> Result<Vec<Axis>, Wrong> {
    use Kind::{Fraction, StepSize};
    let none = (CriticFile::default(), span.clone());
    let (critic, critic_span) = draft.critic.unwrap_or(&none);
    let (gtd, gq) = (values == ValuesKind::Gtd, kind == CriticKind::Gq);
    let trace = emphasis == EmphasisKind::FollowOn;
    let advantage = kind == CriticKind::Advantage;
    let compares = gq || advantage;
    let all = [
        ("alpha", "method", &file.alpha, StepSize, true, None, "every method"),
        ("lambda_a", "method", &file.lambda_a, Fraction, trace, None, "the follow-on trace (ace)"),
        ("alpha_v", "critic", &critic.alpha_v, StepSize, gtd, None, "GTD(λ)"),
        ("alpha_w", "critic", &critic.alpha_w, StepSize, gtd, None, "GTD(λ)"),
        ("lambda", "critic", &critic.lambda, Fraction, gtd, Some(0.0), "GTD(λ)"),
        ("alpha_q", "critic", &critic.alpha_q, StepSize, gq, None, "the critic `gq`"),
        ("alpha_h", "critic", &critic.alpha_h, StepSize, gq, None, "the critic `gq`"),
        ("lambda_q", "critic", &critic.lambda_q, Fraction, gq, Some(0.0), "the critic `gq`"),
        ("alpha_u", "critic", &critic.alpha_u, StepSize, advantage, None, "the critic `advantage`"),
    ];
    let mut axes = Vec::new();
    for (name, part, sweep, kind, belongs, default, owner) in all {
        let values = match (sweep, belongs, default) {
            (None, false, _) => continue,
            (Some(sweep), false, _) => {
                return Err(Wrong::at(&sweep.span, format!("`{name}` has no meaning here"))
                    .help(format!("it belongs to {owner}")));
            }
            (None, true, None) => {
                let (place, table) = match part {
                    "critic" => (critic_span, format!(": critic = {{ kind = …, {name} = … }}")),
                    _ => (span, String::new()),
                };
                return Err(Wrong::at(place, format!("the {part} needs `{name}`"))
                    .help(format!("it belongs to {owner}; give a number, or a list to sweep{table}")));
            }
            (None, true, Some(default)) => vec![default],
            (Some(sweep), true, _) => distinct(name, sweep, kind)?,
        };
        let owner = match (part, name) {
            ("critic", _) if compares && ["alpha_v", "alpha_w", "lambda"].contains(&name) => Owner::Values,
            ("critic", _) => Owner::Critic,
            (_, "lambda_a") => Owner::Emphasis,
            _ => Owner::Actor,
        };
        axes.push(Axis { name, owner, values });
    }
    Ok(axes)
}

fn number(
    name: &str,
    Located { value: Number(x), span }: &Located<Number>,
    kind: Kind,
) -> Result<f64, Wrong> {
    let (good, right) = match kind {
        Kind::StepSize => ((0.0..f64::INFINITY).contains(x), "a step-size is finite and not negative"),
        Kind::Fraction => ((0.0..=1.0).contains(x), "it must lie between 0 and 1"),
    };
    if good { Ok(*x) } else { Err(Wrong::at(span, format!("`{name}` is {x}; {right}"))) }
}

#[allow(clippy::too_many_arguments, reason = "for now")]
fn recipe(
    scene: &Scenario,
    policy: PolicyKind,
    emphasis: EmphasisKind,
    critic: CriticKind,
    values: ValuesKind,
    features: FeaturesKind,
    actions: Actions,
    subset: Option<usize>,
) -> Recipe {
    let sight = |name: &str| scene.source.features(name);
    let own = sight(features.word());
    let mut part = PartRecipe::new(critic.word());
    if critic != CriticKind::Exact {
        part.features = own.clone();
    }
    if matches!(critic, CriticKind::Gq | CriticKind::Advantage) {
        let mut inner = PartRecipe::new(values.word());
        if values == ValuesKind::Gtd {
            inner.features = own;
        }
        part = part.with_inner(inner);
    }
    let mut of = PartRecipe::new(policy.word());
    of.features = sight("actor");
    Recipe {
        rule: match (policy, actions) {
            (PolicyKind::Deterministic, _) => RuleKind::Deterministic,
            (_, Actions::All) => RuleKind::All,
            _ => RuleKind::Taken,
        },
        policy: of,
        actions: scene.source.actions(),
        critic: part,
        emphasis: PartRecipe::new(emphasis.word()),
        alpha: 0.0,
        subset: subset.map(|count| Subset { count, seed: 0, run: 0 }),
    }
}
