//! Nanoseconds an update, for the paper's workloads, with `f64` and in lanes.
//!
//! `emphatic-bench STREAM` writes figure 3's stream of steps to the file STREAM, for the peers to learn from, and
//! prints one line of JSON for each measurement.

use emphatic::{
    ActorCritic, ContinuousCounterexample, ExactCritic, ExactEmphasis, FollowOn, Gtd, Isa, Lanes, Learner,
    OneHot, Real, Step, Task,
};
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

const LANES: usize = 32;
const REPEATS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: emphatic-bench STREAM")?;
    let steps: Vec<_> = Task::counterexample().stream(1, 0).take(10_000).collect();
    write_stream(&path, &steps)?;
    // For a profiler: only one of the figures.
    let only = std::env::args().nth(2);
    let wanted = |figure: &str| only.as_deref().is_none_or(|only| only == figure);
    if wanted("3") {
        figure_3(&steps);
    }
    if wanted("4") {
        figure_4();
    }
    if wanted("5") {
        figure_5();
    }
    Ok(())
}

/// Little-endian `f64`, eight numbers a step.
fn write_stream(path: &str, steps: &[Step<usize, usize>]) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for s in steps {
        let (state, action, next) = (s.state as f64, s.action as f64, s.next as f64);
        for x in [state, action, s.mu, s.reward, next, s.gamma, s.gamma_next, s.interest] {
            file.write_all(&x.to_le_bytes())?;
        }
    }
    file.flush()
}

/// All combinations of the values, the last varying fastest.
fn grid(values: &[&[f64]]) -> Vec<Vec<f64>> {
    values.iter().fold(vec![vec![]], |rows, values| {
        rows.iter().flat_map(|row| values.iter().map(|x| [row.as_slice(), &[*x]].concat())).collect()
    })
}

/// One setting of several, in every lane of a block.
fn block<R: Real>(settings: &[Vec<f64>], first: usize, which: usize) -> R {
    R::from_lanes(|lane| settings[(first + lane) % settings.len()][which])
}

/// Times a whole grid with one kind of number, and prints the best of a few repeats.
fn measure<R: Real, L: Learner<Number = R>, S>(
    workload: &str,
    isa: Isa,
    settings: &[Vec<f64>],
    steps: &[Step<S, emphatic::learner::ActionOf<L>>],
    learner: impl Fn(usize) -> L,
) where
    S: std::borrow::Borrow<emphatic::learner::SeenBy<L>>,
{
    let mut best = f64::INFINITY;
    let mut probe = Vec::new();
    for _ in 0..REPEATS {
        let mut nanoseconds = 0.0;
        for first in (0..settings.len()).step_by(R::LANES) {
            let mut learner = learner(first);
            let start = Instant::now();
            learner.learn(isa, steps).expect("the stream's steps make sense");
            nanoseconds += start.elapsed().as_nanos() as f64;
            for asked in [0, 1234, 2250, 4499] {
                if (first..first + R::LANES).contains(&asked) && asked < settings.len() {
                    let weights = learner.weights().iter().map(|w| w.lane(asked - first).to_string());
                    let finite = learner.diverged(asked - first).is_none();
                    probe.push((
                        asked,
                        if finite { weights.collect::<Vec<_>>().join(", ") } else { "null".into() },
                    ));
                }
            }
        }
        best = best.min(nanoseconds / (settings.len() * steps.len()) as f64);
    }
    probe.truncate(probe.len() / REPEATS);
    let probe: Vec<_> = probe.iter().map(|(k, w)| format!("\"{k}\": [{w}]")).collect();
    println!(
        "{{\"workload\": \"{workload}\", \"lanes\": {}, \"isa\": \"{isa:?}\", \"settings\": {}, \"steps\": {}, \"ns_per_update\": {best}, \"probe\": {{{}}}}}",
        R::LANES,
        settings.len(),
        steps.len(),
        probe.join(", ")
    );
}

