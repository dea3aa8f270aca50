//! A proof that a formula is nowhere below a number.

use super::Formula;
use crate::error::Result;
use crate::interval::{Interval, check_fp_environment};

/// What is known about the sign of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sign {
    /// It is proved to be at least the floor.
    Above,
    /// It is proved to be below the floor at this point.
    Below(f64),
    /// No proof was found near this point.
    Unproved(f64),
}

/// Largest number of boxes.
const MAX_BOXES: usize = 100_000;

impl Formula {
    /// Whether the formula is at least `floor` on `[low, high]`. Interval arithmetic bounds the
    /// formula on a box by itself and by the mean value theorem about the middle: at a kink the
    /// enclosure of the derivative holds both slopes. Boxes without a decision are halved.
    ///
    /// **Cost** some hundred boxes where phi touches the floor, else fewer: below a millisecond.
    /// **Errors** arithmetic that is not IEEE, a formula that cannot be compiled.
    ///
    /// ```
    /// use metastable::num::formula::{Formula, Sign};
    /// let square = Formula::parse("(s - 0.25)^2 + 0.5", &[])?;
    /// assert_eq!(square.sign_above(0.5, (-1.0, 1.0))?, Sign::Above);
    /// assert!(matches!(square.sign_above(0.6, (-1.0, 1.0))?, Sign::Below(_)));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn sign_above(&self, floor: f64, (low, high): (f64, f64)) -> Result<Sign> {
        check_fp_environment()?;
        let phi = self.compile::<Interval>()?;
        let mut boxes = vec![(low, high)];
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
}
