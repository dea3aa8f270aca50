//! Two clusters under noise: the time until their angle first falls to a value, its mean, its
//! standard deviation and its distribution, from the equation of the angle.
//!
//! With `dX = v dt + sqrt(2/kappa) dW` in U1 a cluster of k tokens diffuses with `1/(kappa k)`. The
//! angle `phi` of two clusters of `alpha n` and `(1-alpha) n` tokens is a diffusion with
//!
//! ```text
//! L = D d^2/dphi^2 + ((d-2) D cot phi - f) d/dphi,  D = (1/(kappa n)) (1/alpha + 1/(1-alpha)),
//! ```
//!
//! where `-f` is the drift of the angle without noise (`two_cluster`), and `pi` reflects. That the
//! clusters stay points is the approximation: it is good while their width `1/sqrt(kappa beta)` is
//! small.

use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use crate::num::fft::Complex64;
use crate::num::lu::Lu;
use crate::num::roots::bracketed_root;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Degrees of the polynomials on an interval; the results are those of the second.
const DEGREES: [usize; 2] = [16, 24];

/// Difference of the two on an interval, relative to the largest value so far, that is accepted.
const TOLERANCE: f64 = 1e-13;

/// Largest number of intervals.
const MOST_INTERVALS: usize = 20_000;

/// Two clusters of tokens of equal masses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoisyPair {
    /// Inverse temperature of the attention.
    pub beta: f64,
    /// Share of the tokens that the first cluster has.
    pub share: f64,
    /// Number of tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Inverse temperature of the noise.
    pub kappa: f64,
    /// Weights of SA or of USA.
    pub weights: RowWeights,
}

/// The time in which two clusters come from one angle to a smaller one.
#[derive(Debug)]
pub struct Passage {
    /// Its mean.
    pub mean: f64,
    /// Error of the mean: the difference between two orders on the same intervals, and rounding.
    pub mean_error: f64,
    /// Its standard deviation, as accurate as the mean.
    pub deviation: f64,
    pair: NoisyPair,
    intervals: Vec<Interval>,
}

/// An interval of the angle with a solution. Both the angle and its distance from `pi` are kept,
/// because neither can be computed from the other where it is small.
#[derive(Clone, Debug)]
struct Interval {
    /// Angles at the start and at the end; the start is the larger one.
    phi: [f64; 2],
    /// Their distances from `pi`.
    s: [f64; 2],
    /// True if it belongs to the passage, not to the angles above its start.
    inside: bool,
    /// The solution at the nodes.
    v: Vec<f64>,
}

impl Interval {
    fn new(phi: [f64; 2], s: [f64; 2], inside: bool) -> Self {
        Self { phi, s, inside, v: Vec::new() }
    }

    /// The parts of an equal division into `parts`.
    fn divided(&self, parts: usize) -> impl Iterator<Item = Self> {
        let at = move |[a, b]: [f64; 2], k: usize| match k {
            0 => a,
            _ if k == parts => b,
            _ => a + (b - a) * (k as f64 / parts as f64),
        };
        (0..parts).map(move |k| {
            let ends = |pair| [at(pair, k), at(pair, k + 1)];
            Self::new(ends(self.phi), ends(self.s), self.inside)
        })
    }

    fn half_length(&self) -> f64 {
        let near_pi = self.s[1] < self.phi[0];
        0.5 * if near_pi { self.s[1] - self.s[0] } else { self.phi[0] - self.phi[1] }
    }

    /// The angle and its distance from `pi` at a node `x` in `[-1, 1]`.
    fn at(&self, x: f64) -> (f64, f64) {
        let between = |[a, b]: [f64; 2]| 0.5 * (a * (1.0 - x) + b * (1.0 + x));
        (between(self.phi), between(self.s))
    }
}

/// Chebyshev points on `[-1, 1]`, ascending, with the matrices that differentiate and integrate
/// (from -1) polynomials through their values.
struct Rule {
    x: Vec<f64>,
    differentiate: Vec<f64>,
    integrate: Vec<f64>,
}

