//! Sums over pairs with any weight `phi(<x_i, x_j>)`, by chords and differences of every pair.
//!
//! As in [`super::direct`], the weight is evaluated at half the squared chord, the drift adds `w
//! (x_j - s x_i)` with `s = 1` for near and `s = -1` for far tokens, and a pair is evaluated once
//! for both tokens. For d = 2, 3, 4 all coordinates are in registers, above that the tile goes
//! through memory.

use super::direct_large_d::differences;
use crate::head::Head;
use crate::kernel::epilogue::apply_epilogue;
use crate::kernel::flagged_rows::FlaggedRows;
use crate::kernel::limits::MIN_PARALLEL_WORK;
use crate::kernel::pair_series::PairSeries;
use crate::kernel::problem::{KernelProblem, OutputForm, Weights};
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::{Block, Blocks, layout};
use crate::kernel::tiles::chord::{causal_mask_column, causal_mask_row};
use crate::kernel::tiles::panels::{PanelSource, Panels, TokenPanel};
use crate::kernel::workspace::Workspace;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::threads::enter_pool;
use crate::num::vector::scale;
use crate::sphere::Tokens;

/// The sums of plain attention with a weight of any form, for tokens on the sphere.
#[derive(Clone, Copy)]
pub struct AnyWeight<'a> {
    /// The weight at half a squared chord.
    pub series: &'a PairSeries,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// True: divide by the sum of the weights of the row.
    pub normalised: bool,
    /// +1 attracts, -1 repels.
    pub sign: f64,
    /// Instruction set.
    pub isa: Isa,
}

static IDENTITY: [Head; 1] = [Head::identity()];

/// Squared chords are at most 4: with this threshold no token is far.
const NEVER: f64 = 16.0;

#[derive(Default)]
struct Buffers {
    blocks: Blocks,
    panels: Panels,
    sums: Sums,
    flagged: FlaggedRows,
    /// Drifts where only masses are wanted.
    drift: Vec<f64>,
}

