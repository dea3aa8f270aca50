//! What the numbers of `predict` are, in words: printed for people below each; and the bounds that
//! they keep.

use crate::error::{Error, Result, show};
use serde_json::Value;

/// What a number can be.
#[derive(Clone, Copy)]
struct Bounds {
    low: f64,
    high: f64,
    /// It may be absent: its words say where.
    optional: bool,
}

impl Bounds {
    const fn or_none(self) -> Self {
        Self { optional: true, ..self }
    }

    fn holds(self, v: f64) -> bool {
        (self.low..=self.high).contains(&v)
    }
}

/// Any number.
const FINITE: Bounds = Bounds { low: f64::MIN, high: f64::MAX, optional: false };
/// Times, radii, counts, inverse temperatures: none is negative.
const POSITIVE: Bounds = Bounds { low: 0.0, ..FINITE };
/// Probabilities and shares.
const SHARE: Bounds = Bounds { low: 0.0, high: 1.0, ..FINITE };
/// Inner products of unit vectors.
const COSINE: Bounds = Bounds { low: -1.0, high: 1.0, ..FINITE };

/// The name of a number, what it is, and its bounds.
const WORDS: [(&str, &str, Bounds); 61] = [
    ("gamma", "common inner product of all pairs, at each time", COSINE),
    ("gamma_error", "bound on its error, that of the time's own rounding included", POSITIVE),
    ("log_one_minus_gamma", "log (1 - gamma): what is left where gamma rounds to 1", FINITE),
    ("radius", "common length of the tokens, at each time", POSITIVE),
    ("first_gamma_rate", "gamma' at the start", FINITE),
    ("first_radius_rate", "r' at the start", FINITE),
    ("time", "by quadrature of the scalar equation", POSITIVE),
    ("error", "bound on the error of the time", POSITIVE),
    (
        "asymptotic_to_1_minus_1_over_beta",
        "leading asymptotics for large beta, to the angle arccos(1 - 1/beta); starts near the antipode take less",
        POSITIVE.or_none(),
    ),
    ("normalisation", "times are those of USA in this normalisation", FINITE.or_none()),
    ("rates", "growth rates of small perturbations, per unit of time", FINITE),
    ("fastest", "the mode that grows fastest, of all", POSITIVE),
    ("switch_points", "inverse temperatures from which the modes 2, 3, ... are the fastest, where all are below 1e6", POSITIVE.or_none()),
    (
        "sharp",
        "beta above which every local maximum of the energy is one cluster, by the argument of Theorem 5.1 with its best constant",
        POSITIVE,
    ),
    ("paper_proof", "the same with the constant of the written proof (arXiv:2312.10794, appendix B)", POSITIVE),
    ("paper_circle", "n^2/pi^2, as arXiv:2312.10794 states it for the circle", POSITIVE.or_none()),
    ("small_beta", "1/n: beta below which the same holds (arXiv:2312.10794, Theorem 4.3)", POSITIVE),
    ("all_beta", "what is known today, whatever beta", FINITE),
    ("probability", "that n independent uniform tokens lie in an open hemisphere", SHARE),
    ("eigenvalues", "of the linearised flow at one cluster, ascending", FINITE),
    ("expected_modes", "of the kernel density estimate, by the formula of Kac and Rice", POSITIVE),
    ("interval", "half width T of the interval [-T, T] in which they are counted", POSITIVE),
    ("leading_order", "of that number as n grows, for beta > 1", POSITIVE.or_none()),
    ("leading_constant", "leading order over sqrt(beta log beta), for beta > 1", POSITIVE.or_none()),
    ("kappa", "inverse noise above which the modes 1, 2, ... of the uniform measure grow", POSITIVE),
    ("kappa_c", "the smallest of them: where the uniform measure loses stability", POSITIVE),
    ("beta_star", "inverse temperature above which the transition is discontinuous", POSITIVE),
    ("equation", "what is meant by kappa", FINITE),
    ("delta", "radius c beta^{-1/2} of a centre, in radians", POSITIVE),
    ("strong_centres", "expected number of tokens with none before them within the radius, among n uniform ones", POSITIVE),
    ("strong_centres_limit", "the same for n to infinity", POSITIVE.or_none()),
    (
        "ordinary_centres_limit",
        "expected number of tokens with no centre before them within the radius, for n to infinity (d = 2)",
        POSITIVE.or_none(),
    ),
    ("parking_constant", "Renyi's constant", POSITIVE),
    ("log_energy_uniform", "log E_beta of the uniform measure, the least", FINITE),
    ("log_energy_dirac", "log E_beta of one cluster, the most", FINITE),
    ("limits", "where the token that starts at eps ends, eps > 0", POSITIVE),
    ("log_limits", "their logarithms, where they are too small for a number", FINITE),
    ("beta", "the critical inverse temperature", POSITIVE),
    ("antipodal_exponent", "growth rate of small deviations from an antipodal pair", FINITE),
    ("consensus_exponent", "growth rate of small deviations from one point", FINITE),
    ("log_sizes", "log |R| before each layer and after the last", FINITE),
    ("ratios", "of successive logarithms: 3 in the limit", FINITE.or_none()),
    ("critical_log_size", "log |R| below which the residual dies", FINITE),
    ("variance", "of each direction, a row for each time; null from its blow-up on", POSITIVE.or_none()),
    ("mean_factor", "by which the mean has grown in each direction", POSITIVE.or_none()),
    ("blow_up_time", "of the first direction that blows up", POSITIVE.or_none()),
    ("participation", "mean of sum_j A_j^2 for these n keys, the inverse of the number that counts", SHARE),
    ("participation_limit", "the same for n to infinity", SHARE),
    ("beta_of_c", "C n^{2/(d-1)}", POSITIVE),
    ("subcritical_length", "length of the output where many keys count, below the critical beta", SHARE),
    ("within", "eigenvalue of differences inside a cluster", FINITE),
    ("tilt", "eigenvalue where the clusters lean to one side, for each mu", FINITE),
    ("turn", "eigenvalue where the axis turns, for each mu", FINITE),
    ("mean_inner", "mean inner product of all pairs, the squared length of the mean, at each time", COSINE),
    ("probability_together", "that they end at one point; else they end antipodal", SHARE),
    ("threshold", "mu above which the two clusters are unstable", FINITE),
    ("stable", "whether the two clusters are stable", FINITE),
    ("exact", "of Brownian motion on the sphere", COSINE),
    ("normalised", "of a Gaussian step that is normalised", COSINE),
    ("geodesic", "of a Gaussian tangent vector along its geodesic", COSINE),
    ("corrected", "of the geodesic of corrected length", COSINE),
];

