//! Many learners learn from the same batch, side by side in lanes and on all cores.

use crate::batch::{BatchArrays, Columns, unless_changed};
use crate::error::wrong_value;
use crate::interrupts::{Chunks, Messages};
use crate::learner::{BoxedLearner, Composition, Learner};
use crate::memory;
use emphatic::{Catalogue, Lanes, Real, SavedState};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// How many learners learn side by side.
const LANES: usize = 16;

/// A learner of a sweep.
struct Member {
    /// Its place in the list of all learners.
    place: usize,
    composition: Arc<Composition>,
    start: Start,
}

/// Where a learner starts from.
pub(crate) enum Start {
    /// The weights of one that has not learned. Its other numbers are those that every new one has.
    New(Vec<f64>),
    /// The state of one that has learned from so many steps.
    After(u64, SavedState),
}

impl Start {
    fn steps(&self) -> u64 {
        match self {
            Self::New(_) => 0,
            Self::After(steps, _) => *steps,
        }
    }
}

/// Learners that differ in numbers alone and have learned from as many steps, which learn side by side.
type Group = Vec<Member>;

/// The learners of a group that have learned, each with its place in the list of all.
type Learned = Vec<(usize, BoxedLearner<f64>)>;

/// Learns from the steps `begin..end` of a batch with copies of these learners. Returns the copies in the same order.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    learners: Vec<PyRef<'_, Learner>>,
    batch: BatchArrays<'_>,
    begin: usize,
    end: usize,
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
    if begin > end || end > columns.len() {
        return Err(PyValueError::new_err("the batch has no such steps"));
    }
    let groups = groups(py, &learners)?;
    // Python runs one thread at a time.
    let in_python = learners.iter().any(|learner| learner.composition.python_emphasis.is_some());
    let threads = if in_python { Some(NonZeroUsize::MIN) } else { threads };
    let work = Work { columns, steps: begin..end, stop: AtomicBool::new(false), done: AtomicUsize::new(0) };
    let swept = work.run(py, &groups, threads, progress)?;

    let gamma = (begin..end).next_back().map(|last| columns.gamma_after(last));
    let learned = learners.iter().zip(swept);
    learned
        .map(|(learner, boxed)| Ok(learner.with_state(py, boxed, gamma.map_or_else(|| learner.gamma(), Ok)?)))
        .collect()
}

/// Groups learners that fit into lanes together.
fn groups(py: Python<'_>, learners: &[PyRef<'_, Learner>]) -> PyResult<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (place, learner) in learners.iter().enumerate() {
        let (composition, start) = (learner.composition.clone(), learner.start()?);
        let fits = |group: &&mut Group| {
            group.len() < LANES
                && group[0].start.steps() == start.steps()
                && group[0].composition.is_like(py, &composition)
        };
        let group = groups.iter_mut().find(fits);
        let member = Member { place, composition, start };
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

/// Lets learners in lanes begin where each of them is. If they have traced other features, say, they do not fit side by side, and are returned apart:
/// those that fit together in a list each.
fn begin<'m>(
    lanes: &mut BoxedLearner<Lanes<LANES>>,
    members: &[&'m Member],
) -> PyResult<Option<Vec<Vec<&'m Member>>>> {
    let mut states = Vec::new();
    let mut weights = Vec::new();
    for member in members {
        match &member.start {
            Start::New(own) => weights.push(own),
            Start::After(_, state) => states.push(state),
        }
    }
    if let [first, ..] = weights[..] {
        let of = |k: usize| Lanes::from_lanes(|lane| weights.get(lane).unwrap_or(&first)[k]);
        lanes.learner.set_weights((0..first.len()).map(of).collect()).map_err(wrong_value)?;
        return Ok(None);
    }
    let like = lanes.call(|learner| learner.state())?;
    let mut apart: Vec<(&SavedState, Vec<&Member>)> = Vec::new();
    for (member, state) in members.iter().zip(&states) {
        match apart.iter_mut().find(|(first, _)| like.shares_lanes(first, state)) {
            Some((_, together)) => together.push(member),
            None => apart.push((state, vec![member])),
        }
    }
    if apart.len() > 1 {
        return Ok(Some(apart.into_iter().map(|(_, together)| together).collect()));
    }
    let state = like.side_by_side(&states);
    let state = state.ok_or_else(|| PyValueError::new_err("the learners' states are of different kinds"))?;
    drop(like);
    lanes.call(|learner| learner.restore(&state))?;
    Ok(None)
}

