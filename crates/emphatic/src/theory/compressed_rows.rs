//! Rows of different lengths in one allocation (compressed sparse rows).

/// Rows of different lengths, stored one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CompressedRows<T> {
    pub(super) starts: Vec<usize>,
    pub(crate) entries: Vec<T>,
}

impl<T> CompressedRows<T> {
    pub(crate) fn new(rows: impl IntoIterator<Item = impl IntoIterator<Item = T>>) -> Self {
        let mut all = Self { starts: vec![0], entries: Vec::new() };
        for row in rows {
            all.entries.extend(row);
            all.starts.push(all.entries.len());
        }
        all
    }

    /// Rows of these lengths, still to be filled.
    pub(super) fn with_lengths(lengths: &[usize]) -> Self
    where
        T: Clone + Default,
    {
        let mut starts = vec![0];
        starts.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        Self { entries: vec![T::default(); starts[lengths.len()]], starts }
    }

    #[inline(always)]
    pub(crate) fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row]..self.starts[row + 1]
    }

    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &[T] {
        &self.entries[self.range(row)]
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
