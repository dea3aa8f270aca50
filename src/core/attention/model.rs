//! A model as data: where tokens live, who sees whom, what weighs the pairs, what else is added and what a layer does with it.

use super::dense::{Activation, Linear};
use super::dynamics::{self, Spec};
use super::feed_forward::Mlp;
use super::hardmax::Hardmax;
use super::kernel::{Attention, Choice, EXACT, Form, Weights};
use super::matrix_law::MatrixLaw;
use super::multi_head::MultiHead;
use super::normalisation::{self, Normalisation, Post, Rescaled, Scheme};
use super::pattern::{Alibi, BiasTable, Causal, Joined, Pairs, Pattern, Rotary, Window};
use super::rescored::Rescored;
use super::scheduled::{Layers, Schedule, Scheduled};
use super::sinkhorn::Sinkhorn;
use super::{Dynamics, Sublayer, kernel_width};
use super::{Head, Matrix};
use crate::error::{Error, Result};
use crate::num::dense::{identity, transpose_mul};
use crate::num::vector::norm;
use crate::sphere::Tokens;

/// What weighs the tokens that are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighting {
    /// `e^{beta s}` with rows of sum 1.
    Softmax,
    /// `e^{beta s}` as it is.
    Exponential,
    /// Doubly stochastic ones.
    Sinkhorn,
    /// Equal ones of the largest scores.
    Hardmax,
}

impl Weighting {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("softmax", Self::Softmax), ("exponential", Self::Exponential), ("sinkhorn", Self::Sinkhorn), ("hardmax", Self::Hardmax)];

    /// By name. **Errors** an unknown one.
    pub fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|w| w.1).ok_or_else(|| Error::unknown("row weights", name, Self::ALL.iter().map(|w| w.0)))
    }

    /// The registered dynamics of these weights where none is named.
    pub fn dynamics(self) -> &'static str {
        if self == Self::Exponential { "usa" } else { "sa" }
    }
}

/// A pattern whose size is that of the tokens it will meet.
#[derive(Clone, Debug, PartialEq)]
pub enum Positions {
    /// Token i sees the tokens `j <= i`.
    Causal,
    /// Token i sees those with `|i - j| < w`.
    Window(usize),
    /// The slopes of ALiBi for as many heads as there are.
    Alibi,
    /// Rotary positions of this base.
    Rotary(f64, Pairs),
    /// A mask or biases by rows.
    Table(BiasTable),
}

/// The matrices of a feed-forward sublayer: `W_1` (h x d), `b_1`, `W_2` (d x h), `b_2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Units {
    /// `W_1`.
    pub first: Matrix,
    /// `b_1`.
    pub shift: Vec<f64>,
    /// `W_2`.
    pub second: Matrix,
    /// `b_2`.
    pub last: Vec<f64>,
    /// What is between them.
    pub activation: Activation,
}

/// A model before it knows beta and the shape of its tokens. The default is plain attention on the sphere.
///
/// ```
/// use metastable::attention::{Spec, model::{Model, Positions}};
/// use metastable::sphere::Tokens;
/// let model = Model { normalisation: Some("pre".into()), patterns: vec![Positions::Window(1)], ..Model::default() };
/// let x = model.place(2, vec![3.0, 0.0, 0.0, 0.5], false, None)?;
/// assert_eq!((x.own(), x.row(0)), (&[3.0, 0.5][..], &[1.0, 0.0][..]));
/// // In a window of one every token sees itself alone: its direction stays and its radius grows at rate 1.
/// let rates = model.build("sa", false, &Spec::new(4.0, 2), 2)?.velocity(&x);
/// assert_eq!(rates, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), metastable::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The space, which must be that of the normalisation; `flat` alone means no normalisation.
    pub space: Option<String>,
    /// The normalisation by name.
    pub normalisation: Option<String>,
    /// True for `z = e^{-tV} x` instead of `x`, in `R^d`.
    pub rescaled: bool,
    /// Row weights; those of the dynamics when absent.
    pub weights: Option<Weighting>,
    /// Masks, biases and positions, all of them at once.
    pub patterns: Vec<Positions>,
    /// Q, K, V and O of every head; none is one identity head.
    pub heads: Vec<[Option<Matrix>; 4]>,
    /// A feed-forward sublayer after attention.
    pub units: Option<Units>,
    /// Matrices by law: head, which of Q, K, V and O (0 to 3), law.
    pub laws: Vec<(usize, usize, MatrixLaw)>,
    /// How heads change with depth.
    pub over_depth: Option<OverDepth>,
}

