//! Dynamics of tokens. A dynamics is one file here with an [`Entry`]; the command line, the conformance suite and the experiments pick it up.

use super::kernel::{Attention, Choice, EXACT, Output, Weights};
use super::triangular::{CausalAttention, Triangular};
use super::{Head, TimeScale};
use crate::error::{Error, Result};
use crate::num::simd::Level;
use crate::sphere::Tokens;

pub mod causal_sa;
pub mod causal_usa;
pub mod repulsive_sa;
pub mod repulsive_usa;
pub mod sa;
pub mod usa;

/// What a dynamics claims about itself; the conformance suite tests every claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// All tokens move in one common field, so coincident tokens stay coincident and coalescence is exact.
    pub common_field: bool,
    /// The flow commutes with rotations of the tokens.
    pub rotation_equivariant: bool,
    /// The flow commutes with permutations of the tokens.
    pub permutation_equivariant: bool,
    /// `+1` when `E_beta` increases along the flow, `-1` when it decreases, 0 when neither is claimed.
    pub energy_sign: i8,
    /// Hemispheres (and caps inside them) are invariant: V = I and positive weights.
    pub cone_invariant: bool,
    /// Upper bound of `|x_i'|`, when one is claimed.
    pub speed_bound: Option<f64>,
}

/// A velocity field on tokens.
pub trait Dynamics: Send + Sync {
    /// `x_i'` for every token, row-major n x d into `out`, tangent to the sphere at `x`; not a number where [`Dynamics::kernel`] is an error.
    fn velocity(&self, x: &Tokens, out: &mut [f64]);

    /// The velocity of token i alone.
    fn velocity_of(&self, x: &Tokens, i: usize) -> Vec<f64> {
        let mut all = vec![0.0; x.coordinates().len()];
        self.velocity(x, &mut all);
        all[i * x.d()..(i + 1) * x.d()].to_vec()
    }

    /// The unprojected attention `sum_j A_ij V x_j` that a layer adds (theory 0.6); not a number where its algorithm cannot do it.
    fn field(&self, x: &Tokens, out: &mut [f64]);

    /// Name of the algorithm that evaluates the velocity of these tokens.
    ///
    /// **Errors** an algorithm asked for by name that cannot do it, or cannot keep the accuracy.
    fn kernel(&self, _: &Tokens) -> Result<&'static str> {
        Ok("own")
    }

    /// Largest relative error of a velocity: what lies below it is noise to the integrators.
    fn accuracy(&self) -> f64 {
        EXACT
    }

    /// The attention behind it, when it is one: many small systems of plain attention are moved in batches.
    fn attention(&self) -> Option<&Attention> {
        None
    }

    /// The linearised velocity, where token i depends on tokens `j <= i` only and the derivatives are known: with it stiff runs take implicit steps.
    fn triangular(&self) -> Option<Box<dyn Triangular + '_>> {
        None
    }

    /// What the dynamics claims.
    fn facts(&self) -> Facts;

    /// Length over which weights change by a factor e, `min(1, |beta|^{-1/2})`: the unit of the integrators' tolerance.
    fn length_scale(&self) -> f64;
}

/// Parameters from which a dynamics is built.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Inverse temperature, any finite number.
    pub beta: f64,
    /// Number of initial tokens (U3 and U4 depend on it).
    pub n: usize,
    /// Heads; empty means one identity head.
    pub heads: Vec<Head>,
    /// Time normalisation of USA.
    pub time_scale: TimeScale,
    /// Algorithm of the sums.
    pub kernel: Choice,
    /// Relative accuracy wanted of a velocity; above [`EXACT`] a fast algorithm may be chosen.
    pub accuracy: f64,
    /// Instruction set.
    pub level: Level,
}

impl Spec {
    /// Identity matrices and default normalisation.
    pub fn new(beta: f64, n: usize) -> Self {
        Self { beta, n, heads: Vec::new(), time_scale: TimeScale::default(), kernel: Choice::Auto, accuracy: EXACT, level: Level::best() }
    }
}

/// A registered dynamics.
pub struct Entry {
    /// Name in experiments and on the command line.
    pub name: &'static str,
    /// The equation in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// True when the equation has a time normalisation (USA).
    pub unnormalised: bool,
    /// Builds it.
    pub build: fn(&Spec) -> Result<Box<dyn Dynamics>>,
}

/// All dynamics, by name.
pub static ALL: &[&Entry] = include!(concat!(env!("OUT_DIR"), "/dynamics.rs"));

/// Finds a dynamics; `causal` selects the causal variant of `sa` and `usa`.
///
/// **Errors** unknown name, with the nearest known one.
pub fn find(name: &str, causal: bool) -> Result<&'static Entry> {
    let full = if causal && !name.starts_with("causal-") { format!("causal-{name}") } else { name.to_owned() };
    ALL.iter().copied().find(|e| e.name == full).ok_or_else(|| Error::unknown("dynamics", &full, ALL.iter().map(|e| e.name)))
}

