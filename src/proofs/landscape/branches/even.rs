//! The pull of a token near another one or near its opposite: an odd function of the distance from
//! there, divided by it.

use super::shape::{Shapes, common};
use crate::num::interval::Interval;

/// An odd function divided by its argument x, as a function of `x^2`: value, slope, and derivative
/// by the parameter.
#[derive(Clone, Copy)]
pub(super) struct Even {
    pub(super) value: Interval,
    pub(super) slope: Interval,
    pub(super) by_parameter: Interval,
}

/// The pull at the distance `centre + x`, in turns, divided by x in radians; centre is 0 or 1/2.
pub(super) fn even(shapes: &Shapes, centre: f64, x: Interval) -> Even {
    let reach = Interval::symmetric(x.mag());
    let whole = |c: f64| Interval::exact(c);
    let at = shapes.jet(Interval::exact(centre));
    let between = shapes.jet(Interval::exact(centre) + reach);
    let square = (x * Interval::TURN).sqr();
    // Even coefficients are 0, and the last is the remainder of Lagrange.
    let mut value = at[1] + square * (at[3] + square * (at[5] + square * between[7]));
    let mut slope = at[3] + square * (whole(2.0) * at[5] + square * (whole(3.0) * between[7]));
    if x.mig() > CLEAR {
        // (u / x)' = (w - u / x) / x, and dx^2 = 2 x dx.
        let (shape, radians) = (shapes.at(whole(centre) + x), x * Interval::TURN);
        value = common(value, shape.u / radians);
        slope = common(slope, (shape.w - value) / (whole(2.0) * square));
    }
    let by_parameter = match shapes.jet_by_parameter(whole(centre)) {
        Some(at) => {
            let between = shapes.jet_by_parameter(whole(centre) + reach).unwrap_or(at);
            at[1] + square * (at[3] + square * (at[5] + square * between[7]))
        }
        None if shapes.has_beta() => {
            let (_, cosine, ..) = shapes.parts(whole(centre) + x);
            (cosine - whole(1.0)) * value
        }
        None => Interval::ZERO,
    };
    Even { value, slope, by_parameter }
}

/// Smallest distance in turns at which quotients are also computed directly.
const CLEAR: f64 = 0.01;
