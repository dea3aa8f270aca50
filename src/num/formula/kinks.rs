//! The kinks of a formula: where an argument of `abs` or `relu` may change its sign.

use super::text::{calls, closing};
use super::{Compiled, Formula};
use crate::error::{Error, Result};
use crate::interval::{Interval, check_fp_environment};
use crate::number::Number;

/// The functions with a kink where their argument changes its sign.
pub(super) const KINKED: [&str; 2] = ["abs", "relu"];

/// Halvings of an interval: boxes of its length times `2^-40`.
const HALVINGS: usize = 40;

/// Number of boxes of one width after which they are not halved any more.
const MAX_BOXES: usize = 2000;

/// The widest place of a kink. Where an argument touches 0 to second order, rounding leaves the
/// square root of a rounding error undecided, about 1e-8.
const WIDEST: f64 = 1e-6;

/// Where the arguments of `abs` and `relu` are 0 on an interval. An argument that does not depend
/// on s makes no kink.
#[derive(Clone, Debug, PartialEq)]
pub enum Kinks {
    /// Nowhere: every argument is proved to have one sign. The formula is analytic, except at
    /// singular points of other functions.
    None,
    /// Nowhere outside these disjoint narrow intervals, ascending.
    At(Vec<Interval>),
    /// Near this point the signs were not decided.
    Undecided(f64),
}

/// A formula over intervals that has a slope only where it is differentiable.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Differentiable {
    phi: Compiled<Interval>,
    /// The arguments of `abs` and `relu`.
    kinked: Vec<Compiled<Interval>>,
}

impl Differentiable {
    /// Value and slope. The slope is the whole line where a kink is possible, although that of the
    /// formula encloses the slopes on both sides: a function with two slopes has no derivative.
    ///
    /// **Errors** an evaluation that the parser's tree refuses.
    pub fn at(&self, s: Interval) -> Result<(Interval, Interval)> {
        let at = self.phi.at(s)?;
        for argument in &self.kinked {
            if argument.at(s)?.value.mig() <= 0.0 {
                return Ok((at.value, Interval::WHOLE));
            }
        }
        Ok((at.value, at.first))
    }
}

impl Formula {
    /// The formula over intervals that has a slope only where it is differentiable.
    ///
    /// **Errors** as [`Formula::arguments_of_kinks`].
    #[doc(hidden)]
    pub fn differentiable(&self) -> Result<Differentiable> {
        Ok(Differentiable { phi: self.compile()?, kinked: self.arguments_of_kinks()? })
    }

