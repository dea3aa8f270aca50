//! Predictions for SA and USA without matrices on the sphere.

use super::interaction::{self, INTERACTION};
use super::{
    Accuracy, COSINE, NORMALISATION, POSITIVE, POSITIVE_OR_NULL, Parameter, Prediction, Quantity,
    REAL, SA, SHARE, TIME_SCALE, Values, beta, d, integer, list, n, quantity, real, renamed,
    switch, word,
};
use crate::attention::{RowWeights, dynamics};
use crate::error::{Error, Result, in_range};
use crate::num::formula::Formula;
use crate::operation::{Kind, Limits, any, below, within};
use crate::theory::{
    equiangular::Equiangular, growth, kac_rice, noise, parking, spectra, third_derivative,
    threshold, two_cluster, uniform, wendel,
};
use serde_json::{Value, json};
use std::f64::consts::{PI, TAU};

const BETA: Parameter = beta(0.0, 1e6);
const START: Parameter =
    real("start", -1.0, 1.0, "Common inner product at time 0, gamma(0) > -1/(n-1)").or("0");
const FROM: Parameter = real("from", 0.0, PI, "Angle at the start, in radians");
const TO: Parameter = real("to", 0.0, PI, "Angle at the end, in radians, smaller");
const TIME: Quantity = quantity("time", POSITIVE, "by quadrature of the scalar equation")
    .accurate(Accuracy::Key("error"));
const ERROR: Quantity =
    quantity("error", POSITIVE, "bound on the error of the time").accurate(Accuracy::ErrorBound);
const RATES: Quantity =
    quantity("rates", REAL, "growth rates of small perturbations, per unit of time")
        .accurate(Accuracy::Key("rates_error"))
        .column();
const RATES_ERROR: Quantity =
    quantity("rates_error", POSITIVE, "of each rate, by rounding (to first order) and quadrature")
        .accurate(Accuracy::ErrorBound)
        .column();
const ASYMPTOTIC: Quantity = quantity(
    "asymptotic_to_1_minus_1_over_beta",
    POSITIVE_OR_NULL,
    "leading asymptotics for large beta of the time to the angle arccos(1 - 1/beta); the time from \
     near the antipode is shorter",
);
const EQUIANGULAR: &str = "arXiv:2312.10794, Theorem 6.8 and (6.12)";

/// Shares of a mass.
const SHARES: Limits = below(0.0, 1.0).also(&["mass"]);

