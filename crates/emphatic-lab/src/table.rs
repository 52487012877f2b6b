//! Result tables: Parquet files in which each row group is a finished unit of an experiment.
//!
//! Any Parquet reader opens them. Three entries of their metadata are ours: `emphatic.experiment` labels a table with its experiment
//! and says which of its tables it is; `emphatic.units` lists the unit of each row group as `[block, run, diverged, checksum]`; and
//! `emphatic.checksum` is the checksum of the footer itself. Row groups follow each other without gaps, so every byte of a file is
//! covered by a checksum and any change is detected.

mod seal;

pub(crate) use seal::order_by_type;

use crate::atomic_file::AtomicFile;
use crate::store::StoreError;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use bytes::{Buf, Bytes};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{
    ArrowSchemaConverter, ArrowWriter, ProjectionMask, add_encoded_arrow_schema_to_metadata,
};
use parquet::basic::{Compression, Type as PhysicalType};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;
use seal::{Footer, Input, MAGIC, checksum, read_range};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::num::ParseIntError;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The key of the label in a table's metadata.
pub(crate) const EXPERIMENT: &str = "emphatic.experiment";
const UNITS: &str = "emphatic.units";
/// What messages say in place of a path.
const IN_MEMORY: &str = "a unit in memory";

/// A piece of an experiment that is run and stored as a whole. Units order by block, then by run: the order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unit {
    /// The block of settings.
    pub block: u32,
    /// The run of these settings.
    pub run: u32,
}

/// An entry of `emphatic.units`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(into = "(u32, u32, u32, String)", try_from = "(u32, u32, u32, String)")]
struct Entry {
    unit: Unit,
    /// How many of the unit's runs diverged.
    diverged: u32,
    /// The checksum of the row group.
    checksum: u64,
}

impl From<Entry> for (u32, u32, u32, String) {
    fn from(Entry { unit, diverged, checksum }: Entry) -> Self {
        (unit.block, unit.run, diverged, format!("{checksum:016x}"))
    }
}

impl TryFrom<(u32, u32, u32, String)> for Entry {
    type Error = ParseIntError;

    fn try_from((block, run, diverged, checksum): (u32, u32, u32, String)) -> Result<Self, ParseIntError> {
        let checksum = u64::from_str_radix(&checksum, 16)?;
        Ok(Entry { unit: Unit { block, run }, diverged, checksum })
    }
}

/// A row group in memory, ready to be written.
struct RowGroup {
    entry: Entry,
    metadata: RowGroupMetaData,
    bytes: Slice,
}

/// A finished unit, encoded as the row group that it is in any table.
pub struct EncodedUnit {
    schema: SchemaRef,
    group: RowGroup,
}

impl EncodedUnit {
    /// The unit.
    pub fn unit(&self) -> Unit {
        self.group.entry.unit
    }
}

/// Encodes the rows of a finished unit; `diverged` is the number of its runs that diverged. Equal rows become equal bytes.
pub fn encode(unit: Unit, diverged: u32, rows: &RecordBatch) -> Result<EncodedUnit, StoreError> {
    if rows.num_rows() == 0 {
        return Err(StoreError::NoRows { unit });
    }
    encode_rows(unit, diverged, rows).map_err(StoreError::parquet(Path::new(IN_MEMORY)))
}

fn encode_rows(unit: Unit, diverged: u32, rows: &RecordBatch) -> Result<EncodedUnit, ParquetError> {
    let schema = without_metadata(&rows.schema());
    let properties = properties(&ArrowSchemaConverter::new().convert(&schema)?);
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
    writer.write(&RecordBatch::try_new(schema.clone(), rows.columns().to_vec())?)?;
    writer.flush()?;
    writer.sync()?;
    let [metadata] = writer.flushed_row_groups() else {
        return Err(ParquetError::General("a unit must be one row group".to_owned()));
    };
    let bytes = Bytes::copy_from_slice(&writer.inner()[MAGIC.len()..]);
    let group = RowGroup {
        entry: Entry { unit, diverged, checksum: checksum(&bytes) },
        metadata: metadata.clone(),
        bytes: Slice { start: MAGIC.len() as u64, bytes },
    };
    Ok(EncodedUnit { schema, group })
}

