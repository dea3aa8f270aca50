//! Tokens on the circle keep their cyclic order.

use crate::theorem::prelude::*;

const LONGEST: f64 = 3.0;
const TOLERANCE: f64 = 2e-12;
const SMALL_GAP: f64 = 1e-4;
const GAP_ERROR: f64 = 1e-6;
const CONTROL: [f64; 3] = [0.0, 1.2, 1.15];
const CONTROL_BETA: f64 = 1.0;

/// False for causal masks, under which each token has its own field.
///
/// # Derivation
///
/// SA and USA without a mask move all tokens by one vector field of the circle,
/// `theta' = X(theta, mu)`, whose solutions are unique: tokens cannot pass each other. Under a
/// causal mask each token has its own field, and they can.
///
/// Let `phi` be the angle from a point to a token, and let `E`, Var and Cov refer to the row of
/// weights at this point. The field of SA is `E sin(phi)`. A move of the point changes `phi` by -1
/// and the logits `beta cos(phi)` by `beta sin(phi)`, so its derivative is `beta Var(sin phi) - E
/// cos(phi) >= -1`, and for `beta < 0` at least `-1 - |beta|`. That of USA is `sum m e^{beta cos
/// phi} (beta sin^2(phi) - cos(phi)) >= -e^{|beta|}`: for `b > 0` the function `(cos - b sin^2)
/// e^{b cos} = (1/b) sum k^2 I_k(b) cos(k phi)` has its largest absolute value `e^b` at `phi = 0`;
/// the replacement of `b` by `-b` shifts it by `pi` and changes its sign. The difference of two
/// `neighbours'` velocities is the integral of this derivative over their gap, so `gap' >= -rate *
/// gap`. For `beta >= 0` the rate is that of consensus, near which gaps close as fast; for `beta <
/// 0` consensus closes at the smaller rates 1 (SA) and `e^{-|beta|}` (USA), and the bounds are not
/// claimed to be sharp.
pub static ENTRY: Claim = Claim {
    name: "cyclic-order",
    title: "Cyclic order on the circle is preserved",
    then: "Under SA and USA on the circle, the lifted angles keep their cyclic order, and `gap(t) \
           >= gap(0) e^{-rate t}` for every gap between neighbours, with `rate = 1 + max(-beta, \
           0)` for SA and `rate = e^|beta|` for USA (U1). For `beta >= 0` this is the rate at \
           which gaps close near consensus.",
    tested: "at a random time up to {LONGEST}/rate, to {TOLERANCE}; for `beta >= 0` the gap of two \
             tokens at the distance `{SMALL_GAP}/sqrt(1 + beta)` is that of the rate to \
             {GAP_ERROR}",
    numbers: &[
        ("LONGEST", LONGEST),
        ("TOLERANCE", TOLERANCE),
        ("SMALL_GAP", SMALL_GAP),
        ("GAP_ERROR", GAP_ERROR),
        ("FIRST", CONTROL[0]),
        ("SECOND", CONTROL[1]),
        ("THIRD", CONTROL[2]),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(1, 64),
        d: Sizes::Fixed(2),
        dynamics: &["sa", "usa"],
        corners: &[(8, 2, 0.0), (5, 2, 2.0), (16, 2, 12.0)],
        ..Domain::SYMMETRY
    },
    narrower: "`Q = K = V = I`",
    source: "derived",
    trials: (40, 250),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        let found = gap_margin(case, ctx, &x)?;
        Ok(if case.beta < 0.0 { found } else { found.and(near_consensus(case, ctx)?) })
    },
    constant: "the rate",
    control: Control {
        what: "causal SA from ({FIRST}, {SECOND}, {THIRD}), `beta = {CONTROL_BETA}`",
        trial: |ctx| {
            let case = Case::new(3, 2, CONTROL_BETA, "causal-sa");
            gap_margin(&case, ctx, &Tokens::from_angles(&CONTROL)?)
        },
    },
    ..Claim::INEQUALITY
};

/// The smallest distance of a gap from its bound, at a random time up to 3 / rate.
fn gap_margin(case: &Case, ctx: &mut Context, x: &Tokens) -> Result<Finding> {
    let rate = match case.row_weights()? {
        RowWeights::Exponential => case.beta.abs().exp(),
        RowWeights::Softmax | RowWeights::Sinkhorn => 1.0 + (-case.beta).max(0.0),
    };
    let t = ctx.uniform_in(0.0, LONGEST) / rate;
    let stated = ctx.claimed_constant(rate);
    let end = ctx.flow_to_with_tolerance(&case.build()?, x, t, SYMMETRY_TOLERANCE)?;
    let angles = x.angles();
    let mut order: Vec<usize> = (0..case.n).collect();
    order.sort_by(|&a, &b| angles[a].total_cmp(&angles[b]));
    let (before, after) = (lifted_gaps(x, &order), lifted_gaps(&end, &order));
    let margins = before
        .iter()
        .zip(after)
        .map(|(b, a)| Finding::at_least(a + TOLERANCE, b * (-stated * t).exp()));
    Ok(margins.reduce(Finding::and).unwrap_or(Finding::HypothesesMissed))
}

/// The gap of two close tokens after a random time up to 2/rate: it closes at the rate.
fn near_consensus(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let (gap, times) = (SMALL_GAP / (1.0 + case.beta).sqrt(), ctx.uniform_in(0.5, 2.0));
    let rate = if case.row_weights()? == RowWeights::Exponential { case.beta.exp() } else { 1.0 };
    let x = Tokens::from_angles(&[gap, 0.0])?;
    let pair = Case::new(2, 2, case.beta, case.dynamics);
    let end = ctx.flow_to_with_tolerance(&pair.build()?, &x, times / rate, SYMMETRY_TOLERANCE)?;
    let left = dist(end.row(0), end.row(1)) / gap;
    Ok(Finding::identity((left / (-times).exp() - 1.0).abs(), GAP_ERROR))
}

/// Gaps between neighbours in the cyclic order. All but the last lie in `(-pi, pi]`; their sum is 2
/// pi.
fn lifted_gaps(x: &Tokens, order: &[usize]) -> Vec<f64> {
    let n = order.len();
    let gap = |k: usize| {
        let (a, b) = (x.row(order[k]), x.row(order[(k + 1) % n]));
        (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
    };
    let mut gaps: Vec<f64> = (0..n).map(gap).collect();
    if gaps.iter().sum::<f64>() < PI {
        let widest = (0..n).min_by(|a, b| gaps[*a].total_cmp(&gaps[*b])).unwrap_or(0);
        gaps[widest] += TAU;
    }
    gaps
}
