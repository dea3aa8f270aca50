//! The conformance suite: every claim a dynamics makes about itself, tested on random tokens against an independent double-double evaluation
//! of its definition. `metastable doctor NAME` prints it; the tests run it on every registered dynamics and on planted bugs.

use crate::attention::{Dynamics, Energy, EnergyScale, Facts, Head, Spec};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::num::{dd::Dd, dense, stream::Stream, sum::dot};
use crate::sphere::{Tokens, law::Law};

/// One line of the suite.
#[derive(Clone, Debug)]
pub struct Check {
    /// What is measured.
    pub what: &'static str,
    /// The number, which should be near 0.
    pub value: f64,
    /// The largest value accepted.
    pub bound: f64,
}

impl Check {
    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.value <= self.bound
    }
}

/// What defines an attention dynamics, for the independent evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Softmax rows (SA) or plain exponentials (USA, U1).
    pub softmax: bool,
    /// Sums over j <= i.
    pub causal: bool,
    /// +1 or -1.
    pub sign: f64,
}

impl Definition {
    /// The definition behind a registered name.
    pub fn of(name: &str) -> Self {
        Self {
            softmax: name.ends_with("-sa") || name == "sa",
            causal: name.starts_with("causal-"),
            sign: if name.starts_with("repulsive-") { -1.0 } else { 1.0 },
        }
    }

    /// The velocity by the formula, in double-double: logits from inner products, weights by plain exponentials, projection at the end.
    pub fn velocity(&self, spec: &Spec, x: &Tokens) -> Vec<f64> {
        self.evaluate(spec, x, true)
    }

    /// The unprojected attention `sum_j A_ij V x_j` by the formula: what a layer adds.
    pub fn field(&self, spec: &Spec, x: &Tokens) -> Vec<f64> {
        self.evaluate(spec, x, false)
    }

    fn evaluate(&self, spec: &Spec, x: &Tokens, project: bool) -> Vec<f64> {
        let (n, d) = (x.n(), x.d());
        let dd = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(Dd::default(), |s, (p, q)| s + Dd::from(*p) * Dd::from(*q));
        // The tokens are unit vectors up to rounding; the definition is evaluated at the exactly normalised ones.
        let norms: Vec<Dd> = x.rows().map(|r| dd(r, r).sqrt()).collect();
        let unit: Vec<Vec<Dd>> = x.rows().zip(&norms).map(|(r, m)| r.iter().map(|v| Dd::from(*v) / *m).collect()).collect();
        let heads = if spec.heads.is_empty() { vec![Head::default()] } else { spec.heads.clone() };
        let apply = |m: &Option<Vec<f64>>, v: &[Dd]| -> Vec<Dd> {
            match m {
                None => v.to_vec(),
                Some(m) => m.chunks_exact(d).map(|row| inner(&row.iter().map(|a| Dd::from(*a)).collect::<Vec<_>>(), v)).collect(),
            }
        };
        let mut out = Vec::with_capacity(n * d);
        for i in 0..n {
            let mut total = vec![Dd::default(); d];
            for head in &heads {
                let query = apply(&head.q, &unit[i]);
                let seen = if self.causal { i + 1 } else { n };
                let logits: Vec<Dd> = (0..seen).map(|j| Dd::from(spec.beta) * inner(&query, &apply(&head.k, &unit[j]))).collect();
                let top = logits.iter().fold(f64::NEG_INFINITY, |m, l| m.max(l.to_f64()));
                let shift = if self.softmax { Dd::from(top) } else { Dd::default() };
                let weights: Vec<Dd> = logits.iter().zip(x.masses()).map(|(l, m)| Dd::from(*m) * (*l - shift).exp()).collect();
                let mass = if self.softmax { weights.iter().fold(Dd::default(), |s, w| s + *w) } else { Dd::from(1.0) };
                for (j, w) in weights.iter().enumerate() {
                    let value = apply(&head.v, &unit[j]);
                    total.iter_mut().zip(value).for_each(|(t, v)| *t = *t + *w / mass * v);
                }
            }
            let radial = if project { inner(&total, &unit[i]) } else { Dd::default() };
            out.extend(total.iter().zip(&unit[i]).map(|(t, u)| self.sign * (*t - radial * *u).to_f64()));
        }
        out
    }
}

fn inner(a: &[Dd], b: &[Dd]) -> Dd {
    a.iter().zip(b).fold(Dd::default(), |s, (p, q)| s + *p * *q)
}

/// Builds a dynamics from a specification; planted bugs supply their own.
pub type Builder<'a> = &'a dyn Fn(&Spec) -> Result<Box<dyn Dynamics>>;

