//! What experiment files say of simulators: discount, features, behaviour, interest and rollouts.

use super::policies::Policies;
use super::scenario::{Scenario, Scenarios, World};
use super::{MOST_EVALUATIONS, whole};
use crate::behaviour_file::{BehaviourFile, MixturePart, SavedFile};
use crate::experiment_file::{ExperimentFile, RolloutsFile};
use crate::features_file::FeaturesFile;
use crate::one_or_list::{Located, OneOrList};
use crate::source::{Behaviour, Interest, Simulator};
use emphatic::basis::Dimension;
use emphatic_environments::{Actions, Environment};
use emphatic_problems::{Behaviour as Written, Interest as WrittenInterest, InterestWord};
use emphatic_problems::{Mistake, Number, Share, ValueError, Whole, suggest};
use emphatic_text::exact_number;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The discount if a file gives none.
const GAMMA: f64 = 0.99;

/// The most episodes of rollouts, and the longest.
const MOST_EPISODES: u64 = 1_000_000;
const MOST_STEPS: u64 = 1 << 40;

/// How policies are tried out at an evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RolloutPlan {
    pub(crate) episodes: usize,
    /// After how many steps an episode is cut short; `None` if as the simulator says.
    cap: Option<u64>,
    /// The discount of returns.
    pub(crate) gamma: f64,
    /// One in how many states of a behaviour's stream is the start of an excursion.
    pub(crate) every: u64,
}

impl Default for RolloutPlan {
    fn default() -> Self {
        Self { episodes: 10, cap: None, gamma: 1.0, every: 1000 }
    }
}

/// After how many steps an episode is cut short where neither the file nor the simulator says.
const CAP: u64 = 1000;

/// The most steps of all episodes of an evaluation together.
const MOST_TRIED: u64 = 1 << 34;

impl RolloutPlan {
    /// Returns after how many steps an episode is cut short: as often as in the simulator itself, if the file does not say.
    pub(crate) fn cap_in(&self, simulator: &Simulator) -> u64 {
        self.cap.or(simulator.limit).unwrap_or(CAP)
    }

    /// Returns the same with so few and short episodes that they can be timed, and by how much less they are.
    pub(crate) fn shorter(self, simulator: &Simulator) -> (Self, f64) {
        let (episodes, cap) = (self.episodes.min(3), self.cap_in(simulator).min(CAP));
        let share = self.episodes as f64 / episodes as f64 * (self.cap_in(simulator) as f64 / cap as f64);
        (Self { episodes, cap: Some(cap), every: self.every.min(CAP), ..self }, share)
    }

    /// Returns everything that results depend on.
    pub(super) fn identity(self) -> Value {
        let Self { episodes, cap, gamma, every } = self;
        json!({ "episodes": episodes, "cap": cap, "gamma": gamma, "every": every })
    }

    /// Reads a table; what it leaves out is as here.
    pub(super) fn read(self, file: Option<&RolloutsFile>, key: &str) -> Result<Self, Mistake> {
        let Some(RolloutsFile { episodes, cap, gamma, every }) = file else { return Ok(self) };
        let number = |written: &Option<OneOrList<Whole>>, name: &str, most: u64, default: u64| {
            whole(written.as_ref(), &format!("{key}.{name}"), 1..=most).map(|given| given.unwrap_or(default))
        };
        let plan = Self {
            episodes: number(episodes, "episodes", MOST_EPISODES, self.episodes as u64)? as usize,
            cap: whole(cap.as_ref(), &format!("{key}.cap"), 1..=MOST_STEPS)?.or(self.cap),
            gamma: gamma
                .as_ref()
                .map(|gamma| read_gamma(gamma.single(&format!("{key}.gamma"))?))
                .transpose()?
                .unwrap_or(self.gamma),
            every: number(every, "every", MOST_EVALUATIONS, self.every)?,
        };
        let steps = plan.cap.unwrap_or(CAP).max(plan.every).saturating_mul(plan.episodes as u64);
        match [cap, episodes, every].into_iter().flatten().next() {
            Some(place) if steps > MOST_TRIED => {
                let message = format!(
                    "{} episodes of these lengths may take {steps} steps at every evaluation",
                    plan.episodes
                );
                Err(Mistake::at(&place.span, message).help(format!("at most {MOST_TRIED} are possible")))
            }
            _ => Ok(plan),
        }
    }
}

