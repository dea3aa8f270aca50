//! Dynamics of tokens. Each registered dynamics is one entry of [`ALL`], which the command line,
//! the conformance suite and the experiments read.

use super::kernel::{
    Attention, BatchField, EXACT_ACCURACY, KernelChoice, OutputForm, Weights, Workspace,
};
use super::normalisation::{Normalisation, Post, RateDependence, TokenState};
use super::pair_energy::PairEnergy;
use super::sublayer::{Input, Properties, Sublayer};
use super::triangular::TriangularJacobian;
use super::{Head, RowWeights, TimeScale, Variant};
use crate::error::{Error, Result};
use crate::num::stats::nan_max;
use crate::num::vector::{max_abs, norm, scale};
use crate::num::{simd::Isa, sum::dot};
use crate::sphere::Tokens;

/// The right-hand side of the flow: sublayers and a normalisation. In continuous time the outputs
/// of all sublayers are added; a layer applies the sublayers one after the other.
pub struct Dynamics {
    /// The sublayers, at least one.
    pub sublayers: Vec<Box<dyn Sublayer>>,
    /// How outputs move tokens, and the space in which tokens live.
    pub normalisation: Box<dyn Normalisation>,
}

impl Dynamics {
    /// A single sublayer on the sphere.
    pub fn single(sublayer: impl Sublayer + 'static) -> Self {
        Self { sublayers: vec![Box::new(sublayer)], normalisation: Box::new(Post) }
    }

    /// Adds a sublayer.
    #[must_use]
    pub fn with_sublayer(mut self, sublayer: impl Sublayer + 'static) -> Self {
        self.sublayers.push(Box::new(sublayer));
        self
    }

    /// Replaces the normalisation.
    #[must_use]
    pub fn with_normalisation(self, normalisation: impl Normalisation + 'static) -> Self {
        Self { normalisation: Box::new(normalisation), ..self }
    }

    /// Checks the space of the tokens. **Errors** tokens of a space other than that of the
    /// dynamics.
    pub fn accepts(&self, x: &Tokens) -> Result<()> {
        let (found, expected) = (x.space().name(), self.normalisation.space().name());
        if found == expected {
            return Ok(());
        }
        let expected = format!(
            "tokens of the space `{expected}` of the normalisation `{}`",
            self.normalisation.name()
        );
        Err(Error::parameter("tokens", format!("tokens of the space `{found}`"), expected))
    }

    /// Time derivatives of all numbers of the tokens at time `t`: first the n x d velocities,
    /// row-major (tangent to the sphere for unit tokens), then the rates of additional coordinates
    /// such as radii. NaN if [`Dynamics::kernel`] returns an error.
    ///
    /// ```
    /// use metastable::{attention::{Dynamics, kernel::{Attention, Workspace}, normalisation::Pre}, sphere::Tokens};
    /// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap().polar(&[1.0, 2.0]).unwrap();
    /// let mut rates = [0.0; 6];
    /// Dynamics::single(Attention::new(0.0)).with_normalisation(Pre).rates(0.0, &x, &mut Workspace::default(), &mut rates);
    /// // A is the mean: r' = <theta, A>
    /// assert!((rates[4] - 0.5 * (1.0 + 1f64.cos())).abs() < 1e-15);
    /// ```
    pub fn rates(&self, t: f64, x: &Tokens, work: &mut Workspace, out: &mut [f64]) {
        let (rows, own) = out.split_at_mut(x.coordinates().len());
        self.output(t, x, self.normalisation.form(), work, rows);
        let (d, dependence) = (x.d(), self.normalisation.rate_dependence());
        if dependence == RateDependence::Constant {
            own.fill(0.0);
            return;
        }
        let mut sums = Vec::new();
        if dependence == RateDependence::Output {
            sums.resize(rows.len(), 0.0);
            self.output(t, x, OutputForm::Sum, work, &mut sums);
        }
        for (i, row) in rows.chunks_exact_mut(d).enumerate() {
            let radius = x.extra_numbers().get(i).copied().unwrap_or(1.0);
            let (radial_output, output_norm) = sums
                .get(i * d..(i + 1) * d)
                .map_or((0.0, 0.0), |a| (dot(x.row(i), a), safe_norm(a)));
            let (speed, rate) =
                self.normalisation.rates(&TokenState { t, radius, radial_output, output_norm });
            scale(speed, row);
            own.iter_mut().skip(i).take(1).for_each(|r| *r = rate);
        }
    }

