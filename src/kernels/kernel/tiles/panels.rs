//! Tokens in panels for tiles that go through memory: by vectors of tokens and by vectors of coordinates, so that every inner loop reads
//! consecutive cache lines.

use crate::kernel::sums::Sums;
use crate::num::aligned::Aligned;
use crate::num::simd::{Float, Lanes, Level, Task};
use crate::sphere::Tokens;

/// A run of consecutive tokens, by rows and by coordinates.
#[derive(Default)]
pub struct TokenPanel<F> {
    pub start: usize,
    pub len: usize,
    /// Coordinates in slabs: for every vector of tokens, one vector per coordinate.
    pub columns: Aligned<F>,
    /// `x_j`, or `m_j x_j`, in slabs: for every group of vectors of coordinates (see [`groups`]), these of every token.
    pub terms: Aligned<F>,
    /// Masses, 0 for padding.
    pub m: Aligned<F>,
    /// `sum_j m_j w_ij x_j`, in slabs.
    pub drift: Aligned<F>,
    /// The drift is to be written, not added to: its memory is not cleared first.
    pub fresh: bool,
    /// `sum_j m_j w_ij`.
    pub mass: Aligned<F>,
    /// Weights of the tile in work.
    pub tile: Aligned<F>,
    /// Signs of the tile in work, where differences need them.
    pub signs: Aligned<F>,
    /// One vector per row: the sums of its weights over the tiles it led.
    pub led: Aligned<F>,
}

/// All panels of a system.
#[derive(Default)]
pub struct Panels<F> {
    pub d: usize,
    pub width: usize,
    pub cap: usize,
    pub list: Vec<TokenPanel<F>>,
    /// The second, third and fourth of four panels once more, for the sums of the other task: see [`super::two_tasks`].
    pub partials: Vec<TokenPanel<F>>,
    /// The panels have met in two tasks.
    pub in_two_tasks: bool,
}

impl<F: Float> Panels<F> {
    /// Fills the panels with rows of the tokens' shape (the tokens, or vectors at them), side by side when there are threads for it.
    pub fn load(&mut self, source: &Source, shape: (usize, usize), parallel: bool) {
        self.lay_out(source, shape);
        let cap = self.cap;
        crate::kernel::tiles::blocks::each(&mut self.list, parallel, &|panel: &mut TokenPanel<F>| source.fill(panel, cap));
    }

    /// Panels of this number and length, to be filled.
    pub fn lay_out(&mut self, source: &Source, (count, cap): (usize, usize)) {
        let (n, d, width) = (source.tokens.n(), source.tokens.d(), source.level.width::<F>());
        (self.d, self.width, self.cap) = (d, width, cap);
        self.list.resize_with(count, TokenPanel::default);
        self.in_two_tasks = false;
        for (b, p) in self.list.iter_mut().enumerate() {
            p.start = (b * cap).min(n);
            p.len = ((b + 1) * cap).min(n) - p.start;
        }
    }

    /// Writes all sums in units of mass, less `sigma z_i x_i`.
    pub fn store(&self, level: Level, tokens: &Tokens, sigma: f64, sums: &mut Sums, parallel: bool) {
        let shared = Shared { level, tokens, sigma };
        store(&self.list, &shared, (&mut sums.drift, &mut sums.mass), parallel);
    }

    /// Lets every panel meet itself and every other panel once, the later one first.
    pub fn meet(
        &mut self,
        parallel: bool,
        own: impl Fn(&mut TokenPanel<F>) + Sync,
        pair: impl Fn(&mut TokenPanel<F>, &mut TokenPanel<F>) + Sync,
    ) {
        crate::kernel::tiles::blocks::meet(&mut self.list, parallel, own, |a: &mut TokenPanel<F>, b: &mut TokenPanel<F>| {
            if a.len > 0 && b.len > 0 {
                if a.start < b.start { pair(b, a) } else { pair(a, b) }
            }
        });
    }
}

