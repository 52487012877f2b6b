//! Result tables: Parquet files whose row groups are the finished units of an experiment.
//!
//! Any Parquet reader opens them. Three entries of their metadata are ours: `emphatic.experiment` labels them with the experiment
//! they are of and which of its tables they are, `emphatic.units` names the unit of each row group, `[block, run, diverged, checksum]`, and
//! `emphatic.checksum` is the checksum of the footer itself. Row groups
//! follow each other without gaps, so every byte of a file is covered and a changed one is always seen.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
use serde::{Deserialize, Serialize};
use thiserror::Error;

const MAGIC: &[u8] = b"PAR1";
pub(crate) const EXPERIMENT: &str = "emphatic.experiment";
const UNITS: &str = "emphatic.units";
const CHECKSUM: &str = "emphatic.checksum";
/// What the value of `emphatic.checksum` begins with: the footer is searched for it.
const SEAL: &str = "footer:";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 16;
/// Files being written have this extension until they are whole.
const TEMPORARY: &str = "emphatic-tmp";

/// A piece of an experiment that is run and stored as a whole. Units order by block, then by run: the order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unit {
    /// The block of settings.
    pub block: u32,
    /// The run of these settings.
    pub run: u32,
}

/// The file system refused.
#[derive(Debug, Error)]
pub enum DiskError {
    /// No space is left, or the quota is used up.
    #[error(
        "the disk is full: could not write {}; what was finished before is safe; \
         free some space and run the same command again", path.display()
    )]
    Full {
        /// What was being written.
        path: PathBuf,
        /// The system's word for it.
        source: io::Error,
    },
    /// The file would be larger than the user's limits allow.
    #[error(
        "could not write {}: it would be larger than your limits (ulimit -f) or the file system allow; what was finished \
         before is safe; raise the limit, or choose another place, and run the same command again", path.display()
    )]
    TooLarge {
        /// What was being written.
        path: PathBuf,
        /// The system's word for it.
        source: io::Error,
    },
    /// Anything else.
    #[error("could not {action} {}: {source}{}", path.display(), remedy(source.kind()))]
    Failed {
        /// What was being done.
        action: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// The system's word for it.
        source: io::Error,
    },
}

fn remedy(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "; choose a directory that you may read and write"
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "; a file is where a directory should be",
        ErrorKind::IsADirectory => "; a directory is where a file should be",
        _ => "",
    }
}

impl DiskError {
    /// For `map_err`: what was being done to which path.
    pub(crate) fn on(action: &'static str, path: &Path) -> impl Fn(io::Error) -> DiskError {
        move |source| {
            let path = path.to_owned();
            match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => DiskError::Full { path, source },
                ErrorKind::FileTooLarge => DiskError::TooLarge { path, source },
                _ => DiskError::Failed { action, path, source },
            }
        }
    }

    /// The system's word for it.
    pub fn system(&self) -> &io::Error {
        match self {
            DiskError::Full { source, .. }
            | DiskError::TooLarge { source, .. }
            | DiskError::Failed { source, .. } => source,
        }
    }

    /// Whether there is no such file.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, DiskError::Failed { source, .. } if source.kind() == ErrorKind::NotFound)
    }
}

