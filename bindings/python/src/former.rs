//! Files of the former format: their settings and their states as today's.
//!
//! There all parts of a learner had one list of numbers, and tensors were named by where they stood in a tree.

use crate::saved::parsed;
use crate::settings::{FeaturesPart, Part, Rule, Settings};
use emphatic::catalogue::Role;
use emphatic::{Numbers, Tensors};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(crate) const FORMAT: &str = "emphatic learner 1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormerSettings {
    class: String,
    structure: Structure,
    numbers: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Structure {
    learner: Kind,
    policy: FormerPart,
    critic: FormerPart,
    emphasis: FormerPart,
    #[serde(default)]
    subset: Option<(usize, u64)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    ActorCritic,
    AllActions,
    DeterministicActorCritic,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormerPart {
    kind: String,
    features: Option<FeaturesPart>,
    actions: Option<usize>,
    values: Option<Box<FormerPart>>,
    problem: Option<usize>,
}

/// The settings of a file.
pub(crate) fn settings(text: &str) -> Result<Settings, String> {
    let FormerSettings { class, structure, numbers } = parsed(text)?;
    let alpha = *numbers.get("alpha").ok_or("the settings have no number `alpha`")?;
    let (actions, seen) = (structure.policy.actions, structure.policy.features.clone());
    let mut policy = part(Role::Policy, structure.policy, &numbers, None);
    policy.features = seen;
    let seen = policy.features.as_ref();
    Ok(Settings {
        class,
        rule: match structure.learner {
            Kind::ActorCritic => Rule::Taken,
            Kind::AllActions => Rule::All,
            Kind::DeterministicActorCritic => Rule::Deterministic,
        },
        critic: part(Role::Critic, structure.critic, &numbers, seen),
        emphasis: part(Role::Emphasis, structure.emphasis, &numbers, seen),
        actions,
        alpha,
        subset: structure.subset,
        policy,
    })
}

/// A part with those of all numbers that are its own, and features only if they are others than the policy's.
fn part(
    role: Role,
    former: FormerPart,
    numbers: &BTreeMap<String, f64>,
    seen: Option<&FeaturesPart>,
) -> Part {
    let kind = match former.kind.as_str() {
        "deterministic_linear" => "deterministic",
        "action_values" => "gq",
        "learned_advantage" => "advantage",
        "follow_on" => "follow-on",
        same => same,
    };
    let mut part = Part {
        kind: kind.to_owned(),
        class: None,
        numbers: BTreeMap::new(),
        features: former.features.filter(|features| Some(features) != seen),
        inner: former.values.map(|values| Box::new(self::part(Role::Critic, *values, numbers, seen))),
        problem: former.problem,
    };
    let own = part.entry(role).map_or(&[][..], |entry| entry.settings);
    let of = |name: &str| numbers.get(name).map(|number| (name.to_owned(), *number));
    part.numbers = own.iter().filter_map(|setting| of(setting.name)).collect();
    part
}

/// The state of a learner with these settings.
pub(crate) fn state(settings: &Settings, former: Tensors) -> Result<Tensors, String> {
    let mut renamed = Renamed { former, new: Tensors::default() };
    let learner = if settings.rule == Rule::All { "learner.0" } else { "learner" };
    renamed.to("gamma", "gamma")?;
    renamed.to(&format!("{learner}.weights"), "weights")?;
    renamed.to(&format!("{learner}.steps"), "steps")?;
    let diverged = renamed.former.remove(&format!("{learner}.diverged"));
    renamed.new.insert("diverged", diverged.unwrap_or(Numbers::Whole(vec![0])));
    renamed.critic(&settings.critic, &format!("{learner}.critic"), "critic")?;
    let trace = renamed.former.remove(&format!("{learner}.emphasis"));
    // No emphasis was a trace that nobody looked at.
    if let (Some(trace), "follow-on") = (trace, settings.emphasis.kind.as_str()) {
        renamed.new.insert("emphasis.rho_f", trace);
    }
    if settings.rule == Rule::All {
        renamed.to("learner.1", "drawn")?;
        renamed.to("learner.2.s", "random")?;
    }
    match renamed.former.iter().next() {
        Some((name, _)) => Err(format!("it has no use for {name}")),
        None => Ok(renamed.new),
    }
}

struct Renamed {
    former: Tensors,
    new: Tensors,
}

impl Renamed {
    fn taken(&mut self, name: &str) -> Result<Numbers, String> {
        self.former.remove(name).ok_or(format!("{name} is missing"))
    }

    fn to(&mut self, former: &str, new: &str) -> Result<(), String> {
        let numbers = self.taken(former)?;
        self.new.insert(new, numbers);
        Ok(())
    }

    fn critic(&mut self, part: &Part, former: &str, new: &str) -> Result<(), String> {
        let (first, second) = (format!("{former}.0"), format!("{former}.1"));
        match part.kind.as_str() {
            "gtd" => return self.gradient_td(former, new, ["v", "w", "e"]),
            "compatible" => {
                self.pairs(&format!("{former}.weights"), new, ["v", "u"])?;
                return self.pairs(&format!("{former}.second"), new, ["h_v", "h_u"]);
            }
            "gq" => self.gradient_td(&first, new, ["q", "h", "z"])?,
            "advantage" => self.to(&first, &format!("{new}.u"))?,
            _ => return Ok(()),
        }
        match &part.inner {
            Some(inner) => self.critic(inner, &second, &format!("{new}.values")),
            None => Ok(()),
        }
    }

    fn gradient_td(
        &mut self,
        former: &str,
        new: &str,
        [weights, second, trace]: [&str; 3],
    ) -> Result<(), String> {
        self.to(&format!("{former}.weights"), &format!("{new}.{weights}"))?;
        self.to(&format!("{former}.second"), &format!("{new}.{second}"))?;
        self.to(&format!("{former}.steps"), &format!("{new}.steps"))?;
        // A trace that is zero everywhere was not written.
        let features = self.former.remove(&format!("{former}.trace.0"));
        let values = self.former.remove(&format!("{former}.trace.1"));
        self.new.insert(format!("{new}.{trace}.features"), features.unwrap_or(Numbers::Whole(Vec::new())));
        self.new.insert(format!("{new}.{trace}"), values.unwrap_or(Numbers::Real(Vec::new())));
        Ok(())
    }

    /// Two lists that stood side by side.
    fn pairs(&mut self, former: &str, new: &str, names: [&str; 2]) -> Result<(), String> {
        let Numbers::Real(pairs) = self.taken(former)? else {
            return Err(format!("{former} is U64; it must be F64"));
        };
        for (k, name) in names.into_iter().enumerate() {
            let every_second = pairs.iter().skip(k).step_by(2).copied().collect();
            self.new.insert(format!("{new}.{name}"), Numbers::Real(every_second));
        }
        Ok(())
    }
}
