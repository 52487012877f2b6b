//! Work on several threads.

use crate::diagnose::Progress;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs all tasks on some threads and returns the results in the order of the tasks. `None` if `progress` returned `Break`.
pub(crate) fn in_threads<T: Sync, R: Send>(
    tasks: &[T],
    threads: usize,
    run: impl Fn(&T) -> R + Sync,
    progress: &Progress,
) -> Option<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((task, result)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|k| Some((tasks.get(k)?, &results[k])))
        {
            let outcome = run(task);
            if let Ok(mut place) = result.lock() {
                *place = Some(outcome);
            }
            if progress(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len()).is_break() {
                next.store(tasks.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(tasks.len()) {
            // If no more threads can be started, the others do the work.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    results.into_iter().map(|result| result.into_inner().ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn results_come_in_order() {
        let tasks: Vec<usize> = (0..50).collect();
        let results = in_threads(&tasks, 3, |task| task * 2, &|_, _| ControlFlow::Continue(()));
        assert_eq!(results, Some((0..50).map(|k| 2 * k).collect()));
    }

    #[test]
    fn no_task_is_begun_after_a_break() {
        let tasks: Vec<usize> = (0..50).collect();
        let begun = AtomicUsize::new(0);
        let run = |_: &usize| begun.fetch_add(1, Ordering::Relaxed);
        let progress =
            |done: usize, _: usize| if done < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        assert_eq!(in_threads(&tasks, 2, run, &progress), None);
        assert!(begun.into_inner() < 10);
    }
}
