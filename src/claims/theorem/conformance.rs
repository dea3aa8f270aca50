//! The conformance suite tests every property that a dynamics declares, on random tokens, and
//! compares its velocities with an independent evaluation of its definition in double-double
//! arithmetic. `metastable selftest NAME` prints the results; the tests run the suite on every
//! registered dynamics and on planted bugs.

use crate::attention::{
    Dynamics, Energy, EnergyScale, Head, OutputForm, Properties, Spec, kernel::Workspace,
};
use crate::error::Result;
use crate::num::deviation::relative_difference;
use crate::num::stats::nan_max;
use crate::num::{dense, stream::Stream, sum::dot, vector::max_abs};
use crate::sphere::{Tokens, law::Law};

/// One check of the suite.
#[derive(Clone, Debug)]
pub struct Check {
    /// The measured quantity.
    pub what: &'static str,
    /// Its value, which should be near 0.
    pub value: f64,
    /// The largest accepted value.
    pub bound: f64,
}

impl Check {
    /// True if the value is within the bound.
    pub fn passed(&self) -> bool {
        self.value <= self.bound
    }
}

/// Builds a dynamics from a specification. Tests of planted bugs pass their own builder.
pub type Builder<'a> = &'a dyn Fn(&Spec) -> Result<Dynamics>;

/// Runs the suite on a dynamics given by its builder. The sublayers provide the definition that
/// they are compared with.
pub fn suite(build: Builder, seed: u64) -> Result<Vec<Check>> {
    let mut stream = Stream::new(seed, &["conformance"]);
    let mut checks = Vec::new();
    let x = weighted(6, 3, &mut stream)?;
    let spec = Spec::new(2.5, x.n());
    let dynamics = build(&spec)?;
    let facts = dynamics.properties();
    let v = dynamics.velocity(&x);
    let size = max_abs(&v);
    let deviation = |dynamics: &Dynamics, found: &[f64], form: OutputForm| {
        // A sublayer without a definition fails.
        dynamics
            .definition(0.0, &x, form)
            .map_or(f64::INFINITY, |definition| relative_difference(found, &definition))
    };
    let value = deviation(&dynamics, &v, OutputForm::Tangent);
    checks.push(Check { what: "deviation from the definition, beta = 2.5", value, bound: 1e-13 });
    let general = build(&Spec { heads: random_heads(3, &mut stream)?, ..Spec::new(0.8, x.n()) })?;
    let value = deviation(&general, &general.velocity(&x), OutputForm::Tangent);
    checks.push(Check {
        what: "deviation from the definition, two heads with Q, K, V",
        value,
        bound: 1e-13,
    });
    for (form, what) in [
        (OutputForm::Sum, "sums against their definition"),
        (OutputForm::Difference, "differences against their definition"),
    ] {
        let mut rows = vec![0.0; v.len()];
        dynamics.output(0.0, &x, form, &mut Workspace::default(), &mut rows);
        checks.push(Check { what, value: deviation(&dynamics, &rows, form), bound: 1e-13 });
    }
    let radial =
        v.chunks_exact(3).zip(x.rows()).map(|(v, x)| dot(v, x).abs()).fold(0.0, nan_max) / size;
    checks.push(Check { what: "tangency |<x_i, x_i'>|", value: radial, bound: 1e-14 });
    symmetries(&facts, &dynamics, &x, &v, &mut stream, &mut checks)?;
    if facts.common_field {
        checks.push(Check {
            what: "a token of mass 2 against two coincident tokens",
            value: splitting(build, &spec, &x, &v)?,
            bound: 1e-13,
        });
    }
    if facts.energy_sign != 0 {
        let grad = Energy::new(spec.beta, EnergyScale::Mean).grad(&x)?;
        let rate = f64::from(facts.energy_sign) * dot(&grad, &v) / (max_abs(&grad) * size);
        checks.push(Check {
            what: "energy moves the wrong way (-dE/dt)",
            value: nan_max(-rate, 0.0),
            bound: 0.0,
        });
    }
    if let Some(bound) = facts.speed_bound {
        let fastest = v.chunks_exact(3).map(|r| dot(r, r).sqrt()).fold(0.0, nan_max);
        checks.push(Check {
            what: "speed above its bound",
            value: nan_max(fastest / bound - 1.0, 0.0),
            bound: 0.0,
        });
    }
    if facts.causal {
        // Velocities of the first tokens must not depend on later ones, to the last bit.
        let prefix = Tokens::from_parts(3, x.coordinates()[..9].to_vec(), x.masses()[..3].to_vec());
        let short = dynamics.velocity(&prefix);
        let is_same = |(a, b): &(&f64, &f64)| a.to_bits() == b.to_bits() && !a.is_nan();
        let differing = short.len() - short.iter().zip(&v).filter(is_same).count();
        checks.push(Check {
            what: "prefix property: entries that differ",
            value: differing as f64,
            bound: 0.0,
        });
    }
    Ok(checks)
}

