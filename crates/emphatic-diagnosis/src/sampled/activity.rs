//! Activity: which features does the experience see, and how large are they?

use super::Experience;
use emphatic::Scratch;
use serde::Serialize;

/// The features that states have.
#[derive(Clone, Debug, Serialize)]
pub struct Activity {
    /// How many features there are.
    pub features: usize,
    /// How many of them are never other than zero.
    pub never_active: usize,
    /// How many are other than zero in a state, on average.
    pub mean_active: f64,
    /// The largest number of them in one state by which step-sizes are divided.
    pub most_active: usize,
    /// The mean of ‖x‖².
    pub mean_square_norm: f64,
    /// The largest size of a feature.
    pub largest: f64,
    /// The features that are active, by their numbers.
    #[serde(skip)]
    pub(super) active: Vec<usize>,
}

pub(super) fn activity(experience: &Experience) -> Activity {
    let features = experience.features;
    let mut is_active = vec![false; features.len()];
    let (mut active, mut squares, mut largest) = (0_u64, 0.0, 0.0_f64);
    let mut scratch = features.scratch();
    for step in experience.steps {
        for (j, x) in features.row(step.state, &mut scratch).iter().filter(|(_, x)| *x != 0.0) {
            is_active[j] = true;
            active += 1;
            squares += x * x;
            largest = largest.max(x.abs());
        }
    }
    // Where an episode is cut short, the last state is seen only as the next one.
    let mut scratch = Scratch::default();
    for step in experience.steps.iter().filter(|step| step.gamma_next > 0.0) {
        features
            .row(step.next, &mut scratch)
            .iter()
            .filter(|(_, x)| *x != 0.0)
            .for_each(|(j, _)| is_active[j] = true);
    }
    let count = experience.steps.len() as f64;
    let active_ones: Vec<usize> = (0..features.len()).filter(|j| is_active[*j]).collect();
    Activity {
        features: features.len(),
        never_active: features.len() - active_ones.len(),
        mean_active: active as f64 / count,
        most_active: features.most_active(),
        mean_square_norm: squares / count,
        largest,
        active: active_ones,
    }
}