/// The schema alone: the metadata of a file is no property of its columns.
fn without_metadata(schema: &Schema) -> SchemaRef {
    Arc::new(Schema::new(schema.fields().clone()))
}

fn properties(columns: &SchemaDescriptor) -> WriterProperties {
    let builder = WriterProperties::builder()
        .set_created_by(concat!("emphatic-lab version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // An index would be bytes that no checksum covers.
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None);
    // Measured values hardly ever repeat.
    let values = columns.columns().iter().filter(|c| c.physical_type() == PhysicalType::DOUBLE);
    values.fold(builder, |builder, c| builder.set_column_dictionary_enabled(c.path().clone(), false)).build()
}

/// Writes a table of these units, in this order, with this label; no file if there are no units. The file appears whole or not
/// at all.
pub fn write(label: &str, units: Vec<EncodedUnit>, to: &Path) -> Result<(), StoreError> {
    let Some(schema) = units.first().map(|first| first.schema.clone()) else { return Ok(()) };
    for unit in &units {
        check_columns(&unit.schema, Path::new(IN_MEMORY), &schema, to)?;
    }
    write_groups(label, &schema, units.into_iter().map(|unit| Ok(unit.group)), to)
}

/// Writes a table with copies of units of other tables, in this order, with this label. They are verified and copied as they
/// are, so that equal units have equal bytes, wherever they were. The file appears whole or not at all.
pub fn copy(label: &str, units: &[StoredUnit], schema: &Schema, to: &Path) -> Result<(), StoreError> {
    for StoredUnit { table, .. } in units {
        if table.label != label {
            return Err(StoreError::OtherTable { path: table.path.clone(), beside: to.to_owned() });
        }
        check_columns(&table.schema, &table.path, schema, to)?;
    }
    write_groups(label, schema, units.iter().map(StoredUnit::row_group), to)
}

fn check_columns(found: &Schema, path: &Path, expected: &Schema, to: &Path) -> Result<(), StoreError> {
    if found.fields() == expected.fields() {
        return Ok(());
    }
    Err(StoreError::OtherColumns {
        path: path.to_owned(),
        to: to.to_owned(),
        found: columns(found),
        expected: columns(expected),
    })
}

/// The columns of a table, as messages show them.
fn columns(schema: &Schema) -> String {
    let column = |field: &Arc<arrow_schema::Field>| {
        format!("{}: {}{}", field.name(), field.data_type(), if field.is_nullable() { "?" } else { "" })
    };
    schema.fields().iter().map(column).collect::<Vec<_>>().join(", ")
}

fn write_groups(
    label: &str,
    schema: &Schema,
    groups: impl Iterator<Item = Result<RowGroup, StoreError>>,
    to: &Path,
) -> Result<(), StoreError> {
    let (failed, disk) = (StoreError::parquet(to), StoreError::on("write", to));
    let mut out = AtomicFile::create(to).map_err(&disk)?;
    let columns = ArrowSchemaConverter::new().convert(schema).map_err(&failed)?;
    let mut properties = properties(&columns);
    add_encoded_arrow_schema_to_metadata(&without_metadata(schema), &mut properties);
    let mut writer = SerializedFileWriter::new(&out.file, columns.root_schema_ptr(), Arc::new(properties))
        .map_err(&failed)?;
    let mut entries = Vec::new();
    for group in groups {
        let group = group?;
        append(&mut writer, &group).map_err(&failed)?;
        entries.push(group.entry);
    }
    for pair in our_metadata(label, &entries).map_err(&failed)? {
        writer.append_key_value_metadata(pair);
    }
    writer.finish().map_err(&failed)?;
    drop(writer);
    seal::seal(&mut out.file).map_err(&disk)?;
    out.commit().map_err(&disk)
}

fn append(writer: &mut SerializedFileWriter<&File>, group: &RowGroup) -> Result<(), ParquetError> {
    let mut copy = writer.next_row_group()?;
    for column in group.metadata.columns() {
        let close = ColumnCloseResult {
            bytes_written: u64::try_from(column.compressed_size())?,
            rows_written: u64::try_from(group.metadata.num_rows())?,
            // A table that was read has no statistics of encodings: without them, where a unit comes from makes no difference.
            metadata: column.clone().into_builder().clear_page_encoding_stats().build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        copy.append_column(&group.bytes, close)?;
    }
    copy.close().map(drop)
}

fn our_metadata(label: &str, entries: &[Entry]) -> Result<[KeyValue; 3], ParquetError> {
    let units = serde_json::to_string(entries).map_err(|e| ParquetError::External(Box::new(e)))?;
    Ok([
        KeyValue::new(EXPERIMENT.to_owned(), label.to_owned()),
        KeyValue::new(UNITS.to_owned(), units),
        KeyValue::new(seal::KEY.to_owned(), seal::blank()),
    ])
}

/// An open Parquet file whose row groups are units.
pub struct Table {
    path: PathBuf,
    input: Mutex<Box<dyn Input>>,
    metadata: ArrowReaderMetadata,
    schema: SchemaRef,
    label: String,
    groups: Vec<Group>,
}

/// A row group of an open table.
struct Group {
    entry: Entry,
    /// The bytes of the file that it is.
    range: Range<u64>,
}

impl Table {
    /// Opens a table and checks its footer, not yet its units: see [`StoredUnit::verify`]. The file stays open, and readable
    /// even if it is removed.
    pub fn open(path: &Path) -> Result<Table, StoreError> {
        let file = File::open(path).map_err(StoreError::on("open", path))?;
        Table::new(path.to_owned(), Box::new(file))
    }

    fn new(path: PathBuf, mut input: Box<dyn Input>) -> Result<Table, StoreError> {
        let footer = Footer::read(&mut *input).map_err(StoreError::reading(&path))?;
        footer.check_seal().map_err(StoreError::reading(&path))?;
        let damaged = |what: String| StoreError::Damaged { path: path.clone(), what };
        let metadata =
            ParquetMetaDataReader::decode_metadata(&footer.bytes).map_err(|e| damaged(e.to_string()))?;
        let label = our_entry(&metadata, EXPERIMENT).map_err(damaged)?.to_owned();
        let groups = groups(&metadata, footer.start).map_err(damaged)?;
        let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())
            .map_err(|e| damaged(e.to_string()))?;
        let schema = without_metadata(metadata.schema());
        Ok(Table { path, input: Mutex::new(input), metadata, schema, label, groups })
    }

    /// Where the table is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which experiment it belongs to, and which of its tables it is: see [`label`](crate::store::label).
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The error that its columns are not those expected.
    pub(crate) fn other_columns(&self, expected: &Schema) -> StoreError {
        let (found, expected) = (columns(&self.schema), columns(expected));
        let what = format!("its columns are ({found}), but should be ({expected})");
        StoreError::Damaged { path: self.path.clone(), what }
    }

    /// How many units it has.
    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Its units, in the order of its row groups.
    pub fn units(&self) -> impl Iterator<Item = StoredUnit<'_>> {
        (0..self.groups.len()).map(|index| self.unit(index))
    }

    /// The unit in the row group with this index.
    pub(crate) fn unit(&self, index: usize) -> StoredUnit<'_> {
        StoredUnit { table: self, index, group: &self.groups[index] }
    }

    fn column(&self, name: &str) -> Result<usize, StoreError> {
        self.schema.index_of(name).map_err(|_| StoreError::NoColumn {
            path: self.path.clone(),
            column: name.to_owned(),
            columns: self.schema.fields().iter().map(|field| field.name().clone()).collect(),
        })
    }
}