/// How heads change with depth (or time).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverDepth {
    /// The k-th head is the only one between depths k and k + 1; the last one stays.
    Listed,
    /// Matrices by law are drawn anew at every whole depth.
    Fresh,
}

/// Depths at which fresh weights are drawn when time is continuous: later ones are those of the last.
const FRESH: usize = 10_000;

/// A model whose matrices are drawn anew at every whole depth.
struct FreshHeads {
    model: Model,
    d: usize,
    sign: f64,
    jumps: Vec<f64>,
}

impl Schedule for FreshHeads {
    fn heads(&self, t: f64) -> Vec<Head> {
        // Shapes were checked when the schedule was made.
        self.model.drawn(self.d, t.max(0.0).min(FRESH as f64) as usize).heads(self.d, self.sign).unwrap_or_default()
    }

    fn jumps(&self) -> &[f64] {
        &self.jumps
    }
}

impl Model {
    /// What a layer does with its outputs, and with it where tokens live.
    ///
    /// **Errors** an unknown name, with the nearest known one; a space that is not that of the normalisation.
    pub fn scheme(&self) -> Result<Scheme> {
        let named = match (&self.normalisation, self.rescaled, self.space.as_deref()) {
            (Some(name), ..) => normalisation::find(name)?,
            (None, true, _) => Rescaled,
            (None, false, Some("flat")) => normalisation::Bare,
            _ => Post,
        };
        if self.rescaled && named.form() == Form::Tangent {
            let expected = format!("none with rescaled tokens, which live in R^d; `{}` keeps them on a sphere", named.name());
            return Err(Error::parameter("norm", named.name(), expected));
        }
        let scheme = if self.rescaled { Rescaled } else { named };
        match self.space.as_deref() {
            Some(space) if crate::sphere::space::find(space).is_none() => Err(Error::unknown("space", space, ["sphere", "flat", "polar"])),
            Some(space) if space != scheme.space().name() => {
                let expected = format!("{}, where the normalisation `{}` moves tokens", scheme.space().name(), scheme.name());
                Err(Error::parameter("space", space, expected))
            }
            _ => Ok(scheme),
        }
    }

    /// Tokens of the model's space from rows of d coordinates.
    ///
    /// On the sphere rows are unit vectors, or are `normalised`. In polar form rows are points of `R^d` without 0: their directions and lengths; with
    /// `radii` rows are directions. In `R^d` rows are points.
    ///
    /// **Errors** rows that are not of the space; radii that are not positive, not one per token, or of a space without them.
    pub fn place(&self, d: usize, rows: Vec<f64>, normalised: bool, radii: Option<&[f64]>) -> Result<Tokens> {
        let space = self.scheme()?.space();
        if radii.is_some() && space.own() == 0 {
            return Err(Error::parameter("radii", "radii", format!("none: tokens of the space `{}` have no radius", space.name())));
        }
        let on_sphere = |rows| if normalised { Tokens::normalised(d, rows) } else { Tokens::new(d, rows) };
        match (space.is_unit(), space.own(), radii) {
            (true, 0, _) => on_sphere(rows),
            (true, _, Some(radii)) => on_sphere(rows)?.polar(radii),
            (true, _, None) => {
                let length = |r: &[f64]| if normalised { 1.0 } else { norm(r) };
                let lengths: Vec<f64> = rows.chunks_exact(d).map(length).collect();
                Tokens::normalised(d, rows)?.polar(&lengths)
            }
            (false, ..) if normalised => Tokens::flat(d, Tokens::normalised(d, rows)?.coordinates().to_vec()),
            (false, ..) => Tokens::flat(d, rows),
        }
    }

    /// True when tokens of this model have radii of their own.
    pub fn has_radii(&self) -> bool {
        self.scheme().is_ok_and(|s| s.space().own() > 0)
    }

    /// Unit vectors brought into the model's space, with radius 1 (or these radii) where there are radii, and their masses.
    ///
    /// **Errors** as [`Model::place`].
    pub fn settle(&self, x: &Tokens, radii: Option<&[f64]>) -> Result<Tokens> {
        let ones = vec![1.0; x.n()];
        let radii = if self.scheme()?.space().own() > 0 { radii.or(Some(&ones)) } else { radii };
        self.place(x.d(), x.coordinates().to_vec(), false, radii)?.with_masses(x.masses())
    }