fn read_gamma(gamma: &Located<Number>) -> Result<f64, Mistake> {
    let Located { value: Number(x), span } = gamma;
    if *x > 0.0 && *x <= 1.0 {
        return Ok(*x);
    }
    let message = format!("`gamma` is {}; a discount lies above 0 and is at most 1", exact_number(*x));
    Err(Mistake::at(span, message))
}

/// Returns a simulator with the uniform behaviour and no features yet. A limit of 0 is none.
pub(super) fn simulator(
    environment: Arc<dyn Environment>,
    limit: Option<&OneOrList<Whole>>,
) -> Result<Simulator, Mistake> {
    let own = environment.description().limit.map(u64::from);
    let limit = match whole(limit, "limit", 0..=MOST_STEPS)? {
        Some(0) => None,
        given => given.or(own),
    };
    let actions = &environment.description().actions;
    let behaviour = Behaviour::uniform(actions).unwrap_or_else(|| usual(actions));
    let interest = Interest::Everywhere(1.0);
    Ok(Simulator { environment, behaviour, gamma: GAMMA, limit, interest, features: Vec::new() })
}

/// Returns the usual behaviour where no behaviour is uniform.
fn usual(actions: &Actions) -> Behaviour {
    let standard_deviation = match actions {
        Actions::Real { standard_deviation, .. } => *standard_deviation,
        Actions::Finite(_) => 1.0,
    };
    Behaviour::Normal { mean: 0.0, standard_deviation }
}

impl Scenarios {
    /// Reads what belongs to simulators alone: their discounts and features.
    pub(super) fn read_simulation(&mut self, file: &ExperimentFile) -> Result<(), Mistake> {
        if let Some(gammas) = &file.gamma {
            let with = |scenario: &Scenario, gamma: &Located<Number>| {
                let simulator = simulated(scenario, "gamma", gamma)?;
                Ok(Simulator { gamma: read_gamma(gamma)?, ..simulator })
            };
            self.spread(gammas, "gamma", in_simulator(with), |gamma| exact_number(gamma.0))?;
        }
        let Some(features) = &file.features else { return self.check_features(file) };
        let with = |scenario: &Scenario, features: &Located<FeaturesFile>| {
            let simulator = simulated(scenario, "features", features)?;
            let features = features.value.of_parts(&space(&*simulator.environment), &features.span)?;
            Ok(Simulator { features, ..simulator })
        };
        self.spread(features, "features", in_simulator(with), |features| features.text())
    }

    /// Returns an error if a simulator has no features.
    fn check_features(&self, file: &ExperimentFile) -> Result<(), Mistake> {
        let Some(simulator) = self.all.iter().find_map(Scenario::simulator) else { return Ok(()) };
        let description = simulator.environment.description();
        let names: Vec<&str> =
            description.observations.iter().map(|observed| observed.name).take(4).collect();
        let more = if description.observations.len() > 4 { ", …" } else { "" };
        let message = format!(
            "`{}` is a simulator and needs `features` of what is observed: {}{more}",
            description.name,
            names.join(", ")
        );
        let help = "features = { kind = \"tiles\", tilings = 8, tiles = 8, bias = true }, or another basis: `emphatic parts` lists them";
        Err(Mistake::at(&file.problem.span, message).help(help))
    }
}

