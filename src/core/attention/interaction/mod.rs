//! Interactions: any function `phi(<x, y>)` in the place of `e^{beta <x, y>}`.
//!
//! [`Interaction`] is the function with its derivatives, its integral W and its series.
//! [`InteractionAttention`] moves tokens by it, [`InteractionEnergy`] is the energy whose gradient
//! is the unnormalised velocity.

mod attention;
mod built_in;
mod definition;
mod energy;
mod flow;
mod forms;
mod rows;

pub use attention::{InteractionAttention, RowSum, check_coupling};
pub use built_in::{ALL, BuiltIn};
pub use energy::InteractionEnergy;

use super::kernel::{Closed, PairSeries, WeightProfile};
use crate::error::{Error, Result};
use crate::num::aligned::AlignedVec;
use crate::num::chebyshev_samples::ChebyshevSamples;
use crate::num::chebyshev_series::{ChebyshevSeries, MAX_TERMS};
use crate::num::dd::Dd;
use crate::num::formula::{Compiled, Formula, Jet, Sign};
use crate::num::interval::Interval;
use crate::num::simd::Isa;
use crate::num::stats::nan_max;
use built_in::{Definition, Form};
use forms::{CellSeries, Extremes};
use std::sync::OnceLock;

/// An interaction `phi` on `[-r, r]` (r = 1 unless matrices stretch inner products), with
/// `W' = phi`.
///
/// Between kinks of `abs` and `relu` phi is analytic, and a Chebyshev series represents it. Sums
/// over pairs use the series in SIMD lanes; values at a point use the formula.
///
/// **Accuracy** of the series: [`Interaction::error`], below 1e-16 of the largest value, by a proof
/// in interval arithmetic that the series misses nothing. Sums over pairs add rounding of a few
/// units in the last place of the largest value. Named interactions have forms that keep small
/// weights relatively accurate, too, and so has the logarithm of a positive phi that varies by more
/// than a factor of 64 ([`Interaction::is_relative`]).
///
/// ```
/// use metastable::attention::interaction::Interaction;
/// let cubic = Interaction::parse("s^3", &[])?;
/// assert_eq!((cubic.value(0.5)?, cubic.derivative(0.5)?), (0.125, 0.75));
/// assert!((cubic.potential(0.5) - 1.0 / 64.0).abs() < 1e-16);
/// let exp = Interaction::parse("exp:beta=4", &[])?;
/// assert!((exp.potential(1.0) - 4f64.exp() / 4.0).abs() < 1e-14);
/// let wrong = Interaction::parse("exp(beta*s)", &[("bta", 2.0)]).unwrap_err().to_string();
/// assert!(wrong.contains("did you mean `bta`?"), "{wrong}");
/// # Ok::<(), metastable::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Interaction {
    name: String,
    formula: Formula,
    point: Compiled<f64>,
    exact: Compiled<Dd>,
    reach: f64,
    potential_at_zero: f64,
    /// The form of a named interaction.
    form: Option<Form>,
    /// phi by pieces, ascending in s.
    series: Vec<ChebyshevSeries>,
    potential: Vec<ChebyshevSeries>,
    weights: PairSeries,
    /// Short series of phi, W and phi' in lanes, once they were asked for: weights alone may need
    /// none of them.
    cells: OnceLock<Vec<Option<CellSeries>>>,
    potentials: OnceLock<PairSeries>,
    slopes: OnceLock<forms::Slopes>,
    profile: WeightProfile,
    range: Extremes,
    /// The sign and a bound of the size, once they were asked for.
    sign: OnceLock<Sign>,
    size_bound: OnceLock<f64>,
}

/// Points at which a formula is examined.
const SAMPLES: u32 = 4096;

/// An error about the formula is one about the interaction, which is the user's parameter.
fn as_interaction(error: Error) -> Error {
    match error {
        Error::Parameter { name, found, expected } if name == "formula" => {
            Error::Parameter { name: "interaction".into(), found, expected }
        }
        other => other,
    }
}

/// An error about row weights kappa, which are an interaction, too.
fn as_row_weights(error: Error) -> Error {
    match error {
        Error::Parameter { name, found, expected } if name.starts_with("interaction") => {
            let name = name.replacen("interaction", "row_weights", 1);
            Error::Parameter { name, found, expected }
        }
        other => other,
    }
}

