//! The native module of the Python package `emphatic`.
//!
//! | concept | where |
//! |---|---|
//! | what a learner is made of, as data | `settings` |
//! | a learner of any kind | `learner` |
//! | emphases that are written in Python | `in_python` |
//! | batches of transitions | `columns` |
//! | many settings in lanes | `sweep` |
//! | learners on disk | `saved`, `former` |
//! | functions over arrays \[time, batch\] | `arrays` |
//! | problems and exact theory | `problem` |
//! | experiments | `experiment` |
//! | errors as exceptions, too little memory, Ctrl-C | `error`, `memory`, `waiting` |

#![forbid(unsafe_code)]

mod arrays;
mod columns;
mod error;
mod experiment;
mod former;
mod in_python;
mod learner;
mod memory;
mod problem;
mod saved;
mod settings;
mod sweep;
mod waiting;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // NumPy is looked up at its first use, and a Ctrl-C just then would be a panic.
    module.py().import("numpy")?;
    numpy::PyArray1::<f64>::zeros(module.py(), 0, false);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("DivergedError", module.py().get_type::<error::DivergedError>())?;
    module.add("FileError", module.py().get_type::<error::FileError>())?;
    module.add_class::<learner::Learner>()?;
    module.add_class::<learner::Ready>()?;
    module.add_class::<learner::Update>()?;
    module.add_class::<in_python::PartStep>()?;
    module.add_class::<problem::Problem>()?;
    arrays::register(module)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(problem::shipped_problems, module)?)?;
    module.add_function(wrap_pyfunction!(problem::png, module)?)?;
    module.add_function(wrap_pyfunction!(saved::write_file, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::run, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::summary, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::check_table, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::read_table, module)?)?;
    Ok(())
}
