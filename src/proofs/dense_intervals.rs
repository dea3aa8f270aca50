//! Small dense matrices of intervals: approximate inverses, what they leave of a matrix,
//! regularity, linear systems, Krawczyk's operator, and signs of eigenvalues.
//!
//! A matrix is a list of rows. `Y` is an approximate inverse without a bound of its error: every
//! test holds for any matrix Y, and a bad one only fails.

use crate::num::interval::Interval;

/// A matrix of intervals.
pub(crate) type IntervalMatrix = Vec<Vec<Interval>>;

/// The part that two enclosures of the same number have in common. If they are disjoint, one of
/// them is wrong. Then nothing is known of the number: the whole line decides no box, so the proof
/// stays open.
pub(crate) fn common(a: Interval, b: Interval) -> Interval {
    let (lo, hi) = (a.lo().max(b.lo()), a.hi().min(b.hi()));
    if lo <= hi { Interval::new(lo, hi) } else { Interval::WHOLE }
}

/// The inverse of a matrix by elimination with scaled pivots, without a bound of its error; `None`
/// if a pivot is 0 or an entry is not finite.
pub(crate) fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
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
pub(crate) fn middles(matrix: &[Vec<Interval>]) -> Vec<Vec<f64>> {
    matrix.iter().map(|row| row.iter().map(|v| v.mid()).collect()).collect()
}

/// The product of a matrix with a vector.
pub(crate) fn apply(y: &[Vec<f64>], v: &[Interval]) -> Vec<Interval> {
    let row = |r: &Vec<f64>| {
        r.iter().zip(v).fold(Interval::ZERO, |s, (y, v)| s + Interval::exact(*y) * *v)
    };
    y.iter().map(row).collect()
}

/// The sum of the rows of a matrix times these factors: one row of a product of matrices.
pub(crate) fn combination<R: AsRef<[Interval]>>(factors: &[f64], a: &[R]) -> Vec<Interval> {
    let width = a.first().map_or(0, |row| row.as_ref().len());
    let mut sum = vec![Interval::ZERO; width];
    for (factor, row) in factors.iter().zip(a) {
        let factor = Interval::exact(*factor);
        sum.iter_mut().zip(row.as_ref()).for_each(|(s, v)| *s = *s + factor * *v);
    }
    sum
}

/// The matrix `I - Y A`. Terms are subtracted from I one after the other.
pub(crate) fn defect<R: AsRef<[Interval]>>(y: &[Vec<f64>], a: &[R]) -> IntervalMatrix {
    let line = |(l, factors): (usize, &Vec<f64>)| {
        let mut line = vec![Interval::ZERO; y.len()];
        line[l] = Interval::exact(1.0);
        for (factor, row) in factors.iter().zip(a) {
            let factor = Interval::exact(*factor);
            line.iter_mut().zip(row.as_ref()).for_each(|(s, v)| *s = *s - factor * *v);
        }
        line
    };
    y.iter().enumerate().map(line).collect()
}

/// Upper bound of the sum of absolute values.
fn row_sum(row: &[Interval]) -> f64 {
    row.iter().fold(0.0, |s, v| (s + v.mag()).next_up())
}

/// Whether a matrix is below 1 in the maximum norm with these weights.
pub(crate) fn is_below_one(matrix: &[Vec<Interval>], weights: &[f64]) -> bool {
    let weighted = |row: &Vec<Interval>| {
        row.iter().zip(weights).fold(0.0f64, |s, (v, w)| (s + (v.mag() * w).next_up()).next_up())
    };
    matrix.iter().zip(weights).all(|(row, w)| weighted(row) < *w)
}

/// Whether all matrices between the bounds are regular: `|I - Y A| < 1` in the maximum norm, or in
/// the norm with the given weights.
pub(crate) fn is_regular(a: &[Vec<Interval>], weights: &[f64]) -> bool {
    let Some(y) = inverse(&middles(a)) else { return false };
    let rest = defect(&y, a);
    rest.iter().all(|row| row_sum(row) < 1.0) || is_below_one(&rest, weights)
}

