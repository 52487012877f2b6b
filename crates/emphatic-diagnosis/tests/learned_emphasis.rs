//! What a diagnosis says of an emphasis that is learned.

use emphatic_diagnosis::{Diagnosis, Options, diagnose};
use emphatic_problems::ProblemFile;
use std::ops::ControlFlow;

fn diagnosed(text: &str) -> Diagnosis {
    let problem = ProblemFile::parse(text, "problem.toml").expect("it is a problem");
    let options = Options { starts: Some(0), ..Options::default() };
    diagnose(&problem, &options, &|_, _| ControlFlow::Continue(()))
        .expect("it is diagnosed")
        .expect("nothing stopped it")
}

/// The lines of a text as one.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_look_back_is_shorter_where_ratios_are_larger() {
    // r = 7 · 0.99² = 6.8607: finite below 1/√r = 0.3818, and λ_e² r ≤ ½ up to 0.2699.
    let diagnosis = diagnosed("problem = \"baird\"");
    let emphasis = diagnosis.emphasis.as_ref().expect("it has a ratio");
    let lambda_return = emphasis.lambda_return.as_ref().expect("its ratios are bounded");
    assert!((lambda_return.largest_lambda_e - 1.0 / 6.8607f64.sqrt()).abs() < 1e-9);
    assert_eq!(lambda_return.lambda_e, 0.26);
    // State 7 is entered from all alike by the solid action alone: e = 1 + γρω(s) − ω(7) with ω = 1 or 694 and ρ = 7.
    let (r, passed) = (6.8607, 7.0 * 0.99);
    let error = |omega: f64| 1.0 + passed * omega - 694.0;
    let square = (6.0 * error(1.0).powi(2) + error(694.0).powi(2)) / 7.0;
    let right = (square / (1.0 - 0.26 * 0.26 * r)).sqrt();
    let found = emphasis.states[0].lambda_return_deviation.expect("it is finite");
    assert!(emphasis.states[0].state == "7" && (found / right - 1.0).abs() < 1e-9, "{found} {right}");
    let text = flat(&diagnosis.text());
    assert!(text.contains("finite variance for every λ_e below 0.381782. Start with λ_e = 0.26"), "{text}");
    let json = serde_json::to_value(&diagnosis).expect("it is data");
    assert_eq!(json["emphasis"]["lambda_return"]["lambda_e"], 0.26);
    assert_eq!(json["emphasis"]["aliased"].as_array().map(Vec::len), Some(0));
}

#[test]
fn half_is_the_usual_look_back() {
    let diagnosis = diagnosed("problem = \"long-counterexample\"");
    for emphasis in [&diagnosis.emphasis, &diagnosis.emphasis_at_end].into_iter().flatten() {
        assert!(!emphasis.finite);
        assert_eq!(emphasis.lambda_return.as_ref().map(|r| r.lambda_e), Some(0.5));
        assert!(emphasis.relative_spread_of_lambda_return().is_some());
    }
    assert!(flat(&diagnosis.text()).contains("for every λ_e below 0.95425. Start with λ_e = 0.5"));
    let short = diagnosed("problem = \"counterexample\"");
    assert!(flat(&short.text()).contains("for every λ_e up to 1, which is the trace. Start with λ_e = 0.5."));
}

#[test]
fn what_actor_and_critic_cannot_tell_apart_is_named() {
    let same = "problem = \"counterexample\"\nfeatures.critic = { S0 = [1, 0], S1 = [0, 1], S2 = [0, 1] }";
    let diagnosis = diagnosed(same);
    let aliased = &diagnosis.emphasis.as_ref().expect("it has a ratio").aliased;
    // m/d_μ = (1, 3, 5/3) for zero weights.
    assert_eq!(aliased.len(), 1);
    assert_eq!(aliased[0].states, ["S1", "S2"]);
    assert!((aliased[0].smallest - 5.0 / 3.0).abs() < 1e-12 && (aliased[0].largest - 3.0).abs() < 1e-12);
    let text = flat(&diagnosis.text());
    assert!(
        text.contains("S1 and S2 look alike to the actor and to the critic, but their m/d_μ differ, for "),
        "{text}"
    );
    assert!(text.contains("which is OffPAC there"), "{text}");
    // A critic that sees the states does not alias them.
    assert!(!diagnosed("problem = \"counterexample\"").text().contains("OffPAC there"));
}
