use super::place::Space;
use super::unit::Sphere;

/// Directions on the unit sphere and radii: `R^d` without 0 in polar coordinates. Attention reads directions.
pub struct Polar;

impl Space for Polar {
    fn name(&self) -> &'static str {
        "polar"
    }

    fn own(&self) -> usize {
        1
    }

    fn is_unit(&self) -> bool {
        true
    }

    fn settle(&self, d: usize, n: usize, numbers: &mut [f64]) -> Result<(), usize> {
        if let Some(i) = numbers[n * d..].iter().position(|r| !(*r > 0.0 && r.is_finite())) {
            return Err(i);
        }
        Sphere.settle(d, n, numbers)
    }

    fn project(&self, d: usize, x: &[f64], v: &mut [f64]) {
        Sphere.project(d, x, v);
    }

    fn dist(&self, x: &[f64], y: &[f64]) -> f64 {
        Sphere.dist(x, y)
    }
}
