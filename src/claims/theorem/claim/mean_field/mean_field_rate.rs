//! The rate at which particles approach the mean field.

use crate::continuity::transport::w1;
use crate::theorem::prelude::*;

/// The order of the Wasserstein distance for random starts and for starts at quantiles.
///
/// # Derivation
///
/// `W1` of two measures that USA moves grows at most like `e^{2 m t}` (`dobrushin`; SA has another
/// constant), so at a fixed time it is at most a constant times its value at 0.
///
/// For n iid draws on the circle, a space of dimension 1, that value has a mean of the order
/// `n^{-1/2}` (Fournier, Guillin 2015). From below, the mean of any Lipschitz function after the
/// flow is, to first order, that of another smooth function at 0, whose fluctuations are of the
/// exact order `n^{-1/2}`. Both orders agree, so the slope is -1/2.
///
/// The quantiles (i - 1/2)/n are within 1/(2n) in mass of their density, so W1 at 0 is at most of
/// the order 1/n. From below, the distance of n atoms from a positive density on the circle is at
/// least of the order 1/n. So `c/n <= W1 <= C/n`, and the slope tends to -1.
pub static ENTRY: Claim = Claim {
    name: "mean-field-rate",
    title: "W1 between n particles and the mean field decreases like n^{-1/2} from random starts \
            and like 1/n from quantiles",
    lets: "n tokens start from the density proportional to 1 + a cos theta, 0 <= a <= 0.9, on the \
           circle: as iid draws or at the quantiles (i - 1/2)/n",
    then: "At t = 1 (SA) or t = e^{-beta} (USA), the slope of log W1 between the tokens and the \
           mean field as a function of log n tends to -1/2 for the mean of W1 over iid draws, and \
           to -1 for quantiles.",
    tested: "between n = 12 and 96 for iid draws, to 0.1 (means over 240 and 120 draws, whose \
             slope has a standard error of 0.018); between n = 64 and 512 for quantiles, to 0.05",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Log(0.1, 5.0),
        laws: &[],
        draws: "a of the density",
        ..Domain::EQUAL_MASSES
    },
    narrower: "d = 2, densities 1 + a cos theta (the orders are derived, the tolerances at these n \
               are observed)",
    source: "arXiv:2312.10794, Remark 3.3; Fournier, Guillin 2015 for the sampling rate",
    trials: (2, 16),
    trial: |case, ctx| {
        let a = ctx.uniform_in(0.0, 0.9);
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
    let ((few, e1), (many, e2)) = (mean(12, 240)?, mean(96, 120)?);
    let error = (e1 / few).hypot(e2 / many) / 8f64.ln();
    Ok(Finding::law((many / few).ln() / 8f64.ln(), ctx.claimed_constant(slope), 0.1, error))
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
    let found = (distance(512)? / distance(64)?).ln() / 8f64.ln();
    Ok(Finding::law(found, ctx.claimed_constant(slope), 0.05, 0.0))
}
