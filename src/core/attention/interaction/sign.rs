//! A proof that an interaction is nowhere below a number.

use crate::error::Result;
use crate::num::formula::Formula;
use crate::num::interval::{Interval, check_fp_environment};

/// What is known about the sign of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sign {
    /// It is proved to be at least the floor.
    Above,
    /// It is proved to be below the floor at this point.
    Below(f64),
    /// No proof was found near this point.
    Unproved(f64),
}

/// Largest number of boxes.
const MAX_BOXES: usize = 100_000;

/// Whether a formula is at least `floor` on `[-reach, reach]`. Interval arithmetic bounds the
/// formula on a box by itself and by the mean value theorem about the middle: at a kink the
/// enclosure of the derivative holds both slopes. Boxes without a decision are halved.
///
/// **Cost** some hundred boxes where phi touches the floor, else fewer: below a millisecond.
/// **Errors** arithmetic that is not IEEE, a formula that cannot be compiled.
pub(super) fn sign(formula: &Formula, reach: f64, floor: f64) -> Result<Sign> {
    check_fp_environment()?;
    let phi = formula.compile::<Interval>()?;
    let mut boxes = vec![(-reach, reach)];
    for _ in 0..MAX_BOXES {
        let Some((a, b)) = boxes.pop() else { return Ok(Sign::Above) };
        let on = phi.at(Interval::new(a, b))?;
        if on.value.lo() >= floor {
            continue;
        }
        let middle = 0.5 * (a + b);
        let at = phi.at(Interval::exact(middle))?.value;
        if on.value.hi() < floor || at.hi() < floor {
            return Ok(Sign::Below(middle));
        }
        let radius = (middle - a).max(b - middle).next_up();
        if (at + on.first * Interval::symmetric(radius)).lo() >= floor {
            continue;
        }
        if !(a < middle && middle < b) {
            return Ok(Sign::Unproved(middle));
        }
        boxes.extend([(middle, b), (a, middle)]);
    }
    Ok(Sign::Unproved(boxes.last().map_or(0.0, |(a, b)| 0.5 * (a + b))))
}
