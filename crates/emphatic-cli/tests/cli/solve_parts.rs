//! Parts that `solve` is asked about.

use crate::common::{Bench, ended, printed, refused};

#[test]
fn a_part_with_settings_is_shown_under_its_name() {
    let text = printed(["solve", "theta-2theta", "--critic", "etd,emphasis=decayed,emphasis.beta=0.5"]);
    assert!(text.contains("\n  etd, emphasis = decayed, emphasis.beta = 0.5 "), "{text}");
    // The key matrix of TDRC(0) with β = 1/10 on θ → 2θ has the eigenvalues (2.4 ± √5.68)/2.
    let text = printed(["solve", "theta-2theta", "--critic", "tdrc,beta=0.1"]);
    let line = text.lines().find(|line| line.contains("tdrc, beta = 0.1")).expect("it is shown");
    assert!(line.contains(" stable ") && line.contains("0.00836"), "{line}");
}

/// θ → 2θ with γ = 0.9: m/d_μ is (1, 19). The target is always in the second state, so LC-ETD's trace tends to (0, 2).
#[test]
fn traces_and_density_ratios_are_shown() {
    let error = |part: &str, name: &str| {
        let text = printed(["solve", "theta-2theta", "--emphasis", part]);
        let line = text.lines().find(|line| line.contains(name)).expect("it is shown").to_owned();
        line.split_whitespace().last().expect("it has an error").parse::<f64>().expect("a number")
    };
    let right = ((1.0 + 17.0f64.powi(2)) / 2.0).sqrt();
    assert!((error("lc,beta=0.5", "lc, beta = 0.5") - right).abs() < 1e-3);
    // One feature, 1 and 2: GradientDICE without a penalty is GEM, and comes to rest at −7.5. It is read as at least the interest, so as (1, 1).
    let right = (18.0f64.powi(2) / 2.0).sqrt();
    let dice = "gradient-dice,gamma=0.9,penalty=0";
    assert!((error(dice, "gradient-dice") - right).abs() < 1e-3);
    // Once λ_a was ignored: with ½ it tends to (1, 10).
    let half = error("follow-on,lambda_a=0.5", "follow-on, lambda_a = 0.5");
    assert!((half - 40.5f64.sqrt()).abs() < 1e-3);
}

/// Once the row of the mean was cut off where there are several features.
#[test]
fn a_penalty_of_the_mean_counts_for_stability() {
    let real_part = |penalty: &str| {
        let part = format!("gradient-dice,gamma=0.5,penalty={penalty}");
        let text = printed(["solve", "random-walk", "--emphasis", &part]);
        let line = text.lines().find(|line| line.contains("gradient-dice")).expect("it is shown").to_owned();
        assert!(line.contains(" stable "), "{line}");
        line.split_whitespace().rev().nth(1).expect("it has a real part").to_owned()
    };
    assert_ne!(real_part("0"), real_part("0.01"));
}

#[test]
fn what_cannot_be_shown_is_refused_with_the_reason() {
    let wrong = [
        ("--critic", "tdx", "did you mean `td`?"),
        ("--critic", "", "there is no critic ``"),
        ("--critic", "td,lamda=1", "did you mean `lambda`?"),
        ("--critic", "td,lambda=2", "it must lie between 0 and 1"),
        ("--critic", "td,lambda", "write a setting as name=number"),
        ("--critic", "td,lambda=", "`lambda` in `td,lambda=` is empty"),
        ("--critic", "etd,emphasis=decayed,emphasis=truncated", "`emphasis` is given twice"),
        ("--critic", "td,features=actors", "did you mean `actor`?"),
        ("--critic", "td,features=states,features=actor", "`features` is given twice"),
        ("--emphasis", "follow-on,features=states", "the emphasis `follow-on` looks at no features"),
        ("--critic", "exact", "not known in closed form"),
        ("--critic", "etd,emphasis.n=3", "`follow-on` has no setting `n`"),
        ("--emphasis", "truncated", "it may need n"),
        ("--critic", "etd,emphasis=truncated", "it may need emphasis.n"),
        ("--emphasis", "gem,ridge=0.1,alpha_u=0.1", "not known in closed form"),
        ("--emphasis", "lc,beta=0.5,variant=4", "not known in closed form"),
        ("--critic", "gtd2,alpha_v=0.1,alpha_w=0", "not known in closed form"),
        ("--critic", "etd,emphasis.lambda_a=0.5", "`lambda_a` has no meaning"),
        ("--critic", "gtd,alpha_w=0.1", "give both"),
        ("--critic", "td,lambda=0.5,lambda=0.6", "given twice"),
        ("--critic", "td,schedule=per-feature", "not known in closed form"),
        ("--critic", "model", "only if each state has one feature"),
    ];
    for (option, part, words) in wrong {
        refused(&ended(["solve", "theta-2theta", option, part]), &[words]);
    }
}

