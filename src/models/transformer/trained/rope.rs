//! Rotary positions by the settings of a model, with their scalings to more tokens than the model
//! was trained on.

use super::keys::Keys;
use super::settings::{ModelKey, is_same};
use crate::attention::pattern::{Pairs, Rotary};
use crate::error::Result;
use serde_json::Value;
use std::f64::consts::TAU;

/// Scaling of the angles of pairs of coordinates.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RopeScaling {
    /// No scaling.
    Plain,
    /// All angles times `1 / factor`: positions are interpolated (Chen et al. 2023).
    Linear {
        /// The factor.
        factor: f64,
    },
    /// The base grows with the text ("dynamic NTK"): it is `base g^{r/(r-2)}` with `g = 1 + factor
    /// (n / original - 1)`, for n tokens (at least `original`) and heads of rank r.
    Dynamic {
        /// The factor.
        factor: f64,
        /// Positions of the first training.
        original: f64,
        /// Number of tokens of the text; `original` before it is known.
        tokens: f64,
    },
    /// YaRN, by parts (arXiv:2309.00071): pairs that turn more than `beta_fast` times in `original`
    /// positions are unchanged, pairs that turn less than `beta_slow` times are interpolated, with
    /// a ramp in between that is linear in the index of the pair.
    Yarn {
        /// The factor of interpolation.
        factor: f64,
        /// Positions of the first training.
        original: f64,
        /// Number of turns from which on a pair is unchanged.
        beta_fast: f64,
        /// Number of turns below which a pair is interpolated.
        beta_slow: f64,
        /// Whether the ends of the ramp are rounded to whole pairs.
        truncate: bool,
    },
    /// Llama 3.1: the ramp is linear in the number of turns in `original` positions, from `low` to
    /// `high`.
    Llama3 {
        /// The factor of interpolation.
        factor: f64,
        /// Turns below which a pair is interpolated.
        low: f64,
        /// Number of turns above which a pair is unchanged.
        high: f64,
        /// Positions of the first training.
        original: f64,
    },
}

/// Rotary positions.
#[derive(Clone, Debug, PartialEq)]
pub struct RotarySettings {
    /// Pair k of a head of rank r turns by `base^{-2k/r}` a position, before scaling.
    pub base: f64,
    /// Which coordinates form pairs.
    pub pairs: Pairs,
    /// Scaling of the angles.
    pub scaling: RopeScaling,
    /// Factor of queries and keys.
    pub amplitude: f64,
}

const LINEAR: &str = r#"{"rope_type": "linear", "factor": 4.0}"#;
const YARN: &str = r#"{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8}"#;
const LONG_YARN: &str =
    r#"{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 200}"#;
const STRETCHED: &str = r#"{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "mscale": 1.0, "mscale_all_dim": 1.0}"#;
const LLAMA3: &str = r#"{"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8}"#;

