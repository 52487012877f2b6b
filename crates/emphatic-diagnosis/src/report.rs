//! The text of a diagnosis: the verdict and the tables behind it.

use crate::critic_stability::{Critics, Stability};
use crate::diagnose::Diagnosis;
use crate::emphasis::{Emphasis, StateEmphasis};
use crate::flows::{Apart, Flows, Reached};
use crate::format::{list, name, number, paragraph, plural, rounded, table};
use crate::suggestion::CriticKind;
use std::fmt::Write;

/// The number of rows that a table shows.
const SHOWN: usize = 10;

impl Diagnosis {
    /// The verdict, the numbers behind it and the suggestion.
    pub fn text(&self) -> String {
        let mut text = size_text(self);
        for sentence in &self.verdict {
            text += &paragraph("• ", "  ", sentence);
        }
        if let Some(flows) = self.flows.as_ref().filter(|flows| flows.leads_somewhere()) {
            text += &flows_text(flows, self);
        }
        if let Some(emphasis) = &self.emphasis {
            text += &emphasis_text(emphasis, self.given);
        }
        if let Some(emphasis) = &self.emphasis_at_end {
            text += &emphasis_text(emphasis, "the policy that the gradient leads to");
        }
        text + &critics_text(&self.critics) + &suggestion_text(self)
    }
}

fn size_text(diagnosis: &Diagnosis) -> String {
    let size = &diagnosis.size;
    let actions = size.actions.map_or("a real action".to_owned(), |n| plural(n, "action"));
    format!(
        "{}: {}, {actions}, {}; the actor sees {} ({})\n\n",
        name(&diagnosis.problem),
        plural(size.states, "state"),
        plural(size.transitions, "transition"),
        plural(size.actor_features, "feature"),
        plural(size.weights, "weight")
    )
}

fn flows_text(flows: &Flows, diagnosis: &Diagnosis) -> String {
    let mut text = heading("Where expected updates lead");
    let starts = flows.gradient().from_random.len();
    let range = |reached: &Reached, pick: fn(f64, f64) -> f64, first: f64| {
        let all: Vec<f64> = reached.from_random.iter().flatten().copied().collect();
        if all.is_empty() { "–".to_owned() } else { number(all.into_iter().fold(first, pick)) }
    };
    let mut header = vec!["λ_a".to_owned(), format!("from {}", diagnosis.start), "settled".to_owned()];
    if starts > 0 {
        header.extend([format!("lowest of {starts} random"), "highest".to_owned(), "reach best".to_owned()]);
    }
    let row = |reached: &Reached| {
        let objective = reached.objective.map_or("–".to_owned(), number);
        let settled = if reached.settled { "yes" } else { "no" };
        let mut row = vec![number(reached.lambda_a), objective, settled.to_owned()];
        if starts > 0 {
            let good = reached.from_random.iter().filter(|x| flows.reaches(**x)).count();
            row.push(range(reached, f64::min, f64::INFINITY));
            row.push(range(reached, f64::max, f64::NEG_INFINITY));
            row.push(format!("{good}/{starts}"));
        }
        row
    };
    text += &table(header, flows.reached.iter().map(row));
    let _ = writeln!(text, "\n  J_μ there                    {}", number(flows.start));
    let _ = writeln!(text, "  best J_μ found               {}", number(flows.best));
    let _ = writeln!(text, "  highest on semi-gradient     {}", number(flows.highest_on_semi_gradient));
    let angle = diagnosis.angle.map_or("undefined (a zero)".to_owned(), |angle| format!("{angle:.1}°"));
    let _ = writeln!(text, "  angle of gradients there     {angle}");
    let [gradient, semi_gradient] = [flows.times.gradient, flows.times.semi_gradient].map(number);
    let _ = writeln!(text, "  95 % of the gradient's way   after α · steps = {gradient}");
    let _ = writeln!(text, "  … of the semi-gradient's     after α · steps = {semi_gradient}");
    if !flows.apart.is_empty() {
        text += "\n  They part in:\n\n";
        let header = ["states", "", "gradient", "semi-gradient"].map(str::to_owned).to_vec();
        let rows = flows.apart.iter().take(SHOWN);
        let three = |x: f64| format!("{x:.3}");
        let row =
            |a: &Apart| vec![a.states.clone(), a.what.clone(), three(a.gradient), three(a.semi_gradient)];
        text += &table(header, rows.map(row));
        text += &more(flows.apart.len());
    }
    text
}

