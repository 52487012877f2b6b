//! The rows of a unit while it is run.

use crate::measure::Measure;
use crate::table::Unit;
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// A row for each setting of a unit and each evaluation: settings in their order, evaluations within.
///
/// Numbers that are not finite are left empty, and so is everything of a run from where it has diverged.
pub(crate) struct Rows {
    evaluations: usize,
    /// How many episodes had ended, and how many steps were made, at each evaluation.
    episodes: Vec<u64>,
    steps: Vec<u64>,
    diverged: Vec<Option<u64>>,
    /// A list for each column.
    values: Vec<Vec<f64>>,
    weights: Vec<Vec<f64>>,
}

impl Rows {
    /// Room for so many settings and evaluations of these measures.
    pub(crate) fn new(settings: usize, evaluations: usize, measures: &[Arc<dyn Measure>]) -> Self {
        let rows = settings * evaluations;
        let values =
            |measure: &Arc<dyn Measure>| if measure.is_list() { Vec::new() } else { vec![f64::NAN; rows] };
        let weights = if measures.iter().any(|measure| measure.is_list()) { rows } else { 0 };
        Self {
            evaluations,
            episodes: Vec::with_capacity(evaluations),
            steps: Vec::with_capacity(evaluations),
            diverged: vec![None; rows],
            values: measures.iter().map(values).collect(),
            weights: vec![Vec::new(); weights],
        }
    }

    /// Notes where the stream is at the next evaluation.
    pub(crate) fn set_place(&mut self, episodes: u64, steps: u64) {
        self.episodes.push(episodes);
        self.steps.push(steps);
    }

    /// Notes whether a run has diverged; before its values are set.
    pub(crate) fn set_diverged(&mut self, setting: usize, evaluation: usize, step: Option<u64>) {
        self.diverged[setting * self.evaluations + evaluation] = step;
    }

    pub(crate) fn set(&mut self, column: usize, setting: usize, evaluation: usize, value: f64) {
        let row = setting * self.evaluations + evaluation;
        if self.diverged[row].is_none() {
            self.values[column][row] = value;
        }
    }

    pub(crate) fn set_list(&mut self, setting: usize, evaluation: usize, numbers: impl Iterator<Item = f64>) {
        let row = setting * self.evaluations + evaluation;
        if self.diverged[row].is_none() {
            self.weights[row].extend(numbers);
        }
    }

    /// How many settings had diverged at the end.
    pub(crate) fn diverged(&self) -> u32 {
        self.diverged.iter().skip(self.evaluations - 1).step_by(self.evaluations).flatten().count() as u32
    }

    /// The rows as a table.
    pub(crate) fn table(
        self,
        unit: Unit,
        settings: &[usize],
        names: &[String],
    ) -> Result<RecordBatch, ArrowError> {
        let evaluations = self.evaluations;
        let each_row = || settings.iter().flat_map(move |s| (0..evaluations).map(move |e| (*s as u32, e)));
        let rows = settings.len() * evaluations;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(each_row().map(|(setting, _)| setting))),
            Arc::new(UInt32Array::from_value(unit.run, rows)),
            Arc::new(UInt32Array::from_iter_values(each_row().map(|(_, e)| e as u32))),
            Arc::new(UInt64Array::from_iter_values(each_row().map(|(_, e)| self.episodes[e]))),
            Arc::new(UInt64Array::from_iter_values(each_row().map(|(_, e)| self.steps[e]))),
            Arc::new(UInt64Array::from(self.diverged)),
        ];
        for values in self.values {
            if values.is_empty() {
                let mut lists = ListBuilder::new(Float64Builder::new());
                for weights in &self.weights {
                    lists.values().append_slice(weights);
                    lists.append(!weights.is_empty());
                }
                columns.push(Arc::new(lists.finish()));
            } else {
                let finite = values.into_iter().map(|x| x.is_finite().then_some(x));
                columns.push(Arc::new(finite.collect::<Float64Array>()));
            }
        }
        RecordBatch::try_new(schema(names), columns)
    }
}

/// The columns of a table of results.
pub(crate) fn schema(names: &[String]) -> SchemaRef {
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
    let kind = |name: &String| if name == "weights" { list.clone() } else { DataType::Float64 };
    fields.extend(names.iter().map(|name| Field::new(name, kind(name), true)));
    Arc::new(Schema::new(fields))
}