/// Returns a function of a value that changes a scenario's simulator.
fn in_simulator<T>(
    with: impl Fn(&Scenario, &Located<T>) -> Result<Simulator, Mistake>,
) -> impl Fn(&Scenario, &Located<T>) -> Result<Scenario, Mistake> {
    move |scenario, value| Ok(scenario.with_world(World::Simulated(Arc::new(with(scenario, value)?))))
}

/// Returns the simulator of a scenario, or an error if it has none and the key no meaning.
fn simulated<T>(scenario: &Scenario, key: &str, value: &Located<T>) -> Result<Simulator, Mistake> {
    let simulator = scenario.simulator().map(|simulator| (**simulator).clone());
    simulator.ok_or_else(|| {
        let message = format!("`{key}` belongs to simulators, and {} is none", scenario.title());
        Mistake::at(&value.span, message).help(format!("the problem has its own {key}: leave the key out"))
    })
}

/// Returns what features are told of an environment's observations.
pub(crate) fn space(environment: &dyn Environment) -> Vec<Dimension> {
    let observed = environment.description().observations.iter();
    observed.map(|entry| Dimension { low: entry.low, high: entry.high, wraps: entry.wraps }).collect()
}

/// Returns a simulator with another behaviour.
pub(super) fn with_behaviour(
    simulator: &Simulator,
    written: &BehaviourFile,
    policies: &Policies,
) -> Result<Arc<Simulator>, ValueError> {
    let behaviour = behaviour(&*simulator.environment, written, policies)?;
    Ok(Arc::new(Simulator { behaviour, ..simulator.clone() }))
}

/// Returns a behaviour in an environment.
fn behaviour(
    environment: &dyn Environment,
    written: &BehaviourFile,
    policies: &Policies,
) -> Result<Behaviour, ValueError> {
    match written {
        BehaviourFile::Plain(written) => plain(&environment.description().actions, written),
        BehaviourFile::Saved(saved) => saved_policy(environment, saved, policies),
        BehaviourFile::Mixture { mixture } => mixed(environment, mixture, policies),
    }
}

fn saved_policy(
    environment: &dyn Environment,
    saved: &SavedFile,
    policies: &Policies,
) -> Result<Behaviour, ValueError> {
    let path = saved.policy.get_ref();
    let policy = policies.of(saved).ok_or_else(|| ValueError::new(format!("{path} was not read")))?;
    policy.check(environment.description()).map_err(|why| ValueError::new(format!("{path}: {why}")))?;
    match (saved.epsilon, &environment.description().actions) {
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

fn mixed(
    environment: &dyn Environment,
    parts: &[MixturePart],
    policies: &Policies,
) -> Result<Behaviour, ValueError> {
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
        let part = behaviour(environment, written, policies)?;
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
fn probabilities(names: &[&str], table: &BTreeMap<String, Share>) -> Result<Vec<f64>, ValueError> {
    let mut probabilities = vec![0.0; names.len()];
    for (name, share) in table {
        let Some(action) = names.iter().position(|known| known == name) else {
            return Err(ValueError::new(format!("there is no action `{name}`"))
                .maybe_help(suggest(name, names.iter().copied())));
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
        ValueError::new("the behaviour of a real action is `uniform` or a normal distribution")
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

/// Returns the interest in the states of a simulator.
pub(super) fn interest(written: &WrittenInterest) -> Result<Interest, ValueError> {
    match written {
        WrittenInterest::Word(InterestWord::All) => Ok(Interest::Everywhere(1.0)),
        WrittenInterest::Word(InterestWord::Start) => Ok(Interest::Start),
        WrittenInterest::Everywhere(Number(x)) if *x >= 0.0 && x.is_finite() => Ok(Interest::Everywhere(*x)),
        WrittenInterest::Everywhere(Number(x)) => Err(ValueError::new(format!(
            "the interest is {}; it must be finite and not negative",
            exact_number(*x)
        ))),
        WrittenInterest::ByState(_) => Err(ValueError::new("the states of a simulator have no names")
            .help("interest = \"all\" or \"start\"")),
    }
}
