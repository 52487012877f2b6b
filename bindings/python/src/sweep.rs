//! Many settings learn from the same batch, side by side in lanes and on all cores.

use crate::agent::{Agent, Composition, Held, Trainee};
use crate::columns::{Arrays, Columns, States, unless_changed};
use crate::compose::{Lot, Receive, compose};
use crate::error::OrRaise;
use crate::learner::{Boxed, Inside, Learner, Ready};
use crate::memory;
use crate::settings::{EmphasisPart, PolicyPart, Settings, Structure};
use crate::waiting::{Pieces, Waiting};
use emphatic::{Lanes, Real};
use emphatic_problems::ProblemFile;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// So many learners side by side.
const LANES: usize = 16;

/// A learner that has learned.
type Swept = Box<dyn Agent>;

/// Learners of one structure, which learn side by side.
struct Group {
    /// Their places in the list.
    places: Vec<usize>,
    settings: Vec<Arc<Settings>>,
    weights: Vec<Vec<f64>>,
    problems: Vec<Arc<ProblemFile>>,
}

/// Learns from a batch with learners like these, and gives them in their order.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    learners: Vec<PyRef<'_, Learner>>,
    batch: &Bound<'_, PyAny>,
    threads: Option<NonZeroUsize>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Vec<Ready>> {
    let Some(first) = learners.first() else { return Ok(Vec::new()) };
    let sight = first.sight();
    if let Some(k) = learners.iter().position(|learner| learner.sight() != sight) {
        let message =
            format!("settings[{k}] sees the state in another form than settings[0]: no batch suits both");
        return Err(PyValueError::new_err(message));
    }
    let arrays = Arrays::of(batch)?;
    let columns = arrays.columns(sight)?;
    let groups = groups(&learners)?;
    let work = Work { columns, stop: AtomicBool::new(false), done: AtomicUsize::new(0) };
    let agents = work.run(py, &groups, threads, progress)?;

    let gamma = columns.len().checked_sub(1).map_or(0.0, |last| columns.gamma_after(last));
    Ok(learners.iter().zip(agents).map(|(learner, agent)| learner.with(Inside { agent, gamma })).collect())
}

/// Learners that fit into lanes together.
fn groups(learners: &[PyRef<'_, Learner>]) -> PyResult<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, learner) in learners.iter().enumerate() {
        let Some(weights) = learner.fresh_weights()? else {
            let message =
                format!("settings[{place}] has already learned; a sweep starts from learners that have not");
            return Err(PyValueError::new_err(message));
        };
        let settings = in_lanes(&learner.settings);
        let fits = |group: &&mut Group| {
            group.places.len() < LANES
                && group.settings[0].structure == settings.structure
                && group.problems.len() == learner.problems.len()
                && group.problems.iter().zip(&learner.problems).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => {
                group.places.push(place);
                group.settings.push(settings);
                group.weights.push(weights);
            }
            None => groups.push(Group {
                places: vec![place],
                settings: vec![settings],
                weights: vec![weights],
                problems: learner.problems.clone(),
            }),
        }
    }
    Ok(groups)
}

/// No emphasis is a trace with λ_a = 0, to the bit: so OffPAC and ACE fit together.
fn in_lanes(settings: &Arc<Settings>) -> Arc<Settings> {
    if settings.structure.emphasis != EmphasisPart::None || !has_ratio(&settings.structure) {
        return settings.clone();
    }
    let mut settings = Settings::clone(settings);
    settings.structure.emphasis = EmphasisPart::FollowOn;
    settings.numbers.insert("lambda_a".to_owned(), 0.0);
    Arc::new(settings)
}

fn has_ratio(structure: &Structure) -> bool {
    !matches!(structure.policy, PolicyPart::DeterministicLinear { .. })
}

/// What all threads share.
struct Work<'a> {
    columns: Columns<'a>,
    stop: AtomicBool,
    /// Steps that have been learned from, by each learner.
    done: AtomicUsize,
}

