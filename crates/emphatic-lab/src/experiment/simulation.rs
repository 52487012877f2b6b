//! What experiment files say of simulators: discount, features, interest and rollouts.

use super::scenario::{FindExternal, Scenario, Scenarios, World};
use super::{MOST_EVALUATIONS, whole};
use crate::experiment_file::{ExperimentFile, RolloutsFile};
use crate::features_file::FeaturesFile;
use crate::one_or_list::{Located, OneOrList};
use crate::source::{Actions, Behaviour, Dynamics, Elsewhere, Interest, Interface, Simulator};
use emphatic_environments::Environment;
use emphatic_problems::{Interest as WrittenInterest, InterestWord, Mistake, Number, ValueError, Whole};
use emphatic_text::exact_number;
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

/// What stands before the name of an environment of Gymnasium.
pub(super) const GYMNASIUM: &str = "gymnasium:";

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

    /// Returns the same with so few and short episodes that they can be timed.
    pub(crate) fn shorter(self, simulator: &Simulator) -> Self {
        let cap = Some(self.cap_in(simulator).min(CAP));
        Self { episodes: self.episodes.min(3), cap, every: self.every.min(CAP), ..self }
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

/// Returns the environment that a problem names, with what is seen of it; `None` if it names something else.
pub(super) fn environment(
    name: &str,
    span: &Range<usize>,
    find_external: Option<&FindExternal>,
) -> Result<Option<(Interface, Dynamics)>, Mistake> {
    if let Some(here) = emphatic_environments::find(name) {
        return Ok(Some((here.description().into(), Dynamics::Here(here))));
    }
    if !name.starts_with(GYMNASIUM) {
        return Ok(None);
    }
    let Some(find) = find_external else {
        let message = format!("`{name}` is an environment of Gymnasium, which lives in Python");
        let help = "run the experiment from Python: `import emphatic`, then `emphatic.run(\"FILE.toml\")` (or `emphatic.check`); its results can be summarised, plotted and merged by the command";
        return Err(Mistake::at(span, message).help(help));
    };
    let found = find(name).map_err(|error| Mistake::at(span, error.message).maybe_help(error.help))?;
    let interface = found.interface().clone();
    Ok(Some((interface, Dynamics::Elsewhere(Arc::new(Elsewhere::new(found))))))
}

/// Returns a simulator with the uniform behaviour and no features yet. A limit of 0 is none.
pub(super) fn simulator(
    (interface, dynamics): (Interface, Dynamics),
    limit: Option<&OneOrList<Whole>>,
) -> Result<Simulator, Mistake> {
    let limit = match whole(limit, "limit", 0..=MOST_STEPS)? {
        Some(0) => None,
        given => given.or(interface.limit),
    };
    let behaviour = Behaviour::uniform(&interface.actions).unwrap_or_else(|| usual(&interface.actions));
    let (interface, interest) = (Arc::new(interface), Interest::Everywhere(1.0));
    Ok(Simulator { interface, dynamics, behaviour, gamma: GAMMA, limit, interest, features: Vec::new() })
}

/// Returns a simulator as files have it that say nothing more of it.
pub(crate) fn simulator_named(environment: Arc<dyn Environment>) -> Result<Simulator, ValueError> {
    simulator((environment.description().into(), Dynamics::Here(environment)), None)
        .map_err(|mistake| mistake.error)
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
            let features = features.value.of_parts(&simulator.interface.space, &features.span)?;
            Ok(Simulator { features, ..simulator })
        };
        self.spread(features, "features", in_simulator(with), |features| features.text())
    }

    /// Returns an error if a simulator has no features.
    fn check_features(&self, file: &ExperimentFile) -> Result<(), Mistake> {
        let Some(simulator) = self.all.iter().find_map(Scenario::simulator) else { return Ok(()) };
        let Interface { name, shown, .. } = &*simulator.interface;
        let message = format!("`{name}` is a simulator and needs `features` of what is observed: {shown}");
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
