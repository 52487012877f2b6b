//! `emphatic diagnose`.

use crate::arguments::DiagnoseArguments;
use crate::new::write_new;
use crate::output::{self, print, print_json, say};
use crate::progress::Display;
use crate::solve::unsolved;
use emphatic_chart::Renderer;
use emphatic_diagnosis::{Diagnosis, Options, figure};
use emphatic_problems::ProblemFile;
use miette::{IntoDiagnostic, miette};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

pub(crate) fn diagnose(arguments: &DiagnoseArguments) -> miette::Result<()> {
    let problem = ProblemFile::open(&arguments.file)?;
    let default = Options::default();
    let options = Options {
        starts: arguments.starts.map(|starts| starts as usize),
        seed: arguments.seed,
        threads: arguments.threads.map_or(default.threads, usize::from),
    };
    let mut display = Display::new(arguments.quiet);
    display.begin("following flows");
    let display = Mutex::new(display);
    let progress = |done: usize, all: usize| {
        if let Ok(mut display) = display.lock() {
            display.count(done, all, "flows");
        }
        ControlFlow::Continue(())
    };
    let diagnosis = emphatic_diagnosis::diagnose(&problem, &options, &progress);
    if let Ok(display) = display.lock() {
        display.clear();
    }
    let diagnosis = diagnosis.map_err(|error| unsolved(&problem, &error))?;
    let Some(diagnosis) = diagnosis else { return Ok(()) };
    match arguments.json {
        true => print_json(&diagnosis)?,
        false => print(&diagnosis.text())?,
    }
    if let Some(path) = &arguments.figure {
        draw(&problem, &diagnosis, path)?;
        say(&format!("{} is drawn.", output::path(path)));
    }
    if let Some(path) = &arguments.write {
        let suggestion = diagnosis.suggestion.as_ref();
        let suggestion = suggestion
            .ok_or_else(|| miette!("there is nothing to try: {}", diagnosis.why_no_suggestion()))?;
        write_new(path, &suggestion.experiment(&problem, path))?;
        let path = output::path(path);
        say(&format!("{path} is written. Try `emphatic run {path}`."));
    }
    Ok(())
}

fn draw(problem: &ProblemFile, diagnosis: &Diagnosis, path: &Path) -> miette::Result<()> {
    let svg = figure::figure(problem, diagnosis).ok_or_else(|| {
        miette!(
            help = "--starts 0 follows those from the given policy",
            "there is nothing to draw: the flows of this problem were not followed, or lead nowhere"
        )
    })?;
    let is_png = path.extension().is_some_and(|extension| extension == "png");
    let bytes = if is_png { Renderer::new().png(&svg).into_diagnostic()? } else { svg.into_bytes() };
    std::fs::write(path, bytes).map_err(|error| miette!("{} cannot be written: {error}", path.display()))
}