impl Interaction {
    /// Row weights kappa, as [`Interaction::parse`]. That they are positive is proved when a flow
    /// divides by them.
    ///
    /// **Errors** as [`Interaction::parse`]; they name `row_weights`.
    pub fn parse_row_weights(text: &str, parameters: &[(&str, f64)]) -> Result<Self> {
        Self::parse(text, parameters).map_err(as_row_weights)
    }

    /// An interaction by name (`exp:beta=4`, `power:p=3`, `polynomial:1,0,2`, `chebyshev:0,0,1`,
    /// see [`ALL`]) or by a formula of s and the parameters, which may follow a semicolon:
    /// `s^p; p=3` or `a*s + b; a=1, b=2`.
    ///
    /// **Errors** an unknown name or parameter, a parameter after the semicolon that does not occur
    /// or that is given twice, an empty formula, a formula that is not finite or
    /// not real somewhere on [-1, 1] (the error names the point), a formula whose series needs more
    /// than 16384 terms.
    pub fn parse(text: &str, parameters: &[(&str, f64)]) -> Result<Self> {
        if let Some(found) = built_in::find(text)? {
            let name = text.trim().to_owned();
            return Self::build(name, found, 1.0);
        }
        let (body, values) = text.split_once(';').unwrap_or((text, ""));
        let values = values.replace(';', ",");
        let given = crate::num::key_values::KeyValues::parse("interaction", &values);
        let mut all = parameters.to_vec();
        for (key, _) in given.pairs()? {
            all.push((key, given.number(key)?.unwrap_or(f64::NAN)));
        }
        let formula = Formula::parse(body, &all).map_err(as_interaction)?;
        let used = formula.occurring_parameters();
        let unused = given.pairs()?.into_iter().find(|(key, _)| used.iter().all(|u| u.0 != *key));
        if let Some((key, _)) = unused {
            let expected = "a parameter that occurs in the formula";
            return Err(Error::parameter("interaction", format!("{key} in `{values}`"), expected));
        }
        let definition = Definition { formula, potential_at_zero: 0.0, form: None };
        Self::build(text.trim().to_owned(), definition, 1.0)
    }

