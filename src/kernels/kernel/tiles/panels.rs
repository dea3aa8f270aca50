//! Tokens in panels, for tiles that go through memory. A panel is stored both by vectors of tokens
//! and by vectors of coordinates, so that every inner loop reads consecutive cache lines.

use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::tile::{self, load, store};
use crate::sphere::Tokens;
use rayon::prelude::*;

/// Consecutive tokens, in both layouts.
#[derive(Default)]
pub struct TokenPanel {
    pub start: usize,
    pub len: usize,
    /// Coordinates in slabs: for every vector of tokens, one vector per coordinate.
    pub columns: AlignedVec<f64>,
    /// `x_j`, or `m_j x_j`, in slabs: for every group of vectors of coordinates (see [`groups`]),
    /// the coordinates of every token.
    pub terms: AlignedVec<f64>,
    /// Masses, 0 for padding.
    pub m: AlignedVec<f64>,
    /// `sum_j m_j w_ij x_j`, in slabs.
    pub drift: AlignedVec<f64>,
    /// `sum_j m_j w_ij`.
    pub mass: AlignedVec<f64>,
    /// Weights of the current tile.
    pub tile: AlignedVec<f64>,
    /// Signs of the current tile, for differences.
    pub signs: AlignedVec<f64>,
    /// Per row, a vector of partial sums of its weights, over the tiles whose rows belong to this
    /// panel.
    pub row_weight_sums: AlignedVec<f64>,
}

/// All panels of a system.
#[derive(Default)]
pub struct Panels {
    pub d: usize,
    pub cap: usize,
    pub list: Vec<TokenPanel>,
}

impl Panels {
    /// Fills the panels with rows in the shape of the tokens (the tokens, or vectors at them), in
    /// parallel if allowed.
    pub fn load(&mut self, source: &PanelSource, (count, cap): (usize, usize), parallel: bool) {
        let (n, d, isa) = (source.tokens.n(), source.tokens.d(), source.isa);
        (self.d, self.cap) = (d, cap);
        self.list.resize_with(count, TokenPanel::default);
        let fill = |(b, panel): (usize, &mut TokenPanel)| {
            panel.start = (b * cap).min(n);
            panel.len = ((b + 1) * cap).min(n) - panel.start;
            isa.run(LoadPanel { panel, source, cap });
        };
        if parallel {
            self.list.par_iter_mut().enumerate().for_each(fill);
        } else {
            self.list.iter_mut().enumerate().for_each(fill);
        }
    }

    /// Writes all sums, multiplied by the unit of mass.
    pub fn store(
        &self,
        isa: Isa,
        tokens: &Tokens,
        (drift, mass): (&mut [f64], &mut [f64]),
        parallel: bool,
    ) {
        let store = |(panel, (drift, mass)): (&TokenPanel, (&mut [f64], &mut [f64]))| {
            isa.run(StoreSums {
                panel,
                totals: panel,
                tokens,
                rows: tokens.coordinates(),
                sigma: 0.0,
                drift,
                mass,
            });
        };
        // Empty panels are last.
        if parallel {
            let parts = drift.par_chunks_mut(self.cap * self.d).zip(mass.par_chunks_mut(self.cap));
            self.list[..parts.len()].par_iter().zip(parts).for_each(store);
        } else {
            self.list
                .iter()
                .zip(drift.chunks_mut(self.cap * self.d).zip(mass.chunks_mut(self.cap)))
                .for_each(store);
        }
    }

    /// Visits every panel with itself and every pair of panels once, the later panel first.
    pub fn for_each_pair(
        &mut self,
        parallel: bool,
        own: impl Fn(&mut TokenPanel) + Sync,
        pair: impl Fn(&mut TokenPanel, &mut TokenPanel) + Sync,
    ) {
        crate::kernel::tiles::blocks::for_each_pair(
            &mut self.list,
            parallel,
            own,
            |a: &mut TokenPanel, b: &mut TokenPanel| {
                if b.len > 0 {
                    pair(b, a);
                }
            },
        );
    }
}

/// Data from which panels are filled.
pub struct PanelSource<'a> {
    pub isa: Isa,
    /// Rows in the shape of the tokens.
    pub rows: &'a [f64],
    pub tokens: &'a Tokens,
    /// True: multiply the terms by the masses.
    pub weighted: bool,
}