/// Runs the suite on a dynamics given by its builder and definition.
pub fn suite(build: Builder, definition: Definition, seed: u64) -> Result<Vec<Check>> {
    let mut stream = Stream::new(seed, &["conformance"]);
    let mut checks = Vec::new();
    let x = weighted(6, 3, &mut stream)?;
    let spec = Spec::new(2.5, x.n());
    let dynamics = build(&spec)?;
    let facts = dynamics.facts();
    let v = velocity(dynamics.as_ref(), &x);
    let size = max_abs(&v);
    checks.push(Check {
        what: "deviation from the definition, beta = 2.5",
        value: relative(&v, &definition.velocity(&spec, &x)),
        bound: 1e-13,
    });
    let general = Spec { heads: random_heads(3, &mut stream)?, ..Spec::new(0.8, x.n()) };
    let w = velocity(build(&general)?.as_ref(), &x);
    let value = relative(&w, &definition.velocity(&general, &x));
    checks.push(Check { what: "deviation from the definition, two heads with Q, K, V", value, bound: 1e-13 });
    let mut field = vec![0.0; v.len()];
    dynamics.field(&x, &mut field);
    checks.push(Check { what: "layer field against its definition", value: relative(&field, &definition.field(&spec, &x)), bound: 1e-13 });
    let radial = v.chunks_exact(3).zip(x.rows()).map(|(v, x)| dot(v, x).abs()).fold(0.0, nan_max) / size;
    checks.push(Check { what: "tangency |<x_i, x_i'>|", value: radial, bound: 1e-14 });
    symmetries(&facts, dynamics.as_ref(), &x, &v, &mut stream, &mut checks)?;
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
        checks.push(Check { what: "energy moves the wrong way (-dE/dt)", value: nan_max(-rate, 0.0), bound: 0.0 });
    }
    if let Some(bound) = facts.speed_bound {
        let fastest = v.chunks_exact(3).map(|r| dot(r, r).sqrt()).fold(0.0, nan_max);
        checks.push(Check { what: "speed above its bound", value: nan_max(fastest / bound - 1.0, 0.0), bound: 0.0 });
    }
    if definition.causal {
        // The first tokens must not see the later ones: compared bit by bit.
        let prefix = Tokens::from_parts(3, x.coordinates()[..9].to_vec(), x.masses()[..3].to_vec());
        let short = velocity(dynamics.as_ref(), &prefix);
        let differing = short.iter().zip(&v).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        checks.push(Check { what: "prefix property: entries that differ", value: differing as f64, bound: 0.0 });
    }
    Ok(checks)
}

fn symmetries(facts: &Facts, dynamics: &dyn Dynamics, x: &Tokens, v: &[f64], stream: &mut Stream, checks: &mut Vec<Check>) -> Result<()> {
    let (n, d) = (x.n(), x.d());
    if facts.rotation_equivariant {
        let q = random_rotation(d, stream);
        let turn = |a: &[f64]| -> Vec<f64> {
            let mut out = vec![0.0; a.len()];
            a.chunks_exact(d).zip(out.chunks_exact_mut(d)).for_each(|(r, o)| dense::mat_vec(&q, r, o));
            out
        };
        let y = Tokens::normalised(d, turn(x.coordinates()))?.with_masses(x.masses())?;
        checks.push(Check { what: "rotation equivariance", value: relative(&velocity(dynamics, &y), &turn(v)), bound: 1e-13 });
    }
    if facts.permutation_equivariant {
        let order: Vec<usize> = (0..n).rev().collect();
        let pick = |a: &[f64], w: usize| -> Vec<f64> { order.iter().flat_map(|&i| a[i * w..(i + 1) * w].to_vec()).collect() };
        let y = Tokens::from_parts(d, pick(x.coordinates(), d), pick(x.masses(), 1));
        checks.push(Check { what: "permutation equivariance", value: relative(&velocity(dynamics, &y), &pick(v, d)), bound: 1e-13 });
    }
    let mirrored = Tokens::from_parts(d, x.coordinates().iter().map(|a| -a).collect(), x.masses().to_vec());
    let minus: Vec<f64> = velocity(dynamics, &mirrored).iter().map(|a| -a).collect();
    checks.push(Check { what: "antipodal symmetry f(-X) = -f(X)", value: relative(&minus, v), bound: 1e-15 });
    Ok(())
}

/// Splits the first token into two coincident halves: nobody's velocity may change.
fn splitting(build: Builder, spec: &Spec, x: &Tokens, v: &[f64]) -> Result<f64> {
    let mut coordinates = x.coordinates().to_vec();
    coordinates.extend_from_slice(x.row(0));
    let mut masses = x.masses().to_vec();
    masses[0] *= 0.5;
    masses.push(masses[0]);
    let split = Tokens::from_parts(x.d(), coordinates, masses);
    let found = velocity(build(spec)?.as_ref(), &split);
    Ok(relative(&found[..v.len()], v))
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
    Ok(vec![Head::new(d, matrix(d), matrix(d), matrix(d))?, Head::new(d, matrix(2), matrix(2), matrix(d))?])
}

/// A random rotation or reflection: Gram-Schmidt of a Gaussian matrix.
pub fn random_rotation(d: usize, stream: &mut Stream) -> Vec<f64> {
    let mut q = vec![0.0; d * d];
    stream.normals(&mut q);
    for i in 0..d {
        let (done, rest) = q.split_at_mut(i * d);
        let row = &mut rest[..d];
        for _ in 0..2 {
            for other in done.chunks_exact(d) {
                let s = dot(row, other);
                row.iter_mut().zip(other).for_each(|(r, o)| *r -= s * o);
            }
        }
        crate::sphere::geometry::retract(row);
    }
    q
}

/// The velocity as a new vector.
pub fn velocity(dynamics: &dyn Dynamics, x: &Tokens) -> Vec<f64> {
    let mut v = vec![0.0; x.coordinates().len()];
    dynamics.velocity(x, &mut v);
    v
}

fn max_abs(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| nan_max(m, x.abs()))
}

/// Largest difference over the largest entry of `b`.
pub fn relative(a: &[f64], b: &[f64]) -> f64 {
    let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, nan_max);
    worst / max_abs(b).max(f64::MIN_POSITIVE)
}
