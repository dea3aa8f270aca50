//! Products of independent normal matrices.

use crate::recurrent::{
    TokenMap,
    lyapunov::exponents,
    trace::{Trace, Var},
};
use crate::theorem::prelude::*;

/// Every layer multiplies the length of any vector by an independent chi variable.
///
/// # Derivation
///
/// For a unit vector u the vector G u is normal with covariance I/d for every u, so |G u|^2 is
/// chi^2_d/d and independent of the layers before. Hence log|x_T|/T is the mean of T independent
/// copies of (1/2) log(chi^2_d/d), whose mean is (psi(d/2) + log 2 - log d)/2 and whose variance is
/// psi'(d/2)/4.
pub static ENTRY: Claim = Claim {
    name: "lyapunov-iid",
    title: "Independent normal layers: lambda_1 = (log 2 + psi(d/2) - log d)/2",
    lets: "x+ = G_k x, where G_k is drawn anew in every layer with normal entries of variance 1/d",
    then: "The largest Lyapunov exponent is (log 2 + psi(d/2) - log d)/2.",
    tested: "with d in {2, 8, 64} and 200 layers, to 4.5 standard deviations",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::List(&[2, 8, 64]), ..Domain::MAPS },
    narrower: "d even",
    source: "Newman, Commun. Math. Phys. 103 (1986); derived",
    trials: (6, 40),
    trial: |case, ctx| largest(ctx, case.d, 1.0),
    control: Control { what: "entries of variance 2/d", trial: |ctx| largest(ctx, 8, 2f64.sqrt()) },
    ..Claim::LAW
};

/// Layers over which the exponent is averaged; its error falls as the inverse root.
const LAYERS: usize = 200;

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

fn largest(ctx: &mut Context, d: usize, gain: f64) -> Result<Finding> {
    let net = Fresh { d, gain, seed: ctx.method_rng().next_u64() };
    let found = exponents(&net, &vec![0.0; d], d, (0, LAYERS), 1)[0];
    // For d = 2m, psi(m) = H_{m-1} - gamma and psi'(m) = pi^2/6 - sum 1/k^2.
    let m = d / 2;
    let harmonic = |power: i32| (1..m).map(|k| (k as f64).powi(-power)).sum::<f64>();
    let stated = 0.5 * (2f64.ln() + harmonic(1) - EULER - (d as f64).ln());
    let deviation = 0.5 * (PI * PI / 6.0 - harmonic(2)).sqrt() / (LAYERS as f64).sqrt();
    Ok(Finding::law(found, stated, 4.5 * deviation, 0.0))
}

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;
