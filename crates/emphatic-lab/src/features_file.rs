//! The features of a simulator as they are written in experiment files.

use emphatic::basis::{BasisValue, Dimension};
use emphatic::catalogue::Catalogue;
use emphatic::{BasisError, BasisRecipe, Features};
use emphatic_problems::{Expected, Mistake, suggest};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// How many bounds a message shows.
const SHOWN: usize = 12;

/// The features of all parts, or those of the actor and of the critic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeaturesFile {
    actor: BasisFile,
    critic: BasisFile,
}

/// A basis: its name, or a table with its `kind` and its settings.
#[derive(Clone, Debug, Default)]
struct BasisFile {
    kind: Option<Spanned<String>>,
    settings: BTreeMap<String, Entry>,
}

/// One key of a basis's table.
#[derive(Clone, Debug)]
struct Entry {
    key: Range<usize>,
    value: Spanned<BasisValue>,
}

/// What is written counts, not where.
impl PartialEq for BasisFile {
    fn eq(&self, other: &Self) -> bool {
        self.recipe() == other.recipe()
    }
}

impl Expected for FeaturesFile {
    const EXPECTED: &'static str =
        "the name of a basis, a table with its `kind` and settings, or { actor = …, critic = … }";
}

impl FeaturesFile {
    /// Returns the features of the actor and of the critic for observations like these, each at its place among the bases.
    pub(crate) fn of_parts(
        &self,
        space: &[Dimension],
        place: &Range<usize>,
    ) -> Result<Vec<(&'static str, Features)>, Mistake> {
        let actor = self.actor.features(space, place)?;
        let critic = self.critic.features(space, place)?;
        let view = usize::from(actor != critic);
        Ok(vec![("actor", actor), ("critic", at(critic, view))])
    }

    /// Returns what is written, in short: the kinds and settings of the bases.
    pub(crate) fn text(&self) -> String {
        let (actor, critic) = (self.actor.recipe().to_string(), self.critic.recipe().to_string());
        if actor == critic { actor } else { format!("actor: {actor}; critic: {critic}") }
    }
}

/// Returns features of observations at a place among the bases.
fn at(features: Features, view: usize) -> Features {
    match features {
        Features::Observed(observed) => Features::Observed(observed.at(view)),
        other => other,
    }
}

impl BasisFile {
    fn named(kind: &str) -> Self {
        Self { kind: Some(Spanned::new(0..0, kind.to_owned())), settings: BTreeMap::new() }
    }

    fn recipe(&self) -> BasisRecipe {
        let kind = self.kind.as_ref().map_or("", |kind| kind.get_ref().as_str());
        let settings = self.settings.iter();
        settings.fold(BasisRecipe::new(kind), |recipe, (name, entry)| {
            recipe.with(name, entry.value.get_ref().clone())
        })
    }

    /// Builds the features, or says what is wrong and where.
    fn features(&self, space: &[Dimension], place: &Range<usize>) -> Result<Features, Mistake> {
        self.check_bounds(space, place)?;
        let built = self.recipe().within(space).and_then(|recipe| recipe.build());
        built.map_err(|error| self.mistake(&error, place))
    }

    /// Returns an error if the basis needs bounds that neither the file nor the environment gives.
    fn check_bounds(&self, space: &[Dimension], place: &Range<usize>) -> Result<(), Mistake> {
        let kind = self.kind.as_ref().map_or("", |kind| kind.get_ref().as_str());
        let Some(entry) = Catalogue::current().basis(kind) else { return Ok(()) };
        for (name, bound) in [("low", (|of| of.low) as fn(&Dimension) -> f64), ("high", |of| of.high)] {
            let unbounded = space.iter().position(|dimension| !bound(dimension).is_finite());
            let Some(which) = unbounded.filter(|_| entry.setting(name).is_some()) else { continue };
            if self.settings.contains_key(name) {
                continue;
            }
            let message = format!(
                "the basis `{kind}` needs `{name}`, since number {which} of what is observed, counted from 0, has no bounds of its own"
            );
            let known = |dimension: &Dimension| match bound(dimension) {
                x if x.is_finite() => x.to_string(),
                _ => "?".to_owned(),
            };
            let few: Vec<String> = space.iter().map(known).take(SHOWN).collect();
            let more = if space.len() > SHOWN { ", …" } else { "" };
            let help = format!(
                "{name} = [{}{more}], with a number in place of each ?, or one number for all; what is observed outside is treated as at the edge",
                few.join(", ")
            );
            return Err(Mistake::at(place, message).help(help));
        }
        Ok(())
    }

