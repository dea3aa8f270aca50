//! Maps linearised at a point: products of the Jacobian and of its transpose with vectors.

use super::sum::dot;

/// A map f at a point x, with its Jacobian J.
pub trait Linearised: Sync {
    /// `f(x)`.
    fn value(&self) -> &[f64];

    /// `J u`: what a small change u of x becomes.
    fn jvp(&self, u: &[f64]) -> Vec<f64>;

    /// `J^T w`.
    fn vjp(&self, w: &[f64]) -> Vec<f64>;

    /// J, row-major. **Cost** a transposed product for each row.
    fn jacobian(&self) -> Vec<f64> {
        let mut unit = vec![0.0; self.value().len()];
        let mut out = Vec::new();
        for k in 0..unit.len() {
            unit[k] = 1.0;
            out.extend(self.vjp(&unit));
            unit[k] = 0.0;
        }
        out
    }
}

/// Maps one after the other, each linearised at the value of the one before it.
pub struct Chain<'a> {
    start: Vec<f64>,
    maps: Vec<Box<dyn Linearised + 'a>>,
}

impl<'a> Chain<'a> {
    /// No map: the identity at x.
    pub fn new(x: &[f64]) -> Self {
        Self { start: x.to_vec(), maps: Vec::new() }
    }

    /// Adds a map, which must be linearised at [`Linearised::value`] of the chain.
    pub fn push(&mut self, map: impl Linearised + 'a) {
        self.maps.push(Box::new(map));
    }
}

impl Linearised for Chain<'_> {
    fn value(&self) -> &[f64] {
        self.maps.last().map_or(&self.start, |m| m.value())
    }

    fn jvp(&self, u: &[f64]) -> Vec<f64> {
        self.maps.iter().fold(u.to_vec(), |u, m| m.jvp(&u))
    }

    fn vjp(&self, w: &[f64]) -> Vec<f64> {
        self.maps.iter().rev().fold(w.to_vec(), |w, m| m.vjp(&w))
    }
}

/// The largest singular value of J by power iteration on `J^T J` from h (as long as x), and the
/// relative change of the last step. **Accuracy** from below. **Cost** two products a step.
pub fn spectral_norm(at: &dyn Linearised, mut h: Vec<f64>, steps: usize) -> (f64, f64) {
    let (mut value, mut change) = (0.0, f64::INFINITY);
    for _ in 0..steps {
        let length = dot(&h, &h).sqrt();
        h.iter_mut().for_each(|v| *v /= length);
        let image = at.jvp(&h);
        let next = dot(&image, &image).sqrt();
        change = (next - value).abs() / next.max(f64::MIN_POSITIVE);
        value = next;
        h = at.vjp(&image);
    }
    (value, change)
}