/// An enclosure of the solutions of `A z = b` for all matrices and right sides between the bounds;
/// `None` if one may be singular.
///
/// With `R = I - Y A`, `|z| <= |Y b| / (1 - |R|)`, and z lies in `Y b + R z`, which is repeated.
pub(crate) fn linear(a: &[Vec<Interval>], b: &[Interval]) -> Option<Vec<Interval>> {
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

/// Krawczyk's operator `-Y f + (I - Y A) (X - c)`, from `Y f`, `I - Y A` and `X - c`: f are the
/// equations at a point c of the box X, and A encloses their derivative on X. All zeros in X lie in
/// c plus its value. If that lies in the interior of X, there is exactly one.
pub(crate) fn krawczyk(
    newton_step: &[Interval],
    defect: &[Vec<Interval>],
    offsets: &[Interval],
) -> Vec<Interval> {
    let moved = |(step, row): (&Interval, &Vec<Interval>)| {
        row.iter().zip(offsets).fold(-*step, |s, (r, z)| s + *r * *z)
    };
    newton_step.iter().zip(defect).map(moved).collect()
}

/// Takes multiples of the row of a pivot from the rows that are left.
fn eliminate<R: AsRef<[Interval]> + AsMut<[Interval]>>(a: &mut [R], left: &[usize], pivot: usize) {
    let row = a[pivot].as_ref().to_vec();
    for x in left.iter().copied() {
        let line = a[x].as_mut();
        let factor = line[pivot] / row[pivot];
        for y in left.iter().copied() {
            line[y] = line[y] - factor * row[y];
        }
    }
}

/// Number of negative eigenvalues of a symmetric matrix, if elimination with pivots on the diagonal
/// decides it, by Sylvester's law. The matrix is overwritten.
pub(crate) fn negative_eigenvalues<R: AsRef<[Interval]> + AsMut<[Interval]>>(
    a: &mut [R],
) -> Option<usize> {
    let (mut count, mut left): (usize, Vec<usize>) = (0, (0..a.len()).collect());
    while !left.is_empty() {
        let own = |x: usize| a[x].as_ref()[x];
        let largest = left
            .iter()
            .copied()
            .filter(|x| !own(*x).contains(0.0))
            .max_by(|x, y| own(*x).mid().abs().total_cmp(&own(*y).mid().abs()))?;
        count += usize::from(own(largest).is_negative());
        left.retain(|x| *x != largest);
        eliminate(a, &left, largest);
    }
    Some(count)
}

/// Number of positive eigenvalues of a symmetric matrix, if all are certainly not 0: by Sylvester's
/// law. Elimination takes the diagonal entry that is largest, or two rows whose block has a
/// negative determinant and so one eigenvalue of each sign. So it also decides matrices with a
/// small diagonal.
pub(crate) fn positive_eigenvalues(mut a: IntervalMatrix) -> Option<usize> {
    let (mut left, mut count) = ((0..a.len()).collect::<Vec<_>>(), 0);
    while !left.is_empty() {
        let size = |x: usize, y: usize| a[x][y].mig();
        let by_size =
            |x: &(usize, usize), y: &(usize, usize)| size(x.0, x.1).total_cmp(&size(y.0, y.1));
        let pairs = left.iter().flat_map(|x| left.iter().map(move |y| (*x, *y)));
        let (p, q) = pairs.clone().filter(|(x, y)| x < y).max_by(by_size).unwrap_or((0, 0));
        let (d, _) = pairs.filter(|(x, y)| x == y).max_by(by_size)?;
        let det = a[p][p] * a[q][q] - a[p][q].sqr();
        let two = p < q && size(d, d) < 0.1 * size(p, q) && det.is_negative();
        let own = a[d][d];
        if two {
            count += 1;
            left.retain(|x| *x != p && *x != q);
            let (pp, pq, qq) = (a[p][p], a[p][q], a[q][q]);
            let old = a.clone();
            for x in left.iter().copied() {
                for y in left.iter().copied() {
                    let (xp, xq) = (old[x][p], old[x][q]);
                    let (yp, yq) = (old[y][p], old[y][q]);
                    let change = xp * (qq * yp - pq * yq) + xq * (pp * yq - pq * yp);
                    a[x][y] = old[x][y] - change / det;
                }
            }
        } else if own.contains(0.0) {
            return None;
        } else {
            count += usize::from(own.is_positive());
            left.retain(|x| *x != d);
            eliminate(&mut a, &left, d);
        }
    }
    Some(count)
}

/// The numbers of positive and of negative eigenvalues that all symmetric matrices in `h` share, or
/// `None` if the test fails. The test: `V^T h V` with approximate eigenvectors V is strictly
/// diagonally dominant. Then V is regular and Sylvester's law applies. It needs no pivots, so it
/// also decides large matrices with borders.
pub(crate) fn signature(h: &IntervalMatrix) -> Option<(usize, usize)> {
    let size = h.len();
    let middle: Vec<Vec<f64>> = (0..size)
        .map(|i| (0..size).map(|j| 0.5 * (h[i][j].mid() + h[j][i].mid())).collect())
        .collect();
    let (values, vectors) = jacobi_eigen(middle);
    // An eigenvalue 0 or NaN gives infinite or NaN vectors, and unbounded entries: undecided.
    let vectors: Vec<Vec<f64>> = vectors
        .iter()
        .zip(&values)
        .map(|(v, l)| v.iter().map(|x| x / l.abs().sqrt()).collect())
        .collect();
    let (mut up, mut down) = (0, 0);
    for i in 0..size {
        // Row i of V^T h, then of V^T h V.
        let line = combination(&vectors[i], h);
        let entry = |j: usize| {
            let terms = line.iter().zip(&vectors[j]).map(|(e, v)| *e * Interval::exact(*v));
            terms.fold(Interval::ZERO, |s, t| s + t)
        };
        let others = (0..size)
            .filter(|j| *j != i)
            .map(|j| Interval::exact(entry(j).mag()))
            .fold(Interval::ZERO, |s, t| s + t);
        let own = entry(i);
        if (own - others).is_positive() {
            up += 1;
        } else if (own + others).is_negative() {
            down += 1;
        } else {
            return None;
        }
    }
    Some((up, down))
}

/// Approximate eigenvalues and eigenvectors (rows) by cyclic Jacobi rotations.
fn jacobi_eigen(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    for _ in 0..40 {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let diagonal: f64 = (0..n).map(|i| a[i][i] * a[i][i]).sum();
        if off <= 1e-34 * diagonal {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let cosine = 1.0 / t.hypot(1.0);
                let sine = t * cosine;
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (cosine * x - sine * y, sine * x + cosine * y);
                }
                let (low, high) = a.split_at_mut(q);
                rotate(&mut low[p], &mut high[0], cosine, sine);
                let (low, high) = v.split_at_mut(q);
                rotate(&mut low[p], &mut high[0], cosine, sine);
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

fn rotate(x: &mut [f64], y: &mut [f64], cosine: f64, sine: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::{IntervalMatrix, is_regular, linear};
    use super::{negative_eigenvalues, positive_eigenvalues, signature};
    use crate::num::interval::Interval;

    fn matrix(rows: [[f64; 3]; 3]) -> IntervalMatrix {
        rows.iter().map(|row| row.iter().map(|v| Interval::exact(*v)).collect()).collect()
    }

    #[test]
    fn signs_of_eigenvalues_are_counted() {
        let a = matrix([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, -2.0]]);
        assert_eq!(negative_eigenvalues(&mut a.clone()), Some(1));
        assert_eq!(signature(&a), Some((2, 1)));
        assert_eq!(positive_eigenvalues(a), Some(2));
        // Pivots on the diagonal do not decide the eigenvalues 1 and -1.
        let b = matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]);
        assert_eq!(negative_eigenvalues(&mut b.clone()), None);
        assert_eq!(signature(&b), Some((2, 1)));
        assert_eq!(positive_eigenvalues(b), Some(2));
        let singular = matrix([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(signature(&singular), None);
        assert!(!is_regular(&singular, &[1.0; 3]));
        assert_eq!(positive_eigenvalues(singular), None);
    }

    #[test]
    fn solutions_are_enclosed() {
        let a = matrix([[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 2.0]]);
        assert!(is_regular(&a, &[1.0; 3]));
        let z = linear(&a, &[1.0, 2.0, 4.0].map(Interval::exact)).expect("a regular matrix");
        let wanted = [1.0 / 11.0, 7.0 / 11.0, 2.0];
        assert!(z.iter().zip(wanted).all(|(z, v)| z.contains(v) && z.width() < 1e-12), "{z:?}");
    }
}
