//! The verdict on experience in plain words.

use super::stability::{MOST_FEATURES, SampledCritics, SampledStability};
use super::{SampledDiagnosis, SampledPolicy};
use crate::format::{number, plural};

/// Fewer ends than this are few.
const FEW_ENDS: usize = 30;

/// A share of the steps below this is small.
const SMALL: f64 = 0.1;

/// The verdict, a sentence or two for each finding.
pub(super) fn verdict(diagnosis: &SampledDiagnosis) -> Vec<String> {
    let mut all = vec![overlap(diagnosis)];
    all.extend(small_sample(diagnosis));
    all.extend(wrong_ratio(diagnosis));
    all.extend(trace(diagnosis));
    all.push(ends(diagnosis));
    all.extend(activity(diagnosis));
    all.extend(critics(diagnosis));
    all.push(
        "Whether the semi-gradient (OffPAC) leads somewhere else than the gradient, no sample tells: where they agree it is the less noisy one. Try both.".to_owned(),
    );
    all
}

fn percent(share: f64) -> String {
    format!("{} %", number((1000.0 * share).round() / 10.0))
}

/// A standard error beside its number.
pub(super) fn with_error(estimate: &super::Estimate) -> String {
    format!("{} ± {}", short(estimate.value), short(estimate.standard_error))
}

/// A number with three digits.
pub(super) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return number(x);
    }
    let unit = 10f64.powi(2 - x.abs().log10().floor() as i32);
    number((x * unit).round() / unit)
}

fn is_given(diagnosis: &SampledDiagnosis) -> bool {
    diagnosis.policies.len() == 1 && diagnosis.policies[0].policy == "the target"
}

fn overlap(diagnosis: &SampledDiagnosis) -> String {
    let (least, first) = (diagnosis.behaviour.least_probability, &diagnosis.policies[0]);
    let rare = match diagnosis.actions {
        Some(_) => format!("The rarest action that the behaviour took had probability {}", short(least)),
        None => format!("The behaviour's smallest density is {}", short(least)),
    };
    if is_given(diagnosis) {
        let overlap = &first.overlap;
        return format!(
            "{rare}. The ratio ρ of the target is at most {}, and 0 at {} of the steps; weighed by it, {} of the steps count.",
            short(overlap.largest_ratio),
            percent(overlap.never_taken),
            percent(first.spread.effective_sample_of_ratio.value)
        );
    }
    match diagnosis.actions {
        Some(_) => format!(
            "{rare}: a policy that has learned to take it always has the ratio ρ = {} there, and 0 where the behaviour did something else.",
            short(1.0 / least)
        ),
        None => {
            format!("{rare}. A target of your own tells more: its ratio depends on where its density is.")
        }
    }
}

/// Weighed by ρ, most steps may count for nothing: fewer than half as many as would if the behaviour were uniform.
fn small_sample(diagnosis: &SampledDiagnosis) -> Option<String> {
    let share = |p: &SampledPolicy| p.spread.effective_sample_of_ratio.value;
    let worst = diagnosis.policies.iter().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let if_uniform = diagnosis.actions.map_or(1.0, |actions| 1.0 / actions as f64);
    (share(worst) < SMALL.min(0.5 * if_uniform)).then(|| {
        format!(
            "The behaviour hardly covers {}: weighed by ρ alone, {} of the steps count. A mixture of it with `uniform` would cover more.",
            worst.policy,
            percent(share(worst))
        )
    })
}

/// The mean of ρ must be one.
fn wrong_ratio(diagnosis: &SampledDiagnosis) -> Option<String> {
    const MANY_ERRORS: f64 = 4.0;
    const LITTLE: f64 = 0.01;
    let off = |p: &&SampledPolicy| {
        let ratio = p.spread.mean_ratio;
        (ratio.value - 1.0).abs() > (MANY_ERRORS * ratio.standard_error).max(LITTLE)
    };
    let policy = diagnosis.policies.iter().find(off)?;
    let why = match policy.spread.mean_ratio.value < 1.0 {
        true => "the behaviour never takes some of its actions, or μ is not what it was",
        false => "μ is not what it was",
    };
    Some(format!(
        "The mean of ρ is {} for {}, and should be 1: {why}.",
        with_error(&policy.spread.mean_ratio),
        policy.policy
    ))
}

