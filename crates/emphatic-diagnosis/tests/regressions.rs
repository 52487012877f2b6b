//! Regression tests, each named after its defect.

use emphatic::catalogue::Algorithm;
use emphatic_diagnosis::emphasis::{Emphasis, StateEmphasis};
use emphatic_diagnosis::{Diagnosis, Options, diagnose, solve};
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
    assert_eq!(suggestion.algorithm, Algorithm::OFFPAC);
    let middle = suggestion.alpha[suggestion.alpha.len() / 2];
    assert!(
        suggestion.steps as f64 * middle >= 2.0 * flows.times.semi_gradient,
        "{suggestion:?} {:?}",
        flows.times
    );
}

fn near(found: f64, right: f64) {
    assert!((found / right - 1.0).abs() < 1e-9, "{found} is not {right}");
}

fn of_state<'a>(emphasis: &'a Emphasis, state: &str) -> &'a StateEmphasis {
    emphasis.states.iter().find(|s| s.state == state).expect("it carries emphasis")
}

/// The variance was the difference of a mean square of 1e18 and the square of a mean.
#[test]
fn a_trace_that_is_hardly_discounted_was_said_to_be_known_after_a_step() {
    let text = "states = 2\nactions = 1\nstart = 0\nbehaviour = \"uniform\"\ngamma = 0.999999999\ntransitions = [\
                { from = 0, action = 0, to = 0, probability = 0.5, reward = 1 }, { from = 0, action = 0, to = 1, probability = 0.5 }, \
                { from = 1, action = 0, to = 0, probability = 0.5 }, { from = 1, action = 0, to = 1, probability = 0.5 }]";
    let diagnosis = diagnosed(text);
    // F is 1/(1 − γ) always, so it is a fair coin that is to be known to 10 %: 0.25/(0.1 · 0.5)².
    let emphasis = diagnosis.emphasis.as_ref().expect("it has a ratio");
    for state in &emphasis.states {
        near(state.steps.expect("it is finite"), 100.0);
        assert_eq!(state.standard_deviation, Some(0.0));
    }
    assert!(diagnosis.text().contains("takes about 100 steps"), "{}", diagnosis.text());
}

/// A state that is next to never left, and hardly discounted: three more digits would have been lost than there are.
const HARDLY_LEFT: &str = r#"
states = 3
actions = 1
start = { 1 = 0.875, 0 = 0.125 }
behaviour = "uniform"
interest = { 0 = 0.5, 1 = 0, 2 = 1 }
transitions = [
  { from = 0, action = 0, to = 0, probability = 9.332636185032189e-302, gamma = 1, reward = 3.25 },
  { from = 0, action = 0, to = 2, gamma = 1, reward = 0.5 },
  { from = 1, action = 0, to = 0, gamma = 1, reward = 2 },
  { from = 2, action = 0, to = 0, probability = 2.220446049250313e-16, gamma = 0.9999999999990905, reward = 1 },
  { from = 2, action = 0, to = 1, probability = 2.220446049250313e-16, gamma = 0.9, reward = 2 },
  { from = 2, action = 0, to = 2, gamma = 0.9999999999990905, reward = 2 },
]
"#;

/// The right values were computed from the definitions with 1500 digits.
#[test]
fn a_state_that_is_hardly_left_had_too_large_a_deviation_and_too_many_steps() {
    let emphasis = diagnosed(HARDLY_LEFT).emphasis.expect("it has a ratio");
    assert!(emphasis.finite);
    let right = [
        ("0", 1044510545641.4573, 54986384028.41919, 2.2579360834693248e17),
        ("1", 989536306397.17, 1093280809.8873103, 4.50338523025996e17),
        ("2", 1099484784885.7445, 1214756455.4303448, 268422676.93882693),
    ];
    for (state, mean, deviation, steps) in right {
        let found = of_state(&emphasis, state);
        near(found.mean, mean);
        near(found.standard_deviation.expect("it is finite"), deviation);
        near(found.steps.expect("it is finite"), steps);
    }
}

