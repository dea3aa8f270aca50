//! Predictions for other models: normalisation schemes, tokens in R^d, rank collapse, long
//! contexts, noise, random weights, value matrices.

use super::{
    Accuracy, COSINE, POSITIVE, POSITIVE_OR_NULL, Parameter, Prediction, REAL, SHARE, Values, beta,
    d, integer, list, n, quantity, real, renamed, word,
};
use crate::attention::{noise::Sampler, normalisation};
use crate::error::{Error, Result};
use crate::operation::{Kind, within};
use crate::theory::{
    bipartite, boolean, gaussian, long_context, noise_step::exact_mean, normalised::SchemeCurve,
    random_weights, rank_collapse,
};
use serde_json::{Value, json};

const D: Parameter = d(2.0, 1_000_000.0);

pub static ALL: [Prediction; 9] = [
    Prediction {
        name: "normalisation",
        summary: "Common inner product and radius of equiangular tokens under a normalisation scheme (Q = K = V = I)",
        source: "arXiv:2510.22026",
        parameters: &[
            word("scheme", "post, pre, peri, mix:tau=T, ngpt:alpha=A, cod or ln-scaling"),
            n(2.0, 1_000_000_000.0),
            beta(0.0, 700.0),
            renamed(
                "radius",
                &["r0"],
                (1e-100, 1e100),
                "Radius of all tokens at time 0, for schemes with radii",
            )
            .or("1"),
            renamed(
                "start",
                &["gamma0"],
                (-1.0, 1.0),
                "Common inner product at time 0, above -1/(n-1)",
            )
            .or("0"),
            list(
                "times",
                0.0,
                1e300,
                "Ascending times, separated by commas; one unit is one layer of step 1",
            ),
        ],
        results: &[
            quantity("gamma", COSINE, "common inner product of all pairs, at each time")
                .accurate(Accuracy::Absolute(1e-10))
                .column(),
            quantity("radius", POSITIVE, "common length of the tokens, at each time")
                .accurate(Accuracy::Relative(1e-10))
                .column(),
            quantity(
                "log_one_minus_gamma",
                REAL,
                "log (1 - gamma): it keeps its digits where gamma rounds to 1",
            )
            .accurate(Accuracy::Absolute(1e-10))
            .column(),
            quantity("first_gamma_rate", REAL, "gamma' at the start"),
            quantity("first_radius_rate", REAL, "r' at the start"),
        ],
        run: normalised,
    },
    Prediction {
        name: "boolean-limit",
        summary: "Limits of the rescaled tokens EPS and -EPS on the line (V = 1)",
        source: "arXiv:2305.05465, exact for two opposite tokens",
        parameters: &[
            Parameter::new(
                "start",
                Kind::Numbers,
                within(1e-100, 1e100).also(&["eps"]),
                "Positions EPS at time 0, separated by commas",
            ),
            renamed("beta", &["a"], (f64::MIN_POSITIVE, f64::MAX), "Factor of the scores x_i x_j")
                .or("1"),
        ],
        results: &[
            quantity("limits", POSITIVE, "limit of the token that starts at eps > 0").column(),
            quantity("log_limits", REAL, "their logarithms, also where the limits underflow")
                .column(),
        ],
        run: |v| {
            let (eps, a) = (v.list("start"), v.get::<f64>("beta")?);
            let limits = eps.iter().map(|e| boolean::limit(*e, a)).collect::<Result<Vec<_>>>()?;
            let logs = eps
                .iter()
                .map(|e| Ok(boolean::log_limit(a.sqrt() * e)? - 0.5 * a.ln()))
                .collect::<Result<Vec<_>>>()?;
            Ok(json!({"limits": limits, "log_limits": logs, "eps": eps}))
        },
    },
    Prediction {
        name: "antipodal-threshold",
        summary: "Inverse temperature above which random values attract antipodal pairs, cosh(2 beta) = d - 2",
        source: "arXiv:2601.21942, 2604.01978; exponents derived",
        parameters: &[
            D,
            real(
                "beta",
                -1e6,
                1e6,
                "Inverse temperature at which Lyapunov exponents are printed, too",
            )
            .optional(),
        ],
        results: &[
            quantity("beta", POSITIVE, "the critical inverse temperature"),
            quantity(
                "antipodal_exponent",
                REAL,
                "growth rate of small deviations from an antipodal pair",
            ),
            quantity("consensus_exponent", REAL, "growth rate of small deviations from one point"),
        ],
        run: |v| {
            let d = v.get("d")?;
            let mut out = json!({"beta": random_weights::antipodal_threshold(d), "d": d});
            if let Ok(beta) = v.get("beta") {
                let (antipodal, consensus) = random_weights::exponents(d, beta);
                (out["antipodal_exponent"], out["consensus_exponent"]) =
                    (json!(antipodal), json!(consensus));
            }
            Ok(out)
        },
    },
    Prediction {
        name: "rank-collapse",
        summary: "log |R| of the residual R through layers of pure attention, log |R+| = 3 log |R| + log C",
        source: "arXiv:2103.03404; the law is derived",
        parameters: &[
            renamed(
                "start",
                &["log_size"],
                (-1e6, 1e6),
                "log |R| before the first layer (natural logarithm)",
            ),
            real("log_factor", -1e6, 1e6, "log C, about log |W C_q W_V| for residuals of norm 1")
                .or("0"),
            integer("layers", 1.0, 500.0, "Number of layers").or("4"),
        ],
        results: &[
            quantity("log_sizes", REAL, "log |R| before each layer and after the last").column(),
            quantity(
                "ratios",
                (f64::MIN, f64::MAX, true),
                "of successive logarithms: 3 in the limit; null after log |R| = 0",
            )
            .column(),
            quantity("critical_log_size", REAL, "the residual vanishes if log |R| starts below it"),
        ],
        run: |v| {
            let factor = v.get("log_factor")?;
            let logs = rank_collapse::cubic_recursion(v.get("start")?, factor, v.get("layers")?);
            let ratios: Vec<f64> = logs.windows(2).map(|w| w[1] / w[0]).collect();
            Ok(
                json!({"log_sizes": logs, "ratios": ratios, "critical_log_size": 0.0 - 0.5 * factor}),
            )
        },
    },
    Prediction {
        name: "gaussian-closure",
        summary: "Covariance eigenvalues of a Gaussian under attention in R^d with V = v I and scores b <x, y>",
        source: "arXiv:2501.18322",
        parameters: &[
            list(
                "variance",
                0.0,
                1e100,
                "Eigenvalues of the covariance at time 0, separated by commas",
            ),
            real("b", -1e100, 1e100, "Factor of the scores").or("1"),
            real("v", -1e100, 1e100, "Factor of the values: 1 attracts, -1 repels").or("1"),
            list("times", 0.0, 1e100, "Times, separated by commas"),
        ],
        results: &[
            quantity(
                "variance",
                POSITIVE_OR_NULL,
                "of each direction, one row for each time; null from its blow-up on",
            )
            .column(),
            quantity(
                "mean_factor",
                POSITIVE_OR_NULL,
                "growth factor of the mean in each direction; null from its blow-up on",
            )
            .column(),
            quantity(
                "blow_up_time",
                POSITIVE_OR_NULL,
                "of the first direction that blows up; null if none does",
            ),
        ],
        run: closure,
    },
    Prediction {
        name: "long-context",
        summary: "Mean participation of one query among many uniform keys at beta = C n^{2/(d-1)}",
        source: "arXiv:2605.08505; the law of the gaps is derived",
        parameters: &[
            d(2.0, 64.0),
            real("c", 1e-3, 1e3, "C = beta / n^{2/(d-1)}"),
            real("n", 1.0, 1e18, "Number of keys, for results at this n").optional(),
        ],
        results: &[
            quantity("participation_limit", SHARE, "mean of sum_j A_j^2 for n to infinity")
                .accurate(Accuracy::Absolute(1e-8)),
            quantity("beta_of_c", POSITIVE, "C n^{2/(d-1)}"),
            quantity(
                "participation",
                SHARE,
                "mean of sum_j A_j^2 for n keys, the inverse of the number of keys with weight",
            )
            .accurate(Accuracy::Relative(1e-6)),
            quantity(
                "subcritical_length",
                SHARE,
                "length of the output where many keys have weight, below the critical beta",
            ),
        ],
        run: |v| {
            let (d, c) = (v.get("d")?, v.get("c")?);
            let mut out =
                json!({"participation_limit": long_context::participation(d, c)?, "c": c, "d": d});
            if let Ok(n) = v.get("n") {
                let beta = long_context::critical_beta(n, d, c)?;
                out["beta_of_c"] = json!(beta);
                if beta <= 1e15 {
                    out["participation"] = json!(long_context::participation_of_keys(n, d, beta)?);
                }
                out["subcritical_length"] =
                    json!(long_context::subcritical_length(d, beta.min(1e6)));
            }
            Ok(out)
        },
    },
    Prediction {
        name: "bipartite",
        summary: "Spectrum of two equal antipodal clusters along an eigenvector of S = V = Q^T K",
        source: "arXiv:2604.26085, 2511.11553; spectrum derived",
        parameters: &[
            real("lambda", -1e6, 1e6, "The eigenvalue of the clusters' axis"),
            list("mu", -1e6, 1e6, "The other eigenvalues of S, separated by commas"),
            beta(-1e6, 1e6),
        ],
        results: &[
            quantity("within", REAL, "eigenvalue of differences inside a cluster"),
            quantity(
                "tilt",
                REAL,
                "eigenvalue of perturbations that move both clusters to one side, for each mu",
            )
            .column(),
            quantity("turn", REAL, "eigenvalue of perturbations that turn the axis, for each mu")
                .column(),
            quantity("threshold", REAL, "the two clusters are unstable if a mu is above it"),
            quantity("stable", REAL, "whether the two clusters are stable"),
        ],
        run: |v| {
            let (lambda, mu, beta) = (v.get("lambda")?, v.list("mu"), v.get("beta")?);
            let rates: Vec<_> = mu.iter().map(|m| bipartite::rates(lambda, *m, beta)).collect();
            let (tilt, turn): (Vec<f64>, Vec<f64>) = rates.iter().map(|r| (r.tilt, r.turn)).unzip();
            let (threshold, stable) =
                (bipartite::threshold(lambda, beta), bipartite::is_stable(lambda, &mu, beta));
            Ok(
                json!({"within": -threshold, "tilt": tilt, "turn": turn, "threshold": threshold, "stable": stable}),
            )
        },
    },
    Prediction {
        name: "random-weights",
        summary: "Inner products of tokens through layers of random values",
        source: "arXiv:2601.21942, 2604.01978",
        parameters: &[
            renamed(
                "start",
                &["u0"],
                (-1.0, 1.0),
                "Inner product of a pair at time 0; with times the mean of many tokens, not negative",
            ),
            list(
                "times",
                0.0,
                f64::MAX,
                "Times eta^2 sigma^2 d layers / heads, separated by commas, for the mean inner \
                 product at beta = 0 in high dimension",
            )
            .optional(),
        ],
        results: &[
            quantity(
                "probability_together",
                SHARE,
                "that both tokens end at one point; otherwise they end antipodal",
            ),
            quantity(
                "mean_inner",
                COSINE,
                "mean inner product of all pairs, the squared length of the mean, at each time",
            )
            .column(),
        ],
        run: |v| {
            let (u0, times) = (v.get("start")?, v.list("times"));
            let mut out =
                json!({"probability_together": random_weights::consensus_probability(u0)?});
            if !times.is_empty() {
                let u = times
                    .iter()
                    .map(|t| random_weights::logistic(u0, *t))
                    .collect::<Result<Vec<_>>>()?;
                (out["mean_inner"], out["times"]) = (json!(u), json!(times));
            }
            Ok(out)
        },
    },
    Prediction {
        name: "noise-step",
        summary: "Mean of <x', x> after one step of pure noise on S^(d-1), for each sampler",
        source: "derived",
        parameters: &[
            D,
            real("tau", 0.0, 0.5, "Step over the time scale of the noise, h / kappa, at most 1/d"),
        ],
        results: &[
            quantity("exact", COSINE, "Brownian motion on the sphere"),
            quantity("normalised", COSINE, "a Gaussian step, then normalisation"),
            quantity("geodesic", COSINE, "a Gaussian tangent vector along its geodesic"),
            quantity("corrected", COSINE, "a geodesic of corrected length"),
        ],
        run: |v| {
            let d = v.get("d")?;
            let tau = crate::error::in_range("tau", v.get("tau")?, 0.0, 1.0 / d as f64)?;
            let [normalised, geodesic, corrected] =
                Sampler::ALL.map(|s| s.mean_step_cosine(d, tau));
            Ok(
                json!({"exact": exact_mean(d, tau), "normalised": normalised, "geodesic": geodesic, "corrected": corrected}),
            )
        },
    },
];