/// A table could not be written or read.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file system refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file as a whole is not, or no longer, a table of ours.
    #[error("{} is damaged: {what}; a table is right only as it was written", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The bytes of one unit changed since they were written.
    #[error(
        "{} is damaged: the bytes of block {}, run {} do not have the checksum they were written with",
        path.display(), unit.block, unit.run
    )]
    DamagedUnit {
        /// The file.
        path: PathBuf,
        /// The unit.
        unit: Unit,
    },
    /// The table is sound, but of another experiment.
    #[error("{} is of another experiment than {}, or another of its tables", path.display(), beside.display())]
    OtherExperiment {
        /// The file.
        path: PathBuf,
        /// The file that says which experiment it should be.
        beside: PathBuf,
    },
    /// A column that is not there was asked for.
    #[error("{} has no column `{column}`; it has {}", path.display(), columns.join(", "))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        column: String,
        /// What there is.
        columns: Vec<String>,
    },
    /// A row group that is not there was asked for.
    #[error("{} has no row group {index}; it has {count}, counted from 0", path.display())]
    NoRowGroup {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Tables with different columns cannot be put together.
    #[error(
        "{} cannot go into {}: its columns are ({found}), but should be ({expected})",
        path.display(), to.display()
    )]
    OtherColumns {
        /// The file that does not fit.
        path: PathBuf,
        /// The file that was to be written.
        to: PathBuf,
        /// Its columns.
        found: String,
        /// The columns of the file to be written.
        expected: String,
    },
    /// A unit without rows cannot be stored.
    #[error("block {}, run {} has no rows; a unit has at least one", unit.block, unit.run)]
    NoRows {
        /// The unit.
        unit: Unit,
    },
    /// Parquet cannot hold or give what was asked for.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Parquet's word for it.
        source: ParquetError,
    },
}

impl TableError {
    /// Whether the file's contents are at fault, and not the reading of it.
    pub(crate) fn is_damage(&self) -> bool {
        use TableError::{Damaged, DamagedUnit, OtherExperiment};
        matches!(self, Damaged { .. } | DamagedUnit { .. } | OtherExperiment { .. })
    }

    /// For `map_err`: a full disk behind an error of Parquet's is found again.
    fn parquet(path: &Path) -> impl Fn(ParquetError) -> TableError {
        move |error| match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => DiskError::on("write", path)(*io).into(),
                Err(inner) => {
                    TableError::Parquet { path: path.to_owned(), source: ParquetError::External(inner) }
                }
            },
            source => TableError::Parquet { path: path.to_owned(), source },
        }
    }

    /// For `map_err`: a file that ends early or makes no sense is damaged, anything else is the disk's doing.
    fn reading(path: &Path) -> impl Fn(io::Error) -> TableError {
        move |error| match error.kind() {
            ErrorKind::InvalidData => TableError::Damaged { path: path.to_owned(), what: error.to_string() },
            ErrorKind::UnexpectedEof => {
                TableError::Damaged { path: path.to_owned(), what: "its end is missing".to_owned() }
            }
            _ => DiskError::on("read", path)(error).into(),
        }
    }
}

/// Encodes a finished unit as a table in memory with this label and one row group. Equal input gives equal bytes.
pub fn encode(label: &str, unit: Unit, diverged: u32, batch: &RecordBatch) -> Result<Bytes, TableError> {
    if batch.num_rows() == 0 {
        return Err(TableError::NoRows { unit });
    }
    let failed = TableError::parquet(Path::new("a unit in memory"));
    encode_rows(label, unit, diverged, batch).map(Bytes::from).map_err(failed)
}

fn encode_rows(label: &str, unit: Unit, diverged: u32, batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let schema = bare(&batch.schema());
    let properties = properties(&ArrowSchemaConverter::new().convert(&schema)?);
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
    writer.write(&RecordBatch::try_new(schema, batch.columns().to_vec())?)?;
    writer.flush()?;
    writer.sync()?;
    let entry = Entry::new(unit, diverged, checksum(&writer.inner()[MAGIC.len()..]));
    for pair in our_metadata(label, &[entry])? {
        writer.append_key_value_metadata(pair);
    }
    let mut file = Cursor::new(writer.into_inner()?);
    seal(&mut file)?;
    Ok(file.into_inner())
}

/// The schema without metadata: what a file says about itself is no property of its columns.
fn bare(schema: &Schema) -> SchemaRef {
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

/// A row group's entry in `emphatic.units`: block, run, diverged, checksum.
#[derive(Serialize, Deserialize)]
struct Entry(u32, u32, u32, String);

impl Entry {
    fn new(unit: Unit, diverged: u32, checksum: u64) -> Entry {
        Entry(unit.block, unit.run, diverged, format!("{checksum:016x}"))
    }
}

fn our_metadata(label: &str, entries: &[Entry]) -> Result<[KeyValue; 3], ParquetError> {
    let units = serde_json::to_string(entries).map_err(|e| ParquetError::External(Box::new(e)))?;
    let unsealed = format!("{SEAL}{:0DIGITS$}", 0);
    Ok([
        KeyValue::new(EXPERIMENT.to_owned(), label.to_owned()),
        KeyValue::new(UNITS.to_owned(), units),
        KeyValue::new(CHECKSUM.to_owned(), unsealed),
    ])
}

/// A checksum in the manner of FNV-1a, but by words. Each step is one-to-one: a single changed word is always seen.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: [u8; 8]| {
        let sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        sum ^ (sum >> 32)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let sum = words.iter().fold(bytes.len() as u64, |sum, &word| mix(sum, word));
    mix(sum, last)
}

