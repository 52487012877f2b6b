//! Flows to limits of every kind, and that they say truly whether they have settled.

use emphatic::{Problem, ProblemBuilder, Table, Task, limit};

fn task(builder: ProblemBuilder, groups: &[usize]) -> Task {
    let problem = builder.build().unwrap();
    let behaviour = vec![vec![0.5; 2]; groups.len()];
    Task::new(problem, &behaviour).unwrap().with_actor(Table::aliased(groups)).unwrap()
}

/// Ends with a's reward or leads on; then ends with 1 for a. Both states look alike, so that p = π(a) is best inside (0, 1).
#[test]
fn an_equilibrium_between_certain_policies() {
    let builder = Problem::builder()
        .states(["first", "second"])
        .actions(["a", "b"])
        .start("first", 1.0)
        .end("first", "a", 1.0, 0.0)
        .transition("first", "b", "second", 1.0, 0.0, 1.0)
        .end("second", "a", 1.0, 1.0)
        .end("second", "b", 1.0, 0.0);
    let task = task(builder, &[0, 0]);
    // d_μ = (2/3, 1/3), v = ((1 − p)p, p): J = (2p(1 − p) + p)/3 is largest at p = 3/4.
    let reached = limit(&task, &task.softmax(), &[0.0, 0.0], 1.0).unwrap();
    assert!(reached.settled && (reached.objective - 0.375).abs() < 1e-9, "{reached:?}");
    let p = 1.0 / (1.0 + (reached.weights[1] - reached.weights[0]).exp());
    assert!((p - 0.75).abs() < 1e-4, "{p}");
}

#[test]
fn a_plateau_is_not_taken_for_a_limit() {
    let task = Task::counterexample();
    for start in [[15.0, 0.0, -15.0, 0.0], [20.0, 0.0, -10.0, 0.0]] {
        let reached = limit(&task, &task.softmax(), &start, 1.0).unwrap();
        assert!(reached.settled && (reached.objective - 1.25).abs() < 1e-8, "{reached:?}");
    }
}

#[test]
fn rewards_of_any_size() {
    for size in [1e-9, 1.0, 1e9] {
        let builder = Problem::builder()
            .states(["only"])
            .actions(["a", "b"])
            .start("only", 1.0)
            .end("only", "a", 1.0, size)
            .end("only", "b", 1.0, -size);
        let task = task(builder, &[0]);
        let reached = limit(&task, &task.softmax(), &[0.0, 0.0], 0.5).unwrap();
        assert!(reached.settled && (reached.objective / size - 1.0).abs() < 1e-8, "{size}: {reached:?}");
    }
}

#[test]
fn nothing_to_gain() {
    let builder =
        Problem::builder().states(["only"]).actions(["a", "b"]).start("only", 1.0).end("only", "a", 1.0, 3.0);
    let task = task(builder.end("only", "b", 1.0, 3.0), &[0]);
    let reached = limit(&task, &task.softmax(), &[0.3, 0.0], 1.0).unwrap();
    assert!(reached.settled && (reached.objective - 3.0).abs() < 1e-12, "{reached:?}");
}

/// Staying pays for ever: the objective has no limit, and that is not an error of the caller's.
#[test]
fn an_objective_without_bound_does_not_settle() {
    let builder = Problem::builder()
        .states(["only"])
        .actions(["stay", "go"])
        .start("only", 1.0)
        .transition("only", "stay", "only", 1.0, 1.0, 1.0)
        .end("only", "go", 1.0, 0.0);
    let task = task(builder, &[0]);
    let reached = limit(&task, &task.softmax(), &[0.0, 0.0], 1.0).unwrap();
    assert!(!reached.settled && reached.objective > 1e6, "{reached:?}");
}

#[test]
fn lambda_a_must_be_a_fraction() {
    let task = Task::counterexample();
    for lambda_a in [-0.1, 1.5, f64::NAN] {
        let error = limit(&task, &task.softmax(), &[0.0; 4], lambda_a).unwrap_err();
        assert_eq!(error.to_string(), format!("lambda_a is {lambda_a}; it must lie between 0 and 1"));
    }
}

#[test]
fn interest_of_any_size() {
    let task = Task::counterexample();
    for interest in [1e-12, 1e-6, 1e6] {
        let task = task.clone().with_interest(vec![interest; 3]).unwrap();
        let reached = limit(&task, &task.softmax(), &[0.0; 4], 1.0).unwrap();
        assert!(
            reached.settled && (reached.objective / interest - 1.25).abs() < 1e-8,
            "{interest}: {reached:?}"
        );
    }
}

/// Once the first step was infinite where the slope is next to nothing, and no other was ever taken.
#[test]
fn a_policy_that_is_as_certain_as_can_be_has_arrived() {
    let task = Task::counterexample();
    for certain in [300.0, 360.0, 380.0, 800.0] {
        let reached = limit(&task, &task.softmax(), &[certain, -certain, certain, -certain], 1.0).unwrap();
        assert!(reached.settled && (reached.objective - 1.25).abs() < 1e-12, "{certain}: {reached:?}");
    }
}

/// Half of the episodes turn about a fast equilibrium inside (0, 1); the other half have a choice that starts on a plateau. Explicit
/// steps followed the first for ten thousand steps and took the second to have arrived.
#[test]
fn a_plateau_beside_a_fast_equilibrium_is_left() {
    let builder = Problem::builder()
        .states(["first", "second", "choice"])
        .actions(["a", "b"])
        .start("first", 0.5)
        .start("choice", 0.5)
        .end("first", "a", 1.0, 0.0)
        .transition("first", "b", "second", 1.0, 0.0, 1.0)
        .end("second", "a", 1.0, 1000.0)
        .end("second", "b", 1.0, 0.0)
        .end("choice", "a", 1.0, 1000.0)
        .end("choice", "b", 1.0, 0.0);
    let task = task(builder, &[0, 0, 1]);
    let start = [0.0, 0.0, -12.0, 12.0];
    let reached = limit(&task, &task.softmax(), &start, 1.0).unwrap();
    // The behaviour is in `first`, `second` and `choice` with 2/5, 1/5 and 2/5: J = 400 p(1 − p) + 200 p + 400.
    assert!(reached.settled && (reached.objective - (225.0 + 400.0)).abs() < 1e-5, "{reached:?}");
}
