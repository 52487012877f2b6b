//! An environment that nobody can solve exactly, with a behaviour that acts in it.

use super::behaviour::Look;
use super::{Behaviour, Source, SourceError, Stream};
use crate::stop::Stop;
use emphatic::basis::Observed;
use emphatic::{Action, Features, KnownProblem, ProblemError, Random, State, Step};
use emphatic_environments::{Actions, Environment};
use serde_json::{Value, json};
use std::sync::Arc;

/// The number of steps from which the length of episodes is estimated.
pub(crate) const TRIAL: u64 = 1_000_000;

/// The stream of that trial, which no run has.
const TRIAL_STREAM: u64 = 1 << 61;

/// An environment with a behaviour, a discount and an interest.
#[derive(Clone, Debug)]
pub(crate) struct Simulator {
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) behaviour: Behaviour,
    pub(crate) gamma: f64,
    /// After how many steps an episode is cut short.
    pub(crate) limit: Option<u64>,
    pub(crate) interest: Interest,
    /// The features of the actor and of the critic.
    pub(crate) features: Vec<(&'static str, Features)>,
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
        json!({
            "gamma": self.gamma,
            "limit": self.limit,
            "behaviour": format!("{:?}", self.behaviour),
            "interest": format!("{:?}", self.interest),
            "features": features,
        })
    }

    /// Starts the stream with this seed and number.
    fn episodes(&self, seed: u64, number: u64) -> SimulatorStream<'_> {
        let mut random = Random::new(seed, number);
        let description = self.environment.description();
        let mut state = vec![0.0; description.state];
        self.environment.start(&mut state, &mut random);
        let mut observation = vec![0.0; description.observations.len()];
        self.environment.observe(&state, &mut observation);
        let next = observation.clone();
        SimulatorStream {
            simulator: self,
            look: self.behaviour.look(),
            random,
            state,
            observation,
            next,
            steps: 0,
            gamma: 0.0,
            ended: false,
        }
    }

    /// Returns states of the behaviour's stream with this seed, one in so many steps on average; fewer if it is to stop.
    pub(crate) fn visited_states(
        &self,
        seed: u64,
        count: usize,
        every: u64,
        stop: &Stop,
    ) -> Result<Vec<Vec<f64>>, SourceError> {
        let (mut stream, mut gaps) = (self.episodes(seed, 0), Random::new(seed, 1));
        let mut states = Vec::with_capacity(count);
        while states.len() < count && !stop.is_stopped() {
            // Between 1 and twice as many: at equal distances only some phases of episodes of equal length would be seen.
            for _ in 0..=gaps.below(2 * every as usize - 1) {
                stream.next()?;
            }
            // Of a state in which an episode has ended nothing follows.
            stream.begin_if_ended();
            states.push(stream.state.clone());
        }
        Ok(states)
    }

    /// Returns the mean number of steps in an episode, from a trial; `None` if none ended in it.
    pub(crate) fn episode_length(&self) -> Option<f64> {
        let mut stream = self.episodes(0, TRIAL_STREAM);
        let mut episodes = 0;
        for _ in 0..TRIAL {
            stream.next().ok()?;
            episodes += u64::from(stream.ended);
        }
        (episodes > 0).then(|| TRIAL as f64 / episodes as f64)
    }
}

impl Source for Simulator {
    fn stream(&self, seed: u64, number: u64) -> Box<dyn Stream + '_> {
        Box::new(self.episodes(seed, number))
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
        match self.environment.description().actions {
            Actions::Finite(names) => Some(names.len()),
            Actions::Real { .. } => None,
        }
    }

    fn known(self: Arc<Self>) -> Option<KnownProblem> {
        None
    }

    fn with_interest(&self, _interest: Vec<f64>) -> Result<Arc<dyn Source>, ProblemError> {
        Ok(Arc::new(self.clone()))
    }
}

/// Episodes of a behaviour in an environment, one after the other.
struct SimulatorStream<'a> {
    simulator: &'a Simulator,
    /// What the behaviour does in the state.
    look: Look,
    random: Random,
    state: Vec<f64>,
    observation: Vec<f64>,
    /// The observation after the last step.
    next: Vec<f64>,
    /// The number of steps in this episode.
    steps: u64,
    /// The discount into the state.
    gamma: f64,
    /// Whether the episode has ended or was cut short: the next step begins another.
    ended: bool,
}

impl SimulatorStream<'_> {
    /// Begins another episode if this one has ended.
    fn begin_if_ended(&mut self) {
        if !std::mem::take(&mut self.ended) {
            return;
        }
        let environment = &*self.simulator.environment;
        environment.start(&mut self.state, &mut self.random);
        environment.observe(&self.state, &mut self.next);
        (self.steps, self.gamma) = (0, 0.0);
    }
}

impl Stream for SimulatorStream<'_> {
    fn next(&mut self) -> Result<Option<Step<State<'_>, Action>>, SourceError> {
        self.begin_if_ended();
        let Simulator { environment, behaviour, gamma: discount, limit, interest, .. } = self.simulator;
        std::mem::swap(&mut self.observation, &mut self.next);
        behaviour.see(&self.observation, &mut self.look)?;
        let (action, mu) = self.look.draw(&mut self.random);
        // Also if it is NaN.
        if !(mu > 0.0 && mu.is_finite()) {
            return Err(SourceError::Behaviour { mu, observation: self.observation.clone() });
        }
        let outcome = environment.step(&mut self.state, action, &mut self.random);
        environment.observe(&self.state, &mut self.next);
        if !outcome.reward.is_finite() || !self.next.iter().all(|x| x.is_finite()) {
            let name = environment.description().name.to_owned();
            return Err(SourceError::NotFinite {
                name,
                reward: outcome.reward,
                observation: self.next.clone(),
            });
        }
        self.steps += 1;
        self.ended = outcome.is_over || limit.is_some_and(|limit| self.steps >= limit);
        let gamma = self.gamma;
        self.gamma = if outcome.is_over { 0.0 } else { *discount };
        Ok(Some(Step {
            state: State::Vector(&self.observation),
            action,
            mu,
            reward: outcome.reward,
            next: State::Vector(&self.next),
            gamma,
            gamma_next: self.gamma,
            interest: interest.at(gamma),
        }))
    }

    fn has_ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic_environments::find;

    fn simulator(name: &str, limit: Option<u64>) -> Simulator {
        let environment = find(name).unwrap();
        let behaviour = Behaviour::uniform(&environment.description().actions).unwrap();
        Simulator {
            environment,
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
        let mut stream = simulator.episodes(1, 0);
        let mut steps = Vec::new();
        for _ in 0..7 {
            let step = Stream::next(&mut stream).unwrap().unwrap();
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
        let mut stream = simulator.episodes(1, 0);
        let mut lengths = Vec::new();
        let mut steps = 0;
        while lengths.len() < 200 {
            let gamma_next = Stream::next(&mut stream).unwrap().unwrap().gamma_next;
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