/// State 4 is visited once in 1e453 steps, and once there, the square of the trace grows by 7e148 each step.
const NEXT_TO_NEVER_VISITED: &str = r#"
states = 7
actions = 2
start = { 5 = 0.09375, 3 = 0.90625 }
behaviour = { 0 = { 0 = 0.453125, 1 = 0.546875 }, 1 = { 0 = 0.5625, 1 = 0.4375 }, 2 = { 0 = 0.921875, 1 = 0.078125 }, 3 = { 0 = 1, 1 = 3.054936363499605e-151 }, 4 = { 0 = 3.054936363499605e-151, 1 = 1 }, 5 = { 0 = 0.90625, 1 = 0.09375 }, 6 = { 0 = 0.328125, 1 = 0.671875 } }
transitions = [
  { from = 0, action = 0, to = 5, probability = 9.332636185032189e-302, gamma = 0.9 },
  { from = 0, action = 0, to = 4, probability = 9.332636185032189e-302, gamma = 0 },
  { from = 0, action = 0, to = 1, gamma = 1 },
  { from = 0, action = 1, to = 2, probability = 8.673617379884035e-19, gamma = 0.5 },
  { from = 0, action = 1, to = 1, probability = 8.673617379884035e-19, gamma = 0.999999999999999 },
  { from = 0, action = 1, to = 3, gamma = 0.999999999999999 },
  { from = 1, action = 0, to = 1, probability = 0.703125, gamma = 1 },
  { from = 1, action = 0, end = true, probability = 0.203125 },
  { from = 1, action = 0, to = 0, probability = 0.09375, gamma = 0.9 },
  { from = 1, action = 1, to = 0, probability = 0.421875, gamma = 0.9999999999990905 },
  { from = 1, action = 1, to = 3, probability = 0.296875, gamma = 0.999999999999999 },
  { from = 1, action = 1, end = true, probability = 0.28125 },
  { from = 2, action = 0, end = true, probability = 2.220446049250313e-16 },
  { from = 2, action = 0, to = 3, probability = 2.220446049250313e-16, gamma = 1 },
  { from = 2, action = 0, to = 6, gamma = 0.99 },
  { from = 2, action = 1, to = 5, probability = 0.5625, gamma = 0.5 },
  { from = 2, action = 1, to = 0, probability = 0.4375, gamma = 1 },
  { from = 3, action = 0, to = 3, gamma = 0.99 },
  { from = 3, action = 1, to = 2, probability = 0.140625, gamma = 0.5 },
  { from = 3, action = 1, end = true, probability = 0.859375 },
  { from = 4, action = 0, end = true, probability = 0.890625 },
  { from = 4, action = 0, to = 4, probability = 0.109375, gamma = 0.9 },
  { from = 4, action = 1, to = 6, probability = 2.220446049250313e-16, gamma = 1 },
  { from = 4, action = 1, end = true },
  { from = 5, action = 0, to = 2, probability = 0.46875, gamma = 0 },
  { from = 5, action = 0, to = 6, probability = 0.265625, gamma = 1 },
  { from = 5, action = 0, to = 0, probability = 0.265625, gamma = 0.999999999999999 },
  { from = 5, action = 1, to = 3, probability = 4.909093465297727e-91, gamma = 0 },
  { from = 5, action = 1, to = 6, probability = 4.909093465297727e-91, gamma = 1 },
  { from = 5, action = 1, end = true },
  { from = 6, action = 0, to = 3, probability = 9.332636185032189e-302, gamma = 0 },
  { from = 6, action = 0, end = true },
  { from = 6, action = 1, to = 3, probability = 0.4375, gamma = 0.5 },
  { from = 6, action = 1, end = true, probability = 0.359375 },
  { from = 6, action = 1, to = 5, probability = 0.203125, gamma = 1 },
]
"#;

/// It is π²/μ P γ² of the way from 4 to itself: 0.25/3.054936363499605e-151 · 0.109375 · 0.81.
#[test]
fn a_state_too_rare_for_a_number_was_left_out_of_the_radius() {
    let emphasis = diagnosed(NEXT_TO_NEVER_VISITED).emphasis.expect("it has a ratio");
    emphasis
        .spectral_radius
        .expect("it has one")
        .into_iter()
        .for_each(|radius| near(radius, 7.25004872920747e148));
}

/// State 6 is visited 1e318 times less often than state 0.
const FAR_APART: &str = r#"
states = 7
actions = 1
start = { 3 = 0.5625, 4 = 0.4375 }
behaviour = "uniform"
interest = { 0 = 2, 1 = 1, 2 = 0, 3 = 1, 4 = 1, 5 = 2, 6 = 1 }
transitions = [
  { from = 0, action = 0, to = 1, gamma = 1, reward = 1 },
  { from = 1, action = 0, to = 1, probability = 8.673617379884035e-19, gamma = 1, reward = 1 },
  { from = 1, action = 0, to = 3, probability = 8.673617379884035e-19, gamma = 0.99, reward = 0.5 },
  { from = 1, action = 0, to = 0, gamma = 1, reward = 2 },
  { from = 2, action = 0, to = 1, gamma = 0.99, reward = -2.75 },
  { from = 3, action = 0, to = 6, probability = 1e-300, gamma = 0, reward = 1 },
  { from = 3, action = 0, to = 1, gamma = 1 },
  { from = 4, action = 0, to = 2, probability = 0.921875, gamma = 0, reward = 3.25 },
  { from = 4, action = 0, to = 1, probability = 0.078125, gamma = 0.9, reward = 1 },
  { from = 5, action = 0, to = 2, probability = 9.332636185032189e-302, gamma = 0.999999999999999, reward = 2 },
  { from = 5, action = 0, to = 3, gamma = 0.9999999999990905, reward = -1 },
  { from = 6, action = 0, to = 0, probability = 0.65625, gamma = 0.9999999999990905, reward = 0.5 },
  { from = 6, action = 0, to = 1, probability = 0.34375, gamma = 1, reward = 2 },
]
"#;