    /// The rates at time 0 as a new vector: convenient for a single evaluation.
    pub fn velocity(&self, x: &Tokens) -> Vec<f64> {
        let mut out = vec![0.0; x.numbers().len()];
        self.rates(0.0, x, &mut Workspace::default(), &mut out);
        out
    }

    /// The sum of the outputs of all sublayers, in the given form.
    pub fn output(
        &self,
        t: f64,
        x: &Tokens,
        form: OutputForm,
        work: &mut Workspace,
        out: &mut [f64],
    ) {
        let input = Input { t, tokens: x };
        let Some((first, others)) = self.sublayers.split_first() else { return out.fill(0.0) };
        first.evaluate(&input, form, work, out);
        if others.is_empty() {
            return;
        }
        let mut more = vec![0.0; out.len()];
        for sublayer in others {
            sublayer.evaluate(&input, form, work, &mut more);
            out.iter_mut().zip(&more).for_each(|(o, m)| *o += m);
        }
    }

    /// The sum of the sublayers' definitions, evaluated in double-doubles; `None` if a sublayer has
    /// no definition.
    pub fn definition(&self, t: f64, x: &Tokens, form: OutputForm) -> Option<Vec<f64>> {
        let input = Input { t, tokens: x };
        let parts = self
            .sublayers
            .iter()
            .map(|s| s.definition(&input, form))
            .collect::<Option<Vec<_>>>()?;
        parts.into_iter().reduce(|mut sum, part| {
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
            sum
        })
    }

    /// The energy of pairs of the first sublayer that has its own; `None` if the energy is that of
    /// `e^{beta s}`.
    pub fn pair_energy(&self) -> Option<Box<dyn PairEnergy + '_>> {
        self.sublayers.iter().find_map(|s| s.pair_energy())
    }

    /// [`Sublayer::row_of_weights`] of the only sublayer.
    pub fn row_of_weights(&self, x: &Tokens, head: usize, i: usize) -> Option<Vec<f64>> {
        self.sole_sublayer().and_then(|s| s.row_of_weights(x, head, i))
    }

    /// [`Sublayer::log_head_energy`] of the only sublayer.
    pub fn log_head_energy(&self, x: &Tokens, head: usize) -> Option<f64> {
        self.sole_sublayer().and_then(|s| s.log_head_energy(x, head))
    }

    /// Name of the algorithm that evaluates the rates of these tokens.
    ///
    /// **Errors** an algorithm chosen by name that cannot evaluate these tokens or reach the
    /// accuracy; tokens of another space.
    pub fn kernel(&self, x: &Tokens) -> Result<&'static str> {
        self.accepts(x)?;
        let names = self
            .sublayers
            .iter()
            .map(|s| s.algorithm(x, self.normalisation.form()))
            .collect::<Result<Vec<_>>>()?;
        if self.normalisation.rate_dependence() == RateDependence::Output {
            self.sublayers.iter().try_for_each(|s| s.algorithm(x, OutputForm::Sum).map(|_| ()))?;
        }
        Ok(names.first().copied().unwrap_or("custom"))
    }

    /// Largest relative error of a velocity. Integrators treat smaller differences as noise.
    pub fn accuracy(&self) -> f64 {
        self.sublayers.iter().map(|s| s.accuracy()).fold(EXACT_ACCURACY, f64::max)
    }

    /// [`Sublayer::relative_error`] of the only sublayer.
    pub fn relative_error(&self, x: &Tokens, v: &[f64]) -> Option<f64> {
        self.sole_sublayer().and_then(|s| s.relative_error(x, v))
    }

    /// Replaces velocities v of these tokens that lost small weights by
    /// [`Sublayer::resolved_velocities`] of the only sublayer, if it has them. Returns the bound of
    /// their relative errors and whether they were replaced.
    ///
    /// **Errors** a row without weights, whose velocity has no right digit.
    pub fn keep_small_weights(&self, x: &Tokens, v: &mut [f64]) -> Result<(f64, bool)> {
        let v = &mut v[..x.coordinates().len()];
        let error = nan_max(self.relative_error(x, v).unwrap_or(0.0), self.accuracy());
        if error > self.accuracy()
            && let Some(found) = self.sole_sublayer().and_then(|s| s.resolved_velocities(x))
        {
            let (resolved, error) = found?;
            v.copy_from_slice(&resolved);
            return Ok((error.max(self.accuracy()), true));
        }
        if error == f64::INFINITY {
            let what = "weights that a row is divided by are below the rounding of the largest one";
            return Err(Error::Numerical { what: what.into() });
        }
        Ok((error, false))
    }

    /// The attention, if the dynamics consists of one attention sublayer on the sphere.
    pub fn attention(&self) -> Option<&Attention> {
        self.sole_sublayer().and_then(|s| s.attention())
    }

    /// The velocity field at time t for n tokens of equal masses in d dimensions, if it can be
    /// evaluated with one system per SIMD lane. Ensembles of small systems use it.
    pub fn batch_field_at(&self, t: f64, shape: (usize, usize)) -> Option<BatchField> {
        self.sole_sublayer().and_then(|s| s.batch_field_at(t, shape))
    }

    /// The Jacobian of the velocity, if token i depends on tokens `j <= i` only and derivatives are
    /// known. Stiff runs use it for implicit steps.
    pub fn triangular_jacobian(&self) -> Option<Box<dyn TriangularJacobian + '_>> {
        self.sole_sublayer().and_then(|s| s.triangular_jacobian())
    }

    /// The sublayer, if there is only one and tokens move by its tangent part.
    fn sole_sublayer(&self) -> Option<&dyn Sublayer> {
        match &self.sublayers[..] {
            [only] if self.normalisation.is_projection() => Some(&**only),
            _ => None,
        }
    }

    /// Properties of the flow. Normalisations on the sphere other than [`Post`] rescale each
    /// velocity by a positive factor, so only equivariance, causality and invariance of cones carry
    /// over; in `R^d` cones are not claimed.
    pub fn properties(&self) -> Properties {
        let all = self
            .sublayers
            .iter()
            .map(|s| s.properties())
            .reduce(Properties::of_sum)
            .unwrap_or_default();
        if self.normalisation.is_projection() {
            return all;
        }
        let Properties {
            rotation_equivariant,
            permutation_equivariant,
            causal,
            mut autonomous,
            mut cone_invariant,
            ..
        } = all;
        cone_invariant &= self.normalisation.form() == OutputForm::Tangent;
        // Some normalisations depend on time.
        autonomous &= self.normalisation.rate_dependence() == RateDependence::Constant;
        Properties {
            rotation_equivariant,
            permutation_equivariant,
            causal,
            autonomous,
            cone_invariant,
            ..Properties::default()
        }
    }

    /// Length over which weights change by a factor e: the unit of the integrators' tolerance.
    pub fn length_scale(&self) -> f64 {
        self.sublayers.iter().map(|s| s.length_scale()).fold(1.0, f64::min)
    }

    /// Times at which weights jump, ascending.
    pub fn jumps(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self
            .sublayers
            .iter()
            .flat_map(|s| s.jumps().iter().copied())
            .chain(self.normalisation.jump())
            .collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}

