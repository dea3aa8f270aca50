//! Predictions of times under noise: `dX = v dt + sqrt(2/kappa) dW`, v in U1.

use super::{
    Accuracy, POSITIVE, POSITIVE_OR_NULL, Parameter, Prediction, Quantity, REAL, SA, Values, beta,
    d, n, quantity, real,
};
use crate::error::Result;
use crate::operation::{Kind, below, within};
use crate::theory::noisy_pair::NoisyPair;
use crate::theory::{phase_slip, two_cluster};
use serde_json::{Value, json};
use std::f64::consts::PI;

/// Largest inverse temperature of the noise.
const KAPPA: Parameter =
    real("kappa", f64::MIN_POSITIVE, 1e300, "Inverse temperature K of the noise sqrt(2/K) dW");

/// Probabilities whose times are computed.
const SHARES: &str = "0.05,0.5,0.95";

const fn error(key: &'static str, meaning: &'static str) -> Quantity {
    quantity(key, POSITIVE, meaning).accurate(Accuracy::ErrorBound)
}

pub static ALL: [Prediction; 2] = [
    Prediction {
        name: "noisy-merge-time",
        summary: "Life of two clusters under noise: mean, deviation and quantiles of the time until their angle is TO",
        source: "derived: diffusion of the angle of two clusters (metastable::theory::noisy_pair)",
        parameters: &[
            n(2.0, 1e9),
            d(2.0, 1e6),
            beta(0.0, 1e4),
            KAPPA,
            SA,
            real("from", 0.0, PI, "Angle at the start, in radians").or("3.141592653589793"),
            real("to", 0.0, PI, "Angle at the end, in radians, smaller"),
            Parameter::new("share", Kind::Real, below(0.0, 1.0), "Mass of the first cluster")
                .or("0.5"),
            Parameter::new(
                "quantiles",
                Kind::Numbers,
                within(1e-4, 0.9999),
                "Probabilities for which the time is given until which the angle is TO",
            )
            .or(SHARES),
        ],
        results: &[
            quantity("time", POSITIVE, "mean of the time").accurate(Accuracy::Key("error")),
            error("error", "of the mean: two orders of the same intervals, and rounding"),
            quantity("deviation", POSITIVE, "standard deviation of the time")
                .accurate(Accuracy::Relative(1e-10)),
            quantity(
                "time_without_noise",
                POSITIVE_OR_NULL,
                "the time for kappa to infinity; null from the antipode, where it is infinite",
            )
            .accurate(Accuracy::Relative(1e-11)),
            quantity("diffusion", POSITIVE, "of the angle: (1/n) (1/share + 1/(1 - share)) / kappa"),
            quantity("times", POSITIVE, "until which the angle is TO with these probabilities")
                .accurate(Accuracy::Key("times_error"))
                .column(),
            error("times_error", "of each of these times: two contours").column(),
            quantity("density", POSITIVE, "probability density of the time there")
                .accurate(Accuracy::Key("density_error"))
                .column(),
            error("density_error", "of the density").column(),
        ],
        run: noisy_merge_time,
    },
    Prediction {
        name: "phase-slip",
        summary: "Rate at which a token of one cluster on the circle makes a whole turn under noise",
        source: "derived: Eyring-Kramers; Lifson, Jackson, J. Chem. Phys. 36 (1962) 2410, for n = 2",
        parameters: &[n(2.0, 1e9), beta(0.0, 300.0), KAPPA],
        results: &[
            quantity("barrier", POSITIVE, "height of the saddle, 2 (n-1) sinh(beta)/(beta n)"),
            quantity("kappa_barrier", POSITIVE, "the law for large kappa needs at least 2"),
            quantity(
                "log_rate",
                REAL,
                "logarithm of the rate of one token in one direction, by the law for large kappa",
            ),
            quantity(
                "exact_log_rate",
                (f64::MIN, f64::MAX, true),
                "the same at this kappa for n = 2 and n = 3; null for n > 3, and where the rate is lost",
            )
            .accurate(Accuracy::Key("exact_log_rate_error")),
            quantity("exact_log_rate_error", POSITIVE_OR_NULL, "its error")
                .accurate(Accuracy::ErrorBound),
            quantity("equation", REAL, "of the angles"),
        ],
        run: slip,
    },
];

fn noisy_merge_time(v: &Values) -> Result<Value> {
    let pair = NoisyPair {
        beta: v.get("beta")?,
        share: v.get("share")?,
        n: v.get("n")?,
        d: v.get("d")?,
        kappa: v.get("kappa")?,
        weights: v.weights()?,
    };
    let (from, to): (f64, f64) = (v.get("from")?, v.get("to")?);
    let passage = pair.passage(from, to)?;
    let scale = (crate::attention::TimeScale::default(), 2);
    let without = (from < PI)
        .then(|| two_cluster::merge_time(pair.weights, scale, pair.beta, pair.share, from, to))
        .transpose()?;
    let mut law = passage.distribution();
    let mut rows = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for p in v.list("quantiles") {
        let (t, t_error) = law.quantile(p)?;
        let (density, density_error) = law.density(t)?;
        for (column, value) in rows.iter_mut().zip([t, t_error, density, density_error]) {
            column.push(value);
        }
    }
    let [times, times_error, density, density_error] = rows;
    Ok(json!({
        "time": passage.mean, "error": passage.mean_error, "deviation": passage.deviation,
        "time_without_noise": without.map(|t| t.value), "diffusion": pair.diffusion(),
        "quantiles": v.list("quantiles"),
        "times": times, "times_error": times_error, "density": density,
        "density_error": density_error,
    }))
}

fn slip(v: &Values) -> Result<Value> {
    let (n, beta, kappa): (usize, f64, f64) = (v.get("n")?, v.get("beta")?, v.get("kappa")?);
    let barrier = phase_slip::barrier(n, beta)?;
    let exact = match n {
        2 => phase_slip::log_rate_of_two(beta, kappa).map(|log| (log, 1e-12 * (1.0 + log.abs()))),
        3 => phase_slip::log_rate_of_three(beta, kappa),
        _ => Ok((f64::NAN, f64::NAN)),
    };
    let (log, error) = exact.unwrap_or((f64::NAN, f64::NAN));
    Ok(json!({
        "barrier": barrier, "kappa_barrier": kappa * barrier,
        "log_rate": phase_slip::log_rate(n, beta, kappa)?,
        "exact_log_rate": log, "exact_log_rate_error": error,
        "equation": "dX = v dt + sqrt(2/kappa) dW, v of usa in U1, masses 1/n",
    }))
}
