//! A model as data: the space of the tokens, patterns, row weights, heads, a feed-forward sublayer
//! and the normalisation.

use super::dense::{Activation, Linear};
use super::dynamics::{self, Spec};
use super::feed_forward::Mlp;
use super::hardmax::Hardmax;
use super::interaction::{Interaction, InteractionAttention, RowSum, check_coupling};
use super::kernel::{Attention, EXACT_ACCURACY, KernelChoice, OutputForm, Weights};
use super::multi_head::MultiHead;
use super::normalisation::{self, Normalisation, Post, Rescaled, Scheme};
use super::pattern::{Alibi, BiasTable, Causal, CombinedPattern, Pairs, Pattern, Rotary, Window};
use super::random_matrix::MatrixLaw;
use super::rescaled::RescaledAttention;
use super::scheduled::{Layers, Schedule, Scheduled};
use super::sinkhorn::Sinkhorn;
use super::{Dynamics, Sublayer, TimeScale, kernel_width};
use super::{Head, Matrix};
use crate::error::{Error, Result};
use crate::num::dense::{identity, transpose_mul};
use crate::num::vector::norm;
use crate::sphere::Tokens;

/// Row weights: how scores of visible keys become weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Weighting {
    /// `e^{beta s}`, divided by the sum of the row.
    Softmax,
    /// `e^{beta s}`, unnormalised.
    Exponential,
    /// Doubly stochastic weights.
    Sinkhorn,
    /// Equal weights on the keys of largest score.
    Hardmax,
}

impl Weighting {
    /// All row weights with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("softmax", Self::Softmax),
        ("exponential", Self::Exponential),
        ("sinkhorn", Self::Sinkhorn),
        ("hardmax", Self::Hardmax),
    ];

    /// Finds row weights by name. **Errors** an unknown name.
    pub fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found
            .map(|w| w.1)
            .ok_or_else(|| Error::unknown("row weights", name, Self::ALL.iter().map(|w| w.0)))
    }

    /// Name of the default dynamics with these weights.
    pub fn dynamics(self) -> &'static str {
        if self == Self::Exponential { "usa" } else { "sa" }
    }
}

/// Specification of a pattern, before the number of tokens and heads is known.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatternSpec {
    /// Token i sees the tokens `j <= i`.
    Causal,
    /// Token i sees the tokens with `|i - j| < w`.
    Window(usize),
    /// ALiBi, with the slopes for the number of heads of the model.
    Alibi,
    /// Rotary positions: base, and which coordinates form a pair.
    Rotary(f64, Pairs),
    /// A mask or biases, row by row.
    Table(BiasTable),
}

/// The matrices of a feed-forward sublayer: `W_1` (h x d), `b_1`, `W_2` (d x h), `b_2`.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedForwardWeights {
    /// `W_1`.
    pub w1: Matrix,
    /// `b_1`.
    pub b1: Vec<f64>,
    /// `W_2`.
    pub w2: Matrix,
    /// `b_2`.
    pub b2: Vec<f64>,
    /// The activation function between the two layers.
    pub activation: Activation,
}

/// A model without beta and the shape of the tokens. The default is plain attention on the sphere.
///
/// ```
/// use metastable::attention::{Spec, model::{Model, PatternSpec}};
/// use metastable::sphere::Tokens;
/// let model = Model { normalisation: Some("pre".into()), patterns: vec![PatternSpec::Window(1)], ..Model::default() };
/// let x = model.tokens_from_rows(2, vec![3.0, 0.0, 0.0, 0.5], false, None)?;
/// assert_eq!((x.extra_numbers(), x.row(0)), (&[3.0, 0.5][..], &[1.0, 0.0][..]));
/// // In a window of width 1 a token sees only itself: its direction stays, its radius grows.
/// let rates = model.build("sa", false, &Spec::new(4.0, 2), 2)?.velocity(&x);
/// assert_eq!(rates, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), metastable::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The space. It must agree with the normalisation; `flat` without one selects `none`.
    pub space: Option<String>,
    /// The normalisation by name.
    pub normalisation: Option<String>,
    /// True to integrate `z = e^{-tV} x` in `R^d` instead of `x`.
    pub rescaled: bool,
    /// Row weights; `None` for those of the dynamics.
    pub weights: Option<Weighting>,
    /// Masks, biases and rotary positions, which apply together.
    pub patterns: Vec<PatternSpec>,
    /// Q, K, V and O of every head; empty for one identity head.
    pub heads: Vec<[Option<Matrix>; 4]>,
    /// A feed-forward sublayer after attention.
    pub feed_forward: Option<FeedForwardWeights>,
    /// Random matrices: index of the head, index in Q, K, V, O, law.
    pub laws: Vec<(usize, usize, MatrixLaw)>,
    /// How heads change with depth.
    pub depth_schedule: Option<DepthSchedule>,
    /// An interaction in the place of `e^{beta s}`: a name or a formula of s and beta.
    pub interaction: Option<String>,
    /// Row weights kappa of SA: rows are divided by `sum_j m_j kappa(<Q x_i, K x_j>)` and not by
    /// their own sums. An interaction again, positive.
    pub row_weights: Option<String>,
    /// A symmetric matrix D: weights are `phi(<x_i, D x_j>)`, and they move tokens by `D x_j`. The
    /// flow of USA is then the gradient flow of `(1/2) sum_ij m_i m_j W(<x_i, D x_j>)`.
    pub coupling: Option<Matrix>,
}

