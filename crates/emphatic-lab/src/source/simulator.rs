//! An environment that nobody can solve exactly, with a behaviour that acts in it.

use super::behaviour::Look;
use super::external::{Elsewhere, ExternalOutcome};
use super::{Actions, Behaviour, Interface, Source, SourceError, Stream};
use crate::stop::Stop;
use crate::store::fingerprint;
use emphatic::basis::Observed;
use emphatic::{Action, Features, KnownProblem, Random, State, Step};
use emphatic_environments::Environment;
use serde_json::{Value, json};
use std::sync::Arc;

/// The number of steps from which the length of episodes is estimated.
pub(crate) const TRIAL: u64 = 1_000_000;

/// The stream of that trial, which no run has.
const TRIAL_STREAM: u64 = 1 << 61;

/// An environment with a behaviour, a discount and an interest.
#[derive(Clone, Debug)]
pub(crate) struct Simulator {
    pub(crate) interface: Arc<Interface>,
    pub(crate) dynamics: Dynamics,
    pub(crate) behaviour: Behaviour,
    pub(crate) gamma: f64,
    /// After how many steps an episode is cut short.
    pub(crate) limit: Option<u64>,
    pub(crate) interest: Interest,
    /// The features of the actor and of the critic.
    pub(crate) features: Vec<(&'static str, Features)>,
}

/// Where an environment lives.
#[derive(Clone, Debug)]
pub(crate) enum Dynamics {
    /// Here: its states can be copied.
    Here(Arc<dyn Environment>),
    /// Elsewhere.
    Elsewhere(Arc<Elsewhere>),
}

/// The interest in states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Interest {
    /// The same in all.
    Everywhere(f64),
    /// One in the first state of an episode, zero elsewhere.
    Start,
}

impl Interest {
    /// Returns the interest in a state, into which this is the discount.
    pub(crate) fn at(self, gamma: f64) -> f64 {
        match self {
            Self::Everywhere(interest) => interest,
            Self::Start if gamma == 0.0 => 1.0,
            Self::Start => 0.0,
        }
    }
}

impl Simulator {
    /// Returns everything that experience depends on, beside the environment's name.
    pub(crate) fn identity(&self) -> Value {
        let features: Vec<(&str, String)> =
            self.features.iter().map(|(name, features)| (*name, features.to_string())).collect();
        let mut identity = json!({
            "gamma": self.gamma,
            "limit": self.limit,
            "behaviour": format!("{:?}", self.behaviour),
            "interest": format!("{:?}", self.interest),
            "features": features,
        });
        if let Dynamics::Elsewhere(elsewhere) = &self.dynamics {
            identity["environment"] = elsewhere.environment.identity();
            identity["interface"] = fingerprint(&self.interface.to_json()).into();
        }
        identity
    }

    /// Returns the environment, if it lives here.
    pub(crate) fn here(&self) -> Option<&dyn Environment> {
        if let Dynamics::Here(environment) = &self.dynamics { Some(&**environment) } else { None }
    }

    /// Returns the environment, if it lives elsewhere.
    pub(crate) fn elsewhere(&self) -> Option<&Arc<Elsewhere>> {
        if let Dynamics::Elsewhere(elsewhere) = &self.dynamics { Some(elsewhere) } else { None }
    }

    /// Starts to walk through an environment that lives here, by the stream with this seed and number.
    fn walk<'a>(&self, environment: &'a dyn Environment, seed: u64, number: u64) -> Walker<InState<'a>> {
        let state = vec![0.0; environment.description().state];
        Walker::new(InState { environment, state }, self, Random::new(seed, number))
    }

    /// Returns states of the behaviour's stream with this seed, one in so many steps on average; fewer if it is to stop, and none where they
    /// cannot be copied.
    pub(crate) fn visited_states(
        &self,
        seed: u64,
        count: usize,
        every: u64,
        stop: &Stop,
    ) -> Result<Vec<Vec<f64>>, SourceError> {
        let Some(environment) = self.here() else { return Ok(Vec::new()) };
        let (mut walker, mut gaps) = (self.walk(environment, seed, 0), Random::new(seed, 1));
        let mut states = Vec::with_capacity(count);
        while states.len() < count && !stop.is_stopped() {
            // Between 1 and twice as many: at equal distances only some phases of episodes of equal length would be seen.
            for _ in 0..=gaps.below(2 * every as usize - 1) {
                walker.next()?;
            }
            // Of a state in which an episode has ended nothing follows.
            walker.begin_if_ended()?;
            states.push(walker.place.state.clone());
        }
        Ok(states)
    }

    /// Returns the mean number of steps in an episode, from a trial; `None` if none ended in it. An environment that lives elsewhere may take
    /// long over a trial: there it is at most the limit, and if there is none, episodes may never end.
    pub(crate) fn episode_length(&self) -> Option<f64> {
        let Some(environment) = self.here() else { return self.limit.map(|limit| limit as f64) };
        let mut walker = self.walk(environment, 0, TRIAL_STREAM);
        let mut episodes = 0;
        for _ in 0..TRIAL {
            episodes += u64::from(walker.next().ok()?.is_last);
        }
        (episodes > 0).then(|| TRIAL as f64 / episodes as f64)
    }

    /// Returns the steps of a walk with this simulator's discount and interest.
    fn steps<W: Walk>(&self, walk: W) -> SimulatorStream<'_, W> {
        SimulatorStream { simulator: self, walk, gamma: 0.0, has_ended: false }
    }
}

