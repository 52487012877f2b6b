//! The native module of the Python package `emphatic`.
//!
//! | concept | where |
//! |---|---|
//! | a learner | `learner` |
//! | what it is made of, as data | `settings` |
//! | an emphasis that is written in Python | `python_emphasis` |
//! | a batch of transitions | `batch` |
//! | many learners side by side in lanes | `sweep` |
//! | saved learners | `safetensors_file`, `safetensors_format_1` |
//! | functions over arrays \[time, batch\] | `arrays` |
//! | problems and exact theory | `problem` |
//! | experiments | `experiment` |
//! | errors as exceptions, too little memory, Ctrl-C | `error`, `memory`, `interrupts` |

#![forbid(unsafe_code)]

mod arrays;
mod batch;
mod error;
mod experiment;
mod interrupts;
mod learner;
mod memory;
mod problem;
mod python_emphasis;
mod safetensors_file;
mod safetensors_format_1;
mod settings;
mod sweep;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // NumPy is imported at its first use; a Ctrl-C just then would be a panic.
    module.py().import("numpy")?;
    numpy::PyArray1::<f64>::zeros(module.py(), 0, false);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("DivergedError", module.py().get_type::<error::DivergedError>())?;
    module.add("FileError", module.py().get_type::<error::FileError>())?;
    module.add_class::<learner::Learner>()?;
    module.add_class::<safetensors_file::SavedLearner>()?;
    module.add_class::<learner::Update>()?;
    module.add_class::<python_emphasis::PartStep>()?;
    module.add_class::<problem::Problem>()?;
    arrays::register(module)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(problem::shipped_problems, module)?)?;
    module.add_function(wrap_pyfunction!(problem::png, module)?)?;
    module.add_function(wrap_pyfunction!(safetensors_file::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::run, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::summary, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::check_table, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::read_table, module)?)?;
    Ok(())
}
