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
//! The intervals hold for the settings that were chosen. With fewer runs than the paper's that choice is luck, and the claims are
//! not the paper's any more: nothing is decided then.
//!
//! The rules were written before the reproduction was first run, and no threshold has been changed since.

use crate::verdict::{Condition, Estimate, JudgedClaim, Verdict, share};
use Method::{Ace, Dpg, TrueAce, TrueDpge};
use emphatic::Random;
use emphatic::catalogue::Algorithm;
use emphatic_lab::statistics::mean;
use std::fmt;

/// To reach a value is to come within this share of the gap.
const REACHED: f64 = 0.05;

/// J_μ of the policy that always takes A1 in the counterexample: d_μ(S0) + d_μ(S2).
const ALWAYS_A1: f64 = 0.875;

/// To do much better is to be better by this share of the gap.
const MUCH: f64 = 0.25;

/// How often runs are resampled where an order of step-sizes is judged.
const RESAMPLES: u64 = 10_000;

/// With fewer runs there are so few different resamples that shares of 1 % mean nothing.
const FEWEST: usize = 10;

/// A method of the paper's figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// ACE with this λ_a.
    Ace(f64),
    /// ACE with the exact emphasis.
    TrueAce,
    /// The deterministic policy gradient without emphasis.
    Dpg,
    /// The deterministic policy gradient with the exact emphasis.
    TrueDpge,
}

impl fmt::Display for Method {
    /// Its name in figures.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Ace(lambda_a) => write!(f, "{}({lambda_a})", Algorithm::ACE.title),
            TrueAce => f.write_str(Algorithm::TRUE_ACE.title),
            Dpg => f.write_str(Algorithm::DPG.title),
            TrueDpge => f.write_str(Algorithm::TRUE_DPGE.title),
        }
    }
}

/// The results of a figure's experiment, as far as claims are about them.
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

/// The results of one method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodEvidence {
    /// Its name, as in figures.
    pub name: String,
    /// J_μ at the end of each fresh run of its best setting; `None` if it diverged.
    pub objective: Vec<Option<f64>>,
    /// The policy in the aliased states at the end of each fresh run.
    pub aliased: Vec<Option<f64>>,
    /// The runs of each step-size, in ascending order.
    pub by_step_size: Vec<StepSizeEvidence>,
}

/// The results of one step-size of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSizeEvidence {
    /// The actor's step-size.
    pub alpha: f64,
    /// J_μ at the end of each run; `None` if it diverged.
    pub objective: Vec<Option<f64>>,
}

impl Evidence {
    fn gap(&self) -> f64 {
        self.optimum - self.semi_gradient
    }

    /// A value is reached if it is missed by no more than this.
    fn tolerance(&self) -> f64 {
        REACHED * self.gap()
    }

    fn method(&self, method: Method) -> Option<&MethodEvidence> {
        let name = method.to_string();
        self.methods.iter().find(|method| method.name == name)
    }

    /// J_μ at the end.
    fn objective(&self, method: Method) -> Estimate {
        Estimate::of(format!("J_μ of {method}"), self.method(method).map_or(&[], |m| &m.objective))
    }

    /// The policy in the aliased states at the end: the probability of A0, or the mean action.
    fn aliased(&self, what: &str, method: Method) -> Estimate {
        Estimate::of(format!("{what} of {method}"), self.method(method).map_or(&[], |m| &m.aliased))
    }

