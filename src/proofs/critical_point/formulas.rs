//! Tests of the formulas of the checker against differences of the energy in double-double
//! arithmetic, and of the identities that the proof uses.

use super::Certificate;
use super::check::{between_clusters, box_rows, equations, point, within_cluster};
use super::pairs::Pairs;
use crate::dense_intervals::IntervalMatrix;
use crate::num::{dd::Dd, interval::Interval, stream::Stream};

/// Three clusters of 1, 2 and 3 tokens at random points of the sphere in R^3, with all rotations.
fn draw(s: &mut Stream, beta: f64) -> Certificate {
    let points = (0..3).flat_map(|_| unit(&[s.normal(), s.normal(), s.normal()])).collect();
    let rotations = vec![(1, 0), (2, 0), (2, 1)];
    Certificate {
        beta,
        formula: None,
        d: 3,
        sizes: vec![1, 2, 3],
        points,
        radius: 1e-3,
        rotations,
        unstable: 0,
        morse_index: 0,
    }
}

fn pairs_of(c: &Certificate) -> Pairs {
    Pairs::new(c).expect("weights")
}

fn unit(x: &[f64]) -> Vec<f64> {
    let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    x.iter().map(|v| v / norm).collect()
}

/// A random tangent vector at y.
fn tangent(s: &mut Stream, y: &[f64]) -> Vec<f64> {
    let u = [s.normal(), s.normal(), s.normal()];
    let along: f64 = u.iter().zip(y).map(|(u, y)| u * y).sum();
    u.iter().zip(y).map(|(u, y)| u - along * y).collect()
}

/// `sum_{i < j} e^{-beta |x_i - x_j|^2 / 2} / beta` over six tokens moved by t along their tangents
/// and put back on the sphere.
fn energy(c: &Certificate, moves: &[Vec<f64>], t: f64) -> Dd {
    let cluster = [0, 1, 1, 2, 2, 2];
    let moved_token = |i: usize| -> Vec<Dd> {
        let moved: Vec<Dd> = (0..3)
            .map(|a| Dd::from(c.points[3 * cluster[i] + a]) + Dd::from(t) * Dd::from(moves[i][a]))
            .collect();
        let norm = moved.iter().fold(Dd::from(0.0), |s, v| s + *v * *v).sqrt();
        moved.into_iter().map(|v| v / norm).collect()
    };
    let x: Vec<Vec<Dd>> = (0..6).map(moved_token).collect();
    let mut sum = Dd::from(0.0);
    for i in 0..6 {
        for j in 0..i {
            let square =
                x[i].iter().zip(&x[j]).fold(Dd::from(0.0), |s, (a, b)| s + (*a - *b) * (*a - *b));
            sum = sum + (Dd::from(-0.5 * c.beta) * square).exp();
        }
    }
    sum / Dd::from(c.beta)
}

/// `u^T h v` of the leading entries.
fn form(h: &IntervalMatrix, u: &[f64]) -> f64 {
    u.iter()
        .enumerate()
        .map(|(i, x)| u.iter().enumerate().map(|(j, y)| x * h[i][j].mid() * y).sum::<f64>())
        .sum()
}

