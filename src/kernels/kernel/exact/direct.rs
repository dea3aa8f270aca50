//! Direct tiles: chords and differences of every pair, exact for every beta, in registers for d = 2, 3, 4 and coordinate by coordinate above.
//!
//! With `y = x_j - sigma x_i`, `sigma = sign(beta)`, the weight is `e^{-|beta| |y|^2 / 2}` (the kernel without `e^{|beta|}`). The drift adds
//! `w (x_j - s x_i)`, `s = 1` for near and `s = -1` for far tokens: its tangent part is that of `w x_j` and neither cancels. A pair is
//! evaluated once and serves both tokens: `w (x_i - s x_j) = -s w (x_j - s x_i)`.

use super::coordinates;
use crate::kernel::close::sums::close;
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Job, Kernel};
use crate::kernel::sums::Sums;
use crate::kernel::tiles::blocks::{Block, Blocks, layout};
use crate::kernel::tiles::chord::{Chord, Constants, later_masked};
use crate::kernel::tiles::panels::Panels;
use crate::kernel::workspace::Workspace;
use crate::num::simd::{Float, Lanes, Level, Task};

/// What all tiles of a system share.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    chord: Chord,
    d: usize,
    plain: bool,
    level: Level,
}

impl Tiles {
    /// For these blocks of the tokens of a job.
    pub fn new(job: &Job, blocks: &Blocks) -> Self {
        let chord = Chord { beta: job.beta, causal: job.causal, far: job.far };
        Self { chord, d: blocks.d, plain: blocks.plain, level: job.level }
    }

    /// Adds what the sources give to the tokens x; `masked`: these are the sources, and no token sees later ones.
    pub fn gather(self, x: &[f64], sums: &mut [f64], source: Source, masked: bool) {
        self.level.run(Tile { tiles: self, work: Gather { x, sums, source, masked } });
    }

    /// What a block gives to itself.
    fn own(self, block: &mut Block) {
        let Block { x, m, sums, len, .. } = block;
        self.gather(x, sums, Source { x, m, len: *len }, self.chord.causal);
    }

    /// What two blocks give to each other, the earlier one first.
    fn pair(self, a: &mut Block, b: &mut Block) {
        if self.chord.causal {
            self.gather(&b.x, &mut b.sums, Source { x: &a.x, m: &a.m, len: a.len }, false);
        } else {
            self.level.run(Tile { tiles: self, work: Pair(a, b) });
        }
    }
}

/// A tile whose dimension and masses are constants of the loop: `PLAIN` for equal masses, `FAR` for differences to the far side, `NORMAL` where no weight
/// reaches down to the smallest of the lanes.
trait Loop {
    fn run<L: Lanes<F = f64>, const D: usize, const PLAIN: bool, const FAR: bool, const NORMAL: bool>(self, l: L, c: &Constants<L>);
}

/// One tile.
struct Tile<W> {
    tiles: Tiles,
    work: W,
}

impl<W: Loop> Task for Tile<W> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        match self.tiles.d {
            2 => self.massive::<L, 2>(l),
            3 => self.massive::<L, 3>(l),
            _ => self.massive::<L, 4>(l),
        }
    }
}

impl<W: Loop> Tile<W> {
    #[inline(always)]
    fn massive<L: Lanes<F = f64>, const D: usize>(self, l: L) {
        let Tiles { chord, plain, .. } = self.tiles;
        // Chords are at most 2.
        let normal = 2.0 * std::f64::consts::LOG2_E * chord.beta.abs() < -0.99 * f64::SMALLEST;
        let c = &Constants::new(l, &chord);
        match (plain, chord.far, normal) {
            (true, false, _) => self.work.run::<L, D, true, false, false>(l, c),
            (true, true, true) => self.work.run::<L, D, true, true, true>(l, c),
            (true, true, false) => self.work.run::<L, D, true, true, false>(l, c),
            (false, false, _) => self.work.run::<L, D, false, false, false>(l, c),
            (false, true, _) => self.work.run::<L, D, false, true, false>(l, c),
        }
    }
}

/// Tokens that are seen.
pub(super) struct Source<'a> {
    /// Coordinates, row by row of the block.
    pub x: &'a [f64],
    /// Masses.
    pub m: &'a [f64],
    /// How many there are.
    pub len: usize,
}

/// Targets in lanes, sources one by one: what one block gives to another or to itself.
struct Gather<'a> {
    x: &'a [f64],
    sums: &'a mut [f64],
    source: Source<'a>,
    masked: bool,
}