    /// By how much one method ends above another, run by run.
    fn lead(&self, better: Method, worse: Method) -> Estimate {
        let differences: Vec<Option<f64>> = match (self.method(better), self.method(worse)) {
            (Some(a), Some(b)) => {
                // A run that only one of them has leaves the difference open.
                let runs = a.objective.len().max(b.objective.len());
                let end = |method: &MethodEvidence, run: usize| method.objective.get(run).copied().flatten();
                (0..runs).map(|run| Some(end(a, run)? - end(b, run)?)).collect()
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
                e.objective(Ace(0.0)).near(ALWAYS_A1, e.tolerance()),
                e.objective(Ace(1.0)).near(e.optimum, e.tolerance()),
            ]
        },
    },
    Claim {
        id: "F1b",
        figure: "fig1",
        text: "The probability of A0 in the aliased states goes to 0 with the semi-gradient, to 1 with the gradient",
        rule: "the mean final probability is below 0.05 for ACE(0) and above 0.95 for ACE(1)",
        judge: |e| vec![e.aliased("π(A0)", Ace(0.0)).below(0.05), e.aliased("π(A0)", Ace(1.0)).above(0.95)],
    },
    Claim {
        id: "F2a",
        figure: "fig2",
        text: "λ_a = 0 ends below its starting point",
        rule: "the mean final J_μ of ACE(0) is below J_μ of the starting policy",
        judge: |e| vec![e.objective(Ace(0.0)).below(e.start)],
    },
    Claim {
        id: "F2b",
        figure: "fig2",
        text: "λ_a = 0.25 improves on the start, but ends worse than λ_a ≥ 0.5",
        rule: "the mean final J_μ of ACE(0.25) is above that of the starting policy, and ACE(0.5), ACE(0.75) and ACE(1) each end above ACE(0.25), run by run on average",
        judge: |e| {
            let mut conditions = vec![e.objective(Ace(0.25)).above(e.start)];
            conditions.extend(HALF_AND_MORE.map(|ace| e.lead(ace, Ace(0.25)).above(0.0)));
            conditions
        },
    },
    Claim {
        id: "F2c",
        figure: "fig2",
        text: "λ_a ≥ 0.5 reaches the optimum",
        rule: "the mean final J_μ of ACE(0.5), ACE(0.75) and ACE(1) is within 5 % of the gap of the optimum",
        judge: |e| HALF_AND_MORE.map(|ace| e.objective(ace).near(e.optimum, e.tolerance())).to_vec(),
    },
    Claim {
        id: "F2d",
        figure: "fig2",
        text: "The larger λ_a, the smaller the step-size that works: smaller λ_a tolerates larger steps",
        rule: "a step-size works for a λ_a if its mean final J_μ is within 5 % of the gap of that λ_a's best; the largest that works never grows with λ_a, and is smaller for λ_a = 1 than for λ_a = 0: confirmed if so in at least 99 % of resamples of the runs, refuted if in at most 1 % (no setting is chosen here, so these are the runs of the grid)",
        judge: |e| vec![step_sizes_fall(e)],
    },
    Claim {
        id: "F3a",
        figure: "fig3",
        text: "With a learned GTD(λ) critic, λ_a = 0 is still suboptimal, and even low λ_a > 0 does much better",
        rule: "the mean final J_μ of ACE(0) is more than 5 % of the gap below the optimum, and ACE(0.25) ends above ACE(0) by more than a quarter of the gap, run by run on average",
        judge: |e| {
            vec![
                e.objective(Ace(0.0)).below(e.optimum - e.tolerance()),
                e.lead(Ace(0.25), Ace(0.0)).above(MUCH * e.gap()),
            ]
        },
    },
    Claim {
        id: "F4a",
        figure: "fig4",
        text: "Performance improves with λ_a",
        rule: "each λ_a ends above the next smaller one, run by run on average",
        judge: |e| ACES.windows(2).map(|pair| e.lead(pair[1], pair[0]).above(0.0)).collect(),
    },
    Claim {
        id: "F4b",
        figure: "fig4",
        text: "A gap remains between λ_a = 1 and True-ACE",
        rule: "True-ACE ends above ACE(1) by more than 5 % of the gap, run by run on average",
        judge: |e| vec![e.lead(TrueAce, Ace(1.0)).above(e.tolerance())],
    },
    Claim {
        id: "F5a",
        figure: "fig5",
        text: "DPG ends suboptimal and prefers positive actions in the aliased states",
        rule: "the mean final J_μ of DPG is more than 5 % of the gap below the optimum, and its mean final action in the aliased states is above 0",
        judge: |e| {
            vec![e.objective(Dpg).below(e.optimum - e.tolerance()), e.aliased("action", Dpg).above(0.0)]
        },
    },
    Claim {
        id: "F5b",
        figure: "fig5",
        text: "True-DPGE turns to negative actions and passes DPG; True-ACE too, but it stays below True-DPGE",
        rule: "the mean final action of True-DPGE and of True-ACE in the aliased states is below 0, both end above DPG, and True-DPGE ends above True-ACE, run by run on average",
        judge: |e| {
            vec![
                e.aliased("action", TrueDpge).below(0.0),
                e.lead(TrueDpge, Dpg).above(0.0),
                e.aliased("mean action", TrueAce).below(0.0),
                e.lead(TrueAce, Dpg).above(0.0),
                e.lead(TrueDpge, TrueAce).above(0.0),
            ]
        },
    },
    Claim {
        id: "F5c",
        figure: "fig5",
        text: "ACE with λ_a ∈ {0, 0.5, 1} does not outperform DPG",
        rule: "none of ACE(0), ACE(0.5) and ACE(1) ends above DPG by more than 5 % of the gap, run by run on average",
        judge: |e| [Ace(0.0), Ace(0.5), Ace(1.0)].map(|ace| e.lead(ace, Dpg).below(e.tolerance())).to_vec(),
    },
];

