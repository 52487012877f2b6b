//! The exact numbers of problems from the literature. They are literals from closed forms and from elimination in fractions, written
//! without this project.

use emphatic::theory::FollowOnMoments;
use emphatic::{Exact, Fixed, KnownProblem, Task};
use emphatic_problems::{ProblemFile, Target, shipped};

type Solved<'a> = Exact<'a, f64, Task, Fixed>;

fn text(name: &str) -> &'static str {
    shipped::find(name).expect("it is shipped").text
}

#[track_caller]
fn near(list: &[f64], right: &[f64], digits: f64) {
    assert_eq!(list.len(), right.len(), "{list:?}");
    assert!(list.iter().zip(right).all(|(x, y)| (x - y).abs() <= digits), "{list:?} is not {right:?}");
}

/// Parts of a whole.
fn parts<const N: usize>(list: [i32; N], whole: i32) -> [f64; N] {
    list.map(|x| f64::from(x) / f64::from(whole))
}

/// Solves a problem for its target, or for a target with these probabilities in each state.
#[track_caller]
fn solved(text: &str, target: Option<Vec<Vec<f64>>>, check: impl FnOnce(&Task, &Solved)) {
    let file = ProblemFile::parse(text, "p.toml").unwrap_or_else(|error| panic!("{error:?}"));
    let KnownProblem::Finite(task) = &file.known else { panic!("it has a real action") };
    let given = match (target, &file.target) {
        (Some(rows), _) => Fixed::new(task, &rows).expect("these are probabilities"),
        (None, Target::Fixed(fixed)) => fixed.clone(),
        (None, _) => {
            let softmax = task.softmax();
            let rows =
                Exact::new(&**task, &softmax, file.target.weights()).expect("it is solved").probabilities();
            Fixed::new(task, &rows).expect("these are probabilities")
        }
    };
    check(task, &Exact::new(&**task, &given, &[]).expect("it is solved"));
}

/// The expected reward of each state.
fn rewards(task: &Task, exact: &Solved) -> Vec<f64> {
    let of = |s: usize, a: usize| -> f64 {
        task.problem().transitions(s, a).iter().map(|t| t.probability * t.reward).sum()
    };
    let rows = exact.probabilities();
    rows.iter().enumerate().map(|(s, row)| row.iter().enumerate().map(|(a, p)| p * of(s, a)).sum()).collect()
}

/// The expected update of linear TD(0) that is weighted like this, at these weights: A w − b.
fn update(task: &Task, exact: &Solved, weighting: &[f64], weights: &[f64]) -> Vec<f64> {
    let (features, rewards) = (task.critic(), rewards(task, exact));
    let mut update: Vec<f64> = exact
        .key_matrix(features, weighting)
        .iter()
        .map(|row| row.iter().zip(weights).map(|(a, w)| a * w).sum())
        .collect();
    for s in 0..task.states() {
        features.active(s).for_each(|(f, x)| update[f] -= weighting[s] * x * rewards[s]);
    }
    update
}

/// By how much the second moment of the follow-on trace grows each step.
fn growth(exact: &Solved) -> f64 {
    FollowOnMoments::new(exact).spectral_radius().map_or(f64::NAN, |[low, high]| low.midpoint(high))
}

#[test]
fn collision() {
    solved(text("collision"), None, |task, exact| {
        near(task.stationary(), &parts([2, 4, 6, 8, 8, 4, 2, 1], 35), 1e-15);
        near(exact.values(), &[0.4782969, 0.531441, 0.59049, 0.6561, 0.729, 0.81, 0.9, 1.0], 1e-15);
        let density = [1.0, 1.45, 1.87, 2.26225, 3.036025, 6.464845, 12.636721, 23.7460978];
        near(&exact.emphatic_density(1.0), &density, 1e-13);
        near(&[exact.objective()], &[118_730_489.0 / 175_000_000.0], 1e-15);
        assert!(
            (0..4).all(|s| task.behaviour(s) == [1.0, 0.0]) && (4..8).all(|s| task.behaviour(s) == [0.5; 2])
        );
    });
}

