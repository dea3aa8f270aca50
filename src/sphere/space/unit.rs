use super::place::Space;
use crate::geometry;

/// The unit sphere of `R^d`.
pub struct Sphere;

impl Space for Sphere {
    fn name(&self) -> &'static str {
        "sphere"
    }

    fn is_unit(&self) -> bool {
        true
    }

    fn settle(&self, d: usize, n: usize, numbers: &mut [f64]) -> Result<(), usize> {
        let mut lost = None;
        for (i, row) in numbers[..n * d].chunks_exact_mut(d).enumerate() {
            if !geometry::retract(row) {
                lost.get_or_insert(i);
            }
        }
        lost.map_or(Ok(()), Err)
    }

    fn project(&self, d: usize, x: &[f64], v: &mut [f64]) {
        x.chunks_exact(d).zip(v.chunks_exact_mut(d)).for_each(|(x, v)| geometry::project(x, v));
    }

    fn dist(&self, x: &[f64], y: &[f64]) -> f64 {
        geometry::dist(x, y)
    }
}