/// By ascending λ_a.
const ACES: [Method; 5] = [Ace(0.0), Ace(0.25), Ace(0.5), Ace(0.75), Ace(1.0)];

const HALF_AND_MORE: [Method; 3] = [Ace(0.5), Ace(0.75), Ace(1.0)];

/// The largest step-size that works never grows with λ_a, and is smaller for the largest λ_a than for the smallest.
fn step_sizes_fall(evidence: &Evidence) -> Condition {
    let methods: Option<Vec<Vec<StepSizeRuns>>> =
        ACES.iter().map(|ace| evidence.method(*ace).and_then(whole_step_sizes)).collect();
    let methods = methods.unwrap_or_default();
    let runs = methods.iter().flatten().map(|size| size.objective.len()).min().unwrap_or(0);
    let largest = |drawn: &[usize]| -> Option<Vec<f64>> {
        methods.iter().map(|sizes| largest_that_works(sizes, drawn, evidence.tolerance())).collect()
    };
    let falls = |steps: Vec<f64>| steps.is_sorted_by(|a, b| a >= b) && steps.last() < steps.first();
    let resampled = |resample: u64| {
        let mut random = Random::new(0, resample);
        // The same runs for every setting.
        largest(&(0..runs).map(|_| random.below(runs)).collect::<Vec<_>>()).map(falls)
    };
    let held: Option<Vec<bool>> = (0..RESAMPLES).map(resampled).collect();
    let held = held.filter(|_| runs >= FEWEST);
    let found = largest(&(0..runs).collect::<Vec<_>>()).unwrap_or_default();
    let found: Vec<String> =
        ACES.iter().zip(found).map(|(ace, alpha)| format!("{alpha} for {ace}")).collect();
    share(
        format!("the largest step-size that works, {}, falls", found.join(", ")),
        held.map(|held| held.iter().filter(|held| **held).count() as f64 / RESAMPLES as f64),
    )
}

/// A step-size without a diverged run.
struct StepSizeRuns {
    alpha: f64,
    /// J_μ at the end of each run.
    objective: Vec<f64>,
}

/// A step-size with a diverged run does not work. `None` if no step-size is left.
fn whole_step_sizes(method: &MethodEvidence) -> Option<Vec<StepSizeRuns>> {
    let whole = |size: &StepSizeEvidence| {
        let objective = size.objective.iter().copied().collect::<Option<_>>()?;
        Some(StepSizeRuns { alpha: size.alpha, objective })
    };
    let sizes: Vec<_> = method.by_step_size.iter().filter_map(whole).collect();
    (!sizes.is_empty()).then_some(sizes)
}

/// The largest step-size that works in these runs.
fn largest_that_works(sizes: &[StepSizeRuns], drawn: &[usize], tolerance: f64) -> Option<f64> {
    let mean_of =
        |size: &StepSizeRuns| mean(&drawn.iter().map(|run| size.objective[*run]).collect::<Vec<_>>());
    let means: Vec<f64> = sizes.iter().map(mean_of).collect::<Option<_>>()?;
    let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let works = sizes.iter().zip(&means).filter(|(_, mean)| **mean >= best - tolerance);
    works.map(|(size, _)| size.alpha).reduce(f64::max)
}