trait Input: Read + Seek + Send {}
impl<T: Read + Seek + Send> Input for T {}

fn read_range(input: &mut (impl Input + ?Sized), range: Range<u64>) -> io::Result<Bytes> {
    let length = range.end.saturating_sub(range.start);
    input.seek(SeekFrom::Start(range.start))?;
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes.into())
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

/// Where the footer begins, and its bytes.
fn read_footer(input: &mut (impl Input + ?Sized)) -> io::Result<(u64, Bytes)> {
    let length = input.seek(SeekFrom::End(0))?;
    if length < 12 || read_range(input, 0..4)? != MAGIC {
        return Err(invalid("it does not begin as a Parquet file"));
    }
    let mut tail = read_range(input, length - 8..length)?;
    let size = u64::from(tail.get_u32_le());
    if tail != MAGIC || size > length - 12 {
        return Err(invalid("its end is missing"));
    }
    let start = length - 8 - size;
    Ok((start, read_range(input, start..length - 8)?))
}

/// Where the digits of the footer's checksum are in it.
fn seal_digits(footer: &[u8]) -> io::Result<Range<usize>> {
    let last = footer.windows(SEAL.len()).rposition(|window| window == SEAL.as_bytes());
    last.map(|at| at + SEAL.len()..at + SEAL.len() + DIGITS)
        .filter(|digits| digits.end <= footer.len())
        .ok_or_else(|| invalid(format!("its footer has no `{CHECKSUM}`")))
}

/// Puts the footer's checksum, until now zeros, in its place.
fn seal(file: &mut (impl Input + Write)) -> io::Result<()> {
    let (start, footer) = read_footer(file)?;
    let mut footer = Vec::from(footer);
    order_by_type(&mut footer);
    let digits = seal_digits(&footer)?;
    let sum = format!("{:016x}", checksum(&footer));
    footer[digits].copy_from_slice(sum.as_bytes());
    file.seek(SeekFrom::Start(start))?;
    file.write_all(&footer)
}

/// Lets a footer say of every column that its statistics are in the order of its type, as files always did.
///
/// Of doubles the writer says that they are in IEEE 754's total order, which without NaN is the same; but readers that
/// do not know it, as Polars until recently, refuse the whole file.
pub(crate) fn order_by_type(footer: &mut [u8]) {
    const BY_TYPE: u8 = 0x1C;
    const IN_TOTAL: u8 = 0x2C;
    // A footer ends with the orders, three bytes for each column, and a zero.
    let Some((_, orders)) = footer.split_last_mut() else { return };
    for order in orders.rchunks_exact_mut(3) {
        match order {
            [which @ (BY_TYPE | IN_TOTAL), 0, 0] => *which = BY_TYPE,
            _ => return,
        }
    }
}

fn check_seal(footer: &[u8]) -> io::Result<()> {
    let digits = seal_digits(footer)?;
    let mut unsealed = footer.to_vec();
    unsealed[digits.clone()].fill(b'0');
    if format!("{:016x}", checksum(&unsealed)).as_bytes() != &footer[digits] {
        return Err(invalid("its footer does not have the checksum it was written with"));
    }
    Ok(())
}

/// The bytes of a row group and the checksum they should have.
struct Group {
    range: Range<u64>,
    checksum: u64,
}

