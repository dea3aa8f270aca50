//! Closing a panel from where its sums are: nothing is stored between sum and velocity.

use super::close::{Ending, is_doubtful};
use super::panels::{Panel, groups, rest};
use crate::num::simd::{Lanes, Task};
use crate::sphere::Tokens;

/// Velocities or fields from the sums `sum_j m_j w_ij x_j` of one panel.
pub(super) struct Finish<'a> {
    pub panel: &'a Panel<f64>,
    pub tokens: &'a Tokens,
    pub ending: &'a Ending,
    /// See [`super::workspace::Sums::bounds`].
    pub bounds: [f64; 3],
    /// Of the rows of the panel alone.
    pub out: &'a mut [f64],
    pub doubtful: &'a mut Vec<usize>,
}

impl Task for Finish<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { panel, tokens, ending, bounds, out, doubtful } = self;
        let (d, unit) = (tokens.d(), tokens.uniform_mass().unwrap_or(1.0));
        for (j, out) in out.chunks_exact_mut(d).enumerate().take(panel.len) {
            let row = Row { panel, j, x: tokens.row(panel.start + j) };
            let mass = unit * panel.total(l, j);
            // Fields keep what is along the token.
            let radial = if ending.sigma.is_some() { 0.0 } else { unit * row.radial(l) };
            let factor = if ending.softmax { ending.factors[0] / mass } else { ending.factors[0] };
            let longest = row.write(l, [unit, -radial, factor, ending.factors[1]], out);
            if is_doubtful(ending, bounds, mass, longest) {
                doubtful.push(panel.start + j);
            }
        }
    }
}

/// One row of a panel.
struct Row<'a> {
    panel: &'a Panel<f64>,
    j: usize,
    x: &'a [f64],
}

impl Row<'_> {
    /// Calls `work` with every vector of the row: where it begins, the token's, and the sum's.
    #[inline(always)]
    fn each<L: Lanes<F = f64>>(&self, l: L, mut work: impl FnMut(usize, L::V, L::V)) {
        let (sums, cap, d) = (L::view(&self.panel.drift), self.panel.m.len(), self.x.len());
        for (first, take) in groups::<L>(d) {
            let sums = &sums[first * cap + self.j * take..][..take];
            for (k, sum) in sums.iter().enumerate() {
                let at = (first + k) * L::WIDTH;
                let x = &self.x[at..];
                work(at, if x.len() < L::WIDTH { rest(l, x) } else { l.load(x) }, *sum);
            }
        }
    }

    /// `<x, s>`.
    #[inline(always)]
    fn radial<L: Lanes<F = f64>>(&self, l: L) -> f64 {
        // Two chains, by turns.
        let mut sums = [l.zero(); 2];
        self.each(
            l,
            #[inline(always)]
            |_, x, s| sums = [sums[1], l.fma(x, s, sums[0])],
        );
        l.sum(l.add(sums[0], sums[1]))
    }

    /// Writes `(unit s + back x) factor second` and returns the largest entry before the last two factors.
    #[inline(always)]
    fn write<L: Lanes<F = f64>>(&self, l: L, [unit, back, factor, second]: [f64; 4], out: &mut [f64]) -> f64 {
        let (unit, back, factor, second) = (l.splat(unit), l.splat(back), l.splat(factor), l.splat(second));
        let mut longest = l.zero();
        self.each(
            l,
            #[inline(always)]
            |at, x, s| {
                let v = l.fma(back, x, l.mul(unit, s));
                longest = l.max(longest, l.max(v, l.sub(l.zero(), v)));
                let v = l.mul(l.mul(v, factor), second);
                let out = &mut out[at..];
                if out.len() < L::WIDTH {
                    let mut numbers = [0.0; 8];
                    l.store(v, &mut numbers);
                    out.copy_from_slice(&numbers[..out.len()]);
                } else {
                    l.store(v, out);
                }
            },
        );
        l.largest(longest)
    }
}
