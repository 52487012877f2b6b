//! The rows of a unit: recorded while it is run, with the runs that diverged, then made into a table.

use crate::measure::Measure;
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// A row for each setting of a unit and each evaluation: settings in their order, evaluations within.
///
/// Numbers that are not finite are left empty, and so is everything of a run from where it has diverged.
pub(crate) struct Rows {
    evaluations: usize,
    /// The number of episodes that had ended, and of steps made, at each evaluation.
    episodes: Vec<u64>,
    steps: Vec<u64>,
    /// The step at which each run had diverged, if it had.
    diverged: Vec<Option<u64>>,
    columns: Vec<Values>,
}

/// The values of a column, row by row.
enum Values {
    Numbers(Vec<f64>),
    Lists(Vec<Vec<f64>>),
}

impl Rows {
    /// Makes room for this many settings and evaluations of these measures.
    pub(crate) fn new(settings: usize, evaluations: usize, measures: &[Arc<dyn Measure>]) -> Self {
        let rows = settings * evaluations;
        let values = |measure: &Arc<dyn Measure>| match measure.is_list() {
            true => Values::Lists(vec![Vec::new(); rows]),
            false => Values::Numbers(vec![f64::NAN; rows]),
        };
        Self {
            evaluations,
            episodes: Vec::with_capacity(evaluations),
            steps: Vec::with_capacity(evaluations),
            diverged: vec![None; rows],
            columns: measures.iter().map(values).collect(),
        }
    }

    /// Adds an evaluation after this many episodes and steps.
    pub(crate) fn add_evaluation(&mut self, episodes: u64, steps: u64) {
        self.episodes.push(episodes);
        self.steps.push(steps);
    }

    /// Records at which step a run diverged, if it did. This comes before its values.
    pub(crate) fn set_diverged(&mut self, setting: usize, evaluation: usize, step: Option<u64>) {
        self.diverged[setting * self.evaluations + evaluation] = step;
    }

    /// Records the value of a column: one number, or a list. A run that has diverged has none.
    pub(crate) fn set(
        &mut self,
        column: usize,
        setting: usize,
        evaluation: usize,
        mut numbers: impl Iterator<Item = f64>,
    ) {
        let row = setting * self.evaluations + evaluation;
        if self.diverged[row].is_some() {
            return;
        }
        match &mut self.columns[column] {
            Values::Numbers(values) => values[row] = numbers.next().unwrap_or(f64::NAN),
            Values::Lists(lists) => lists[row].extend(numbers),
        }
    }

    /// Returns how many settings had diverged at the end.
    pub(crate) fn diverged_runs(&self) -> u32 {
        self.diverged.iter().skip(self.evaluations - 1).step_by(self.evaluations).flatten().count() as u32
    }

    /// Returns the rows of this run as a table with these columns.
    pub(crate) fn into_table(
        self,
        run: u32,
        settings: &[usize],
        schema: SchemaRef,
    ) -> Result<RecordBatch, ArrowError> {
        let evaluations = self.evaluations;
        let each_row = || settings.iter().flat_map(move |s| (0..evaluations).map(move |e| (*s as u32, e)));
        let rows = settings.len() * evaluations;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(each_row().map(|(setting, _)| setting))),
            Arc::new(UInt32Array::from_value(run, rows)),
            Arc::new(UInt32Array::from_iter_values(each_row().map(|(_, e)| e as u32))),
            Arc::new(UInt64Array::from_iter_values(each_row().map(|(_, e)| self.episodes[e]))),
            Arc::new(UInt64Array::from_iter_values(each_row().map(|(_, e)| self.steps[e]))),
            Arc::new(UInt64Array::from(self.diverged)),
        ];
        columns.extend(self.columns.into_iter().map(Values::finish));
        RecordBatch::try_new(schema, columns)
    }
}

impl Values {
    fn finish(self) -> ArrayRef {
        match self {
            Self::Numbers(values) => {
                let finite = values.into_iter().map(|x| x.is_finite().then_some(x));
                Arc::new(finite.collect::<Float64Array>())
            }
            Self::Lists(values) => {
                let mut lists = ListBuilder::new(Float64Builder::new());
                for numbers in &values {
                    lists.values().append_slice(numbers);
                    lists.append(!numbers.is_empty());
                }
                Arc::new(lists.finish())
            }
        }
    }
}

/// Returns the columns of a table of results. Those of the measures have these names, and are lists or not.
pub(crate) fn schema<'a>(measured: impl Iterator<Item = (&'a str, bool)>) -> SchemaRef {
    let counts = [
        ("setting", DataType::UInt32, false),
        ("run", DataType::UInt32, false),
        ("evaluation", DataType::UInt32, false),
        ("episode", DataType::UInt64, false),
        ("step", DataType::UInt64, false),
        ("diverged_step", DataType::UInt64, true),
    ];
    let mut fields: Vec<Field> =
        counts.into_iter().map(|(name, kind, empty)| Field::new(name, kind, empty)).collect();
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::Float64, true)));
    let kind = |is_list: bool| if is_list { list.clone() } else { DataType::Float64 };
    fields.extend(measured.map(|(name, is_list)| Field::new(name, kind(is_list), true)));
    Arc::new(Schema::new(fields))
}