/// What this number is; nothing for what was given.
pub fn meaning(key: &str) -> Option<&'static str> {
    number(key).map(|(words, _)| words)
}

/// The words and bounds of the number of this name.
fn number(key: &str) -> Option<(&'static str, Bounds)> {
    WORDS.iter().find(|(name, ..)| *name == key).map(|(_, words, bounds)| (*words, *bounds))
}

/// Sees that every number keeps its bounds.
///
/// **Errors** one that does not: no prediction says that an inner product is 9.7, or nothing where
/// a number should stand.
pub fn check(answer: &Value) -> Result<()> {
    let entries = answer.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key, value, number(key)?.1))).try_for_each(|(key, value, bounds)| within(key, value, bounds))
}

fn within(key: &str, value: &Value, bounds: Bounds) -> Result<()> {
    match value {
        Value::Array(all) => all.iter().try_for_each(|v| within(key, v, bounds)),
        // What is not finite has become null on the way.
        Value::Null if !bounds.optional => Err(Error::Beyond {
            quantity: format!("the prediction `{}`", key.replace('_', " ")),
            hint: "at less extreme arguments it is a number".into(),
        }),
        _ => match value.as_f64().filter(|v| !bounds.holds(*v)) {
            Some(v) => {
                let (key, low, high) = (key.replace('_', " "), show(bounds.low), show(bounds.high));
                Err(Error::Numerical {
                    what: format!("the prediction `{key}` came out as {}, outside [{low}, {high}]: nothing is printed", show(v)),
                })
            }
            None => Ok(()),
        },
    }
}
