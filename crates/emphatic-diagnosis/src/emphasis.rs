//! How well the follow-on trace estimates the emphasis.

use crate::aliased_emphasis::{AliasedEmphasis, aliased_emphasis};
use crate::diagnosable::{Diagnosable, Solved};
use crate::lambda_return::{LambdaReturn, lambda_return};
use emphatic::{KnownProblem, Policy};
use serde::Serialize;

/// States with at least this share of the emphatic weighting are described, at most a hundred.
const SHARE: f64 = 0.01;
/// At least this many states are described, those with the largest shares.
const LEAST: usize = 10;

/// The relative standard error that an estimate of m should have.
pub const RELATIVE: f64 = 0.1;

/// The follow-on trace for one policy.
#[derive(Clone, Debug, Serialize)]
pub struct Emphasis {
    /// Bounds on the spectral radius of the second-moment operator; `None` if ρ² has no finite mean, or there is no ratio.
    pub spectral_radius: Option<[f64; 2]>,
    /// Whether the trace has a finite variance.
    pub finite: bool,
    /// The states that carry most of m, the largest first.
    pub states: Vec<StateEmphasis>,
    /// The number of steps after which m is known to 10 % in each of those; `None` if it never is.
    pub steps: Option<f64>,
    /// The λ-return, which looks back to an estimate; `None` if ρ² has no finite mean.
    pub lambda_return: Option<LambdaReturn>,
    /// States whose emphasis differs, though they look alike.
    pub aliased: Vec<AliasedEmphasis>,
}

/// The trace in one state.
#[derive(Clone, Debug, Serialize)]
pub struct StateEmphasis {
    /// The state.
    pub state: String,
    /// Its share of the emphatic weighting.
    pub share: f64,
    /// E[F | s] = m/d_μ.
    pub mean: f64,
    /// The standard deviation of F in it; `None` if it is infinite.
    pub standard_deviation: Option<f64>,
    /// The standard deviation of the λ-return in it, with the λ_e to start with and m/d_μ to look back to.
    pub lambda_return_deviation: Option<f64>,
    /// The number of steps after which m is known to 10 % in it; `None` if it never is.
    pub steps: Option<f64>,
}

impl Emphasis {
    /// The largest ratio of standard deviation to mean; `None` if it is infinite.
    pub fn relative_spread(&self) -> Option<f64> {
        self.largest_ratio(|s| s.standard_deviation)
    }

    /// The same for the λ-return, with the λ_e to start with.
    pub fn relative_spread_of_lambda_return(&self) -> Option<f64> {
        self.largest_ratio(|s| s.lambda_return_deviation)
    }

    fn largest_ratio(&self, deviation: impl Fn(&StateEmphasis) -> Option<f64>) -> Option<f64> {
        let ratios = self.states.iter().map(|s| deviation(s).map(|sd| sd / s.mean));
        ratios.collect::<Option<Vec<f64>>>().map(|ratios| ratios.into_iter().fold(0.0, f64::max))
    }
}

/// Describes the trace for a policy.
pub(crate) fn emphasis<P: Policy, M: Diagnosable<P>>(
    solved: &Solved<M, P>,
    known: &KnownProblem,
) -> Emphasis {
    let moments = solved.moments();
    let (means, m) = (moments.means(), solved.exact.emphatic_weighting(1.0));
    let all: f64 = m.iter().sum();
    let mut large: Vec<usize> = (0..m.len()).filter(|&s| means[s] > 0.0 && m[s] > 0.0).collect();
    large.sort_by(|&a, &b| m[b].total_cmp(&m[a]).then(a.cmp(&b)));
    let share = large.iter().take_while(|&&s| m[s] >= SHARE * all).count();
    large.truncate(share.max(LEAST));
    let deviations = moments.standard_deviations();
    let lambda_return = lambda_return(solved);
    let of_lambda_return =
        lambda_return.as_ref().and_then(|chosen| moments.lambda_return_deviations(chosen.lambda_e));
    let finite =
        |all: &Option<Vec<f64>>, s: usize| all.as_ref().map(|all| all[s]).filter(|sd| sd.is_finite());
    let mut indicator = vec![0.0; m.len()];
    let mut of = |s: usize| {
        indicator[s] = 1.0;
        let steps = moments.estimation_steps(&indicator, RELATIVE);
        indicator[s] = 0.0;
        StateEmphasis {
            state: known.states()[s].clone(),
            share: m[s] / all,
            mean: means[s],
            standard_deviation: finite(&deviations, s),
            lambda_return_deviation: finite(&of_lambda_return, s),
            steps: steps.is_finite().then_some(steps),
        }
    };
    let states: Vec<StateEmphasis> = large.into_iter().map(&mut of).collect();
    let steps = states.iter().map(|s| s.steps).collect::<Option<Vec<f64>>>();
    Emphasis {
        spectral_radius: moments.spectral_radius(),
        finite: moments.is_finite(),
        steps: steps.map(|steps| steps.into_iter().fold(0.0, f64::max)),
        states,
        lambda_return,
        aliased: aliased_emphasis(known, &means),
    }
}
