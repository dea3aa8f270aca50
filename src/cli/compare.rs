//! `compare`: the same observables for attention and other maps.

use super::cancel::cancelled;
use super::input::count;
use super::output::{Output, finite};
use super::progress;
use crate::error::{Error, Result};
use crate::recurrent::{
    MapSpec, NamedMap, map,
    observe::{LayerSummary, MapSummary, summarise},
};
use serde_json::{Value, json};

/// Flags of `compare`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  metastable compare\n  metastable compare attention rnn lstm --gain 1.5 --exponents 4\n  metastable compare causal-attention --n 32 --d 16 --layers 48 --format json"
)]
pub struct Arguments {
    /// Maps (`list maps`). Default: all.
    names: Vec<String>,
    /// Number of rows (tokens).
    #[arg(long, default_value_t = 8, allow_hyphen_values = true)]
    n: i64,
    /// Length of a row (dimension).
    #[arg(long, default_value_t = 8, allow_hyphen_values = true)]
    d: i64,
    /// Number of layers.
    #[arg(long, default_value_t = 24, allow_hyphen_values = true)]
    layers: i64,
    /// Scale of the weights: their entries have variance gain^2/d.
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    gain: f64,
    /// Random seed of weights and rows.
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// Number of Lyapunov exponents.
    #[arg(long, default_value_t = 3, allow_hyphen_values = true)]
    exponents: i64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let maps: Vec<&NamedMap> = if self.names.is_empty() {
            map::ALL.to_vec()
        } else {
            self.names.iter().map(|n| map::find(n)).collect::<Result<_>>()?
        };
        let (n, d) = (count("--n", self.n, 1, 256)?, count("--d", self.d, 1, 256)?);
        let layers = count("--layers", self.layers, 1, 1000)?;
        let spec = MapSpec { n, d, layers, gain: self.gain, seed: self.seed };
        let exponents = count("--exponents", self.exponents, 0, (n * d) as i64)?;
        let mut found = Vec::new();
        for (k, named) in maps.iter().enumerate() {
            if cancelled() {
                return Err(Error::Interrupted {
                    resume: format!("{k} of {} maps were computed", maps.len()),
                });
            }
            progress::report(Some(k as f64 / maps.len() as f64), || {
                format!("{} ({} of {} maps)", named.name, k + 1, maps.len())
            });
            found.push((*named, summarise(named, &spec, exponents)?));
        }
        let json: Vec<Value> = found.iter().map(|(m, p)| object(m, p, &spec)).collect();
        let json = json!({"n": n, "d": d, "layers": layers, "gain": self.gain, "seed": self.seed, "maps": json});
        out.table(&json, &["maps"], &text(&found, &spec));
        Ok(0)
    }
}

fn object(m: &NamedMap, p: &MapSummary, spec: &MapSpec) -> Value {
    let column =
        |f: fn(&LayerSummary) -> f64| p.layers.iter().map(|l| finite(f(l))).collect::<Vec<Value>>();
    json!({
        "name": m.name,
        "mean_cosine": column(|l| l.mean_cosine),
        "effective_rank": column(|l| l.effective_rank),
        "residual": column(|l| l.residual),
        "change": column(|l| l.change),
        "exponents": p.exponents.iter().map(|e| finite(*e)).collect::<Vec<Value>>(),
        "exponents_are": if p.in_time { "of the state, per row read" } else { "of all rows, per unit of depth" },
        "mixing": p.mixing.chunks_exact(spec.n).map(|r| r.iter().map(|v| finite(*v)).collect::<Vec<Value>>()).collect::<Vec<_>>(),
        "multiplications_of_a_layer": p.multiplications,
    })
}

/// First and last layers, exponents, and the share of the own row in the Jacobian.
fn text(found: &[(&NamedMap, MapSummary)], spec: &MapSpec) -> String {
    let mut out = format!(
        "{:17} {:>15} {:>15} {:>15} {:>9} {:>7} {:>10}  exponents\n",
        "map", "mean cosine", "effective rank", "residual", "change", "own", "products"
    );
    for (m, p) in found {
        let (Some(first), Some(last)) = (p.layers.first(), p.layers.last()) else { continue };
        let pair = |a: f64, b: f64| format!("{a:.3} > {b:.3}");
        let own: f64 = (0..spec.n).map(|i| p.mixing[i * spec.n + i]).sum::<f64>() / spec.n as f64;
        let exponents: Vec<String> = p.exponents.iter().map(|e| format!("{e:.3}")).collect();
        out.push_str(&format!(
            "{:17} {:>15} {:>15} {:>15} {:>9.3} {:>7.3} {:>10}  {} {}\n",
            m.name,
            pair(first.mean_cosine, last.mean_cosine),
            pair(first.effective_rank, last.effective_rank),
            pair(first.residual, last.residual),
            first.change,
            own,
            p.multiplications,
            exponents.join(" "),
            if p.in_time { "a row" } else { "a unit of depth" },
        ));
    }
    out.push_str(
        "first > last layer; residual |X - 1 mean|/|X|; change |X+ - X|/|X| of the first layer; own: share of j = i in |d x_i(L)/d x_j(0)|",
    );
    out
}