/// A sweep, as all its threads share it.
struct Work<'a> {
    columns: Columns<'a>,
    /// Those that are learned from.
    steps: Range<usize>,
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
        let all = self.steps.len() * agents.len();
        std::thread::scope(|scope| {
            for started in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                let work = move || {
                    while !self.stop.load(Ordering::Relaxed)
                        && let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        // Fails if another group has failed: nobody receives any more.
                        let _ = sender.send(unless_changed(|| self.learn_group(group)));
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
                while let Some(learned) = finished.next(py, report)? {
                    for (place, agent) in learned? {
                        agents[place] = Some(agent);
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

    fn learn_group(&self, group: &Group) -> PyResult<Learned> {
        let members: Vec<&Member> = group.iter().collect();
        match group[0].composition.python_emphasis {
            // Attaches the thread to Python once instead of at every step, which would be slow.
            Some(_) => Python::attach(|py| py.detach(|| self.learn(&members))),
            None => self.learn(&members),
        }
    }

    fn learn(&self, members: &[&Member]) -> PyResult<Learned> {
        if !self.is_worth_lanes(members[0], members.len()) {
            let alone = |member: &&Member| Ok((member.place, self.learn_alone(member)?));
            return members.iter().map(alone).collect();
        }
        let compositions: Vec<&Composition> = members.iter().map(|member| &*member.composition).collect();
        let mut lanes: BoxedLearner<Lanes<LANES>> = Composition::side_by_side(&compositions)?;
        if let Some(apart) = begin(&mut lanes, members)? {
            drop(lanes);
            let learned: PyResult<Vec<Learned>> = apart.iter().map(|members| self.learn(members)).collect();
            return Ok(learned?.into_iter().flatten().collect());
        }
        self.teach(&mut lanes, members.len())?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let state = lanes.call(|learner| learner.state())?;
        drop(lanes);
        let of = |(lane, member): (usize, &&Member)| {
            Ok((member.place, member.composition.restored(&state.lane(lane))?))
        };
        members.iter().enumerate().map(of).collect()
    }

    fn learn_alone(&self, member: &Member) -> PyResult<BoxedLearner<f64>> {
        let mut boxed = match &member.start {
            Start::New(weights) => {
                let mut boxed = member.composition.compose()?;
                boxed.learner.set_weights(memory::copied(weights)?).map_err(wrong_value)?;
                boxed
            }
            Start::After(_, state) => member.composition.restored(state)?,
        };
        self.teach(&mut boxed, 1)?;
        Ok(boxed)
    }

    /// Refuses a sweep that memory has no room for: all learners that are returned, and in each thread those that learn side by side, their
    /// weights, and their states in lanes and one by one. Where they start from is there already.
    fn check_memory(&self, groups: &[Group], threads: usize) -> PyResult<()> {
        let (mut learners, mut kept, mut beside) = (0, 0.0, 0.0_f64);
        for group in groups {
            let settings = &group[0].composition.settings;
            let (one, lanes) = (settings.bytes(1), settings.bytes(LANES));
            let in_lanes = lanes.learner + lanes.weights + lanes.copy + one.state + one.copy;
            // Laid out in lanes, beside the state that it takes the place of.
            let (start, start_in_lanes) = match group[0].start {
                Start::New(_) => (one.weights, 0.0),
                Start::After(..) => (one.copy, 2.0 * lanes.copy),
            };
            learners += group.len();
            kept += group.len() as f64 * one.learner;
            beside = beside.max(match self.is_worth_lanes(&group[0], group.len()) {
                true => in_lanes + start_in_lanes,
                false => start,
            });
        }
        memory::check(kept + threads as f64 * beside, || format!("a sweep of {learners} learners"))
    }

    /// Whether lanes are faster for `count` learners like this one: steps must touch the weights often enough to pay for laying them out in lanes.
    fn is_worth_lanes(&self, member: &Member, count: usize) -> bool {
        let policy = &member.composition.recipe.policy;
        let (touched, all) =
            policy.features.as_ref().map_or((1, 0), |features| (features.most_active(), features.len()));
        count > 1 && self.steps.len().saturating_mul(touched) > all
    }

    /// Lets `count` learners in lanes learn from all steps.
    fn teach<R: Real>(&self, learners: &mut BoxedLearner<R>, count: usize) -> PyResult<()> {
        let begin = self.steps.start;
        for chunk in Chunks::new(self.steps.len()) {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            learners.learn(&self.columns, begin + chunk.start..begin + chunk.end)?;
            self.done.fetch_add(chunk.len() * count, Ordering::Relaxed);
        }
        Ok(())
    }
}
