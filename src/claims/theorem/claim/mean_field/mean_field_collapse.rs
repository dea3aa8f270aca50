//! Small |beta|: the measure collapses to a point, at a known rate.

use crate::continuity::zonal_lagrangian::ZonalLagrangian;
use crate::theorem::prelude::*;

const SLOPES: (f64, f64) = (0.2, 0.9);
const LEAST_C: f64 = -1.0;
const C_PER_SLOPE: f64 = 1.2;
const C_PER_DIMENSION: f64 = 0.3;
const LEAST_MEAN: f64 = 0.05;
const LENGTH: f64 = 0.5;
const STEP: f64 = 0.5;
const WINDOW: (f64, f64) = (6.0, 9.0);
const TOLERANCE: f64 = 0.1;
const LARGEST_D: usize = 6;
const LARGEST_BETA: f64 = 0.2;

/// The density near the antipode of the limit point determines the rate.
///
/// # Derivation
///
/// Near the limit point distances shrink like `e^{-p t}`, `p = e^beta`. Near its antipode they grow
/// like `e^{e^{-beta} t}`, so if the density is `~ phi^{-c}` there, the mass `e^{-2 q t}`, `q =
/// (d - 1 - c) e^{-beta}/2`, is still there at time `t`. `W_2^2` is the integral over the mass that
/// left at a time `s` and has contracted since, `int e^{-2 q s - 2 p (t - s)} ds`: so the rate of
/// `W_2` is `min(p, q)`, minus `1/(2 t)` if `p = q` `(d = 3, beta = 0)`. Square-integrable
/// densities have `c < (d-1)/2`: so no rate above `(d-1) e^{-beta}/4` holds for all of them.
pub static ENTRY: Claim = Claim {
    name: "mean-field-collapse",
    title: "Small `|beta|`: USA collapses a density that is ~ `phi^{-c}` at the antipode to a \
            point, with W2 decaying at the rate `min(e^beta, (d-1-c) e^{-beta}/2)`",
    lets: "a density is proportional to `(1 + a x_1) sin^{-c}(phi/2)`, where `phi` is the angle \
           from `-e_1`, with `c <= {C_PER_DIMENSION} (d-1)` and a mean of at least `{LEAST_MEAN} \
           e_1`, and let `t_0` be the time at which the mean has length 1/{LENGTH_PARTS}",
    then: "W2 to the limit point decays exponentially at the rate `min(e^beta, (d-1-c) \
           e^{-beta}/2)`.",
    tested: "by the mean rate from `t_0 + {FROM}` to `t_0 + {UNTIL}`, to 1/{PARTS} (if the two \
             rates coincide, log({UNTIL}/{FROM})/{TWICE_SPAN} of the difference is due to \
             resonance)",
    numbers: &[
        ("C_PER_DIMENSION", C_PER_DIMENSION),
        ("LEAST_MEAN", LEAST_MEAN),
        ("LENGTH_PARTS", 1.0 / LENGTH),
        ("FROM", WINDOW.0),
        ("UNTIL", WINDOW.1),
        ("TWICE_SPAN", 2.0 * (WINDOW.1 - WINDOW.0)),
        ("PARTS", 1.0 / TOLERANCE),
        ("LEAST_SLOPE", SLOPES.0),
        ("MOST_SLOPE", SLOPES.1),
        ("LEAST_C", LEAST_C),
        ("C_PER_SLOPE", C_PER_SLOPE),
        ("LARGEST_D", LARGEST_D as f64),
        ("LARGEST_BETA", LARGEST_BETA),
        ("STEP_PARTS", 1.0 / STEP),
    ],
    domain: DOMAIN,
    narrower: "`{LEAST_SLOPE} <= a <= {MOST_SLOPE}`, `{LEAST_C} <= c <= {C_PER_SLOPE} a`, `2 <= d \
               <= {LARGEST_D}`, `|beta| <= {LARGEST_BETA}` (the source has every density in L2 \
               with mean not 0, and does not print `beta_0`); `t_0` rounded up to a multiple of \
               1/{STEP_PARTS}. The rate is derived to leading order, the time window and the \
               tolerance are chosen from measurements",
    source: "derived to leading order, the decay at this rate observed; arXiv:2504.14697 (the rate \
             1/100 for every such density, with a beta_0 that depends on the density)",
    status: Status::Observation,
    trials: (7, 40),
    trial: |case, ctx| {
        let mut draw = || {
            let (a, c) = (ctx.uniform_in(SLOPES.0, SLOPES.1), ctx.uniform_in(LEAST_C, 1.0));
            let most = (C_PER_SLOPE * a).min(C_PER_DIMENSION * (case.d as f64 - 1.0));
            let c = if c < 0.0 { c } else { c * most };
            (c, cells(case.d, a, c))
        };
        let Some((c, start)) =
            (0..DRAWS).map(|_| draw()).find(|(_, start)| start.axis_mean() >= LEAST_MEAN)
        else {
            return Ok(Finding::HypothesesMissed);
        };
        let expected = ctx.claimed_constant(nan_min(
            case.beta.exp(),
            0.5 * (case.d as f64 - 1.0 - c) * (-case.beta).exp(),
        ));
        let medium = MeasureDynamics::new("usa", case.beta, 0.0)?;
        Ok(Finding::at_most(
            (rate(at_half_length(start, &medium)?, &medium, WINDOW.0, WINDOW.1)? - expected).abs(),
            TOLERANCE,
        ))
    },
    constant: "the rate",
    control: Control {
        what: "two atoms of masses 2/3 and 1/3 at opposite points instead of a density",
        trial: |_| {
            let theta = vec![0.0, PI];
            let start = ZonalLagrangian {
                d: 3,
                theta,
                masses: vec![2.0 / 3.0, 1.0 / 3.0],
                log_density: vec![0.0; 2],
            };
            Ok(Finding::at_most(
                (rate(start, &MeasureDynamics::new("usa", 0.1, 0.0)?, WINDOW.0, WINDOW.1)?
                    - (-0.1f64).exp())
                .abs(),
                TOLERANCE,
            ))
        },
    },
    ..Claim::INEQUALITY
};

