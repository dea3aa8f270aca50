//! Hessian-vector products of the interaction energy on tiles:
//! `sum_j m_j w_ij [(u_j - u_i) + (|x_i - x_j|^2 / 2) u_i + c_ij (x_j - x_i)]`,
//! `c_ij = -beta <u_j - u_i, x_j - x_i>`, all in differences. `w` and `w c` are symmetric, so each
//! pair is evaluated once.

use crate::kernel::exact::direct_large_d::differences;
use crate::kernel::limits::MIN_PARALLEL_WORK;
use crate::kernel::tiles::blocks::layout;
use crate::kernel::tiles::chord::{Chord, ChordConstants};
use crate::kernel::tiles::panels::{PanelSource, Panels, StoreSums, TokenPanel};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::threads::{enter_pool, parallel_allowed};
use crate::sphere::Tokens;

/// Panels of the tokens and of the vector, and the masses.
#[derive(Default)]
pub(super) struct Buffers {
    x: Panels,
    u: Panels,
    mass: Vec<f64>,
}

/// A panel of tokens and the panel of the vector at them.
struct PanelPair<'a> {
    x: &'a mut TokenPanel,
    u: &'a mut TokenPanel,
}

/// The sums without projection, n x d, for the kernel `e^{beta G - |beta|}` and without the factor
/// `m_i`.
///
/// **Accuracy** `1e-13` of the sum of the norms of the terms.
/// **Cost** `n^2/2` exponentials and `7 n^2 d` fused operations.
pub fn hessian_sums(beta: f64, x: &Tokens, u: &[f64], work: &mut Workspace, out: &mut [f64]) {
    let shares = x.n() * x.n() * x.d() >= MIN_PARALLEL_WORK;
    enter_pool(shares, || sums(work.buffers(), beta, x, u, out, shares && parallel_allowed()));
}

fn sums(buffers: &mut Buffers, beta: f64, x: &Tokens, u: &[f64], out: &mut [f64], parallel: bool) {
    let (n, isa) = (x.n(), Isa::best());
    let shape = layout(n, 128, if n < 128 { 1 } else { 4 });
    let Buffers { x: panels, u: vectors, mass } = buffers;
    panels.load(
        &PanelSource { isa, rows: x.coordinates(), tokens: x, weighted: false },
        shape,
        parallel,
    );
    vectors.load(&PanelSource { isa, rows: u, tokens: x, weighted: false }, shape, parallel);
    let (d, cap) = (panels.d, panels.cap);
    for p in &mut panels.list {
        [&mut p.tile, &mut p.signs]
            .into_iter()
            .for_each(|b: &mut AlignedVec<f64>| b.resize(cap * cap));
    }
    vectors.list.iter_mut().for_each(|p| p.tile.resize(cap * cap));
    let mut list: Vec<PanelPair> =
        panels.list.iter_mut().zip(&mut vectors.list).map(|(x, u)| PanelPair { x, u }).collect();
    let own = |a: &mut PanelPair| isa.run(Tile { beta, d, cap, a: (a.x, a.u), b: None });
    let pair = |a: &mut PanelPair, b: &mut PanelPair| {
        if a.x.len > 0 && b.x.len > 0 {
            isa.run(Tile { beta, d, cap, a: (a.x, a.u), b: Some((b.x, b.u)) });
        }
    };
    crate::kernel::tiles::blocks::for_each_pair(&mut list, parallel, own, pair);
    drop(list);
    mass.resize(n, 0.0);
    for (p, v) in panels.list.iter().zip(&vectors.list) {
        let part = p.start..p.start + p.len;
        let (out, mass) = (&mut out[part.start * d..part.end * d], &mut mass[part]);
        // out = unit (s + z u), where z are the sums of the weighted half squared chords, stored in
        // the place of masses.
        isa.run(StoreSums {
            panel: v,
            totals: p,
            tokens: x,
            rows: u,
            sigma: -1.0,
            drift: out,
            mass,
        });
    }
}

/// A panel of tokens and the panel of the vector at them.
type PanelsMut<'a> = (&'a mut TokenPanel, &'a mut TokenPanel);

struct Tile<'a> {
    beta: f64,
    d: usize,
    cap: usize,
    a: PanelsMut<'a>,
    b: Option<PanelsMut<'a>>,
}

impl SimdKernel for Tile<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        if L::WIDE { self.with_rows::<L, 4>(l) } else { self.with_rows::<L, 2>(l) }
    }
}

