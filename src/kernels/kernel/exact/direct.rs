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
use crate::sphere::Tokens;

/// All sums of a system: `drift` (n x d, row-major) and `mass` (n), in units of the common mass.
fn sums<F: Float>(chord: &Chord, tokens: &Tokens, blocks: &mut Blocks<F>, level: Level, parallel: bool) {
    blocks.load(tokens, layout(tokens.n(), 256, if tokens.n() < 128 { 1 } else { 4 }));
    let (d, plain) = (blocks.d, blocks.plain);
    let own = |b: &mut Block<F>| level.run(Tile { chord, d, plain, a: b, b: None });
    let pair = |a: &mut Block<F>, b: &mut Block<F>| level.run(Tile { chord, d, plain, a, b: Some(b) });
    blocks.meet(parallel, own, pair);
}

/// One block with itself or with another one.
struct Tile<'a, F> {
    chord: &'a Chord,
    d: usize,
    plain: bool,
    a: &'a mut Block<F>,
    b: Option<&'a mut Block<F>>,
}

impl<F: Float> Task for Tile<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        self.dispatch(l);
    }
}

impl<F: Float> Tile<'_, F> {
    #[inline(always)]
    fn dispatch<L: Lanes<F = F>>(self, l: L) {
        match self.d {
            2 => self.massive::<L, 2>(l),
            3 => self.massive::<L, 3>(l),
            _ => self.massive::<L, 4>(l),
        }
    }

    #[inline(always)]
    fn massive<L: Lanes<F = F>, const D: usize>(self, l: L) {
        // Chords are at most 2, so that no weight reaches down to the smallest of the lanes.
        let normal = 2.0 * std::f64::consts::LOG2_E * self.chord.beta.abs() < -0.99 * F::SMALLEST;
        match (self.plain, self.chord.far, normal) {
            (true, false, _) => self.fixed::<L, D, true, false, false>(l),
            (true, true, true) => self.fixed::<L, D, true, true, true>(l),
            (true, true, false) => self.fixed::<L, D, true, true, false>(l),
            (false, false, _) => self.fixed::<L, D, false, false, false>(l),
            (false, true, _) => self.fixed::<L, D, false, true, false>(l),
        }
    }

    #[inline(always)]
    fn fixed<L: Lanes<F = F>, const D: usize, const PLAIN: bool, const FAR: bool, const NORMAL: bool>(self, l: L) {
        let constants = Constants::new(l, self.chord);
        let Some(b) = self.b else {
            let Block { x, m, sums, len, .. } = self.a;
            let own = Source { x, m, len: *len };
            return gather::<L, D, PLAIN, FAR, NORMAL>(l, &constants, x, sums, &own, self.chord.causal);
        };
        if self.chord.causal {
            let (early, late) = if self.a.start < b.start { (self.a, b) } else { (b, self.a) };
            let source = Source { x: &early.x, m: &early.m, len: early.len };
            return gather::<L, D, PLAIN, FAR, NORMAL>(l, &constants, &late.x, &mut late.sums, &source, false);
        }
        pair::<L, D, PLAIN, FAR, NORMAL>(l, &constants, self.a, b);
    }
}

/// Tokens that are seen.
pub(super) struct Source<'a, F> {
    /// Coordinates, row by row of the block.
    pub x: &'a [F],
    /// Masses.
    pub m: &'a [F],
    /// How many there are.
    pub len: usize,
}

/// Targets in lanes, sources one by one: what one block gives to another (or to itself, `own` masking later tokens).
#[inline(always)]
pub(super) fn gather<L: Lanes, const D: usize, const PLAIN: bool, const FAR: bool, const NORMAL: bool>(
    l: L,
    c: &Constants<L>,
    x: &[L::F],
    sums: &mut [L::F],
    source: &Source<L::F>,
    causal_own: bool,
) {
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
            if causal_own {
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

/// The weight of a pair, its difference in the direction that does not cancel, and whether that is the far one.
#[inline(always)]
fn weigh<L: Lanes, const D: usize, const FAR: bool, const NORMAL: bool>(
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
#[inline(always)]
fn pair<L: Lanes, const D: usize, const PLAIN: bool, const FAR: bool, const NORMAL: bool>(
    l: L,
    c: &Constants<L>,
    a: &mut Block<L::F>,
    b: &mut Block<L::F>,
) {
    let cap = b.m.len();
    let vectors = cap / L::WIDTH;
    b.local.fill(L::F::default());
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
                add(&mut a.sums[k * cap + first + r], l.sum(drift[r][k]));
            }
            add(&mut a.sums[D * cap + first + r], l.sum(mass[r]));
        }
    }
    // A near pair pulls b against the difference: -sigma.
    let sums = L::view_mut(&mut b.sums);
    let back = l.splat(L::F::of(-c.sigma.to_f64()));
    for (k, (s, t)) in sums.iter_mut().zip(L::view(&b.local)).enumerate() {
        *s = if k < D * vectors { l.fma(back, *t, *s) } else { l.add(*s, *t) };
    }
}

/// Adds in `f64`.
#[inline(always)]
pub fn add<F: Float>(to: &mut F, x: F) {
    *to = F::of(to.to_f64() + x.to_f64());
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
        let sums = exact_sums(job, work);
        close(job, sums, out, doubtful);
    }
}

/// Blocks for few coordinates, panels for many.
#[derive(Default)]
struct Buffers {
    blocks: Blocks<f64>,
    panels: Panels<f64>,
    sums: Sums,
}

/// The exact sums of a job.
pub fn exact_sums<'a>(job: &Job, work: &'a mut Workspace) -> &'a Sums {
    let Buffers { blocks, panels, sums } = work.of();
    if job.tokens.d() > 4 {
        coordinates::sums(job, panels, sums);
    } else {
        block_sums(job, blocks, sums);
    }
    sums
}

/// The sums of few coordinates, in precision `F`.
pub fn block_sums<F: Float>(job: &Job, blocks: &mut Blocks<F>, out: &mut Sums) {
    let chord = Chord { beta: job.beta, causal: job.causal, far: job.far };
    sums(&chord, job.tokens, blocks, job.level, job.parallel());
    out.reset(job.tokens.n(), job.tokens.d());
    blocks.store(job.tokens.uniform_mass().unwrap_or(1.0), out);
}