/// `|a|` without underflow or overflow of squares: 0 only for `a = 0`.
fn safe_norm(a: &[f64]) -> f64 {
    let size = norm(a);
    if size.is_nan() || (1e-140..1e140).contains(&size) {
        return size;
    }
    let largest = max_abs(a);
    if largest > 0.0 && largest.is_finite() {
        largest * a.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
    } else {
        largest
    }
}

/// Parameters from which a dynamics is built.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Inverse temperature, any finite number.
    pub beta: f64,
    /// Number of initial tokens; the time scales U3 and U4 depend on it.
    pub n: usize,
    /// Heads; empty for one head with Q = K = V = I.
    pub heads: Vec<Head>,
    /// Time normalisation of USA.
    pub time_scale: TimeScale,
    /// Algorithm of the kernel sums.
    pub kernel: KernelChoice,
    /// Relative accuracy of a velocity; above [`EXACT_ACCURACY`] a fast algorithm may be chosen.
    pub accuracy: f64,
    /// Instruction set.
    pub isa: Isa,
}

impl Spec {
    /// One identity head, default time scale, exact sums.
    pub fn new(beta: f64, n: usize) -> Self {
        Self {
            beta,
            n,
            heads: Vec::new(),
            time_scale: TimeScale::default(),
            kernel: KernelChoice::Auto,
            accuracy: EXACT_ACCURACY,
            isa: Isa::best(),
        }
    }
}

