//! Many learners learn from the same batch, side by side in lanes and on all cores.

use crate::batch::{BatchArrays, Columns, unless_changed};
use crate::error::wrong_value;
use crate::interrupts::{Chunks, Messages};
use crate::learner::{BoxedLearner, Composition, Learner};
use crate::memory;
use emphatic::{Catalogue, Lanes, Real};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// How many learners learn side by side.
const LANES: usize = 16;

/// A learner of a sweep.
struct Member {
    /// Its place in the list of all learners.
    place: usize,
    composition: Arc<Composition>,
    weights: Vec<f64>,
}

/// Learners that differ in numbers alone, which learn side by side.
type Group = Vec<Member>;

/// Learns from a batch with copies of these learners. Returns the copies in the same order.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    learners: Vec<PyRef<'_, Learner>>,
    batch: BatchArrays<'_>,
    threads: Option<NonZeroUsize>,
    progress: &Bound<'_, PyAny>,
) -> PyResult<Vec<Learner>> {
    let Some(first) = learners.first() else { return Ok(Vec::new()) };
    let form = first.composition.form;
    if let Some(k) = learners.iter().position(|learner| learner.composition.form != form) {
        let message =
            format!("settings[{k}] sees the state in another form than settings[0]: no batch suits both");
        return Err(PyValueError::new_err(message));
    }
    let columns = batch.columns(form)?;
    let groups = groups(py, &learners)?;
    // Python runs one thread at a time.
    let in_python = learners.iter().any(|learner| learner.composition.python_emphasis.is_some());
    let threads = if in_python { Some(NonZeroUsize::MIN) } else { threads };
    let work = Work { columns, stop: AtomicBool::new(false), done: AtomicUsize::new(0) };
    let swept = work.run(py, &groups, threads, progress)?;

    let gamma = columns.len().checked_sub(1).map_or(0.0, |last| columns.gamma_after(last));
    let learned = learners.iter().zip(swept);
    Ok(learned.map(|(learner, boxed)| learner.with_state(py, boxed, gamma)).collect())
}

/// Groups learners that fit into lanes together.
fn groups(py: Python<'_>, learners: &[PyRef<'_, Learner>]) -> PyResult<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, learner) in learners.iter().enumerate() {
        let Some(weights) = learner.fresh_weights()? else {
            let message =
                format!("settings[{place}] has already learned; a sweep starts from learners that have not");
            return Err(PyValueError::new_err(message));
        };
        let composition = learner.composition.clone();
        let fits = |group: &&mut Group| group.len() < LANES && group[0].composition.is_like(py, &composition);
        let group = groups.iter_mut().find(fits);
        let member = Member { place, composition, weights };
        match group {
            Some(group) => group.push(member),
            None => groups.push(vec![member]),
        }
    }
    Ok(groups)
}

impl Composition {
    /// Whether learners of both compositions fit into lanes side by side.
    fn is_like(&self, py: Python<'_>, other: &Self) -> bool {
        let class = |composition: &Self| {
            composition.python_emphasis.as_ref().map(|emphasis| emphasis.bind(py).get_type().as_ptr())
        };
        let same_problems = self.problems.iter().map(Py::as_ptr).eq(other.problems.iter().map(Py::as_ptr));
        same_problems
            && self.recipe.is_like(&other.recipe, Catalogue::current())
            && class(self) == class(other)
    }
}

/// A sweep, as all its threads share it.
struct Work<'a> {
    columns: Columns<'a>,
    stop: AtomicBool,
    /// How many steps have been learned from, counted for each learner.
    done: AtomicUsize,
}

