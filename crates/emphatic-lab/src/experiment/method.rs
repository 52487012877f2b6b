//! Methods, and the settings their lists make.

use super::part::{DEFAULT_SIGHT, PartChoice, joined, listed, values};
use super::variant::{Axis, Owner, Structure, Variant};
use super::{Cell, MOST_KINDS, MOST_SETTINGS, Method, Scenario};
use crate::file::{Actions, MethodFile, Vector, Vectors};
use crate::part_file::{PartFile, PartValue};
use crate::policy_file::{PolicyFile, Start};
use crate::sweep::{Located, Sweep};
use emphatic::catalogue::{
    ALGORITHMS, Acts, Algorithm, Catalogue, Entry, Need, Range as Numbers, Role, Setting, Tells,
};
use emphatic::{Recipe, RuleKind, Subset};
use emphatic_problems::{Interest, Mistake, Number, ValueError, Whole, suggest};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// The actor's step-size.
const ALPHA: Setting =
    Setting { name: "alpha", range: Numbers::StepSize, default: None, about: "step-size of the actor" };

/// What is chosen before numbers are: one value of each list that is not of numbers.
#[derive(Clone, Default)]
struct Draft<'a> {
    algorithm: Option<&'a Located<String>>,
    emphasis: Option<&'a PartChoice>,
    policy: Option<&'a Located<PolicyFile>>,
    policy_kind: Option<&'a Located<String>>,
    weights: Option<(&'a Vector, &'a Range<usize>)>,
    probabilities: Option<&'a Located<BTreeMap<String, Number>>>,
    critic: Option<&'a PartChoice>,
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
) -> Result<Method, Mistake> {
    let first = variants.len();
    let whole = file.get_ref();
    match &whole.combinations {
        None => grid(whole, &file.span(), number, scenarios, variants)?,
        Some(list) if list.get_ref().is_empty() => {
            return Err(Mistake::at(&list.span(), "`combinations` is an empty list")
                .help("give at least one combination, or leave the key out"));
        }
        Some(list) => {
            for combination in list.get_ref() {
                let part = combination.get_ref();
                if part.name.is_some() || part.separate.is_some() || part.combinations.is_some() {
                    return Err(Mistake::at(
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
            let Located { value, span } = match &name.values[..] {
                [one] if !name.is_list => one,
                _ => return Err(Mistake::at(&name.span, "a method has one name, not a list")),
            };
            if value.trim().is_empty() {
                return Err(Mistake::at(span, "the name is empty"));
            }
            value.clone()
        }
        None => display_name(&variants[first..]).ok_or_else(|| {
            Mistake::at(&file.span(), "the method has several algorithms and no name")
                .help("give it a `name`")
        })?,
    };
    let separate = whole.separate.iter().flatten().map(|key| key.get_ref().clone()).collect();
    Ok(Method { name, separate })
}

/// The name of the composition that all variants are.
fn display_name(variants: &[Variant]) -> Option<String> {
    let emphasis = |v: &Variant| Catalogue::current().find(Role::Emphasis, &v.structure.recipe.emphasis.kind);
    let name = |v: &Variant| match v.algorithm {
        Some(algorithm) => Some(algorithm.title),
        None => emphasis(v).map(|entry| entry.class),
    };
    let first = variants.first().and_then(name)?;
    variants.iter().all(|v| name(v) == Some(first)).then(|| first.to_owned())
}

/// A method's values with a combination's in their place. A part without a kind adds to the method's.
fn overlay(whole: &MethodFile, part: &MethodFile) -> MethodFile {
    macro_rules! either {
        ($($key:ident),*) => {
            MethodFile {
                $($key: part.$key.clone().or_else(|| whole.$key.clone()),)*
                policy: overlay_tables(&whole.policy, &part.policy, |_| false, |whole, part| part.over(whole)),
                critic: overlay_tables(&whole.critic, &part.critic, has_kind, |whole, part| part.over(whole)),
                emphasis: overlay_tables(&whole.emphasis, &part.emphasis, has_kind, |whole, part| part.over(whole)),
                combinations: None,
            }
        };
    }
    either!(name, algorithm, interest, alpha, lambda_a, actions, subset, separate)
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

fn has_kind(part: &PartFile) -> bool {
    part.kind.is_some()
}

/// Every draft with every value of a list.
fn spread<'a, T: PartialEq>(
    drafts: &mut Vec<Draft<'a>>,
    sweep: Option<&'a Sweep<T>>,
    key: &str,
    set: impl Fn(&mut Draft<'a>, &'a Located<T>),
) -> Result<(), Mistake> {
    let Some(sweep) = sweep else { return Ok(()) };
    spread_over(drafts, sweep.distinct(key)?, &sweep.span, set)
}

fn spread_over<'a, T>(
    drafts: &mut Vec<Draft<'a>>,
    values: &'a [T],
    span: &Range<usize>,
    set: impl Fn(&mut Draft<'a>, &'a T),
) -> Result<(), Mistake> {
    check_kinds(drafts.len(), values.len(), span)?;
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

fn check_count(settings: f64, span: &Range<usize>) -> Result<(), Mistake> {
    if settings <= MOST_SETTINGS as f64 {
        return Ok(());
    }
    let message = format!("the lists make {settings:.3e} settings; at most {MOST_SETTINGS} are possible");
    Err(Mistake::at(span, message).help("shorten some lists, or give `combinations`"))
}

/// The same for what is not a number: every value of it makes grids of their own.
pub(super) fn check_kinds(kinds: usize, times: usize, span: &Range<usize>) -> Result<(), Mistake> {
    let kinds = kinds.saturating_mul(times);
    if kinds <= MOST_KINDS {
        return Ok(());
    }
    let message =
        format!("the lists of words make {kinds} kinds of settings; at most {MOST_KINDS} are possible");
    Err(Mistake::at(span, message).help("shorten some lists, or give `combinations`"))
}

/// Adds the settings of one grid.
fn grid(
    file: &MethodFile,
    span: &Range<usize>,
    number: usize,
    scenarios: &[Scenario],
    variants: &mut Vec<Variant>,
) -> Result<(), Mistake> {
    let (emphases, critics) =
        (part_choices(Role::Emphasis, &file.emphasis)?, part_choices(Role::Critic, &file.critic)?);
    let emphases: Vec<PartChoice> = emphases.into_iter().flatten().collect();
    if critics.is_empty() {
        return Err(Mistake::at(span, "the method has no critic")
            .help("critic = \"exact\", or { kind = \"gtd\", alpha_v = 0.1, alpha_w = 0.01 }"));
    }
    let mut drafts = vec![Draft::default()];
    spread(&mut drafts, file.algorithm.as_ref(), "algorithm", |d, x| d.algorithm = Some(x))?;
    if file.emphasis.is_some() {
        spread_over(&mut drafts, &emphases, span, |d, x| d.emphasis = Some(x))?;
    }
    spread(&mut drafts, file.interest.as_ref(), "interest", |d, x| d.interest = Some(x))?;
    spread(&mut drafts, file.actions.as_ref(), "actions", |d, x| d.actions = Some(x))?;
    spread(&mut drafts, file.subset.as_ref(), "subset", |d, x| d.subset = Some(x))?;
    let tables: Vec<Option<&Located<PolicyFile>>> = match &file.policy {
        Some(policies) => policies.several("policy")?.iter().map(Some).collect(),
        None => vec![None],
    };
    let mut all = Vec::new();
    for policy in tables {
        for critic in &critics {
            let mut drafts = drafts.clone();
            if let Some(policy) = policy {
                spread_policy(&mut drafts, policy)?;
            }
            spread_over(&mut drafts, critic, span, |d, x| d.critic = Some(x))?;
            all.extend(drafts);
            check_kinds(all.len(), scenarios.len(), span)?;
        }
    }
    for (scenario, scene) in scenarios.iter().enumerate() {
        for draft in &all {
            let (policy, emphasis) = policy_and_emphasis(draft, span, scene)?;
            for policy in &policies(policy, draft, span)? {
                let mut variant = resolve(draft, policy, &emphasis, file, span, scenario, scene)?;
                let count: f64 = variant.axes.iter().map(|axis| axis.values.len() as f64).product();
                let first = variants.last().map_or(0, |v| v.settings.end);
                check_count(first as f64 + count, span)?;
                variant.settings = first..first + count as usize;
                variant.method = number;
                variants.push(variant);
            }
        }
    }
    Ok(())
}

/// The choices that each table of a part leaves open.
fn part_choices(role: Role, parts: &Option<Sweep<PartFile>>) -> Result<Vec<Vec<PartChoice>>, Mistake> {
    let Some(parts) = parts else { return Ok(Vec::new()) };
    let choices = |part: &Located<PartFile>| PartChoice::all(role, &part.value, &part.span);
    parts.several(role.word())?.iter().map(choices).collect()
}

fn spread_policy<'a>(drafts: &mut Vec<Draft<'a>>, policy: &'a Located<PolicyFile>) -> Result<(), Mistake> {
    let PolicyFile { part, start: Start { weights, probabilities } } = &policy.value;
    drafts.iter_mut().for_each(|draft| draft.policy = Some(policy));
    spread(drafts, part.kind.as_ref(), "policy.kind", |d, x| d.policy_kind = Some(x))?;
    spread(drafts, probabilities.as_ref(), "policy.probabilities", |d, x| d.probabilities = Some(x))?;
    let Some(Vectors { values, span }) = weights else { return Ok(()) };
    if probabilities.is_some() {
        return Err(Mistake::at(span, "a policy starts from `weights` or from `probabilities`, not both"));
    }
    check_kinds(drafts.len(), values.len(), span)?;
    let with = |draft: &Draft<'a>, vector| Draft { weights: Some((vector, span)), ..draft.clone() };
    *drafts = drafts.iter().flat_map(|draft| values.iter().map(move |vector| with(draft, vector))).collect();
    Ok(())
}

/// The policy of a kind, if the catalogue has it.
fn policy_of_kind(kind: &Located<String>) -> Result<&'static Entry, Mistake> {
    let policies = Catalogue::current();
    policies.find(Role::Policy, &kind.value).ok_or_else(|| {
        let known = policies.of(Role::Policy).map(|entry| entry.name);
        Mistake::at(&kind.span, format!("there is no policy `{}`", kind.value))
            .maybe_help(suggest(&kind.value, known))
    })
}

/// The policy that is meant where nothing is said.
fn policy_that(acts: Acts) -> Result<&'static Entry, Mistake> {
    let found = Catalogue::current().of(Role::Policy).find(|entry| entry.acts == Some(acts));
    found.ok_or_else(|| Mistake::whole_file("the catalogue has no policy for this problem"))
}

/// The choices that a draft leaves open of a kind of policy.
fn policies(kind: &'static Entry, draft: &Draft, span: &Range<usize>) -> Result<Vec<PartChoice>, Mistake> {
    let nothing = PartFile::default();
    let (file, table) = draft.policy.map_or((&nothing, span), |policy| (&policy.value.part, &policy.span));
    let place = draft.policy_kind.map_or(table, |kind| &kind.span);
    let mut choices = Vec::new();
    PartChoice::of_kind(kind, file, place, table, &mut choices)?;
    Ok(choices)
}

/// The name of a composition.
fn algorithm_of(policy: &Entry, emphasis: &Entry) -> Option<&'static Algorithm> {
    let deterministic = policy.acts == Some(Acts::Deterministic);
    ALGORITHMS.iter().find(|known| (known.deterministic, known.emphasis) == (deterministic, emphasis.name))
}

