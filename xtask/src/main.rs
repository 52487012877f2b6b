//! The developer commands.

mod bench;
mod generate;
mod public_api;
mod python;
mod tables;
mod test;

use std::process::{Command, ExitCode};

const HELP: &str = "\
The developer commands of emphatic.

  cargo xtask test               install what the tests need, check formatting and lints, run all tests
  cargo xtask test --full        the same with PyTorch and 200 kills at random moments, and check the README's verdicts
                                 against a reproduction at full scale
  cargo xtask generate           write Python's classes, documentation and schema from the catalogue, and the listings of the public
                                 API from the sources; with --check, only say whether they are current
  cargo xtask wheel              build the Python package's wheel, install it into an environment of its own and test it there
  cargo xtask bench              nanoseconds an update: lanes against f64, Numba and JAX; exact solutions against SciPy and
                                 dense elimination; the Python package against Rust, NumPy and Numba; as ratios in one run
  cargo xtask bench --no-peers   the same without Numba, JAX and SciPy (they need 1 GB)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["test"] => test::test(false),
        ["test", "--full"] => test::test(true),
        ["generate"] => generate::generate(false),
        ["generate", "--check"] => generate::generate(true),
        ["wheel"] => python::wheel(),
        ["bench"] => bench::bench(true),
        ["bench", "--no-peers"] => bench::bench(false),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command to its end and shows what it prints.
fn run(command: &mut Command) -> Result<(), String> {
    println!("$ {}", shown(command));
    let status = command.status().map_err(|error| format!("{}: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", shown(command))) }
}

/// Runs a command to its end and gives what it printed.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{}: {error}", shown(command)))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}\n{}", shown(command), output.status, printed.trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", shown(command)))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The cargo that runs this.
fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The Python package's module is loaded by an interpreter and must not bring one along; maturin asks for the same.
    cargo.env("PYO3_BUILD_EXTENSION_MODULE", "1");
    cargo
}
