//! What the study says, each with the rule that judges it.
//!
//! Rules are made of conditions as those of the paper's claims are ([`crate::claims`]): a condition compares a mean over fresh runs with a
//! threshold, by its 99 % interval, and methods are compared run by run, since all learn from the same experience. The *score* of a run is its
//! return, averaged over the run's checkpoints. Thresholds are shares of the *gap* of a problem and an objective: the
//! score of the best method, whichever its critic, minus the return of the policy that all start from. *At least as good* is not to be worse by
//! more than 5 % of the gap; *hardly* to learn is to gain less than 5 % of it.
//!
//! The rules were written before the study was first run, and no threshold has been changed since. Before any of its whole grids had been run to the end, three were brought
//! into line with what the study says: J2 and J5 are about the plots that there are, and J14 compares with OffPAC with ETD, too.
//! The whole grid of Puddle World was first run with episodes that were cut after 1000 steps, as in Mountain Car, and its levels were far below the study's. They are cut after 100 now
//! (`docs/jmlr.md` compares both), and the seed is another: what is judged is fresh. No rule was changed.
//! Mountain Car's was first run without finalists, and three runs chose settings of OffPAC that did badly on others. There are finalists since then, and the seed is another, too.

use super::numbers::{MethodNumbers, ProblemNumbers, RunScores};
use super::{CRITICS, Critic, Interest, METHODS, Method, OBJECTIVES, Objective};
use crate::verdict::{Condition, Estimate, JudgedClaim, Verdict};
use Critic::{Etd, Tdrc};
use Interest::{All, Start};
use Method::{Direct, Ideal, OffPac, Trace};
use Objective::{Episodic, Excursions};
use emphatic_lab::statistics::mean;

/// A difference of this share of the gap is none.
const ALIKE: f64 = 0.05;

/// To be clearly better is to be better by this share of the gap.
const CLEARLY: f64 = 0.1;

const MOUNTAIN_CAR: &str = "jmlr-mountain-car";
const PUDDLE_WORLD: &str = "jmlr-puddle-world";
const VIRTUAL_OFFICE: &str = "jmlr-virtual-office";

/// The numbers of the problems that were run.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a>(pub &'a [ProblemNumbers]);

/// One of a run's scores.
type Score = fn(&RunScores) -> f64;

const MEAN: Score = |scores| scores.mean;
const EARLY: Score = |scores| scores.early;
const END: Score = |scores| scores.end;

/// A method with its critic.
type With = (Method, Critic);

impl Evidence<'_> {
    fn problem(&self, id: &str) -> Option<&ProblemNumbers> {
        self.0.iter().find(|problem| problem.problem == id)
    }

    /// A problem's results by one objective; `None` if it was not run.
    fn of(&self, id: &'static str, objective: Objective) -> Option<OfProblem<'_>> {
        let numbers = self.problem(id)?;
        Some(OfProblem { name: id.trim_start_matches("jmlr-"), numbers, objective })
    }

    /// The conditions of each objective of a problem, and each critic.
    fn everywhere(
        &self,
        id: &'static str,
        conditions: impl Fn(&OfProblem, Critic) -> Vec<Condition>,
    ) -> Vec<Condition> {
        let both = OBJECTIVES.iter().filter_map(|objective| self.of(id, *objective));
        both.flat_map(|of| CRITICS.iter().flat_map(|critic| conditions(&of, *critic)).collect::<Vec<_>>())
            .collect()
    }

    /// The conditions of what the study reports of Mountain Car and of Puddle World: of the latter there is no plot of excursions with ETD.
    fn in_tables_and_plots(
        &self,
        conditions: impl Fn(&OfProblem, Critic) -> Vec<Condition>,
    ) -> Vec<Condition> {
        let plots = [(Episodic, Tdrc), (Episodic, Etd), (Excursions, Tdrc)];
        let of_plots = plots
            .map(|(objective, critic)| self.in_problem(PUDDLE_WORLD, objective, |of| conditions(of, critic)));
        [self.everywhere(MOUNTAIN_CAR, &conditions), of_plots.concat()].concat()
    }

    /// The conditions of one objective of a problem.
    fn in_problem(
        &self,
        id: &'static str,
        objective: Objective,
        conditions: impl Fn(&OfProblem) -> Vec<Condition>,
    ) -> Vec<Condition> {
        self.of(id, objective).map_or_else(Vec::new, |of| conditions(&of))
    }
}

/// The results of a problem by one objective.
struct OfProblem<'a> {
    name: &'a str,
    numbers: &'a ProblemNumbers,
    objective: Objective,
}