pub static ALL: [Prediction; 14] = [
    Prediction {
        name: "gamma",
        summary: "Common inner product gamma(t) from an orthonormal or equiangular start",
        source: EQUIANGULAR,
        parameters: &[
            n(2.0, i32::MAX as f64),
            BETA,
            SA,
            list(
                "times",
                0.0,
                1e300,
                "Times, separated by commas; for USA in the units of the time scale",
            ),
            START,
            TIME_SCALE,
        ],
        results: &[
            quantity("gamma", COSINE, "common inner product of all pairs, at each time")
                .accurate(Accuracy::Key("gamma_error"))
                .column(),
            quantity(
                "gamma_error",
                POSITIVE,
                "bound on its error, with the effect of rounding the time",
            )
            .accurate(Accuracy::ErrorBound)
            .column(),
            NORMALISATION,
        ],
        run: |v| {
            let (curve, start) = (equiangular(v)?, v.get("start")?);
            let times = v.list("times");
            let found = times
                .iter()
                .map(|t| curve.gamma_with_error(start, *t))
                .collect::<Result<Vec<_>>>()?;
            let (gamma, error): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
            Ok(
                json!({"gamma": gamma, "gamma_error": error, "times": times, "normalisation": normalisation(v)?}),
            )
        },
    },
    Prediction {
        name: "level-time",
        summary: "Time at which the common inner product gamma reaches a level",
        source: EQUIANGULAR,
        parameters: &[
            n(2.0, i32::MAX as f64),
            BETA,
            SA,
            renamed("to", &["level"], (-1.0, 1.0), "The level of gamma").or("0.999"),
            START,
            TIME_SCALE,
        ],
        results: &[TIME, ERROR, NORMALISATION],
        run: |v| {
            let time = equiangular(v)?.level_time(v.get("start")?, v.get("to")?)?;
            Ok(json!({"time": time.value, "error": time.error, "normalisation": normalisation(v)?}))
        },
    },
    Prediction {
        name: "growth-rates",
        summary: "Linear growth rates of the modes k = 0..K of the uniform measure",
        source: "derived: linearisation with the Funk-Hecke formula; Sinkhorn attention as in arXiv:2110.11773",
        parameters: &[
            d(2.0, 1_000_000.0),
            BETA,
            word("dynamics", "sa, usa or sinkhorn").or("sa"),
            integer("modes", 0.0, 100_000.0, "The last mode K"),
            TIME_SCALE,
            INTERACTION,
        ],
        results: &[
            RATES,
            RATES_ERROR,
            quantity("fastest", POSITIVE, "the mode with the largest rate, also among k > K"),
            quantity(
                "switch_points",
                POSITIVE_OR_NULL,
                "inverse temperatures from which the modes 2, 3, ... are the fastest; null unless \
                 all are below 1e6",
            ),
            NORMALISATION,
        ],
        run: growth_rates,
    },
    Prediction {
        name: "two-token-time",
        summary: "Time in which the angle of two tokens shrinks from one value to another",
        source: "derived: exact equation of two clusters of equal mass",
        parameters: &[BETA, SA, FROM, TO, TIME_SCALE],
        results: &[TIME, ERROR, ASYMPTOTIC, NORMALISATION],
        run: |v| merge_time(v, 0.5),
    },
    Prediction {
        name: "two-cluster-time",
        summary: "The same time for two clusters of masses ALPHA and 1 - ALPHA",
        source: "derived: exact equation of two clusters",
        parameters: &[
            BETA,
            SA,
            FROM,
            TO,
            Parameter::new("share", Kind::Real, SHARES, "Mass ALPHA of the first cluster").or("0.5"),
            TIME_SCALE,
        ],
        results: &[TIME, ERROR, ASYMPTOTIC, NORMALISATION],
        run: |v| merge_time(v, v.get("share")?),
    },
    Prediction {
        name: "threshold",
        summary: "Thresholds of beta above or below which one cluster forms for almost every start",
        source: "arXiv:2312.10794, Theorem 5.1 with the constants of its proof, Theorem 4.3",
        parameters: &[n(1.0, 1_000_000_000.0), d(2.0, 1_000_000_000.0)],
        results: &[
            quantity(
                "sharp",
                POSITIVE,
                "every local maximum of the energy is one cluster for beta above it, by Theorem 5.1 \
                 with its best constant",
            ),
            quantity(
                "paper_proof",
                POSITIVE,
                "the same with the constant of the written proof (arXiv:2312.10794, appendix B)",
            ),
            quantity(
                "paper_circle",
                POSITIVE_OR_NULL,
                "n^2/pi^2, as arXiv:2312.10794 states it for the circle; null for d > 2",
            ),
            quantity(
                "small_beta",
                POSITIVE,
                "1/n: the same holds for beta below it (arXiv:2312.10794, Theorem 4.3)",
            ),
            quantity("all_beta", REAL, "the result known today for every beta"),
        ],
        run: |v| {
            let (n, d) = (v.get("n")?, v.get("d")?);
            Ok(json!({
                "sharp": threshold::sharp(n, d), "paper_proof": threshold::paper_proof(n, d),
                "paper_circle": (d == 2).then(|| threshold::paper_circle(n)), "small_beta": 1.0 / n as f64,
                "all_beta": "theorem: one cluster for almost every start, every beta >= 0 (d >= 3: 2312.10794, Theorem 6.1; d = 2: 2507.22857)",
            }))
        },
    },
    Prediction {
        name: "wendel",
        summary: "Probability that n uniform tokens lie in a common hemisphere",
        source: "Wendel's formula (arXiv:2312.10794, Theorem 6.7)",
        parameters: &[n(1.0, 10_000_000.0), d(1.0, 10_000_000.0)],
        results: &[
            quantity(
                "probability",
                SHARE,
                "that n independent uniform tokens lie in an open hemisphere",
            ),
            quantity("log_probability", REAL, "its logarithm, also where it underflows"),
        ],
        run: |v| {
            let (n, d) = (v.get("n")?, v.get("d")?);
            Ok(
                json!({"probability": wendel::probability(n, d), "log_probability": wendel::log_probability(n, d)}),
            )
        },
    },
    Prediction {
        name: "consensus",
        summary: "Spectrum of the flow at consensus: all tokens at one point",
        source: "derived from the linearisation of arXiv:2312.10794, (2.3)",
        parameters: &[
            n(1.0, 10_000.0),
            d(2.0, 10_000.0),
            word("dynamics", "A registered dynamics: sa, usa, causal-sa, ...").or("sa"),
            beta(-1e30, 1e30).or("1"),
            TIME_SCALE,
            INTERACTION,
        ],
        results: &[
            quantity("eigenvalues", REAL, "of the linearised flow at one cluster, ascending")
                .column(),
            NORMALISATION,
        ],
        run: consensus,
    },
    Prediction {
        name: "polygon",
        summary: "Growth rates of m equal clusters at a regular polygon",
        source: "derived: linearised flow at the polygon",
        parameters: &[
            integer("m", 2.0, 5_000.0, "Number of clusters"),
            BETA,
            SA,
            TIME_SCALE,
            INTERACTION,
        ],
        results: &[RATES, RATES_ERROR, NORMALISATION],
        run: |v| {
            if let Some(phi) = interaction::given(v)? {
                return interaction::polygon(v, &phi);
            }
            let (weights, m, beta) = (v.weights()?, v.get("m")?, v.get("beta")?);
            let factor = if weights == RowWeights::Exponential {
                v.time_scale()?.log_factor(beta, m).exp()
            } else {
                1.0
            };
            let rates: Vec<f64> =
                spectra::polygon(weights, m, beta)?.iter().map(|r| r * factor).collect();
            if rates.iter().any(|r| !r.is_finite()) {
                return Err(Error::Beyond {
                    quantity: "a USA polygon rate".into(),
                    hint: "use SA".into(),
                });
            }
            let error = spectra::polygon_error(weights, m, beta)? * factor;
            Ok(json!({"rates": rates, "rates_error": error, "normalisation": normalisation(v)?}))
        },
    },
    Prediction {
        name: "third-derivative",
        summary: "Circle: the criterion by which all maxima of E are one cluster, for any number of \
                  tokens with any masses",
        source: "arXiv:2507.22857, Theorem 2.1, as quoted in a public audit; proved again \
                 (`explain third-derivative`)",
        parameters: &[beta(-700.0, 700.0), INTERACTION],
        results: &[
            quantity(
                "ratio",
                POSITIVE,
                "upper bound of tau int |f'''|_+ / (4 (1 + tau / 2 pi) f'(0)) for the force f(x) = \
                 phi(cos x) sin x; the criterion holds if it is at most 1",
            )
            .accurate(Accuracy::Relative(1e-6)),
            quantity("tau", POSITIVE, "upper bound of the angle beyond which f' is negative")
                .accurate(Accuracy::Relative(1e-6)),
        ],
        run: |v| {
            let phi = match interaction::given(v)? {
                Some(phi) => phi.formula().clone(),
                None => Formula::parse("exp(beta*s)", &[("beta", v.get("beta")?)])?,
            };
            let found = third_derivative::of_interaction(&phi)?;
            Ok(json!({"ratio": found.ratio, "tau": found.tau}))
        },
    },
    Prediction {
        name: "kac-rice",
        summary: "Expected number of modes of a kernel density estimate",
        source: "formula of Kac and Rice for a Gaussian field (arXiv:2412.09080)",
        parameters: &[
            Parameter::new(
                "n",
                Kind::Whole,
                within(2.0, 1e12).unless(&["space", "circle", "sphere"]),
                "Number of normal samples on the line",
            ),
            real(
                "beta",
                0.0,
                1e12,
                "Inverse temperature: bandwidth beta^(-1/2) on the line, kernel e^(beta <x, y>) elsewhere",
            ),
            renamed(
                "radius",
                &["interval"],
                (0.0, 1e3),
                "Half width of the interval (default T* = sqrt(2 log n - log beta))",
            )
            .optional(),
            Parameter::new(
                "space",
                Kind::Name,
                any().excludes(&["n", "radius"]),
                "Many uniform samples on the circle or on S^2: circle or sphere2 (default: the line)",
            )
            .optional(),
            switch("circle", &["n", "radius", "space"], "As --space circle"),
            switch("sphere", &["n", "radius", "space", "circle"], "As --space sphere2"),
        ],
        results: &[
            quantity(
                "expected_modes",
                POSITIVE,
                "of the kernel density estimate, by the formula of Kac and Rice",
            )
            .accurate(Accuracy::Relative(1e-10)),
            quantity(
                "interval",
                POSITIVE,
                "half width T of the interval [-T, T] in which they are counted",
            ),
            quantity(
                "leading_order",
                POSITIVE_OR_NULL,
                "of that number as n grows; null for beta <= 1",
            ),
            quantity(
                "leading_constant",
                POSITIVE_OR_NULL,
                "leading order over sqrt(beta log beta); null for beta <= 1",
            ),
        ],
        run: expected_modes,
    },
    Prediction {
        name: "noise",
        summary: "Noisy USA: thresholds of the modes; the beta above which the transition is discontinuous",
        source: "arXiv:2606.05140",
        parameters: &[
            d(2.0, 1_000_000.0),
            beta(1e-300, 700.0),
            integer("modes", 1.0, 1000.0, "Last mode K of the modes 1..K").or("4"),
        ],
        results: &[
            quantity(
                "kappa",
                POSITIVE,
                "inverse noise above which the modes 1, 2, ... of the uniform measure grow",
            )
            .column(),
            quantity(
                "kappa_c",
                POSITIVE,
                "the smallest of them: the uniform measure is unstable above it",
            ),
            quantity(
                "beta_star",
                POSITIVE,
                "inverse temperature above which the transition is discontinuous",
            ),
            quantity("equation", REAL, "that defines kappa"),
        ],
        run: |v| {
            let (d, beta) = (v.get("d")?, v.get("beta")?);
            let thresholds = (1..=v.get("modes")?)
                .map(|k| noise::threshold(d, k, beta))
                .collect::<Result<Vec<_>>>()?;
            let equation = "dX = v dt + sqrt(2/kappa) dW, v in U1";
            Ok(
                json!({"kappa": thresholds, "kappa_c": thresholds[0], "beta_star": noise::beta_star(d)?, "equation": equation}),
            )
        },
    },
    Prediction {
        name: "parking",
        summary: "Renyi centres of causal attention: expected numbers at radius c beta^{-1/2}",
        source: "arXiv:2411.04990, section 5",
        parameters: &[
            n(1.0, f64::MAX),
            d(2.0, 1_000_000.0),
            beta(1e-6, 1e12),
            real("c", 0.0, f64::MAX, "Radius in kernel widths beta^{-1/2}").or("4"),
        ],
        results: &[
            quantity("delta", POSITIVE, "radius c beta^{-1/2} of a centre, in radians"),
            quantity(
                "strong_centres",
                POSITIVE,
                "expected number of tokens that have no earlier token within the radius",
            ),
            quantity("strong_centres_limit", POSITIVE_OR_NULL, "the same for n to infinity"),
            quantity(
                "ordinary_centres_limit",
                POSITIVE_OR_NULL,
                "expected number of tokens that have no earlier centre within the radius, for n to \
                 infinity; null for d > 2",
            ),
            quantity("parking_constant", POSITIVE, "Renyi's constant"),
        ],
        run: |v| {
            let (n, d) = (v.get("n")?, v.get("d")?);
            let delta = in_range(
                "c / sqrt(beta)",
                v.get::<f64>("c")? / v.get::<f64>("beta")?.sqrt(),
                1e-9,
                PI,
            )?;
            Ok(json!({
                "delta": delta, "strong_centres": parking::strong_centres(n, d, delta)?,
                "strong_centres_limit": 1.0 / parking::cap_share(d, delta)?,
                "ordinary_centres_limit": (d == 2).then_some(parking::RENYI * TAU / delta), "parking_constant": parking::RENYI,
            }))
        },
    },
    Prediction {
        name: "energy-range",
        summary: "log E_beta of the uniform measure and of a Dirac mass",
        source: "arXiv:2312.10794, Proposition 3.4",
        parameters: &[d(2.0, 1_000_000.0), beta(f64::MIN_POSITIVE, 1e6)],
        results: &[
            quantity(
                "log_energy_uniform",
                REAL,
                "log E_beta of the uniform measure, the smallest value",
            ),
            quantity("log_energy_dirac", REAL, "log E_beta of one cluster, the largest value"),
        ],
        run: |v| {
            let (d, beta) = (v.get("d")?, v.get("beta")?);
            Ok(
                json!({"log_energy_uniform": uniform::log_energy_uniform(d, beta), "log_energy_dirac": uniform::log_energy_dirac(beta)}),
            )
        },
    },
];

