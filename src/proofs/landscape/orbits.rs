//! Orbits of zeros: duplicates, symmetry, multiplicity, energy; the Morse inequalities.

use super::cell::{Arrangement, Cell, Row};
use super::kernel::{Law, direction};
use super::newton::Zero;
use super::strata::{Members, multiplicity};
use crate::num::interval::Interval;
use num_bigint::BigInt;

/// A critical point, up to rotations, reflections and permutations of equal masses.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    /// Masses of the tokens of every cluster, in cyclic order.
    pub clusters: Vec<Vec<u32>>,
    /// Angles in radians from every cluster to the next.
    pub gaps: Vec<f64>,
    /// Bound of the errors of the gaps.
    pub gap_error: f64,
    /// Directions of ascent of the energy, modulo rotations: unstable directions of the flow is the
    /// same number. `None` if the sign of an eigenvalue is not decided.
    pub ascents: Option<usize>,
    /// Number of configurations of labelled tokens in the orbit, modulo rotations.
    pub multiplicity: u64,
    /// Number of rotations that map the configuration to itself, up to a permutation of equal
    /// clusters.
    pub rotations: u64,
    /// Whether a reflection maps the configuration to itself.
    pub mirror: bool,
    /// The energy in units of that of one cluster: `sum m_i m_j e^{beta (cos - 1)}` for masses with
    /// sum 1, or `sum m_i m_j W(cos) / W(1)`, `W' = phi`, for an interaction phi. Rounded, without
    /// a proved bound.
    pub energy_share: f64,
}

impl Orbit {
    /// Tokens per cluster.
    pub fn sizes(&self) -> Vec<usize> {
        self.clusters.iter().map(Vec::len).collect()
    }
}

/// The energy in units of that of one cluster, for gaps in turns, at a beta or a value of the
/// parameter in its place.
pub(super) fn energy_share(arrangement: &Arrangement, gaps: &[f64], parameter: f64) -> f64 {
    let (k, at) = (arrangement.k, Interval::exact(parameter));
    let mass: Vec<f64> = arrangement.masses().iter().map(|m| m.at(at).mid()).collect();
    let interaction = match &arrangement.law {
        Law::Profile(profile) => Some(profile.interaction().clone()),
        Law::Family(family) => match family.interaction_at(parameter) {
            Ok(interaction) => Some(interaction),
            // Outside the values that the interaction allows.
            Err(_) => return f64::NAN,
        },
        Law::Exponential | Law::Fixed(_) => None,
    };
    let beta = arrangement.law.beta(at).map_or(0.0, Interval::mid);
    let share = |t: f64| {
        // 1 - cos d = 2 sin^2(d / 2).
        let half = direction(0.5 * t.clamp(0.0, 1.0)).s;
        match &interaction {
            Some(phi) => {
                let w = |s: f64| phi.potential(s);
                w((1.0 - 2.0 * half * half).clamp(-1.0, 1.0)) / w(1.0)
            }
            None => (-2.0 * beta * half * half).exp(),
        }
    };
    let total: f64 = mass.iter().sum();
    let mut sum = 0.0;
    for p in 0..k {
        let mut t = 0.0;
        sum += mass[p] * mass[p];
        for q in p + 1..k {
            t += gaps[q - 1];
            sum += 2.0 * mass[p] * mass[q] * share(t);
        }
    }
    sum / (total * total)
}

/// The orbit of one or two clusters: consensus, or two opposite points.
pub(super) fn simple(clusters: &[Members], arrangement: &Arrangement, beta: f64) -> Orbit {
    let k = clusters.len();
    let mut gaps = [(0.0, 0.0); super::cell::MAX_TOKENS];
    gaps[..k].fill(if k == 1 { (1.0, 1.0) } else { (0.5, 0.5) });
    let kernel = arrangement.law.kernel((beta, beta));
    let ascents = match kernel.own() {
        // Every direction splits the only cluster, and has the sign of phi(1).
        Some(own) if k == 1 && own.is_negative() => Some(arrangement.size[0] - 1),
        Some(own) if k == 1 && own.contains(0.0) => None,
        _ if k == 1 => Some(0),
        _ => arrangement.ascents(&Cell { gaps, beta: (beta, beta) }, &kernel),
    };
    let rotations = if k == 2 && clusters[0] == clusters[1] { 2 } else { 1 };
    orbit(clusters, arrangement, &gaps, beta, (rotations, true), ascents)
}

