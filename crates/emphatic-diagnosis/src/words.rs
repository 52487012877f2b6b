//! The diagnosis in words and tables.

use crate::critic::Stability;
use crate::diagnose::Diagnosis;
use crate::emphasis::Emphasis;
use crate::flows::{Apart, Flows, Reached};
use crate::solve::{name, number, table};
use std::fmt::Write;

/// Lines of text are no longer than this.
const WIDTH: usize = 100;

/// States and groups that are shown in a table.
const SHOWN: usize = 10;

/// The verdict in plain words, the weightiest first.
pub(crate) fn verdict(diagnosis: &Diagnosis) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(coverage(diagnosis));
    match &diagnosis.flows {
        Some(flows) if flows.is_flat() => all.push(
            "No policy that was tried does better than another: there is nothing for an actor to learn here."
                .to_owned(),
        ),
        Some(flows) if flows.unbounded => all.push(
            "The objective has no bound: some policies never end and gather reward for ever. To learn a policy here, discount (gamma below 1)."
                .to_owned(),
        ),
        Some(flows) => {
            all.push(safety(flows, diagnosis.start));
            all.push(smallest(flows, diagnosis.start));
        }
        None => all.push(direction(diagnosis)),
    }
    match &diagnosis.emphasis {
        Some(emphasis) => all.push(trace(emphasis, diagnosis)),
        None => all.push(
            "A deterministic policy has no ratio to the behaviour, so there is no follow-on trace: the emphasis has to be computed.".to_owned(),
        ),
    }
    all.push(critics(diagnosis));
    all
}

fn coverage(diagnosis: &Diagnosis) -> Option<String> {
    let (state, action) = diagnosis.uncovered.first()?;
    let (state, action) = (name(state), name(action));
    let more = match diagnosis.uncovered.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "The behaviour never takes {action} in {state}{more}, but the target does: what comes of it cannot be learned from this experience."
    ))
}

fn safety(flows: &Flows, given: &str) -> String {
    let (semi, full) = (flows.semi_gradient(), flows.gradient());
    let (fall, from_random) = flows.falls();
    let worse = from_random.iter().filter(|fall| **fall > flows.margin()).count();
    let starts = from_random.len();
    let ends = |reached: &Reached| reached.objective.map_or("nowhere".to_owned(), number);
    let random = match (worse, starts) {
        (_, 0) => String::new(),
        (0, _) => format!(" From {starts} random starts it ends as high as the gradient."),
        _ => {
            let most = from_random.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
            format!(" From {worse} of {starts} random starts it ends lower, by up to {}.", number(most))
        }
    };
    if fall > flows.margin() {
        let walks = if semi.objective.is_some_and(|end| end < flows.start - flows.margin()) {
            ": it walks away from where it starts"
        } else {
            ""
        };
        return format!(
            "The semi-gradient (OffPAC, DPG and what is built on them) is not safe here{walks}. From {given}, where J_μ is {}, it leads to {}; the gradient leads to {}.{random}",
            number(flows.start),
            ends(semi),
            ends(full)
        );
    }
    let safe = match worse {
        0 if fall < -flows.margin() => "is safe here, as far as these starts tell, and even ends higher",
        0 => "is safe here, as far as these starts tell",
        _ => "is not safe here",
    };
    format!(
        "The semi-gradient (OffPAC, DPG and what is built on them) {safe}. From {given}, where J_μ is {}, it leads to {}, the gradient to {}.{random}",
        number(flows.start),
        ends(semi),
        ends(full)
    )
}

fn smallest(flows: &Flows, given: &str) -> String {
    let best = number(flows.best);
    match flows.smallest_lambda_a {
        Some(0.0) => format!("Every λ_a reaches the best objective found, {best}, from {given}."),
        Some(least) => {
            format!("From λ_a = {least:.3} on, the best objective found, {best}, is reached from {given}.")
        }
        None => {
            let others: Vec<String> = flows
                .reached
                .iter()
                .filter(|r| flows.reaches(r.objective))
                .map(|r| number(r.lambda_a))
                .collect();
            let by = match others.len() {
                0 => "which another start led to".to_owned(),
                _ => format!("but λ_a = {} does", others.join(", ")),
            };
            format!("From {given} the gradient does not reach the best objective found, {best}, {by}.")
        }
    }
}

