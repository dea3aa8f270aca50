//! Tests of the proofs on line and circle: every bound against its derivation, and every condition
//! where it alone fails by less than a factor of two.

use super::bounds::{BIN_WIDTH, KernelShape, TERMS, radian, round_up};
use super::crossings::{Behaviour, Piece, from_pieces, sign, slope_sign};
use super::derivative::{DensityDerivative, Derivative, Polynomial, centre};
use super::interaction::{AnyDerivative, AnyKernel};
use super::kernel::{Kernel, MAX_POSITION_ERROR, RANGE, nonconvex_bins, taylor};
use crate::attention::interaction::Interaction;
use crate::num::{interval::Interval, number::Number, stats::nan_min, stream::Stream};
use std::f64::consts::FRAC_PI_2;

/// Half a unit in the last place of 1.
const U: f64 = 0.5 * f64::EPSILON;

fn polynomial(c: &[f64], error: (f64, f64)) -> Polynomial {
    Polynomial { bin: 0, c: std::array::from_fn(|l| c.get(l).copied().unwrap_or(0.0)), error }
}

#[test]
fn a_sign_needs_the_value_to_exceed_variation_and_error() {
    let at = |c: &[f64], error: f64| sign(&polynomial(c, (error, 0.0)), 0.0, 0.25);
    // The value 1 with errors of 1.4 and 0.9. The value 1 with slopes of 5.6 and 3.6 over a length
    // of 1/4. The value -1 with a term of 16.1 v^2 and of 7.9 v^2, whose variation is bounded by
    // slope times length.
    assert_eq!(
        (at(&[1.0], 1.4), at(&[1.0], 0.9), at(&[-1.0], 1.4), at(&[-1.0], 0.9)),
        (Behaviour::Unknown, Behaviour::Positive, Behaviour::Unknown, Behaviour::Negative)
    );
    assert_eq!(
        (at(&[1.0, 5.6], 0.0), at(&[1.0, 3.6], 0.0)),
        (Behaviour::Unknown, Behaviour::Positive)
    );
    assert_eq!(
        (at(&[-1.0, 0.0, 16.1], 0.0), at(&[-1.0, 0.0, 7.9], 0.0)),
        (Behaviour::Unknown, Behaviour::Negative)
    );
    assert_eq!(sign(&polynomial(&[f64::NAN, 0.0], (0.0, 0.0)), 0.0, 0.25), Behaviour::Unknown);
    // An infinite error of the polynomial.
    assert_eq!(at(&[1.0], f64::INFINITY), Behaviour::Unknown);
}

#[test]
fn a_slope_sign_needs_the_slope_to_exceed_variation_and_error() {
    let at = |c: &[f64], error: f64| slope_sign(&polynomial(c, (9.0, error)), 0.0, 0.25);
    assert_eq!(
        (at(&[0.0, 1.0], 1.4), at(&[0.0, 1.0], 0.9), at(&[0.0, -1.0], 1.4)),
        (Behaviour::Unknown, Behaviour::Rising, Behaviour::Unknown)
    );
    // f''' = 5.6 over a length of 1/4: the interval of f'' contains 0. With f''' = 3.6 it does not.
    assert_eq!(
        (at(&[0.0, 1.0, 2.8], 0.0), at(&[0.0, 1.0, 1.8], 0.0)),
        (Behaviour::Unknown, Behaviour::Rising)
    );
    assert_eq!(
        (at(&[0.0, -1.0, 2.8], 0.0), at(&[0.0, -1.0, 1.8], 0.0)),
        (Behaviour::Unknown, Behaviour::Falling)
    );
}