impl Rule {
    fn new(degree: usize) -> Self {
        let size = degree + 1;
        // sin instead of cos: symmetric about 0.
        let x: Vec<f64> = (0..size)
            .map(|k| (PI * (2.0 * k as f64 - degree as f64) / (2.0 * degree as f64)).sin())
            .collect();
        let weight = |k: usize| {
            let end = if k == 0 || k == degree { 0.5 } else { 1.0 };
            if k.is_multiple_of(2) { end } else { -end }
        };
        let mut differentiate = vec![0.0; size * size];
        for i in 0..size {
            for j in (0..size).filter(|j| *j != i) {
                let entry = weight(j) / weight(i) / (x[i] - x[j]);
                differentiate[i * size + j] = entry;
                differentiate[i * size + i] -= entry;
            }
        }
        // The integral is the polynomial with a given derivative that is 0 at -1. Its degree is one
        // more, and the derivative is met at all nodes but the first.
        let mut inner = Lu::default();
        inner.factor(degree, |i, j| differentiate[(i + 1) * size + j + 1]);
        let mut integrate = vec![0.0; size * size];
        for j in 1..size {
            let mut column = vec![0.0; degree];
            column[j - 1] = 1.0;
            inner.solve(&mut column);
            for (i, value) in column.iter().enumerate() {
                integrate[(i + 1) * size + j] = *value;
            }
        }
        Self { x, differentiate, integrate }
    }

    fn size(&self) -> usize {
        self.x.len()
    }

    /// The integral over `[-1, 1]`.
    fn integral(&self, f: impl Fn(usize) -> f64) -> f64 {
        let last = &self.integrate[self.size() * (self.size() - 1)..];
        last.iter().enumerate().map(|(k, w)| w * f(k)).sum()
    }
}

impl NoisyPair {
    /// The time from the angle `from` to `to`, by collocation on adaptive intervals.
    ///
    /// With `T' = s v`, `s = pi - phi`, the equation `L T = -1` of the mean is `D (v + s v') +
    /// (s f + (d-2) D s cot s) v = 1`. It is solved from `pi` on, in which direction it is stable,
    /// so that no exponential of the noise occurs. The variance V has `L V = -2 D T'^2`.
    ///
    /// **Accuracy** 1e-11 relative. **Cost** 1 to 2 ms for kappa from 100 to 1e12.
    /// **Errors** parameters out of range; a time that exceeds f64; Sinkhorn attention.
    ///
    /// ```
    /// use metastable::{attention::RowWeights, theory::noisy_pair::NoisyPair};
    /// let weights = RowWeights::Softmax;
    /// let pair = NoisyPair { beta: 4.0, share: 0.5, n: 16, d: 2, kappa: 100.0, weights };
    /// let time = pair.passage(std::f64::consts::PI, 0.1).unwrap();
    /// assert!((time.mean - 309.8807557).abs() < 1e-6);
    /// ```
    pub fn passage(self, from: f64, to: f64) -> Result<Passage> {
        self.check(from, to)?;
        let rules = DEGREES.map(Rule::new);
        let mut todo = vec![Interval::new([from, to], [PI - from, PI - to], true)];
        if from < PI {
            todo.push(Interval::new([PI, from], [0.0, PI - from], false));
        }
        let (mut intervals, mut start) = (Vec::new(), None);
        let (mut mean, mut mean_error, mut largest) = (0.0, 0.0, 0.0_f64);
        while let Some(mut interval) = todo.pop() {
            let [coarse, fine] = rules.each_ref().map(|rule| {
                let v = self.solved(rule, &interval, start, |_| 1.0);
                let h = interval.half_length();
                let time = h * rule.integral(|k| interval.at(rule.x[k]).1 * v[k]);
                (time, v)
            });
            let end = |v: &[f64]| v[v.len() - 1];
            let scale = fine.1.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            if !scale.is_finite() {
                return Err(self.beyond(from));
            }
            let gap = (coarse.0 - fine.0).abs();
            let reached = (end(&coarse.1) - end(&fine.1)).abs() <= TOLERANCE * scale
                && gap <= TOLERANCE * largest.max(fine.0.abs());
            if !reached {
                if intervals.len() + todo.len() > MOST_INTERVALS {
                    return Err(self.beyond(from));
                }
                let halves: Vec<_> = interval.divided(2).collect();
                todo.extend(halves.into_iter().rev());
                continue;
            }
            start = Some(end(&fine.1));
            if interval.inside {
                mean += fine.0;
                mean_error += gap;
                largest = largest.max(fine.0);
            }
            interval.v = fine.1;
            intervals.push(interval);
        }
        let variance = self.variance(&rules[1], &intervals);
        // Rounding: that of the exponent beta (1 - cos phi), of the matrices, and of the sum.
        let rounding = f64::EPSILON * (64.0 + 2.0 * self.beta + intervals.len() as f64) * mean;
        if !mean.is_finite() || !variance.is_finite() {
            return Err(self.beyond(from));
        }
        let (mean_error, deviation) = (mean_error + rounding, variance.max(0.0).sqrt());
        Ok(Passage { mean, mean_error, deviation, pair: self, intervals })
    }

