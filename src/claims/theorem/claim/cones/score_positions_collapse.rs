//! Positions that enter only the scores do not keep tokens apart; positions added to tokens do.

use crate::attention::{
    Input, OutputForm, Properties, Sublayer,
    model::{Model, PatternSpec},
    pattern::Pairs,
};
use crate::theorem::prelude::*;

/// Weights stay positive and V = I, so caps are invariant and contract: the proof of cone collapse
/// holds for all positive weights.
///
/// # Derivation
///
/// Rotary positions rotate queries and keys, so scores stay in [-beta, beta]; ALiBi adds fixed
/// finite numbers. So all weights stay above some c > 0, and V = I. The proof of `cone-collapse`
/// needs only this: at a token on the edge of the smallest cap some j has `G_ij <= alpha`, and the
/// cosine alpha of the radius obeys `alpha' >= c alpha (1 - alpha)`.
pub static ENTRY: Claim = Claim {
    name: "score-positions-collapse",
    title: "Rotary positions and ALiBi: tokens in a hemisphere still collapse",
    then: "Under SA with V = I and rotary positions (base 100) or the slopes of ALiBi, tokens in \
           an open hemisphere converge to one point.",
    tested: "as: at t = 60 all inner products are within 1e-6 of 1",
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::List(&[2, 4]),
        beta: Betas::Linear(0.1, 2.0),
        dynamics: &["sa"],
        laws: &["cap:radius=1.2"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "beta <= 2, a cap of radius 1.2, Q = K = I; the convergence is derived, the time 60 \
               observed",
    source: "derived (arXiv:2312.10794, Theorem 6.3, for any positive weights)",
    trials: (8, 60),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        let pattern = if ctx.index(2) == 0 {
            PatternSpec::Alibi
        } else {
            PatternSpec::Rotary(100.0, Pairs::Adjacent)
        };
        let model = Model { patterns: vec![pattern], ..Model::default() };
        final_cosine(ctx, &model.build("sa", false, &Spec::new(case.beta, case.n), case.d)?, &x)
    },
    control: Control {
        what: "fixed vectors of length 1/2, added to the tokens in queries, keys and values",
        trial: |ctx| {
            let x = ctx.tokens(&Case::new(8, 3, 1.0, "sa").with_law("cap:radius=1.2"))?;
            let p = ctx
                .tokens_with_law(8, 3, "uniform")?
                .coordinates()
                .iter()
                .map(|v| 0.5 * v)
                .collect();
            final_cosine(ctx, &Dynamics::single(Added { beta: 1.0, p }), &x)
        },
    },
    ..Claim::INEQUALITY
};

fn final_cosine(ctx: &mut Context, dynamics: &Dynamics, x: &Tokens) -> Result<Finding> {
    let end = solve(
        dynamics,
        x,
        60.0,
        &Options { rtol: ctx.rtol(), merge_radius: 0.0, ..Options::default() },
        &mut [],
    )?;
    if !end.outcome.end_state_is_known() {
        return Err(Error::Numerical { what: end.outcome.to_string() });
    }
    let z = &end.clusters;
    let least = pairs(z.n()).map(|(i, j)| z.inner(i, j)).fold(1.0, f64::min);
    Ok(Finding::nonnegative(1e-6 - (1.0 - least), 1e-6).with_evaluation_error(1e-8))
}

/// SA of `y_i = x_i + p_i` with constant `p_i` (arXiv:2605.30229):
/// `x_i' = P sum_j softmax_j(beta <y_i, y_j>) y_j`. Consensus is not even stationary.
pub(crate) struct Added {
    pub beta: f64,
    pub p: Vec<f64>,
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
