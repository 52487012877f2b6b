//! Figure 5 twice: ACE as the paper writes it, and ACE as the authors' released code computes it.
//!
//! The paper finds that ACE does not outperform DPG on the continuous-action counterexample. The update of the released
//! code is not the paper's. Here both learn from the same experience with exact values, and fresh runs judge them. The
//! released update is [`ace`] with a policy of its own, [`Released`]; all other parts are the library's.
//!
//! Run with `cargo run --release --example continuous_actions`.

use emphatic::theory::Bellman;
use emphatic::{
    Action, ContinuousCounterexample, Draw, Exact, ExactCritic, Features, Gaussian, Isa, Learner, Model,
    Normal, Policy, Real, Row, State, StepError, StochasticPolicy, dpg, follow_on_ace,
};
use std::error::Error;
use std::f64::consts::FRAC_PI_8;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

const EPISODES: usize = 10_000;
const SEED: u64 = 5;
/// As many runs as in the paper choose α. Others judge the choice: the best of a grid is partly luck.
const SELECTION: Range<u64> = 0..30;
const FRESH: Range<u64> = 30..60;
const ALPHAS: [f64; 6] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];

type Task = Arc<ContinuousCounterexample>;
type Step = emphatic::Step<State<'static>, Action>;
type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Fallible<()> {
    let task = Task::default();
    introduce(&task);
    println!("With alpha chosen on {} runs, on {} fresh ones:", SELECTION.count(), FRESH.count());
    println!("{:34}       true          less DPG's,     J_mu as  median mean", "");
    println!("{:34}alpha  J_mu          in pairs        plotted       action  diverged", "");
    let dpg = TableRow::best(&task, Method::Dpg)?;
    dpg.show(&dpg);
    let mut aces = Vec::new();
    for ace in [Method::Paper, Method::Released] {
        for lambda_a in [0.0, 0.5, 1.0] {
            let row = TableRow::best(&task, ace(lambda_a))?;
            row.show(&dpg);
            aces.push(row);
        }
    }
    compare(&aces, &dpg);
    check_plots(&task, aces.iter().chain([&dpg]));
    Ok(())
}

/// The released code's Gaussian policy: ours, except for the probability and the score that [`ace`] uses.
#[derive(Clone, Debug)]
struct Released(Gaussian);

impl StochasticPolicy for Released {
    /// Makes the ratio 1/μ, in the update and in the follow-on trace.
    #[inline(always)]
    fn probability<R: Real>(&self, _at: &Normal<R>, _a: f64) -> R {
        R::one()
    }

    /// The gradients of the mean and of the deviation, not of ln π: the action does not appear.
    #[inline(always)]
    fn add_score<R: Real>(&self, x: Row, at: &Normal<R>, _a: f64, scale: R, weights: &mut [R]) -> R {
        let mut sum = R::zero();
        for (f, x) in x.iter() {
            let x = R::splat(x);
            weights[2 * f] += scale * x;
            weights[2 * f + 1] += scale * at.slope * x;
            sum += weights[2 * f].nan_unless_finite() + weights[2 * f + 1].nan_unless_finite();
        }
        sum
    }
}

/// It acts in the same way.
impl Policy for Released {
    type Action = f64;
    type Distribution<R: Real> = Normal<R>;

    fn features(&self) -> &Features {
        self.0.features()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn check_action(&self, action: f64) -> Result<(), StepError> {
        self.0.check_action(action)
    }

    fn room<R: Real>(&self) -> Normal<R> {
        self.0.room()
    }

    #[inline(always)]
    fn distribution<R: Real>(&self, weights: &[R], x: Row, out: &mut Normal<R>) {
        self.0.distribution(weights, x, out);
    }

    fn numbers<R: Real>(&self, at: &Normal<R>) -> Vec<R> {
        self.0.numbers(at)
    }

    fn sample<R: Real>(&self, at: &Normal<R>, lane: usize, draw: &mut dyn Draw) -> f64 {
        self.0.sample(at, lane, draw)
    }
}

/// Its exact values are the same too.
impl Model<Released> for ContinuousCounterexample {
    #[inline(always)]
    fn bellman<R: Real>(&self, policy: &Released, at: &Normal<R>, state: usize, out: Bellman<'_, R>) {
        self.bellman(&policy.0, at, state, out);
    }

    fn add_gradient<R: Real>(
        &self,
        policy: &Released,
        at: &Normal<R>,
        state: usize,
        values: &[R],
        scale: R,
        gradient: &mut [R],
    ) {
        self.add_gradient(&policy.0, at, state, values, scale, gradient);
    }
}

/// A method; ACE with its λ_a.
#[derive(Clone, Copy)]
enum Method {
    Paper(f64),
    Released(f64),
    Dpg,
}

impl Method {
    fn name(self) -> String {
        match self {
            Self::Paper(lambda_a) => format!("ACE, the paper's  lambda_a {lambda_a}"),
            Self::Released(lambda_a) => format!("released update   lambda_a {lambda_a}"),
            Self::Dpg => "DPG".to_owned(),
        }
    }

