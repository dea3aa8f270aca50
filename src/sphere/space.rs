//! State spaces of tokens.

use super::geometry;

/// The space of the tokens. A state has `n d` coordinates, which attention reads, followed by `n`
/// times [`Space::extra_per_token`] extra numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Space {
    /// The unit sphere of `R^d`.
    Sphere,
    /// `R^d`.
    Flat,
    /// Directions on the unit sphere, and radii: polar coordinates of `R^d` without 0. Attention
    /// reads the directions.
    Polar,
}

impl Space {
    /// The name.
    #[inline]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sphere => "sphere",
            Self::Flat => "flat",
            Self::Polar => "polar",
        }
    }

    /// Number of extra numbers per token, besides its d coordinates: 1 (the radius) for polar
    /// tokens, else 0.
    #[inline]
    pub fn extra_per_token(self) -> usize {
        usize::from(self == Self::Polar)
    }

    /// True if the coordinates of a token form a unit vector, as the kernels by chords require.
    #[inline]
    pub fn is_unit(self) -> bool {
        self != Self::Flat
    }

    /// Retracts n tokens to the space.
    ///
    /// # Errors
    ///
    /// The index of the first token that cannot be retracted: zero or not finite, or with a radius
    /// that is not positive.
    pub fn retract_rows(self, d: usize, n: usize, numbers: &mut [f64]) -> Result<(), usize> {
        let (rows, radii) = numbers.split_at_mut(n * d);
        if self == Self::Flat {
            return rows.iter().position(|v| !v.is_finite()).map_or(Ok(()), |k| Err(k / d));
        }
        if let Some(i) = radii.iter().position(|r| !(*r > 0.0 && r.is_finite())) {
            return Err(i);
        }
        let mut first_invalid = None;
        for (i, row) in rows.chunks_exact_mut(d).enumerate() {
            if !geometry::retract(row) {
                first_invalid.get_or_insert(i);
            }
        }
        first_invalid.map_or(Ok(()), Err)
    }

    /// Projects `v` (n d numbers) to the tangent spaces at the coordinates `x`.
    #[inline]
    pub fn project(self, d: usize, x: &[f64], v: &mut [f64]) {
        if self.is_unit() {
            x.chunks_exact(d).zip(v.chunks_exact_mut(d)).for_each(|(x, v)| geometry::project(x, v));
        }
    }

    /// Distance of two tokens with these coordinates.
    #[inline]
    pub fn dist(self, x: &[f64], y: &[f64]) -> f64 {
        if self.is_unit() { geometry::dist(x, y) } else { geometry::chord2(x, y).sqrt() }
    }
}

/// The space with this name.
///
/// ```
/// assert_eq!(metastable::sphere::space::find("polar").unwrap().extra_per_token(), 1);
/// ```
#[inline]
pub fn find(name: &str) -> Option<Space> {
    [Space::Sphere, Space::Flat, Space::Polar].into_iter().find(|s| s.name() == name)
}