impl Claim {
    /// Judges the claim. With fewer runs than the paper's nothing is decided: which settings are the best is luck then.
    pub fn judged(&self, evidence: &Evidence, enough_runs: bool) -> JudgedClaim {
        let conditions = (self.judge)(evidence);
        let verdict = if enough_runs { Verdict::of(&conditions) } else { Verdict::NotDecided };
        let few = (!enough_runs).then(|| "fewer runs than the paper's decide nothing".to_owned());
        let findings = conditions.into_iter().map(|condition| condition.finding);
        JudgedClaim {
            id: self.id,
            claim: self.text,
            verdict,
            rule: self.rule,
            evidence: few.into_iter().chain(findings).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Confirmed, NotDecided, Refuted};

    /// Methods by name, with J_μ and the policy in the aliased states at the end: twenty runs around each, whose interval reaches 0.64
    /// times `spread` on either side. One method has luck where the next has not, so that their differences are noisy too. The gap is
    /// 0.4, a twentieth of it 0.02.
    fn evidence(methods: &[(&str, f64, f64)], spread: f64) -> Evidence {
        let method = |(k, (name, objective, aliased)): (usize, &(&str, f64, f64))| {
            let luck = |run: usize| if (run + k).is_multiple_of(2) { spread } else { -spread };
            let around = |value: f64| (0..20).map(|run| Some(value + luck(run))).collect();
            let (name, by_step_size) = ((*name).to_owned(), Vec::new());
            MethodEvidence { name, objective: around(*objective), aliased: around(*aliased), by_step_size }
        };
        let methods = methods.iter().enumerate().map(method).collect();
        Evidence { start: 0.7, optimum: 1.25, semi_gradient: 0.85, methods }
    }

    fn verdict(id: &str, evidence: &Evidence) -> Verdict {
        Verdict::of(&(CLAIMS.iter().find(|claim| claim.id == id).unwrap().judge)(evidence))
    }

    /// A rule confirms `so`, refutes each of `not_so`, and decides nothing if there is much noise.
    #[track_caller]
    fn either_way(id: &str, so: &[(&str, f64, f64)], not_so: &[&[(&str, f64, f64)]]) {
        assert_eq!(verdict(id, &evidence(so, 0.001)), Confirmed, "{id}");
        for contrary in not_so {
            assert_eq!(verdict(id, &evidence(contrary, 0.001)), Refuted, "{id}: {contrary:?}");
        }
        assert_eq!(verdict(id, &evidence(so, 50.0)), NotDecided, "{id}");
        // A method that is missing, or has a run that diverged, decides nothing.
        assert_eq!(verdict(id, &evidence(&[], 0.001)), NotDecided, "{id}");
        let mut evidence = evidence(so, 0.001);
        for method in &mut evidence.methods {
            (method.objective[3], method.aliased[3]) = (None, None);
        }
        assert_eq!(verdict(id, &evidence), NotDecided, "{id}");
    }

    #[test]
    fn every_rule_can_come_out_either_way() {
        either_way(
            "F1a",
            &[("ACE(0)", 0.87, 0.0), ("ACE(1)", 1.24, 0.0)],
            &[
                &[("ACE(0)", 0.9, 0.0), ("ACE(1)", 1.24, 0.0)],
                &[("ACE(0)", 0.85, 0.0), ("ACE(1)", 1.24, 0.0)],
                &[("ACE(0)", 0.87, 0.0), ("ACE(1)", 1.22, 0.0)],
            ],
        );
        either_way(
            "F1b",
            &[("ACE(0)", 0.0, 0.03), ("ACE(1)", 0.0, 0.97)],
            &[
                &[("ACE(0)", 0.0, 0.06), ("ACE(1)", 0.0, 0.97)],
                &[("ACE(0)", 0.0, 0.03), ("ACE(1)", 0.0, 0.94)],
            ],
        );
        either_way("F2a", &[("ACE(0)", 0.69, 0.0)], &[&[("ACE(0)", 0.71, 0.0)]]);
        let order = |a, b, c, d| {
            [("ACE(0.25)", a, 0.0), ("ACE(0.5)", b, 0.0), ("ACE(0.75)", c, 0.0), ("ACE(1)", d, 0.0)]
        };
        either_way(
            "F2b",
            &order(0.8, 0.9, 1.2, 0.85),
            &[&order(0.69, 0.9, 1.2, 0.9), &order(0.8, 0.79, 1.2, 0.9), &order(0.8, 0.9, 1.2, 0.79)],
        );
        either_way(
            "F2c",
            &order(0.0, 1.24, 1.235, 1.25),
            &[&order(0.0, 1.22, 1.24, 1.25), &order(0.0, 1.24, 1.25, 1.2)],
        );
        either_way(
            "F3a",
            &[("ACE(0)", 0.9, 0.0), ("ACE(0.25)", 1.1, 0.0)],
            &[
                &[("ACE(0)", 1.24, 0.0), ("ACE(0.25)", 1.6, 0.0)],
                &[("ACE(0)", 0.9, 0.0), ("ACE(0.25)", 0.95, 0.0)],
            ],
        );
        let five = |last: f64| {
            let values = [0.8, 0.9, 1.0, 1.1, last];
            let names = ["ACE(0)", "ACE(0.25)", "ACE(0.5)", "ACE(0.75)", "ACE(1)"];
            std::array::from_fn::<_, 5, _>(|k| (names[k], values[k], 0.0))
        };
        either_way("F4a", &five(1.2), &[&five(1.0)]);
        either_way(
            "F4b",
            &[("ACE(1)", 1.0, 0.0), ("True-ACE", 1.1, 0.0)],
            &[&[("ACE(1)", 1.0, 0.0), ("True-ACE", 1.01, 0.0)]],
        );
        either_way("F5a", &[("DPG", 0.9, 1.0)], &[&[("DPG", 1.24, 1.0)], &[("DPG", 0.9, -1.0)]]);
        let three = |true_dpge: (f64, f64), true_ace: (f64, f64)| {
            [("True-DPGE", true_dpge.0, true_dpge.1), ("True-ACE", true_ace.0, true_ace.1), ("DPG", 0.9, 0.0)]
        };
        either_way(
            "F5b",
            &three((1.2, -1.0), (1.1, -1.0)),
            &[
                &three((1.2, 1.0), (1.1, -1.0)),
                &three((1.2, -1.0), (1.1, 1.0)),
                &three((1.2, -1.0), (0.8, -1.0)),
                &three((1.1, -1.0), (1.2, -1.0)),
            ],
        );
        let aces = |last: f64| {
            [("ACE(0)", 0.5, 0.0), ("ACE(0.5)", 0.6, 0.0), ("ACE(1)", last, 0.0), ("DPG", 0.9, 0.0)]
        };
        either_way("F5c", &aces(0.91), &[&aces(1.0)]);
    }

    #[test]
    fn methods_are_compared_run_by_run() {
        // Far apart from run to run, but one is always ahead by the same.
        let mut evidence = Evidence { optimum: 1.0, semi_gradient: 0.0, ..Evidence::default() };
        let runs = |ahead: f64| (0..20).map(|k| Some(f64::from(k) + ahead)).collect::<Vec<_>>();
        for (name, ahead) in [("ACE(1)", 0.0), ("True-ACE", 0.1)] {
            let (name, objective) = (name.to_owned(), runs(ahead));
            evidence.methods.push(MethodEvidence { name, objective, ..Default::default() });
        }
        assert_eq!(verdict("F4b", &evidence), Confirmed);
    }

    /// What the best step-sizes are: J_μ is 1 up to them and 0 beyond, in all runs or only in even ones.
    fn steps(largest: &[f64], odd_runs: f64) -> Evidence {
        let sizes = [0.1, 0.2, 0.5, 1.0];
        let of = |(k, largest): (usize, &f64)| {
            let size = |alpha: f64| {
                let value = |run: usize| if alpha <= *largest { 1.0 } else { odd_runs * (run % 2) as f64 };
                StepSizeEvidence { alpha, objective: (0..20).map(|run| Some(value(run))).collect() }
            };
            let (name, by_step_size) = (ACES[k].to_string(), sizes.map(size).to_vec());
            MethodEvidence { name, by_step_size, ..Default::default() }
        };
        let methods = largest.iter().enumerate().map(of).collect();
        Evidence { optimum: 1.0, semi_gradient: 0.0, methods, ..Evidence::default() }
    }

    #[test]
    fn step_sizes_fall_or_do_not() {
        assert_eq!(verdict("F2d", &steps(&[1.0, 0.5, 0.5, 0.2, 0.1], 0.0)), Confirmed);
        assert_eq!(verdict("F2d", &steps(&[1.0, 0.2, 0.5, 0.2, 0.1], 0.0)), Refuted);
        assert_eq!(verdict("F2d", &steps(&[0.5; 5], 0.0)), Refuted);
        // Beyond the largest, odd runs do so well that the mean is at the threshold: it depends on the resample.
        assert_eq!(verdict("F2d", &steps(&[1.0, 0.5, 0.5, 0.2, 0.1], 1.9)), NotDecided);
        // A step-size at which a run diverged does not work; without any there is nothing to say.
        let mut evidence = steps(&[1.0; 5], 0.0);
        evidence.methods[4].by_step_size[3].objective[0] = None;
        assert_eq!(verdict("F2d", &evidence), Confirmed);
        evidence.methods[4].by_step_size.iter_mut().for_each(|size| size.objective[0] = None);
        assert_eq!(verdict("F2d", &evidence), NotDecided);
        // Without λ_a = 1, or with few runs, it was once judged all the same.
        let mut evidence = steps(&[1.0, 0.5, 0.5, 0.2, 0.1], 0.0);
        evidence.methods.pop();
        assert_eq!(verdict("F2d", &evidence), NotDecided);
        let mut evidence = steps(&[1.0, 0.2, 0.5, 0.2, 0.1], 0.0);
        evidence
            .methods
            .iter_mut()
            .flat_map(|m| &mut m.by_step_size)
            .for_each(|size| size.objective.truncate(3));
        assert_eq!(verdict("F2d", &evidence), NotDecided);
        assert_eq!(verdict("F2d", &Evidence::default()), NotDecided);
    }
}
