//! Facets: squares of the faces of a cube, equal in angle, projected to the sphere. Their edges are
//! great circles and their areas differ by less than a half.

use super::chart::Chart;
use crate::num::sum::dot;
use crate::sphere::geometry::{chord2, retract};
use std::f64::consts::FRAC_PI_4;

/// A facet, by its ranges of the coordinates u, v of a face of the cube: angles in units of pi/4,
/// in `[-1, 1]`.
#[derive(Clone)]
pub(super) struct Facet {
    face: usize,
    u: (f64, f64),
    v: (f64, f64),
}

impl Facet {
    /// Facet `(i, j)` of a face that is cut into `per_face` by `per_face`.
    pub fn new(face: usize, (i, j): (usize, usize), per_face: usize) -> Self {
        let edge = |i: usize| -1.0 + 2.0 * i as f64 / per_face as f64;
        Self { face, u: (edge(i), edge(i + 1)), v: (edge(j), edge(j + 1)) }
    }

    /// The face of a point of the sphere, and the indices of its facet.
    pub fn of(x: &[f64], per_face: usize) -> (usize, (usize, usize)) {
        let axis = (0..3).fold(0, |a, k| if x[k].abs() > x[a].abs() { k } else { a });
        let index = |k: usize| {
            let t = (x[k] / x[axis].abs()).atan() / FRAC_PI_4;
            ((0.5 * (t + 1.0) * per_face as f64) as usize).min(per_face - 1)
        };
        let (u, v) = [(1, 2), (0, 2), (0, 1)][axis];
        (2 * axis + usize::from(x[axis] < 0.0), (index(u), index(v)))
    }

    /// A point of the sphere. Neighbours compute their common edges from the same numbers. So the
    /// facets cover the sphere whatever the error of the tangent, if it is 1 at the edges of faces.
    fn point(&self, u: f64, v: f64) -> [f64; 3] {
        let tan = |t: f64| if t.abs() < 1.0 { (FRAC_PI_4 * t).tan() } else { t };
        let mut p = self.on_face(tan(u), tan(v), 1.0);
        retract(&mut p);
        p
    }

    /// The point with coordinates u, v in the face and `w` across it.
    fn on_face(&self, u: f64, v: f64, w: f64) -> [f64; 3] {
        let s = if self.face.is_multiple_of(2) { w } else { -w };
        match self.face / 2 {
            0 => [s, u, v],
            1 => [u, s, v],
            _ => [u, v, s],
        }
    }

    pub fn centre(&self) -> [f64; 3] {
        self.point(0.5 * (self.u.0 + self.u.1), 0.5 * (self.v.0 + self.v.1))
    }

    pub fn corners(&self) -> [[f64; 3]; 4] {
        [(self.u.0, self.v.0), (self.u.0, self.v.1), (self.u.1, self.v.0), (self.u.1, self.v.1)]
            .map(|(u, v)| self.point(u, v))
    }

    /// Upper bound of the chord from the centre to the farthest corner, and so to any point, with a
    /// margin for rounding.
    pub fn radius(&self) -> f64 {
        let c = self.centre();
        self.corners().iter().map(|p| chord2(&c, p)).fold(0.0, f64::max).sqrt() * (1.0 + 1e-9)
            + 1e-15
    }

    /// Half the side of a square of the chart about the centre that contains the facet. Edges are
    /// great circles; in the chart they bulge by less than radius^3/2 beyond their corners, since a
    /// point of the arc is a convex combination of the corners divided by a length of at least
    /// `1 - radius^2/2`.
    pub fn half_side(&self) -> f64 {
        let (Chart { axes, .. }, radius) = (self.chart(), self.radius());
        let half = self
            .corners()
            .iter()
            .fold(0.0f64, |m, p| m.max(dot(&axes[0], p).abs()).max(dot(&axes[1], p).abs()));
        (half + radius * radius * radius) * (1.0 + 1e-9) + 1e-15
    }

    /// The chart at the centre, with the first axis along u.
    pub fn chart(&self) -> Chart {
        Chart::new(self.centre(), self.on_face(1.0, 0.0, 0.0))
    }

    pub fn quarters(&self) -> [Self; 4] {
        let (u, v) = (0.5 * (self.u.0 + self.u.1), 0.5 * (self.v.0 + self.v.1));
        let part = |u: (f64, f64), v: (f64, f64)| Self { face: self.face, u, v };
        [
            part((self.u.0, u), (self.v.0, v)),
            part((u, self.u.1), (self.v.0, v)),
            part((self.u.0, u), (v, self.v.1)),
            part((u, self.u.1), (v, self.v.1)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream::Stream;

    #[test]
    fn every_point_lies_in_its_facet() {
        let mut stream = Stream::new(1, &["cells"]);
        for _ in 0..20_000 {
            let x: [f64; 3] = std::array::from_fn(|_| stream.normal());
            let (face, index) = Facet::of(&x, 7);
            let facet = Facet::new(face, index, 7);
            let mut unit = x;
            retract(&mut unit);
            assert!(chord2(&unit, &facet.centre()).sqrt() <= facet.radius());
            let (axes, half) = (facet.chart().axes, facet.half_side());
            assert!(
                dot(&axes[0], &unit).abs().max(dot(&axes[1], &unit).abs()) <= half
                    && half < 1.1 * facet.radius()
            );
            assert!(
                facet.quarters().iter().any(|q| chord2(&unit, &q.centre()).sqrt() <= q.radius())
            );
        }
    }
}