    /// Learns from one run's experience, from zero weights.
    fn learn(self, task: &Task, alpha: f64, run: u64) -> Fallible<Option<Outcome>> {
        match self {
            Self::Paper(lambda_a) => learn_by_ace(task, task.gaussian(), lambda_a, alpha, run),
            Self::Released(lambda_a) => learn_by_ace(task, Released(task.gaussian()), lambda_a, alpha, run),
            Self::Dpg => {
                let policy = task.deterministic();
                let critic = ExactCritic::new(task.clone(), &policy)?;
                outcome(task, dpg(policy.clone(), critic).alpha(alpha).build()?, &policy, run)
            }
        }
    }
}

fn learn_by_ace<P: StochasticPolicy>(
    task: &Task,
    policy: P,
    lambda_a: f64,
    alpha: f64,
    run: u64,
) -> Fallible<Option<Outcome>>
where
    ContinuousCounterexample: Model<P>,
{
    let critic = ExactCritic::new(task.clone(), &policy)?;
    let learner = follow_on_ace(policy.clone(), critic).lambda_a(lambda_a).alpha(alpha).build()?;
    outcome(task, learner, &policy, run)
}

fn experience(task: &Task, run: u64) -> Vec<Step> {
    // Every episode has two steps.
    task.stream(SEED, run).take(2 * EPISODES).collect()
}

/// The outcome of one learner.
#[derive(Clone, Copy)]
struct Outcome {
    objective: f64,
    /// What the released code would have plotted as the objective.
    plotted: f64,
    /// The mean action in the aliased states.
    action: f64,
}

/// Teaches a learner and evaluates its policy; `None` if it diverged.
fn outcome<P: Policy>(
    task: &Task,
    mut learner: impl Learner<f64>,
    policy: &P,
    run: u64,
) -> Fallible<Option<Outcome>>
where
    ContinuousCounterexample: Model<P>,
{
    learner.learn(Isa::best(), &experience(task, run))?;
    if learner.check().is_err() {
        return Ok(None);
    }
    // The mean and the deviation; a deterministic policy has no deviation.
    let normal = |state| -> Fallible<_> {
        let numbers = learner.distribution(State::Number(state))?;
        Ok((numbers[0], numbers.get(1).copied().unwrap_or(0.0)))
    };
    let (start, aliased) = (normal(0)?, normal(1)?);
    let (to_right, right) = (probit(start), probit(aliased));
    let left = 2.0 * (1.0 - right);
    let plotted = plot([(1.0 - to_right) * left + to_right * right, left, right]);
    let objective = Exact::new(&**task, policy, learner.weights())?.objective();
    Ok(Some(Outcome { objective, plotted, action: aliased.0 }))
}

/// J_μ from v and the released d_μ, which follows the same rule. The behaviour is N(1, 1).
fn plot([start, left, right]: [f64; 3]) -> f64 {
    let to_right = probit((1.0, 1.0));
    0.5 * (start + (1.0 - to_right) * left + to_right * right)
}

/// E[σ(a)] as the released code has it: Φ(κ m/√(1 + κ² s²)) with κ = π/8.
///
/// The probit rule is σ(x) ≈ Φ(κx), exact in its slope at 0 if κ² = π/8. With κ = √(π/8) the plotted J_μ could not pass
/// the true supremum (1.298 against 1.303); with κ = π/8 it can, since S1 seems to be more frequent than it is.
fn probit((mean, deviation): (f64, f64)) -> f64 {
    let kappa = FRAC_PI_8;
    (kappa * mean / (1.0 + kappa * kappa * deviation * deviation).sqrt()).normal_cdf()
}

/// A line of the table: the outcome of a method with this α in each run; `None` where it diverged.
struct TableRow {
    method: Method,
    alpha: f64,
    outcomes: Vec<Option<Outcome>>,
}

impl TableRow {
    fn new(task: &Task, method: Method, alpha: f64, runs: Range<u64>) -> Fallible<Self> {
        let outcomes: Fallible<_> = thread::scope(|scope| {
            let start = |run| scope.spawn(move || method.learn(task, alpha, run));
            let threads: Vec<_> = runs.map(start).collect();
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a run panicked")?).collect()
        });
        Ok(Self { method, alpha, outcomes: outcomes? })
    }

