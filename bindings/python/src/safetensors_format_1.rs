//! Saved learners of format 1, read as those of format 2.
//!
//! In format 1 all parts of a learner share one list of numbers, and tensors are named by their place in a tree.

use crate::safetensors_file::parsed;
use crate::settings::{FeaturesPart, Part, Settings, VALUES};
use emphatic::catalogue::Role;
use emphatic::{Numbers, RuleKind, Tensors};
use serde::Deserialize;
use std::collections::BTreeMap;

pub(crate) const FORMAT: &str = "emphatic learner 1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings1 {
    class: String,
    structure: Structure,
    numbers: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Structure {
    learner: Learner,
    policy: Part1,
    critic: Part1,
    emphasis: Part1,
    #[serde(default)]
    subset: Option<(usize, u64)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Learner {
    ActorCritic,
    AllActions,
    DeterministicActorCritic,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part1 {
    kind: String,
    features: Option<FeaturesPart>,
    actions: Option<usize>,
    values: Option<Box<Part1>>,
    problem: Option<usize>,
}

/// Reads the settings of a file.
pub(crate) fn settings(text: &str) -> Result<Settings, String> {
    let Settings1 { class, structure, numbers } = parsed(text)?;
    let alpha = *numbers.get("alpha").ok_or("the settings have no number `alpha`")?;
    let actions = structure.policy.actions;
    let policy = part(Role::Policy, structure.policy, &numbers, None);
    let features = policy.features.as_ref();
    Ok(Settings {
        class,
        rule: match structure.learner {
            Learner::ActorCritic => RuleKind::Taken,
            Learner::AllActions => RuleKind::All,
            Learner::DeterministicActorCritic => RuleKind::Deterministic,
        },
        critic: part(Role::Critic, structure.critic, &numbers, features),
        emphasis: part(Role::Emphasis, structure.emphasis, &numbers, features),
        actor: None,
        actions,
        alpha,
        warm_up: 0,
        subset: structure.subset,
        policy,
    })
}

/// Reads a part with its own of all numbers, and with features unless they are the policy's.
fn part(role: Role, old: Part1, numbers: &BTreeMap<String, f64>, policys: Option<&FeaturesPart>) -> Part {
    let kind = match old.kind.as_str() {
        "deterministic_linear" => "deterministic",
        "action_values" => "gq",
        "learned_advantage" => "advantage",
        "follow_on" => "follow-on",
        same => same,
    };
    let mut part = Part {
        kind: kind.to_owned(),
        features: old.features.filter(|features| Some(features) != policys),
        inner: old
            .values
            .map(|values| (VALUES.to_owned(), self::part(Role::Critic, *values, numbers, policys)))
            .into_iter()
            .collect(),
        problem: old.problem,
        ..Part::default()
    };
    let own = part.entry(role).map_or(&[][..], |entry| entry.settings);
    let of = |name: &str| numbers.get(name).map(|number| (name.to_owned(), *number));
    part.numbers = own.iter().filter_map(|setting| of(setting.name)).collect();
    part
}

/// Renames the tensors of a learner with these settings.
pub(crate) fn state(settings: &Settings, old: Tensors) -> Result<Tensors, String> {
    let mut renamed = Renamed { old, new: Tensors::default() };
    let learner = if settings.rule == RuleKind::All { "learner.0" } else { "learner" };
    renamed.rename("gamma", "gamma")?;
    renamed.rename(&format!("{learner}.weights"), "weights")?;
    renamed.rename(&format!("{learner}.steps"), "steps")?;
    let diverged = renamed.old.remove(&format!("{learner}.diverged"));
    renamed.new.insert("diverged", diverged.unwrap_or(Numbers::Whole(vec![0])));
    renamed.critic(&settings.critic, &format!("{learner}.critic"), "critic")?;
    let trace = renamed.old.remove(&format!("{learner}.emphasis"));
    // A learner without emphasis had a trace that was never used.
    if let (Some(trace), "follow-on") = (trace, settings.emphasis.kind.as_str()) {
        renamed.new.insert("emphasis.rho_f", trace);
    }
    if settings.rule == RuleKind::All {
        renamed.rename("learner.1", "drawn")?;
        renamed.rename("learner.2.s", "random")?;
    }
    match renamed.old.iter().next() {
        Some((name, _)) => Err(format!("it has no use for {name}")),
        None => Ok(renamed.new),
    }
}

struct Renamed {
    old: Tensors,
    new: Tensors,
}

impl Renamed {
    fn take(&mut self, name: &str) -> Result<Numbers, String> {
        self.old.remove(name).ok_or(format!("{name} is missing"))
    }

    fn rename(&mut self, old: &str, new: &str) -> Result<(), String> {
        let numbers = self.take(old)?;
        self.new.insert(new, numbers);
        Ok(())
    }

    fn critic(&mut self, part: &Part, old: &str, new: &str) -> Result<(), String> {
        let (first, second) = (format!("{old}.0"), format!("{old}.1"));
        match part.kind.as_str() {
            "gtd" => return self.gradient_td(old, new, ["v", "w", "e"]),
            "compatible" => {
                self.pairs(&format!("{old}.weights"), new, ["v", "u"])?;
                return self.pairs(&format!("{old}.second"), new, ["h_v", "h_u"]);
            }
            "gq" => self.gradient_td(&first, new, ["q", "h", "z"])?,
            "advantage" => self.rename(&first, &format!("{new}.u"))?,
            _ => return Ok(()),
        }
        match part.inner.get(VALUES) {
            Some(inner) => self.critic(inner, &second, &format!("{new}.{VALUES}")),
            None => Ok(()),
        }
    }

    fn gradient_td(
        &mut self,
        old: &str,
        new: &str,
        [weights, second, trace]: [&str; 3],
    ) -> Result<(), String> {
        self.rename(&format!("{old}.weights"), &format!("{new}.{weights}"))?;
        self.rename(&format!("{old}.second"), &format!("{new}.{second}"))?;
        self.rename(&format!("{old}.steps"), &format!("{new}.steps"))?;
        // A trace of zeros was not written.
        let features = self.old.remove(&format!("{old}.trace.0"));
        let values = self.old.remove(&format!("{old}.trace.1"));
        self.new.insert(format!("{new}.{trace}.features"), features.unwrap_or(Numbers::Whole(Vec::new())));
        self.new.insert(format!("{new}.{trace}"), values.unwrap_or(Numbers::Real(Vec::new())));
        Ok(())
    }

    /// Splits a list of pairs into two lists.
    fn pairs(&mut self, old: &str, new: &str, names: [&str; 2]) -> Result<(), String> {
        let Numbers::Real(pairs) = self.take(old)? else {
            return Err(format!("{old} is U64; it must be F64"));
        };
        for (k, name) in names.into_iter().enumerate() {
            let every_second = pairs.iter().skip(k).step_by(2).copied().collect();
            self.new.insert(format!("{new}.{name}"), Numbers::Real(every_second));
        }
        Ok(())
    }
}