    fn mistake(&self, error: &BasisError, place: &Range<usize>) -> Mistake {
        let bases = || Catalogue::current().bases();
        let entry = error.setting().and_then(|name| self.settings.get(name));
        let place = match (&self.kind, entry, error) {
            (_, Some(entry), BasisError::UnknownSetting { .. }) => &entry.key,
            (_, Some(entry), _) => &entry.value.span(),
            (Some(kind), ..) if !kind.span().is_empty() => &kind.span(),
            _ => place,
        };
        let help = match error {
            BasisError::Unknown(name) => suggest(name, bases().map(|entry| entry.name)),
            BasisError::UnknownSetting { basis, name } => {
                let of = bases().find(|entry| entry.name == *basis).map_or(&[][..], |entry| entry.settings);
                suggest(name, of.iter().map(|setting| setting.name))
            }
            BasisError::Missing { basis, name } => {
                let setting =
                    bases().find(|entry| entry.name == *basis).and_then(|entry| entry.setting(name));
                setting.map(|setting| format!("{name} is {}: {}", setting.kind.right(), setting.about))
            }
            BasisError::TooMany { .. } => Some("give fewer, or hash them: `tiles` has `memory`".to_owned()),
            _ => None,
        };
        Mistake::at(place, error.to_string()).maybe_help(help)
    }
}

/// The value of a key in a table of features: a setting, or the basis of a part.
enum Value {
    Setting(BasisValue),
    Basis(BasisFile),
}

impl Expected for Value {
    const EXPECTED: &'static str = "a number, a word, true or false, or a list of them";
}

macro_rules! numbers {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(Value::Setting(BasisValue::Number(value as f64)))
        })*
    };
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(Value::EXPECTED)
    }

    numbers!(visit_f64: f64, visit_i64: i64, visit_u64: u64, visit_i128: i128, visit_u128: u128);

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Setting(BasisValue::Flag(flag)))
    }

    fn visit_str<E>(self, word: &str) -> Result<Value, E> {
        Ok(Value::Setting(BasisValue::Word(word.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let (mut numbers, mut flags) = (Vec::new(), Vec::new());
        while let Some(item) = list.next_element::<Value>()? {
            match item {
                Value::Setting(BasisValue::Flag(flag)) => flags.push(flag),
                Value::Setting(BasisValue::Number(number)) => numbers.push(number),
                _ => return Err(serde::de::Error::custom("a list has numbers in it, or true and false")),
            }
        }
        match (numbers.is_empty(), flags.is_empty()) {
            (false, false) => {
                Err(serde::de::Error::custom("a list of numbers, or of true and false, not both"))
            }
            (true, false) => Ok(Value::Setting(BasisValue::Flags(flags))),
            _ => Ok(Value::Setting(BasisValue::List(numbers))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut basis = BasisFile::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            add(&mut basis, key, map.next_value()?)?;
        }
        Ok(Value::Basis(basis))
    }
}

/// Adds a key of a basis's table to it.
fn add<E: serde::de::Error>(
    basis: &mut BasisFile,
    key: Spanned<String>,
    value: Spanned<Value>,
) -> Result<(), E> {
    let span = value.span();
    match (key.get_ref().as_str(), value.into_inner()) {
        ("kind", Value::Setting(BasisValue::Word(kind))) => basis.kind = Some(Spanned::new(span, kind)),
        ("kind", _) => return Err(E::custom("`kind` is the name of a basis")),
        (name, Value::Basis(_)) => {
            return Err(E::custom(format!("`{name}` is a table; it must be {}", Value::EXPECTED)));
        }
        (_, Value::Setting(setting)) => {
            let entry = Entry { key: key.span(), value: Spanned::new(span, setting) };
            basis.settings.insert(key.into_inner(), entry);
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct FeaturesVisitor;

impl<'de> Visitor<'de> for FeaturesVisitor {
    type Value = FeaturesFile;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(FeaturesFile::EXPECTED)
    }

    fn visit_str<E>(self, kind: &str) -> Result<FeaturesFile, E> {
        let basis = BasisFile::named(kind);
        Ok(FeaturesFile { actor: basis.clone(), critic: basis })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FeaturesFile, A::Error> {
        let (mut whole, mut actor, mut critic) = (BasisFile::default(), None, None);
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value: Spanned<Value> = map.next_value()?;
            let part = match key.get_ref().as_str() {
                "actor" => &mut actor,
                "critic" => &mut critic,
                _ => {
                    add(&mut whole, key, value)?;
                    continue;
                }
            };
            *part = Some(match value.get_ref() {
                Value::Basis(basis) => basis.clone(),
                Value::Setting(BasisValue::Word(kind)) => BasisFile::named(kind),
                Value::Setting(_) => {
                    let message = format!("`{}` is {}", key.get_ref(), FeaturesFile::EXPECTED);
                    return Err(serde::de::Error::custom(message));
                }
            });
        }
        let is_whole = whole.kind.is_some() || !whole.settings.is_empty();
        match (actor, critic) {
            (None, None) if whole.kind.is_some() => Ok(FeaturesFile { actor: whole.clone(), critic: whole }),
            (Some(actor), Some(critic)) if !is_whole => Ok(FeaturesFile { actor, critic }),
            (None, None) => Err(serde::de::Error::custom(
                "these features have no `kind`: the name of a basis, such as \"tiles\"",
            )),
            _ => Err(serde::de::Error::custom(
                "features are one basis for all parts (`kind` and its settings), or one for each (`actor` and `critic`)",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for FeaturesFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FeaturesVisitor)
    }
}
