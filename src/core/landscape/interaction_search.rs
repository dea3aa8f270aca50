//! Search for critical points of the energy of any interaction.

use super::interaction::InteractionCriticalPoint;
use super::starts::{Start, families, random_clusters};
use crate::attention::Dynamics;
use crate::attention::interaction::{InteractionAttention, InteractionEnergy, RowSum};
use crate::error::{Error, Result};
use crate::flow::{Options, clusters_within, solve};
use crate::num::{stream::Stream, threads::par_map};
use crate::sphere::{Tokens, law::Law};

/// Parameters of a search.
#[derive(Clone)]
pub struct InteractionSearch {
    /// The energy.
    pub energy: InteractionEnergy,
    /// Number of tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Number of random starts.
    pub starts: usize,
    /// Seed of the random streams.
    pub seed: u64,
}

/// The critical points that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InteractionSearchResult {
    /// The points, the highest energy first.
    pub points: Vec<InteractionCriticalPoint>,
    /// Random starts that reached each point.
    pub hits: Vec<usize>,
    /// Symmetric families that were tried.
    pub fixed_starts: usize,
    /// Random starts that did not converge.
    pub failed: usize,
}

impl InteractionCriticalPoint {
    /// True if both points agree up to rotation, reflection and permutation, judged by sizes,
    /// index, energy and angles.
    pub fn is_same(&self, other: &Self) -> bool {
        let sorted = |sizes: &[usize]| {
            let mut s = sizes.to_vec();
            s.sort_unstable();
            s
        };
        sorted(&self.sizes) == sorted(&other.sizes)
            && self.spectrum.unstable == other.spectrum.unstable
            && (self.energy - other.energy).abs() < 1e-7 * (1.0 + self.energy.abs())
            && self.angles.iter().zip(&other.angles).all(|(a, b)| (a - b).abs() < 1e-5)
    }
}

/// Time of a flow from random tokens, in units of the largest rate.
const FLOW_TIME: f64 = 1e4;

impl InteractionSearch {
    /// Runs the search: Newton's method from symmetric families and random clusters; every fourth
    /// start is the end of an ascent or of a descent from random tokens. The list may be
    /// incomplete.
    ///
    /// **Cost** `(starts + families) (n d)^3`.
    /// **Errors** `n < 2`, `d < 2` or `n (d-1) > 600`; a matrix D.
    ///
    /// ```
    /// use metastable::attention::interaction::{Interaction, InteractionEnergy};
    /// use metastable::landscape::interaction_search::InteractionSearch;
    /// let energy = InteractionEnergy::new(Interaction::parse("exp:beta=4", &[])?);
    /// // Four tokens on S^2: one cluster, 3+1, 2+2, 2+1+1, the square, the tetrahedron.
    /// let found = InteractionSearch { energy, n: 4, d: 3, starts: 60, seed: 1 }.run()?;
    /// assert_eq!(found.points.len(), 6);
    /// let maxima = found.points.iter().filter(|p| p.spectrum.unstable == 0);
    /// assert!(maxima.map(|p| p.clusters.n()).eq([1]));
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn run(&self) -> Result<InteractionSearchResult> {
        let (n, d) = (self.n, self.d);
        if n < 2 || d < 2 || n * (d - 1) > 600 {
            let expected = "n >= 2, d >= 2 and n (d-1) at most 600";
            return Err(Error::parameter("n, d", format!("{n}, {d}"), expected));
        }
        if self.energy.form().is_some() {
            return Err(Error::parameter("D", "a matrix", "the identity in a search"));
        }
        let fixed = families(n, d);
        let mut out = InteractionSearchResult {
            fixed_starts: fixed.len(),
            ..InteractionSearchResult::default()
        };
        let reached = par_map(&fixed, |_, (x, sizes)| {
            Ok::<_, Error>(InteractionCriticalPoint::near(&self.energy, x, sizes).ok())
        })?;
        for point in reached.into_iter().flatten() {
            out.add(point, 0);
        }
        let all: Vec<usize> = (0..self.starts).collect();
        for point in par_map(&all, |_, k| self.random_start(*k))? {
            match point {
                Some(point) => out.add(point, 1),
                None => out.failed += 1,
            }
        }
        let mut order: Vec<usize> = (0..out.points.len()).collect();
        order.sort_by(|a, b| out.points[*b].energy.total_cmp(&out.points[*a].energy));
        out.points = order.iter().map(|k| out.points[*k].clone()).collect();
        out.hits = order.iter().map(|k| out.hits[*k]).collect();
        Ok(out)
    }

    fn random_start(&self, k: usize) -> Result<Option<InteractionCriticalPoint>> {
        let mut stream = Stream::new(self.seed, &["interaction saddles", &k.to_string()]);
        let (x, sizes) = if k % 4 == 3 {
            self.end_of_flow(&mut stream, k % 8 == 3)?
        } else {
            random_clusters(self.n, self.d, &mut stream)
        };
        Ok(InteractionCriticalPoint::near(&self.energy, &x, &sizes).ok())
    }

    /// The clusters at the end of the gradient flow from random tokens.
    fn end_of_flow(&self, stream: &mut Stream, down: bool) -> Result<Start> {
        let x = Law::parse("uniform")?.sample(self.n, self.d, stream)?;
        let phi = self.energy.interaction();
        let rate = phi.sizes().0 + phi.sizes().1;
        let flow = InteractionAttention::new(phi.clone(), RowSum::Plain)?.repelling(down);
        let options = Options { rtol: 1e-6, ..Options::default() };
        let end =
            solve(&Dynamics::single(flow), &x, FLOW_TIME / rate.max(1e-300), &options, &mut [])?;
        let (clusters, labels) = clusters_within(&end.clusters, 1e-6);
        let mut sizes = vec![0; clusters.n()];
        for label in &end.labels {
            sizes[labels[*label]] += 1;
        }
        let masses: Vec<f64> = sizes.iter().map(|s| *s as f64 / self.n as f64).collect();
        let x = Tokens::from_parts(self.d, clusters.coordinates().to_vec(), masses);
        Ok((x, sizes))
    }
}

impl InteractionSearchResult {
    fn add(&mut self, point: InteractionCriticalPoint, hits: usize) {
        match self.points.iter().position(|p| p.is_same(&point)) {
            Some(k) => {
                self.hits[k] += hits;
                if point.residual < self.points[k].residual {
                    self.points[k] = point;
                }
            }
            None => {
                self.points.push(point);
                self.hits.push(hits);
            }
        }
    }
}
