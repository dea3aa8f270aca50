//! Automatic differentiation: a computation on vectors, recorded operation by operation, with its
//! value, its derivative along a direction (jvp) and the transposed derivative (vjp).

use crate::num::{linearised::Linearised, softmax::softmax, sum::dot};
use std::borrow::Cow;

/// A vector of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(usize);

/// The operation that made a vector, with the data for its derivative.
enum Op<'a> {
    Input,
    Constant,
    Matrix(Cow<'a, [f64]>, Var),
    Sum(Var, f64, Var),
    Product(Var, Var),
    Elementwise(Var, Vec<f64>),
    Scores(Var, Vec<Var>),
    Softmax(Var),
    WeightedSum(Var, Vec<Var>),
    Join(Vec<Var>),
    Part(Var, usize),
    Unit(Var, f64),
}

/// The record of a computation. Derivatives are exact up to rounding.
///
/// **Cost** a jvp or vjp costs at most three evaluations.
///
/// ```
/// use metastable::{num::linearised::Linearised, recurrent::trace::{LinearisedTrace, Trace}};
/// let mut trace = Trace::default();
/// let x = trace.input(&[0.5]);
/// let y = trace.tanh(x);
/// let f = LinearisedTrace::new(trace, vec![y]);
/// assert!((f.jvp(&[1.0])[0] - (1.0 - 0.5f64.tanh().powi(2))).abs() < 1e-15);
/// ```
#[derive(Default)]
pub struct Trace<'a> {
    ops: Vec<Op<'a>>,
    values: Vec<Vec<f64>>,
    multiplications: usize,
}

impl<'a> Trace<'a> {
    fn add(&mut self, op: Op<'a>, value: Vec<f64>, multiplications: usize) -> Var {
        self.ops.push(op);
        self.values.push(value);
        self.multiplications += multiplications;
        Var(self.ops.len() - 1)
    }

    /// An input: a vector with respect to which derivatives are taken.
    pub fn input(&mut self, x: &[f64]) -> Var {
        self.add(Op::Input, x.to_vec(), 0)
    }

    /// A constant vector.
    pub fn constant(&mut self, x: &[f64]) -> Var {
        self.add(Op::Constant, x.to_vec(), 0)
    }

    /// The value of a vector.
    pub fn value(&self, x: Var) -> &[f64] {
        &self.values[x.0]
    }

    /// Number of multiplications so far, without those in exponentials.
    pub fn multiplications(&self) -> usize {
        self.multiplications
    }

    /// `M x`, M row-major.
    pub fn matrix(&mut self, m: impl Into<Cow<'a, [f64]>>, x: Var) -> Var {
        let m = m.into();
        let value =
            m.chunks_exact(self.value(x).len()).map(|row| dot(row, self.value(x))).collect();
        let cost = m.len();
        self.add(Op::Matrix(m, x), value, cost)
    }

    /// `a + s b`.
    pub fn sum(&mut self, a: Var, s: f64, b: Var) -> Var {
        let value: Vec<f64> =
            self.value(a).iter().zip(self.value(b)).map(|(a, b)| a + s * b).collect();
        let cost = value.len();
        self.add(Op::Sum(a, s, b), value, cost)
    }

    /// `a * b`, elementwise.
    pub fn product(&mut self, a: Var, b: Var) -> Var {
        let value: Vec<f64> = self.value(a).iter().zip(self.value(b)).map(|(a, b)| a * b).collect();
        let cost = value.len();
        self.add(Op::Product(a, b), value, cost)
    }

    /// A function of every entry; f returns its value and its derivative.
    fn elementwise(&mut self, x: Var, f: impl Fn(f64) -> (f64, f64)) -> Var {
        let (value, slopes) = self.value(x).iter().map(|x| f(*x)).unzip();
        self.add(Op::Elementwise(x, slopes), value, 0)
    }

    /// `tanh`.
    pub fn tanh(&mut self, x: Var) -> Var {
        self.elementwise(x, |x| (x.tanh(), 1.0 - x.tanh().powi(2)))
    }

    /// `1 / (1 + e^{-x})`; it rounds to 1 from x = 38 on.
    pub fn sigmoid(&mut self, x: Var) -> Var {
        self.elementwise(x, |x| {
            let s = 1.0 / (1.0 + (-x).exp());
            (s, s * (1.0 - s))
        })
    }

    /// `max(0, x)`, with derivative 0 at 0.
    pub fn relu(&mut self, x: Var) -> Var {
        self.elementwise(x, |x| (x.max(0.0), f64::from(u8::from(x > 0.0))))
    }

    /// `1 - x`.
    pub fn one_minus(&mut self, x: Var) -> Var {
        self.elementwise(x, |x| (1.0 - x, -1.0))
    }