fn direction(diagnosis: &Diagnosis) -> String {
    let start = diagnosis.start;
    let angle = match diagnosis.angle {
        Some(angle) if angle > 90.0 => {
            format!(
                "at the given policy the semi-gradient is {angle:.1}° from the gradient: following it lowers the objective"
            )
        }
        Some(angle) => format!("at {start} the semi-gradient is {angle:.1}° from the gradient"),
        None => format!("at {start} the gradient or the semi-gradient is zero"),
    };
    format!(
        "The problem is too large to follow its flows ({} transitions; with `starts` at 0 they are followed all the same); {angle}.",
        diagnosis.size.transitions
    )
}

fn trace(given: &Emphasis, diagnosis: &Diagnosis) -> String {
    if !diagnosis.uncovered.is_empty() {
        return "The follow-on trace does not estimate m here: what the behaviour never does has no ratio."
            .to_owned();
    }
    let one = |emphasis: &Emphasis| match (emphasis.spectral_radius, emphasis.steps) {
        (None, _) => "no finite variance: the square of the ratio has no finite mean".to_owned(),
        (Some([_, radius]), _) if !emphasis.finite => {
            format!("infinite variance (its second moment grows by {} each step)", number(radius))
        }
        (Some([_, radius]), steps) => {
            let spread = match emphasis.relative_spread().unwrap_or(f64::INFINITY) {
                0.0 => "it does not vary within a state".to_owned(),
                spread => format!("its standard deviation is up to {} times its mean", number(spread)),
            };
            let steps = steps
                .map_or("for ever".to_owned(), |steps| format!("about {}", plural(rounded(steps), "step")));
            format!(
                "finite variance (spectral radius {}); {spread}, and an estimate of m to 10 % takes {steps}",
                if number(radius) == "1" { "just below 1".to_owned() } else { number(radius) }
            )
        }
    };
    let end = diagnosis.emphasis_at_end.as_ref().map_or(String::new(), |end| {
        format!(" For the policy that the gradient leads to it has {}.", one(end))
    });
    format!("The follow-on trace has {} for {}.{end}", one(given), diagnosis.given)
}

