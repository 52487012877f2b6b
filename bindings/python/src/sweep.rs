//! Many settings learn from the same batch, side by side in lanes and on all cores.

use crate::columns::{Arrays, Columns, States, unless_changed};
use crate::error::OrRaise;
use crate::learner::{Boxed, Inside, Learner, Made, Ready};
use crate::memory;
use crate::waiting::{Pieces, Waiting};
use emphatic::{Lanes, Real};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// So many learners side by side.
const LANES: usize = 16;

/// Learners that differ in numbers alone, which learn side by side.
struct Group {
    /// Their places in the list.
    places: Vec<usize>,
    made: Vec<Arc<Made>>,
    weights: Vec<Vec<f64>>,
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
    let groups = groups(py, &learners)?;
    // Python does one thing at a time.
    let in_python = learners.iter().any(|learner| learner.made.in_python.is_some());
    let threads = if in_python { Some(NonZeroUsize::MIN) } else { threads };
    let work = Work { columns, stop: AtomicBool::new(false), done: AtomicUsize::new(0) };
    let swept = work.run(py, &groups, threads, progress)?;

    let gamma = columns.len().checked_sub(1).map_or(0.0, |last| columns.gamma_after(last));
    Ok(learners.iter().zip(swept).map(|(one, boxed)| one.with(Inside { boxed, gamma })).collect())
}

/// Learners that fit into lanes together.
fn groups(py: Python<'_>, learners: &[PyRef<'_, Learner>]) -> PyResult<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, learner) in learners.iter().enumerate() {
        let Some(weights) = learner.fresh_weights()? else {
            let message =
                format!("settings[{place}] has already learned; a sweep starts from learners that have not");
            return Err(PyValueError::new_err(message));
        };
        let made = &learner.made;
        let fits = |group: &Group| group.places.len() < LANES && group.made[0].is_like(py, made);
        match groups.iter_mut().find(|group| fits(group)) {
            Some(group) => {
                group.places.push(place);
                group.made.push(made.clone());
                group.weights.push(weights);
            }
            None => {
                groups.push(Group { places: vec![place], made: vec![made.clone()], weights: vec![weights] })
            }
        }
    }
    Ok(groups)
}

impl Made {
    /// Whether a learner that is made of these fits into a lane beside one that is made of others.
    fn is_like(&self, py: Python<'_>, other: &Self) -> bool {
        let class = |made: &Self| made.in_python.as_ref().map(|part| part.bind(py).get_type().as_ptr());
        self.recipe.is_like(&other.recipe)
            && class(self) == class(other)
            && self.problems.len() == other.problems.len()
            && self.problems.iter().zip(&other.problems).all(|(a, b)| Arc::ptr_eq(a, b))
    }
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
    ) -> PyResult<Vec<Boxed<f64>>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.map_or(cores, usize::from).min(groups.len());
        self.check_memory(groups, threads)?;
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut finished = Waiting::new(receiver);
        let mut agents: Vec<Option<Boxed<f64>>> = Vec::new();
        agents.resize_with(groups.iter().map(|group| group.places.len()).sum(), || None);
        std::thread::scope(|scope| {
            for started in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                let work = move || {
                    while !self.stop.load(Ordering::Relaxed)
                        && let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        // Nobody listens any more once one has failed.
                        let _ = sender.send((group, unless_changed(|| self.learn_as_needed(group))));
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
        finished: &mut Waiting<(&Group, PyResult<Vec<Boxed<f64>>>)>,
        agents: &mut [Option<Boxed<f64>>],
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

    fn learn_as_needed(&self, group: &Group) -> PyResult<Vec<Boxed<f64>>> {
        match group.made[0].in_python {
            // Python gets to know the thread once, not at every step, which would take long.
            Some(_) => Python::attach(|py| py.detach(|| self.learn(group))),
            None => self.learn(group),
        }
    }

    fn learn(&self, group: &Group) -> PyResult<Vec<Boxed<f64>>> {
        let learners = 0..group.places.len();
        if !self.is_worth_lanes(group) {
            return learners.map(|k| self.learn_alone(&group.made[k], &group.weights[k])).collect();
        }
        let made: Vec<&Made> = group.made.iter().map(|made| &**made).collect();
        let mut lanes: Boxed<Lanes<LANES>> = Made::side_by_side(&made)?;
        let of = |k: usize| Lanes::from_lanes(|lane| group.weights.get(lane).unwrap_or(&group.weights[0])[k]);
        lanes.learner.set_weights((0..group.weights[0].len()).map(of).collect()).or_raise()?;
        self.teach(&mut lanes, group.places.len())?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let state = lanes.state()?;
        drop(lanes);
        learners.map(|k| group.made[k].restored(&state.lane(k))).collect()
    }

    fn learn_alone(&self, made: &Made, weights: &[f64]) -> PyResult<Boxed<f64>> {
        let mut boxed = made.compose()?;
        boxed.learner.set_weights(memory::copied(weights)?).or_raise()?;
        self.teach(&mut boxed, 1)?;
        Ok(boxed)
    }

    /// Refuses a sweep that memory has no room for: all learners that come out of it, and in each thread those that learn side by side, their
    /// weights, and their states in lanes and one by one.
    fn check_memory(&self, groups: &[Group], threads: usize) -> PyResult<()> {
        let (mut learners, mut kept, mut beside) = (0, 0.0, 0.0_f64);
        for group in groups {
            let size = |lanes| group.made[0].settings.size(lanes);
            learners += group.places.len();
            kept += group.places.len() as f64 * size(1).learner;
            beside = beside.max(match self.is_worth_lanes(group) {
                true => {
                    let (lanes, one) = (size(LANES), size(1));
                    lanes.learner + lanes.weights + lanes.copy + one.state + one.copy
                }
                false => size(1).weights,
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
        let features = group.made[0].recipe.policy.features.as_ref().map_or(0, |features| features.len());
        group.places.len() > 1 && self.columns.len() * touched > features
    }

    /// So many learners learn from all steps.
    fn teach<R: Real>(&self, learners: &mut Boxed<R>, count: usize) -> PyResult<()> {
        for piece in Pieces::new(self.columns.len()) {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            learners.teach(&self.columns, piece.clone())?;
            self.done.fetch_add(piece.len() * count, Ordering::Relaxed);
        }
        Ok(())
    }
}
