//! Certificates of the time in which two clusters merge.
//!
//! With `v = ln tan(theta / 2)` the time is the integral of H over v (`proofs::merge_time` has H
//! and its derivation). Between two cuts, H is its Taylor polynomial about the middle; the
//! coefficient of the last, even order is enclosed over the whole piece. Between the ends and the
//! nearest cuts the integral is a value of H times the distance. `y = 2 / (1 + e^{-2v})` has `y' =
//! y (2 - y)`.

use crate::canonical::{Canonical, confirm};
use crate::formula::ln_of;
use crate::interval::F;

/// Enclosures of Taylor coefficients.
type Series = Vec<F>;

fn product(a: &Series, b: &Series) -> Series {
    let entry = |k: usize| (0..=k).fold(F::int(0.0), |s, l| s + a[l] * b[k - l]);
    (0..a.len()).map(entry).collect()
}

/// `e^{2 v}` for v <= 0; below e^-600 it is between 0 and that.
fn exponential(v: f64) -> F {
    if v < -300.0 { F(0.0, F::int(-600.0).exp().1) } else { F::int(2.0 * v).exp() }
}

/// `1 - cos(theta)` at v.
fn height(v: f64) -> F {
    let (one, two) = (F::int(1.0), F::int(2.0));
    let e = exponential(-v.abs());
    if v > 0.0 { two / (one + e) } else { two * e / (one + e) }
}

/// The integrand.
struct Integrand {
    beta: F,
    /// The masses; `None` for USA.
    share: Option<(F, F)>,
    order: usize,
}

impl Integrand {
    /// Taylor coefficients over an interval of v.
    fn series(&self, v: F) -> Series {
        let (one, two) = (F::int(1.0), F::int(2.0));
        let mut y = vec![F(height(v.0).0.max(0.0), height(v.1).1.min(2.0))];
        for k in 0..self.order {
            let slope = match k {
                0 => y[0] * (two - y[0]),
                _ => two * y[k] - (0..=k).fold(F::int(0.0), |s, l| s + y[l] * y[k - l]),
            };
            y.push(slope / F::int((k + 1) as f64));
        }
        let start = if self.share.is_some() { y[0] } else { y[0] - one };
        let mut g = vec![(self.beta * start).exp()];
        for k in 1..=self.order {
            let sum = (1..=k).fold(F::int(0.0), |s, l| s + F::int(l as f64) * y[l] * g[k - l]);
            g.push(self.beta * sum / F::int(k as f64));
        }
        let Some((a, b)) = self.share else { return g };
        let (cross, squares) = (a * b, a.sqr() + b.sqr());
        let mut above: Series =
            product(&g, &g).iter().zip(&g).map(|(s, g)| cross * *s + squares * *g).collect();
        above[0] = above[0] + cross;
        let mut below: Series = g.iter().map(|g| squares * *g).collect();
        below[0] = below[0] + two * cross;
        let mut quotient: Series = vec![];
        for k in 0..=self.order {
            let known = (0..k).fold(above[k], |s, l| s - quotient[l] * below[k - l]);
            quotient.push(known / below[0]);
        }
        quotient
    }

    /// The integral between two cuts.
    fn integral(&self, a: f64, b: f64) -> F {
        let middle = 0.5 * a + 0.5 * b;
        let (near, wide) = (self.series(F::int(middle)), self.series(F(a, b)));
        let (left, right) = (F::int(a) - F::int(middle), F::int(b) - F::int(middle));
        let (mut l, mut r, mut sum) = (left, right, F::int(0.0));
        for k in 0..=self.order {
            let c = if k < self.order { near[k] } else { wide[k] };
            sum = sum + c * (r - l) / F::int((k + 1) as f64);
            (l, r) = (l * left, r * right);
        }
        sum
    }

    /// The integral from an end to a cut near it, positive if the end is below.
    fn rest(&self, end: F, cut: f64) -> F {
        let hull = F(end.0.min(cut), end.1.max(cut));
        self.series(hull)[0] * (F::int(cut) - end)
    }
}

/// `ln tan(theta / 2)`. The sine is x times a series, so small angles keep their digits; beyond a
/// right angle the distance from pi is used, which is `1.2246e-16` more than that from its double.
fn place(theta: f64) -> F {
    let half_pi = std::f64::consts::FRAC_PI_2;
    let rest: f64 = 1.224_646_799_147_353_2e-16;
    let x = match theta > half_pi {
        true => F::int(std::f64::consts::PI - theta) + F(rest.next_down(), rest.next_up()),
        false => F::int(theta),
    };
    let x = x * F::int(0.5);
    let series = |odd: i32| {
        let terms = (1..=12).rev().fold(F::int(1.0), |s, j| {
            let k = f64::from(2 * j + odd);
            F::int(1.0) - s * x.sqr() / F::int(k * (k - 1.0))
        });
        // x < 0.8, and 0.8^26 / 26! is below 1e-29.
        terms + F(-1e-28, 1e-28)
    };
    let found = ln_of(x * series(1) / series(0));
    if theta > half_pi { F(-found.1, -found.0) } else { found }
}

/// Checks a certificate and returns its statement.
pub(super) fn check(text: &str) -> Result<String, String> {
    crate::interval::check_rounding()?;
    let mut lines = Canonical::new(text)?;
    confirm(lines.words("metastable-time")? == ["1"], "the version is not 1")?;
    let weights = lines.words("weights")?.join(" ");
    confirm(matches!(weights.as_str(), "sa" | "usa"), "the weights are not sa or usa")?;
    let beta = lines.double("beta")?;
    let share = lines.double("share")?;
    let (from, to) = (lines.double("from")?, lines.double("to")?);
    let order: usize = lines.whole("order")?;
    let cuts = lines.doubles("cuts")?;
    let time = lines.doubles("time")?;
    lines.end()?;
    let angles = 0.0 < to && to <= from && from < std::f64::consts::PI;
    confirm((0.0..=120.0).contains(&beta), "beta is out of range")?;
    confirm(0.0 < share && share < 1.0, "the share is not between 0 and 1")?;
    confirm(angles, "the angles are not in order between 0 and pi")?;
    confirm(
        order.is_multiple_of(2) && (2..=40).contains(&order),
        "the order is not even, from 2 to 40",
    )?;
    let ascending = cuts.windows(2).all(|c| c[0] < c[1]) && cuts.iter().all(|c| c.abs() < 1e4);
    confirm(!cuts.is_empty() && cuts.len() <= 1 << 20 && ascending, "the cuts do not ascend")?;
    confirm(time.len() == 2 && time[0] <= time[1], "a time has two bounds in order")?;
    let one = F::int(1.0);
    let masses = (weights == "sa").then(|| (F::int(share), one - F::int(share)));
    let integrand = Integrand { beta: F::int(beta), share: masses, order };
    let (low, high) = (place(to), place(from));
    let mut found = F::int(0.0);
    if from.to_bits() != to.to_bits() {
        let last = cuts[cuts.len() - 1];
        found = integrand.rest(low, cuts[0]) - integrand.rest(high, last);
        found = cuts.windows(2).fold(found, |s, c| s + integrand.integral(c[0], c[1]));
    }
    // H is positive, so the time is at least 0.
    let holds = time[0] <= found.0.max(0.0) && found.1 <= time[1];
    confirm(holds, &format!("the time lies between {} and {}", found.0, found.1))?;
    Ok(format!(
        "{weights}, beta = {beta}: two clusters of which one has the share {share} of the mass \
         need a time between {} and {} to come from the angle {from:?} to the angle {to:?}",
        time[0], time[1]
    ))
}
