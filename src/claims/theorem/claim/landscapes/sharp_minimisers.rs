//! Universally optimal configurations minimise the energy.

use super::setting::{LARGEST_POLYGON, is_listed, log_pairs, sharp_configuration};
use crate::num::gegenbauer::zonal_polynomials;
use crate::theorem::prelude::*;

const DISPLACEMENTS: (f64, f64) = (1e-3, 1.0);

/// The theorem of Cohn and Kumar, and the converse as it is printed.
///
/// # Derivation
///
/// The proof of Cohn and Kumar: for an absolutely monotone function of the inner product, such as
/// `e^{beta s}`, take the polynomial that interpolates it to second order at the inner products of
/// the sharp configuration (to first order at -1, if this is one of them). It lies below the
/// function on [-1, 1) and is positive definite. Since the configuration is a design, it attains
/// the bound that this polynomial gives for every set of `n` points.
///
/// The source prints that every minimiser is sharp with at least two inner products, or the
/// 600-cell. But simplices, with one inner product, are the minimisers for every `n <= d + 1`. And
/// a minimiser always exists, but for most `n` no sharp configuration: `n = 5` on `S^2` has none.
pub static ENTRY: Claim = Claim {
    name: "sharp-minimisers",
    title: "Simplex, cross-polytope, polygon, icosahedron and E8 roots are global minimisers",
    lets: "`beta > 0`",
    then: "No `n` tokens of equal masses have a lower `E_beta` than the sharp configuration of `n` \
           points: simplex (`n <= d + 1`; two antipodes for `n = 2`), cross-polytope `(n = 2 d)`, \
           regular polygon `(d = 2)`, icosahedron `(n = 12, d = 3)`, roots of E8 `(n = 240, d = \
           8)`.",
    tested: "on uniform tokens and on the configuration displaced by {LEAST} to {MOST}; the margin \
             is the excess of `log sum_{i > j} e^{beta G_ij}`, divided by `beta`",
    numbers: &[
        ("LEAST", DISPLACEMENTS.0),
        ("MOST", DISPLACEMENTS.1),
        ("LARGEST_POLYGON", LARGEST_POLYGON as f64),
    ],
    domain: DOMAIN,
    narrower: "five families of sharp configurations",
    source: "Cohn, Kumar, math/0607446, Theorem 1.2; arXiv:2312.10794, section 9.1",
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
            let case = Case::new(4, 3, 3.0, "repulsive-usa");
            let tetrahedron = ctx.tokens_with_law(4, 3, "simplex")?;
            Ok(excess_energy(&case, ctx, &tetrahedron, &square))
        },
    },
    variants: &[&PRINTED],
    ..Claim::INEQUALITY
};

static PRINTED: Claim = Claim {
    name: "sharp-minimisers-printed",
    title: "Minimisers have at least two inner products (as printed)",
    then: "Every global minimiser of the repulsive energy is a sharp configuration (`m` distinct \
           inner products and a spherical `(2m-1)`-design) with `m > 1`, or the 600-cell.",
    tested: "with the lowest of the end points of four repulsive flows as the minimiser",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 4),
        beta: Betas::Log(0.5, 5.0),
        dynamics: &["repulsive-usa"],
        ..Domain::EQUAL_MASSES
    },
    source: "arXiv:2312.10794, Theorem 9.2 of v4 and v5 (a quotation of Cohn and Kumar, whose \
             Theorem 1.2 has the other direction)",
    status: Status::Misprinted,
    trials: (8, 100),
    trial: minimiser_is_sharp,
    control: Control {
        what: "six tokens on `S^2`: the octahedron is sharp with inner products 0 and -1",
        trial: |ctx| minimiser_is_sharp(&Case::new(6, 3, 2.0, "repulsive-usa"), ctx),
    },
    ..Claim::EXACT
};

const DOMAIN: Domain = Domain {
    n: Sizes::Range(2, 240),
    d: Sizes::Range(2, 16),
    beta: Betas::Log(0.05, 100.0),
    dynamics: &["repulsive-usa"],
    condition: Some(Condition {
        text: "`n <= d + 1`, `n = 2 d`, `d = 2`, `(n, d) = (12, 3)` or (240, 8); `n <= \
               {LARGEST_POLYGON}` for `d = 2`",
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

/// Compares drawn tokens with the configuration.
fn excess(case: &Case, ctx: &mut Context, best: &Tokens) -> Result<Finding> {
    let x = if ctx.index(2) == 0 {
        ctx.tokens(case)?
    } else {
        let amplitude =
            ctx.log_uniform_in(DISPLACEMENTS.0, DISPLACEMENTS.1) / (case.d as f64).sqrt();
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

fn minimiser_is_sharp(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let energy = Energy::new(case.beta, EnergyScale::Unit);
    let mut best: Option<(f64, Tokens)> = None;
    for _ in 0..4 {
        let x = ctx.tokens(case)?;
        let options =
            Options { rtol: ctx.rtol(), merge_radius: 0.0, max_steps: 3000, ..Options::default() };
        // The flow is stiff near the minimum, so the steps may run out: the last state is used, and
        // judged to 1e-4.
        let end = solve(
            &build_dynamics(case.dynamics, case.beta, case.n)?,
            &x,
            200.0,
            &options,
            &mut [],
        )?
        .clusters;
        let log = energy.log_value(&end)?;
        if best.as_ref().is_none_or(|b| log < b.0) {
            best = Some((log, end));
        }
    }
    Ok(best.map_or(Finding::HypothesesMissed, |(_, x)| Finding::answer(is_sharp(&x))))
}

/// True for m >= 2 distinct inner products and a spherical (2m-1)-design, to 1e-4.
fn is_sharp(x: &Tokens) -> bool {
    let n = x.n();
    let mut values: Vec<f64> = pairs(n).map(|(i, j)| x.inner(i, j)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| (*a - *b).abs() < 1e-4);
    let strength = 2 * values.len() - 1;
    let mut sums = vec![0.0; strength + 1];
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        sums.iter_mut()
            .zip(zonal_polynomials(x.d(), strength, x.inner(i, j)))
            .for_each(|(s, p)| *s += p / (n * n) as f64);
    }
    values.len() > 1 && sums[1..].iter().all(|s| s.abs() < 1e-4)
}
