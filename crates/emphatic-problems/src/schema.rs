//! JSON Schemas of files, from the types that read them.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The JSON Schema of files that are read as `T`.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(as_toml);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// Removes null, which TOML does not have: a key that may be left out is missing from the list of required keys. Joins the lines of
/// descriptions.
fn as_toml(schema: &mut Schema) {
    let null = Value::from("null");
    if let Some(types @ Value::Array(_)) = schema.get_mut("type")
        && let Some(only) = types.as_array().and_then(|types| types.iter().find(|name| **name != null))
    {
        *types = only.clone();
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("anyOf") {
        kinds.retain(|kind| kind.get("type") != Some(&null));
        if let [Value::Object(_)] = kinds[..]
            && let Some(Value::Array(mut only)) = schema.remove("anyOf")
            && let Some(Value::Object(inner)) = only.pop()
        {
            inner.into_iter().for_each(|(key, value)| drop(schema.insert(key, value)));
        }
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    transform_subschemas(&mut as_toml, schema);
}
