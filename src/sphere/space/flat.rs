use super::place::Space;
use crate::geometry::chord2;

/// `R^d`.
pub struct Flat;

impl Space for Flat {
    fn name(&self) -> &'static str {
        "flat"
    }

    fn is_unit(&self) -> bool {
        false
    }

    fn settle(&self, d: usize, n: usize, numbers: &mut [f64]) -> Result<(), usize> {
        numbers[..n * d].iter().position(|v| !v.is_finite()).map_or(Ok(()), |k| Err(k / d))
    }

    fn project(&self, _: usize, _: &[f64], _: &mut [f64]) {}

    fn dist(&self, x: &[f64], y: &[f64]) -> f64 {
        chord2(x, y).sqrt()
    }
}
