//! The feed-forward sublayer: every token by itself.
//!
//! Sublayers of a dynamics are added up at the same tokens, and what a layer does with them (peri
//! and nGPT: a norm) it does with their sum. In a transformer's layer the feed-forward sublayer
//! comes after attention: that is the module `transformer`.

use super::kernel::{Form, Workspace};
use super::sublayer::{At, Facts, Sublayer};
use crate::error::{Error, Result};
use crate::num::sum::dot;
use crate::num::vector::norm;
use libm::erfc;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, FRAC_2_SQRT_PI, TAU};

/// The function between the two matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(0, x)`.
    Relu,
    /// `x Phi(x) = (x/2) erfc(-x / sqrt 2)`.
    Gelu,
    /// `(x/2) (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`, within 4.7324e-4 of [`Activation::Gelu`].
    GeluTanh,
    /// `x / (1 + e^{-x})`.
    Silu,
}

/// `erfc(-x / sqrt 2)`. Where it is small its argument counts `x^2` times, so what rounding takes from that is given back to first order.
fn tail(x: f64) -> f64 {
    /// `1 / sqrt 2` without its double.
    const REST: f64 = -4.833_646_656_726_457e-17;
    let z = -x * FRAC_1_SQRT_2;
    let lost = (-x).mul_add(FRAC_1_SQRT_2, -z) - x * REST;
    let slope = FRAC_2_SQRT_PI * (-z * z).exp();
    // Infinite arguments have no rest.
    erfc(z) - if slope > 0.0 { slope * lost } else { 0.0 }
}

impl Activation {
    /// Its value. **Accuracy** 2 ulp while `|x| < 30` (exact form).
    ///
    /// ```
    /// use metastable::attention::feed_forward::Activation;
    /// assert!((Activation::Gelu.value(-0.751791524694) + 0.169971207480).abs() < 1e-12); // its minimum
    /// ```
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Relu => x.max(0.0),
            Self::Gelu => 0.5 * x * tail(x),
            Self::GeluTanh => 0.5 * x * (1.0 + (FRAC_2_PI.sqrt() * (x + 0.044_715 * x.powi(3))).tanh()),
            Self::Silu => x / (1.0 + (-x).exp()),
        }
    }

    /// Its derivative (0 at the corner of ReLU).
    ///
    /// ```
    /// use metastable::attention::feed_forward::Activation;
    /// // The largest slope of the exact form is at sqrt 2: Phi(sqrt 2) + sqrt 2 phi(sqrt 2).
    /// assert!((Activation::Gelu.slope(2f64.sqrt()) - 1.128904145185).abs() < 1e-12);
    /// ```
    pub fn slope(self, x: f64) -> f64 {
        match self {
            Self::Relu => f64::from(u8::from(x > 0.0)),
            Self::Gelu => 0.5 * erfc(-x * FRAC_1_SQRT_2) + x * (-0.5 * x * x).exp() / TAU.sqrt(),
            Self::GeluTanh => {
                let (a, b) = (FRAC_2_PI.sqrt(), 0.044_715);
                let tanh = (a * (x + b * x.powi(3))).tanh();
                0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * a * (1.0 + 3.0 * b * x * x)
            }
            Self::Silu => {
                let gate = 1.0 / (1.0 + (-x).exp());
                gate * (1.0 + x * (1.0 - gate))
            }
        }
    }

    /// The largest slope.
    fn steepest(self) -> f64 {
        match self {
            Self::Relu => 1.0,
            Self::Gelu | Self::GeluTanh => 1.129,
            Self::Silu => 1.1,
        }
    }
}

/// `W_2 act(W_1 x + b_1) + b_2` with `W_1` h x d and `W_2` d x h, row-major.
#[derive(Clone, Debug)]
pub struct FeedForward {
    d: usize,
    first: Vec<f64>,
    shift: Vec<f64>,
    second: Vec<f64>,
    last: Vec<f64>,
    activation: Activation,
}

impl FeedForward {
    /// A feed-forward sublayer on `R^d`; the number of hidden units is that of `shift` (`b_1`).
    ///
    /// **Errors** shapes that do not fit, a number that is not finite.
    ///
    /// ```
    /// use metastable::attention::{Dynamics, feed_forward::{Activation, FeedForward}};
    /// use metastable::sphere::Tokens;
    /// // One unit that reads the first coordinate and writes the second
    /// let unit = FeedForward::new(2, vec![1.0, 0.0], vec![0.0], vec![0.0, 3.0], vec![0.0; 2], Activation::Relu).unwrap();
    /// let x = Tokens::from_angles(&[0.0]).unwrap();
    /// assert_eq!(Dynamics::of(unit).velocity(&x), [0.0, 3.0]);
    /// ```
    pub fn new(d: usize, first: Vec<f64>, shift: Vec<f64>, second: Vec<f64>, last: Vec<f64>, activation: Activation) -> Result<Self> {
        let h = shift.len();
        for (name, found, expected) in [("W_1", first.len(), h * d), ("W_2", second.len(), d * h), ("b_2", last.len(), d)] {
            if found != expected {
                let expected = format!("{expected} numbers for d = {d} and {h} hidden units");
                return Err(Error::parameter(name, format!("{found} numbers"), expected));
            }
        }
        for (name, numbers) in [("W_1", &first), ("b_1", &shift), ("W_2", &second), ("b_2", &last)] {
            if let Some(k) = numbers.iter().position(|v| !v.is_finite()) {
                return Err(Error::parameter(name, numbers[k], format!("finite numbers (number {})", k + 1)));
            }
        }
        Ok(Self { d, first, shift, second, last, activation })
    }

    /// Adds the output for one token.
    fn add(&self, x: &[f64], hidden: &mut Vec<f64>, out: &mut [f64]) {
        hidden.clear();
        hidden.extend(self.first.chunks_exact(self.d).zip(&self.shift).map(|(w, b)| self.activation.value(dot(w, x) + b)));
        let h = hidden.len();
        out.copy_from_slice(&self.last);
        if h > 0 {
            out.iter_mut().zip(self.second.chunks_exact(h)).for_each(|(o, w)| *o += dot(w, hidden));
        }
    }
}

impl Sublayer for FeedForward {
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]) {
        let Hidden(hidden) = work.of();
        at.tokens.rows().zip(out.chunks_exact_mut(self.d)).for_each(|(x, out)| self.add(x, hidden, out));
        // Every token is its own source: differences to it leave what it adds.
        if form == Form::Tangent {
            form.of_sums(at.tokens, out);
        }
    }

    fn facts(&self) -> Facts {
        Facts { common_field: true, permutation_equivariant: true, causal: true, autonomous: true, ..Facts::default() }
    }

    fn length_scale(&self) -> f64 {
        (1.0 / (self.activation.steepest() * norm(&self.first) * norm(&self.second))).min(1.0)
    }
}

/// Hidden units of one token.
#[derive(Default)]
struct Hidden(Vec<f64>);