impl Source for Simulator {
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_> {
        match &self.dynamics {
            Dynamics::Here(environment) => Box::new(self.steps(self.walk(&**environment, seed, number))),
            Dynamics::Elsewhere(elsewhere) => Box::new(self.steps(elsewhere.experience(self, seed, number))),
        }
    }

    fn features(&self) -> Vec<(&'static str, Features)> {
        self.features.clone()
    }

    fn bases(&self) -> Vec<Observed> {
        let observed = |(_, features): &(&str, Features)| match features {
            Features::Observed(observed) => Some(observed.clone()),
            _ => None,
        };
        let mut bases: Vec<Observed> = Vec::new();
        for basis in self.features.iter().filter_map(observed) {
            if !bases.contains(&basis) {
                bases.push(basis);
            }
        }
        bases
    }

    fn actions(&self) -> Option<usize> {
        match &self.interface.actions {
            Actions::Finite(names) => Some(names.len()),
            Actions::Real { .. } => None,
        }
    }

    fn known(self: Arc<Self>) -> Option<KnownProblem> {
        None
    }
}

/// An environment in which one episode goes on.
pub(crate) trait Place {
    /// Begins another episode, and writes what is observed.
    fn begin(&mut self, random: &mut Random, observation: &mut [f64]) -> Result<(), SourceError>;

    /// Takes an action, and writes what is observed.
    fn step(
        &mut self,
        action: Action,
        random: &mut Random,
        observation: &mut [f64],
    ) -> Result<ExternalOutcome, SourceError>;
}

/// A state of an environment that lives here.
struct InState<'a> {
    environment: &'a dyn Environment,
    state: Vec<f64>,
}

impl Place for InState<'_> {
    fn begin(&mut self, random: &mut Random, observation: &mut [f64]) -> Result<(), SourceError> {
        self.environment.start(&mut self.state, random);
        self.environment.observe(&self.state, observation);
        Ok(())
    }

    fn step(
        &mut self,
        action: Action,
        random: &mut Random,
        observation: &mut [f64],
    ) -> Result<ExternalOutcome, SourceError> {
        let outcome = self.environment.step(&mut self.state, action, random);
        self.environment.observe(&self.state, observation);
        if !outcome.reward.is_finite() || !observation.iter().all(|x| x.is_finite()) {
            let name = self.environment.description().name.to_owned();
            let (reward, observation) = (outcome.reward, observation.to_vec());
            return Err(SourceError::NotFinite { name, reward, observation });
        }
        Ok(ExternalOutcome {
            reward: outcome.reward,
            terminated: outcome.is_over,
            ..ExternalOutcome::default()
        })
    }
}

/// A step of a behaviour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    action: Action,
    mu: f64,
    reward: f64,
    /// Whether the episode begins with it.
    pub(crate) is_first: bool,
    /// Whether the episode ends with it, or is cut short there.
    is_last: bool,
    terminated: bool,
    /// The discount, if the environment has one of its own.
    gamma_next: Option<f64>,
}

/// Steps of a behaviour, one after the other.
pub(crate) trait Walk {
    /// Takes the next step.
    fn next(&mut self) -> Result<Taken, SourceError>;

    /// Returns what was observed before the last step, and after it.
    fn observations(&self) -> [&[f64]; 2];
}

/// A behaviour that acts in an environment, episode after episode.
pub(crate) struct Walker<P> {
    place: P,
    behaviour: Behaviour,
    /// What it does where the last action was taken.
    look: Look,
    limit: Option<u64>,
    random: Random,
    observation: Vec<f64>,
    /// The observation after the last step.
    next: Vec<f64>,
    /// The number of steps in this episode.
    steps: u64,
    /// Whether the episode has ended or was cut short, or none has begun: the next step begins another.
    has_ended: bool,
}

impl<P: Place> Walker<P> {
    pub(crate) fn new(place: P, simulator: &Simulator, random: Random) -> Self {
        let observation = vec![0.0; simulator.interface.space.len()];
        let (behaviour, limit) = (simulator.behaviour.clone(), simulator.limit);
        let (look, next) = (behaviour.look(), observation.clone());
        Self { place, behaviour, look, limit, random, observation, next, steps: 0, has_ended: true }
    }

    /// Begins another episode if this one has ended.
    fn begin_if_ended(&mut self) -> Result<(), SourceError> {
        if std::mem::take(&mut self.has_ended) {
            self.place.begin(&mut self.random, &mut self.next)?;
            self.steps = 0;
        }
        Ok(())
    }
}