/// How heads change with depth (or time).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DepthSchedule {
    /// Head k acts alone between depths k and k + 1; the last head acts from then on.
    OneHeadPerLayer,
    /// Random matrices are drawn again at every integer depth.
    Redrawn,
}

/// Last depth at which weights are redrawn; later times use its weights.
const MAX_REDRAWN_DEPTH: usize = 10_000;

/// Heads of a model whose random matrices are drawn again at every integer depth.
struct RedrawnHeads {
    model: Model,
    d: usize,
    sign: f64,
    jumps: Vec<f64>,
}

impl Schedule for RedrawnHeads {
    fn heads(&self, t: f64) -> Vec<Head> {
        // `scheduled_attention` has checked the shapes.
        self.model
            .draw_matrices(self.d, t.max(0.0).min(MAX_REDRAWN_DEPTH as f64) as usize)
            .heads(self.d, self.sign)
            .unwrap_or_default()
    }

    fn jumps(&self) -> &[f64] {
        &self.jumps
    }
}

impl Model {
    /// The normalisation, which also determines the space.
    ///
    /// **Errors** an unknown name, with the nearest known one; a space that disagrees with the
    /// normalisation.
    pub fn scheme(&self) -> Result<Scheme> {
        let named = match (&self.normalisation, self.rescaled, self.space.as_deref()) {
            (Some(name), ..) => normalisation::find(name)?,
            (None, true, _) => Rescaled,
            (None, false, Some("flat")) => normalisation::Unnormalised,
            _ => Post,
        };
        if self.rescaled && named.form() == OutputForm::Tangent {
            let expected = format!(
                "no normalisation with rescaled tokens, which live in R^d; the tokens of `{}` live on a sphere",
                named.name()
            );
            return Err(Error::parameter("norm", named.name(), expected));
        }
        let scheme = if self.rescaled { Rescaled } else { named };
        match self.space.as_deref() {
            Some(space) if crate::sphere::space::find(space).is_none() => {
                Err(Error::unknown("space", space, ["sphere", "flat", "polar"]))
            }
            Some(space) if space != scheme.space().name() => {
                let expected = format!(
                    "{}, the space of the normalisation `{}`",
                    scheme.space().name(),
                    scheme.name()
                );
                Err(Error::parameter("space", space, expected))
            }
            _ => Ok(scheme),
        }
    }

