//! Experience of a behaviour in a simulator, to be looked at before anything is learned from it.

use crate::behaviour_file::BehaviourFile;
use crate::experiment::{Experiment, Policies, simulator_named, with_behaviour};
use crate::features_file::FeaturesFile;
use crate::source::{Actions, Simulator, Source, SourceError, Stream};
use emphatic::{Action, Features, State, Step};
use emphatic_diagnosis::sampled::Simulation;
use emphatic_problems::ValueError;
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;

/// A simulator with a behaviour, a discount and features.
#[derive(Debug)]
pub struct Simulated {
    simulator: Simulator,
    written: Simulation,
}

/// Arguments that describe a simulator, as a command takes them.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimulatedArguments<'a> {
    /// The features of what is observed: `tiles,tilings=8,tiles=8,bias=true`, or as an experiment file has them.
    pub features: &'a str,
    /// The discount, if it is not the usual one.
    pub gamma: Option<f64>,
    /// The behaviour, if it is not the usual one: `uniform`, or `left=0.2,right=0.8`, or as an experiment file has it.
    pub behaviour: Option<&'a str>,
}

/// Steps that were recorded.
#[derive(Debug)]
pub struct Recorded {
    observed: usize,
    /// The observations before and after each step, one after the other.
    states: Vec<f64>,
    next: Vec<f64>,
    steps: Vec<Step<(), Action>>,
}

impl Recorded {
    /// The steps.
    pub fn steps(&self) -> Vec<Step<State<'_>, Action>> {
        let of = |numbers| State::Vector(numbers);
        let states = self.states.chunks_exact(self.observed).zip(self.next.chunks_exact(self.observed));
        let step = |(step, (state, next)): (&Step<(), Action>, (_, _))| {
            let Step { action, mu, reward, gamma, gamma_next, interest, .. } = *step;
            Step { state: of(state), next: of(next), action, mu, reward, gamma, gamma_next, interest }
        };
        self.steps.iter().zip(states).map(step).collect()
    }
}

impl Simulated {
    /// Returns the simulator of this name; `None` if there is none.
    pub fn named(name: &str, arguments: &SimulatedArguments) -> Option<Result<Self, ValueError>> {
        let environment = emphatic_environments::find(name)?;
        let of = || {
            let mut simulator = simulator_named(environment)?;
            simulator.gamma = arguments.gamma.unwrap_or(simulator.gamma);
            if !(simulator.gamma > 0.0 && simulator.gamma <= 1.0) {
                return Err(ValueError::new(format!(
                    "the discount is {}; a discount lies above 0 and is at most 1",
                    simulator.gamma
                )));
            }
            let written = arguments.behaviour.map(policy_toml).transpose()?;
            if let Some(written) = &written {
                simulator = behaving(&simulator, written)?;
            }
            let features = features_toml(arguments.features)?;
            let built = read::<FeaturesFile>(&features)?.of_parts(&simulator.interface.space, &NOWHERE);
            simulator.features = built.map_err(|mistake| mistake.error)?;
            let gamma = simulator.gamma;
            let written = Simulation { problem: format!("{name:?}"), gamma, features, behaviour: written };
            Ok(Self { simulator, written })
        };
        Some(of())
    }

    /// Returns the simulator of an experiment; `None` if it has none. An experiment with several, or several behaviours, is refused.
    pub fn of_experiment(experiment: &Experiment) -> Option<Result<Self, ValueError>> {
        let simulator = experiment.scenarios.iter().find_map(|scenario| scenario.simulator())?;
        if experiment.scenarios.len() > 1 {
            let message =
                format!("its lists make {} problems, and a diagnosis is of one", experiment.scenarios.len());
            let help = "leave one value of problem, features, gamma, behaviour and interest";
            return Some(Err(ValueError::new(message).help(help)));
        }
        let simulator = (**simulator).clone();
        let written = Simulation {
            problem: format!("{:?}", simulator.interface.name),
            gamma: simulator.gamma,
            features: String::new(),
            behaviour: None,
        };
        Some(Ok(Self { simulator, written }))
    }

    /// The name of the simulator.
    pub fn name(&self) -> &str {
        &self.simulator.interface.name
    }

    /// What an experiment file would say of it.
    pub fn written(&self) -> &Simulation {
        &self.written
    }

    /// Whether its behaviour names files, which an experiment looks for beside itself.
    pub fn names_files(&self) -> bool {
        self.simulator.behaviour.is_saved()
    }