/// A unit in an open table.
#[derive(Clone, Copy)]
pub struct StoredUnit<'a> {
    table: &'a Table,
    /// Of its row group.
    index: usize,
    group: &'a Group,
}

impl<'a> StoredUnit<'a> {
    /// The unit.
    pub fn unit(&self) -> Unit {
        self.group.entry.unit
    }

    /// How many of its runs diverged.
    pub fn diverged(&self) -> u32 {
        self.group.entry.diverged
    }

    /// The table that it is in.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// Checks that its bytes are those that were written.
    pub fn verify(&self) -> Result<(), StoreError> {
        self.bytes().map(drop)
    }

    /// Reads columns, in the order asked for. The bytes are verified first.
    pub fn read(&self, columns: &[&str]) -> Result<RecordBatch, StoreError> {
        let wanted: Vec<usize> =
            columns.iter().map(|name| self.table.column(name)).collect::<Result<_, _>>()?;
        self.decode(self.bytes()?, &wanted).map_err(StoreError::parquet(&self.table.path))
    }

    fn decode(&self, bytes: Slice, wanted: &[usize]) -> Result<RecordBatch, ParquetError> {
        let metadata = self.table.metadata.metadata();
        let rows = usize::try_from(metadata.row_group(self.index).num_rows())?;
        let mask = ProjectionMask::roots(metadata.file_metadata().schema_descr(), wanted.iter().copied());
        let mut batches =
            ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, self.table.metadata.clone())
                .with_row_groups(vec![self.index])
                .with_projection(mask)
                .with_batch_size(rows)
                .build()?;
        let batch = batches.next().ok_or_else(|| ParquetError::General("no rows".to_owned()))??;
        let fields = self.table.schema.fields();
        let order: Vec<usize> =
            wanted.iter().map(|&w| batch.schema().index_of(fields[w].name())).collect::<Result<_, _>>()?;
        let batch = batch.project(&order)?;
        Ok(batch.clone().with_schema(without_metadata(&batch.schema()))?)
    }

    /// Its verified bytes.
    fn bytes(&self) -> Result<Slice, StoreError> {
        let Group { entry, range } = self.group;
        let path = &self.table.path;
        let mut input = self.table.input.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = read_range(&mut **input, range.clone()).map_err(StoreError::reading(path))?;
        if checksum(&bytes) != entry.checksum {
            return Err(StoreError::DamagedUnit { path: path.clone(), unit: entry.unit });
        }
        Ok(Slice { start: range.start, bytes })
    }

    fn row_group(&self) -> Result<RowGroup, StoreError> {
        let metadata = self.table.metadata.metadata().row_group(self.index).clone();
        Ok(RowGroup { entry: self.group.entry, metadata, bytes: self.bytes()? })
    }
}

