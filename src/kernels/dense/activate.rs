//! Activation functions and their derivatives, for single numbers and in SIMD for many.
//!
//! GELU is `x Phi(x)`. With `z = |x|`, `Phi(-z) = e^{-z^2 / 2} R(z)` and `R(z) = F(q) / (z + 4)`,
//! `q = (z - 4) / (z + 4)` (the substitution of Shepherd and Laframboise 1981 for `erfcx`), where F
//! is a polynomial on `[-1, 1]`. The rounding error of `z^2` is corrected to first order.

use crate::num::simd::{Float, Isa, SimdKernel, SimdOps};
use libm::erfc;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, FRAC_2_SQRT_PI, LN_2, LOG2_E, TAU};

/// The activation function between the two matrices of an MLP.
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

/// `erfc(-x / sqrt 2)`. Where it is small, a relative error of its argument is multiplied by `x^2`,
/// so the rounding error of the argument is corrected to first order.
fn scaled_erfc(x: f64) -> f64 {
    /// `1 / sqrt 2` minus its rounded value.
    const FRAC_1_SQRT_2_LOW: f64 = -4.833_646_656_726_457e-17;
    let z = -x * FRAC_1_SQRT_2;
    let remainder = (-x).mul_add(FRAC_1_SQRT_2, -z) - x * FRAC_1_SQRT_2_LOW;
    let slope = FRAC_2_SQRT_PI * (-z * z).exp();
    // An infinite argument has no rounding error.
    erfc(z) - if slope > 0.0 { slope * remainder } else { 0.0 }
}

impl Activation {
    /// The value.
    /// **Accuracy** 2 ulp for `|x| < 30` (exact form).
    ///
    /// ```
    /// use metastable::attention::dense::Activation;
    /// assert!((Activation::Gelu.value(-0.751791524694) + 0.169971207480).abs() < 1e-12); // its minimum
    /// ```
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Relu => x.max(0.0),
            Self::Gelu => 0.5 * x * scaled_erfc(x),
            Self::GeluTanh => {
                0.5 * x * (1.0 + (FRAC_2_PI.sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
            }
            Self::Silu => x / (1.0 + (-x).exp()),
        }
    }

    /// The derivative (0 at the corner of ReLU).
    ///
    /// ```
    /// use metastable::attention::dense::Activation;
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

    /// Upper bound of the derivative.
    pub fn max_slope(self) -> f64 {
        match self {
            Self::Relu => 1.0,
            Self::Gelu | Self::GeluTanh => 1.129,
            Self::Silu => 1.1,
        }
    }
}

/// F, lowest power first: Chebyshev interpolation with 40 digits, rounded; relative error 7e-17.
const F_COEFFICIENTS: [f64; 25] = [
    0.755_285_130_415_751_5,
    -0.607_896_641_971_892_3,
    0.387_137_400_742_214_53,
    -0.186_521_857_959_635_33,
    0.060_396_574_890_936_07,
    -0.007_540_188_967_419_565,
    -0.003_479_692_367_388_415_6,
    0.001_630_818_467_806_444_4,
    0.000_133_344_312_700_307_84,
    -0.000_231_095_019_992_006_49,
    -1.908_265_085_342_678_5e-6,
    3.514_512_256_012_581e-5,
    7.167_263_978_705_016e-7,
    -5.921_638_801_978_816e-6,
    -6.299_974_265_164_222e-7,
    1.024_832_506_094_632_3e-6,
    2.727_176_083_262_385e-7,
    -1.598_267_661_043_867_7e-7,
    -8.713_294_621_467_49e-8,
    1.788_187_240_950_341_5e-8,
    2.160_442_684_272_040_4e-8,
    -6.021_003_727_951_476e-10,
    -3.798_041_859_957_449e-9,
    -1.174_210_753_924_706_5e-10,
    3.515_692_426_680_93e-10,
];

/// F for `f32`: relative error 1e-8 before rounding.
const F_COEFFICIENTS_F32: [f64; 11] = [
    0.755_285_130_415_751_5,
    -0.607_896_396_589_095_1,
    0.387_137_399_148_435_5,
    -0.186_526_805_964_071_73,
    0.060_396_604_828_050_59,
    -0.007_511_891_867_966_995,
    -0.003_479_830_876_246_688_2,
    0.001_563_337_083_880_314_3,
    0.000_133_510_242_270_240_5,
    -0.000_157_121_554_794_737_06,
    -1.673_315_370_876_840_9e-6,
];

/// `1 / ln 2` minus [`LOG2_E`].
const LOG2_E_LOW: f64 = 2.035_527_374_093_103_3e-17;

/// Applies the activation to every number.
/// **Accuracy** GELU and SiLU: relative error 12 u; ReLU: exact; the tanh form: 12 u of `|x|`,
/// relative for `x > 0`. Values below `x 2^-1020` (`x 2^-124` in `f32`) become 0.
///
/// ```
/// use metastable::attention::dense::activate::{Activation, activate};
/// let mut x = [-0.751791524694f64, 1.0, 0.0];
/// activate(Activation::Gelu, &mut x);
/// assert!((x[0] + 0.169971207480).abs() < 1e-12 && x[2] == 0.0);
/// ```
pub fn activate<T: Float>(activation: Activation, numbers: &mut [T]) {
    Isa::best().run(Activate(activation, numbers));
}

