//! Dynamic metastability with explicit times.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::error::Result;
use crate::num::sum::dot;
use crate::sphere::{
    Tokens,
    geometry::{chord2, retract},
};

/// 2410.06833, main theorem, with its conditions corrected.
pub static ENTRY: Claim = Claim {
    name: "dynamic-metastability",
    title: "Separated tokens collapse within their caps and stay for e^{(1 - alpha) beta}",
    statement: "Tokens in two antipodal caps <x, w> >= 1 - eps that are (beta, eps)-separated: at T1 = 2n e^{8 eps beta} + e n lambda beta^2/(beta - 1) tokens of one cap satisfy \
                |x_i - x_j|^2 <= 2 e^{-lambda beta}, and all tokens are still in the caps 1 - 2 eps at t = min(T2, 1e5), T2 = (eps/n) e^{(1 - alpha) beta}.",
    hypotheses: "beta > 1, eps in (0, 1/16), gamma > 0, lambda below both bounds (signs corrected), T1 < T2",
    applies: |case| Constants::new(case).is_some_and(|c| c.t1 < c.t2),
    citation: "Geshkovski, Koubbi, Polyanskiy, Rigollet, arXiv:2410.06833, main theorem (condition (i) corrected)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(10, 2, 20.0, "sa"), Case::new(10, 3, 20.0, "sa"), Case::new(16, 5, 24.0, "sa"), Case::new(8, 2, 40.0, "sa")],
    quick: 3,
    trials: (3, 20),
    trial: |case, ctx| in_caps(case, ctx, 1.0),
    control: Control { what: "collapse demanded at T1 / 500", trial: |ctx| in_caps(&Case::new(10, 2, 20.0, "sa"), ctx, 1.0 / 500.0) },
};

const EPS: f64 = 0.01;
const LAMBDA: f64 = 1.0;

/// The constants of the theorem for two antipodal caps.
struct Constants {
    t1: f64,
    t2: f64,
}

impl Constants {
    /// `None` when a hypothesis fails.
    fn new(case: &Case) -> Option<Self> {
        let (n, beta) = (case.n as f64, case.beta);
        // Caps 1 - 2 eps have geodesic radius arccos(1 - 2 eps); the nearest points of two antipodal ones are pi - 2r apart.
        let radius = (1.0 - 2.0 * EPS).acos();
        let alpha = (std::f64::consts::PI - 2.0 * radius).cos();
        let gamma = 1.0 - alpha - 8.0 * EPS - (2.0 * n * n / EPS).ln() / beta;
        let first =
            ((1.0 - alpha) * beta).exp() * (beta - 1.0) * EPS / (beta * beta * n * n * std::f64::consts::E) * (1.0 - (-gamma * beta).exp());
        let second = 1.0 - alpha - (2.0 * n * n / (1.0 - 8.0 * EPS)).ln() / beta - 8.0 * EPS;
        (beta > 1.0 && gamma > 0.0 && LAMBDA < first && LAMBDA < second).then(|| Self {
            t1: 2.0 * n * (8.0 * EPS * beta).exp() + std::f64::consts::E * n * LAMBDA * beta * beta / (beta - 1.0),
            t2: EPS / n * ((1.0 - alpha) * beta).exp(),
        })
    }
}

/// Tokens at random in the two caps, alternately.
fn start(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    let mut x = vec![0.0; case.n * case.d];
    for (i, row) in x.chunks_exact_mut(case.d).enumerate() {
        let height = 1.0 - EPS * ctx.stream.uniform();
        ctx.stream.normals(&mut row[1..]);
        let side = dot(&row[1..], &row[1..]).sqrt();
        let spread = (1.0 - height * height).sqrt() / side;
        row[1..].iter_mut().for_each(|v| *v *= spread);
        row[0] = if i % 2 == 0 { height } else { -height };
        retract(row);
    }
    Tokens::new(case.d, x)
}

fn in_caps(case: &Case, ctx: &mut Context, speed_up: f64) -> Result<Finding> {
    let Some(c) = Constants::new(case) else { return Ok(Finding::Missed) };
    let x = start(case, ctx)?;
    let flow = case.build()?;
    let collapsed = flowed(flow.as_ref(), &x, c.t1 * speed_up, ctx.rtol)?;
    let bound = 2.0 * (-LAMBDA * case.beta).exp();
    let same = |i: &usize, j: &usize| (i + j).is_multiple_of(2);
    let spread = (0..case.n)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .filter(|(i, j)| same(i, j))
        .map(|(i, j)| chord2(collapsed.row(i), collapsed.row(j)));
    let spread = spread.fold(0.0, f64::max);
    let late = flowed(flow.as_ref(), &collapsed, (c.t2.min(1e5) - c.t1).max(0.0), ctx.rtol)?;
    let height = late.rows().map(|r| r[0].abs()).fold(1.0, f64::min);
    Ok(Finding::exact((1.0 - spread / bound).min((height - (1.0 - 2.0 * EPS)) / EPS)))
}
