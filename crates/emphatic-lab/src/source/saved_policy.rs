//! The policy of a saved learner, which acts but does not learn.

use super::{Actions, Interface};
use crate::saved_learner::{FORMAT, Header, read_header};
use crate::store::fingerprint_of_bytes;
use emphatic::{BasisRecipe, Features, Gaussian, Numbers, Policy, Softmax};
use serde::Deserialize;
use std::fmt;

/// A policy with its weights.
pub(crate) struct SavedPolicy {
    pub(super) form: Form,
    pub(super) weights: Vec<f64>,
    /// The length of an observation.
    dimensions: usize,
    /// Of the bytes of its file.
    fingerprint: String,
}

pub(super) enum Form {
    Softmax(Softmax),
    Gaussian(Gaussian),
}

/// What results depend on: the file.
impl fmt::Debug for SavedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "SavedPolicy({})", self.fingerprint)
    }
}

/// The settings of a saved learner, as far as its policy needs them.
#[derive(Deserialize)]
struct Settings {
    policy: PolicyPart,
    actions: Option<usize>,
}

#[derive(Deserialize)]
struct PolicyPart {
    kind: String,
    features: Option<SavedFeatures>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum SavedFeatures {
    Observed { basis: BasisRecipe },
    Dense { len: usize },
    Active {},
    Table {},
    OneHot {},
}

impl SavedFeatures {
    /// Returns the features, and the length of an observation.
    fn of_observations(self) -> Result<(Features, usize), String> {
        let numbers = "its policy sees numbers of states";
        match self {
            Self::Observed { basis } => match basis.build().map_err(|error| error.to_string())? {
                Features::Observed(observed) => {
                    let dimensions = observed.basis().dimensions();
                    Ok((Features::Observed(observed), dimensions))
                }
                _ => Err(numbers.to_owned()),
            },
            Self::Dense { len } => Ok((Features::dense(len), len)),
            Self::Active {} => Err(
                "its policy sees active features, and not the observation: save one with a basis, such as \
                 Softmax(TileCoder(...), actions=3)"
                    .to_owned(),
            ),
            Self::Table {} | Self::OneHot {} => Err(format!("{numbers}, which a simulator does not have")),
        }
    }
}

impl SavedPolicy {
    /// Reads the policy of a saved learner.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let header = Header::parse(&read_header(&mut &*bytes).map_err(|error| error.to_string())?)?;
        header.check_len(bytes)?;
        let format = header.entry("format")?;
        if format != FORMAT {
            return Err(format!(
                "its format is `{format}`, not `{FORMAT}`: `emphatic.load(path).save(path)` in Python writes it anew"
            ));
        }
        let settings: Settings =
            serde_json::from_str(header.entry("settings")?).map_err(|error| error.to_string())?;
        let features = settings.policy.features.ok_or("its policy has no features")?;
        let (features, dimensions) = features.of_observations()?;
        let form = match (settings.policy.kind.as_str(), settings.actions) {
            ("softmax", Some(actions)) => Form::Softmax(Softmax { features, actions }),
            ("softmax", None) => return Err("its settings do not say how many actions there are".to_owned()),
            ("gaussian", _) => Form::Gaussian(Gaussian { features }),
            ("deterministic", _) => {
                return Err(
                    "its policy is deterministic: its actions have no density, which ratios need".to_owned()
                );
            }
            (other, _) => return Err(format!("its policy is `{other}`, which this version cannot let act")),
        };
        let weights = match header.tensors(bytes)?.remove("weights") {
            Some(Numbers::Real(weights)) => weights,
            _ => return Err("it has no `weights` of a policy".to_owned()),
        };
        let right = match &form {
            Form::Softmax(policy) => policy.len(),
            Form::Gaussian(policy) => policy.len(),
        };
        if weights.len() != right {
            return Err(format!(
                "its policy has {} weights; with its features it has {right}",
                weights.len()
            ));
        }
        if let Some(weight) = weights.iter().find(|weight| !weight.is_finite()) {
            return Err(format!("a weight of its policy is {weight}: the learner had diverged"));
        }
        Ok(Self { form, weights, dimensions, fingerprint: fingerprint_of_bytes(bytes) })
    }

