//! Proofs that a formula is nowhere below a number, and of its largest size.

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
    /// assert_eq!(square.sign_above(0.49, (-1.0, 1.0))?, Sign::Above);
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

    /// A number that `|phi|` exceeds nowhere on `[low, high]`: at most a part of 1e-6 above the
    /// largest value, if that many boxes decide it.
    ///
    /// **Cost** some boxes for every maximum.
    /// **Errors** arithmetic that is not IEEE, a formula that cannot be compiled.
    ///
    /// ```
    /// use metastable::num::formula::Formula;
    /// // The larger one of two narrow maxima lies between two multiples of 2^-11.
    /// let two = Formula::parse("exp(-1e6*(s+0.5)^2) + 1.02*exp(-1e6*(s-0.300049)^2)", &[])?;
    /// let bound = two.size_bound((-1.0, 1.0))?;
    /// assert!((1.02..1.020002).contains(&bound));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn size_bound(&self, (low, high): (f64, f64)) -> Result<f64> {
        check_fp_environment()?;
        let phi = self.compile::<Interval>()?;
        // The largest value that is attained, and the largest bound of the boxes that are left.
        let (mut attained, mut bound) = (0.0f64, 0.0f64);
        let mut boxes = vec![(low, high)];
        let mut visited = 0;
        while let Some((a, b)) = boxes.pop() {
            let middle = 0.5 * (a + b);
            let (on, at) = (phi.at(Interval::new(a, b))?, phi.at(Interval::exact(middle))?.value);
            attained = attained.max(at.mig());
            let radius = (middle - a).max(b - middle).next_up();
            let by_slope = at + on.first * Interval::symmetric(radius);
            let own = on.value.mag().min(by_slope.mag());
            visited += 1;
            let last = visited >= MAX_BOXES || !(a < middle && middle < b);
            if last || own <= attained * (1.0 + 0.5e-6) {
                bound = bound.max(own);
            } else {
                boxes.extend([(middle, b), (a, middle)]);
            }
        }
        Ok(bound)
    }
}