/// Keys of `rope_scaling` and `rope_parameters`.
pub static ROPE: [ModelKey; 16] = [
    ModelKey::read("rope_type", "how angles are scaled", "\"dynamic\"").in_context(LINEAR),
    ModelKey::read("type", "the older name of rope_type", "\"dynamic\"").in_context(r#"{"type": "linear", "factor": 4.0}"#),
    ModelKey::read("rope_theta", "the base", "50.0").in_context(r#"{"rope_type": "default", "rope_theta": 100.0}"#),
    ModelKey::read("factor", "how many times more positions", "8.0").in_context(LINEAR),
    ModelKey::read("original_max_position_embeddings", "positions of the first training", "64").in_context(LLAMA3),
    ModelKey::read("attention_factor", "the amplitude", "2.0").in_context(YARN),
    ModelKey::read("beta_fast", "turns from which on a pair stays", "0.1")
        .in_context(r#"{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "beta_slow": 0.01}"#),
    ModelKey::read("beta_slow", "turns below which a pair is interpolated", "0.01").in_context(YARN),
    ModelKey::read("mscale", "the amplitude is 1 + 0.1 mscale log factor", "2.0").in_context(STRETCHED),
    ModelKey::read("mscale_all_dim", "over 1 + 0.1 mscale_all_dim log factor", "2.0").in_context(STRETCHED),
    ModelKey::read("truncate", "the ramp begins and ends at whole pairs", "false").in_context(LONG_YARN),
    ModelKey::read("low_freq_factor", "turns below which a pair is interpolated", "0.5").in_context(LLAMA3),
    ModelKey::read("high_freq_factor", "turns above which a pair stays", "2.0").in_context(LLAMA3),
    ModelKey::one_of("partial_rotary_factor", &["1.0"], "the share of a head's coordinates that turn", "0.5").in_context(LINEAR),
    ModelKey::one_of("short_factor", &[], "factors of every pair (LongRoPE)", "[1.0]").in_context(LINEAR),
    ModelKey::one_of("long_factor", &[], "factors of every pair (LongRoPE)", "[1.0]").in_context(LINEAR),
];

/// Keys that every scaling may have; [`ScalingName::keys`] are those of each.
const ALWAYS: [&str; 4] = ["rope_type", "type", "rope_theta", "partial_rotary_factor"];

/// The value of `rope_type`.
#[derive(Clone, Copy)]
enum ScalingName {
    Default,
    Linear,
    Dynamic,
    Yarn,
    Llama3,
}

const NAMES: [(&str, ScalingName); 5] = [
    ("default", ScalingName::Default),
    ("linear", ScalingName::Linear),
    ("dynamic", ScalingName::Dynamic),
    ("yarn", ScalingName::Yarn),
    ("llama3", ScalingName::Llama3),
];

impl ScalingName {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Default => &[],
            Self::Linear => &["factor"],
            Self::Dynamic => &["factor", "original_max_position_embeddings"],
            Self::Yarn => &[
                "factor",
                "original_max_position_embeddings",
                "attention_factor",
                "beta_fast",
                "beta_slow",
                "mscale",
                "mscale_all_dim",
                "truncate",
            ],
            Self::Llama3 => &[
                "factor",
                "original_max_position_embeddings",
                "low_freq_factor",
                "high_freq_factor",
            ],
        }
    }
}

impl RotarySettings {
    /// From the settings of a model with this number of positions: `rope_theta`, and `rope_scaling`
    /// or, in newer files, `rope_parameters`.
    ///
    /// **Errors** unknown scalings; keys that are missing, contradict each other or belong to
    /// another scaling.
    pub fn read(keys: &Keys, positions: usize) -> Result<Self> {
        let pairs =
            keys.word("rotary_pairs", &[("halves", Pairs::Halves), ("adjacent", Pairs::Adjacent)])?;
        let (older, newer) = (keys.value("rope_scaling"), keys.value("rope_parameters"));
        if !older.is_null() && !newer.is_null() && older != newer {
            return Err(keys.error(
                "rope_parameters",
                newer,
                "what rope_scaling says, or one of them",
            ));
        }
        let (name, scaling_settings) =
            if newer.is_null() { ("rope_scaling", older) } else { ("rope_parameters", newer) };
        let outer = keys.value("rope_theta");
        if scaling_settings.is_null() {
            return Ok(Self {
                base: keys.positive("rope_theta", Some(1e4))?,
                pairs,
                scaling: RopeScaling::Plain,
                amplitude: 1.0,
            });
        }
        let inside = Keys { path: keys.path, json: scaling_settings, table: &ROPE, parent: name };
        let inner = inside.value("rope_theta");
        if !outer.is_null() && !inner.is_null() && !is_same(outer, inner) {
            return Err(inside.error(
                "rope_theta",
                inner,
                &format!("{outer}, as the key rope_theta outside of it says"),
            ));
        }
        let base = if inner.is_null() {
            keys.positive("rope_theta", Some(1e4))?
        } else {
            inside.positive("rope_theta", None)?
        };
        let (scaling, amplitude) = scaling_of(&inside, positions, base)?;
        Ok(Self { base, pairs, scaling, amplitude })
    }

    /// The factors of the angles of the pairs of a head of rank r.
    ///
    /// ```
    /// use metastable::attention::pattern::Pairs;
    /// use metastable::transformer::trained::{RopeScaling, RotarySettings};
    /// // Llama 3.1 with r = 8: pair 0 turns 1304 times in 8192 positions and is unchanged, pair 3 turns 0.07 times.
    /// let scaling = RopeScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 8192.0 };
    /// let rotary = RotarySettings { base: 5e5, pairs: Pairs::Halves, scaling, amplitude: 1.0 };
    /// let factors = rotary.factors(8);
    /// assert_eq!((factors[0], factors[3]), (1.0, 0.125));
    /// ```
    pub fn factors(&self, rank: usize) -> Vec<f64> {
        let half = rank / 2;
        match self.scaling {
            RopeScaling::Plain => vec![1.0; half],
            RopeScaling::Linear { factor } => vec![1.0 / factor; half],
            RopeScaling::Dynamic { factor, original, tokens } => {
                let growth = 1.0 + factor * (tokens.max(original) / original - 1.0);
                // The first pair does not depend on the base.
                let one = |k: usize| match k {
                    0 => 1.0,
                    k => growth.powf(-2.0 * k as f64 / (rank as f64 - 2.0)),
                };
                (0..half).map(one).collect()
            }
            RopeScaling::Yarn { factor, original, beta_fast, beta_slow, truncate } => {
                // The (fractional) index of the pair with this number of turns.
                let pair = |turns: f64| {
                    rank as f64 * (original / (turns * TAU)).ln() / (2.0 * self.base.ln())
                };
                let (from, to) = if truncate {
                    (pair(beta_fast).floor(), pair(beta_slow).ceil())
                } else {
                    (pair(beta_fast), pair(beta_slow))
                };
                let (from, to) = (from.max(0.0), to.min(rank as f64 - 1.0));
                // A ramp of length 0 becomes a step just after its pair.
                let length = (to - from).max(1e-3);
                let ramp = |k: usize| ((k as f64 - from) / length).clamp(0.0, 1.0);
                (0..half).map(|k| ramp(k) / factor + (1.0 - ramp(k))).collect()
            }
            RopeScaling::Llama3 { factor, low, high, original } => {
                let turns =
                    |k: usize| original * self.base.powf(-2.0 * k as f64 / rank as f64) / TAU;
                let ramp = |k: usize| ((turns(k) - low) / (high - low)).clamp(0.0, 1.0);
                (0..half).map(|k| (1.0 - ramp(k)) / factor + ramp(k)).collect()
            }
        }
    }

    /// The settings for a text of this many tokens, on which the scaling `dynamic` depends.
    ///
    /// ```
    /// use metastable::attention::pattern::Pairs;
    /// use metastable::transformer::trained::{RopeScaling, RotarySettings};
    /// let scaling = RopeScaling::Dynamic { factor: 4.0, original: 12.0, tokens: 12.0 };
    /// let rotary = RotarySettings { base: 100.0, pairs: Pairs::Halves, scaling, amplitude: 1.0 };
    /// assert_eq!(rotary.for_tokens(8).factors(4), [1.0, 1.0]);
    /// // For twice as many tokens the base is 100 (2 * 4 - 3)^2 with r = 4.
    /// let factor = rotary.for_tokens(24).factors(4)[1];
    /// assert!((factor - 2500f64.powf(-0.5) / 100f64.powf(-0.5)).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn for_tokens(&self, count: usize) -> Self {
        let mut own = self.clone();
        if let RopeScaling::Dynamic { tokens, .. } = &mut own.scaling {
            *tokens = count as f64;
        }
        own
    }

    /// The pattern of heads of rank r. `divisors` of the angles of all pairs are empty unless the
    /// file has them.
    ///
    /// **Errors** an odd rank, a base that is not above 0, divisors that do not fit.
    pub fn pattern(&self, rank: usize, divisors: &[f64]) -> Result<Rotary> {
        let mut factors = self.factors(rank);
        factors.iter_mut().zip(divisors).for_each(|(f, own)| *f /= own);
        Rotary::new(self.base, self.pairs, rank)?.scaled(&factors, self.amplitude)
    }
}