    /// Tokens of the model's space from rows of d coordinates.
    ///
    /// On the sphere rows are unit vectors, or are divided by their lengths if `normalised`. In
    /// polar form rows are nonzero points of `R^d`, which become directions and radii; with `radii`
    /// given, rows are directions. In `R^d` rows are points.
    ///
    /// **Errors** rows that do not lie in the space; radii that are not positive or not one per
    /// token; radii in a space without radii.
    pub fn tokens_from_rows(
        &self,
        d: usize,
        rows: Vec<f64>,
        normalised: bool,
        radii: Option<&[f64]>,
    ) -> Result<Tokens> {
        let space = self.scheme()?.space();
        if radii.is_some() && space.extra_per_token() == 0 {
            return Err(Error::parameter(
                "radii",
                "radii",
                format!("none: tokens of the space `{}` have no radius", space.name()),
            ));
        }
        let on_sphere =
            |rows| if normalised { Tokens::normalised(d, rows) } else { Tokens::new(d, rows) };
        match (space.is_unit(), space.extra_per_token(), radii) {
            (true, 0, _) => on_sphere(rows),
            (true, _, Some(radii)) => on_sphere(rows)?.polar(radii),
            (true, _, None) => {
                let length = |r: &[f64]| if normalised { 1.0 } else { norm(r) };
                let lengths: Vec<f64> = rows.chunks_exact(d).map(length).collect();
                Tokens::normalised(d, rows)?.polar(&lengths)
            }
            (false, ..) if normalised => {
                Tokens::flat(d, Tokens::normalised(d, rows)?.coordinates().to_vec())
            }
            (false, ..) => Tokens::flat(d, rows),
        }
    }

    /// True if weights are `e^{beta <Q x, K y>}`: no interaction, no coupling, no row weights.
    pub fn is_exponential(&self) -> bool {
        self.interaction.is_none() && self.coupling.is_none() && self.row_weights.is_none()
    }

    /// True if its weights depend on beta: unless an interaction and row weights are given that are
    /// no formulas of beta.
    ///
    /// ```
    /// use metastable::attention::model::Model;
    /// let own = |text: &str| Model { interaction: Some(text.into()), ..Model::default() };
    /// assert!(Model::default().needs_beta() && own("exp(beta*s) + s").needs_beta());
    /// assert!(!own("power:p=3").needs_beta() && !own("s^p; p=3").needs_beta());
    /// ```
    pub fn needs_beta(&self) -> bool {
        let own = self.interaction.as_ref();
        let kappa = self.row_weights.as_ref();
        own.is_none_or(|text| Interaction::parse(text, &[]).is_err())
            || kappa.is_some_and(|text| Interaction::parse_row_weights(text, &[]).is_err())
    }

    /// The interaction: `e^{beta s}` if only a coupling or row weights are set; none without these.
    pub fn effective_interaction(&self, beta: f64) -> Option<String> {
        let exponential = || format!("exp:beta={beta}");
        (!self.is_exponential()).then(|| self.interaction.clone().unwrap_or_else(exponential))
    }

    /// True if tokens of this model have radii.
    pub fn has_radii(&self) -> bool {
        self.scheme().is_ok_and(|s| s.space().extra_per_token() > 0)
    }

    /// Tokens of the model's space with the directions and masses of the unit vectors `x`. Radii,
    /// if the space has them, are 1 or the given ones.
    ///
    /// **Errors** as [`Model::tokens_from_rows`].
    pub fn tokens_from_unit_vectors(&self, x: &Tokens, radii: Option<&[f64]>) -> Result<Tokens> {
        let ones = vec![1.0; x.n()];
        let radii = if self.scheme()?.space().extra_per_token() > 0 {
            radii.or(Some(&ones))
        } else {
            radii
        };
        self.tokens_from_rows(x.d(), x.coordinates().to_vec(), false, radii)?
            .with_masses(x.masses())
    }

    /// The dynamics of this model for tokens of dimension d, based on the registered dynamics
    /// `name`. The heads of `spec` are ignored.
    ///
    /// **Errors** an unknown name, matrices whose shapes disagree, parts that exclude each other.
    pub fn build(&self, name: &str, causal: bool, spec: &Spec, d: usize) -> Result<Dynamics> {
        if let Some(form) = &self.coupling {
            return self.with_coupling(form, spec, d)?.build(name, causal, spec, d);
        }
        self.laws.iter().try_for_each(|(_, _, law)| law.check_dimension(d))?;
        if !self.laws.is_empty() {
            let fixed = Self {
                laws: if self.depth_schedule == Some(DepthSchedule::Redrawn) {
                    self.laws.clone()
                } else {
                    Vec::new()
                },
                ..self.draw_matrices(d, 0)
            };
            return fixed.build_from_matrices(name, causal, spec, d);
        }
        self.build_from_matrices(name, causal, spec, d)
    }