    /// `<q, k_j>` for all j.
    pub fn scores(&mut self, q: Var, keys: &[Var]) -> Var {
        let value: Vec<f64> = keys.iter().map(|k| dot(self.value(q), self.value(*k))).collect();
        let cost = value.len() * self.value(q).len();
        self.add(Op::Scores(q, keys.to_vec()), value, cost)
    }

    /// `e^{s_j} / sum_k e^{s_k}`.
    pub fn softmax(&mut self, scores: Var) -> Var {
        let mut value = self.value(scores).to_vec();
        let masses = vec![1.0; value.len()];
        softmax(&mut value, &masses);
        let cost = value.len();
        self.add(Op::Softmax(scores), value, cost)
    }

    /// `sum_j w_j r_j`.
    pub fn mix(&mut self, weights: Var, rows: &[Var]) -> Var {
        let mut value = vec![0.0; rows.first().map_or(0, |r| self.value(*r).len())];
        for (w, r) in self.value(weights).iter().zip(rows) {
            value.iter_mut().zip(self.value(*r)).for_each(|(o, r)| *o += w * r);
        }
        let cost = value.len() * rows.len();
        self.add(Op::WeightedSum(weights, rows.to_vec()), value, cost)
    }

    /// The concatenation of vectors.
    pub fn join(&mut self, parts: &[Var]) -> Var {
        let value = parts.iter().flat_map(|p| self.value(*p).to_vec()).collect();
        self.add(Op::Join(parts.to_vec()), value, 0)
    }

    /// `len` entries from `start` on.
    pub fn part(&mut self, x: Var, start: usize, len: usize) -> Var {
        let value = self.value(x)[start..start + len].to_vec();
        self.add(Op::Part(x, start), value, 0)
    }

    /// `x / |x|`; NaN for 0.
    pub fn unit(&mut self, x: Var) -> Var {
        let inverse = 1.0 / dot(self.value(x), self.value(x)).sqrt();
        let value: Vec<f64> = self.value(x).iter().map(|x| inverse * x).collect();
        let cost = 2 * value.len();
        self.add(Op::Unit(x, inverse), value, cost)
    }

    /// The derivative of vector `k` from those of the vectors before it.
    fn tangent(&self, k: usize, tangents: &[Vec<f64>]) -> Vec<f64> {
        let of = |v: &Var| tangents[v.0].as_slice();
        match &self.ops[k] {
            Op::Input | Op::Constant => vec![0.0; self.values[k].len()],
            Op::Matrix(m, x) => m.chunks_exact(of(x).len()).map(|row| dot(row, of(x))).collect(),
            Op::Sum(a, s, b) => of(a).iter().zip(of(b)).map(|(a, b)| a + s * b).collect(),
            Op::Product(a, b) => {
                let (x, y) = (self.value(*a), self.value(*b));
                (0..x.len()).map(|c| of(a)[c] * y[c] + x[c] * of(b)[c]).collect()
            }
            Op::Elementwise(x, slopes) => of(x).iter().zip(slopes).map(|(u, s)| s * u).collect(),
            Op::Scores(q, keys) => keys
                .iter()
                .map(|j| dot(of(q), self.value(*j)) + dot(self.value(*q), of(j)))
                .collect(),
            Op::Softmax(s) => {
                let (p, u) = (&self.values[k], of(s));
                let mean = dot(p, u);
                p.iter().zip(u).map(|(p, u)| p * (u - mean)).collect()
            }
            Op::WeightedSum(weights, rows) => {
                let mut out = vec![0.0; self.values[k].len()];
                for (j, row) in rows.iter().enumerate() {
                    let (w, dw) = (self.value(*weights)[j], of(weights)[j]);
                    out.iter_mut()
                        .zip(self.value(*row).iter().zip(of(row)))
                        .for_each(|(o, (r, dr))| *o += dw * r + w * dr);
                }
                out
            }
            Op::Join(parts) => parts.iter().flat_map(|p| of(p).to_vec()).collect(),
            Op::Part(x, start) => of(x)[*start..start + self.values[k].len()].to_vec(),
            Op::Unit(x, inverse) => {
                let along = dot(&self.values[k], of(x));
                of(x).iter().zip(&self.values[k]).map(|(u, y)| inverse * (u - along * y)).collect()
            }
        }
    }