    /// The dynamics of this model for tokens of dimension d, from the registered dynamics of this name; heads of `spec` are not used.
    ///
    /// **Errors** an unknown name, matrices whose shapes disagree, answers that contradict each other.
    pub fn build(&self, name: &str, causal: bool, spec: &Spec, d: usize) -> Result<Dynamics> {
        self.laws.iter().try_for_each(|(_, _, law)| law.fits(d))?;
        if !self.laws.is_empty() {
            let drawn =
                Self { laws: if self.over_depth == Some(OverDepth::Fresh) { self.laws.clone() } else { Vec::new() }, ..self.drawn(d, 0) };
            return drawn.build_of_matrices(name, causal, spec, d);
        }
        self.build_of_matrices(name, causal, spec, d)
    }

    /// True where a matrix by law has no seed of its own: the run gives one, see [`Model::seeded`].
    pub fn lacks_seed(&self) -> bool {
        self.laws.iter().any(|(_, _, law)| law.lacks_seed())
    }

    /// The same where matrices by law without a seed of their own have this one. Two matrices of
    /// one model differ all the same.
    ///
    /// ```
    /// use metastable::attention::{Spec, matrix_law::MatrixLaw, model::Model};
    /// let law = MatrixLaw::parse("normal").unwrap()?;
    /// let model = Model { heads: vec![[None, None, None, None]], laws: vec![(0, 2, law)], ..Model::default() };
    /// let x = metastable::sphere::Tokens::from_angles(&[0.0, 1.0])?;
    /// let speed = |m: &Model| Ok::<_, metastable::error::Error>(m.build("sa", false, &Spec::new(1.0, 2), 2)?.velocity(&x));
    /// assert!(model.lacks_seed() && !model.seeded(5).lacks_seed());
    /// assert_eq!(speed(&model)?, speed(&model.seeded(1))?);
    /// assert_ne!(speed(&model)?, speed(&model.seeded(2))?);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    #[must_use]
    pub fn seeded(&self, seed: u64) -> Self {
        let laws = self.laws.iter().map(|(head, slot, law)| (*head, *slot, law.seeded(seed))).collect();
        Self { laws, ..self.clone() }
    }

    /// The same with the matrices by law drawn for this depth.
    fn drawn(&self, d: usize, depth: usize) -> Self {
        let mut out = self.clone();
        for (head, slot, law) in &self.laws {
            let place = if self.over_depth == Some(OverDepth::Fresh) { format!("{head} {slot} {depth}") } else { format!("{head} {slot}") };
            out.heads[*head][*slot] = Some(law.draw(d, &place));
        }
        out
    }

    fn build_of_matrices(&self, name: &str, causal: bool, spec: &Spec, d: usize) -> Result<Dynamics> {
        let mut heads = self.heads(d, 1.0)?;
        if self.over_depth == Some(OverDepth::Listed) {
            // Heads over depth are not heads side by side.
            heads.truncate(1);
        }
        let (scheme, one) = (self.scheme()?, dynamics::build(name, causal, &Spec { heads, ..spec.clone() })?);
        if *self == Self::default() {
            return Ok(one);
        }
        let Some(attention) = one.attention().cloned() else {
            return Err(Error::parameter("dynamics", name, "one made of attention, in a model of several parts"));
        };
        self.check_weights(name, &attention)?;
        let Some(units) = &self.units else {
            return Ok(Dynamics { sublayers: vec![self.attention(attention, spec, d, scheme)?], normalisation: Box::new(scheme) });
        };
        if scheme.form() == Form::Difference {
            let expected = "none with rescaled tokens: e^{-tV} does not commute with it";
            return Err(Error::parameter("mlp", "a feed-forward sublayer", expected));
        }
        let units = units.build(d)?;
        // Accuracies are asked for with the width of the kernel in mind: where the other sublayer changes over less, integrators ask for more.
        let share = (units.length_scale() / kernel_width(attention.beta)).min(1.0);
        let accuracy = spec.accuracy.min((spec.accuracy * share).max(EXACT));
        let (attention, spec) = (Attention { accuracy, ..attention }, Spec { accuracy, ..spec.clone() });
        Ok(Dynamics { sublayers: vec![self.attention(attention, &spec, d, scheme)?, Box::new(units)], normalisation: Box::new(scheme) })
    }

