//! Emphases against [worked steps](crate::reference).

use crate::reference::{each_case, state_of};
use emphatic::catalogue::{Catalogue, Role};
use emphatic::{Composable, Isa, RuleKind};

/// What rounding can explain.
const TOLERANCE: f64 = 1e-10;

#[test]
fn emphases() {
    let parts = each_case(include_str!("../reference/emphases.json"), |case| {
        // The reference tries n = 0 too, which is no emphasis.
        if case.settings["n"] == 0 {
            return;
        }
        let mut recipe = case.learner(RuleKind::Taken);
        recipe.emphasis = case.recipe(Role::Emphasis);
        let mut emphasis = f64::emphasis(Catalogue::standard(), &[&recipe], Isa::Plain)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        case.stream.each(|t, row, seen| {
            let weight = emphasis.weigh(seen, row.rho);
            assert!(emphasis.learn(seen, row.rho).is_finite());
            case.check(t, "emphasis", &[weight], TOLERANCE);
            for (saved, got) in state_of(&mut *emphasis) {
                let name = match saved.as_str() {
                    "mean" => "nu",
                    "multiplier" => "eta",
                    saved => saved,
                };
                if case.steps[t].get(name).is_some() {
                    case.check(t, name, &got, TOLERANCE);
                }
            }
        });
    });
    assert_eq!(parts.len(), 14);
}