/// An open Parquet file whose row groups are units.
pub struct Table {
    path: PathBuf,
    input: Mutex<Box<dyn Input>>,
    metadata: ArrowReaderMetadata,
    schema: SchemaRef,
    label: String,
    units: Vec<(Unit, u32)>,
    groups: Vec<Group>,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Table").field("path", &self.path).field("units", &self.units).finish_non_exhaustive()
    }
}

impl Table {
    /// Opens a table and checks its footer, not yet its units: see [`Table::verify`]. The file stays open, and readable
    /// even if it is removed.
    pub fn open(path: &Path) -> Result<Table, TableError> {
        let file = File::open(path).map_err(DiskError::on("open", path))?;
        Table::new(path.to_owned(), Box::new(file))
    }

    /// A table in memory, as [`encode`] gives it.
    pub fn from_bytes(bytes: Bytes) -> Result<Table, TableError> {
        Table::new(PathBuf::from("a unit in memory"), Box::new(Cursor::new(bytes)))
    }

    fn new(path: PathBuf, mut input: Box<dyn Input>) -> Result<Table, TableError> {
        let (end, footer) = read_footer(&mut *input).map_err(TableError::reading(&path))?;
        check_seal(&footer).map_err(TableError::reading(&path))?;
        let damaged = |what: String| TableError::Damaged { path: path.clone(), what };
        let metadata = ParquetMetaDataReader::decode_metadata(&footer).map_err(|e| damaged(e.to_string()))?;
        let label = ours(&metadata, EXPERIMENT).map_err(damaged)?.to_owned();
        let entries = entries(&metadata).map_err(damaged)?;
        let groups = groups(&metadata, &entries, end).map_err(damaged)?;
        let units = entries.iter().map(|e| (Unit { block: e.0, run: e.1 }, e.2)).collect();
        let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())
            .map_err(|e| damaged(e.to_string()))?;
        let schema = bare(metadata.schema());
        Ok(Table { path, input: Mutex::new(input), metadata, schema, label, units, groups })
    }

    /// Where the table is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says it is: see [`label`](crate::store::label).
    pub fn label(&self) -> &str {
        &self.label
    }

    /// That its columns are not what they should be.
    pub(crate) fn other_columns(&self, expected: &Schema) -> TableError {
        let (found, expected) = columns(&self.schema, expected);
        let what = format!("its columns are ({found}), but should be ({expected})");
        TableError::Damaged { path: self.path.clone(), what }
    }

    /// The unit of each row group and how many of its runs diverged.
    pub fn units(&self) -> &[(Unit, u32)] {
        &self.units
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Checks that the bytes of a row group are those that were written.
    pub fn verify(&self, index: usize) -> Result<(), TableError> {
        self.group(index).map(drop)
    }

    /// Reads columns of a row group, in the order asked for. Its bytes are verified first.
    pub fn read(&self, index: usize, columns: &[&str]) -> Result<RecordBatch, TableError> {
        let wanted: Vec<usize> = columns.iter().map(|name| self.column(name)).collect::<Result<_, _>>()?;
        let group = self.group(index)?;
        self.decode(index, group, &wanted).map_err(TableError::parquet(&self.path))
    }

    fn decode(&self, index: usize, group: Slice, wanted: &[usize]) -> Result<RecordBatch, ParquetError> {
        let metadata = self.metadata.metadata();
        let rows = usize::try_from(metadata.row_group(index).num_rows())?;
        let mask = ProjectionMask::roots(metadata.file_metadata().schema_descr(), wanted.iter().copied());
        let mut batches = ParquetRecordBatchReaderBuilder::new_with_metadata(group, self.metadata.clone())
            .with_row_groups(vec![index])
            .with_projection(mask)
            .with_batch_size(rows)
            .build()?;
        let batch = batches.next().ok_or_else(|| ParquetError::General("no rows".to_owned()))??;
        let fields = self.schema.fields();
        let order: Vec<usize> =
            wanted.iter().map(|&w| batch.schema().index_of(fields[w].name())).collect::<Result<_, _>>()?;
        let batch = batch.project(&order)?;
        Ok(batch.clone().with_schema(bare(&batch.schema()))?)
    }

    fn column(&self, name: &str) -> Result<usize, TableError> {
        self.schema.index_of(name).map_err(|_| TableError::NoColumn {
            path: self.path.clone(),
            column: name.to_owned(),
            columns: self.schema.fields().iter().map(|field| field.name().clone()).collect(),
        })
    }

    /// The verified bytes of a row group.
    fn group(&self, index: usize) -> Result<Slice, TableError> {
        let (Some(group), Some(&(unit, _))) = (self.groups.get(index), self.units.get(index)) else {
            return Err(TableError::NoRowGroup { path: self.path.clone(), index, count: self.groups.len() });
        };
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = read_range(&mut **input, group.range.clone()).map_err(TableError::reading(&self.path))?;
        if checksum(&bytes) != group.checksum {
            return Err(TableError::DamagedUnit { path: self.path.clone(), unit });
        }
        Ok(Slice { start: group.range.start, bytes })
    }
}