    /// The text `chebyshev:c_0,c_1,...` of a function that is known by its values, and the largest
    /// difference found between them. [`Interaction::parse`] reads the text.
    ///
    /// **Errors** as [`ChebyshevSamples::of`].
    ///
    /// ```
    /// use metastable::attention::interaction::Interaction;
    /// let values = |s: &[f64]| Ok(s.iter().map(|s| (2.0 * s).tanh() + 1.0).collect());
    /// let (text, error) = Interaction::text_of_values(values)?;
    /// let phi = Interaction::parse(&text, &[])?;
    /// assert!(error < 1e-14 && (phi.value(0.3)? - (0.6f64.tanh() + 1.0)).abs() < 1e-14);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn text_of_values(values: impl FnMut(&[f64]) -> Result<Vec<f64>>) -> Result<(String, f64)> {
        let found = ChebyshevSamples::of(values)?;
        let numbers: Vec<String> = found.coefficients.iter().map(f64::to_string).collect();
        Ok((format!("{}:{}", built_in::CHEBYSHEV, numbers.join(",")), found.error))
    }

    fn build(name: String, definition: Definition, reach: f64) -> Result<Self> {
        let Definition { formula, potential_at_zero, form } = definition;
        let (point, exact) = (formula.compile::<f64>()?, formula.compile::<Dd>()?);
        let range = examine(&point, reach)?;
        let mut ends = vec![-reach];
        ends.extend(formula.kinks(-reach, reach)?);
        ends.push(reach);
        if ends.len() > 18 {
            return Err(Error::parameter(
                "interaction",
                format!("{} kinks", ends.len() - 2),
                "a function with at most 16 kinks on [-1, 1]",
            ));
        }
        let pieces = ends.windows(2).map(|w| Between::new(&formula, &exact, w[0], w[1]));
        let pieces = pieces.collect::<Result<Vec<_>>>()?;
        let series = pieces.iter().map(|p| p.series(range.size)).collect::<Result<Vec<_>>>()?;
        let potential = potentials(&series, potential_at_zero);
        let log = match form {
            Some(_) => None,
            None => {
                let range = (range.least.1, range.most);
                forms::logarithmic(&formula, &exact, series.len(), reach, range)?
            }
        };
        let (cells, slopes) = (OnceLock::new(), OnceLock::new());
        let weights = match (log, form) {
            (Some((weights, ratio)), _) => {
                slopes.get_or_init(|| forms::Slopes::Ratio(ratio));
                weights
            }
            (None, Some(form)) => forms::closed(form, reach),
            (None, None) => {
                let own = cells.get_or_init(|| cells_of(&series, &pieces, 0));
                forms::pair_series(&series, own, reach)
            }
        };
        let arcs = forms::arcs(&formula, &series, reach, range.size);
        let profile = WeightProfile { arcs, ..forms::profile(&series, &weights, reach, &range) };
        drop(pieces);
        Ok(Self {
            cells,
            potentials: OnceLock::new(),
            name,
            formula,
            form,
            point,
            exact,
            reach,
            potential_at_zero,
            series,
            potential,
            weights,
            slopes,
            profile,
            range,
            sign: OnceLock::new(),
            size_bound: OnceLock::new(),
        })
    }

    /// The same interaction on `[-reach, reach]`, for inner products of that size.
    ///
    /// **Errors** as [`Interaction::parse`], on the larger interval.
    pub fn with_reach(&self, reach: f64) -> Result<Self> {
        if reach <= self.reach {
            return Ok(self.clone());
        }
        if self.formula.is_series() {
            return Err(Error::parameter(
                "interaction",
                format!("a Chebyshev sum on [-1, 1] and inner products up to {reach}"),
                "a formula, which also has values beyond 1; or matrices of norm at most 1",
            ));
        }
        let (formula, potential_at_zero) = (self.formula.clone(), self.potential_at_zero);
        let definition = Definition { formula, potential_at_zero, form: self.form };
        Self::build(self.name.clone(), definition, reach)
    }

    /// The text from which it was read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// The largest inner product r.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// `phi(s)`.
    pub fn value(&self, s: f64) -> Result<f64> {
        self.point.at(s).map(|v| v.value)
    }

    /// `phi'(s)`.
    ///
    /// **Errors** a kink at s.
    pub fn derivative(&self, s: f64) -> Result<f64> {
        self.checked(s, 1, self.point.at(s)?.first)
    }

    /// `phi''(s)`.
    ///
    /// **Errors** a kink of phi or of its derivative at s.
    pub fn second_derivative(&self, s: f64) -> Result<f64> {
        self.checked(s, 2, self.point.at(s)?.second)
    }

    /// `|phi''(s)|`; that of the steeper side where the pieces on both sides of s do not agree.
    pub fn steepness(&self, s: f64) -> f64 {
        let touching = self.series.iter().filter(|p| p.interval().0 <= s && s <= p.interval().1);
        let touching: Vec<&ChebyshevSeries> = touching.collect();
        match self.point.at(s) {
            Ok(at) if touching.len() < 2 && at.second.is_finite() => at.second.abs(),
            _ => touching
                .iter()
                .map(|p| p.derivative().derivative().value(s).abs())
                .fold(0.0, nan_max),
        }
    }

    /// A derivative of this order, if the pieces on both sides of s agree on it.
    fn checked(&self, s: f64, order: usize, value: f64) -> Result<f64> {
        let touching = self.series.iter().filter(|p| p.interval().0 <= s && s <= p.interval().1);
        let one_sided: Vec<Vec<f64>> = touching
            .map(|p| {
                let first = p.derivative();
                let both = [first.value(s), first.derivative().value(s)];
                both[..order].to_vec()
            })
            .collect();
        let agrees = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (a.abs() + b.abs()))
        };
        let smooth = self.series.len() == 1 || one_sided.windows(2).all(|w| agrees(&w[0], &w[1]));
        if smooth && value.is_finite() {
            return Ok(value);
        }
        Err(Error::parameter(
            "interaction",
            format!("a kink at s = {s}"),
            "a function that is differentiable there, as Hessians and rates need",
        ))
    }

    /// phi and phi' of a pair, from the formula.
    pub(crate) fn pair(&self, s: f64) -> Result<(f64, f64)> {
        let at = self.point.at(s)?;
        let first = if self.series.len() == 1 && at.first.is_finite() {
            at.first
        } else {
            self.checked(s, 1, at.first)?
        };
        Ok((at.value, first))
    }

    /// `W(s)`, the integral of phi; `W(0) = 0` unless the papers' energy fixes another constant
    /// (`1/beta` for `exp:beta`).
    ///
    /// **Accuracy** 1e-15 of the largest W.
    pub fn potential(&self, s: f64) -> f64 {
        let piece = self.potential.iter().find(|p| s <= p.interval().1);
        piece.or(self.potential.last()).map_or(f64::NAN, |p| p.value(s))
    }

    /// `W(0)`, exactly.
    pub fn potential_at_zero(&self) -> f64 {
        self.potential_at_zero
    }

    /// phi and its derivatives in double-double arithmetic.
    pub fn at_exact(&self, s: Dd) -> Result<Jet<Dd>> {
        self.exact.at(s)
    }

    /// W in double-double arithmetic, from the series.
    pub fn potential_exact(&self, s: Dd) -> Dd {
        let piece = self.potential.iter().find(|p| s.to_f64() <= p.interval().1);
        piece.or(self.potential.last()).map_or(Dd::from(f64::NAN), |p| p.value_at(s))
    }

    /// Proved bounds of phi and its derivatives on an interval: every operation of the formula
    /// rounds outwards. `sin`, `cos` and `tan` are bounded sharply for arguments within [-4, 4].
    pub fn enclosure(&self, s: Interval) -> Result<Jet<Interval>> {
        self.formula.compile::<Interval>()?.at(s)
    }

    /// The series of phi by pieces, ascending in s.
    pub fn series(&self) -> &[ChebyshevSeries] {
        &self.series
    }

    /// The largest number of terms of a piece.
    pub fn terms(&self) -> usize {
        self.series.iter().map(|p| p.degree() + 1).max().unwrap_or(0)
    }

    /// Bound of the difference between phi and its series: a proof in interval arithmetic, except
    /// for a Chebyshev sum, which is its own series.
    pub fn error(&self) -> f64 {
        self.series.iter().fold(0.0, |m, p| m.max(p.error()))
    }

    /// Whether small weights are relatively accurate; else errors are relative to the largest.
    pub fn is_relative(&self) -> bool {
        let powers =
            matches!(self.form, Some(Form::Whole(Closed::Power { .. }) | Form::Positive(_)));
        self.profile.relative || powers
    }

    /// Bound of the relative errors of sums of weights that are relatively accurate, from inner
    /// products with some roundings: eight times that of one weight.
    pub(crate) fn relative_rounding(&self) -> f64 {
        let condition = match self.form {
            Some(Form::Whole(Closed::Power { p }) | Form::Positive(Closed::Power { p })) => {
                2.0 * f64::from(p)
            }
            _ => 2.0 * self.range.condition,
        };
        4.0 * f64::EPSILON * (16.0 + condition)
    }

    /// The weights in lanes.
    pub fn weights(&self) -> &PairSeries {
        &self.weights
    }

    /// Replaces numbers `z = r - s` by `phi(s)` in lanes, and writes `phi'(s)` to `slope`. Their
    /// count is a multiple of 16.
    pub(crate) fn replace_with_slopes(
        &self,
        isa: Isa,
        phi: &mut AlignedVec<f64>,
        slope: &mut AlignedVec<f64>,
    ) {
        slope.reset(phi.len());
        slope.copy_from_slice(phi);
        self.weights.replace(isa, phi);
        match self.slopes() {
            forms::Slopes::Values(slopes) => slopes.replace(isa, slope),
            forms::Slopes::Ratio(ratio) => {
                ratio.replace(isa, slope);
                slope.iter_mut().zip(phi.iter()).for_each(|(s, p)| *s *= p);
            }
        }
    }

    pub(crate) fn profile(&self) -> &WeightProfile {
        &self.profile
    }

    /// W in lanes.
    pub(crate) fn potentials(&self) -> &PairSeries {
        self.potentials.get_or_init(|| {
            let cells = self.cells.get_or_init(|| self.cells_of(0));
            let integrals = cells.iter().zip(&self.potential).map(|(cells, p)| {
                let at_low = p.value_at(Dd::from(p.interval().0));
                cells.as_ref().map(|cells| forms::integrated(cells, at_low))
            });
            let integrals: Vec<_> = integrals.collect();
            forms::pair_series(&self.potential, &integrals, self.reach)
        })
    }

    /// phi' in lanes.
    fn slopes(&self) -> &forms::Slopes {
        self.slopes.get_or_init(|| {
            let first: Vec<_> = self.series.iter().map(ChebyshevSeries::derivative).collect();
            forms::Slopes::Values(forms::pair_series(&first, &self.cells_of(1), self.reach))
        })
    }

    /// Short series of a derivative of this order on cells of the pieces.
    fn cells_of(&self, order: usize) -> Vec<Option<CellSeries>> {
        let between = |p: &ChebyshevSeries| {
            let (low, high) = p.interval();
            Between::new(&self.formula, &self.exact, low, high)
        };
        // Pieces of an interaction that was built have branches.
        let pieces: Result<Vec<Between>> = self.series.iter().map(between).collect();
        pieces.map_or_else(
            |_| vec![None; self.series.len()],
            |pieces| cells_of(&self.series, &pieces, order),
        )
    }

    /// A number that `|phi|` exceeds nowhere, by a proof in interval arithmetic; that of a
    /// Chebyshev sum is the sum of its absolute coefficients. Infinite if there is no proof.
    pub(crate) fn size_bound(&self) -> f64 {
        *self.size_bound.get_or_init(|| match self.formula.series_coefficients() {
            Some(c) => c.iter().map(|c| c.abs()).sum::<f64>() * (1.0 + 1e-11),
            None => self.formula.size_bound((-self.reach, self.reach)).unwrap_or(f64::INFINITY),
        })
    }

    /// The largest absolute values of phi and phi' at the sampled points.
    pub fn sizes(&self) -> (f64, f64) {
        (self.range.size, self.range.slope)
    }

    /// Proves that phi is nowhere negative, as row weights that are normalised must be: interval
    /// arithmetic bounds the formula from below by `-1e-14 max |phi|`, the rounding error of sums.
    /// A Chebyshev sum without such a proof is compared at 4097 points.
    ///
    /// **Cost** below a millisecond at the first call. **Errors** a point where phi is negative, or
    /// near which no proof was found.
    ///
    /// ```
    /// use metastable::attention::interaction::Interaction;
    /// assert!(Interaction::parse("(s - 0.3)^2", &[])?.check_row_weights().is_ok());
    /// // Negative on an interval of length 2e-4 only.
    /// let found = Interaction::parse("(s - 0.3002)^2 - 1e-8", &[])?.check_row_weights();
    /// assert!(found.unwrap_err().to_string().contains("s = 0.300"));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn check_row_weights(&self) -> Result<()> {
        let slack = (1e-14 * self.range.size).max(f64::MIN_POSITIVE);
        let least = self.range.least;
        let found = if least.1 < -slack {
            Sign::Below(least.0)
        } else {
            *self.sign.get_or_init(|| self.proved_sign(-slack))
        };
        let refused = |found: String| {
            Err(Error::parameter(
                "interaction",
                found,
                "weights kappa >= 0 on [-1, 1]: SA-like flows need weights that are not negative; \
                 or the dynamics `usa`",
            ))
        };
        match found {
            Sign::Above => Ok(()),
            Sign::Unproved(_) if self.formula.is_series() => Ok(()),
            Sign::Below(s) => {
                refused(format!("the row weight {} at s = {s}", self.point.at(s)?.value))
            }
            Sign::Unproved(s) => refused(format!("no proof of its sign near s = {s}")),
        }
    }

    /// Whether the formula is at least `floor`.
    fn proved_sign(&self, floor: f64) -> Sign {
        let all = (-self.reach, self.reach);
        self.formula.sign_above(floor, all).unwrap_or(Sign::Unproved(self.range.least.0))
    }

    /// Proves that phi is positive, as row weights by which other weights are divided must be:
    /// interval arithmetic bounds the formula from below by `1e-12 max |phi|`, a hundred rounding
    /// errors of sums, or by the least normal number if phi is held by its logarithm. A Chebyshev
    /// sum without such a proof is compared at 4097 points.
    ///
    /// **Cost** below a millisecond. **Errors** a point where phi is smaller, or near which no
    /// proof was found; the errors name `row_weights`.
    ///
    /// ```
    /// use metastable::attention::interaction::Interaction;
    /// assert!(Interaction::parse("exp:beta=200", &[])?.check_positive().is_ok());
    /// let found = Interaction::parse("s + 1", &[])?.check_positive();
    /// assert!(found.unwrap_err().to_string().contains("0 at s = -1"));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn check_positive(&self) -> Result<()> {
        let floor = if self.profile.relative { 0.0 } else { 1e-12 * self.range.size }
            .max(f64::MIN_POSITIVE);
        let (place, least) = self.range.least;
        let found = match if least < floor { Sign::Below(place) } else { self.proved_sign(floor) } {
            Sign::Above => return Ok(()),
            Sign::Unproved(_) if self.formula.is_series() => return Ok(()),
            Sign::Below(s) => format!("{} at s = {s}", self.point.at(s)?.value),
            Sign::Unproved(s) => format!("no proof of its sign near s = {s}"),
        };
        let expected = "positive row weights kappa on [-1, 1], by whose sums rows are divided; more \
                        than 1e-12 of the largest one";
        Err(Error::parameter("row_weights", found, expected))
    }

    /// Length over which weights change by a factor e, at most 1.
    pub fn length_scale(&self) -> f64 {
        let steepness = self.range.slope / self.range.size.max(f64::MIN_POSITIVE);
        steepness.max(1.0).powf(-0.5)
    }
}

