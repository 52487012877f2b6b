//! The experiment file that tries what is suggested for a simulator.

use super::SampledDiagnosis;
use super::suggestion::SampledSuggestion;
use crate::format::{list, name, paragraph};

/// What an experiment file says of a simulator, as TOML.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The simulator, and if need be its limit.
    pub problem: String,
    /// The discount.
    pub gamma: f64,
    /// The features.
    pub features: String,
    /// The behaviour; `None` if it is the usual one.
    pub behaviour: Option<String>,
}

impl SampledDiagnosis {
    /// An experiment file that tries what is suggested.
    pub fn experiment(&self, of: &Simulation) -> String {
        let Simulation { problem, gamma, features, behaviour } = of;
        let mut text =
            format!("# A first experiment in {}, written by `emphatic diagnose`.\n", name(&self.name));
        for (what, why) in &self.suggestion.reasons {
            text += &paragraph("# ", "#   ", &format!("{what}: {why}."));
        }
        text += &format!("\nproblem = {problem}\ngamma = {gamma:?}\nfeatures = {features}\n");
        text += &behaviour.as_ref().map_or(String::new(), |behaviour| format!("behaviour = {behaviour}\n"));
        text += &format!(
            "seed = 1\nruns = 5\nsteps = {}\nevaluations = 10\nrecord = [\"return\", \"effective_sample\"]\nselect = \"area\"\nfinalists = 4\nfinalist_runs = 15\nfresh_runs = 20\n\n[rollouts]\nepisodes = 5\n\n[fresh_rollouts]\nepisodes = 20\n",
            self.episodes.steps
        );
        text += "\n# The suggestion.";
        text +=
            &self.suggestion.method("suggestion", &self.suggestion.emphasis_table(), &self.suggestion.alpha);
        text += "\n# For comparison, with step-sizes that move the weights as far: a smaller emphasis has larger ones.";
        let lambda_a = self.suggestion.follow_on_lambda_a;
        if self.suggestion.emphasis.kind != "follow-on" && lambda_a > 0.0 {
            let trace = format!("{{ kind = \"follow-on\", lambda_a = {lambda_a:?} }}");
            text += &self.suggestion.method("follow-on trace", &trace, &self.suggestion.follow_on_alpha);
        }
        text + &self.suggestion.method("semi-gradient", "\"none\"", &self.suggestion.semi_gradient_alpha)
    }
}

impl SampledSuggestion {
    fn emphasis_table(&self) -> String {
        let lambda_e = self.emphasis.lambda_e.map_or(String::new(), |x| format!(", lambda_e = {x:?}"));
        format!("{{ kind = \"{}\", lambda_a = {:?}{lambda_e} }}", self.emphasis.kind, self.lambda_a)
    }

    fn method(&self, name: &str, emphasis: &str, alpha: &[f64]) -> String {
        let Self { algorithm, critic, .. } = self;
        format!(
            "\n[[method]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\nemphasis = {emphasis}\nalpha = [{}]\ncritic = {{ kind = \"{critic}\", alpha_v = [{}] }}\n",
            list(alpha),
            list(&self.alpha_v)
        )
    }
}