#[test]
fn only_falling_pieces_from_plus_to_minus_are_a_mode() {
    let kernel = Kernel::gaussian(1.0);
    let field = DensityDerivative::line(&kernel, vec![0.1], 1);
    let run = |behaviours: &[Behaviour]| {
        let pieces: Vec<Piece> = behaviours
            .iter()
            .enumerate()
            .map(|(k, behaviour)| Piece {
                from: 0.1 * k as f64,
                to: 0.1 * (k + 1) as f64,
                behaviour: *behaviour,
            })
            .collect();
        let found = from_pieces(&field, &pieces);
        (found.roots.len(), found.undecided.len())
    };
    use Behaviour::{Falling, Negative, Positive, Rising, Unknown};
    assert_eq!(run(&[Positive, Falling, Falling, Negative, Rising, Positive]), (1, 0));
    assert_eq!(run(&[Positive, Falling, Rising, Falling, Negative]), (1, 1));
    assert_eq!(run(&[Positive, Rising, Negative]), (1, 1));
    assert_eq!(run(&[Positive, Unknown, Negative]), (1, 1));
    assert_eq!(run(&[Negative, Unknown, Negative]), (0, 1));
    assert_eq!(run(&[Positive, Falling, Rising, Positive]), (0, 1));
    assert_eq!(
        (run(&[Positive, Falling, Positive]), run(&[Negative, Falling, Positive])),
        ((0, 0), (0, 1))
    );
    assert_eq!(run(&[Positive, Negative]), (1, 1));
}

#[test]
fn undecided_places_leave_no_count() {
    let found = crate::modes::line(&[0.0, 2.0], 1.0).expect("valid");
    assert!(
        !found.is_proved()
            && found.count().is_err()
            && found.locations().is_err()
            && found.lower_bound() == 1
    );
}

#[test]
fn bounds_are_at_least_those_of_their_derivation() {
    // Rounded sums and products of nonnegative numbers.
    assert!(round_up(1.0, 1_000_000) >= 1.0 + 1e6 * U * 1.000_01 && round_up(0.0, 1) > 0.0);
    // The largest values on discs are attained at i rho.
    assert!(KernelShape::Gaussian.bound(0.0, 2.0) >= (2f64).exp() * (1.0 - 1e-14));
    for (beta, bins) in [(0.5, 16usize), (30.0, 69), (1e6, 12_567)] {
        let shape = KernelShape::VonMises { beta, bins };
        let across = 2.0 * std::f64::consts::TAU / (bins as f64 * BIN_WIDTH);
        let h = beta * (across.cosh() + 1.0);
        let top = (2.0 * beta * (0.5 * across).sinh().powi(2)).exp().min(h * h.exp());
        assert!(shape.bound(0.0, 2.0) >= top * (1.0 - 1e-12), "{beta}");
        // Cauchy's estimates.
        assert!(shape.derivative(3, 1.0, 0.5) >= 0.999 * 6.0 / 0.125 * shape.bound(1.0, 0.5));
    }
    for shape in [KernelShape::Gaussian, KernelShape::VonMises { beta: 30.0, bins: 69 }] {
        for distance in [0.0, 2.0, 5.0] {
            // sum (m + 1) B r^m / rho and its derivative, term by term, with the best of many
            // radii.
            let at = |rho: f64| {
                let term = |m: usize| {
                    shape.bound(distance, rho) / rho
                        * (BIN_WIDTH / rho).powi(m as i32)
                        * (m + 1) as f64
                };
                let value: f64 = (TERMS..400).map(term).sum();
                let slope: f64 = (TERMS..400).map(|m| m as f64 / BIN_WIDTH * term(m)).sum();
                (value, slope)
            };
            let radii = (0..120).map(|k| 0.6 * 1.03f64.powi(k));
            let least = radii.map(at).fold((f64::INFINITY, f64::INFINITY), |m, v| {
                (nan_min(m.0, v.0), nan_min(m.1, v.1))
            });
            let found = shape.truncation(distance);
            assert!(
                found.0 >= 0.999 * least.0 && found.1 >= 0.999 * least.1,
                "{distance}: {found:?} {least:?}"
            );
            assert!(
                found.0 <= 3.0 * least.0 && found.1 <= 3.0 * least.1,
                "{distance}: {found:?} {least:?}"
            );
        }
    }
}

