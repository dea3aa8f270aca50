//! Search for critical points of the energy of the exponential or of any interaction: from
//! symmetric families, random clusters, descents and ascents of the energy, and flows.

use super::critical::CriticalPoint;
use super::descent::{follow_eigenvectors, minimise_squared_gradient};
use super::newton::merge_coincident;
use super::searched::{Exponential, FoundPoint, SearchedEnergy};
use super::slow_states::{SlowStates, cluster_sizes};
use super::starts::{Start, families, random_clusters};
use crate::error::{Error, Result};
use crate::flow::{Options, clusters_within, solve};
use crate::num::{stream::Stream, threads::par_map};
use crate::sphere::{Tokens, law::Law};

/// Parameters of a search for critical points.
#[derive(Clone, Debug, PartialEq)]
pub struct Search<E = Exponential> {
    /// The energy.
    pub energy: E,
    /// Number of tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Smallest number of random starts.
    pub starts: usize,
    /// Largest number of random starts. After `starts`, a point that is new at start k extends the
    /// search to 2 k starts: it ends when the second half of all starts found no new point.
    pub max_starts: usize,
    /// Whether to include the fixed starts: symmetric families ([`families`]), descents of the
    /// energy from random tokens, and an ascent.
    pub fixed: bool,
    /// Seed of the random streams.
    pub seed: u64,
}

/// Distinct critical points and statistics of the search. **Nothing proves that the list is
/// complete.**
#[derive(Clone, Debug)]
pub struct SearchResult<P = CriticalPoint> {
    /// By descending energy; points of [`SearchResult::append`] at the end.
    pub points: Vec<P>,
    /// For every point the number of random starts that found it; 0 for a point found only by a
    /// fixed start or a connection.
    pub hits: Vec<usize>,
    /// Number of random starts.
    pub starts: usize,
    /// Number of random starts from which the search did not end at a critical point. Their
    /// descents and ascents are not counted.
    pub failed: usize,
    /// Number of fixed starts: symmetric families, descents, an ascent, further starts.
    pub fixed_starts: usize,
    /// The last random start (counted from 1) that found a new point; 0 if none did.
    pub last_new: usize,
}

impl<P> Default for SearchResult<P> {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            hits: Vec::new(),
            starts: 0,
            failed: 0,
            fixed_starts: 0,
            last_new: 0,
        }
    }
}

impl<P: FoundPoint> SearchResult<P> {
    /// Inserts a critical point in the order of energies, unless it is known. Returns its index,
    /// and whether it is new.
    pub fn add(&mut self, point: P) -> (usize, bool) {
        if let Some(known) = self.position(&point) {
            return (known, false);
        }
        let before = |p: &P| {
            point.height().total_cmp(&p.height()).then(p.unstable().cmp(&point.unstable())).is_le()
        };
        let position = self.points.iter().take_while(|p| before(p)).count();
        self.points.insert(position, point);
        self.hits.insert(position, 0);
        (position, true)
    }

    /// Appends a critical point, so that no index changes, and returns its index.
    pub fn append(&mut self, point: P) -> usize {
        self.points.push(point);
        self.hits.push(0);
        self.points.len() - 1
    }

    /// The index of a critical point in the list.
    pub fn position(&self, point: &P) -> Option<usize> {
        self.points.iter().position(|p| p.is_same(point))
    }

    /// Adds the result of a random start; each point counts once per start.
    fn record_start(&mut self, result: StartResult<P>) {
        self.starts += 1;
        self.failed += usize::from(result.failed);
        let mut seen: Vec<P> = Vec::new();
        for point in result.points {
            if seen.iter().any(|p| p.is_same(&point)) {
                continue;
            }
            seen.push(point.clone());
            let (index, new) = self.add(point);
            self.hits[index] += 1;
            if new {
                self.last_new = self.starts;
            }
        }
    }
}

