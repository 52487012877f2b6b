//! The text of a diagnosis of experience: the verdict and the tables behind it.

use super::verdict::{short, with_error};
use super::{SampledDiagnosis, SampledPolicy};
use crate::format::{list, name, number, paragraph, plural, table};
use crate::report::heading;
use std::fmt::Write;

impl SampledDiagnosis {
    /// The verdict, the numbers behind it and the suggestion.
    pub fn text(&self) -> String {
        let actions = self.actions.map_or("a real action".to_owned(), |n| plural(n, "action"));
        let mut text = format!(
            "{}: {}, {actions}, {}; by sampling\n\n",
            name(&self.name),
            plural(self.episodes.steps, "step"),
            plural(self.activity.features, "feature")
        );
        for sentence in &self.verdict {
            text += &paragraph("• ", "  ", sentence);
        }
        text + &self.spread_text() + &self.features_text() + &self.critics_text() + &self.suggestion_text()
    }

    fn spread_text(&self) -> String {
        let mut text = heading("How evenly steps count");
        let header = [
            "policy",
            "largest ρ",
            "ρ = 0",
            "by ρ",
            "by F",
            "F² grows by",
            "largest 1 % of ΣF²",
            "mean of F",
        ];
        let percent = |x: f64| format!("{} %", short(100.0 * x));
        let row = |p: &SampledPolicy| {
            vec![
                p.policy.clone(),
                short(p.overlap.largest_ratio),
                percent(p.overlap.never_taken),
                percent(p.spread.effective_sample_of_ratio.value),
                percent(p.spread.effective_sample(1.0)),
                with_error(&p.spread.growth),
                percent(p.spread.tail),
                with_error(&p.spread.mean_follow_on),
            ]
        };
        text += &table(header.map(str::to_owned).to_vec(), self.policies.iter().map(row));
        text += "\n  By M = (1 − λ_a) i + λ_a F:\n\n";
        let lambdas: Vec<f64> = self
            .policies
            .iter()
            .take(1)
            .flat_map(|p| p.spread.effective_samples.iter().map(|s| s.lambda_a))
            .collect();
        let header = std::iter::once("policy".to_owned())
            .chain(lambdas.iter().map(|l| format!("λ_a = {}", number(*l))));
        let row = |p: &SampledPolicy| {
            let shares = p.spread.effective_samples.iter().map(|s| percent(s.share.value));
            std::iter::once(p.policy.clone()).chain(shares).collect()
        };
        text += &table(header.collect(), self.policies.iter().map(row));
        text += "\n";
        text + &paragraph(
            "  ",
            "  ",
            "Steps that are weighed by w count like (Σw)²/Σw² of them, here as a share. ± is one standard error, by leaving out blocks of the steps.",
        )
    }

    fn features_text(&self) -> String {
        let activity = &self.activity;
        let mut text = heading("Features");
        let active = activity.features - activity.never_active;
        let _ = writeln!(text, "  active at some step    {active} of {}", activity.features);
        let _ = writeln!(text, "  active in a state      {} on average", short(activity.mean_active));
        let _ = writeln!(text, "  ‖x‖²                   {} on average", short(activity.mean_square_norm));
        let _ = writeln!(text, "  largest                {}", short(activity.largest));
        text
    }

    fn critics_text(&self) -> String {
        let row = |p: &SampledPolicy| {
            let critics = p.critics.as_ref()?;
            let stable = |stable: Option<bool>| match stable {
                Some(true) => "stable",
                Some(false) => "unstable",
                None => "undecided",
            };
            Some(vec![
                p.policy.clone(),
                stable(critics.td.stable).to_owned(),
                with_error(&critics.td.smallest),
                stable(critics.etd.stable).to_owned(),
                with_error(&critics.etd.smallest),
            ])
        };
        let rows: Vec<_> = self.policies.iter().filter_map(row).collect();
        if rows.is_empty() {
            return String::new();
        }
        let header = ["policy", "TD(0)", "smallest eigenvalue", "ETD(0)", "smallest eigenvalue"];
        heading("Linear critics")
            + &table(header.map(str::to_owned).to_vec(), rows.into_iter())
            + "\n"
            + &paragraph(
                "  ",
                "  ",
                "Stable: the smallest real part of an eigenvalue of the key matrix is above zero by two standard errors.",
            )
    }

    fn suggestion_text(&self) -> String {
        let suggestion = &self.suggestion;
        let mut text = heading("Start with");
        let kind = suggestion.emphasis.kind;
        let lambda_e = suggestion.emphasis.lambda_e.map_or(String::new(), |x| format!(", λ_e = {x}"));
        for (what, why) in &suggestion.reasons {
            let value = match *what {
                "emphasis" => format!("{kind}, λ_a = {}{lambda_e}", suggestion.lambda_a),
                "step-sizes" => list(&suggestion.alpha),
                "critic" => suggestion.critic.to_owned(),
                _ => format!("alpha_v = {}", list(&suggestion.alpha_v)),
            };
            let _ = writeln!(text, "  {what:<15} {value}");
            text += &paragraph("                  ", "                  ", &format!("{why}."));
        }
        text
    }
}
