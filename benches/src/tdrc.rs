//! TDRC(λ) predicts the values of a fixed target in the problem `collision`, over a grid of step-sizes and λ.

use crate::{Any, Bench, Block, Experience, Numbers};
use emphatic::{
    ActorCritic, Fixed, Isa, KnownProblem, Lanes, NoEmphasis, PartRecipe, Real, Recipe, RuleKind, Task, Tdrc,
};
use emphatic_problems::{ProblemFile, shipped};
use std::error::Error;
use std::io::Write;
use std::sync::Arc;

/// What is predicted.
pub(crate) struct Prediction {
    pub(crate) task: Arc<Task>,
    /// The policy whose values they are.
    target: Fixed,
}

impl Prediction {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let shipped = shipped::find("collision").ok_or("there is no problem `collision`")?;
        let file = ProblemFile::parse(shipped.text, shipped.name)?;
        let KnownProblem::Finite(task) = file.known else { return Err("its actions are real".into()) };
        let target = file.target.fixed(&task).ok_or("its target has real actions")??;
        Ok(Self { task, target })
    }

    pub(crate) fn measure(
        &self,
        bench: &mut Bench<impl Write>,
        steps: &[Experience],
    ) -> Result<(), Box<dyn Error>> {
        let (problem, settings) = (KnownProblem::Finite(self.task.clone()), settings());
        let target = self.target.recipe()?;
        bench.measure_composed("TDRC", &settings, steps, &problem, |numbers| {
            let critic = PartRecipe::new("tdrc")
                .with("alpha_v", numbers.alpha_v)
                .with("lambda", numbers.lambda)
                .with_features(self.task.critic());
            Recipe::new(RuleKind::Taken, target.clone(), critic, PartRecipe::new("none"), 0.0)
                .with_actions(self.task.actions())
        })?;
        // As many lanes as a user of the library may have.
        bench.measure("TDRC", Isa::best(), &settings, steps, |block| self.learner::<Lanes<32>>(block))
    }

    fn learner<R: Real>(&self, block: Block) -> Any<R> {
        let critic = Tdrc::builder(self.task.critic())
            .alpha_v(block.get(|numbers| numbers.alpha_v))
            .lambda(block.get(|numbers| numbers.lambda))
            .build()?;
        let learner = ActorCritic::builder(self.target.clone(), critic, NoEmphasis);
        Ok(Box::new(learner.alpha(R::zero()).build()?))
    }
}

/// 256 step-sizes between 2⁻¹⁶ and 1, sixteen in each octave, with 16 values of λ each. The step-sizes are exact, so that every peer has the same.
fn settings() -> Vec<Numbers> {
    let mut settings = Vec::new();
    for octave in 1..=16 {
        for sixteenth in 0..16 {
            let alpha_v = (1.0 + f64::from(sixteenth) / 16.0) / f64::from(1 << octave);
            let numbers = |k| Numbers { alpha_v, lambda: f64::from(k) / 15.0, ..Numbers::default() };
            settings.extend((0..16).map(numbers));
        }
    }
    settings
}
