//! Growth of errors: the derivative of the field on tangent spaces, and the deviation of the field
//! from it.

use crate::flow::System;
use crate::number::{I, dot, int, length, sum};

/// An axis, and `w = axis +- x / |x|`. The reflection `1 - w w^T / w_axis` maps `x / |x|` to the
/// axis or its negative. Its columns other than that of the axis are a frame B of the tangent
/// space.
type Reflection = (usize, Vec<I>);

fn reflection(x: &[I], norm: &I) -> Reflection {
    let axis = (0..x.len()).max_by_key(|c| x[*c].mid().up()).unwrap_or(0);
    let sign = int(if x[axis].mid() > int(0) { 1 } else { -1 });
    (axis, (0..x.len()).map(|c| int((c == axis).into()) + &sign * &x[c] / norm).collect())
}

/// `B^T v`.
fn project((axis, w): &Reflection, v: &[I]) -> Vec<I> {
    let share = dot(w, v) / &w[*axis];
    (0..v.len()).filter(|c| c != axis).map(|c| &v[c] - &w[c] * &share).collect()
}

/// Quantities of one point: `E / Z` (times the gain) and G for every point; in the frame of the
/// point, every point and the vectors w of `curvature`; `B^T V` and `<x, V>`.
pub(super) struct Row {
    reflection: Reflection,
    pub(super) e: Vec<I>,
    g: Vec<I>,
    h: Vec<Vec<I>>,
    centred: Vec<Vec<I>>,
    v: Vec<I>,
    radial: I,
}

/// The rows on a box, where `norm` contains all `|x_i|`. The tokens of a point are anywhere in its
/// box, and no token sees itself.
pub(super) fn rows_on_box(s: &System, x: &[I], norm: &I) -> Vec<Row> {
    let points: Vec<&[I]> = x.chunks(s.d).collect();
    let row = |i: usize| {
        let g: Vec<I> = points.iter().map(|x| dot(points[i], *x)).collect();
        let (mut e, mut m, itself) = (vec![int(0); g.len()], s.m.clone(), &s.unit[i]);
        // The mass at its point besides the token itself.
        m[i] = &m[i] - itself;
        s.visible(i).for_each(|j| e[j] = &s.gain[j] * s.weight(&g[j]));
        let total = if s.softmax { &s.gain[i] * itself + dot(&m, &e) } else { int(1) };
        e.iter_mut().for_each(|e| *e = &*e / &total);
        let a: Vec<I> = m.iter().zip(&e).map(|(m, e)| m * e).collect();
        let reflection = reflection(points[i], norm);
        let h: Vec<Vec<I>> = points.iter().map(|x| project(&reflection, x)).collect();
        let v: Vec<I> = (0..s.d - 1).map(|c| dot(&a, h.iter().map(|h| &h[c]))).collect();
        let centred = |h: &Vec<I>| {
            h.iter().zip(&v).map(|(h, v)| if s.softmax { h - v } else { h.clone() }).collect()
        };
        Row {
            reflection,
            radial: dot(&a, &g),
            centred: h.iter().map(centred).collect(),
            e,
            g,
            h,
            v,
        }
    };
    (0..points.len()).map(row).collect()
}

/// The derivative of the field and the field itself, in the coordinates `sqrt(m) e` in tangent
/// frames.
pub(super) fn derivative(s: &System, x: &[I], norm: &I) -> (Vec<Vec<I>>, Vec<I>) {
    let (t, n, rows) = (s.d - 1, s.m.len(), rows_on_box(s, x, norm));
    let mut f = vec![vec![int(0); n * t]; n * t];
    let unit = |c: usize| (0..s.d).map(|a| int((a == c).into())).collect::<Vec<_>>();
    let column = |j: usize, q: usize| {
        (0..s.d).map(|c| project(&rows[j].reflection, &unit(c)).swap_remove(q)).collect()
    };
    let frames: Vec<Vec<Vec<I>>> = (0..n).map(|j| (0..t).map(|q| column(j, q)).collect()).collect();
    for (i, j) in (0..n).flat_map(|i| s.visible(i).map(move |j| (i, j))) {
        let (e, root) = (&rows[i].e[j] * norm * norm, (&s.m[i] * &s.m[j]).sqrt());
        for (q, p) in (0..t).flat_map(|q| (0..t).map(move |p| (q, p))) {
            let pull = &s.beta * &rows[i].centred[j][p];
            f[i * t + p][j * t + q] = &e
                * &root
                * (&project(&rows[i].reflection, &frames[j][q])[p] + &pull * &rows[j].h[i][q]);
            f[i * t + p][i * t + q] =
                &f[i * t + p][i * t + q] + &e * &s.m[j] * pull * &rows[i].h[j][q];
        }
    }
    (0..n * t).for_each(|p| f[p][p] = &f[p][p] - &rows[p / t].radial);
    (f, (0..n * t).map(|p| s.m[p / t].sqrt() * norm * norm * &rows[p / t].v[p % t]).collect())
}

