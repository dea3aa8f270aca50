//! Dynamics of tokens. A dynamics with a name is one entry of [`ALL`]; the command line, the conformance suite and the experiments pick it up.

use super::kernel::{Attention, Choice, EXACT, Form, Weights, Workspace};
use super::normalisation::{Normalisation, Post, Reads, Token};
use super::sublayer::{At, Facts, Sublayer};
use super::triangular::Triangular;
use super::{Head, RowWeights, TimeScale, Variant};
use crate::error::{Error, Result};
use crate::num::vector::{max_abs, norm, scale};
use crate::num::{simd::Level, sum::dot};
use crate::sphere::Tokens;
use std::borrow::Cow;

/// What moves tokens: sublayers, and what a layer does with their outputs. In continuous time outputs are added; layers apply them in turn.
pub struct Dynamics {
    /// What is added, at least one.
    pub sublayers: Vec<Box<dyn Sublayer>>,
    /// What a layer does with it.
    pub normalisation: Box<dyn Normalisation>,
}

impl Dynamics {
    /// One sublayer on the sphere.
    pub fn of(sublayer: impl Sublayer + 'static) -> Self {
        Self { sublayers: vec![Box::new(sublayer)], normalisation: Box::new(Post) }
    }

    /// The same sublayers and one more.
    #[must_use]
    pub fn and(mut self, sublayer: impl Sublayer + 'static) -> Self {
        self.sublayers.push(Box::new(sublayer));
        self
    }

    /// The same sublayers under another scheme.
    #[must_use]
    pub fn with(self, normalisation: impl Normalisation + 'static) -> Self {
        Self { normalisation: Box::new(normalisation), ..self }
    }

    /// **Errors** tokens of another space than that of the dynamics.
    pub fn accepts(&self, x: &Tokens) -> Result<()> {
        let (found, expected) = (x.space().name(), self.normalisation.space().name());
        if found == expected {
            return Ok(());
        }
        let expected = format!("tokens of the space `{expected}`, where the normalisation `{}` moves them", self.normalisation.name());
        Err(Error::parameter("tokens", format!("tokens of the space `{found}`"), expected))
    }

    /// The rates of all numbers of the tokens at time `t` (n d, row-major: velocities, tangent to the sphere where they live there; then the rates of
    /// the space's own numbers); not a number where [`Dynamics::kernel`] is an error.
    ///
    /// ```
    /// use metastable::{attention::{Dynamics, kernel::{Attention, Workspace}, normalisation::Pre}, sphere::Tokens};
    /// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap().polar(&[1.0, 2.0]).unwrap();
    /// let mut rates = [0.0; 6];
    /// Dynamics::of(Attention::new(0.0)).with(Pre).rates(0.0, &x, &mut Workspace::default(), &mut rates);
    /// // A is the mean: r' = <theta, A>
    /// assert!((rates[4] - 0.5 * (1.0 + 1f64.cos())).abs() < 1e-15);
    /// ```
    pub fn rates(&self, t: f64, x: &Tokens, work: &mut Workspace, out: &mut [f64]) {
        let (rows, own) = out.split_at_mut(x.coordinates().len());
        self.output(t, x, self.normalisation.form(), work, rows);
        let (d, reads) = (x.d(), self.normalisation.reads());
        if reads == Reads::Nothing {
            own.fill(0.0);
            return;
        }
        let mut sums = Vec::new();
        if reads == Reads::Output {
            sums.resize(rows.len(), 0.0);
            self.output(t, x, Form::Sum, work, &mut sums);
        }
        for (i, row) in rows.chunks_exact_mut(d).enumerate() {
            let radius = x.own().get(i).copied().unwrap_or(1.0);
            let (radial, size) = sums.get(i * d..(i + 1) * d).map_or((0.0, 0.0), |a| (dot(x.row(i), a), length(a)));
            let (speed, rate) = self.normalisation.rates(&Token { t, radius, radial, size });
            scale(speed, row);
            own.iter_mut().skip(i).take(1).for_each(|r| *r = rate);
        }
    }

    /// Velocities of tokens without numbers of their own, as a vector: for one evaluation.
    pub fn velocity(&self, x: &Tokens) -> Vec<f64> {
        let mut out = vec![0.0; x.numbers().len()];
        self.rates(0.0, x, &mut Workspace::default(), &mut out);
        out
    }

    /// The sum of the outputs of all sublayers in one form.
    pub fn output(&self, t: f64, x: &Tokens, form: Form, work: &mut Workspace, out: &mut [f64]) {
        let at = At { t, tokens: x };
        let Some((first, others)) = self.sublayers.split_first() else { return out.fill(0.0) };
        first.evaluate(&at, form, work, out);
        if others.is_empty() {
            return;
        }
        let mut more = vec![0.0; out.len()];
        for sublayer in others {
            sublayer.evaluate(&at, form, work, &mut more);
            out.iter_mut().zip(&more).for_each(|(o, m)| *o += m);
        }
    }

