//! `emphatic plot`: its pictures have the numbers of the summary.

use crate::common::{Bench, SHORT, emphatic, ended_on, refused, says, succeeded, text};
use roxmltree::{Document, Node};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Several problems, methods with values that distinguish them, and two whose names differ only where they are cut.
const SEVERAL: &str = r#"
problem = { name = "long-counterexample", steps = [1, 2] }
runs = 5
episodes = 40
evaluations = 4
record = ["objective", "emphasis", "target.S0.A0", "weights"]
[[method]]
algorithm = "ace"
emphasis = "follow-on"
lambda_a = [0, 1]
alpha = [0.01, 0.1]
separate = ["lambda_a"]
critic = "exact"
[[method]]
name = "a long name that goes on and on, so that no table can show it all: one"
algorithm = "offpac"
alpha = 0.1
critic = "exact"
[[method]]
name = "a long name that goes on and on, so that no table can show it all: two"
algorithm = "offpac"
alpha = 0.2
critic = "exact"
"#;

/// How these are shown.
const LONG: &str = "a long name that goes on and on, so that no table can show …";

/// Weights overflow in the runs that see a reward often enough.
const SOME_DIVERGE: &str = r#"
problem = "counterexample"
runs = 12
episodes = 4
evaluations = 4
[[method]]
algorithm = "ace"
emphasis = "follow-on"
lambda_a = 1
alpha = 1
critic = { kind = "gtd", alpha_v = 1e150, alpha_w = 0 }
"#;

fn summary(dir: &Path) -> Value {
    serde_json::from_slice(&succeeded(ended_on("summarise", dir, &["--json"])).stdout).unwrap()
}

/// Returns a picture.
#[track_caller]
fn plotted(dir: &Path, options: &[&str]) -> String {
    let picture = dir.join("picture.svg");
    succeeded(emphatic(["plot"]).arg(dir).args(options).arg("--out").arg(&picture).output().unwrap());
    let svg = fs::read_to_string(picture).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    svg
}

fn with_class<'a>(node: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
    node.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
}

/// An axis of a picture: its ends as numbers and as pixels.
struct Scale([f64; 4], bool);

impl Scale {
    fn of(plot: Node, name: &str) -> Self {
        let mut words = plot.attribute(name).unwrap().split(' ');
        let numbers = [(); 4].map(|()| words.next().unwrap().parse().unwrap());
        Self(numbers, words.next() == Some("log"))
    }

    /// Checks that a pixel is the place of a number. Pixels are written with two decimals.
    #[track_caller]
    fn check(&self, pixel: f64, number: &Value) {
        let ([low, high, from, to], number) = (self.0, number.as_f64().unwrap());
        let measure = if self.1 { number.log10() } else { number };
        let right = from + (measure - low) / (high - low) * (to - from);
        assert!((pixel - right).abs() < 0.011, "{number} is at {pixel}, not {right}");
    }
}

/// The points of a path.
fn points(path: Node) -> Vec<(f64, f64)> {
    let path = path.attribute("d").unwrap().trim_end_matches('Z');
    let point = |point: &str| {
        let (x, y) = point.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    path.split(['M', 'L']).filter(|point| !point.is_empty()).map(point).collect()
}

/// Checks the lines and bands of a picture against the curves of a summary: all methods of the first problem, then of the next.
#[track_caller]
fn check_curves(svg: &str, curves: &[&Value]) {
    let document = Document::parse(svg).unwrap();
    let mut curves = curves.iter();
    for plot in with_class(document.root(), "plot") {
        let (x, y) = (Scale::of(plot, "data-x"), Scale::of(plot, "data-y"));
        for method in with_class(plot, "method") {
            let curve = curves.next().unwrap().as_array().unwrap();
            let (line, band) = (points(with_class(method, "line")[0]), points(with_class(method, "band")[0]));
            assert_eq!((line.len(), band.len()), (curve.len(), 2 * curve.len()));
            for (k, point) in curve.iter().enumerate() {
                x.check(line[k].0, &point["at"]);
                y.check(line[k].1, &point["mean"]);
                y.check(band[k].1, &point["interval"]["high"]);
                y.check(band[band.len() - 1 - k].1, &point["interval"]["low"]);
            }
        }
    }
    assert!(curves.next().is_none());
}

/// Checks the rows of a picture with one problem.
#[track_caller]
fn check_strips(svg: &str, values: &[Vec<f64>], means: &[&Value], medians: &[&Value]) {
    let document = Document::parse(svg).unwrap();
    let plot = with_class(document.root(), "plot")[0];
    let x = Scale::of(plot, "data-x");
    let rows = with_class(plot, "method");
    assert_eq!((rows.len(), rows.len()), (means.len(), medians.len()));
    for (k, row) in rows.into_iter().enumerate() {
        let dots: Vec<f64> = row.descendants().filter_map(|dot| dot.attribute("cx")?.parse().ok()).collect();
        assert_eq!(dots.len(), values[k].len());
        for (dot, value) in dots.into_iter().zip(&values[k]) {
            x.check(dot, &Value::from(*value));
        }
        let [top, right, ..] = points(with_class(row, "mean")[0])[..] else { panic!("no mean") };
        assert!(right.0 > top.0);
        x.check(top.0, means[k]);
        x.check(points(with_class(row, "median")[0])[0].0, medians[k]);
    }
}

#[test]
fn curves_and_strips_have_the_numbers_of_fresh_runs() {
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &[]);
    let summary = summary(&out);
    let fresh: Vec<&Value> = summary["methods"].as_array().unwrap().iter().map(|m| &m["fresh"]).collect();
    let svg = plotted(&out, &[]);
    check_curves(&svg, &fresh.iter().map(|fresh| &fresh["curve"]).collect::<Vec<_>>());
    assert!(svg.contains(">ACE</text>") && svg.contains(">True-ACE</text>"), "{svg}");
    assert!(svg.contains("means over 2 fresh runs, with 95 % bootstrap intervals"), "{svg}");
    check_curves(&plotted(&out, &["--log"]), &fresh.iter().map(|fresh| &fresh["curve"]).collect::<Vec<_>>());
    let values: Vec<Vec<f64>> =
        fresh.iter().map(|f| serde_json::from_value(f["final_values"].clone()).unwrap()).collect();
    let means: Vec<&Value> = fresh.iter().map(|fresh| &fresh["final"]["mean"]).collect();
    let medians: Vec<&Value> = fresh.iter().map(|fresh| &fresh["final_quantiles"][3]).collect();
    check_strips(&plotted(&out, &["--kind", "strips"]), &values, &means, &medians);
}

