//! The receptive field of each row of a map.

use crate::num::stats::nan_min;
use crate::recurrent::{MapSpec, NamedMap, ReceptiveField, lyapunov::mixing, map};
use crate::theorem::prelude::*;

/// In an MLP or a residual network a row depends only on itself, in a recurrent network and in
/// causal attention on earlier rows, and in attention on all rows after one layer.
///
/// # Derivation
///
/// The derivative of a layer has a block (i, j) only if row i is computed from row j, and blocks
/// multiply along paths of layers: a residual network has the diagonal, a cell that reads row after
/// row and a causal mask have j <= i, a window of three rows widens by one with every layer. Where
/// a path exists the block is a sum of products of normal matrices and slopes, zero on a set of
/// measure zero only.
pub static ENTRY: Claim = Claim {
    name: "mixing-structure",
    title: "Maps of rows: the receptive field of every row, exactly",
    then: "Every registered map with normal weights is applied with 1 to 3 layers to n normal \
           rows, with entries cut at 3. Row i depends on row j only if j = i (residual networks), \
           j <= i (recurrent networks and causal attention) or |i - j| <= L (convolutions of \
           width 3, L layers).",
    tested: "as: |d x_i(L)/d x_j(0)| is at most 1e-12 of the largest where row j is outside the \
             receptive field of row i, and above 1e-300 inside",
    domain: Domain::MAPS,
    source: "structure of the maps; path lengths in arXiv:1706.03762, table 1",
    trials: (24, 120),
    trial: |case, ctx| {
        let named = map::ALL[ctx.index(map::ALL.len())];
        structure(case, ctx, named, named.receptive_field)
    },
    control: Control {
        what: "full attention, compared with the receptive field of causal attention",
        trial: |ctx| {
            structure(
                &Case::new(4, 3, 0.0, "maps of rows"),
                ctx,
                map::find("attention")?,
                ReceptiveField::Before,
            )
        },
    },
    ..Claim::IDENTITY
};

/// Bound at which entries of rows are cut.
const MOST: f64 = 3.0;

fn structure(
    case: &Case,
    ctx: &mut Context,
    named: &NamedMap,
    field: ReceptiveField,
) -> Result<Finding> {
    let (n, d, layers) = (case.n, case.d, 1 + ctx.index(3));
    let x: Vec<f64> = ctx.normals(n * d).iter().map(|v| v.clamp(-MOST, MOST)).collect();
    let map = (named.build)(&MapSpec { n, d, layers, gain: 1.0, seed: ctx.seed() });
    let m = mixing(map.as_ref(), &x, d, layers);
    let pairs = |visible: bool| {
        m.iter()
            .enumerate()
            .filter(move |(k, _)| field.allows(layers, k / n, k % n) == visible)
            .map(|(_, v)| *v)
    };
    let (most, least) =
        (m.iter().copied().fold(0.0, nan_max), pairs(true).fold(f64::INFINITY, nan_min));
    let silent = Finding::identity(pairs(false).fold(0.0, nan_max), 1e-12 * most);
    // A dependence may be weak after saturated states; if entries were not cut, weights would
    // underflow to 0.
    Ok(silent.and(Finding::identity(1e-300, least.max(f64::MIN_POSITIVE))))
}
