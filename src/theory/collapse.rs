//! The theory's time of collapse for one run, from what is left of it when the theory becomes exact: two clusters (the two-cluster equation), or
//! a narrow cap (the rate at consensus).

use super::two_cluster::{merge_time_sa, merge_time_usa};
use crate::attention::TimeScale;
use crate::flow::{Frame, Observer};
use crate::sphere::geometry::dist;

/// Angle below which the linearised rate at consensus is used.
const NARROW: f64 = 0.05;

/// Watches a run and predicts when its tokens become one cluster at the given merge radius.
///
/// The prediction is made at the first step with two clusters more than 0.05 apart, else at the first step whose diameter is below 0.05.
#[derive(Debug)]
pub struct Forecast {
    beta: f64,
    usa: bool,
    radius: f64,
    two: Option<f64>,
    narrow: Option<f64>,
}

impl Forecast {
    /// A forecast for SA (`usa = false`) or USA in U1.
    pub fn new(beta: f64, usa: bool, radius: f64) -> Self {
        Self { beta, usa, radius, two: None, narrow: None }
    }

    /// The predicted time, if the run came close enough to be predicted.
    pub fn time(&self) -> Option<f64> {
        self.two.or(self.narrow)
    }

    fn merge_time(&self, alpha: f64, from: f64) -> Option<f64> {
        let time = if self.usa {
            merge_time_usa(self.beta, from, self.radius, TimeScale::U1, 2)
        } else {
            merge_time_sa(self.beta, alpha, from, self.radius)
        };
        time.ok().map(|t| t.value)
    }
}

impl Observer for Forecast {
    fn next_time(&self) -> Option<f64> {
        None
    }

    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let x = frame.tokens;
        if self.two.is_none() && x.n() == 2 {
            let angle = dist(x.row(0), x.row(1));
            if angle > NARROW {
                self.two = self.merge_time(x.masses()[0], angle).map(|t| frame.t + t);
            }
        }
        // The diameter costs n^2; tokens near the first one are cheap to rule out.
        let near = |x: &crate::sphere::Tokens| x.rows().all(|r| dist(r, x.row(0)) < NARROW);
        if self.narrow.is_none() && self.two.is_none() && x.n() >= 2 && near(x) {
            let diameter = x.diameter();
            // Near consensus all differences decay at the rate 1 (SA) or e^beta (USA).
            let rate = if self.usa { self.beta.exp() } else { 1.0 };
            self.narrow = Some(frame.t + (diameter / self.radius).ln() / rate);
        }
    }
}
