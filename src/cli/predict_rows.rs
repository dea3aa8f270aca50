//! `predict`: tokens in R^d, normalisation schemes, rank collapse, long context, noise, random weights, spectra of V.

use super::output::finite;
use crate::attention::{noise::Sampler, normalisation};
use crate::error::{Error, Result, in_range};
use crate::theory::{
    bipartite, boolean, gaussian, long_context, noise_step::exact_mean, normalised::SchemeCurve, random_weights, rank_collapse,
};
use clap::Subcommand;
use serde_json::{Value, json};

#[derive(Subcommand)]
pub enum RowPredictions {
    /// Common inner product and radius of equiangular tokens under a normalisation scheme (Q = K = V = I).
    Normalisation {
        /// post, pre, peri, mix:tau=T, ngpt:alpha=A, cod or ln-scaling.
        #[arg(long)]
        scheme: String,
        /// Number of tokens.
        #[arg(long, allow_hyphen_values = true)]
        n: i64,
        /// Inverse temperature, in [0, 700].
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
        /// Radius of all tokens at time 0; it matters where the scheme has radii.
        #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
        r0: f64,
        /// Common inner product at time 0, in (-1/(n-1), 1).
        #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
        gamma0: f64,
        /// Ascending times, separated by commas; one unit is one layer of step 1.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
        times: Vec<f64>,
    },
    /// Rescaled tokens EPS and -EPS on the line (V = 1): where they end.
    BooleanLimit {
        /// Positions at time 0, separated by commas; positive.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
        eps: Vec<f64>,
        /// Factor of the scores x_i x_j.
        #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
        a: f64,
    },
    /// Inverse temperature above which random values attract antipodal pairs, cosh(2 beta) = d - 2.
    AntipodalThreshold {
        /// Ambient dimension.
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// Inverse temperature at which Lyapunov exponents are printed too.
        #[arg(long, allow_hyphen_values = true)]
        beta: Option<f64>,
    },
    /// Logarithms of the residual's norm through pure attention layers, log |R+| = 3 log |R| + log C.
    RankCollapse {
        /// log |R| before the first layer (natural logarithm).
        #[arg(long, allow_hyphen_values = true)]
        log_size: f64,
        /// log C, about log |W C_q W_V| for residuals of norm 1.
        #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
        log_factor: f64,
        /// Number of layers.
        #[arg(long, default_value_t = 4, allow_hyphen_values = true)]
        layers: i64,
    },
    /// Covariance eigenvalues of a Gaussian under attention in R^d with V = v I and scores b <x, y>; null from their blow-up on.
    GaussianClosure {
        /// Eigenvalues of the covariance at time 0, separated by commas.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
        variance: Vec<f64>,
        /// Factor of the scores.
        #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
        b: f64,
        /// Factor of the values: 1 attracts, -1 repels.
        #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
        v: f64,
        /// Times, separated by commas.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
        times: Vec<f64>,
    },
    /// Mean participation of one query among many uniform keys at beta = C n^{2/(d-1)}.
    LongContext {
        /// Ambient dimension, in [2, 64].
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// beta / n^{2/(d-1)}, in [1e-3, 1e3].
        #[arg(long, allow_hyphen_values = true)]
        c: f64,
        /// Number of keys: prints the beta of this C.
        #[arg(long, allow_hyphen_values = true)]
        n: Option<f64>,
    },
    /// Spectrum of two equal antipodal clusters along an eigenvector of S = V = Q^T K.
    Bipartite {
        /// The eigenvalue of the clusters' axis.
        #[arg(long, allow_hyphen_values = true)]
        lambda: f64,
        /// The other eigenvalues of S, separated by commas.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true, required = true)]
        mu: Vec<f64>,
        /// Inverse temperature.
        #[arg(long, allow_hyphen_values = true)]
        beta: f64,
    },
    /// Inner products of tokens through layers of random values.
    RandomWeights {
        /// Inner product at time 0: of a pair, in [-1, 1]; with --times the mean of many tokens, in
        /// [0, 1].
        #[arg(long, allow_hyphen_values = true)]
        u0: f64,
        /// Times eta^2 sigma^2 d layers / heads, separated by commas, for the mean inner product at
        /// beta = 0 in high dimension.
        #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
        times: Vec<f64>,
    },
    /// Mean of <x', x> after one step of pure noise on S^(d-1), by sampler.
    NoiseStep {
        /// Ambient dimension.
        #[arg(long, allow_hyphen_values = true)]
        d: i64,
        /// Step over the noise's time, h / kappa.
        #[arg(long, allow_hyphen_values = true)]
        tau: f64,
    },
}

fn dimension(d: i64, low: i64) -> Result<usize> {
    if (low..=1_000_000).contains(&d) {
        return Ok(d as usize);
    }
    Err(Error::parameter("--d", d, format!("a whole number in [{low}, 1000000]")))
}