impl OfProblem<'_> {
    fn method(&self, (method, critic): With) -> Option<&MethodNumbers> {
        self.numbers.method(self.objective, critic, method)
    }

    /// A score of each fresh run; `None` if it diverged.
    fn scores(&self, with: With, score: Score) -> Vec<Option<f64>> {
        let runs = self.method(with).map_or(&[][..], |method| &method.fresh.scores);
        runs.iter().map(|run| run.as_ref().map(score)).collect()
    }

    /// The return of the policy that all start from.
    fn start(&self) -> f64 {
        let all = METHODS.iter().flat_map(|method| CRITICS.map(|critic| (*method, critic)));
        let starts: Vec<f64> =
            all.flat_map(|with| self.scores(with, |scores| scores.start)).flatten().collect();
        mean(&starts).unwrap_or(f64::NAN)
    }

    /// The score of the best method minus that of the policy that all start from.
    fn gap(&self) -> f64 {
        let all = METHODS.iter().flat_map(|method| CRITICS.map(|critic| (*method, critic)));
        // The mean of those that did not diverge is about something else.
        let whole = all.filter_map(|with| self.method(with)).filter(|method| method.fresh.diverged == 0);
        let best = whole.filter_map(|method| method.fresh.mean).fold(f64::NEG_INFINITY, f64::max);
        best - self.start()
    }

    fn tolerance(&self) -> f64 {
        ALIKE * self.gap()
    }

    fn named(&self, what: &str) -> String {
        format!("{}, {}: {what}", self.name, self.objective)
    }

    /// By how much one method is better than another, run by run.
    fn lead(&self, better: With, worse: With, score: Score) -> Estimate {
        let (a, b) = (self.scores(better, score), self.scores(worse, score));
        // A run that only one of them has leaves the difference open.
        let value = |scores: &[Option<f64>], run: usize| scores.get(run).copied().flatten();
        let runs = a.len().max(b.len());
        let differences: Vec<_> = (0..runs).map(|run| Some(value(&a, run)? - value(&b, run)?)).collect();
        let what = match better.1 == worse.1 {
            true => format!("{} − {} with {}", better.0, worse.0, better.1),
            false => format!("{} with {} − {} with {}", better.0, better.1, worse.0, worse.1),
        };
        Estimate::of(self.named(&what), &differences)
    }

    /// By how much a method's score is above the policy that it starts from.
    fn gain(&self, with: With) -> Estimate {
        let gains = self.scores(with, |scores| scores.mean - scores.start);
        Estimate::of(self.named(&format!("gain of {} with {}", with.0, with.1)), &gains)
    }

    fn level(&self, with: With, what: &str, score: Score) -> Estimate {
        let what = format!("{what} of {} with {}", with.0, with.1);
        Estimate::of(self.named(&what), &self.scores(with, score))
    }
}

/// Something that the study says.
#[derive(Clone, Copy, Debug)]
pub struct StudyClaim {
    /// Its name.
    pub id: &'static str,
    /// The problems it is about.
    pub problems: &'static [&'static str],
    /// What is said, and where.
    pub text: &'static str,
    /// How it is judged, in words.
    pub rule: &'static str,
    /// How it is judged.
    pub judge: fn(&Evidence) -> Vec<Condition>,
}

