//! Orthographic charts of the sphere, computed by additions, products, quotients and roots only.

use crate::sphere::geometry::{project, retract};

/// Length of a vector of the plane, with a relative error of at most 2 eps; without a mathematical
/// library.
pub(super) fn length(v: [f64; 2]) -> f64 {
    (v[0] * v[0] + v[1] * v[1]).sqrt()
}

/// `1 - sqrt(1 - r^2)`, whose Taylor coefficients are all positive.
pub(super) fn sagitta(r: f64) -> f64 {
    r * r / (1.0 + (1.0 - r * r).sqrt())
}

/// The vector product.
fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The chart of the points `a e_1 + b e_2 + sqrt(1 - a^2 - b^2) c`.
#[derive(Clone, Copy)]
pub(super) struct Chart {
    pub centre: [f64; 3],
    /// Tangent axes, orthonormal up to rounding.
    pub axes: [[f64; 3]; 2],
}

impl Chart {
    /// The chart about the direction of `centre`, with the first axis along the tangent part of
    /// `along`.
    pub fn new(mut centre: [f64; 3], along: [f64; 3]) -> Self {
        // The error of the length is at most 2 eps, also in a long sequence of charts.
        retract(&mut centre);
        let mut e = along;
        project(&centre, &mut e);
        retract(&mut e);
        Self { centre, axes: [e, cross(&centre, &e)] }
    }

    /// The point of the sphere at these coordinates.
    pub fn point(&self, at: [f64; 2]) -> [f64; 3] {
        let up = 1.0 - sagitta(length(at).min(1.0));
        std::array::from_fn(|k| {
            at[0] * self.axes[0][k] + at[1] * self.axes[1][k] + up * self.centre[k]
        })
    }

    /// The chart about the point `middle`, and the half side of its square that contains the square
    /// of half side `half` of this chart about that point. Squares lie within 0.15 of the centres
    /// of their charts, and the axes turn by that; so coordinates grow by less than the fraction
    /// `3 * 0.15^2`.
    pub fn about(&self, middle: [f64; 2], half: f64) -> (Self, f64) {
        (Self::new(self.point(middle), self.axes[0]), 1.15 * half)
    }
}
