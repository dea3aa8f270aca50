//! The register tile of all matrix products, and the grouping of vectors for it.

use super::simd::SimdOps;

/// `acc[r][v] += a[r] b[v]`: one number of each of R rows times V vectors.
#[inline(always)]
pub fn add_outer<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    a: &[L::F; R],
    b: &[L::V; V],
    acc: &mut [[L::V; V]; R],
) {
    for r in 0..R {
        let a = l.splat(a[r]);
        for v in 0..V {
            acc[r][v] = l.fma(a, b[v], acc[r][v]);
        }
    }
}

/// `sum_k a_rk b_k` for R rows and V vectors.
#[inline(always)]
pub fn product<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    rows: [&[L::F]; R],
    b: &[[L::V; V]],
) -> [[L::V; V]; R] {
    let mut acc = [[l.zero(); V]; R];
    for (k, b) in b.iter().enumerate() {
        let mut a = [L::F::default(); R];
        for r in 0..R {
            a[r] = rows[r][k];
        }
        add_outer(l, &a, b, &mut acc);
    }
    acc
}

/// [`product`] for a matrix stored by columns: R numbers from `from` on in every `stride`. Both are
/// multiples of R.
#[inline(always)]
pub fn product_of_columns<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    (a, stride, from): (&[L::F], usize, usize),
    b: &[[L::V; V]],
) -> [[L::V; V]; R] {
    let mut acc = settled::<L, R, V>([[l.zero(); V]; R]);
    for (a, b) in a.chunks_exact(stride).zip(b) {
        add_outer(l, &a.as_chunks().0[from / R], b, &mut acc);
    }
    settled::<L, R, V>(acc)
}

/// Adds the product of a slab (R lanes from `from` on in every vector) with V slabs; `from` is a
/// multiple of R.
#[inline(always)]
pub fn add_product_of_slabs<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    (a, from): (&[L::F], usize),
    mut b: [&[L::V]; V],
    mut acc: [[L::V; V]; R],
) -> [[L::V; V]; R] {
    let depth = a.len() / L::WIDTH;
    for b in &mut b {
        *b = &b[..depth];
    }
    for (k, a) in a.chunks_exact(L::WIDTH).enumerate().take(depth) {
        let mut terms = [l.zero(); V];
        for v in 0..V {
            terms[v] = b[v][k];
        }
        add_outer(l, &a.as_chunks().0[from / R], &terms, &mut acc);
    }
    settled::<L, R, V>(acc)
}

/// The same sums. Where registers are few, the code around a loop must not share them: else the
/// loop itself moves its sums through memory, which took a third of the time of attention heads.
#[inline(always)]
fn settled<L: SimdOps, const R: usize, const V: usize>(acc: [[L::V; V]; R]) -> [[L::V; V]; R] {
    if L::WIDE { acc } else { std::hint::black_box(acc) }
}

/// Packs up to one vector of rows of `d` numbers into a slab; lanes without a row are 0.
#[inline(always)]
pub fn fill<L: SimdOps>(l: L, rows: &[f64], d: usize, slab: &mut [L::V]) {
    let whole = if rows.len() == L::WIDTH * d { d - d % L::WIDTH } else { 0 };
    for first in (0..whole).step_by(L::WIDTH) {
        l.transpose(&rows[first..], d, &mut slab[first..]);
    }
    for (k, out) in slab.iter_mut().enumerate().skip(whole) {
        let mut column = [0.0; 16];
        for (c, row) in column.iter_mut().zip(rows.chunks_exact(d)) {
            *c = row[k];
        }
        *out = l.load(&column);
    }
}

/// Loads the first numbers of a slice; missing ones are 0.
#[inline(always)]
pub fn load<L: SimdOps>(l: L, part: &[f64]) -> L::V {
    if part.len() >= L::WIDTH {
        return l.load(part);
    }
    let mut numbers = [0.0; 16];
    numbers[..part.len()].copy_from_slice(part);
    l.load(&numbers)
}

/// Stores into the first numbers of a slice, or into all if there are fewer than lanes.
#[inline(always)]
pub fn store<L: SimdOps>(l: L, v: L::V, out: &mut [f64]) {
    if out.len() >= L::WIDTH {
        return l.store(v, out);
    }
    let mut numbers = [0.0; 16];
    l.store(v, &mut numbers);
    out.copy_from_slice(&numbers[..out.len()]);
}

/// Largest number of vectors in a group: 32 registers (`wide`) hold 8 rows of three sums, 16
/// registers 4 rows of two.
pub const fn max_group_len(wide: bool) -> usize {
    if wide { 3 } else { 2 }
}

/// Number of groups of at most `max_len` vectors (two or three).
pub fn group_count(vectors: usize, max_len: usize) -> usize {
    vectors.div_ceil(max_len)
}

/// First vector and number of vectors of a group. With threes, the last groups have two vectors
/// instead of leaving a single one.
pub fn group(vectors: usize, max_len: usize, g: usize) -> (usize, usize) {
    let twos = if max_len == 3 && vectors > 1 { (3 - vectors % 3) % 3 } else { 0 };
    let full = group_count(vectors, max_len) - twos;
    if g < full {
        (max_len * g, max_len.min(vectors - max_len * g))
    } else {
        (max_len * full + 2 * (g - full), 2)
    }
}

/// All groups in order.
pub fn groups(vectors: usize, max_len: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..group_count(vectors, max_len)).map(move |g| group(vectors, max_len, g))
}

/// Evaluates an expression with the number of vectors of a group as a constant. Only the sizes of
/// the instruction set are instantiated.
#[doc(hidden)]
#[macro_export]
macro_rules! with_vectors {
    ($lanes:ident, $take:expr, $n:ident => $call:expr) => {
        if $lanes::WIDE && $take == 3 {
            const $n: usize = 3;
            $call
        } else if $take == 2 {
            const $n: usize = 2;
            $call
        } else {
            const $n: usize = 1;
            $call
        }
    };
}

pub use with_vectors;

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn groups_cover_all_vectors_once() {
        for (max_len, vectors) in (1..40).flat_map(|n| [(2, n), (3, n)]) {
            let mut next = 0;
            for (first, len) in groups(vectors, max_len) {
                assert!(
                    first == next
                        && (1..=max_len).contains(&len)
                        && (len > 1 || max_len == 2 || vectors == 1),
                    "{vectors} {first}"
                );
                next = first + len;
            }
            assert_eq!(next, vectors);
        }
    }
}