impl AnyWeight<'_> {
    /// Writes `sum_j m_j w_ij x_j` in the given form, n x d. Rows whose weights sum to 0 are 0 if
    /// normalised. The order of every sum depends on n and d only.
    ///
    /// **Cost** `n^2/2` weights and about `3 n^2 d` operations.
    pub fn apply(self, x: &Tokens, form: OutputForm, work: &mut Workspace, out: &mut [f64]) {
        let (n, d) = (x.n(), x.d());
        enter_pool(n * n * d >= MIN_PARALLEL_WORK, || {
            let problem = &self.problem(x, form);
            let buffers: &mut Buffers = work.buffers();
            self.sums(problem, buffers, out);
            let Buffers { sums, flagged, .. } = buffers;
            flagged.rows.clear();
            let factor = if self.normalised { 1.0 } else { self.series.factor };
            if form == OutputForm::Difference {
                for (row, mass) in out.chunks_exact_mut(d).zip(&sums.mass) {
                    scale(self.sign * if self.normalised { 1.0 / mass } else { factor }, row);
                }
            } else {
                apply_epilogue(problem, sums, out, flagged);
                if !self.normalised {
                    scale(factor, out);
                }
            }
            if self.normalised {
                let rows = out.chunks_exact_mut(d).zip(&sums.mass);
                rows.filter(|(_, mass)| **mass == 0.0).for_each(|(row, _)| row.fill(0.0));
            }
        });
    }

    /// Writes the sums of the weights of every row, `sum_j m_j w_ij`, to `masses`.
    ///
    /// **Cost** as [`AnyWeight::apply`]. **Accuracy** a few units in the last place of the largest
    /// weight, or of the mass if the weights are held by their logarithm.
    pub fn row_masses(self, x: &Tokens, work: &mut Workspace, masses: &mut [f64]) {
        let (n, d) = (x.n(), x.d());
        enter_pool(n * n * d >= MIN_PARALLEL_WORK, || {
            let problem = &self.problem(x, OutputForm::Tangent);
            let buffers: &mut Buffers = work.buffers();
            let mut drift = std::mem::take(&mut buffers.drift);
            drift.resize(n * d, 0.0);
            self.sums(problem, buffers, &mut drift);
            buffers.drift = drift;
            masses.copy_from_slice(&buffers.sums.mass);
            scale(self.series.factor, masses);
        });
    }

    pub(in crate::kernel) fn problem<'a>(
        &self,
        tokens: &'a Tokens,
        form: OutputForm,
    ) -> KernelProblem<'a> {
        let weights = match self.normalised {
            true => Weights::Softmax,
            false => Weights::Exponential { log_factor: 0.0 },
        };
        let Self { causal, sign, isa, .. } = *self;
        KernelProblem {
            tokens,
            form,
            heads: &IDENTITY,
            beta: 0.0,
            causal,
            weights,
            sign,
            two_sided: form == OutputForm::Tangent,
            isa,
            accuracy: 1.0,
        }
    }

    /// Writes the drifts to `out` and the sums of the weights to the buffers.
    fn sums(&self, problem: &KernelProblem, buffers: &mut Buffers, out: &mut [f64]) {
        let Buffers { blocks, panels, sums, .. } = buffers;
        sums.reset(problem);
        sums.floor = f64::NEG_INFINITY;
        let (tokens, d) = (problem.tokens, problem.tokens.d());
        let far = if problem.two_sided { 2.0 } else { NEVER };
        let &Self { series, causal, isa, .. } = self;
        let mut weight = Weight { series, far, causal, unit_mass: false, isa };
        let least = if tokens.n() < 128 { 1 } else { 4 };
        if d > 4 {
            let shape = layout(tokens.n(), 128, least);
            let rows = tokens.coordinates();
            let source = PanelSource { isa: self.isa, rows, tokens, weighted: false };
            panels.load(&source, shape, problem.parallel());
            let cap = panels.cap;
            for p in &mut panels.list {
                p.tile.resize(cap * cap);
                p.signs.resize(cap * cap);
            }
            let own = |a: &mut TokenPanel| self.isa.run(PanelTile { weight, d, cap, a, b: None });
            let pair = |a: &mut TokenPanel, b: &mut TokenPanel| {
                self.isa.run(PanelTile { weight, d, cap, a, b: Some(b) });
            };
            panels.for_each_pair(problem.parallel(), own, pair);
            panels.store(self.isa, tokens, (out, &mut sums.mass), problem.parallel());
            return;
        }
        blocks.load(tokens, layout(tokens.n(), 256, least));
        weight.unit_mass = blocks.unit_mass;
        blocks.for_each_pair(
            problem.parallel(),
            |b| weight.within(d, b),
            |a, b| weight.pair(d, a, b),
        );
        let unit = tokens.uniform_mass().unwrap_or(1.0);
        for block in &blocks.list {
            block.store(d, unit, &mut out[block.start * d..], &mut sums.mass[block.start..]);
        }
    }
}

/// Parameters that all tiles share.
#[derive(Clone, Copy)]
struct Weight<'a> {
    series: &'a PairSeries,
    /// Squared chord beyond which a token is far.
    far: f64,
    causal: bool,
    /// All masses are 1 and nothing is padded.
    unit_mass: bool,
    isa: Isa,
}

impl Weight<'_> {
    fn within(self, d: usize, block: &mut Block) {
        let Block { x, m, sums, len, .. } = block;
        let masked = self.causal;
        self.isa.run(Gather { weight: self, d, x, sums, source: (x, m, *len), masked });
    }

    /// Adds the contributions of two blocks to each other; a is the earlier one.
    fn pair(self, d: usize, a: &mut Block, b: &mut Block) {
        if self.causal {
            let source = (&a.x[..], &a.m[..], a.len);
            let (x, sums) = (&b.x[..], &mut b.sums[..]);
            self.isa.run(Gather { weight: self, d, x, sums, source, masked: false });
        } else {
            self.isa.run(Pair { weight: self, d, a, b });
        }
    }
}

/// Pairs whose weights are evaluated together.
const TOGETHER: usize = 4;

