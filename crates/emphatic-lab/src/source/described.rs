//! Environments that live elsewhere, as a directory of results describes them: enough to read the results, not to go on.

use super::{ExternalEnvironment, ExternalError, Interface, Session};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// The file that describes them, beside the results.
pub(crate) const ENVIRONMENTS: &str = "environments.json";

/// An environment that cannot be opened, since it lives elsewhere.
#[derive(Debug)]
pub(crate) struct Described {
    interface: Interface,
    identity: Value,
}

impl Described {
    /// Describes some environments, by the names that the experiment file has for them.
    pub(crate) fn text<'a>(all: impl Iterator<Item = (&'a str, &'a dyn ExternalEnvironment)>) -> String {
        let described = |environment: &dyn ExternalEnvironment| json!({ "identity": environment.identity(), "interface": environment.interface().to_json() });
        let all: Map<String, Value> =
            all.map(|(name, environment)| (name.to_owned(), described(environment))).collect();
        format!("{:#}\n", Value::Object(all))
    }

    /// Finds an environment in the description beside some results.
    pub(crate) fn find(dir: &Path, name: &str) -> Result<Arc<dyn ExternalEnvironment>, ExternalError> {
        let path = dir.join(ENVIRONMENTS);
        let wrong = |what: &str| ExternalError::new(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
        let all: Value = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
        let interface = Interface::from_json(name, &all[name]["interface"]);
        let interface = interface.ok_or_else(|| wrong(&format!("it does not describe `{name}`")))?;
        Ok(Arc::new(Self { interface, identity: all[name]["identity"].clone() }))
    }
}

impl ExternalEnvironment for Described {
    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn identity(&self) -> Value {
        self.identity.clone()
    }

    fn open(&self, _count: usize) -> Result<Box<dyn Session>, ExternalError> {
        Err(ExternalError::new(format!(
            "`{}` is only described here, and lives elsewhere",
            self.interface.name
        )))
    }
}