/// What panels are filled with.
pub struct Source<'a> {
    pub level: Level,
    /// Rows of the tokens' shape.
    pub rows: &'a [f64],
    pub tokens: &'a Tokens,
    /// Multiplies the terms by the masses.
    pub weighted: bool,
    /// Leaves drifts fresh.
    pub fresh: bool,
}

impl Source<'_> {
    /// Fills one panel and clears its sums.
    pub fn fill<F: Float>(&self, panel: &mut TokenPanel<F>, cap: usize) {
        self.level.run(Load { panel, source: self, cap });
    }
}

/// Vectors of coordinates whose sums are kept in registers together, at most: 32 registers hold 8 rows of three, 16 hold 4 rows of two.
pub const fn most<L: Lanes>() -> usize {
    if L::WIDTH * std::mem::size_of::<L::F>() == 64 { 3 } else { 2 }
}

/// First vector and number of vectors of the groups that go through registers together.
#[inline(always)]
pub fn groups<L: Lanes>(d: usize) -> impl Iterator<Item = (usize, usize)> {
    let vectors = d.div_ceil(L::WIDTH);
    let mut first = 0;
    std::iter::from_fn(move || {
        let take = three_or_two(vectors - first, most::<L>());
        first += take;
        (take > 0).then_some((first - take, take))
    })
}

/// Vectors to take of those left, at most `most`; a last single one after threes is avoided by two of two.
#[inline(always)]
pub fn three_or_two(left: usize, most: usize) -> usize {
    if left == most + 1 && most > 2 { 2 } else { left.min(most) }
}

/// What storing needs beside a panel.
struct Shared<'a> {
    level: Level,
    tokens: &'a Tokens,
    sigma: f64,
}

/// The sums of some panels, in the halves in which they met.
fn store<F: Float>(list: &[TokenPanel<F>], shared: &Shared, (drift, mass): (&mut [f64], &mut [f64]), parallel: bool) {
    let &Shared { level, tokens, sigma } = shared;
    match list {
        [] => {}
        [panel] => level.run(StoreSums { panel, totals: panel, tokens, rows: tokens.coordinates(), sigma, drift, mass }),
        _ => {
            let (a, b) = list.split_at(list.len() / 2);
            let middle = b[0].start - a[0].start;
            let ((d1, d2), (m1, m2)) = (drift.split_at_mut(middle * tokens.d()), mass.split_at_mut(middle));
            crate::kernel::tiles::blocks::both(
                parallel,
                || store(a, shared, (d1, m1), parallel),
                || store(b, shared, (d2, m2), parallel),
            );
        }
    }
}

/// Up to a vector of rows of d numbers into d vectors; lanes without a row stay.
#[inline(always)]
fn columns<L: Lanes>(l: L, rows: &[f64], out: &mut [L::F], d: usize) {
    let whole = if rows.len() == L::WIDTH * d { d - d % L::WIDTH } else { 0 };
    for first in (0..whole).step_by(L::WIDTH) {
        l.transpose(&rows[first..], d, &mut L::view_mut(out)[first..]);
    }
    for (j, row) in rows.chunks_exact(d).enumerate() {
        for (k, v) in row.iter().enumerate().skip(whole) {
            out[k * L::WIDTH + j] = L::F::of(*v);
        }
    }
}

/// Fewer numbers than lanes, and zeros.
#[inline(always)]
pub fn rest<L: Lanes>(l: L, part: &[f64]) -> L::V {
    let mut numbers = [0.0; 16];
    numbers[..part.len()].copy_from_slice(part);
    l.load(&numbers)
}

/// Loading one panel with the width of the vectors known.
struct Load<'a, F> {
    panel: &'a mut TokenPanel<F>,
    source: &'a Source<'a>,
    cap: usize,
}

