//! Every part of the catalogue, in every valid composition: the same bits in lanes and on every instruction set, saved and restored
//! half-way, and refused in invalid ones.

use crate::recipe_case::Case;
use emphatic::catalogue::{Acts, Catalogue, Entry, Inner, Need, Role, Signal};
use emphatic::{
    Action, Composable, ComposeError, ContinuousCounterexample, Draw, Features, Isa, KnownProblem, Lanes,
    PartRecipe, Range, Real, Recipe, RuleKind, SavedState, State, StateError, Step, Subset, Table, Task,
};
use std::collections::HashSet;
use std::sync::Arc;

const SETTINGS: usize = 16;

/// The value of a setting in a lane. Some step-sizes are so large that the learner diverges.
fn value(range: Range, lane: usize, shift: usize) -> f64 {
    match range {
        Range::StepSize => [0.1, 1e-3, 0.3, 0.02, 60.0][(lane + shift) % 5],
        Range::Fraction => [0.0, 0.4, 1.0][(lane + shift) % 3],
        Range::Discount => [0.0, 0.4, 0.9][(lane + shift) % 3],
        // Lanes share it.
        Range::Count => [1.0, 2.0, 5.0][shift % 3],
        Range::Amount => [0.0, 0.5, 3.0][(lane + shift) % 3],
    }
}

/// A part with all its settings, those of the parts inside it too.
fn part(entry: &Entry, features: &Features, lane: usize) -> PartRecipe {
    let mut part = PartRecipe::new(entry.name);
    for (shift, setting) in entry.settings.iter().enumerate() {
        part = part.with(setting.name, value(setting.range, lane, shift));
    }
    if entry.features {
        part = part.with_features(features.clone());
    }
    for inner in entry.inner {
        let inside = Catalogue::standard().find(inner.role, inner.default).expect("it is declared");
        let mut inside = self::part(inside, features, lane);
        if inner.role == Role::Emphasis {
            inside.numbers.remove("lambda_a"); // It is 1 there.
        }
        part = part.with_inner(inner.name, inside);
    }
    part
}

fn known(acts: Acts) -> KnownProblem {
    match acts {
        Acts::Finite => KnownProblem::Finite(Arc::new(Task::long_counterexample(2))),
        Acts::Real | Acts::Deterministic => {
            KnownProblem::Continuous(Arc::new(ContinuousCounterexample::default()))
        }
    }
}

fn rules(acts: Acts) -> Vec<(RuleKind, Signal)> {
    match acts {
        Acts::Finite => vec![(RuleKind::Taken, Signal::Delta), (RuleKind::All, Signal::Advantages)],
        Acts::Real => vec![(RuleKind::Taken, Signal::Delta)],
        Acts::Deterministic => vec![(RuleKind::Deterministic, Signal::Slope)],
    }
}

/// Returns whether a part is one of a learner itself, not inside another.
fn is_on_its_own(entry: &&Entry) -> bool {
    entry.role != Role::Schedule
}

