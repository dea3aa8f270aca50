//! Whole landscapes on the circle: all critical points of the energy of n tokens, with the proof
//! that there are no others; and benign landscapes, where every critical point except one cluster
//! has a direction of strict increase.
//!
//! The energy is `E = (1 / 2 beta) sum_ij m_i m_j e^{beta cos(theta_i - theta_j)}`. Its critical
//! points are the equilibria of SA and USA, because the weights of the rows are positive. With
//! `u(d) = e^{beta (cos d - 1)} sin d` and `w = u'`, equilibrium means
//! `f_i = sum_j m_j u(theta_j - theta_i) = 0`, and the Hessian is minus the Laplacian of the graph
//! with weights `m_i m_j w_ij`: along v the energy increases at second order if
//! `sum_{i<j} m_i m_j w_ij (v_i - v_j)^2 < 0`.
//!
//! **Coordinates** The gaps `g_1, ..., g_k` between k clusters in cyclic order, in turns; their sum
//! is 1. Bounds of boxes are multiples of `2^-48`, so sums are exact. Tokens can coincide in
//! several ways, the strata; each is searched by itself. Masses are whole numbers.
//!
//! **Other interactions** With a function phi in the place of `e^{beta (c - 1)}`, the energy is
//! `E = (1/2) sum_ij m_i m_j W(cos(theta_i - theta_j))`, `W' = phi`, `u(d) = phi(cos d) sin d` and
//! `w = u'`. Critical points are the equilibria of USA-like flows, and of SA-like flows if phi is
//! positive. Lemmas 2 and 4 and the tests hold for every phi with two derivatives. Lemma 3 has
//! `M phi(1)` for M. Lemma 1 needs that phi is positive; else let phi be positive up to the
//! distance a. Then a critical point with several clusters has no gap above `1 - a`, by the same
//! proof, so boxes start at `[0, 1 - a]^k`, and two clusters are searched, too. `profile.rs` has
//! the bounds.
//!
//! **Small beta** `balance.rs` has a test that combines forces so that the order parameter cancels.
//!
//! **Masses in intervals** The tests of benign landscapes hold for all masses in intervals. Tokens
//! with the same interval may be exchanged: this maps masses in the intervals to others.
//!
//! **Lemma 1 (half circle)** If a gap exceeds 1/2, all tokens lie in an open half circle. The pulls
//! on the first token are then at least 0, and one of them is positive unless all tokens coincide.
//! If a gap equals 1/2 and k > 2, the same holds. So boxes start at `[0, 1/2]^k` for k > 2, the
//! only critical point with k = 2 has the gaps 1/2, and k = 1 is consensus. This uses only that the
//! kernel is positive, so it holds for negative beta.
//!
//! **Lemma 2 (coincidence)** For neighbours i and j at distance g > 0 in radians,
//! `(f_i - f_j) / g = (m_i + m_j) u(g) / g + sum_t m_t w(xi_t)` with `xi_t` between the distances
//! of t from both: `f_i = m_j u(g) + sum_t m_t u(d_t)` and
//! `f_j = -m_i u(g) + sum_t m_t u(d_t - g)`. If an enclosure of the right side excludes 0, there is
//! no critical point with g > 0 in the box. The stratum in which i and j coincide is searched by
//! itself.
//!
//! **Lemma 3 (index)** At a critical point, moving whole clusters has the Hessian -A of
//! `newton.rs`. Splitting a cluster of s tokens, mass M, has s - 1 directions, and their sign is
//! that of `-(M + sum_c M_c w_c)` over the other clusters.
//!
//! **Lemma 4 (symmetry)** A symmetry permutes the gaps. Every orbit has a lexicographically largest
//! point. So a box may be left out if a symmetry maps all its points to larger ones.
//!
//! **Lemma 5 (regularity)** Let every box of a tree over an interval of beta have a reason: a force
//! that is not 0, Lemma 2, or a regular derivative. Then the zeros with positive gaps are graphs
//! over beta that stay away from coincidence, their number and their indices are constant, and the
//! landscape at one beta describes all.
//!
//! **Consequence** The flow of SA or USA increases E along its gradient in some metric, and E is
//! analytic, so every trajectory converges (Lojasiewicz). If the landscape is benign, the other
//! critical points attract only a set of measure 0 (stable manifolds): almost every start converges
//! to one cluster.
//!
//! **Proofs** All bounds are those of `num::interval` or are proved in `kernel.rs`. Searches in
//! floating point only propose points and matrices, which tests then accept. The Morse inequalities
//! are an independent test of the counts.

