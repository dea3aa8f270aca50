//! Small laws beside each other: rank collapse, orders of noise integrators, antipodal attraction under random values, two antipodal clusters.

use super::{Given, Part, Study, Tables, table};
use crate::attention::noise::Sampler;
use crate::error::Result;
use crate::num::stream::Stream;
use crate::theory::{
    bipartite::threshold,
    noise_step::{stationary_mean, stationary_means},
    random_weights::antipodal_threshold,
    rank_collapse::RankResidual,
};

/// Tables: collapse, noise, antipodal, bipartite.
pub static ENTRY: Study = Study {
    name: "rows-beyond",
    title: "Rank collapse, noise integrators, random values, two antipodal clusters",
    citation: "arXiv:2103.03404, 2601.21942, 2604.26085 (laws derived)",
    parts: &[&PART],
};

/// All of it, at fixed parameters.
pub static PART: Part = Part { parameters: &[], run };

fn run(_: &Given) -> Result<Tables> {
    let mut collapse = table(&["layer", "log_residual", "three_times"]);
    let mut stream = Stream::new(1, &["rank collapse"]);
    let mut normals = |count: usize, size: f64| {
        let mut out = vec![0.0; count];
        stream.normals(&mut out);
        out.iter_mut().for_each(|v| *v *= size);
        out
    };
    let (x, w, w_v) = (normals(32, 0.02), normals(16, 0.5), normals(16, 0.5));
    let mut state = RankResidual::new(&x, 4);
    let mut last = f64::NAN;
    for layer in 0..=5 {
        let Some(r) = state else { break };
        collapse.rows.push(vec![f64::from(layer), r.log_size, 3.0 * last]);
        last = r.log_size;
        state = r.layer(&w, &w_v);
    }
    let mut noise = table(&["h", "lie", "strang", "corrected", "normalised"]);
    for h in [0.4, 0.2, 0.1, 0.05] {
        let off = |s: Sampler| {
            let (lie, strang) = stationary_means(s, 4.0, h);
            let exact = stationary_mean(4.0);
            ((lie - exact).abs(), (strang - exact).abs())
        };
        let plain = off(Sampler::Geodesic);
        noise.rows.push(vec![h, plain.0, plain.1, off(Sampler::Corrected).1, off(Sampler::Normalised).0]);
    }
    let mut antipodal = table(&["d", "beta"]);
    antipodal.rows.extend((3..=128).map(|d| vec![d as f64, antipodal_threshold(d)]));
    let mut bipartite = table(&["beta", "mu"]);
    bipartite.rows.extend((0..=100).map(|k| 0.04 * f64::from(k)).map(|beta| vec![beta, threshold(1.0, beta)]));
    Ok(vec![("collapse".into(), collapse), ("noise".into(), noise), ("antipodal".into(), antipodal), ("bipartite".into(), bipartite)])
}
