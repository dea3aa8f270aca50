//! Events located by root finding on dense output.

use crate::attention::{Energy, EnergyScale};
use crate::sphere::{
    Tokens,
    cap::{Hemisphere, hemisphere},
    geometry::dist,
};

/// A function of the state. The event happens when the function rises from negative to nonnegative.
pub trait Event {
    /// Name in outcomes and tables.
    fn name(&self) -> String;
    /// The value of the function.
    fn value(&self, x: &Tokens) -> f64;
    /// The value inside the step at whose end [`Event::value`] was last called; override it if less
    /// work is enough there.
    fn value_inside_step(&self, x: &Tokens) -> f64 {
        self.value(x)
    }
}

/// What to do when an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventAction {
    /// Record the event and continue.
    Record,
    /// Stop the run at the event.
    Stop,
}

/// A located event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventHit {
    /// Index in the list of events; two events may have the same name.
    pub index: usize,
    /// Name of the event.
    pub name: String,
    /// Located time.
    pub t: f64,
}

/// All tokens enter a common open hemisphere.
pub struct EnterHemisphere;

impl Event for EnterHemisphere {
    fn name(&self) -> String {
        "enter-hemisphere".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        match hemisphere(x) {
            Hemisphere::Open { margin, .. } => margin,
            Hemisphere::None { .. } => -1.0,
        }
    }
}

/// The log energy (unit normalisation, at most 0 for positive beta) rises through a level.
pub struct EnergyLevel {
    /// Inverse temperature of the energy.
    pub beta: f64,
    /// Level of `log sum_ij m_i m_j e^{beta (G_ij - 1)}`.
    pub log_level: f64,
}

impl Event for EnergyLevel {
    fn name(&self) -> String {
        format!("energy-level {}", self.log_level)
    }

    fn value(&self, x: &Tokens) -> f64 {
        Energy::new(self.beta, EnergyScale::Unit).log_unit(x) - self.log_level
    }
}

/// The last token leaves the cap of given centre and radius.
pub struct EscapeCap {
    /// Centre, a unit vector.
    pub centre: Vec<f64>,
    /// Geodesic radius.
    pub radius: f64,
}

impl Event for EscapeCap {
    fn name(&self) -> String {
        format!("escape-cap {}", self.radius)
    }

    fn value(&self, x: &Tokens) -> f64 {
        x.rows().map(|r| dist(r, &self.centre)).fold(f64::INFINITY, f64::min) - self.radius
    }
}
