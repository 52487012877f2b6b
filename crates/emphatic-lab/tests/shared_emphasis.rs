//! A critic that is weighted by the method's own emphasis, and settings that are chosen by several quantities.

mod common;

use common::{results, settings};
use emphatic_lab::store::Kind;
use emphatic_lab::{Cell, Experiment, SummaryOptions, read_runs, summarise_as};
use std::path::Path;

fn file(critic: &str, alpha_u: &str) -> String {
    format!(
        r#"
        problem = "counterexample"
        runs = 2
        episodes = 200
        evaluations = 4
        [[method]]
        name = "direct"
        emphasis = {{ kind = "direct", alpha_u = {alpha_u}, lambda_a = 0.5 }}
        alpha = [0.05, 0.1]
        critic = {{ kind = "etd", alpha_v = 0.1, lambda = 0.5, {critic} }}
        "#
    )
}

/// The objective along the runs of all settings.
fn curves(text: &str) -> Vec<Vec<Option<f64>>> {
    let dir = results(text);
    let settings: Vec<usize> = (0..Experiment::parse(text, "", Path::new("")).unwrap().settings()).collect();
    let runs = read_runs(dir.path(), Kind::Results, "objective", &settings).unwrap();
    runs.into_values().flatten().map(|run| run.values).collect()
}

#[test]
fn a_critic_with_the_methods_own_emphasis_has_its_numbers() {
    let shared = curves(&file("emphasis = \"actor\"", "[0.01, 0.3]"));
    let each = ["0.01", "0.3"].map(|alpha_u| {
        let inside = format!("emphasis = {{ kind = \"direct\", alpha_u = {alpha_u} }}");
        curves(&file(&inside, alpha_u))
    });
    // The step-size of the actor varies slowest.
    let [small, large] = each.map(|curves| curves.chunks(2).map(<[_]>::to_vec).collect::<Vec<_>>());
    let apart: Vec<_> = small.iter().zip(&large).flat_map(|(a, b)| [a.clone(), b.clone()].concat()).collect();
    assert_eq!(shared, apart);
    assert!(small != large);
}

#[test]
fn the_table_of_settings_says_that_it_is_the_methods_own() {
    let settings = settings(results(&file("emphasis = \"actor\"", "[0.01, 0.3]")).path());
    assert_eq!(settings.len(), 4);
    assert!(settings.iter().all(|setting| setting["critic_emphasis"] == Cell::Text("actor".to_owned())));
}

#[test]
fn the_methods_own_emphasis_has_no_settings_of_its_own() {
    let wrong =
        |critic: &str| Experiment::parse(&file(critic, "0.1"), "", Path::new("")).unwrap_err().to_string();
    let message = wrong("emphasis = { kind = \"actor\", alpha_u = 0.1 }");
    assert!(message.contains("has the settings of the method's own emphasis"), "{message}");
    let message = wrong("emphasis = { kind = [\"actor\", \"none\"] }");
    assert!(message.contains("stands alone"), "{message}");
}

#[test]
fn settings_are_chosen_by_each_quantity_of_a_list() {
    let text = r#"
        problem = "linear-quadratic"
        gamma = 0.9
        features = { kind = "observation", scale = "none" }
        runs = 2
        steps = 400
        evaluations = 2
        record = ["return", "excursions_return"]
        select_by = ["excursions_return", "return"]
        fresh_runs = 2
        [rollouts]
        episodes = 3
        cap = 20
        [[method]]
        algorithm = "offpac"
        alpha = [0.0, 0.0001, 0.001, 0.01]
        critic = { kind = "td", alpha_v = [0.001, 0.01] }
    "#;
    let dir = results(text);
    let chosen = |by: Option<&str>| {
        let mut options = SummaryOptions::default();
        options.select_by = by.map(str::to_owned);
        summarise_as(dir.path(), &options)
    };
    for by in ["return", "excursions_return"] {
        let summary = chosen(Some(by)).unwrap();
        assert_eq!((summary.chosen_by.as_str(), summary.quantity.as_str()), (by, by));
        let method = &summary.methods[0];
        // The best by this quantity, of the eight, and it has fresh runs.
        let score = |setting: &emphatic_lab::SettingSummary| setting.at_end.mean.unwrap();
        let best = method.settings.iter().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
        assert_eq!((method.settings.len(), method.best), (8, best.setting));
        assert_eq!(method.fresh.as_ref().map(|fresh| fresh.runs), Some(2));
    }
    assert_eq!(chosen(None).unwrap().chosen_by, "excursions_return");
    let message = chosen(Some("weights")).unwrap_err().to_string();
    assert_eq!(message, "no settings are chosen by `weights`, but by `excursions_return`, `return`");
}
