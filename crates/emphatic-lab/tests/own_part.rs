//! The example of a part of one's own runs: an experiment file names a part that this crate does not know.

#[path = "../examples/truncated.rs"]
#[allow(dead_code, reason = "what the example has for its readers")]
mod truncated;

#[test]
fn the_example_runs() {
    truncated::main().unwrap();
    // Its part is in the catalogue of this process now, beside all others, and nobody can exchange that any more.
    let catalogue = emphatic::Catalogue::current();
    assert_eq!(catalogue.iter().count(), emphatic::Catalogue::standard().iter().count() + 1);
    assert!(emphatic::Catalogue::standard().clone().install().is_err());
}