/// The scaling of an object of settings, and its amplitude.
fn scaling_of(keys: &Keys, positions: usize, base: f64) -> Result<(RopeScaling, f64)> {
    let (newer, older) = (keys.value("rope_type"), keys.value("type"));
    if !newer.is_null() && !older.is_null() && newer != older {
        return Err(keys.error("type", older, &format!("{newer}, as rope_type says")));
    }
    let named = keys.word(if newer.is_null() { "type" } else { "rope_type" }, &NAMES)?;
    for (key, value) in
        keys.json.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null())
    {
        if !ALWAYS.iter().chain(named.keys()).any(|k| k == key) {
            return Err(keys.error(key, value, "no such key for this rope_type"));
        }
    }
    let original =
        |default: Option<f64>| keys.positive("original_max_position_embeddings", default);
    let max_positions = positions as f64;
    let plain = |scaling| Ok((scaling, 1.0));
    match named {
        ScalingName::Default => plain(RopeScaling::Plain),
        ScalingName::Linear => {
            plain(RopeScaling::Linear { factor: keys.positive("factor", None)? })
        }
        ScalingName::Dynamic => {
            let factor = keys.positive("factor", None)?;
            if original(Some(max_positions))?.total_cmp(&max_positions).is_ne() {
                let found = keys.value("original_max_position_embeddings");
                return Err(keys.error(
                    "original_max_position_embeddings",
                    found,
                    &format!("{positions}, max_position_embeddings"),
                ));
            }
            let original = max_positions;
            plain(RopeScaling::Dynamic { factor, original, tokens: original })
        }
        ScalingName::Yarn => yarn(keys, max_positions, base),
        ScalingName::Llama3 => {
            let (low, high) =
                (keys.positive("low_freq_factor", None)?, keys.positive("high_freq_factor", None)?);
            if high <= low {
                return Err(keys.error(
                    "high_freq_factor",
                    keys.value("high_freq_factor"),
                    &format!("more than {low}, low_freq_factor"),
                ));
            }
            plain(RopeScaling::Llama3 {
                factor: keys.positive("factor", None)?,
                low,
                high,
                original: original(None)?,
            })
        }
    }
}

