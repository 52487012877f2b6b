//! Critics against [worked steps](crate::reference).

use crate::reference::{Case, each_case, numbers, state_of};
use emphatic::catalogue::{Catalogue, Role, Signal};
use emphatic::{Built, Composable, Isa, Part, PartRecipe, RuleKind};

/// Those that solve a system do so before they are read, so the weights of a step are those that are seen at the next.
fn solves(case: &Case) -> bool {
    ["lstd", "elstd", "lstd-q", "one-step-model"].contains(&case.part)
}

fn tolerance(case: &Case) -> f64 {
    // The condition of the systems, up to 10⁵, multiplies errors of rounding.
    if solves(case) { 1e-10 } else { 1e-12 }
}

fn build(case: &Case, rule: RuleKind, signal: Signal) -> Built<f64> {
    let mut recipe = case.learner(rule);
    recipe.critic = case.recipe(Role::Critic);
    if solves(case) {
        recipe.critic = recipe.critic.with("solve_every", 1.0);
    }
    if case.part == "gq" {
        let values = PartRecipe::new("gtd").with("alpha_v", 0.5).with("alpha_w", 0.5);
        recipe.critic =
            recipe.critic.with_inner("values", values.with_features(case.stream.features.clone()));
    }
    f64::critic(Catalogue::standard(), &[&recipe], signal, Isa::Plain)
        .unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// Checks the weights of an estimate after a step.
fn check(case: &Case, t: usize, what: &str, critic: &mut dyn Part<f64>, estimate: &str) {
    let state = state_of(critic);
    let (_, weights) = state.iter().find(|(name, _)| name == estimate).unwrap();
    case.check(t, what, weights, tolerance(case));
}

#[test]
fn critics_of_values_do_what_their_equations_say() {
    let parts = each_case(include_str!("../reference/critics.json"), |case| {
        let Built::Critic(mut critic) = build(case, RuleKind::Taken, Signal::Delta) else { panic!() };
        case.stream.each(|t, row, seen| {
            // A system that is due is solved when the critic is asked.
            critic.value(seen);
            if solves(case) && t > 0 {
                check(case, t - 1, "w", &mut *critic, "v");
            }
            let [delta, changed] = critic.update(seen, row.rho);
            case.check(t, "delta", &[delta], tolerance(case));
            assert_eq!(changed, 0.0);
            if !solves(case) {
                check(case, t, "w", &mut *critic, "v");
            }
        });
    });
    assert_eq!(parts.len(), 13);
}

#[test]
fn critics_of_actions_do_what_their_equations_say() {
    let parts = each_case(include_str!("../reference/action_critics.json"), |case| {
        let Built::ActionCritic(mut critic) = build(case, RuleKind::All, Signal::Advantages) else {
            panic!()
        };
        let actions = case.stream.actions;
        let is_model = case.part == "one-step-model";
        let [what, estimate] = if is_model { ["v", "v"] } else { ["w", "q"] };
        let mut advantages = vec![0.0; actions];
        case.stream.each(|t, row, seen| {
            critic.advantages(seen, &row.pi, &mut advantages);
            if solves(case) && t > 0 {
                check(case, t - 1, what, &mut *critic, estimate);
            }
            if is_model && t > 0 {
                let q = &numbers(&case.steps[t - 1]["q"])[row.states[0] * actions..][..actions];
                let v: f64 = q.iter().zip(&row.pi).map(|(q, pi)| q * pi).sum();
                let off = advantages.iter().zip(q).map(|(got, q)| (got - (q - v)).abs()).fold(0.0, f64::max);
                assert!(off < 1e-10, "{} at step {t}: the advantages are off by {off}", case.name);
            }
            assert_eq!(critic.learn(seen, &row.pi, &row.pi_next, row.rho), 0.0);
            if !solves(case) {
                check(case, t, what, &mut *critic, estimate);
            }
        });
    });
    assert_eq!(parts.len(), 5);
}
