//! A part of the catalogue as an argument: `etd,lambda=0.5,emphasis=truncated,emphasis.n=3`.

use emphatic::catalogue::{Catalogue, Entry, Range, Role, Setting};
use emphatic::theory::{EmphasisKind, LinearActionCritic, LinearCritic};
use emphatic::{Features, KnownProblem, PartRecipe, Table};
use emphatic_diagnosis::linear_methods::PartOf;
use emphatic_problems::suggest;
use emphatic_text::exact_number;
use miette::MietteDiagnostic;

/// The key of the features that a part sees.
const FEATURES: &str = "features";

/// One setting of an argument: the names that lead to it, and its value.
struct Given<'a> {
    path: Vec<&'a str>,
    value: &'a str,
}

impl<'a> Given<'a> {
    fn read(word: &'a str, text: &str) -> miette::Result<Self> {
        const RIGHT: &str = "write a setting as name=number";
        let Some((name, value)) = word.split_once('=') else {
            return wrong(format!("`{word}` in `{text}` is no setting"), RIGHT);
        };
        let (name, value) = (name.trim(), value.trim());
        if value.is_empty() {
            return wrong(format!("`{name}` in `{text}` is empty"), RIGHT);
        }
        Ok(Self { path: name.split('.').collect(), value })
    }

    fn is_features(&self) -> bool {
        self.path.last() == Some(&FEATURES)
    }

    /// Kinds of parts come before what these parts are set to, outer ones first.
    fn order(&self) -> (bool, usize) {
        let is_kind = !self.is_features() && self.value.parse::<f64>().is_err();
        (!is_kind, self.path.len())
    }
}

/// Returns the part that a text names, or an error if the catalogue has no such part, or the theory knows nothing of it.
pub(crate) fn part_argument(role: Role, text: &str, problem: &KnownProblem) -> miette::Result<PartOf> {
    let mut words = text.split(',').map(str::trim);
    let kind = words.next().unwrap_or_default();
    let mut part = PartRecipe::new(entry(role, kind)?.name);
    let mut given = words.map(|word| Given::read(word, text)).collect::<miette::Result<Vec<_>>>()?;
    given.sort_by_key(Given::order);
    given.iter().try_for_each(|given| set(role, &mut part, &given.path, given.value, problem))?;
    let features = given.iter().filter(|given| given.is_features());
    let features = features.map(|given| format!(", {} = {}", given.path.join("."), given.value));
    let name = format!("{}{}{}", part.kind, settings_text(&part, ""), features.collect::<String>());
    let second = ["alpha_w", "alpha_h"].into_iter().find(|name| part.numbers.contains_key(*name));
    let first = ["alpha_v", "alpha_q"].into_iter().find(|name| part.numbers.contains_key(*name));
    if let (Some(second), None) = (second, first) {
        let message = format!("`{second}` in `{text}` says nothing alone");
        return wrong(message, "what counts is how much larger it is than the other step-size: give both");
    }
    let one = Table::one_hot(1);
    let is_known = match role {
        Role::Emphasis => EmphasisKind::of_part(&part, &one).is_some(),
        _ => LinearCritic::of_part(&part, &one).is_some() || LinearActionCritic::of_part(&part).is_some(),
    };
    if is_known {
        return Ok(PartOf { role, part, name });
    }
    let missing = missing(role, &part, "")?;
    let help = match missing.is_empty() {
        true => "the expectation of its update is not known in closed form".to_owned(),
        false => format!("it may need {}", missing.join(", ")),
    };
    wrong(format!("nothing can be computed of the {} `{name}`", role.word()), &help)
}

/// Returns the settings of a part and of those inside it, as its name shows them, each after a prefix.
fn settings_text(part: &PartRecipe, prefix: &str) -> String {
    let own = part.numbers.iter().map(|(name, x)| format!(", {prefix}{name} = {}", exact_number(*x)));
    let inside = part.inner.iter().map(|(name, inner)| {
        format!(", {prefix}{name} = {}{}", inner.kind, settings_text(inner, &format!("{prefix}{name}.")))
    });
    own.chain(inside).collect()
}

