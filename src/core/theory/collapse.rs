//! Prediction of the collapse time of a run from the first state in which theory applies: two
//! clusters (two-cluster equation), or tokens in a narrow cap (linear rate at consensus).

use super::two_cluster::merge_time;
use crate::attention::{RowWeights, TimeScale, Variant};
use crate::flow::{Frame, Observer};
use crate::sphere::geometry::dist;

/// Diameter below which the linear rate at consensus is used.
const MAX_LINEAR_ANGLE: f64 = 0.05;

/// Observes a run and predicts when its tokens become one cluster at the given merge radius.
///
/// The prediction is made at the first step with two clusters more than 0.05 apart, else at the
/// first step whose diameter is below 0.05.
#[derive(Debug)]
pub struct CollapseTimePredictor {
    beta: f64,
    weights: RowWeights,
    radius: f64,
    two_cluster_time: Option<f64>,
    linear_time: Option<f64>,
}

impl CollapseTimePredictor {
    /// A predictor for SA, or for USA in the time scale U1; `None` for other dynamics and time
    /// scales.
    pub fn new(variant: Option<Variant>, scale: TimeScale, beta: f64, radius: f64) -> Option<Self> {
        let weights = match variant?.mutual_weights()? {
            RowWeights::Exponential if scale != TimeScale::U1 => return None,
            RowWeights::Sinkhorn => return None,
            weights => weights,
        };
        Some(Self { weights, beta, radius, two_cluster_time: None, linear_time: None })
    }

    /// The predicted time, if the run has reached a state in which theory applies.
    pub fn time(&self) -> Option<f64> {
        self.two_cluster_time.or(self.linear_time)
    }

    fn merge_time(&self, alpha: f64, from: f64) -> Option<f64> {
        let time =
            merge_time(self.weights, (TimeScale::U1, 2), self.beta, alpha, from, self.radius);
        time.ok().map(|t| t.value)
    }
}

impl Observer for CollapseTimePredictor {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let x = frame.tokens;
        if self.two_cluster_time.is_none() && x.n() == 2 {
            let angle = dist(x.row(0), x.row(1));
            if angle > MAX_LINEAR_ANGLE {
                self.two_cluster_time = self.merge_time(x.masses()[0], angle).map(|t| frame.t + t);
            }
        }
        // The diameter costs n^2 operations, so first check the distances to the first token.
        let near =
            |x: &crate::sphere::Tokens| x.rows().all(|r| dist(r, x.row(0)) < MAX_LINEAR_ANGLE);
        if self.linear_time.is_none() && self.two_cluster_time.is_none() && x.n() >= 2 && near(x) {
            let diameter = x.diameter();
            // Near consensus all differences decay at the rate 1 (SA) or e^beta (USA).
            let rate = self.weights.log_consensus_row_sum(self.beta).exp();
            self.linear_time = Some(frame.t + (diameter / self.radius).ln() / rate);
        }
    }
}
