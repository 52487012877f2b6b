//! The README's ten lines are compiled and run.

use crate::every_learner::step;
use emphatic::Step;
use std::error::Error;

fn ten_lines(experience: Vec<Step<[f64; 3], usize>>) -> Result<Vec<f64>, Box<dyn Error>> {
    use emphatic::{Features, Gtd, Learner, Softmax, ace};

    let policy = Softmax { features: Features::dense(3), actions: 2 };
    let critic = Gtd::builder(Features::dense(3)).alpha_v(0.05).alpha_w(1e-4).lambda(0.5).build()?;
    let mut learner = ace(policy, critic).alpha(0.1).build()?;
    for step in experience {
        // Step { state, action, mu, reward, next, gamma, gamma_next, interest }
        learner.step(&step)?;
    }
    Ok(learner.weights().to_vec())
}

/// Once they named a type that was no longer there.
#[test]
fn the_readme_has_these_lines() {
    let readme = include_str!("../../../../README.md");
    let (_, block) = readme.split_once("```rust\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let here: Vec<&str> = include_str!("readme.rs").lines().map(str::trim).collect();
    let there: Vec<&str> = block.lines().map(str::trim).collect();
    assert!(here.windows(there.len()).any(|window| window == there), "{block}");
}

#[test]
fn they_learn() {
    let step = Step { mu: 0.75, reward: 2.0, ..step([1.0, 0.2, 0.0], 1, [1.0, 0.0, 0.4]) };
    let weights = ten_lines(vec![step]).unwrap();
    assert!(weights[1] > 0.0 && weights[0] < 0.0, "{weights:?}");
}