fn equiangular(v: &Values) -> Result<Equiangular> {
    Equiangular::new(v.weights()?, v.get("n")?, v.get("beta")?, v.time_scale()?)
}

/// The time normalisation in words; none for SA.
fn normalisation(v: &Values) -> Result<Option<&'static str>> {
    Ok(v.weights()?.time_scale(v.time_scale()?))
}

fn growth_rates(v: &Values) -> Result<Value> {
    if let Some(phi) = interaction::given(v)? {
        return interaction::growth_rates(v, &phi);
    }
    let (d, beta, modes, scale) = (v.get("d")?, v.get("beta")?, v.get("modes")?, v.time_scale()?);
    let weights = RowWeights::parse(&v.get::<String>("dynamics")?, &RowWeights::ALL)?;
    let rates = growth::rates(weights, d, beta, modes, scale, 1)?;
    // SA and USA have the same.
    let switches = (weights != RowWeights::Sinkhorn)
        .then(|| growth::switch_points(d, modes.saturating_sub(1).min(20)));
    // For large beta the fastest mode is sqrt(2 beta) for SA and USA, 1.6 sqrt(beta) for Sinkhorn.
    let enough = modes.max((2.0 * beta.sqrt()) as usize + 3);
    let fastest = growth::fastest_mode(&growth::rates(weights, d, beta, enough, scale, 1)?);
    let switches = switches.and_then(Result::ok);
    Ok(
        json!({"rates": rates, "fastest": fastest, "switch_points": switches, "normalisation": weights.time_scale(scale)}),
    )
}

