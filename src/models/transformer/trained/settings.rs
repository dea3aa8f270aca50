//! Keys of a model's settings that change what the model computes: each is read, checked to change
//! nothing, or refused.

use serde_json::Value;

/// What is done with a key.
#[derive(Clone, Copy, Debug)]
pub enum KeyUse {
    /// It is read, and what is computed follows it.
    Read,
    /// What is computed here is what these values (JSON) mean, and what no key means; every other
    /// value is refused.
    Only(&'static [&'static str]),
    /// It must say what another key says.
    Same(&'static str),
    /// An object with these keys and no others.
    Object(&'static [ModelKey]),
    /// It changes nothing in the hidden states.
    Silent,
}

/// A key of the settings of a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelKey {
    /// Its name.
    pub name: &'static str,
    /// What is done with it.
    pub treatment: KeyUse,
    /// What it means.
    pub what: &'static str,
    /// Settings (a JSON object) beside which `other` is another model, where those of a file
    /// without it do not do.
    pub beside: &'static str,
    /// A value (JSON) with which the model is another one, or is refused: what tests put there.
    pub other: &'static str,
}

impl ModelKey {
    /// A key that is read.
    pub const fn read(name: &'static str, what: &'static str, other: &'static str) -> Self {
        Self { name, treatment: KeyUse::Read, what, beside: "{}", other }
    }

    /// A key that may have these values.
    pub const fn only(name: &'static str, values: &'static [&'static str], what: &'static str, other: &'static str) -> Self {
        Self { name, treatment: KeyUse::Only(values), what, beside: "{}", other }
    }

    /// Another name of a key.
    pub const fn same(name: &'static str, key: &'static str, other: &'static str) -> Self {
        Self { name, treatment: KeyUse::Same(key), what: "another name of a key", beside: "{}", other }
    }

    /// An object.
    pub const fn object(name: &'static str, keys: &'static [ModelKey], what: &'static str) -> Self {
        Self { name, treatment: KeyUse::Object(keys), what, beside: "{}", other: "3" }
    }

    /// A key without effect on hidden states.
    pub const fn silent(name: &'static str, what: &'static str, other: &'static str) -> Self {
        Self { name, treatment: KeyUse::Silent, what, beside: "{}", other }
    }

    /// The same with other settings beside it.
    #[must_use]
    pub const fn beside(self, beside: &'static str) -> Self {
        Self { beside, ..self }
    }
}

/// Weights that stand for other numbers.
pub const QUANTISED: ModelKey =
    ModelKey::only("quantization_config", &[], "weights that stand for other numbers", r#"{"quant_method": "gptq"}"#);

/// Heads that are taken out of a model when it is loaded.
pub const PRUNED: ModelKey = ModelKey::only("pruned_heads", &["{}"], "heads that are taken out", r#"{"0": [1]}"#);

/// Attention to another model.
pub const CROSS: ModelKey = ModelKey::only("add_cross_attention", &["false"], "attention to the tokens of another model", "true");

/// True where two values are one: numbers by what they are worth.
pub fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}
