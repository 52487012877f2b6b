//! Decision problems, their exact solutions and diagnoses.

use crate::error::{in_file, raised, wrong_value};
use crate::interrupts::{Chunks, Messages};
use crate::memory;
use emphatic::{Action, Exact, Fixed, KnownProblem, ProblemError, State, Step, Table, Task, Transition};
use emphatic_chart::Renderer;
use emphatic_diagnosis::{Options, Solution, diagnose, figure, solve};
use emphatic_problems::{ProblemFile, SHIPPED, Target};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

/// A decision problem with a behaviour, a target policy and an interest.
#[pyclass(frozen, subclass, module = "emphatic._native")]
pub(crate) struct Problem {
    pub(crate) file: Arc<ProblemFile>,
}

type Column<'py> = Bound<'py, PyArray1<f64>>;

/// A diagnosis as Python reads it.
#[derive(IntoPyObject)]
struct DiagnosisTexts {
    json: String,
    text: String,
    /// `None` if there is nothing to draw.
    svg: Option<String>,
    /// The experiment file that it suggests.
    experiment: Option<String>,
}

/// All transitions of a problem.
#[derive(IntoPyObject)]
struct TransitionColumns<'py> {
    state: Bound<'py, PyArray1<isize>>,
    action: Bound<'py, PyArray1<isize>>,
    next: Bound<'py, PyArray1<isize>>,
    probability: Column<'py>,
    reward: Column<'py>,
    gamma: Column<'py>,
}

#[pymethods]
impl Problem {
    /// Reads the text of a problem file; without it, the file at a path or a shipped problem by its name.
    #[new]
    #[pyo3(signature = (name, text=None))]
    fn new(py: Python<'_>, name: PathBuf, text: Option<String>) -> PyResult<Self> {
        let file = py.detach(|| match text {
            Some(text) => {
                ProblemFile::parse(&text, &name.display().to_string()).map_err(|error| in_file(&error))
            }
            None => ProblemFile::open(&name).map_err(raised),
        })?;
        Ok(Self { file: Arc::new(file) })
    }

    /// What it is called: a name or a path.
    #[getter]
    fn name(&self) -> &str {
        &self.file.name
    }

    /// The text of its file.
    #[getter]
    fn text(&self) -> &str {
        &self.file.text
    }

    /// The names of the states.
    #[getter]
    fn states(&self) -> Vec<String> {
        self.file.known.states().to_vec()
    }

    /// The names of the actions; none where the action is a real number.
    #[getter]
    fn actions(&self) -> Vec<String> {
        self.file.known.actions().to_vec()
    }

    /// The kind of the target, `softmax`, `fixed`, `gaussian` or `deterministic`, and its weights.
    #[pyo3(name = "_target")]
    fn target(&self, py: Python<'_>) -> (&'static str, Option<Py<PyArray1<f64>>>) {
        let target = &self.file.target;
        let has_weights = !matches!(target, Target::Fixed(_));
        (target.kind(), has_weights.then(|| PyArray1::from_slice(py, target.weights()).unbind()))
    }

