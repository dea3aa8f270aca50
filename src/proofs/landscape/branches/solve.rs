//! Square systems of equations in a few unknowns: Krawczyk's test, which proves that a box has
//! exactly one zero, and Newton's method, which proposes where to look.

use crate::dense_intervals::{self, apply, combination, common, defect, inverse, middles};
use crate::num::interval::Interval;

/// Equations and their derivatives on a box of the unknowns.
pub(super) struct Value {
    pub(super) f: Vec<Interval>,
    /// Row by equation, column by unknown.
    pub(super) by: Vec<Vec<Interval>>,
    /// Derivatives by the parameter.
    pub(super) by_parameter: Vec<Interval>,
}

/// A box with exactly one zero, and a narrow enclosure of the zero.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Root {
    pub(super) alone: Vec<Interval>,
    pub(super) place: Vec<Interval>,
}

/// Whether a combination `y G` of the equations has no zero in a box: with the middle c of the box,
/// `y G(z) = y G(c) + (y G') (z - c)`. Near a fold, one row y of the inverse of the derivative is
/// almost its left null vector, and the second term is small.
pub(super) fn is_empty(
    value: &Value,
    boxed: &[Interval],
    evaluate: impl Fn(&[Interval]) -> Value,
) -> bool {
    let Some(y) = inverse(&middles(&value.by)) else { return false };
    let centre: Vec<Interval> = boxed.iter().map(|v| Interval::exact(v.mid())).collect();
    let start = apply(&y, &evaluate(&centre).f);
    y.iter().zip(&start).any(|(row, start)| {
        let along = combination(row, &value.by);
        let terms = along.iter().zip(boxed.iter().zip(&centre));
        !terms.fold(*start, |sum, (a, (z, c))| sum + *a * (*z - *c)).contains(0.0)
    })
}

/// The image of a box under Krawczyk's operator with a given centre; it contains all zeros of the
/// box.
fn image(
    evaluate: &dyn Fn(&[Interval]) -> Option<Value>,
    boxed: &[Interval],
    centre: &[f64],
) -> Option<Vec<Interval>> {
    let over = evaluate(boxed)?;
    let point: Vec<Interval> = centre.iter().map(|c| Interval::exact(*c)).collect();
    let value = evaluate(&point)?.f;
    let y = inverse(&middles(&over.by))?;
    let offsets: Vec<Interval> = boxed.iter().zip(&point).map(|(z, c)| *z - *c).collect();
    let moved = dense_intervals::krawczyk(&apply(&y, &value), &defect(&y, &over.by), &offsets);
    Some(point.iter().zip(&moved).map(|(c, m)| *c + *m).collect())
}

/// Krawczyk's test with a given centre: the part of the box that contains the only zero, or `None`
/// if the test fails.
pub(super) fn krawczyk(
    evaluate: &dyn Fn(&[Interval]) -> Option<Value>,
    boxed: &[Interval],
    centre: &[f64],
) -> Option<Vec<Interval>> {
    let image = image(evaluate, boxed, centre)?;
    image.iter().zip(boxed).all(|(i, b)| i.inside(*b)).then_some(image)
}

/// A box around a given one that contains its Krawczyk image, and so exactly one zero. Boxes that
/// are too narrow for the interval of beta are widened to their images.
pub(super) fn widened(
    evaluate: &dyn Fn(&[Interval]) -> Option<Value>,
    mut boxed: Vec<Interval>,
    centre: &[f64],
) -> Option<Vec<Interval>> {
    for _ in 0..4 {
        let image = image(evaluate, &boxed, centre)?;
        if image.iter().zip(&boxed).all(|(i, b)| i.inside(*b)) {
            return Some(boxed);
        }
        for ((b, i), c) in boxed.iter_mut().zip(&image).zip(centre) {
            let radius = 1.2 * b.hi().max(i.hi()).max(2.0 * c - b.lo().min(i.lo())) - 1.2 * c;
            *b = Interval::new(c - radius, c + radius);
        }
    }
    None
}

/// A narrower enclosure of the zeros in a box.
pub(super) fn contract(
    evaluate: &dyn Fn(&[Interval]) -> Option<Value>,
    mut boxed: Vec<Interval>,
) -> Vec<Interval> {
    for _ in 0..6 {
        let centre: Vec<f64> = boxed.iter().map(|v| v.mid()).collect();
        let Some(image) = image(evaluate, &boxed, &centre) else { return boxed };
        let width = |all: &[Interval]| all.iter().map(|v| v.width()).fold(0.0, f64::max);
        let before = width(&boxed);
        boxed = boxed.iter().zip(&image).map(|(b, i)| common(*b, *i)).collect();
        if width(&boxed) > 0.9 * before {
            break;
        }
    }
    boxed
}

/// Newton's method without error bounds.
pub(super) fn approximate(
    evaluate: &dyn Fn(&[Interval]) -> Option<Value>,
    start: &[f64],
) -> Option<Vec<f64>> {
    let mut z = start.to_vec();
    for _ in 0..40 {
        let point: Vec<Interval> = z.iter().map(|c| Interval::exact(*c)).collect();
        let value = evaluate(&point)?;
        let y = inverse(&middles(&value.by))?;
        let mut largest = 0.0f64;
        for (z, row) in z.iter_mut().zip(&y) {
            let step: f64 = row.iter().zip(&value.f).map(|(y, f)| y * f.mid()).sum();
            *z -= step;
            largest = largest.max(step.abs());
        }
        if largest.is_nan() || largest > 1.0 {
            return None;
        }
        if largest < 1e-14 {
            break;
        }
    }
    Some(z)
}

/// A zero near a start with the proof that it is the only one in a box around it; boxes of several
/// sizes are tried, the largest first.
pub(super) fn isolate(
    evaluate: &dyn Fn(&[Interval]) -> Option<Value>,
    start: &[f64],
    sizes: &[f64],
) -> Option<Root> {
    let zero = approximate(evaluate, start)?;
    let around = |size: &f64| -> Vec<Interval> {
        zero.iter().map(|z| Interval::new(z - size, z + size)).collect()
    };
    let tested = |size: &f64| krawczyk(evaluate, &around(size), &zero);
    let (first, image) = sizes.iter().enumerate().find_map(|(x, size)| Some((x, tested(size)?)))?;
    // A zero in a smaller box is the same one; a wide box may contract slowly.
    let narrow = sizes[first + 1..].iter().rev().find_map(tested).unwrap_or(image);
    Some(Root { alone: around(&sizes[first]), place: contract(evaluate, narrow) })
}
