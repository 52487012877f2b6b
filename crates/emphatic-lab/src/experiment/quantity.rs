//! What can be recorded.

use emphatic_problems::suggest;
use emphatic_problems::{Unfit, World};

/// A quantity that is recorded at each evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// J_μ of the current policy, exactly.
    Objective,
    /// π(a|s).
    Probability {
        /// s.
        state: usize,
        /// a.
        action: usize,
    },
    /// The mean of a real action.
    MeanAction {
        /// In which state.
        state: usize,
    },
    /// M_t as it was used: its mean over the steps since the evaluation before.
    Emphasis,
    /// m_{λ_a}(S_t)/d_μ(S_t), what E[M_t | S_t] would be for a policy that stays as it is: its mean over the same steps.
    ExactEmphasis,
    /// ρ_t: its mean over the same steps.
    Rho,
    /// The weights of the policy.
    Weights,
}

impl Quantity {
    /// The quantities that a name stands for, with the names of their columns.
    pub(crate) fn named(name: &str, world: &World) -> Result<Vec<(String, Self)>, Unfit> {
        let simple = [
            ("objective", Self::Objective),
            ("emphasis", Self::Emphasis),
            ("exact_emphasis", Self::ExactEmphasis),
            ("rho", Self::Rho),
            ("weights", Self::Weights),
        ];
        if let Some((_, quantity)) = simple.iter().find(|(known, _)| *known == name) {
            return Ok(vec![(name.to_owned(), *quantity)]);
        }
        match name.strip_prefix("target.") {
            Some(place) => Self::target(place, world),
            None => {
                let known =
                    simple.iter().map(|(known, _)| *known).chain(["target.STATE", "target.STATE.ACTION"]);
                Err(Unfit { message: format!("`{name}` cannot be recorded"), help: suggest(name, known) })
            }
        }
    }

    /// `STATE` or `STATE.ACTION`; names may themselves have dots.
    fn target(place: &str, world: &World) -> Result<Vec<(String, Self)>, Unfit> {
        let states = world.states();
        let actions = world.actions();
        let column = |state: &str, action: &str| format!("target.{state}.{action}");
        if let Some(state) = states.iter().position(|known| known == place) {
            return Ok(if actions.is_empty() {
                vec![(format!("target.{place}"), Self::MeanAction { state })]
            } else {
                let each = actions.iter().enumerate();
                each.map(|(action, name)| (column(place, name), Self::Probability { state, action }))
                    .collect()
            });
        }
        let mut wrong = None;
        for (state, name) in states.iter().enumerate() {
            let action = place.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            match action.map(|action| (action, world.action(action))) {
                Some((action_name, Ok(action))) => {
                    return Ok(vec![(column(name, action_name), Self::Probability { state, action })]);
                }
                // Another state's name may begin with this one's.
                Some((_, Err(unfit))) => wrong = wrong.or(Some(unfit)),
                None => {}
            }
        }
        match wrong {
            Some(unfit) => Err(unfit),
            None => world.state(place.split('.').next().unwrap_or(place)).map(|_| Vec::new()),
        }
    }
}