fn yarn(keys: &Keys, max_positions: f64, base: f64) -> Result<(RopeScaling, f64)> {
    let given = |key: &str| !keys.value(key).is_null();
    let original = keys.positive("original_max_position_embeddings", Some(max_positions))?;
    let factor = keys.positive(
        "factor",
        given("original_max_position_embeddings").then_some(max_positions / original),
    )?;
    let (beta_fast, beta_slow) =
        (keys.positive("beta_fast", Some(32.0))?, keys.positive("beta_slow", Some(1.0))?);
    if beta_fast < beta_slow {
        return Err(keys.error(
            "beta_fast",
            keys.value("beta_fast"),
            &format!("at least {beta_slow}, beta_slow"),
        ));
    }
    if base <= 1.0 {
        return Err(keys.error("rope_theta", &Value::from(base), "more than 1"));
    }
    let stretch = |scale: f64| if factor > 1.0 { 1.0 + 0.1 * scale * factor.ln() } else { 1.0 };
    let default = match (given("mscale"), given("mscale_all_dim")) {
        (true, true) => {
            stretch(keys.positive("mscale", None)?)
                / stretch(keys.positive("mscale_all_dim", None)?)
        }
        (false, false) => stretch(1.0),
        (true, false) => {
            return Err(keys.error("mscale_all_dim", &Value::Null, "a number beside mscale"));
        }
        (false, true) => {
            return Err(keys.error("mscale", &Value::Null, "a number beside mscale_all_dim"));
        }
    };
    let truncate = keys.boolean("truncate", true)?;
    Ok((
        RopeScaling::Yarn { factor, original, beta_fast, beta_slow, truncate },
        keys.positive("attention_factor", Some(default))?,
    ))
}
