//! How good the current policy is in a simulator: by rollouts.

use super::external_rollouts::{ExternalRollouts, Trial};
use super::{Context, Goal, Kind, Measure, Measured, Recorder, single};
use crate::experiment::RolloutPlan;
use crate::source::{Dynamics, Elsewhere, Simulator, SourceError};
use crate::stop::Stop;
use emphatic::{
    Action, AsState, Composable, ComposeError, DeterministicLinear, Gaussian, Isa, Learner, Random, Real,
    Softmax,
};
use emphatic_environments::{Actor, Episode, PolicyActor, Rollouts, SoftmaxActor};
use emphatic_problems::ValueError;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

pub(super) const RETURN: Kind = Kind {
    pattern: "return",
    about: "in a simulator: the mean return of episodes of the current policy, from the start distribution",
    parse: |name, _| single(name, "return", Tried::Return),
};

pub(super) const EXCURSIONS: Kind = Kind {
    pattern: "excursions_return",
    about: "in a simulator: the mean return of episodes of the current policy, from states that the behaviour visits",
    parse: |name, _| single(name, "excursions_return", Tried::Excursions),
};

pub(super) const EPISODE_LENGTH: Kind = Kind {
    pattern: "episode_length",
    about: "in a simulator: the mean number of steps in the episodes of `return`",
    parse: |name, _| single(name, "episode_length", Tried::EpisodeLength),
};

/// What is measured of episodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    Return,
    Excursions,
    EpisodeLength,
}

impl Tried {
    fn starts(self) -> Starts {
        match self {
            Self::Return | Self::EpisodeLength => Starts::Own,
            Self::Excursions => Starts::Visited,
        }
    }

    fn of(self, episode: &Episode) -> f64 {
        match self {
            Self::Return | Self::Excursions => episode.total,
            Self::EpisodeLength => episode.steps as f64,
        }
    }
}

/// Where episodes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Starts {
    /// By the start distribution.
    Own,
    /// In states that the behaviour visits.
    Visited,
}

impl Measure for Tried {
    fn goal(&self) -> Option<Goal> {
        (*self != Self::EpisodeLength).then_some(Goal::Largest)
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        let right = "in a problem that is known exactly record \"objective\", which is not sampled";
        let error = || ValueError::new("policies are tried out in simulators alone").help(right);
        if of.known.is_some() { Err(error()) } else { Ok(()) }
    }

    fn needs_visited_states(&self) -> bool {
        *self == Self::Excursions
    }

    fn trials(&self) -> usize {
        1
    }

    fn recorder<R: Composable>(&self, context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        let none = || ComposeError::Incompatible("policies are tried out in simulators alone".to_owned());
        let trials = context.trials.clone().ok_or_else(none)?;
        let episodes = context.shared_episodes.clone();
        Ok(Box::new(TriedRecorder {
            what: *self,
            trials,
            episodes,
            lanes: context.recipes.len(),
            evaluation: 0,
        }))
    }
}

/// The trials of a unit: all of its settings have the same.
pub(crate) struct Trials {
    simulator: Arc<Simulator>,
    plan: RolloutPlan,
    /// The seeds of returns, of excursions, and of both episodes that values are estimated from.
    seeds: [u64; 4],
    /// States that the behaviour visits.
    visited: Vec<Vec<f64>>,
    /// The environments of an environment that lives elsewhere, once they are open, and why they did not go on.
    external: RefCell<Option<ExternalRollouts>>,
    failure: RefCell<Option<SourceError>>,
    isa: Isa,
    stop: Stop,
}

/// Apart from the streams of experience.
const TRIALS: u64 = 0x5bd1_e995_9d1c_f3a7;

impl Trials {
    /// The trials of the run with this seed and stream. States that the behaviour visits are sought if something begins there.
    pub(crate) fn new(
        simulator: &Arc<Simulator>,
        plan: RolloutPlan,
        (seed, stream): (u64, u64),
        needs_visited_states: bool,
        isa: Isa,
        stop: &Stop,
    ) -> Result<Self, SourceError> {
        let mut random = Random::new(seed ^ TRIALS, stream);
        let seeds = [(); 4].map(|()| random.word());
        let visited = match needs_visited_states {
            true => simulator.visited_states(random.word(), plan.episodes, plan.every, stop)?,
            false => Vec::new(),
        };
        let (simulator, stop) = (simulator.clone(), stop.clone());
        let (external, failure) = (RefCell::default(), RefCell::default());
        Ok(Self { simulator, plan, seeds, visited, external, failure, isa, stop })
    }