    /// The arguments of `abs` and `relu`: the formula is smooth where none of them is 0, except at
    /// singular points of the other functions.
    ///
    /// **Errors** an argument that is no formula by itself.
    ///
    /// ```
    /// use metastable::num::{formula::Formula, interval::Interval};
    /// let formula = Formula::parse("s^2 + abs(s - 0.5)", &[])?;
    /// let all = formula.arguments_of_kinks::<Interval>()?;
    /// let at = all[0].at(Interval::new(0.4, 0.6))?.value;
    /// assert!(all.len() == 1 && at.contains(0.0));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn arguments_of_kinks<N: Number>(&self) -> Result<Vec<Compiled<N>>> {
        self.arguments_of(&KINKED).iter().map(Self::compile).collect()
    }

    /// Where the arguments of `abs` and `relu` are 0 on `[low, high]`, proved by interval
    /// arithmetic: boxes on which an argument has no certain sign are halved.
    ///
    /// **Cost** some hundred interval operations for every kink.
    /// **Errors** arithmetic that is not IEEE, an argument that is no formula by itself.
    ///
    /// ```
    /// use metastable::num::formula::{Formula, Kinks};
    /// // Two kinks at a distance of 2e-4.
    /// let narrow = Formula::parse("s + relu(0.00000001 - (s - 0.3)^2)", &[])?;
    /// let Kinks::At(places) = narrow.enclosed_kinks(-1.0, 1.0)? else { unreachable!() };
    /// assert!(places[0].contains(0.2999) && places[1].contains(0.3001) && places.len() == 2);
    /// let smooth = Formula::parse("abs(s - 2) + relu (s + 1.5)", &[])?;
    /// assert_eq!(smooth.enclosed_kinks(-1.0, 1.0)?, Kinks::None);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn enclosed_kinks(&self, low: f64, high: f64) -> Result<Kinks> {
        check_fp_environment()?;
        let mut all = Vec::new();
        for argument in self.arguments_of_kinks::<Interval>()? {
            match places(&argument, low, high)? {
                Ok(found) => all.extend(found),
                Err(near) => return Ok(Kinks::Undecided(near)),
            }
        }
        Ok(if all.is_empty() { Kinks::None } else { Kinks::At(joined(all)) })
    }

    /// The points of `(low, high)` where an argument of `abs` or `relu` changes its sign or begins
    /// to be 0, ascending, each to the nearest double. A zero without a change of sign may be
    /// among them, to 1e-6. That there are no others is proved.
    ///
    /// **Errors** as [`Formula::enclosed_kinks`]; a point near which signs are not decided.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let kinks = Formula::parse("relu(s) + abs(s - c)", &[("c", 0.25)])?.kinks(-1.0, 1.0)?;
    /// assert_eq!(kinks, [0.0, 0.25]);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn kinks(&self, low: f64, high: f64) -> Result<Vec<f64>> {
        check_fp_environment()?;
        let mut out = Vec::new();
        for argument in self.arguments_of(&KINKED) {
            let places = places(&argument.compile::<Interval>()?, low, high)?.map_err(|near| {
                let found =
                    format!("`{}` with kinks that are not decided near s = {near}", self.text);
                Error::parameter("formula", found, "arguments of abs and relu with simple zeros")
            })?;
            let argument = argument.compile::<f64>()?;
            let value = |x: f64| argument.at(x).map(|v| v.value);
            for place in places {
                out.push(nearest(&value, place.lo().max(low), place.hi().min(high))?);
            }
        }
        out.retain(|x| low < *x && *x < high);
        out.sort_by(f64::total_cmp);
        out.dedup();
        Ok(out)
    }

    /// The formula on the piece between two kinks that contains s, as a formula without `abs` and
    /// `relu`: each of them is replaced by the branch that holds at s.
    ///
    /// The double nearest to a kink may lie on either side of it. There the branch is the value of
    /// the piece, and the formula itself may be that of its neighbour.
    ///
    /// **Errors** an argument that is no formula by itself.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// let right = Formula::parse("2*relu(s + 0.9) - abs(s)", &[])?.branch(0.5)?;
    /// // 2 (s + 0.9) - s, on both sides of 0 and of -0.9.
    /// assert!((right.compile::<f64>()?.at(-1.0)?.value - 0.8).abs() < 1e-15);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn branch(&self, s: f64) -> Result<Self> {
        Ok(Self { read: self.branch_text(&self.read, s)?, ..self.clone() })
    }

    fn branch_text(&self, text: &str, s: f64) -> Result<String> {
        let first = KINKED.iter().filter_map(|name| Some((calls(text, name).next()?, *name))).min();
        let Some((start, name)) = first else { return Ok(text.to_owned()) };
        let (before, from) = (&text[..start], start + name.len() + 1);
        let (inner, rest) = text[from..].split_at(closing(&text[from..]));
        let positive = self.part(inner).compile::<f64>()?.at(s)?.value >= 0.0;
        let inner = self.branch_text(inner, s)?;
        let own = match (positive, name) {
            (true, _) => format!("({inner})"),
            (false, "abs") => format!("(0-({inner}))"),
            (false, _) => format!("(0*({inner}))"),
        };
        let rest = self.branch_text(rest.get(1..).unwrap_or_default(), s)?;
        Ok(format!("{before}{own}{rest}"))
    }
}

/// The sign of a function on a box, by its value and by the mean value theorem; `None` if it is not
/// certain. A function that is constant there has no kink, whatever its sign.
fn is_decided(f: &Compiled<Interval>, (a, b): (f64, f64)) -> Result<bool> {
    let on = f.at(Interval::new(a, b))?;
    let constant = on.first.is_zero() && on.second.is_zero();
    if constant || !on.value.contains(0.0) {
        return Ok(true);
    }
    let middle = Interval::exact(0.5 * (a + b));
    let away = Interval::new(a, b) - middle;
    Ok(!(f.at(middle)?.value + on.first * away).contains(0.0))
}

/// Intervals outside which a function is not 0, or a point near which that is not decided.
fn places(
    f: &Compiled<Interval>,
    low: f64,
    high: f64,
) -> Result<std::result::Result<Vec<Interval>, f64>> {
    let mut open = vec![(low, high)];
    for _ in 0..HALVINGS {
        if open.is_empty() || open.len() > MAX_BOXES {
            break;
        }
        let mut next = Vec::new();
        for (a, b) in open {
            let middle = 0.5 * (a + b);
            for part in [(a, middle), (middle, b)] {
                if !is_decided(f, part)? {
                    next.push(part);
                }
            }
        }
        open = next;
    }
    let found = joined(open.iter().map(|o| Interval::new(o.0, o.1)).collect());
    match found.iter().find(|place| place.width() > WIDEST) {
        Some(wide) => Ok(Err(wide.mid())),
        None => Ok(Ok(found)),
    }
}

