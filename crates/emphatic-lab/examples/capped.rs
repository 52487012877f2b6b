//! An experiment file that names a part of your own: the follow-on trace, capped.
//!
//! The part is one file that implements [`Emphasis`] and declares itself; one line adds it to the catalogue. From then on experiment
//! files may name it, in every number of lanes and on every instruction set.

use emphatic::catalogue::{Declaration, Need, Range, Role, Setting};
use emphatic::{
    Built, Catalogue, ComposeError, Declared, Emphasis, Part, PartBuilder, Real, Seen, StateError, Visitor,
};
use emphatic_lab::{Experiment, Options, Stop, run, summarise};
use std::path::Path;

/// M_t = min(F_t, cap), with F_t = γ_t ρ_{t−1} F_{t−1} + i_t.
struct Capped<R> {
    cap: R,
    /// ρ_{t−1} F_{t−1}.
    carried: R,
}

impl<R: Real> Part<R> for Capped<R> {
    // Settings and all numbers that change: they are saved and restored, and taken out of lanes, by these names.
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.kind("capped")?;
        visitor.setting("cap", self.cap)?;
        visitor.numbers("carried", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> Emphasis<R> for Capped<R> {
    fn learns(&self) -> bool {
        false
    }

    // Inlined into functions that are compiled for each instruction set.
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let follow_on = R::splat(step.gamma) * self.carried + R::splat(step.interest);
        self.carried = rho * follow_on;
        follow_on.smaller(self.cap)
    }
}

// The declaration of the part in the catalogue, and how it is built in any number type.
impl Declared for Capped<f64> {
    const DECLARATION: Declaration = Declaration {
        source: "an example",
        settings: &[Setting {
            name: "cap",
            range: Range::Amount,
            default: None,
            about: "the largest emphasis of a step",
        }],
        needs: &[Need::Ratio],
        ..Declaration::new(Role::Emphasis, "capped", "Capped", "the follow-on trace, capped")
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Capped { cap: with.number("cap")?, carried: R::zero() })
    }
}

const EXPERIMENT: &str = r#"
    problem = "long-counterexample"
    runs = 20
    episodes = 500
    [[method]]
    name = "ACE"
    algorithm = "ace"
    alpha = [0.01, 0.03, 0.1]
    critic = "exact"
    [[method]]
    name = "Capped"
    emphasis = { kind = "capped", cap = [2, 8, 32] }
    alpha = [0.01, 0.03, 0.1]
    separate = ["emphasis.cap"]
    critic = "exact"
"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The one line.
    Catalogue::standard().clone().with::<Capped<f64>>().install()?;

    let experiment = Experiment::parse(EXPERIMENT, "capped.toml", Path::new(""))?;
    let dir = std::env::temp_dir().join(format!("emphatic-capped-{}", std::process::id()));
    run(&experiment, &dir, &Options::default(), &Stop::default(), &mut |_event| {})?;
    let summary = summarise(&dir, None)?;
    std::fs::remove_dir_all(&dir)?;
    print!("{}", summary.text());
    Ok(())
}
