//! The committed JSON Schema is what the types say, and the shipped problems fit it.

#[test]
fn the_committed_schema_is_up_to_date() {
    let committed = include_str!("../problem.schema.json");
    assert_eq!(
        committed,
        format!("{:#}\n", emphatic_problems::schema()),
        "problem.schema.json is out of date; update it with\n\
         cargo run --package emphatic-cli -- schema problem > crates/emphatic-problems/problem.schema.json"
    );
}
