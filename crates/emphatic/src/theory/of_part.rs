//! Parts of the catalogue as the theory knows them.

use super::{
    EmphasisKind, EmphasisRead, LearnedEmphasis, LearningRule, LinearActionCritic, LinearCritic, MeanPenalty,
};
use crate::catalogue::{Catalogue, Role};
use crate::emphasis::lc_share;
use crate::features::{Features, Table};
use crate::recipe::PartRecipe;

/// A part with its settings, those left out by their defaults.
struct Given<'a> {
    part: &'a PartRecipe,
    role: Role,
}

impl Given<'_> {
    /// Returns a setting; `None` if it has to be given, but is not.
    fn number(&self, name: &str) -> Option<f64> {
        let default = || Catalogue::current().find(self.role, &self.part.kind)?.setting(name)?.default;
        self.part.numbers.get(name).copied().or_else(default)
    }

    fn count(&self, name: &str) -> Option<usize> {
        Some(self.number(name)? as usize)
    }

    /// The step-size of second weights as a multiple of that of the first; 1 if they are not given.
    fn eta(&self, [first, second]: [&str; 2]) -> f64 {
        match (self.number(first), self.number(second)) {
            (Some(first), Some(second)) if first > 0.0 => second / first,
            _ => 1.0,
        }
    }

    /// Whether its step-sizes are divided by the square of the features' length, which weights states.
    fn divides_by_length(&self) -> bool {
        let declared = Catalogue::current().find(self.role, &self.part.kind);
        let default = declared.and_then(|entry| entry.inner.iter().find(|inner| inner.name == "schedule"));
        let given = self.part.inner.get("schedule").map(|schedule| schedule.kind.as_str());
        given.or(default.map(|inner| inner.default)) == Some("per-feature")
    }

    /// Whether it never learns: its weights have a step-size of 0, or all that came before is forgotten at each step.
    fn never_learns(&self) -> bool {
        let is = |name: &str, value: f64| self.number(name) == Some(value);
        is("alpha_v", 0.0) || is("alpha_q", 0.0) || is("alpha_u", 0.0) || is("forgetting", 1.0)
    }

    fn tdrc(&self) -> Option<LearningRule> {
        let beta = self.number("beta")?;
        Some(corrected(self.number("eta")?, |eta| LearningRule::Tdrc { eta, beta }))
    }
}

/// A rule that is corrected by second weights. If they never learn, they stay zero and correct nothing.
fn corrected(eta: f64, rule: impl Fn(f64) -> LearningRule) -> LearningRule {
    if eta == 0.0 { LearningRule::SemiGradient } else { rule(eta) }
}

/// A rule that learns from second weights alone; `None` if they never learn, and so nothing does.
fn gtd2(eta: f64) -> Option<LearningRule> {
    (eta != 0.0).then_some(LearningRule::Gtd2 { eta })
}

impl LinearCritic {
    /// Returns a critic of the catalogue; `None` if it is not linear in features, or if the expectation of its update is not known here. A part
    /// inside it has these features if it has none of its own.
    pub fn of_part(critic: &PartRecipe, features: &Table) -> Option<Self> {
        let given = Given { part: critic, role: Role::Critic };
        if given.divides_by_length() || given.never_learns() {
            return None;
        }
        let number = |name: &str| given.number(name);
        let eta = || given.eta(["alpha_v", "alpha_w"]);
        let td = |rule| Some(Self::Td { lambda: number("lambda")?, rule });
        let emphatic = |rule| {
            let follow_on = PartRecipe::new("follow-on");
            let inside = critic.inner.get("emphasis").unwrap_or(&follow_on);
            let emphasis = EmphasisKind::of_part(inside, features)?;
            Some(Self::Emphatic { lambda: number("lambda")?, emphasis, rule })
        };
        match critic.kind.as_str() {
            "td" => td(LearningRule::SemiGradient),
            "gtd" => td(corrected(eta(), |eta| LearningRule::Gtd { eta })),
            "gtd2" | "proximal-gtd2" => td(gtd2(eta())?),
            "tdrc" => td(given.tdrc()?),
            "lstd" => td(LearningRule::LeastSquares),
            "htd" if eta() == 0.0 => td(LearningRule::SemiGradient),
            "htd" => Some(Self::Hybrid { lambda: number("lambda")?, eta: eta() }),
            "v-trace" => Some(Self::VTrace {
                lambda: number("lambda")?,
                rho_max: number("rho_max")?,
                c_max: number("c_max")?,
            }),
            "tree-backup" => Some(Self::TreeBackup { lambda: number("lambda")? }),
            "abtd" => Some(Self::abtd(number("zeta")?, [number("xi_0")?, number("xi_max")?])),
            "etd" | "true-online-etd" => emphatic(LearningRule::SemiGradient),
            "elstd" => emphatic(LearningRule::LeastSquares),
            _ => None,
        }
    }
}