/// A number of things.
fn plural(number: impl std::fmt::Display, what: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A number of steps to two digits, at least one.
fn rounded(steps: f64) -> String {
    let unit = 10f64.powf((steps.max(1.0).log10().floor() - 1.0).max(0.0));
    number(((steps / unit).ceil() * unit).max(1.0))
}

fn critics(diagnosis: &Diagnosis) -> String {
    let one = |stability: &Stability| match stability.stable {
        Some(true) => "stable",
        Some(false) => "not stable",
        None if stability.eigenvalues.is_empty() => "not decided (too many features, or none)",
        None => "at the border of stability",
    };
    let critics = &diagnosis.critics;
    format!(
        "With the critic's {}, linear off-policy TD(0) is {} and ETD(0) is {}.",
        plural(critics.features, "feature"),
        one(&critics.td),
        one(&critics.etd)
    )
}

/// Everything in text.
pub(crate) fn text(diagnosis: &Diagnosis) -> String {
    let size = &diagnosis.size;
    let actions = size.actions.map_or("a real action".to_owned(), |n| plural(n, "action"));
    let mut text = format!(
        "{}: {}, {actions}, {}; the actor sees {} ({})\n\n",
        name(&diagnosis.problem),
        plural(size.states, "state"),
        plural(size.transitions, "transition"),
        plural(size.actor_features, "feature"),
        plural(size.weights, "weight")
    );
    for sentence in &diagnosis.verdict {
        text += &paragraph("• ", "  ", sentence);
    }
    if let Some(flows) = diagnosis.flows.as_ref().filter(|flows| flows.leads_somewhere()) {
        text += &flows_text(flows, diagnosis);
    }
    if let Some(emphasis) = &diagnosis.emphasis {
        text += &emphasis_text(emphasis, diagnosis.given);
    }
    if let Some(emphasis) = &diagnosis.emphasis_at_end {
        text += &emphasis_text(emphasis, "the policy that the gradient leads to");
    }
    text += &critics_text(diagnosis);
    text += &suggestion_text(diagnosis);
    text
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
    let _ = writeln!(text, "  α · steps to cover 95 %      {}", number(flows.times[0]));
    if !flows.apart.is_empty() {
        text += "\n  They part in:\n\n";
        let header = ["states", "", "gradient", "semi-gradient"].map(str::to_owned).to_vec();
        let rows = flows.apart.iter().take(SHOWN);
        let three = |x: f64| format!("{x:.3}");
        let row =
            |a: &Apart| vec![a.states.clone(), a.what.clone(), three(a.gradient), three(a.semi_gradient)];
        text += &table(header, rows.map(row));
        text += &more(flows.apart.len(), "more");
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
        None => text += "  the square of the ratio has no finite mean\n\n",
    }
    let header = ["state", "share of m", "mean of F", "deviation of F", "steps to know m to 10 %"];
    let never = || "∞".to_owned();
    let row = |s: &crate::emphasis::StateEmphasis| {
        let deviation = s.standard_deviation.map_or_else(never, number);
        let steps = s.steps.map_or_else(never, rounded);
        vec![s.state.clone(), format!("{:.1} %", 100.0 * s.share), number(s.mean), deviation, steps]
    };
    text += &table(header.map(str::to_owned).to_vec(), emphasis.states.iter().take(SHOWN).map(row));
    text += &more(emphasis.states.len(), "more");
    text
}

fn critics_text(diagnosis: &Diagnosis) -> String {
    let critics = &diagnosis.critics;
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
    text += "\n  Stable if all eigenvalues of the key matrix have positive real parts.\n";
    text
}

fn suggestion_text(diagnosis: &Diagnosis) -> String {
    let mut text = heading("Start with");
    let Some(suggestion) = &diagnosis.suggestion else {
        return text + &format!("  nothing: {}.\n", diagnosis.why_nothing());
    };
    let algorithm = match suggestion.lambda_a {
        Some(lambda_a) => format!("{}, λ_a = {lambda_a}", suggestion.algorithm),
        None => suggestion.algorithm.to_owned(),
    };
    let critic = match suggestion.critic.kind {
        "exact" => "exact".to_owned(),
        kind => format!(
            "{kind}, alpha_v = {}; alpha_w = {}; lambda = {}",
            list(&suggestion.critic.alpha_v),
            list(&suggestion.critic.alpha_w),
            list(&suggestion.critic.lambda)
        ),
    };
    let values = [
        ("algorithm", algorithm),
        ("step-sizes", list(&suggestion.alpha)),
        ("length", format!("{} steps", suggestion.steps)),
        ("critic", critic),
    ];
    for (what, value) in values {
        let _ = writeln!(text, "  {what:<12}{value}");
        let why = suggestion.reasons.iter().find(|(of, _)| *of == what);
        text += &why.map_or(String::new(), |(_, why)| {
            paragraph("              ", "              ", &format!("{why}."))
        });
    }
    text
}

fn heading(title: &str) -> String {
    format!("\n{title}\n{}\n", "─".repeat(title.chars().count()))
}

fn more(all: usize, what: &str) -> String {
    if all > SHOWN { format!("  … {} {what}\n", all - SHOWN) } else { String::new() }
}

/// Numbers one after the other, as files write them.
pub(crate) fn list(numbers: &[f64]) -> String {
    numbers.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
}

/// Text of lines that are not too long, with a mark before the first and an indent before the others.
pub(crate) fn paragraph(mark: &str, indent: &str, text: &str) -> String {
    let mut out = String::from(mark);
    let mut width = mark.chars().count();
    for (k, word) in text.split(' ').enumerate() {
        let long = word.chars().count();
        if k > 0 && width + 1 + long > WIDTH {
            let _ = write!(out, "\n{indent}");
            width = indent.chars().count();
        } else if k > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += long;
    }
    out + "\n"
}