    /// The number of tokens among n that see nothing under any head; attention adds 0 to them.
    /// `causal` where the dynamics itself hides later tokens.
    ///
    /// **Errors** a pattern that cannot be made.
    pub fn sees_nothing(&self, n: usize, d: usize, causal: bool) -> Result<usize> {
        if !self.patterns.iter().any(|p| matches!(p, Positions::Table(_))) {
            return Ok(0);
        }
        let (pattern, heads) = (self.pattern(d, causal)?, self.heads.len().max(1));
        let sees = |i: usize| (0..heads).any(|h| pattern.seen(i, n).any(|j| pattern.bias(h, i, j) > f64::NEG_INFINITY));
        Ok((0..n).filter(|i| !sees(*i)).count())
    }

    /// The attention sublayer.
    fn attention(&self, attention: Attention, spec: &Spec, d: usize, scheme: Scheme) -> Result<Box<dyn Sublayer>> {
        if let Some(how) = self.over_depth {
            return self.scheduled(how, attention, d, scheme);
        }
        match self.weights {
            Some(Weighting::Sinkhorn) => self.sinkhorn(spec),
            Some(Weighting::Hardmax) => self.hardmax(d),
            _ if scheme.form() == Form::Difference => self.rescored(attention, spec, d),
            _ if self.patterns.iter().all(|p| *p == Positions::Causal) => {
                let causal = attention.causal || !self.patterns.is_empty();
                Ok(Box::new(Attention { causal, ..attention }))
            }
            _ => Ok(Box::new(self.patterned(&attention, spec, self.heads(d, attention.sign)?, d)?)),
        }
    }

    /// Attention whose heads change with depth.
    fn scheduled(&self, how: OverDepth, attention: Attention, d: usize, scheme: Scheme) -> Result<Box<dyn Sublayer>> {
        let plain = matches!(self.weights, None | Some(Weighting::Softmax | Weighting::Exponential))
            && self.patterns.iter().all(|p| *p == Positions::Causal);
        if !plain || scheme.form() == Form::Difference || self.heads.is_empty() {
            let expected = "heads with softmax or exponential weights, no biases and positions, tokens that are not rescaled";
            let found = if how == OverDepth::Listed { "layers" } else { "fresh" };
            return Err(Error::parameter("schedule", found, expected));
        }
        let causal = attention.causal || !self.patterns.is_empty();
        let (sign, attention) = (attention.sign, Attention { causal, ..attention });
        Ok(match how {
            OverDepth::Listed => {
                let layers = Layers::new(self.heads(d, sign)?.into_iter().map(|h| vec![h]).collect())?;
                Box::new(Scheduled { attention, schedule: layers })
            }
            OverDepth::Fresh => {
                self.heads(d, sign)?;
                let jumps = (1..=FRESH).map(|k| k as f64).collect();
                Box::new(Scheduled { attention, schedule: FreshHeads { model: self.clone(), d, sign, jumps } })
            }
        })
    }

    /// Attention under patterns.
    fn patterned(&self, attention: &Attention, spec: &Spec, heads: Vec<Head>, d: usize) -> Result<MultiHead> {
        if !matches!(spec.kernel, Choice::Auto) {
            return Err(Error::parameter("kernel", format!("{:?}", spec.kernel), "auto: attention under a pattern has one algorithm"));
        }
        let heads = if heads.is_empty() { vec![Head::default()] } else { heads };
        Ok(MultiHead::new(attention.beta, heads)?.under(self.pattern(d, attention.causal)?).weighted(attention.weights).at(spec.level))
    }

    /// Attention of `z = e^{-tV} x`.
    fn rescored(&self, attention: Attention, spec: &Spec, d: usize) -> Result<Box<dyn Sublayer>> {
        if attention.weights != Weights::Softmax || self.heads.len() > 1 || attention.sign < 0.0 {
            let expected = "one attracting head with softmax weights: only there e^{-tV} x has an equation of its own";
            return Err(Error::parameter("rescaled", "other heads or weights", expected));
        }
        let matrices = self.heads.first().cloned().unwrap_or_default();
        let head = Head::default();
        let plain = self.patterns.iter().all(|p| *p == Positions::Causal);
        let causal = attention.causal || (plain && !self.patterns.is_empty());
        let rescored = if plain {
            let beta = attention.beta;
            Rescored::new(d, matrices, move |head| Box::new(Attention { heads: vec![head], causal, ..attention.clone() }))
                .map(|r| r.plain(beta, causal).at(spec.level))
        } else {
            let base = self.patterned(&attention, spec, vec![head], d)?;
            Rescored::new(d, matrices, move |head| Box::new(base.clone().with(vec![head])))
        };
        Ok(Box::new(rescored?))
    }

