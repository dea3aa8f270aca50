//! Where the density lives and how it is moved, as data.

use crate::error::{Error, Result};

/// Where the density lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The circle.
    Circle,
    /// Axisymmetric on `S^{d-1}`.
    Zonal,
    /// All of `S^2`.
    Sphere2,
}

/// How it is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// A series while it resolves the density, then what is cheaper.
    Auto,
    /// A series.
    Spectral,
    /// Finite volumes.
    Volume,
    /// Particles that carry the density.
    Lagrangian,
}

impl Place {
    const ALL: [(&str, Self); 3] = [("circle", Self::Circle), ("zonal", Self::Zonal), ("sphere2", Self::Sphere2)];

    /// Parses a name. **Errors** another one.
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
    const ALL: [(&str, Self); 4] =
        [("auto", Self::Auto), ("spectral", Self::Spectral), ("volume", Self::Volume), ("lagrangian", Self::Lagrangian)];
    const WITHOUT_VOLUMES: [(&str, Self); 3] = [("auto", Self::Auto), ("spectral", Self::Spectral), ("lagrangian", Self::Lagrangian)];

    /// Parses a name. **Errors** one that this place has not.
    pub(super) fn parse(name: &str, place: Place) -> Result<Self> {
        named("method", name, place.methods())
    }
}

/// What a name stands for.
fn named<T: Copy>(kind: &'static str, name: &str, all: &[(&'static str, T)]) -> Result<T> {
    let found = all.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| Error::unknown(kind, name, all.iter().map(|(known, _)| *known)))
}