/// The label of a Parquet file; `None` if it is not one of ours.
pub(crate) fn label_of(path: &Path) -> Result<Option<String>, StoreError> {
    let mut file = File::open(path).map_err(StoreError::on("open", path))?;
    let footer = Footer::read(&mut file).map_err(StoreError::reading(path))?;
    let metadata = ParquetMetaDataReader::decode_metadata(&footer.bytes)
        .map_err(|error| StoreError::Damaged { path: path.to_owned(), what: error.to_string() })?;
    Ok(our_entry(&metadata, EXPERIMENT).ok().map(str::to_owned))
}

/// An entry of the metadata that every table of ours has.
fn our_entry<'a>(metadata: &'a ParquetMetaData, key: &str) -> Result<&'a str, String> {
    let pairs = metadata.file_metadata().key_value_metadata().map_or(&[][..], Vec::as_slice);
    let value = pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
    value.ok_or_else(|| format!("its footer has no `{key}`"))
}

/// The row groups, which must follow each other up to `end` without gaps.
fn groups(metadata: &ParquetMetaData, end: u64) -> Result<Vec<Group>, String> {
    let entries: Vec<Entry> = serde_json::from_str(our_entry(metadata, UNITS)?)
        .map_err(|e| format!("`{UNITS}` of its footer: {e}"))?;
    if entries.len() != metadata.num_row_groups() {
        return Err(format!("{} units in {} row groups", entries.len(), metadata.num_row_groups()));
    }
    let mut groups = Vec::with_capacity(entries.len());
    let mut start = MAGIC.len() as u64;
    for (row_group, entry) in metadata.row_groups().iter().zip(entries) {
        let next = group_end(row_group, start).ok_or("its row groups have gaps")?;
        groups.push(Group { entry, range: start..next });
        start = next;
    }
    if start != end {
        return Err("its row groups do not end where its footer begins".to_owned());
    }
    Ok(groups)
}

