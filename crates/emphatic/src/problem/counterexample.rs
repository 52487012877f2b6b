//! The paper's counterexample and its long version.

use super::{Problem, ProblemError, Task};
use crate::features::Table;

/// The probability with which the behaviour of the paper takes A0.
const BEHAVIOUR: [f64; 2] = [0.25, 0.75];

impl Task {
    /// The three-state counterexample: S0 leads to S1 by A0 and to S2 by A1; S1 pays 2 for A0, S2 pays 1 for A1,
    /// and the actor cannot tell S1 from S2. The behaviour takes A1 three times out of four.
    pub fn counterexample() -> Self {
        Self::long_counterexample(1)
    }

    /// The counterexample with two chains of `steps` states before its ends (the paper's has 5; 1 gives the
    /// three-state problem, and 0 is taken as 1).
    ///
    /// Odd states form the left chain, even ones the right. On the left A0 leads outwards and A1 back, on the
    /// right the other way round. The two last states are aliased.
    pub fn long_counterexample(steps: usize) -> Self {
        // It is a problem for every chain length: the tests build many.
        Self::try_long_counterexample(steps.max(1)).expect("the counterexample is a problem")
    }

    fn try_long_counterexample(steps: usize) -> Result<Self, ProblemError> {
        let n = 2 * steps + 1;
        let mut builder = Problem::builder()
            .states((0..n).map(|s| format!("S{s}")))
            .actions(["A0", "A1"])
            .start(0, 1.0)
            .transition(0, 0, 1, 1.0, 0.0, 1.0)
            .transition(0, 1, 2, 1.0, 0.0, 1.0);
        for s in 1..n - 2 {
            let (outwards, back) = if s % 2 == 1 { (0, 1) } else { (1, 0) };
            builder = builder.transition(s, outwards, s + 2, 1.0, 0.0, 1.0).transition(
                s,
                back,
                s.saturating_sub(2),
                1.0,
                0.0,
                1.0,
            );
        }
        let (left, right) = (n - 2, n - 1);
        let problem = builder
            .end(left, 0, 1.0, 2.0)
            .end(left, 1, 1.0, 0.0)
            .end(right, 0, 1.0, 0.0)
            .end(right, 1, 1.0, 1.0)
            .build()?;
        let groups: Vec<usize> = (0..n).map(|s| s.min(n - 2)).collect();
        Task::new(problem, &vec![BEHAVIOUR.to_vec(); n])?.with_actor(Table::aliased(&groups))
    }
}
