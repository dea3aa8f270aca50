//! Where tokens live.

use super::geometry;

/// The place of tokens. Their numbers are `n d` coordinates, which attention reads, then `n` times [`Space::own`] numbers of the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The unit sphere of `R^d`.
    Sphere,
    /// `R^d`.
    Flat,
    /// Directions on the unit sphere and radii: `R^d` without 0 in polar coordinates. Attention reads directions.
    Polar,
}

impl Space {
    /// Its name.
    #[inline]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sphere => "sphere",
            Self::Flat => "flat",
            Self::Polar => "polar",
        }
    }

    /// Numbers of a token beside its d coordinates.
    #[inline]
    pub fn own(self) -> usize {
        usize::from(self == Self::Polar)
    }

    /// True where the coordinates of a token are a unit vector: what the kernel sums by chords are made for.
    #[inline]
    pub fn is_unit(self) -> bool {
        self != Self::Flat
    }

    /// Brings n tokens back to the space; the first that cannot be brought back otherwise.
    ///
    /// # Errors
    /// The index of that token.
    pub fn settle(self, d: usize, n: usize, numbers: &mut [f64]) -> Result<(), usize> {
        let (rows, radii) = numbers.split_at_mut(n * d);
        if self == Self::Flat {
            return rows.iter().position(|v| !v.is_finite()).map_or(Ok(()), |k| Err(k / d));
        }
        if let Some(i) = radii.iter().position(|r| !(*r > 0.0 && r.is_finite())) {
            return Err(i);
        }
        let mut lost = None;
        for (i, row) in rows.chunks_exact_mut(d).enumerate() {
            if !geometry::retract(row) {
                lost.get_or_insert(i);
            }
        }
        lost.map_or(Ok(()), Err)
    }

    /// Makes `v` (n d numbers) tangent at the coordinates `x`.
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

/// Space by name. `None` where there is none of that name.
///
/// ```
/// assert_eq!(metastable::sphere::space::find("polar").unwrap().own(), 1);
/// ```
#[inline]
pub fn find(name: &str) -> Option<Space> {
    [Space::Sphere, Space::Flat, Space::Polar].into_iter().find(|s| s.name() == name)
}