impl<P> SearchResult<P> {
    /// Estimate of the number of critical points that the random starts did not see, from the
    /// numbers f_1 and f_2 of points found by exactly one and exactly two of them:
    /// `f_1 (f_1 - 1) / (2 (f_2 + 1))` (Chao, Scand. J. Statist. 11 (1984) 265, bias-corrected). It
    /// is a lower estimate: points that no start can reach do not affect it. The points that only
    /// other starts found may be among these, or not: they are not subtracted.
    pub fn unseen(&self) -> f64 {
        let found_by = |k: usize| self.hits.iter().filter(|h| **h == k).count() as f64;
        let (once, twice) = (found_by(1), found_by(2));
        once * (once - 1.0f64).max(0.0) / (2.0 * (twice + 1.0))
    }

    /// The number of points that no random start found.
    pub fn found_otherwise(&self) -> usize {
        self.hits.iter().filter(|h| **h == 0).count()
    }

    /// A point that a random start reaches with a larger probability is among those found with a
    /// probability of 95 %: `1 - 0.05^(1/N)` for N starts.
    pub fn visible_probability(&self) -> f64 {
        -(0.05f64.ln() / self.starts as f64).exp_m1()
    }

    /// The number of points found by exactly one random start.
    pub fn found_once(&self) -> usize {
        self.hits.iter().filter(|h| **h == 1).count()
    }

    /// Estimate of the expected number of new points from one further random start:
    /// [`SearchResult::found_once`] over the number of starts (Good, Biometrika 40 (1953) 237).
    /// Infinite without random starts.
    pub fn new_per_start(&self) -> f64 {
        if self.starts == 0 { f64::INFINITY } else { self.found_once() as f64 / self.starts as f64 }
    }

    /// True if the second half of the random starts found no new point.
    pub fn is_settled(&self) -> bool {
        2 * self.last_new <= self.starts
    }
}

/// A critical point near given clusters: by Newton's method, or, if that fails, by minimising the
/// squared gradient first.
///
/// **Errors** as [`SearchedEnergy::near`].
pub fn critical_point_near<E: SearchedEnergy>(
    energy: &E,
    x: &Tokens,
    sizes: &[usize],
) -> Result<E::Point> {
    energy.near(x, sizes).or_else(|_| {
        let (end, sizes, merged) =
            merge_coincident(&minimise_squared_gradient(energy, x, &[]), sizes);
        Ok(energy.near(&end, &sizes)?.measured_from(x, &merged))
    })
}

/// Number of starts that run in parallel with the same list of known points.
const BATCH_SIZE: usize = 32;
/// Number of energy descents from random tokens among the fixed starts; one ascent follows.
const DESCENT_STARTS: usize = 4;
/// Largest number of coordinates for which the Hessian is diagonalised at every step.
const MAX_DENSE_COORDINATES: usize = 120;

/// Result of one start.
struct StartResult<P> {
    points: Vec<P>,
    failed: bool,
}

