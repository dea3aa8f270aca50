//! Tables of the keys of a model's settings. Each key is read, checked to ask for nothing that is
//! not computed here, or ignored because it does not affect hidden states.

use serde_json::Value;

/// The use of a key.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum KeyUse {
    /// It is read, and the computation depends on it.
    Read,
    /// These values (JSON), and an absent key, mean the computation done here. Every other value is
    /// rejected.
    OneOf(&'static [&'static str]),
    /// It must have the value of another key.
    SameAs(&'static str),
    /// An object with these keys and no others.
    Object(&'static [ModelKey]),
    /// It does not affect hidden states.
    Ignored,
}

/// A key of the settings of a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelKey {
    /// Its name.
    pub name: &'static str,
    /// Its use.
    pub key_use: KeyUse,
    /// Its meaning.
    pub meaning: &'static str,
    /// For tests: settings (a JSON object) with which `changed_value` changes the model, where the
    /// settings of the test file do not suffice.
    pub context: &'static str,
    /// For tests: a value (JSON) that changes the model or is rejected.
    pub changed_value: &'static str,
}

impl ModelKey {
    /// A key that is read.
    pub const fn read(
        name: &'static str,
        meaning: &'static str,
        changed_value: &'static str,
    ) -> Self {
        Self { name, key_use: KeyUse::Read, meaning, context: "{}", changed_value }
    }

    /// A key that may only have these values.
    pub const fn one_of(
        name: &'static str,
        values: &'static [&'static str],
        meaning: &'static str,
        changed_value: &'static str,
    ) -> Self {
        Self { name, key_use: KeyUse::OneOf(values), meaning, context: "{}", changed_value }
    }

    /// Another name of the key `key`.
    pub const fn same_as(
        name: &'static str,
        key: &'static str,
        changed_value: &'static str,
    ) -> Self {
        Self {
            name,
            key_use: KeyUse::SameAs(key),
            meaning: "another name of a key",
            context: "{}",
            changed_value,
        }
    }

    /// An object.
    pub const fn object(
        name: &'static str,
        keys: &'static [ModelKey],
        meaning: &'static str,
    ) -> Self {
        Self { name, key_use: KeyUse::Object(keys), meaning, context: "{}", changed_value: "3" }
    }

    /// A key without effect on hidden states.
    pub const fn ignored(
        name: &'static str,
        meaning: &'static str,
        changed_value: &'static str,
    ) -> Self {
        Self { name, key_use: KeyUse::Ignored, meaning, context: "{}", changed_value }
    }

    /// The key with other settings for tests.
    #[must_use]
    pub const fn in_context(self, context: &'static str) -> Self {
        Self { context, ..self }
    }
}

/// Weights that are codes of other numbers.
pub const QUANTISED: ModelKey = ModelKey::one_of(
    "quantization_config",
    &[],
    "weights that are codes of other numbers",
    r#"{"quant_method": "gptq"}"#,
);

/// Heads that are removed from a model when it is loaded.
pub const PRUNED: ModelKey =
    ModelKey::one_of("pruned_heads", &["{}"], "heads that are removed", r#"{"0": [1]}"#);

/// Attention to another model.
pub const CROSS: ModelKey = ModelKey::one_of(
    "add_cross_attention",
    &["false"],
    "attention to the tokens of another model",
    "true",
);

/// True if two values are equal; numbers are compared as f64.
pub fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}