fn merge_time(v: &Values, mass: f64) -> Result<Value> {
    let (weights, beta, from, scale) =
        (v.weights()?, v.get("beta")?, v.get("from")?, v.time_scale()?);
    let time = two_cluster::merge_time(weights, (scale, 2), beta, mass, from, v.get("to")?)?;
    // JSON has no infinity: it becomes null.
    let asymptotic =
        two_cluster::merge_time_asymptotic(weights, (scale, 2), beta, mass, from.cos())?;
    Ok(json!({
        "time": time.value,
        // Closed forms are rounded, too.
        "error": time.error.max(4.0 * f64::EPSILON * time.value),
        "asymptotic_to_1_minus_1_over_beta": asymptotic,
        "normalisation": weights.time_scale(scale),
    }))
}

fn consensus(v: &Values) -> Result<Value> {
    let (n, d): (usize, usize) = (v.get("n")?, v.get("d")?);
    let name: String = v.get("dynamics")?;
    if n * d > 1_000_000 {
        return Err(Error::parameter("n, d", format!("{n}, {d}"), "at most 1000000 coordinates"));
    }
    let known = dynamics::ALL
        .iter()
        .filter_map(|e| e.variant.filter(|v| spectra::has_consensus(*v)).map(|v| (e.name, v)));
    let found = known.clone().find(|(known, _)| *known == name);
    let (_, variant) =
        found.ok_or_else(|| Error::unknown("dynamics", &name, known.map(|(known, _)| known)))?;
    if let Some(phi) = interaction::given(v)? {
        return interaction::consensus(v, &phi, variant);
    }
    let scale = v.time_scale()?;
    let eigenvalues = spectra::consensus(variant, n, d, v.get("beta")?, scale)?;
    Ok(json!({"eigenvalues": eigenvalues, "normalisation": variant.weights.time_scale(scale)}))
}