/// What a Parquet file says it is, if it is one of ours.
pub(crate) fn label_of(path: &Path) -> Result<Option<String>, TableError> {
    let mut file = File::open(path).map_err(DiskError::on("open", path))?;
    let (_, footer) = read_footer(&mut file).map_err(TableError::reading(path))?;
    let metadata = ParquetMetaDataReader::decode_metadata(&footer)
        .map_err(|error| TableError::Damaged { path: path.to_owned(), what: error.to_string() })?;
    Ok(ours(&metadata, EXPERIMENT).ok().map(str::to_owned))
}

/// An entry of the metadata that every table of ours has.
fn ours<'a>(metadata: &'a ParquetMetaData, key: &str) -> Result<&'a str, String> {
    let pairs = metadata.file_metadata().key_value_metadata().map_or(&[][..], Vec::as_slice);
    let value = pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
    value.ok_or_else(|| format!("its footer has no `{key}`"))
}

fn entries(metadata: &ParquetMetaData) -> Result<Vec<Entry>, String> {
    let entries: Vec<Entry> =
        serde_json::from_str(ours(metadata, UNITS)?).map_err(|e| format!("`{UNITS}` of its footer: {e}"))?;
    if entries.len() != metadata.num_row_groups() {
        return Err(format!("{} units in {} row groups", entries.len(), metadata.num_row_groups()));
    }
    Ok(entries)
}

/// The row groups, which have to follow each other up to `end` without gaps.
fn groups(metadata: &ParquetMetaData, entries: &[Entry], end: u64) -> Result<Vec<Group>, String> {
    let mut groups = Vec::with_capacity(entries.len());
    let mut start = MAGIC.len() as u64;
    for (row_group, entry) in metadata.row_groups().iter().zip(entries) {
        let next = group_end(row_group, start).ok_or("its row groups have gaps")?;
        let checksum = u64::from_str_radix(&entry.3, 16).map_err(|e| format!("`{UNITS}`: {e}"))?;
        groups.push(Group { range: start..next, checksum });
        start = next;
    }
    if start != end {
        return Err("its row groups do not end where its footer begins".to_owned());
    }
    Ok(groups)
}

/// Where a row group that begins at `start` ends, if its columns follow each other without gaps.
fn group_end(row_group: &RowGroupMetaData, start: u64) -> Option<u64> {
    row_group.columns().iter().try_fold(start, |at, column| {
        let first = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let size = u64::try_from(column.compressed_size()).ok()?;
        if u64::try_from(first) == Ok(at) { at.checked_add(size) } else { None }
    })
}

/// A part of a file, in memory, at the offset it has in the file.
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

/// Writes a table with this label and these row groups of these tables, in this order. They are
/// verified and copied as they are, so that equal units give equal bytes, wherever they were. The file appears whole or not at all.
pub fn concatenate(
    label: &str,
    sources: &[(&Table, usize)],
    schema: &Schema,
    to: &Path,
) -> Result<(), TableError> {
    if let Some((table, _)) = sources.iter().find(|(table, _)| table.label != label) {
        return Err(TableError::OtherExperiment { path: table.path.clone(), beside: to.to_owned() });
    }
    if let Some((table, _)) = sources.iter().find(|(table, _)| table.schema.fields() != schema.fields()) {
        let (found, expected) = columns(&table.schema, schema);
        return Err(TableError::OtherColumns {
            path: table.path.clone(),
            to: to.to_owned(),
            found,
            expected,
        });
    }
    write_atomically(to, |file| {
        write_groups(label, sources, schema, to, file)?;
        seal(file).map_err(DiskError::on("write", to))?;
        Ok(())
    })
}

