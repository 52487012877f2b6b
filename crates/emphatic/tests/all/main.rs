//! Tests of the whole library, in one binary: linking it once is much faster than once for each file.

#[macro_use]
mod every_learner;
mod common;
mod recipe_case;

mod bindings;
mod bits;
mod brute_force;
mod catalogue;
mod episodes;
mod exact_values;
mod flow;
mod gradient;
mod own_emphasis;
mod readme;
mod refusals;
mod states;
mod trace;
mod worked_steps;