/// All claims.
pub const CLAIMS: [StudyClaim; 15] = [
    StudyClaim {
        id: "J1",
        problems: &[MOUNTAIN_CAR, PUDDLE_WORLD, VIRTUAL_OFFICE],
        text: "With directly estimated emphasis, ACE is at least as good as OffPAC in every setting (abstract)",
        rule: "in every problem, with either critic and by either objective, the score of direct minus that of OffPAC is above −5 % of the gap",
        judge: |e| {
            let conditions = |of: &OfProblem, critic| {
                vec![of.lead((Direct(All), critic), (OffPac, critic), MEAN).above(-of.tolerance())]
            };
            [MOUNTAIN_CAR, PUDDLE_WORLD, VIRTUAL_OFFICE].map(|id| e.everywhere(id, conditions)).concat()
        },
    },
    StudyClaim {
        id: "J2",
        problems: &[MOUNTAIN_CAR, PUDDLE_WORLD],
        text: "With the follow-on trace, ACE is worse than OffPAC (tables of Mountain Car, plots of Puddle World)",
        rule: "in both problems, with either critic and by either objective (in Puddle World by excursions with TDRC only), the score of OffPAC is above that of trace",
        judge: |e| {
            e.in_tables_and_plots(|of, critic| {
                vec![of.lead((OffPac, critic), (Trace(All), critic), MEAN).above(0.0)]
            })
        },
    },
    StudyClaim {
        id: "J3",
        problems: &[MOUNTAIN_CAR],
        text: "With episodic interest the follow-on trace hardly learns in Mountain Car (tables)",
        rule: "with either critic and by either objective, the score of trace, start is above the return at the start by less than 5 % of the gap",
        judge: |e| {
            e.everywhere(MOUNTAIN_CAR, |of, critic| {
                vec![of.gain((Trace(Start), critic)).below(of.tolerance())]
            })
        },
    },
    StudyClaim {
        id: "J4",
        problems: &[MOUNTAIN_CAR],
        text: "Nor does the direct estimate with episodic interest, in Mountain Car (tables)",
        rule: "with either critic and by either objective, the score of direct, start is above the return at the start by less than 5 % of the gap",
        judge: |e| {
            e.everywhere(MOUNTAIN_CAR, |of, critic| {
                vec![of.gain((Direct(Start), critic)).below(of.tolerance())]
            })
        },
    },
    StudyClaim {
        id: "J5",
        problems: &[MOUNTAIN_CAR, PUDDLE_WORLD],
        text: "The direct estimate is better than the follow-on trace (tables, plots)",
        rule: "in both problems, with either critic and by either objective (in Puddle World by excursions with TDRC only), the score of direct is above that of trace",
        judge: |e| {
            e.in_tables_and_plots(|of, critic| {
                vec![of.lead((Direct(All), critic), (Trace(All), critic), MEAN).above(0.0)]
            })
        },
    },
    StudyClaim {
        id: "J6",
        problems: &[MOUNTAIN_CAR],
        text: "With ETD, the direct estimate is clearly better than OffPAC in Mountain Car (tables)",
        rule: "by either objective, the score of direct with ETD is above that of OffPAC with ETD by more than 10 % of the gap",
        judge: |e| {
            let one = |objective| {
                e.in_problem(MOUNTAIN_CAR, objective, |of| {
                    vec![of.lead((Direct(All), Etd), (OffPac, Etd), MEAN).above(CLEARLY * of.gap())]
                })
            };
            OBJECTIVES.map(one).concat()
        },
    },
    StudyClaim {
        id: "J7",
        problems: &[MOUNTAIN_CAR],
        text: "With TDRC, OffPAC and the direct estimate are alike in Mountain Car (tables)",
        rule: "by either objective, the scores of direct and of OffPAC, with TDRC, differ by less than 5 % of the gap",
        judge: |e| {
            let one = |objective| {
                e.in_problem(MOUNTAIN_CAR, objective, |of| {
                    vec![of.lead((Direct(All), Tdrc), (OffPac, Tdrc), MEAN).near(0.0, of.tolerance())]
                })
            };
            OBJECTIVES.map(one).concat()
        },
    },
    StudyClaim {
        id: "J8",
        problems: &[MOUNTAIN_CAR, PUDDLE_WORLD],
        text: "OffPAC is better with TDRC than with ETD (tables, plots)",
        rule: "in Mountain Car by either objective, and in Puddle World by the episodic one, the score of OffPAC with TDRC is above that with ETD",
        judge: |e| {
            let one = |(id, objective)| {
                e.in_problem(id, objective, |of| {
                    vec![of.lead((OffPac, Tdrc), (OffPac, Etd), MEAN).above(0.0)]
                })
            };
            [(MOUNTAIN_CAR, Episodic), (MOUNTAIN_CAR, Excursions), (PUDDLE_WORLD, Episodic)].map(one).concat()
        },
    },
    StudyClaim {
        id: "J9",
        problems: &[PUDDLE_WORLD],
        text: "In Puddle World the direct estimate ends above OffPAC by the episodic objective, with either critic (plots)",
        rule: "with either critic, direct ends above OffPAC, run by run on average",
        judge: |e| {
            e.in_problem(PUDDLE_WORLD, Episodic, |of| {
                CRITICS
                    .map(|critic| of.lead((Direct(All), critic), (OffPac, critic), END).above(0.0))
                    .to_vec()
            })
        },
    },
    StudyClaim {
        id: "J10",
        problems: &[PUDDLE_WORLD],
        text: "In Puddle World, with ETD, the direct estimate is better with episodic interest than with interest everywhere, by the episodic objective (plots)",
        rule: "with ETD, direct, start ends above direct, run by run on average",
        judge: |e| {
            e.in_problem(PUDDLE_WORLD, Episodic, |of| {
                vec![of.lead((Direct(Start), Etd), (Direct(All), Etd), END).above(0.0)]
            })
        },
    },
    StudyClaim {
        id: "J11",
        problems: &[PUDDLE_WORLD],
        text: "Variance, not staleness, is what is wrong with the trace: recomputed with the current policy it is not much better, and far below the direct estimate (plots of Puddle World)",
        rule: "by the episodic objective, with either critic, direct ends above ideal by more than 10 % of the gap, and ideal above trace by less than 10 %",
        judge: |e| {
            e.in_problem(PUDDLE_WORLD, Episodic, |of| {
                let one = |critic| {
                    vec![
                        of.lead((Direct(All), critic), (Ideal(All), critic), END).above(CLEARLY * of.gap()),
                        of.lead((Ideal(All), critic), (Trace(All), critic), END).below(CLEARLY * of.gap()),
                    ]
                };
                CRITICS.map(one).concat()
            })
        },
    },
    StudyClaim {
        id: "J12",
        problems: &[PUDDLE_WORLD],
        text: "In Puddle World the follow-on trace with episodic interest is the worst of all, by the episodic objective (plots)",
        rule: "with either critic, every other method (ideal, start excepted) ends above trace, start, run by run on average",
        judge: |e| {
            e.in_problem(PUDDLE_WORLD, Episodic, |of| {
                let others = [OffPac, Direct(All), Direct(Start), Trace(All), Ideal(All)];
                let one = |critic| {
                    others
                        .map(|method| of.lead((method, critic), (Trace(Start), critic), END).above(0.0))
                        .to_vec()
                };
                CRITICS.map(one).concat()
            })
        },
    },
    StudyClaim {
        id: "J13",
        problems: &[VIRTUAL_OFFICE],
        text: "In the Virtual Office ACE with interest everywhere, by the trace and by the direct estimate, rises faster than OffPAC (plots)",
        rule: "by the episodic objective, with TDRC, the return over the first quarter of the checkpoints is higher for trace and for direct than for OffPAC",
        judge: |e| {
            e.in_problem(VIRTUAL_OFFICE, Episodic, |of| {
                [Trace(All), Direct(All)]
                    .map(|method| of.lead((method, Tdrc), (OffPac, Tdrc), EARLY).above(0.0))
                    .to_vec()
            })
        },
    },
    StudyClaim {
        id: "J14",
        problems: &[VIRTUAL_OFFICE],
        text: "In the Virtual Office OffPAC with TDRC ends highest (plots)",
        rule: "by the episodic objective, no method with either critic ends above OffPAC with TDRC by more than 5 % of the gap",
        judge: |e| {
            e.in_problem(VIRTUAL_OFFICE, Episodic, |of| {
                let others = [Direct(All), Direct(Start), Trace(All), Trace(Start)];
                let one = |critic| {
                    others
                        .map(|method| of.lead((method, critic), (OffPac, Tdrc), END).below(of.tolerance()))
                        .to_vec()
                };
                let alone = of.lead((OffPac, Etd), (OffPac, Tdrc), END).below(of.tolerance());
                [CRITICS.map(one).concat(), vec![alone]].concat()
            })
        },
    },
    StudyClaim {
        id: "J15",
        problems: &[VIRTUAL_OFFICE],
        text: "In the Virtual Office methods start near 0.17 and end between 0.47 and 0.63 (plots)",
        rule: "by the episodic objective, OffPAC with TDRC starts within 0.03 of 0.17, and OffPAC, direct and trace with either critic end within 0.1 of 0.55",
        judge: |e| {
            e.in_problem(VIRTUAL_OFFICE, Episodic, |of| {
                let mut conditions =
                    vec![of.level((OffPac, Tdrc), "start", |scores| scores.start).near(0.17, 0.03)];
                for critic in CRITICS {
                    let ends = [OffPac, Direct(All), Trace(All)]
                        .map(|method| of.level((method, critic), "end", END).near(0.55, 0.1));
                    conditions.extend(ends);
                }
                conditions
            })
        },
    },
];

impl StudyClaim {
    /// Judges the claim by the problems that were run; `None` if none of its problems was. `enough` says whether a problem has the study's whole grid.
    pub fn judged(&self, evidence: &Evidence, enough: bool) -> Option<JudgedClaim> {
        let was_run = |id: &&&str| evidence.problem(id).is_some();
        let run = self.problems.iter().filter(was_run).count();
        let conditions = (self.judge)(evidence);
        let whole = run == self.problems.len();
        let verdict = match Verdict::of(&conditions) {
            // What fails in one problem fails.
            Verdict::Refuted if enough => Verdict::Refuted,
            verdict if enough && whole => verdict,
            _ => Verdict::NotDecided,
        };
        let mut evidence: Vec<String> = Vec::new();
        if !enough {
            evidence.push("a part of the grid decides nothing".to_owned());
        } else if !whole {
            evidence.push("not all of its problems were run".to_owned());
        }
        evidence.extend(conditions.into_iter().map(|condition| condition.finding));
        let Self { id, text, rule, .. } = *self;
        (run > 0).then_some(JudgedClaim { id, claim: text, verdict, rule, evidence })
    }
}