/// Where a row group that begins at `start` ends; `None` if there are gaps between its columns.
fn group_end(row_group: &RowGroupMetaData, start: u64) -> Option<u64> {
    row_group.columns().iter().try_fold(start, |at, column| {
        let first = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let size = u64::try_from(column.compressed_size()).ok()?;
        if u64::try_from(first) == Ok(at) { at.checked_add(size) } else { None }
    })
}

/// Some of the bytes of a file, in memory, at the offset they have in the file.
struct Slice {
    start: u64,
    bytes: Bytes,
}

impl Slice {
    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let at = start.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        let at = at.filter(|&at| at <= self.bytes.len());
        at.map(|at| self.bytes.slice(at..))
            .ok_or_else(|| ParquetError::EOF(format!("offset {start} is outside of its row group")))
    }
}

impl Length for Slice {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Slice {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.from(start).map(Buf::reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = self.from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} leave their row group")));
        }
        bytes.truncate(length);
        Ok(bytes)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use arrow_array::builder::{Float64Builder, ListBuilder};
    use arrow_array::{Array, Float64Array, UInt32Array};
    use arrow_schema::{DataType, Field};
    use parquet::basic::ColumnOrder;
    use serde_json::{Value, json};
    use std::fs;
    use std::io::Cursor;
    use tempfile::tempdir;

    pub(crate) const COLUMNS: [&str; 4] = ["setting", "step", "target.S1.A0", "curve"];

    pub(crate) fn unit(block: u32, run: u32) -> Unit {
        Unit { block, run }
    }

    /// Rows as results have them: keys, values that may be missing or not a number, and lists.
    pub(crate) fn rows(unit: Unit) -> RecordBatch {
        let seed = f64::from(unit.block * 1000 + unit.run);
        let mut curve = ListBuilder::new(Float64Builder::new());
        for length in 0..3 {
            curve.append_value((0..length).map(|i| Some((seed + f64::from(i)).sin())));
        }
        let curve = curve.finish();
        let schema = Schema::new(vec![
            Field::new("setting", DataType::UInt32, false),
            Field::new("step", DataType::UInt32, false),
            Field::new("target.S1.A0", DataType::Float64, true),
            Field::new("curve", curve.data_type().clone(), false),
        ]);
        let keys = UInt32Array::from(vec![unit.block * 3, unit.block * 3 + 1, unit.block * 3 + 2]);
        let steps = UInt32Array::from(vec![unit.run; 3]);
        let values = Float64Array::from(vec![Some(seed.cos()), None, Some(f64::NAN)]);
        let columns: [Arc<dyn Array>; 4] =
            [Arc::new(keys), Arc::new(steps), Arc::new(values), Arc::new(curve)];
        RecordBatch::try_new(Arc::new(schema), columns.to_vec()).unwrap()
    }

    /// The identity of the experiment that all tables of tests belong to.
    pub(crate) fn identity() -> Value {
        json!({ "name": "bound" })
    }