#[test]
fn several_problems_have_a_panel_each_and_the_runs_settings_were_chosen_by() {
    let bench = Bench::new(SEVERAL);
    let out = bench.run("out", &[]);
    let summary = summary(&out);
    let methods = summary["methods"].as_array().unwrap();
    let in_problem = |steps: f64| {
        methods.iter().filter(move |m| m["values"]["problem_steps"] == steps).map(|method| &method["curve"])
    };
    let svg = plotted(&out, &[]);
    check_curves(&svg, &in_problem(1.0).chain(in_problem(2.0)).collect::<Vec<_>>());
    for title in ["long-counterexample (problem_steps = 1.0)", "long-counterexample (problem_steps = 2.0)"] {
        assert!(svg.contains(&format!(">{title}</text>")), "{svg}");
    }
    for name in ["ACE (lambda_a = 0.0)", "ACE (lambda_a = 1.0)", LONG, &format!("{LONG} [2]")] {
        assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{name}: {svg}");
    }
    assert!(svg.contains("means over the 5 runs that it was chosen by"), "{svg}");
    // Some methods alone look as they do among all.
    let alone = plotted(&out, &["--method", "ACE (lambda_a = 1.0)", "--method", LONG]);
    let method = |svg: &str, name: &str| {
        let document = Document::parse(svg).unwrap();
        let groups = with_class(document.root(), "method");
        let group = groups.iter().find(|group| group.attribute("data-method") == Some(name))?;
        group.attribute("color").map(str::to_owned)
    };
    assert!(method(&alone, "ACE (lambda_a = 0.0)").is_none());
    for name in ["ACE (lambda_a = 1.0)", LONG] {
        assert_eq!(method(&alone, name), method(&svg, name));
    }
    // A mean over steps has no value before the first.
    let svg = plotted(&out, &["--quantity", "emphasis"]);
    let document = Document::parse(&svg).unwrap();
    let lines = with_class(document.root(), "line")
        .into_iter()
        .filter(|line| line.parent().is_some_and(|group| group.attribute("class") == Some("method")));
    let bands = with_class(document.root(), "band").into_iter();
    assert_eq!(lines.map(|line| points(line).len()).collect::<Vec<_>>(), [4; 8]);
    assert_eq!(bands.map(|band| points(band).len()).collect::<Vec<_>>(), [8; 8]);
}

#[test]
fn the_picture_goes_beside_the_results_and_does_not_disturb_them() {
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &[]);
    for (kind, file) in [("curves", "curves.svg"), ("strips", "strips.svg")] {
        let output = succeeded(ended_on("plot", &out, &["--kind", kind]));
        assert!(output.stdout.is_empty() && says(&output, &format!("{file} is drawn.")), "{}", text(&output));
        let first = fs::read(out.join(file)).unwrap();
        succeeded(ended_on("plot", &out, &["--kind", kind]));
        assert!(fs::read(out.join(file)).unwrap() == first, "{kind}: the same results make the same bytes");
    }
    let png = bench.path("curves.png");
    succeeded(emphatic(["plot"]).arg(&out).arg("--out").arg(&png).output().unwrap());
    assert!(fs::read(png).unwrap().starts_with(b"\x89PNG"));
    bench.finish(&out, &["--runs", "7"]);
}

