//! `diagnose` of simulators, by sampling.

use crate::common::{Bench, ended, ended_on, printed, refused, succeeded};

/// The lines of a text as one.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const TILES: &str = "tiles,tilings=4,tiles=4,bias=true";

#[test]
fn a_simulator_is_diagnosed_in_words() {
    let text = flat(&printed(["diagnose", "cart-pole", "--features", TILES, "--steps", "5000"]));
    for words in [
        "cart-pole: 5000 steps, 2 actions, 2501 features; by sampling",
        "had probability 0.5: a policy that has learned to take it always has the ratio ρ = 2",
        "5000 steps count like",
        "episodes end in 5000 steps, one in",
        "never active: nothing is learned about states that have them",
        "emphasis lambda-return, λ_a = 1, λ_e = ",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn few_ends_are_said() {
    let text = flat(&printed(["diagnose", "mountain-car", "--features", TILES, "--steps", "3000"]));
    assert!(text.contains("No episode ends in 3000 steps") || text.contains("Only 1 episode ends"), "{text}");
}

#[test]
fn a_target_of_ones_own_is_asked_about() {
    let words = ["diagnose", "cart-pole", "--features", TILES, "--steps", "5000", "--json"];
    let json = printed(words.into_iter().chain(["--target", "left=0.5,right=0.5"]));
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["policies"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["policies"][0]["spread"]["effective_sample_of_ratio"]["value"], 1.0);
    // Whoever asks twice gets the same answer.
    assert_eq!(printed(words), printed(words));
    // A real action, whose target is a normal distribution.
    let own = ["diagnose", "pendulum", "--features", "fourier,order=2", "--steps", "2000"];
    let text = flat(&printed(own.into_iter().chain(["--target", "mean=0,standard_deviation=0.5"])));
    assert!(
        text.contains("a real action") && text.contains("The behaviour's smallest density is 0.25"),
        "{text}"
    );
}

#[test]
fn what_is_written_can_be_run() {
    for (simulator, features) in
        [("cart-pole", TILES), ("pendulum", "fourier,order=2"), ("mountain-car", "radial,centres=5")]
    {
        let bench = Bench::empty();
        let written = bench.file.display().to_string();
        let words = ["diagnose", simulator, "--features", features, "--steps", "2000", "--gamma", "0.9"];
        succeeded(ended(words.into_iter().chain(["--write", &written])));
        let text = std::fs::read_to_string(&bench.file).unwrap();
        assert!(text.contains("gamma = 0.9") && text.contains("# The suggestion."), "{text}");
        succeeded(ended_on("check", &bench.file, &[]));
        // An experiment is diagnosed by its simulator.
        let again = flat(
            &String::from_utf8(succeeded(ended_on("diagnose", &bench.file, &["--steps", "2000"])).stdout)
                .unwrap(),
        );
        assert!(again.contains(&format!("{simulator}: 2000 steps")), "{again}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let wrong: [(&[&str], &str); 15] = [
        (&["mountain-cra", "--features", TILES], "did you mean `mountain-car`?"),
        (&["mountain-cra"], "did you mean `mountain-car`?"),
        (&["mountain-car"], "needs --features"),
        (&["mountain-car", "--features", "tile,tilings=4,tiles=4"], "did you mean `tiles`?"),
        (&["mountain-car", "--features", "tiles,tilings=4,tils=4"], "did you mean `tiles`?"),
        (&["mountain-car", "--features", "tiles,tilings=4,tiles=[4,4,4]"], "dimension"),
        (&["mountain-car", "--features", TILES, "--gamma", "2"], "a discount lies above 0 and is at most 1"),
        (&["mountain-car", "--features", TILES, "--behaviour", "forwards=1"], "did you mean `forward`?"),
        (
            &["mountain-car", "--features", TILES, "--target", "forward=0.5"],
            "the probabilities sum to 0.5, not to 1",
        ),
        (&["mountain-car", "--features", TILES, "--behaviour", "foo"], "`foo` is no policy"),
        (&["mountain-car", "--features", TILES, "--starts", "3"], "--starts is about flows"),
        (&["counterexample", "--features", TILES], "--features is for simulators"),
        (&["mountain-car", "--features", "tiles,tilings"], "`tilings` is no setting"),
        (&["mountain-car", "--features", TILES, "--gamma", "-1"], "the discount is -1"),
        (&["gymnasium:CartPole-v1", "--features", TILES], "lives in Python"),
    ];
    for (arguments, why) in wrong {
        refused(&ended(["diagnose"].iter().chain(arguments)), &[why]);
    }
}

#[test]
fn an_experiment_with_several_problems_is_not_diagnosed_by_its_first() {
    let bench = Bench::empty();
    let text = "problem = \"cart-pole\"\ngamma = [0.9, 0.99]\nfeatures = \"observation\"\nruns = 1\nsteps = 100\nevaluations = 1\n\
                [[ method ]]\nalgorithm = \"offpac\"\nalpha = 0.1\ncritic = { kind = \"td\", alpha_v = 0.1 }\n";
    std::fs::write(&bench.file, text).unwrap();
    refused(&ended_on("diagnose", &bench.file, &[]), &["its lists make 2 problems"]);
    std::fs::write(&bench.file, text.replace("[0.9, 0.99]", "0.9")).unwrap();
    succeeded(ended_on("diagnose", &bench.file, &["--steps", "1000"]));
}

#[test]
fn check_counts_tiles_that_share_a_feature() {
    let checked = |memory: usize| {
        let bench = Bench::empty();
        let text = format!(
            "problem = \"cart-pole\"\nfeatures = {{ kind = \"tiles\", tilings = 4, tiles = 6, memory = {memory} }}\nruns = 1\nsteps = 100\n\
             evaluations = 1\n[[method]]\nalgorithm = \"offpac\"\nalpha = 0.1\ncritic = {{ kind = \"td\", alpha_v = 0.1 }}\n"
        );
        std::fs::write(&bench.file, text).unwrap();
        flat(&printed(["check", &bench.file.display().to_string()]))
    };
    let many = checked(64);
    assert!(
        many.contains("share their feature with another; more `memory` keeps them apart (tiles,"),
        "{many}"
    );
    // Every feature of the few is shared: 64 features, and more tiles.
    let few = checked(10_000_000);
    assert!(few.contains(" tiles in 20000 steps of the behaviour 0 share their feature"), "{few}");
    assert!(!checked(0).contains("share their feature"));
}
