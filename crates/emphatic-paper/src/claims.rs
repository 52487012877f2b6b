//! The paper's claims about its experiments, each with the rule that judges it.
//!
//! A rule is a list of conditions. A condition compares a mean over fresh runs (streams that had no part in choosing the
//! settings) with a threshold: it holds if the whole 99 % interval (Student's) lies on the right side, fails if the whole
//! interval lies on the wrong side, and is open otherwise. Methods are compared run by run, since all learn from the same
//! experience. A claim is confirmed if all its conditions hold, refuted if one fails, and not decided otherwise. A method
//! with a diverged run leaves its conditions open.
//!
//! Thresholds are shares of the *gap*: the best attainable J_μ minus that to which the expected semi-gradient leads, both
//! exact. To *reach* a value is to come within 5 % of the gap.
//!
//! The rules were written before the experiments were run. They are not tuned to what came out.

use crate::verdict::{Condition, Estimate, share};
use emphatic::Random;
use emphatic_lab::statistics::mean;

/// To reach a value is to come within this share of the gap.
const REACHED: f64 = 0.05;

/// J_μ of the policy that always takes A1 in the counterexample: d_μ(S0) + d_μ(S2).
const ALWAYS_A1: f64 = 0.875;

/// To do much better is to be better by this share of the gap.
const MUCH: f64 = 0.25;

/// How often runs are resampled where an order of step-sizes is judged.
const RESAMPLES: u64 = 10_000;

/// What came out of a figure's experiment, as far as claims are about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// J_μ of the policy that all methods start from.
    pub start: f64,
    /// The best attainable J_μ.
    pub optimum: f64,
    /// J_μ of the policy to which the expected semi-gradient leads.
    pub semi_gradient: f64,
    /// The methods.
    pub methods: Vec<MethodEvidence>,
}

/// What came out for one method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodEvidence {
    /// Its name, as in figures.
    pub name: String,
    /// J_μ at the end of each fresh run of its best setting; nothing if it diverged.
    pub objective: Vec<Option<f64>>,
    /// The policy in the aliased states at the end of each fresh run.
    pub aliased: Vec<Option<f64>>,
    /// J_μ at the end of each run for each step-size in ascending order.
    pub by_step_size: Vec<(f64, Vec<Option<f64>>)>,
}

impl Evidence {
    fn gap(&self) -> f64 {
        self.optimum - self.semi_gradient
    }

    /// What comes within this of a value has reached it.
    fn tolerance(&self) -> f64 {
        REACHED * self.gap()
    }

    fn method(&self, name: &str) -> Option<&MethodEvidence> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// J_μ at the end.
    fn objective(&self, name: &str) -> Estimate {
        Estimate::of(format!("J_μ of {name}"), self.method(name).map_or(&[], |m| &m.objective))
    }

    /// The policy in the aliased states at the end: the probability of A0, or the mean action.
    fn aliased(&self, what: &str, name: &str) -> Estimate {
        Estimate::of(format!("{what} of {name}"), self.method(name).map_or(&[], |m| &m.aliased))
    }

    /// By how much one method ends above another, run by run.
    fn lead(&self, better: &str, worse: &str) -> Estimate {
        let differences: Vec<Option<f64>> = match (self.method(better), self.method(worse)) {
            (Some(a), Some(b)) => {
                a.objective.iter().zip(&b.objective).map(|(a, b)| Some((*a)? - (*b)?)).collect()
            }
            _ => Vec::new(),
        };
        Estimate::of(format!("{better} − {worse}"), &differences)
    }
}

/// A claim about an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Its name.
    pub id: &'static str,
    /// The figure it is about.
    pub figure: &'static str,
    /// What the paper says.
    pub text: &'static str,
    /// How it is judged, in words.
    pub rule: &'static str,
    /// How it is judged.
    pub judge: fn(&Evidence) -> Vec<Condition>,
}

