//! The checker of modes on line and circle from the wrong side: every bound against its derivation, every condition failing alone by less than a factor of two.

use super::bounds::{CELL, Shape, TERMS, above};
use super::field::{Field, Polynomial, centre};
use super::kernel::{Kernel, MOST_BLUR, RANGE, reach, taylor};
use super::pieces::{Kind, Piece, sign, tour, trend};
use crate::num::{interval::Interval, stream::Stream};

/// Half a unit in the last place of 1.
const U: f64 = 0.5 * f64::EPSILON;

fn polynomial(c: &[f64], error: (f64, f64)) -> Polynomial {
    Polynomial { cell: 0, c: std::array::from_fn(|l| c.get(l).copied().unwrap_or(0.0)), error }
}

#[test]
fn a_sign_needs_the_value_to_exceed_variation_and_error() {
    let at = |c: &[f64], error: f64| sign(&polynomial(c, (error, 0.0)), 0.0, 0.25);
    // The value 1 against an error of 1.4, of 0.9; against a slope of 5.6, of 3.6, over 1/4; against 8 v^2 with slopes up to 4, that is 1 (twice the 1/2 it varies).
    assert_eq!(
        (at(&[1.0], 1.4), at(&[1.0], 0.9), at(&[-1.0], 1.4), at(&[-1.0], 0.9)),
        (Kind::Unknown, Kind::Positive, Kind::Unknown, Kind::Negative)
    );
    assert_eq!((at(&[1.0, 5.6], 0.0), at(&[1.0, 3.6], 0.0)), (Kind::Unknown, Kind::Positive));
    assert_eq!((at(&[-1.0, 0.0, 16.1], 0.0), at(&[-1.0, 0.0, 7.9], 0.0)), (Kind::Unknown, Kind::Negative));
    assert_eq!(sign(&polynomial(&[f64::NAN, 0.0], (0.0, 0.0)), 0.0, 0.25), Kind::Unknown);
    // A cell whose value is certain, but for the error of its polynomial.
    assert_eq!(at(&[1.0], f64::INFINITY), Kind::Unknown);
}

#[test]
fn a_trend_needs_the_slope_to_exceed_variation_and_error() {
    let at = |c: &[f64], error: f64| trend(&polynomial(c, (9.0, error)), 0.0, 0.25);
    assert_eq!((at(&[0.0, 1.0], 1.4), at(&[0.0, 1.0], 0.9), at(&[0.0, -1.0], 1.4)), (Kind::Unknown, Kind::Rising, Kind::Unknown));
    // The second derivative f''' = 5.6, then 3.6, over 1/4: the interval of f'' holds 0, then it does not.
    assert_eq!((at(&[0.0, 1.0, 2.8], 0.0), at(&[0.0, 1.0, 1.8], 0.0)), (Kind::Unknown, Kind::Rising));
    assert_eq!((at(&[0.0, -1.0, 2.8], 0.0), at(&[0.0, -1.0, 1.8], 0.0)), (Kind::Unknown, Kind::Falling));
}

#[test]
fn only_one_falling_stretch_from_plus_to_minus_is_a_mode() {
    let kernel = Kernel::gaussian(1.0);
    let field = Field::line(&kernel, vec![0.1], 1);
    let run = |kinds: &[Kind]| {
        let pieces: Vec<Piece> =
            kinds.iter().enumerate().map(|(k, kind)| Piece { from: 0.1 * k as f64, to: 0.1 * (k + 1) as f64, kind: *kind }).collect();
        let found = tour(&field, &pieces);
        (found.roots.len(), found.undecided.len())
    };
    use Kind::{Falling, Negative, Positive, Rising, Unknown};
    assert_eq!(run(&[Positive, Falling, Falling, Negative, Rising, Positive]), (1, 0));
    assert_eq!(run(&[Positive, Falling, Rising, Falling, Negative]), (1, 1));
    assert_eq!(run(&[Positive, Rising, Negative]), (1, 1));
    assert_eq!(run(&[Positive, Unknown, Negative]), (1, 1));
    assert_eq!(run(&[Negative, Unknown, Negative]), (0, 1));
    assert_eq!(run(&[Positive, Falling, Rising, Positive]), (0, 1));
    assert_eq!((run(&[Positive, Falling, Positive]), run(&[Negative, Falling, Positive])), ((0, 0), (0, 1)));
    assert_eq!(run(&[Positive, Negative]), (1, 1));
}

#[test]
fn what_is_undecided_has_no_count() {
    let found = crate::modes::line(&[0.0, 2.0], 1.0).expect("valid");
    assert!(!found.certified() && found.proved().is_err() && found.locations().is_err() && found.at_least() == 1);
}