/// The right values were computed from the definitions with 1500 digits.
#[test]
fn visits_further_apart_than_numbers_reach_were_refused() {
    let solved = |text: &str| {
        let problem = ProblemFile::parse(text, "problem.toml").expect("it is a problem");
        solve(&problem, 1.0, &[]).expect("it is solved")
    };
    let solution = solved(FAR_APART);
    let column = |name: &str| &solution.columns.iter().find(|c| c.name == name).expect("there is one").values;
    near(solution.objective, 5.188146770730807e20);
    let density = column("emphatic_density");
    for (s, d, v, f) in [
        (0, 0.5, 3.4587645138205377e20, 3.4587645138205377e20),
        (1, 0.5, 3.4587645138205377e20, 3.4587645138205377e20),
        (3, 4.336808689942018e-19, 3.4587645138205377e20, 3.424176868682332e20),
    ] {
        near(column("stationary")[s], d);
        near(column("value")[s], v);
        near(density[s], f);
    }
    assert_eq!((column("stationary")[6], density[6]), (4.3368e-319, 1.0));
    assert!([2, 4, 5].iter().all(|&s| density[s].is_nan() && column("stationary")[s] == 0.0));
    let emphasis = diagnosed(FAR_APART).emphasis.expect("it has a ratio");
    assert!(emphasis.finite);
    let found = of_state(&emphasis, "0");
    near(found.standard_deviation.expect("it is finite"), 2.451853156397175e19);
    near(found.steps.expect("it is finite"), 2.3174301600137626e20);
    // With interest in state 6 alone, d_μ has five digits there, but the objective is no smaller than a number can be.
    let interest = FAR_APART.lines().find(|line| line.starts_with("interest")).expect("there is one");
    let alone =
        solved(&FAR_APART.replace(interest, "interest = { 0 = 0, 1 = 0, 2 = 0, 3 = 0, 4 = 0, 5 = 0 }"));
    near(alone.objective, 1.4999999999991034e-298);
}

/// Nothing is discounted, and an episode ends once in 1e300 steps.
#[test]
fn a_mean_whose_square_is_too_large_for_a_number_still_has_a_deviation() {
    let to = |s: usize| {
        format!(
            "{{ from = {s}, action = 0, to = 0, probability = 0.5 }}, {{ from = {s}, action = 0, to = 1, probability = 0.5 }}, \
             {{ from = {s}, action = 0, end = true, probability = 1e-300 }}"
        )
    };
    let text = format!(
        "states = 2\nactions = 1\nstart = 0\nbehaviour = \"uniform\"\ngamma = 1\ntransitions = [{}, {}]",
        to(0),
        to(1)
    );
    let emphasis = diagnosed(&text).emphasis.expect("it has a ratio");
    for state in &emphasis.states {
        // F is as good as exponentially distributed, and a stretch of 1e300 steps counts as one sample of it, twice as variable.
        near(state.mean, 1e300);
        near(state.standard_deviation.expect("it is finite"), 1e300);
        near(state.steps.expect("it is finite"), 2e302);
    }
}

/// Six states of which two look alike to actor and critic: the values of one cannot be those of the other.
#[test]
fn a_critic_was_suggested_that_cannot_hold_the_values() {
    let text = r#"
states = ["A", "B", "C", "D", "E", "F"]
actions = ["back", "forth"]
start = "C"
gamma = 0.95
behaviour = { back = 0.7, forth = 0.3 }
target = { back = 0.2, forth = 0.8 }
transitions = [
  { from = "A", action = "back", end = true, reward = 0.2 },
  { from = "A", action = "forth", to = "B" },
  { from = "B", action = "back", to = "A" },
  { from = "B", action = "forth", to = "C", reward = -0.5 },
  { from = "C", action = "back", to = "B" },
  { from = "C", action = "forth", to = "D" },
  { from = "D", action = "back", to = "C" },
  { from = "D", action = "forth", to = "E" },
  { from = "E", action = "back", to = "D" },
  { from = "E", action = "forth", to = "F" },
  { from = "F", action = "back", to = "E" },
  { from = "F", action = "forth", end = true, reward = 2 },
]
[features]
actor = { alias = [["B", "E"]] }
critic = { alias = [["B", "E"]] }
"#;
    let problem = ProblemFile::parse(text, "problem.toml").expect("it is a problem");
    let diagnosis = with_starts(&problem, Some(1));
    let suggestion = diagnosis.suggestion.as_ref().expect("there is something to try");
    assert_eq!(suggestion.critic.features, Some("states"));
    let experiment = suggestion.experiment(&problem, std::path::Path::new("experiment.toml"));
    assert!(experiment.contains("lambda = [0.0, 0.9], features = \"states\" }"), "{experiment}");
    assert!(diagnosis.text().contains("features = states"), "{}", diagnosis.text());
    // With a feature for each state there is nothing to suggest.
    let tabular = text.split("[features]").next().unwrap_or_default();
    assert_eq!(diagnosed(tabular).suggestion.expect("there is something to try").critic.features, None);
}
