//! Normalisation schemes (arXiv:2510.22026): late rates and orbits of equiangular tokens.

use super::{Part, Study, Tables, Values, table};
use crate::attention::normalisation::{
    Cod, LnScaling, Mix, NGpt, Normalisation, Peri, Post, Pre, Scheme,
};
use crate::error::Result;
use crate::flow::observable::log_times;
use crate::theory::normalised::SchemeCurve;

/// Table: reduced (n = 16, beta = 2, orthonormal start of radius 1).
pub static ENTRY: Study = Study {
    name: "normalisation-schemes",
    title: "Normalisation schemes: late rates, orbits in the (r, gamma) plane",
    citation: "arXiv:2510.22026, Section 4; rates and orbits derived",
    parts: &[&PART],
};

/// The whole study; it has no parameters.
pub static PART: Part = Part { parameters: &[], run };

/// The schemes.
pub static SCHEMES: [Scheme; 7] =
    [Post, Pre, Peri, Mix { tau: 1.0 }, NGpt { alpha: 1.0 }, Cod, LnScaling];

fn run(_: &Values) -> Result<Tables> {
    let mut reduced = table(&["scheme", "t", "one_minus_gamma", "radius"])
        .with_labels("scheme", SCHEMES.map(|s| s.name()));
    let times = log_times(1e-2, 1e4, 120);
    for (k, scheme) in SCHEMES.iter().enumerate() {
        for (t, p) in
            times.iter().zip(SchemeCurve::new(*scheme, 16, 2.0)?.states(0.0, 1.0, &times)?)
        {
            reduced.rows.push(vec![k as f64, *t, (-p.depth).exp(), p.radius]);
        }
    }
    Ok(vec![("reduced".into(), reduced)])
}
