//! `predict`: closed forms and reduced equations.

use super::input::count;
use super::output::{FEW, Output, note};
use super::predict_rows::RowPredictions;
use super::predict_words::{check, meaning};
use crate::attention::{RowWeights, TimeScale, dynamics};
use crate::error::{Error, Result};
use crate::theory::{equiangular::Equiangular, growth, kac_rice, noise, parking, spectra, threshold, two_cluster, uniform, wendel};
use clap::Subcommand;
use serde_json::{Value, json};

/// Flags of `predict`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Time normalisation of USA: u1 (default), u2, u3 or u4.
    #[arg(long, global = true, help_heading = "Time")]
    time_scale: Option<String>,
}

#[derive(Subcommand)]
enum What {
    /// Common inner product gamma(t) from an orthonormal (or equiangular) start.
    Gamma {
        /// Number of tokens.
        #[arg(long, allow_hyphen_values = true)]
        n: i64,
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// sa or usa.
        #[arg(long, default_value = "sa")]
        dynamics: String,
        /// Times, separated by commas; for USA in the units of --time-scale.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
        times: Vec<f64>,
        /// Common inner product at time 0, gamma(0), in (-1/(n-1), 1).
        #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
        start: f64,
    },
    /// Time at which gamma reaches a level.
    LevelTime {
        /// Number of tokens.
        #[arg(long, allow_hyphen_values = true)]
        n: i64,
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// sa or usa.
        #[arg(long, default_value = "sa")]
        dynamics: String,
        /// The level, e.g. 0.999.
        #[arg(long, default_value_t = 0.999, allow_hyphen_values = true)]
        level: f64,
        /// Common inner product at time 0, gamma(0), in (-1/(n-1), 1).
        #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
        start: f64,
    },
    /// Linear growth rates of the modes k = 0..K of the uniform measure.
    GrowthRates {
        /// Ambient dimension; tokens live on S^(d-1).
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// sa, usa or sinkhorn.
        #[arg(long, default_value = "sa")]
        dynamics: String,
        /// The last mode K.
        #[arg(long, allow_hyphen_values = true)]
        modes: i64,
    },
    /// Time in which two tokens close from one angle to another.
    TwoTokenTime {
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// sa or usa.
        #[arg(long, default_value = "sa")]
        dynamics: String,
        /// Angle at the beginning, in radians, in (0, pi).
        #[arg(long, allow_hyphen_values = true)]
        from: f64,
        /// Angle at the end, in radians, smaller.
        #[arg(long, allow_hyphen_values = true)]
        to: f64,
    },
    /// The same for two clusters of masses ALPHA and 1 - ALPHA.
    TwoClusterTime {
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// sa or usa.
        #[arg(long, default_value = "sa")]
        dynamics: String,
        /// Angle at the beginning, in radians, in (0, pi).
        #[arg(long, allow_hyphen_values = true)]
        from: f64,
        /// Angle at the end, in radians, smaller.
        #[arg(long, allow_hyphen_values = true)]
        to: f64,
        /// Mass of the first cluster.
        #[arg(long, default_value_t = 0.5, allow_hyphen_values = true)]
        mass: f64,
    },
    /// Thresholds of beta beyond which one cluster forms for almost every start.
    Threshold {
        /// Number of tokens.
        #[arg(long, allow_hyphen_values = true)]
        n: i64,
        /// Ambient dimension; tokens live on S^(d-1).
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
    },
    /// Probability that n uniform tokens lie in a common hemisphere.
    Wendel {
        /// Number of tokens.
        #[arg(long, allow_hyphen_values = true)]
        n: i64,
        /// Ambient dimension.
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
    },
    /// Spectrum of the flow at consensus.
    Consensus {
        /// Number of tokens.
        #[arg(long, allow_hyphen_values = true)]
        n: i64,
        /// Ambient dimension; tokens live on S^(d-1).
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// Any registered dynamics: sa, usa, causal-sa, ... (`list dynamics`).
        #[arg(long, default_value = "sa")]
        dynamics: String,
        /// Inverse temperature.
        #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
        beta: f64,
    },
    /// Growth rates of m equal clusters at a regular polygon.
    Polygon {
        /// Number of clusters.
        #[arg(long, allow_hyphen_values = true)]
        m: i64,
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// sa or usa.
        #[arg(long, default_value = "sa")]
        dynamics: String,
    },
    /// Expected number of modes of a kernel density estimate.
    KacRice {
        /// Number of samples on the line.
        #[arg(long, allow_hyphen_values = true, required_unless_present_any = ["circle", "sphere"])]
        n: Option<i64>,
        /// Inverse temperature: bandwidth beta^(-1/2) on the line, kernel e^(beta <x, y>) elsewhere.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// Half width of the interval (default T* = sqrt(2 log n - log beta)).
        #[arg(long, allow_hyphen_values = true)]
        interval: Option<f64>,
        /// Many uniform samples on the circle instead of normal samples on the line.
        #[arg(long, conflicts_with_all = ["n", "interval"])]
        circle: bool,
        /// Many uniform samples on S^2.
        #[arg(long, conflicts_with_all = ["n", "interval", "circle"])]
        sphere: bool,
    },
    /// Noisy USA: thresholds of the modes and the inverse temperature where the transition becomes discontinuous.
    Noise {
        /// Ambient dimension; tokens live on S^(d-1).
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// Modes 1..K.
        #[arg(long, default_value_t = 4, allow_hyphen_values = true)]
        modes: i64,
    },
    /// Renyi centres of causal attention: expected numbers at radius c beta^{-1/2}.
    Parking {
        /// Number of tokens.
        #[arg(long, allow_hyphen_values = true)]
        n: i64,
        /// Ambient dimension; tokens live on S^(d-1).
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// Radius in kernel widths.
        #[arg(long, default_value_t = 4.0, allow_hyphen_values = true)]
        c: f64,
    },
    /// log E_beta of the uniform measure and of a Dirac mass.
    EnergyRange {
        /// Ambient dimension; tokens live on S^(d-1).
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// Inverse temperature, positive.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
    },
    #[command(flatten)]
    Rows(RowPredictions),
}