    /// μ(a|s) [S, A]; with a real action, mean and standard deviation [S, 2].
    #[getter]
    fn behaviour<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows: Vec<Vec<f64>> = match &self.file.known {
            KnownProblem::Finite(task) => (0..task.states()).map(|s| task.behaviour(s).to_vec()).collect(),
            KnownProblem::Continuous(problem) => {
                let (mean, deviation) = problem.behaviour();
                vec![vec![mean, deviation]; self.file.known.states().len()]
            }
        };
        PyArray2::from_vec2(py, &rows).map_err(wrong_value)
    }

    /// With what probability episodes start in each state.
    #[getter]
    fn start<'py>(&self, py: Python<'py>) -> Column<'py> {
        let mut start = vec![0.0; self.file.known.states().len()];
        match &self.file.known {
            KnownProblem::Finite(task) => task.problem().start().iter().for_each(|&(s, p)| start[s] += p),
            KnownProblem::Continuous(_) => start[0] = 1.0,
        }
        PyArray1::from_vec(py, start)
    }

    /// i, by state.
    #[getter]
    fn interest<'py>(&self, py: Python<'py>) -> Column<'py> {
        PyArray1::from_slice(py, self.file.known.interest())
    }

    /// d_μ, by state.
    #[getter]
    fn stationary<'py>(&self, py: Python<'py>) -> Column<'py> {
        PyArray1::from_slice(py, self.file.known.stationary())
    }

    /// The features of the critic or of the actor: how many there are, and each state's active ones with their values.
    #[pyo3(name = "_features")]
    fn features(&self, critic: bool) -> (usize, Vec<Vec<(usize, f64)>>) {
        let known = &self.file.known;
        let table: Table = if critic { known.critic() } else { known.actor().clone() };
        (table.len(), (0..table.states()).map(|s| table.active(s).collect()).collect())
    }

    /// How many features the actor sees.
    #[pyo3(name = "_actor_len")]
    fn actor_len(&self) -> usize {
        self.file.known.actor().len()
    }

    /// All transitions, as columns.
    #[pyo3(name = "_transitions")]
    fn transition_columns<'py>(&self, py: Python<'py>) -> PyResult<TransitionColumns<'py>> {
        let task = self.finite()?;
        let mut rows = Vec::new();
        for (s, a) in (0..task.states()).flat_map(|s| (0..task.actions()).map(move |a| (s, a))) {
            rows.extend(task.problem().transitions(s, a).iter().map(|t| (s, a, t)));
        }
        let whole = |of: fn(&(usize, usize, &Transition)) -> usize| {
            PyArray1::from_iter(py, rows.iter().map(|row| of(row) as isize))
        };
        let real = |of: fn(&Transition) -> f64| PyArray1::from_iter(py, rows.iter().map(|(.., t)| of(t)));
        Ok(TransitionColumns {
            state: whole(|row| row.0),
            action: whole(|row| row.1),
            next: whole(|row| row.2.next),
            probability: real(|t| t.probability),
            reward: real(|t| t.reward),
            gamma: real(|t| t.gamma),
        })
    }

    /// Solves the problem exactly for the target, for other weights (of a Gaussian if there are two outputs for each feature), or for
    /// other probabilities.
    #[pyo3(name = "_solve")]
    fn solution<'py>(
        &self,
        py: Python<'py>,
        lambda_a: f64,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        outputs: usize,
        probabilities: Option<PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let file = self.with_target(weights, outputs, probabilities)?;
        let solution = py.detach(|| solve(&file, lambda_a, &[])).map_err(wrong_value)?;
        as_dict(py, &solution)
    }

    /// J_μ of the softmax, Gaussian or deterministic policy with these weights.
    #[pyo3(name = "_objective")]
    fn objective(&self, py: Python<'_>, weights: PyReadonlyArray1<'_, f64>, outputs: usize) -> PyResult<f64> {
        let weights = weights.as_slice()?;
        py.detach(|| match &self.file.known {
            KnownProblem::Finite(task) => {
                Exact::new(&**task, &task.softmax(), weights).map(|exact| exact.objective())
            }
            KnownProblem::Continuous(problem) if outputs == 2 => {
                Exact::new(&**problem, &problem.gaussian(), weights).map(|exact| exact.objective())
            }
            KnownProblem::Continuous(problem) => {
                Exact::new(&**problem, &problem.deterministic(), weights).map(|exact| exact.objective())
            }
        })
        .map_err(wrong_value)
    }

    /// Diagnoses the problem.
    #[pyo3(name = "_diagnose")]
    fn diagnosis(
        &self,
        py: Python<'_>,
        starts: Option<usize>,
        seed: u64,
        threads: Option<NonZeroUsize>,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<DiagnosisTexts> {
        let mut options = Options { starts, seed, ..Options::default() };
        options.threads = threads.map_or(options.threads, usize::from);
        let file = self.file.clone();
        let (sender, receiver) = mpsc::channel();
        // In a thread of its own, which need not be waited for after Ctrl-C. It stops when nobody receives its progress any more.
        let work = move || {
            let report = |done, all| match sender.send((done, all)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            let diagnosis = diagnose(&file, &options, &report)?;
            Ok(diagnosis.map(|diagnosis| (figure::figure(&file, &diagnosis), diagnosis)))
        };
        let unstarted = |error| PyRuntimeError::new_err(format!("no thread could be started: {error}"));
        let thread = std::thread::Builder::new().spawn(work).map_err(unstarted)?;
        let (mut messages, mut most) = (Messages::new(receiver), (0, 0));
        while let Some(reached) = messages.next(py, || progress.call1(most).map(drop))? {
            most = most.max(reached);
        }
        let ended = || PyRuntimeError::new_err("the diagnosis ended early");
        let diagnosis: Result<_, ProblemError> = thread.join().map_err(|_| ended())?;
        let (svg, diagnosis) = diagnosis.map_err(wrong_value)?.ok_or_else(ended)?;
        let json = serde_json::to_string(&diagnosis).map_err(wrong_value)?;
        let suggested = diagnosis.suggestion.as_ref();
        let experiment = suggested.map(|s| s.experiment(&self.file, "experiment.toml".as_ref()));
        Ok(DiagnosisTexts { json, text: diagnosis.text(), svg, experiment })
    }

    /// The columns of a batch of the behaviour's experience.
    #[pyo3(name = "_experience")]
    fn experience<'py>(
        &self,
        py: Python<'py>,
        steps: usize,
        seed: u64,
        run: u64,
    ) -> PyResult<Bound<'py, PyDict>> {
        match &self.file.known {
            KnownProblem::Finite(task) => {
                let number = |action| if let Action::Number(number) = action { number as isize } else { 0 };
                columns(py, &taken(py, task.stream(seed, run), steps)?, number)
            }
            KnownProblem::Continuous(problem) => {
                let real = |action| if let Action::Real(real) = action { real } else { 0.0 };
                columns(py, &taken(py, problem.stream(seed, run), steps)?, real)
            }
        }
    }
}

