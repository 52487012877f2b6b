//! The native module of the Python package `emphatic`.
//!
//! | concept | where |
//! |---|---|
//! | a learner | `learner` |
//! | what it is made of, as data | `settings` |
//! | an emphasis that is written in Python | `python_emphasis` |
//! | features that are computed from observations | `basis` |
//! | environments, side by side | `simulator` |
//! | a batch of transitions | `batch` |
//! | the diagnosis of a batch | `sampled` |
//! | many learners side by side in lanes | `sweep` |
//! | saved learners | `safetensors_file`, `safetensors_format_1` |
//! | functions over arrays \[time, batch\] | `arrays` |
//! | problems and exact theory | `problem` |
//! | experiments | `experiment` |
//! | environments of Gymnasium in experiments | `gymnasium` |
//! | errors as exceptions, too little memory, Ctrl-C | `error`, `memory`, `interrupts` |

#![forbid(unsafe_code)]

mod arrays;
mod basis;
mod batch;
mod error;
mod experiment;
mod gymnasium;
mod interrupts;
mod learner;
mod memory;
mod problem;
mod python_emphasis;
mod safetensors_file;
mod safetensors_format_1;
mod sampled;
mod settings;
mod simulator;
mod sweep;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        arrays::{emphasis, lambda_returns, rho},
        basis::Basis,
        error::{DivergedError, FileError},
        experiment::{check_table, read_table, run, summary, workload},
        learner::{Learner, Update},
        problem::{Problem, png, shipped_problems},
        python_emphasis::PartStep,
        safetensors_file::{read_learner, write_file},
        sampled::diagnose_batch,
        simulator::{Simulator, simulators},
        sweep::sweep,
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // NumPy is imported at its first use; a Ctrl-C just then would be a panic.
        module.py().import("numpy")?;
        numpy::PyArray1::<f64>::zeros(module.py(), 0, false);
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
