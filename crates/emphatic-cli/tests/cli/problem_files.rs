//! Problem files and the problems that come with the program: `emphatic new`, `solve` and `diagnose`.

use crate::common::{Bench, bytes, emphatic, ended_on, printed, refused, says, succeeded, text};
use emphatic_problems::SHIPPED;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of the shipped files.
fn problems() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems")
}

/// The small ones: without optimisation the large one takes long.
fn small() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.name).filter(|name| *name != "large-grid")
}

/// Returns the solution of a problem, without its name.
#[track_caller]
fn solution(file: &Path) -> Value {
    let output = succeeded(ended_on("solve", file, &["--json"]));
    let mut all: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    all.as_object_mut().expect("a table").remove("problem");
    all
}

#[track_caller]
fn diagnosis(name: &str) -> Value {
    let json = printed(["diagnose", name, "--starts", "3", "--json", "--quiet"]);
    serde_json::from_str(&json).expect("it is JSON")
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

#[track_caller]
fn near(list: &[f64], right: &[f64], digits: f64) {
    assert_eq!(list.len(), right.len(), "{list:?}");
    assert!(list.iter().zip(right).all(|(x, y)| (x - y).abs() <= digits), "{list:?} is not {right:?}");
}

#[test]
fn every_shipped_problem_can_be_solved_by_name_and_as_a_file() {
    let mut files = 0;
    for entry in fs::read_dir(problems()).expect("the directory is there") {
        let path = entry.expect("it is read").path();
        let name = path.file_stem().and_then(OsStr::to_str).expect("a name").to_owned();
        assert!(SHIPPED.iter().any(|shipped| shipped.name == name), "{name} is not shipped");
        files += 1;
        if name != "large-grid" {
            assert_eq!(solution(&path), solution(Path::new(&name)), "{name}");
            succeeded(ended_on("solve", &path, &[]));
        }
    }
    assert_eq!(files, SHIPPED.len());
}

/// The large grid, made smaller.
#[test]
fn a_grid_of_thousands_of_cells_is_solved() {
    let bench = Bench::empty();
    let grid = fs::read_to_string(problems().join("large-grid.toml")).expect("it is there");
    let grid = grid.replace("rows = 316", "rows = 60").replace("columns = 317", "columns = 50");
    let file = bench.write("grid.toml", grid.replace("r315c316", "r59c49"));
    let solution = solution(&file);
    assert_eq!(solution["states"].as_array().map(Vec::len), Some(3000));
    for (name, column) in solution["columns"].as_object().expect("a table") {
        let column = numbers(column);
        assert!(column.len() == 3000 && column.iter().all(|x| x.is_finite()), "{name}");
    }
    assert!((numbers(&solution["columns"]["stationary"]).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // 6 × 5 squares, four actions.
    assert_eq!(solution["gradients"]["gradient"].as_array().map(Vec::len), Some(120));
    let output = succeeded(ended_on("solve", &file, &["--top", "7"]));
    assert!(says(&output, "The 7 of 3000 states"), "{}", text(&output));
    let output = succeeded(ended_on("solve", &file, &["--csv"]));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3001);
}

/// A problem that uses every key of a listed problem.
const TOML: &str = include_str!("../problems/every-key.toml");

/// The same in JSON, as tools write it.
const JSON: &str = include_str!("../problems/every-key.json");

/// Pairs of the same pattern.
const PATTERNS: [(&str, &str); 3] = [
    (
        "start = \"r0c0\"\ngamma = 0.9\nbehaviour = \"uniform\"\ntarget = \"uniform\"\ninterest = 2\n\
         [grid]\nrows = 4\ncolumns = 5\nplaces = { G = \"r3c4\", \"#\" = [\"r1c1\", \"r1c2\"], L = \"r2c2\" }\n\
         cells = { L = { reward = -1, end = true } }\nslip = 0.1\nstep_reward = -0.01\n\
         [features]\nactor = { blocks = 2 }\ncritic = \"actor\"\n",
        r##"{"start": "r0c0", "gamma": 0.9, "behaviour": "uniform", "target": "uniform", "interest": 2,
            "grid": {"rows": 4, "columns": 5, "places": {"G": "r3c4", "#": ["r1c1", "r1c2"], "L": "r2c2"},
                     "cells": {"L": {"reward": -1, "end": true}}, "slip": 0.1, "step_reward": -0.01},
            "features": {"actor": {"blocks": 2}, "critic": "actor"}}"##,
    ),
    (
        "behaviour = { left = 0.4, right = 0.6 }\ntarget = { weights = [0, 1, 0, 1, 0, 1] }\n\
         [chain]\nstates = 3\nleft = { end = true, reward = -1 }\nright = { end = true, reward = 1 }\n\
         slip = 0.25\nstep_reward = 0.5\n",
        r#"{"behaviour": {"left": 0.4, "right": 0.6}, "target": {"weights": [0, 1, 0, 1, 0, 1]},
            "chain": {"states": 3, "left": {"end": true, "reward": -1}, "right": {"end": true, "reward": 1},
                      "slip": 0.25, "step_reward": 0.5}}"#,
    ),
    (
        "gamma = 0.9\nbehaviour = \"uniform\"\ntarget = { shortest_path = \"r0c2\" }\n\
         [grid]\nmap = \"S.H.\"\ncells = { H = { enter = { reward = 1, gamma = 0 } } }\n\
         [features]\ncritic = { random_binary = { features = 3, ones = 2, seed = 1 } }\n",
        r#"{"gamma": 0.9, "behaviour": "uniform", "target": {"shortest_path": 2},
            "grid": {"map": "S.H.", "cells": {"H": {"enter": {"reward": 1, "gamma": 0}}}},
            "features": {"critic": {"random_binary": {"features": 3, "ones": 2, "seed": 1}}}}"#,
    ),
];

