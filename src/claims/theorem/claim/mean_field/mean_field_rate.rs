//! The rate at which particles approach the mean field, for random starts.

use crate::continuity::transport::w1;
use crate::theorem::prelude::*;

/// The Wasserstein distance is of the order `n^{-1/2}`.
///
/// # Derivation
///
/// `W1` of two measures that USA moves grows at most like `e^{2 m t}` (`dobrushin`; SA has another
/// constant), so at a fixed time it is at most a constant times its value at 0. For n iid draws on
/// the circle, a space of dimension 1, that value has a mean of the order `n^{-1/2}` (Fournier,
/// Guillin 2015). From below, the mean of any Lipschitz function after the flow is, to first order,
/// that of another smooth function at 0, whose fluctuations are of the exact order `n^{-1/2}`. Both
/// orders agree, so the slope is -1/2.
pub static ENTRY: Claim = Claim {
    name: "mean-field-rate",
    title: "E W1 between n random particles and the mean field decreases like n^{-1/2}",
    lets: "n iid tokens have the density proportional to 1 + a cos theta, 0 <= a <= 0.9, on the \
           circle",
    then: "At t = 1 (SA) or t = e^{-beta} (USA), log E W1 between the tokens and the mean field \
           is a linear function of log n with slope -1/2.",
    tested: "as: the slope between n = 12 and n = 192 is within 0.1 (means over 240 and 120 \
             draws; its standard error is 0.0125)",
    domain: DOMAIN,
    narrower: "d = 2, densities 1 + a cos theta (the order is derived, the tolerance 0.1 at n = \
               12..192 is measured)",
    source: "arXiv:2312.10794, Remark 3.3; Fournier, Guillin 2015 for the sampling rate",
    trials: (2, 12),
    trial: |case, ctx| {
        let a = ctx.uniform_in(0.0, 0.9);
        random(case, ctx, a, -0.5)
    },
    constant: "the exponent",
    control: Control {
        what: "the slope -1",
        trial: |ctx| random(&Case::new(1, 2, 1.0, "usa"), ctx, 0.5, -1.0),
    },
    ..Claim::LAW
};

/// Starts are drawn from a density; the trial chooses n.
pub const DOMAIN: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::Fixed(2),
    beta: Betas::Log(0.1, 5.0),
    ..Domain::EQUAL_MASSES
};

/// The distribution function of `1 + a cos theta` inverted by Newton's method.
pub fn quantile(a: f64, level: f64) -> f64 {
    let mut t = TAU * level;
    for _ in 0..100 {
        t -= (t + a * t.sin() - TAU * level) / (1.0 + a * t.cos());
    }
    t
}

/// The mean field at the end of the experiment.
pub struct MeanFieldLimit {
    a: f64,
    t: f64,
    end: Circle,
}

impl MeanFieldLimit {
    /// From `1 + a cos theta`. **Errors** a mean field that is not resolved.
    pub fn new(case: &Case, a: f64) -> Result<Self> {
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
    pub fn distance(
        &self,
        case: &Case,
        ctx: &mut Context,
        levels: &[f64],
        cells: usize,
    ) -> Result<f64> {
        let start =
            Tokens::from_angles(&levels.iter().map(|l| quantile(self.a, *l)).collect::<Vec<_>>())?;
        let flow = build_dynamics(case.dynamics, case.beta, levels.len())?;
        // W1 varies by a third from draw to draw: a tolerance of 1e-6 is far below.
        let x = ctx.flow_to_with_tolerance(&flow, &start, self.t, 1e3)?;
        Ok(w1(&x.angles(), &self.end, cells))
    }
}

fn random(case: &Case, ctx: &mut Context, a: f64, slope: f64) -> Result<Finding> {
    let experiment = MeanFieldLimit::new(case, a)?;
    let mut mean = |n: usize, draws: usize| -> Result<(f64, f64)> {
        let mut found = Vec::with_capacity(draws);
        for _ in 0..draws {
            let levels: Vec<f64> = (0..n).map(|_| ctx.method_rng().uniform()).collect();
            found.push(experiment.distance(case, ctx, &levels, 2_000)?);
        }
        Ok(mean_and_error(&found))
    };
    let ((few, e1), (many, e2)) = (mean(12, 240)?, mean(192, 120)?);
    let decades = 16f64.ln();
    let error = (e1 / few).hypot(e2 / many) / decades;
    Ok(Finding::law((many / few).ln() / decades, ctx.claimed_constant(slope), 0.1, error))
}