mod balance;
pub mod branches;
mod cell;
mod certificate;
mod family;
mod kernel;
mod maxima;
mod newton;
mod node;
mod orbits;
mod partial;
mod profile;
mod search;
mod strata;
mod tokens;

pub use cell::MAX_TOKENS;
pub use node::KIND;
pub(crate) use orbits::is_fine;
pub use orbits::{Orbit, morse_inequalities_hold};
pub use partial::Partial;
pub use strata::{VARYING, text_of_clusters};
pub use tokens::{BETA_RANGE, Parameter, Tokens};

pub(crate) use profile::refuse_kinks;

use crate::attention::interaction::Interaction;
use crate::error::{Error, Result};
use crate::num::interval::check_fp_environment;
use crate::num::vector;
use cell::{Arrangement, Cell};
use kernel::Law;
use search::{Goal, Monitor, Search, Tree};
use strata::{Members, arrange, strata};

/// Called now and then with the decided share of the work in [0, 1] and the number of boxes; the
/// proof ends with what is decided if it returns false.
pub type Report<'a> = &'a (dyn Fn(f64, u64) -> bool + Sync);

/// Seconds above which a proof is refused before it starts.
const LONGEST: f64 = 86_400.0;

/// Number of undecided boxes that a result lists.
const LISTED: usize = 20;

/// An undecided box: the clusters, the bounds of the gaps in turns, and of beta.
#[derive(Clone, Debug, PartialEq)]
pub struct UndecidedBox {
    /// Masses of the tokens of every cluster.
    pub clusters: Vec<Vec<u32>>,
    /// Bounds of the gaps in turns.
    pub gaps: Vec<(f64, f64)>,
    /// Bounds of beta.
    pub beta: (f64, f64),
}

/// A region of undecided boxes that touch one another. Degenerate points and continua of critical
/// points lie in such regions, and nearly degenerate points may.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Masses of the tokens of every cluster.
    pub clusters: Vec<Vec<u32>>,
    /// Bounds of the gaps in turns.
    pub gaps: Vec<(f64, f64)>,
    /// Bounds of beta.
    pub beta: (f64, f64),
    /// Number of undecided boxes.
    pub boxes: u64,
    /// Whether it certainly has a critical point: two clusters whose force changes its sign.
    pub has_point: bool,
}

/// All critical points.
#[derive(Clone, Debug, PartialEq)]
pub struct Landscape {
    /// Whether the list is proved to be complete, with all indices. For an interval of beta: also
    /// that the number of critical points and their indices are the same for all beta in it.
    pub complete: bool,
    /// The beta of the listed points: the middle of the interval.
    pub at: f64,
    /// The critical points up to symmetry, by number of clusters.
    pub orbits: Vec<Orbit>,
    /// Number of labelled critical points modulo rotations by directions of ascent, if known.
    pub labelled: Option<Vec<u64>>,
    /// Whether these numbers satisfy the Morse inequalities and have Euler characteristic 0. `None`
    /// if something is undecided: then points may be missing.
    pub morse: Option<bool>,
    /// Number of boxes of all trees.
    pub boxes: u64,
    /// Number of undecided boxes.
    pub undecided: u64,
    /// The first undecided boxes.
    pub undecided_boxes: Vec<UndecidedBox>,
    /// Regions that contain all undecided boxes.
    pub regions: Vec<Region>,
    /// Whether the search was stopped.
    pub interrupted: bool,
    /// The certificate, if it was wanted and the proof is complete.
    pub certificate: Option<String>,
    /// What was decided, if the proof was interrupted or is a share, and the trees were kept.
    pub partial: Option<String>,
}

/// Whether a landscape is benign.
#[derive(Clone, Debug, PartialEq)]
pub struct Benign {
    /// Whether it is proved, for all beta in the interval.
    pub proved: bool,
    /// A proved local maximum other than one cluster, with its beta.
    pub counterexample: Option<(f64, Orbit)>,
    /// Number of boxes of the tree.
    pub boxes: u64,
    /// Number of undecided boxes.
    pub undecided: u64,
    /// The first undecided boxes.
    pub undecided_boxes: Vec<UndecidedBox>,
    /// Whether the search was stopped.
    pub interrupted: bool,
    /// The certificate, if it was wanted and there is a proof.
    pub certificate: Option<String>,
    /// What was decided, if the proof was interrupted or is a share, and the trees were kept.
    pub partial: Option<String>,
}