/// The coordinates of `x_j` and `x_i`.
type Coordinates<L, const D: usize> = ([<L as SimdOps>::V; D], [<L as SimdOps>::V; D]);

/// Half the squared chords.
#[inline(always)]
fn chords<L: SimdOps<F = f64>, const D: usize, const U: usize>(
    l: L,
    pairs: &[Coordinates<L, D>; U],
) -> [L::V; U] {
    let (mut z, half) = ([l.zero(); U], l.splat(0.5));
    for u in 0..U {
        let (xj, xi) = &pairs[u];
        for k in 0..D {
            let q = l.sub(xj[k], xi[k]);
            z[u] = l.fma(q, q, z[u]);
        }
        z[u] = l.mul(half, z[u]);
    }
    z
}

/// Targets in lanes, sources one by one.
struct Gather<'a> {
    weight: Weight<'a>,
    d: usize,
    x: &'a [f64],
    sums: &'a mut [f64],
    /// Coordinates by rows, masses, number of tokens.
    source: (&'a [f64], &'a [f64], usize),
    /// The sources are the tokens x, and no token sees later ones.
    masked: bool,
}

impl SimdKernel for Gather<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        match self.d {
            2 => self.with_dimension::<L, 2>(l),
            3 => self.with_dimension::<L, 3>(l),
            _ => self.with_dimension::<L, 4>(l),
        }
    }
}

impl Gather<'_> {
    #[inline(always)]
    fn with_dimension<L: SimdOps<F = f64>, const D: usize>(self, l: L) {
        let Self { weight, x, sums, source: (sources, masses, len), masked, .. } = self;
        let cap = x.len() / D;
        let (targets, sums) = (L::view(x), L::view_mut(sums));
        let (vectors, far) = (cap / L::WIDTH, l.splat(0.5 * weight.far));
        let (plus, minus) = (l.splat(1.0), l.splat(-1.0));
        for v in 0..vectors {
            let mut xi = [l.zero(); D];
            for k in 0..D {
                xi[k] = targets[k * vectors + v];
            }
            let (mut drift, mut mass) = ([l.zero(); D], l.zero());
            // Blocks are padded with tokens of mass 0.
            for j in (0..len).step_by(TOGETHER) {
                let mut pairs = [([l.zero(); D], xi); TOGETHER];
                for u in 0..TOGETHER {
                    for k in 0..D {
                        pairs[u].0[k] = l.splat(sources[k * cap + j + u]);
                    }
                }
                let z = chords(l, &pairs);
                let w = weight.series.values::<L, TOGETHER>(l, z);
                for u in 0..TOGETHER {
                    let mut w = l.mul(w[u], l.splat(masses[j + u]));
                    if masked {
                        w = causal_mask_column(l, v, j + u, w);
                    }
                    // The product with a sign is exact.
                    let minus_s = l.select(l.greater(z[u], far), plus, minus);
                    for k in 0..D {
                        let q = l.fma(minus_s, xi[k], pairs[u].0[k]);
                        drift[k] = l.fma(w, q, drift[k]);
                    }
                    mass = l.add(mass, w);
                }
            }
            for k in 0..D {
                sums[k * vectors + v] = l.add(sums[k * vectors + v], drift[k]);
            }
            sums[D * vectors + v] = l.add(sums[D * vectors + v], mass);
        }
    }
}

/// All pairs of two blocks, each evaluated once for both tokens.
struct Pair<'a> {
    weight: Weight<'a>,
    d: usize,
    a: &'a mut Block,
    b: &'a mut Block,
}

impl SimdKernel for Pair<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        match (self.d, self.weight.unit_mass) {
            (2, true) => self.with_dimension::<L, 2, true>(l),
            (2, false) => self.with_dimension::<L, 2, false>(l),
            (3, true) => self.with_dimension::<L, 3, true>(l),
            (3, false) => self.with_dimension::<L, 3, false>(l),
            _ => self.with_dimension::<L, 4, false>(l),
        }
    }
}