#[test]
fn json_means_the_same_as_toml() {
    let bench = Bench::empty();
    let same = |toml: &str, json: &str| {
        let (toml, json) = (bench.write("p.toml", toml), bench.write("p.json", json));
        let solved = |file: &Path| {
            let output = succeeded(ended_on("solve", file, &["--json"]));
            let text = String::from_utf8(output.stdout).expect("it is text");
            text.replace(&file.display().to_string(), "name")
        };
        assert_eq!(solved(&toml), solved(&json));
    };
    same(TOML, JSON);
    same(TOML, &JSON.replace('\n', "\r\n"));
    same(TOML, &JSON.replace("\n", " "));
    // Once these escapes were refused, though Python and others write them.
    let named = |name: &str, text: &str| {
        text.replace("\"S1\"", &format!("\"{name}\"")).replace("S1 =", &format!("\"{name}\" ="))
    };
    same(&named("😀/🂡", TOML), &named("\\ud83d\\ude00\\/\\uD83C\\uDCA1", JSON));
    PATTERNS.iter().for_each(|(toml, json)| same(toml, json));
    let map = "{\"behaviour\": \"uniform\", \"grid\": {\"map\": \"####\\n#SG#\\n####\"}}";
    same("behaviour = \"uniform\"\n[grid]\nmap = \"\"\"\n####\n#SG#\n####\"\"\"\n", map);
    let random =
        "behaviour = \"uniform\"\n[random]\nseed = 3\nstates = 5\nactions = 2\nbranching = 2\nend = 0.1\n";
    let as_json = r#"{"random": {"seed": 3, "states": 5, "actions": 2, "branching": 2, "end": 0.1}, "behaviour": "uniform"}"#;
    same(random, as_json);
    same("problem = \"near-optimal\"\n", "{\"problem\": \"near-optimal\"}");
}