#[test]
fn tables_include_all_their_errors() {
    let half = 0.25;
    let tables = Kernel::gaussian(1.0).tables;
    let cauchy = |m: i32, distance: f64, rho: f64| {
        (1..=m).map(f64::from).product::<f64>() / rho.powi(m)
            * (0.5 * rho * rho - 0.5 * (distance - rho).max(0.0).powi(2)).exp()
    };
    // Samples out of range are beyond 20 bins, less the error of their positions.
    assert!((RANGE - 20.0 * BIN_WIDTH).abs() < 1e-15 && tables.translations.len() == 41);
    let from = RANGE - MAX_POSITION_ERROR;
    assert!(
        tables.tail.0 >= 0.999_999 * cauchy(1, from, 0.1)
            && tables.tail.1 >= 0.999_999 * cauchy(2, from, 0.1)
    );
    let root = |m: i32| f64::from(m).sqrt();
    assert!(
        tables.derivative_bounds.0 >= 0.999_999 * cauchy(2, 0.0, root(2))
            && tables.derivative_bounds.1 >= 0.999_999 * cauchy(3, 0.0, root(3))
    );
    for shift in &tables.translations {
        let truncation = KernelShape::Gaussian.truncation((shift.offset as f64 * BIN_WIDTH).abs());
        let (mut value, mut slope, mut width) = (0.0, 0.0, (0.0, 0.0));
        let g = taylor(KernelShape::Gaussian, -(shift.offset as f64) * BIN_WIDTH);
        for (k, row) in shift.table.iter().enumerate() {
            for (l, t) in row.iter().enumerate().take(TERMS - k) {
                let m = k + l;
                let binomial = (1..=l).fold(1.0, |b, i| b * (m + 1 - i) as f64 / i as f64);
                let enclosure =
                    Interval::exact((m + 1) as f64) * g[m + 1] * Interval::exact(binomial);
                assert!(enclosure.contains(*t));
                let power = f64::powi(half, m as i32);
                value += t.abs() * power;
                slope += l as f64 * t.abs() * power / half;
                width.0 += 0.5 * enclosure.width() * power;
                width.1 += 0.5 * enclosure.width() * l as f64 * power / half;
            }
        }
        assert!(
            shift.value_error.1 >= value * (1.0 - 1e-12)
                && shift.slope_error.1 >= slope * (1.0 - 1e-12)
        );
        let sum = |width: f64, truncation: f64| 0.999 * (0.8 * width + truncation);
        assert!(
            shift.value_error.0 >= sum(width.0, truncation.0)
                && shift.slope_error.0 >= sum(width.1, truncation.1)
        );
    }
}

/// Each part of the error of a polynomial, made the largest part in turn.
#[test]
fn polynomials_include_all_their_errors() {
    let kernel = Kernel::gaussian(1.0);
    let tables = &kernel.tables;
    let same_bin = tables.translations.iter().find(|s| s.offset == 0).expect("the bin itself");
    let positions: Vec<f64> = (0..5000).map(|k| 0.5 * f64::from(k) / 5000.0).collect();
    let error = |total: usize, more: Option<f64>| {
        let all: Vec<f64> = positions.iter().copied().chain(more).collect();
        DensityDerivative::line(&kernel, all, total).polynomial(0).error
    };
    let (n, plain) = (5000.0, error(5000, None));
    // A power of a rounded difference, 256 sums, 20 sums of blocks, the table, 20 sums.
    let steps = (19.0 + 19.0 + 256.0 + 20.0 + 1.0 + 20.0) * U;
    assert!(
        plain.0 >= n * (same_bin.value_error.0 + steps * same_bin.value_error.1)
            && plain.1 >= n * (same_bin.slope_error.0 + steps * same_bin.slope_error.1)
    );
    // Samples out of range: those of other parts; then one of this part far away, which makes the
    // positions of the others uncertain by 3 eps/2 of its distance.
    let far = error(5000 + 1_000_000_000_000_000, None);
    assert!(
        far.0 - plain.0 >= 0.999 * 1e15 * tables.tail.0
            && far.1 - plain.1 >= 0.999 * 1e15 * tables.tail.1
    );
    let displaced = error(5001, Some(1e12));
    let moved = 1.5 * f64::EPSILON * 1e12 * n;
    assert!(
        displaced.0 - plain.0 >= moved * tables.derivative_bounds.0
            && displaced.1 - plain.1 >= moved * tables.derivative_bounds.1
    );
}