#[test]
fn forces_and_hessians_are_differences_of_the_energy() {
    let mut s = Stream::new(1, &["formulas"]);
    for beta in [1.7, -0.8, 6.0] {
        let c = draw(&mut s, beta);
        let y = box_rows(&c, 0.0);
        let cluster = [0usize, 1, 1, 2, 2, 2];
        let moves: Vec<Vec<f64>> =
            cluster.iter().map(|q| tangent(&mut s, &c.points[3 * q..3 * q + 3])).collect();
        let mean = |q: usize, a: usize| {
            (0..6).filter(|i| cluster[*i] == q).map(|i| moves[i][a]).sum::<f64>()
                / c.sizes[q] as f64
        };
        let whole: Vec<f64> = (0..9).map(|k| mean(k / 3, k % 3)).collect();
        // Truncation is t^2 times the fourth derivative, rounding is 1e-30 / t^2: the tolerance is
        // 1e-9 of the values.
        let t = 1e-6;
        let (back, here, ahead) =
            (energy(&c, &moves, -t), energy(&c, &moves, 0.0), energy(&c, &moves, t));
        let first = ((ahead - back) / Dd::from(2.0 * t)).to_f64();
        let second = ((ahead - here - here + back) / Dd::from(t * t)).to_f64();
        let (f, _) = equations(&c, &pairs_of(&c), &y, &[point(0.0); 3], &[0.0; 3], &[3.0; 3]);
        let force: f64 = (0..9).map(|k| c.sizes[k / 3] as f64 * f[k].mid() * whole[k]).sum();
        assert!((force - first).abs() < 1e-9 * (1.0 + first.abs()), "{force} {first}");
        let apart: f64 = (0..6)
            .map(|i| {
                let own: Vec<f64> = (0..3).map(|a| moves[i][a] - mean(cluster[i], a)).collect();
                form(&within_cluster(&c, &pairs_of(&c), &y, cluster[i], 0.0), &own)
            })
            .sum();
        let hessian = form(&between_clusters(&c, &pairs_of(&c), &y, &[0.0; 3]), &whole) + apart;
        assert!((hessian - second).abs() < 1e-9 * (10.0 + second.abs()), "{hessian} {second}");
        // The shifts are a congruence, and the scale within a cluster is a positive factor.
        let shift = [0.3, -0.7, 1.1];
        let (plain, shifted) = (
            between_clusters(&c, &pairs_of(&c), &y, &[0.0; 3]),
            between_clusters(&c, &pairs_of(&c), &y, &shift),
        );
        let (unscaled, scaled) = (
            within_cluster(&c, &pairs_of(&c), &y, 1, 0.0),
            within_cluster(&c, &pairs_of(&c), &y, 1, 0.6),
        );
        let same = |a: Interval, b: Interval| (a.mid() - b.mid()).abs() < 1e-13 * (1.0 + b.mag());
        for i in 0..9 {
            for j in 0..9 {
                let factor = point((0.5 * (shift[i / 3] + shift[j / 3])).exp());
                assert!(
                    same(shifted[i][j], plain[i][j] * factor)
                        && (i > 2
                            || j > 2
                            || same(scaled[i][j], unscaled[i][j] * point(0.6f64.exp())))
                );
            }
        }
    }
}

#[test]
fn borders_are_the_clusters_and_their_displacements() {
    let c = draw(&mut Stream::new(2, &["formulas"]), 2.0);
    let y = box_rows(&c, 0.0);
    let h = between_clusters(&c, &pairs_of(&c), &y, &[0.1; 3]);
    let own = within_cluster(&c, &pairs_of(&c), &y, 1, 0.0);
    let at = |k: usize| c.points[k];
    let both =
        |i: usize, j: usize, wanted: f64| h[i][j].contains(wanted) && h[j][i].contains(wanted);
    for k in 0..9 {
        for q in 0..3 {
            let wanted = if k / 3 == q { at(k) } else { 0.0 };
            assert!(both(k, 9 + q, wanted));
        }
        for (m, &(a, b)) in c.rotations.iter().enumerate() {
            let wanted = if k % 3 == a {
                -at(3 * (k / 3) + b)
            } else if k % 3 == b {
                at(3 * (k / 3) + a)
            } else {
                0.0
            };
            assert!(both(k, 12 + m, wanted), "{k} {m}");
        }
    }
    assert!((0..3).all(|a| own[a][3].contains(at(3 + a)) && own[3][a].contains(at(3 + a))));
    assert!(
        (9..15).all(|i| (9..15).all(|j| h[i][j].contains(0.0) && h[i][j].mag() < 1e-300))
            && own[3][3].mag() < 1e-300
    );
}

/// The equations at points off the sphere, with multipliers, as midpoints.
fn values(c: &Certificate, z: &[f64], shift: &[f64]) -> Vec<f64> {
    let y: IntervalMatrix =
        z[..9].chunks(3).map(|r| r.iter().map(|v| point(*v)).collect()).collect();
    let mu: Vec<Interval> = z[9..].iter().map(|v| point(*v)).collect();
    equations(c, &pairs_of(c), &y, &mu, shift, &[1.5, 2.0, 3.0]).0.iter().map(|v| v.mid()).collect()
}

