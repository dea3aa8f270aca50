use super::observable::{Frame, Observer};
use crate::attention::{Dynamics, layer::Layer};
use crate::sphere::Tokens;
use std::sync::atomic::{AtomicBool, Ordering};

/// Applies `layers` layers; layer k is observed at time `k * dt` (the depth itself for mean shift, `dt = 1`). Returns the last tokens
/// and the number of layers done (fewer only when cancelled).
pub fn iterate(
    dynamics: &dyn Dynamics,
    start: &Tokens,
    layer: Layer,
    layers: usize,
    dt: f64,
    cancel: Option<&AtomicBool>,
    observers: &mut [&mut dyn Observer],
) -> (Tokens, usize) {
    let mut x = start.clone();
    let mut scratch = vec![0.0; x.coordinates().len()];
    let labels: Vec<usize> = (0..x.n()).collect();
    for k in 0..=layers {
        let t = k as f64 * dt;
        for observer in observers.iter_mut() {
            // A sample is due at the first layer whose time is not before it (up to rounding of k dt).
            let due = observer.next_time().is_some_and(|s| s <= t * (1.0 + 1e-12));
            if due || observer.every_step() {
                observer.observe(&Frame { t, tokens: &x, labels: &labels, dynamics });
            }
        }
        if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            return (x, k);
        }
        if k < layers {
            layer.step(dynamics, &mut x, &mut scratch);
        }
    }
    (x, layers)
}