    /// Returns an error if an environment has failed.
    pub(crate) fn check(&self) -> Result<(), SourceError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Returns whether a lane is not tried out: it has diverged, or all is to stop.
    fn is_idle<R: Real>(&self, learner: &dyn Learner<R>, lane: usize) -> bool {
        learner.diverged(lane).is_some() || self.stop.is_stopped() || self.failure.borrow().is_some()
    }

    /// Returns the episodes of an evaluation, lane by lane: those of lanes that are idle are none.
    fn episodes<R: Real>(
        &self,
        starts: Starts,
        evaluation: u64,
        learner: &dyn Learner<R>,
        lanes: usize,
    ) -> Vec<Vec<Episode>> {
        let seed = self.seeds[starts as usize].wrapping_add(evaluation);
        match &self.simulator.dynamics {
            Dynamics::Here(_) => self.run(starts, seed, self.plan.gamma, learner, lanes),
            Dynamics::Elsewhere(elsewhere) => {
                let of_lane = |lane: usize| {
                    if lane >= lanes || self.is_idle(learner, lane) {
                        return Vec::new();
                    }
                    let mut actor = actor(learner, std::slice::from_ref(&lane), self);
                    self.run_elsewhere(elsewhere, evaluation, seed, &mut *actor).unwrap_or_else(|error| {
                        self.failure.replace(Some(error));
                        Vec::new()
                    })
                };
                (0..R::LANES).map(of_lane).collect()
            }
        }
    }

    /// Returns two estimates of the value of each state that the behaviour visits, lane by lane.
    fn values<R: Real>(
        &self,
        evaluation: u64,
        learner: &dyn Learner<R>,
        lanes: usize,
    ) -> [Vec<Vec<Episode>>; 2] {
        [self.seeds[2], self.seeds[3]].map(|seed| {
            self.run(Starts::Visited, seed.wrapping_add(evaluation), self.simulator.gamma, learner, lanes)
        })
    }

    /// The policies of all lanes act side by side. Idle ones have no episodes.
    fn run<R: Real>(
        &self,
        starts: Starts,
        seed: u64,
        gamma: f64,
        learner: &dyn Learner<R>,
        lanes: usize,
    ) -> Vec<Vec<Episode>> {
        let acting: Vec<usize> = (0..lanes).filter(|lane| !self.is_idle(learner, *lane)).collect();
        let mut actor = actor(learner, &acting, self);
        let RolloutPlan { episodes, .. } = self.plan;
        let cap = self.plan.cap_in(&self.simulator);
        let Some(environment) = self.simulator.here() else { return Vec::new() };
        let mut begin = |number: usize, state: &mut [f64]| {
            let mut random = Random::new(seed, number as u64);
            match starts {
                Starts::Own => environment.start(state, &mut random),
                Starts::Visited => state.copy_from_slice(&self.visited[number]),
            }
            random
        };
        let rollouts = Rollouts { environment, cap, gamma };
        let all = rollouts.run(&mut *actor, acting.len(), episodes, &mut begin, &|| self.stop.is_stopped());
        let mut of_lanes = vec![Vec::new(); R::LANES];
        for (lane, of_lane) in acting.iter().zip(all.chunks(episodes.max(1))) {
            of_lanes[*lane] = of_lane.to_vec();
        }
        of_lanes
    }

    /// The same from where episodes begin, in an environment that lives elsewhere.
    fn run_elsewhere(
        &self,
        elsewhere: &Elsewhere,
        evaluation: u64,
        seed: u64,
        actor: &mut dyn Actor,
    ) -> Result<Vec<Episode>, SourceError> {
        let trial = Trial {
            evaluation,
            episodes: self.plan.episodes,
            cap: self.plan.cap_in(&self.simulator),
            gamma: self.plan.gamma,
            random: &|number| Random::new(seed, number as u64),
            is_stopped: &|| self.stop.is_stopped(),
        };
        match &mut *self.external.borrow_mut() {
            Some(open) => open.run(&trial, actor),
            none => none.insert(ExternalRollouts::open(&*elsewhere.environment, &trial)?).run(&trial, actor),
        }
    }
}

/// The episodes of each lane at the last evaluation, by where they begin: several columns may be of the same.
#[derive(Debug, Default)]
pub(crate) struct SharedEpisodes([Option<(u64, Vec<Vec<Episode>>)>; 2]);

struct TriedRecorder {
    what: Tried,
    trials: Rc<Trials>,
    episodes: Rc<RefCell<SharedEpisodes>>,
    /// The number of lanes that have a setting.
    lanes: usize,
    evaluation: u64,
}