fn expected_modes(v: &Values) -> Result<Value> {
    let beta = v.get("beta")?;
    let space: String = v.get("space").unwrap_or_default();
    if !["", "circle", "sphere2"].contains(&space.as_str()) {
        return Err(Error::parameter("space", space, "circle or sphere2"));
    }
    if v.get("circle") == Ok(true) || space == "circle" {
        return Ok(json!({"expected_modes": kac_rice::expected_modes_circle(beta)?}));
    }
    if v.get("sphere") == Ok(true) || space == "sphere2" {
        return Ok(json!({"expected_modes": kac_rice::expected_modes_sphere(beta)?}));
    }
    let (n, beta) = (v.get("n")?, in_range("beta", beta, 1e-6, 1e12)?);
    let interval = v.get("radius").ok().map_or_else(|| kac_rice::default_interval(n, beta), Ok)?;
    // Both are for large beta: the order is that of sqrt(beta log beta).
    let leading = (beta > 1.0).then(|| kac_rice::leading_modes(n, beta));
    let constant = leading.map(|leading| leading / (beta * beta.ln()).sqrt());
    let expected = kac_rice::expected_modes(n, beta, interval)?;
    Ok(
        json!({"expected_modes": expected, "interval": interval, "leading_order": leading, "leading_constant": constant}),
    )
}