#[test]
fn unfinished_results_are_drawn_and_said_to_be_unfinished() {
    let bench = Bench::new(SHORT);
    let out = bench.run("out", &["--shard", "1/3"]);
    let output = succeeded(ended_on("plot", &out, &[]));
    let summary = summary(&out);
    let words = format!("Under way: {} of {} units are there.", summary["units_done"], summary["units"]);
    assert!(says(&output, &words), "{}", text(&output));
    let svg = fs::read_to_string(out.join("curves.svg")).unwrap();
    assert!(svg.contains(&words), "{svg}");
    let curves: Vec<&Value> =
        summary["methods"].as_array().unwrap().iter().map(|method| &method["curve"]).collect();
    check_curves(&svg, &curves);
}

#[test]
fn diverged_runs_are_counted() {
    let bench = Bench::new(SOME_DIVERGE);
    let out = bench.run("out", &[]);
    let summary = summary(&out);
    let diverged = summary["methods"][0]["settings"][0]["final"]["diverged"].as_u64().unwrap();
    assert!((1..12).contains(&diverged), "{diverged}");
    let words = format!("{diverged} of 12 diverged");
    let caption = format!("Means are over the runs that have a value: ACE, {words}.");
    assert!(plotted(&out, &[]).contains(&caption));
    let svg = plotted(&out, &["--kind", "strips"]);
    assert!(svg.contains(&format!(">{words}</text>")));
    assert_eq!(svg.matches("<circle").count() as u64, 12 - diverged + 1, "and one in the legend");
}

#[test]
fn without_a_value_there_is_nothing_to_draw() {
    let bench = Bench::new(&SOME_DIVERGE.replace("1e150", "1e300").replace("episodes = 4", "episodes = 40"));
    let out = bench.run("out", &[]);
    refused(
        &ended_on("plot", &out, &[]),
        &["there is nothing to draw: ACE is missing: no run of any of its"],
    );
}

#[test]
fn names_are_escaped_and_cut() {
    let long = "w".repeat(200);
    for name in
        ["</script><script>alert('1')</script>", "\\\"'&<&amp;_{x}^{2}", &long, "a\\u0000\\u001b[2J\\u202e"]
    {
        let bench = Bench::new(&SHORT.replacen("algorithm", &format!("name = \"{name}\"\nalgorithm"), 1));
        let out = bench.run("out", &[]);
        for kind in ["curves", "strips"] {
            let svg = plotted(&out, &["--kind", kind]);
            let document = Document::parse(&svg).unwrap();
            assert!(!svg.contains("<script") && !svg.contains(['\0', '\u{1b}', '\u{202e}']), "{svg}");
            // An underscore in a name is an underscore.
            assert!(!name.contains('_') || svg.contains("_{x}^{2}</text>"), "{svg}");
            let texts = document.descendants().filter(|node| node.has_tag_name("text"));
            let longest = texts.filter_map(|text| text.text()).map(|text| text.chars().count()).max();
            assert!(longest < Some(120), "{longest:?}");
        }
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let bench = Bench::new(SEVERAL);
    let (out, empty): (PathBuf, PathBuf) = (bench.run("out", &[]), bench.path("empty"));
    fs::create_dir(&empty).unwrap();
    let missing = bench.path("missing");
    let unwritable = missing.join("x.svg");
    let unwritable = unwritable.to_str().unwrap();
    let cases: [(&Path, &[&str], &str); 7] = [
        (&missing, &[], "holds no results: it has no manifest.json"),
        (&empty, &[], "holds no results: it has no manifest.json"),
        (&out, &["--quantity", "nothing"], "`nothing` was not recorded as a number"),
        (&out, &["--quantity", "nothing"], "there are objective, emphasis, target.S0.A0"),
        (&out, &["--quantity", "weights"], "`weights` was not recorded as a number"),
        (&out, &["--method", "nobody"], "there is no method `nobody` in these results"),
        (&out, &["--out", unwritable], "x.svg cannot be written"),
    ];
    for (dir, options, words) in cases {
        refused(&ended_on("plot", dir, options), &[words]);
    }
    let pdf = ended_on("plot", &out, &["--out", "x.pdf"]);
    assert!(pdf.status.code() == Some(2) && says(&pdf, "ends in .svg or .png"), "{}", text(&pdf));
    let kind = ended_on("plot", &out, &["--kind", "pie"]);
    assert!(kind.status.code() == Some(2) && says(&kind, "curves, strips"), "{}", text(&kind));
}

#[test]
fn a_logarithmic_axis_needs_positive_values() {
    let losses = "states = [\"s\"]\nactions = [\"a\", \"b\"]\nstart = \"s\"\nbehaviour = \"uniform\"\n\
        transitions = [{ from = \"s\", action = [0, 1], end = true, reward = -1 }]\n";
    let bench = Bench::new(
        "problem = \"losses.toml\"\nruns = 2\nepisodes = 5\nevaluations = 1\n[[method]]\nalgorithm = \"offpac\"\n\
         alpha = 0.1\ncritic = \"exact\"\n",
    );
    bench.write("losses.toml", losses);
    let out = bench.run("out", &[]);
    for kind in ["curves", "strips"] {
        let output = ended_on("plot", &out, &["--kind", kind, "--log"]);
        refused(&output, &["there is nothing to draw: no value of `objective`", "none is positive"]);
    }
}
