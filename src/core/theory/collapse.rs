//! The theory's time of collapse for one run, from what is left of it when the theory becomes exact: two clusters (the two-cluster equation), or
//! a narrow cap (the rate at consensus).

use super::two_cluster::merge_time;
use crate::attention::{RowWeights, TimeScale, Variant};
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
    weights: RowWeights,
    radius: f64,
    two: Option<f64>,
    narrow: Option<f64>,
}

impl Forecast {
    /// A forecast for SA, or for USA in U1; `None` for other attention and for USA in another time scale.
    pub fn new(variant: Option<Variant>, scale: TimeScale, beta: f64, radius: f64) -> Option<Self> {
        let weights = match variant?.mutual_weights()? {
            RowWeights::Exponential if scale != TimeScale::U1 => return None,
            RowWeights::Sinkhorn => return None,
            weights => weights,
        };
        Some(Self { weights, beta, radius, two: None, narrow: None })
    }

    /// The predicted time, if the run came close enough to be predicted.
    pub fn time(&self) -> Option<f64> {
        self.two.or(self.narrow)
    }

    fn merge_time(&self, alpha: f64, from: f64) -> Option<f64> {
        let time = merge_time(self.weights, (TimeScale::U1, 2), self.beta, alpha, from, self.radius);
        time.ok().map(|t| t.value)
    }
}

impl Observer for Forecast {
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
            let rate = self.weights.log_total(self.beta).exp();
            self.narrow = Some(frame.t + (diameter / self.radius).ln() / rate);
        }
    }
}
