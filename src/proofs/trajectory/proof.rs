//! What was found.

use super::start::Neighbourhood;

/// What ended a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The error outgrew the distance from every hemisphere.
    Growth,
    /// The enclosure of the field became the whole line.
    Enclosure,
    /// The polynomial does not follow the field.
    Defect,
    /// The same, where the enclosure may hold a point at rest: a symmetric start, or one on the way to a saddle.
    Symmetric,
    /// Too many steps or too long a time.
    Endless,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Growth, Self::Enclosure, Self::Defect, Self::Symmetric, Self::Endless];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Growth => "growth",
            Self::Enclosure => "enclosure",
            Self::Defect => "defect",
            Self::Symmetric => "symmetric?",
            Self::Endless => "endless",
        }
    }

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Growth => "growth: the error outgrew the distance from every hemisphere",
            Self::Enclosure => "enclosure: the bounds of the field became infinite",
            Self::Defect => "defect: no polynomial follows the field closely enough",
            Self::Symmetric => "symmetric? The growth does not end: the enclosure may hold a point at rest",
            Self::Endless => "endless: too many steps, or too long a time",
        }
    }
}

/// A part of a step: its end, a bound of the growth rate on it, a bound of the error on it, and kappa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) end: f64,
    pub(super) growth: f64,
    pub(super) tube: f64,
    pub(super) along: f64,
}

/// A step as it is written down.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stride {
    pub(super) h: f64,
    pub(super) pieces: Vec<Piece>,
    /// Where the next one starts.
    pub(super) x: Vec<f64>,
    /// Labels of points that become one, and where.
    pub(super) merged: Option<(Vec<usize>, Vec<f64>)>,
    /// The error bound after it, for readers.
    pub(super) error: f64,
}

/// A proof of convergence to one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    pub(super) start: Neighbourhood,
    pub(super) order: usize,
    pub(super) strides: Vec<Stride>,
    pub(super) direction: Vec<f64>,
    /// When all tokens are in an open hemisphere, by the time of the path; USA: in units of `e^{-beta}`.
    pub t: f64,
    /// How far that may be from the time of a solution, about: time is chosen as it suits the error.
    pub shift: f64,
    /// Bound of `(sum_i m_i |x_i - p_i|^2)^(1/2)` there, without the masses under a causal mask.
    pub error: f64,
    /// Integral of the growth rates.
    pub growth: f64,
}

impl Convergence {
    /// Steps of the path.
    pub fn steps(&self) -> usize {
        self.strides.len()
    }

    /// What is proved.
    pub fn statement(&self) -> String {
        self.start.statement()
    }
}

/// Where a proof was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// What ended it.
    pub cause: Cause,
    /// When.
    pub t: f64,
    /// The token that is deepest outside the best hemisphere, from 0.
    pub token: usize,
    /// Bound of the error then.
    pub error: f64,
    /// Integral of the growth rates.
    pub growth: f64,
    /// Integral of the bound of the defect.
    pub defect: f64,
    /// Steps until then.
    pub steps: usize,
}
