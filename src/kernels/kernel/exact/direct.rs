//! Direct kernel: chords and differences of every pair, exact for every beta. For d = 2, 3, 4 all
//! coordinates are in registers (this file), above that see `direct_large_d`.
//!
//! With `y = x_j - sigma x_i`, `sigma = sign(beta)`, the weight is `e^{-|beta| |y|^2 / 2}`, that is
//! the kernel divided by `e^{|beta|}`. The drift adds `w (x_j - s x_i)` with `s = 1` for near
//! tokens and `s = -1` for far ones (squared chord above 2). Its tangent part equals that of
//! `w x_j`, without cancellation in either case. A pair is evaluated once, for both tokens:
//! `w (x_i - s x_j) = -s w (x_j - s x_i)`.

use super::direct_large_d;
use super::direct_series::SeriesTiles;
use crate::kernel::algorithm::Kernel;
use crate::kernel::problem::KernelProblem;
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::{Block, BlockTiles, Blocks, Source, layout};
use crate::kernel::tiles::chord::{Chord, ChordConstants, causal_mask_column};
use crate::kernel::tiles::panels::Panels;
use crate::kernel::weight::Weight;
use crate::kernel::workspace::Workspace;
use crate::num::simd::{Float, Isa, SimdKernel, SimdOps};

/// Parameters that all tiles of a system share.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    chord: Chord,
    d: usize,
    unit_mass: bool,
    isa: Isa,
}

impl Tiles {
    /// For the blocks of a problem.
    pub fn new(problem: &KernelProblem, blocks: &Blocks) -> Self {
        let chord = Chord::new(problem);
        Self { chord, d: blocks.d, unit_mass: blocks.unit_mass, isa: problem.isa }
    }

    /// Adds the contribution of the sources to the tokens x. With `masked`, the sources are the
    /// tokens x themselves and no token sees later ones.
    pub fn gather(self, x: &[f64], sums: &mut [f64], source: Source, masked: bool) {
        self.isa.run(Tile { tiles: self, work: Gather { x, sums, source, masked } });
    }
}

impl BlockTiles for Tiles {
    fn within(self, block: &mut Block) {
        let Block { x, m, sums, len, .. } = block;
        self.gather(x, sums, Source { x, m, len: *len }, self.chord.causal);
    }

    fn pair(self, a: &mut Block, b: &mut Block) {
        if self.chord.causal {
            self.gather(&b.x, &mut b.sums, Source { x: &a.x, m: &a.m, len: a.len }, false);
        } else {
            self.isa.run(Tile { tiles: self, work: Pair(a, b) });
        }
    }
}

/// The inner loop of a tile, with compile-time constants: the dimension `D`; `UNIT_MASS` for equal
/// masses; `TWO_SIDED` for `s = -1` at far tokens; `NO_UNDERFLOW` if no weight can underflow.
trait TileLoop {
    fn run<
        L: SimdOps<F = f64>,
        const D: usize,
        const UNIT_MASS: bool,
        const TWO_SIDED: bool,
        const NO_UNDERFLOW: bool,
    >(
        self,
        l: L,
        c: &ChordConstants<L>,
    );
}

/// One tile.
struct Tile<W> {
    tiles: Tiles,
    work: W,
}

impl<W: TileLoop> SimdKernel for Tile<W> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        match self.tiles.d {
            2 => self.with_dimension::<L, 2>(l),
            3 => self.with_dimension::<L, 3>(l),
            _ => self.with_dimension::<L, 4>(l),
        }
    }
}

impl<W: TileLoop> Tile<W> {
    #[inline(always)]
    fn with_dimension<L: SimdOps<F = f64>, const D: usize>(self, l: L) {
        let Tiles { chord, unit_mass, .. } = self.tiles;
        // Half the squared chord is at most 2.
        let normal =
            2.0 * std::f64::consts::LOG2_E * chord.beta.abs() < -0.99 * f64::UNDERFLOW_EXPONENT;
        let c = &ChordConstants::new(l, &chord);
        match (unit_mass, chord.two_sided, normal) {
            (true, false, _) => self.work.run::<L, D, true, false, false>(l, c),
            (true, true, true) => self.work.run::<L, D, true, true, true>(l, c),
            (true, true, false) => self.work.run::<L, D, true, true, false>(l, c),
            (false, false, _) => self.work.run::<L, D, false, false, false>(l, c),
            (false, true, _) => self.work.run::<L, D, false, true, false>(l, c),
        }
    }
}

/// Targets in lanes, sources one by one: the contribution of one block to another or to itself.
struct Gather<'a> {
    x: &'a [f64],
    sums: &'a mut [f64],
    source: Source<'a>,
    masked: bool,
}