/// What is kept, taken over and left to others.
#[derive(Clone, Debug)]
pub struct Work {
    /// Whether the trees are kept, for a certificate.
    pub keep: bool,
    /// What earlier runs or other machines decided. It is taken over without another proof, so the
    /// verifier must confirm the certificate.
    pub earlier: Partial,
    /// `(k, K)`: only the k-th of K shares of the boxes is searched, k from 0.
    pub shard: (u32, u32),
}

impl Default for Work {
    fn default() -> Self {
        Self { keep: false, earlier: Partial::default(), shard: (0, 1) }
    }
}

impl Work {
    /// Whether something is taken over.
    pub fn is_continued(&self) -> bool {
        self.earlier != Partial::default()
    }

    /// The tree of a stratum: that of an earlier run, continued, or a new one.
    fn tree(
        &self,
        goal: &str,
        clusters: &[Members],
        search: &Search,
        beta: (f64, f64),
        share: f64,
    ) -> Tree {
        match self.earlier.tree(goal, &certificate::cluster_words(clusters)) {
            Some(earlier) => search.resume(earlier, beta, share),
            None => search.run(beta, share),
        }
    }
}

/// What the trees of several strata have in common.
#[derive(Default)]
struct Total {
    boxes: u64,
    undecided: u64,
    listed: Vec<UndecidedBox>,
    regions: Vec<Region>,
}

impl Total {
    fn add(&mut self, clusters: &[Members], arrangement: &Arrangement, tree: &Tree) {
        let region = |r: &search::Region| Region {
            clusters: clusters.to_vec(),
            gaps: r.hull.gaps[..clusters.len()].to_vec(),
            beta: r.hull.beta,
            boxes: r.boxes,
            has_point: clusters.len() == 2 && arrangement.changes_sign(&r.hull),
        };
        self.regions.extend(tree.regions.iter().map(region));
        self.boxes += tree.boxes;
        self.undecided += tree.undecided_count;
        let free = LISTED.saturating_sub(self.listed.len());
        let listed = |c: &Cell| UndecidedBox {
            clusters: clusters.to_vec(),
            gaps: c.gaps[..clusters.len()].to_vec(),
            beta: c.beta,
        };
        self.listed.extend(tree.undecided.iter().take(free).map(listed));
    }
}

/// The share of the work of every stratum: the number of boxes grows about sevenfold per cluster.
fn shares(strata: &[Vec<Members>], fewest: usize) -> Vec<f64> {
    let weight = |c: &Vec<Members>| if c.len() >= fewest { 7f64.powi(c.len() as i32) } else { 0.0 };
    let weights: Vec<f64> = strata.iter().map(weight).collect();
    let sum = weights.iter().sum::<f64>().max(1.0);
    weights.into_iter().map(|w| w / sum).collect()
}

/// Finds all critical points and proves that there are no others.
///
/// **Cost** measured with two threads: see the guide, `landscapes`.
/// **Errors** beta = 0 in the interval, and interactions with few waves of the angle (continua of
/// critical points); masses in intervals; a proof that would take longer than a day, with the
/// estimate; arithmetic that is not IEEE.
///
/// ```
/// use metastable::proofs::landscape::{Tokens, complete};
/// let tokens = Tokens::new(&[1.0; 4], (2.0, 2.0)).unwrap();
/// let found = complete(&tokens, false, &|_, _| true).unwrap();
/// assert!(found.complete);
/// assert_eq!(found.orbits.len(), 5);
/// assert_eq!(found.labelled, Some(vec![1, 7, 12, 6]));
/// ```
pub fn complete(tokens: &Tokens, keep: bool, report: Report) -> Result<Landscape> {
    complete_with(tokens, &Work { keep, ..Work::default() }, report)
}