/// `(Lambda, c)` and the rows, for `|e_i| <= error / sqrt(m_i)` and `||p|^2 - 1| <= small u`.
pub(super) fn curvature(s: &System, x: &[I], norm: &I, error: &I, small: &I) -> (I, I, Vec<Row>) {
    let reach: Vec<I> = s.unit.iter().map(|m| (error / m.sqrt()).up()).collect();
    let wide: Vec<I> = x.iter().enumerate().map(|(c, x)| x.around(&reach[c / s.d])).collect();
    let norm = &norm.around(reach.iter().max().unwrap_or(error));
    let (b, two, square, all) =
        (&s.beta.up(), &int(2), &(norm * norm), rows_on_box(s, &wide, norm));
    let (b2, far) = (&(b * b), &(two * b * norm));
    let (mut rows, mut columns, mut third, mut constant) =
        (vec![], vec![int(0); reach.len()], int(0), int(0));
    for (i, row) in all.iter().enumerate() {
        // E / Z, |B w|, the sine, |g|, |<x, w>|.
        let pair = |j: usize| {
            let (g, far) = (row.g[j].up(), (&reach[i]).max(&reach[j]).over(2));
            let sine = (length(&row.h[j]).max(length(&all[j].h[i])) + &g / square * far).up();
            let along = if s.softmax { (&row.g[j] - &row.radial).up() } else { g.clone() };
            (j, [row.e[j].up(), length(&row.centred[j]), sine, g, along])
        };
        let pairs: Vec<(usize, [I; 5])> = s.visible(i).map(pair).collect();
        let product = |p: &[I; 5], f: &[usize]| f.iter().fold(p[0].clone(), |s, k| s * &p[*k]);
        // Sums of A times the listed factors: of 1, and of eta_j by Cauchy and Schwarz.
        let plain = |f: &[usize]| sum(pairs.iter().map(|(j, p)| &s.m[*j] * product(p, f))).up();
        let dual = |f: &[usize]| {
            sum(pairs.iter().map(|(j, p)| &s.m[*j] * product(p, f) * product(p, f))).sqrt().up()
        };
        // Sums of A times these factors and |l| / beta are at most (sine) (eta_i + eta_j) + q u:
        // the coefficients of eta_i and of u.
        let q = &(pairs.iter().map(|p| &p.1[3]).max().unwrap_or(&int(0)) / square * small).up();
        let linear =
            |f: &[usize]| (plain(&[f, &[2]].concat()), dual(&[f, &[2]].concat()) + q * plain(f));
        let [(s0, s1), (w0, w1), (z0, z1), (r0, r1)] = &[&[][..], &[1], &[1, 2], &[4]].map(linear);
        let (a2, [m0, m1]) = (&dual(&[]), &[s0, s1].map(|v| v * int(s.softmax.into())));
        // Coefficients of eta_i^2 u, eta_i u^2, eta_i^3: twice the covariance of e with l, of w
        // with l'', and the third moment.
        let second =
            two * b * (dual(&[2]) + a2 * m0 + dual(&[1])) + two * b2 * (z1 + m0 * w1 + w0 * m1);
        let first = two * b * a2 * (q + m1) + b2 * (q * (w1 + dual(&[1, 2])) + two * m1 * w1);
        let cubic = b2 * (z0 + two * m0 * w0);
        // 2 <x, V'>, and <x, e> <e, V'>.
        let slow = &(a2 + far * s1);
        let second = square * second + two * (s1 + b * r1) + &reach[i] * slow + small * far * s0;
        let cubic = square * cubic + two * b * r0 + &reach[i] * far * s0;
        let first = (square * first + small * slow).over(2);
        // Coefficients of the radial part of e_i, and of all e_j.
        let centred = b * plain(&[1, 3]);
        let radial = square / norm * (&centred + int(3) * length(&row.v));
        let drift = square / norm * (s0 + centred) + &radial;
        rows.push((second + (cubic + radial) / s.unit[i].sqrt()).over(2));
        third = third + &s.m[i] * &first * first;
        constant = constant + &s.m[i] * &drift * drift;
        for (j, p) in &pairs {
            let radial = square / norm * (&p[2] + b * &p[1] * &p[3]);
            let pull =
                &p[0] * (square * (two * b * &p[2] + b2 * &p[1] * &p[2] * &p[2]) + radial).over(2);
            columns[*j] = &columns[*j] + &s.m[i] * &pull * pull;
        }
    }
    let worst =
        rows.into_iter().zip(columns).map(|(r, c)| (r + c.sqrt()).up()).max().unwrap_or(int(0));
    ((worst + third.sqrt()).up(), constant.sqrt().over(2).up(), all)
}
