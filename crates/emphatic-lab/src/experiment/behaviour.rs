//! What experiment files say of behaviours in simulators.

use super::policies::Policies;
use crate::behaviour_file::{BehaviourFile, MixturePart, SavedFile};
use crate::source::{Actions, Behaviour, Interface, Simulator};
use emphatic_problems::{Behaviour as Written, Number, Share, ValueError, suggest};
use emphatic_text::exact_number;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a simulator with another behaviour.
pub(crate) fn with_behaviour(
    simulator: &Simulator,
    written: &BehaviourFile,
    policies: &Policies,
) -> Result<Arc<Simulator>, ValueError> {
    let behaviour = behaviour(&simulator.interface, written, policies)?;
    Ok(Arc::new(Simulator { behaviour, ..simulator.clone() }))
}

/// Returns a behaviour in an environment.
fn behaviour(
    interface: &Interface,
    written: &BehaviourFile,
    policies: &Policies,
) -> Result<Behaviour, ValueError> {
    match written {
        BehaviourFile::Plain(written) => plain(&interface.actions, written),
        BehaviourFile::Saved(saved) => saved_policy(interface, saved, policies),
        BehaviourFile::Mixture { mixture } => mixed(interface, mixture, policies),
    }
}

fn saved_policy(
    interface: &Interface,
    saved: &SavedFile,
    policies: &Policies,
) -> Result<Behaviour, ValueError> {
    let path = saved.policy.get_ref();
    let policy = policies.of(saved).ok_or_else(|| ValueError::new(format!("{path} was not read")))?;
    policy.check(interface).map_err(|why| ValueError::new(format!("{path}: {why}")))?;
    match (saved.epsilon, &interface.actions) {
        (None, _) => Ok(Behaviour::Saved(policy)),
        (Some(_), Actions::Real { .. }) => {
            Err(ValueError::new("real actions have no greedy one: `epsilon` needs finitely many").help(
                "mix densities: { mixture = [{ share = 0.1, behaviour = \"uniform\" }, { share = 0.9, behaviour = { policy = … } }] }",
            ))
        }
        (Some(Number(epsilon)), _) if (0.0..=1.0).contains(&epsilon) => {
            Ok(Behaviour::EpsilonGreedy { of: policy, epsilon })
        }
        (Some(Number(epsilon)), _) => Err(ValueError::new(format!(
            "`epsilon` is {}; a probability lies between 0 and 1",
            exact_number(epsilon)
        ))),
    }
}

fn mixed(interface: &Interface, parts: &[MixturePart], policies: &Policies) -> Result<Behaviour, ValueError> {
    if parts.is_empty() {
        return Err(ValueError::new("a mixture has no parts")
            .help("{ mixture = [{ share = 0.5, behaviour = \"uniform\" }, …] }"));
    }
    let mut mixture = Vec::new();
    for MixturePart { share: Number(share), behaviour: written } in parts {
        if !(0.0..=1.0).contains(share) {
            let share = exact_number(*share);
            return Err(ValueError::new(format!(
                "the share of a part of a mixture is {share}; it must lie between 0 and 1"
            )));
        }
        let part = behaviour(interface, written, policies)?;
        // A part that never acts would still be computed.
        if *share > 0.0 {
            mixture.push((*share, part));
        }
    }
    let sum = mixture.iter().fold(0.0, |sum, (share, _)| sum + share);
    if (sum - 1.0).abs() > 1e-9 {
        return Err(ValueError::new(format!(
            "the shares of a mixture sum to {}, not to 1",
            exact_number(sum)
        )));
    }
    Ok(Behaviour::Mixture(mixture))
}

/// Returns a behaviour that is the same whatever is observed.
fn plain(actions: &Actions, written: &Written) -> Result<Behaviour, ValueError> {
    Ok(match (written, actions) {
        (Written::Word(_), _) => Behaviour::uniform(actions).ok_or_else(|| {
            ValueError::new("no behaviour is uniform where actions are not bounded")
                .help("{ mean = 0, standard_deviation = 1 }")
        })?,
        (Written::Table(table), Actions::Finite(names)) => Behaviour::Fixed(probabilities(names, table)?),
        (Written::Table(table), Actions::Real { .. }) => normal(table)?,
    })
}

/// Returns the probability of each action.
fn probabilities(names: &[String], table: &BTreeMap<String, Share>) -> Result<Vec<f64>, ValueError> {
    let mut probabilities = vec![0.0; names.len()];
    for (name, share) in table {
        let Some(action) = names.iter().position(|known| known == name) else {
            return Err(ValueError::new(format!("there is no action `{name}`"))
                .maybe_help(suggest(name, names.iter().map(String::as_str))));
        };
        match share {
            Share::Number(Number(x)) if (0.0..=1.0).contains(x) => probabilities[action] = *x,
            Share::Number(Number(x)) => {
                return Err(ValueError::new(format!(
                    "the probability of `{name}` is {}; it must lie between 0 and 1",
                    exact_number(*x)
                )));
            }
            Share::InState(_) => {
                return Err(ValueError::new("the states of a simulator have no names")
                    .help("give a probability for each action: the same in all states"));
            }
        }
    }
    let sum: f64 = probabilities.iter().sum();
    if (sum - 1.0).abs() > 1e-9 {
        return Err(ValueError::new(format!("the probabilities sum to {}, not to 1", exact_number(sum)))
            .help(format!("the actions are {}", names.join(", "))));
    }
    Ok(probabilities)
}

fn normal(table: &BTreeMap<String, Share>) -> Result<Behaviour, ValueError> {
    let wrong = || {
        ValueError::new("the behaviour of a real action is `uniform`, where it has bounds, or a normal distribution with a finite mean and a positive standard deviation")
            .help("{ mean = 0, standard_deviation = 1 }")
    };
    let number = |name: &str| match table.get(name) {
        Some(Share::Number(Number(x))) if x.is_finite() => Ok(*x),
        _ => Err(wrong()),
    };
    if table.len() != 2 {
        return Err(wrong());
    }
    let (mean, standard_deviation) = (number("mean")?, number("standard_deviation")?);
    if standard_deviation <= 0.0 {
        return Err(ValueError::new(format!(
            "the standard deviation is {}; it must be above 0",
            exact_number(standard_deviation)
        )));
    }
    Ok(Behaviour::Normal { mean, standard_deviation })
}