fn trace(diagnosis: &SampledDiagnosis) -> Option<String> {
    let steps = diagnosis.episodes.steps;
    let share = |p: &SampledPolicy| p.spread.effective_sample(1.0);
    let worst = diagnosis.policies.iter().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let spread = &worst.spread;
    let count = |share: f64| number((share * steps as f64).round().max(1.0));
    let variance = match spread.looks_finite {
        Some(true) => "Its variance looks finite",
        Some(false) => "Its variance looks infinite",
        None => "Whether its variance is finite cannot be told",
    };
    let mut text = format!(
        "Weighed by the follow-on trace, {steps} steps count like {} for {}; the largest hundredth of them has {} of ΣF². {variance}: F² is multiplied by {} in a step on average, and ends stop it.",
        count(share(worst)),
        worst.policy,
        percent(spread.tail),
        with_error(&spread.growth)
    );
    let lambda_a = diagnosis.suggestion.follow_on_lambda_a;
    if share(worst) < SMALL {
        text += &format!(
            " With λ_a = {} they count like {}, and the learned emphasis `lambda-return` has no such trace.",
            number(lambda_a),
            count(spread.effective_sample(lambda_a))
        );
    }
    Some(text)
}

fn ends(diagnosis: &SampledDiagnosis) -> String {
    let episodes = diagnosis.episodes;
    let cut = match episodes.cut_short {
        0 => String::new(),
        count => {
            format!(", and {} cut short", if count == 1 { "1 is".to_owned() } else { format!("{count} are") })
        }
    };
    match episodes.ended {
        0 => format!(
            "No episode ends in {} steps{cut}: what comes of an end, if there is one, is not seen.",
            episodes.steps
        ),
        few if few < FEW_ENDS => format!(
            "Only {} in {} steps{cut}: what is learned about ends, and about goals, comes from a handful of steps. A behaviour that reaches them more often, or more steps, would tell more.",
            if few == 1 { "1 episode ends".to_owned() } else { format!("{few} episodes end") },
            episodes.steps
        ),
        many => format!(
            "{many} episodes end in {} steps{cut}, one in {} on average.",
            episodes.steps,
            short(episodes.steps as f64 / many as f64)
        ),
    }
}

fn activity(diagnosis: &SampledDiagnosis) -> Option<String> {
    let activity = &diagnosis.activity;
    (activity.never_active > 0).then(|| {
        format!(
            "Of {}, {} never active: nothing is learned about states that have them.",
            plural(activity.features, "feature"),
            if activity.never_active == 1 {
                "1 is".to_owned()
            } else {
                format!("{} are", activity.never_active)
            }
        )
    })
}

fn critics(diagnosis: &SampledDiagnosis) -> Option<String> {
    let active = diagnosis.activity.features - diagnosis.activity.never_active;
    let of = |p: &SampledPolicy| p.critics.clone().map(|critics| (p.policy.clone(), critics));
    let found: Vec<(String, SampledCritics)> = diagnosis.policies.iter().filter_map(of).collect();
    let Some((_, first)) = found.first() else {
        return (active > MOST_FEATURES).then(|| {
            format!(
                "{active} features are active, too many to compute whether critics are stable with them: at most {MOST_FEATURES} are possible. Fewer or larger tiles, or another basis, would tell."
            )
        });
    };
    let verdict = |name: &str, of: fn(&SampledCritics) -> &SampledStability| {
        let with = |stable: Option<bool>| -> Vec<&str> {
            found.iter().filter(|(_, c)| of(c).stable == stable).map(|(policy, _)| policy.as_str()).collect()
        };
        let part = |policies: Vec<&str>, what: &str| match policies.len() {
            0 => None,
            all if all == found.len() && all > 1 => {
                Some(format!("{what} for every policy that was asked about"))
            }
            _ => Some(format!("{what} for {}", policies.join(", "))),
        };
        let parts = [
            part(with(Some(false)), "is not stable"),
            part(with(Some(true)), "is stable"),
            part(with(None), "may or may not be stable"),
        ];
        format!("{name} {}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    };
    Some(format!(
        "In the {} in which the features vary most, linear off-policy {}; {}.",
        plural(first.directions, "direction"),
        verdict("TD(0)", |critics| &critics.td),
        verdict("ETD(0)", |critics| &critics.etd)
    ))
}