/// A value for people: numbers with all digits, the first of a long list, words without quotes.
fn words(value: &Value) -> String {
    match value {
        Value::Array(all) => {
            let few: Vec<String> = all.iter().take(FEW).map(words).collect();
            let rest = if all.len() > FEW { format!(", ... {} numbers (--format csv)", all.len()) } else { String::new() };
            format!("{}{rest}", few.join(", "))
        }
        Value::String(text) => text.clone(),
        Value::Number(v) => v.as_f64().map_or_else(|| v.to_string(), crate::error::show),
        other => other.to_string(),
    }
}

/// The weights of SA or USA.
fn weights(name: &str) -> Result<RowWeights> {
    RowWeights::parse(name, &[RowWeights::Softmax, RowWeights::Exponential])
}

fn beta_of(beta: f64) -> Result<f64> {
    crate::error::in_range("--beta", beta, 0.0, 1e6)
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let scale = self.time_scale.as_deref().map_or(Ok(TimeScale::default()), TimeScale::parse)?;
        let json = self.what.value(scale)?;
        check(&json)?;
        if let (Some(given), true) = (&self.time_scale, json["normalisation"].is_null()) {
            return Err(Error::parameter("--time-scale", given, "none: this does not depend on the time normalisation of USA"));
        }
        let lines = json.as_object().into_iter().flatten().filter(|(_, v)| !v.is_null());
        let text: String = lines
            .map(|(k, v)| format!("{}: {}\n{}", k.replace('_', " "), words(v), meaning(k).map_or(String::new(), |m| format!("    {m}\n"))))
            .collect();
        out.result(&json, text.trim_end());
        Ok(0)
    }
}

