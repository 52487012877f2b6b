//! An experiment file that names a part of your own: the follow-on trace, truncated to the last n steps (Zhang and Whiteson 2022).
//!
//! The part is one file that implements [`Emphasis`] and declares itself; one line adds it to the catalogue. From then on experiment
//! files may name it, in every number of lanes and on every instruction set.

use emphatic::catalogue::{Declaration, Need, Range, Role, Setting};
use emphatic::{
    Built, Catalogue, ComposeError, Declared, Emphasis, Part, PartBuilder, Real, Seen, StateError, Visitor,
};
use emphatic_lab::{Experiment, Options, Stop, run, summarise};
use std::path::Path;

/// The most steps that are remembered.
const MOST: usize = 17;

/// F_t = Σ_{j=0}^{n} (Π_{k=1}^{j} γ_{t−k+1} ρ_{t−k}) i_{t−j} and M_t = (1 − λ_a) i_t + λ_a F_t.
struct Truncated<R> {
    lambda_a: R,
    n: R,
    /// γ_{t−j} ρ_{t−j−1} and i_{t−j}, from j = 0 on: the same number for every n, so that a learner can leave its lane.
    factors: [R; MOST],
    interests: [f64; MOST],
    /// ρ_{t−1}.
    rho: R,
}

impl<R: Real> Truncated<R> {
    fn new(lambda_a: R, n: R) -> Self {
        Self { lambda_a, n, factors: [R::zero(); MOST], interests: [0.0; MOST], rho: R::zero() }
    }
}

impl<R: Real> Part<R> for Truncated<R> {
    // Settings and all numbers that change: they are saved and restored, and taken out of lanes, by these names.
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.kind("truncated")?;
        visitor.setting("lambda_a", self.lambda_a)?;
        visitor.setting("n", self.n)?;
        visitor.numbers("factors", self.factors.iter_mut())?;
        visitor.numbers("interests", self.interests.iter_mut())?;
        visitor.numbers("rho", std::iter::once(&mut self.rho))
    }
}

impl<R: Real> Emphasis<R> for Truncated<R> {
    fn learns(&self) -> bool {
        false
    }

    // Inlined into functions that are compiled for each instruction set.
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        self.factors.rotate_right(1);
        self.interests.rotate_right(1);
        (self.factors[0], self.interests[0]) = (R::splat(step.gamma) * self.rho, step.interest);
        self.rho = rho;
        let mut follow_on = R::zero();
        for (j, interest) in self.interests.iter().enumerate().rev() {
            // Lanes may have an n of their own: where j ≥ n the sum has yet to start.
            let more = R::splat(j as f64).if_less(self.n, self.factors[j] * follow_on, R::zero());
            follow_on = R::splat(*interest) + more;
        }
        (R::one() - self.lambda_a) * R::splat(step.interest) + self.lambda_a * follow_on
    }
}

// The declaration of the part in the catalogue, and how it is built in any number type.
impl Declared for Truncated<f64> {
    const DECLARATION: Declaration = Declaration {
        source: "Zhang and Whiteson 2022",
        settings: &[
            Setting {
                name: "lambda_a",
                range: Range::Fraction,
                default: Some(0.9),
                about: "λ_a: 1 is full emphasis, 0 none",
            },
            Setting {
                name: "n",
                range: Range::Count,
                default: None,
                about: "how many steps are looked back",
            },
        ],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "truncated",
            "Truncated",
            "the follow-on trace, truncated to the last n steps",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let n: R = with.number("n")?;
        if (0..R::LANES).any(|lane| n.lane(lane) >= MOST as f64) {
            return Err(ComposeError::Incompatible(format!("n must be less than {MOST}")));
        }
        with.emphasis(Truncated::new(with.number("lambda_a")?, n))
    }
}

const EXPERIMENT: &str = r#"
    problem = "long-counterexample"
    runs = 20
    episodes = 500
    [[method]]
    name = "ACE(1)"
    algorithm = "ace"
    alpha = [0.01, 0.03, 0.1]
    lambda_a = 1
    critic = "exact"
    [[method]]
    name = "Truncated"
    emphasis = { kind = "truncated", n = [1, 2, 4, 8], lambda_a = 1 }
    alpha = [0.01, 0.03, 0.1]
    separate = ["emphasis.n"]
    critic = "exact"
"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The one line.
    Catalogue::standard().clone().with::<Truncated<f64>>().install()?;

    let experiment = Experiment::parse(EXPERIMENT, "truncated.toml", Path::new(""))?;
    let dir = std::env::temp_dir().join(format!("emphatic-truncated-{}", std::process::id()));
    run(&experiment, &dir, &Options::default(), &Stop::default(), &mut |_event| {})?;
    let summary = summarise(&dir, None)?;
    std::fs::remove_dir_all(&dir)?;
    print!("{}", summary.text());
    Ok(())
}
