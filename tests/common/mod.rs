//! Readers of reference data, shared by the integration tests.
#![allow(dead_code, reason = "every test binary uses its own part")]

use serde_json::Value;

/// The cases of a reference file.
pub fn reference(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("committed data"))
        .expect("valid JSON")
}

/// A number stored as a 20-digit string or as a JSON number.
pub fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| v.as_str().expect("a number").parse().expect("a number"))
}

/// A list of numbers.
pub fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("a list").iter().map(number).collect()
}

/// A list of rows.
pub fn rows(v: &Value) -> Vec<Vec<f64>> {
    v.as_array().expect("a list").iter().map(numbers).collect()
}
