//! Holds a value against a JSON Schema: unknown keys, types, enums, ranges, all at once. What does not fit is left out of
//! the value that comes back, so that the other fields can still be judged.
//!
//! The schemas come from our own types by schemars, with nothing but `type`, `properties`, `items`, `enum`, `const`,
//! `oneOf`/`anyOf` and ranges in them; a schema crate would bring a hundred times of what is needed here.

use serde_json::{Map, Value};

use super::nearest::nearest;
use crate::finding::Finding;
use crate::rule::Rule;

/// The JSON Schema of a type, all in one piece.
#[must_use]
pub fn schema_of<T: schemars::JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// The part of `value` that fits `schema`. Null is the same as absent, as in Kubernetes.
pub(super) fn fit(schema: &Value, value: &Value, path: &str, findings: &mut Vec<Finding>) -> Option<Value> {
    if value.is_null() {
        return None;
    }
    fit_some(schema, value, path, findings)
}

fn fit_some(schema: &Value, value: &Value, path: &str, findings: &mut Vec<Finding>) -> Option<Value> {
    let choices = choices(schema);
    if !choices.is_empty() {
        return fit_choice(&choices, value, path, findings);
    }
    let schema = without_null(schema);
    let fits = match type_of(schema) {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => true,
    };
    if !fits {
        let message = format!("must be {}, got {}", with_article(type_of(schema)), shown(value));
        findings.push(Finding::error(Rule::WrongType, message).at(path).current(value.clone()));
        return None;
    }
    match value {
        Value::Object(map) => Some(fit_object(schema, map, path, findings)),
        Value::Array(entries) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            // A null among them is no entry that is absent: those behind it would move up.
            let fitted =
                entries.iter().enumerate().filter_map(|(index, entry)| fit_some(items, entry, &format!("{path}[{index}]"), findings));
            Some(Value::Array(fitted.collect()))
        }
        Value::Number(_) => fit_range(schema, value, path, findings),
        _ => Some(value.clone()),
    }
}

fn fit_object(schema: &Value, map: &Map<String, Value>, path: &str, findings: &mut Vec<Finding>) -> Value {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let mut fitted = Map::new();
    for (key, value) in map {
        let field = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let schema = match (properties.get(key), schema.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema @ Value::Object(_))) => schema,
            (None, Some(Value::Bool(false))) => {
                findings.push(unknown_field(&field, key, properties.keys().map(String::as_str)));
                continue;
            }
            (None, _) => &Value::Null,
        };
        if let Some(value) = fit(schema, value, &field, findings) {
            fitted.insert(key.clone(), value);
        }
    }
    Value::Object(fitted)
}

/// An unknown key, with the nearest one that exists.
pub(super) fn unknown_field<'a>(field: &str, key: &str, known: impl Iterator<Item = &'a str> + Clone) -> Finding {
    match nearest(key, known.clone()) {
        Some(near) => {
            Finding::error(Rule::UnknownField, format!("there is no field `{key}`: did you mean `{near}`?")).at(field).proposed(near)
        }
        None => {
            let names = known.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            Finding::error(Rule::UnknownField, format!("there is no field `{key}`: take it out, or use one of {names}")).at(field)
        }
    }
}

/// A lower-case name is taken in capitals too: the API's own spelling has changed between releases (`Hostname`, `hostname`).
/// Any other spelling is one that no API server takes.
fn fit_choice(choices: &[Value], value: &Value, path: &str, findings: &mut Vec<Finding>) -> Option<Value> {
    if choices.contains(value) {
        return Some(value.clone());
    }
    let text = value.as_str().unwrap_or_default();
    let mut names = choices.iter().filter_map(Value::as_str);
    if let Some(name) = names.clone().find(|name| !name.contains(|c: char| c.is_ascii_uppercase()) && name.eq_ignore_ascii_case(text)) {
        let message = format!("`{text}` is taken as `{name}`: the operator's API knows only this spelling");
        findings.push(Finding::warning(Rule::WrongValue, message).at(path).current(value.clone()).proposed(name));
        return Some(Value::from(name));
    }
    let shown_choice = |choice: &Value| format!("`{}`", choice.as_str().map_or_else(|| choice.to_string(), str::to_owned));
    let all = choices.iter().map(shown_choice).collect::<Vec<_>>().join(", ");
    let near = nearest(text, &mut names);
    let hint = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
    let message = format!("must be one of {all}, got {}{hint}", shown(value));
    let mut finding = Finding::error(Rule::WrongValue, message).at(path).current(value.clone());
    finding.proposed = near.map(Value::from);
    findings.push(finding);
    None
}

