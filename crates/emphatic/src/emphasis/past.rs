//! The last few steps of a stream, newest first.

use crate::{Real, StateError, Visitor};

/// The last few values of some numbers. As many as there is room for are remembered; those before the first step are zero.
#[derive(Clone, Debug)]
pub(super) struct Past<R, const K: usize> {
    entries: Vec<[R; K]>,
    /// Where the newest is.
    newest: usize,
}

impl<R: Real, const K: usize> Past<R, K> {
    /// Room for this many steps, at least one.
    pub(super) fn new(steps: usize) -> Self {
        Self { entries: vec![[R::zero(); K]; steps.max(1)], newest: 0 }
    }

    /// Remembers the numbers of a step, and forgets those of the oldest.
    #[inline(always)]
    pub(super) fn push(&mut self, numbers: [R; K]) {
        self.newest = if self.newest == 0 { self.entries.len() - 1 } else { self.newest - 1 };
        self.entries[self.newest] = numbers;
    }

    /// The numbers of all steps, the oldest first.
    #[inline(always)]
    pub(super) fn oldest_first(&self) -> impl Iterator<Item = &[R; K]> {
        let (older, newer) = self.entries.split_at(self.newest);
        older.iter().rev().chain(newer.iter().rev())
    }

    /// The numbers of the oldest step.
    #[inline(always)]
    pub(super) fn oldest(&self) -> [R; K] {
        let last = self.entries.len() - 1;
        self.entries[if self.newest == 0 { last } else { self.newest - 1 }]
    }

    /// Shows the numbers to a visitor by their names, the newest first.
    pub(super) fn tensors(&mut self, visitor: &mut Visitor, names: [&str; K]) -> Result<(), StateError> {
        self.entries.rotate_left(self.newest);
        self.newest = 0;
        names.iter().enumerate().try_for_each(|(k, name)| {
            visitor.numbers(name, self.entries.iter_mut().map(|entry| &mut entry[k]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_steps_are_remembered_as_there_is_room_for() {
        let mut past = Past::<f64, 1>::new(3);
        for t in 1..=5 {
            past.push([f64::from(t)]);
        }
        let all = |past: &Past<f64, 1>| past.oldest_first().map(|[x]| *x).collect::<Vec<_>>();
        assert_eq!((all(&past), past.oldest()), (vec![3.0, 4.0, 5.0], [3.0]));
        let mut saved = crate::SavedState::empty();
        past.tensors(&mut Visitor::save(&mut saved), ["x"]).unwrap();
        assert_eq!((all(&past), past.oldest()), (vec![3.0, 4.0, 5.0], [3.0]));
        past.push([6.0]);
        assert_eq!(all(&past), [4.0, 5.0, 6.0]);
        past.tensors(&mut Visitor::restore(&saved), ["x"]).unwrap();
        assert_eq!(all(&past), [3.0, 4.0, 5.0]);
    }
}
