//! The table of settings, `settings.parquet`.

use crate::experiment::{Cell, Experiment};
use crate::table;
use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

/// A column while it is filled.
enum Column {
    Text(StringBuilder),
    Number(Float64Builder),
}

impl Column {
    /// An empty column for cells of this type.
    fn for_cell(cell: &Cell) -> Self {
        match cell {
            Cell::Text(_) => Self::Text(StringBuilder::new()),
            Cell::Number(_) => Self::Number(Float64Builder::new()),
        }
    }

    fn push(&mut self, cell: Option<&Cell>) {
        match (self, cell) {
            (Self::Text(column), Some(Cell::Text(text))) => column.append_value(text),
            (Self::Text(column), _) => column.append_null(),
            (Self::Number(column), Some(Cell::Number(x))) => column.append_value(*x),
            (Self::Number(column), _) => column.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => Arc::new(column.finish()),
            Self::Number(column) => Arc::new(column.finish()),
        }
    }
}

/// Returns the bytes of the table with this label: a row for each setting, and a column for each value that any of them has.
pub(crate) fn encode(experiment: &Experiment, label: String) -> Result<Vec<u8>, ParquetError> {
    let mut columns: Vec<(&str, Column)> = Vec::new();
    for setting in experiment.first_of_each_kind() {
        for (name, cell) in experiment.cells(setting) {
            if !columns.iter().any(|(known, _)| *known == name) {
                columns.push((name, Column::for_cell(&cell)));
            }
        }
    }
    let settings = experiment.settings();
    for setting in 0..settings {
        let cells = experiment.cells(setting);
        for (name, column) in &mut columns {
            column.push(cells.iter().find(|(known, _)| known == name).map(|(_, cell)| cell));
        }
    }
    let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..settings as u32));
    let mut arrays = vec![("setting", numbers, false)];
    arrays.extend(columns.iter_mut().map(|(name, column)| (*name, column.finish(), true)));
    let batch = RecordBatch::try_from_iter_with_nullable(arrays)?;
    let label = KeyValue::new(table::EXPERIMENT.to_owned(), label);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![label]))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    let mut bytes = writer.into_inner()?;
    // The length of the footer and the magic word follow it.
    let end = bytes.len() - 8;
    table::order_by_type(&mut bytes[..end]);
    Ok(bytes)
}