impl Work<'_> {
    /// Returns the learners in their order.
    fn run(
        &self,
        py: Python<'_>,
        groups: &[Group],
        threads: Option<NonZeroUsize>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<BoxedLearner<f64>>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.map_or(cores, usize::from).min(groups.len());
        self.check_memory(groups, threads)?;
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut finished = Messages::new(receiver);
        let mut agents: Vec<Option<BoxedLearner<f64>>> = Vec::new();
        agents.resize_with(groups.iter().map(Vec::len).sum(), || None);
        let all = self.columns.len() * agents.len();
        std::thread::scope(|scope| {
            for started in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                let work = move || {
                    while !self.stop.load(Ordering::Relaxed)
                        && let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        // Fails if another group has failed: nobody receives any more.
                        let _ = sender.send((group, unless_changed(|| self.learn_group(group))));
                    }
                };
                // If no more threads can be started, those that run do the work.
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(_) => {}
                    Err(error) if started == 0 => {
                        return Err(PyRuntimeError::new_err(format!("no thread could be started: {error}")));
                    }
                    Err(_) => break,
                }
            }
            drop(sender);
            let report = || progress.call1((self.done.load(Ordering::Relaxed), all)).map(drop);
            let mut watch = || -> PyResult<()> {
                while let Some((group, learned)) = finished.next(py, report)? {
                    for (member, agent) in group.iter().zip(learned?) {
                        agents[member.place] = Some(agent);
                    }
                }
                Ok(())
            };
            let watched = watch();
            if watched.is_err() {
                self.stop.store(true, Ordering::Relaxed);
            }
            // Waits for the threads while other Python threads run.
            finished.finish(py);
            watched
        })?;
        let missing = || PyValueError::new_err("a thread of the sweep ended early");
        agents.into_iter().map(|agent| agent.ok_or_else(missing)).collect()
    }

    fn learn_group(&self, group: &Group) -> PyResult<Vec<BoxedLearner<f64>>> {
        match group[0].composition.python_emphasis {
            // Attaches the thread to Python once instead of at every step, which would be slow.
            Some(_) => Python::attach(|py| py.detach(|| self.learn(group))),
            None => self.learn(group),
        }
    }

    fn learn(&self, group: &Group) -> PyResult<Vec<BoxedLearner<f64>>> {
        if !self.is_worth_lanes(group) {
            return group.iter().map(|member| self.learn_alone(member)).collect();
        }
        let compositions: Vec<&Composition> = group.iter().map(|member| &*member.composition).collect();
        let mut lanes: BoxedLearner<Lanes<LANES>> = Composition::side_by_side(&compositions)?;
        let of = |k: usize| Lanes::from_lanes(|lane| group.get(lane).unwrap_or(&group[0]).weights[k]);
        lanes.learner.set_weights((0..group[0].weights.len()).map(of).collect()).map_err(wrong_value)?;
        self.teach(&mut lanes, group.len())?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let state = lanes.call(|learner| learner.state())?;
        drop(lanes);
        compositions.iter().enumerate().map(|(lane, one)| one.restored(&state.lane(lane))).collect()
    }

    fn learn_alone(&self, member: &Member) -> PyResult<BoxedLearner<f64>> {
        let mut boxed = member.composition.compose()?;
        boxed.learner.set_weights(memory::copied(&member.weights)?).map_err(wrong_value)?;
        self.teach(&mut boxed, 1)?;
        Ok(boxed)
    }

    /// Refuses a sweep that memory has no room for: all learners that are returned, and in each thread those that learn side by side, their
    /// weights, and their states in lanes and one by one.
    fn check_memory(&self, groups: &[Group], threads: usize) -> PyResult<()> {
        let (mut learners, mut kept, mut beside) = (0, 0.0, 0.0_f64);
        for group in groups {
            let settings = &group[0].composition.settings;
            let (one, lanes) = (settings.bytes(1), settings.bytes(LANES));
            let in_lanes = lanes.learner + lanes.weights + lanes.copy + one.state + one.copy;
            learners += group.len();
            kept += group.len() as f64 * one.learner;
            beside = beside.max(if self.is_worth_lanes(group) { in_lanes } else { one.weights });
        }
        memory::check(kept + threads as f64 * beside, || format!("a sweep of {learners} learners"))
    }

    /// Whether lanes are faster: steps must touch the weights often enough to pay for laying them out in lanes.
    fn is_worth_lanes(&self, group: &Group) -> bool {
        let policy = &group[0].composition.recipe.policy;
        let (touched, all) =
            policy.features.as_ref().map_or((1, 0), |features| (features.most_active(), features.len()));
        group.len() > 1 && self.columns.len().saturating_mul(touched) > all
    }

    /// Lets `count` learners in lanes learn from all steps.
    fn teach<R: Real>(&self, learners: &mut BoxedLearner<R>, count: usize) -> PyResult<()> {
        for chunk in Chunks::new(self.columns.len()) {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            learners.learn(&self.columns, chunk.clone())?;
            self.done.fetch_add(chunk.len() * count, Ordering::Relaxed);
        }
        Ok(())
    }
}