    /// The variance, on the intervals of the mean.
    fn variance(self, rule: &Rule, intervals: &[Interval]) -> f64 {
        let (mut start, mut sum) = (None, 0.0);
        for interval in intervals {
            let s = |k: usize| interval.at(rule.x[k]).1;
            let square = |k: usize| 2.0 * self.diffusion() * (s(k) * interval.v[k]).powi(2);
            let w = self.solved(rule, interval, start, square);
            start = w.last().copied();
            if interval.inside {
                sum += interval.half_length() * rule.integral(|k| s(k) * w[k]);
            }
        }
        sum
    }

    /// `D`.
    pub fn diffusion(self) -> f64 {
        (1.0 / self.share + 1.0 / (1.0 - self.share)) / (self.kappa * self.n as f64)
    }

    /// `s f + (d-2) D s cot s`, where `phi` is the angle and `s = pi - phi`.
    fn drift(self, phi: f64, s: f64) -> f64 {
        let gap = if phi < 0.5 * PI { 2.0 * (0.5 * phi).sin().powi(2) } else { 1.0 - phi.cos() };
        let (sine, cosine) = if phi < s { (phi.sin(), -phi.cos()) } else { (s.sin(), s.cos()) };
        let pull = match self.weights {
            RowWeights::Exponential => (self.beta * (1.0 - gap)).exp(),
            _ => {
                let w = (-self.beta * gap).exp();
                let (own, other) = (self.share, 1.0 - self.share);
                w * (other / (own + other * w) + own / (other + own * w))
            }
        };
        let curvature = if s == 0.0 { 1.0 } else { s * cosine / sine };
        s * pull * sine + (self.d - 2) as f64 * self.diffusion() * curvature
    }

    /// The values at the nodes of `v` with `D (v + s v') + drift v = right(node)`, from its value
    /// at the start; at `s = 0` the equation itself gives that.
    fn solved(
        self,
        rule: &Rule,
        interval: &Interval,
        start: Option<f64>,
        right: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let (size, h, diffusion) = (rule.size(), interval.half_length(), self.diffusion());
        let rows: Vec<(f64, f64)> = rule
            .x
            .iter()
            .map(|x| {
                let (phi, s) = interval.at(*x);
                (diffusion * s / h, diffusion + self.drift(phi, s))
            })
            .collect();
        let mut lu = Lu::default();
        let fixed = |i: usize| i == 0 && start.is_some();
        lu.factor(size, |i, j| {
            let one = f64::from(u8::from(i == j));
            if fixed(i) {
                return one;
            }
            rows[i].0 * rule.differentiate[i * size + j] + rows[i].1 * one
        });
        let value = |i| start.filter(|_| i == 0).unwrap_or_else(|| right(i));
        let mut v: Vec<f64> = (0..size).map(value).collect();
        lu.solve(&mut v);
        v
    }

    fn check(self, from: f64, to: f64) -> Result<()> {
        in_range("beta", self.beta, 0.0, 1e4)?;
        in_range("kappa", self.kappa, f64::MIN_POSITIVE, 1e300)?;
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(Error::parameter("share", self.share, "a mass in (0, 1)"));
        }
        if self.n < 2 || self.d < 2 {
            return Err(Error::parameter("n", self.n, "at least 2 tokens in dimension 2 or more"));
        }
        if self.weights == RowWeights::Sinkhorn {
            return Err(super::no_formula_error(self.weights));
        }
        if to > 0.0 && to < from && from <= PI {
            return Ok(());
        }
        let found = format!("from {from} to {to}");
        Err(Error::parameter("angles", found, "0 < to < from <= pi"))
    }

    fn beyond(self, from: f64) -> Error {
        Error::Beyond {
            quantity: format!("the time from the angle {from} at beta = {}", self.beta),
            hint: "use a smaller beta, a larger final angle or a smaller dimension".into(),
        }
    }
}

