//! Learners made from recipes, alone and in lanes.

use emphatic::{
    Action, Catalogue, Composable, ComposeError, Isa, KnownProblem, Lanes, Learner, Numbers, Real, Recipe,
    State, Step,
};

/// The numbers that a learner saves under a name.
pub fn numbers(learner: &mut dyn Learner<f64>, name: &str) -> Vec<f64> {
    match learner.state().unwrap().into_tensors().remove(name) {
        Some(Numbers::Real(numbers)) => numbers,
        other => panic!("{name}: {other:?}"),
    }
}

/// The problem and the steps that learners learn from.
pub struct Case<'a> {
    pub name: String,
    pub problem: KnownProblem,
    pub steps: Vec<Step<State<'a>, Action>>,
}

impl Case<'_> {
    pub fn compose<R: Composable>(&self, recipes: &[&Recipe], isa: Isa) -> Box<dyn Learner<R>> {
        let problems = [self.problem.clone()];
        R::compose(Catalogue::standard(), recipes, &problems, isa)
            .unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    pub fn refused(&self, recipe: &Recipe) -> ComposeError {
        let problems = [self.problem.clone()];
        match f64::compose(Catalogue::standard(), &[recipe], &problems, Isa::Plain) {
            Ok(_) => panic!("{}: {recipe:?} is composed", self.name),
            Err(error) => error,
        }
    }

    /// Checks that learners in lanes have the bits of each alone: with every instruction set of this machine, interrupted, and taken
    /// out of their lanes half-way. Returns whether any diverged.
    pub fn check(&self, recipes: &[Recipe]) -> bool {
        let alone = |recipe: &Recipe| {
            let mut learner = self.compose::<f64>(&[recipe], Isa::Plain);
            for step in &self.steps {
                learner.update(step).unwrap();
            }
            outcome(&mut *learner, 0)
        };
        let alone: Vec<Outcome> = recipes.iter().map(alone).collect();
        // The test proves nothing if all settings have the same result, or all diverged.
        assert!(alone.iter().any(|x| *x != alone[0]), "{}: all are the same", self.name);
        assert!(alone.iter().any(|(diverged, ..)| diverged.is_none()), "{}: all diverged", self.name);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.available()) {
            self.same_bits::<f64>(recipes, isa, &alone);
            self.same_bits::<Lanes<16>>(recipes, isa, &alone);
        }
        alone.iter().any(|(diverged, ..)| diverged.is_some())
    }

    /// Checks that every learner in lanes has the bits that it has alone.
    fn same_bits<R: Composable>(&self, recipes: &[Recipe], isa: Isa, alone: &[Outcome]) {
        for (block, (recipes, alone)) in recipes.chunks(R::LANES).zip(alone.chunks(R::LANES)).enumerate() {
            let recipes: Vec<&Recipe> = recipes.iter().collect();
            let mut learner = self.compose::<R>(&recipes, isa);
            let (early, late) = self.steps.split_at(self.steps.len() / 2);
            learner.learn(isa, early).unwrap();
            // Half-way it is saved, and another goes on.
            let state = learner.state().unwrap();
            let mut learner = self.compose::<R>(&recipes, isa);
            learner.restore(&state).unwrap();
            learner.learn(isa, late).unwrap();
            for (lane, alone) in alone.iter().enumerate() {
                let place = format!("{}, block {block}, lane {lane} of {}, {isa:?}", self.name, R::LANES);
                assert_eq!(outcome(&mut *learner, lane), *alone, "{place}");
                // One that is taken out of its lane.
                let mut left = self.compose::<f64>(&recipes[lane..=lane], isa);
                left.restore(&state.lane(lane)).unwrap();
                left.learn(isa, late).unwrap();
                assert_eq!(outcome(&mut *left, 0), *alone, "{place}, alone from half-way");
            }
        }
    }
}

/// When the learner diverged, the bits of its weights (every NaN counts as the same), and those of all else unless it has diverged, when
/// traces no longer matter.
pub type Outcome = (Option<u64>, Vec<u64>, Vec<(String, Vec<u64>)>);

pub fn outcome<R: Real>(learner: &mut dyn Learner<R>, lane: usize) -> Outcome {
    let bits = |x: f64| if x.is_nan() { f64::NAN } else { x }.to_bits();
    let diverged = learner.diverged(lane);
    let state = learner.state().unwrap().lane(lane);
    // A trace in lanes also lists the features that other lanes still trace, with zeros.
    let is_trace = |name: &str| state.tensors().iter().any(|(other, _)| other == format!("{name}.features"));
    let compared = |name: &str| diverged.is_none() && !is_trace(name) && !name.ends_with(".features");
    let all = state.tensors().iter().filter(|(name, _)| compared(name)).map(|(name, numbers)| {
        let numbers = match numbers {
            Numbers::Real(numbers) => numbers.iter().map(|x| bits(*x)).collect(),
            Numbers::Whole(numbers) => numbers.clone(),
        };
        (name.to_owned(), numbers)
    });
    let weights = learner.weights().iter().map(|w| bits(w.lane(lane))).collect();
    (diverged, weights, all.collect())
}