impl Problem {
    fn with_target(
        &self,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        outputs: usize,
        probabilities: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<ProblemFile> {
        let mut file = ProblemFile::clone(&self.file);
        if let Some(weights) = weights {
            let weights = weights.as_slice()?.to_vec();
            file.target = match &file.known {
                KnownProblem::Finite(_) => Target::Softmax(weights),
                KnownProblem::Continuous(_) if outputs == 2 => Target::Gaussian(weights),
                KnownProblem::Continuous(_) => Target::Deterministic(weights),
            };
        }
        if let Some(rows) = probabilities {
            let task = self.finite()?;
            let rows: Vec<Vec<f64>> = rows.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
            file.target = Target::Fixed(Fixed::new(task, &rows).map_err(wrong_value)?);
        }
        Ok(file)
    }

    fn finite(&self) -> PyResult<&Task> {
        match &self.file.known {
            KnownProblem::Finite(task) => Ok(task),
            KnownProblem::Continuous(_) => {
                Err(PyTypeError::new_err("this problem has a real action, not a list of them"))
            }
        }
    }
}

/// Returns a solution's numbers by their names.
fn as_dict<'py>(py: Python<'py>, solution: &Solution) -> PyResult<Bound<'py, PyDict>> {
    let array = |values: &[f64]| PyArray1::from_slice(py, values);
    let columns = solution.columns.iter().map(|column| (&column.name, array(&column.values)));
    let dict = PyDict::new(py);
    dict.set_item("policy", solution.policy)?;
    dict.set_item("objective", solution.objective)?;
    dict.set_item("columns", columns.into_py_dict(py)?)?;
    dict.set_item("text", solution.text(emphatic_diagnosis::solve::SHOWN))?;
    if let Some(gradients) = &solution.gradients {
        dict.set_item("weight_names", &gradients.names)?;
        dict.set_item("weights", array(&gradients.weights))?;
        dict.set_item("gradient", array(&gradients.gradient))?;
        dict.set_item("semi_gradient", array(&gradients.semi_gradient))?;
        dict.set_item("with_lambda_a", gradients.with_lambda_a.as_deref().map(array))?;
        dict.set_item("angle", gradients.angle)?;
        dict.set_item("angle_with_lambda_a", gradients.angle_with_lambda_a)?;
    }
    Ok(dict)
}

/// A step of a problem: its states are numbers.
type Numbered = Step<State<'static>, Action>;

/// Takes `count` steps of a stream, unless Ctrl-C interrupts it.
fn taken(
    py: Python<'_>,
    mut stream: impl Iterator<Item = Numbered> + Send,
    count: usize,
) -> PyResult<Vec<Numbered>> {
    // The steps and the columns made of them.
    let bytes = (size_of::<Numbered>() + 8 * 8) as f64 * count as f64;
    memory::check(bytes, || format!("experience of {count} steps"))?;
    let mut steps = Vec::with_capacity(count);
    for chunk in Chunks::new(count) {
        py.detach(|| steps.extend(stream.by_ref().take(chunk.len())));
        py.check_signals()?;
    }
    Ok(steps)
}

/// Returns steps as the columns of a batch.
fn columns<'py, N: numpy::Element>(
    py: Python<'py>,
    steps: &[Numbered],
    action: impl Fn(Action) -> N,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let number = |state| if let State::Number(number) = state { number as isize } else { 0 };
    let real = |of: fn(&Numbered) -> f64| PyArray1::from_iter(py, steps.iter().map(of));
    dict.set_item("x", PyArray1::from_iter(py, steps.iter().map(|step| number(step.state))))?;
    dict.set_item("action", PyArray1::from_iter(py, steps.iter().map(|step| action(step.action))))?;
    dict.set_item("reward", real(|step| step.reward))?;
    dict.set_item("x_next", PyArray1::from_iter(py, steps.iter().map(|step| number(step.next))))?;
    dict.set_item("mu", real(|step| step.mu))?;
    dict.set_item("gamma", real(|step| step.gamma))?;
    dict.set_item("gamma_next", real(|step| step.gamma_next))?;
    dict.set_item("interest", real(|step| step.interest))?;
    Ok(dict)
}

/// The name of each shipped problem, and what it is.
#[pyfunction]
pub(crate) fn shipped_problems() -> Vec<(&'static str, &'static str)> {
    SHIPPED.iter().map(|shipped| (shipped.name, shipped.about())).collect()
}

/// Renders a drawing as PNG.
#[pyfunction]
pub(crate) fn png<'py>(py: Python<'py>, svg: &str) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| Renderer::new().png(svg)).map_err(wrong_value)?;
    Ok(PyBytes::new(py, &bytes))
}
