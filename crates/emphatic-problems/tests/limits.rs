//! Problems that are too large are refused before any work is done, and messages stay short.

use emphatic_problems::{FileError, ProblemFile, suggest};
use miette::Diagnostic;

fn refused(text: &str) -> FileError {
    ProblemFile::parse(text, "p.toml").expect_err("it is refused")
}

#[track_caller]
fn says(error: &FileError, right: &str) {
    assert!(error.to_string().contains(right), "{error}");
}

/// Once it took minutes and gigabytes before they were refused.
#[test]
fn large_random_problems_are_refused_by_their_numbers() {
    for (gamma, states, actions, branching) in [
        (0.9, 1_000_000, 1, 9),
        (0.9, 1_000_000, 1, 3),
        (0.9, 1_000_000, 5, 1),
        (0.0, 1_000_000, 1, 9),
        (1.0, 80_000, 3, 3),
    ] {
        let error = refused(&format!(
            "gamma = {gamma}\nbehaviour = \"uniform\"\n[random]\nseed = 1\nstates = {states}\nactions = {actions}\nbranching = {branching}\nend = 0.1\n"
        ));
        says(
            &error,
            &format!("eliminating the {states} states one by one would fill more than 50000000 entries"),
        );
    }
}

/// Once all cells of a map were built before they were counted, and the walls with them.
#[test]
fn cells_of_a_map_are_counted_while_they_are_read() {
    let map = |row: &str| {
        format!("behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\nS.G\n{}\"\"\"\n", row.repeat(1000))
    };
    says(&refused(&map(&(".".repeat(1001) + "\n"))), "at most 1000000 cells that are not walls are possible");
    let problem = ProblemFile::parse(&map(&("#".repeat(1001) + "\n")), "p.toml").expect("three cells");
    assert_eq!(problem.known.states(), ["r0c0", "r0c1", "r0c2"]);
}

/// Once such a file took more than two hundred times its size to read.
#[test]
fn values_are_counted_before_they_are_read() {
    let tables = "{a=1},".repeat(4_000_000);
    says(&refused(&format!("transitions = [{tables}]\n")), "at most 40000000 values can be read");
    let problem = refused(&format!("{{\"transitions\": [{}]}}", tables.replace('=', ":")));
    says(&problem, "at most 40000000 values can be read");
}

#[test]
fn at_most_a_million_states_have_names() {
    let names: String = (0..=1_000_000).map(|s| format!("\"{s}\",")).collect();
    let error = refused(&format!(
        "states = [{names}]\nactions = 1\nstart = 0\nbehaviour = \"uniform\"\ntransitions = []\n"
    ));
    says(&error, "`states` is a list of 1000001; at most 1000000 are possible");
}

/// Once the weights were allotted, however many there were.
#[test]
fn at_most_ten_million_weights_are_possible() {
    let error = refused(&format!(
        "states = 1\nactions = 10_000\nstart = 0\nbehaviour = \"uniform\"\ntransitions = [{{ from = 0, action = [{}], end = true }}]\n\
         [features]\nactor = {{ 0 = [{}] }}\n",
        (0..10_000).map(|a| format!("{a},")).collect::<String>(),
        "1,".repeat(1001)
    ));
    says(&error, "1001 features and 10000 actions make 10010000 weights; at most 10000000 are possible");
}

/// Once a misspelt name was compared with all others, in time in proportion to the square of their lengths, and all of it printed.
#[test]
fn names_may_be_long() {
    let names: String = (0..200).map(|s| format!("\"{}{s}\",", "long".repeat(7500))).collect();
    let start = "lung".repeat(7500);
    let rest = "behaviour = \"uniform\"\ntransitions = [{ from = 0, action = 0, end = true }]\n";
    for text in [
        format!("states = [{names}]\nactions = 1\nstart = \"{start}\"\n{rest}"),
        format!("states = [{names}{names}]\nactions = 1\nstart = 0\n{rest}"),
        format!("{start} = 1\n"),
        format!("interest = \"{start}\"\n"),
        format!("behaviour = \"{start}\"\n"),
        format!("problem = \"{start}\"\n"),
        format!("{start} = 1\n{start} = 2\n"),
    ] {
        let error = refused(&text);
        let help = error.help().map(|help| help.to_string()).unwrap_or_default();
        assert!(error.to_string().len() < 2000 && help.len() < 2000, "{error} {help}");
    }
}

/// Once a misspelt name was compared with each of a million.
#[test]
fn not_too_many_names_are_compared() {
    let names: Vec<String> = (0..1_000_000).map(|s| format!("state{s:035}")).collect();
    let help = suggest("staet00000000000000000000000000000000001", names.iter().map(String::as_str));
    assert!(help.is_some_and(|help| help.ends_with(" and 999980 more")));
    let few = ["states", "actions", "start", "gamma"].into_iter();
    assert_eq!(suggest("Stats", few.clone()).as_deref(), Some("did you mean `states`?"));
    assert_eq!(
        suggest("x".repeat(30_000).as_str(), few).as_deref(),
        Some("there are states, actions, start, gamma")
    );
    assert_eq!(suggest("any", std::iter::empty()), None);
}