/// A registered dynamics.
pub struct NamedDynamics {
    /// Name in experiments and on the command line.
    pub name: &'static str,
    /// The equation in one line.
    pub summary: &'static str,
    /// Source.
    pub citation: &'static str,
    /// The variant of attention, for closed forms; `None` if the dynamics is not plain attention.
    pub variant: Option<Variant>,
    /// Builds the dynamics.
    pub build: fn(&Spec) -> Result<Dynamics>,
}

impl NamedDynamics {
    /// Builds the dynamics. **Errors** `|beta|` above [`MAX_BETA`], and those of the dynamics.
    pub fn build(&self, spec: &Spec) -> Result<Dynamics> {
        if !spec.beta.is_finite() || spec.beta.abs() > MAX_BETA {
            return Err(Error::parameter(
                "beta",
                crate::error::format_number(spec.beta),
                format!("a number in [-{MAX_BETA:e}, {MAX_BETA:e}]"),
            ));
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
    let full = if causal && !name.starts_with("causal-") {
        format!("causal-{name}")
    } else {
        name.to_owned()
    };
    ALL.iter()
        .copied()
        .find(|e| e.name == full)
        .ok_or_else(|| Error::unknown("dynamics", &full, ALL.iter().map(|e| e.name)))
}

/// The registered dynamics of this variant.
///
/// **Errors** no such dynamics is registered.
pub fn find_variant(variant: Variant) -> Result<&'static NamedDynamics> {
    let found = ALL.iter().copied().find(|e| e.variant == Some(variant));
    found
        .ok_or_else(|| Error::parameter("dynamics", format!("{variant:?}"), "a registered variant"))
}

/// Self-attention (SA) of n tokens with identity matrices and exact sums.
///
/// **Errors** as [`NamedDynamics::build`].
///
/// ```
/// use metastable::{attention::dynamics, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
/// let v = dynamics::sa(1.0, 2).unwrap().velocity(&x);
/// // theta_1' = sin(1) e^{cos 1} / (e + e^{cos 1})
/// let expected = 1f64.sin() * 1f64.cos().exp() / (1f64.exp() + 1f64.cos().exp());
/// assert!((v[1] - expected).abs() < 1e-15);
/// ```
pub fn sa(beta: f64, n: usize) -> Result<Dynamics> {
    build("sa", false, &Spec::new(beta, n))
}

/// Unnormalised self-attention (USA), as [`sa`].
///
/// ```
/// use metastable::{attention::dynamics, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
/// let v = dynamics::usa(1.0, 2).unwrap().velocity(&x);
/// // theta_1' = sin(1) e^{cos 1} / 2
/// assert!((v[1] - 0.5 * 1f64.sin() * 1f64.cos().exp()).abs() < 1e-15);
/// ```
pub fn usa(beta: f64, n: usize) -> Result<Dynamics> {
    build("usa", false, &Spec::new(beta, n))
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

/// Largest inverse temperature: beyond it the kernel width `beta^{-1/2}` is below the spacing of
/// doubles on the sphere.
pub const MAX_BETA: f64 = 1e30;

/// Attention with the heads of `spec` and the weights, mask and sign of `variant`.
pub(crate) fn attention(spec: &Spec, variant: Variant) -> Result<Dynamics> {
    let heads = if spec.heads.is_empty() { vec![Head::default()] } else { spec.heads.clone() };
    let log_factor = spec.time_scale.log_factor(spec.beta, spec.n);
    let plain = heads.len() == 1 && heads[0].is_identity();
    let weights = match variant.weights {
        RowWeights::Softmax => Weights::Softmax,
        RowWeights::Exponential => Weights::Exponential { log_factor },
        RowWeights::Sinkhorn => {
            return Err(Error::parameter(
                "row weights",
                "sinkhorn",
                "the weights of sa or usa; Sinkhorn attention is the sublayer `attention::sinkhorn`",
            ));
        }
    };
    if variant.weights == RowWeights::Exponential && plain && spec.beta.abs() + log_factor > 700.0 {
        return Err(Error::Beyond {
            quantity: format!(
                "the USA velocity at beta = {} in normalisation {}",
                spec.beta,
                spec.time_scale.describe()
            ),
            hint: if spec.beta > 0.0 {
                "use --time-scale u2 (e^{beta (G-1)}) or sa".into()
            } else {
                "use sa".into()
            },
        });
    }
    let (causal, sign) = (variant.causal, if variant.repulsive { -1.0 } else { 1.0 });
    let Spec { beta, kernel, accuracy, isa, .. } = *spec;
    Ok(Dynamics::single(Attention { beta, heads, causal, weights, sign, kernel, accuracy, isa }))
}