#[test]
fn derivatives_are_differences_and_zeros_are_on_the_sphere_with_vanishing_multipliers() {
    let mut s = Stream::new(3, &["formulas"]);
    for beta in [1.3, -0.9] {
        let c = draw(&mut s, beta);
        let shift = [0.2, -0.4, 0.6];
        // Off the sphere by a tenth, multipliers of size 1.
        let z: Vec<f64> = (0..12)
            .map(|k| if k < 9 { c.points[k] + 0.1 * s.normal() } else { s.normal() })
            .collect();
        let y: IntervalMatrix =
            z[..9].chunks(3).map(|r| r.iter().map(|v| point(*v)).collect()).collect();
        let mu: Vec<Interval> = z[9..].iter().map(|v| point(*v)).collect();
        let (f, jacobian) = equations(&c, &pairs_of(&c), &y, &mu, &shift, &[1.5, 2.0, 3.0]);
        for l in 0..12 {
            let at = |h: f64| {
                values(
                    &c,
                    &z.iter()
                        .enumerate()
                        .map(|(k, v)| if k == l { v + h } else { *v })
                        .collect::<Vec<_>>(),
                    &shift,
                )
            };
            let (ahead, back) = (at(1e-5), at(-1e-5));
            for (i, row) in jacobian.iter().enumerate() {
                let wanted = (ahead[i] - back[i]) / 2e-5;
                assert!(
                    (row[l].mid() - wanted).abs() < 1e-8 * (1.0 + wanted.abs()),
                    "{i} {l}: {:?} {wanted}",
                    row[l]
                );
            }
        }
        let f: Vec<f64> = f.iter().map(|v| v.mid()).collect();
        let rotated = |q: usize, m: usize| -> [f64; 3] {
            let (a, b) = c.rotations[m];
            let mut v = [0.0; 3];
            (v[a], v[b]) = (-z[3 * q + b], z[3 * q + a]);
            v
        };
        let dot = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(u, v)| u * v).sum::<f64>();
        for q in 0..3 {
            // The product with y_q leaves only the distance from the sphere.
            let own = &z[3 * q..3 * q + 3];
            let square = dot(own, own);
            let wanted = [1.5, 2.0, 3.0][q] * (1.0 - square) * square;
            assert!((dot(&f[3 * q..3 * q + 3], own) - wanted).abs() < 1e-13 * 10.0, "{q}");
        }
        for m in 0..3 {
            // The product with the displacements leaves their Gram matrix times mu. Forces cancel
            // up to
            // |y_q|^2, which is 1 at a zero.
            let on_sphere: Vec<f64> =
                z[..9].chunks(3).flat_map(unit).chain(z[9..].iter().copied()).collect();
            let g = values(&c, &on_sphere, &shift);
            let rotated_unit =
                |q: usize, m: usize| unit_displacement(&rotated(q, m), &z[3 * q..3 * q + 3]);
            let weight = |q: usize| c.sizes[q] as f64 * (-shift[q]).exp();
            let found: f64 =
                (0..3).map(|q| weight(q) * dot(&g[3 * q..3 * q + 3], &rotated_unit(q, m))).sum();
            let wanted: f64 = (0..3)
                .map(|a| {
                    z[9 + a]
                        * (0..3)
                            .map(|q| weight(q) * dot(&rotated_unit(q, a), &rotated_unit(q, m)))
                            .sum::<f64>()
                })
                .sum();
            assert!((found - wanted).abs() < 1e-12 * (1.0 + wanted.abs()), "{m}: {found} {wanted}");
            // The gauge: sum_q s_q <A p_q, y_q - p_q>.
            let gauge: f64 = (0..3)
                .map(|q| {
                    let (a, b) = c.rotations[m];
                    let (p, x) = (&c.points[3 * q..], &z[3 * q..]);
                    c.sizes[q] as f64 * (-p[b] * (x[a] - p[a]) + p[a] * (x[b] - p[b]))
                })
                .sum();
            assert!((values(&c, &z, &shift)[9 + m] - gauge).abs() < 1e-13, "{m}");
        }
    }
}

/// A displacement of a point divided by the length of the point.
fn unit_displacement(rotated: &[f64; 3], y: &[f64]) -> Vec<f64> {
    let norm = y.iter().map(|v| v * v).sum::<f64>().sqrt();
    rotated.iter().map(|v| v / norm).collect()
}