struct Activate<'a, T>(Activation, &'a mut [T]);

impl<T: Float> SimdKernel for Activate<'_, T> {
    type F = T;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = T>>(self, l: L) {
        match self.0 {
            Activation::Relu => apply_kind::<L, RELU>(l, self.1),
            Activation::Gelu => apply_kind::<L, GELU>(l, self.1),
            Activation::GeluTanh => apply_kind::<L, GELU_TANH>(l, self.1),
            Activation::Silu => apply_kind::<L, SILU>(l, self.1),
        }
    }
}

/// The activations as const parameters, so that each has its own compiled loop.
const RELU: u8 = 0;
const GELU: u8 = 1;
const GELU_TANH: u8 = 2;
const SILU: u8 = 3;

/// Vector by vector; the remaining numbers go through a buffer. No closures, because they would not
/// be compiled for the instruction set.
#[inline(always)]
fn apply_kind<L: SimdOps, const KIND: u8>(l: L, numbers: &mut [L::F]) {
    let whole = numbers.len() / L::WIDTH * L::WIDTH;
    let (vectors, rest) = numbers.split_at_mut(whole);
    // Four vectors at a time: a polynomial is one long chain of dependent operations.
    let (fours, singles) = L::view_mut(vectors).as_chunks_mut::<4>();
    for four in fours {
        *four = values::<L, KIND, 4>(l, *four);
    }
    for v in singles {
        [*v] = values::<L, KIND, 1>(l, [*v]);
    }
    if !rest.is_empty() {
        let mut last = [L::F::default(); 16];
        last[..rest.len()].copy_from_slice(rest);
        let vector = &mut L::view_mut(&mut last[..L::WIDTH])[0];
        [*vector] = values::<L, KIND, 1>(l, [*vector]);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[inline(always)]
fn values<L: SimdOps, const KIND: u8, const U: usize>(l: L, mut x: [L::V; U]) -> [L::V; U] {
    match KIND {
        GELU if size_of::<L::F>() == 8 => return gelu(l, x, &F_COEFFICIENTS),
        GELU => return gelu(l, x, &F_COEFFICIENTS_F32),
        _ => {}
    }
    for v in &mut x {
        *v = match KIND {
            // This order of arguments keeps NaN.
            RELU => l.max(l.zero(), *v),
            GELU_TANH => {
                // (1 + tanh u) / 2 is the logistic function of 2 u.
                let twice = 2.0 * FRAC_2_PI.sqrt();
                let inside = l.fma(
                    l.mul(l.constant(0.044_715 * twice), l.mul(*v, *v)),
                    *v,
                    l.mul(l.constant(twice), *v),
                );
                l.mul(*v, logistic(l, inside))
            }
            _ => l.mul(*v, logistic(l, *v)),
        };
    }
    x
}

/// `1 / (1 + e^{-v})`.
#[inline(always)]
fn logistic<L: SimdOps>(l: L, v: L::V) -> L::V {
    let (one, cut) = (l.constant(1.0), l.constant(-L::F::UNDERFLOW_EXPONENT / LOG2_E));
    let size = l.max(v, l.sub(l.zero(), v));
    let e = l.exp2_product(size, l.constant(-LOG2_E), cut);
    l.div(l.select(l.greater(v, l.zero()), one, e), l.add(one, e))
}

#[inline(always)]
fn gelu<L: SimdOps, const N: usize, const U: usize>(l: L, x: [L::V; U], f: &[f64; N]) -> [L::V; U] {
    let (four, half) = (l.constant(4.0), l.constant(0.5));
    let slope = -0.5 * LOG2_E;
    let (factor, cut) = (l.constant(slope), l.constant(L::F::UNDERFLOW_EXPONENT / slope));
    // Rounding error of the slope.
    let rest = l.constant(LN_2 * (slope - L::F::from_f64(slope).to_f64() - 0.5 * LOG2_E_LOW));
    let (mut near, mut q, mut inverse, mut value, mut out) =
        (x, x, x, [l.constant(f[N - 1]); U], x);
    for u in 0..U {
        // Beyond 40 every tail is 0. This order of arguments keeps NaN.
        near[u] = l.min(l.constant(40.0), l.max(l.constant(-40.0), x[u]));
        let z = l.max(near[u], l.sub(l.zero(), near[u]));
        inverse[u] = l.div(l.constant(1.0), l.add(z, four));
        q[u] = l.mul(l.sub(z, four), inverse[u]);
    }
    for c in f[..N - 1].iter().rev() {
        for u in 0..U {
            value[u] = l.fma(value[u], q[u], l.constant(*c));
        }
    }
    for u in 0..U {
        // near^2 = s - remainder exactly.
        let s = l.mul(near[u], near[u]);
        let remainder = l.fma(l.sub(l.zero(), near[u]), near[u], s);
        let e = l.exp2_product(s, factor, cut);
        let e = l.fma(l.fma(s, rest, l.mul(half, remainder)), e, e);
        let below = l.mul(near[u], l.mul(l.mul(value[u], inverse[u]), e));
        // x Phi(x) = x - x Phi(-x)
        out[u] = l.select(l.greater(x[u], l.zero()), l.sub(x[u], below), below);
    }
    out
}