impl<E: SearchedEnergy> Search<E> {
    /// Searches from the fixed starts and from random clusters (random sizes and positions).
    /// Methods: minimisation of the squared gradient with and without deflation, or eigenvector
    /// following; from every start also a descent and an ascent of the energy; and slow states of
    /// flows.
    ///
    /// **Cost** a few milliseconds per start for ten clusters. Starts run in parallel; the result
    /// does not depend on the number of threads. **Errors** sizes or beta out of range; a matrix D.
    ///
    /// ```
    /// use metastable::attention::interaction::{Interaction, InteractionEnergy};
    /// use metastable::landscape::{Exponential, search::Search};
    /// // Four tokens on S^2: one cluster, 3+1, 2+2, 2+1+1, the square, the tetrahedron.
    /// let energy = Exponential { beta: 4.0 };
    /// let search = Search { energy, n: 4, d: 3, starts: 20, max_starts: 20, fixed: true, seed: 1 };
    /// assert_eq!(search.run()?.points.len(), 6);
    /// let energy = InteractionEnergy::new(Interaction::parse("exp:beta=4", &[])?);
    /// let search = Search { energy, n: 4, d: 3, starts: 20, max_starts: 20, fixed: true, seed: 1 };
    /// assert_eq!(search.run()?.points.len(), 6);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn run(&self) -> Result<SearchResult<E::Point>> {
        self.run_with_progress(&[], &mut |_, _| true)
    }

    /// [`Search::run`] with further fixed starts and a callback: `proceed` gets the index of the
    /// next start and the result so far, and returns false to end the search.
    pub fn run_with_progress(
        &self,
        further: &[Start],
        proceed: &mut dyn FnMut(usize, &SearchResult<E::Point>) -> bool,
    ) -> Result<SearchResult<E::Point>> {
        self.energy.check()?;
        if self.n < 2 || self.d < 2 || self.n * (self.d - 1) > 600 {
            return Err(Error::parameter(
                "n, d",
                format!("{}, {}", self.n, self.d),
                "n >= 2, d >= 2 and n (d-1) at most 600",
            ));
        }
        let mut found = SearchResult::default();
        let mut fixed = if self.fixed { families(self.n, self.d) } else { Vec::new() };
        for k in 0..if self.fixed { DESCENT_STARTS + 1 } else { 0 } {
            let mut stream = Stream::new(self.seed, &["saddles", "energy", &k.to_string()]);
            let x = Law::parse("uniform")?.sample(self.n, self.d, &mut stream)?;
            fixed.push(self.energy_descent(&x, &vec![1; self.n], k < DESCENT_STARTS)?);
        }
        fixed.extend_from_slice(further);
        for batch in fixed.chunks(BATCH_SIZE) {
            if !proceed(0, &found) {
                return Ok(found);
            }
            found.fixed_starts += batch.len();
            let result =
                par_map(batch, |_, start| Ok::<_, Error>(self.point_from_fixed_start(start)))?;
            for point in result.into_iter().flatten() {
                found.add(point);
            }
        }
        let mut k = 0;
        while k < self.starts || (k < self.max_starts && !found.is_settled()) {
            if !proceed(k, &found) {
                break;
            }
            let end = if k < self.starts { self.starts } else { self.max_starts };
            let batch: Vec<usize> = (k..end.min(k + BATCH_SIZE)).collect();
            for result in par_map(&batch, |_, k| self.random_start(*k, &found.points))? {
                found.record_start(result);
            }
            k += batch.len();
        }
        Ok(found)
    }

    /// One random start.
    fn random_start(&self, k: usize, known: &[E::Point]) -> Result<StartResult<E::Point>> {
        let mut stream = Stream::new(self.seed, &["saddles", &k.to_string()]);
        // One start in eight is a flow from random tokens, with its slow states.
        if k % 8 == 7 {
            return self.slow_states_of_flow(&mut stream);
        }
        let (x, sizes) = random_clusters(self.n, self.d, &mut stream);
        let method = stream.index(4);
        let searched = match method {
            0 => Some(minimise_squared_gradient(&self.energy, &x, &[])),
            1 => Some(minimise_squared_gradient(&self.energy, &x, known)),
            2 => {
                let unstable = 1 + stream.index(x.n().min(6));
                Some(follow_eigenvectors(&self.energy, &x, unstable))
            }
            // The descent is the search.
            _ => None,
        };
        let descent = self.point_from_descent(&x, &sizes, true)?;
        let ascent = self.point_from_descent(&x, &sizes, false)?;
        let (failed, searched) = match searched {
            Some(end) => {
                let (end, sizes, _) = merge_coincident(&end, &sizes);
                let point = self.energy.near(&end, &sizes).ok();
                (point.is_none(), point)
            }
            None => (descent.is_none(), None),
        };
        let points = searched.into_iter().chain(descent).chain(ascent).collect();
        Ok(StartResult { points, failed })
    }

    /// The critical point at the end of a descent or an ascent of the energy.
    fn point_from_descent(
        &self,
        x: &Tokens,
        sizes: &[usize],
        down: bool,
    ) -> Result<Option<E::Point>> {
        let (end, sizes) = self.energy_descent(x, sizes, down)?;
        Ok(self.energy.near(&end, &sizes).ok())
    }

    /// The critical point near a symmetric configuration. If clusters in a plane merge or fail, the
    /// energy is first minimised within the plane: forces between unequal clusters at large beta
    /// are too small for Newton's method alone.
    fn point_from_fixed_start(&self, (x, sizes): &Start) -> Option<E::Point> {
        let direct = critical_point_near(&self.energy, x, sizes);
        let planar = x.n() > 2 && x.rows().all(|r| r[2..].iter().all(|c| *c == 0.0));
        match direct {
            Ok(p) if !planar || p.clusters().n() == x.n() => Some(p),
            other if planar && self.energy.is_steep() => {
                let flat = x.rows().flat_map(|r| [r[0], r[1]]).collect();
                let flat = follow_eigenvectors(
                    &self.energy,
                    &Tokens::from_parts(2, flat, x.masses().to_vec()),
                    x.n(),
                );
                let mut back = vec![0.0; x.coordinates().len()];
                back.chunks_exact_mut(self.d)
                    .zip(flat.rows())
                    .for_each(|(r, f)| r[..2].copy_from_slice(f));
                let back = Tokens::from_parts(self.d, back, x.masses().to_vec());
                critical_point_near(&self.energy, &back, sizes).or(other).ok()
            }
            other => other.ok(),
        }
    }

    /// The end of a descent (or an ascent) of the energy from clusters of `sizes` tokens, by
    /// eigenvector following, or by the flow if the Hessian is too large to diagonalise at every
    /// step.
    fn energy_descent(&self, x: &Tokens, sizes: &[usize], down: bool) -> Result<Start> {
        let all = x.n() * (x.d() - 1);
        if all <= MAX_DENSE_COORDINATES {
            let end = follow_eigenvectors(&self.energy, x, if down { all } else { 0 });
            let (end, sizes, _) = merge_coincident(&end, sizes);
            return Ok((end, sizes));
        }
        let (flow, t_end) = self.energy.flow(self.n, down)?;
        let options = Options {
            rtol: 1e-6,
            max_steps: 5000,
            stop_at_one_cluster: true,
            ..Options::default()
        };
        let end = solve(&flow, x, t_end, &options, &mut [])?;
        let (clusters, labels) = clusters_within(&end.clusters, 1e-6);
        let mut tokens = vec![0; clusters.n()];
        end.labels.iter().zip(sizes).for_each(|(l, s)| tokens[labels[*l]] += s);
        let masses: Vec<f64> = tokens.iter().map(|s| *s as f64 / self.n as f64).collect();
        Ok((Tokens::from_parts(x.d(), clusters.coordinates().to_vec(), masses), tokens))
    }

    /// The critical points near the slow states of the ascending flow from uniform tokens.
    fn slow_states_of_flow(&self, stream: &mut Stream) -> Result<StartResult<E::Point>> {
        let x = Law::parse("uniform")?.sample(self.n, self.d, stream)?;
        let (flow, t_end) = self.energy.flow(self.n, false)?;
        let options = Options {
            merge_radius: 1e-3,
            rtol: 1e-6,
            max_steps: 5000,
            stop_at_one_cluster: true,
            ..Options::default()
        };
        let mut slow = SlowStates::new(|x: &Tokens| self.energy.relative_gradient_norm(x));
        let end = solve(&flow, &x, t_end, &options, &mut [&mut slow])?;
        let last = (end.clusters.clone(), cluster_sizes(&end.labels, end.clusters.n()));
        let states = slow.states.into_iter().chain([last]);
        let points = states.filter_map(|(tokens, sizes)| self.energy.near(&tokens, &sizes).ok());
        Ok(StartResult { points: points.collect(), failed: false })
    }
}