fn normalised(v: &Values) -> Result<Value> {
    let (scheme, times): (String, _) = (v.get("scheme")?, v.list("times"));
    let (gamma, radius) = (v.get("start")?, v.get("radius")?);
    let curve = SchemeCurve::new(normalisation::find(&scheme)?, v.get("n")?, v.get("beta")?)?;
    let states = curve.states(gamma, radius, &times)?;
    let (speed, growth) = curve.initial_rates(gamma, radius);
    Ok(json!({
        "gamma": states.iter().map(|s| s.gamma).collect::<Vec<_>>(),
        "radius": states.iter().map(|s| s.radius).collect::<Vec<_>>(),
        "log_one_minus_gamma": states.iter().map(|s| -s.depth).collect::<Vec<_>>(), "times": times,
        "first_gamma_rate": speed, "first_radius_rate": growth, "scheme": scheme,
    }))
}

fn closure(args: &Values) -> Result<Value> {
    let (variance, times) = (args.list("variance"), args.list("times"));
    let (b, v) = (args.get("b")?, args.get("v")?);
    let row =
        |t: &f64| variance.iter().map(|s| gaussian::variance(*s, b, v, *t)).collect::<Vec<_>>();
    let factors =
        |t: &f64| variance.iter().map(|s| gaussian::mean_factor(*s, b, v, *t)).collect::<Vec<_>>();
    let (rows, means): (Vec<_>, Vec<_>) = times.iter().map(|t| (row(t), factors(t))).unzip();
    // Not a blow-up: the number exists and is too large.
    if rows.iter().chain(&means).flatten().flatten().any(|f| !f.is_finite()) {
        return Err(Error::Beyond {
            quantity: "the growth of the Gaussian".into(),
            hint: "use earlier times".into(),
        });
    }
    let first = variance.iter().filter_map(|s| gaussian::blow_up(*s, b, v)).reduce(f64::min);
    Ok(json!({"variance": rows, "mean_factor": means, "blow_up_time": first, "times": times}))
}