#[test]
fn states_and_actions_go_by_name_or_number() {
    let bench = Bench::empty();
    let list = |from: [&str; 2], actions: [&str; 2]| {
        let [one, two] = from;
        let [left, right] = actions;
        format!(
            "start = {one}\ngamma = 0.9\nbehaviour = \"uniform\"\ntarget = {{ weights = [1, 0, 0, 2] }}\ntransitions = [\n\
             {{ from = {one}, action = {left}, to = {two}, reward = 1 }},\n\
             {{ from = {one}, action = {right}, to = [{one}, {two}] }},\n\
             {{ from = [{two}], action = [{left}, {right}], end = true, reward = 3 }},\n]\n\
             features.critic = {{ alias = [[{one}, {two}]] }}\n"
        )
    };
    let named = "states = [\"0\", \"1\"]\nactions = [\"0\", \"1\"]\n".to_owned();
    let numbered = "states = 2\nactions = 2\n".to_owned();
    let (names, plain) = (["\"0\"", "\"1\""], ["0", "1"]);
    let files = [
        named.clone() + &list(names, names),
        named + &list(plain, plain),
        numbered.clone() + &list(names, plain),
        numbered + &list(plain, plain),
    ];
    let solutions = files.map(|text| solution(&bench.write("p.toml", &text)));
    assert!(solutions.iter().all(|s| *s == solutions[0]), "{solutions:#?}");
}

/// A variant of a grid is a grid.
#[test]
fn a_variant_keeps_the_neighbours_of_its_cells() {
    let bench = Bench::empty();
    let variant = bench.write("v.toml", "problem = \"four-rooms\"\nfeatures.actor = { blocks = 3 }\n");
    assert_eq!(solution(&variant), solution(Path::new("four-rooms")));
}