fn emphasis_text(emphasis: &Emphasis, whose: &str) -> String {
    let mut text = heading(&format!("The follow-on trace for {whose}"));
    match emphasis.spectral_radius {
        Some([low, high]) if high - low > 1e-9 * high => {
            let _ = writeln!(
                text,
                "  spectral radius of the second-moment operator: {} (between {low} and {high})\n",
                number(high)
            );
        }
        Some([_, high]) => {
            let _ = writeln!(text, "  spectral radius of the second-moment operator: {}\n", number(high));
        }
        None => text += "  the second moment of the ratio is not known, or not finite\n\n",
    }
    let mut header = ["state", "share of m", "mean of F", "deviation of F", "steps to know m to 10 %"]
        .map(str::to_owned)
        .to_vec();
    header.extend(emphasis.lambda_return.as_ref().map(|r| format!("deviation with λ_e = {}", r.lambda_e)));
    let never = || "∞".to_owned();
    let row = |s: &StateEmphasis| {
        let deviation = s.standard_deviation.map_or_else(never, number);
        let steps = s.steps.map_or_else(never, rounded);
        let mut row =
            vec![s.state.clone(), format!("{:.1} %", 100.0 * s.share), number(s.mean), deviation, steps];
        let of_lambda_return = || s.lambda_return_deviation.map_or_else(never, number);
        row.extend(emphasis.lambda_return.as_ref().map(|_| of_lambda_return()));
        row
    };
    text += &table(header, emphasis.states.iter().take(SHOWN).map(row));
    text += &more(emphasis.states.len());
    text
}

fn critics_text(critics: &Critics) -> String {
    let mut text = heading("Linear critics");
    let row = |name: &str, stability: &Stability| {
        let stable = match stability.stable {
            Some(true) => "stable",
            Some(false) => "not stable",
            None => "not decided",
        };
        let value = |z: &(f64, f64)| match z.1 {
            0.0 => number(z.0),
            im => format!("{} {} {}i", number(z.0), if im < 0.0 { "−" } else { "+" }, number(im.abs())),
        };
        let first = stability.eigenvalues.first().map_or("–".to_owned(), value);
        let last = stability.eigenvalues.last().map_or("–".to_owned(), value);
        vec![name.to_owned(), stable.to_owned(), first, last]
    };
    let header = ["", "", "smallest eigenvalue", "largest"].map(str::to_owned).to_vec();
    text += &table(header, [row("TD(0)", &critics.td), row("ETD(0)", &critics.etd)].into_iter());
    text += "\n  Stable: all eigenvalues of the key matrix, in the span of the features, have positive real parts.\n";
    text
}

fn suggestion_text(diagnosis: &Diagnosis) -> String {
    let mut text = heading("Start with");
    let Some(suggestion) = &diagnosis.suggestion else {
        return text + &format!("  nothing: {}.\n", diagnosis.why_no_suggestion());
    };
    let mut algorithm = suggestion.algorithm.name.to_owned();
    if let Some(emphasis) = suggestion.emphasis {
        algorithm += &format!(", emphasis {}", emphasis.kind);
        algorithm += &suggestion.lambda_a.map_or(String::new(), |x| format!(", λ_a = {x}"));
        algorithm += &emphasis.lambda_e.map_or(String::new(), |x| format!(", λ_e = {x}"));
    }
    let features = suggestion.critic.features.map_or(String::new(), |name| format!("; features = {name}"));
    let critic = match suggestion.critic.kind {
        CriticKind::Exact => "exact".to_owned(),
        CriticKind::Tdrc => format!(
            "tdrc, alpha_v = {}; lambda = {}{features}",
            list(&suggestion.critic.alpha_v),
            list(&suggestion.critic.lambda)
        ),
        CriticKind::Gtd => format!(
            "gtd, alpha_v = {}; alpha_w = {}; lambda = {}{features}",
            list(&suggestion.critic.alpha_v),
            list(&suggestion.critic.alpha_w),
            list(&suggestion.critic.lambda)
        ),
    };
    let values = [
        ("algorithm", Some(algorithm)),
        ("step-sizes", Some(list(&suggestion.alpha))),
        ("length", Some(format!("{} steps", suggestion.steps))),
        ("critic", Some(critic)),
        ("warm-up", suggestion.warm_up.map(|share| format!("{} % of a run", 100.0 * share))),
    ];
    for (what, value) in values.into_iter().filter_map(|(what, value)| Some((what, value?))) {
        let _ = writeln!(text, "  {what:<12}{value}");
        let why = suggestion.reasons.iter().find(|(of, _)| *of == what);
        text += &why.map_or(String::new(), |(_, why)| {
            paragraph("              ", "              ", &format!("{why}."))
        });
    }
    text
}

pub(crate) fn heading(title: &str) -> String {
    format!("\n{title}\n{}\n", "─".repeat(title.chars().count()))
}

fn more(all: usize) -> String {
    if all > SHOWN { format!("  … {} more\n", all - SHOWN) } else { String::new() }
}