/// phi between two kinks.
struct Between<'a> {
    formula: &'a Formula,
    exact: &'a Compiled<Dd>,
    /// The formula that holds there, which goes on beyond the kinks.
    branch: Formula,
    compiled: Compiled<Dd>,
    low: f64,
    high: f64,
}

impl<'a> Between<'a> {
    fn new(formula: &'a Formula, exact: &'a Compiled<Dd>, low: f64, high: f64) -> Result<Self> {
        let branch = formula.branch(0.5 * (low + high))?;
        let compiled = branch.compile::<Dd>()?;
        Ok(Self { formula, exact, branch, compiled, low, high })
    }

    /// phi or phi'.
    fn derivative(&self, order: usize, s: Dd) -> Result<Dd> {
        let (low, high) = (self.low, self.high);
        // The double nearest to a kink may lie beside it, on the neighbour's side.
        let near = 8.0 * f64::EPSILON * low.abs().max(high.abs());
        let inside = (s - Dd::from(low)).to_f64().min((Dd::from(high) - s).to_f64());
        let own = if inside <= near { &self.compiled } else { self.exact };
        if order == 0 { own.value(s) } else { own.at(s).map(|v| v.first) }
    }

    /// The series of phi, with a proof that it misses nothing. `whole` is the largest value on all
    /// pieces.
    ///
    /// **Errors** a function whose series is too long, with its singular point if there is one.
    fn series(&self, whole: f64) -> Result<ChebyshevSeries> {
        let ends = (self.low, self.high);
        let place = |k: u32| self.low + (self.high - self.low) * f64::from(k) / 32.0;
        let mut size = f64::EPSILON * whole.max(f64::MIN_POSITIVE);
        for k in 0..=32 {
            size = size.max(self.derivative(0, Dd::from(place(k)))?.to_f64().abs());
        }
        let error = 1e-17 * size;
        let proved = self.branch.chebyshev_points(ends, (error, whole.max(size)), false);
        let value = |s: Dd| self.derivative(0, s);
        let found = match proved {
            Ok(n) => ChebyshevSeries::interpolate(value, ends, n, error),
            Err(_) => Err(Error::parameter(
                "interaction",
                format!(
                    "a function on [{}, {}] without a proof that a series of {MAX_TERMS} terms \
                     misses nothing",
                    self.low, self.high
                ),
                "a function that is analytic on [-1, 1] between the kinks of abs and relu, and \
                 less steep",
            )),
        };
        found.map_err(|e| singular_point(self.formula, self.low, self.high).unwrap_or(e))
    }
}