/// The distribution of the time of a passage.
pub struct Distribution<'a> {
    passage: &'a Passage,
    rule: Rule,
    windows: BTreeMap<i32, Window>,
}

/// An interval of time with two contours, on which the Laplace transform of the time is known.
struct Window {
    times: (f64, f64),
    contours: [Vec<Node>; 2],
}

/// A node of a contour with its weight for the density. The weight for the distribution function
/// has a factor `1/z` more.
struct Node {
    z: Complex64,
    weight: Complex64,
    /// Added to the exponent `z t`: the logarithm of what was taken out of the weight.
    shift: f64,
}

/// Ratio of the last and the first time of a window.
const RATIO: f64 = 5.0;

/// Numbers of nodes of the two hyperbolas of a window: errors of 3e-11 and 2e-14.
const NODES: [usize; 2] = [20, 26];

/// Standard deviation, relative to the mean, below which contours are vertical lines: the transform
/// of a narrow distribution grows too fast on a hyperbola.
const NARROW: f64 = 0.4;

/// Lengths of time, in standard deviations, after which the sums on the two lines repeat.
const PERIODS: [f64; 2] = [24.0, 30.0];

/// Half of the length of the window of lines, in standard deviations.
const WIDTH: f64 = 9.0;

/// Share that is left out of the sum on a line, and the largest number of nodes.
const LEFT_OUT: (f64, usize) = (1e-13, 4000);

impl Passage {
    /// The distribution of the time, by numerical inversion of its Laplace transform.
    ///
    /// ```
    /// use metastable::{attention::RowWeights, theory::noisy_pair::NoisyPair};
    /// // Beside strong noise attraction is nothing: the time is that of a Brownian motion, whose
    /// // first rate is D (pi/2)^2 on an interval of length 1.
    /// let weights = RowWeights::Softmax;
    /// let pair = NoisyPair { beta: 0.0, share: 0.5, n: 2, d: 2, kappa: 1e-9, weights };
    /// let passage = pair.passage(std::f64::consts::PI, std::f64::consts::PI - 1.0).unwrap();
    /// let t = 1.0 / pair.diffusion();
    /// let (p, error) = passage.distribution().probability(t).unwrap();
    /// let rate = (std::f64::consts::PI / 2.0).powi(2);
    /// let series = 4.0 / std::f64::consts::PI * ((-rate).exp() - (-9.0 * rate).exp() / 3.0);
    /// assert!((1.0 - p - series).abs() < 1e-8 && error < 1e-8);
    /// ```
    pub fn distribution(&self) -> Distribution<'_> {
        Distribution { passage: self, rule: Rule::new(DEGREES[0]), windows: BTreeMap::new() }
    }
}