    fn label() -> String {
        crate::store::label(&identity(), "results")
    }

    pub(crate) fn encoded(block: u32, run: u32) -> EncodedUnit {
        encode(unit(block, run), run % 2, &rows(unit(block, run))).unwrap()
    }

    /// Compared as text: NaN is to equal NaN.
    pub(crate) fn assert_rows(stored: StoredUnit) {
        assert_eq!(format!("{:?}", stored.read(&COLUMNS).unwrap()), format!("{:?}", rows(stored.unit())));
    }

    fn in_memory(bytes: Vec<u8>) -> Result<Table, StoreError> {
        Table::new(PathBuf::from("memory"), Box::new(Cursor::new(bytes)))
    }

    fn table_of(label: &str, unit: EncodedUnit) -> Table {
        let dir = tempdir().unwrap();
        let to = dir.path().join("t");
        write(label, vec![unit], &to).unwrap();
        in_memory(fs::read(&to).unwrap()).unwrap()
    }

    fn table(block: u32, run: u32) -> Table {
        table_of(&label(), encoded(block, run))
    }

    fn copied(units: &[StoredUnit], to: &Path) -> Vec<u8> {
        copy(&label(), units, units[0].table().schema(), to).unwrap();
        fs::read(to).unwrap()
    }

    /// The units of a table, and how many of their runs diverged.
    fn counts(table: &Table) -> Vec<(Unit, u32)> {
        table.units().map(|stored| (stored.unit(), stored.diverged())).collect()
    }

    #[test]
    fn a_table_of_another_experiment_is_not_mixed_in() {
        let dir = tempdir().unwrap();
        let (own, other) = (table(0, 0), table_of("another", encoded(0, 1)));
        let to = dir.path().join("t");
        let error = copy(&label(), &[own.unit(0), other.unit(0)], own.schema(), &to).unwrap_err();
        assert!(matches!(error, StoreError::OtherTable { .. }), "{error}");
        assert!(!to.exists());
    }