fn write_groups(
    label: &str,
    sources: &[(&Table, usize)],
    schema: &Schema,
    to: &Path,
    file: &File,
) -> Result<(), TableError> {
    let failed = TableError::parquet(to);
    let columns = ArrowSchemaConverter::new().convert(schema).map_err(&failed)?;
    let mut properties = properties(&columns);
    add_encoded_arrow_schema_to_metadata(&bare(schema), &mut properties);
    let mut writer =
        SerializedFileWriter::new(file, columns.root_schema_ptr(), Arc::new(properties)).map_err(&failed)?;
    let mut entries = Vec::with_capacity(sources.len());
    for &(table, index) in sources {
        let group = table.group(index)?;
        copy_group(&mut writer, table, index, &group).map_err(&failed)?;
        let (unit, diverged) = table.units[index];
        entries.push(Entry::new(unit, diverged, table.groups[index].checksum));
    }
    for pair in our_metadata(label, &entries).map_err(&failed)? {
        writer.append_key_value_metadata(pair);
    }
    writer.finish().map(drop).map_err(&failed)
}

fn copy_group(
    writer: &mut SerializedFileWriter<&File>,
    table: &Table,
    index: usize,
    group: &Slice,
) -> Result<(), ParquetError> {
    let row_group = table.metadata.metadata().row_group(index);
    let mut copy = writer.next_row_group()?;
    for column in row_group.columns() {
        let close = ColumnCloseResult {
            bytes_written: u64::try_from(column.compressed_size())?,
            rows_written: u64::try_from(row_group.num_rows())?,
            metadata: column.clone(),
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        copy.append_column(group, close)?;
    }
    copy.close().map(drop)
}

/// What a table's columns are and what they should be.
fn columns(found: &Schema, expected: &Schema) -> (String, String) {
    let list = |schema: &Schema| {
        let column = |f: &Arc<arrow_schema::Field>| {
            format!("{}: {}{}", f.name(), f.data_type(), if f.is_nullable() { "?" } else { "" })
        };
        schema.fields().iter().map(column).collect::<Vec<_>>().join(", ")
    };
    (list(found), list(expected))
}

/// Whether a file of this name is one that [`write_atomically`] could not complete.
pub(crate) fn is_temporary(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == TEMPORARY)
}