    /// The same from the definitions of the sublayers, in double-doubles; `None` where one has none.
    pub fn definition(&self, t: f64, x: &Tokens, form: Form) -> Option<Vec<f64>> {
        let at = At { t, tokens: x };
        let parts = self.sublayers.iter().map(|s| s.definition(&at, form)).collect::<Option<Vec<_>>>()?;
        parts.into_iter().reduce(|mut sum, part| {
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
            sum
        })
    }

    /// Name of the algorithm that evaluates the rates of these tokens.
    ///
    /// **Errors** an algorithm asked for by name that cannot do it, or cannot keep the accuracy; tokens of another space.
    pub fn kernel(&self, x: &Tokens) -> Result<&'static str> {
        self.accepts(x)?;
        let names = self.sublayers.iter().map(|s| s.algorithm(x, self.normalisation.form())).collect::<Result<Vec<_>>>()?;
        if self.normalisation.reads() == Reads::Output {
            self.sublayers.iter().try_for_each(|s| s.algorithm(x, Form::Sum).map(|_| ()))?;
        }
        Ok(names.first().copied().unwrap_or("own"))
    }

    /// Largest relative error of a velocity: what lies below it is noise to the integrators.
    pub fn accuracy(&self) -> f64 {
        self.sublayers.iter().map(|s| s.accuracy()).fold(EXACT, f64::max)
    }

    /// The attention behind it, when it is nothing else: many small systems of attention are moved in lanes.
    pub fn attention(&self) -> Option<&Attention> {
        self.only().and_then(|s| s.attention())
    }

    /// The attention behind it at time t, when it is nothing else then.
    pub fn attention_at(&self, t: f64) -> Option<Cow<'_, Attention>> {
        self.only().and_then(|s| s.attention_at(t))
    }

    /// The linearised velocity, where token i depends on tokens `j <= i` only and the derivatives are known: with it stiff runs take implicit steps.
    pub fn triangular(&self) -> Option<Box<dyn Triangular + '_>> {
        self.only().and_then(|s| s.triangular())
    }

    /// Its one sublayer, whose projection is all that is done with it.
    fn only(&self) -> Option<&dyn Sublayer> {
        match &self.sublayers[..] {
            [only] if self.normalisation.is_projection() => Some(&**only),
            _ => None,
        }
    }

    /// What the dynamics claims; of schemes other than [`Post`] nothing but who sees whom, and cones: all but those in `R^d` move directions by positive multiples of the same.
    pub fn facts(&self) -> Facts {
        let all = self.sublayers.iter().map(|s| s.facts()).reduce(Facts::and).unwrap_or_default();
        if self.normalisation.is_projection() {
            return all;
        }
        let Facts { rotation_equivariant, permutation_equivariant, causal, mut autonomous, mut cone_invariant, .. } = all;
        cone_invariant &= self.normalisation.form() == Form::Tangent;
        // Some schemes read the time.
        autonomous &= self.normalisation.reads() == Reads::Nothing;
        Facts { rotation_equivariant, permutation_equivariant, causal, autonomous, cone_invariant, ..Facts::default() }
    }

    /// Length over which weights change by a factor e: the unit of the integrators' tolerance.
    pub fn length_scale(&self) -> f64 {
        self.sublayers.iter().map(|s| s.length_scale()).fold(1.0, f64::min)
    }

    /// Times at which weights jump, ascending.
    pub fn jumps(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.sublayers.iter().flat_map(|s| s.jumps().iter().copied()).chain(self.normalisation.jump()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}

/// `|a|`, 0 only where all of it is 0: squares of numbers below 1e-154 are.
fn length(a: &[f64]) -> f64 {
    let size = norm(a);
    if size.is_nan() || (1e-140..1e140).contains(&size) {
        return size;
    }
    let largest = max_abs(a);
    if largest > 0.0 && largest.is_finite() { largest * a.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt() } else { largest }
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
pub struct NamedDynamics {
    /// Name in experiments and on the command line.
    pub name: &'static str,
    /// The equation in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// Which plain attention it is without matrices; `None` for another thing: closed forms are not for it.
    pub variant: Option<Variant>,
    /// Builds it.
    pub build: fn(&Spec) -> Result<Dynamics>,
}

impl NamedDynamics {
    /// Builds it. **Errors** a beta beyond [`MAX_BETA`], and those of the dynamics.
    pub fn build(&self, spec: &Spec) -> Result<Dynamics> {
        if !spec.beta.is_finite() || spec.beta.abs() > MAX_BETA {
            return Err(Error::parameter("beta", crate::error::show(spec.beta), format!("a number in [-{MAX_BETA:e}, {MAX_BETA:e}]")));
        }
        (self.build)(spec)
    }
}

const SA: Variant = Variant::mutual(RowWeights::Softmax);
const USA: Variant = Variant::mutual(RowWeights::Exponential);

/// All dynamics, by name.
pub static ALL: &[&NamedDynamics] = &[
    &NamedDynamics {
        name: "causal-sa",
        summary: "SA with sums over j <= i only",
        citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990",
        variant: Some(Variant { causal: true, ..SA }),
        build: |spec| attention(spec, Variant { causal: true, ..SA }),
    },
    &NamedDynamics {
        name: "causal-usa",
        summary: "USA with sums over j <= i only",
        citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990",
        variant: Some(Variant { causal: true, ..USA }),
        build: |spec| attention(spec, Variant { causal: true, ..USA }),
    },
    &NamedDynamics {
        name: "repulsive-sa",
        summary: "SA with V replaced by -V: the reverse flow, which descends the energy",
        citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, section 9.1",
        variant: Some(Variant { repulsive: true, ..SA }),
        build: |spec| attention(spec, Variant { repulsive: true, ..SA }),
    },
    &NamedDynamics {
        name: "repulsive-usa",
        summary: "USA with V replaced by -V: the reverse flow, which descends the energy",
        citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, section 9.1",
        variant: Some(Variant { repulsive: true, ..USA }),
        build: |spec| attention(spec, Variant { repulsive: true, ..USA }),
    },
    &NamedDynamics {
        name: "sa",
        summary: "x_i' = P_{x_i} sum_j A_ij V x_j, A_ij = m_j e^{beta <Qx_i,Kx_j>} / sum_k m_k e^{beta <Qx_i,Kx_k>}",
        citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, (2.3)",
        variant: Some(SA),
        build: |spec| attention(spec, SA),
    },
    &NamedDynamics {
        name: "usa",
        summary: "x_i' = P_{x_i} sum_j m_j e^{beta <Qx_i,Kx_j>} V x_j",
        citation: "Geshkovski, Letrouit, Polyanskiy, Rigollet, arXiv:2312.10794, (3.5)",
        variant: Some(USA),
        build: |spec| attention(spec, USA),
    },
];

/// Finds a dynamics; `causal` selects the causal variant of `sa` and `usa`.
///
/// **Errors** unknown name, with the nearest known one.
pub fn find(name: &str, causal: bool) -> Result<&'static NamedDynamics> {
    let full = if causal && !name.starts_with("causal-") { format!("causal-{name}") } else { name.to_owned() };
    ALL.iter().copied().find(|e| e.name == full).ok_or_else(|| Error::unknown("dynamics", &full, ALL.iter().map(|e| e.name)))
}

/// The registered plain attention of this variant.
///
/// **Errors** none is registered.
pub fn of_variant(variant: Variant) -> Result<&'static NamedDynamics> {
    let found = ALL.iter().copied().find(|e| e.variant == Some(variant));
    found.ok_or_else(|| Error::parameter("dynamics", format!("{variant:?}"), "a variant that is registered"))
}

