//! Invalid problems, and parts and policies that do not fit, are refused by errors that name the culprit.

use crate::every_learner;
use emphatic::learner::Rule;
use emphatic::{
    ActorCritic, Advantage, AllActions, ComposeError, ContinuousCounterexample, DeterministicActorCritic,
    DeterministicLinear, Emphasis, Exact, ExactCritic, ExactEmphasis, Features, Fixed, Gaussian, Gq, Gtd,
    Learner, LearnerBuilder, Model, NoEmphasis, Part, Policy, Problem, ProblemBuilder, Softmax, Step, Table,
    Task, limit, off_pac,
};
use std::sync::Arc;

fn gtd(features: impl Into<Features>) -> Gtd {
    every_learner::gtd(features, 0.1, 0.1, 0.5)
}

fn exact<P: Policy>(task: &Arc<Task>, policy: &P) -> ExactCritic<f64, Task, P>
where
    Task: Model<P>,
{
    ExactCritic::new(task.clone(), policy).unwrap()
}

/// Returns why parts do not make a learner.
fn not_composed<P: Policy, C: Part<f64>, E: Emphasis<f64>, K: Rule<f64, P, C>>(
    learner: LearnerBuilder<f64, P, C, E, K>,
) -> ComposeError {
    learner.alpha(0.1).build().err().expect("an error")
}

/// A valid problem of two states and two actions.
fn builder() -> ProblemBuilder {
    Problem::builder()
        .states(["here", "there"])
        .actions(["stay", "go"])
        .start("here", 1.0)
        .transition("here", "stay", "here", 1.0, 0.0, 0.9)
        .transition("here", "go", "there", 1.0, 0.0, 0.9)
        .transition("there", "stay", "there", 1.0, 0.0, 0.9)
        .end("there", "go", 1.0, 1.0)
}