impl Pair<'_> {
    /// Two tokens of `a` with two vectors of `b` at a time.
    #[inline(always)]
    fn with_dimension<L: SimdOps<F = f64>, const D: usize, const UNIT_MASS: bool>(self, l: L) {
        let Self { weight, a, b, .. } = self;
        let cap = b.m.len();
        let (vectors, far) = (cap / L::WIDTH, l.splat(0.5 * weight.far));
        let (plus, minus) = (l.splat(1.0), l.splat(-1.0));
        b.tile_sums.fill(0.0);
        let (bx, bm) = (L::view(&b.x), L::view(&b.m));
        let tile = L::view_mut(&mut b.tile_sums);
        for first in (0..a.len).step_by(2) {
            // The last row of an odd block is padding of mass 0.
            let (mut xi, mut mi) = ([[l.zero(); D]; 2], [l.zero(); 2]);
            for r in 0..2 {
                for k in 0..D {
                    xi[r][k] = l.splat(a.x[k * cap + first + r]);
                }
                mi[r] = l.splat(a.m[first + r]);
            }
            let (mut drift, mut mass) = ([[l.zero(); D]; 2], [l.zero(); 2]);
            for v in (0..vectors).step_by(2) {
                let mut pairs = [([l.zero(); D], [l.zero(); D]); TOGETHER];
                for c in 0..TOGETHER {
                    for k in 0..D {
                        pairs[c].0[k] = bx[k * vectors + v + c % 2];
                    }
                    pairs[c].1 = xi[c / 2];
                }
                let z = chords(l, &pairs);
                let w = weight.series.values::<L, TOGETHER>(l, z);
                for u in 0..2 {
                    let mut back = [l.zero(); D];
                    for k in 0..D {
                        back[k] = tile[k * vectors + v + u];
                    }
                    let mut back_mass = tile[D * vectors + v + u];
                    for r in 0..2 {
                        let c = 2 * r + u;
                        let is_far = l.greater(z[c], far);
                        let minus_s = l.select(is_far, plus, minus);
                        let (for_a, for_b) = if UNIT_MASS {
                            (w[c], w[c])
                        } else {
                            (l.mul(w[c], bm[v + u]), l.mul(w[c], mi[r]))
                        };
                        let signed = l.negate_where(is_far, for_b);
                        for k in 0..D {
                            let q = l.fma(minus_s, xi[r][k], pairs[c].0[k]);
                            drift[r][k] = l.fma(for_a, q, drift[r][k]);
                            back[k] = l.fma(signed, q, back[k]);
                        }
                        mass[r] = l.add(mass[r], for_a);
                        back_mass = l.add(back_mass, for_b);
                    }
                    for k in 0..D {
                        tile[k * vectors + v + u] = back[k];
                    }
                    tile[D * vectors + v + u] = back_mass;
                }
            }
            for r in 0..2 {
                for k in 0..D {
                    a.sums[k * cap + first + r] += l.sum(drift[r][k]);
                }
                a.sums[D * cap + first + r] += l.sum(mass[r]);
            }
        }
        // For a near pair, the contribution to b is minus the difference.
        let sums = L::view_mut(&mut b.sums);
        for (k, (s, t)) in sums.iter_mut().zip(L::view(&b.tile_sums)).enumerate() {
            *s = if k < D * vectors { l.sub(*s, *t) } else { l.add(*s, *t) };
        }
    }
}

/// The tile of the later panel `a` with itself, or with an earlier panel `b`.
struct PanelTile<'a> {
    weight: Weight<'a>,
    d: usize,
    cap: usize,
    a: &'a mut TokenPanel,
    b: Option<&'a mut TokenPanel>,
}

impl SimdKernel for PanelTile<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        if L::WIDE { self.with_rows::<L, 4>(l) } else { self.with_rows::<L, 2>(l) }
    }
}

