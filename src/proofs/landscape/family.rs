//! An interaction phi with a parameter p: ranges of the pull `u(d) = phi(cos d; p) sin d`, of its
//! derivatives by the distance d, and of their derivatives by p, for all p of an interval.
//!
//! All come from the formula of phi at the Taylor series of the cosine, in interval arithmetic. On
//! a box of d and p, a derivative is enclosed directly and by the mean value theorem from the
//! middle of the box; the enclosure is what both have in common.

use super::profile::Profile;
use crate::attention::interaction::Interaction;
use crate::dense_intervals::common;
use crate::error::{Error, Result};
use crate::num::formula::{Number, Series, WithParameter};
use crate::num::interval::Interval;
use std::sync::Arc;

/// Number of coefficients of the series for derivatives up to the third.
const SHORT: usize = 5;

/// Number of coefficients of [`Family::series`].
pub(super) const LONG: usize = 9;

/// Cells of half a turn, and the largest number of pieces of the parameter, in which phi is proved
/// to be positive.
const CELLS: (usize, usize) = (64, 4096);

/// The text of an interaction in which one parameter has an interval of values: `name=A..B`.
#[derive(Clone, Debug)]
struct Text {
    /// The text up to the values and from there on.
    around: (String, String),
    name: String,
    range: (f64, f64),
}

impl Text {
    /// **Errors** none or several intervals, an interval without a name before it, bounds that are
    /// no numbers in order.
    fn read(text: &str) -> Result<Self> {
        let refuse = |expected: &str| Err(Error::parameter("interaction", text, expected));
        let expected = "one parameter with an interval, such as sigmoid:k=1..9";
        let Some((before, after)) = text.split_once("..").filter(|(_, b)| !b.contains("..")) else {
            return refuse(expected);
        };
        let Some((start, low)) = before.rsplit_once('=') else { return refuse(expected) };
        let end = after.find([',', ';']).unwrap_or(after.len());
        let bounds = [low, &after[..end]].map(|v| v.trim().parse::<f64>().ok());
        let name = start.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next();
        match (bounds, name) {
            ([Some(low), Some(high)], Some(name))
                if low < high && high - low < f64::INFINITY && !name.is_empty() =>
            {
                let around = (format!("{start}="), after[end..].to_owned());
                Ok(Self { around, name: name.to_owned(), range: (low, high) })
            }
            ([Some(_), Some(_)], Some(_)) => refuse("an interval A..B with A < B"),
            _ => refuse(expected),
        }
    }

    /// The interaction at one value of the parameter.
    fn at(&self, p: f64) -> Result<Interaction> {
        Interaction::parse(&format!("{}{p}{}", self.around.0, self.around.1), &[])
    }
}

/// An interaction with a parameter, or without one.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// Without a text, nothing depends on the parameter.
    text: Option<Text>,
    interaction: Interaction,
    short: WithParameter<Series<SHORT>>,
    long: WithParameter<Series<LONG>>,
    /// At the largest value of the parameter.
    largest: Arc<Profile>,
}

/// Derivatives of the pull by the distance in radians, of order 0 to 3, and those of the first two
/// by the parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derivatives {
    pub(super) by_distance: [Interval; 4],
    pub(super) by_parameter: [Interval; 2],
}

/// Taylor coefficients of the pull by the distance in radians, those of its derivative by the
/// parameter, and those of the second.
type Three<const N: usize> = [[Interval; N]; 3];

/// Coefficients of `phi(cos d; p) sin d` at the distances of an interval in radians.
fn coefficients<const N: usize>(
    phi: &WithParameter<Series<N>>,
    d: Interval,
    p: Interval,
) -> Three<N> {
    let (sin, cos) = Number::sin_cos(Series::<N>::variable(d));
    match phi.at(cos, Series::constant(p)) {
        Ok(at) => [at.value, at.first, at.second].map(|phi| (phi * sin).0),
        Err(_) => [[Interval::WHOLE; N]; 3],
    }
}

