//! `entropy`: negentropy of a cloud of tokens, or of hidden states layer by layer, by two estimators.

use super::figure::layers;
use super::output::{Output, finite};
use crate::entropy::estimate::{kernel, nearest_neighbour};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Flags of `entropy`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable entropy --tokens tokens.csv
  metastable entropy --tokens hidden_states.npz --array hidden_states --neighbours 3 --bandwidth 100")]
pub struct Arguments {
    /// Tokens (n x d), or hidden states (layers x n x d, rows of any length), CSV, NPY or NPZ.
    #[arg(long, value_name = "FILE")]
    tokens: PathBuf,
    /// Array of an NPZ file.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
    /// Which neighbour's distance the first estimator uses.
    #[arg(long, default_value_t = 3, allow_hyphen_values = true)]
    neighbours: i64,
    /// Concentration of the kernels of the second.
    #[arg(long, default_value_t = 100.0, allow_hyphen_values = true)]
    bandwidth: f64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let k = usize::try_from(self.neighbours).map_err(|_| Error::parameter("--neighbours", self.neighbours, "at least 1"))?;
        let array = arrays::read(&self.tokens, self.array.as_deref())?;
        let clouds: Vec<Tokens> = if array.shape.len() == 3 {
            layers(&array, &self.tokens)?
        } else {
            vec![arrays::tokens(&self.tokens, self.array.as_deref(), false)?]
        };
        let rows: Vec<(f64, f64)> =
            clouds.iter().map(|x| Ok((nearest_neighbour(x, k)?, kernel(x, self.bandwidth)?))).collect::<Result<_>>()?;
        let list = |pick: fn(&(f64, f64)) -> f64| -> Vec<Value> { rows.iter().map(|r| finite(pick(r))).collect() };
        let json = json!({
            "layers": rows.len(), "n": clouds[0].n(), "d": clouds[0].d(), "neighbours": k, "bandwidth": self.bandwidth,
            "nearest_neighbour": list(|r| r.0), "kernel": list(|r| r.1),
            "convention": "negentropy relative to the uniform law of the sphere, 0 for it; null where coinciding samples make it infinite",
        });
        let mut text = format!("{} tokens, d = {}\nlayer  nearest neighbour        kernels\n", clouds[0].n(), clouds[0].d());
        rows.iter().enumerate().for_each(|(l, r)| text.push_str(&format!("{l:>5}  {:>17.6}  {:>13.6}\n", r.0, r.1)));
        out.result(&json, &text);
        Ok(0)
    }
}
