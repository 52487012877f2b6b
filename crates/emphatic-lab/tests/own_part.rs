//! The example `capped` runs: an experiment file names a part that this crate does not know.

#[path = "../examples/capped.rs"]
#[allow(dead_code, reason = "the test does not use all of the example")]
mod capped;

#[test]
fn the_example_runs() {
    capped::main().unwrap();
    // Its part is now in the catalogue of this process, which cannot be replaced any more.
    let catalogue = emphatic::Catalogue::current();
    assert_eq!(catalogue.iter().count(), emphatic::Catalogue::standard().iter().count() + 1);
    assert!(emphatic::Catalogue::standard().clone().install().is_err());
}
