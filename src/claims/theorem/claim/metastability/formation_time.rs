//! The time in which clusters form.

use crate::theorem::prelude::*;
use crate::theory::growth::{self, fastest_mode};

const SIZES: (f64, f64) = (0.5, 2.5);
const LEVEL: f64 = 0.3;
const OTHERS: f64 = 0.05;
const PERCENT: f64 = 6.0;
const MODES: usize = 12;
const CONTROL_SIZE: f64 = 0.01;

/// # Derivation
///
/// The time `T` follows from linear growth; the accuracy of 6 % is observed, not proved. Mode `k`
/// of the uniform measure grows like `e^{r_k t}` with `r_k = k (k + d - 2) lambda_k/beta` (USA;
/// over `lambda_0` for SA), see `mode-growth`. So `|c_k(T)| = 0.3` at `T = log(0.3/|c_k(0)|)/r_k`.
/// The first correction comes from pairs of modes that add up to `k`: it is of the order of the
/// product of their amplitudes, hence the hypothesis that all others stay below 0.05. The term of
/// third order in `c_k` itself changes the rate only during the last fraction of `1/r_k`.
///
/// Without the hypotheses the linear law fails: a fastest mode that starts below `1/n` is driven by
/// the others, and modes that have grown to 0.18 by then change the time by up to 70 %. The
/// amplitudes are those of an iid sample (`n |c_j|^2` is exponential of mean 1), conditioned on the
/// hypotheses by inversion of the truncated law, so every draw meets them.
pub static ENTRY: Claim = Claim {
    name: "formation-time",
    title: "Clusters form after `log(0.3 / |c_k(0)|) / r_k`, about `log(n) / (2 r_max)`",
    lets: "the start have the fluctuations of `n` tokens in its twelve lowest modes, with `sqrt(n) \
           |c_j(0)|` at most {MOST_SIZE}, and at least {LEAST_SIZE} for the fastest mode `k`. Let \
           `T = log({LEVEL} / |c_k(0)|) / r_k` with the rate `r_k` of the linearised flow",
    then: "If `|c_j(0)| e^{r_j T} <= {OTHERS}` for all other modes, then `|c_k|` reaches {LEVEL} \
           at the time `T`, to {PERCENT} %.",
    numbers: &[
        ("LEAST_SIZE", SIZES.0),
        ("MOST_SIZE", SIZES.1),
        ("LEVEL", LEVEL),
        ("OTHERS", OTHERS),
        ("PERCENT", PERCENT),
        ("MODES", MODES as f64),
        ("CONTROL_SIZE", CONTROL_SIZE),
    ],
    domain: Domain {
        n: Sizes::Range(100_000, 100_000_000),
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.3, 12.0),
        laws: &[],
        draws: "sizes and phases of the modes",
        ..Domain::EQUAL_MASSES
    },
    narrower: "the continuity equation with modes 1 to {MODES} instead of `n` tokens",
    source: "arXiv:2410.23228 (linear phase); the accuracy is measured",
    status: Status::Observation,
    trials: (12, 120),
    trial: formation_time,
    constant: "the time `T`",
    control: Control {
        what: "half of the time `T`, from `1 + {CONTROL_SIZE} cos 3 theta`",
        trial: |_| {
            let case = Case::new(100_000, 2, 5.0, "usa");
            let (_, k) = rates(&case)?;
            let growth = 0.5 * (LEVEL / (0.5 * CONTROL_SIZE)).ln();
            deviation(&case, &format!("cos:3={CONTROL_SIZE}"), k, growth)
        },
    },
    ..Claim::LAW
};

fn rates(case: &Case) -> Result<(Vec<f64>, usize)> {
    let rates = growth::rates(case.row_weights()?, 2, case.beta, MODES, TimeScale::U1, 2)?;
    let fastest = fastest_mode(&rates);
    Ok((rates, fastest))
}

fn formation_time(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (rates, k) = rates(case)?;
    let size = (case.n as f64).sqrt().recip();
    // The root of an exponential variable of mean 1, conditioned to an interval by inversion.
    let mut amplitude = |low: f64, high: f64| {
        let (a, b) = ((-low * low).exp(), (-high * high).exp());
        (-(a - ctx.uniform_in(0.0, 1.0) * (a - b)).ln()).max(0.0).sqrt().clamp(low, high) * size
    };
    let first = amplitude(SIZES.0, SIZES.1);
    let log_growth = (LEVEL / first).ln();
    let sizes: Vec<f64> = (1..=MODES)
        .map(|j| {
            if j == k {
                first
            } else {
                let most = OTHERS * (-rates[j] / rates[k] * log_growth).exp() / size;
                amplitude(0.0, most.min(SIZES.1))
            }
        })
        .collect();
    let (mut cosines, mut sines) = (Vec::new(), Vec::new());
    for (j, r) in sizes.iter().enumerate() {
        // c_j = (a - i b)/2.
        let phase = TAU * ctx.uniform_in(0.0, 1.0);
        cosines.push(format!("{}={:e}", j + 1, 2.0 * r * phase.cos()));
        sines.push(format!("{}={:e}", j + 1, 2.0 * r * phase.sin()));
    }
    let growth = ctx.claimed_constant(log_growth);
    deviation(case, &format!("cos:{}+sin:{}", cosines.join(","), sines.join(",")), k, growth)
}

/// Compares the time at which mode k reaches 0.3 with `growth / r_k`.
fn deviation(case: &Case, text: &str, k: usize, growth: f64) -> Result<Finding> {
    let stated = growth / rates(case)?.0[k];
    let start = Circle::from_density(&Density::parse(text)?, 48)?;
    let most = 2.0 * (LEVEL / start.c[k].norm()).ln() / rates(case)?.0[k];
    let (mut before, mut reached) = ((0.0, start.c[k].norm()), None);
    let run = start.evolve(
        &MeasureDynamics::new(case.dynamics, case.beta, 0.0)?,
        most,
        512,
        |t, c| {
            let size = c.c[k].norm();
            if reached.is_none() && size >= LEVEL {
                // The mode grows exponentially within a step.
                reached = Some(
                    before.0 + (t - before.0) * (LEVEL / before.1).ln() / (size / before.1).ln(),
                );
            }
            before = (t, size);
            reached.is_none()
        },
    )?;
    match reached {
        Some(t) => Ok(Finding::law(t, stated, PERCENT / 100.0 * stated, 0.0)),
        None => Ok(Finding::Unfinished(format!(
            "the fastest mode did not reach {LEVEL}; the evolution ended {}",
            run.end().name()
        ))),
    }
}