#[test]
fn polynomials_contain_the_derivative_summed_by_intervals() {
    let real = Interval::exact;
    let kernel = Kernel::gaussian(1.0);
    let mut stream = Stream::new(3, &["modes by intervals"]);
    let mut positions: Vec<f64> = (0..60).map(|_| stream.uniform_in(0.0, 8.0)).collect();
    positions.sort_by(f64::total_cmp);
    let field = DensityDerivative::line(&kernel, positions.clone(), 60);
    for bin in 0..16 {
        let p = field.polynomial(bin);
        assert!(p.error.0 < 1e-10 && p.error.1 < 1e-9);
        for v in [-0.25, -0.1, 0.0, 0.17, 0.25] {
            let (mut value, mut slope) = (real(0.0), real(0.0));
            for s in &positions {
                let u = real(centre(bin)) + real(v) - real(*s);
                let kernel = (-(u.sqr() * real(0.5))).exp();
                value = value - u * kernel;
                slope = slope + (u.sqr() - real(1.0)) * kernel;
            }
            let meets = |a: Interval, b: Interval| a.lo() <= b.hi() && b.lo() <= a.hi();
            assert!(meets(
                p.enclose_derivative(0, real(v)) + Interval::symmetric(p.error.0),
                value
            ));
            assert!(meets(
                p.enclose_derivative(1, real(v)) + Interval::symmetric(p.error.1),
                slope
            ));
        }
    }
}

#[test]
fn polynomials_of_interactions_contain_the_derivative_summed_by_intervals() {
    let real = Interval::exact;
    let mut stream = Stream::new(3, &["modes of interactions"]);
    let angles: Vec<f64> = (0..300).map(|_| stream.uniform_in(-9.0, 9.0)).collect();
    for text in ["exp(4*s)", "1/(1.2 - s)", "cos(9*s) + s^3", "chebyshev:0.5,1,0,-2"] {
        let phi = Interaction::parse(text, &[]).expect("an interaction");
        let kernel = AnyKernel::new(&phi).expect("a kernel");
        let field = AnyDerivative::new(&kernel, &angles, &[0.0], 2.0);
        let formula = phi.formula().compile::<Interval>().expect("a formula");
        let radian = radian(kernel.bins);
        let size = phi.sizes().1 * angles.len() as f64;
        for bin in [0, 1, 7, kernel.bins as i64 - 1] {
            let p = field.polynomial(bin);
            assert!(p.error.0 < 1e-11 * size && p.error.1 < 1e-9 * size, "{text} {:?}", p.error);
            for v in [-0.25, -0.1, 0.0, 0.17, 0.25] {
                let (mut value, mut slope) = (real(0.0), real(0.0));
                for angle in &angles {
                    let from = (real(centre(bin)) + real(v)) * radian - real(*angle);
                    let (sin, cos) = Number::sin_cos(from);
                    let at = formula.at(cos).expect("a value");
                    value = value - at.first * sin * radian;
                    slope = slope + (at.second * sin.sqr() - at.first * cos) * radian.sqr();
                }
                for (order, (sum, error)) in
                    [(value, p.error.0), (slope, p.error.1)].iter().enumerate()
                {
                    let own = p.enclose_derivative(order, real(v)) + Interval::symmetric(*error);
                    assert!(own.lo() <= sum.hi() && sum.lo() <= own.hi(), "{text} {bin} {v}");
                    // Without the error the two may differ, but not by much more.
                    assert!(own.width() < 1e-8 * size && sum.width() < 1e-8 * size);
                }
            }
        }
    }
}

#[test]
fn interactions_with_long_series_have_the_modes_of_the_built_in_kernel() {
    let mut stream = Stream::new(4, &["long series"]);
    for (text, beta) in [("exp(4*s)", 4.0), ("exp(250*s - 250)", 250.0)] {
        let phi = Interaction::parse(text, &[]).expect("an interaction");
        for n in [1, 9, 40] {
            let angles: Vec<f64> = (0..n).map(|_| stream.uniform_in(0.0, 6.2)).collect();
            let known = crate::modes::circle(&angles, beta).expect("valid");
            let found = crate::modes::interaction(&angles, &phi).expect("valid");
            assert_eq!(found.count(), known.count(), "{text} {n}");
        }
    }
}

