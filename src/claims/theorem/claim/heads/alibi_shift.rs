//! ALiBi depends only on distances.

use super::super::trained::block_collapse::{heads, tokens};
use crate::attention::pattern::{Alibi, FullAttention, Pattern};
use crate::theorem::prelude::*;
use crate::transformer::positions::sinusoidal;

/// Exact to the last bit, since distances are integers.
///
/// # Derivation
///
/// The bias `-m_h |i - j|` does not change if i and j both increase by c.
pub static ENTRY: Claim = Claim {
    name: "alibi-shift",
    title: "ALiBi: a shift of all positions does not change the output, bit for bit",
    then: "Attention under the slopes of ALiBi does not change in any bit if all positions \
           increase by c, 1 <= c <= 10000.",
    domain: Domain { laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights, two heads",
    source: "Press, Smith and Lewis 2022 (arXiv:2108.12409)",
    trials: (8, 60),
    trial: |case, ctx| changed(case, ctx, true),
    control: Control {
        what: "sinusoidal positions added to the tokens",
        trial: |ctx| changed(&Case::new(6, 4, 1.0, "sa"), ctx, false),
    },
    ..Claim::IDENTITY
};

/// The pattern for positions that begin at `first`.
struct Shifted {
    of: Alibi,
    first: usize,
}

impl Pattern for Shifted {
    fn bias(&self, head: usize, i: usize, j: usize) -> f64 {
        self.of.bias(head, self.first + i, self.first + j)
    }
}

fn changed(case: &Case, ctx: &mut Context, alibi: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut of = heads(ctx, d, 1.0, Arc::new(FullAttention))?;
    let (x, c) = (tokens(ctx, n, d), 1 + ctx.index(10_000));
    let mut at = |first: usize| {
        let mut x = x.clone();
        if alibi {
            of.pattern = Arc::new(Shifted { of: Alibi::new(2)?, first });
        } else {
            x.chunks_exact_mut(d).enumerate().for_each(|(i, row)| {
                row.iter_mut().zip(sinusoidal((first + i) as f64, d)).for_each(|(x, p)| *x += p);
            });
        }
        of.attend(&x, &x, false).map(|s| s.out)
    };
    let bits = at(0)?.iter().zip(&at(c)?).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    Ok(Finding::identity(bits as f64, 0.5))
}
