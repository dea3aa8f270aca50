//! Positions added to tokens: consensus is not stationary.

use crate::attention::{Input, OutputForm, Properties, Sublayer};
use crate::theorem::prelude::*;

/// With `y_i = x_i + p_i`, token i moves towards a mean of the `x + p_j`, whose tangent part at x
/// is that of a mean of the `p_j`.
///
/// # Derivation
///
/// At `x_i = x` the velocity is `P_x sum_j w_ij p_j`, which is 0 for all i only if all these means
/// are multiples of x. If all `p_j = p`, the velocity is `P_x p`, which vanishes at `x = +-p/|p|`
/// and nowhere else.
pub static ENTRY: Claim = Claim {
    name: "pe-breaks-consensus",
    title: "Vectors added to queries, keys and values: consensus is not stationary",
    lets: "x_i' = P_i sum_j softmax_j(beta <x_i + p_i, x_j + p_j>) (x_j + p_j) with p_i uniform \
           of length 1/2 and n = 8",
    then: "Consensus is not stationary.",
    tested: "as: at x_i = x, x uniform, some token has a speed of at least 1/100, in at least 90 \
             % of draws",
    domain: Domain {
        n: Sizes::Fixed(8),
        d: Sizes::Range(2, 6),
        beta: Betas::Linear(0.1, 4.0),
        dynamics: &["sa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "n = 8, |p_i| = 1/2; the speed is 0 with probability 0, and below 1/100 in 3 % of \
               draws at d = 2, beta = 1/10",
    source: "arXiv:2605.30229 (abstract: auxiliary variables); derived",
    status: Status::Observation,
    kind: Kind::Share(0.9),
    trials: (100, 400),
    trial: |case, ctx| {
        let p = ctx
            .tokens_with_law(case.n, case.d, "uniform")?
            .coordinates()
            .iter()
            .map(|v| 0.5 * v)
            .collect();
        let x = ctx.tokens_with_law(1, case.d, "uniform")?.coordinates().repeat(case.n);
        speed(case.beta, case.d, p, x)
    },
    control: Control {
        what: "the same p for all tokens, at x = p/|p|",
        trial: |ctx| {
            let x = ctx.tokens_with_law(1, 3, "uniform")?.coordinates().repeat(8);
            speed(1.0, 3, x.iter().map(|v| 0.5 * v).collect(), x)
        },
    },
    ..Claim::INEQUALITY
};

fn speed(beta: f64, d: usize, p: Vec<f64>, x: Vec<f64>) -> Result<Finding> {
    let v = Dynamics::single(Added { beta, p }).velocity(&Tokens::normalised(d, x)?);
    Ok(Finding::answer(v.chunks_exact(d).any(|v| norm(v) >= 0.01)))
}

/// SA of `y_i = x_i + p_i` with constant `p_i` (arXiv:2605.30229):
/// `x_i' = P sum_j softmax_j(beta <y_i, y_j>) y_j`. Consensus is not even stationary.
struct Added {
    beta: f64,
    p: Vec<f64>,
}

impl Sublayer for Added {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        let d = input.tokens.d();
        let y: Vec<f64> =
            input.tokens.coordinates().iter().zip(&self.p).map(|(x, p)| x + p).collect();
        for (yi, out) in y.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            let weights: Vec<f64> =
                y.chunks_exact(d).map(|yj| (self.beta * (dot(yi, yj) - 4.0)).exp()).collect();
            let total: f64 = weights.iter().sum();
            out.fill(0.0);
            y.chunks_exact(d)
                .zip(&weights)
                .for_each(|(y, w)| out.iter_mut().zip(y).for_each(|(o, y)| *o += w / total * y));
        }
        form.of_sums(input.tokens, out);
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn length_scale(&self) -> f64 {
        0.5
    }
}