impl RowPredictions {
    /// The prediction.
    pub fn value(self) -> Result<Value> {
        match self {
            Self::Normalisation { scheme, n, beta, r0, gamma0, times } => normalised(&scheme, n, beta, (gamma0, r0), &times),
            Self::BooleanLimit { eps, a } => {
                let limits = eps.iter().map(|e| boolean::limit(*e, a)).collect::<Result<Vec<_>>>()?;
                let logs = eps.iter().map(|e| Ok(boolean::log_limit(a.sqrt() * e)? - 0.5 * a.ln())).collect::<Result<Vec<_>>>()?;
                Ok(json!({"limits": limits, "log_limits": logs, "eps": eps}))
            }
            Self::AntipodalThreshold { d, beta } => {
                let d = dimension(d, 2)?;
                let mut out = json!({"beta": random_weights::antipodal_threshold(d), "d": d});
                if let Some(beta) = beta {
                    let (antipodal, consensus) = random_weights::exponents(d, in_range("--beta", beta, -1e6, 1e6)?);
                    out["antipodal_exponent"] = json!(antipodal);
                    out["consensus_exponent"] = json!(consensus);
                }
                Ok(out)
            }
            Self::RankCollapse { log_size, log_factor, layers } => collapse(log_size, log_factor, layers),
            Self::GaussianClosure { variance, b, v, times } => closure(&variance, b, v, &times),
            Self::LongContext { d, c, n } => {
                let d = dimension(d, 2)?;
                let participation = long_context::participation(d, c)?;
                let mut out = json!({"participation_limit": participation, "c": c, "d": d});
                if let Some(n) = n {
                    let beta = long_context::critical_beta(in_range("--n", n, 1.0, 1e18)?, d, c)?;
                    out["beta_of_c"] = json!(beta);
                    if beta <= 1e15 {
                        out["participation"] = json!(long_context::participation_of(n, d, beta)?);
                    }
                    out["subcritical_length"] = json!(long_context::subcritical_length(d, beta.min(1e6)));
                }
                Ok(out)
            }
            Self::Bipartite { lambda, mu, beta } => {
                for (name, v) in [("--lambda", lambda), ("--beta", beta)].into_iter().chain(mu.iter().map(|m| ("--mu", *m))) {
                    in_range(name, v, -1e6, 1e6)?;
                }
                let rates: Vec<_> = mu.iter().map(|m| bipartite::rates(lambda, *m, beta)).collect();
                let (tilt, turn): (Vec<f64>, Vec<f64>) = rates.iter().map(|r| (r.tilt, r.turn)).unzip();
                let within = -bipartite::threshold(lambda, beta);
                let stable = bipartite::is_stable(lambda, &mu, beta);
                Ok(json!({"within": within, "tilt": tilt, "turn": turn, "threshold": -within, "stable": stable}))
            }
            Self::RandomWeights { u0, times } => {
                let together = random_weights::together(u0)?;
                let u = times.iter().map(|t| random_weights::logistic(u0, *t)).collect::<Result<Vec<_>>>()?;
                let mut out = json!({"probability_together": together});
                if !times.is_empty() {
                    (out["mean_inner"], out["times"]) = (json!(u), json!(times));
                }
                Ok(out)
            }
            Self::NoiseStep { d, tau } => {
                let d = dimension(d, 2)?;
                in_range("--tau", tau, 0.0, 1.0 / d as f64)?;
                let [normalised, geodesic, corrected] = Sampler::ALL.map(|s| s.mean(d, tau));
                Ok(json!({"exact": exact_mean(d, tau), "normalised": normalised, "geodesic": geodesic, "corrected": corrected}))
            }
        }
    }
}

fn normalised(scheme: &str, n: i64, beta: f64, (gamma, radius): (f64, f64), times: &[f64]) -> Result<Value> {
    let n = usize::try_from(n).map_err(|_| Error::parameter("--n", n, "a whole number of at least 2"))?;
    let curve = SchemeCurve::new(normalisation::find(scheme)?, n, beta)?;
    let places = curve.at(gamma, radius, times)?;
    let column = |f: fn(&crate::theory::normalised::Place) -> f64| places.iter().map(f).collect::<Vec<_>>();
    let (speed, growth) = curve.first_rates(gamma, radius);
    Ok(json!({
        "gamma": column(|p| p.gamma), "radius": column(|p| p.radius), "log_one_minus_gamma": column(|p| -p.depth), "times": times,
        "first_gamma_rate": speed, "first_radius_rate": growth, "scheme": scheme,
    }))
}

fn collapse(log_size: f64, log_factor: f64, layers: i64) -> Result<Value> {
    in_range("--log-size", log_size, -1e6, 1e6)?;
    in_range("--log-factor", log_factor, -1e6, 1e6)?;
    if !(1..=500).contains(&layers) {
        return Err(Error::parameter("--layers", layers, "a whole number in [1, 500]"));
    }
    let logs = rank_collapse::ladder(log_size, log_factor, layers as usize);
    let ratios: Vec<Value> = logs.windows(2).map(|w| finite(w[1] / w[0])).collect();
    Ok(json!({"log_sizes": logs, "ratios": ratios, "critical_log_size": -0.5 * log_factor}))
}

fn closure(variance: &[f64], b: f64, v: f64, times: &[f64]) -> Result<Value> {
    for s in variance {
        in_range("--variance", *s, 0.0, 1e100)?;
    }
    in_range("--b", b, -1e100, 1e100)?;
    in_range("--v", v, -1e100, 1e100)?;
    times.iter().try_for_each(|t| in_range("--times", *t, 0.0, 1e100).map(|_| ()))?;
    let row = |t: &f64| variance.iter().map(|s| gaussian::variance(*s, b, v, *t)).collect::<Vec<_>>();
    let factors = |t: &f64| variance.iter().map(|s| gaussian::mean_factor(*s, b, v, *t)).collect::<Vec<_>>();
    let beyond = |f: &Option<f64>| f.is_some_and(|f| !f.is_finite());
    if times.iter().any(|t| row(t).iter().any(beyond) || factors(t).iter().any(beyond)) {
        return Err(Error::Beyond { quantity: "the growth of the Gaussian".into(), hint: "use earlier times".into() });
    }
    let first = variance.iter().filter_map(|s| gaussian::blow_up(*s, b, v)).reduce(f64::min);
    let (rows, means): (Vec<_>, Vec<_>) = times.iter().map(|t| (row(t), factors(t))).unzip();
    Ok(json!({"variance": rows, "mean_factor": means, "blow_up_time": first, "times": times}))
}