impl Loop for Gather<'_> {
    #[inline(always)]
    fn run<L: Lanes<F = f64>, const D: usize, const PLAIN: bool, const FAR: bool, const NORMAL: bool>(self, l: L, c: &Constants<L>) {
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
                let (mut w, q, _) = weigh::<L, D, FAR, NORMAL>(l, c, &xj, &sx);
                if !PLAIN {
                    w = l.mul(w, l.splat(source.m[j]));
                }
                if masked {
                    w = later_masked(l, v, j, w);
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

/// The weight of a pair, its difference in the direction that does not cancel, and whether that is the far one.
#[inline(always)]
fn weigh<L: Lanes<F = f64>, const D: usize, const FAR: bool, const NORMAL: bool>(
    l: L,
    c: &Constants<L>,
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
    let w = if NORMAL { l.exp2_normal(chord, c.k) } else { l.exp2_product(chord, c.k, c.cut) };
    let far = l.greater(chord, c.far);
    if FAR {
        for k in 0..D {
            q[k] = l.select(far, l.add(xj[k], sx[k]), q[k]);
        }
    }
    (w, q, far)
}

/// Rows of `a` evaluated together.
const ROWS: usize = 2;

/// Every pair of two blocks once, for both.
struct Pair<'a>(&'a mut Block, &'a mut Block);

impl Loop for Pair<'_> {
    #[inline(always)]
    fn run<L: Lanes<F = f64>, const D: usize, const PLAIN: bool, const FAR: bool, const NORMAL: bool>(self, l: L, c: &Constants<L>) {
        let Self(a, b) = self;
        let cap = b.m.len();
        let vectors = cap / L::WIDTH;
        b.local.fill(0.0);
        let bm = &L::view(&b.m)[..vectors];
        let rows = L::view(&b.x);
        let mut bx = [&rows[..vectors]; D];
        for (k, row) in bx.iter_mut().enumerate() {
            *row = &rows[k * vectors..][..vectors];
        }
        let mut parts = L::view_mut(&mut b.local).chunks_exact_mut(vectors);
        let mut local: [&mut [L::V]; D] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let local_mass = &mut parts.next().unwrap_or_default()[..vectors];
        for row in &mut local {
            *row = &mut std::mem::take(row)[..vectors];
        }
        let sigma = l.splat(c.sigma);
        for first in (0..a.len).step_by(ROWS) {
            // The last rows of an odd block are its padding, of mass 0.
            let (mut sx, mut mi) = ([[l.zero(); D]; ROWS], [l.zero(); ROWS]);
            for r in 0..ROWS {
                for k in 0..D {
                    sx[r][k] = l.mul(sigma, l.splat(a.x[k * cap + first + r]));
                }
                mi[r] = l.splat(a.m[first + r]);
            }
            let (mut drift, mut mass) = ([[l.zero(); D]; ROWS], [l.zero(); ROWS]);
            for v in 0..vectors {
                let (mut xj, mut theirs) = ([l.zero(); D], [l.zero(); D]);
                for k in 0..D {
                    (xj[k], theirs[k]) = (bx[k][v], local[k][v]);
                }
                let mut their_mass = local_mass[v];
                for r in 0..ROWS {
                    let (w, q, far) = weigh::<L, D, FAR, NORMAL>(l, c, &xj, &sx[r]);
                    let (mine, yours) = if PLAIN { (w, w) } else { (l.mul(w, bm[v]), l.mul(w, mi[r])) };
                    let back = if FAR { l.negate_where(far, yours) } else { yours };
                    for k in 0..D {
                        drift[r][k] = l.fma(mine, q[k], drift[r][k]);
                        theirs[k] = l.fma(back, q[k], theirs[k]);
                    }
                    mass[r] = l.add(mass[r], mine);
                    their_mass = l.add(their_mass, yours);
                }
                for k in 0..D {
                    local[k][v] = theirs[k];
                }
                local_mass[v] = their_mass;
            }
            for r in 0..ROWS {
                for k in 0..D {
                    a.sums[k * cap + first + r] += l.sum(drift[r][k]);
                }
                a.sums[D * cap + first + r] += l.sum(mass[r]);
            }
        }
        // A near pair pulls b against the difference: -sigma.
        let sums = L::view_mut(&mut b.sums);
        let back = l.splat(-c.sigma);
        for (k, (s, t)) in sums.iter_mut().zip(L::view(&b.local)).enumerate() {
            *s = if k < D * vectors { l.fma(back, *t, *s) } else { l.add(*s, *t) };
        }
    }
}

/// The exact tiles.
pub struct Direct;

/// The one instance.
pub static DIRECT: Direct = Direct;

impl Kernel for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn summary(&self) -> &'static str {
        "every pair once by its chord, exact for every beta; n^2/2 exponentials"
    }

    fn refuses(&self, _: &Job) -> Option<&'static str> {
        None
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        0.5 * n * n * if d > 4.0 { 1.0 + 0.25 * d } else { 0.5 + 0.15 * d }
    }

    fn error(&self, _: &Job) -> f64 {
        0.0
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) {
        let sums = exact_sums(job, work, out);
        close(job, sums, out, doubtful);
    }
}

/// Blocks for few coordinates, panels for many.
#[derive(Default)]
struct Buffers {
    blocks: Blocks,
    panels: Panels,
    sums: Sums,
}

/// The exact sums of a job; writes its drifts.
pub fn exact_sums<'a>(job: &Job, work: &'a mut Workspace, drift: &mut [f64]) -> &'a Sums {
    let Buffers { blocks, panels, sums } = work.of();
    sums.reset(job);
    if job.tokens.d() > 4 {
        coordinates::sums(job, panels, (drift, &mut sums.mass));
    } else {
        block_sums(job, blocks, (drift, &mut sums.mass));
    }
    sums
}

/// The sums of few coordinates.
fn block_sums(job: &Job, blocks: &mut Blocks, (drift, mass): (&mut [f64], &mut [f64])) {
    let (tokens, unit) = (job.tokens, job.tokens.uniform_mass().unwrap_or(1.0));
    blocks.load(tokens, layout(tokens.n(), 256, if tokens.n() < 128 { 1 } else { 4 }));
    let (tiles, d) = (Tiles::new(job, blocks), blocks.d);
    blocks.meet(job.parallel(), |b| tiles.own(b), |a, b| tiles.pair(a, b));
    for block in &blocks.list {
        block.store(d, unit, &mut drift[block.start * d..], &mut mass[block.start..]);
    }
}