/// A part of a recipe: its name in saved states, its role, and the part itself.
type PartOf = (&'static str, Role, fn(&mut Recipe) -> &mut PartRecipe);

const PARTS: [PartOf; 4] = [
    ("policy", Role::Policy, |r| &mut r.policy),
    ("critic", Role::Critic, |r| &mut r.critic),
    ("emphasis", Role::Emphasis, |r| &mut r.emphasis),
    ("actor", Role::Actor, |r| r.actor.as_mut().expect("it has an actor")),
];

/// The parts of a recipe: not all have an actor of their own.
fn parts_of(recipe: &Recipe) -> impl Iterator<Item = PartOf> {
    let has_actor = recipe.actor.is_some();
    PARTS.into_iter().filter(move |(_, role, _)| has_actor || *role != Role::Actor)
}

/// An action of the other kind.
fn other_kind(action: Action) -> Action {
    match action {
        Action::Number(_) => Action::Real(0.5),
        Action::Real(_) => Action::Number(0),
    }
}

/// The learner of one setting.
fn recipe(policy: &Entry, rule: RuleKind, critic: &Entry, emphasis: &Entry, lane: usize) -> Recipe {
    let (actor, states, actions) = match known(policy.acts.expect("it is a policy")) {
        KnownProblem::Finite(task) => (task.actor().clone(), task.states(), Some(task.actions())),
        KnownProblem::Continuous(problem) => (problem.actor().clone(), 3, None),
    };
    let features = Features::from(Table::one_hot(states));
    let policy = PartRecipe::new(policy.name).with_features(actor);
    let (critic, alpha) = (part(critic, &features, lane), [1e-3, 0.3, 0.02, 1e6][lane % 4]);
    let with_subset = rule == RuleKind::All && emphasis.name == "none";
    let mut recipe = Recipe::new(rule, policy, critic, part(emphasis, &features, lane + 1), alpha);
    recipe.actions = actions;
    recipe.subset = with_subset.then_some(Subset { count: 1, seed: 7, run: 0 });
    recipe
}

/// The same with an actor.
fn with_actor(mut recipe: Recipe, actor: &Entry, lane: usize) -> Recipe {
    let KnownProblem::Finite(task) = known(Acts::Finite) else { panic!("it is finite") };
    let states = if recipe.actions.is_some() { task.states() } else { 3 };
    let features = Features::from(Table::one_hot(states));
    recipe.subset = None;
    recipe.with_actor(part(actor, &features, lane + 2))
}

/// Returns whether a policy that acts like this has what a part needs of it.
fn fits(acts: Acts, part: &Entry) -> bool {
    let has = |need: &Need| match need {
        Need::Ratio => acts != Acts::Deterministic,
        Need::Finite => acts == Acts::Finite,
        Need::Problem | Need::Table | Need::NoEmphasis => true,
    };
    part.needs.iter().all(has)
}

/// Returns whether two parts are tried together: every part with the commonest of the other role.
fn is_tried(critic: &Entry, emphasis: &Entry) -> bool {
    ["exact", "gtd", "gq"].contains(&critic.name) || ["none", "follow-on", "exact"].contains(&emphasis.name)
}

/// Returns whether actors are tried with these parts: with every critic, and with the commonest emphases.
fn is_tried_with(critic: &Entry, emphasis: &Entry) -> bool {
    emphasis.name == "none" || emphasis.name == "follow-on" && ["exact", "gtd", "gq"].contains(&critic.name)
}

/// A problem for policies that act like this, with some steps (in the continuous one, a hundred or so).
fn case(name: String, acts: Acts, steps: usize) -> Case<'static> {
    let problem = known(acts);
    let steps = match &problem {
        KnownProblem::Finite(task) => task.stream(3, 0).take(steps).collect(),
        KnownProblem::Continuous(problem) => problem.stream(3, 0).take(steps.min(120)).collect(),
    };
    Case { name, problem, steps }
}

/// Valid compositions, each part in at least one of them.
fn cases() -> Vec<(Case<'static>, Vec<Recipe>)> {
    let catalogue = Catalogue::standard();
    let mut cases = Vec::new();
    let mut unused: HashSet<(&str, &str)> =
        catalogue.iter().filter(is_on_its_own).map(|entry| (entry.role.word(), entry.name)).collect();
    for policy in catalogue.of(Role::Policy) {
        let acts = policy.acts.expect("it is a policy");
        for (rule, signal) in rules(acts) {
            for critic in catalogue.of(Role::Critic).filter(|critic| critic.signals.contains(&signal)) {
                for emphasis in catalogue.of(Role::Emphasis) {
                    if !fits(acts, emphasis) || !is_tried(critic, emphasis) {
                        continue;
                    }
                    let name = format!("{} {rule:?} {} {}", policy.name, critic.name, emphasis.name);
                    let of = |lane| recipe(policy, rule, critic, emphasis, lane);
                    cases.push((case(name.clone(), acts, 400), (0..SETTINGS).map(of).collect()));
                    let learns = |actor: &&Entry| {
                        fits(acts, actor)
                            && actor.signals.contains(&signal)
                            && is_tried_with(critic, emphasis)
                            && (emphasis.name == "none" || !actor.needs.contains(&Need::NoEmphasis))
                    };
                    let actors: Vec<&Entry> = catalogue.of(Role::Actor).filter(learns).collect();
                    for actor in &actors {
                        let name = format!("{name} {}", actor.name);
                        let of = |lane| with_actor(of(lane), actor, lane);
                        cases.push((case(name, acts, 150), (0..SETTINGS).map(of).collect()));
                    }
                    for entry in [policy, critic, emphasis].into_iter().chain(actors) {
                        unused.remove(&(entry.role.word(), entry.name));
                    }
                }
            }
        }
    }
    assert!(unused.is_empty(), "no composition has {unused:?}");
    cases
}