#[test]
fn bounds_are_at_least_what_their_derivation_says() {
    // Rounded sums and products of nonnegative numbers.
    assert!(above(1.0, 1_000_000) >= 1.0 + 1e6 * U * 1.000_01 && above(0.0, 1) > 0.0);
    // The largest values on discs are attained: at i rho, and on the circle at the same place.
    assert!(Shape::Gaussian.bound(0.0, 2.0) >= (2f64).exp() * (1.0 - 1e-14));
    for (beta, cells) in [(0.5, 16usize), (30.0, 69), (1e6, 12_567)] {
        let shape = Shape::VonMises { beta, cells };
        let across = 2.0 * std::f64::consts::TAU / (cells as f64 * CELL);
        let h = beta * (across.cosh() + 1.0);
        let top = (2.0 * beta * (0.5 * across).sinh().powi(2)).exp().min(h * h.exp());
        assert!(shape.bound(0.0, 2.0) >= top * (1.0 - 1e-12), "{beta}");
        // Cauchy's estimates.
        assert!(shape.derivative(3, 1.0, 0.5) >= 0.999 * 6.0 / 0.125 * shape.bound(1.0, 0.5));
    }
    for shape in [Shape::Gaussian, Shape::VonMises { beta: 30.0, cells: 69 }] {
        for distance in [0.0, 2.0, 5.0] {
            // sum (m + 1) B r^m / rho and its derivative, term by term; no radius does better than the best of many.
            let at = |rho: f64| {
                let term = |m: usize| shape.bound(distance, rho) / rho * (CELL / rho).powi(m as i32) * (m + 1) as f64;
                let value: f64 = (TERMS..400).map(term).sum();
                let slope: f64 = (TERMS..400).map(|m| m as f64 / CELL * term(m)).sum();
                (value, slope)
            };
            let radii = (0..120).map(|k| 0.6 * 1.03f64.powi(k));
            let least = radii.map(at).fold((f64::INFINITY, f64::INFINITY), |m, v| (m.0.min(v.0), m.1.min(v.1)));
            let found = shape.truncation(distance);
            assert!(found.0 >= 0.999 * least.0 && found.1 >= 0.999 * least.1, "{distance}: {found:?} {least:?}");
            assert!(found.0 <= 3.0 * least.0 && found.1 <= 3.0 * least.1, "{distance}: {found:?} {least:?}");
        }
    }
}

#[test]
fn tables_carry_all_their_errors() {
    let half = 0.25;
    let tables = Kernel::gaussian(1.0).tables;
    let cauchy = |m: i32, distance: f64, rho: f64| {
        (1..=m).map(f64::from).product::<f64>() / rho.powi(m) * (0.5 * rho * rho - 0.5 * (distance - rho).max(0.0).powi(2)).exp()
    };
    // Samples out of range are beyond 20 cells, less what blur moves them.
    assert!((RANGE - 20.0 * CELL).abs() < 1e-15 && tables.shifts.len() == 41);
    let from = RANGE - MOST_BLUR;
    assert!(tables.tail.0 >= 0.999_999 * cauchy(1, from, 0.1) && tables.tail.1 >= 0.999_999 * cauchy(2, from, 0.1));
    let root = |m: i32| f64::from(m).sqrt();
    assert!(tables.stiffness.0 >= 0.999_999 * cauchy(2, 0.0, root(2)) && tables.stiffness.1 >= 0.999_999 * cauchy(3, 0.0, root(3)));
    for shift in &tables.shifts {
        let truncation = Shape::Gaussian.truncation((shift.offset as f64 * CELL).abs());
        let (mut value, mut slope, mut width) = (0.0, 0.0, (0.0, 0.0));
        let g = taylor(Shape::Gaussian, -(shift.offset as f64) * CELL);
        for (k, row) in shift.table.iter().enumerate() {
            for (l, t) in row.iter().enumerate().take(TERMS - k) {
                let m = k + l;
                let binomial = (1..=l).fold(1.0, |b, i| b * (m + 1 - i) as f64 / i as f64);
                let enclosure = Interval::exact((m + 1) as f64) * g[m + 1] * Interval::exact(binomial);
                assert!(enclosure.contains(*t));
                let power = f64::powi(half, m as i32);
                value += t.abs() * power;
                slope += l as f64 * t.abs() * power / half;
                width.0 += 0.5 * enclosure.width() * power;
                width.1 += 0.5 * enclosure.width() * l as f64 * power / half;
            }
        }
        assert!(shift.value_error.1 >= value * (1.0 - 1e-12) && shift.slope_error.1 >= slope * (1.0 - 1e-12));
        let sum = |width: f64, truncation: f64| 0.999 * (0.8 * width + truncation);
        assert!(shift.value_error.0 >= sum(width.0, truncation.0) && shift.slope_error.0 >= sum(width.1, truncation.1));
    }
}