impl LinearActionCritic {
    /// Returns a critic of actions of the catalogue; `None` if the expectation of its update is not known here.
    pub fn of_part(critic: &PartRecipe) -> Option<Self> {
        let given = Given { part: critic, role: Role::Critic };
        if given.divides_by_length() || given.never_learns() {
            return None;
        }
        let expected = |rule| Some(Self::Expected { lambda: given.number("lambda_q")?, rule });
        match critic.kind.as_str() {
            "gq" => expected(corrected(given.eta(["alpha_q", "alpha_h"]), |eta| LearningRule::Gtd { eta })),
            "expected-tdrc" => expected(given.tdrc()?),
            "lstd-q" => expected(LearningRule::LeastSquares),
            "retrace" => Some(Self::Retrace { lambda: given.number("lambda_q")? }),
            "model" => Some(Self::Model),
            _ => None,
        }
    }
}

impl LearnedEmphasis {
    /// Returns an emphasis of the catalogue that is learned; `None` if it is not, or if the expectation of its update is not known here.
    pub fn of_part(emphasis: &PartRecipe, features: &Table) -> Option<Self> {
        let given = Given { part: emphasis, role: Role::Emphasis };
        if given.never_learns() {
            return None;
        }
        let number = |name: &str| given.number(name);
        // What is read is at least the interest here, where that is asked for at all.
        if number("least").is_some_and(|least| least != 1.0) {
            return None;
        }
        let features = match &emphasis.features {
            Some(Features::Table(own)) => own,
            _ => features,
        };
        // The step-sizes of u are divided by it, and those of its mean are not.
        let active = Features::from(features).most_active() as f64;
        let direct = |lambda_e, rule| Self { rule, ..Self::direct(features.clone(), lambda_e) };
        let learned = match emphasis.kind.as_str() {
            "lambda-return" | "direct" => direct(number("lambda_e")?, LearningRule::SemiGradient),
            "tderc" => direct(number("lambda_e")?, given.tdrc()?),
            "gem" if number("ridge")? == 0.0 => direct(number("lambda_e")?, gtd2(number("eta")?)?),
            "lstd" => direct(number("lambda_e")?, LearningRule::LeastSquares),
            "model" => Self { from_model: true, ..direct(0.0, LearningRule::LeastSquares) },
            // Its mixture is a λ-return.
            "x-etd" => {
                Self { steps: given.count("n")?, ..direct(number("beta")?, LearningRule::SemiGradient) }
            }
            "gradient-dice" => {
                let (gamma, penalty, eta) = (number("gamma")?, number("penalty")?, number("eta")?);
                let mean_penalty =
                    (penalty > 0.0).then_some(MeanPenalty { gamma, penalty, rate: active * eta * penalty });
                Self { mean_penalty, ..direct(0.0, gtd2(eta)?) }
            }
            "cop-td" => {
                let (gamma, penalty) = (number("gamma")?, number("penalty")?);
                let rate = active * given.eta(["alpha_u", "alpha_n"]);
                // A mean that is never learned draws nothing.
                let is_drawn = penalty > 0.0 && number("alpha_n")? > 0.0;
                let mean_penalty = is_drawn.then_some(MeanPenalty { gamma, penalty, rate });
                Self { discount: Some(gamma), mean_penalty, ..direct(0.0, LearningRule::SemiGradient) }
            }
            _ => return None,
        };
        let read = match number("read").unwrap_or(0.0) {
            0.0 => EmphasisRead::Estimate,
            1.0 => EmphasisRead::Return,
            _ => return None,
        };
        let divided_by_length = given.divides_by_length();
        // Second weights and means have a step-size without it, or are drawn to zero in other places.
        if divided_by_length && (learned.rule != LearningRule::SemiGradient || learned.mean_penalty.is_some())
        {
            return None;
        }
        Some(Self { read, divided_by_length, ..learned })
    }
}