impl<P: Place> Walk for Walker<P> {
    fn next(&mut self) -> Result<Taken, SourceError> {
        self.begin_if_ended()?;
        std::mem::swap(&mut self.observation, &mut self.next);
        self.behaviour.see(&self.observation, &mut self.look)?;
        let (action, mu) = self.look.draw(&mut self.random);
        // Also if it is NaN.
        if !(mu > 0.0 && mu.is_finite()) {
            return Err(SourceError::Behaviour { mu, observation: self.observation.clone() });
        }
        let ExternalOutcome { reward, terminated, truncated, gamma_next } =
            self.place.step(action, &mut self.random, &mut self.next)?;
        let is_first = self.steps == 0;
        self.steps += 1;
        self.has_ended = terminated || truncated || self.limit.is_some_and(|limit| self.steps >= limit);
        Ok(Taken { action, mu, reward, is_first, is_last: self.has_ended, terminated, gamma_next })
    }

    fn observations(&self) -> [&[f64]; 2] {
        [&self.observation, &self.next]
    }
}

/// The steps of a walk, with discounts and interests.
struct SimulatorStream<'a, W> {
    simulator: &'a Simulator,
    walk: W,
    /// The discount out of the last state.
    gamma: f64,
    has_ended: bool,
}

impl<W: Walk> Stream for SimulatorStream<'_, W> {
    fn next(&mut self) -> Result<Option<Step<State<'_>, Action>>, SourceError> {
        let Simulator { gamma: discount, interest, .. } = self.simulator;
        let Taken { action, mu, reward, is_first, is_last, terminated, gamma_next } = self.walk.next()?;
        let gamma = if is_first { 0.0 } else { self.gamma };
        self.gamma = if terminated { 0.0 } else { gamma_next.unwrap_or(*discount) };
        self.has_ended = is_last;
        let [observation, next] = self.walk.observations();
        Ok(Some(Step {
            state: State::Vector(observation),
            action,
            mu,
            reward,
            next: State::Vector(next),
            gamma,
            gamma_next: self.gamma,
            interest: interest.at(gamma),
        }))
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic_environments::find;

    fn simulator(name: &str, limit: Option<u64>) -> Simulator {
        let environment = find(name).unwrap();
        let interface = Arc::new(Interface::from(environment.description()));
        let behaviour = Behaviour::uniform(&interface.actions).unwrap();
        Simulator {
            interface,
            dynamics: Dynamics::Here(environment),
            behaviour,
            gamma: 0.9,
            limit,
            interest: Interest::Start,
            features: Vec::new(),
        }
    }

    #[test]
    fn an_episode_that_is_cut_short_does_not_end_but_the_next_begins() {
        let simulator = simulator("mountain-car", Some(3));
        let mut stream = simulator.stream(1, 0);
        let mut steps = Vec::new();
        for _ in 0..7 {
            let step = stream.next().unwrap().unwrap();
            let State::Vector(next) = step.next else { unreachable!("it has observations") };
            let State::Vector(state) = step.state else { unreachable!("it has observations") };
            steps.push((step.gamma, step.gamma_next, step.interest, state.to_vec(), next.to_vec()));
            assert_eq!(stream.has_ended(), steps.len() % 3 == 0);
        }
        assert_eq!(steps.iter().map(|s| s.0).collect::<Vec<_>>(), [0.0, 0.9, 0.9, 0.0, 0.9, 0.9, 0.0]);
        assert!(steps.iter().all(|s| s.1 == 0.9 && s.2 == if s.0 == 0.0 { 1.0 } else { 0.0 }));
        assert_eq!(steps[0].4, steps[1].3);
        assert_ne!(steps[2].4, steps[3].3);
        // Every episode starts in the valley, at rest.
        assert!([0, 3, 6].iter().all(|k| steps[*k].3[1] == 0.0 && (-0.6..-0.4).contains(&steps[*k].3[0])));
    }

    #[test]
    fn episodes_end_by_a_discount_of_zero() {
        let simulator = simulator("cart-pole", None);
        let mut stream = simulator.stream(1, 0);
        let mut lengths = Vec::new();
        let mut steps = 0;
        while lengths.len() < 200 {
            let gamma_next = stream.next().unwrap().unwrap().gamma_next;
            steps += 1;
            assert_eq!(stream.has_ended(), gamma_next == 0.0);
            if gamma_next == 0.0 {
                lengths.push(std::mem::take(&mut steps));
            }
        }
        // A uniform behaviour keeps the pole up for some 22 steps.
        let mean = f64::from(lengths.iter().sum::<u32>()) / 200.0;
        assert!((19.0..26.0).contains(&mean), "{mean}");
        let estimated = simulator.episode_length().unwrap();
        assert!((20.0..25.0).contains(&estimated), "{estimated}");
    }
}
