//! What is seen of an environment and how one acts in it, wherever it lives.

use emphatic::basis::Dimension;
use emphatic_environments::{self as environments, Description};
use serde_json::{Value, json};

/// What is seen of an environment, and how one acts in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What is observed, in a few words.
    pub shown: String,
    /// The range of each number that is observed; infinite where there is no bound.
    pub space: Vec<Dimension>,
    /// How one acts.
    pub actions: Actions,
    /// After how many steps an episode is cut short, where that is part of the environment.
    pub limit: Option<u64>,
}

/// How one acts.
#[derive(Clone, Debug, PartialEq)]
pub enum Actions {
    /// By one of finitely many actions: their names.
    Finite(Vec<String>),
    /// By a real number.
    Real {
        /// The least action; may be −∞.
        low: f64,
        /// The greatest action; may be ∞.
        high: f64,
        /// The standard deviation of actions around 0 that explore well.
        standard_deviation: f64,
    },
}

impl From<&Description> for Interface {
    fn from(of: &Description) -> Self {
        let names: Vec<&str> = of.observations.iter().map(|observed| observed.name).take(4).collect();
        let more = if of.observations.len() > names.len() { ", …" } else { "" };
        let observed = of.observations.iter();
        Self {
            name: of.name.to_owned(),
            shown: names.join(", ") + more,
            space: observed.map(|o| Dimension { low: o.low, high: o.high, wraps: o.wraps }).collect(),
            actions: match of.actions {
                environments::Actions::Finite(names) => {
                    Actions::Finite(names.iter().map(|name| (*name).to_owned()).collect())
                }
                environments::Actions::Real { low, high, standard_deviation } => {
                    Actions::Real { low, high, standard_deviation }
                }
            },
            limit: of.limit.map(u64::from),
        }
    }
}

impl Interface {
    /// Returns it as JSON, in which a bound that is infinite is null. Nothing wraps around in environments that live elsewhere.
    pub(crate) fn to_json(&self) -> Value {
        let actions = match &self.actions {
            Actions::Finite(names) => json!({ "names": names }),
            Actions::Real { low, high, standard_deviation } => {
                json!({ "low": low, "high": high, "standard_deviation": standard_deviation })
            }
        };
        json!({
            "observed": self.shown,
            "low": self.space.iter().map(|dimension| dimension.low).collect::<Vec<_>>(),
            "high": self.space.iter().map(|dimension| dimension.high).collect::<Vec<_>>(),
            "actions": actions,
            "limit": self.limit,
        })
    }

    /// Reads what [`Interface::to_json`] wrote; `None` if it is something else.
    pub(crate) fn from_json(name: &str, json: &Value) -> Option<Self> {
        let low = |bound: &Value| bound.as_f64().unwrap_or(f64::NEG_INFINITY);
        let high = |bound: &Value| bound.as_f64().unwrap_or(f64::INFINITY);
        let bounds = json["low"].as_array()?.iter().zip(json["high"].as_array()?);
        let actions = &json["actions"];
        Some(Self {
            name: name.to_owned(),
            shown: json["observed"].as_str()?.to_owned(),
            space: bounds.map(|(l, h)| Dimension { low: low(l), high: high(h), wraps: false }).collect(),
            actions: match actions["names"].as_array() {
                Some(names) => Actions::Finite(
                    names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
                ),
                None => Actions::Real {
                    low: low(&actions["low"]),
                    high: high(&actions["high"]),
                    standard_deviation: actions["standard_deviation"].as_f64()?,
                },
            },
            limit: json["limit"].as_u64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let dimension = |low, high| Dimension { low, high, wraps: false };
        let finite = Interface {
            name: "here".to_owned(),
            shown: "two numbers".to_owned(),
            space: vec![dimension(f64::NEG_INFINITY, 0.1), dimension(-4.8, f64::INFINITY)],
            actions: Actions::Finite(vec!["0".to_owned(), "1".to_owned()]),
            limit: None,
        };
        let real = Interface {
            actions: Actions::Real { low: -2.0, high: f64::INFINITY, standard_deviation: 1.0 },
            limit: Some(200),
            ..finite.clone()
        };
        for interface in [finite, real] {
            let text = interface.to_json().to_string();
            let json = serde_json::from_str(&text).unwrap();
            assert_eq!(Interface::from_json("here", &json), Some(interface));
        }
        assert_eq!(Interface::from_json("here", &json!({ "low": [1] })), None);
    }
}
