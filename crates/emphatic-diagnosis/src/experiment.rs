//! The experiment file that tries a suggestion.

use crate::format::{list, name, paragraph};
use crate::suggestion::{CriticKind, EmphasisSuggestion, Suggestion};
use emphatic::catalogue::Algorithm;
use emphatic_problems::{ProblemFile, shipped};
use emphatic_text::json_escaped;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The critic that computes values from the problem, in a file.
const EXACT: &str = "\"exact\"";

impl Suggestion {
    /// An experiment file that tries it, to be written to `path`.
    pub fn experiment(&self, problem: &ProblemFile, path: &Path) -> String {
        let mut text =
            format!("# A first experiment in {}, written by `emphatic diagnose`.\n", name(&problem.name));
        for (what, why) in &self.reasons {
            text += &paragraph("# ", "#   ", &format!("{what}: {why}."));
        }
        // TOML reads what JSON escapes; DEL must be escaped, too.
        let of_problem = json_escaped(&Value::from(reference(problem, path)).to_string());
        text += &format!(
            "\nproblem = {of_problem}\nseed = 1\nruns = 30\nsteps = {}\nfresh_runs = 100\n",
            self.steps
        );
        let weights = problem.target.weights();
        let policy = match weights.iter().any(|w| *w != 0.0) {
            true => format!("policy.weights = {weights:?}\n"),
            false => String::new(),
        };
        let with = |alpha: &[f64], name: &str, algorithm: Algorithm, emphasis: &str, critic: &str| {
            let (algorithm, alpha) = (algorithm.name, list(alpha));
            let warm_up = self.warm_up.filter(|_| critic != EXACT);
            let warm_up = warm_up.map_or(String::new(), |share| format!("warm_up = {share}\n"));
            format!(
                "\n[[method]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\n{emphasis}alpha = [{alpha}]\n{warm_up}critic = {critic}\n{policy}"
            )
        };
        let method = |name: &str, algorithm, emphasis: &str, critic: &str| {
            with(&self.alpha, name, algorithm, emphasis, critic)
        };
        let emphasis = self.emphasis_line();
        let critic = self.critic_value(self.critic.features);
        text += "\n# The suggestion.";
        text += &method("suggestion", self.algorithm, &emphasis, &critic);
        if critic != EXACT {
            text += "\n# The same with values computed from the problem: what a better critic could gain.";
            text += &method("suggestion, exact critic", self.algorithm, &emphasis, EXACT);
        }
        if self.critic.features.is_some() {
            text += "\n# The same with the problem's features of the critic, which cannot hold the values.";
            let own = self.critic_value(None);
            text += &method("suggestion, the problem's features", self.algorithm, &emphasis, &own);
        }
        text += "\n# For comparison, with step-sizes that move the weights as far.";
        let (name, algorithm) = match self.algorithm {
            Algorithm::OFFPAC => ("full gradient", Algorithm::ACE),
            Algorithm::DPG => ("full gradient", Algorithm::TRUE_DPGE),
            Algorithm::TRUE_DPGE => ("semi-gradient", Algorithm::DPG),
            _ => ("semi-gradient", Algorithm::OFFPAC),
        };
        text += &with(&self.comparison_alpha, name, algorithm, "", &critic);
        if self.emphasis.is_some() {
            text += "\n# With the emphasis computed from the problem: what a better estimate could gain.";
            text += &method("exact emphasis", Algorithm::TRUE_ACE, "", &critic);
        }
        text
    }

    /// The line of a method that names the emphasis; empty if it is the algorithm's own.
    fn emphasis_line(&self) -> String {
        let Some(EmphasisSuggestion { kind, lambda_e }) = self.emphasis else { return String::new() };
        let numbers = [("lambda_a", self.lambda_a), ("lambda_e", lambda_e)];
        let numbers = numbers.into_iter().filter_map(|(name, x)| x.map(|x| format!(", {name} = {x:?}")));
        format!("emphasis = {{ kind = \"{kind}\"{} }}\n", numbers.collect::<String>())
    }

    fn critic_value(&self, features: Option<&str>) -> String {
        let critic = &self.critic;
        let features = features.map_or(String::new(), |name| format!(", features = \"{name}\""));
        match critic.kind {
            CriticKind::Exact => EXACT.to_owned(),
            CriticKind::Tdrc => format!(
                "{{ kind = \"tdrc\", alpha_v = [{}], lambda = [{}]{features} }}",
                list(&critic.alpha_v),
                list(&critic.lambda)
            ),
            CriticKind::Gtd => format!(
                "{{ kind = \"gtd\", alpha_v = [{}], alpha_w = [{}], lambda = [{}]{features} }}",
                list(&critic.alpha_v),
                list(&critic.alpha_w),
                list(&critic.lambda)
            ),
        }
    }
}

/// The problem as an experiment file at `path` refers to it.
fn reference(problem: &ProblemFile, path: &Path) -> String {
    let file = Path::new(&problem.name);
    if shipped::find(&problem.name).is_some() && (!file.exists() || file.is_dir()) {
        return problem.name.clone();
    }
    // Directories are compared by what they resolve to, since `..` and links may lead elsewhere.
    let directory = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned())
    };
    let (from, to) = (directory(path), directory(file));
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| OsStr::new(".."));
    let down = to[common..].iter().map(|c| c.as_os_str()).chain(file.file_name());
    up.chain(down).collect::<PathBuf>().display().to_string()
}