/// Each part of the error of a cell's polynomial, made the largest one in turn.
#[test]
fn polynomials_carry_all_their_errors() {
    let kernel = Kernel::gaussian(1.0);
    let tables = &kernel.tables;
    let home = tables.shifts.iter().find(|s| s.offset == 0).expect("the cell itself");
    let positions: Vec<f64> = (0..5000).map(|k| 0.5 * f64::from(k) / 5000.0).collect();
    let error = |total: usize, more: Option<f64>| {
        let all: Vec<f64> = positions.iter().copied().chain(more).collect();
        Field::line(&kernel, all, total).polynomial(0).error
    };
    let (n, plain) = (5000.0, error(5000, None));
    // A power of a rounded difference, 256 sums, 20 sums of blocks, the table, 20 sums.
    let steps = (19.0 + 19.0 + 256.0 + 20.0 + 1.0 + 20.0) * U;
    assert!(
        plain.0 >= n * (home.value_error.0 + steps * home.value_error.1)
            && plain.1 >= n * (home.slope_error.0 + steps * home.slope_error.1)
    );
    // Samples out of range: those of other parts, then one of this part far away, whose place blurs the others by 3 eps/2.
    let far = error(5000 + 1_000_000_000_000_000, None);
    assert!(far.0 - plain.0 >= 0.999 * 1e15 * tables.tail.0 && far.1 - plain.1 >= 0.999 * 1e15 * tables.tail.1);
    let blurred = error(5001, Some(1e12));
    let moved = 1.5 * f64::EPSILON * 1e12 * n;
    assert!(blurred.0 - plain.0 >= moved * tables.stiffness.0 && blurred.1 - plain.1 >= moved * tables.stiffness.1);
}

#[test]
fn polynomials_hold_the_derivative_summed_by_intervals() {
    let real = Interval::exact;
    let kernel = Kernel::gaussian(1.0);
    let mut stream = Stream::new(3, &["modes by intervals"]);
    let mut positions: Vec<f64> = (0..60).map(|_| stream.uniform_in(0.0, 8.0)).collect();
    positions.sort_by(f64::total_cmp);
    let field = Field::line(&kernel, positions.clone(), 60);
    for cell in 0..16 {
        let p = field.polynomial(cell);
        assert!(p.error.0 < 1e-10 && p.error.1 < 1e-9);
        for v in [-0.25, -0.1, 0.0, 0.17, 0.25] {
            let (mut value, mut slope) = (real(0.0), real(0.0));
            for s in &positions {
                let u = real(centre(cell)) + real(v) - real(*s);
                let kernel = (-(u.sqr() * real(0.5))).exp();
                value = value - u * kernel;
                slope = slope + (u.sqr() - real(1.0)) * kernel;
            }
            let meets = |a: Interval, b: Interval| a.lo() <= b.hi() && b.lo() <= a.hi();
            assert!(meets(p.enclosed(0, real(v)) + Interval::symmetric(p.error.0), value));
            assert!(meets(p.enclosed(1, real(v)) + Interval::symmetric(p.error.1), slope));
        }
    }
}

#[test]
fn fields_outside_the_reach_of_the_bounds_are_refused() {
    let kernel = Kernel::gaussian(1.0);
    assert!(Field::line(&kernel, vec![0.0, 1.0], 2).sound());
    // Blur 2 eps times the length: 0.3, then 0.15. Tails: 0.3, then 0.15.
    let long = |blur: f64| Field::line(&kernel, vec![0.0, blur / (2.0 * f64::EPSILON)], 2).sound();
    assert!(!long(0.3) && long(0.15));
    let many = |tails: f64| Field::line(&kernel, vec![0.0], (tails / kernel.tables.tail.0) as usize).sound();
    assert!(!many(0.3) && many(0.15));
    // At the ends of a part, 2 + 0.2 units from a sample, the derivative is this large, and no larger.
    assert!(2.2 * f64::exp(-0.5 * 2.2 * 2.2) > 0.19 && CELL * (kernel.reach + 1) as f64 + MOST_BLUR <= 2.2 + 1e-12);
    // A position 0.4 from the centre of the last cell of a circle lies outside it.
    let circle = Kernel::von_mises(9.0);
    let end = centre(circle.cells().expect("a circle") as i64 - 1);
    assert!(!Field::circle(&circle, vec![end + 0.4], 0.0).sound() && Field::circle(&circle, vec![end + 0.2], 0.0).sound());
    // 3 eps of the circle at least: three roundings of the reduction, two of the unit and its product, twice the error of 2 pi.
    let field = Field::circle(&circle, vec![0.0], 0.0);
    assert!(field.blur >= 2.85 * f64::EPSILON * CELL * circle.cells().expect("a circle") as f64);
    let turned = Field::circle(&circle, vec![0.0], 1e17).blur - field.blur;
    assert!(turned >= 6e-32 * 1e17 * circle.unit());
}

#[test]
fn cells_that_are_left_out_are_convex_and_out_of_range() {
    for (shape, all) in [
        (Shape::Gaussian, i64::MAX),
        (Shape::VonMises { beta: 30.0, cells: 69 }, 69),
        (Shape::VonMises { beta: 1e6, cells: 12_567 }, 12_567),
    ] {
        let reach = reach(shape, all);
        assert!(shape.convex_beyond(CELL * reach as f64 - MOST_BLUR) && !shape.convex_beyond(CELL * (reach - 1) as f64 - MOST_BLUR));
    }
    let kernel = Kernel::gaussian(4.0);
    // The cells near the last sample of one part end reach + 1 cells from it.
    assert!(kernel.separation() - CELL * (kernel.reach + 1) as f64 >= RANGE);
    let field = Field::line(&kernel, vec![0.1, 9.9], 2);
    let targets = field.targets();
    assert_eq!((targets[0], targets[targets.len() - 1], targets.len()), (-3, 22, 14));
}