fn symmetries(
    facts: &Properties,
    dynamics: &Dynamics,
    x: &Tokens,
    v: &[f64],
    stream: &mut Stream,
    checks: &mut Vec<Check>,
) -> Result<()> {
    let (n, d) = (x.n(), x.d());
    if facts.rotation_equivariant {
        let q = random_rotation(d, stream);
        let rotate = |a: &[f64]| -> Vec<f64> {
            let mut out = vec![0.0; a.len()];
            a.chunks_exact(d)
                .zip(out.chunks_exact_mut(d))
                .for_each(|(r, o)| dense::mat_vec(&q, r, o));
            out
        };
        let y = Tokens::normalised(d, rotate(x.coordinates()))?.with_masses(x.masses())?;
        checks.push(Check {
            what: "rotation equivariance",
            value: relative_difference(&dynamics.velocity(&y), &rotate(v)),
            bound: 1e-13,
        });
    }
    if facts.permutation_equivariant {
        let order: Vec<usize> = (0..n).rev().collect();
        let pick = |a: &[f64], w: usize| -> Vec<f64> {
            order.iter().flat_map(|&i| a[i * w..(i + 1) * w].to_vec()).collect()
        };
        let y = Tokens::from_parts(d, pick(x.coordinates(), d), pick(x.masses(), 1));
        checks.push(Check {
            what: "permutation equivariance",
            value: relative_difference(&dynamics.velocity(&y), &pick(v, d)),
            bound: 1e-13,
        });
    }
    if facts.odd {
        let mirrored = Tokens::from_parts(
            d,
            x.coordinates().iter().map(|a| -a).collect(),
            x.masses().to_vec(),
        );
        let minus: Vec<f64> = dynamics.velocity(&mirrored).iter().map(|a| -a).collect();
        checks.push(Check {
            what: "antipodal symmetry f(-X) = -f(X)",
            value: relative_difference(&minus, v),
            bound: 1e-15,
        });
    }
    Ok(())
}

/// Splits the first token into two coincident halves: no velocity may change.
fn splitting(build: Builder, spec: &Spec, x: &Tokens, v: &[f64]) -> Result<f64> {
    let mut coordinates = x.coordinates().to_vec();
    coordinates.extend_from_slice(x.row(0));
    let mut masses = x.masses().to_vec();
    masses[0] *= 0.5;
    masses.push(masses[0]);
    let split = Tokens::from_parts(x.d(), coordinates, masses);
    let found = build(spec)?.velocity(&split);
    Ok(relative_difference(&found[..v.len()], v))
}

/// Uniform tokens with random masses.
fn weighted(n: usize, d: usize, stream: &mut Stream) -> Result<Tokens> {
    let x = Law::parse("uniform")?.sample(n, d, stream)?;
    let masses: Vec<f64> = (0..n).map(|_| stream.uniform_in(0.5, 1.5)).collect();
    x.with_masses(&masses)
}

fn random_heads(d: usize, stream: &mut Stream) -> Result<Vec<Head>> {
    let mut matrix = |rows: usize| {
        let mut a = vec![0.0; rows * d];
        stream.normals(&mut a);
        Some((rows, a))
    };
    Ok(vec![
        Head::new(d, matrix(d), matrix(d), matrix(d))?,
        Head::new(d, matrix(2), matrix(2), matrix(d))?,
    ])
}

/// A random rotation or reflection: Gram-Schmidt of a Gaussian matrix.
pub fn random_rotation(d: usize, stream: &mut Stream) -> Vec<f64> {
    let mut q = vec![0.0; d * d];
    stream.normals(&mut q);
    dense::orthonormalise(&mut q, d);
    q
}