#[test]
fn new_writes_the_shipped_text_once() {
    let bench = Bench::empty();
    let new = |arguments: &[&str]| bench.ended(&[&["new"], arguments].concat());
    for shipped in &SHIPPED {
        let output = succeeded(new(&[shipped.name]));
        let file = format!("{}.toml", shipped.name);
        assert!(says(&output, &format!("{file} is written")), "{}", text(&output));
        assert_eq!(fs::read_to_string(bench.path(&file)).expect("it is there"), shipped.text);
    }
    let own = bench.write("chain.toml", "# my own\n");
    refused(&new(&["chain"]), &["chain.toml is already there"]);
    refused(&new(&["random", "--out", "chain.toml"]), &["chain.toml is already there"]);
    assert_eq!(bytes(&own).as_deref(), Some(&b"# my own\n"[..]));
    succeeded(new(&["random", "--out", "other.toml"]));
    refused(&new(&["random", "--out", "missing/other.toml"]), &["cannot be written"]);
    for wrong in [&["cartpole"][..], &["Chain"], &[""], &[], &["chain", "random"]] {
        assert_eq!(new(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn exact_values_of_the_shipped_problems() {
    let of = |name: &str| solution(Path::new(name));
    let column = |name: &str, column: &str| numbers(&of(name)["columns"][column]);
    near(&column("counterexample", "stationary"), &[0.5, 0.125, 0.375], 1e-12);
    assert_eq!(of("counterexample")["objective"].as_f64(), Some(0.6875));
    let long =
        [0.18168, 0.06006, 0.18018, 0.01952, 0.17568, 0.00601, 0.16216, 0.00150, 0.12162, 0.00038, 0.09122];
    near(&column("long-counterexample", "stationary"), &long, 5e-6);
    near(&column("continuous-counterexample", "stationary"), &[0.5, 0.151633, 0.348367], 5e-7);
    near(&column("theta-2theta", "emphatic_weighting"), &[0.5, 9.5], 1e-12);
    near(&column("five-states", "value"), &[4.0, 3.0, 2.0, 1.0, 1.0], 1e-12);
    near(&column("baird", "stationary"), &[1.0 / 7.0; 7], 1e-12);
    near(&column("baird", "value"), &[0.0; 7], 1e-12);
}

#[test]
fn where_flows_lead() {
    for (name, best, semi_gradient) in [
        ("counterexample", 1.25, 0.875),
        ("near-optimal", 1.25, 0.875),
        ("long-counterexample", 1.817568, 0.999625),
        ("continuous-counterexample", 1.303265, 0.848367),
        ("slippery-long-counterexample", 1.821881, 0.998306),
        ("baird-control", 98.571429, 0.0),
        ("two-circles", 2.475, 2.475),
    ] {
        let flows = &diagnosis(name)["flows"];
        let reached = |lambda_a: f64| {
            let reached = flows["reached"].as_array().expect("a list");
            let found = reached.iter().find(|r| r["lambda_a"].as_f64() == Some(lambda_a));
            found.and_then(|r| r["objective"].as_f64()).expect("a number")
        };
        let found = flows["best"].as_f64().expect("a number");
        near(&[found, reached(0.0)], &[best, semi_gradient], 1e-3);
        assert_eq!(flows["unbounded"], false, "{name}");
    }
}

#[test]
fn which_critics_are_stable() {
    let eigenvalues = |critic: &Value| -> Vec<f64> {
        let list = critic["eigenvalues"].as_array().expect("a list");
        list.iter()
            .map(|z| {
                let z = numbers(z);
                assert!(z[1].abs() < 1e-9, "{z:?}");
                z[0]
            })
            .collect()
    };
    let two = diagnosis("theta-2theta");
    near(&eigenvalues(&two["critics"]["td"]), &[-0.2], 1e-9);
    near(&eigenvalues(&two["critics"]["etd"]), &[3.4], 1e-9);
    assert_eq!(
        (&two["critics"]["td"]["stable"], &two["critics"]["etd"]["stable"]),
        (&false.into(), &true.into())
    );
    near(&numbers(&two["emphasis"]["spectral_radius"]), &[1.62, 1.62], 1e-6);
    assert_eq!(two["emphasis"]["finite"], false);
    let baird = diagnosis("baird");
    assert_eq!(baird["critics"]["td"]["stable"], false);
    let root = 2.3089_f64.sqrt();
    let mut right = vec![(-1.83 - root) / 14.0, (-1.83 + root) / 14.0];
    right.extend([4.0 / 7.0; 5]);
    near(&eigenvalues(&baird["critics"]["td"]), &right, 1e-6);
    near(&numbers(&baird["emphasis"]["spectral_radius"]), &[6.8607, 6.8607], 1e-5);
    let five = diagnosis("five-states");
    assert_eq!(
        (&five["critics"]["td"]["stable"], &five["critics"]["etd"]["stable"]),
        (&true.into(), &true.into())
    );
    assert_eq!(five["emphasis"]["finite"], true);
}

#[test]
fn what_diagnose_writes_is_an_experiment() {
    for name in
        ["counterexample", "near-optimal", "four-rooms", "chain", "random", "continuous-counterexample"]
    {
        let bench = Bench::empty();
        let diagnose = ["diagnose", name, "--starts", "0", "--quiet", "--write", "first.toml"];
        assert!(says(&succeeded(bench.ended(&diagnose)), "first.toml is written"), "{name}");
        succeeded(bench.ended(&["check", "first.toml"]));
        let written = bytes(&bench.path("first.toml"));
        refused(&bench.ended(&diagnose), &["first.toml is already there"]);
        assert_eq!(bytes(&bench.path("first.toml")), written, "{name}");
    }
}

#[test]
fn what_diagnose_writes_finds_the_problem_file() {
    let bench = Bench::empty();
    let dir = bench.path("");
    fs::create_dir_all(bench.path("my problems/ä")).expect("it is made");
    fs::create_dir_all(bench.path("experiments/first")).expect("it is made");
    let counterexample = fs::read_to_string(problems().join("counterexample.toml")).expect("it is there");
    bench.write("my problems/ä/one.toml", &counterexample);
    bench.write("two.json", JSON);
    // A file that has the name of a shipped problem is still a file.
    bench.write("chain", &counterexample);
    let run =
        |dir: &Path, arguments: &[&str]| emphatic(arguments).current_dir(dir).output().expect("it runs");
    let mut k = 0;
    let mut written = |problem: &str, to: &str, refers: &str| {
        k += 1;
        let to = format!("{to}experiment{k}.toml");
        let options = ["--starts", "0", "--quiet", "--write", &to];
        succeeded(run(&dir, &[&["diagnose", problem][..], &options].concat()));
        let text = fs::read_to_string(dir.join(&to)).expect("it is written");
        assert!(text.contains(&format!("problem = \"{refers}\"")), "{text}");
        succeeded(run(&dir, &["check", &to]));
        // From wherever it is run.
        let path = dir.join(&to);
        succeeded(run(path.parent().expect("it has one"), &["check", &path.display().to_string()]));
    };
    written("my problems/ä/one.toml", "", "my problems/ä/one.toml");
    written("my problems/ä/one.toml", "experiments/first/", "../../my problems/ä/one.toml");
    written("two.json", "experiments/", "../two.json");
    let absolute = dir.join("two.json").display().to_string();
    written(&absolute, "experiments/first/", "../../two.json");
    written("./my problems/ä/../../two.json", "my problems/", "../two.json");
    let chain = "diagnose chain --starts 0 --quiet --json".split(' ').collect::<Vec<_>>();
    let chain: Value = serde_json::from_slice(&succeeded(run(&dir, &chain)).stdout).expect("it is JSON");
    assert_eq!(chain["size"]["states"], 3);
    // Once the experiment named the shipped chain in place of the file, or a file that it could not find.
    bench.write("notes.txt", &counterexample);
    for name in ["chain", "notes.txt"] {
        let output = run(&dir, &["diagnose", name, "--starts", "0", "--quiet", "--write", "w.toml"]);
        refused(&output, &["an experiment could not name the problem file", ".toml or .json"]);
    }
    // Once a directory hid a shipped problem.
    fs::create_dir(bench.path("baird")).expect("it is made");
    succeeded(run(&dir, &["solve", "baird"]));
}

#[test]
fn figures_are_drawn() {
    let bench = Bench::empty();
    let draw = |name: &str, figure: &str| {
        bench.ended(&["diagnose", name, "--starts", "0", "--quiet", "--figure", figure])
    };
    for name in ["counterexample", "continuous-counterexample"] {
        succeeded(draw(name, "flows.svg"));
        let svg = fs::read_to_string(bench.path("flows.svg")).expect("it is there");
        assert!(svg.trim_start().starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
        succeeded(draw(name, "flows.png"));
        let png = bytes(&bench.path("flows.png")).expect("it is there");
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 1000, "{name}");
    }
    for wrong in ["flows.txt", "flows", "svg", ""] {
        assert_eq!(draw("counterexample", wrong).status.code(), Some(2), "{wrong}");
    }
    assert!(!bench.path("flows.txt").exists());
    refused(&draw("counterexample", "missing/flows.svg"), &["cannot be written"]);
    // Once an experiment was not written either, if nothing could be drawn.
    let both = ["--figure", "missing/flows.svg", "--write", "first.toml"];
    refused(
        &bench.ended(&[&["diagnose", "counterexample", "--starts", "0"], &both[..]].concat()),
        &["cannot"],
    );
    assert!(bench.path("first.toml").exists());
}

#[test]
fn experiments_name_shipped_problems_and_files() {
    let bench = Bench::empty();
    bench.write("p.json", JSON);
    bench.write("p.toml", TOML);
    let check = |problem: &str| {
        let algorithm = if problem == "continuous-counterexample" { "dpg" } else { "offpac" };
        let file = bench.write(
            "e.toml",
            format!(
                "problem = \"{problem}\"\nruns = 1\nsteps = 10\n\
                 [[method]]\nalgorithm = \"{algorithm}\"\nalpha = 0.01\ncritic = \"exact\"\n"
            ),
        );
        succeeded(ended_on("check", &file, &[]));
    };
    small().for_each(check);
    check("p.json");
    check("p.toml");
}
