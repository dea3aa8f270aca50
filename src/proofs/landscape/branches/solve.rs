//! Square systems of equations in a few unknowns: Krawczyk's test, which proves that a box has
//! exactly one zero, and Newton's method, which proposes where to look.

use super::shape::common;
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

/// The inverse of a matrix by elimination with scaled pivots, without a bound of its error.
pub(super) fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut a: Vec<Vec<f64>> = matrix.to_vec();
    for (x, row) in a.iter_mut().enumerate() {
        row.extend((0..n).map(|y| if x == y { 1.0 } else { 0.0 }));
    }
    for c in 0..n {
        let scaled = |x: &usize| {
            let scale = a[*x][c..n].iter().fold(0.0f64, |m, v| m.max(v.abs()));
            if scale > 0.0 { a[*x][c].abs() / scale } else { 0.0 }
        };
        let pivot = (c..n).max_by(|x, y| scaled(x).total_cmp(&scaled(y)))?;
        a.swap(c, pivot);
        let by = 1.0 / a[c][c];
        if !by.is_finite() || by.abs() <= 0.0 {
            return None;
        }
        a[c].iter_mut().for_each(|v| *v *= by);
        let row = a[c].clone();
        for other in (0..n).filter(|x| *x != c) {
            let factor = a[other][c];
            a[other].iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    let right: Vec<Vec<f64>> = a.into_iter().map(|row| row[n..].to_vec()).collect();
    right.iter().flatten().all(|v| v.is_finite()).then_some(right)
}

/// Middles of a matrix of intervals.
pub(super) fn middles(matrix: &[Vec<Interval>]) -> Vec<Vec<f64>> {
    matrix.iter().map(|row| row.iter().map(|v| v.mid()).collect()).collect()
}

/// The product with a vector.
pub(super) fn apply(y: &[Vec<f64>], v: &[Interval]) -> Vec<Interval> {
    let row = |r: &Vec<f64>| {
        r.iter().zip(v).fold(Interval::ZERO, |s, (y, v)| s + Interval::exact(*y) * *v)
    };
    y.iter().map(row).collect()
}

/// The matrix `I - Y A`.
pub(super) fn defect(y: &[Vec<f64>], a: &[Vec<Interval>]) -> Vec<Vec<Interval>> {
    let n = y.len();
    let entry = |l: usize, m: usize| {
        let one = Interval::exact(if l == m { 1.0 } else { 0.0 });
        (0..n).fold(one, |s, t| s - Interval::exact(y[l][t]) * a[t][m])
    };
    (0..n).map(|l| (0..n).map(|m| entry(l, m)).collect()).collect()
}

/// Upper bound of the sum of absolute values.
fn row_sum(row: &[Interval]) -> f64 {
    row.iter().fold(0.0, |s, v| (s + v.mag()).next_up())
}

/// Whether all matrices between the bounds are regular: `|I - Y A| < 1` in the maximum norm, or in
/// the norm with the given weights.
pub(super) fn is_regular(a: &[Vec<Interval>], weights: &[f64]) -> bool {
    let Some(y) = inverse(&middles(a)) else { return false };
    let rest = defect(&y, a);
    let weighted = |row: &Vec<Interval>| {
        row.iter().zip(weights).fold(0.0f64, |s, (v, w)| (s + (v.mag() * w).next_up()).next_up())
    };
    rest.iter().all(|row| row_sum(row) < 1.0)
        || rest.iter().zip(weights).all(|(row, w)| weighted(row) < *w)
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
        let along = |m: usize| {
            let terms = row.iter().zip(&value.by);
            terms.fold(Interval::ZERO, |sum, (y, by)| sum + Interval::exact(*y) * by[m])
        };
        let moved = (0..boxed.len()).fold(*start, |sum, m| sum + along(m) * (boxed[m] - centre[m]));
        !moved.contains(0.0)
    })
}

/// An enclosure of the solutions of `A z = b` for all matrices and right sides between the bounds;
/// `None` if one may be singular.
///
/// With `R = I - Y A`, `|z| <= |Y b| / (1 - |R|)`, and z lies in `Y b + R z`, which is repeated.
pub(super) fn linear(a: &[Vec<Interval>], b: &[Interval]) -> Option<Vec<Interval>> {
    let y = inverse(&middles(a))?;
    let (first, rest) = (apply(&y, b), defect(&y, a));
    let largest = rest.iter().map(|row| row_sum(row)).fold(0.0, f64::max);
    if largest.is_nan() || largest >= 0.999 {
        return None;
    }
    let size = first.iter().map(|v| v.mag()).fold(0.0, f64::max);
    let bound = (size / (1.0 - largest).next_down()).next_up().next_up();
    let widened = |(v, row): (&Interval, &Vec<Interval>)| {
        *v + Interval::symmetric((row_sum(row) * bound).next_up())
    };
    let mut z: Vec<Interval> = first.iter().zip(&rest).map(widened).collect();
    for _ in 0..6 {
        let next = first.iter().zip(&rest).zip(&z).map(|((v, row), old)| {
            common(*old, row.iter().zip(&z).fold(*v, |s, (r, z)| s + *r * *z))
        });
        z = next.collect();
    }
    Some(z)
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
    let (step, rest) = (apply(&y, &value), defect(&y, &over.by));
    let shifted: Vec<Interval> = boxed.iter().zip(&point).map(|(z, c)| *z - *c).collect();
    let moved = |l: usize| rest[l].iter().zip(&shifted).fold(-step[l], |s, (r, z)| s + *r * *z);
    Some((0..boxed.len()).map(|l| point[l] + moved(l)).collect())
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