/// Short series of a derivative of this order on cells of pieces.
fn cells_of(
    series: &[ChebyshevSeries],
    pieces: &[Between],
    order: usize,
) -> Vec<Option<CellSeries>> {
    let both = series.iter().zip(pieces);
    both.map(|(s, p)| forms::cells(s, |s| p.derivative(order, s))).collect()
}

/// W by pieces, continuous, with the given value at 0.
fn potentials(series: &[ChebyshevSeries], at_zero: f64) -> Vec<ChebyshevSeries> {
    let mut start = Dd::default();
    let mut pieces: Vec<ChebyshevSeries> = Vec::with_capacity(series.len());
    for piece in series {
        let own = piece.integral().plus(start);
        start = own.value_at(Dd::from(piece.interval().1));
        pieces.push(own);
    }
    let zero = Dd::default();
    let found = pieces.iter().find(|p| p.interval().1 >= 0.0).map(|p| p.value_at(zero));
    let shift = Dd::from(at_zero) - found.unwrap_or_default();
    pieces.into_iter().map(|p| p.plus(shift)).collect()
}

/// Samples phi. **Errors** the first point where it is not a finite number.
fn examine(point: &Compiled<f64>, reach: f64) -> Result<Extremes> {
    let mut out =
        Extremes { least: (0.0, f64::INFINITY), most: f64::NEG_INFINITY, ..Extremes::default() };
    let mut largest = 0.0;
    for k in 0..=SAMPLES {
        let s = reach * (2.0 * f64::from(k) / f64::from(SAMPLES) - 1.0);
        let at = point.at(s)?;
        if !at.value.is_finite() {
            let found =
                if at.value.is_nan() { "no real number".into() } else { at.value.to_string() };
            return Err(Error::parameter(
                "interaction",
                format!("{found} at s = {s}"),
                "a function that is finite and real on [-1, 1]",
            ));
        }
        if at.value < out.least.1 {
            out.least = (s, at.value);
        }
        out.most = out.most.max(at.value);
        if at.value.abs() > out.size {
            (out.size, largest) = (at.value.abs(), s);
        }
        if at.first.is_finite() {
            out.slope = out.slope.max(at.first.abs());
            // Where phi vanishes, or is lost in its formula, it has no logarithm.
            let slope = if at.value == 0.0 { 0.0 } else { (at.first / at.value).abs() };
            out.log_slope = out.log_slope.max(slope);
            out.condition = out.condition.max((reach - s) * slope);
        }
    }
    // The largest value may lie between samples: thirds around the largest sample.
    let step = 2.0 * reach / f64::from(SAMPLES);
    let (mut a, mut b) = ((largest - step).max(-reach), (largest + step).min(reach));
    for _ in 0..60 {
        let (left, right) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
        let both = (point.value(left)?.abs(), point.value(right)?.abs());
        out.size = out.size.max(both.0).max(both.1);
        if both.0 < both.1 { a = left } else { b = right }
    }
    Ok(out)
}

