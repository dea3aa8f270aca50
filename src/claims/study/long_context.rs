//! Long context (arXiv:2605.08505): participation of n uniform keys against `beta / n^{2/(d-1)}`,
//! with its limit.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::error::Result;
use crate::num::stats::{mean_and_error, nan_max};
use crate::num::stream::Stream;
use crate::num::vector::norm;
use crate::theory::long_context::{critical_beta, participation};

/// Tables: limit, sampled.
pub static ENTRY: Study = Study {
    name: "long-context",
    title: "Long context: participation of n uniform keys collapses on one curve for each dimension",
    citation: "arXiv:2605.08505 (abstract: beta_n ~ n^{2/(d-1)}); the limit derived",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[Parameter::count("d", &[3.0, 5.0, 9.0], (3.0, 64.0), "ambient dimensions")],
    run,
};

/// Numbers of keys with their numbers of draws.
const SIZES: [(usize, usize); 3] = [(100, 400), (10_000, 100), (1_000_000, 12)];

fn run(values: &Values) -> Result<Tables> {
    let mut limit = table(&["d", "c", "participation"]);
    let mut sampled = table(&["d", "n", "c", "participation", "error"]);
    for &d in values.list("d")? {
        for k in 0..=30 {
            let c = 0.05 * 1000f64.powf(f64::from(k) / 30.0);
            limit.rows.push(vec![d, c, participation(d as usize, c)?]);
        }
        for (n, draws) in SIZES {
            let mut stream = Stream::new(1, &["long context", &format!("{d} {n}")]);
            let cs: Vec<f64> = (0..7).map(|k| 0.05 * 1000f64.powf(f64::from(k) / 6.0)).collect();
            let betas = cs
                .iter()
                .map(|c| critical_beta(n as f64, d as usize, *c))
                .collect::<Result<Vec<_>>>()?;
            let shares: Vec<Vec<f64>> =
                (0..draws).map(|_| one_draw(n, d as usize, &betas, &mut stream)).collect();
            for (k, c) in cs.iter().enumerate() {
                let (mean, error) =
                    mean_and_error(&shares.iter().map(|s| s[k]).collect::<Vec<_>>());
                sampled.rows.push(vec![d, n as f64, *c, mean, error]);
            }
        }
    }
    Ok(vec![("limit".into(), limit), ("sampled".into(), sampled)])
}

/// `sum_j w_j^2` of one draw of keys, for every beta.
fn one_draw(n: usize, d: usize, betas: &[f64], stream: &mut Stream) -> Vec<f64> {
    let mut key = vec![0.0; d];
    let cosines: Vec<f64> = (0..n)
        .map(|_| {
            stream.normals(&mut key);
            key[0] / norm(&key)
        })
        .collect();
    let top = cosines.iter().copied().fold(-1.0, nan_max);
    let share = |beta: &f64| {
        let (mut sum, mut squares) = (0.0, 0.0);
        for c in &cosines {
            let w = (beta * (c - top)).exp();
            sum += w;
            squares += w * w;
        }
        squares / (sum * sum)
    };
    betas.iter().map(share).collect()
}