/// About half of the drawn densities have a long enough mean.
const DRAWS: usize = 10;

const DOMAIN: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::Range(2, LARGEST_D),
    beta: Betas::Linear(-LARGEST_BETA, LARGEST_BETA),
    dynamics: &["usa"],
    laws: &[],
    draws: "a density of this family",
    corners: &[(2, 3, 0.0), (2, 4, 0.2)],
    ..Domain::EQUAL_MASSES
};

/// Rings for `(1 + a cos theta) sin^{-c}(phi/2)`, `phi = pi - theta`: equal widths, refined
/// geometrically towards the antipode, where mass remains for long. At the end mass comes from
/// angles of about `e^{-12}`, and the smallest ring is at 1e-8.
fn cells(d: usize, a: f64, c: f64) -> ZonalLagrangian {
    let even = (0..14).map(|j| PI - 0.2 * f64::from(j));
    let edges: Vec<f64> = even.chain((0..31).map(|j| 0.3 * 0.56f64.powi(j))).collect();
    let mut out =
        ZonalLagrangian { d, theta: Vec::new(), masses: Vec::new(), log_density: Vec::new() };
    for pair in edges.windows(2) {
        let phi = 0.5 * (pair[0] + pair[1]);
        let density = (1.0 - a * phi.cos()) * (0.5 * phi).sin().powf(-c);
        out.theta.push(PI - phi);
        out.masses.push(density * phi.sin().powi(d as i32 - 2) * (pair[0] - pair[1]));
        out.log_density.push(density.ln());
    }
    let total: f64 = out.masses.iter().sum();
    divide(&mut out.masses, total);
    out
}

fn evolve(r: ZonalLagrangian, medium: &MeasureDynamics, t: f64) -> Result<ZonalLagrangian> {
    r.evolve_with_tolerances(medium, t, (1e-8, 1e-10), |_, _| true)?.reached()
}

/// The state at the time t_0 when the mean has length 1/2, rounded up to a multiple of 1/2.
fn at_half_length(mut r: ZonalLagrangian, medium: &MeasureDynamics) -> Result<ZonalLagrangian> {
    for _ in 0..200 {
        if r.axis_mean() >= LENGTH {
            return Ok(r);
        }
        r = evolve(r, medium, STEP)?;
    }
    Err(Error::Numerical { what: "the mean has not reached 1/2 at t = 100".into() })
}

/// Mean rate of `log W_2` to the pole between two times.
fn rate(start: ZonalLagrangian, medium: &MeasureDynamics, from: f64, to: f64) -> Result<f64> {
    let spread = |r: &ZonalLagrangian| {
        0.5 * r.masses.iter().zip(&r.theta).map(|(m, t)| m * t * t).sum::<f64>().ln()
    };
    let middle = evolve(start, medium, from)?;
    let before = spread(&middle);
    Ok((before - spread(&evolve(middle, medium, to - from)?)) / (to - from))
}
