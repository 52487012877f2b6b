//! The schema that lies beside the code is the one that the code gives.

#[test]
fn the_committed_schema_is_current() {
    let committed = include_str!("../experiment.schema.json");
    let current = format!("{:#}\n", emphatic_lab::schema());
    assert!(
        committed == current,
        "experiment.schema.json is out of date; update it with\n\
         cargo run --package emphatic-cli -- schema > crates/emphatic-lab/experiment.schema.json"
    );
}