fn orbit(
    clusters: &[Members],
    arrangement: &Arrangement,
    gaps: &Row<(f64, f64)>,
    beta: f64,
    (rotations, mirror): (u64, bool),
    ascents: Option<usize>,
) -> Orbit {
    let k = clusters.len();
    let middle = gaps.map(|g| 0.5 * (g.0 + g.1));
    let width = gaps[..k].iter().map(|g| g.1 - g.0).fold(0.0, f64::max);
    Orbit {
        clusters: clusters.to_vec(),
        gaps: middle[..k].iter().map(|g| g * std::f64::consts::TAU).collect(),
        gap_error: width * std::f64::consts::PI + 2e-15,
        ascents,
        multiplicity: multiplicity(clusters, rotations, mirror),
        rotations,
        mirror,
        energy_share: energy_share(arrangement, &middle, beta),
    }
}

/// The image of gaps under a symmetry.
fn image(gaps: &Row<(f64, f64)>, of: &Row<usize>) -> Row<(f64, f64)> {
    std::array::from_fn(|x| gaps[of[x]])
}

fn is_within(inner: &Row<(f64, f64)>, outer: &Row<(f64, f64)>, k: usize) -> bool {
    (0..k).all(|x| outer[x].0 <= inner[x].0 && inner[x].1 <= outer[x].1)
}

fn is_apart(a: &Row<(f64, f64)>, b: &Row<(f64, f64)>, k: usize) -> bool {
    (0..k).any(|x| a[x].1 < b[x].0 || b[x].1 < a[x].0)
}

/// The orbits of the zeros of a stratum, each with the zero that represents it; and whether all
/// pairs were told apart. Zeros are equal up to a symmetry if the image of one lies in the box in
/// which the other is the only one, and different if their enclosures are disjoint.
pub(super) fn orbits(
    clusters: &[Members],
    arrangement: &Arrangement,
    zeros: &[Zero],
    beta: f64,
) -> (Vec<(Orbit, Zero)>, bool) {
    let k = arrangement.k;
    let (mut found, mut clear): (Vec<(Orbit, Zero)>, bool) = (Vec::new(), true);
    for zero in zeros {
        let mut known = false;
        for (_, other) in &found {
            for (of, _) in &arrangement.symmetries {
                let image = image(&zero.place, of);
                let same = is_within(&image, &other.alone, k);
                known |= same;
                clear &= same || is_apart(&image, &other.place, k);
            }
        }
        if known {
            continue;
        }
        let (mut rotations, mut mirror) = (0, false);
        for (of, back) in &arrangement.symmetries {
            let image = image(&zero.place, of);
            let same = is_within(&image, &zero.alone, k);
            clear &= same || is_apart(&image, &zero.place, k);
            rotations += u64::from(same && !back);
            mirror |= same && *back;
        }
        let cell = Cell { gaps: zero.place, beta: (beta, beta) };
        let ascents = arrangement.ascents(&cell, &arrangement.law.kernel((beta, beta)));
        let symmetry = (rotations, mirror);
        found.push((orbit(clusters, arrangement, &zero.place, beta, symmetry, ascents), *zero));
    }
    (found, clear)
}

/// Number of labelled critical points modulo rotations by directions of ascent; `None` if one is
/// not known.
pub(super) fn labelled(orbits: &[Orbit], n: usize) -> Option<Vec<u64>> {
    let mut count = vec![0; n];
    for orbit in orbits {
        *count.get_mut(orbit.ascents?)? += orbit.multiplicity;
    }
    Some(count)
}

/// Whether `difference / (1 + t)` has no negative coefficients; for polynomials it must be one.
pub(crate) fn is_fine(difference: &[BigInt], polynomial: bool) -> bool {
    let mut rest = BigInt::ZERO;
    for c in difference {
        rest = c - rest;
        if rest < BigInt::ZERO {
            return false;
        }
    }
    !polynomial || rest == BigInt::ZERO
}

/// Whether the counts satisfy the Morse inequalities on the torus of `n - 1` angles:
/// `sum_k c_k t^k - (1 + t)^{n-1} = (1 + t) R(t)` with coefficients of R at least 0. At `t = -1`
/// this says that the Euler characteristic is 0 (for n > 1).
pub fn morse_inequalities_hold(counts: &[u64]) -> bool {
    let n = counts.len();
    let mut binomial = vec![BigInt::ZERO; n];
    if let Some(first) = binomial.first_mut() {
        *first += 1;
    }
    for _ in 1..n {
        for k in (1..n).rev() {
            let below = binomial[k - 1].clone();
            binomial[k] += below;
        }
    }
    let difference: Vec<BigInt> =
        counts.iter().zip(binomial).map(|(c, b)| BigInt::from(*c) - b).collect();
    is_fine(&difference, true)
}