    /// The features of the critic.
    pub fn features(&self) -> Option<&Features> {
        // Alone, it is the first of its bases.
        self.simulator.features.iter().find(|(name, _)| *name == "critic").map(|(_, features)| features)
    }

    /// The names of the actions; empty if an action is a real number.
    pub fn actions(&self) -> Vec<String> {
        match &self.simulator.interface.actions {
            Actions::Finite(names) => names.clone(),
            Actions::Real { .. } => Vec::new(),
        }
    }

    /// Lets the behaviour act for so many steps, by the first stream of this seed.
    pub fn record(&self, count: usize, seed: u64) -> Result<Recorded, SourceError> {
        let observed = self.simulator.interface.space.len();
        let mut stream = Source::stream(&self.simulator, seed, 0);
        let mut recorded =
            Recorded { observed, states: Vec::new(), next: Vec::new(), steps: Vec::with_capacity(count) };
        while recorded.steps.len() < count
            && let Some(step) = Stream::next(&mut *stream)?
        {
            if let (State::Vector(state), State::Vector(next)) = (step.state, step.next) {
                recorded.states.extend_from_slice(state);
                recorded.next.extend_from_slice(next);
            }
            let Step { action, mu, reward, gamma, gamma_next, interest, .. } = step;
            recorded.steps.push(Step {
                state: (),
                next: (),
                action,
                mu,
                reward,
                gamma,
                gamma_next,
                interest,
            });
        }
        Ok(recorded)
    }

    /// Returns π(A_t|S_t) of a target, which is written as a behaviour is, at each step.
    pub fn target(&self, text: &str, recorded: &Recorded) -> Result<Vec<f64>, ValueError> {
        let target = behaving(&self.simulator, &policy_toml(text)?)?.behaviour;
        let mut look = target.look();
        let mut probability = |step: &Step<State<'_>, Action>| {
            if let State::Vector(observation) = step.state {
                target.see(observation, &mut look).map_err(|error| {
                    ValueError::new(format!(
                        "the target cannot act where {observation:?} is observed: {error}"
                    ))
                })?;
            }
            Ok(look.probability(step.action))
        };
        recorded.steps().iter().map(&mut probability).collect()
    }
}

/// Returns a simulator with a behaviour as experiment files have it. Saved policies are looked for where the program is run.
fn behaving(simulator: &Simulator, written: &str) -> Result<Simulator, ValueError> {
    let written = read::<BehaviourFile>(written)?;
    let policies = Policies::of_one(&written, Path::new("")).map_err(|mistake| mistake.error)?;
    Ok((*with_behaviour(simulator, &written, &policies)?).clone())
}

/// Where a mistake in an argument is.
const NOWHERE: Range<usize> = 0..0;

#[derive(Deserialize)]
struct Argument<T> {
    value: T,
}

/// Reads a value as experiment files have it.
fn read<T: serde::de::DeserializeOwned>(value: &str) -> Result<T, ValueError> {
    let read = toml::from_str::<Argument<T>>(&format!("value = {value}"));
    read.map(|argument| argument.value)
        .map_err(|error| ValueError::new(format!("`{value}`: {}", error.message())))
}

/// `tiles,tilings=8,tiles=8` as experiment files have it.
fn features_toml(text: &str) -> Result<String, ValueError> {
    if text.trim_start().starts_with(['{', '"']) {
        return Ok(text.to_owned());
    }
    let mut words = outside_brackets(text).into_iter();
    let kind = words.next().unwrap_or_default();
    let settings: Vec<String> = words.map(setting_toml).collect::<Result<_, _>>()?;
    Ok(match settings.is_empty() {
        true => format!("{kind:?}"),
        false => format!("{{ kind = {kind:?}, {} }}", settings.join(", ")),
    })
}

/// `uniform`, or `left=0.2,right=0.8`, as experiment files have it.
fn policy_toml(text: &str) -> Result<String, ValueError> {
    Ok(match text.contains('=') {
        _ if text.trim_start().starts_with(['{', '"']) => text.to_owned(),
        true => {
            let shares: Vec<String> =
                outside_brackets(text).into_iter().map(setting_toml).collect::<Result<_, _>>()?;
            format!("{{ {} }}", shares.join(", "))
        }
        false if text.trim() == "uniform" => "\"uniform\"".to_owned(),
        false => {
            let right = "write uniform, left=0.2,right=0.8, mean=0,standard_deviation=1, or a saved policy: '{ policy = \"FILE\" }'";
            return Err(ValueError::new(format!("`{}` is no policy", text.trim())).help(right));
        }
    })
}

