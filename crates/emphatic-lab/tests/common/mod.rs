//! Helpers that tests share.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use emphatic_lab::{Cell, Experiment, Options, Stop, run};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use tempfile::TempDir;

/// Reads an experiment and runs it in one thread; its results are in the directory.
pub(crate) fn results(text: &str) -> TempDir {
    let experiment = Experiment::parse(text, "experiment.toml", Path::new(""))
        .unwrap_or_else(|error| panic!("{error:?} in\n{text}"));
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.threads = 1;
    run(&experiment, dir.path(), &options, &Stop::default(), &mut |_event| {})
        .unwrap_or_else(|error| panic!("{error} in\n{text}"));
    dir
}

/// Returns the table of settings: the cells of each setting by column.
pub(crate) fn settings(dir: &Path) -> Vec<BTreeMap<String, Cell>> {
    let file = File::open(dir.join("settings.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut settings = Vec::new();
    for batch in batches.map(Result::unwrap) {
        for row in 0..batch.num_rows() {
            let schema = batch.schema();
            let columns =
                schema.fields().iter().zip(batch.columns()).filter(|(_, array)| array.is_valid(row));
            let cell = |array: &dyn Array| match array.as_primitive_opt::<Float64Type>() {
                Some(numbers) => Some(Cell::Number(numbers.value(row))),
                None => array.as_string_opt::<i32>().map(|texts| Cell::Text(texts.value(row).to_owned())),
            };
            settings.push(columns.filter_map(|(field, a)| Some((field.name().clone(), cell(a)?))).collect());
        }
    }
    settings
}