impl<R: Real> Recorder<R> for TriedRecorder {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        let (evaluation, starts) = (self.evaluation, self.what.starts());
        self.evaluation += 1;
        let shared = &mut self.episodes.borrow_mut().0[starts as usize];
        if shared.as_ref().is_none_or(|(of, _)| *of != evaluation) {
            *shared = Some((evaluation, self.trials.episodes(starts, evaluation, learner, self.lanes)));
        }
        let lanes = shared.as_ref().map_or(&[][..], |(_, lanes)| lanes);
        let mean = |episodes: &Vec<Episode>| {
            episodes.iter().map(|episode| self.what.of(episode)).sum::<f64>() / episodes.len() as f64
        };
        vec![R::from_lanes(|lane| lanes.get(lane).map_or(f64::NAN, mean))]
    }
}

/// Returns a recorder of the error of the critic's values.
pub(super) fn value_error<R: Composable>(context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
    let none = || ComposeError::Incompatible("values are sampled in simulators alone".to_owned());
    let trials = context.trials.clone().ok_or_else(none)?;
    Ok(Box::new(ValueErrorRecorder { trials, lanes: context.recipes.len(), evaluation: 0 }))
}

struct ValueErrorRecorder {
    trials: Rc<Trials>,
    /// The number of lanes that have a setting.
    lanes: usize,
    evaluation: u64,
}

impl ValueErrorRecorder {
    /// Returns the root of the mean squared error of values, given two estimates of what each should be.
    fn error(values: &[f64], [first, second]: [&[Episode]; 2]) -> f64 {
        // Both estimates are independent, so that the mean of the product is the squared error, without their own variance.
        let products = values
            .iter()
            .zip(first)
            .zip(second)
            .map(|((v, first), second)| (v - first.total) * (v - second.total));
        let mean = products.sum::<f64>() / values.len() as f64;
        // Where the error is small beside the noise, the estimate of its square may be negative.
        if mean < 0.0 { 0.0 } else { mean.sqrt() }
    }
}

impl<R: Real> Recorder<R> for ValueErrorRecorder {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        let Some(environment) = self.trials.simulator.here() else { return vec![R::splat(f64::NAN)] };
        let mut observation = vec![0.0; environment.description().observations.len()];
        let values: Vec<Option<R>> = self
            .trials
            .visited
            .iter()
            .map(|state| {
                environment.observe(state, &mut observation);
                learner.value(observation.as_state())
            })
            .collect();
        let evaluation = self.evaluation;
        self.evaluation += 1;
        let [first, second] = self.trials.values(evaluation, learner, self.lanes);
        let error = |lane: usize| {
            if first[lane].is_empty() || second[lane].is_empty() {
                return f64::NAN;
            }
            let of_lane: Vec<f64> =
                values.iter().map(|value| value.map_or(f64::NAN, |value| value.lane(lane))).collect();
            Self::error(&of_lane, [&first[lane], &second[lane]])
        };
        vec![R::from_lanes(error)]
    }
}

/// Returns the policies of some lanes as they act now.
fn actor<'a, R: Real>(
    learner: &'a dyn Learner<R>,
    lanes: &'a [usize],
    trials: &Trials,
) -> Box<dyn Actor + 'a> {
    let dimensions = trials.simulator.interface.space.len();
    let of_lane = |lane: &usize| learner.weights().iter().map(|w| w.lane(*lane)).collect::<Vec<f64>>();
    let weights = || lanes.iter().map(of_lane).collect::<Vec<_>>();
    let policy = learner.policy();
    if let Some(policy) = policy.downcast_ref::<Softmax>() {
        return Box::new(SoftmaxActor::new(policy.clone(), &weights(), dimensions, trials.isa));
    }
    if let Some(policy) = policy.downcast_ref::<Gaussian>() {
        return Box::new(PolicyActor::new(policy.clone(), weights(), dimensions));
    }
    if let Some(policy) = policy.downcast_ref::<DeterministicLinear>() {
        return Box::new(PolicyActor::new(policy.clone(), weights(), dimensions));
    }
    Box::new(AnyActor { learner, lanes, dimensions })
}

/// Policies of another kind.
struct AnyActor<'a, R> {
    learner: &'a dyn Learner<R>,
    lanes: &'a [usize],
    dimensions: usize,
}

impl<R: Real> Actor for AnyActor<'_, R> {
    fn act(
        &mut self,
        policies: &[usize],
        observations: &[f64],
        randoms: &mut [Random],
        actions: &mut [Action],
    ) {
        let observations = policies.iter().zip(observations.chunks_exact(self.dimensions));
        for (((policy, observation), random), action) in observations.zip(randoms).zip(actions) {
            let lane = self.lanes[*policy];
            // Its features describe every observation of the simulator, so that there is no error.
            *action = self.learner.sample(lane, observation.as_state(), random).unwrap_or(Action::Number(0));
        }
    }
}
