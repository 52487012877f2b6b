//! Rollouts: how good a policy is, from episodes.

use crate::{Actor, Environment, Outcome};
use emphatic::{Action, Random};

/// After how many steps of all episodes it is asked whether they are to stop.
const ASK: usize = 4096;

/// How many episodes go on side by side: one waits for its own last step, not for those of others.
const WIDTH: usize = 16;

/// Episodes in an environment.
#[derive(Clone, Copy, Debug)]
pub struct Rollouts<'a> {
    /// Where.
    pub environment: &'a dyn Environment,
    /// After how many steps an episode is cut short.
    pub cap: u64,
    /// The discount of its return; 1 is none.
    pub gamma: f64,
}

/// What came of an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Episode {
    /// The sum of its rewards, discounted.
    pub total: f64,
    /// Its number of steps.
    pub steps: u64,
    /// Whether it ended, and was not cut short.
    pub is_over: bool,
}

/// An episode that goes on, by its number among those of all policies.
struct Running {
    number: usize,
    so_far: Episode,
    /// The discount of the next reward.
    discount: f64,
}

impl Rollouts<'_> {
    /// Lets each of an actor's policies act in this many episodes, and returns those of one policy after those of the other. `begin` writes the state in
    /// which an episode begins, and returns the random stream of everything that follows: they are the same for all policies.
    ///
    /// What comes of an episode does not depend on the others. Where it is to stop, those that go on are left as they are: zero.
    pub fn run(
        &self,
        actor: &mut dyn Actor,
        policies: usize,
        episodes: usize,
        begin: &mut dyn FnMut(usize, &mut [f64]) -> Random,
        is_stopped: &dyn Fn() -> bool,
    ) -> Vec<Episode> {
        let description = self.environment.description();
        let all = policies * episodes;
        let (numbers, width) = (description.state, WIDTH.min(all));
        let mut finished = vec![Episode::default(); all];
        let mut states = vec![0.0; width * numbers];
        let mut observations = vec![0.0; width * description.observations.len()];
        let mut actions = vec![Action::Number(0); width];
        let mut outcomes = vec![Outcome::default(); width];
        let (mut running, mut randoms) = (Vec::with_capacity(width), Vec::with_capacity(width));
        let mut acting = Vec::with_capacity(width);
        let (mut next, mut steps, mut stopped) = (0, 0, false);
        loop {
            while running.len() < width && next < all {
                let state = &mut states[running.len() * numbers..][..numbers];
                randoms.push(begin(next % episodes, state));
                acting.push(next / episodes);
                running.push(Running { number: next, so_far: Episode::default(), discount: 1.0 });
                next += 1;
            }
            let count = running.len();
            steps += count;
            if steps >= ASK {
                steps = 0;
                stopped = is_stopped();
            }
            if count == 0 || self.cap == 0 || stopped {
                return finished;
            }
            let observed = &mut observations[..count * description.observations.len()];
            self.environment.observe_all(&states[..count * numbers], observed);
            actor.act(&acting, observed, &mut randoms, &mut actions[..count]);
            let (states, outcomes) = (&mut states[..count * numbers], &mut outcomes[..count]);
            self.environment.step_all(states, &actions[..count], &mut randoms, outcomes);
            // From the last, so that the one that takes a place has been seen.
            for k in (0..count).rev() {
                let Running { number, so_far, discount } = &mut running[k];
                so_far.total += *discount * outcomes[k].reward;
                so_far.steps += 1;
                so_far.is_over = outcomes[k].is_over;
                *discount *= self.gamma;
                if so_far.is_over || so_far.steps >= self.cap {
                    finished[*number] = *so_far;
                    let last = running.len() - 1;
                    running.swap_remove(k);
                    randoms.swap_remove(k);
                    acting.swap_remove(k);
                    states.copy_within(last * numbers..(last + 1) * numbers, k * numbers);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CartPole, Environment, LinearQuadratic, MountainCar, PolicyActor, SoftmaxActor};
    use emphatic::{BasisRecipe, Gaussian, Isa, Policy, Softmax};

    /// Pushes with the velocity, as a good driver does.
    struct WithVelocity;

    impl Actor for WithVelocity {
        fn act(&mut self, _: &[usize], observations: &[f64], _: &mut [Random], actions: &mut [Action]) {
            for (observation, action) in observations.chunks_exact(2).zip(actions) {
                *action = Action::Number(if observation[1] < 0.0 { 0 } else { 2 });
            }
        }
    }

    fn start(environment: &dyn Environment) -> impl FnMut(usize, &mut [f64]) -> Random {
        |number, state| {
            let mut random = Random::new(7, number as u64);
            environment.start(state, &mut random);
            random
        }
    }

    #[test]
    fn a_good_driver_reaches_the_goal() {
        let rollouts = Rollouts { environment: &MountainCar, cap: 1000, gamma: 1.0 };
        let episodes = rollouts.run(&mut WithVelocity, 1, 100, &mut start(&MountainCar), &|| false);
        assert!(episodes.iter().all(|episode| episode.is_over && episode.total == -(episode.steps as f64)));
        let mean = episodes.iter().map(|episode| episode.total).sum::<f64>() / 100.0;
        // Between 110 and 130 steps, as is known.
        assert!((-130.0..-110.0).contains(&mean), "{mean}");
        let short =
            Rollouts { cap: 50, ..rollouts }
                .run(&mut WithVelocity, 1, 3, &mut start(&MountainCar), &|| false);
        assert!(short.iter().all(|e| *e == Episode { total: -50.0, steps: 50, is_over: false }));
        assert_eq!(
            Rollouts { cap: 0, ..rollouts }
                .run(&mut WithVelocity, 1, 2, &mut start(&MountainCar), &|| false)
                .len(),
            2
        );
    }

    /// Once nothing could stop episodes without an end.
    #[test]
    fn episodes_without_an_end_can_be_stopped() {
        struct Idle;
        impl Actor for Idle {
            fn act(&mut self, _: &[usize], _: &[f64], _: &mut [Random], actions: &mut [Action]) {
                actions.fill(Action::Number(1));
            }
        }
        let rollouts = Rollouts { environment: &MountainCar, cap: u64::MAX, gamma: 1.0 };
        let episodes = rollouts.run(&mut Idle, 1, 3, &mut start(&MountainCar), &|| true);
        assert_eq!(episodes, [Episode::default(); 3]);
    }

    #[test]
    fn an_episode_does_not_depend_on_those_beside_it() {
        let recipe =
            BasisRecipe::new("polynomial").with("low", [-1.0; 4]).with("high", [1.0; 4]).with("degree", 1.0);
        let policy = Softmax { features: recipe.build().unwrap(), actions: 2 };
        let weights = [0.7, 1.9].map(|f| (0..policy.len()).map(|k| (k as f64 * f).sin()).collect::<Vec<_>>());
        let rollouts = Rollouts { environment: &CartPole, cap: 200, gamma: 0.9 };
        let together = |actor: &mut dyn Actor| rollouts.run(actor, 2, 50, &mut start(&CartPole), &|| false);
        let episodes = together(&mut PolicyActor::new(policy.clone(), weights.to_vec(), 4));
        assert_eq!(episodes, together(&mut SoftmaxActor::new(policy.clone(), &weights, 4, Isa::best())));
        for (number, episode) in episodes.iter().enumerate() {
            let mut begin = start(&CartPole);
            let mut actor = PolicyActor::new(policy.clone(), vec![weights[number / 50].clone()], 4);
            let alone = rollouts.run(&mut actor, 1, 1, &mut |_, state| begin(number % 50, state), &|| false);
            assert_eq!(alone, [*episode]);
            // The sum of a geometric series: every reward is one.
            let right = (1.0 - 0.9_f64.powi(episode.steps as i32)) / 0.1;
            assert!((episode.total - right).abs() < 1e-12);
        }
        assert!(episodes.iter().any(|episode| episode.steps != episodes[0].steps));
        assert_ne!(episodes[..50], episodes[50..]);
    }

    #[test]
    fn the_value_of_a_linear_policy_is_that_of_the_closed_form() {
        let problem = LinearQuadratic::default();
        let (gamma, gain, standard_deviation) = (0.9, [1.0, 1.0], 0.3_f64);
        let right = problem.value_of(gain, standard_deviation, gamma).unwrap().of_start();
        let bounds = BasisRecipe::new("observation").with("low", [-1.0; 2]).with("high", [1.0; 2]);
        let policy = Gaussian { features: bounds.with("scale", "none").with("bias", true).build().unwrap() };
        // The mean is −gain · x; the deviation is softplus of the last weight, that of the bias.
        let weights = vec![-gain[0], 0.0, -gain[1], 0.0, 0.0, (standard_deviation.exp() - 1.0).ln()];
        let mut actor = PolicyActor::new(policy, vec![weights], 2);
        // 0.9^200 is nothing.
        let rollouts = Rollouts { environment: &problem, cap: 200, gamma };
        let episodes = rollouts.run(&mut actor, 1, 4000, &mut start(&problem), &|| false);
        let n = episodes.len() as f64;
        let mean = episodes.iter().map(|episode| episode.total).sum::<f64>() / n;
        let variance = episodes.iter().map(|episode| (episode.total - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert!((mean - right).abs() < 4.0 * (variance / n).sqrt(), "{mean} {right}");
    }
}