impl Tile<'_> {
    #[inline(always)]
    fn with_rows<L: SimdOps<F = f64>, const R: usize>(self, l: L) {
        let (size, shape) = ((self.d, self.cap), (self.beta, self.d, self.cap));
        let TokenPanel { terms, columns, m, tile: w, signs, row_weight_sums, .. } = self.a.0;
        let TokenPanel { terms: u_terms, columns: u_columns, tile: wc, drift, .. } = self.a.1;
        // Plain differences: all signs as for near tokens.
        signs.fill(-1.0);
        match self.b {
            None => {
                weights(
                    l,
                    shape,
                    (columns, u_columns, m),
                    (columns, u_columns, m),
                    [w, wc, row_weight_sums],
                    None,
                );
                differences::<L, R, false>(l, size, w, signs, (u_terms, m), u_terms, drift);
                differences::<L, R, false>(l, size, wc, signs, (terms, m), terms, drift);
            }
            Some((b, bu)) => {
                let TokenPanel { terms: bx, columns: b_columns, m: bm, mass: b_mass, .. } = b;
                let TokenPanel { terms: bu, columns: bu_columns, drift: b_drift, .. } = bu;
                weights(
                    l,
                    shape,
                    (columns, u_columns, m),
                    (b_columns, bu_columns, bm),
                    [w, wc, row_weight_sums],
                    Some(b_mass),
                );
                differences::<L, R, false>(l, size, w, signs, (bu, bm), u_terms, drift);
                differences::<L, R, false>(l, size, wc, signs, (bx, bm), terms, drift);
                differences::<L, R, true>(l, size, w, signs, (u_terms, m), bu, b_drift);
                differences::<L, R, true>(l, size, wc, signs, (terms, m), bx, b_drift);
            }
        }
    }
}

/// Coordinates of tokens, of the vector, and masses.
type Columns<'a> = (&'a [f64], &'a [f64], &'a [f64]);

/// `w_ij` and `w_ij c_ij` of a tile; also the sums of `m w |x_i - x_j|^2 / 2` by rows and, if
/// requested, by columns.
#[inline(always)]
fn weights<L: SimdOps<F = f64>>(
    l: L,
    (beta, d, cap): (f64, usize, usize),
    (x, u, mi): Columns,
    (y, v, mj): Columns,
    [w, wc, rows]: [&mut [f64]; 3],
    column_totals: Option<&mut [f64]>,
) {
    let c = ChordConstants::new(l, &Chord { beta, causal: false, two_sided: false });
    let width = cap / L::WIDTH;
    let (minus, half, slope) = (l.splat(-c.sigma), l.constant(0.5), l.constant(-beta));
    let (y, v, mj, rows) = (L::view(y), L::view(v), L::view(mj), L::view_mut(rows));
    let (w, wc) = (L::view_mut(w), L::view_mut(wc));
    let mut none = [];
    let column_totals = column_totals.map_or(&mut none[..], |t| L::view_mut(t));
    for j in 0..width {
        let (yj, vj) = (&y[j * d..][..d], &v[j * d..][..d]);
        let mut column_sums = l.zero();
        for i in 0..cap {
            let index = i / L::WIDTH * d * L::WIDTH + i % L::WIDTH;
            let (mut chord, mut exponent, mut tilt) = (l.zero(), l.zero(), l.zero());
            for k in 0..d {
                let (xi, ui) = (l.splat(x[index + k * L::WIDTH]), l.splat(u[index + k * L::WIDTH]));
                let (dx, du, e) = (l.sub(yj[k], xi), l.sub(vj[k], ui), l.fma(minus, xi, yj[k]));
                chord = l.fma(dx, dx, chord);
                exponent = l.fma(e, e, exponent);
                tilt = l.fma(dx, du, tilt);
            }
            let weight = l.exp2_product(exponent, c.k, c.cut);
            let radial = l.mul(l.mul(half, chord), weight);
            rows[i] = l.fma(radial, mj[j], rows[i]);
            column_sums = l.fma(radial, l.splat(mi[i]), column_sums);
            w[i * width + j] = weight;
            wc[i * width + j] = l.mul(weight, l.mul(slope, tilt));
        }
        if let Some(t) = column_totals.get_mut(j) {
            *t = l.add(*t, column_sums);
        }
    }
}