/// Builds a dynamics by name.
///
/// ```
/// use metastable::{attention::dynamics, attention::Spec, sphere::Tokens};
/// let sa = dynamics::build("sa", false, &Spec::new(1.0, 2)).unwrap();
/// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
/// let mut v = vec![0.0; 4];
/// sa.velocity(&x, &mut v);
/// // theta_1' = sin(1) e^{cos 1} / (e + e^{cos 1})
/// let expected = 1f64.sin() * 1f64.cos().exp() / (1f64.exp() + 1f64.cos().exp());
/// assert!((v[1] - expected).abs() < 1e-15);
/// ```
pub fn build(name: &str, causal: bool, spec: &Spec) -> Result<Box<dyn Dynamics>> {
    let entry = find(name, causal)?;
    if !spec.beta.is_finite() || spec.beta.abs() > MAX_BETA {
        return Err(Error::parameter("beta", crate::error::show(spec.beta), format!("a number in [-{MAX_BETA:e}, {MAX_BETA:e}]")));
    }
    (entry.build)(spec)
}

/// Length over which weights change by a factor e, `min(1, |beta|^{-1/2})`.
pub fn kernel_width(beta: f64) -> f64 {
    beta.abs().max(1.0).powf(-0.5)
}

/// Beyond this inverse temperature the kernel width `beta^{-1/2}` is below the spacing of doubles on the sphere.
pub const MAX_BETA: f64 = 1e30;

/// The shared implementation behind the registered names.
pub(crate) struct AttentionDynamics {
    pub attention: Attention,
    pub facts: Facts,
}

impl AttentionDynamics {
    /// One common constructor: weights, mask and sign decide the facts.
    pub(crate) fn boxed(spec: &Spec, softmax: bool, causal: bool, sign: f64) -> Result<Box<dyn Dynamics>> {
        let heads = if spec.heads.is_empty() { vec![Head::default()] } else { spec.heads.clone() };
        let log_factor = spec.time_scale.log_factor(spec.beta, spec.n);
        let plain = heads.len() == 1 && heads[0].is_identity();
        if !softmax && plain && spec.beta.abs() + log_factor > 700.0 {
            return Err(Error::Beyond {
                quantity: format!("the USA velocity at beta = {} in normalisation {}", spec.beta, spec.time_scale.describe()),
                hint: if spec.beta > 0.0 { "use the time normalisation u2 (e^{beta (G-1)}) or sa".into() } else { "use sa".into() },
            });
        }
        let weights = if softmax { Weights::Softmax } else { Weights::Exponential { log_factor } };
        let identity_value = heads.iter().all(Head::has_identity_value);
        let facts = Facts {
            common_field: !causal,
            rotation_equivariant: plain,
            permutation_equivariant: !causal,
            energy_sign: match (plain && !causal, sign > 0.0) {
                (true, true) => 1,
                (true, false) => -1,
                _ => 0,
            },
            cone_invariant: identity_value && sign > 0.0,
            speed_bound: match (plain, softmax) {
                (true, true) => Some(1.0),
                (true, false) => Some((spec.beta.abs() + log_factor).exp()),
                _ => None,
            },
        };
        let Spec { beta, kernel, accuracy, level, .. } = *spec;
        let attention = Attention { beta, heads, causal, weights, sign, kernel, accuracy, level };
        Ok(Box::new(Self { attention, facts }))
    }
}

impl AttentionDynamics {
    fn evaluate(&self, x: &Tokens, output: Output, out: &mut [f64]) {
        if self.attention.apply(x, output, out).is_err() {
            out.fill(f64::NAN);
        }
    }
}

impl Dynamics for AttentionDynamics {
    fn velocity(&self, x: &Tokens, out: &mut [f64]) {
        self.evaluate(x, Output::Velocity, out);
    }

    fn velocity_of(&self, x: &Tokens, i: usize) -> Vec<f64> {
        self.attention.apply_row(x, Output::Velocity, i)
    }

    fn field(&self, x: &Tokens, out: &mut [f64]) {
        self.evaluate(x, Output::Field, out);
    }

    fn accuracy(&self) -> f64 {
        self.attention.accuracy
    }

    fn attention(&self) -> Option<&Attention> {
        Some(&self.attention)
    }

    fn triangular(&self) -> Option<Box<dyn Triangular + '_>> {
        CausalAttention::of(&self.attention).map(|t| Box::new(t) as Box<dyn Triangular>)
    }

    fn kernel(&self, x: &Tokens) -> Result<&'static str> {
        self.attention.kernel_name(x, Output::Velocity)
    }

    fn facts(&self) -> Facts {
        self.facts
    }

    fn length_scale(&self) -> f64 {
        kernel_width(self.attention.beta)
    }
}
