//! Random values: antipodal groups that stay antipodal.

use super::setting::LAYERS;
use crate::attention::random_values::RandomValues;
use crate::theorem::prelude::*;

const LEAST_SHARE: f64 = 0.1;
const PAIRS_OF_LAYERS: usize = 4000;
/// Step of a layer. The mean over V and -V has no odd powers of the step.
const ETA: f64 = 0.02;
const ERRORS: f64 = 4.0;
const PERCENT: f64 = 1.0;

/// Two groups of many tokens are equivalent to two tokens with masses.
///
/// # Derivation
///
/// At `x` and `-x` with masses `p` and `1 - p` the softmax means are `A x` and `-B x`, `A = (p
/// e^beta - (1-p) e^{-beta})/(p e^beta + (1-p) e^{-beta})`, `B` the same with `p` and `1 - p`
/// exchanged. One layer moves the first group along `x + eta A V x`, the second along `-(x + eta B
/// V x)`: with `w = P V x`, a normal tangent vector of variance `1/d`, `|x+ + y+|^2 = eta^2 (A -
/// B)^2 |w|^2` to leading order, and `1 + <x+, y+>` is half of it, in the mean `eta^2 (A - B)^2
/// (d-1)/(2d)`. It vanishes iff `A = B`, that is `p = 1/2`: unequal groups do not stay opposite,
/// for any `beta`, so all tokens end together or in two equal groups. The next order has the mean 0
/// in `+V` and `-V` and then `eta^4`. `A - B` is `2 e^{-2 beta} (p/(1-p) - (1-p)/p)` for large
/// `beta`: there unequal groups stay nearly opposite for a long time, which looks like a limit.
pub static ENTRY: Claim = Claim {
    name: "random-value-groups",
    title: "Random values: antipodal groups stay antipodal iff they have equal masses",
    lets: "groups of masses `p` in [1/{PARTS}, {MOST_PARTS}/{PARTS}] and `1 - p` be at `x` and `y \
           = -x`, and let one layer map them to `N(x_i + eta V m_i)`, where `V` has independent \
           normal entries of variance `1/d` and `m_i` is the softmax mean; let `A = (p e^beta - \
           (1-p) e^{-beta})/(p e^beta + (1-p) e^{-beta})`, and `B` the same with `p` and `1 - p` \
           exchanged",
    then: "To leading order in `eta`, `1 + <x, y>` becomes `eta^2 (A - B)^2 (d-1)/(2d)` in the \
           mean. This is 0 iff `p = 1/2`, and then the groups stay opposite exactly.",
    tested: "with {PAIRS_OF_LAYERS} pairs of layers `+V` and `-V` at `eta = 1/{STEPS}`, to \
             {ERRORS} standard errors plus {PERCENT} %; in one of four cases with `p = 1/2`, to \
             rounding",
    numbers: &[
        ("PARTS", 1.0 / LEAST_SHARE),
        ("MOST_PARTS", 1.0 / LEAST_SHARE - 1.0),
        ("PAIRS_OF_LAYERS", PAIRS_OF_LAYERS as f64),
        ("STEPS", 1.0 / ETA),
        ("ERRORS", ERRORS),
        ("PERCENT", PERCENT),
    ],
    domain: Domain { beta: Betas::Linear(0.0, 2.0), ..LAYERS },
    source: "derived; arXiv:2601.21942 (abstract: antipodal groups of many tokens)",
    trials: (8, 60),
    trial: |case, ctx| {
        let share = ctx.uniform_in(LEAST_SHARE, 1.0 - LEAST_SHARE);
        let share = if ctx.index(4) == 0 { 0.5 } else { share };
        opening_rate(case, ctx, share, share)
    },
    constant: "the change",
    control: Control {
        what: "groups of mass 1/2 against the formula for masses 3/10 and 7/10",
        trial: |ctx| opening_rate(&Case::new(2, 3, 1.0, ""), ctx, 0.5, 0.3),
    },
    ..Claim::LAW
};

fn opening_rate(case: &Case, ctx: &mut Context, share: f64, of: f64) -> Result<Finding> {
    let d = case.d;
    let mut start = vec![0.0; 2 * d];
    (start[0], start[d]) = (1.0, -1.0);
    let (x, layer) = (
        Tokens::new(d, start)?.with_masses(&[share, 1.0 - share])?,
        RandomValues::new(case.beta, ETA)?,
    );
    let mut normals = vec![0.0; 2 * d];
    let changes: Vec<f64> = (0..PAIRS_OF_LAYERS)
        .map(|_| {
            ctx.method_rng().normals(&mut normals);
            let mut opened = || {
                let mut next = x.clone();
                layer.apply_with_normals(&mut next, &normals);
                normals.iter_mut().for_each(|g| *g = -*g);
                let sum: Vec<f64> =
                    next.row(0).iter().zip(next.row(1)).map(|(a, b)| a + b).collect();
                0.5 * dot(&sum, &sum)
            };
            0.5 * (opened() + opened()) / (ETA * ETA)
        })
        .collect();
    let (found, error) = mean_and_error(&changes);
    let alone = |p: f64| {
        let (here, there) = (p * case.beta.exp(), (1.0 - p) * (-case.beta).exp());
        (here - there) / (here + there)
    };
    let size = (alone(of) - alone(1.0 - of)).powi(2) * (d as f64 - 1.0) / (2.0 * d as f64);
    // Means that are equal up to rounding give the square of a difference of 1e-16/eta.
    let allowed = ERRORS * error + PERCENT / 100.0 * size + 1e-25;
    Ok(Finding::law(found, ctx.claimed_constant(size), allowed, 0.0))
}
