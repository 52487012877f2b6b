//! The time of an update in the workloads of the paper and in a sweep of TDRC, with `f64` and in lanes.
//!
//! `emphatic-bench DIRECTORY` writes the streams of steps that the peers learn from to files in DIRECTORY, and prints one line of JSON for each
//! measurement, in nanoseconds an update. `emphatic-bench DIRECTORY 3` measures figure 3 alone, for a profiler.
//!
//! `emphatic-bench parts` measures every part of the catalogue in a learner that is otherwise the same.
//!
//! `emphatic-bench simulators` measures a tile coder, and a step in each simulator.
//!
//! `emphatic-bench solve WIDTH HEIGHT FILE` solves a grid exactly, in a process of its own since it reports its peak memory, and
//! writes v and m to FILE; `emphatic-bench dense WIDTH HEIGHT` does so by dense elimination.
//!
//! `emphatic-bench python KIND STEPS WEIGHTS` measures the learner that the Python package is compared with. It writes the steps and
//! the final weights to files, for Python to learn from and to compare.

mod parts;
mod python;
mod solve;
mod tdrc;
mod tiles;

use emphatic::catalogue::{Catalogue, Declaration, Declared, Range, Role, Setting};
use emphatic::{
    Action, ActorCritic, Built, Composable, ComposeError, ContinuousCounterexample, Critic, Emphasis,
    Features, Fixed, FollowOn, Gtd, Isa, KnownProblem, Lanes, Learner, PartBuilder, PartRecipe, Real, Recipe,
    RuleKind, State, Step, Task, WithIsa, follow_on_ace,
};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Which of so many settings have their final weights shown, so that implementations can be compared.
fn probes(settings: usize) -> [usize; 4] {
    [0, 2 * settings / 7, settings / 2, settings - 1]
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let out = std::io::stdout();
    match arguments[..] {
        ["solve", width, height, file] => solve::sparse(width.parse()?, height.parse()?, file, out),
        ["dense", width, height] => solve::dense(width.parse()?, height.parse()?, out),
        ["python", kind, steps, weights] => python::run(kind, python::Files { steps, weights }, out),
        ["simulators"] => tiles::simulators(30, 20_000, out),
        ["parts"] => parts::run(Bench { repeats: 15, only: None, out }, parts::STEPS),
        [path] => run(Bench { repeats: 3, only: None, out }, Some(path.as_ref()), &LENGTHS),
        [path, workload @ ("3" | "4" | "5" | "tdrc" | "tiles")] => {
            run(Bench { repeats: 3, only: Some(workload), out }, Some(path.as_ref()), &LENGTHS)
        }
        _ => Err("usage: emphatic-bench DIRECTORY [3 | 4 | 5 | tdrc | tiles] | parts | simulators | solve WIDTH HEIGHT FILE \
                  | dense WIDTH HEIGHT | python KIND STEPS WEIGHTS"
            .into()),
    }
}

/// The numbers of steps.
struct Lengths {
    figure_3: usize,
    figure_4: usize,
    figure_5: usize,
    tdrc: usize,
    tiles: usize,
}

const LENGTHS: Lengths =
    Lengths { figure_3: 10_000, figure_4: 50_000, figure_5: 2_000, tdrc: 10_000, tiles: 10_000 };

/// Measures all workloads, and writes the streams of those that have peers to a directory.
fn run(
    mut bench: Bench<impl Write>,
    directory: Option<&Path>,
    lengths: &Lengths,
) -> Result<(), Box<dyn Error>> {
    let write = |name: &str, steps: &[Experience]| {
        directory.map_or(Ok(()), |directory| write_stream(&directory.join(name), steps))
    };
    if bench.wants("3") {
        let steps: Vec<_> = Task::counterexample().stream(1, 0).take(lengths.figure_3).collect();
        write("fig3.f64", &steps)?;
        figure_3(&mut bench, &steps)?;
    }
    if bench.wants("4") {
        figure_4(&mut bench, lengths.figure_4)?;
    }
    if bench.wants("5") {
        figure_5(&mut bench, lengths.figure_5)?;
    }
    if bench.wants("tdrc") {
        let prediction = tdrc::Prediction::new()?;
        let steps: Vec<_> = prediction.task.stream(1, 0).take(lengths.tdrc).collect();
        write("tdrc.f64", &steps)?;
        prediction.measure(&mut bench, &steps)?;
    }
    if bench.wants("tiles") {
        let steps = tiles::stream(lengths.tiles)?;
        directory.map_or(Ok(()), |directory| tiles::write(&directory.join("tiles.f64"), &steps))?;
        tiles::measure(&mut bench, &steps)?;
    }
    Ok(())
}