/// Intervals that touch as one, ascending.
fn joined(mut all: Vec<Interval>) -> Vec<Interval> {
    all.sort_by(|a, b| a.lo().total_cmp(&b.lo()));
    let mut out: Vec<Interval> = Vec::new();
    for own in all {
        match out.last_mut() {
            Some(last) if own.lo() <= last.hi() => {
                *last = Interval::new(last.lo(), last.hi().max(own.hi()));
            }
            _ => out.push(own),
        }
    }
    out
}

/// The place of a change of sign in an interval, or of the last 0, by bisection to the last bit;
/// without them its middle.
fn nearest(value: &impl Fn(f64) -> Result<f64>, mut low: f64, mut high: f64) -> Result<f64> {
    let (at_low, at_high) = (value(low)?, value(high)?);
    if at_low * at_high > 0.0 {
        return Ok(0.5 * (low + high));
    }
    // At one end the function is 0 as it is nearby: the support ends inside.
    let ends_left = at_low == 0.0 && at_high != 0.0;
    let ends_right = at_high == 0.0 && at_low != 0.0;
    loop {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            return Ok(if ends_left { low } else { high });
        }
        let own = value(middle)?;
        let goes_up = match () {
            () if ends_left => own == 0.0,
            () if ends_right => own != 0.0,
            () if own == 0.0 => return Ok(middle),
            () => own * at_low > 0.0,
        };
        if goes_up { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::{Formula, Interval, Kinks};

    fn kinks(text: &str) -> Kinks {
        Formula::parse(text, &[]).expect("a formula").enclosed_kinks(-1.0, 1.0).expect("decided")
    }

    #[test]
    fn kinks_are_found_wherever_they_hide() {
        for (text, wanted) in [
            ("abs(s)", vec![0.0]),
            ("relu (s - 0.895335135208)", vec![0.895335135208]),
            ("abs( relu ( s-0.3 ) - 1e-9 )", vec![0.3]),
            ("exp(abs(s^3 - 0.001))", vec![0.1]),
            ("(s + 2)^abs(s - 0.7)", vec![0.7]),
            ("relu(1e-12 - (s - 0.5)^2)", vec![0.499999, 0.500001]),
            ("relu((s - 0.3)^2)", vec![0.3]),
            ("abs(s^2 - 0.6*s + 0.09)", vec![0.3]),
            ("relu(sin(3*s)) + abs(s + 1/3)", vec![-1.0 / 3.0, 0.0]),
            ("relu(relu(s + 0.25))", vec![-0.25]),
            ("abs(s - 1) + abs(s + 1)", vec![-1.0, 1.0]),
        ] {
            let Kinks::At(found) = kinks(text) else { panic!("{text}: {:?}", kinks(text)) };
            let holds =
                |w: &f64| found.iter().any(|f| f.lo() - 1e-15 <= *w && *w <= f.hi() + 1e-15);
            assert!(wanted.iter().all(holds), "{text}: {found:?}");
            let near = |f: &Interval| wanted.iter().any(|w| (f.mid() - w).abs() < 3e-6);
            assert!(found.iter().all(near), "{text}: {found:?}");
        }
    }

    #[test]
    fn arguments_of_one_sign_make_no_kink() {
        for text in [
            "abs(s - 1.000001)",
            "relu(s^2 + 1e-9)",
            "abs(0)*s",
            "abs(0*s) + relu(0)",
            "abs(exp(s) + s - s)",
        ] {
            assert_eq!(kinks(text), Kinks::None, "{text}");
        }
        // 0 on an interval, but not by the form of the formula.
        assert!(matches!(kinks("abs(sin(s)^2 + cos(s)^2 - 1)"), Kinks::Undecided(_)));
    }

    #[test]
    fn places_are_the_nearest_doubles() {
        for (text, wanted) in [
            ("relu(s + 0.9) + abs(s)", vec![-0.9, 0.0]),
            ("relu(0.00000001 - (s-0.3)^2)", vec![0.2999, 0.3001]),
            ("relu(relu(s - 0.25))", vec![0.25, 0.25]),
        ] {
            let found =
                Formula::parse(text, &[]).expect("a formula").kinks(-1.0, 1.0).expect("all");
            let mut wanted: Vec<f64> = wanted;
            wanted.dedup();
            assert_eq!(found.len(), wanted.len(), "{text}: {found:?}");
            for (f, w) in found.iter().zip(&wanted) {
                assert!((f - w).abs() < 1e-12, "{text}: {found:?}");
            }
        }
    }
}