impl<F: Float> Task for Load<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        let Self { panel: p, source, cap } = self;
        let (d, width, tokens) = (source.tokens.d(), L::WIDTH, source.tokens);
        let (masses, uniform) = (tokens.masses(), tokens.uniform_mass().is_some());
        let size = d.next_multiple_of(width) * cap;
        p.fresh = source.fresh;
        p.drift.resize(size);
        if !p.fresh {
            p.drift.fill(F::default());
        }
        for (buffer, size) in [(&mut p.mass, cap), (&mut p.m, cap), (&mut p.led, cap * width)] {
            buffer.reset(size);
        }
        for (buffer, size) in [(&mut p.columns, cap * d), (&mut p.terms, size)] {
            buffer.resize(size);
            if p.len < cap {
                buffer.fill(F::default());
            }
        }
        let rows = &source.rows[p.start * d..(p.start + p.len) * d];
        for j in 0..p.len {
            p.m[j] = F::of(if uniform { 1.0 } else { masses[p.start + j] });
        }
        for (first, take) in groups::<L>(d) {
            let terms = &mut L::view_mut(&mut p.terms)[first * cap..(first + take) * cap];
            for (j, (row, terms)) in rows.chunks_exact(d).zip(terms.chunks_exact_mut(take)).enumerate() {
                let factor = l.splat(if source.weighted { p.m[j] } else { F::of(1.0) });
                for (k, term) in terms.iter_mut().enumerate() {
                    let part = &row[(first + k) * width..];
                    *term = l.mul(factor, if part.len() < width { rest(l, part) } else { l.load(part) });
                }
            }
        }
        for (some, slab) in rows.chunks(width * d).zip(p.columns.chunks_exact_mut(width * d)) {
            columns(l, some, slab, d);
        }
    }
}

/// Storing one panel with the width of the vectors known: `unit s - sigma z x`, and `z`.
pub struct StoreSums<'a, F> {
    /// Holds the sums s.
    pub panel: &'a TokenPanel<F>,
    /// Holds the sums z, in units of mass.
    pub totals: &'a TokenPanel<F>,
    pub tokens: &'a Tokens,
    /// The rows x.
    pub rows: &'a [f64],
    pub sigma: f64,
    /// From the first token of the panel on.
    pub drift: &'a mut [f64],
    /// From the first token of the panel on.
    pub mass: &'a mut [f64],
}

impl<F: Float> Task for StoreSums<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        let Self { panel: p, totals, tokens, rows, sigma, drift, mass } = self;
        let (d, width, unit) = (tokens.d(), L::WIDTH, tokens.uniform_mass().unwrap_or(1.0));
        let rows = &rows[p.start * d..(p.start + p.len) * d];
        for (j, mass) in mass[..p.len].iter_mut().enumerate() {
            *mass = unit * totals.total(l, j);
        }
        for (first, take) in groups::<L>(d) {
            let sums = L::view(&p.drift)[first * p.m.len()..].chunks_exact(take);
            for (((sums, drift), x), mass) in sums.zip(drift.chunks_exact_mut(d)).zip(rows.chunks_exact(d)).zip(&*mass) {
                let (unit, factor) = (l.constant(unit), l.constant(-sigma * mass));
                for (k, sum) in sums.iter().enumerate() {
                    let (x, drift) = (&x[(first + k) * width..], &mut drift[(first + k) * width..]);
                    let short = x.len() < width;
                    let v = l.fma(factor, if short { rest(l, x) } else { l.load(x) }, l.mul(unit, *sum));
                    if short {
                        let mut numbers = [0.0; 16];
                        l.store(v, &mut numbers);
                        drift.copy_from_slice(&numbers[..drift.len()]);
                    } else {
                        l.store(v, drift);
                    }
                }
            }
        }
    }
}

impl<F: Float> TokenPanel<F> {
    /// Sums of the weights of a vector of rows, in units of mass.
    #[inline(always)]
    pub fn masses<L: Lanes<F = F>>(&self, l: L, group: usize) -> L::V {
        l.add(L::view(&self.mass)[group], l.sums(&L::view(&self.led)[group * L::WIDTH..]))
    }

    /// Sum of the weights of row j, in units of mass.
    #[inline(always)]
    pub fn total<L: Lanes<F = F>>(&self, l: L, j: usize) -> f64 {
        self.mass[j].to_f64() + l.sum(L::view(&self.led)[j]).to_f64()
    }
}