    /// The same model with the coupling as its head, `Q = I` and `K = V = D`, and with an
    /// interaction: `e^{beta s}` if it has none.
    ///
    /// **Errors** heads beside the coupling; a coupling that is not d x d, symmetric and finite.
    fn with_coupling(&self, form: &Matrix, spec: &Spec, d: usize) -> Result<Self> {
        if !self.heads.is_empty() {
            let expected = "no q, k, v, o together with a coupling, which is K = V";
            return Err(Error::parameter("coupling", "a coupling beside heads", expected));
        }
        check_coupling(d, form)?;
        let head = [None, Some(form.clone()), Some(form.clone()), None];
        let interaction = self.effective_interaction(spec.beta);
        Ok(Self { heads: vec![head], coupling: None, interaction, ..self.clone() })
    }

    /// True if a random matrix has no seed; the run then sets one by [`Model::with_seed`].
    pub fn needs_seed(&self) -> bool {
        self.laws.iter().any(|(_, _, law)| law.needs_seed())
    }

    /// Sets the seed of random matrices that have none. Two matrices of one model still differ.
    ///
    /// ```
    /// use metastable::attention::{Spec, random_matrix::MatrixLaw, model::Model};
    /// let law = MatrixLaw::parse("normal").unwrap()?;
    /// let model = Model { heads: vec![[None, None, None, None]], laws: vec![(0, 2, law)], ..Model::default() };
    /// let x = metastable::sphere::Tokens::from_angles(&[0.0, 1.0])?;
    /// let speed = |m: &Model| Ok::<_, metastable::error::Error>(m.build("sa", false, &Spec::new(1.0, 2), 2)?.velocity(&x));
    /// assert!(model.needs_seed() && !model.with_seed(5).needs_seed());
    /// assert_eq!(speed(&model)?, speed(&model.with_seed(1))?);
    /// assert_ne!(speed(&model)?, speed(&model.with_seed(2))?);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        let laws =
            self.laws.iter().map(|(head, slot, law)| (*head, *slot, law.with_seed(seed))).collect();
        Self { laws, ..self.clone() }
    }

    /// A copy of the model with its random matrices drawn for this depth.
    fn draw_matrices(&self, d: usize, depth: usize) -> Self {
        let mut out = self.clone();
        for (head, slot, law) in &self.laws {
            let label = if self.depth_schedule == Some(DepthSchedule::Redrawn) {
                format!("{head} {slot} {depth}")
            } else {
                format!("{head} {slot}")
            };
            out.heads[*head][*slot] = Some(law.draw(d, &label));
        }
        out
    }

    fn build_from_matrices(
        &self,
        name: &str,
        causal: bool,
        spec: &Spec,
        d: usize,
    ) -> Result<Dynamics> {
        let mut heads = self.heads(d, 1.0)?;
        if self.depth_schedule == Some(DepthSchedule::OneHeadPerLayer) {
            // The heads act one after the other, not side by side.
            heads.truncate(1);
        }
        let (scheme, one) =
            (self.scheme()?, dynamics::build(name, causal, &Spec { heads, ..spec.clone() })?);
        if *self == Self::default() {
            return Ok(one);
        }
        let Some(attention) = one.attention().cloned() else {
            return Err(Error::parameter(
                "dynamics",
                name,
                "a dynamics of attention, because the model has further parts",
            ));
        };
        self.check_weights(name, &attention)?;
        let Some(units) = &self.feed_forward else {
            return Ok(Dynamics {
                sublayers: vec![self.attention_sublayer(attention, spec, d, scheme)?],
                normalisation: Box::new(scheme),
            });
        };
        if scheme.form() == OutputForm::Difference {
            let expected =
                "no feed-forward sublayer with rescaled tokens: it does not commute with e^{-tV}";
            return Err(Error::parameter("mlp", "a feed-forward sublayer", expected));
        }
        let units = units.build(d)?;
        // The accuracy refers to the kernel width as unit of length. If the feed-forward sublayer
        // varies over a shorter length, a proportionally smaller error is needed.
        let share = (units.length_scale() / kernel_width(attention.beta)).min(1.0);
        let accuracy = spec.accuracy.min((spec.accuracy * share).max(EXACT_ACCURACY));
        let (attention, spec) =
            (Attention { accuracy, ..attention }, Spec { accuracy, ..spec.clone() });
        Ok(Dynamics {
            sublayers: vec![self.attention_sublayer(attention, &spec, d, scheme)?, Box::new(units)],
            normalisation: Box::new(scheme),
        })
    }

    /// The number of tokens among n without a visible key under any head. The attention output of
    /// such tokens is zero. `causal` if the dynamics itself hides later tokens.
    ///
    /// **Errors** a pattern that cannot be built.
    pub fn tokens_without_keys(&self, n: usize, d: usize, causal: bool) -> Result<usize> {
        if !self.patterns.iter().any(|p| matches!(p, PatternSpec::Table(_))) {
            return Ok(0);
        }
        let (pattern, heads) = (self.pattern(d, causal)?, self.heads.len().max(1));
        let sees = |i: usize| {
            (0..heads)
                .any(|h| pattern.visible(i, n).any(|j| pattern.bias(h, i, j) > f64::NEG_INFINITY))
        };
        Ok((0..n).filter(|i| !sees(*i)).count())
    }

    /// The attention sublayer.
    fn attention_sublayer(
        &self,
        attention: Attention,
        spec: &Spec,
        d: usize,
        scheme: Scheme,
    ) -> Result<Box<dyn Sublayer>> {
        if let Some(text) = self.effective_interaction(spec.beta) {
            return self.interaction_attention(&text, &attention, spec, d, scheme);
        }
        if let Some(how) = self.depth_schedule {
            return self.scheduled_attention(how, attention, d, scheme);
        }
        match self.weights {
            Some(Weighting::Sinkhorn) => self.sinkhorn(spec),
            Some(Weighting::Hardmax) => self.hardmax(d),
            _ if scheme.form() == OutputForm::Difference => {
                self.rescaled_attention(attention, spec, d)
            }
            _ if self.patterns.iter().all(|p| *p == PatternSpec::Causal) => {
                let causal = attention.causal || !self.patterns.is_empty();
                Ok(Box::new(Attention { causal, ..attention }))
            }
            _ => Ok(Box::new(self.multi_head(
                &attention,
                spec,
                self.heads(d, attention.sign)?,
                d,
            )?)),
        }
    }

    /// Attention with a depth schedule.
    fn scheduled_attention(
        &self,
        how: DepthSchedule,
        attention: Attention,
        d: usize,
        scheme: Scheme,
    ) -> Result<Box<dyn Sublayer>> {
        let plain =
            matches!(self.weights, None | Some(Weighting::Softmax | Weighting::Exponential))
                && self.patterns.iter().all(|p| *p == PatternSpec::Causal);
        if !plain || scheme.form() == OutputForm::Difference || self.heads.is_empty() {
            let expected = "heads with softmax or exponential weights, no biases and positions, tokens that are not rescaled";
            let found = if how == DepthSchedule::OneHeadPerLayer { "layers" } else { "redrawn" };
            return Err(Error::parameter("schedule", found, expected));
        }
        let causal = attention.causal || !self.patterns.is_empty();
        let (sign, attention) = (attention.sign, Attention { causal, ..attention });
        Ok(match how {
            DepthSchedule::OneHeadPerLayer => {
                let layers =
                    Layers::new(self.heads(d, sign)?.into_iter().map(|h| vec![h]).collect())?;
                Box::new(Scheduled { attention, schedule: layers })
            }
            DepthSchedule::Redrawn => {
                self.heads(d, sign)?;
                let jumps = (1..=MAX_REDRAWN_DEPTH).map(|k| k as f64).collect();
                Box::new(Scheduled {
                    attention,
                    schedule: RedrawnHeads { model: self.clone(), d, sign, jumps },
                })
            }
        })
    }

    /// Attention with an interaction of its own.
    fn interaction_attention(
        &self,
        text: &str,
        attention: &Attention,
        spec: &Spec,
        d: usize,
        scheme: Scheme,
    ) -> Result<Box<dyn Sublayer>> {
        let wrong = |expected: &str| Err(Error::parameter("interaction", text, expected));
        if matches!(self.weights, Some(Weighting::Sinkhorn | Weighting::Hardmax)) {
            return wrong("softmax or exponential weights with an interaction");
        }
        if self.depth_schedule.is_some() || scheme.form() == OutputForm::Difference {
            return wrong("heads that do not change with depth, and tokens on the sphere");
        }
        if !matches!(spec.kernel, KernelChoice::Auto) {
            return wrong("the kernel `auto`: an interaction chooses its algorithm itself");
        }
        if spec.time_scale != TimeScale::U1 {
            return wrong("the time scale u1: the others belong to e^{beta s}");
        }
        let row_sum = match attention.weights {
            Weights::Softmax => RowSum::Normalised,
            Weights::Exponential { .. } => RowSum::Plain,
        };
        let parameters = [("beta", spec.beta)];
        let interaction = Interaction::parse(text, &parameters)?;
        let causal = attention.causal || !self.patterns.is_empty();
        let simple = self.patterns.iter().all(|p| *p == PatternSpec::Causal);
        let flow = match &self.row_weights {
            None => InteractionAttention::new(interaction, row_sum)?,
            Some(kappa) if row_sum == RowSum::Plain => {
                let expected =
                    "none with this dynamics, whose rows are not divided; or the dynamics `sa`";
                return Err(Error::parameter("row_weights", kappa, expected));
            }
            Some(kappa) => InteractionAttention::with_row_weights(
                interaction,
                Interaction::parse_row_weights(kappa, &parameters)?,
            )?,
        };
        let mut flow = flow
            .causal(causal && simple)
            .repelling(attention.sign < 0.0)
            .with_accuracy(spec.accuracy)
            .with_isa(spec.isa);
        let heads = self.heads(d, 1.0)?;
        if !heads.is_empty() {
            flow = flow.with_heads(heads)?;
        }
        if !simple {
            flow = flow.with_pattern(self.pattern(d, attention.causal)?)?;
        }
        Ok(Box::new(flow))
    }

    /// Attention with patterns.
    fn multi_head(
        &self,
        attention: &Attention,
        spec: &Spec,
        heads: Vec<Head>,
        d: usize,
    ) -> Result<MultiHead> {
        if !matches!(spec.kernel, KernelChoice::Auto) {
            return Err(Error::parameter(
                "kernel",
                format!("{:?}", spec.kernel),
                "auto: attention with a pattern has only one algorithm",
            ));
        }
        let heads = if heads.is_empty() { vec![Head::default()] } else { heads };
        Ok(MultiHead::new(attention.beta, heads)?
            .with_pattern(self.pattern(d, attention.causal)?)
            .with_weights(attention.weights)
            .with_isa(spec.isa))
    }

    /// Attention for the rescaled tokens `z = e^{-tV} x`.
    fn rescaled_attention(
        &self,
        attention: Attention,
        spec: &Spec,
        d: usize,
    ) -> Result<Box<dyn Sublayer>> {
        if attention.weights != Weights::Softmax || self.heads.len() > 1 || attention.sign < 0.0 {
            let expected = "one attracting head with softmax weights: only then e^{-tV} x has a closed equation";
            return Err(Error::parameter("rescaled", "other heads or weights", expected));
        }
        let matrices = self.heads.first().cloned().unwrap_or_default();
        let head = Head::default();
        let plain = self.patterns.iter().all(|p| *p == PatternSpec::Causal);
        let causal = attention.causal || (plain && !self.patterns.is_empty());
        let attention = if plain {
            let beta = attention.beta;
            RescaledAttention::new(d, matrices, move |head| {
                Box::new(Attention { heads: vec![head], causal, ..attention.clone() })
            })
            .map(|r| r.without_pattern(beta, causal).with_isa(spec.isa))
        } else {
            let base = self.multi_head(&attention, spec, vec![head], d)?;
            RescaledAttention::new(d, matrices, move |head| {
                Box::new(base.clone().with_heads(vec![head]))
            })
        };
        Ok(Box::new(attention?))
    }

    fn sinkhorn(&self, spec: &Spec) -> Result<Box<dyn Sublayer>> {
        if !self.heads.is_empty() || !self.patterns.is_empty() {
            return Err(Error::parameter(
                "weights",
                "sinkhorn",
                "softmax or exponential with matrices, masks, biases or positions",
            ));
        }
        Ok(Box::new(Sinkhorn::new(spec.beta, spec.accuracy.clamp(1e-14, 0.1))?))
    }

    fn hardmax(&self, d: usize) -> Result<Box<dyn Sublayer>> {
        let heads = self.heads(d, 1.0)?;
        let plain = self.patterns.is_empty()
            && heads.len() <= 1
            && heads.iter().all(Head::has_identity_value);
        if !plain {
            return Err(Error::parameter(
                "weights",
                "hardmax",
                "softmax or exponential with masks, several heads, V or O",
            ));
        }
        let form = match heads.first().map(|h| (h.matrices(), h.images(d).0)) {
            Some(([None, None, _], _)) | None => None,
            Some(([q, k, _], rank)) => {
                // <Q x, K y> = <K^T Q x, y>.
                let whole = identity(d);
                Some(transpose_mul(k.unwrap_or(&whole), q.unwrap_or(&whole), rank))
            }
        };
        Ok(Box::new(Hardmax::new(form, TIE_TOLERANCE)?))
    }

    fn check_weights(&self, name: &str, attention: &Attention) -> Result<()> {
        let wanted = match self.weights {
            None => return Ok(()),
            Some(w) => w,
        };
        let softmax = attention.weights == Weights::Softmax;
        let fits = match wanted {
            Weighting::Softmax => softmax,
            Weighting::Exponential => !softmax,
            Weighting::Sinkhorn | Weighting::Hardmax => {
                softmax && !attention.causal && attention.sign > 0.0
            }
        };
        if fits {
            return Ok(());
        }
        let found = Weighting::ALL.iter().find(|w| w.1 == wanted).map_or("", |w| w.0);
        Err(Error::parameter(
            "weights",
            found,
            format!(
                "the weights of the dynamics `{name}`, or the dynamics `{}`",
                wanted.dynamics()
            ),
        ))
    }

    fn heads(&self, d: usize, sign: f64) -> Result<Vec<Head>> {
        let signed = |m: Matrix| (m.0, m.1.iter().map(|v| sign * v).collect());
        let head = |[q, k, v, o]: &[Option<Matrix>; 4]| {
            let (q, k, v) = (q.clone(), k.clone(), v.clone());
            match (o.clone(), v) {
                (Some(o), v) => Head::with_output(d, q, k, v, signed(o)),
                (None, None) if sign < 0.0 => Head::new(d, q, k, Some(signed((d, identity(d))))),
                (None, v) => Head::new(d, q, k, v.map(signed)),
            }
        };
        if self.heads.is_empty() && sign < 0.0 {
            Ok(vec![head(&[None, None, None, None])?])
        } else {
            self.heads.iter().map(head).collect()
        }
    }

    fn pattern(&self, d: usize, causal: bool) -> Result<CombinedPattern> {
        let heads = self.heads.len().max(1);
        let rank = self.heads(d, 1.0)?.first().map_or(d, |h| h.images(d).0);
        let mut parts: Vec<Box<dyn Pattern>> = Vec::new();
        if causal {
            parts.push(Box::new(Causal));
        }
        for pattern in &self.patterns {
            parts.push(match pattern {
                PatternSpec::Causal => Box::new(Causal),
                PatternSpec::Window(w) => Box::new(Window::new(*w)?),
                PatternSpec::Alibi => Box::new(Alibi::new(heads)?),
                PatternSpec::Rotary(base, pairs) => {
                    Box::new(Rotary::new(*base, *pairs, rank)?.with_table(ROTARY_TABLE_LENGTH))
                }
                PatternSpec::Table(table) => Box::new(table.clone()),
            });
        }
        Ok(CombinedPattern::new(parts))
    }
}

/// Relative tolerance of ties of hardmax: about a hundred rounding errors of a score.
const TIE_TOLERANCE: f64 = 1e-12;

/// Number of positions whose cosines and sines are tabulated.
const ROTARY_TABLE_LENGTH: usize = 1024;

impl FeedForwardWeights {
    fn build(&self, d: usize) -> Result<Mlp> {
        let h = self.b1.len();
        for (name, (rows, numbers), expected) in
            [("w1", &self.w1, (h, d)), ("w2", &self.w2, (d, h))]
        {
            let found = (*rows, numbers.len() / (*rows).max(1));
            if found != expected {
                let expected = format!(
                    "{} x {} for d = {d} and the {h} numbers of b1",
                    expected.0, expected.1
                );
                return Err(Error::parameter(
                    name,
                    format!("a {} x {} matrix", found.0, found.1),
                    expected,
                ));
            }
        }
        let first = Linear::new("mlp, first layer", d, self.w1.1.clone(), self.b1.clone())?;
        let second = Linear::new("mlp, second layer", h, self.w2.1.clone(), self.b2.clone())?;
        Mlp::new("mlp", first, None, second, self.activation)
    }
}
