//! Theorem 9.2 in the direction in which it is printed.

use crate::num::gegenbauer::zonal_polynomials;
use crate::theorem::prelude::*;

/// "Every global minimum is a sharp configuration with at least two distinct inner products, or the
/// 600-cell." This is false: simplices have one inner product, and for most numbers of points no
/// sharp configuration exists.
///
/// # Derivation
///
/// Simplices are sharp with one inner product, and they are minimisers for every `n <= d + 1`, so
/// "at least two" is false. And for most n no sharp configuration exists, while a minimiser always
/// exists: n = 5 on S^2 has none.
pub static ENTRY: Claim = Claim {
    name: "sharp-minimisers-printed",
    title: "Minimisers have at least two inner products (as printed)",
    then: "Every global minimiser of the repulsive energy is a sharp configuration (m distinct \
           inner products and a spherical (2m-1)-design) with m > 1, or the 600-cell.",
    tested: "with the lowest of the end points of four repulsive flows as the minimiser",
    domain: Domain {
        n: Sizes::Range(2, 12),
        d: Sizes::Range(2, 4),
        beta: Betas::Log(0.5, 5.0),
        dynamics: &["repulsive-usa"],
        ..Domain::EQUAL_MASSES
    },
    source: "arXiv:2312.10794, Theorem 9.2 (printed in the converse direction)",
    status: Status::Misprinted,
    trials: (24, 100),
    trial: minimiser_is_sharp,
    control: Control {
        what: "six tokens on S^2: the octahedron is sharp with inner products 0 and -1",
        trial: |ctx| minimiser_is_sharp(&Case::new(6, 3, 2.0, "repulsive-usa"), ctx),
    },
    ..Claim::EVERY
};

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
