//! The counterexample: from the same near-optimal policy and the same experience, OffPAC walks away and ACE stays.
//!
//! Run with `cargo run --release --example counterexample`.

use emphatic::theory::{best_attainable, limit};
use emphatic::{Exact, ExactCritic, Learner, ProblemError, Softmax, Task, follow_on_ace, off_pac};
use std::error::Error;
use std::sync::Arc;

const EPISODES: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let task = Arc::new(Task::counterexample());
    let policy = task.softmax();
    // A0 with probability 0.9 in every state.
    let start = vec![9f64.ln(), 0.0, 9f64.ln(), 0.0];

    println!("Three states; S1 and S2 look the same to the actor.");
    println!("  S0: A0 leads to S1, A1 leads to S2.   S1 pays 2 for A0.   S2 pays 1 for A1.");
    println!("  The behaviour takes A1 three times out of four, so S2 is seen three times as often as S1.\n");
    println!(
        "The best policy under this aliasing always takes A0. Both learners start near it, and learn from"
    );
    println!("the same experience with exact values. J is the paper's objective.\n");

    let critic = || ExactCritic::new(task.clone(), &policy);
    let mut semi = off_pac(policy.clone(), critic()?).alpha(0.1).build()?.with_weights(start.clone())?;
    let mut full = follow_on_ace(policy.clone(), critic()?)
        .lambda_a(1.0)
        .alpha(0.1)
        .build()?
        .with_weights(start.clone())?;

    println!("             OffPAC (semi-gradient)    ACE (gradient)");
    println!("  episode      J      A0 if aliased      J      A0 if aliased");
    let mut stream = task.stream(1, 0);
    for episode in 0..=EPISODES {
        if episode % 250 == 0 {
            let [semi, full] =
                [summary(&task, &policy, semi.weights())?, summary(&task, &policy, full.weights())?];
            println!(
                "  {episode:>7}   {:.3}       {:.3}         {:.3}       {:.3}",
                semi.0, semi.1, full.0, full.1
            );
        }
        for step in stream.by_ref() {
            semi.step(&step)?;
            full.step(&step)?;
            if step.gamma_next == 0.0 {
                break;
            }
        }
    }

    println!("\nWhat theory says of expected updates from this start:");
    println!("  the semi-gradient ends at J = {:.3}", limit(&*task, &policy, &start, 0.0)?.objective);
    println!("  the gradient ends at      J = {:.3}", limit(&*task, &policy, &start, 1.0)?.objective);
    println!("  the best attainable is    J = {:.3}", best_attainable(&*task, &policy, 8, 1)?.objective);
    Ok(())
}

/// J_μ, and the probability of A0 in the aliased states.
fn summary(task: &Task, policy: &Softmax, weights: &[f64]) -> Result<(f64, f64), ProblemError> {
    let exact = Exact::new(task, policy, weights)?;
    Ok((exact.objective(), exact.probabilities()[1][0]))
}
