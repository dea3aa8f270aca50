//! Log-sum-exp and softmax, shifted so that no exponential has a positive argument.

use super::sum::Compensated;
use crate::{vector, vector::divide};

/// `log sum_i e^{l_i}`; `-inf` for an empty slice.
///
/// **Accuracy** `4u max(1, |value|)`. **Cost** n exponentials.
///
/// ```
/// use metastable::num::softmax::log_sum_exp;
/// assert!((log_sum_exp(&[1e4, 1e4]) - (1e4 + 2f64.ln())).abs() < 1e-11);
/// ```
#[inline]
pub fn log_sum_exp(logits: &[f64]) -> f64 {
    let top = vector::max(logits);
    if top.is_infinite() {
        return top;
    }
    let mut sum = Compensated::default();
    logits.iter().for_each(|l| sum.add((l - top).exp()));
    top + sum.value().ln()
}

/// Replaces logits by `m_i e^{l_i} / sum_k m_k e^{l_k}` and returns `log sum_k m_k e^{l_k}`.
/// Invariant under a common shift.
///
/// ```
/// use metastable::num::softmax::softmax;
/// let mut a = [1500.0, 1500.0 + 3f64.ln()];
/// softmax(&mut a, &[1.0, 1.0]);
/// assert!((a[1] - 0.75).abs() < 1e-12);
/// ```
#[inline]
pub fn softmax(logits: &mut [f64], masses: &[f64]) -> f64 {
    let top = vector::max(logits);
    let mut sum = Compensated::default();
    for (l, m) in logits.iter_mut().zip(masses) {
        *l = m * (*l - top).exp();
        sum.add(*l);
    }
    let total = sum.value();
    divide(logits, total);
    top + total.ln()
}
