//! Experiments whose behaviour is the policy of a saved learner.

use emphatic_lab::store::Kind;
use emphatic_lab::{Experiment, LaneCount, Options, Shard, Stop, merge, read_runs, run};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Writes a softmax over the observation of Mountain Car, as Python saves it: with the velocity, more or less.
fn write_driver(path: &Path, gain: f64) {
    let settings = json!({ "class": "ACE", "policy": { "kind": "softmax", "features": { "kind": "dense", "len": 2 } }, "actions": 3 });
    let weights = [0.0, 0.0, 0.0, -gain, 0.0, gain];
    let header = json!({
        "__metadata__": { "format": "emphatic learner 2", "settings": settings.to_string(), "problems": "[]" },
        "weights": { "dtype": "F64", "shape": [6], "data_offsets": [0, 48] },
    });
    let text = header.to_string().into_bytes();
    let data = weights.iter().flat_map(|weight: &f64| weight.to_le_bytes());
    let bytes: Vec<u8> = (text.len() as u64).to_le_bytes().into_iter().chain(text).chain(data).collect();
    fs::write(path, bytes).unwrap();
}

const EXPERIMENT: &str = r#"
problem = { name = "mountain-car", limit = 200 }
features = { kind = "tiles", tilings = 4, tiles = 4 }
behaviour = [
    { policy = "drivers/driver.safetensors" },
    { policy = "drivers/driver.safetensors", epsilon = 0.2 },
    { mixture = [{ share = 0.5, behaviour = "uniform" }, { share = 0.5, behaviour = { policy = "other" } }] },
]
runs = 3
steps = 600
evaluations = 2
record = ["return", "rho"]
rollouts = { episodes = 2, cap = 50 }

[[method]]
algorithm = "ace"
alpha = [0.01, 0.1, 0.3]
critic = { kind = "tdrc", alpha_v = [0.05, 0.1] }
"#;

/// Writes the experiment with its policies to a directory.
fn written(dir: &Path, text: &str) -> std::path::PathBuf {
    fs::create_dir_all(dir.join("drivers")).unwrap();
    write_driver(&dir.join("drivers/driver.safetensors"), 50.0);
    write_driver(&dir.join("other"), -20.0);
    let path = dir.join("experiment.toml");
    fs::write(&path, text).unwrap();
    path
}

fn results(dir: &Path) -> Vec<u8> {
    fs::read(dir.join("results.parquet")).unwrap()
}

fn run_with(experiment: &Experiment, dir: &Path, change: impl Fn(&mut Options)) {
    let mut options = Options::default();
    change(&mut options);
    run(experiment, dir, &options, &Stop::default(), &mut |_| {}).unwrap();
}

#[test]
fn results_are_the_same_for_any_threads_lanes_and_shards_and_from_the_copies() {
    let dir = tempfile::tempdir().unwrap();
    let path = written(dir.path(), EXPERIMENT);
    let experiment = Experiment::open(&path).unwrap();
    let out = dir.path().join("out");
    run_with(&experiment, &out, |options| options.threads = 1);
    let right = results(&out);
    let other = dir.path().join("other way");
    run_with(&experiment, &other, |options| (options.threads, options.lanes) = (3, LaneCount::One));
    assert!(results(&other) == right);
    // The directory alone is the same experiment, though the policies are gone: its own files can be run and merged.
    fs::remove_dir_all(dir.path().join("drivers")).unwrap();
    fs::remove_file(dir.path().join("other")).unwrap();
    let copied = Experiment::open(&out.join("experiment.toml")).unwrap();
    assert_eq!(copied.identity(), experiment.identity());
    let shards: Vec<_> = (1..=2)
        .map(|index| {
            let shard = dir.path().join(format!("shard-{index}"));
            run_with(&copied, &shard, |options| options.shard = Some(Shard { index, count: 2 }));
            shard
        })
        .collect();
    let merged = dir.path().join("merged");
    merge(&shards, &merged).unwrap();
    assert!(results(&merged) == right);
}

#[test]
fn another_policy_is_another_experiment() {
    let dir = tempfile::tempdir().unwrap();
    let path = written(dir.path(), EXPERIMENT);
    let before = Experiment::open(&path).unwrap().identity();
    assert_eq!(Experiment::open(&path).unwrap().identity(), before);
    write_driver(&dir.path().join("other"), -21.0);
    assert_ne!(Experiment::open(&path).unwrap().identity(), before);
}