/// **Errors** equal masses under an interaction with few waves. The energy is
/// `sum_k a_k |sum_j m_j e^{ik theta_j}|^2`, so configurations in which the sums of all m waves
/// vanish are critical. They obey 2 m equations, and n tokens have n - 1 gaps, of which a rotation
/// takes none: from n = 2 m + 2 on they form continua.
fn refuse_continua(phi: &Interaction, tokens: &Tokens) -> Result<()> {
    // The energy of a pair at the angle d is W(cos d) = sum_k c_k cos(k d).
    let [series] = phi.series() else { return Ok(()) };
    let coefficients = series.integral().coefficients();
    let size = vector::max_abs(&coefficients);
    let waves = coefficients.iter().skip(1).filter(|c| c.abs() > 1e-15 * size).count();
    let equal = tokens.masses.windows(2).all(|w| w[0] == w[1]);
    if !equal || tokens.masses.len() < 2 * waves + 2 {
        return Ok(());
    }
    let (n, text) = (tokens.masses.len(), phi.name());
    let of = if waves == 1 { "wave" } else { "waves" };
    let found = format!("`{text}` with {n} tokens, whose energy has {waves} {of} of the angle");
    let expected = format!(
        "at most {} tokens: the points at which the sums of these waves vanish are critical and form \
         continua",
        2 * waves + 1
    );
    Err(Error::parameter("interaction", found, expected))
}

/// As [`complete`], continued from earlier work, or as a share.
///
/// **Errors** as [`complete`]; earlier work about another landscape.
pub fn complete_with(tokens: &Tokens, work: &Work, report: Report) -> Result<Landscape> {
    check_fp_environment()?;
    tokens.refuse_parameters()?;
    let keep = work.keep;
    let (low, high) = tokens.beta;
    if tokens.law.profile().is_none() && low <= 0.0 && high >= 0.0 {
        let found = if low < high { format!("{low}..{high}") } else { low.to_string() };
        let expected = "no 0: at beta = 0 the points with mean 0 are critical and form continua";
        return Err(Error::parameter("beta", found, expected));
    }
    if let Some(phi) = tokens.law.profile() {
        refuse_continua(phi.interaction(), tokens)?;
    }
    if tokens.masses != tokens.upper {
        let expected = "masses without intervals: those belong to benign landscapes";
        return Err(Error::parameter("masses", "intervals", expected));
    }
    refuse_long(tokens, seconds_complete(tokens))?;
    let at = if tokens.is_point() { low } else { 0.5 * (low + high) };
    let monitor = Monitor::new(report);
    let all = strata(tokens.masses());
    let mut total = Total::default();
    let (mut orbits, mut clear) = (Vec::new(), true);
    let mut text = tokens.header("complete");
    work.earlier.check(&text)?;
    let halves = if tokens.is_point() { 1.0 } else { 0.5 };
    for (clusters, share) in all.iter().zip(shares(&all, tokens.fewest())) {
        let arrangement = tokens.arrange(clusters);
        if clusters.len() < tokens.fewest() {
            orbits.push(orbits::simple(clusters, &arrangement, at));
            continue;
        }
        let search = |goal, tolerance| Search {
            arrangement: &arrangement,
            goal,
            tolerance,
            keep,
            monitor: &monitor,
            shard: work.shard,
        };
        let zeros = search(Goal::Zeros, 1e-6);
        let tree = work.tree("zeros", clusters, &zeros, (at, at), halves * share);
        total.add(clusters, &arrangement, &tree);
        let (found, apart) = orbits::orbits(clusters, &arrangement, &tree.zeros, at);
        clear &= apart;
        orbits.extend(found.into_iter().map(|(orbit, _)| orbit));
        if keep {
            certificate::tree(&mut text, "zeros", clusters, &tree);
        }
        if !tokens.is_point() {
            let regular = search(Goal::Regular, 1e-5);
            let tree = work.tree("regular", clusters, &regular, tokens.beta, 0.5 * share);
            total.add(clusters, &arrangement, &tree);
            if keep {
                certificate::tree(&mut text, "regular", clusters, &tree);
            }
        }
    }
    if !tokens.is_point() {
        clear &= all.iter().filter(|c| c.len() == 2).all(|c| opposite_is_regular(c, tokens.beta));
    }
    let labelled = orbits::labelled(&orbits, tokens.n());
    let interrupted = monitor.is_stopped();
    let decided = total.undecided == 0 && clear && !interrupted;
    let counts = labelled.as_ref().filter(|_| decided);
    let morse = counts.map(|c| morse_inequalities_hold(c));
    let complete = morse == Some(true);
    let partial = (keep && (interrupted || work.shard.1 > 1)).then(|| text.clone());
    if let Some(counts) = labelled.as_ref().filter(|_| keep && complete) {
        let words: Vec<String> = counts.iter().map(u64::to_string).collect();
        text.push_str(&format!("counts {} {}\nend\n", orbits.len(), words.join(" ")));
    }
    Ok(Landscape {
        complete,
        at,
        orbits,
        labelled,
        morse,
        boxes: total.boxes,
        undecided: total.undecided,
        undecided_boxes: total.listed,
        regions: total.regions,
        interrupted,
        certificate: (keep && complete).then_some(text),
        partial,
    })
}

