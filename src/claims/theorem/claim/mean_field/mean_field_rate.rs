//! The rate at which particles approach the mean field.

use crate::continuity::transport::w1;
use crate::theorem::prelude::*;

const LARGEST_A: f64 = 0.9;
const DRAWN: (usize, usize) = (12, 96);
const DRAWS: (usize, usize) = (240, 120);
const DRAWN_ERROR: f64 = 0.1;
const QUANTILES: (usize, usize) = (64, 512);
const QUANTILE_ERROR: f64 = 0.05;

/// The order of the Wasserstein distance for random starts and for starts at quantiles.
///
/// # Derivation
///
/// `W1` of two measures that USA moves grows at most like `e^{2 m t}` (`dobrushin`; SA has another
/// constant), so at a fixed time it is at most a constant times its value at 0.
///
/// For `n` iid draws on the circle, a space of dimension 1, that value has a mean of the order
/// `n^{-1/2}` (Fournier, Guillin 2015). From below, the mean of any Lipschitz function after the
/// flow is, to first order, that of another smooth function at 0, whose fluctuations are of the
/// exact order `n^{-1/2}`. Both orders agree, so the slope is -1/2.
///
/// The quantiles `(i - 1/2)/n` are within `1/(2n)` in mass of their density, so W1 at 0 is at most
/// of the order `1/n`. From below, the distance of `n` atoms from a positive density on the circle
/// is at least of the order `1/n`. So `c/n <= W1 <= C/n`, and the slope tends to -1.
pub static ENTRY: Claim = Claim {
    name: "mean-field-rate",
    title: "W1 between `n` particles and the mean field decreases like `n^{-1/2}` from random \
            starts and like `1/n` from quantiles",
    lets: "`n` tokens start from the density proportional to `1 + a cos theta`, `0 <= a <= \
           {LARGEST_A}`, on the circle: as iid draws or at the quantiles `(i - 1/2)/n`",
    then: "At `t = 1` (SA) or `t = e^{-beta}` (USA), the slope of `log W1` between the tokens and \
           the mean field as a function of `log n` tends to -1/2 for the mean of W1 over iid \
           draws, and to -1 for quantiles.",
    tested: "between `n = {FEW}` and {MANY} for iid draws, to {DRAWN_ERROR} (means over \
             {DRAWS_OF_FEW} and {DRAWS_OF_MANY} draws, whose slope has a standard error of 0.018); \
             between `n = {FEW_QUANTILES}` and {MANY_QUANTILES} for quantiles, to {QUANTILE_ERROR}",
    numbers: &[
        ("LARGEST_A", LARGEST_A),
        ("FEW", DRAWN.0 as f64),
        ("MANY", DRAWN.1 as f64),
        ("DRAWN_ERROR", DRAWN_ERROR),
        ("DRAWS_OF_FEW", DRAWS.0 as f64),
        ("DRAWS_OF_MANY", DRAWS.1 as f64),
        ("FEW_QUANTILES", QUANTILES.0 as f64),
        ("MANY_QUANTILES", QUANTILES.1 as f64),
        ("QUANTILE_ERROR", QUANTILE_ERROR),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 5.0),
        laws: &[],
        draws: "a of the density",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`d = 2`, densities `1 + a cos theta` (the orders are derived, the tolerances at \
               these `n` are observed)",
    source: "arXiv:2312.10794, Remark 3.3; Fournier, Guillin 2015 for the sampling rate",
    trials: (2, 16),
    trial: |case, ctx| {
        let a = ctx.uniform_in(0.0, LARGEST_A);
        let limit = MeanFieldLimit::new(case, a)?;
        Ok(quantiles(&limit, case, ctx, -1.0)?.and(random(&limit, case, ctx, -0.5)?))
    },
    constant: "the exponents",
    control: Control {
        what: "the slope -1/2 of random starts for quantiles",
        trial: |ctx| {
            let case = Case::new(1, 2, 1.0, "usa");
            quantiles(&MeanFieldLimit::new(&case, 0.5)?, &case, ctx, -0.5)
        },
    },
    ..Claim::LAW
};

/// The distribution function of `1 + a cos theta` inverted by Newton's method.
fn quantile(a: f64, level: f64) -> f64 {
    let mut t = TAU * level;
    for _ in 0..100 {
        t -= (t + a * t.sin() - TAU * level) / (1.0 + a * t.cos());
    }
    t
}

/// The mean field at the end of the experiment.
struct MeanFieldLimit {
    a: f64,
    t: f64,
    end: Circle,
}

impl MeanFieldLimit {
    /// From `1 + a cos theta`. **Errors** a mean field that is not resolved.
    fn new(case: &Case, a: f64) -> Result<Self> {
        let t = (-case.row_weights()?.log_consensus_row_sum(case.beta)).exp();
        let start = Circle::from_density(&Density::parse(&format!("cos:1={a:e}"))?, 64)?;
        let end = start
            .evolve(&MeasureDynamics::new(case.dynamics, case.beta, 0.0)?, t, 1024, |_, _| true)?
            .reached()?;
        Ok(Self { a, t, end })
    }

    /// W1 between the particles at these levels of the distribution function and the mean field on
    /// `cells` finite volumes. The volumes must be finer than the spacing of the particles if this
    /// affects the result.
    fn distance(
        &self,
        case: &Case,
        ctx: &mut Context,
        levels: &[f64],
        cells: usize,
    ) -> Result<f64> {
        let start =
            Tokens::from_angles(&levels.iter().map(|l| quantile(self.a, *l)).collect::<Vec<_>>())?;
        let flow = build_dynamics(case.dynamics, case.beta, levels.len())?;
        // W1 is at least 1e-3: a tolerance of 1e-6 is far below.
        let x = ctx.flow_to_with_tolerance(&flow, &start, self.t, 1e3)?;
        Ok(w1(&x.angles(), &self.end, cells))
    }
}

fn random(limit: &MeanFieldLimit, case: &Case, ctx: &mut Context, slope: f64) -> Result<Finding> {
    let mut mean = |n: usize, draws: usize| -> Result<(f64, f64)> {
        let mut found = Vec::with_capacity(draws);
        for _ in 0..draws {
            let levels: Vec<f64> = (0..n).map(|_| ctx.method_rng().uniform()).collect();
            found.push(limit.distance(case, ctx, &levels, 2_000)?);
        }
        Ok(mean_and_error(&found))
    };
    let ((few, e1), (many, e2)) = (mean(DRAWN.0, DRAWS.0)?, mean(DRAWN.1, DRAWS.1)?);
    let ratio = ((DRAWN.1 / DRAWN.0) as f64).ln();
    let error = (e1 / few).hypot(e2 / many) / ratio;
    let found = (many / few).ln() / ratio;
    Ok(Finding::law(found, ctx.claimed_constant(slope), DRAWN_ERROR, error))
}

fn quantiles(
    limit: &MeanFieldLimit,
    case: &Case,
    ctx: &mut Context,
    slope: f64,
) -> Result<Finding> {
    let mut distance = |n: usize| {
        let levels: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
        limit.distance(case, ctx, &levels, 200 * n)
    };
    let ratio = ((QUANTILES.1 / QUANTILES.0) as f64).ln();
    let found = (distance(QUANTILES.1)? / distance(QUANTILES.0)?).ln() / ratio;
    Ok(Finding::law(found, ctx.claimed_constant(slope), QUANTILE_ERROR, 0.0))
}
