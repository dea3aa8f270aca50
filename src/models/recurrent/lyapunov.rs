//! Lyapunov exponents: how fast perturbations grow along a map, by QR of the tangent map in every layer.

use super::{TokenMap, at};
use crate::num::{stream::Stream, sum::dot};

/// The largest `count` exponents per layer of `map` along the orbit of `start` (rows of `d` numbers): layers `0..skip` turn the frame, the `layers`
/// after them are measured. Descending; `-inf` where a layer forgets a direction altogether.
///
/// **Cost** `count` derivatives and `count^2` products of `start.len()` numbers in every layer.
///
/// ```
/// use metastable::recurrent::{lyapunov::exponents, map, MapSpec};
/// let spec = MapSpec { n: 1, d: 4, layers: 50, gain: 1.0, seed: 1 };
/// let resnet = (map::find("resnet").unwrap().build)(&spec);
/// let all = exponents(resnet.as_ref(), &[0.1, 0.2, 0.3, 0.4], 4, (0, 50), 4);
/// assert!(all.len() == 4 && all[0] > all[3]);
/// ```
pub fn exponents(map: &dyn TokenMap, start: &[f64], d: usize, (skip, layers): (usize, usize), count: usize) -> Vec<f64> {
    let count = count.min(start.len());
    let mut frame = first_frame(start.len(), count);
    let mut sums = vec![0.0; count];
    let mut x = start.to_vec();
    for layer in 0..skip + layers {
        let here = at(map, layer, d, &x);
        frame = frame.iter().map(|u| here.push(u)).collect();
        let sizes = orthonormalise(&mut frame);
        if layer >= skip {
            sums.iter_mut().zip(&sizes).for_each(|(s, r)| *s += r.ln());
        }
        x = here.value();
    }
    sums.iter_mut().for_each(|s| *s /= layers.max(1) as f64);
    sums.sort_by(|a, b| b.total_cmp(a));
    sums
}

/// A fixed orthonormal frame without special directions.
fn first_frame(len: usize, count: usize) -> Vec<Vec<f64>> {
    let mut stream = Stream::new(1, &["lyapunov frame"]);
    let mut frame = vec![vec![0.0; len]; count];
    frame.iter_mut().for_each(|u| stream.normals(u));
    orthonormalise(&mut frame);
    frame
}

/// Gram and Schmidt, twice for orthogonality to rounding; what is left of each vector's length. A vector of which nothing is left stays 0.
fn orthonormalise(frame: &mut [Vec<f64>]) -> Vec<f64> {
    let mut sizes = Vec::with_capacity(frame.len());
    for k in 0..frame.len() {
        let (before, rest) = frame.split_at_mut(k);
        let Some(u) = rest.first_mut() else { break };
        for _ in 0..2 {
            for q in before.iter() {
                let along = dot(q, u);
                u.iter_mut().zip(q).for_each(|(u, q)| *u -= along * q);
            }
        }
        let size = dot(u, u).sqrt();
        let scale = if size > 0.0 { size.recip() } else { 0.0 };
        u.iter_mut().for_each(|v| *v *= scale);
        sizes.push(size);
    }
    sizes
}
