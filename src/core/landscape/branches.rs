//! Branches: critical points followed over several values of a parameter of the energy.

use super::search::{SearchResult, critical_point_near};
use super::searched::{FoundPoint, SearchedEnergy};
use crate::error::{Error, Result};
use crate::num::threads::par_map;

/// An energy for every value of a parameter, and the values at which its critical points are known.
pub struct Family<'a, E> {
    /// The values, in any order.
    pub values: &'a [f64],
    /// The energy at a value.
    pub energy: &'a (dyn Fn(f64) -> Result<E> + Sync),
}

/// A critical point at consecutive values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The index of the first value at which it exists.
    pub first: usize,
    /// Its index in the list of each value, from the first one on.
    pub points: Vec<usize>,
}

/// Largest ratio of consecutive values of the parameter in a continuation.
const STEP_RATIO: f64 = 1.1;
/// Largest number of steps between two values.
const MAX_STEPS: usize = 40;

impl<E: SearchedEnergy> Family<'_, E> {
    /// The energies on the way from one value to another, without the first: in geometric
    /// progression if both have the same sign.
    ///
    /// **Errors** as the energy.
    fn between(&self, from: f64, to: f64) -> Result<Vec<E>> {
        let ratio = to / from;
        let geometric = ratio > 0.0 && ratio.is_finite();
        let steps =
            if geometric { (ratio.ln().abs() / STEP_RATIO.ln()).ceil() } else { MAX_STEPS as f64 };
        let steps = (steps as usize).clamp(1, MAX_STEPS);
        let at = |k: usize| {
            let share = k as f64 / steps as f64;
            if geometric { from * ratio.powf(share) } else { from + share * (to - from) }
        };
        (1..steps).map(at).chain([to]).map(self.energy).collect()
    }

    /// Continues points from one value to another, by Newton's method in steps of the parameter.
    /// `None` for a point that is lost.
    ///
    /// **Cost** one critical point per step and point. **Errors** as the energy.
    pub fn continued(
        &self,
        (from, to): (f64, f64),
        points: &[E::Point],
    ) -> Result<Vec<Option<E::Point>>> {
        let way = self.between(from, to)?;
        let follow = |point: &E::Point| {
            way.iter().try_fold(point.clone(), |p, energy| {
                critical_point_near(energy, p.clusters(), p.sizes()).ok()
            })
        };
        par_map(points, |_, point| Ok::<_, Error>(follow(point)))
    }

    /// Continues every point to the neighbouring values, up and then down, and adds what is new
    /// there. `proceed` returns false to end it.
    ///
    /// **Errors** as the energy.
    pub fn extend(
        &self,
        results: &mut [SearchResult<E::Point>],
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let last = results.len().min(self.values.len()).saturating_sub(1);
        for (from, to) in (0..last).map(|b| (b, b + 1)).chain((0..last).rev().map(|b| (b + 1, b))) {
            if !proceed() {
                break;
            }
            let ends = (self.values[from], self.values[to]);
            for point in self.continued(ends, &results[from].points)?.into_iter().flatten() {
                results[to].add(point);
            }
        }
        Ok(())
    }

    /// The branches. A point continues a point of the value before it if continuation leads from
    /// each to the other. So a branch ends where a point merges with another, or splits.
    ///
    /// **Errors** as the energy.
    ///
    /// ```
    /// use metastable::landscape::{Exponential, branches::Family, search::Search};
    /// let energy = |beta: f64| Ok(Exponential { beta });
    /// let values = [2.0, 4.0];
    /// let search = |beta| {
    ///     Search { energy: Exponential { beta }, n: 4, d: 2, starts: 8, max_starts: 8, fixed: true, seed: 1 }
    /// };
    /// let results = values.map(|beta| search(beta).run().unwrap());
    /// // One cluster, 3+1, 2+2, 2+1+1 and the square, at both values.
    /// let branches = Family { values: &values, energy: &energy }.branches(&results).unwrap();
    /// assert_eq!(branches.len(), 5);
    /// assert!(branches.iter().all(|b| b.first == 0 && b.points.len() == 2));
    /// ```
    pub fn branches(&self, results: &[SearchResult<E::Point>]) -> Result<Vec<Branch>> {
        let mut out: Vec<Branch> = Vec::new();
        let mut previous: Vec<usize> = Vec::new();
        for (b, result) in results.iter().enumerate().take(self.values.len()) {
            let links = match b.checked_sub(1) {
                Some(a) => self.links(a, b, results)?,
                None => vec![None; result.points.len()],
            };
            let mut current = Vec::with_capacity(links.len());
            for (point, link) in links.iter().enumerate() {
                match link {
                    Some(before) => {
                        let branch = previous[*before];
                        out[branch].points.push(point);
                        current.push(branch);
                    }
                    None => {
                        current.push(out.len());
                        out.push(Branch { first: b, points: vec![point] });
                    }
                }
            }
            previous = current;
        }
        Ok(out)
    }

    /// For every point at value b the point at value a that it continues.
    fn links(
        &self,
        a: usize,
        b: usize,
        results: &[SearchResult<E::Point>],
    ) -> Result<Vec<Option<usize>>> {
        let (before, after) = (&results[a], &results[b]);
        let ends = |from: usize, to: usize| (self.values[from], self.values[to]);
        let up = self.continued(ends(a, b), &before.points)?;
        let down = self.continued(ends(b, a), &after.points)?;
        let to = |p: &Option<E::Point>, list: &SearchResult<E::Point>| {
            p.as_ref().and_then(|p| list.position(p))
        };
        let up: Vec<Option<usize>> = up.iter().map(|p| to(p, after)).collect();
        let link = |(point, p): (usize, &Option<E::Point>)| {
            to(p, before).filter(|k| up[*k] == Some(point))
        };
        Ok(down.iter().enumerate().map(link).collect())
    }
}