/// `name=value` with quotes where they are needed.
fn setting_toml(word: &str) -> Result<String, ValueError> {
    let (name, value) = word.split_once('=').map_or((word, ""), |(name, value)| (name.trim(), value.trim()));
    if name.is_empty() || value.is_empty() {
        return Err(ValueError::new(format!("`{word}` is no setting")).help("name=value, such as tilings=8"));
    }
    // TOML knows neither `.5` nor `infinity`.
    if let Ok(number) = value.parse::<f64>()
        && value.parse::<i64>().is_err()
    {
        return Ok(format!("{} = {}", toml_name(name), format!("{number:?}").to_lowercase()));
    }
    let is_word = value.parse::<i64>().is_err()
        && !value.starts_with(['[', '"', '{'])
        && !["true", "false"].contains(&value);
    let name = toml_name(name);
    Ok(if is_word { format!("{name} = {value:?}") } else { format!("{name} = {value}") })
}

/// A name with quotes where they are needed.
fn toml_name(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty() {
        true => name.to_owned(),
        false => format!("{name:?}"),
    }
}

/// Splits a text at its commas, but not at those of a list.
fn outside_brackets(text: &str) -> Vec<&str> {
    let (mut words, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                words.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(text[start..].trim());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_as_files_are() {
        assert_eq!(features_toml("observation").unwrap(), "\"observation\"");
        assert_eq!(
            features_toml("tiles, tilings=8,tiles=[4, 8],bias=true,outside=clip").unwrap(),
            "{ kind = \"tiles\", tilings = 8, tiles = [4, 8], bias = true, outside = \"clip\" }"
        );
        assert_eq!(policy_toml("uniform").unwrap(), "\"uniform\"");
        assert_eq!(policy_toml("torque -1=0.5,idle=.5").unwrap(), "{ \"torque -1\" = 0.5, idle = 0.5 }");
        assert_eq!(
            policy_toml("mean=-1,standard_deviation=1.").unwrap(),
            "{ mean = -1, standard_deviation = 1.0 }"
        );
        assert_eq!(policy_toml("{ a = 1 }").unwrap(), "{ a = 1 }");
    }

    #[test]
    fn a_setting_without_a_value_is_named() {
        for wrong in ["tiles,", "tiles,tilings", "tiles,tilings=", "tiles,=8"] {
            assert!(features_toml(wrong).unwrap_err().message.ends_with("is no setting"), "{wrong}");
        }
        assert!(policy_toml("left=0.2,right").is_err());
    }

    fn mistake(name: &str, arguments: SimulatedArguments) -> ValueError {
        Simulated::named(name, &arguments).unwrap().unwrap_err()
    }

    #[test]
    fn wrong_arguments_are_refused_with_what_would_be_right() {
        let tiles = SimulatedArguments { features: "tiles,tilings=4,tiles=4", ..Default::default() };
        assert!(Simulated::named("mountain-cra", &tiles).is_none());
        let unknown =
            mistake("mountain-car", SimulatedArguments { features: "tile,tilings=4,tiles=4", ..tiles });
        assert!(unknown.help.unwrap().contains("tiles"));
        let missing = mistake("mountain-car", SimulatedArguments { features: "tiles,tilings=4", ..tiles });
        assert!(missing.message.contains("tiles"), "{missing}");
        let action =
            mistake("mountain-car", SimulatedArguments { behaviour: Some("forward=0.5,back=0.5"), ..tiles });
        assert!(action.message.contains("no action `back`"), "{action}");
        let gamma = mistake("mountain-car", SimulatedArguments { gamma: Some(1.5), ..tiles });
        assert!(gamma.message.contains("1.5"), "{gamma}");
    }

    /// The same stream as an experiment's first run has.
    #[test]
    fn targets_have_probabilities_and_steps_follow_one_another() {
        let tiles = SimulatedArguments { features: "tiles,tilings=4,tiles=4", ..Default::default() };
        let simulated = Simulated::named("cart-pole", &tiles).unwrap().unwrap();
        let recorded = simulated.record(500, 1).unwrap();
        let steps = recorded.steps();
        assert!(steps.windows(2).all(|pair| pair[1].gamma == 0.0 || pair[0].next == pair[1].state));
        let target = simulated.target("left=0.25,right=0.75", &recorded).unwrap();
        for (step, pi) in steps.iter().zip(target) {
            assert_eq!(pi, if step.action == Action::Number(0) { 0.25 } else { 0.75 });
        }
        assert!(simulated.target("left=0.25", &recorded).is_err());
    }
}