/// Builds a dynamics by name.
///
/// ```
/// use metastable::{attention::dynamics, attention::Spec, sphere::Tokens};
/// let sa = dynamics::build("sa", false, &Spec::new(1.0, 2)).unwrap();
/// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
/// let v = sa.velocity(&x);
/// // theta_1' = sin(1) e^{cos 1} / (e + e^{cos 1})
/// let expected = 1f64.sin() * 1f64.cos().exp() / (1f64.exp() + 1f64.cos().exp());
/// assert!((v[1] - expected).abs() < 1e-15);
/// ```
pub fn build(name: &str, causal: bool, spec: &Spec) -> Result<Dynamics> {
    find(name, causal)?.build(spec)
}

/// Beyond this inverse temperature the kernel width `beta^{-1/2}` is below the spacing of doubles on the sphere.
pub const MAX_BETA: f64 = 1e30;

/// Attention under one head or several: what the registered names say beside their specification.
pub(crate) fn attention(spec: &Spec, variant: Variant) -> Result<Dynamics> {
    let heads = if spec.heads.is_empty() { vec![Head::default()] } else { spec.heads.clone() };
    let log_factor = spec.time_scale.log_factor(spec.beta, spec.n);
    let plain = heads.len() == 1 && heads[0].is_identity();
    let weights = match variant.weights {
        RowWeights::Softmax => Weights::Softmax,
        RowWeights::Exponential => Weights::Exponential { log_factor },
        RowWeights::Sinkhorn => {
            return Err(Error::parameter("row weights", "sinkhorn", "those of sa or usa; `attention::sinkhorn` is a sublayer"));
        }
    };
    if variant.weights == RowWeights::Exponential && plain && spec.beta.abs() + log_factor > 700.0 {
        return Err(Error::Beyond {
            quantity: format!("the USA velocity at beta = {} in normalisation {}", spec.beta, spec.time_scale.describe()),
            hint: if spec.beta > 0.0 { "use the time normalisation u2 (e^{beta (G-1)}) or sa".into() } else { "use sa".into() },
        });
    }
    let (causal, sign) = (variant.causal, if variant.repulsive { -1.0 } else { 1.0 });
    let Spec { beta, kernel, accuracy, level, .. } = *spec;
    Ok(Dynamics::of(Attention { beta, heads, causal, weights, sign, kernel, accuracy, level }))
}