/// Whether the index of two opposite clusters is the same for all beta in an interval.
fn opposite_is_regular(clusters: &[Members], beta: (f64, f64)) -> bool {
    let arrangement = arrange(clusters);
    let mut gaps = [(0.0, 0.0); MAX_TOKENS];
    gaps[..2].fill((0.5, 0.5));
    // The sign is that of M - M' e^{-2 beta}, which is monotone in beta.
    let at =
        |b: f64| arrangement.ascents(&Cell { gaps, beta: (b, b) }, &kernel::Kernel::new((b, b)));
    at(beta.0).is_some() && at(beta.0) == at(beta.1)
}

/// Proves that every critical point except one cluster has a direction in which the energy
/// increases at second order, for all beta in the interval; or finds a proved local maximum with
/// several clusters at one beta of it.
///
/// **Cost** measured with two threads: see the guide, `landscapes`.
/// **Errors** an interaction with `phi(1) <= 0`; a proof that would take longer than a day, with
/// the estimate; arithmetic that is not IEEE.
///
/// ```
/// use metastable::proofs::landscape::{Tokens, benign};
/// let tokens = Tokens::new(&[1.0; 3], (-0.6, 2.0)).unwrap();
/// assert!(benign(&tokens, false, &|_, _| true).unwrap().proved);
/// let tokens = Tokens::new(&[1.0; 3], (-0.7, -0.7)).unwrap();
/// assert!(benign(&tokens, false, &|_, _| true).unwrap().counterexample.is_some());
/// ```
pub fn benign(tokens: &Tokens, keep: bool, report: Report) -> Result<Benign> {
    benign_with(tokens, &Work { keep, ..Work::default() }, report)
}

/// As [`benign`], continued from earlier work, or as a share.
///
/// **Errors** as [`benign`]; earlier work about another landscape.
pub fn benign_with(tokens: &Tokens, work: &Work, report: Report) -> Result<Benign> {
    check_fp_environment()?;
    tokens.refuse_parameters()?;
    let keep = work.keep;
    refuse_long(tokens, seconds_benign(tokens))?;
    refuse_repulsive(&tokens.law)?;
    let all = strata(tokens.masses());
    let (low, high) = tokens.beta;
    for beta in if tokens.is_point() { vec![low] } else { vec![low, high] } {
        if let Some(found) = maxima::spurious_maximum(&all, beta, &tokens.law) {
            return Ok(counterexample(tokens, beta, found, keep));
        }
    }
    if let Some(phi) = tokens.law.profile() {
        refuse_continua(phi.interaction(), tokens)?;
    }
    let monitor = Monitor::new(report);
    let is_top = |c: &&Vec<Members>| c.len() == tokens.n() && c.len() >= tokens.fewest();
    let top: Vec<&Vec<Members>> = all.iter().filter(is_top).collect();
    let mut total = Total::default();
    let mut text = tokens.header("benign");
    work.earlier.check(&text)?;
    for clusters in &top {
        let arrangement = tokens.arrange(clusters);
        let search = Search {
            arrangement: &arrangement,
            goal: Goal::Ascent,
            tolerance: if tokens.is_point() { 1e-6 } else { 1e-5 },
            keep,
            monitor: &monitor,
            shard: work.shard,
        };
        let tree = work.tree("ascent", clusters, &search, tokens.beta, 1.0 / top.len() as f64);
        total.add(clusters, &arrangement, &tree);
        if keep {
            certificate::tree(&mut text, "ascent", clusters, &tree);
        }
    }
    let interrupted = monitor.is_stopped();
    let proved = total.undecided == 0 && !interrupted;
    if !proved && !interrupted && work.shard.1 == 1 {
        for open in &total.listed {
            let beta = 0.5 * (open.beta.0 + open.beta.1);
            if let Some(found) = maxima::maximum_near(&open.clusters, &open.gaps, beta, &tokens.law)
            {
                let found = counterexample(tokens, beta, found, keep);
                return Ok(Benign { boxes: total.boxes, ..found });
            }
        }
    }
    let partial = (keep && (interrupted || work.shard.1 > 1)).then(|| text.clone());
    text.push_str("end\n");
    Ok(Benign {
        proved,
        counterexample: None,
        boxes: total.boxes,
        undecided: total.undecided,
        undecided_boxes: total.listed,
        interrupted,
        certificate: (keep && proved).then_some(text),
        partial,
    })
}

