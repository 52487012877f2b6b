//! `emphatic diagnose` of a simulator, by sampling.

use super::DiagnoseArguments;
use crate::new::{check_new, write_new};
use crate::output::{self, print, print_json, say};
use clap::Args;
use emphatic_diagnosis::sampled::FEWEST_STEPS;
use emphatic_diagnosis::{Experience, SampledDiagnosis, diagnose_experience};
use emphatic_environments::ENVIRONMENTS;
use emphatic_lab::{Experiment, Simulated, SimulatedArguments};
use emphatic_problems::{SHIPPED, ValueError, shipped, suggest};
use miette::{MietteDiagnostic, miette};
use std::path::Path;

/// The most steps: all of them are kept.
const MOST_STEPS: u64 = 1_000_000;

/// What is said of a simulator.
#[derive(Args)]
#[command(next_help_heading = "Of a simulator")]
pub(crate) struct SimulatorArguments {
    /// The features of what is observed: a basis with its settings, as in tiles,tilings=8,tiles=8,bias=true
    #[arg(long, value_name = "BASIS")]
    features: Option<String>,
    /// The discount, if not 0.99
    #[arg(long, value_name = "X")]
    gamma: Option<f64>,
    /// How many steps are sampled
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(FEWEST_STEPS as u64..=MOST_STEPS))]
    steps: u64,
    /// The behaviour, if not uniform: left=0.2,right=0.8, or mean=0,standard_deviation=1 of a real action
    #[arg(long, value_name = "POLICY")]
    behaviour: Option<String>,
    /// A target to ask about, written as a behaviour; left out, the policies that always take one action
    #[arg(long, value_name = "POLICY")]
    target: Option<String>,
}

impl SimulatorArguments {
    /// The name of one that was given.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("--features", self.features.is_some()),
            ("--gamma", self.gamma.is_some()),
            ("--behaviour", self.behaviour.is_some()),
            ("--target", self.target.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// Returns the simulator that the arguments name, or that of the experiment file that they name; `None` if they name a problem.
pub(super) fn simulated(arguments: &DiagnoseArguments) -> miette::Result<Option<Simulated>> {
    let (file, own) = (&arguments.file, &arguments.simulator);
    let name = file.to_string_lossy();
    if file.is_file() {
        let experiment = is_experiment(file).then(|| Experiment::open(file)).transpose()?;
        let found = experiment.as_ref().map(|experiment| Simulated::of_experiment(experiment).transpose());
        let found = found.transpose().map_err(refused)?;
        return match (found, own.given()) {
            (Some(None), _) => Err(wrong(
                format!("the experiment {} has no simulator", output::path(file)),
                "give its problem: emphatic diagnose PROBLEM",
            )),
            (Some(_), Some(flag)) if flag != "--target" => {
                Err(wrong(format!("{} says it itself: leave {flag} out", output::path(file)), ""))
            }
            (None, Some(flag)) => Err(only_simulators(flag)),
            (found, _) => Ok(found.flatten()),
        };
    }
    if name.starts_with("gymnasium:") {
        return Err(wrong(
            format!("`{name}` lives in Python"),
            "collect steps there, and diagnose them: emphatic.diagnose(emphatic.collect(...), features)",
        ));
    }
    if emphatic_environments::find(&name).is_some() && own.features.is_none() {
        return Err(wrong(
            format!("`{name}` is a simulator and needs --features of what is observed"),
            "--features tiles,tilings=8,tiles=8,bias=true, or another basis: `emphatic parts` lists them",
        ));
    }
    let described = SimulatedArguments {
        features: own.features.as_deref().unwrap_or_default(),
        gamma: own.gamma,
        behaviour: own.behaviour.as_deref(),
    };
    match (Simulated::named(&name, &described), own.given()) {
        (Some(found), _) => Ok(Some(found.map_err(refused)?)),
        (None, Some(flag)) if shipped::find(&name).is_some() => Err(only_simulators(flag)),
        (None, flag) if shipped::find(&name).is_none() => {
            let simulators = ENVIRONMENTS.iter().map(|listed| listed.description.name);
            let problems = SHIPPED.iter().map(|shipped| shipped.name).filter(|_| flag.is_none());
            let help = suggest(&name, simulators.chain(problems)).unwrap_or_default();
            match help.starts_with("did you mean") || flag.is_some() {
                true => {
                    Err(wrong(format!("there is no simulator `{name}`, and no such file or problem"), &help))
                }
                false => Ok(None), // The reader of problems knows better what to say.
            }
        }
        _ => Ok(None),
    }
}

fn only_simulators(flag: &str) -> miette::Report {
    wrong(format!("{flag} is for simulators, and this is a problem, which has its own"), "")
}

/// Whether a file is an experiment: problems have no methods.
fn is_experiment(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // Not parsed: a file with a mistake is an experiment, too.
    let begins = |line: &str| line.replace([' ', '\t'], "");
    text.lines().map(begins).any(|line| line.starts_with("[[method]]") || line.starts_with("method="))
}

pub(super) fn diagnose(arguments: &DiagnoseArguments, simulated: &Simulated) -> miette::Result<()> {
    refuse_flags_of_problems(arguments)?;
    if let Some(path) = &arguments.write {
        if arguments.file.is_file() {
            return Err(wrong(
                format!("--write writes an experiment, and {} is one already", output::path(&arguments.file)),
                "leave --write out; or give the simulator by its name, with --features, for an experiment of what is suggested",
            ));
        }
        let has_a_directory = path.parent().is_some_and(|parent| !parent.as_os_str().is_empty());
        if has_a_directory && simulated.names_files() {
            return Err(wrong(
                format!("{} would look for the saved policy beside itself", output::path(path)),
                "write it to the directory that you are in, from which the policy's path is",
            ));
        }
        check_new(path)?;
    }
    let recorded = simulated
        .record(arguments.simulator.steps as usize, arguments.seed)
        .map_err(|error| miette!("{error}"))?;
    let target = arguments.simulator.target.as_ref().map(|text| simulated.target(text, &recorded));
    let target = target.transpose().map_err(refused)?;
    let (steps, name) = (recorded.steps(), simulated.name().to_owned());
    let features = simulated.features().ok_or_else(|| miette!("the simulator has no features"))?;
    let experience = Experience { name, steps: &steps, features, actions: simulated.actions(), target };
    let diagnosis = diagnose_experience(&experience).map_err(|error| miette!("{error}"))?;
    match arguments.json {
        true => print_json(&diagnosis)?,
        false => print(&diagnosis.text())?,
    }
    arguments.write.as_ref().map_or(Ok(()), |path| write_experiment(path, simulated, &diagnosis))
}

fn refuse_flags_of_problems(arguments: &DiagnoseArguments) -> miette::Result<()> {
    let given = [("--starts", arguments.starts.is_some()), ("--figure", arguments.figure.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(wrong(
            format!("{flag} is about flows, which no one can follow in a simulator"),
            "leave it out",
        )),
        None => Ok(()),
    }
}

fn write_experiment(path: &Path, simulated: &Simulated, diagnosis: &SampledDiagnosis) -> miette::Result<()> {
    write_new(path, &diagnosis.experiment(simulated.written()))?;
    say(&format!("{} is written. Try `emphatic run {}`.", output::path(path), output::quoted(path)));
    Ok(())
}

fn refused(error: ValueError) -> miette::Report {
    wrong(error.message, &error.help.unwrap_or_default())
}

fn wrong(message: String, help: &str) -> miette::Report {
    let diagnostic = MietteDiagnostic::new(message);
    if help.is_empty() { diagnostic.into() } else { diagnostic.with_help(help).into() }
}