#[test]
fn every_part_has_the_same_bits_in_lanes_and_on_every_instruction_set() {
    let isas: Vec<Isa> = Isa::ALL.into_iter().filter(|isa| isa.available()).collect();
    println!("instruction sets of this machine: {isas:?}");
    let mut any_diverged = false;
    for (case, recipes) in cases() {
        any_diverged |= case.check(&recipes);
    }
    assert!(any_diverged, "none diverged");
}

/// Every part that can be inside another, in place of the default one.
#[test]
fn parts_inside_parts_have_the_same_bits_in_lanes() {
    let catalogue = Catalogue::standard();
    let policy = catalogue.find(Role::Policy, "softmax").unwrap();
    let problem = known(Acts::Finite);
    let KnownProblem::Finite(task) = &problem else { panic!("it is finite") };
    let features = Features::one_hot(task.states());
    let none = catalogue.find(Role::Emphasis, "none").unwrap();
    for (rule, signal) in rules(Acts::Finite) {
        for critic in catalogue.of(Role::Critic).filter(|critic| critic.signals.contains(&signal)) {
            for inner in critic.inner {
                let other = |entry: &&Entry| inner.admits(entry) && entry.name != inner.default;
                for inside in catalogue.of(inner.role).filter(other) {
                    let of = |lane| {
                        let mut recipe = recipe(policy, rule, critic, none, lane);
                        let mut part = part(inside, &features, lane);
                        if inner.role == Role::Emphasis {
                            part.numbers.remove("lambda_a");
                        }
                        recipe.critic.inner.insert(inner.name.to_owned(), part);
                        recipe
                    };
                    let recipes: Vec<Recipe> = (0..SETTINGS).map(of).collect();
                    let name = format!("{} with {} {}", critic.name, inner.name, inside.name);
                    let steps = task.stream(3, 0).take(150).collect();
                    Case { name, problem: problem.clone(), steps }.check(&recipes);
                }
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    for (case, recipes) in cases() {
        let first = &recipes[0];
        for (_, role, part) in parts_of(first) {
            let with = |change: &dyn Fn(&mut PartRecipe)| {
                let mut recipe = first.clone();
                change(part(&mut recipe));
                case.refused(&recipe).to_string()
            };
            let kind = part(&mut first.clone()).kind.clone();
            let entry = Catalogue::standard().find(role, &kind).unwrap();
            let word = role.word();
            let unknown = with(&|part| part.kind = "nothing".to_owned());
            assert_eq!(unknown, format!("there is no {word} `nothing`"));
            // Once a setting of an unknown name was read as 0.
            let unknown = with(&|part| _ = part.numbers.insert("alhpa".to_owned(), 0.1));
            assert_eq!(unknown, format!("the {word} `{kind}` has no setting `alhpa`"));
            if !entry.features {
                let features = with(&|part| part.features = Some(Features::one_hot(3)));
                assert_eq!(features, format!("the {word} `{kind}` looks at no features"));
            }
            let inner = with(&|part| _ = part.inner.insert("nothing".to_owned(), PartRecipe::new("gtd")));
            assert_eq!(inner, format!("the {word} `{kind}` has no part `nothing` inside it"));
            for setting in entry.settings {
                let wrong = with(&|part| _ = part.numbers.insert(setting.name.to_owned(), -1.0));
                assert_eq!(wrong, format!("{} is -1; {}", setting.name, setting.range.right()));
                if setting.default.is_none() {
                    let missing = with(&|part| _ = part.numbers.remove(setting.name));
                    assert_eq!(missing, format!("the {word} `{kind}` needs `{}`", setting.name));
                }
            }
            if entry.needs.contains(&Need::Problem) {
                let error = f64::compose(Catalogue::standard(), &[first], &[], Isa::Plain).err().unwrap();
                assert!(error.to_string().ends_with("needs a problem that is known exactly"), "{error}");
            }
        }
        let mut recipe = first.clone();
        recipe.alpha = f64::NAN;
        assert_eq!(case.refused(&recipe).to_string(), "alpha is NaN; a step-size is finite and not negative");
    }
}

#[test]
fn a_step_that_makes_no_sense_changes_nothing() {
    for (case, recipes) in cases() {
        let first = &recipes[0];
        let mut learner = case.compose::<f64>(&[first], Isa::Plain);
        learner.learn(Isa::Plain, &case.steps[..50]).unwrap();
        let state = learner.state().unwrap();
        let step = case.steps[0];
        let wrong = [
            Step { mu: 0.0, ..step },
            Step { reward: f64::NAN, ..step },
            Step { gamma: 1.5, ..step },
            Step { interest: -1.0, ..step },
            Step { action: other_kind(step.action), ..step },
            Step { state: State::Number(99), ..step },
            Step { state: State::Vector(&[1.0]), ..step },
            // Once the next state was not checked by an emphasis.
            Step { next: State::Number(99), gamma_next: 0.5, ..step },
            Step { next: State::Active(&[1]), gamma_next: 0.5, ..step },
        ];
        for wrong in wrong {
            assert!(learner.update(&wrong).is_err(), "{}: {wrong:?}", case.name);
            assert_eq!(learner.state().unwrap(), state, "{}: {wrong:?}", case.name);
        }
    }
}

/// Every setting of a recipe by the name it has in a saved state, changed to another value.
fn other_settings(recipe: &Recipe) -> Vec<(String, Recipe)> {
    let mut others = vec![("alpha".to_owned(), recipe.clone())];
    others[0].1.alpha = 0.5;
    if let Some(Subset { seed, run, .. }) = recipe.subset {
        others.push(("subset".to_owned(), recipe.clone().with_subset(Subset { count: 2, seed, run })));
    }
    for (path, role, part) in parts_of(recipe) {
        let mut change_part = |place: &[String], change: &dyn Fn(&mut PartRecipe), name: &str| {
            let mut other = recipe.clone();
            change(place.iter().fold(part(&mut other), |part, name| part.inner.get_mut(name).unwrap()));
            others.push(([&[path.to_owned()], place, &[name.to_owned()]].concat().join("."), other));
        };
        add_other_settings(part(&mut recipe.clone()), role, &mut Vec::new(), &mut change_part);
    }
    others
}

/// Changes a part of a recipe that lies at this place inside another, and notes the name of what was changed.
type ChangePart<'a> = &'a mut dyn FnMut(&[String], &dyn Fn(&mut PartRecipe), &str);

/// Changes every setting of a part, and of the parts inside it.
fn add_other_settings(own: &PartRecipe, role: Role, place: &mut Vec<String>, change_part: ChangePart) {
    let mut with = |name: &str, change: &dyn Fn(&mut PartRecipe)| change_part(&place.clone(), change, name);
    let entry = Catalogue::standard().find(role, &own.kind).unwrap();
    for setting in entry.settings {
        // An emphasis inside a critic has no λ_a of its own.
        let Some(number) = own.numbers.get(setting.name) else { continue };
        let number = if *number == 1.0 { 2.0 } else { 1.0 };
        let number = if setting.range.contains(number) { number } else { 0.75 };
        with(setting.name, &|part| _ = part.numbers.insert(setting.name.to_owned(), number));
    }
    if let Some(Features::Table(table)) = &own.features {
        // The same numbers of states and features, but one other value.
        let rows = (0..table.states()).map(|state| table.active(state).collect());
        let mut rows: Vec<Vec<_>> = rows.collect();
        rows[0][0].1 = 0.5;
        let features = Table::new(table.len(), &rows).unwrap();
        with("features", &|part| part.features = Some(features.clone().into()));
    }
    for inner in entry.inner {
        place.push(inner.name.to_owned());
        add_other_settings(&own.inner[inner.name], inner.role, place, change_part);
        place.pop();
    }
}

/// Once a state was restored to a learner with other settings, silently.
#[test]
fn a_state_is_refused_by_a_learner_with_another_setting_which_is_named() {
    for (case, recipes) in cases() {
        let first = &recipes[1];
        let mut learner = case.compose::<f64>(&[first], Isa::Plain);
        learner.learn(Isa::Plain, &case.steps[..50]).unwrap();
        let state = learner.state().unwrap();
        for (changed, other) in other_settings(first) {
            let mut other = case.compose::<f64>(&[&other], Isa::Plain);
            let before = other.state().unwrap();
            match other.restore(&state) {
                Err(StateError::Setting { name, saved, own, lane: None }) => {
                    assert!(name == changed && saved != own, "{}: {name} {saved} {own}", case.name);
                }
                result => panic!("{}: {changed} changed: {result:?}", case.name),
            }
            assert_eq!(other.state().unwrap(), before, "{}: {changed}", case.name);
        }
        // Another value in one lane of sixteen.
        let mut learners = case.compose::<Lanes<16>>(&[first, first], Isa::Plain);
        let state = learners.state().unwrap();
        for (changed, other) in other_settings(first) {
            let in_lanes = other.is_like(first, Catalogue::standard());
            let mut others =
                case.compose::<Lanes<16>>(&[first, if in_lanes { &other } else { first }], Isa::Plain);
            let result = others.restore(&state);
            let right = |error: &StateError| matches!(error, StateError::Setting { name, lane: Some(1), .. } if *name == changed);
            assert_eq!(result.as_ref().is_err_and(right), in_lanes, "{}: {changed}: {result:?}", case.name);
            assert!(
                case.compose::<f64>(&[first], Isa::Plain).restore(&others.state().unwrap().lane(0)).is_ok()
            );
        }
    }
}

#[test]
fn a_state_is_refused_by_a_learner_of_other_parts() {
    let cases = cases();
    let learners = || cases.iter().map(|(case, recipes)| case.compose::<f64>(&[&recipes[1]], Isa::Plain));
    let states: Vec<SavedState> = learners().map(|mut learner| learner.state().unwrap()).collect();
    for (k, mut learner) in learners().enumerate() {
        for (other, state) in states.iter().enumerate() {
            let restored = learner.restore(state);
            let (from, to) = (&cases[other].0.name, &cases[k].0.name);
            assert_eq!(restored.is_ok(), k == other, "{from} to {to}: {restored:?}");
        }
    }
}

/// The declaration of an emphasis and its `needs_ratio` must agree: files and Python's types use the one, learners the other.
#[test]
fn an_emphasis_that_needs_ratios_is_refused_beside_a_policy_that_has_none() {
    let catalogue = Catalogue::standard();
    let deterministic = |entry: &&Entry| entry.acts == Some(Acts::Deterministic);
    for policy in catalogue.of(Role::Policy).filter(deterministic) {
        let critic = catalogue.find(Role::Critic, "exact").unwrap();
        for emphasis in catalogue.of(Role::Emphasis) {
            let recipe = recipe(policy, RuleKind::Deterministic, critic, emphasis, 0);
            let composed = f64::compose(catalogue, &[&recipe], &[known(Acts::Deterministic)], Isa::Plain);
            if emphasis.needs.contains(&Need::Finite) {
                assert!(composed.err().unwrap().to_string().ends_with("is for finitely many actions"));
                continue;
            }
            let right = if emphasis.needs.contains(&Need::Ratio) { Some(ComposeError::Ratio) } else { None };
            assert_eq!(composed.err(), right, "{}", emphasis.name);
        }
    }
}

/// A generator of one number.
struct Same(f64);

impl Draw for Same {
    fn uniform(&mut self) -> f64 {
        self.0
    }

    fn normal(&mut self) -> f64 {
        self.0
    }
}

#[test]
fn every_learner_acts_as_its_distribution_says() {
    for (case, recipes) in cases() {
        // The second diverges nowhere, and differs from the first.
        let mut learner = case.compose::<Lanes<16>>(&[&recipes[1], &recipes[2]], Isa::Plain);
        learner.learn(Isa::Plain, &case.steps[..30]).unwrap();
        let state = case.steps[0].state;
        let at = learner.distribution(state).unwrap();
        for lane in [0, 1].into_iter().filter(|lane| learner.diverged(*lane).is_none()) {
            let drawn = learner.sample(lane, state, &mut Same(0.75)).unwrap();
            let of = |action: f64| learner.probability(state, Action::Real(action)).unwrap();
            match (recipes[0].policy.kind.as_str(), drawn) {
                ("softmax", Action::Number(drawn)) => {
                    let first = learner.probability(state, Action::Number(0)).unwrap().unwrap().lane(lane);
                    assert_eq!(first, at[0].lane(lane), "{}", case.name);
                    assert_eq!(drawn, usize::from(first <= 0.75), "{}", case.name);
                }
                ("gaussian", Action::Real(drawn)) => {
                    let (mean, deviation) = (at[0].lane(lane), at[1].lane(lane));
                    assert_eq!(drawn, mean + 0.75 * deviation, "{}", case.name);
                    let density = (-0.5 * 0.75 * 0.75f64).exp() / (deviation * std::f64::consts::TAU.sqrt());
                    let got = of(drawn).unwrap().lane(lane);
                    assert!((got / density - 1.0).abs() < 1e-9, "{}: {got} {density}", case.name);
                }
                ("deterministic", Action::Real(drawn)) => {
                    assert_eq!((drawn, of(drawn)), (at[0].lane(lane), None), "{}", case.name);
                }
                other => panic!("{}: what should {other:?} do?", case.name),
            }
        }
        let other = other_kind(case.steps[0].action);
        assert!(learner.probability(state, other).is_err(), "{}", case.name);
        assert!(learner.sample(0, State::Number(99), &mut Same(0.5)).is_err(), "{}", case.name);
    }
}

/// Once a number of actions was ignored if the policy had real actions.
#[test]
fn a_number_of_actions_is_refused_where_there_is_none() {
    for (case, recipes) in cases().into_iter().filter(|(_, recipes)| recipes[0].policy.kind != "softmax") {
        let recipe = recipes[0].clone().with_actions(2);
        let right = format!("the policy `{}` has no finitely many actions", recipe.policy.kind);
        assert_eq!(case.refused(&recipe).to_string(), right);
    }
}

#[test]
fn an_actor_is_refused_beside_what_it_does_not_learn_from() {
    let catalogue = Catalogue::standard();
    let [softmax, deterministic] =
        ["softmax", "deterministic"].map(|name| catalogue.find(Role::Policy, name).unwrap());
    let exact = catalogue.find(Role::Critic, "exact").unwrap();
    let none = catalogue.find(Role::Emphasis, "none").unwrap();
    for actor in catalogue.of(Role::Actor) {
        let finite = case(actor.name.to_owned(), Acts::Finite, 0);
        let by_values = actor.signals == [Signal::Delta];
        let (own, other) =
            if by_values { (RuleKind::Taken, RuleKind::All) } else { (RuleKind::All, RuleKind::Taken) };
        let refused =
            |rule| finite.refused(&with_actor(recipe(softmax, rule, exact, none, 1), actor, 1)).to_string();
        let (critic, from) =
            if by_values { ("values", "all actions") } else { ("actions", "the action taken") };
        let right = format!("an actor that needs a critic of {critic} does not learn from {from}");
        assert_eq!(refused(other), right);
        let continuous = case(actor.name.to_owned(), Acts::Deterministic, 0);
        let recipe_of = |policy, rule| with_actor(recipe(policy, rule, exact, none, 1), actor, 1);
        let error = continuous.refused(&recipe_of(deterministic, RuleKind::Deterministic)).to_string();
        let no_actor = "a deterministic policy follows ∂q/∂a: it has no other actor";
        let no_actions = format!("the actor `{}` is for finitely many actions", actor.name);
        assert!(error == no_actor || !by_values && error == no_actions, "{error}");
        if actor.needs.contains(&Need::NoEmphasis) {
            let follow_on = catalogue.find(Role::Emphasis, "follow-on").unwrap();
            let mut recipe = recipe_of(softmax, own);
            recipe.emphasis = part(follow_on, &Features::one_hot(3), 1);
            let error = finite.refused(&recipe).to_string();
            assert!(error.ends_with("has its own: use `none`, not `follow-on`"), "{error}");
        }
        if actor.needs.contains(&Need::Table) {
            let mut recipe = recipe_of(softmax, own);
            recipe.actor = recipe.actor.map(|actor| actor.with_features(Features::dense(3)));
            let error = finite.refused(&recipe).to_string();
            assert!(error.ends_with("needs states with numbers: features that are a table"), "{error}");
        }
        let recipe = recipe_of(softmax, own).with_subset(Subset { count: 1, seed: 7, run: 0 });
        let right = "only a learner from all actions draws some of them";
        assert_eq!(finite.refused(&recipe).to_string(), right);
    }
}

#[test]
fn learners_of_other_parts_do_not_share_lanes() {
    let cases = cases();
    let recipes: Vec<&Recipe> = cases.iter().map(|(_, recipes)| &recipes[0]).collect();
    for (k, first) in recipes.iter().enumerate() {
        for second in &recipes[k + 1..] {
            let problems = [cases[k].0.problem.clone()];
            let composed =
                <Lanes<16>>::compose(Catalogue::standard(), &[first, second], &problems, Isa::Plain);
            let error = composed.err().unwrap().to_string();
            assert_eq!(error, "learners side by side must differ in numbers alone");
        }
    }
}

#[test]
fn declarations_are_complete() {
    let catalogue = Catalogue::standard();
    let mut classes = HashSet::new();
    for role in Role::ALL {
        let mut names = HashSet::new();
        for entry in catalogue.of(role) {
            let name = entry.name;
            assert!(names.insert(name) && classes.insert(entry.class), "{name} is there twice");
            assert!(name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-')), "{name}");
            assert!(!entry.about.is_empty(), "{name}");
            assert_eq!(entry.source.is_empty(), role == Role::Schedule, "{name}");
            assert_eq!(entry.signals.is_empty(), ![Role::Critic, Role::Actor].contains(&role), "{name}");
            assert_eq!(entry.acts.is_none(), role != Role::Policy, "{name}");
            let inside = |inner: &Inner| catalogue.find(inner.role, inner.default).expect(name).settings;
            let inner = entry.inner.iter().flat_map(inside);
            let settings: Vec<&str> = entry.settings.iter().chain(inner).map(|s| s.name).collect();
            let distinct: HashSet<&str> = settings.iter().copied().collect();
            assert_eq!(distinct.len(), settings.len(), "{name}: settings of one name stand in one table");
            for setting in entry.settings {
                assert!(!setting.about.is_empty(), "{name}.{}", setting.name);
                assert!(setting.default.is_none_or(|x| setting.range.contains(x)), "{name}.{}", setting.name);
            }
        }
    }
}