fn fit_range(schema: &Value, value: &Value, path: &str, findings: &mut Vec<Finding>) -> Option<Value> {
    let limit = |key: &str| schema.get(key).and_then(Value::as_i64);
    let (Some(minimum), Some(maximum)) = (limit("minimum"), limit("maximum")) else { return Some(value.clone()) };
    if value.as_i64().is_some_and(|number| (minimum..=maximum).contains(&number)) {
        return Some(value.clone());
    }
    let nearest = if value.as_i64().is_some_and(|number| number < minimum) { minimum } else { maximum };
    let message = format!("must be {minimum} to {maximum}, got {value}");
    findings.push(Finding::error(Rule::OutOfRange, message).at(path).current(value.clone()).proposed(nearest));
    None
}

/// `Option<Struct>` is `anyOf` of the struct and null.
fn without_null(schema: &Value) -> &Value {
    let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("null");
    match schema.get("anyOf").and_then(Value::as_array) {
        Some(choices) => choices.iter().find(|choice| !is_null(choice)).unwrap_or(schema),
        None => schema,
    }
}

/// The schema of a field; that of a list's entries is reached by the list's own name.
pub(super) fn property<'a>(schema: &'a Value, name: &str) -> &'a Value {
    let found = without_null(schema).get("properties").and_then(|properties| properties.get(name)).unwrap_or(&Value::Null);
    without_null(found).get("items").unwrap_or(found)
}

/// The JSON type that a schema asks for, null aside.
pub(super) fn type_of(schema: &Value) -> &str {
    match without_null(schema).get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default(),
        _ => "",
    }
}

/// The values of an enum: `enum`, or `oneOf` with a `const` each where the variants have descriptions.
pub(super) fn choices(schema: &Value) -> Vec<Value> {
    let schema = without_null(schema);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().filter(|value| !value.is_null()).cloned().collect();
    }
    let choices = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    choices.filter_map(|choice| choice.get("const").cloned()).collect()
}

fn with_article(kind: &str) -> &'static str {
    match kind {
        "object" => "a mapping",
        "array" => "a list",
        "string" => "a string",
        "boolean" => "true or false",
        "integer" => "a whole number",
        _ => "something else",
    }
}

/// A value in an error message: short, quotes included where it is a string.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "a mapping".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        other => {
            let text = other.to_string();
            match text.char_indices().nth(100) {
                Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
                None => text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ExposeValkey, ExternalAccess};
    use serde_json::json;

    #[test]
    fn every_fault_at_once_and_the_rest_kept() {
        let schema = schema_of::<ExternalAccess>();
        let value = json!({
            "enbled": true, "serviceType": "Nodeport", "domain": 3, "gateway": {"basePort": 70000, "gatewayRef": {"name": "gw"}},
            "serviceAnnotations": {"a": 1, "b": "x"}, "preferredEndpointType": "Hostname", "hostnamePrefix": null
        });
        let mut findings = Vec::new();
        let fitted = fit(&schema, &value, "spec.externalAccess", &mut findings);
        let messages: Vec<String> = findings.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(messages.join("\n"));
        let kept =
            json!({"preferredEndpointType": "hostname", "gateway": {"gatewayRef": {"name": "gw"}}, "serviceAnnotations": {"b": "x"}});
        assert_eq!(fitted, Some(kept));
    }

    #[test]
    fn what_fits_can_be_read_into_the_type() {
        let schema = schema_of::<ExposeValkey>();
        let value = json!({"spec": {"clusters": [{"selector": {"names": ["a"]}, "externalAccess": {"portsPerShard": 4}}], "gatewayAPI": {"tcpRoute": "v1alpha2"}}});
        let mut findings = Vec::new();
        let fitted = fit(&schema, &value, "", &mut findings).unwrap();
        assert_eq!(findings, []);
        let typed: ExposeValkey = serde_json::from_value(fitted.clone()).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), fitted);
    }
}
