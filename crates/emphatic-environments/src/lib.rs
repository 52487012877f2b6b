//! Simulators: environments that can be acted in, though nobody can solve them exactly.
//!
//! | name | observed | actions | an episode |
//! |---|---|---|---|
//! | `mountain-car` | position, velocity | 3 | ends at the goal |
//! | `puddle-world` | two coordinates | 4 | ends at the goal |
//! | `virtual-office` | a view of 3 × 3 cells, 3 numbers each | 4 | ends at a hidden goal; cut short after 100 steps |
//! | `cart-pole` | position, angle and their velocities | 2 | ends when the pole falls |
//! | `acrobot` | cosine and sine of two angles, two velocities | 3 | ends when the tip is high |
//! | `pendulum` | cosine and sine of the angle, the velocity | a real number | never ends; cut short after 200 steps |
//! | `linear-quadratic` | position, velocity | a real number | never ends; cut short after 100 steps |
//!
//! An environment holds no state of its own: a state is a few numbers that the caller keeps, so that any number of episodes
//! can go on side by side. All randomness comes from the stream that the caller passes, and results are the same bits on
//! every machine.
//!
//! ```
//! use emphatic::{Action, Random};
//!
//! let car = emphatic_environments::find("mountain-car").expect("it is listed");
//! let mut random = Random::new(1, 0); // seed, run
//! let mut state = vec![0.0; car.description().state];
//! car.start(&mut state, &mut random);
//! let outcome = car.step(&mut state, Action::Number(2), &mut random);
//! assert_eq!((outcome.reward, outcome.is_over), (-1.0, false));
//!
//! let mut observation = vec![0.0; car.description().observations.len()];
//! car.observe(&state, &mut observation);
//! assert!(observation[0] < 0.0);
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod acrobot;
mod actor;
mod cart_pole;
mod environment;
mod linear_quadratic;
mod mountain_car;
mod pendulum;
mod puddle_world;
mod rollout;
mod side_by_side;
#[cfg(test)]
mod testing;
mod virtual_office;

pub use acrobot::Acrobot;
pub use actor::{Actor, PolicyActor, SoftmaxActor};
pub use cart_pole::CartPole;
pub use environment::{Actions, Description, Environment, Observed, Outcome};
pub use linear_quadratic::{LinearQuadratic, QuadraticValue};
pub use mountain_car::MountainCar;
pub use pendulum::Pendulum;
pub use puddle_world::PuddleWorld;
pub use rollout::{Episode, Rollouts};
pub use virtual_office::VirtualOffice;

use std::sync::Arc;

/// An environment in the list of all.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// What it is.
    pub description: &'static Description,
    /// Returns it.
    pub make: fn() -> Arc<dyn Environment>,
}

/// All environments.
pub static ENVIRONMENTS: [Listed; 7] = [
    Listed { description: &mountain_car::DESCRIPTION, make: || Arc::new(MountainCar) },
    Listed { description: &puddle_world::DESCRIPTION, make: || Arc::new(PuddleWorld) },
    Listed { description: &virtual_office::DESCRIPTION, make: || Arc::new(VirtualOffice) },
    Listed { description: &cart_pole::DESCRIPTION, make: || Arc::new(CartPole) },
    Listed { description: &acrobot::DESCRIPTION, make: || Arc::new(Acrobot) },
    Listed { description: &pendulum::DESCRIPTION, make: || Arc::new(Pendulum) },
    Listed { description: &linear_quadratic::DESCRIPTION, make: || Arc::new(LinearQuadratic::default()) },
];

/// Returns the environment of this name; `None` if there is none.
pub fn find(name: &str) -> Option<Arc<dyn Environment>> {
    ENVIRONMENTS.iter().find(|listed| listed.description.name == name).map(|listed| (listed.make)())
}
