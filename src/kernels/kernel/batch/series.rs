//! Weights given by a series, one system per lane: every pair once, by its chord.

use super::plain::MAX_D;
use crate::kernel::pair_series::PairSeries;
use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdOps};

/// The field of one identity head with any weights, evaluated with one system per lane.
pub struct SeriesField {
    /// The weights, in units of `factor`.
    series: PairSeries,
    /// The weight of a token for itself.
    own: f64,
    /// Factor of USA weights; `None`: divide by the mass (SA).
    pub scale: Option<f64>,
    pub sign: f64,
}

impl SeriesField {
    /// For systems with n initial tokens.
    pub(super) fn new(series: &PairSeries, normalised: bool, sign: f64, n: usize) -> Self {
        let unit = PairSeries { factor: 1.0, ..series.clone() };
        let scale = (!normalised).then(|| series.factor / n as f64);
        Self { own: unit.value(0.0), series: unit, scale, sign }
    }

    /// Writes drifts `sum_j w_ij (x_i - x_j)` and masses. Empty `sizes`: all tokens have size 1.
    #[inline(always)]
    pub(super) fn sums<L: SimdOps<F = f64>>(
        &self,
        l: L,
        (isa, d): (Isa, usize),
        (x, sizes): (&[L::V], &[L::V]),
        drift: &mut [L::V],
        mass: &mut [L::V],
    ) {
        mass.fill(l.constant(self.own));
        for (mass, size) in mass.iter_mut().zip(sizes) {
            *mass = l.mul(*mass, *size);
        }
        drift.fill(l.zero());
        match d {
            2 => self.rows::<L, 2>(l, isa, (x, sizes), drift, mass),
            3 => self.rows::<L, 3>(l, isa, (x, sizes), drift, mass),
            4 => self.rows::<L, 4>(l, isa, (x, sizes), drift, mass),
            5 => self.rows::<L, 5>(l, isa, (x, sizes), drift, mass),
            6 => self.rows::<L, 6>(l, isa, (x, sizes), drift, mass),
            7 => self.rows::<L, 7>(l, isa, (x, sizes), drift, mass),
            _ => self.rows::<L, MAX_D>(l, isa, (x, sizes), drift, mass),
        }
    }

    #[inline(always)]
    fn rows<L: SimdOps<F = f64>, const D: usize>(
        &self,
        l: L,
        isa: Isa,
        (x, sizes): (&[L::V], &[L::V]),
        drift: &mut [L::V],
        mass: &mut [L::V],
    ) {
        let (x, drift) = (x.as_chunks::<D>().0, drift.as_chunks_mut::<D>().0);
        // The weights of one row: the series is evaluated for all of them together.
        let mut row = AlignedVec::default();
        row.reset((mass.len() + 1) * L::WIDTH);
        for i in 1..mass.len() {
            let (own, half) = (x[i], l.constant(0.5));
            for (z, xj) in L::view_mut(&mut row).iter_mut().zip(&x[..i]) {
                let mut chord = l.zero();
                for k in 0..D {
                    let y = l.sub(xj[k], own[k]);
                    chord = l.fma(y, y, chord);
                }
                *z = l.mul(half, chord);
            }
            self.series.replace(isa, &mut row[..i.next_multiple_of(2) * L::WIDTH]);
            let (earlier, later) = drift.split_at_mut(i);
            let (masses, own_mass) = mass.split_at_mut(i);
            let (mut own_drift, mut total) = (later[0], own_mass[0]);
            let others = x[..i].iter().zip(earlier).zip(masses);
            for (j, ((xj, drift), mass)) in others.enumerate() {
                let w = L::view(&row)[j];
                let (to_own, to_other) = match (sizes.get(j), sizes.get(i)) {
                    (Some(other), Some(own)) => (l.mul(w, *other), l.mul(w, *own)),
                    _ => (w, w),
                };
                for k in 0..D {
                    own_drift[k] = l.fma(to_own, l.sub(own[k], xj[k]), own_drift[k]);
                    drift[k] = l.fma(to_other, l.sub(xj[k], own[k]), drift[k]);
                }
                total = l.add(total, to_own);
                *mass = l.add(*mass, to_other);
            }
            (later[0], own_mass[0]) = (own_drift, total);
        }
    }
}