/// All claims about experiments.
pub const CLAIMS: [Claim; 12] = [
    Claim {
        id: "F1a",
        figure: "fig1",
        text: "From a near-optimal start the semi-gradient lowers J_μ to that of “always A1”; the gradient raises it to the optimum",
        rule: "the mean final J_μ of ACE(0) is within 5 % of the gap of 0.875 (always A1), that of ACE(1) within 5 % of the gap of the optimum",
        judge: |e| {
            vec![
                e.objective("ACE(0)").near(ALWAYS_A1, e.tolerance()),
                e.objective("ACE(1)").near(e.optimum, e.tolerance()),
            ]
        },
    },
    Claim {
        id: "F1b",
        figure: "fig1",
        text: "The probability of A0 in the aliased states goes to 0 with the semi-gradient, to 1 with the gradient",
        rule: "the mean final probability is below 0.05 for ACE(0) and above 0.95 for ACE(1)",
        judge: |e| vec![e.aliased("π(A0)", "ACE(0)").below(0.05), e.aliased("π(A0)", "ACE(1)").above(0.95)],
    },
    Claim {
        id: "F2a",
        figure: "fig2",
        text: "λ_a = 0 ends below its starting point",
        rule: "the mean final J_μ of ACE(0) is below J_μ of the starting policy",
        judge: |e| vec![e.objective("ACE(0)").below(e.start)],
    },
    Claim {
        id: "F2b",
        figure: "fig2",
        text: "λ_a = 0.25 improves on the start, but ends worse than λ_a ≥ 0.5",
        rule: "the mean final J_μ of ACE(0.25) is above that of the starting policy, and ACE(0.5), ACE(0.75) and ACE(1) each end above ACE(0.25), run by run on average",
        judge: |e| {
            let mut conditions = vec![e.objective("ACE(0.25)").above(e.start)];
            conditions.extend(HALF_AND_MORE.map(|name| e.lead(name, "ACE(0.25)").above(0.0)));
            conditions
        },
    },
    Claim {
        id: "F2c",
        figure: "fig2",
        text: "λ_a ≥ 0.5 reaches the optimum",
        rule: "the mean final J_μ of ACE(0.5), ACE(0.75) and ACE(1) is within 5 % of the gap of the optimum",
        judge: |e| {
            HALF_AND_MORE.iter().map(|name| e.objective(name).near(e.optimum, e.tolerance())).collect()
        },
    },
    Claim {
        id: "F2d",
        figure: "fig2",
        text: "The larger λ_a, the smaller the step-size that works: smaller λ_a tolerates larger steps",
        rule: "a step-size works for a λ_a if its mean final J_μ is within 5 % of the gap of that λ_a's best; the largest that works never grows with λ_a, and is smaller for λ_a = 1 than for λ_a = 0: confirmed if so in 99 % of resamples of the runs, refuted if in less than 1 % (no setting is chosen here, so these are the runs of the grid)",
        judge: |e| vec![step_sizes_fall(e)],
    },
    Claim {
        id: "F3a",
        figure: "fig3",
        text: "With a learned GTD(λ) critic, λ_a = 0 is still suboptimal, and even low λ_a > 0 does much better",
        rule: "the mean final J_μ of ACE(0) is more than 5 % of the gap below the optimum, and ACE(0.25) ends above ACE(0) by more than a quarter of the gap, run by run on average",
        judge: |e| {
            vec![
                e.objective("ACE(0)").below(e.optimum - e.tolerance()),
                e.lead("ACE(0.25)", "ACE(0)").above(MUCH * e.gap()),
            ]
        },
    },
    Claim {
        id: "F4a",
        figure: "fig4",
        text: "Performance improves with λ_a",
        rule: "each λ_a ends above the next smaller one, run by run on average",
        judge: |e| {
            let pairs = [("0.25", "0"), ("0.5", "0.25"), ("0.75", "0.5"), ("1", "0.75")];
            pairs
                .map(|(more, less)| e.lead(&format!("ACE({more})"), &format!("ACE({less})")).above(0.0))
                .to_vec()
        },
    },
    Claim {
        id: "F4b",
        figure: "fig4",
        text: "A gap remains between λ_a = 1 and True-ACE",
        rule: "True-ACE ends above ACE(1) by more than 5 % of the gap, run by run on average",
        judge: |e| vec![e.lead("True-ACE", "ACE(1)").above(e.tolerance())],
    },
    Claim {
        id: "F5a",
        figure: "fig5",
        text: "DPG ends suboptimal and prefers positive actions in the aliased states",
        rule: "the mean final J_μ of DPG is more than 5 % of the gap below the optimum, and its mean final action in the aliased states is above 0",
        judge: |e| {
            vec![e.objective("DPG").below(e.optimum - e.tolerance()), e.aliased("action", "DPG").above(0.0)]
        },
    },
    Claim {
        id: "F5b",
        figure: "fig5",
        text: "True-DPGE turns to negative actions and passes DPG; True-ACE too, but it stays below True-DPGE",
        rule: "the mean final action of True-DPGE and of True-ACE in the aliased states is below 0, both end above DPG, and True-DPGE ends above True-ACE, run by run on average",
        judge: |e| {
            vec![
                e.aliased("action", "True-DPGE").below(0.0),
                e.lead("True-DPGE", "DPG").above(0.0),
                e.aliased("mean action", "True-ACE").below(0.0),
                e.lead("True-ACE", "DPG").above(0.0),
                e.lead("True-DPGE", "True-ACE").above(0.0),
            ]
        },
    },
    Claim {
        id: "F5c",
        figure: "fig5",
        text: "ACE with λ_a ∈ {0, 0.5, 1} does not outperform DPG",
        rule: "none of ACE(0), ACE(0.5) and ACE(1) ends above DPG by more than 5 % of the gap, run by run on average",
        judge: |e| {
            ["ACE(0)", "ACE(0.5)", "ACE(1)"].map(|name| e.lead(name, "DPG").below(e.tolerance())).to_vec()
        },
    },
];