/// Once such a part was left out of the table without a word.
#[test]
fn a_problem_that_is_too_large_or_has_real_actions_is_refused() {
    for problem in ["four-rooms", "continuous-counterexample"] {
        let output = ended(["solve", problem, "--critic", "td"]);
        refused(&output, &["nothing can be computed of the critic `td`", "at most 100 features"]);
    }
}

/// Once it was left out without a word, since the emphasis `model` has the same name.
#[test]
fn a_critic_that_is_too_large_is_refused() {
    let bench = Bench::empty();
    bench.write(
        "problem.toml",
        "gamma = 0.9\nbehaviour = \"uniform\"\n[random]\nseed = 1\nstates = 60\nactions = 2\nbranching = 2\nend = 0.1\n",
    );
    let output = bench.ended(&["solve", "problem.toml", "--critic", "model"]);
    refused(&output, &["nothing can be computed of the critic `model`", "this takes at most 100"]);
}

/// Once a part that is one of the usual ones was shown twice.
#[test]
fn a_usual_part_is_shown_once() {
    let text = printed(["solve", "theta-2theta", "--critic", "td"]);
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("td ")).count(), 1, "{text}");
}

/// Once the schedule and the floor at the interest were left out. θ → 2θ with γ = 0.9: û = −7.5 · (1, 2) is read as at least the interest, so that M = (1, 1) beside
/// m/d_μ = (1, 19). The default schedule divides by ‖x‖²: A = 1 − 0.45 · 3/2 = 0.325, b = ½ (1 + ½) and û = 30/13 · (1, 2).
#[test]
fn steps_divided_by_the_length_of_features_have_another_limit() {
    let line = |part: &str| {
        let text = printed(["solve", "theta-2theta", "--emphasis", part]);
        text.lines()
            .find(|line| line.contains(part.replace(',', ", ").replace('=', " = ").as_str()))
            .expect("it is shown")
            .to_owned()
    };
    let constant = line("direct,lambda_e=0,read=0,schedule=constant");
    assert!(constant.contains("not stable") && constant.contains("12.72"), "{constant}");
    let divided = line("direct,lambda_e=0,read=0");
    assert!(
        divided.contains(" stable ") && divided.contains("0.325") && divided.contains("10.21"),
        "{divided}"
    );
}

/// Once it had three hundred digits.
#[test]
fn a_large_number_is_short() {
    let text = printed(["solve", "theta-2theta", "--critic", "tdrc,beta=1e300"]);
    assert!(text.contains("\n  tdrc, beta = 1e300 "), "{text}");
}

/// Once a setting before the kind of its part was refused.
#[test]
fn the_order_of_settings_does_not_matter() {
    let of = |part: &str| printed(["solve", "theta-2theta", "--critic", part]);
    let text = of("etd,emphasis=truncated,emphasis.n=3,lambda=0.5");
    assert!(text.contains("\n  etd, lambda = 0.5, emphasis = truncated, emphasis.n = 3 "), "{text}");
    assert_eq!(of("etd,emphasis.n=3,lambda=0.5,emphasis=truncated"), text);
    assert_eq!(of("etd,lambda=0.5,emphasis.n=3,emphasis=truncated"), text);
}

/// θ → 2θ has one feature; its states have one each, with which TD finds the values and û is m/d_μ.
#[test]
fn parts_see_the_features_that_are_asked_for() {
    let line = |option: &str, part: &str, name: &str| {
        let text = printed(["solve", "theta-2theta", option, part]);
        let found = text.lines().find(|line| line.trim_start().starts_with(name));
        found.unwrap_or_else(|| panic!("{name} is not in {text}")).to_owned()
    };
    let error = |line: &str| line.split_whitespace().last().expect("it has an error").to_owned();
    let states = line("--critic", "td,features=states", "td, features = states ");
    assert!(states.contains(" stable ") && !states.contains("not stable"), "{states}");
    let critic = line("--critic", "td,features=critic", "td, features = critic ");
    assert!(critic.contains("not stable"), "{critic}");
    let read = "direct,lambda_e=0,read=0,schedule=constant";
    let coarse = line("--emphasis", read, "direct, lambda_e = 0, read = 0, schedule = constant ");
    let fine = line(
        "--emphasis",
        &format!("{read},features=states"),
        "direct, lambda_e = 0, read = 0, schedule = constant, features = states ",
    );
    assert_eq!(error(&fine), "0");
    assert_ne!(error(&fine), error(&coarse));
    let inside = "etd,emphasis.features=states,emphasis=lambda-return";
    line("--critic", inside, "etd, emphasis = lambda-return, emphasis.features = states ");
}
