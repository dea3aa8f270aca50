//! Errors of noise integrators against their steps, computed with the transfer operator, without
//! sampling of paths.

use super::{Part, Study, Tables, Values, table};
use crate::attention::noise::Sampler;
use crate::error::Result;
use crate::theory::noise_step::{stationary_mean, stationary_means};

/// Tables: noise.
pub static ENTRY: Study = Study {
    name: "noise-orders",
    title: "Errors of the stationary mean under four schemes of noise",
    citation: "derived (transfer operator on Legendre modes)",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

fn run(_: &Values) -> Result<Tables> {
    let mut noise = table(&["h", "lie", "strang", "corrected", "normalised"]);
    let exact = stationary_mean(4.0);
    for h in [0.4, 0.2, 0.1, 0.05] {
        let off = |s: Sampler| {
            let (lie, strang) = stationary_means(s, 4.0, h);
            ((lie - exact).abs(), (strang - exact).abs())
        };
        let plain = off(Sampler::Geodesic);
        noise.rows.push(vec![
            h,
            plain.0,
            plain.1,
            off(Sampler::Corrected).1,
            off(Sampler::Normalised).0,
        ]);
    }
    Ok(vec![("noise".into(), noise)])
}