impl Work<'_> {
    /// Each learner, in their order.
    fn run(
        &self,
        py: Python<'_>,
        groups: &[Group],
        threads: Option<NonZeroUsize>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Swept>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.map_or(cores, usize::from).min(groups.len());
        self.check_memory(groups, threads)?;
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut finished = Waiting::new(receiver);
        let mut agents: Vec<Option<Swept>> = Vec::new();
        agents.resize_with(groups.iter().map(|group| group.places.len()).sum(), || None);
        std::thread::scope(|scope| {
            for started in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                let work = move || {
                    while !self.stop.load(Ordering::Relaxed)
                        && let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        // Nobody listens any more once one has failed.
                        let _ = sender.send((group, unless_changed(|| self.learn(group))));
                    }
                };
                // Where no more threads are to be had, those that are there do the work.
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(_) => {}
                    Err(error) if started == 0 => {
                        return Err(PyRuntimeError::new_err(format!("no thread could be started: {error}")));
                    }
                    Err(_) => break,
                }
            }
            drop(sender);
            let all = self.columns.len() * agents.len();
            let watched = self.watch(py, &mut finished, &mut agents, all, progress);
            if watched.is_err() {
                self.stop.store(true, Ordering::Relaxed);
            }
            // The threads are waited for without holding up the rest of Python.
            finished.finish(py);
            watched
        })?;
        let missing = || PyValueError::new_err("a thread of the sweep ended early");
        agents.into_iter().map(|agent| agent.ok_or_else(missing)).collect()
    }

    fn watch(
        &self,
        py: Python<'_>,
        finished: &mut Waiting<(&Group, PyResult<Vec<Swept>>)>,
        agents: &mut [Option<Swept>],
        all: usize,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let tell = || -> PyResult<()> {
            let done = self.done.load(Ordering::Relaxed);
            progress.call1((done, all)).map(|_| ())
        };
        while let Some((group, learned)) = finished.next(py, tell)? {
            for (place, agent) in group.places.iter().zip(learned?) {
                agents[*place] = Some(agent);
            }
        }
        Ok(())
    }

    fn learn(&self, group: &Group) -> PyResult<Vec<Swept>> {
        let alone = |k: usize| -> PyResult<Swept> {
            let lot = Lot { settings: &[&group.settings[k]], problems: &group.problems };
            compose(lot, Boxed(Some(&group.weights[k])))
        };
        let learners = 0..group.places.len();
        if !self.is_worth_lanes(group) {
            return learners
                .map(|k| {
                    let mut agent = alone(k)?;
                    self.teach(&mut *agent, 1)?;
                    Ok(agent)
                })
                .collect();
        }
        let settings: Vec<&Settings> = group.settings.iter().map(|settings| &**settings).collect();
        let mut lanes =
            compose(Lot { settings: &settings, problems: &group.problems }, InLanes(&group.weights))?;
        self.teach(&mut *lanes, group.places.len())?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let in_lane = |(k, state)| -> PyResult<Swept> {
            let mut agent = alone(k)?;
            agent.take(state)?;
            Ok(agent)
        };
        lanes.lanes(group.places.len()).into_iter().enumerate().map(in_lane).collect()
    }

    /// Refuses a sweep that memory has no room for: all learners that come out of it, and in each thread those that learn side by side, their
    /// weights, and their states in lanes and one by one.
    fn check_memory(&self, groups: &[Group], threads: usize) -> PyResult<()> {
        let (mut learners, mut kept, mut beside) = (0, 0.0, 0.0_f64);
        for group in groups {
            let size = |lanes| group.settings[0].structure.size(lanes);
            learners += group.places.len();
            kept += group.places.len() as f64 * size(1).learner;
            beside = beside.max(match self.is_worth_lanes(group) {
                true => size(LANES).learner + size(LANES).least + size(LANES).copy() + size(LANES).state,
                false => size(1).least,
            });
        }
        memory::ask(kept + threads as f64 * beside, || format!("a sweep of {learners} learners"))
    }

    /// Weights are laid out in lanes once, at a price: it pays where steps touch them often enough.
    fn is_worth_lanes(&self, group: &Group) -> bool {
        let touched = match self.columns.x {
            States::Vectors(_, width) | States::Active(_, width) => width,
            States::Numbers(_) => 1,
        };
        group.places.len() > 1
            && self.columns.len() * touched > group.settings[0].structure.policy.features().len()
    }

    /// So many learners learn from all steps.
    fn teach<T: Trainee + ?Sized>(&self, learners: &mut T, count: usize) -> PyResult<()> {
        for piece in Pieces::new(self.columns.len()) {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            learners.learn(self.columns, piece.clone())?;
            self.done.fetch_add(piece.len() * count, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Learners in lanes, in a box, that start from these weights.
struct InLanes<'a>(&'a [Vec<f64>]);

impl Receive<Lanes<LANES>> for InLanes<'_> {
    type Output = Box<dyn Trainee>;

    fn receive<L: Composition<Lanes<LANES>>>(self, learner: L) -> PyResult<Box<dyn Trainee>> {
        let of = |k: usize| Lanes::from_lanes(|lane| self.0.get(lane).unwrap_or(&self.0[0])[k]);
        let weights = (0..self.0[0].len()).map(of).collect();
        Ok(Box::new(Held::new(learner.with_weights(weights).or_raise()?)))
    }
}