type Experience = Step<State<'static>, Action>;

/// A learner of any kind.
type Any<R> = Result<Box<dyn Learner<R>>, Box<dyn Error>>;

/// Writes eight numbers for each step.
fn write_stream(path: &Path, steps: &[Experience]) -> std::io::Result<()> {
    let number = |state: State| if let State::Number(number) = state { number as f64 } else { f64::NAN };
    let rows = steps.iter().flat_map(|s| {
        let action = if let Action::Number(number) = s.action { number as f64 } else { f64::NAN };
        [number(s.state), action, s.mu, s.reward, number(s.next), s.gamma, s.gamma_next, s.interest]
    });
    write_numbers(path, rows)
}

/// Writes little-endian `f64`.
fn write_numbers(path: impl AsRef<Path>, numbers: impl IntoIterator<Item = f64>) -> std::io::Result<()> {
    std::fs::write(path, numbers.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}

/// The numbers that differ between learners. An exact critic has none.
#[derive(Clone, Copy, Default)]
struct Numbers {
    lambda_a: f64,
    alpha: f64,
    alpha_v: f64,
    alpha_w: f64,
    lambda: f64,
}

/// A block of settings that fills the lanes.
#[derive(Clone, Copy)]
struct Block<'a> {
    settings: &'a [Numbers],
    first: usize,
}

impl Block<'_> {
    /// The setting in a lane. The last block is filled up with settings from the start.
    fn setting(&self, lane: usize) -> &Numbers {
        &self.settings[(self.first + lane) % self.settings.len()]
    }

    /// One number in every lane.
    fn get<R: Real>(&self, number: impl Fn(&Numbers) -> f64) -> R {
        R::from_lanes(|lane| number(self.setting(lane)))
    }
}

struct Bench<'a, W> {
    repeats: usize,
    /// The only workload that is measured.
    only: Option<&'a str>,
    out: W,
}

impl<W: Write> Bench<'_, W> {
    fn wants(&self, workload: &str) -> bool {
        self.only.is_none_or(|only| only == workload)
    }

    /// Times learners that are composed from recipes, with `f64` and in lanes.
    fn measure_composed(
        &mut self,
        workload: &str,
        settings: &[Numbers],
        steps: &[Experience],
        problem: &KnownProblem,
        recipe: impl Fn(&Numbers) -> Recipe,
    ) -> Result<(), Box<dyn Error>> {
        let alone = |block: Block| composed::<f64>(std::slice::from_ref(problem), block, &recipe);
        self.measure(workload, Isa::Plain, settings, steps, alone)?;
        let in_lanes = |block: Block| composed::<Lanes<16>>(std::slice::from_ref(problem), block, &recipe);
        self.measure(workload, Isa::best(), settings, steps, in_lanes)
    }

    /// Times a whole grid with one kind of number, and writes the best of a few repeats.
    fn measure<R: Real>(
        &mut self,
        workload: &str,
        isa: Isa,
        settings: &[Numbers],
        steps: &[Experience],
        learner: impl Fn(Block) -> Any<R>,
    ) -> Result<(), Box<dyn Error>> {
        let mut best = f64::INFINITY;
        let mut probe = Vec::new();
        for repeat in 0..self.repeats {
            let mut nanoseconds = 0.0;
            for first in (0..settings.len()).step_by(R::LANES) {
                let mut learner = learner(Block { settings, first })?;
                let start = Instant::now();
                learner.learn(isa, steps)?;
                nanoseconds += start.elapsed().as_nanos() as f64;
                if repeat == 0 {
                    let within = |k: &usize| (first..first + R::LANES).contains(k);
                    for k in probes(settings.len()).into_iter().filter(within) {
                        probe.push(format!("\"{k}\": [{}]", weights(&mut *learner, k - first)?));
                    }
                }
            }
            best = best.min(nanoseconds / (settings.len() * steps.len()) as f64);
        }
        let by = if R::LANES == 1 { "f64".to_owned() } else { format!("{} lanes", R::LANES) };
        writeln!(
            self.out,
            "{{\"workload\": \"{workload}\", \"by\": \"{by}\", \"isa\": \"{isa:?}\", \"settings\": {}, \"steps\": {}, \
             \"time\": {best}, \"probe\": {{{}}}}}",
            settings.len(),
            steps.len(),
            probe.join(", ")
        )?;
        Ok(())
    }
}

