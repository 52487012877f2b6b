//! Defects that were found, each by its name.

use emphatic_diagnosis::{Diagnosis, Options, diagnose};
use emphatic_problems::ProblemFile;
use std::ops::ControlFlow;

const TWO_STATES: &str = r#"
states = ["S0", "S1"]
actions = ["A0", "A1"]
start = "S0"
gamma = 0.9
behaviour = "uniform"
transitions = [
  { from = "S0", action = "A0", to = "S1", reward = 1 },
  { from = "S0", action = "A1", to = "S0" },
  { from = "S1", action = "A0", end = true, reward = 2 },
  { from = "S1", action = "A1", to = "S0" },
]
"#;

fn diagnosed(text: &str) -> Diagnosis {
    let problem = ProblemFile::parse(text, "problem.toml").expect("it is a problem");
    with_starts(&problem, Some(1))
}

fn with_starts(problem: &ProblemFile, starts: Option<usize>) -> Diagnosis {
    let diagnosis =
        diagnose(problem, &Options { starts, ..Options::default() }, &|_, _| ControlFlow::Continue(()));
    diagnosis.expect("it is diagnosed").expect("nothing stopped it")
}

#[test]
fn features_that_are_all_zero_or_huge_made_the_eigenvalues_panic() {
    for x in ["0", "1e200"] {
        let diagnosis = diagnosed(&format!("{TWO_STATES}\nfeatures.critic = {{ S0 = [{x}], S1 = [{x}] }}"));
        assert_eq!(diagnosis.critics.td.stable, None, "{x}");
    }
}

#[test]
fn a_policy_as_certain_as_can_be_left_no_step_size_to_index() {
    let diagnosis = diagnosed("problem = \"counterexample\"\ntarget = { weights = [1000, 0, 1000, 0] }");
    assert!(diagnosis.text().contains("Start with"));
    let tiny = TWO_STATES.replace("reward = 1", "reward = 1e-300").replace("reward = 2", "reward = 2e-300");
    assert!(diagnosed(&tiny).text().contains("Start with"));
}

#[test]
fn a_state_that_is_never_visited_made_critics_undecided() {
    let text = TWO_STATES.replace("\"S1\"]", "\"S1\", \"never\"]").replace(
        "transitions = [",
        "transitions = [\n  { from = \"never\", action = [\"A0\", \"A1\"], to = \"S0\" },",
    );
    let critics = diagnosed(&text).critics;
    assert_eq!((critics.td.stable, critics.etd.stable), (Some(true), Some(true)));
}

#[test]
fn large_rewards_were_taken_for_an_objective_without_bound() {
    let text = "states = 1\nactions = 2\nstart = 0\nbehaviour = \"uniform\"\ntarget = { weights = [-20, 20] }\n\
                transitions = [{ from = 0, action = 0, end = true, reward = 1e10 }, { from = 0, action = 1, end = true }]";
    let flows = diagnosed(text).flows.expect("they are followed");
    assert!(!flows.unbounded && (flows.best - 1e10).abs() < 10.0, "{flows:?}");
}

#[test]
fn an_objective_without_bound_is_said_to_have_none() {
    let diagnosis = diagnosed("problem = \"five-states\"");
    assert!(diagnosis.flows.as_ref().expect("they are followed").unbounded);
    assert!(
        diagnosis.suggestion.is_none() && diagnosis.text().contains("nothing: the objective has no bound")
    );
}

#[test]
fn what_the_behaviour_never_does_leaves_nothing_to_suggest() {
    let diagnosis = diagnosed(&TWO_STATES.replace("\"uniform\"", "{ S0 = { A0 = 1 } }"));
    assert_eq!(diagnosis.uncovered, [("S0".to_owned(), "A1".to_owned())]);
    assert!(
        diagnosis.suggestion.is_none()
            && diagnosis.verdict[0].starts_with("The behaviour never takes A1 in S0")
    );
}

/// Only its end would be reached by it, so nothing of its ratio reaches the trace.
#[test]
fn an_uncovered_action_that_ends_leaves_the_trace_finite() {
    let text = TWO_STATES.replace("\"uniform\"", "{ S1 = { A1 = 1 } }");
    let emphasis = diagnosed(&text).emphasis.expect("it has a ratio");
    assert!(emphasis.finite && emphasis.spectral_radius.is_some());
}

#[test]
fn a_long_chain_with_a_drift_was_said_to_have_infinite_variance() {
    let text = "gamma = 0.7\nbehaviour = { left = 0.1, right = 0.9 }\n[chain]\nstates = 500\nleft = { end = true }\n\
                right = { end = true, reward = 1 }";
    let problem = ProblemFile::parse(text, "chain.toml").expect("it is a problem");
    let emphasis = with_starts(&problem, None).emphasis.expect("it has a ratio");
    // 2 √(0.25/0.1 · 0.25/0.9) γ² cos(π/501).
    let right = 2.0 * (2.5f64 * 0.25 / 0.9).sqrt() * 0.49 * (std::f64::consts::PI / 501.0).cos();
    assert!(emphasis.finite && (emphasis.spectral_radius.expect("it is finite")[1] - right).abs() < 1e-8);
}

#[test]
fn the_suggested_length_is_that_of_the_flow_that_is_suggested() {
    let diagnosis = diagnosed("problem = \"chain\"");
    let (suggestion, flows) =
        (diagnosis.suggestion.expect("there is one"), diagnosis.flows.expect("followed"));
    assert_eq!(suggestion.algorithm, "offpac");
    let middle = suggestion.alpha[suggestion.alpha.len() / 2];
    assert!(suggestion.steps as f64 * middle >= 2.0 * flows.times[1], "{suggestion:?} {:?}", flows.times);
}
