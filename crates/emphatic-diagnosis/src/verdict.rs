//! The verdict of a diagnosis in plain words.

use crate::critic_stability::{Stability, ValueLimit};
use crate::diagnose::Diagnosis;
use crate::emphasis::Emphasis;
use crate::flows::Flows;
use crate::format::{name, number, plural, rounded};
use crate::lambda_return::LambdaReturn;

/// The verdict, a sentence or two for each finding, the most important first.
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
        Some(emphasis) => {
            all.push(trace(emphasis, diagnosis));
            all.extend(lambda_return(diagnosis));
            all.extend(aliased(diagnosis));
        }
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
    let (end_of_semi, end_of_full) = (flows.semi_gradient().objective, flows.gradient().objective);
    let (fall, from_random) = flows.falls();
    let worse = from_random.iter().filter(|fall| **fall > flows.margin()).count();
    let starts = from_random.len();
    let shown = |end: Option<f64>| end.map_or("nowhere".to_owned(), number);
    let random = match (worse, starts) {
        (_, 0) => String::new(),
        (0, _) => format!(" From {starts} random starts it ends as high as the gradient."),
        _ => {
            let most = from_random.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
            format!(" From {worse} of {starts} random starts it ends lower, by up to {}.", number(most))
        }
    };
    let (start, semi, full) = (number(flows.start), shown(end_of_semi), shown(end_of_full));
    let (is_safe, leads) = if fall > flows.margin() {
        let walks_away = end_of_semi.is_some_and(|end| end < flows.start - flows.margin());
        let walks = if walks_away { ": it walks away from where it starts" } else { "" };
        (format!("is not safe here{walks}"), format!("{semi}; the gradient leads to {full}"))
    } else {
        let is_safe = match worse {
            0 if fall < -flows.margin() => "is safe here, as far as these starts tell, and even ends higher",
            0 => "is safe here, as far as these starts tell",
            _ => "is not safe here",
        };
        (is_safe.to_owned(), format!("{semi}, the gradient to {full}"))
    };
    format!(
        "The semi-gradient (OffPAC, DPG and what is built on them) {is_safe}. From {given}, where J_μ is {start}, it leads to {leads}.{random}"
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
        (None, _) if diagnosis.size.actions.is_some() => {
            "no known variance: the behaviour never takes an action that the policy does".to_owned()
        }
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

/// The λ-return, for all policies on the way: the one with the largest ratios decides.
fn lambda_return(diagnosis: &Diagnosis) -> Option<String> {
    if !diagnosis.uncovered.is_empty() {
        return None;
    }
    let both = || [&diagnosis.emphasis, &diagnosis.emphasis_at_end].into_iter().flatten();
    let returns: Vec<_> = both().map(|e| e.lambda_return.as_ref()).collect::<Option<_>>()?;
    let least = |of: fn(&LambdaReturn) -> f64| returns.iter().map(|r| of(r)).fold(1.0, f64::min);
    let (largest, lambda_e) = (least(|r| r.largest_lambda_e), least(|r| r.lambda_e));
    let finite = match largest < 1.0 {
        true => format!("below {}", number(largest)),
        false => "up to 1, which is the trace".to_owned(),
    };
    let spread = both().map(Emphasis::relative_spread_of_lambda_return).collect::<Option<Vec<f64>>>();
    let spread = match spread.map(|all| all.into_iter().fold(0.0, f64::max)) {
        Some(spread) if spread > 0.0 => format!(
            ", with which its standard deviation is up to {} times its mean once the estimate is right",
            number(spread)
        ),
        _ => String::new(),
    };
    Some(format!(
        "The emphasis λ-return, which looks back to a learned estimate of m/d_μ, has finite variance for every λ_e {finite}. Start with λ_e = {lambda_e}{spread}."
    ))
}

/// States that a learned emphasis would have to tell apart.
fn aliased(diagnosis: &Diagnosis) -> Option<String> {
    let given = diagnosis.emphasis.as_ref().map(|emphasis| (&emphasis.aliased, diagnosis.given));
    let end = diagnosis.emphasis_at_end.as_ref().map(|emphasis| (&emphasis.aliased, AT_END));
    let (all, policy) = given.into_iter().chain(end).max_by_key(|(aliased, _)| aliased.len())?;
    let first = all.first()?;
    let mut names: Vec<String> = first.states.iter().take(FEW).map(|state| name(state)).collect();
    if first.states.len() > FEW {
        names.push(format!("{} more", first.states.len() - FEW));
    }
    let last = names.pop()?;
    let more = match all.len() - 1 {
        0 => String::new(),
        1 => " (and so does another group of states)".to_owned(),
        more => format!(" (and so do {more} other groups of states)"),
    };
    Some(format!(
        "{} and {last} look alike to the actor and to the critic, but their m/d_μ differ, for {policy}: {} to {}{more}. An emphasis that is learned with the critic's features and read as û is the same in all of them, which is OffPAC there: read the λ-return instead, or give the emphasis features that tell them apart.",
        names.join(", "),
        number(first.smallest),
        number(first.largest)
    ))
}

/// The number of names that a sentence lists.
const FEW: usize = 3;

fn critics(diagnosis: &Diagnosis) -> String {
    if !diagnosis.uncovered.is_empty() {
        return "What linear critics learn depends on what the behaviour never does: the table below is of experience that has it."
            .to_owned();
    }
    let one = |stability: &Stability| match stability.stable {
        Some(true) => "stable",
        Some(false) => "not stable",
        None if stability.eigenvalues.is_empty() => "not decided (too many features, or none)",
        None => "at the border of stability",
    };
    let critics = &diagnosis.critics;
    let mut text = format!(
        "With the critic's {}, linear off-policy TD(0) is {} and ETD(0) is {} for {}.",
        plural(critics.features, "feature"),
        one(&critics.td),
        one(&critics.etd),
        diagnosis.given
    );
    if let Some(end) = &diagnosis.critics_at_end
        && (end.td.stable, end.etd.stable) != (critics.td.stable, critics.etd.stable)
    {
        let (td, etd) = (one(&end.td), one(&end.etd));
        text += &format!(" For the policy that the gradient leads to TD(0) is {td} and ETD(0) is {etd}.");
    }
    if let Some((limit, policy)) = diagnosis.wrong_values() {
        text += &format!(
            " These features cannot hold the values: for {policy}, TD(0)'s are off by {} in the limit, where the values themselves are {} (root mean squares). The flows above take exact values; with a learned critic the policy may end elsewhere. Finer features would hold them; in an experiment, `features = \"states\"` gives the critic the states themselves.",
            number(limit.error),
            number(limit.size)
        );
    }
    text
}

/// The policy in which the gradient's flow ends, in words.
const AT_END: &str = "the policy that the gradient leads to";

/// An error of values that is larger than this beside them is said.
const WRONG: f64 = 0.02;

impl Diagnosis {
    /// The values that the critic's features cannot hold, and the policy that they are of, in words: of the given one or of the one that the gradient leads to, whichever is worse.
    pub(crate) fn wrong_values(&self) -> Option<(ValueLimit, &str)> {
        let end = self.critics_at_end.as_ref().map(|end| (end.limit, AT_END));
        let limits = [(self.critics.limit, self.given)].into_iter().chain(end);
        limits
            .filter_map(|(limit, policy)| Some((limit?, policy)))
            .filter(|(limit, _)| limit.error > WRONG * limit.size)
            .max_by(|(a, _), (b, _)| a.error.total_cmp(&b.error))
    }
}
