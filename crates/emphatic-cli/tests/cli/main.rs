//! Tests of the command, as a user calls it. They are one program, so that they are linked once.

mod common;
mod contract;
mod directories;
mod finalists;
mod guide;
mod help;
mod kill;
mod output;
mod plot;
mod problem_files;
mod python;
mod regressions;
mod reproduce;
mod sampled;
mod solve_parts;
mod summaries;
mod wrong_files;
mod wrong_problems;