/// From an implementation of the random stream in another language.
#[test]
fn collision_has_one_draw_of_features() {
    let right = [[2, 4, 5], [1, 3, 5], [0, 1, 2], [2, 3, 5], [0, 3, 4], [0, 2, 5], [1, 2, 5], [2, 3, 4]];
    solved(text("collision"), None, |task, _| {
        assert_eq!(task.critic().len(), 6);
        for (s, right) in right.into_iter().enumerate() {
            assert!(task.critic().active(s).eq(right.map(|f| (f, 1.0))), "{s}");
        }
    });
}

#[test]
fn random_walk() {
    let values = parts([-179, 145, 361, 505, 601], 665);
    for name in ["random-walk", "random-walk-inverted", "random-walk-dependent"] {
        solved(text(name), None, |task, exact| {
            near(task.stationary(), &parts([1, 2, 3, 2, 1], 9), 1e-15);
            near(exact.values(), &values, 1e-14);
            near(&exact.emphatic_weighting(1.0), &parts([795, 1655, 2280, 2220, 1465], 1197), 1e-14);
            near(&[exact.objective()], &[187.0 / 399.0], 1e-15);
        });
    }
    solved(text("random-walk"), None, |task, exact| {
        near(&update(task, exact, task.stationary(), &values), &[0.0; 5], 1e-15);
    });
    solved(text("random-walk-inverted"), None, |task, exact| {
        let weights = parts([2149, 853, -11, -587, -971], 1330);
        near(&update(task, exact, task.stationary(), &weights), &[0.0; 5], 1e-15);
    });
    solved(text("random-walk-dependent"), None, |task, exact| {
        let td = [-0.1875463706599925, 0.32498255220256594, 0.7192029388163029];
        near(&update(task, exact, task.stationary(), &td), &[0.0; 3], 1e-15);
        let etd = [-0.16362619687177637, 0.31050190896295266, 0.787247496735846];
        near(&update(task, exact, &exact.emphatic_weighting(1.0), &etd), &[0.0; 3], 1e-15);
        let lengths = (0..5).map(|s| task.critic().active(s).map(|(_, x)| x * x).sum());
        near(&lengths.collect::<Vec<f64>>(), &[1.0; 5], 1e-15);
    });
}

#[test]
fn boyan() {
    solved(text("boyan"), None, |task, exact| {
        let visits = [2048, 1024, 1536, 1280, 1408, 1344, 1376, 1360, 1368, 1364, 1366, 1365, 2048];
        near(task.stationary(), &parts(visits, 18887), 1e-15);
        let values: Vec<f64> = (0..13).map(|k| -24.0 + 2.0 * f64::from(k)).collect();
        near(exact.values(), &values, 1e-13);
        near(&update(task, exact, task.stationary(), &[-24.0, -16.0, -8.0, 0.0]), &[0.0; 4], 1e-14);
        near(&[exact.objective()], &[-224_218.0 / 18887.0], 1e-13);
        // On-policy, the follow-on trace counts the steps of the episode.
        near(&exact.emphatic_weighting(1.0)[12..], &[1.0], 1e-14);
    });
}

/// The probability of the solid action, the emphatic density in the upper states and in the lower one, and by how much the second
/// moment of the follow-on trace grows: 0.99² (7 p² + 7/6 (1 − p)²).
const SOLID: [(f64, f64, f64, f64); 5] = [
    (0.05, 110.725, 35.65, 1.049115375),
    (0.1, 104.95, 70.3, 0.9948015),
    (0.3, 81.85, 208.9, 1.1777535),
    (0.5, 58.75, 347.5, 2.0010375),
    (1.0, 1.0, 694.0, 6.8607),
];

#[test]
fn the_emphasis_of_bairds_counterexample() {
    for name in ["baird", "baird-one-hot", "baird-zero-hot", "baird-aliased"] {
        for (solid, upper, lower, grows) in SOLID {
            solved(text(name), Some(vec![vec![1.0 - solid, solid]; 7]), |task, exact| {
                near(task.stationary(), &[1.0 / 7.0; 7], 1e-15);
                let density = [upper, upper, upper, upper, upper, upper, lower];
                near(&exact.emphatic_density(1.0), &density, 1e-9);
                near(&[growth(exact)], &[grows], 1e-9);
            });
        }
    }
    for name in ["baird-one-hot", "baird-zero-hot", "baird-aliased"] {
        solved(text(name), None, |_, exact| near(&exact.emphatic_density(1.0)[5..], &[81.85, 208.9], 1e-9));
    }
}