fn refused(builder: ProblemBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn problems() {
    assert!(builder().build().is_ok());
    assert_eq!(refused(Problem::builder().actions(["a"])), "a problem needs at least one state");
    assert_eq!(refused(Problem::builder().states(["s"])), "a problem needs at least one action");
    assert_eq!(refused(builder().states(["here"])), "there are two states named 'here'");
    assert_eq!(refused(builder().actions(["go"])), "there are two actions named 'go'");
    assert_eq!(
        refused(builder().transition("here", "go", "there", 0.5, 0.0, 0.9)),
        "the probabilities of the transitions from 'here' by 'go' sum to 1.5; they must sum to 1"
    );
    assert_eq!(
        refused(builder().transition("here", "go", "there", -0.5, 0.0, 0.9)),
        "the probability of a transition from 'here' by 'go' is -0.5; probabilities must be finite and not negative"
    );
    assert_eq!(
        refused(builder().transition("here", "go", "there", f64::NAN, 0.0, 0.9)),
        "the probability of a transition from 'here' by 'go' is NaN; probabilities must be finite and not negative"
    );
    assert_eq!(
        refused(builder().transition("here", "go", "there", 0.0, f64::INFINITY, 0.9)),
        "the reward of a transition from 'here' by 'go' is inf; rewards must be finite"
    );
    for gamma in [-0.1, 1.1, f64::NAN] {
        assert_eq!(
            refused(builder().transition("here", "go", "there", 0.0, 0.0, gamma)),
            format!("gamma of a transition from 'here' by 'go' is {gamma}; it must lie between 0 and 1")
        );
    }
    assert_eq!(
        refused(builder().actions(["fly"])),
        "action 'fly' is missing in state 'here': it has no transition"
    );
    assert_eq!(
        refused(builder().transition("here", "jump", "there", 1.0, 0.0, 0.9)),
        "there is no action 'jump'; there are 'stay', 'go'"
    );
    assert_eq!(
        refused(builder().transition("here", "go", "nowhere", 1.0, 0.0, 0.9)),
        "there is no state 'nowhere'; there are 'here', 'there'"
    );
    assert_eq!(
        refused(builder().transition(7, "go", "here", 1.0, 0.0, 0.9)),
        "there is no state number 7; there are 'here', 'there'"
    );
    let no_start = Problem::builder().states(["s"]).actions(["a"]).transition("s", "a", "s", 1.0, 0.0, 0.5);
    assert_eq!(
        refused(no_start.clone()),
        "the problem has no start: give at least one state a start probability"
    );
    assert_eq!(refused(no_start.clone().start("s", 0.0)), refused(no_start.clone()));
    assert_eq!(
        refused(no_start.clone().start("s", 0.5)),
        "the start probabilities sum to 0.5; they must sum to 1"
    );
    assert_eq!(
        refused(no_start.start("s", f64::NAN)),
        "the start probability of 's' is NaN; probabilities must be finite and not negative"
    );
}

#[test]
fn probabilities_that_miss_one_by_rounding_are_scaled_and_others_refused() {
    let row = |p: f64| {
        let build = Problem::builder().states(["s"]).actions(["a"]).start("s", 1.0);
        build.end("s", "a", p, 0.0).end("s", "a", 0.75, 1.0).build()
    };
    let nearly = row(0.25 + 1e-15).unwrap();
    assert_eq!(nearly.transitions(0, 0).iter().map(|t| t.probability).sum::<f64>(), 1.0);
    assert!(row(0.2499999).is_err());
}

#[test]
fn behaviours_interests_and_features() {
    let problem = builder().build().unwrap();
    let refused = |rows: &[Vec<f64>]| Task::new(problem.clone(), rows).unwrap_err().to_string();
    let even = vec![0.5, 0.5];
    assert_eq!(refused(std::slice::from_ref(&even)), "the behaviour has length 1; it must have length 2");
    assert_eq!(
        refused(&[even.clone(), vec![1.0]]),
        "the behaviour in 'there' has length 1; it must have length 2"
    );
    assert_eq!(
        refused(&[even.clone(), vec![0.5, 0.4]]),
        "the behaviour's probabilities in 'there' sum to 0.9; they must sum to 1"
    );
    assert_eq!(
        refused(&[even.clone(), vec![1.5, -0.5]]),
        "the behaviour's probability of 'go' in 'there' is -0.5; probabilities must be finite and not negative"
    );
    // Two ways in, none out.
    let traps = Problem::builder()
        .states(["door", "left", "right"])
        .actions(["go"])
        .start("door", 1.0)
        .transition("door", "go", "left", 0.5, 0.0, 0.9)
        .transition("door", "go", "right", 0.5, 0.0, 0.9)
        .transition("left", "go", "left", 1.0, 0.0, 0.9)
        .transition("right", "go", "right", 1.0, 0.0, 0.9);
    assert_eq!(
        Task::new(traps.build().unwrap(), &[vec![1.0], vec![1.0], vec![1.0]]).unwrap_err().to_string(),
        "the behaviour has more than one stationary distribution: once in 'left' it never comes to 'right', and the other way round"
    );
    let task = Task::new(problem, &[even.clone(), even]).unwrap();
    assert_eq!(
        task.clone().with_interest(vec![1.0, -1.0]).unwrap_err().to_string(),
        "the interest in 'there' is -1; it must be finite and not negative"
    );
    assert_eq!(
        task.clone().with_interest(vec![1.0]).unwrap_err().to_string(),
        "the interest has length 1; it must have length 2"
    );
    let narrow = Table::aliased(&[0]);
    assert_eq!(
        task.clone().with_actor(narrow.clone()).unwrap_err().to_string(),
        "the table of the actor's features has length 1; it must have length 2"
    );
    assert_eq!(
        task.with_critic(narrow).unwrap_err().to_string(),
        "the table of the critic's features has length 1; it must have length 2"
    );
}

/// Staying here costs nothing and never ends; going ends.
fn idle() -> Task {
    let problem = Problem::builder()
        .states(["here"])
        .actions(["stay", "go"])
        .start("here", 1.0)
        .transition("here", "stay", "here", 1.0, 0.0, 1.0)
        .end("here", "go", 1.0, 1.0)
        .build()
        .unwrap();
    Task::new(problem, &[vec![0.5, 0.5]]).unwrap()
}

#[test]
fn a_target_policy_that_never_ends_and_is_not_discounted() {
    let task = idle();
    let policy = task.softmax();
    assert!(Exact::new(&task, &policy, &[700.0, 0.0]).is_ok(), "it ends, if after 10^304 steps");
    let refused = |weights: &[f64]| Exact::new(&task, &policy, weights).unwrap_err().to_string();
    let never = "under the target policy, I − P_{π,γ} is singular: from 'here' an episode never ends and nothing is discounted";
    assert_eq!(refused(&[800.0, 0.0]), never);
    assert_eq!(limit(&task, &policy, &[800.0, 0.0], 1.0).unwrap_err().to_string(), never);
    assert_eq!(refused(&[0.0]), "1 weights for a policy that has 2");
    assert_eq!(refused(&[0.0, f64::NAN]), "weight 1 is NaN; weights must be finite");
    let three_actions = Softmax { features: Features::one_hot(1), actions: 3 };
    let error = Exact::new(&task, &three_actions, &[0.0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "the policy has 3 actions; the problem has 2");
    let wrong_table = Softmax { features: Features::one_hot(0), actions: 2 };
    let error = ExactCritic::<f64, _, _>::new(Arc::new(task), &wrong_table).unwrap_err();
    assert_eq!(error.to_string(), "state 0 does not exist: there are 0 states, numbered from 0");
}

/// Once a critic for other actions, or made for another policy, was accepted, with wrong results or a panic.
#[test]
fn parts_that_do_not_go_together() {
    let task = Arc::new(Task::counterexample());
    let policy = |actions| Softmax { features: Features::one_hot(3), actions };
    let states = || Features::one_hot(3);
    let values = Gq::builder(states(), 2, gtd(states())).alpha_q(0.1).alpha_h(0.1).lambda_q(0.5);
    let error = not_composed(AllActions::builder(policy(3), values.build().unwrap(), NoEmphasis));
    assert_eq!(error.to_string(), "the critic is for 2 actions; the policy has 3");
    let advantage = Advantage::builder(states(), 3, gtd(states())).alpha_u(0.1).build().unwrap();
    let error = not_composed(AllActions::builder(policy(2), advantage, NoEmphasis));
    assert_eq!(error.to_string(), "the critic is for 3 actions; the policy has 2");
    let error = not_composed(off_pac(policy(3), exact(&task, &policy(2))));
    assert_eq!(error.to_string(), "the policy has 3 actions; the problem has 2");
    let two_states = Softmax { features: Features::one_hot(2), actions: 2 };
    let error = not_composed(off_pac(two_states, exact(&task, &policy(2))));
    assert_eq!(error.to_string(), "state 2 does not exist: there are 2 states, numbered from 0");
    // Made for one-hot features, used with aliased ones: the critic learns of all the states that change.
    let aliased = Softmax { features: Table::aliased(&[0, 1, 1]).into(), actions: 2 };
    let [mut made_for_another, mut made_for_it] = [&policy(2), &aliased]
        .map(|made_for| off_pac(aliased.clone(), exact(&task, made_for)).alpha(0.1).build().unwrap());
    for step in task.stream(1, 0).take(100) {
        assert_eq!(made_for_another.step(&step), made_for_it.step(&step));
    }
}

/// An exact part must replace the policy that it was made for by the learner's: a policy without weights differs in its
/// probabilities alone.
#[test]
fn an_exact_part_takes_up_a_policy_with_the_same_features() {
    let task = Arc::new(Task::counterexample());
    let fixed = |p: f64| Fixed::new(&task, &vec![vec![p, 1.0 - p]; 3]).unwrap();
    let learner = |made_for: f64| {
        let critic = exact(&task, &fixed(made_for));
        let emphasis = ExactEmphasis::new(task.clone(), &fixed(made_for)).unwrap();
        ActorCritic::builder(fixed(0.9), critic, emphasis).alpha(0.1).build().unwrap()
    };
    let (mut made_for_another, mut made_for_it) = (learner(0.2), learner(0.9));
    for step in task.stream(1, 0).take(100) {
        assert_eq!(made_for_another.step(&step), made_for_it.step(&step));
    }
}

#[test]
fn an_exact_part_for_another_kind_of_policy() {
    let task = Arc::new(Task::counterexample());
    let fixed = Fixed::new(&task, &vec![vec![0.5, 0.5]; 3]).unwrap();
    assert_eq!(not_composed(off_pac(task.softmax(), exact(&task, &fixed))), ComposeError::Policy);
    // Also inside another critic, and as an emphasis.
    let inside = Advantage::builder(task.critic(), 2, exact(&task, &fixed)).alpha_u(0.1).build().unwrap();
    let error = not_composed(AllActions::builder(task.softmax(), inside, NoEmphasis));
    assert_eq!(error, ComposeError::Policy);
    let emphasis = ExactEmphasis::new(task.clone(), &fixed).unwrap();
    let error = not_composed(ActorCritic::builder(task.softmax(), gtd(task.critic()), emphasis));
    assert_eq!(error.to_string(), "a part that is computed from the policy is for another kind of policy");
}

/// The behaviour almost never takes exactly the action of a deterministic policy.
#[test]
fn an_emphasis_by_ratios_beside_a_deterministic_policy() {
    let policy = || DeterministicLinear { features: Features::dense(2) };
    let critic = || every_learner::compatible(Features::dense(2), 0.1, 0.1, 0.1);
    for lambda_a in [0.0, 0.9] {
        let emphasis = every_learner::follow_on(lambda_a);
        let error = not_composed(DeterministicActorCritic::builder(policy(), critic(), emphasis));
        assert_eq!(error, ComposeError::Ratio);
        assert_eq!(error.to_string(), "a deterministic policy has no ratio, which this emphasis needs");
    }
    assert!(DeterministicActorCritic::builder(policy(), critic(), NoEmphasis).alpha(0.1).build().is_ok());
    let task = Arc::new(ContinuousCounterexample::default());
    let emphasis = ExactEmphasis::new(task.clone(), &task.deterministic()).unwrap();
    let critic = every_learner::compatible(Features::one_hot(3), 0.1, 0.1, 0.1);
    let learner = DeterministicActorCritic::builder(task.deterministic(), critic, emphasis);
    assert!(learner.alpha(0.1).build().is_ok());
}

/// States and actions of another kind than the learner's.
#[test]
fn states_and_actions_of_another_kind() {
    fn step<S: Clone, A>(state: S, action: A) -> Step<S, A> {
        every_learner::step(state.clone(), action, state)
    }
    let features = || Features::dense(2);
    let softmax = Softmax { features: features(), actions: 2 };
    let mut softmax = off_pac(softmax, gtd(features())).alpha(0.1).build().unwrap();
    let gaussian = Gaussian { features: features() };
    let mut gaussian = off_pac(gaussian, gtd(features())).alpha(0.1).build().unwrap();
    let (before, before_gaussian) = (softmax.state().unwrap(), gaussian.state().unwrap());
    assert_eq!(
        softmax.step(&step([1.0, 2.0], 1.0)).unwrap_err().to_string(),
        "the action is a real number; the policy's is the number of one of its actions"
    );
    assert_eq!(
        gaussian.step(&step([1.0, 2.0], 1)).unwrap_err().to_string(),
        "the action is the number of an action; the policy's is a real number"
    );
    assert_eq!(
        softmax.step(&step([0, 1], 1)).unwrap_err().to_string(),
        "a state comes as a list of active features; these features are of a vector of features"
    );
    let not_a_vector = "a state comes as a state's number; these features are of a vector of features";
    assert_eq!(gaussian.step(&step(1, 1.0)).unwrap_err().to_string(), not_a_vector);
    assert_eq!(gaussian.actor().distribution(1).unwrap_err().to_string(), not_a_vector);
    assert_eq!((softmax.state().unwrap(), gaussian.state().unwrap()), (before, before_gaussian));
    // Parts of one learner that want different kinds refuse every state.
    let tiles = Softmax { features: Features::active(4, 2), actions: 2 };
    let mut torn = off_pac(tiles, gtd(features())).alpha(0.1).build().unwrap();
    assert!(torn.step(&step([1.0, 2.0], 1)).is_err() && torn.step(&step([0, 1], 1)).is_err());
}

/// Once percent were taken for probabilities.
#[test]
fn a_probability_above_one() {
    let task = Task::counterexample();
    let mut learner = off_pac(task.softmax(), gtd(task.critic())).alpha(0.1).build().unwrap();
    let mut step = task.stream(1, 0).next().unwrap();
    step.mu = 75.0;
    let error = learner.step(&step).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mu, the behaviour's probability of the action taken, is 75; a probability is at most 1"
    );
}

#[test]
fn weights() {
    let task = Task::counterexample();
    let learner = || off_pac(task.softmax(), gtd(task.critic())).alpha(0.1).build().unwrap();
    let error = learner().with_weights(vec![0.0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "3 weights for a learner that has 4");
    let error = learner().with_weights(vec![0.0, 0.0, f64::NAN, 0.0]).unwrap_err();
    assert_eq!(error.to_string(), "weight 2 is NaN; weights must be finite");
}

#[test]
fn numbers_too_large_to_compute_with() {
    let problem = Problem::builder()
        .states(["s"])
        .actions(["a"])
        .start("s", 1.0)
        .transition("s", "a", "s", 1.0, 1e308, 0.99)
        .build()
        .unwrap();
    let task = Task::new(problem, &[vec![1.0]]).unwrap();
    let error = Exact::new(&task, &task.softmax(), &[0.0]).unwrap_err();
    assert_eq!(error.to_string(), "the value or the emphatic weighting of 's' is too large to compute with");
}

/// Once a trap that cannot be reached made the whole problem unusable.
#[test]
fn a_state_that_is_never_reached_is_no_obstacle() {
    let problem = Problem::builder()
        .states(["s", "trap"])
        .actions(["a"])
        .start("s", 1.0)
        .end("s", "a", 1.0, 1.0)
        .transition("trap", "a", "trap", 1.0, 0.0, 0.5)
        .build()
        .unwrap();
    assert_eq!(Task::new(problem, &[vec![1.0], vec![1.0]]).unwrap().stationary(), [1.0, 0.0]);
}

/// Once a learner from all actions made room for its features before it was known to be possible, which panicked.
#[test]
fn more_weights_than_any_memory_holds() {
    let policy = || Softmax { features: Features::dense(1 << 60), actions: 2 };
    let few = Features::dense(2);
    let critic = Advantage::builder(few.clone(), 2, gtd(few.clone())).alpha_u(0.1).build().unwrap();
    assert_eq!(
        not_composed(AllActions::builder(policy(), critic, NoEmphasis)),
        ComposeError::TooMany(1 << 61)
    );
    assert_eq!(
        not_composed(ActorCritic::builder(policy(), gtd(few), NoEmphasis)),
        ComposeError::TooMany(1 << 61)
    );
}