/// A part by its name alone.
fn part_named(role: Role, name: &str, span: &Range<usize>) -> Result<PartChoice, Mistake> {
    let choices = PartChoice::all(role, &PartFile::named(name), span)?;
    choices
        .into_iter()
        .next()
        .ok_or_else(|| Mistake::at(span, format!("there is no {} `{name}`", role.word())))
}

/// Checks that the choices fit together and with the problem.
fn resolve(
    draft: &Draft,
    policy: &PartChoice,
    emphasis: &PartChoice,
    file: &MethodFile,
    span: &Range<usize>,
    scenario: usize,
    scene: &Scenario,
) -> Result<Variant, Mistake> {
    let emphasis = match &file.lambda_a {
        Some(lambda_a) => emphasis.clone().with_number("lambda_a", &as_part_values(lambda_a))?,
        None => emphasis.clone(),
    };
    let Some(critic) = draft.critic else { return Err(Mistake::at(span, "the method has no critic")) };
    let rule = rule(draft, policy.entry, critic)?;
    let subset = subset(draft, rule, scene)?;
    let interest = match draft.interest {
        Some(Located { value, span }) => {
            Some(scene.world.with_interest(value).map_err(at(span))?.interest().to_vec())
        }
        None => None,
    };
    let weights = weights(draft, policy.entry, scene)?;
    let axes = axes(file, span, [policy, &emphasis, critic])?;
    let algorithm = algorithm_of(policy.entry, emphasis.entry);

    let word = |name, word: &str| (name, Cell::Text(word.to_owned()));
    let mut columns: Vec<(&'static str, Cell)> =
        algorithm.iter().map(|algorithm| word("algorithm", algorithm.name)).collect();
    columns.push(word("policy", policy.entry.name));
    columns.push(word("emphasis", emphasis.entry.name));
    columns.push(word("critic", critic.entry.name));
    let sight =
        |part: &PartChoice| part.features.as_ref().map_or(DEFAULT_SIGHT.to_owned(), |f| f.value.clone());
    if critic.entry.features {
        columns.push(("critic_features", Cell::Text(sight(critic))));
    }
    if emphasis.entry.features {
        columns.push(("emphasis_features", Cell::Text(sight(&emphasis))));
    }
    if let Some(inner) = &critic.inner {
        columns.push(word("critic_values", inner.entry.name));
        if inner.entry.features && sight(inner) != sight(critic) {
            columns.push(("critic_values_features", Cell::Text(sight(inner))));
        }
    }
    if rule == RuleKind::All {
        columns.push(word("actions", Actions::All.word()));
    }
    columns.extend(subset.map(|n| ("subset", Cell::Number(n as f64))));
    columns.extend(interest.as_ref().map(|i| ("method_interest", Cell::Text(format!("{i:?}")))));
    if draft.weights.is_some() || draft.probabilities.is_some() {
        columns.push(("initial_weights", Cell::Text(format!("{weights:?}"))));
    }
    let recipe = |part: &PartChoice| part.recipe(&scene.sights);
    let mut recipe = Recipe::new(rule, recipe(policy)?, recipe(critic)?, recipe(&emphasis)?, 0.0);
    recipe.actions = scene.source.actions();
    recipe.subset = subset.map(|count| Subset { count, seed: 0, run: 0 });
    let structure = Structure { scenario, recipe, interest };
    Ok(Variant { method: 0, structure, algorithm, weights, columns, axes, settings: 0..0 })
}

/// Numbers, as a part's table has them.
fn as_part_values(numbers: &Sweep<Number>) -> Sweep<PartValue> {
    let value = |x: &Located<Number>| Located { value: PartValue::Number(x.value.0), span: x.span.clone() };
    let values = numbers.values.iter().map(value).collect();
    Sweep { values, span: numbers.span.clone(), is_list: numbers.is_list }
}

/// The rule by which the actor learns, which the critic must be able to serve.
fn rule(draft: &Draft, policy: &Entry, critic: &PartChoice) -> Result<RuleKind, Mistake> {
    let tells = |what: Tells| critic.entry.tells.contains(&what);
    let fit = |what: Tells| {
        let fit = Catalogue::current().of(Role::Critic).filter(move |entry| entry.tells.contains(&what));
        format!("use {}", listed(fit.map(|entry| entry.name), "or"))
    };
    let refuse = |here: &Range<usize>, right: String| {
        Err(Mistake::at(here, "`actions` has no meaning here").help(right))
    };
    if let Some(Located { value, span }) = draft.actions {
        match value {
            Actions::Taken if !tells(Tells::Delta) && tells(Tells::Advantages) => {
                let right = "this critic compares actions: the actor learns from all of them";
                return refuse(span, right.to_owned());
            }
            Actions::Taken if policy.acts == Some(Acts::Deterministic) => {
                return refuse(span, "a deterministic policy learns from ∂q/∂a".to_owned());
            }
            Actions::All if policy.acts != Some(Acts::Finite) => {
                return refuse(span, "a real action has no list of alternatives".to_owned());
            }
            Actions::All if !tells(Tells::Advantages) => {
                let right = fit(Tells::Advantages);
                return refuse(
                    span,
                    format!("the critic `{}` does not compare actions: {right}", critic.entry.name),
                );
            }
            Actions::Taken | Actions::All => {}
        }
    }
    let all = draft.actions.map_or(!tells(Tells::Delta), |actions| actions.value == Actions::All);
    let (rule, needs) = match policy.acts {
        Some(Acts::Deterministic) => (RuleKind::Deterministic, Tells::Slope),
        Some(Acts::Finite) if all && tells(Tells::Advantages) => (RuleKind::All, Tells::Advantages),
        _ => (RuleKind::Taken, Tells::Delta),
    };
    if tells(needs) {
        return Ok(rule);
    }
    let message = format!(
        "a {} policy needs {}, which the critic `{}` does not tell",
        policy.name,
        needs.words(),
        critic.entry.name
    );
    Err(Mistake::at(&critic.span, message).help(fit(needs)))
}

fn policy_and_emphasis(
    draft: &Draft,
    span: &Range<usize>,
    scene: &Scenario,
) -> Result<(&'static Entry, PartChoice), Mistake> {
    let drawn = if scene.source.actions().is_some() { Acts::Finite } else { Acts::Real };
    let asked = draft.policy_kind.map(policy_of_kind).transpose()?;
    let (wanted, emphasis, place) = match (draft.algorithm, draft.emphasis) {
        (Some(name), None) => {
            let Some(algorithm) = ALGORITHMS.iter().find(|known| known.name == name.value) else {
                let known = ALGORITHMS.iter().map(|known| known.name);
                return Err(Mistake::at(&name.span, format!("there is no algorithm `{}`", name.value))
                    .maybe_help(suggest(&name.value, known)));
            };
            let wanted = policy_that(if algorithm.deterministic { Acts::Deterministic } else { drawn })?;
            // Of policies that act alike, any.
            let wanted = asked.filter(|asked| asked.acts == wanted.acts).unwrap_or(wanted);
            (wanted, part_named(Role::Emphasis, algorithm.emphasis, &name.span)?, &name.span)
        }
        (None, Some(emphasis)) => {
            let wanted = asked.map_or_else(|| policy_that(drawn), Ok)?;
            (wanted, emphasis.clone(), &emphasis.span)
        }
        (Some(_), Some(emphasis)) => {
            return Err(Mistake::at(&emphasis.span, "an algorithm has its own emphasis")
                .help("give `algorithm`, or `emphasis` (and a policy), not both"));
        }
        (None, None) => {
            let names: Vec<String> = ALGORITHMS.iter().map(|known| format!("\"{}\"", known.name)).collect();
            return Err(Mistake::at(span, "the method has no algorithm")
                .help(format!("algorithm = {}", names.join(" or "))));
        }
    };
    if (wanted.acts == Some(Acts::Finite)) != (drawn == Acts::Finite) {
        let has = if drawn == Acts::Finite { "named actions" } else { "one real action" };
        let place = draft.policy_kind.map_or(place, |kind| &kind.span);
        let message = format!("a {} policy does not fit this problem, which has {has}", wanted.name);
        return Err(Mistake::at(place, message).help(format!("it needs {}", policies_for(drawn))));
    }
    if let (Some(kind), Some(asked)) = (draft.policy_kind, asked)
        && asked.name != wanted.name
    {
        let message = format!("the algorithm needs a {} policy here, not a {} one", wanted.name, asked.name);
        return Err(Mistake::at(&kind.span, message).help("leave `kind` out"));
    }
    if wanted.acts == Some(Acts::Deterministic) && emphasis.entry.needs.contains(&Need::Ratio) {
        let message = format!(
            "a deterministic policy has no ratio, which the emphasis `{}` needs",
            emphasis.entry.name
        );
        let fit = Catalogue::current().of(Role::Emphasis).filter(|entry| !entry.needs.contains(&Need::Ratio));
        let help = format!("use the emphasis {}", listed(fit.map(|entry| entry.name), "or"));
        return Err(Mistake::at(place, message).help(help));
    }
    Ok((wanted, emphasis))
}

/// Which policies fit a problem whose actions are drawn like this, and, if not all do, which algorithms.
fn policies_for(drawn: Acts) -> String {
    let fits = |acts: Acts| (acts == Acts::Finite) == (drawn == Acts::Finite);
    let policies = Catalogue::current().of(Role::Policy).filter(|entry| entry.acts.is_some_and(fits));
    let policies: Vec<&str> = policies.map(|entry| entry.name).collect();
    let fits = |known: &&Algorithm| fits(if known.deterministic { Acts::Deterministic } else { drawn });
    let algorithms: Vec<&str> = ALGORITHMS.iter().filter(fits).map(|known| known.name).collect();
    let policies = format!("a {} policy", joined(&policies, "or"));
    if algorithms.len() == ALGORITHMS.len() {
        return policies;
    }
    format!("{policies} ({})", joined(&algorithms, "or"))
}

fn at(span: &Range<usize>) -> impl Fn(ValueError) -> Mistake {
    move |error| error.at(span)
}

fn subset(draft: &Draft, rule: RuleKind, scene: &Scenario) -> Result<Option<usize>, Mistake> {
    let Some(Located { value: Whole(n), span }) = draft.subset else { return Ok(None) };
    if rule != RuleKind::All {
        return Err(
            Mistake::at(span, "`subset` has no meaning here").help("it belongs to `actions = \"all\"`")
        );
    }
    let most = scene.source.actions().unwrap_or(0);
    match usize::try_from(*n) {
        Ok(n) if (1..=most).contains(&n) => Ok(Some(n)),
        _ => Err(Mistake::at(
            span,
            format!("`subset` is {n}; it must lie between 1 and {most}, the number of actions"),
        )),
    }
}

/// The policy's weights at the start.
fn weights(draft: &Draft, policy: &Entry, scene: &Scenario) -> Result<Vec<f64>, Mistake> {
    let features = scene.sights.find("actor").map_or(0, |features| features.len());
    let len = features * policy.outputs.or(scene.source.actions()).unwrap_or(1);
    if let Some(Located { value, span }) = draft.probabilities {
        // The logarithms of probabilities are the weights of no other policy, though it may have as many.
        if policy.name != "softmax" {
            return Err(
                Mistake::at(span, "only a softmax policy starts from probabilities").help("give `weights`")
            );
        }
        return scene.world.softmax_weights(value).map_err(at(span));
    }
    let Some((vector, span)) = draft.weights else { return Ok(vec![0.0; len]) };
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

/// The numeric settings. The actor's come first, so that settings with the same step-size share lanes.
fn axes(file: &MethodFile, span: &Range<usize>, parts: [&PartChoice; 3]) -> Result<Vec<Axis>, Mistake> {
    let Some(alpha) = &file.alpha else {
        return Err(Mistake::at(span, "the method needs `alpha`")
            .help("it is the actor's step-size; give a number, or a list to sweep"));
    };
    let values = values(&ALPHA, &as_part_values(alpha))?;
    let mut axes =
        vec![Axis { column: ALPHA.name.to_owned(), name: ALPHA.name, owner: Owner::Actor, values }];
    for part in parts {
        part.add_axes(Owner::Part(part.entry.role, 0), &mut axes)?;
    }
    Ok(axes)
}
