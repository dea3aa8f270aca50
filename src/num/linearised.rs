//! Maps linearised at a point: products of vectors with the Jacobian (jvp) and with its transpose
//! (vjp).

use super::sum::dot;

/// A map f at a point x, with its Jacobian J.
pub trait Linearised: Sync {
    /// `f(x)`.
    fn value(&self) -> &[f64];

    /// `J u`: the derivative in the direction u.
    fn jvp(&self, u: &[f64]) -> Vec<f64>;

    /// `J^T w`.
    fn vjp(&self, w: &[f64]) -> Vec<f64>;

    /// J, row-major.
    /// **Cost** one transposed product per row.
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

/// A composition of maps, each linearised at the value of the previous one.
pub struct Chain<'a> {
    start: Vec<f64>,
    maps: Vec<Box<dyn Linearised + 'a>>,
}

impl<'a> Chain<'a> {
    /// The empty composition: the identity at x.
    pub fn new(x: &[f64]) -> Self {
        Self { start: x.to_vec(), maps: Vec::new() }
    }

    /// Appends a map, which must be linearised at [`Linearised::value`] of the chain.
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

/// The largest singular value of J by power iteration on `J^T J`, started with h, and the relative
/// change in the last step.
/// **Accuracy** a lower bound.
/// **Cost** two products per step.
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