impl Distribution<'_> {
    /// The probability that the passage is over at this time, and its error.
    ///
    /// **Errors** a time so far from the mean that the contours do not reach it.
    pub fn probability(&mut self, t: f64) -> Result<(f64, f64)> {
        self.inverted(t, |node| node.weight / node.z)
    }

    /// The density of the time, and its error. **Errors** as [`Self::probability`].
    pub fn density(&mut self, t: f64) -> Result<(f64, f64)> {
        self.inverted(t, |node| node.weight)
    }

    /// The time until which the passage is over with probability `p`, and its error.
    ///
    /// **Errors** `p` outside [1e-4, 0.9999].
    pub fn quantile(&mut self, p: f64) -> Result<(f64, f64)> {
        in_range("share", p, 1e-4, 0.9999)?;
        let mut k = 0;
        let (from, to) = loop {
            let (from, to) = self.window(k)?.times;
            let (low, high) = (self.probability_in(k, from), self.probability_in(k, to));
            k += match (low > p, high < p) {
                (true, _) => -1,
                (false, true) => 1,
                (false, false) => break (from, to),
            };
            if k.abs() > 30 || self.passage.is_narrow() {
                return Err(self.passage.pair.beyond(PI));
            }
        };
        let gap = |t: f64| self.probability_in(k, t) - p;
        let t = bracketed_root(gap, from, to, 0.0).ok_or_else(|| self.passage.pair.beyond(PI))?;
        let (error, density) = (self.probability(t)?.1, self.density(t)?.0);
        Ok((t, error / density + 4.0 * f64::EPSILON * t + self.passage.mean_error))
    }

    fn probability_in(&self, k: i32, t: f64) -> f64 {
        self.windows.get(&k).map_or(f64::NAN, |w| sum(&w.contours[1], t, &|n| n.weight / n.z))
    }

    fn inverted(&mut self, t: f64, weight: impl Fn(&Node) -> Complex64) -> Result<(f64, f64)> {
        let passage = self.passage;
        let k = if passage.is_narrow() {
            if (t - passage.mean).abs() > WIDTH * passage.deviation {
                return Err(passage.pair.beyond(PI));
            }
            0
        } else {
            in_range("t", t, passage.mean * 1e-9, passage.mean * 1e9)?;
            (t / passage.mean).log(RATIO).round() as i32
        };
        let window = self.window(k)?;
        let [coarse, fine] = window.contours.each_ref().map(|nodes| sum(nodes, t, &weight));
        let scale = window.contours[1].iter().map(|n| term(n, t, &weight).norm()).sum::<f64>();
        Ok((fine, (fine - coarse).abs() + 1e-13 * scale))
    }

    fn window(&mut self, k: i32) -> Result<&Window> {
        if !self.windows.contains_key(&k) {
            let window = if self.passage.is_narrow() { self.lines()? } else { self.hyperbolas(k)? };
            self.windows.insert(k, window);
        }
        self.windows.get(&k).ok_or_else(|| self.passage.pair.beyond(PI))
    }

    /// Hyperbolas of Weideman and Trefethen (Math. Comp. 76 (2007) 1341) for times around `mean
    /// RATIO^k`.
    fn hyperbolas(&self, k: i32) -> Result<Window> {
        let middle = self.passage.mean * RATIO.powi(k);
        let times = (middle / RATIO.sqrt(), middle * RATIO.sqrt());
        // The angle with the largest rate of convergence pi (pi - 2 a) / A(a).
        let spacing =
            |a: f64| (((PI - 2.0 * a) * RATIO + 4.0 * a - PI) / ((4.0 * a - PI) * a.sin())).acosh();
        let rate = |a: f64| PI * (PI - 2.0 * a) / spacing(a);
        let grid = (1..1000).map(|i| 0.25 * PI * (1.0 + f64::from(i) / 1000.0));
        let angle = grid.max_by(|a, b| rate(*a).total_cmp(&rate(*b))).unwrap_or(1.0);
        let contours = NODES.map(|nodes| {
            let h = spacing(angle) / nodes as f64;
            let size = PI * (4.0 * angle - PI) / spacing(angle) * nodes as f64 / times.1;
            let node = |i: usize| {
                let u = (i as f64 + 0.5) * h;
                // mu (1 + sin(iu - a)) and its derivative i mu cos(iu - a), over i.
                let at = Complex64::new(-angle, u);
                let z = size * (1.0 + at.sin());
                let (transform, shift) = self.transform(z);
                Node { z, weight: size * h / PI * at.cos() * transform, shift }
            };
            (0..nodes).map(node).collect()
        });
        Ok(Window { times, contours })
    }

    /// Vertical lines for a narrow distribution.
    fn lines(&self) -> Result<Window> {
        let (mean, deviation) = (self.passage.mean, self.passage.deviation);
        let times = ((mean - WIDTH * deviation).max(1e-3 * mean), mean + WIDTH * deviation);
        let mut contours = [Vec::new(), Vec::new()];
        for (period, nodes) in PERIODS.iter().zip(&mut contours) {
            let h = 2.0 * PI / (period * deviation);
            // The next period has the factor e^{-32}.
            let real = 32.0 / (period * deviation);
            let mut is_over = false;
            while !is_over {
                let z = Complex64::new(real, (nodes.len() as f64 + 0.5) * h);
                let (transform, shift) = self.transform(z);
                is_over = transform.norm() * (shift + real * mean).exp() < LEFT_OUT.0;
                nodes.push(Node { z, weight: h / PI * transform, shift });
                if nodes.len() > LEFT_OUT.1 {
                    return Err(self.passage.pair.beyond(PI));
                }
            }
        }
        Ok(Window { times, contours })
    }

    /// `E e^{-z tau}` as a number and the logarithm of a factor.
    ///
    /// `w = E_phi e^{-z tau}` has `L w = z w` and `w' = 0` at `pi`; with `w' = s q` it is solved
    /// like the mean, from `w = 1` at `pi`, and divided by its value at the end.
    fn transform(&self, z: Complex64) -> (Complex64, f64) {
        let pair = self.passage.pair;
        let (mut w, mut q, mut log) = (Complex64::new(1.0, 0.0), None, 0.0);
        let mut at_start = None;
        for interval in &self.passage.intervals {
            if interval.inside && at_start.is_none() {
                at_start = Some((w, log));
            }
            for part in interval.divided(pair.parts(interval, z.norm())) {
                (w, q) = pair.carried(&self.rule, &part, z, w, q);
                let size = w.norm();
                w /= size;
                q = q.map(|q| q / size);
                log += size.ln();
            }
        }
        let (first, first_log) = at_start.unwrap_or((w, log));
        (first / w, first_log - log)
    }
}

