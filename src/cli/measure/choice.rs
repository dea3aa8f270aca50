//! The flags --space and --method as data.

use crate::error::{Error, Result};

/// The space of a density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DensitySpace {
    /// The circle.
    Circle,
    /// Axisymmetric on `S^{d-1}`.
    Zonal,
    /// All of `S^2`.
    Sphere2,
}

/// The numerical method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// A series while it resolves the density, then the cheapest other method.
    Auto,
    /// A series.
    Spectral,
    /// Finite volumes.
    Volume,
    /// Particles that carry the density.
    Lagrangian,
}

impl DensitySpace {
    const ALL: [(&str, Self); 3] =
        [("circle", Self::Circle), ("zonal", Self::Zonal), ("sphere2", Self::Sphere2)];

    /// Parses a name. **Errors** unknown names.
    pub(super) fn parse(name: &str) -> Result<Self> {
        named("space", name, &Self::ALL)
    }

    fn methods(self) -> &'static [(&'static str, Method)] {
        match self {
            Self::Circle => &Method::ALL,
            Self::Zonal | Self::Sphere2 => &Method::WITHOUT_VOLUMES,
        }
    }
}

impl Method {
    const ALL: [(&str, Self); 4] = [
        ("auto", Self::Auto),
        ("spectral", Self::Spectral),
        ("volume", Self::Volume),
        ("lagrangian", Self::Lagrangian),
    ];
    const WITHOUT_VOLUMES: [(&str, Self); 3] =
        [("auto", Self::Auto), ("spectral", Self::Spectral), ("lagrangian", Self::Lagrangian)];

    /// Parses a name. **Errors** a method that this space does not have.
    pub(super) fn parse(name: &str, space: DensitySpace) -> Result<Self> {
        named("method", name, space.methods())
    }
}

/// Finds the value of a name.
fn named<T: Copy>(kind: &'static str, name: &str, all: &[(&'static str, T)]) -> Result<T> {
    let found = all.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| Error::unknown(kind, name, all.iter().map(|(known, _)| *known)))
}