/// Writes a file so that at any moment either what was there before is at `to`, or all of the new one.
pub(crate) fn write_atomically(
    to: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let mut name = to.as_os_str().to_owned();
    name.push(".");
    name.push(TEMPORARY);
    let temporary = PathBuf::from(name);
    let written = fill_and_rename(&temporary, to, fill);
    if written.is_err() {
        // It is of no use, and the error to report is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn fill_and_rename(
    temporary: &Path,
    to: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let failed = DiskError::on("write", to);
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(true).to_owned();
    let mut file = options.open(temporary).map_err(&failed)?;
    fill(&mut file)?;
    file.sync_all().map_err(&failed)?;
    drop(file);
    fs::rename(temporary, to).map_err(&failed)?;
    sync_directory(to)?;
    Ok(())
}

/// Makes the names in the directory of `path` durable. Only on Unix can a directory be opened for that.
pub(crate) fn sync_directory(path: &Path) -> Result<(), DiskError> {
    match path.parent() {
        Some(parent) if cfg!(unix) => {
            let directory = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let synced = File::open(directory).and_then(|directory| directory.sync_all());
            synced.map_err(DiskError::on("write", path))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::store::Kind;
    use arrow_array::builder::{Float64Builder, ListBuilder};
    use arrow_array::{Array, Float64Array, UInt32Array};
    use arrow_schema::{DataType, Field};
    use parquet::basic::ColumnOrder;
    use serde_json::{Value, json};
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

    /// The identity of the experiment that the tables of tests are of.
    pub(crate) fn bound() -> Value {
        json!({ "name": "bound" })
    }

    fn ours() -> String {
        crate::store::label(&bound(), "results")
    }

    pub(crate) fn encoded(block: u32, run: u32) -> Bytes {
        encoded_as(Kind::Results, block, run)
    }

    pub(crate) fn encoded_as(kind: Kind, block: u32, run: u32) -> Bytes {
        let label = crate::store::label(&bound(), if kind == Kind::Fresh { "fresh" } else { "results" });
        encode(&label, unit(block, run), run % 2, &rows(unit(block, run))).unwrap()
    }

    /// Compared as text: NaN is to equal NaN.
    pub(crate) fn assert_rows(table: &Table, index: usize, unit: Unit) {
        assert_eq!(format!("{:?}", table.read(index, &COLUMNS).unwrap()), format!("{:?}", rows(unit)));
    }

    fn memory(block: u32, run: u32) -> Table {
        Table::from_bytes(encoded(block, run)).unwrap()
    }

    fn concatenated(sources: &[(&Table, usize)], to: &Path) -> Vec<u8> {
        concatenate(&ours(), sources, sources[0].0.schema(), to).unwrap();
        fs::read(to).unwrap()
    }

    #[test]
    fn a_table_of_another_experiment_is_not_mixed_in() {
        let dir = tempdir().unwrap();
        let (own, rows) = (memory(0, 0), rows(unit(0, 1)));
        let other = Table::from_bytes(encode("another", unit(0, 1), 0, &rows).unwrap()).unwrap();
        let to = dir.path().join("t");
        let error = concatenate(&ours(), &[(&own, 0), (&other, 0)], own.schema(), &to).unwrap_err();
        assert!(matches!(error, TableError::OtherExperiment { .. }), "{error}");
        assert!(!to.exists());
    }

    #[test]
    fn a_full_disk_and_a_limit_on_files_are_told_apart() {
        let said = |kind: ErrorKind| DiskError::on("write", Path::new("results"))(kind.into()).to_string();
        let full = "the disk is full: could not write results; what was finished before is safe";
        assert!(
            said(ErrorKind::StorageFull).starts_with(full)
                && said(ErrorKind::QuotaExceeded).starts_with(full)
        );
        let limit = "could not write results: it would be larger than your limits (ulimit -f) or the file system allow";
        assert!(said(ErrorKind::FileTooLarge).starts_with(limit));
    }

    fn files(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_unit_comes_back_as_it_was() {
        let table = memory(3, 5);
        assert_eq!(table.units(), [(unit(3, 5), 1)]);
        assert_eq!(*table.schema(), rows(unit(3, 5)).schema());
        assert_rows(&table, 0, unit(3, 5));
        let some = table.read(0, &["target.S1.A0", "setting"]).unwrap();
        assert_eq!(
            some.schema().fields().iter().map(|f| f.name()).collect::<Vec<_>>(),
            ["target.S1.A0", "setting"]
        );
        assert_eq!(encoded(3, 5), encoded(3, 5));
    }

    /// Polars 1.40 and older could not open any table.
    #[test]
    fn doubles_are_in_the_order_of_their_type() {
        let table = memory(3, 5);
        let metadata = table.metadata.metadata().file_metadata();
        let orders = metadata.column_orders().unwrap();
        assert_eq!(orders.len(), COLUMNS.len());
        assert!(orders.iter().all(|order| matches!(order, ColumnOrder::TYPE_DEFINED_ORDER(_))), "{orders:?}");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = memory(0, 0).read(0, &["stepp"]).unwrap_err().to_string();
        assert!(error.contains("no column `stepp`; it has setting, step, target.S1.A0, curve"), "{error}");
        let error = memory(0, 0).read(1, &["step"]).unwrap_err().to_string();
        assert!(error.contains("no row group 1; it has 1"), "{error}");
        let none = rows(unit(0, 7)).slice(0, 0);
        let error = encode(&ours(), unit(0, 7), 0, &none).unwrap_err().to_string();
        assert!(error.contains("block 0, run 7 has no rows"), "{error}");
    }

    #[test]
    fn a_concatenation_does_not_depend_on_where_units_were() {
        let dir = tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let [a, b, c] = [memory(0, 0), memory(0, 1), memory(1, 0)];
        let direct = concatenated(&[(&a, 0), (&b, 0), (&c, 0)], &path("direct"));
        concatenated(&[(&c, 0), (&a, 0)], &path("part"));
        let part = Table::open(&path("part")).unwrap();
        assert_eq!(concatenated(&[(&part, 1), (&b, 0), (&part, 0)], &path("by part")), direct);
        let all = Table::open(&path("by part")).unwrap();
        assert_eq!(concatenated(&[(&all, 0), (&all, 1), (&all, 2)], &path("again")), direct);
        assert_eq!(all.units(), [(unit(0, 0), 0), (unit(0, 1), 1), (unit(1, 0), 0)]);
        assert_rows(&all, 1, unit(0, 1));
        assert_rows(&all, 2, unit(1, 0));
        assert_eq!(files(dir.path()), 4);
    }

    #[test]
    fn a_table_may_have_no_units() {
        let dir = tempdir().unwrap();
        let to = dir.path().join("none");
        concatenate(&ours(), &[], &rows(unit(0, 0)).schema(), &to).unwrap();
        let table = Table::open(&to).unwrap();
        assert_eq!(table.units(), []);
        assert_eq!(*table.schema(), rows(unit(0, 0)).schema());
    }

    #[test]
    fn tables_with_other_columns_are_refused() {
        let dir = tempdir().unwrap();
        let other = rows(unit(0, 1)).project(&[0, 1]).unwrap();
        let other = Table::from_bytes(encode(&ours(), unit(0, 1), 0, &other).unwrap()).unwrap();
        let a = memory(0, 0);
        let error =
            concatenate(&ours(), &[(&a, 0), (&other, 0)], a.schema(), &dir.path().join("t")).unwrap_err();
        assert!(matches!(error, TableError::OtherColumns { .. }), "{error}");
        assert_eq!(files(dir.path()), 0);
    }

    /// Opens, reads and copies a changed file: each must fail or be harmless, and one of them must fail.
    fn is_refused(bytes: Vec<u8>, dir: &Path) -> bool {
        let Ok(table) = Table::from_bytes(bytes.into()) else { return true };
        let sources: Vec<_> = (0..table.units().len()).map(|index| (&table, index)).collect();
        let to = dir.join("copy");
        let copied = concatenate(&ours(), &sources, table.schema(), &to);
        assert_eq!(copied.is_err(), !to.exists());
        let read = sources.iter().all(|(table, index)| table.read(*index, &COLUMNS).is_ok());
        copied.is_err() && !read
    }

    #[test]
    fn every_changed_byte_and_every_truncation_is_seen() {
        let dir = tempdir().unwrap();
        let [a, b] = [memory(0, 0), memory(0, 1)];
        let right = concatenated(&[(&a, 0), (&b, 0)], &dir.path().join("right"));
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
        let error = Table::from_bytes(writer.into_inner().unwrap().into()).unwrap_err().to_string();
        assert!(error.contains("has no `emphatic.checksum`"), "{error}");
    }

    #[test]
    fn a_failed_write_leaves_what_was_there() {
        let dir = tempdir().unwrap();
        let to = dir.path().join("t");
        fs::write(&to, "before").unwrap();
        let full = || io::Error::from(ErrorKind::StorageFull);
        let error = write_atomically(&to, |_| Err(TableError::parquet(&to)(full().into()))).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the disk is full: could not write ") && text.contains("t; what"), "{text}");
        assert_eq!(fs::read(&to).unwrap(), b"before");
        assert_eq!(files(dir.path()), 1);
        let directory = dir.path().join("directory");
        fs::create_dir(&directory).unwrap();
        assert!(write_atomically(&directory, |_| Ok(())).is_err());
        assert_eq!(files(dir.path()), 2);
    }
}