impl EmphasisKind {
    /// Returns an emphasis of the catalogue; `None` if what it tends to is not known here.
    pub fn of_part(emphasis: &PartRecipe, features: &Table) -> Option<Self> {
        let given = Given { part: emphasis, role: Role::Emphasis };
        match emphasis.kind.as_str() {
            "none" => Some(Self::None),
            "exact" => Some(Self::Exact),
            "follow-on" => Some(Self::FollowOn),
            "ideal" => Some(Self::Truncated { n: given.count("most")? }),
            "normalised" => Some(Self::Normalised),
            "truncated" => Some(Self::Truncated { n: given.count("n")? }),
            "periodic" => Some(Self::Periodic { period: given.count("period")? }),
            "n-step" => Some(Self::NStep { n: given.count("n")? }),
            "decayed" => Some(Self::Decayed { beta: given.number("beta")? }),
            "clipped" => Some(Self::Clipped { rho_max: given.number("rho_max")? }),
            "lc" => {
                let (first, power) = lc_share(given.count("variant")?, given.number("beta")?)?;
                Some(Self::Lc { first, power })
            }
            _ => LearnedEmphasis::of_part(emphasis, features).map(Self::Learned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Signal;

    /// What the theory does not know is written down, so that a new part is not forgotten.
    #[test]
    fn parts_of_which_the_theory_knows_nothing() {
        let features = Table::one_hot(2);
        let unknown = |role: Role, known: &dyn Fn(&PartRecipe) -> bool| -> Vec<&str> {
            let parts = Catalogue::standard().of(role);
            let with_settings = |entry: &crate::catalogue::Entry| {
                let settings = entry.settings.iter().filter(|setting| setting.default.is_none());
                settings.fold(PartRecipe::new(entry.name), |part, setting| part.with(setting.name, 1.0))
            };
            parts.filter(|entry| !known(&with_settings(entry))).map(|entry| entry.name).collect()
        };
        let critic = |part: &PartRecipe| {
            let tells = |signal| {
                Catalogue::standard().find(Role::Critic, &part.kind).unwrap().signals.contains(&signal)
            };
            (tells(Signal::Delta) && LinearCritic::of_part(part, &features).is_some())
                || (tells(Signal::Advantages) && LinearActionCritic::of_part(part).is_some())
        };
        assert_eq!(unknown(Role::Critic, &critic), ["exact", "advantage", "compatible"]);
        let emphasis = |part: &PartRecipe| EmphasisKind::of_part(part, &features).is_some();
        assert!(unknown(Role::Emphasis, &emphasis).is_empty());
        // The limit of what is at least the interest was once shown for what need not be.
        let as_it_is = PartRecipe::new("direct").with("alpha_u", 1.0).with("lambda_e", 0.0).with("read", 0.0);
        assert!(EmphasisKind::of_part(&as_it_is, &features).is_some());
        assert!(EmphasisKind::of_part(&as_it_is.with("least", 0.0), &features).is_none());
    }

    /// Once second weights with a step-size of zero were taken for weights with the step-size of the first.
    #[test]
    fn second_weights_that_never_learn_correct_nothing() {
        let features = Table::one_hot(2);
        let still =
            |kind: &str, step_size: &str| PartRecipe::new(kind).with("alpha_v", 0.5).with(step_size, 0.0);
        let td = Some(LinearCritic::td(0.0));
        for (kind, step_size) in [("gtd", "alpha_w"), ("htd", "alpha_w"), ("tdrc", "eta")] {
            assert_eq!(LinearCritic::of_part(&still(kind, step_size), &features), td, "{kind}");
        }
        for kind in ["gtd2", "proximal-gtd2"] {
            assert_eq!(LinearCritic::of_part(&still(kind, "alpha_w"), &features), None, "{kind}");
        }
        let gq = PartRecipe::new("gq").with("alpha_q", 0.5).with("alpha_h", 0.0);
        let expected = LinearActionCritic::Expected { lambda: 0.0, rule: LearningRule::SemiGradient };
        assert_eq!(LinearActionCritic::of_part(&gq), Some(expected));
        let learned = |kind: &str| {
            let part = PartRecipe::new(kind).with("gamma", 0.5).with("eta", 0.0);
            LearnedEmphasis::of_part(&part, &features).map(|learned| learned.rule)
        };
        assert_eq!(
            ["tderc", "gem", "gradient-dice"].map(learned),
            [Some(LearningRule::SemiGradient), None, None]
        );
    }

    /// Once the step-size of the mean was taken for divided by the number of active features, and a mean that is never learned for learned.
    #[test]
    fn the_mean_has_a_step_size_of_its_own() {
        let features = Table::dense(&[vec![1.0, 1.0], vec![0.5, 1.0]]).unwrap();
        let rate = |part: PartRecipe| {
            LearnedEmphasis::of_part(&part, &features).unwrap().mean_penalty.map(|penalty| penalty.rate)
        };
        let cop = |alpha_n| {
            let part = PartRecipe::new("cop-td").with("gamma", 1.0).with("penalty", 3.0).with("alpha_u", 0.5);
            part.with("alpha_n", alpha_n)
        };
        assert_eq!(rate(cop(0.25)), Some(1.0));
        assert_eq!(rate(cop(0.0)), None);
        let dice = PartRecipe::new("gradient-dice").with("gamma", 0.5).with("penalty", 3.0).with("eta", 0.5);
        assert_eq!(rate(dice), Some(3.0));
    }

    #[test]
    fn settings_that_are_left_out_have_their_defaults() {
        let features = Table::one_hot(2);
        let critic = |part: PartRecipe| LinearCritic::of_part(&part, &features).unwrap();
        assert_eq!(critic(PartRecipe::new("td")), LinearCritic::td(0.0));
        assert_eq!(critic(PartRecipe::new("etd").with("lambda", 0.5)), LinearCritic::etd(0.5));
        let truncated = PartRecipe::new("truncated").with("n", 3.0);
        assert_eq!(
            critic(PartRecipe::new("etd").with_inner("emphasis", truncated)),
            LinearCritic::Emphatic {
                lambda: 0.0,
                emphasis: EmphasisKind::Truncated { n: 3 },
                rule: LearningRule::SemiGradient
            }
        );
        let gtd = PartRecipe::new("gtd").with("alpha_v", 0.5).with("alpha_w", 0.125);
        assert_eq!(critic(gtd), LinearCritic::Td { lambda: 0.0, rule: LearningRule::Gtd { eta: 0.25 } });
        assert_eq!(LinearCritic::of_part(&PartRecipe::new("abtd"), &features), None, "ζ must be given");
        // Once all that it remembers was taken for all that there was.
        let ideal = PartRecipe::new("ideal").with("most", 2.0);
        assert_eq!(EmphasisKind::of_part(&ideal, &features), Some(EmphasisKind::Truncated { n: 2 }));
        let learned = LearnedEmphasis::of_part(&PartRecipe::new("lambda-return"), &features).unwrap();
        assert_eq!((learned.lambda_e, learned.read), (0.5, EmphasisRead::Return));
    }
    /// Once what never learns had a fixed point, to which it never went.
    #[test]
    fn what_never_learns_has_no_limit() {
        let features = Table::one_hot(2);
        let critics = [
            PartRecipe::new("td").with("alpha_v", 0.0),
            PartRecipe::new("gtd").with("alpha_v", 0.0).with("alpha_w", 0.1),
            PartRecipe::new("lstd").with("forgetting", 1.0),
        ];
        assert!(critics.iter().all(|critic| LinearCritic::of_part(critic, &features).is_none()));
        let gq = PartRecipe::new("gq").with("alpha_q", 0.0).with("alpha_h", 0.1);
        assert_eq!(LinearActionCritic::of_part(&gq), None);
        let direct = PartRecipe::new("direct").with("alpha_u", 0.0);
        assert_eq!(LearnedEmphasis::of_part(&direct, &features), None);
    }
}
