//! Actors against [worked steps](crate::reference).

use crate::reference::{each_case, inside, number};
use emphatic::catalogue::{Catalogue, Role, Signal};
use emphatic::{Composable, Isa, RuleKind};

const TOLERANCE: f64 = 1e-12;

#[test]
fn actors_do_what_their_equations_say() {
    let parts = each_case(include_str!("../reference/actors.json"), |case| {
        let entry = Catalogue::standard().find(Role::Actor, case.part).unwrap();
        let by_values = entry.signals == [Signal::Delta];
        let mut recipe = case.learner(if by_values { RuleKind::Taken } else { RuleKind::All });
        recipe.alpha = number(&case.settings["alpha"]);
        recipe.critic =
            inside(Role::Critic, &case.settings["critic"]).with_features(case.stream.features.clone());
        recipe.emphasis = inside(Role::Emphasis, &case.settings["emphasis"]);
        if recipe.emphasis.kind == "follow-on" {
            recipe.emphasis = recipe.emphasis.with("lambda_a", 1.0);
        }
        recipe.actor = Some(case.recipe(Role::Actor));
        let mut learner = f64::compose(Catalogue::standard(), &[&recipe], &[], Isa::Plain)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let (_, theta) = case.stream.policy.as_ref().unwrap();
        learner.set_weights(theta.clone()).unwrap();
        for (t, row) in case.stream.rows.iter().enumerate() {
            learner.update(&case.stream.step(row)).unwrap();
            case.check(t, "theta", learner.weights(), TOLERANCE);
        }
    });
    assert_eq!(parts.len(), Catalogue::standard().of(Role::Actor).count());
}