impl TileLoop for Gather<'_> {
    #[inline(always)]
    fn run<
        L: SimdOps<F = f64>,
        const D: usize,
        const UNIT_MASS: bool,
        const TWO_SIDED: bool,
        const NO_UNDERFLOW: bool,
    >(
        self,
        l: L,
        c: &ChordConstants<L>,
    ) {
        let Self { x, sums, source, masked } = self;
        let cap = x.len() / D;
        let (targets, sums, sigma) = (L::view(x), L::view_mut(sums), l.splat(c.sigma));
        let vectors = cap / L::WIDTH;
        for v in 0..vectors {
            let mut sx = [l.zero(); D];
            for k in 0..D {
                sx[k] = l.mul(sigma, targets[k * vectors + v]);
            }
            let (mut drift, mut mass) = ([l.zero(); D], l.zero());
            for j in 0..source.len {
                let mut xj = [l.zero(); D];
                for k in 0..D {
                    xj[k] = l.splat(source.x[k * cap + j]);
                }
                let (mut w, q, _) = pair_weight::<L, D, TWO_SIDED, NO_UNDERFLOW>(l, c, &xj, &sx);
                if !UNIT_MASS {
                    w = l.mul(w, l.splat(source.m[j]));
                }
                if masked {
                    w = causal_mask_column(l, v, j, w);
                }
                for k in 0..D {
                    drift[k] = l.fma(w, q[k], drift[k]);
                }
                mass = l.add(mass, w);
            }
            for k in 0..D {
                sums[k * vectors + v] = l.add(sums[k * vectors + v], drift[k]);
            }
            sums[D * vectors + v] = l.add(sums[D * vectors + v], mass);
        }
    }
}

/// The weight of a pair, its difference without cancellation, and the mask of far pairs.
#[inline(always)]
fn pair_weight<
    L: SimdOps<F = f64>,
    const D: usize,
    const TWO_SIDED: bool,
    const NO_UNDERFLOW: bool,
>(
    l: L,
    c: &ChordConstants<L>,
    xj: &[L::V; D],
    sx: &[L::V; D],
) -> (L::V, [L::V; D], L::M) {
    let mut q = *xj;
    for k in 0..D {
        q[k] = l.sub(xj[k], sx[k]);
    }
    let mut chord = l.mul(q[0], q[0]);
    for k in 1..D {
        chord = l.fma(q[k], q[k], chord);
    }
    let w = if NO_UNDERFLOW {
        l.exp2_no_underflow(chord, c.k)
    } else {
        l.exp2_product(chord, c.k, c.cut)
    };
    let far = l.greater(chord, c.sign_switch);
    if TWO_SIDED {
        for k in 0..D {
            q[k] = l.select(far, l.add(xj[k], sx[k]), q[k]);
        }
    }
    (w, q, far)
}

/// Rows of `a` per pass.
const ROWS: usize = 2;

/// All pairs of two blocks, each evaluated once for both tokens.
struct Pair<'a>(&'a mut Block, &'a mut Block);

impl TileLoop for Pair<'_> {
    #[inline(always)]
    fn run<
        L: SimdOps<F = f64>,
        const D: usize,
        const UNIT_MASS: bool,
        const TWO_SIDED: bool,
        const NO_UNDERFLOW: bool,
    >(
        self,
        l: L,
        c: &ChordConstants<L>,
    ) {
        let Self(a, b) = self;
        let cap = b.m.len();
        let vectors = cap / L::WIDTH;
        b.tile_sums.fill(0.0);
        let bm = &L::view(&b.m)[..vectors];
        let rows = L::view(&b.x);
        let mut bx = [&rows[..vectors]; D];
        for (k, row) in bx.iter_mut().enumerate() {
            *row = &rows[k * vectors..][..vectors];
        }
        let mut parts = L::view_mut(&mut b.tile_sums).chunks_exact_mut(vectors);
        let mut tile_sums: [&mut [L::V]; D] =
            std::array::from_fn(|_| parts.next().unwrap_or_default());
        let tile_mass = &mut parts.next().unwrap_or_default()[..vectors];
        for row in &mut tile_sums {
            *row = &mut std::mem::take(row)[..vectors];
        }
        let sigma = l.splat(c.sigma);
        for first in (0..a.len).step_by(ROWS) {
            // The last row of an odd block is padding of mass 0.
            let (mut sx, mut mi) = ([[l.zero(); D]; ROWS], [l.zero(); ROWS]);
            for r in 0..ROWS {
                for k in 0..D {
                    sx[r][k] = l.mul(sigma, l.splat(a.x[k * cap + first + r]));
                }
                mi[r] = l.splat(a.m[first + r]);
            }
            let (mut drift, mut mass) = ([[l.zero(); D]; ROWS], [l.zero(); ROWS]);
            for v in 0..vectors {
                let (mut xj, mut b_drift) = ([l.zero(); D], [l.zero(); D]);
                for k in 0..D {
                    (xj[k], b_drift[k]) = (bx[k][v], tile_sums[k][v]);
                }
                let mut b_mass = tile_mass[v];
                for r in 0..ROWS {
                    let (w, q, far) =
                        pair_weight::<L, D, TWO_SIDED, NO_UNDERFLOW>(l, c, &xj, &sx[r]);
                    let (for_a, for_b) =
                        if UNIT_MASS { (w, w) } else { (l.mul(w, bm[v]), l.mul(w, mi[r])) };
                    let back = if TWO_SIDED { l.negate_where(far, for_b) } else { for_b };
                    for k in 0..D {
                        drift[r][k] = l.fma(for_a, q[k], drift[r][k]);
                        b_drift[k] = l.fma(back, q[k], b_drift[k]);
                    }
                    mass[r] = l.add(mass[r], for_a);
                    b_mass = l.add(b_mass, for_b);
                }
                for k in 0..D {
                    tile_sums[k][v] = b_drift[k];
                }
                tile_mass[v] = b_mass;
            }
            for r in 0..ROWS {
                for k in 0..D {
                    a.sums[k * cap + first + r] += l.sum(drift[r][k]);
                }
                a.sums[D * cap + first + r] += l.sum(mass[r]);
            }
        }
        // For a near pair, the contribution to b is -sigma times the difference.
        let sums = L::view_mut(&mut b.sums);
        let back = l.splat(-c.sigma);
        for (k, (s, t)) in sums.iter_mut().zip(L::view(&b.tile_sums)).enumerate() {
            *s = if k < D * vectors { l.fma(back, *t, *s) } else { l.add(*s, *t) };
        }
    }
}

