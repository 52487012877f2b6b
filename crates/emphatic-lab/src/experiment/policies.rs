//! The saved policies that an experiment names as behaviours.

use super::scenario::portable;
use crate::behaviour_file::{BehaviourFile, SavedFile};
use crate::one_or_list::{Located, OneOrList};
use crate::source::SavedPolicy;
use crate::store::PROBLEMS;
use emphatic_problems::Mistake;
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;

/// A larger file is surely a mistake: it is held in memory, and a copy of it is kept.
const MOST_BYTES: u64 = 1 << 30;

/// A file with a saved policy, of which a copy is kept beside the results.
#[derive(Clone, Debug)]
struct PolicyCopy {
    /// As the experiment file writes it.
    path: String,
    /// Where it does.
    spans: Vec<Range<usize>>,
    bytes: Arc<[u8]>,
    policy: Arc<SavedPolicy>,
}

/// All saved policies of an experiment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies(Vec<PolicyCopy>);

impl Policies {
    /// Reads the policies of all behaviours, which are looked for in `beside`.
    pub(super) fn read(behaviours: &OneOrList<BehaviourFile>, beside: &Path) -> Result<Self, Mistake> {
        let mut policies = Self::default();
        for Located { value, .. } in &behaviours.values {
            policies.add(value, beside)?;
        }
        Ok(policies)
    }

    /// Reads the policies of one behaviour, which are looked for in `beside`.
    pub(crate) fn of_one(behaviour: &BehaviourFile, beside: &Path) -> Result<Self, Mistake> {
        let mut policies = Self::default();
        policies.add(behaviour, beside)?;
        Ok(policies)
    }

    fn add(&mut self, behaviour: &BehaviourFile, beside: &Path) -> Result<(), Mistake> {
        match behaviour {
            BehaviourFile::Plain(_) => Ok(()),
            BehaviourFile::Mixture { mixture } => {
                mixture.iter().try_for_each(|part| self.add(&part.behaviour, beside))
            }
            BehaviourFile::Saved(saved) => self.add_file(&saved.policy, beside),
        }
    }

    fn add_file(&mut self, path: &Spanned<String>, beside: &Path) -> Result<(), Mistake> {
        let (span, path) = (path.span(), path.get_ref());
        if let Some(known) = self.0.iter_mut().find(|known| known.path == *path) {
            known.spans.push(span);
            return Ok(());
        }
        // Some file systems do not distinguish capital letters from small ones.
        let name = name_of(path).to_lowercase();
        if let Some(other) = self.0.iter().find(|other| name_of(&other.path).to_lowercase() == name) {
            let message = format!("two saved policies are called `{name}`: {} and {path}", other.path);
            return Err(
                Mistake::at(&span, message).help("tables and copies could not tell them apart: rename one")
            );
        }
        let full = beside.join(path);
        let wrong = |why: String| Mistake::at(&span, format!("{}: {why}", full.display()));
        let bytes = read_bytes(&full).map_err(|why| {
            wrong(why).help("the path of a saved policy is relative to the experiment file")
        })?;
        let policy = SavedPolicy::read(&bytes).map_err(|why| {
            wrong(format!("no policy can be read from it: {why}"))
                .help("`agent.save(path)` in Python writes saved learners")
        })?;
        self.0.push(PolicyCopy {
            path: path.clone(),
            spans: vec![span],
            bytes: bytes.into(),
            policy: Arc::new(policy),
        });
        Ok(())
    }

    /// Returns the policy of a behaviour, which has been read.
    pub(super) fn of(&self, saved: &SavedFile) -> Option<Arc<SavedPolicy>> {
        let known = self.0.iter().find(|known| known.path == *saved.policy.get_ref());
        known.map(|known| known.policy.clone())
    }

    /// Returns the copies, each with its path relative to the results.
    pub(super) fn files(&self) -> impl Iterator<Item = (String, Vec<u8>)> {
        self.0.iter().map(|copy| (copy_of(&copy.path), copy.bytes.to_vec()))
    }

    /// Returns what takes the place of their paths in the text of the experiment, so that the copies are read.
    pub(super) fn replacements(&self) -> impl Iterator<Item = (Range<usize>, String)> {
        let of = |copy: &PolicyCopy| {
            let with = Value::from(copy_of(&copy.path)).to_string();
            copy.spans.iter().map(move |span| (span.clone(), with.clone())).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of)
    }
}

/// Returns what a policy is called in tables, and its copy: the same for the file and the copy, and never that of a problem.
pub(super) fn name_of(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    portable(&format!("{}.safetensors", name.trim_end_matches(".safetensors")))
}

fn copy_of(path: &str) -> String {
    format!("{PROBLEMS}/{}", name_of(path))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    // Asked first: whoever opens a named pipe waits for another who writes.
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("this is not a file".to_owned());
    }
    if about.len() > MOST_BYTES {
        return Err(format!("it has {} bytes; at most {MOST_BYTES} are read", about.len()));
    }
    let (file, mut bytes) = (File::open(path).map_err(|error| error.to_string())?, Vec::new());
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