    /// Returns an error if it cannot act in an environment.
    pub(crate) fn check(&self, environment: &Interface) -> Result<(), String> {
        let observed = environment.space.len();
        if self.dimensions != observed {
            return Err(format!(
                "its policy sees observations of {} numbers; those of `{}` have {observed}",
                self.dimensions, environment.name
            ));
        }
        match (&self.form, &environment.actions) {
            (Form::Softmax(policy), Actions::Finite(names)) if policy.actions != names.len() => Err(format!(
                "its policy has {} actions; `{}` has {}",
                policy.actions,
                environment.name,
                names.len()
            )),
            (Form::Softmax(_), Actions::Real { .. }) => Err(format!(
                "its policy has finitely many actions; that of `{}` is a real number",
                environment.name
            )),
            (Form::Gaussian(_), Actions::Finite(_)) => {
                Err(format!("its policy has real actions; `{}` has finitely many", environment.name))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use emphatic_environments::find;
    use serde_json::{Value, json};

    /// A file as Python writes it.
    fn file(settings: &Value, weights: &[f64]) -> Vec<u8> {
        let end = 8 * weights.len();
        let header = json!({
            "__metadata__": { "format": FORMAT, "settings": settings.to_string(), "problems": "[]" },
            "weights": { "dtype": "F64", "shape": [weights.len()], "data_offsets": [0, end] },
        });
        let text = header.to_string().into_bytes();
        let data = weights.iter().flat_map(|weight| weight.to_le_bytes());
        (text.len() as u64).to_le_bytes().into_iter().chain(text).chain(data).collect()
    }

    fn settings(kind: &str, features: &Value, actions: Option<usize>) -> Value {
        json!({ "class": "ACE", "policy": { "kind": kind, "features": features }, "actions": actions })
    }

    pub(in crate::source) fn dense_softmax(len: usize, actions: usize, weights: &[f64]) -> SavedPolicy {
        let features = json!({ "kind": "dense", "len": len });
        SavedPolicy::read(&file(&settings("softmax", &features, Some(actions)), weights)).unwrap()
    }

    pub(in crate::source) fn dense_gaussian(len: usize, weights: &[f64]) -> SavedPolicy {
        let features = json!({ "kind": "dense", "len": len });
        SavedPolicy::read(&file(&settings("gaussian", &features, None), weights)).unwrap()
    }

    fn refusal(bytes: &[u8]) -> String {
        let Err(error) = SavedPolicy::read(bytes) else { panic!("it is read") };
        error
    }

    #[test]
    fn policies_that_cannot_act_are_refused_with_the_reason() {
        let dense = json!({ "kind": "dense", "len": 2 });
        let of = |kind: &str, features: &Value, actions, weights: &[f64]| {
            refusal(&file(&settings(kind, features, actions), weights))
        };
        assert!(of("deterministic", &dense, None, &[0.0; 2]).contains("no density"));
        assert!(of("fixed", &dense, None, &[]).contains("`fixed`"));
        assert!(of("softmax", &dense, None, &[0.0; 4]).contains("how many actions"));
        let error = of("softmax", &dense, Some(3), &[0.0; 5]);
        assert_eq!(error, "its policy has 5 weights; with its features it has 6");
        assert!(of("softmax", &dense, Some(usize::MAX), &[0.0; 5]).contains("5 weights"));
        assert!(of("softmax", &dense, Some(1), &[0.0, f64::NAN]).contains("had diverged"));
        let active = json!({ "kind": "active", "len": 2, "most_active": 1 });
        assert!(of("softmax", &active, Some(1), &[0.0; 2]).contains("active features"));
        let one_hot = json!({ "kind": "one_hot", "states": 2 });
        assert!(of("softmax", &one_hot, Some(1), &[0.0; 2]).contains("numbers of states"));
        let huge = json!({ "kind": "observed", "basis": { "kind": "tiles", "low": [0.0], "high": [1.0], "tiles": 1e12, "tilings": 1.0 } });
        of("softmax", &huge, Some(2), &[0.0; 2]);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let whole = file(&settings("softmax", &json!({ "kind": "dense", "len": 2 }), Some(2)), &[1.0; 4]);
        assert!(SavedPolicy::read(&whole).is_ok());
        for len in 0..whole.len() {
            refusal(&whole[..len]);
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x15;
            let _ = SavedPolicy::read(&changed);
        }
        let longer = [&whole[..], &[0]].concat();
        assert_eq!(refusal(&longer), "it goes on after its tensors");
        assert_eq!(refusal(&[0xff; 64]), "its header is cut, or too long");
        let mut old = whole;
        let format = old.windows(FORMAT.len()).position(|bytes| bytes == FORMAT.as_bytes()).unwrap();
        old[format + FORMAT.len() - 1] = b'1';
        assert!(refusal(&old).contains("writes it anew"));
    }

    #[test]
    fn a_policy_must_fit_the_environment() {
        let check =
            |policy: &SavedPolicy, name: &str| policy.check(&find(name).unwrap().description().into());
        let softmax = dense_softmax(2, 3, &[0.0; 6]);
        assert_eq!(check(&softmax, "mountain-car"), Ok(()));
        let error = check(&softmax, "cart-pole").unwrap_err();
        assert_eq!(error, "its policy sees observations of 2 numbers; those of `cart-pole` have 4");
        let error = check(&dense_softmax(2, 2, &[0.0; 4]), "mountain-car").unwrap_err();
        assert_eq!(error, "its policy has 2 actions; `mountain-car` has 3");
        assert!(check(&softmax, "linear-quadratic").unwrap_err().contains("is a real number"));
        let gaussian = dense_gaussian(2, &[0.0; 4]);
        assert!(check(&gaussian, "mountain-car").unwrap_err().contains("has finitely many"));
        assert_eq!(check(&gaussian, "linear-quadratic"), Ok(()));
    }
}