/// A lane's weights as JSON, those of the critic if the policy has none; `null` for those that are not finite.
fn weights<R: Real>(learner: &mut dyn Learner<R>, lane: usize) -> Result<String, Box<dyn Error>> {
    let mut weights: Vec<f64> = learner.weights().iter().map(|w| w.lane(lane)).collect();
    if weights.is_empty() {
        weights = learner.estimates_in(lane)?.into_iter().flat_map(|(_, estimate)| estimate).collect();
    }
    let number = |x: f64| if x.is_finite() { x.to_string() } else { "null".to_owned() };
    Ok(weights.into_iter().map(number).collect::<Vec<_>>().join(", "))
}

/// The follow-on trace as a part from outside the library: learners with it have boxed parts.
struct Outside;

impl Declared for Outside {
    const DECLARATION: Declaration = Declaration {
        settings: &[Setting { name: "lambda_a", range: Range::Fraction, default: None, about: "λ_a" }],
        ..Declaration::new(Role::Emphasis, "outside", "Outside", "the follow-on trace")
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(FollowOn::builder().lambda_a(with.number("lambda_a")?).build()?)
    }
}

/// Composes learners from recipes, as experiments do.
fn composed<R: Composable>(
    problems: &[KnownProblem],
    block: Block,
    recipe: impl Fn(&Numbers) -> Recipe,
) -> Any<R> {
    let catalogue = Catalogue::standard().clone().with::<Outside>().with::<Fixed>();
    let recipes: Vec<Recipe> = (0..R::LANES).map(|lane| recipe(block.setting(lane))).collect();
    let recipes: Vec<&Recipe> = recipes.iter().collect();
    Ok(R::compose(&catalogue, &recipes, problems, Isa::best())?)
}

fn recipe(task: &Task, critic: PartRecipe, emphasis: PartRecipe, alpha: f64) -> Recipe {
    let policy = PartRecipe::new("softmax").with_features(task.actor());
    Recipe::new(RuleKind::Taken, policy, critic, emphasis, alpha).with_actions(task.actions())
}

/// The suffix of the workload, and the name of the emphasis that makes a learner fused or boxed.
const TRACES: [(&str, &str); 2] = [("", "follow-on"), (", boxed parts", "outside")];

fn figure_3(bench: &mut Bench<impl Write>, steps: &[Experience]) -> Result<(), Box<dyn Error>> {
    fn critic<R: Real>(block: Block) -> Result<Gtd<R>, Box<dyn Error>> {
        Ok(Gtd::builder(Features::one_hot(3))
            .alpha_v(block.get(|numbers| numbers.alpha_v))
            .alpha_w(block.get(|numbers| numbers.alpha_w))
            .lambda(block.get(|numbers| numbers.lambda))
            .build()?)
    }
    fn learner<R: Real>(task: &Task, block: Block) -> Any<R> {
        let lambda_a = block.get(|numbers| numbers.lambda_a);
        let alpha = block.get(|numbers| numbers.alpha);
        Ok(Box::new(follow_on_ace(task.softmax(), critic(block)?).lambda_a(lambda_a).alpha(alpha).build()?))
    }
    fn boxed<R: Real>(task: &Task, block: Block, isa: Isa) -> Any<R> {
        let critic: Box<dyn Critic<R>> = Box::new(WithIsa { isa, part: critic(block)? });
        let follow_on = FollowOn::builder().lambda_a(block.get(|numbers| numbers.lambda_a)).build()?;
        let emphasis: Box<dyn Emphasis<R>> = Box::new(WithIsa { isa, part: follow_on });
        let alpha = block.get(|numbers| numbers.alpha);
        Ok(Box::new(ActorCritic::builder(task.softmax(), critic, emphasis).alpha(alpha).build()?))
    }
    let task = Arc::new(Task::counterexample());
    let problem = KnownProblem::Finite(task.clone());
    let mut settings = Vec::new();
    for lambda_a in [0.0, 0.25, 0.5, 0.75, 1.0] {
        for alpha in [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0] {
            for alpha_v in [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0] {
                for alpha_w in [1e-10, 1e-8, 1e-6, 1e-4, 1e-2] {
                    let numbers = |lambda| Numbers { lambda_a, alpha, alpha_v, alpha_w, lambda };
                    settings.extend([0.0, 0.5, 1.0].map(numbers));
                }
            }
        }
    }
    for (words, trace) in TRACES {
        bench.measure_composed(&format!("figure 3{words}"), &settings, steps, &problem, |numbers| {
            let gtd = PartRecipe::new("gtd")
                .with("alpha_v", numbers.alpha_v)
                .with("alpha_w", numbers.alpha_w)
                .with("lambda", numbers.lambda);
            let trace = PartRecipe::new(trace).with("lambda_a", numbers.lambda_a);
            recipe(&task, gtd.with_features(Features::one_hot(3)), trace, numbers.alpha)
        })?;
    }
    // As many lanes as a user of the library may have.
    let isa = Isa::best();
    bench.measure("figure 3", isa, &settings, steps, |block| learner::<Lanes<32>>(&task, block))?;
    let name = "figure 3, boxed parts";
    bench.measure(name, isa, &settings, steps, |block| boxed::<Lanes<32>>(&task, block, isa))
}

