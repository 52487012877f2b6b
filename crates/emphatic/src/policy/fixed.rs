//! Fixed policies: the probabilities are given and do not learn.

use super::{FinitePolicy, Policy, StochasticPolicy};
use crate::catalogue::{self, Role};
use crate::saved_state::digest;
use crate::{
    Built, ComposeError, Declaration, Declared, Draw, FeatureError, Features, PartBuilder, PartRecipe,
    ProblemError, Real, Row, RuleKind, StateError, StepError, Table, Task, Visitor, index_at,
};

/// It is not in the standard catalogue, since there is nothing of it to learn. Whoever evaluates a fixed target adds it:
/// `catalogue.with::<Fixed>()` composes what [`Fixed::recipe`] returns.
impl Declared for Fixed {
    const DECLARATION: Declaration = Declaration {
        acts: Some(catalogue::Acts::Finite),
        outputs: Some(0),
        features: true,
        ..Declaration::new(
            Role::Policy,
            "fixed",
            "Fixed",
            "finitely many actions, with given probabilities, which are its features of a state",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let policy = match with.features()? {
            Features::Table(table) => Fixed::of_table(&table),
            _ => None,
        };
        let Some(policy) = policy else {
            return Err(ComposeError::Incompatible(
                "a fixed policy needs a table of probabilities".to_owned(),
            ));
        };
        match with.rule() {
            RuleKind::Taken => with.stochastic(policy),
            RuleKind::All => with.finite(policy),
            RuleKind::Deterministic => with.wrong_rule(),
        }
    }
}

/// A policy in numbered states that has no weights: its probabilities are given, and may be 0. It cannot learn, but
/// everything that is exactly true of it can be computed.
///
/// ```
/// use emphatic::{Exact, Fixed, Task};
/// let task = Task::counterexample();
/// let always_a0 = Fixed::new(&task, &vec![vec![1.0, 0.0]; 3])?;
/// let none: [f64; 0] = [];
/// assert_eq!(Exact::new(&task, &always_a0, &none)?.objective(), 1.25);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// The states themselves.
    features: Features,
    rows: Vec<Vec<f64>>,
}

impl Fixed {
    /// A row for each state of the task, a probability for each action.
    pub fn new(task: &Task, rows: &[Vec<f64>]) -> Result<Self, ProblemError> {
        let rows = task.problem().check_policy("the target", rows)?;
        Ok(Self { features: Features::one_hot(rows.len()), rows })
    }

    /// The policy whose probabilities are these features; `None` if they are no probabilities.
    fn of_table(table: &Table) -> Option<Self> {
        let row = |s: usize| {
            let mut row = vec![0.0; table.len()];
            table.active(s).for_each(|(action, p)| row[action] = p);
            let is_policy = row.iter().all(|p| *p >= 0.0) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-9;
            is_policy.then_some(row)
        };
        let rows = (0..table.states()).map(row).collect::<Option<_>>()?;
        Some(Self { features: Features::one_hot(table.states()), rows })
    }

    /// Returns the recipe of this policy: its features are the probabilities.
    pub fn recipe(&self) -> Result<PartRecipe, FeatureError> {
        Ok(PartRecipe::new(Self::DECLARATION.name).with_features(Table::dense(&self.rows)?))
    }
}

impl Policy for Fixed {
    type Action = usize;
    /// The probability of each action.
    type Distribution<R: Real> = Vec<R>;

    fn features(&self) -> &Features {
        &self.features
    }

    fn len(&self) -> usize {
        0
    }

    fn check_action(&self, action: usize) -> Result<(), StepError> {
        let actions = self.actions();
        if action < actions { Ok(()) } else { Err(StepError::Action { action, actions }) }
    }

    fn room<R: Real>(&self) -> Vec<R> {
        vec![R::zero(); self.actions()]
    }

    fn distribution<R: Real>(&self, _weights: &[R], x: Row, out: &mut Vec<R>) {
        for (state, _) in x.iter() {
            for (out, p) in out.iter_mut().zip(&self.rows[state]) {
                *out = R::splat(*p);
            }
        }
    }

    fn numbers<R: Real>(&self, at: &Vec<R>) -> Vec<R> {
        at.clone()
    }

    fn settings(&self, visitor: &mut Visitor) -> Result<(), StateError> {
        let probabilities = digest(self.rows.iter().flatten().map(|p| p.to_bits()));
        visitor.text("probabilities", &format!("digest {probabilities:016x}"))
    }

    fn sample<R: Real>(&self, at: &Vec<R>, lane: usize, draw: &mut dyn Draw) -> usize {
        index_at(draw.uniform(), at.iter().map(|p| p.lane(lane)))
    }
}

impl StochasticPolicy for Fixed {
    fn probability<R: Real>(&self, at: &Vec<R>, action: usize) -> R {
        at[action]
    }

    fn add_score<R: Real>(&self, _: Row, _: &Vec<R>, _: usize, _: R, _: &mut [R]) -> R {
        R::zero() // There are no weights to change.
    }
}

impl FinitePolicy for Fixed {
    fn actions(&self) -> usize {
        self.rows.first().map_or(0, Vec::len)
    }

    fn probabilities<'a, R: Real>(&self, at: &'a Vec<R>) -> &'a [R] {
        at
    }
}