/// Eigenvectors: all ones, and differences of two upper states, of which there are five; the last eigenvalue follows from the trace.
#[test]
fn the_key_matrix_of_zero_hot_features() {
    for (solid, ..) in SOLID {
        solved(text("baird-zero-hot"), Some(vec![vec![1.0 - solid, solid]; 7]), |task, exact| {
            let times = |w: [f64; 7]| update(task, exact, task.stationary(), &w);
            near(&times([1.0; 7]), &[9.0 / 175.0; 7], 1e-14);
            let difference = [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            near(&times(difference), &difference.map(|x| x / 7.0), 1e-14);
            let matrix = exact.key_matrix(task.critic(), task.stationary());
            let trace: f64 = (0..7).map(|k| matrix[k][k]).sum();
            near(&[trace], &[6.0 / 7.0 + 9.0 / 175.0], 1e-14);
        });
    }
}

#[test]
fn baird_control() {
    let always = |solid: f64| Some(vec![vec![1.0 - solid, solid]; 7]);
    solved(text("baird-control"), None, |_, exact| {
        near(&[exact.objective()], &[225.0 / 28.0], 1e-12);
        near(exact.values(), &[6.25, 8.25, 8.25, 8.25, 8.25, 8.25, 8.75], 1e-12);
    });
    solved(text("baird-control"), always(1.0), |_, exact| near(&[exact.objective()], &[690.0 / 7.0], 1e-11));
    solved(text("baird-control"), always(0.0), |_, exact| near(&[exact.objective()], &[0.0], 1e-15));
    solved(text("baird-control"), None, |task, _| assert_eq!(task.actor().len(), 2));
}

#[test]
fn two_states() {
    solved(text("lc-etd"), None, |task, exact| {
        near(task.stationary(), &[0.4, 0.6], 1e-15);
        near(exact.values(), &[2.04, 1.44], 1e-14);
        let m = exact.emphatic_weighting(1.0);
        near(&m, &[2.8, 2.2], 1e-14);
        near(&exact.key_matrix(task.critic(), task.stationary())[0], &[1.008], 1e-14);
        near(&exact.key_matrix(task.critic(), &m)[0], &[3.536], 1e-14);
        near(&update(task, exact, task.stationary(), &[5.0 / 21.0]), &[0.0], 1e-14);
        near(&update(task, exact, &m, &[105.0 / 221.0]), &[0.0], 1e-14);
        near(&[growth(exact)], &[56.0 / 75.0], 1e-9);
    });
    solved(text("maei"), None, |task, exact| {
        near(task.stationary(), &[0.5, 0.5], 1e-15);
        near(exact.values(), &[5.0, 5.0], 1e-13);
        near(&[exact.objective()], &[5.0], 1e-13);
        near(&update(task, exact, task.stationary(), &[30.0 / 19.0]), &[0.0], 1e-14);
    });
    solved(text("maei"), Some(vec![vec![1.0, 0.0]; 2]), |_, exact| {
        near(&[exact.objective()], &[10.0], 1e-13)
    });
}

#[test]
fn two_circles() {
    for (up, objective) in [(0.0, 2.475), (0.5, 2.34375), (1.0, 2.2125)] {
        solved(text("two-circles"), Some(vec![vec![up, 1.0 - up]; 11]), |task, exact| {
            near(task.stationary(), &parts([2, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2], 16), 1e-15);
            near(&[exact.objective()], &[objective], 1e-14);
        });
    }
}

#[test]
fn slippery_long_counterexample() {
    let name = "slippery-long-counterexample";
    solved(text(name), None, |task, exact| {
        let d = [41410, 17400, 40600, 7110, 38710, 2700, 34300, 810, 24010, 243, 16807];
        near(task.stationary(), &parts(d, 224_100), 1e-15);
        near(&[exact.objective()], &[25039.0 / 37350.0], 1e-14);
    });
    for (a0, objective) in
        [(1.0, 32_953_622_238.0 / 18_087_694_075.0), (0.0, 487_540_663_814.0 / 488_367_740_025.0)]
    {
        solved(text(name), Some(vec![vec![a0, 1.0 - a0]; 11]), |_, exact| {
            near(&[exact.objective()], &[objective], 1e-13);
        });
    }
}

/// Each of the four targets is two of the source's eight policies, one in each of the two rooms beside its hallway.
#[test]
fn hallways() {
    // In columns and rows from the bottom left, as the source counts: the cells of a room, its two hallways.
    let rooms = [
        (0..5, 0..5, [(5, 1), (1, 5)]),
        (0..5, 6..11, [(1, 5), (5, 8)]),
        (6..11, 5..11, [(5, 8), (8, 4)]),
        (6..11, 0..4, [(8, 4), (5, 1)]),
    ];
    let name = |(x, y): (i32, i32)| format!("r{}c{x}", 10 - y);
    let objectives = [
        ((5, 1), 0.7005451563301283),
        ((1, 5), 0.7017015586538462),
        ((5, 8), 0.7118737786858975),
        ((8, 4), 0.7058314293269233),
    ];
    let mut policies = 0;
    for (goal, objective) in objectives {
        let text = text("hallways")
            .replace("shortest_path = \"r9c5\"", &format!("shortest_path = \"{}\"", name(goal)));
        let text = text.replace("{ r9c5 = 0 }", &format!("{{ {} = 0 }}", name(goal)));
        solved(&text, None, |task, exact| {
            near(task.stationary(), &[1.0 / 104.0; 104], 1e-15);
            near(&[exact.objective()], &[objective], 1e-14);
            let number = |cell| {
                let state = task.problem().states().iter().position(|state| *state == name(cell));
                state.unwrap_or_else(|| panic!("{cell:?} is a wall"))
            };
            for (columns, rows, doors) in rooms.iter().filter(|(_, _, doors)| doors.contains(&goal)) {
                policies += 1;
                let cells = columns.clone().flat_map(|x| rows.clone().map(move |y| (x, y)));
                let mut inside = [false; 104];
                for cell in cells.chain(doors.iter().copied().filter(|door| *door != goal)) {
                    let (s, steps) = (number(cell), (cell.0 - goal.0).abs() + (cell.1 - goal.1).abs());
                    near(&exact.values()[s..=s], &[0.9_f64.powi(steps - 1)], 1e-14);
                    inside[s] = true;
                }
                // Nothing flows into the room from elsewhere, and nothing out of it but to the hallway: the policy stands alone.
                for s in 0..104 {
                    let leaves = |(next, p): &(usize, f64)| *p > 0.0 && inside[s] != inside[*next];
                    assert!(task.interest()[s] == 0.0 || !exact.transitions(s).iter().any(leaves), "{s}");
                }
            }
        });
    }
    assert_eq!(policies, 8);
}

/// The largest product of ratios on the way to a hallway.
#[test]
fn ratios_in_the_hallways() {
    for (name, largest) in [("hallways", 16384.0), ("hallways-high-variance", 25.0 * 16384.0)] {
        solved(text(name), None, |task, exact| {
            let rows = exact.probabilities();
            let mut product = [1.0_f64; 104];
            for _ in 0..104 {
                for s in (0..104).filter(|&s| task.interest()[s] > 0.0) {
                    let ways = (0..4).filter(|&a| rows[s][a] > 0.0).map(|a| {
                        let way = task.problem().transitions(s, a)[0];
                        let after = if way.gamma == 0.0 { 1.0 } else { product[way.next] };
                        rows[s][a] / task.behaviour(s)[a] * after
                    });
                    product[s] = ways.fold(0.0, f64::max);
                }
            }
            near(&[product.iter().copied().fold(0.0, f64::max)], &[largest], 1e-6);
        });
    }
    solved(text("hallways-high-variance"), None, |task, _| {
        // By the power method.
        let right =
            [("r10c0", 0.01543227840162435), ("r9c1", 0.010700646899764738), ("r2c8", 0.010529368057287006)];
        for (state, d) in
            right.into_iter().chain([("r9c5", 0.0059735954804621995), ("r6c8", 0.009923236855523864)])
        {
            let s = task.problem().states().iter().position(|name| name == state).expect("it is there");
            near(&task.stationary()[s..=s], &[d], 1e-13);
        }
    });
}
