//! What `solve` says of linear critics and emphases, against numbers by hand and from the literature.

use emphatic::PartRecipe;
use emphatic::catalogue::Role;
use emphatic_diagnosis::linear_methods::{LinearMethod, LinearMethods, PartOf};
use emphatic_diagnosis::solve;
use emphatic_problems::ProblemFile;

fn solved(text: &str) -> LinearMethods {
    let problem = ProblemFile::parse(text, "problem.toml").expect("it is a problem");
    solve(&problem, 1.0, &[]).expect("it is solved").linear_methods.expect("it has few features")
}

fn of<'a>(methods: &'a [LinearMethod], name: &str) -> &'a LinearMethod {
    methods.iter().find(|method| method.name == name).expect("it is in the table")
}

fn near(found: Option<f64>, right: f64) {
    let found = found.expect("it is known");
    assert!((found - right).abs() < 1e-9 * (1.0 + right.abs()), "{found} is not {right}");
}

#[test]
fn the_two_states() {
    let methods = solved("problem = \"theta-2theta\"");
    let critic = |name: &str| of(&methods.critics, name);
    near(critic("td").smallest_real_part, -0.2);
    near(critic("etd").smallest_real_part, 3.4);
    assert_eq!(critic("td").key_matrix.len(), 1);
    assert_eq!((critic("td").stable, critic("etd").stable), (Some(false), Some(true)));
    // GTD: ((A, C − A), (A, C)) with A = −0.2 and C = 2.5.
    near(critic("gtd").smallest_real_part, (2.3 - (2.3f64.powi(2) - 4.0 * 0.04).sqrt()) / 2.0);
    // GTD2: ((0, −A), (A, C)).
    near(critic("gtd2").smallest_real_part, (2.5 - (2.5f64.powi(2) - 4.0 * 0.04).sqrt()) / 2.0);
    // TDRC is not stable with β = 1: the determinant of ((A, C − A), (A, C + 1)) is A (1 + A) < 0.
    near(critic("tdrc").smallest_real_part, (3.3 - (3.3f64.powi(2) + 4.0 * 0.16).sqrt()) / 2.0);
    assert_eq!(critic("tdrc").stable, Some(false));
    let gem = of(&methods.emphases, "gem");
    near(gem.fixed_point.as_ref().map(|u| u[0]), -7.5);
    // −7.5 and −15 are read as the interest, 1 and 1, beside 1 and 19.
    near(gem.error, (18f64.powi(2) / 2.0).sqrt());
    // With steps that are divided by ‖x‖², A = 1 − 0.45 · 3/2 and b = 3/4: 30/13 and 60/13.
    let direct = of(&methods.emphases, "direct, lambda_e = 0, read = 0");
    near(direct.fixed_point.as_ref().map(|u| u[0]), 30.0 / 13.0);
    near(direct.error, (((17f64 / 13.0).powi(2) + (187f64 / 13.0).powi(2)) / 2.0).sqrt());
    assert_eq!(direct.stable, Some(true));
}

#[test]
fn bairds_problem() {
    let methods = solved("problem = \"baird\"");
    let critic = |name: &str| of(&methods.critics, name);
    let root = 2.3089f64.sqrt();
    near(critic("td").smallest_real_part, (-1.83 - root) / 14.0);
    // Eigenvalues that are the same, five times, once kept ETD(0) from being decided.
    for method in methods.critics.iter().chain(&methods.action_critics).chain(&methods.emphases) {
        assert!(method.stable.is_some() || method.smallest_real_part.is_none(), "{}", method.name);
    }
    assert_eq!((critic("gtd").stable, critic("etd").stable), (Some(true), Some(true)));
    // The values, all zero, are within reach of the features.
    assert!(methods.critics.iter().all(|method| method.error == Some(0.0)));
}

#[test]
fn a_critic_that_sees_the_states_learns_their_values() {
    let methods = solved("problem = \"shop\"");
    for method in methods.critics.iter().filter(|method| !method.name.starts_with("v-trace")) {
        assert_eq!((method.stable, method.error), (Some(true), Some(0.0)), "{}", method.name);
    }
    // V-trace learns the values of another policy.
    assert!(of(&methods.critics, "v-trace, lambda = 0.9").error > Some(0.1));
    assert!(methods.action_critics.iter().all(|method| method.error == Some(0.0)));
    // So does an emphasis that is learned, or the whole trace; what is cut off it is missing.
    for method in &methods.emphases {
        let is_whole = !method.key_matrix.is_empty() || method.name == "follow-on";
        assert_eq!(method.error == Some(0.0), is_whole, "{}: {:?}", method.name, method.error);
    }
}

#[test]
fn what_is_too_large_or_continuous_has_no_table() {
    for text in ["problem = \"continuous-counterexample\"", "problem = \"four-rooms\""] {
        let problem = ProblemFile::parse(text, "problem.toml").expect("it is a problem");
        let solution = solve(&problem, 1.0, &[]).expect("it is solved");
        assert!(solution.linear_methods.is_none() && !solution.text(5).contains("Linear critics"));
    }
}

#[test]
fn a_part_that_is_asked_for_comes_first() {
    let problem = ProblemFile::parse("problem = \"theta-2theta\"", "problem.toml").expect("it is a problem");
    let part = PartRecipe::new("tdrc").with("beta", 0.1);
    let asked = [PartOf::new(Role::Critic, part)];
    let methods = solve(&problem, 1.0, &asked).expect("it is solved").linear_methods.expect("few features");
    let first = &methods.critics[0];
    // ((A, C − A), (A, C + β)) with A = −0.2, C = 2.5 and β = 0.1: the determinant A (β + A) is positive, unlike with β = 1.
    assert_eq!((first.name.as_str(), first.stable), ("tdrc, beta = 0.1", Some(true)));
    near(first.smallest_real_part, (2.4 - (2.4f64.powi(2) - 4.0 * 0.02).sqrt()) / 2.0);
}
