//! The paper's figures: their experiments, and what theory says about them.

use emphatic::theory::{best_attainable, limit};
use emphatic::{ContinuousCounterexample, Model, Policy, ProblemError, Task};

/// One of the paper's figures.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name: of its directory, and of its file under `experiments`.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// Its experiment file.
    pub experiment: &'static str,
    /// The recorded quantity that is the policy in the aliased states.
    pub aliased: &'static str,
    /// What that quantity is, for the axis of its panel.
    pub aliased_label: &'static str,
    problem: FigureProblem,
}

#[derive(Clone, Copy, Debug)]
enum FigureProblem {
    /// With chains of this length.
    Counterexample(usize),
    Continuous,
}

macro_rules! experiment {
    ($id:literal) => {
        include_str!(concat!("../../../experiments/", $id, ".toml"))
    };
}

/// All figures, in the paper's order.
pub const FIGURES: [Figure; 6] = [
    Figure {
        id: "fig1",
        title: "Figure 1: the drawback of semi-gradient updates",
        caption: "Both start from a near-optimal policy (A0 with probability 0.9 everywhere), learn from the same experience and know the exact values. The semi-gradient, ACE(0), is OffPAC.",
        experiment: experiment!("fig1"),
        aliased: "target.S1.A0",
        aliased_label: "π(A0) in the aliased states",
        problem: FigureProblem::Counterexample(1),
    },
    Figure {
        id: "fig2",
        title: "Figure 2: the trade-off parameter λ_a",
        caption: "Three states, exact values, zero weights to start from.",
        experiment: experiment!("fig2"),
        aliased: "target.S1.A0",
        aliased_label: "π(A0) in the aliased states",
        problem: FigureProblem::Counterexample(1),
    },
    Figure {
        id: "fig3",
        title: "Figure 3: with a learned critic",
        caption: "Three states; GTD(λ) learns the values, from features that tell the states apart. For each step-size the best of 90 critics is shown.",
        experiment: experiment!("fig3"),
        aliased: "target.S1.A0",
        aliased_label: "π(A0) in the aliased states",
        problem: FigureProblem::Counterexample(1),
    },
    Figure {
        id: "fig3-aliased",
        title: "A variant of figure 3: a critic that cannot tell S1 from S2",
        caption: "As the released settings have it: the critic shares the actor's features. The error δ in S0 then does not depend on the action, so nothing can be learned there for any λ_a.",
        experiment: experiment!("fig3-aliased"),
        aliased: "target.S1.A0",
        aliased_label: "π(A0) in the aliased states",
        problem: FigureProblem::Counterexample(1),
    },
    Figure {
        id: "fig4",
        title: "Figure 4: longer episodes",
        caption: "Eleven states, exact values. True-ACE knows the emphatic weightings; ACE estimates them by the follow-on trace (with λ_a = 0 it needs none).",
        experiment: experiment!("fig4"),
        aliased: "target.S9.A0",
        aliased_label: "π(A0) in the aliased states",
        problem: FigureProblem::Counterexample(5),
    },
    Figure {
        id: "fig5",
        title: "Figure 5: continuous actions",
        caption: "One real action. ACE and True-ACE have Gaussian policies, DPG and True-DPGE deterministic ones.",
        experiment: experiment!("fig5"),
        aliased: "target.S1",
        aliased_label: "mean action in the aliased states",
        problem: FigureProblem::Continuous,
    },
];

/// What theory says about a figure's problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The best attainable J_μ.
    pub optimum: f64,
    /// J_μ where the expected semi-gradient leads, from zero weights.
    pub semi_gradient: f64,
}

impl Bounds {
    fn of<P: Policy, M: Model<P>>(model: &M, policy: &P) -> Result<Self, ProblemError> {
        const STARTS: usize = 4;
        const SEED: u64 = 1;
        Ok(Self {
            optimum: best_attainable(model, policy, STARTS, SEED)?.objective,
            semi_gradient: limit(model, policy, &vec![0.0; policy.len()], 0.0)?.objective,
        })
    }
}

impl Figure {
    /// What theory says about its problem: computed, not copied from the paper.
    pub fn bounds(&self) -> Result<Bounds, ProblemError> {
        match self.problem {
            FigureProblem::Counterexample(steps) => {
                let task = Task::long_counterexample(steps);
                Bounds::of(&task, &task.softmax())
            }
            FigureProblem::Continuous => {
                let problem = ContinuousCounterexample::default();
                Bounds::of(&problem, &problem.deterministic())
            }
        }
    }

    /// Its experiment file, with other numbers for these keys.
    pub fn experiment_with(&self, numbers: &[(&str, u64)]) -> String {
        numbers.iter().fold(self.experiment.to_owned(), |text, (key, number)| with(&text, key, *number))
    }
}

/// The file with another number for a key.
pub(crate) fn with(text: &str, key: &str, number: u64) -> String {
    let line = |line: &str| match line.split_once('=') {
        Some((before, _)) if before.trim() == key => format!("{key} = {number}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic_lab::Experiment;
    use std::path::Path;

    #[test]
    fn the_files_are_experiments_of_the_papers_sizes() {
        let sizes = [(2, 30), (35, 30), (4500, 10), (4500, 10), (48, 10), (36, 30)];
        for (figure, (settings, runs)) in FIGURES.iter().zip(sizes) {
            let experiment = Experiment::parse(figure.experiment, figure.id, Path::new("")).unwrap();
            assert_eq!((experiment.settings(), experiment.runs), (settings, runs), "{}", figure.id);
            assert!(experiment.fresh_runs >= 100);
        }
    }

    #[test]
    fn numbers_are_replaced_and_nothing_else() {
        for figure in FIGURES {
            let text = figure.experiment_with(&[("seed", 7), ("runs", 3), ("fresh_runs", 5)]);
            let experiment = Experiment::parse(&text, figure.id, Path::new("")).unwrap();
            assert_eq!((experiment.seed, experiment.runs, experiment.fresh_runs), (7, 3, 5));
            let back = [
                ("seed", 1),
                ("runs", if figure.experiment.contains("\nruns = 30") { 30 } else { 10 }),
                ("fresh_runs", 100),
            ]
            .iter()
            .fold(text, |text, (key, number)| with(&text, key, *number));
            let plain = |text: &str| Experiment::parse(text, "", Path::new("")).unwrap().identity();
            assert_eq!(plain(&back), plain(figure.experiment));
        }
    }

    #[test]
    fn bounds_are_those_of_the_closed_forms() {
        let expected = [
            (1.25, 0.875),
            (1.25, 0.875),
            (1.25, 0.875),
            (1.25, 0.875),
            (1.817_568, 0.999_625),
            (1.303_265, 0.848_367),
        ];
        for (figure, (optimum, semi_gradient)) in FIGURES.iter().zip(expected) {
            let bounds = figure.bounds().unwrap();
            assert!((bounds.optimum - optimum).abs() < 1e-6, "{bounds:?}");
            assert!((bounds.semi_gradient - semi_gradient).abs() < 1e-6, "{bounds:?}");
        }
    }
}