impl Passage {
    fn is_narrow(&self) -> bool {
        self.deviation < NARROW * self.mean
    }
}

impl NoisyPair {
    /// Parts of an interval on which the transform changes by a few factors of e at most.
    fn parts(self, interval: &Interval, z: f64) -> usize {
        let diffusion = self.diffusion();
        let rate = |x: f64| {
            let (phi, s) = interval.at(x);
            let half = if s == 0.0 { 0.0 } else { 0.5 * self.drift(phi, s).abs() / s };
            z / (half + (half * half + diffusion * z).sqrt())
        };
        let fastest = rate(-1.0).max(rate(0.0)).max(rate(1.0));
        (fastest * 2.0 * interval.half_length() / 5.0).ceil().clamp(1.0, 1e5) as usize
    }

    /// `w` and `q` at the end of an interval, from those at its start.
    fn carried(
        self,
        rule: &Rule,
        interval: &Interval,
        z: Complex64,
        w: Complex64,
        q: Option<Complex64>,
    ) -> (Complex64, Option<Complex64>) {
        let (size, h, diffusion) = (rule.size(), interval.half_length(), self.diffusion());
        let rows: Vec<(f64, f64, f64)> = rule
            .x
            .iter()
            .map(|x| {
                let (phi, s) = interval.at(*x);
                (diffusion * s / h, diffusion + self.drift(phi, s), s)
            })
            .collect();
        // The complex system as a real one: real parts first.
        let mut lu = Lu::default();
        lu.factor(2 * size, |row, column| {
            let (i, j) = (row % size, column % size);
            let same = row / size == column / size;
            let one = f64::from(u8::from(i == j && same));
            if i == 0 && q.is_some() {
                return one;
            }
            let integral = h * rule.integrate[i * size + j] * rows[j].2;
            match (same, row < size) {
                (true, _) => {
                    rows[i].0 * rule.differentiate[i * size + j] + rows[i].1 * one - z.re * integral
                }
                (false, true) => z.im * integral,
                (false, false) => -z.im * integral,
            }
        });
        let right = |i: usize| q.filter(|_| i == 0).unwrap_or(z * w);
        let mut found: Vec<f64> =
            (0..size).map(|i| right(i).re).chain((0..size).map(|i| right(i).im)).collect();
        lu.solve(&mut found);
        let at = |i: usize| Complex64::new(found[i], found[size + i]);
        let last = &rule.integrate[size * (size - 1)..];
        let change: Complex64 = (0..size).map(|k| last[k] * rows[k].2 * at(k)).sum();
        (w + h * change, Some(at(size - 1)))
    }
}

fn term(node: &Node, t: f64, weight: &impl Fn(&Node) -> Complex64) -> Complex64 {
    (node.z * t + node.shift).exp() * weight(node)
}

fn sum(nodes: &[Node], t: f64, weight: &impl Fn(&Node) -> Complex64) -> f64 {
    nodes.iter().map(|node| term(node, t, weight).re).sum()
}
