//! `emphatic new`: writes a problem file to start from.

use crate::output::{self, print};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use emphatic_problems::{SHIPPED, shipped};
use miette::miette;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(crate) const EXAMPLES: &str = "\
The file is commented: change it to describe your own problem.

Examples:
  emphatic new counterexample               writes counterexample.toml
  emphatic new four-rooms --out maze.toml   a grid with walls to change";

#[derive(Args)]
pub(crate) struct NewArguments {
    /// Which problem
    #[arg(value_parser = PossibleValuesParser::new(SHIPPED.map(|s| PossibleValue::new(s.name).help(s.about()))))]
    problem: String,
    /// Where to write it, if not to PROBLEM.toml
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn new(arguments: &NewArguments) -> miette::Result<()> {
    let problem = &arguments.problem;
    let shipped = shipped::find(problem).ok_or_else(|| miette!("there is no problem `{problem}`"))?;
    if let Some(path) = arguments.out.as_ref().filter(|path| path.extension().is_some_and(|e| e == "json")) {
        return Err(miette!("the file is TOML; call it otherwise than {}", path.display()));
    }
    let path = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{problem}.toml")));
    write_new(&path, shipped.text)?;
    let (shown, path) = (output::path(&path), output::quoted(&path));
    print(&format!("{shown} is written. Try `emphatic solve {path}` and `emphatic diagnose {path}`.\n"))
}

/// Returns an error if a file that is to be written is there already, so that no long work is done in vain.
pub(crate) fn check_new(path: &Path) -> miette::Result<()> {
    if path.symlink_metadata().is_ok() { Err(already_there(path)) } else { Ok(()) }
}

fn already_there(path: &Path) -> miette::Report {
    miette!(
        help = "move it away, or choose another name",
        "{} is already there, and is left as it is",
        path.display()
    )
}

/// Writes a new file. An existing one is left alone, since the user may have changed it.
pub(crate) fn write_new(path: &Path, text: &str) -> miette::Result<()> {
    let shown = path.display();
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    match file.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(already_there(path)),
        Err(error) => Err(miette!("{shown} cannot be written: {error}")),
    }
}