impl What {
    fn value(self, scale: TimeScale) -> Result<Value> {
        let curve = |n: i64, beta: f64, dynamics: &str| -> Result<Equiangular> {
            let (n, beta) = (count("--n", n, 2, i64::from(i32::MAX))?, beta_of(beta)?);
            Equiangular::new(weights(dynamics)?, n, beta, scale)
        };
        let normalisation = |dynamics: &str| weights(dynamics).map(|w| w.time_scale(scale));
        Ok(match self {
            Self::Gamma { n, beta, dynamics, times, start } => {
                let curve = curve(n, beta, &dynamics)?;
                let found = times.iter().map(|t| curve.resolved(start, *t)).collect::<Result<Vec<_>>>()?;
                let (gamma, error): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
                for (t, e) in times.iter().zip(&error).filter(|(_, e)| **e > 1e-6) {
                    note(&format!("at t = {t:e} gamma changes by {e:.1e} within the rounding of t"));
                }
                json!({"gamma": gamma, "gamma_error": error, "times": times, "normalisation": normalisation(&dynamics)?})
            }
            Self::LevelTime { n, beta, dynamics, level, start } => {
                let time = curve(n, beta, &dynamics)?.level_time(start, level)?;
                json!({"time": time.value, "error": time.error, "normalisation": normalisation(&dynamics)?})
            }
            Self::GrowthRates { d, beta, dynamics, modes } => {
                let (d, modes) = (count("--d", d, 2, 1_000_000)?, count("--modes", modes, 0, 100_000)?);
                growth_rates(d, beta_of(beta)?, modes, &dynamics, scale)?
            }
            Self::TwoTokenTime { beta, dynamics, from, to } => merge(beta, &dynamics, from, to, 0.5, scale)?,
            Self::TwoClusterTime { beta, dynamics, from, to, mass } => merge(beta, &dynamics, from, to, mass, scale)?,
            Self::Threshold { n, d } => thresholds(count("--n", n, 1, 1_000_000_000)?, count("--d", d, 2, 1_000_000_000)?),
            Self::Wendel { n, d } => {
                json!({"probability": wendel::probability(count("--n", n, 1, 10_000_000)?, count("--d", d, 1, 10_000_000)?)})
            }
            Self::Consensus { n, d, dynamics, beta } => {
                let (n, d) = (count("--n", n, 1, 10_000)?, count("--d", d, 2, 10_000)?);
                consensus(n, d, &dynamics, beta, scale)?
            }
            Self::Polygon { m, beta, dynamics } => {
                let m = count("--m", m, 2, 5_000)?;
                let normalisation = normalisation(&dynamics)?;
                let factor = if normalisation.is_some() { scale.log_factor(beta, m).exp() } else { 1.0 };
                let rates: Vec<f64> = spectra::polygon(weights(&dynamics)?, m, beta_of(beta)?)?.iter().map(|r| r * factor).collect();
                if rates.iter().any(|r| !r.is_finite()) {
                    return Err(Error::Beyond { quantity: "a USA polygon rate".into(), hint: "use --dynamics sa".into() });
                }
                json!({"rates": rates, "normalisation": normalisation})
            }
            Self::KacRice { beta, circle: true, .. } => json!({"expected_modes": kac_rice::expected_modes_circle(beta)?}),
            Self::KacRice { beta, sphere: true, .. } => json!({"expected_modes": kac_rice::expected_modes_sphere(beta)?}),
            Self::Noise { d, beta, modes } => {
                let (d, modes) = (count("--d", d, 2, 1_000_000)?, count("--modes", modes, 1, 1000)?);
                noisy(d, beta, modes)?
            }
            Self::Rows(rows) => rows.value()?,
            Self::KacRice { n, beta, interval, .. } => modes(n.unwrap_or(0), beta, interval)?,
            Self::Parking { n, d, beta, c } => parking_centres(count("--n", n, 1, i64::MAX)?, count("--d", d, 2, 1_000_000)?, beta, c)?,
            Self::EnergyRange { d, beta } => {
                let d = count("--d", d, 2, 1_000_000)?;
                let beta = crate::error::in_range("--beta", beta, f64::MIN_POSITIVE, 1e6)?;
                json!({"log_energy_uniform": uniform::log_energy_uniform(d, beta), "log_energy_dirac": uniform::log_energy_dirac(beta)})
            }
        })
    }
}

/// Growth rates, the fastest mode, and where the next ones become the fastest (the same for SA and USA).
fn growth_rates(d: usize, beta: f64, modes: usize, dynamics: &str, scale: TimeScale) -> Result<Value> {
    let weights = RowWeights::parse(dynamics, &RowWeights::ALL)?;
    let rates = growth::rates(weights, d, beta, modes, scale, 1)?;
    let switches = (weights != RowWeights::Sinkhorn).then(|| growth::switch_points(d, modes.saturating_sub(1).min(20)));
    // For large beta SA and USA are fastest at sqrt(2 beta), Sinkhorn attention at 1.6 sqrt(beta).
    let enough = modes.max((2.0 * beta.max(0.0).sqrt()) as usize + 3);
    let fastest = growth::fastest_mode(&growth::rates(weights, d, beta, enough, scale, 1)?);
    Ok(
        json!({"rates": rates, "fastest": fastest, "switch_points": switches.and_then(Result::ok), "normalisation": weights.time_scale(scale)}),
    )
}