fn figure_4(bench: &mut Bench<impl Write>, length: usize) -> Result<(), Box<dyn Error>> {
    let task = Arc::new(Task::long_counterexample(5));
    let problem = KnownProblem::Finite(task.clone());
    let steps: Vec<_> = task.stream(1, 0).take(length).collect();
    // Every setting twice, to fill the lanes.
    let mut settings = Vec::new();
    for lambda_a in [0.0, 0.25, 0.5, 0.75, 1.0] {
        for alpha in [5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2] {
            settings.extend([Numbers { lambda_a, alpha, ..Numbers::default() }; 2]);
        }
    }
    let exact = || PartRecipe::new("exact");
    for (words, trace) in TRACES {
        let name = format!("figure 4, exact critic{words}");
        bench.measure_composed(&name, &settings, &steps, &problem, |numbers| {
            let trace = PartRecipe::new(trace).with("lambda_a", numbers.lambda_a);
            recipe(&task, exact(), trace, numbers.alpha)
        })?;
    }
    let name = "figure 4, exact critic and emphasis";
    let recipe = |numbers: &Numbers| recipe(&task, exact(), exact(), numbers.alpha);
    bench.measure_composed(name, &settings, &steps, &problem, recipe)
}

fn figure_5(bench: &mut Bench<impl Write>, length: usize) -> Result<(), Box<dyn Error>> {
    let problem = Arc::new(ContinuousCounterexample::default());
    let steps: Vec<_> = problem.stream(1, 0).take(length).collect();
    // Every setting eight times, to fill the lanes; equal step-sizes are side by side.
    let mut settings = Vec::new();
    for alpha in [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0] {
        for lambda_a in [0.0, 0.5, 1.0] {
            settings.extend([Numbers { lambda_a, alpha, ..Numbers::default() }; 8]);
        }
    }
    let known = KnownProblem::Continuous(problem.clone());
    bench.measure_composed("figure 5, ACE, exact critic", &settings, &steps, &known, |numbers| {
        let policy = PartRecipe::new("gaussian").with_features(problem.actor());
        let emphasis = PartRecipe::new("follow-on").with("lambda_a", numbers.lambda_a);
        Recipe::new(RuleKind::Taken, policy, PartRecipe::new("exact"), emphasis, numbers.alpha)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_runs_and_agrees_with_itself() {
        let mut out = Vec::new();
        let bench = Bench { repeats: 1, only: None, out: &mut out };
        run(bench, None, &Lengths { figure_3: 20, figure_4: 20, figure_5: 10, tdrc: 20, tiles: 20 }).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 21);
        // The weights are the same with f64 and in lanes.
        let probe = |k: usize| lines[k].split_once("\"probe\"").unwrap().1;
        for (alone, lanes) in [
            (0, 1),
            (0, 2),
            (0, 3),
            (0, 4),
            (0, 5),
            (6, 7),
            (6, 8),
            (6, 9),
            (10, 11),
            (12, 13),
            (14, 15),
            (14, 16),
            (17, 18),
            (19, 20),
        ] {
            assert_eq!(probe(alone), probe(lanes));
        }
    }
}