    fn files(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_unit_comes_back_as_it_was() {
        let table = table(3, 5);
        assert_eq!(counts(&table), [(unit(3, 5), 1)]);
        assert_eq!(*table.schema(), rows(unit(3, 5)).schema());
        assert_rows(table.unit(0));
        let some = table.unit(0).read(&["target.S1.A0", "setting"]).unwrap();
        assert_eq!(
            some.schema().fields().iter().map(|f| f.name()).collect::<Vec<_>>(),
            ["target.S1.A0", "setting"]
        );
        assert_eq!(encoded(3, 5).group.bytes.bytes, encoded(3, 5).group.bytes.bytes);
    }

    /// Polars 1.40 and older could not open any table.
    #[test]
    fn doubles_are_in_the_order_of_their_type() {
        let table = table(3, 5);
        let metadata = table.metadata.metadata().file_metadata();
        let orders = metadata.column_orders().unwrap();
        assert_eq!(orders.len(), COLUMNS.len());
        assert!(orders.iter().all(|order| matches!(order, ColumnOrder::TYPE_DEFINED_ORDER(_))), "{orders:?}");
    }

    #[test]
    fn missing_columns_and_rows_are_named() {
        let table = table(0, 0);
        let error = table.unit(0).read(&["stepp"]).unwrap_err().to_string();
        assert!(error.contains("no column `stepp`; it has setting, step, target.S1.A0, curve"), "{error}");
        // There is no second row group to ask for.
        assert!(table.units().nth(1).is_none());
        let empty = rows(unit(0, 7)).slice(0, 0);
        let error = encode(unit(0, 7), 0, &empty).err().unwrap().to_string();
        assert!(error.contains("block 0, run 7 has no rows"), "{error}");
    }

    #[test]
    fn a_table_does_not_depend_on_where_its_units_were() {
        let dir = tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let [a, b, c] = [table(0, 0), table(0, 1), table(1, 0)];
        write(&label(), vec![encoded(0, 0), encoded(0, 1), encoded(1, 0)], &path("direct")).unwrap();
        let direct = fs::read(path("direct")).unwrap();
        assert_eq!(copied(&[a.unit(0), b.unit(0), c.unit(0)], &path("copy")), direct);
        copied(&[c.unit(0), a.unit(0)], &path("part"));
        let part = Table::open(&path("part")).unwrap();
        assert_eq!(copied(&[part.unit(1), b.unit(0), part.unit(0)], &path("by part")), direct);
        let all = Table::open(&path("by part")).unwrap();
        assert_eq!(copied(&all.units().collect::<Vec<_>>(), &path("again")), direct);
        assert_eq!(counts(&all), [(unit(0, 0), 0), (unit(0, 1), 1), (unit(1, 0), 0)]);
        assert_rows(all.unit(1));
        assert_rows(all.unit(2));
        assert_eq!(files(dir.path()), 5);
    }

    #[test]
    fn a_table_may_have_no_units() {
        let dir = tempdir().unwrap();
        let to = dir.path().join("none");
        copy(&label(), &[], &rows(unit(0, 0)).schema(), &to).unwrap();
        let table = Table::open(&to).unwrap();
        assert_eq!(table.units().count(), 0);
        assert_eq!(*table.schema(), rows(unit(0, 0)).schema());
    }

    #[test]
    fn units_with_other_columns_are_refused() {
        let dir = tempdir().unwrap();
        let to = dir.path().join("t");
        let other = || encode(unit(0, 1), 0, &rows(unit(0, 1)).project(&[0, 1]).unwrap()).unwrap();
        let (a, b) = (table(0, 0), table_of(&label(), other()));
        let error = copy(&label(), &[a.unit(0), b.unit(0)], a.schema(), &to).unwrap_err();
        assert!(matches!(error, StoreError::OtherColumns { .. }), "{error}");
        let error = write(&label(), vec![encoded(0, 0), other()], &to).unwrap_err();
        assert!(matches!(error, StoreError::OtherColumns { .. }), "{error}");
        assert_eq!(files(dir.path()), 0);
    }

    /// Opens, reads and copies a changed file: each must fail or be harmless, and one of them must fail.
    fn is_refused(bytes: Vec<u8>, dir: &Path) -> bool {
        let Ok(table) = in_memory(bytes) else { return true };
        let units: Vec<StoredUnit> = table.units().collect();
        let to = dir.join("copy");
        let copied = copy(&label(), &units, table.schema(), &to);
        assert_eq!(copied.is_err(), !to.exists());
        let read = units.iter().all(|unit| unit.read(&COLUMNS).is_ok());
        copied.is_err() && !read
    }

    #[test]
    fn every_changed_byte_and_every_truncation_is_detected() {
        let dir = tempdir().unwrap();
        let [a, b] = [table(0, 0), table(0, 1)];
        let right = copied(&[a.unit(0), b.unit(0)], &dir.path().join("right"));
        for at in 0..right.len() {
            for change in [0x01, 0x80, 0xFF] {
                let mut wrong = right.clone();
                wrong[at] ^= change;
                assert!(is_refused(wrong, dir.path()), "byte {at} changed by {change:#x}");
            }
            assert!(is_refused(right[..at].to_vec(), dir.path()), "truncated to {at}");
        }
        assert!(is_refused([&right[..], b"x"].concat(), dir.path()), "longer");
    }

    #[test]
    fn a_foreign_parquet_file_is_refused() {
        let mut writer = ArrowWriter::try_new(Vec::new(), rows(unit(0, 0)).schema(), None).unwrap();
        writer.write(&rows(unit(0, 0))).unwrap();
        let error = in_memory(writer.into_inner().unwrap()).err().unwrap().to_string();
        assert!(error.contains("has no `emphatic.checksum`"), "{error}");
    }
}
