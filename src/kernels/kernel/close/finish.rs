//! Closing a panel from where its sums are: nothing is stored between sum and velocity.

use crate::kernel::close::sums::is_doubtful;
use crate::kernel::job::Ending;
use crate::kernel::tiles::panels::{TokenPanel, groups, rest};
use crate::num::simd::{Lanes, Task};
use crate::sphere::Tokens;

/// Velocities or fields from the sums `sum_j m_j w_ij x_j` of one panel.
pub struct Finish<'a> {
    pub panel: &'a TokenPanel<f64>,
    /// Holds more sums of the same rows.
    pub partial: Option<&'a TokenPanel<f64>>,
    pub tokens: &'a Tokens,
    pub ending: &'a Ending,
    /// See [`Sums::bounds`](crate::kernel::sums::Sums).
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
        // Nobody asks how long a field is.
        if self.ending.sigma.is_some() { self.rows::<L, false>(l) } else { self.rows::<L, true>(l) }
    }
}

impl Finish<'_> {
    /// As many rows at a time as lanes: what reduces a row then reduces all of them at once.
    #[inline(always)]
    fn rows<L: Lanes<F = f64>, const PROJECT: bool>(self, l: L) {
        let Self { panel, partial, tokens, ending, bounds, out, doubtful } = self;
        let (d, unit) = (tokens.d(), tokens.uniform_mass().unwrap_or(1.0));
        for (group, out) in out[..panel.len * d].chunks_mut(L::WIDTH * d).enumerate() {
            let first = group * L::WIDTH;
            let some = Rows { panel, partial, first, x: &tokens.coordinates()[(panel.start + first) * d..][..out.len()], d };
            let mass = partial.map_or(panel.masses(l, group), |partial| l.add(panel.masses(l, group), partial.masses(l, group)));
            // Both in units of mass.
            let (mut back, mut longest) = ([0.0; 8], [l.zero(); 8]);
            if PROJECT {
                let mut sums = [l.zero(); 8];
                some.each(l, Along(&mut sums));
                l.store(l.sub(l.zero(), l.sums(&sums)), &mut back);
            }
            let mut masses = [0.0; 8];
            l.store(mass, &mut masses);
            let scale = if ending.softmax { l.div(l.splat(ending.factors[0]), mass) } else { l.splat(ending.factors[0] * unit) };
            let mut factors = [0.0; 8];
            l.store(scale, &mut factors);
            some.each(l, Write::<L, PROJECT> { back: &back, factors: &factors, second: ending.factors[1], longest: &mut longest, out, d });
            for (r, longest) in longest.iter().enumerate().take(some.x.len() / d) {
                let longest = if PROJECT { unit * l.largest(*longest) } else { 0.0 };
                if is_doubtful(ending, bounds, unit * masses[r], longest) {
                    doubtful.push(panel.start + first + r);
                }
            }
        }
    }
}

/// Some rows of a panel.
struct Rows<'a> {
    panel: &'a TokenPanel<f64>,
    partial: Option<&'a TokenPanel<f64>>,
    first: usize,
    /// The tokens.
    x: &'a [f64],
    d: usize,
}

/// What is done with some vectors of a row.
trait Part<L: Lanes> {
    /// For V vectors of row `r` from coordinate `at` on: the token and its sums.
    fn part<const V: usize>(&mut self, l: L, r: usize, at: usize, x: [L::V; V], s: &[L::V; V]);
}

impl Rows<'_> {
    /// All of the rows, by groups of vectors.
    #[inline(always)]
    fn each<L: Lanes<F = f64>>(&self, l: L, mut work: impl Part<L>) {
        for (first, take) in groups::<L>(self.d) {
            match take {
                3 => self.group::<L, 3>(l, first, &mut work),
                2 => self.group::<L, 2>(l, first, &mut work),
                _ => self.group::<L, 1>(l, first, &mut work),
            }
        }
    }

    #[inline(always)]
    fn group<L: Lanes<F = f64>, const V: usize>(&self, l: L, first: usize, work: &mut impl Part<L>) {
        let start = first * self.panel.m.len() + self.first * V;
        let sums = L::view(&self.panel.drift)[start..].as_chunks::<V>().0;
        let more = self.partial.map(|partial| L::view(&partial.drift)[start..].as_chunks::<V>().0);
        for (r, (row, s)) in self.x.chunks_exact(self.d).zip(sums).enumerate() {
            let (mut x, mut s) = ([l.zero(); V], *s);
            for v in 0..V {
                let part = &row[(first + v) * L::WIDTH..];
                x[v] = if part.len() < L::WIDTH { rest(l, part) } else { l.load(part) };
                if let Some(more) = more {
                    s[v] = l.add(s[v], more[r][v]);
                }
            }
            work.part(l, r, first * L::WIDTH, x, &s);
        }
    }
}

/// `<x, s>`, by lanes.
struct Along<'a, L: Lanes>(&'a mut [L::V; 8]);

impl<L: Lanes<F = f64>> Part<L> for Along<'_, L> {
    #[inline(always)]
    fn part<const V: usize>(&mut self, l: L, r: usize, _: usize, x: [L::V; V], s: &[L::V; V]) {
        let mut sum = self.0[r];
        for v in 0..V {
            sum = l.fma(x[v], s[v], sum);
        }
        self.0[r] = sum;
    }
}

/// Writes `(s + back x) factor second`; the largest entries before the factors, where rows are projected.
struct Write<'a, L: Lanes, const PROJECT: bool> {
    back: &'a [f64; 8],
    factors: &'a [f64; 8],
    second: f64,
    longest: &'a mut [L::V; 8],
    out: &'a mut [f64],
    d: usize,
}

impl<L: Lanes<F = f64>, const PROJECT: bool> Part<L> for Write<'_, L, PROJECT> {
    #[inline(always)]
    fn part<const V: usize>(&mut self, l: L, r: usize, at: usize, x: [L::V; V], s: &[L::V; V]) {
        let out = &mut self.out[r * self.d..][..self.d];
        let (back, factor, second) = (l.splat(self.back[r]), l.splat(self.factors[r]), l.splat(self.second));
        let mut longest = self.longest[r];
        for v in 0..V {
            let mut u = s[v];
            if PROJECT {
                u = l.fma(back, x[v], u);
                longest = l.max(longest, l.max(u, l.sub(l.zero(), u)));
            }
            let u = l.mul(l.mul(u, factor), second);
            let out = &mut out[at + v * L::WIDTH..];
            if out.len() < L::WIDTH {
                let mut numbers = [0.0; 8];
                l.store(u, &mut numbers);
                out.copy_from_slice(&numbers[..out.len()]);
            } else {
                l.store(u, out);
            }
        }
        self.longest[r] = longest;
    }
}
