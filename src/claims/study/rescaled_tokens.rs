//! Tokens in R^d (arXiv:2305.05465): trajectories to a polytope, the Boolean limit, and the rate at
//! which rows of the attention matrix become one-hot.

use super::{Part, Study, Tables, Values, table};
use crate::attention::{Spec, model::Model};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use crate::theory::boolean::log_limit;

/// Tables: paths, limit, rate.
pub static ENTRY: Study = Study {
    name: "rescaled-tokens",
    title: "Tokens in R^d: trajectories of e^{-tV} x, the limit F(eps), growth of logit gaps",
    citation: "arXiv:2305.05465, Figures 1-4; F and the rates derived",
    parts: &[&PART],
};

/// The two value matrices V: the identity, and one with eigenvalues 1 and -0.2.
pub const VALUES: [&str; 2] = ["V=I", "V with eigenvalues 1 and -0.2"];

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

fn evolve(v: &[f64], x: Vec<f64>, t: f64) -> Result<Vec<f64>> {
    let d = (v.len() as f64).sqrt().round() as usize;
    let model = Model {
        rescaled: true,
        heads: vec![[None, None, Some((d, v.to_vec())), None]],
        ..Model::default()
    };
    let x = Tokens::flat(d, x)?;
    let dynamics = model.build("sa", false, &Spec::new(1.0, x.n()), d)?;
    let end =
        solve(&dynamics, &x, t, &Options { merge_radius: 0.0, ..Options::default() }, &mut [])?;
    if end.outcome.end_state_is_known() {
        Ok(end.clusters.numbers().to_vec())
    } else {
        Err(Error::Numerical { what: end.outcome.to_string() })
    }
}

fn run(_: &Values) -> Result<Tables> {
    // V = I (polytope) and V with one positive eigenvalue (hyperplanes), 20 normal tokens.
    let mut paths = table(&["value", "token", "t", "x", "y"]).with_labels("value", VALUES);
    let mut start = vec![0.0; 40];
    Stream::new(1, &["rescaled-tokens"]).normals(&mut start);
    for (value, v) in [[1.0, 0.0, 0.0, 1.0], [1.0, 0.5, 0.0, -0.2]].into_iter().enumerate() {
        for k in 0..=40 {
            let t = 6.0 * f64::from(k) / 40.0;
            let z = evolve(&v, start.clone(), t)?;
            paths.rows.extend(
                z.chunks_exact(2)
                    .enumerate()
                    .map(|(i, z)| vec![value as f64, i as f64, t, z[0], z[1]]),
            );
        }
    }
    let mut limit = table(&["eps", "limit", "asymptote", "measured"]);
    for k in 0..=48 {
        let eps = 0.15 + 0.05 * f64::from(k) * 0.6;
        let log = log_limit(eps)?;
        let measured = if k % 4 == 0 && eps > 0.2 {
            evolve(&[1.0], vec![eps, -eps], 60f64.ln() - log)?[0]
        } else {
            f64::NAN
        };
        limit.rows.push(vec![eps, log.exp(), 1.3302 * (-0.5 / (eps * eps)).exp(), measured]);
    }
    let mut rate = table(&["v", "t", "log_gap"]);
    let line: Vec<f64> = start[..12].to_vec();
    for v in [0.5, 1.0] {
        for k in 1..=30 {
            let t = 14.0 / v * f64::from(k) / 30.0;
            let mut z = evolve(&[v], line.clone(), t)?;
            z.sort_by(f64::total_cmp);
            let (top, next) = (z[11], z[10]);
            rate.rows.push(vec![v, t, (top * (top - next)).ln() + 2.0 * v * t]);
        }
    }
    Ok(vec![("paths".into(), paths), ("limit".into(), limit), ("rate".into(), rate)])
}