#[test]
fn behaviours_that_make_no_sense_are_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), EXPERIMENT);
    fs::write(dir.path().join("cut.safetensors"), b"no").unwrap();
    write_driver(&dir.path().join("driver.safetensors"), 1.0);
    let start = EXPERIMENT.find("behaviour = [").unwrap();
    let end = EXPERIMENT.find("runs = 3").unwrap();
    let refusal = |behaviour: &str, simulator: &str| {
        let text = format!("{}behaviour = {behaviour}\n{}", &EXPERIMENT[..start], &EXPERIMENT[end..]);
        let text = text.replace("{ name = \"mountain-car\", limit = 200 }", &format!("\"{simulator}\""));
        Experiment::parse(&text, "experiment.toml", dir.path()).unwrap_err().to_string()
    };
    let car = |behaviour: &str| refusal(behaviour, "mountain-car");
    assert!(car("{ policy = \"none.safetensors\" }").contains("none.safetensors: "));
    assert!(car("{ policy = \"drivers\" }").contains("not a file"));
    assert!(car("{ policy = \"cut.safetensors\" }").contains("it has no header"));
    assert!(car("{ policy = \"other\", epsilon = 2 }").contains("`epsilon` is 2"));
    assert!(car("{ policy = \"other\", colour = 2 }").contains("no `colour`"));
    assert!(
        car("{ policy = \"other\", epsilon = \"x\" }").contains("expected a number, found the text \"x\"")
    );
    assert!(car("{ policy = \"other\", epsilon = { x = 1 } }").contains("`epsilon` must be a number"));
    assert!(car("{ policy = \"other\", epsilon = -0.1 }").contains("`epsilon` is -0.1"));
    assert!(car("{ policy = [] }").contains("`policy` must be the path of a file"));
    assert!(car("{ mixture = \"other\" }").contains("`mixture` must be a list of parts"));
    assert!(car("{ policy = \"other\", mixture = [] }").contains("make it a part"));
    let nested =
        format!("{}\"uniform\"{}", "{ mixture = [{ share = 1, behaviour = ".repeat(2000), "}]}".repeat(2000));
    assert!(car(&nested).contains("nest"), "{}", car(&nested));
    assert!(car("{ mixture = [] }").contains("has no parts"));
    assert!(car("{ mixture = [{ share = 0, behaviour = \"uniform\" }] }").contains("sum to 0, not to 1"));
    assert!(car("{ mixture = [{ share = 0.5, behaviour = \"uniform\" }] }").contains("sum to 0.5"));
    assert!(car("{ mixture = [{ share = -1, behaviour = \"uniform\" }] }").contains("is -1"));
    assert!(car("{ mixture = [{ share = 1, behaviour = \"uniform\" }], left = 1 }").contains("`left`"));
    assert!(
        car("[{ policy = \"driver.safetensors\" }, { policy = \"drivers/driver.safetensors\" }]")
            .contains("two saved")
    );
    assert!(car("[{ policy = \"other\" }, { policy = \"other\" }]").contains("twice"));
    assert!(refusal("{ policy = \"other\" }", "cart-pole").contains("observations of 2 numbers"));
    assert!(refusal("{ policy = \"other\" }", "linear-quadratic").contains("is a real number"));
    let known = "problem = \"counterexample\"\nbehaviour = { policy = \"other\" }\nruns = 1\nsteps = 1\n[[method]]\nalgorithm = \"offpac\"\nalpha = 0.1\ncritic = \"exact\"\n";
    let error = Experiment::parse(known, "experiment.toml", dir.path()).unwrap_err().to_string();
    assert!(error.contains("this problem is known exactly"), "{error}");
}

#[test]
fn a_run_does_not_go_on_with_another_policy() {
    let dir = tempfile::tempdir().unwrap();
    let path = written(dir.path(), EXPERIMENT);
    let out = dir.path().join("out");
    run_with(&Experiment::open(&path).unwrap(), &out, |_| {});
    let before = results(&out);
    write_driver(&dir.path().join("other"), -21.0);
    let other = Experiment::open(&path).unwrap();
    let error = run(&other, &out, &Options::default(), &Stop::default(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("another experiment"), "{error}");
    assert!(results(&out) == before);
}

#[test]
fn names_of_policies_may_hold_anything() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a \"b\" \u{7f} \\ #.safetensors", "experiment.toml.safetensors", "ä-ö"] {
        let toml = serde_json::to_string(name).unwrap().replace('\u{7f}', "\\u007f");
        let text = EXPERIMENT.replace("\"other\"", &toml);
        let path = written(dir.path(), &text);
        write_driver(&dir.path().join(name), -20.0);
        let experiment = Experiment::open(&path).unwrap();
        let out = dir.path().join(format!("out-{}", name.len()));
        run_with(&experiment, &out, |_| {});
        let copied = Experiment::open(&out.join("experiment.toml")).unwrap();
        assert_eq!(copied.identity(), experiment.identity(), "{name}");
    }
}

#[test]
fn the_policy_acts_as_the_file_says() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
problem = "mountain-car"
features = { kind = "observation", scale = "none" }
behaviour = { policy = "driver.safetensors", epsilon = 0 }
runs = 1
steps = 2000
evaluations = 1
record = ["rho", "excursions_return"]
rollouts = { episodes = 4, cap = 30, every = 50 }

[[method]]
algorithm = "offpac"
alpha = 0
critic = { kind = "td", alpha_v = 0.1 }
"#;
    let path = written(dir.path(), text);
    write_driver(&dir.path().join("driver.safetensors"), 50.0);
    let out = dir.path().join("out");
    run_with(&Experiment::open(&path).unwrap(), &out, |_| {});
    let runs = read_runs(&out, Kind::Results, "rho", &[0]).unwrap();
    // The learner stays uniform. The greedy behaviour takes its action for certain, ρ = 1/3, but where the car stands still, all alike, ρ = 1: at
    // every start, and at the wall on the left.
    let rho = runs[&0][0].last().unwrap();
    let still = (rho - 1.0 / 3.0) * 1.5 * 2000.0;
    assert!((still - still.round()).abs() < 1e-9 && (5.0..100.0).contains(&still), "{rho}");
}