const HALF_AND_MORE: [&str; 3] = ["ACE(0.5)", "ACE(0.75)", "ACE(1)"];

/// The largest step-size that works never grows with λ_a, and is smaller for the largest λ_a than for the smallest.
fn step_sizes_fall(evidence: &Evidence) -> Condition {
    let methods: Option<Vec<StepSizes>> = evidence.methods.iter().map(StepSizes::of).collect();
    let methods = methods.unwrap_or_default();
    let runs = methods.iter().map(StepSizes::runs).min().unwrap_or(0);
    let largest = |drawn: &[usize]| -> Option<Vec<f64>> {
        methods.iter().map(|method| method.largest(drawn, evidence.tolerance())).collect()
    };
    let falls = |steps: Vec<f64>| steps.is_sorted_by(|a, b| a >= b) && steps.last() < steps.first();
    let resampled = |resample: u64| {
        let mut random = Random::new(0, resample);
        // The same runs for every setting.
        largest(&(0..runs).map(|_| random.below(runs)).collect::<Vec<_>>()).map(falls)
    };
    let held: Option<Vec<bool>> = (0..RESAMPLES).map(resampled).collect();
    let held = held.filter(|_| runs > 0);
    let found = largest(&(0..runs).collect::<Vec<_>>()).unwrap_or_default();
    let found: Vec<String> =
        evidence.methods.iter().zip(found).map(|(m, alpha)| format!("{alpha} for {}", m.name)).collect();
    share(
        format!("the largest step-size that works, {}, falls", found.join(", ")),
        held.map(|held| held.iter().filter(|held| **held).count() as f64 / RESAMPLES as f64),
    )
}

/// J_μ at the end of each run, by step-size.
struct StepSizes(Vec<(f64, Vec<f64>)>);

impl StepSizes {
    /// Step-sizes with a diverged run do not work. Nothing if that leaves none.
    fn of(method: &MethodEvidence) -> Option<Self> {
        let whole = |(alpha, runs): &(f64, Vec<Option<f64>>)| {
            Some((*alpha, runs.iter().copied().collect::<Option<Vec<f64>>>()?))
        };
        let sizes: Vec<_> = method.by_step_size.iter().filter_map(whole).collect();
        (!sizes.is_empty()).then_some(Self(sizes))
    }

    fn runs(&self) -> usize {
        self.0.iter().map(|(_, runs)| runs.len()).min().unwrap_or(0)
    }

    /// The largest that works in these runs.
    fn largest(&self, drawn: &[usize], tolerance: f64) -> Option<f64> {
        let mean_of = |runs: &Vec<f64>| mean(&drawn.iter().map(|run| runs[*run]).collect::<Vec<_>>());
        let means: Vec<(f64, f64)> =
            self.0.iter().map(|(alpha, runs)| Some((*alpha, mean_of(runs)?))).collect::<Option<_>>()?;
        let best = means.iter().map(|(_, mean)| *mean).fold(f64::NEG_INFINITY, f64::max);
        let works = means.iter().filter(|(_, mean)| *mean >= best - tolerance);
        works.map(|(alpha, _)| *alpha).reduce(f64::max)
    }
}
