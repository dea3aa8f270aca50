//! Renyi centres of an ordered list of tokens (causal attention, arXiv:2411.04990, section 5).

use crate::sphere::{Tokens, geometry::dist};

/// Renyi centres, found greedily: tokens at a distance above `delta` from all earlier centres, in
/// order.
pub fn find_renyi_centres(x: &Tokens, delta: f64) -> Vec<usize> {
    let mut centres: Vec<usize> = Vec::new();
    for i in 0..x.n() {
        if centres.iter().all(|&c| dist(x.row(c), x.row(i)) > delta) {
            centres.push(i);
        }
    }
    centres
}

/// Strong centres: tokens at a distance above `delta` from all earlier tokens.
///
/// ```
/// use metastable::{clusters::centres::{find_renyi_centres, find_strong_centres}, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.2, 0.45, 2.0]).unwrap();
/// assert_eq!(find_renyi_centres(&x, 0.3), [0, 2, 3]);
/// assert_eq!(find_strong_centres(&x, 0.3), [0, 3]);
/// ```
pub fn find_strong_centres(x: &Tokens, delta: f64) -> Vec<usize> {
    (0..x.n()).filter(|&i| (0..i).all(|j| dist(x.row(j), x.row(i)) > delta)).collect()
}