impl PanelTile<'_> {
    #[inline(always)]
    fn with_rows<L: SimdOps<F = f64>, const R: usize>(self, l: L) {
        let (weight, d, cap) = (&self.weight, self.d, self.cap);
        let size = (d, cap);
        let TokenPanel { terms, columns, m, drift, tile, signs, row_weight_sums, .. } = self.a;
        let Some(b) = self.b else {
            let own: Columns = (columns, m);
            tile_weights(l, weight, size, [own, own], [tile, signs, row_weight_sums], None);
            differences::<L, R, false>(l, size, tile, signs, (terms, m), terms, drift);
            return;
        };
        let columns: [Columns; 2] = [(columns, m), (&b.columns, &b.m)];
        let totals = if weight.causal { None } else { Some(&mut b.mass[..]) };
        tile_weights(l, weight, size, columns, [tile, signs, row_weight_sums], totals);
        differences::<L, R, false>(l, size, tile, signs, (&b.terms, &b.m), terms, drift);
        if !weight.causal {
            differences::<L, R, true>(l, size, tile, signs, (terms, m), &b.terms, &mut b.drift);
        }
    }
}

/// Coordinates in slabs, and masses.
type Columns<'a> = (&'a [f64], &'a [f64]);

/// Rows whose chords are summed together.
const ROWS: usize = 4;

/// Weights and signs of a tile; also the sums of the weights by rows and by columns.
#[inline(always)]
fn tile_weights<L: SimdOps<F = f64>>(
    l: L,
    weight: &Weight,
    (d, cap): (usize, usize),
    [(x, mi), (y, mj)]: [Columns; 2],
    [tile, signs, rows]: [&mut [f64]; 3],
    column_totals: Option<&mut [f64]>,
) {
    let width = cap / L::WIDTH;
    let masked = weight.causal && std::ptr::eq(mi, mj);
    let (plus, minus, half) = (l.splat(1.0), l.splat(-1.0), l.splat(0.5));
    let far = l.splat(0.5 * weight.far);
    let (y, mj, rows) = (L::view(y), L::view(mj), L::view_mut(rows));
    let (tile, signs) = (L::view_mut(tile), L::view_mut(signs));
    let mut none = [];
    let column_totals = column_totals.map_or(&mut none[..], |t| L::view_mut(t));
    for j in (0..width).step_by(2) {
        let (left, right) = (&y[j * d..][..d], &y[(j + 1) * d..][..d]);
        let mut column_sums = [l.zero(); 2];
        for i in (0..cap).step_by(ROWS) {
            let mut z = [l.zero(); 2 * ROWS];
            let slab = &x[i / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
            for (a, (b0, b1)) in slab.chunks_exact(L::WIDTH).zip(left.iter().zip(right)) {
                let a = &a[i % L::WIDTH..][..ROWS];
                for r in 0..ROWS {
                    let one = l.splat(a[r]);
                    let (y0, y1) = (l.sub(*b0, one), l.sub(*b1, one));
                    z[2 * r] = l.fma(y0, y0, z[2 * r]);
                    z[2 * r + 1] = l.fma(y1, y1, z[2 * r + 1]);
                }
            }
            for z in &mut z {
                *z = l.mul(half, *z);
            }
            let all = if L::WIDE {
                weight.series.values::<L, 8>(l, z)
            } else {
                let [a, b, c, d, e, f, g, h] = z;
                let [a, b, c, d] = weight.series.values::<L, 4>(l, [a, b, c, d]);
                let [e, f, g, h] = weight.series.values::<L, 4>(l, [e, f, g, h]);
                [a, b, c, d, e, f, g, h]
            };
            for r in 0..ROWS {
                let m = l.splat(mi[i + r]);
                for v in 0..2 {
                    let mut w = all[2 * r + v];
                    if masked {
                        w = causal_mask_row(l, j + v, i + r, w);
                    }
                    rows[i + r] = l.fma(w, mj[j + v], rows[i + r]);
                    column_sums[v] = l.fma(w, m, column_sums[v]);
                    let index = (i + r) * width + j + v;
                    tile[index] = w;
                    signs[index] = l.select(l.greater(z[2 * r + v], far), plus, minus);
                }
            }
        }
        if let Some(t) = column_totals.get_mut(j..j + 2) {
            t[0] = l.add(t[0], column_sums[0]);
            t[1] = l.add(t[1], column_sums[1]);
        }
    }
}
