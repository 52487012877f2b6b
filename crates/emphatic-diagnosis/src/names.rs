//! Names for features and weights.

use emphatic::{KnownProblem, Table};

/// A name for each weight: the states that have its feature, and the action.
pub(crate) fn weight_names(known: &KnownProblem, weights: usize) -> Vec<String> {
    let features = feature_names(known.actor(), known.states());
    let outputs: Vec<String> = match weights / features.len().max(1) {
        2 if known.actions().is_empty() => vec![".mean".to_owned(), ".deviation".to_owned()],
        _ if known.actions().is_empty() => vec![String::new()],
        _ => known.actions().iter().map(|action| format!(".{action}")).collect(),
    };
    features.iter().flat_map(|f| outputs.iter().map(move |output| format!("{f}{output}"))).collect()
}

/// A name for each feature: the states that have it, if they are few and no state has several features.
pub(crate) fn feature_names(features: &Table, states: &[String]) -> Vec<String> {
    const FEW: usize = 3;
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); features.len()];
    let mut alone = true;
    for s in 0..features.states() {
        let mut active = 0;
        for (f, _) in features.active(s) {
            of[f].push(s);
            active += 1;
        }
        alone &= active == 1;
    }
    let name = |(f, of): (usize, &Vec<usize>)| match of.len() {
        1..=FEW if alone => of.iter().map(|&s| states[s].as_str()).collect::<Vec<_>>().join("+"),
        _ => format!("feature {f}"),
    };
    of.iter().enumerate().map(name).collect()
}

/// For the first of the states with the same single feature the names of all of them; `None` for the others.
pub(crate) fn aliased_names(features: &Table, states: &[String]) -> Vec<Option<String>> {
    let names = feature_names(features, states);
    let mut seen = vec![false; features.len()];
    let name = |(s, state): (usize, &String)| {
        let active: Vec<usize> = features.active(s).map(|(f, _)| f).collect();
        match active[..] {
            [f] => (!std::mem::replace(&mut seen[f], true)).then(|| names[f].clone()),
            _ => Some(state.clone()),
        }
    };
    states.iter().enumerate().map(name).collect()
}