/// Thresholds of noisy USA.
fn noisy(d: usize, beta: f64, modes: usize) -> Result<Value> {
    let thresholds = (1..=modes).map(|k| noise::threshold(d, k, beta)).collect::<Result<Vec<_>>>()?;
    let equation = "dX = v dt + sqrt(2/kappa) dW, v in U1";
    Ok(json!({"kappa": thresholds, "kappa_c": thresholds[0], "beta_star": noise::beta_star(d)?, "equation": equation}))
}

/// Expected number of modes of normal samples on the line.
fn modes(n: i64, beta: f64, interval: Option<f64>) -> Result<Value> {
    let n = count("--n", n, 2, 1_000_000_000_000)? as f64;
    let beta = crate::error::in_range("--beta", beta, 1e-6, 1e12)?;
    let interval = interval.map_or_else(|| kac_rice::default_interval(n, beta), Ok)?;
    // Both are about large beta: the order is that of sqrt(beta log beta).
    let leading = (beta > 1.0).then(|| kac_rice::leading_modes(n, beta));
    let constant = leading.map(|leading| leading / (beta * beta.ln()).sqrt());
    Ok(
        json!({"expected_modes": kac_rice::expected_modes(n, beta, interval)?, "interval": interval, "leading_order": leading, "leading_constant": constant}),
    )
}

/// All thresholds beside each other.
fn thresholds(n: usize, d: usize) -> Value {
    json!({
        "sharp": threshold::sharp(n, d),
        "paper_proof": threshold::paper_proof(n, d),
        "paper_circle": if d == 2 { json!(threshold::paper_circle(n)) } else { Value::Null },
        "small_beta": 1.0 / n as f64,
        "all_beta": "theorem: one cluster for almost every start, every beta >= 0 (d >= 3: 2312.10794, Theorem 6.1; d = 2: 2507.22857)",
    })
}

/// Expected numbers of Renyi centres.
fn parking_centres(n: usize, d: usize, beta: f64, c: f64) -> Result<Value> {
    let beta = crate::error::in_range("--beta", beta, 1e-6, 1e12)?;
    let delta = crate::error::in_range("--c / sqrt(beta)", c / beta.sqrt(), 1e-9, std::f64::consts::PI)?;
    let ordinary = (d == 2).then_some(parking::RENYI * std::f64::consts::TAU / delta);
    Ok(
        json!({"delta": delta, "strong_centres": parking::strong_centres(n, d, delta)?, "strong_centres_limit": 1.0 / parking::cap_share(d, delta)?,
        "ordinary_centres_limit": ordinary, "parking_constant": parking::RENYI}),
    )
}

/// Eigenvalues at consensus.
fn consensus(n: usize, d: usize, name: &str, beta: f64, scale: TimeScale) -> Result<Value> {
    if n * d > 1_000_000 {
        return Err(Error::parameter("--n, --d", format!("{n}, {d}"), "at most 1000000 coordinates"));
    }
    let known = dynamics::ALL.iter().filter_map(|e| e.variant.filter(|v| spectra::has_consensus(*v)).map(|v| (e.name, v)));
    let found = known.clone().find(|(known, _)| *known == name);
    let (_, variant) = found.ok_or_else(|| Error::unknown("dynamics", name, known.map(|(known, _)| known)))?;
    let eigenvalues = spectra::consensus(variant, n, d, beta, scale)?;
    Ok(json!({"eigenvalues": eigenvalues, "normalisation": variant.weights.time_scale(scale)}))
}

fn merge(beta: f64, dynamics: &str, from: f64, to: f64, mass: f64, scale: TimeScale) -> Result<Value> {
    let weights = weights(dynamics)?;
    let time = two_cluster::merge_time(weights, (scale, 2), beta, mass, from, to)?;
    let asymptotic = two_cluster::merge_time_asymptotic(weights, (scale, 2), beta, mass, from.cos())?;
    Ok(json!({
        "time": time.value,
        // What is printed is rounded, closed forms too.
        "error": time.error.max(4.0 * f64::EPSILON * time.value),
        "asymptotic_to_1_minus_1_over_beta": super::output::finite(asymptotic),
        "normalisation": weights.time_scale(scale),
    }))
}