    /// Adds the contributions of the cotangent `g` of vector `k` to the cotangents of its operands.
    fn add_cotangents(&self, k: usize, g: &[f64], cotangents: &mut [Vec<f64>]) {
        let mut add_to = |to: &Var, s: f64, v: &[f64]| {
            cotangents[to.0].iter_mut().zip(v).for_each(|(w, v)| *w += s * v)
        };
        match &self.ops[k] {
            Op::Input | Op::Constant => {}
            Op::Matrix(m, x) => {
                m.chunks_exact(self.value(*x).len()).zip(g).for_each(|(row, g)| add_to(x, *g, row))
            }
            Op::Sum(a, s, b) => {
                add_to(a, 1.0, g);
                add_to(b, *s, g);
            }
            Op::Product(a, b) => {
                for (to, other) in [(a, b), (b, a)] {
                    let part: Vec<f64> =
                        g.iter().zip(self.value(*other)).map(|(g, o)| g * o).collect();
                    add_to(to, 1.0, &part);
                }
            }
            Op::Elementwise(x, slopes) => {
                let part: Vec<f64> = g.iter().zip(slopes).map(|(g, s)| g * s).collect();
                add_to(x, 1.0, &part);
            }
            Op::Scores(q, keys) => {
                for (j, g) in keys.iter().zip(g) {
                    add_to(q, *g, self.value(*j));
                    add_to(j, *g, self.value(*q));
                }
            }
            Op::Softmax(s) => {
                let p = &self.values[k];
                let mean = dot(p, g);
                let part: Vec<f64> = p.iter().zip(g).map(|(p, g)| p * (g - mean)).collect();
                add_to(s, 1.0, &part);
            }
            Op::WeightedSum(w, rows) => {
                let products: Vec<f64> = rows.iter().map(|r| dot(g, self.value(*r))).collect();
                add_to(w, 1.0, &products);
                rows.iter().zip(self.value(*w)).for_each(|(r, w)| add_to(r, *w, g));
            }
            Op::Join(parts) => {
                let mut start = 0;
                for p in parts {
                    let len = self.value(*p).len();
                    add_to(p, 1.0, &g[start..start + len]);
                    start += len;
                }
            }
            Op::Part(x, start) => {
                cotangents[x.0][*start..].iter_mut().zip(g).for_each(|(w, g)| *w += g)
            }
            Op::Unit(x, inverse) => {
                let y = &self.values[k];
                let along = dot(y, g);
                let part: Vec<f64> = g.iter().zip(y).map(|(g, y)| g - along * y).collect();
                add_to(x, *inverse, &part);
            }
        }
    }
}

/// A record with its outputs: a map at one point, with its Jacobian. Inputs and outputs are in the
/// order in which they were recorded.
pub struct LinearisedTrace<'a> {
    trace: Trace<'a>,
    outputs: Vec<Var>,
    value: Vec<f64>,
}

impl<'a> LinearisedTrace<'a> {
    /// The map from all inputs of the record to these vectors.
    pub fn new(trace: Trace<'a>, outputs: Vec<Var>) -> Self {
        Self {
            value: outputs.iter().flat_map(|o| trace.value(*o)).copied().collect(),
            trace,
            outputs,
        }
    }

    /// Number of multiplications for the value.
    pub fn multiplications(&self) -> usize {
        self.trace.multiplications
    }
}

impl Linearised for LinearisedTrace<'_> {
    fn value(&self) -> &[f64] {
        &self.value
    }

    fn jvp(&self, u: &[f64]) -> Vec<f64> {
        let mut tangents: Vec<Vec<f64>> = Vec::with_capacity(self.trace.ops.len());
        let mut at = 0;
        for (k, op) in self.trace.ops.iter().enumerate() {
            let tangent = if let Op::Input = op {
                let len = self.trace.values[k].len();
                at += len;
                u[at - len..at].to_vec()
            } else {
                self.trace.tangent(k, &tangents)
            };
            tangents.push(tangent);
        }
        self.outputs.iter().flat_map(|o| tangents[o.0].clone()).collect()
    }

    fn vjp(&self, w: &[f64]) -> Vec<f64> {
        let mut cotangents: Vec<Vec<f64>> =
            self.trace.values.iter().map(|v| vec![0.0; v.len()]).collect();
        let mut at = 0;
        for o in &self.outputs {
            let len = cotangents[o.0].len();
            cotangents[o.0].iter_mut().zip(&w[at..at + len]).for_each(|(g, w)| *g += w);
            at += len;
        }
        for k in (0..self.trace.ops.len()).rev() {
            let g = std::mem::take(&mut cotangents[k]);
            self.trace.add_cotangents(k, &g, &mut cotangents);
            cotangents[k] = g;
        }
        let inputs =
            self.trace.ops.iter().zip(&cotangents).filter(|(op, _)| matches!(op, Op::Input));
        inputs.flat_map(|(_, w)| w.clone()).collect()
    }
}