/// A result with a proved local maximum at one beta.
fn counterexample(
    tokens: &Tokens,
    beta: f64,
    (orbit, zero, arrangement): (Orbit, newton::Zero, Arrangement),
    keep: bool,
) -> Benign {
    let masses = (tokens.masses(), tokens.masses());
    let mut text = certificate::header("maximum", masses, (beta, beta), &tokens.law);
    text.push_str(&format!("tree zeros {}\n", certificate::cluster_words(&orbit.clusters)));
    certificate::zero(&mut text, &zero.alone[..arrangement.k]);
    text.push_str("end\n");
    Benign {
        proved: false,
        counterexample: Some((beta, orbit)),
        boxes: 0,
        undecided: 0,
        undecided_boxes: Vec::new(),
        interrupted: false,
        certificate: keep.then_some(text),
        partial: None,
    }
}

/// **Errors** an interaction for which one cluster is no local maximum.
fn refuse_repulsive(law: &Law) -> Result<()> {
    match law.profile() {
        Some(profile) if !profile.own().is_positive() => {
            let found = format!("phi(1) = {}", profile.own().mid());
            let expected = "phi(1) > 0: else one cluster is no local maximum";
            Err(Error::parameter("interaction", found, expected))
        }
        _ => Ok(()),
    }
}

/// **Errors** an estimate of more than a day.
fn refuse_long(tokens: &Tokens, seconds: f64) -> Result<()> {
    if seconds <= LONGEST {
        return Ok(());
    }
    let found = format!("{} tokens: the proof would take about {}", tokens.n(), duration(seconds));
    Err(Error::parameter("n", found, "fewer tokens, so that it takes less than a day"))
}

/// A duration in words.
fn duration(seconds: f64) -> String {
    match seconds / 86_400.0 {
        days if days < 2.0 => format!("{:.0} hours", 24.0 * days),
        days if days < 800.0 => format!("{days:.0} days"),
        days => format!("{:.0e} years", days / 365.0),
    }
}

/// Estimated seconds of [`complete`] with two threads, from the measured numbers of boxes: 1 500
/// for n = 5 and beta in [1, 4], nine times as many for each further token, and more for small
/// beta.
pub fn seconds_complete(tokens: &Tokens) -> f64 {
    let n = tokens.n() as f64;
    let orders: f64 = if tokens.masses().windows(2).all(|m| m[0] == m[1]) {
        1.0
    } else {
        (1..tokens.n()).map(|k| k as f64).product::<f64>() / 2.0
    };
    let beta = tokens.typical_beta();
    let smallest = beta.0.abs().min(beta.1.abs()).max(1e-3);
    let small = (1.0 / smallest).max(1.0).powf((1.6 * (n - 4.2)).max(0.0));
    let interval = if tokens.is_point() { 1.0 } else { 300.0 * 10f64.powf((n - 4.0).max(0.0)) };
    1500.0 * 9f64.powf(n - 5.0) * small * interval * orders * 5e-6 * (n / 5.0).powi(3)
}

/// Estimated seconds of [`benign`] with two threads, from the measured numbers of boxes. For
/// positive beta these are about 6 10^5 for n = 11, and three times as many for each further token.
/// Below -0.2 they are 9 10^5 for n = 8, eight times as many for each further token, and five times
/// as many if 3 divides n: at -2/3 three equal clusters become a local maximum.
pub fn seconds_benign(tokens: &Tokens) -> f64 {
    let n = tokens.n() as f64;
    let orders: f64 = if tokens.masses().windows(2).all(|m| m[0] == m[1]) {
        1.0
    } else {
        (1..tokens.n()).map(|k| k as f64).product()
    };
    let boxes = match () {
        () if tokens.typical_beta().0 >= -0.2 => 6e5 * 3.2f64.powf(n - 11.0),
        () if tokens.n().is_multiple_of(3) => 4.5e6 * 8f64.powf(n - 8.0),
        () => 9e5 * 8f64.powf(n - 8.0),
    };
    boxes * orders * 2.5e-6 * (n / 8.0).powi(2)
}
