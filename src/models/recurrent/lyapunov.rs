//! Lyapunov exponents: how fast perturbations grow along a map, by QR of the tangent map in every layer.

use super::{TokenMap, at};
use crate::num::{dense::orthonormalise, stream::Stream};

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
        frame = frame.chunks_exact(x.len()).flat_map(|u| here.push(u)).collect();
        let r = orthonormalise(&mut frame, x.len());
        if layer >= skip {
            sums.iter_mut().enumerate().for_each(|(k, s)| *s += r[k * count + k].ln());
        }
        x = here.value();
    }
    sums.iter_mut().for_each(|s| *s /= layers.max(1) as f64);
    sums.sort_by(|a, b| b.total_cmp(a));
    sums
}

/// A fixed orthonormal frame without special directions.
fn first_frame(len: usize, count: usize) -> Vec<f64> {
    let mut frame = vec![0.0; len * count];
    Stream::new(1, &["lyapunov frame"]).normals(&mut frame);
    orthonormalise(&mut frame, len);
    frame
}