    /// The fresh runs with the α that had the fewest diverged selection runs, then the largest mean J_μ.
    fn best(task: &Task, method: Method) -> Fallible<Self> {
        let mut best = (0, f64::NEG_INFINITY, ALPHAS[0]);
        for alpha in ALPHAS {
            let objectives = Self::new(task, method, alpha, SELECTION)?.each(|outcome| outcome.objective);
            let this = (objectives.len(), mean_and_error(&objectives).0, alpha);
            if this > best {
                best = this;
            }
        }
        Self::new(task, method, best.2, FRESH)
    }

    /// Diverged runs are counted, never averaged in.
    fn each(&self, what: fn(&Outcome) -> f64) -> Vec<f64> {
        self.outcomes.iter().flatten().map(what).collect()
    }

    /// J_μ less DPG's from the same experience.
    fn gain(&self, dpg: &Self) -> (f64, f64) {
        let pairs = self.outcomes.iter().zip(&dpg.outcomes);
        let gains = pairs.filter_map(|(this, dpg)| Some((*this)?.objective - (*dpg)?.objective));
        mean_and_error(&gains.collect::<Vec<_>>())
    }

    fn show(&self, dpg: &Self) {
        let (name, alpha, (gain, gain_error)) = (self.method.name(), self.alpha, self.gain(dpg));
        let (objective, error) = mean_and_error(&self.each(|outcome| outcome.objective));
        let plotted = mean_and_error(&self.each(|outcome| outcome.plotted)).0;
        let action = median(self.each(|outcome| outcome.action));
        let diverged = self.outcomes.iter().filter(|outcome| outcome.is_none()).count();
        print!("  {name:<32}{alpha:<5.0e}  {objective:.3}+-{error:.3}  {gain:+.3}+-{gain_error:.3}");
        println!("    {plotted:.3} {action:>12.1} {diverged:>9}");
    }
}

fn introduce(task: &Task) {
    println!(
        "theta <- theta + alpha rho M delta s   for a Gaussian policy pi, mean x.u, deviation softplus(x.w)
  the paper:          rho = pi/mu   s = grad ln pi, with the factor (a - mean)/deviation^2 in u
  the released code:  rho = 1/mu    s = (x, softplus'(x.w) x), where the action does not appear
The released update has no expectation: it would be the integral of M delta over all real actions."
    );
    // The paper's ratio depends on the weights; take those of the start.
    let paper = |step: &Step| match step.action {
        Action::Real(action) => action.normal_density(0.0, 0.0.softplus()) / step.mu,
        Action::Number(_) => f64::NAN,
    };
    println!(
        "The ten largest of its {} ratios sum to {:.0}% of them all; of the paper's (at zero weights), to {:.1}%.\n",
        2 * EPISODES,
        100.0 * share_of_ten(task, |step| 1.0 / step.mu),
        100.0 * share_of_ten(task, paper)
    );
}

/// The share of the ten largest ratios in the sum of a run's ratios, on average over the fresh runs.
fn share_of_ten(task: &Task, ratio: impl Fn(&Step) -> f64) -> f64 {
    let shares = FRESH.map(|run| {
        let mut ratios: Vec<f64> = experience(task, run).iter().map(&ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.iter().rev().take(10).sum::<f64>() / ratios.iter().sum::<f64>()
    });
    mean_and_error(&shares.collect::<Vec<_>>()).0
}

fn compare(aces: &[TableRow], dpg: &TableRow) {
    println!("\nBetter than DPG by more than two standard errors of the paired difference:");
    let better = |row: &&TableRow| {
        let (mean, error) = row.gain(dpg);
        mean > 2.0 * error
    };
    let names: Vec<String> = aces.iter().filter(better).map(|row| row.method.name()).collect();
    println!("  {}", if names.is_empty() { "none".to_owned() } else { names.join("\n  ") });
}

fn check_plots<'a>(task: &Task, rows: impl Iterator<Item = &'a TableRow>) {
    // Always to S1, where the reward is 2.
    let best = [2.0, 2.0, 0.0];
    let supremum: f64 = task.stationary().iter().zip(best).map(|(d, v)| d * v).sum();
    let plots: Vec<f64> = rows.flat_map(|row| row.each(|outcome| outcome.plotted)).collect();
    let above = plots.iter().filter(|plotted| **plotted > supremum).count();
    println!(
        "No policy has more than J_mu = {supremum:.6}. The released code would plot up to {:.6}, and {above} of these
{} policies above what is possible.",
        plot(best),
        plots.len()
    );
}

fn mean_and_error(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// The released update's actions vary too much for a mean.
fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    match (x.get(x.len().saturating_sub(1) / 2), x.get(x.len() / 2)) {
        (Some(lower), Some(upper)) => 0.5 * (lower + upper),
        _ => f64::NAN,
    }
}