#[test]
fn interactions_are_convex_beyond_their_inflection() {
    // e^{beta cos}: beta sin^2 t = cos t. cos: beyond pi/2. cos^2: nowhere up to pi.
    let beta: f64 = 30.0;
    let tau = (2.0 * beta / (1.0 + (1.0 + 4.0 * beta * beta).sqrt())).acos();
    for (text, inflection) in [("exp:beta=30", Some(tau)), ("s", Some(FRAC_PI_2)), ("s^2", None)] {
        let phi = Interaction::parse(text, &[]).expect("an interaction");
        let kernel = AnyKernel::new(&phi).expect("a kernel");
        let found = kernel.nonconvex_bins;
        match inflection {
            Some(angle) => {
                let least =
                    ((kernel.unit() * angle + MAX_POSITION_ERROR) / BIN_WIDTH).ceil() as i64;
                assert!(found == least || found == least + 1, "{text}: {found} {least}");
            }
            None => assert!(2 * found + 1 >= kernel.bins as i64, "{text}: {found}"),
        }
    }
}

#[test]
fn bounds_do_not_apply_to_inaccurate_positions_or_too_many_samples() {
    let kernel = Kernel::gaussian(1.0);
    assert!(DensityDerivative::line(&kernel, vec![0.0, 1.0], 2).bounds_apply());
    // Error of positions 2 eps times the length: 0.3, then 0.15. Tails: 0.3, then 0.15.
    let long = |position_error: f64| {
        DensityDerivative::line(&kernel, vec![0.0, position_error / (2.0 * f64::EPSILON)], 2)
            .bounds_apply()
    };
    assert!(!long(0.3) && long(0.15));
    let many = |tails: f64| {
        DensityDerivative::line(&kernel, vec![0.0], (tails / kernel.tables.tail.0) as usize)
            .bounds_apply()
    };
    assert!(!many(0.3) && many(0.15));
    // At the ends of a part, 2 + 0.2 units from a sample, the derivative is this large, and no
    // larger.
    assert!(
        2.2 * f64::exp(-0.5 * 2.2 * 2.2) > 0.19
            && BIN_WIDTH * (kernel.nonconvex_bins + 1) as f64 + MAX_POSITION_ERROR <= 2.2 + 1e-12
    );
    // A position 0.4 from the centre of the last bin of a circle lies outside it.
    let circle = Kernel::von_mises(9.0);
    let end = centre(circle.bins().expect("a circle") as i64 - 1);
    assert!(
        !DensityDerivative::circle(&circle, vec![end + 0.4], 0.0).bounds_apply()
            && DensityDerivative::circle(&circle, vec![end + 0.2], 0.0).bounds_apply()
    );
    // 3 eps of the circle at least: three roundings of the reduction, two of the unit and its
    // product, twice the error of 2 pi.
    let field = DensityDerivative::circle(&circle, vec![0.0], 0.0);
    assert!(
        field.position_error
            >= 2.85 * f64::EPSILON * BIN_WIDTH * circle.bins().expect("a circle") as f64
    );
    let turned =
        DensityDerivative::circle(&circle, vec![0.0], 1e17).position_error - field.position_error;
    assert!(turned >= 6e-32 * 1e17 * circle.unit());
}

#[test]
fn omitted_bins_are_convex_and_out_of_range() {
    for (shape, all) in [
        (KernelShape::Gaussian, i64::MAX),
        (KernelShape::VonMises { beta: 30.0, bins: 69 }, 69),
        (KernelShape::VonMises { beta: 1e6, bins: 12_567 }, 12_567),
    ] {
        let nonconvex_bins = nonconvex_bins(shape, all);
        assert!(
            shape.convex_beyond(BIN_WIDTH * nonconvex_bins as f64 - MAX_POSITION_ERROR)
                && !shape
                    .convex_beyond(BIN_WIDTH * (nonconvex_bins - 1) as f64 - MAX_POSITION_ERROR)
        );
    }
    let kernel = Kernel::gaussian(4.0);
    // The bins near the last sample of one part end `nonconvex_bins + 1` bins from it.
    assert!(kernel.separation() - BIN_WIDTH * (kernel.nonconvex_bins + 1) as f64 >= RANGE);
    let field = DensityDerivative::line(&kernel, vec![0.1, 9.9], 2);
    let targets = field.candidate_bins();
    assert_eq!((targets[0], targets[targets.len() - 1], targets.len()), (-3, 22, 14));
}
