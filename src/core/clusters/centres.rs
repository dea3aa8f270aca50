//! Renyi centres of an ordered list of tokens (causal attention, arXiv:2411.04990, section 5).

use crate::sphere::{Tokens, geometry::dist};

/// Greedy centres: tokens at distance above `delta` from all earlier CENTRES, in order.
pub fn renyi(x: &Tokens, delta: f64) -> Vec<usize> {
    let mut centres: Vec<usize> = Vec::new();
    for i in 0..x.n() {
        if centres.iter().all(|&c| dist(x.row(c), x.row(i)) > delta) {
            centres.push(i);
        }
    }
    centres
}

/// Strong centres: tokens at distance above `delta` from all earlier TOKENS.
///
/// ```
/// use metastable::{clusters::centres::{renyi, strong}, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.2, 0.45, 2.0]).unwrap();
/// assert_eq!((renyi(&x, 0.3), strong(&x, 0.3)), (vec![0, 2, 3], vec![0, 3]));
/// ```
pub fn strong(x: &Tokens, delta: f64) -> Vec<usize> {
    (0..x.n()).filter(|&i| (0..i).all(|j| dist(x.row(j), x.row(i)) > delta)).collect()
}
