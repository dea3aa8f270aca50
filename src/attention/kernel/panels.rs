//! Tokens in panels for tiles that go through memory: by vectors of tokens and by vectors of coordinates, so that every inner loop reads
//! consecutive cache lines.

use super::workspace::Sums;
use crate::num::aligned::Aligned;
use crate::num::simd::Float;
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
    /// Fills the panels with tokens; `weighted` multiplies the slabs by the masses.
    #[inline(always)]
    pub fn load(&mut self, tokens: &Tokens, width: usize, weighted: bool, shape: (usize, usize)) {
        self.fill(tokens.coordinates(), tokens, width, weighted, shape);
    }

    /// Fills the panels with other rows of the tokens' shape (vectors at the tokens).
    pub fn load_rows(&mut self, rows: &[f64], tokens: &Tokens, width: usize, shape: (usize, usize)) {
        self.fill(rows, tokens, width, false, shape);
    }

    #[inline(always)]
    fn fill(&mut self, rows: &[f64], tokens: &Tokens, width: usize, weighted: bool, (count, cap): (usize, usize)) {
        let (n, d) = (tokens.n(), tokens.d());
        let masses = tokens.masses();
        let uniform = tokens.uniform_mass().is_some();
        (self.d, self.width, self.cap) = (d, width, cap);
        self.list.resize_with(count, Panel::default);
        let size = d.next_multiple_of(width) * cap;
        for (b, p) in self.list.iter_mut().enumerate() {
            p.start = (b * cap).min(n);
            p.len = ((b + 1) * cap).min(n) - p.start;
            let buffers = [&mut p.columns, &mut p.slabs, &mut p.m, &mut p.drift, &mut p.mass, &mut p.rows];
            for (buffer, size) in buffers.into_iter().zip([cap * d, size, cap, size, cap, cap * width]) {
                buffer.reset(size);
            }
            let rows = &rows[p.start * d..(p.start + p.len) * d];
            for (j, row) in rows.chunks_exact(d).enumerate() {
                let mass = if uniform { 1.0 } else { masses[p.start + j] };
                p.m[j] = F::of(mass);
                let factor = if weighted { mass } else { 1.0 };
                for (part, slab) in row.chunks(width).zip(p.slabs.chunks_exact_mut(cap * width)) {
                    slab[j * width..].iter_mut().zip(part).for_each(|(s, v)| *s = F::of(factor * v));
                }
            }
            for (some, slab) in rows.chunks(width * d).zip(p.columns.chunks_exact_mut(width * d)) {
                for (j, row) in some.chunks_exact(d).enumerate() {
                    row.iter().enumerate().for_each(|(k, v)| slab[k * width + j] = F::of(*v));
                }
            }
        }
    }

    /// Lets every panel meet itself and every other panel once, the later one first.
    pub fn meet(&mut self, parallel: bool, own: impl Fn(&mut Panel<F>) + Sync, pair: impl Fn(&mut Panel<F>, &mut Panel<F>) + Sync) {
        super::blocks::meet(&mut self.list, parallel, own, |a: &mut Panel<F>, b: &mut Panel<F>| {
            if a.len > 0 && b.len > 0 {
                if a.start < b.start { pair(b, a) } else { pair(a, b) }
            }
        });
    }

    /// Writes all sums in units of mass, less `sigma z_i x_i`.
    #[inline(always)]
    pub fn store(&self, tokens: &Tokens, sigma: f64, sums: &mut Sums) {
        let (d, cap, width) = (self.d, self.cap, self.width);
        let unit = tokens.uniform_mass().unwrap_or(1.0);
        for p in &self.list {
            for j in 0..p.len {
                let i = p.start + j;
                let led: f64 = p.rows[j * width..(j + 1) * width].iter().map(|w| w.to_f64()).sum();
                let mass = unit * (p.mass[j].to_f64() + led);
                sums.mass[i] = mass;
                let drift = &mut sums.drift[i * d..(i + 1) * d];
                let parts = drift.chunks_mut(width).zip(tokens.row(i).chunks(width));
                for ((out, x), slab) in parts.zip(p.drift.chunks_exact(cap * width)) {
                    for (o, (s, x)) in out.iter_mut().zip(slab[j * width..].iter().zip(x)) {
                        *o = unit * s.to_f64() - sigma * mass * x;
                    }
                }
            }
        }
    }
}
