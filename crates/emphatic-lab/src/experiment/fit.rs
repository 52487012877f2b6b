//! Whether the parts of a method fit together, and with its problem.

use super::part::{PartChoice, joined, joined_in_quotes};
use crate::experiment_file::Actions;
use crate::one_or_list::Located;
use emphatic::RuleKind;
use emphatic::catalogue::{ALGORITHMS, Acts, Algorithm, Catalogue, Entry, Need, Role, Signal};
use emphatic_problems::Mistake;
use std::ops::Range;

/// Returns the rule by which the actor learns. The critic must provide what the rule needs.
pub(super) fn rule(
    actions: Option<&Located<Actions>>,
    policy: &Entry,
    critic: &PartChoice,
) -> Result<RuleKind, Mistake> {
    let tells = |what: Signal| critic.entry.signals.contains(&what);
    if let Some(actions) = actions {
        check_actions(actions, policy, critic)?;
    }
    let all = actions.map_or(!tells(Signal::Delta), |actions| actions.value == Actions::All);
    let (rule, needs) = match policy.acts {
        Some(Acts::Deterministic) => (RuleKind::Deterministic, Signal::Slope),
        Some(Acts::Finite) if all && tells(Signal::Advantages) => (RuleKind::All, Signal::Advantages),
        _ => (RuleKind::Taken, Signal::Delta),
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
    Err(Mistake::at(&critic.span, message).help(critics_for(needs)))
}

/// Returns the rule by which an actor learns. The critic must provide what the actor needs.
pub(super) fn rule_of(
    actor: &PartChoice,
    actions: Option<&Located<Actions>>,
    policy: &Entry,
    critic: &PartChoice,
) -> Result<RuleKind, Mistake> {
    let name = actor.entry.name;
    if policy.acts == Some(Acts::Deterministic) {
        let message = format!("the actor `{name}` needs a policy that draws its actions");
        return Err(Mistake::at(&actor.span, message)
            .help("a deterministic policy learns from ∂q/∂a: leave `actor` out"));
    }
    if let Some(actions) = actions {
        return Err(Mistake::at(&actions.span, "`actions` has no meaning here")
            .help(format!("the actor `{name}` knows from which actions it learns")));
    }
    let needs = actor.entry.signals.first().copied().unwrap_or(Signal::Delta);
    if !critic.entry.signals.contains(&needs) {
        let message = format!(
            "the actor `{name}` needs {}, which the critic `{}` does not tell",
            needs.words(),
            critic.entry.name
        );
        return Err(Mistake::at(&critic.span, message).help(critics_for(needs)));
    }
    Ok(if needs == Signal::Advantages { RuleKind::All } else { RuleKind::Taken })
}

/// Returns an error if an algorithm has another actor than the one that is given.
pub(super) fn check_actor(
    algorithm: &Algorithm,
    name: &Located<String>,
    actor: Option<&PartChoice>,
) -> Result<(), Mistake> {
    let Some(own) = algorithm.actor else { return Ok(()) };
    match actor {
        Some(actor) if actor.entry.name == own => Ok(()),
        Some(actor) => {
            Err(Mistake::at(&actor.span, format!("the algorithm `{}` has its own actor", algorithm.name))
                .help(format!("kind = \"{own}\"")))
        }
        None => Err(Mistake::at(
            &name.span,
            format!("the algorithm `{}` needs an actor with its settings", algorithm.name),
        )
        .help(format!("actor = {{ kind = \"{own}\", … }}"))),
    }
}

/// Returns an error if a part, or one inside it, needs what a simulator does not have.
pub(super) fn check_simulated(part: &PartChoice) -> Result<(), Mistake> {
    let Entry { declaration, .. } = part.entry;
    let is_missing = |need: &&Need| matches!(need, Need::Problem | Need::Table);
    if let Some(need) = declaration.needs.iter().find(is_missing) {
        let (role, name) = (declaration.role.word(), declaration.name);
        let message = format!("the {role} `{name}` needs {}, which a simulator does not have", need.words());
        let fits = |entry: &&Entry| !entry.needs.iter().any(|need| is_missing(&need));
        let others = Catalogue::current().of(declaration.role).filter(fits).map(|entry| entry.name);
        let right = joined_in_quotes(others, "or");
        return Err(Mistake::at(&part.span, message).help(format!("in a simulator: {right}")));
    }
    part.inner.iter().try_for_each(|(_, inner)| check_simulated(inner))
}

/// Returns an error if a method cannot learn from the actions that its file asks for.
fn check_actions(actions: &Located<Actions>, policy: &Entry, critic: &PartChoice) -> Result<(), Mistake> {
    let tells = |what: Signal| critic.entry.signals.contains(&what);
    let right = match actions.value {
        Actions::Taken if !tells(Signal::Delta) && tells(Signal::Advantages) => {
            "this critic compares actions: the actor learns from all of them".to_owned()
        }
        Actions::Taken if policy.acts == Some(Acts::Deterministic) => {
            "a deterministic policy learns from ∂q/∂a".to_owned()
        }
        Actions::All if policy.acts != Some(Acts::Finite) => {
            "a real action has no list of alternatives".to_owned()
        }
        Actions::All if !tells(Signal::Advantages) => format!(
            "the critic `{}` does not compare actions: {}",
            critic.entry.name,
            critics_for(Signal::Advantages)
        ),
        Actions::Taken | Actions::All => return Ok(()),
    };
    Err(Mistake::at(&actions.span, "`actions` has no meaning here").help(right))
}

/// Returns an advice: which critics provide this.
pub(super) fn critics_for(what: Signal) -> String {
    let critics = Catalogue::current().of(Role::Critic).filter(|entry| entry.signals.contains(&what));
    format!("use {}", joined_in_quotes(critics.map(|entry| entry.name), "or"))
}

/// Returns an error if a policy does not fit the problem, or is not the one that was asked for.
pub(super) fn check_policy(
    policy: &Entry,
    kind: Option<&Located<String>>,
    asked: Option<&Entry>,
    drawn: Acts,
    place: &Range<usize>,
) -> Result<(), Mistake> {
    if (policy.acts == Some(Acts::Finite)) != (drawn == Acts::Finite) {
        let has = if drawn == Acts::Finite { "named actions" } else { "one real action" };
        let place = kind.map_or(place, |kind| &kind.span);
        let message = format!("a {} policy does not fit this problem, which has {has}", policy.name);
        return Err(Mistake::at(place, message).help(format!("it needs {}", policies_for(drawn))));
    }
    match (kind, asked) {
        (Some(kind), Some(asked)) if asked.name != policy.name => {
            let message =
                format!("the algorithm needs a {} policy here, not a {} one", policy.name, asked.name);
            Err(Mistake::at(&kind.span, message).help("leave `kind` out"))
        }
        _ => Ok(()),
    }
}

/// Returns whether a policy has what a part needs of it.
fn has(policy: &Entry, need: Need) -> bool {
    match need {
        Need::Ratio => policy.acts != Some(Acts::Deterministic),
        Need::Finite => policy.acts == Some(Acts::Finite),
        Need::Problem | Need::Table | Need::NoEmphasis => true,
    }
}

/// Returns an error if a part, or one inside it, needs what the policy does not have.
pub(super) fn check_needs(policy: &Entry, part: &PartChoice, place: &Range<usize>) -> Result<(), Mistake> {
    let Some(missing) = part.entry.needs.iter().find(|need| !has(policy, **need)) else {
        return part.inner.iter().try_for_each(|(_, inner)| check_needs(policy, inner, &inner.span));
    };
    let what = if *missing == Need::Ratio { "ratio" } else { "finitely many actions" };
    let (role, name) = (part.entry.role, part.entry.name);
    let word = role.word();
    let message = format!("a {} policy has no {what}, which the {word} `{name}` needs", policy.name);
    let fits = |entry: &&Entry| entry.needs.iter().all(|need| has(policy, *need));
    let fit = Catalogue::current().of(role).filter(fits);
    let help = format!("use the {word} {}", joined_in_quotes(fit.map(|entry| entry.name), "or"));
    Err(Mistake::at(place, message).help(help))
}

/// Returns an error if an actor has an emphasis beside it that it would ignore.
pub(super) fn check_emphasis_beside(actor: &PartChoice, emphasis: &PartChoice) -> Result<(), Mistake> {
    if !actor.entry.needs.contains(&Need::NoEmphasis) || emphasis.entry.name == "none" {
        return Ok(());
    }
    let message = format!("the actor `{}` has its own emphasis", actor.entry.name);
    Err(Mistake::at(&emphasis.span, message).help("leave `emphasis` out"))
}

/// Returns the policies that fit a problem whose actions are drawn like this and, if not all do, the algorithms.
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