impl Family {
    /// An interaction whose text has an interval of values of one parameter, `name=A..B`.
    ///
    /// **Errors** a text without such an interval; a kink; no bounds of the derivatives; a phi that
    /// is not proved to be positive for all values.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let text = Text::read(text)?;
        // Both ends must be allowed.
        text.at(text.range.0)?;
        let interaction = text.at(text.range.1)?;
        Self::new(interaction, Some(text))
    }

    /// An interaction without a parameter.
    ///
    /// **Errors** as [`Family::parse`].
    pub(super) fn constant(interaction: Interaction) -> Result<Self> {
        Self::new(interaction, None)
    }

    fn new(interaction: Interaction, text: Option<Text>) -> Result<Self> {
        let (formula, name) = (interaction.formula(), text.as_ref().map_or("", |t| &t.name));
        let short = formula.with_parameter(name)?;
        if name == "s" || text.is_some() && !short.occurs() {
            let found = format!("an interval of `{name}`");
            let expected = "an interval of a parameter that occurs in the formula";
            return Err(Error::parameter("interaction", found, expected));
        }
        let found = Self {
            largest: Arc::new(Profile::new(&interaction)?),
            short,
            long: formula.with_parameter(name)?,
            text,
            interaction,
        };
        found.check_positive()?;
        Ok(found)
    }

    /// The name of the parameter and its values.
    pub(super) fn parameter(&self) -> Option<(&str, (f64, f64))> {
        self.text.as_ref().map(|t| (t.name.as_str(), t.range))
    }

    /// The interaction at one value of the parameter.
    pub(super) fn interaction_at(&self, p: f64) -> Result<Interaction> {
        self.text.as_ref().map_or_else(|| Ok(self.interaction.clone()), |text| text.at(p))
    }

    /// **Errors** a place where phi is not proved to be positive.
    fn check_positive(&self) -> Result<()> {
        let (name, range) = self.parameter().unwrap_or(("", (0.0, 0.0)));
        let phi = self.interaction.formula().with_parameter::<Interval>(name)?;
        let cells = CELLS.0 as f64;
        for cell in 0..CELLS.0 {
            // The cosine falls on [0, pi].
            let cosine =
                |t: f64| Number::sin_cos(<Interval as Number>::pi() * Interval::exact(t / cells)).1;
            let s = Interval::new(cosine(cell as f64 + 1.0).lo(), cosine(cell as f64).hi());
            let (mut open, mut visited) = (vec![range], 0);
            while let Some((low, high)) = open.pop() {
                let value = phi.at(s, Interval::new(low, high))?.value;
                if value.is_positive() && value.hi().is_finite() {
                    continue;
                }
                visited += 1;
                let middle = 0.5 * (low + high);
                if visited > CELLS.1 || middle <= low || middle >= high {
                    let text = self.interaction.formula().text();
                    let mut found = format!("`{text}` near s = {:.3}", s.mid());
                    if !name.is_empty() {
                        found.push_str(&format!(", {name} = {middle}"));
                    }
                    let expected = "a function that is proved to be positive on [-1, 1]";
                    return Err(Error::parameter("interaction", found, expected));
                }
                open.extend([(low, middle), (middle, high)]);
            }
        }
        Ok(())
    }

    /// The ranges at the largest value of the parameter.
    pub(super) fn largest(&self) -> &Arc<Profile> {
        &self.largest
    }

    /// Whether the ranges for an interval of the parameter are [`Family::largest`].
    pub(super) fn is_largest(&self, (low, high): (f64, f64)) -> bool {
        let is_end = |p: f64, end: f64| p.to_bits() == end.to_bits();
        self.parameter().is_none_or(|(_, (_, end))| is_end(low, end) && is_end(high, end))
    }

    /// phi(1) and its derivative by the parameter.
    pub(super) fn own(&self, p: Interval) -> (Interval, Interval) {
        let at = self.short.at(Series::constant(Interval::exact(1.0)), Series::constant(p));
        at.map_or((Interval::WHOLE, Interval::WHOLE), |at| (at.value.0[0], at.first.0[0]))
    }

    /// Derivatives at distances in turns.
    pub(super) fn derivatives(&self, distance: Interval, p: Interval) -> Derivatives {
        let d = distance * Interval::TURN;
        let wide = coefficients(&self.short, d, p);
        let whole = |k: f64| Interval::exact(k);
        let [a, b, c] = wide;
        let mut found = Derivatives {
            by_distance: [a[0], a[1], whole(2.0) * a[2], whole(6.0) * a[3]],
            by_parameter: [b[0], b[1]],
        };
        let middle = [d, p].map(|v| Interval::exact(v.mid()));
        let (x, q) = (d - middle[0], p - middle[1]);
        let [m, n, _] = coefficients(&self.short, middle[0], middle[1]);
        let square = x.sqr();
        let sharp = [
            m[0] + x * m[1] + square * a[2] + q * b[0],
            m[1] + whole(2.0) * x * m[2] + whole(3.0) * square * a[3] + q * b[1],
            whole(2.0) * (m[2] + whole(3.0) * x * a[3] + q * b[2]),
            whole(6.0) * (m[3] + whole(4.0) * x * a[4] + q * b[3]),
        ];
        for (own, sharp) in found.by_distance.iter_mut().zip(sharp) {
            *own = common(*own, sharp);
        }
        let sharp = [n[0] + x * b[1] + q * c[0], n[1] + whole(2.0) * x * b[2] + q * c[1]];
        for (own, sharp) in found.by_parameter.iter_mut().zip(sharp) {
            *own = common(*own, sharp);
        }
        found
    }

    /// Taylor coefficients of the pull about distances in turns, and of its derivative by the
    /// parameter.
    pub(super) fn series(&self, distance: Interval, p: Interval) -> [[Interval; LONG]; 2] {
        let [a, b, _] = coefficients(&self.long, distance * Interval::TURN, p);
        [a, b]
    }

    /// Ranges of pull and weight over distances in [0, 1] turns.
    pub(super) fn ranges(&self, lo: f64, hi: f64, p: Interval) -> (Interval, Interval) {
        let [mut u, w, ..] = self.derivatives(Interval::new(lo, hi), p).by_distance;
        // The pull of coincident and of opposite tokens is 0.
        if hi <= lo && (lo <= 0.0 || lo.to_bits() == 0.5f64.to_bits() || lo >= 1.0) {
            u = Interval::ZERO;
        }
        (u, w)
    }

    /// Pull and weight at a distance in turns and a value of the parameter, without errors.
    pub(super) fn plain(&self, t: f64, p: f64) -> (f64, f64) {
        let exact = Interval::exact;
        let d = exact(std::f64::consts::TAU * t);
        let [a, ..] = coefficients(&self.short, d, exact(p));
        (a[0].mid(), a[1].mid())
    }
}
