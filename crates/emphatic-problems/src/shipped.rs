//! Problems that come with the program; each is a file to copy and change.

use crate::pattern::Layout;
use crate::policy::Target;
use crate::problem_file::{Parsed, parse};
use emphatic::{ContinuousCounterexample, KnownProblem, Policy};
use std::sync::Arc;

/// A problem that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),*) => {
        [$(Shipped { name: $name, text: include_str!(concat!("../../../problems/", $name, ".toml")) }),*]
    };
}

/// All of them.
pub const SHIPPED: [Shipped; 27] = shipped![
    "counterexample",
    "near-optimal",
    "long-counterexample",
    "slippery-long-counterexample",
    "continuous-counterexample",
    "shop",
    "baird",
    "baird-one-hot",
    "baird-zero-hot",
    "baird-aliased",
    "baird-control",
    "theta-2theta",
    "lc-etd",
    "five-states",
    "maei",
    "two-circles",
    "collision",
    "random-walk",
    "random-walk-inverted",
    "random-walk-dependent",
    "boyan",
    "hallways",
    "hallways-high-variance",
    "four-rooms",
    "large-grid",
    "chain",
    "random"
];

impl Shipped {
    /// The first line of its file: what it is.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// The problem of this name.
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

/// The problem of this name, parsed.
pub(crate) fn problem(name: &str) -> Option<Parsed> {
    // The file of this problem only names it: real actions cannot be listed.
    if name == "continuous-counterexample" {
        let problem = ContinuousCounterexample::default();
        let target = Target::Deterministic(vec![0.0; problem.deterministic().len()]);
        return Some(Parsed {
            has_target: false,
            known: KnownProblem::Continuous(Arc::new(problem)),
            target,
            layout: Layout::None,
        });
    }
    let shipped = find(name)?;
    parse(shipped.text, shipped.name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem_file::ProblemFile;
    use emphatic::{Exact, Task};

    fn open(name: &str) -> ProblemFile {
        let shipped = find(name).expect("it is shipped");
        ProblemFile::parse(shipped.text, name).unwrap_or_else(|error| panic!("{name}: {error:?}"))
    }

    fn task(file: &ProblemFile) -> &Task {
        match &file.known {
            KnownProblem::Finite(task) => task,
            KnownProblem::Continuous(_) => panic!("{} has named actions", file.name),
        }
    }

    #[test]
    fn each_is_a_problem_and_says_what_it_is() {
        for shipped in &SHIPPED {
            open(shipped.name);
            // A whole sentence: it is what help shows.
            assert!(shipped.about().ends_with('.'), "{}: {}", shipped.name, shipped.about());
        }
    }

    /// The library, which reads no files, has the paper's problems as constructors: they are the same to the bit.
    #[test]
    fn the_papers_files_are_the_papers_problems() {
        for (name, right) in [
            ("counterexample", Task::counterexample()),
            ("long-counterexample", Task::long_counterexample(5)),
        ] {
            let file = open(name);
            assert_eq!(task(&file).problem(), right.problem());
            assert_eq!(task(&file).stationary(), right.stationary());
            assert_eq!(task(&file).interest(), right.interest());
            assert_eq!((task(&file).actor(), task(&file).critic()), (right.actor(), right.critic()));
            (0..right.states()).for_each(|s| assert_eq!(task(&file).behaviour(s), right.behaviour(s)));
        }
        let (file, right) = (open("continuous-counterexample"), ContinuousCounterexample::default());
        let KnownProblem::Continuous(problem) = &file.known else { panic!("it has a real action") };
        assert_eq!((problem.behaviour(), problem.actor()), (right.behaviour(), right.actor()));
        assert_eq!((problem.stationary(), problem.interest()), (right.stationary(), right.interest()));
        let target = self::problem("continuous-counterexample").expect("it is shipped").target;
        let (Target::Deterministic(written), Target::Deterministic(built)) = (&file.target, &target) else {
            panic!("its policy is deterministic")
        };
        assert_eq!(written, built);
    }

    #[test]
    fn published_values() {
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} {y}");
        // Sutton, Mahmood and White (2016), section 5.
        let file = open("five-states");
        let Target::Fixed(target) = &file.target else { panic!("it has zeros") };
        let exact = Exact::new(task(&file), target, &[]).unwrap();
        let printed: Vec<String> = exact.stationary().iter().map(|d| format!("{d:.2}")).collect();
        assert_eq!(printed, ["0.52", "0.26", "0.13", "0.06", "0.03"]);
        exact.values().iter().zip([4.0, 3.0, 2.0, 1.0, 1.0]).for_each(|(v, right)| near(*v, right));
        // Section 4: f(2) = 0.5 + 0.9 · 10.
        let file = open("theta-2theta");
        let Target::Fixed(target) = &file.target else { panic!("it has zeros") };
        let exact = Exact::new(task(&file), target, &[]).unwrap();
        exact.emphatic_weighting(1.0).iter().zip([0.5, 9.5]).for_each(|(m, right)| near(*m, right));
        // Sutton and Barto (2018), section 11.2.
        task(&open("baird")).stationary().iter().for_each(|d| near(*d, 1.0 / 7.0));
        // Sutton and Barto (2018), example 7.1: the values rise evenly from −0.9 to 0.9.
        let file = open("chain");
        let (task, policy) = (task(&file), task(&file).softmax());
        let exact = Exact::new(task, &policy, &[0.0; 20]).unwrap();
        exact.values().iter().enumerate().for_each(|(s, v)| near(*v, (s as f64 - 9.0) / 10.0));
        assert_eq!(self::task(&open("four-rooms")).states(), 104);
        assert_eq!(self::task(&open("large-grid")).states(), 100_172);
    }
}