    fn sinkhorn(&self, spec: &Spec) -> Result<Box<dyn Sublayer>> {
        if !self.heads.is_empty() || !self.patterns.is_empty() {
            return Err(Error::parameter("weights", "sinkhorn", "softmax or exponential with matrices, masks, biases or positions"));
        }
        Ok(Box::new(Sinkhorn::new(spec.beta, spec.accuracy.clamp(1e-14, 0.1))?))
    }

    fn hardmax(&self, d: usize) -> Result<Box<dyn Sublayer>> {
        let heads = self.heads(d, 1.0)?;
        let plain = self.patterns.is_empty() && heads.len() <= 1 && heads.iter().all(Head::has_identity_value);
        if !plain {
            return Err(Error::parameter("weights", "hardmax", "softmax or exponential with masks, several heads, V or O"));
        }
        let form = match heads.first().map(|h| (h.matrices(), h.images(d).0)) {
            Some(([None, None, _], _)) | None => None,
            Some(([q, k, _], rank)) => {
                // <Q x, K y> = <K^T Q x, y>.
                let whole = identity(d);
                Some(transpose_mul(k.unwrap_or(&whole), q.unwrap_or(&whole), rank))
            }
        };
        Ok(Box::new(Hardmax::new(form, TIE)?))
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
            Weighting::Sinkhorn | Weighting::Hardmax => softmax && !attention.causal && attention.sign > 0.0,
        };
        if fits {
            return Ok(());
        }
        let found = Weighting::ALL.iter().find(|w| w.1 == wanted).map_or("", |w| w.0);
        Err(Error::parameter("weights", found, format!("what the dynamics `{name}` has, or `{}`", wanted.dynamics())))
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
        if self.heads.is_empty() && sign < 0.0 { Ok(vec![head(&[None, None, None, None])?]) } else { self.heads.iter().map(head).collect() }
    }

    fn pattern(&self, d: usize, causal: bool) -> Result<Joined> {
        let heads = self.heads.len().max(1);
        let rank = self.heads(d, 1.0)?.first().map_or(d, |h| h.images(d).0);
        let mut parts: Vec<Box<dyn Pattern>> = Vec::new();
        if causal {
            parts.push(Box::new(Causal));
        }
        for pattern in &self.patterns {
            parts.push(match pattern {
                Positions::Causal => Box::new(Causal),
                Positions::Window(w) => Box::new(Window::new(*w)?),
                Positions::Alibi => Box::new(Alibi::new(heads)?),
                Positions::Rotary(base, pairs) => Box::new(Rotary::new(*base, *pairs, rank)?.with_table(POSITIONS_KEPT)),
                Positions::Table(table) => Box::new(table.clone()),
            });
        }
        Ok(Joined::new(parts))
    }
}

/// Scores of hardmax this near each other, in units of `1 + |score|`, are equal: a hundred roundings of a sum.
const TIE: f64 = 1e-12;

/// Cosines and sines are kept for so many positions.
const POSITIONS_KEPT: usize = 1024;

impl Units {
    fn build(&self, d: usize) -> Result<Mlp> {
        let h = self.shift.len();
        for (name, (rows, numbers), expected) in [("w1", &self.first, (h, d)), ("w2", &self.second, (d, h))] {
            let found = (*rows, numbers.len() / (*rows).max(1));
            if found != expected {
                let expected = format!("{} x {} for d = {d} and the {h} numbers of b1", expected.0, expected.1);
                return Err(Error::parameter(name, format!("a {} x {} matrix", found.0, found.1), expected));
            }
        }
        let first = Linear::new("mlp, first layer", d, self.first.1.clone(), self.shift.clone())?;
        let second = Linear::new("mlp, second layer", h, self.second.1.clone(), self.last.clone())?;
        Mlp::new("mlp", first, None, second, self.activation)
    }
}