fn figure_3(steps: &[Step<usize, usize>]) {
    let decades = |exponents: &[i32]| exponents.iter().map(|e| 10f64.powi(*e)).collect::<Vec<_>>();
    let settings = grid(&[
        &[0.0, 0.25, 0.5, 0.75, 1.0],
        &[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
        &decades(&[-5, -4, -3, -2, -1, 0]),
        &decades(&[-10, -8, -6, -4, -2]),
        &[0.0, 0.5, 1.0],
    ]);
    fn learner<R: Real>(
        settings: &[Vec<f64>],
        first: usize,
    ) -> impl Learner<Number = R, Policy = emphatic::Softmax<emphatic::Table>> {
        let task = Task::counterexample();
        let setting = |which| block::<R>(settings, first, which);
        let critic = Gtd::new(OneHot { states: 3 }, setting(2), setting(3), setting(4))
            .expect("settings are in range");
        emphatic::ace(task.softmax(), critic, setting(0), setting(1)).expect("settings are in range")
    }
    measure("figure 3", Isa::Plain, &settings, steps, |first| learner::<f64>(&settings, first));
    measure("figure 3", Isa::Plain, &settings, steps, |first| learner::<Lanes<LANES>>(&settings, first));
    measure("figure 3", Isa::best(), &settings, steps, |first| learner::<Lanes<LANES>>(&settings, first));
}

fn figure_4() {
    let task = Arc::new(Task::long_counterexample(5));
    let steps: Vec<_> = task.stream(1, 0).take(50_000).collect();
    // Every setting twice, to fill the lanes.
    let alphas = [5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2];
    let settings = grid(&[&[0.0, 1.0], &[0.0, 0.25, 0.5, 0.75, 1.0], &alphas]);
    fn ace<R: Real>(
        task: &Arc<Task>,
        settings: &[Vec<f64>],
        first: usize,
    ) -> impl Learner<Number = R, Policy = emphatic::Softmax<emphatic::Table>> {
        let policy = task.softmax();
        let critic = ExactCritic::new(task.clone(), &policy).expect("the policy fits");
        let emphasis = FollowOn::new(block(settings, first, 1)).expect("settings are in range");
        ActorCritic::new(policy, critic, emphasis, block(settings, first, 2)).expect("settings are in range")
    }
    fn true_ace<R: Real>(
        task: &Arc<Task>,
        settings: &[Vec<f64>],
        first: usize,
    ) -> impl Learner<Number = R, Policy = emphatic::Softmax<emphatic::Table>> {
        let policy = task.softmax();
        let critic = ExactCritic::new(task.clone(), &policy).expect("the policy fits");
        let emphasis = ExactEmphasis::new(task.clone(), &policy).expect("the policy fits");
        ActorCritic::new(policy, critic, emphasis, block(settings, first, 2)).expect("settings are in range")
    }
    measure("figure 4", Isa::Plain, &settings, &steps, |first| ace::<f64>(&task, &settings, first));
    measure("figure 4", Isa::best(), &settings, &steps, |first| ace::<Lanes<LANES>>(&task, &settings, first));
    measure("figure 4, exact emphasis", Isa::Plain, &settings, &steps, |first| {
        true_ace::<f64>(&task, &settings, first)
    });
    measure("figure 4, exact emphasis", Isa::best(), &settings, &steps, |first| {
        true_ace::<Lanes<LANES>>(&task, &settings, first)
    });
}

fn figure_5() {
    let task = Arc::new(ContinuousCounterexample::default());
    let steps: Vec<_> = task.stream(1, 0).take(2_000).collect();
    // Every setting eight times, to fill the lanes.
    let copies: Vec<f64> = (0..8).map(f64::from).collect();
    let settings = grid(&[&copies, &[0.0, 0.5, 1.0], &[1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]]);
    fn ace<R: Real>(
        task: &Arc<ContinuousCounterexample>,
        settings: &[Vec<f64>],
        first: usize,
    ) -> impl Learner<Number = R, Policy = emphatic::Gaussian<emphatic::Table>> {
        let policy = task.gaussian();
        let critic = ExactCritic::new(task.clone(), &policy).expect("the policy fits");
        let emphasis = FollowOn::new(block(settings, first, 1)).expect("settings are in range");
        ActorCritic::new(policy, critic, emphasis, block(settings, first, 2)).expect("settings are in range")
    }
    measure("figure 5", Isa::Plain, &settings, &steps, |first| ace::<f64>(&task, &settings, first));
    measure("figure 5", Isa::best(), &settings, &steps, |first| ace::<Lanes<LANES>>(&task, &settings, first));
}
