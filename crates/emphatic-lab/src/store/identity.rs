//! What makes an experiment this one: results of different identities never share a directory.

use emphatic_text::shortened;
use serde_json::Value;
use std::collections::BTreeSet;

/// How many differences between two identities are listed.
const MOST_DIFFERENCES: usize = 3;

/// The label of one of the tables (`results`, `finalists`, `fresh` or `settings`) of the experiment with this identity: written into the table, so
/// that it is not taken for another.
pub fn label(identity: &Value, table: &str) -> String {
    format!("{}/{table}", fingerprint(identity))
}

/// A hash (FNV-1a) that does not depend on the order of keys.
pub(crate) fn fingerprint(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let keys: BTreeSet<&String> = map.keys().collect();
                keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect()
            }
            Value::Array(list) => list.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    fingerprint_of_bytes(sorted(value).to_string().as_bytes())
}

/// Returns a short text that differs for different bytes, by FNV-1a.
pub(crate) fn fingerprint_of_bytes(bytes: &[u8]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The keys at which the identity in a directory differs from the one asked for now, with both values.
pub(super) fn differences(there: &Value, now: &Value) -> Vec<String> {
    let mut all = Vec::new();
    add_differences("", there, now, &mut all);
    if all.len() > MOST_DIFFERENCES {
        let more = all.len() - MOST_DIFFERENCES;
        all.truncate(MOST_DIFFERENCES);
        all.push(format!("{more} more"));
    }
    all
}

fn add_differences(key: &str, there: &Value, now: &Value, all: &mut Vec<String>) {
    match (there, now) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in keys {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                add_differences(&key, &there[name], &now[name], all);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let entries = a.iter().zip(b).enumerate();
            entries.for_each(|(k, (there, now))| add_differences(&format!("{key}[{k}]"), there, now, all));
        }
        _ if there == now => {}
        _ => {
            let key = if key.is_empty() { "identity" } else { key };
            all.push(format!("{key}: {} there, {} now", short(there), short(now)));
        }
    }
}

/// A value as messages show it.
pub(super) fn short(value: &Value) -> String {
    if value.is_null() { "nothing".to_owned() } else { shortened(&value.to_string(), 40) }
}