/// The settings that have to be given and are not, those of parts inside, too. Step-sizes do not matter where an update leads.
fn missing(role: Role, part: &PartRecipe, prefix: &str) -> miette::Result<Vec<String>> {
    let outer = entry(role, &part.kind)?;
    let matters = |setting: &&Setting| setting.default.is_none() && setting.range != Range::StepSize;
    let left_out = outer.settings.iter().filter(matters).map(|setting| setting.name);
    let left_out = left_out.filter(|name| !part.numbers.contains_key(*name));
    let mut names: Vec<String> = left_out.map(|name| format!("{prefix}{name}")).collect();
    for inner in outer.inner {
        if let Some(part) = part.inner.get(inner.name) {
            names.extend(missing(inner.role, part, &format!("{prefix}{}.", inner.name))?);
        }
    }
    Ok(names)
}

/// Sets a number, the features, or the kind of a part inside, by the names that lead to it.
fn set(
    role: Role,
    part: &mut PartRecipe,
    path: &[&str],
    value: &str,
    problem: &KnownProblem,
) -> miette::Result<()> {
    let (name, rest) = path.split_first().unwrap_or((&"", &[]));
    let outer = entry(role, &part.kind)?;
    if let Some(inner) = outer.inner.iter().find(|inner| inner.name == *name) {
        if rest.is_empty() {
            let kind = PartRecipe::new(entry(inner.role, value)?.name);
            return match part.inner.insert((*name).to_owned(), kind) {
                Some(_) => wrong(format!("`{name}` is given twice"), "leave one of them out"),
                None => Ok(()),
            };
        }
        if inner.role == Role::Emphasis && rest == ["lambda_a"] {
            let help = "the critic's own `lambda` says how much the emphasis counts";
            return wrong("`lambda_a` has no meaning inside a critic".to_owned(), help);
        }
        let default = || PartRecipe::new(inner.default);
        let inside = part.inner.entry((*name).to_owned()).or_insert_with(default);
        return set(inner.role, inside, rest, value, problem);
    }
    if (*name, rest) == (FEATURES, &[]) {
        return set_features(outer, part, value, problem);
    }
    let Some(setting) = outer.setting(name).filter(|_| rest.is_empty()) else {
        let known = outer.settings.iter().map(|setting| setting.name);
        let known = known.chain(outer.inner.iter().map(|inner| inner.name));
        let help = suggest(name, known).unwrap_or_default();
        return wrong(format!("the {} `{}` has no setting `{name}`", role.word(), outer.name), &help);
    };
    if part.numbers.contains_key(setting.name) {
        return wrong(format!("`{name}` is given twice"), "leave one of them out");
    }
    match value.parse::<f64>() {
        Ok(number) if setting.range.contains(number) => {
            part.numbers.insert(setting.name.to_owned(), number);
            Ok(())
        }
        _ => wrong(format!("`{name}` is {value}; {}", setting.range.right()), setting.about),
    }
}

/// Sets the features that a part sees.
fn set_features(
    entry: &Entry,
    part: &mut PartRecipe,
    name: &str,
    problem: &KnownProblem,
) -> miette::Result<()> {
    if !entry.features {
        let help = format!("the {} `{}` looks at no features", entry.role.word(), entry.name);
        return wrong("`features` has no meaning here".to_owned(), &help);
    }
    let table = match name {
        "actor" => problem.actor().clone(),
        "critic" => problem.critic(),
        "states" => Table::one_hot(problem.states().len()),
        _ => {
            let help = suggest(name, ["actor", "critic", "states"].into_iter()).unwrap_or_default();
            return wrong(format!("there are no features `{name}`"), &help);
        }
    };
    match part.features.replace(Features::from(table)) {
        Some(_) => wrong("`features` is given twice".to_owned(), "leave one of them out"),
        None => Ok(()),
    }
}

fn entry(role: Role, kind: &str) -> miette::Result<&'static Entry> {
    let catalogue = Catalogue::current();
    if let Some(entry) = catalogue.find(role, kind) {
        return Ok(entry);
    }
    let help = suggest(kind, catalogue.of(role).map(|entry| entry.name)).unwrap_or_default();
    wrong(format!("there is no {} `{kind}`", role.word()), &help)
}

fn wrong<T>(message: String, help: &str) -> miette::Result<T> {
    let diagnostic = MietteDiagnostic::new(message);
    Err(if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }.into())
}
