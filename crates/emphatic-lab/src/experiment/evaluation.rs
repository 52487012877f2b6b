//! Methods that only evaluate a target, and learn no policy.

use crate::experiment_file::{ExperimentFile, MethodFile};
use emphatic_problems::Mistake;
use std::ops::Range;
use toml::Spanned;

/// Returns the methods of a file with the places of each: a method with combinations is several.
fn each_method(file: &ExperimentFile) -> Vec<(MethodFile, Range<usize>)> {
    let mut all = Vec::new();
    for method in file.method.get_ref() {
        match &method.get_ref().combinations {
            None => all.push((method.get_ref().clone(), method.span())),
            Some(list) => {
                let with =
                    |c: &Spanned<MethodFile>| (method.get_ref().with_combination(c.get_ref()), c.span());
                all.extend(list.get_ref().iter().map(with));
            }
        }
    }
    all
}

/// Returns whether a method only evaluates a target, and learns no policy.
pub(super) fn evaluates(method: &MethodFile) -> bool {
    method.algorithm.is_none() && method.alpha.is_none() && method.actor.is_none()
}

/// Returns whether all methods of a file evaluate a target, or an error if some of them learn a policy of their own.
pub(super) fn all_evaluate(file: &ExperimentFile) -> Result<bool, Mistake> {
    let methods = each_method(file);
    let Some((first, _)) = methods.first() else { return Ok(false) };
    let all = evaluates(first);
    if let Some((_, place)) = methods.iter().find(|(method, _)| evaluates(method) != all) {
        let message = match all {
            true => "this method learns a policy, but others only evaluate a target",
            false => {
                "this method only evaluates a target (it has no `algorithm`, `alpha` or `actor`), but others learn a policy"
            }
        };
        return Err(Mistake::at(place, message).help("put them into experiments of their own"));
    }
    match &file.target {
        Some(target) if !all => {
            Err(Mistake::at(&target.span, "`target` has no meaning here: these methods learn a policy of their own")
                .help("leave it out; or leave `algorithm`, `alpha` and `actor` out of the methods, which then evaluate the target"))
        }
        _ => Ok(all),
    }
}

/// Returns whether all methods of a file have a critic.
pub(super) fn all_have_critics(file: &ExperimentFile) -> bool {
    each_method(file).iter().all(|(method, _)| method.critic.is_some())
}

/// Returns an error if a method that evaluates a target has a value of those that learn a policy.
pub(super) fn check_evaluation(file: &MethodFile) -> Result<(), Mistake> {
    let span = |key, place: Option<&Range<usize>>| place.map(|place| (key, place.clone()));
    let foreign = [
        span("policy", file.policy.as_ref().map(|x| &x.span)),
        span("warm_up", file.warm_up.as_ref().map(|x| &x.span)),
        span("actions", file.actions.as_ref().map(|x| &x.span)),
        span("subset", file.subset.as_ref().map(|x| &x.span)),
    ];
    match foreign.into_iter().flatten().next() {
        None => Ok(()),
        Some((key, place)) => Err(Mistake::at(&place, format!("`{key}` has no meaning here"))
            .help("the method learns no policy, since it has no `algorithm`, `alpha` or `actor`: it evaluates the target")),
    }
}
