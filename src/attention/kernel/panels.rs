//! Tokens in panels for tiles that go through memory: by vectors of tokens and by vectors of coordinates, so that every inner loop reads
//! consecutive cache lines.

use super::workspace::Sums;
use crate::num::aligned::Aligned;
use crate::num::simd::{Float, Lanes, Level, Task};
use crate::sphere::Tokens;

/// A run of consecutive tokens, by rows and by coordinates.
#[derive(Default)]
pub(super) struct Panel<F> {
    pub start: usize,
    pub len: usize,
    /// Coordinates in slabs: for every vector of tokens, one vector per coordinate.
    pub columns: Aligned<F>,
    /// `x_j`, or `m_j x_j`, in slabs: for every vector of coordinates, one vector per token.
    pub slabs: Aligned<F>,
    /// Masses, 0 for padding.
    pub m: Aligned<F>,
    /// `sum_j m_j w_ij x_j`, in slabs.
    pub drift: Aligned<F>,
    /// `sum_j m_j w_ij`.
    pub mass: Aligned<F>,
    /// Weights of the tile in work.
    pub tile: Aligned<F>,
    /// Signs of the tile in work, where differences need them.
    pub signs: Aligned<F>,
    /// One vector per row: the sums of its weights over the tiles it led.
    pub rows: Aligned<F>,
}

/// All panels of a system.
#[derive(Default)]
pub(super) struct Panels<F> {
    pub d: usize,
    pub width: usize,
    pub cap: usize,
    pub list: Vec<Panel<F>>,
}

impl<F: Float> Panels<F> {
    /// Fills the panels with rows of the tokens' shape (the tokens, or vectors at them), side by side when there are threads for it.
    pub fn load(&mut self, source: &Source, (count, cap): (usize, usize), parallel: bool) {
        (self.d, self.width, self.cap) = (source.tokens.d(), source.level.width::<F>(), cap);
        self.list.resize_with(count, Panel::default);
        let n = source.tokens.n();
        for (b, p) in self.list.iter_mut().enumerate() {
            p.start = (b * cap).min(n);
            p.len = ((b + 1) * cap).min(n) - p.start;
        }
        super::blocks::each(&mut self.list, parallel, &|panel: &mut Panel<F>| source.level.run(Load { panel, source, cap }));
    }

    /// Writes all sums in units of mass, less `sigma z_i x_i`.
    pub fn store(&self, level: Level, tokens: &Tokens, sigma: f64, sums: &mut Sums, parallel: bool) {
        let shared = Shared { level, tokens, sigma, d: self.d, cap: self.cap };
        store(&self.list, &shared, (&mut sums.drift, &mut sums.mass), parallel);
    }

    /// Lets every panel meet itself and every other panel once, the later one first.
    pub fn meet(&mut self, parallel: bool, own: impl Fn(&mut Panel<F>) + Sync, pair: impl Fn(&mut Panel<F>, &mut Panel<F>) + Sync) {
        super::blocks::meet(&mut self.list, parallel, own, |a: &mut Panel<F>, b: &mut Panel<F>| {
            if a.len > 0 && b.len > 0 {
                if a.start < b.start { pair(b, a) } else { pair(a, b) }
            }
        });
    }
}

/// What panels are filled with.
pub(super) struct Source<'a> {
    pub level: Level,
    /// Rows of the tokens' shape.
    pub rows: &'a [f64],
    pub tokens: &'a Tokens,
    /// Multiplies the slabs by the masses.
    pub weighted: bool,
}

/// What storing needs beside a panel.
struct Shared<'a> {
    level: Level,
    tokens: &'a Tokens,
    sigma: f64,
    d: usize,
    cap: usize,
}

/// The sums of some panels, in the halves in which they met.
fn store<F: Float>(list: &[Panel<F>], shared: &Shared, (drift, mass): (&mut [f64], &mut [f64]), parallel: bool) {
    match list {
        [] => {}
        [panel] => shared.level.run(Store { panel, shared, drift, mass }),
        _ => {
            let (a, b) = list.split_at(list.len() / 2);
            let middle = b[0].start - a[0].start;
            let ((d1, d2), (m1, m2)) = (drift.split_at_mut(middle * shared.d), mass.split_at_mut(middle));
            super::blocks::both(parallel, || store(a, shared, (d1, m1), parallel), || store(b, shared, (d2, m2), parallel));
        }
    }
}

