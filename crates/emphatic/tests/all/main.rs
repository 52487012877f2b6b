//! Tests of the whole library, in one binary: linking it once is much faster than once for each file.

#[macro_use]
mod every_learner;
mod recipe_case;
mod reference;

mod actor_identities;
mod bindings;
mod bits;
mod catalogue;
mod episodes;
mod limits;
mod own_emphasis;
mod readme;
mod reference_actors;
mod reference_critics;
mod reference_emphases;
mod refusals;
mod states;
mod worked_steps;
