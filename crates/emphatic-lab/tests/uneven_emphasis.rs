//! Runs warn of an emphasis by which a few steps count for all.

use emphatic_lab::store::Kind;
use emphatic_lab::{Event, Experiment, Options, Stop, read_runs, run, summarise};
use std::path::Path;

/// CartPole by a uniform behaviour: policies were ruined by the trace, and nothing said so.
const CART_POLE: &str = r#"
    problem = "cart-pole"
    features = { kind = "tiles", tilings = 8, tiles = 4, bias = true }
    seed = 1
    runs = 3
    steps = 50000
    evaluations = 2
    record = ["return", "effective_sample"]
    [rollouts]
    episodes = 2
    cap = 100
    [[method]]
    name = "trace"
    algorithm = "ace"
    emphasis = { kind = "follow-on", lambda_a = 0.9 }
    alpha = 0.1
    critic = { kind = "tdrc", alpha_v = 0.1 }
    [[method]]
    name = "a little of the trace"
    algorithm = "ace"
    emphasis = { kind = "follow-on", lambda_a = 0.1 }
    alpha = 0.1
    critic = { kind = "tdrc", alpha_v = 0.1 }
    [[method]]
    name = "default"
    algorithm = "ace"
    alpha = 0.1
    critic = { kind = "tdrc", alpha_v = 0.1 }
    [[method]]
    name = "none"
    algorithm = "offpac"
    alpha = 0.1
    critic = { kind = "tdrc", alpha_v = 0.1 }
"#;

#[test]
fn the_trace_in_cart_pole_is_warned_of_and_the_default_is_not() {
    let experiment = Experiment::parse(CART_POLE, "cart-pole.toml", Path::new("")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut warnings: Vec<String> = Vec::new();
    let mut listen = |event: Event| {
        if let Event::Warning(warning) = event {
            warnings.push(warning.to_owned());
        }
    };
    run(&experiment, dir.path(), &Options::default(), &Stop::default(), &mut listen).unwrap();
    let of = |warnings: &[String], method: &str| warnings.iter().filter(|w| w.starts_with(method)).count();
    let words = "the emphasis is so uneven that only ";
    assert!(warnings.iter().any(|w| w.starts_with("trace: ") && w.contains(words)), "{warnings:?}");
    assert_eq!(
        (of(&warnings, "trace"), of(&warnings, "default"), of(&warnings, "none")),
        (1, 0, 0),
        "{warnings:?}"
    );

    let summary = summarise(dir.path(), None).unwrap();
    assert_eq!(
        (of(&summary.warnings, "trace"), of(&summary.warnings, "default")),
        (1, 0),
        "{:?}",
        summary.warnings
    );
    let recorded = read_runs(dir.path(), Kind::Results, "effective_sample", &[0, 2, 3]).unwrap();
    for (setting, runs) in &recorded {
        for run in runs {
            // Before the first step there is nothing to count.
            assert_eq!(run.values[0], None);
            let share = run.last().unwrap();
            match setting {
                0 => assert!(share < 0.025, "{share}"),
                2 => assert!(share > 0.05, "{share}"),
                _ => assert_eq!(share, 1.0),
            }
        }
    }
}
