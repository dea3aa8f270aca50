//! Sums whose rounding depends only on the length of the data, not on the number of threads.

/// Terms that are summed sequentially; longer sums are split pairwise.
pub const BLOCK: usize = 256;

/// Sum over blocks of [`BLOCK`] terms, each with compensation, then pairwise over the blocks.
///
/// **Accuracy** relative error below `2u + O(log(n) u)` for terms of one sign.
/// **Cost** `4n` additions.
///
/// ```
/// use metastable::num::sum::block_sum;
/// let terms = [1e16, 1.0, -1e16, 1.0];
/// assert_eq!(block_sum(&terms), 2.0);
/// ```
#[inline]
pub fn block_sum(terms: &[f64]) -> f64 {
    if terms.len() <= BLOCK {
        let mut acc = Compensated::default();
        terms.iter().for_each(|&t| acc.add(t));
        return acc.value();
    }
    let blocks = terms.len().div_ceil(BLOCK);
    let (left, right) = terms.split_at(blocks.div_ceil(2) * BLOCK);
    block_sum(left) + block_sum(right)
}

/// Inner product with the blocks of [`block_sum`].
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    dot_inlined(a, b)
}

/// [`dot`], inlined into the caller: inside a [`SimdKernel`](super::simd::SimdKernel) it is
/// compiled for the instruction set. The result is the same.
#[inline(always)]
pub fn dot_inlined(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    if a.len() <= BLOCK {
        return short_dot(a, b);
    }
    let blocks = a.len().div_ceil(BLOCK);
    let cut = blocks.div_ceil(2) * BLOCK;
    dot(&a[..cut], &b[..cut]) + dot(&a[cut..], &b[cut..])
}

/// Eight interleaved sums, which compilers vectorise, then the remaining terms.
#[inline(always)]
fn short_dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a8, a_rest), (b8, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    if a8.is_empty() {
        return rest;
    }
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest
}

/// Neumaier's compensated sum: after n additions the error is `2u` relative to the result plus
/// `n^2 u^2` relative to the terms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compensated {
    sum: f64,
    carry: f64,
}

impl Compensated {
    /// Adds one term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let total = self.sum + term;
        self.carry += if self.sum.abs() >= term.abs() {
            (self.sum - total) + term
        } else {
            (term - total) + self.sum
        };
        self.sum = total;
    }

    /// The rounded sum.
    #[inline]
    pub fn value(self) -> f64 {
        self.sum + self.carry
    }
}
