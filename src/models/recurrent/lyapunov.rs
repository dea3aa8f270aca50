//! Lyapunov exponents and mixing matrices of maps along an orbit.

use super::{TokenMap, linearise_layer};
use crate::num::lyapunov;
use crate::num::stream::Stream;
use std::convert::Infallible;

/// The largest `count` exponents per layer of `map` along the orbit of `start` (rows of `d`
/// numbers): the first `layers.0` layers only align the frame, the next `layers.1` layers are
/// measured. See [`lyapunov::exponents`].
///
/// ```
/// use metastable::recurrent::{lyapunov::exponents, map, MapSpec};
/// let spec = MapSpec { n: 1, d: 4, layers: 50, gain: 1.0, seed: 1 };
/// let resnet = (map::find("resnet").unwrap().build)(&spec);
/// let all = exponents(resnet.as_ref(), &[0.1, 0.2, 0.3, 0.4], 4, (0, 50), 4);
/// assert!(all.len() == 4 && all[0] > all[3]);
/// ```
pub fn exponents(
    map: &dyn TokenMap,
    start: &[f64],
    d: usize,
    layers: (usize, usize),
    count: usize,
) -> Vec<f64> {
    let mut stream = Stream::new(1, &["lyapunov frame"]);
    let Ok(found) = lyapunov::exponents(start, layers, count, &mut stream, |layer, x| {
        Ok::<_, Infallible>(linearise_layer(map, layer, d, x))
    });
    found
}

/// The [mixing matrix](lyapunov::mixing) of this number of layers.
pub fn mixing(map: &dyn TokenMap, x: &[f64], d: usize, layers: usize) -> Vec<f64> {
    let Ok(found) = lyapunov::mixing(x, d, layers, |layer, x| {
        Ok::<_, Infallible>(linearise_layer(map, layer, d, x))
    });
    found
}
