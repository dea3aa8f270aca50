//! USA produces negentropy at a bounded rate.

use crate::continuity::zonal::Zonal;
use crate::theorem::prelude::*;
use crate::theory::growth::rates_usa;

const ROUNDINGS: f64 = 64.0;
const HARMONICS: usize = 6;
const LARGEST_BETA: f64 = 50.0;
/// The largest concentrations of a bump on the circle and on other spheres.
const NARROWEST: (f64, f64) = (1000.0, 20.0);
const CONTROL_BETA: f64 = -3.0;
const CONTROL_SIZE: f64 = 0.5;

/// The kernel `-(1/beta) Lap e^{beta s} = (1/beta) sum k (k+d-2) lambda_k dim_k P_k` is positive
/// definite and at most `(d-1) e^beta`. The production is `sum r_k |mu_k|^2` with the growth rates
/// r_k > 0.
///
/// # Derivation
///
/// With `rho_t = -div(rho v)` the negentropy `H = int rho log rho` has `H' = -int div v d mu`. For
/// USA `v = (1/beta) grad int e^{beta <x, y>} d mu(y)`, so `H' = int int K(<x, y>) d mu d mu` with
/// `K(s) = -(1/beta) Lap e^{beta s} = e^{beta s} ((d-1) s - beta (1 - s^2))`.
///
/// By Funk and Hecke `e^{beta s} = sum_k lambda_k dim_k P_k(s)` with `lambda_k > 0`
/// (`mode-growth`), and `Lap P_k = -k (k+d-2) P_k`. So `K = (1/beta) sum_k k (k+d-2) lambda_k dim_k
/// P_k` is positive definite, `H' = sum_k r_k |mu_k|^2 >= 0` with `|mu_k|^2` the energy of the
/// measure in degree `k`, and it is 0 only if all components of degree `k >= 1` vanish, that is,
/// for the uniform density. The upper bound follows from `|P_k| <= P_k(1)`: `K(s) <= K(1) = (d-1)
/// e^beta`.
pub static ENTRY: Claim = Claim {
    name: "usa-entropy",
    title: "USA: production of negentropy `sum_k r_k |mu_k|^2`, in `[0, (d-1) e^beta]`, for every \
            density",
    lets: "a density has the energy `|mu_k|^2` in degree `k`, let `beta > 0`, and let `r_k` be the \
           growth rate of mode `k` of the uniform measure",
    then: "USA produces negentropy at the rate `sum_k r_k |mu_k|^2`, which lies in `[0, (d-1) \
           e^beta]` and is zero only for the uniform density.",
    tested: "to `{ROUNDINGS} eps d` times the upper bound",
    numbers: &[
        ("ROUNDINGS", ROUNDINGS),
        ("HARMONICS", HARMONICS as f64),
        ("LARGEST_BETA", LARGEST_BETA),
        ("CIRCLE", NARROWEST.0),
        ("SPHERE", NARROWEST.1),
        ("CONTROL_BETA", CONTROL_BETA),
        ("CONTROL_SIZE", CONTROL_SIZE),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Range(2, 12),
        beta: Betas::Log(0.05, LARGEST_BETA),
        dynamics: &["usa"],
        laws: &[],
        draws: "a bump and {HARMONICS} harmonics",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`beta <= {LARGEST_BETA}` (above, rates at `d = 12` are below the rounding error of \
               `e^beta`); a bump of concentration up to {CIRCLE} `(d = 2)` or {SPHERE} `(d >= 3)`, \
               and up to {HARMONICS} harmonics (zonal for `d >= 3`)",
    source: "derived",
    trials: (16, 150),
    trial: |case, ctx| {
        // A narrow bump of nearly all mass comes near the upper bound.
        let mass = 1.0 - ctx.log_uniform_in(1e-3, 1.0);
        // Values of a zonal density come from sums of harmonics, so their rounding error is that of
        // the largest value: narrower bumps would need a larger tolerance.
        let narrowest = if case.d == 2 { NARROWEST.0 } else { NARROWEST.1 };
        let kappa = ctx.log_uniform_in(0.1, narrowest);
        let at = if case.d == 2 { ctx.uniform_in(0.0, 6.0) } else { 0.0 };
        let raw = ctx.normals(2 * HARMONICS);
        let total: f64 = raw.iter().map(|v| v.abs()).sum::<f64>().max(f64::MIN_POSITIVE);
        // The total amplitude of the waves is at most 0.95 of the background, so the density stays
        // positive.
        let wave = |k: usize, which: usize| {
            format!("{}={:e}", k + 1, 0.95 * (1.0 - mass) * raw[2 * k + which] / total)
        };
        let line =
            |which: usize| (0..HARMONICS).map(|k| wave(k, which)).collect::<Vec<_>>().join(",");
        let sines = if case.d == 2 { format!("+sin:{}", line(1)) } else { String::new() };
        production_bounds(
            case,
            ctx,
            &format!("vmf:kappa={kappa},at={at},mass={}+cos:{}{sines}", mass.max(1e-9), line(0)),
        )
    },
    constant: "the growth rates `r_k`",
    control: Control {
        what: "`beta = {CONTROL_BETA}` and the density `1 + {CONTROL_SIZE} cos 2 theta`",
        trial: |ctx| {
            let case = Case::new(1, 2, CONTROL_BETA, "usa");
            production_bounds(&case, ctx, &format!("cos:2={CONTROL_SIZE}"))
        },
    },
    ..Claim::INEQUALITY
};

fn production_bounds(case: &Case, ctx: &mut Context, text: &str) -> Result<Finding> {
    let density = Density::parse(text)?;
    let medium = MeasureDynamics::new("usa", case.beta, 0.0)?;
    // The sum of squares of the harmonics of each degree.
    let (rate, squares): (f64, Vec<f64>) = if case.d == 2 {
        let rho = Circle::from_density(&density, 64)?;
        (rho.negentropy_rate(&medium)?, rho.c.iter().map(|c| 2.0 * c.norm_sqr()).collect())
    } else {
        let rho = Zonal::from_density(&density, case.d, 40)?;
        (rho.negentropy_rate(&medium)?, rho.b.iter().map(|b| b * b).collect())
    };
    let growth = rates_usa(case.d, case.beta.abs(), squares.len() - 1, TimeScale::U1, 2)?;
    let sum: f64 = growth.iter().zip(&squares).map(|(r, s)| r * s).sum();
    let bound = (case.d as f64 - 1.0) * case.beta.abs().exp();
    let rounding = ROUNDINGS * f64::EPSILON * case.d as f64;
    let between = Finding::nonnegative(rate, sum)
        .with_evaluation_error(rounding * bound / sum)
        .and(Finding::at_most(rate, bound).with_evaluation_error(rounding));
    let stated = ctx.claimed_constant(sum);
    Ok(between.and(Finding::identity((rate - stated).abs(), rounding * bound)))
}