/// Up to `width` rows of d numbers into d vectors: read along the rows eight numbers at a time, so that every line is touched once.
#[inline(always)]
fn transpose<F: Float>(rows: &[f64], out: &mut [F], d: usize, width: usize) {
    for first in (0..d).step_by(8) {
        let count = 8.min(d - first);
        for (j, row) in rows.chunks_exact(d).enumerate() {
            let row = &row[first..first + count];
            for (k, v) in row.iter().enumerate() {
                out[(first + k) * width + j] = F::of(*v);
            }
        }
    }
}

/// Loading one panel with the width of the vectors known.
struct Load<'a, F> {
    panel: &'a mut Panel<F>,
    source: &'a Source<'a>,
    cap: usize,
}

impl<F: Float> Task for Load<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, _: L) {
        let Self { panel: p, source, cap } = self;
        let (d, width, tokens) = (source.tokens.d(), L::WIDTH, source.tokens);
        let (masses, uniform) = (tokens.masses(), tokens.uniform_mass().is_some());
        let size = d.next_multiple_of(width) * cap;
        for (buffer, size) in [(&mut p.drift, size), (&mut p.mass, cap), (&mut p.m, cap), (&mut p.rows, cap * width)] {
            buffer.reset(size);
        }
        let full = p.len == cap && d.is_multiple_of(width);
        for (buffer, size) in [(&mut p.columns, cap * d), (&mut p.slabs, size)] {
            buffer.resize(size);
            if !full {
                buffer.fill(F::default());
            }
        }
        let rows = &source.rows[p.start * d..(p.start + p.len) * d];
        for (j, row) in rows.chunks_exact(d).enumerate() {
            let mass = if uniform { 1.0 } else { masses[p.start + j] };
            p.m[j] = F::of(mass);
            let factor = if source.weighted { mass } else { 1.0 };
            let parts = row.chunks_exact(width);
            let rest = parts.remainder();
            for (part, slab) in parts.zip(p.slabs.chunks_exact_mut(cap * width)) {
                let slab = &mut slab[j * width..][..width];
                slab.iter_mut().zip(part).for_each(|(s, v)| *s = F::of(factor * v));
            }
            if !rest.is_empty() {
                let slab = &mut p.slabs[(d / width * cap + j) * width..];
                slab.iter_mut().zip(rest).for_each(|(s, v)| *s = F::of(factor * v));
            }
        }
        for (some, slab) in rows.chunks(width * d).zip(p.columns.chunks_exact_mut(width * d)) {
            transpose(some, slab, d, width);
        }
    }
}

/// Storing one panel with the width of the vectors known.
struct Store<'a, F> {
    panel: &'a Panel<F>,
    shared: &'a Shared<'a>,
    /// From the first token of the panel on.
    drift: &'a mut [f64],
    mass: &'a mut [f64],
}

impl<F: Float> Task for Store<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, _: L) {
        let Self { panel: p, shared: &Shared { tokens, sigma, d, cap, .. }, drift, mass } = self;
        let (width, unit) = (L::WIDTH, tokens.uniform_mass().unwrap_or(1.0));
        for (j, drift) in drift.chunks_exact_mut(d).take(p.len).enumerate() {
            let led: f64 = p.rows[j * width..(j + 1) * width].iter().map(|w| w.to_f64()).sum();
            mass[j] = unit * (p.mass[j].to_f64() + led);
            let (x, factor) = (tokens.row(p.start + j), -sigma * mass[j]);
            let slab = |k: usize| &p.drift[(k * cap + j) * width..][..width];
            let whole = d - d % width;
            for (k, (o, x)) in drift[..whole].chunks_exact_mut(width).zip(x[..whole].chunks_exact(width)).enumerate() {
                o.iter_mut().zip(slab(k).iter().zip(x)).for_each(|(o, (s, x))| *o = unit * s.to_f64() + factor * x);
            }
            if whole < d {
                let rest = drift[whole..].iter_mut().zip(slab(d / width).iter().zip(&x[whole..]));
                rest.for_each(|(o, (s, x))| *o = unit * s.to_f64() + factor * x);
            }
        }
    }
}