/// The direct kernel.
pub struct Direct;

/// The direct kernel.
pub static DIRECT: Direct = Direct;

impl Kernel for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn summary(&self) -> &'static str {
        "chords of all pairs, each pair once; exact for every weight; n^2/2 weights"
    }

    fn unsupported_reason(&self, _: &KernelProblem) -> Option<&'static str> {
        None
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let (n, d) = (problem.tokens.n() as f64, problem.tokens.d() as f64);
        let pair = match problem.weight {
            Weight::Exponential { .. } if d > 4.0 => 1.0 + 0.25 * d,
            Weight::Exponential { .. } => 0.5 + 0.15 * d,
            Weight::Series { profile, .. } if d > 4.0 => profile.cost + 0.9 + 0.25 * d,
            Weight::Series { profile, .. } => profile.cost + 0.4 + 0.15 * d,
        };
        0.5 * n * n * pair
    }

    fn error_bound(&self, _: &KernelProblem) -> f64 {
        0.0
    }

    fn sums<'a>(
        &self,
        problem: &KernelProblem,
        work: &'a mut Workspace,
        drifts: &mut [f64],
    ) -> Option<&'a mut Sums> {
        Some(exact_sums(problem, work, drifts))
    }
}

/// Blocks for small d, panels for large d.
#[derive(Default)]
struct Buffers {
    blocks: Blocks,
    panels: Panels,
    sums: Sums,
}

/// The exact sums of a problem; writes the drifts to `drift`.
pub fn exact_sums<'a>(
    problem: &KernelProblem,
    work: &'a mut Workspace,
    drift: &mut [f64],
) -> &'a mut Sums {
    let Buffers { blocks, panels, sums } = work.buffers();
    sums.reset(problem);
    let rows = (drift, &mut sums.mass[..]);
    match (problem.tokens.d() > 4, problem.weight) {
        (true, Weight::Exponential { .. }) => {
            direct_large_d::sums(problem, Chord::new(problem), panels, rows);
        }
        (true, Weight::Series { series, .. }) => {
            direct_large_d::sums(problem, SeriesTiles::new(problem, series), panels, rows);
        }
        (false, Weight::Exponential { .. }) => {
            block_sums(problem, |all| Tiles::new(problem, all), blocks, rows);
        }
        (false, Weight::Series { series, .. }) => {
            let tiles = SeriesTiles::new(problem, series);
            block_sums(problem, |all| tiles.for_blocks(all), blocks, rows);
        }
    }
    sums
}

/// The sums for d up to 4.
fn block_sums<T: BlockTiles>(
    problem: &KernelProblem,
    tiles: impl Fn(&Blocks) -> T,
    blocks: &mut Blocks,
    (drift, mass): (&mut [f64], &mut [f64]),
) {
    let (tokens, unit) = (problem.tokens, problem.tokens.uniform_mass().unwrap_or(1.0));
    blocks.load(tokens, layout(tokens.n(), 256, if tokens.n() < 128 { 1 } else { 4 }));
    let (tiles, d) = (tiles(blocks), blocks.d);
    blocks.for_each_pair(problem.parallel(), |b| tiles.within(b), |a, b| tiles.pair(a, b));
    for block in &blocks.list {
        block.store(d, unit, &mut drift[block.start * d..], &mut mass[block.start..]);
    }
}
