//! Products of independent normal matrices: all Lyapunov exponents.

use crate::recurrent::{
    TokenMap,
    lyapunov::exponents,
    trace::{Trace, Var},
};
use crate::theorem::prelude::*;

const DEVIATIONS: f64 = 4.5;
const CONTROL_VARIANCE: f64 = 2.0;

/// Every layer multiplies the length of any vector by an independent chi variable, and volumes by
/// products of such variables.
///
/// # Derivation
///
/// For a frame `Q` with orthonormal columns `G Q` has the law of `G`, whose entries have the
/// variance `1/d`. Its QR factors have independent diagonals with `R_kk^2 = chi^2_{d-k+1}/d`:
/// column `k` keeps `d-k+1` coordinates orthogonal to the columns before it. So the measured
/// exponent `k` is the mean of `T` independent copies of `(1/2) log(chi^2_{d-k+1}/d)`, for every
/// `T`. With `x = (d-k+1)/2` its expectation is `(psi(x) + log 2 - log d)/2` and its variance
/// `psi'(x)/(4T)`.
pub static ENTRY: Claim = Claim {
    name: "lyapunov-iid",
    title: "Independent normal layers: `lambda_k = (log 2 + psi((d-k+1)/2) - log d)/2`",
    lets: "`x+ = G_k x`, where `G_k` is drawn anew in every layer with normal entries of variance \
           `1/d`",
    then: "The Lyapunov exponents are `(log 2 + psi((d-k+1)/2) - log d)/2` for `k = 1..d`, with \
           `psi` the digamma function.",
    tested: "with {LAYERS} layers: every exponent to {DEVIATIONS} standard deviations \
             `sqrt(psi'((d-k+1)/2))/(2 sqrt(layers))`",
    numbers: &[
        ("LAYERS", LAYERS as f64),
        ("DEVIATIONS", DEVIATIONS),
        ("CONTROL_VARIANCE", CONTROL_VARIANCE),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::List(&[2, 3, 8]),
        draws: "new weights in every layer",
        ..Domain::FREE
    },
    source: "Newman, Commun. Math. Phys. 103 (1986); derived",
    trials: (6, 40),
    trial: |case, ctx| all(ctx, case.d, 1.0),
    constant: "the exponents",
    control: Control {
        what: "entries of variance `{CONTROL_VARIANCE}/d`",
        trial: |ctx| all(ctx, 8, CONTROL_VARIANCE.sqrt()),
    },
    ..Claim::LAW
};

/// Layers over which the exponents are averaged; their error falls as the inverse root.
const LAYERS: usize = 2000;

/// `x -> G_k x`.
struct Fresh {
    d: usize,
    gain: f64,
    seed: u64,
}

impl TokenMap for Fresh {
    fn record<'a>(&'a self, layer: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let mut g = vec![0.0; self.d * self.d];
        Stream::new(self.seed, &["layer", &layer.to_string()]).normals(&mut g);
        scale(self.gain / (self.d as f64).sqrt(), &mut g);
        rows.iter().map(|x| trace.matrix(g.clone(), *x)).collect()
    }
}

fn all(ctx: &mut Context, d: usize, gain: f64) -> Result<Finding> {
    let net = Fresh { d, gain, seed: ctx.method_rng().next_u64() };
    let found = exponents(&net, &vec![0.0; d], d, (0, LAYERS), d);
    let factor = ctx.claimed_constant(1.0);
    let one = |(k, found): (usize, &f64)| {
        let (psi, slope) = digamma_of_half(d - k);
        let stated = 0.5 * (2f64.ln() + psi - (d as f64).ln());
        let deviation = 0.5 * slope.sqrt() / (LAYERS as f64).sqrt();
        Finding::law(*found, factor * stated, DEVIATIONS * deviation, 0.0)
    };
    let findings = found.iter().enumerate().map(one).reduce(Finding::and);
    Ok(findings.unwrap_or(Finding::HypothesesMissed))
}

/// psi(m/2) and psi'(m/2), by recursion from psi(1/2) and psi(1).
fn digamma_of_half(m: usize) -> (f64, f64) {
    /// Euler's constant.
    const EULER: f64 = 0.577_215_664_901_532_9;
    let (mut psi, mut slope, mut x) = if m.is_multiple_of(2) {
        (-EULER, PI * PI / 6.0, 1.0)
    } else {
        (-EULER - 2.0 * 2f64.ln(), PI * PI / 2.0, 0.5)
    };
    while x < 0.5 * m as f64 - 0.25 {
        (psi, slope, x) = (psi + 1.0 / x, slope - 1.0 / (x * x), x + 1.0);
    }
    (psi, slope)
}