/// Boxes that are examined for a singular point.
const MAX_BOXES: usize = 20_000;

/// The error for a function without a series: a point about which phi or phi' has no finite
/// enclosure, such as a pole.
fn singular_point(formula: &Formula, low: f64, high: f64) -> Option<Error> {
    let (phi, point) = (formula.compile::<Interval>().ok()?, formula.compile::<f64>().ok()?);
    let mut boxes = vec![(low, high)];
    for _ in 0..MAX_BOXES {
        let (a, b) = boxes.pop()?;
        let at = phi.at(Interval::new(a, b)).ok()?;
        if at.value.is_finite() && at.first.is_finite() {
            continue;
        }
        if b - a < 1e-9 {
            // Overflow inside a formula is no singular point.
            let overflows = |s: f64| point.at(s).is_ok_and(|at| at.first.is_nan());
            if overflows(a) && overflows(b) {
                return None;
            }
            // Four digits more than a reader needs; no box ends at a round number by itself.
            // Negative zero would print as -0.
            let place = (0.5e8 * (a + b)).round() / 1e8 + 0.0;
            return Some(Error::parameter(
                "interaction",
                format!("a singular point near s = {place}: a series needs more than 16384 terms"),
                "a function that is analytic on [-1, 1] between the kinks of abs and relu",
            ));
        }
        let middle = 0.5 * (a + b);
        boxes.extend([(middle, b), (a, middle)]);
    }
    None
}