/// First vector and number of vectors of each group of coordinates that fits the registers.
#[inline(always)]
pub fn groups<L: SimdOps>(d: usize) -> impl Iterator<Item = (usize, usize)> {
    tile::groups(d.div_ceil(L::WIDTH), tile::max_group_len(L::WIDE))
}

/// Fills one panel, for a known vector width.
struct LoadPanel<'a> {
    panel: &'a mut TokenPanel,
    source: &'a PanelSource<'a>,
    cap: usize,
}

impl SimdKernel for LoadPanel<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { panel: p, source, cap } = self;
        let (d, width, tokens) = (source.tokens.d(), L::WIDTH, source.tokens);
        let (masses, uniform) = (tokens.masses(), tokens.uniform_mass().is_some());
        let size = d.next_multiple_of(width) * cap;
        for (buffer, size) in [
            (&mut p.drift, size),
            (&mut p.mass, cap),
            (&mut p.m, cap),
            (&mut p.row_weight_sums, cap * width),
        ] {
            buffer.reset(size);
        }
        for (buffer, size) in [(&mut p.columns, cap * d), (&mut p.terms, size)] {
            buffer.resize(size);
            if p.len < cap {
                buffer.fill(0.0);
            }
        }
        let rows = &source.rows[p.start * d..(p.start + p.len) * d];
        for j in 0..p.len {
            p.m[j] = if uniform { 1.0 } else { masses[p.start + j] };
        }
        for (first, take) in groups::<L>(d) {
            let terms = &mut L::view_mut(&mut p.terms)[first * cap..(first + take) * cap];
            for (j, (row, terms)) in
                rows.chunks_exact(d).zip(terms.chunks_exact_mut(take)).enumerate()
            {
                let factor = l.splat(if source.weighted { p.m[j] } else { 1.0 });
                for (k, term) in terms.iter_mut().enumerate() {
                    let part = &row[(first + k) * width..];
                    *term = l.mul(factor, load(l, part));
                }
            }
        }
        for (part_rows, slab) in rows.chunks(width * d).zip(p.columns.chunks_exact_mut(width * d)) {
            tile::fill(l, part_rows, d, L::view_mut(slab));
        }
    }
}

/// Writes `unit s - sigma z x` and `z` of one panel, for a known vector width.
pub struct StoreSums<'a> {
    /// Holds the sums s.
    pub panel: &'a TokenPanel,
    /// Holds the sums z, in units of mass.
    pub totals: &'a TokenPanel,
    pub tokens: &'a Tokens,
    /// The rows x.
    pub rows: &'a [f64],
    pub sigma: f64,
    /// From the first token of the panel on.
    pub drift: &'a mut [f64],
    /// From the first token of the panel on.
    pub mass: &'a mut [f64],
}

impl SimdKernel for StoreSums<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { panel: p, totals, tokens, rows, sigma, drift, mass } = self;
        let (d, width, unit) = (tokens.d(), L::WIDTH, tokens.uniform_mass().unwrap_or(1.0));
        let rows = &rows[p.start * d..(p.start + p.len) * d];
        for (j, mass) in mass[..p.len].iter_mut().enumerate() {
            *mass = unit * totals.total(l, j);
        }
        for (first, take) in groups::<L>(d) {
            let sums = L::view(&p.drift)[first * p.m.len()..].chunks_exact(take);
            for (((sums, drift), x), mass) in
                sums.zip(drift.chunks_exact_mut(d)).zip(rows.chunks_exact(d)).zip(&*mass)
            {
                let (unit, factor) = (l.constant(unit), l.constant(-sigma * mass));
                for (k, sum) in sums.iter().enumerate() {
                    let (x, drift) = (&x[(first + k) * width..], &mut drift[(first + k) * width..]);
                    store(l, l.fma(factor, load(l, x), l.mul(unit, *sum)), drift);
                }
            }
        }
    }
}

impl TokenPanel {
    /// Sum of the weights of row j, without the unit of mass.
    #[inline(always)]
    pub fn total<L: SimdOps<F = f64>>(&self, l: L, j: usize) -> f64 {
        self.mass[j] + l.sum(L::view(&self.row_weight_sums)[j])
    }
}
