//! Universally optimal configurations minimise the energy.

use crate::attention::kernel::log_kernel;
use crate::theorem::prelude::*;

/// arXiv:2312.10794, section 9.1, in the correct direction (Cohn and Kumar 2007).
///
/// # Derivation
///
/// The source prints the converse direction. The proof of Cohn and Kumar: for an absolutely
/// monotone function of the inner product, such as `e^{beta s}`, take the polynomial that
/// interpolates it to second order at the inner products of the sharp configuration (to first order
/// at -1, if this is one of them). It lies below the function on [-1, 1) and is positive definite.
/// Since the configuration is a design, it attains the bound that this polynomial gives for every
/// set of n points. A minimiser need not be sharp: see `sharp-minimisers-printed`.
pub static ENTRY: Claim = Claim {
    name: "sharp-minimisers",
    title: "Simplex, cross-polytope, polygon, icosahedron and E8 roots are global minimisers",
    then: "For every beta > 0, no n tokens of equal masses have a lower E_beta than the sharp \
           configuration of n points: simplex (n <= d + 1; two antipodes for n = 2), \
           cross-polytope (n = 2 d), regular polygon (d = 2), icosahedron (n = 12, d = 3), roots \
           of E8 (n = 240, d = 8).",
    tested: "on uniform tokens and on the configuration displaced by 1e-3 to 1; the margin is the \
             excess of log sum_{i > j} e^{beta G_ij}, divided by beta",
    domain: DOMAIN,
    narrower: "five families of sharp configurations",
    source: "Cohn, Kumar 2007; arXiv:2312.10794, Theorem 9.2 (printed in the converse direction)",
    trials: (100, 1000),
    trial: |case, ctx| match sharp_configuration(case.n, case.d) {
        Some(points) => excess(case, ctx, &Tokens::normalised(case.d, points)?),
        None => Ok(Finding::HypothesesMissed),
    },
    constant: "the pair energy of the configuration",
    control: Control {
        what: "the square instead of the tetrahedron",
        trial: |ctx| {
            let square = ctx.tokens_with_law(4, 3, "polygon")?;
            let case = Case::new(4, 3, 3.0, "usa");
            let tetrahedron = ctx.tokens_with_law(4, 3, "simplex")?;
            Ok(excess_energy(&case, ctx, &tetrahedron, &square))
        },
    },
    ..Claim::INEQUALITY
};

const DOMAIN: Domain = Domain {
    n: Sizes::Range(2, 240),
    d: Sizes::Range(2, 16),
    beta: Betas::Log(0.05, 100.0),
    dynamics: &["repulsive-usa"],
    condition: Some(Condition {
        text: "n <= d + 1, n = 2 d, d = 2, (n, d) = (12, 3) or (240, 8); n <= 32 for d = 2",
        holds: |c| is_listed(c.n, c.d),
    }),
    corners: &[
        (2, 3, 2.0),
        (4, 3, 3.0),
        (6, 3, 2.0),
        (12, 3, 2.0),
        (8, 4, 1.0),
        (240, 8, 5.0),
        (7, 2, 4.0),
    ],
    ..Domain::EQUAL_MASSES
};

fn is_listed(n: usize, d: usize) -> bool {
    n <= d + 1 || n == 2 * d || (d == 2 && n <= 32) || [(12, 3), (240, 8)].contains(&(n, d))
}

/// Coordinates of the sharp configuration of n points, if one of the listed families has one.
pub(crate) fn sharp_configuration(n: usize, d: usize) -> Option<Vec<f64>> {
    let axis = |k: usize, s: f64| (0..d).map(move |c| if c == k { s } else { 0.0 });
    let law = |name: &str| {
        let x = Law::parse(name).and_then(|l| l.sample(n, d, &mut Stream::new(1, &["sharp"])));
        x.ok().map(|x| x.coordinates().to_vec())
    };
    if !is_listed(n, d) {
        None
    } else if n <= d + 1 {
        law("simplex")
    } else if n == 2 * d {
        Some((0..d).flat_map(|k| axis(k, 1.0).chain(axis(k, -1.0)).collect::<Vec<_>>()).collect())
    } else if d == 2 {
        law("polygon")
    } else if d == 3 {
        let g = 0.5 * (1.0 + 5f64.sqrt());
        let points = [1.0, -1.0].into_iter().flat_map(|a| [g, -g].into_iter().map(move |b| (a, b)));
        Some(points.flat_map(|(a, b)| vec![0.0, a, b, a, b, 0.0, b, 0.0, a]).collect())
    } else {
        Some(roots())
    }
}

/// The 112 vectors `+-e_i +- e_j` and the 128 vectors `(+-1/2)^8` with an even number of minus
/// signs.
fn roots() -> Vec<f64> {
    let mut out = Vec::with_capacity(240 * 8);
    for (i, j) in pairs(8) {
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            out.extend((0..8).map(|c| {
                if c == i {
                    a
                } else if c == j {
                    b
                } else {
                    0.0
                }
            }));
        }
    }
    for signs in (0..256u32).filter(|s| s.count_ones() % 2 == 0) {
        out.extend((0..8).map(|c| if signs >> c & 1 == 1 { -0.5 } else { 0.5 }));
    }
    out
}

/// Compares drawn tokens with the configuration.
fn excess(case: &Case, ctx: &mut Context, best: &Tokens) -> Result<Finding> {
    let x = if ctx.index(2) == 0 {
        ctx.tokens(case)?
    } else {
        let amplitude = ctx.log_uniform_in(1e-3, 1.0) / (case.d as f64).sqrt();
        let noise = ctx.normals(case.n * case.d);
        Tokens::normalised(
            case.d,
            best.coordinates().iter().zip(&noise).map(|(x, z)| x + amplitude * z).collect(),
        )?
    };
    Ok(excess_energy(case, ctx, &x, best))
}

/// `log sum_{i > j} e^{beta G_ij}` of the tokens above that of the configuration, over beta: the
/// energy without the terms i = j, which are constant and would hide the others.
fn excess_energy(case: &Case, ctx: &mut Context, x: &Tokens, best: &Tokens) -> Finding {
    let difference =
        log_pairs(case.beta, x) - log_pairs(case.beta, best) - ctx.claimed_constant(1.0).ln();
    // The error of the logarithms is a few eps beta.
    Finding::nonnegative(difference, case.beta)
        .with_evaluation_error(32.0 * f64::EPSILON * (1.0 + case.beta) / case.beta)
}

pub(crate) fn log_pairs(beta: f64, x: &Tokens) -> f64 {
    let logs: Vec<f64> = pairs(x.n()).map(|(i, j)| log_kernel(beta, x.row(i), x.row(j))).collect();
    let top = vector::max(&logs);
    top + logs.iter().map(|l| (l - top).exp()).sum::<f64>().ln()
}
