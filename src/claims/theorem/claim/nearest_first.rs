//! Saddle to saddle: the pair with the shortest life merges first.

use crate::flow::{Action, Event, Outcome};
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;

/// 2410.06833, section 6, for clusters of any masses.
///
/// # Derivation
///
/// A pair of gap g closes at the speed `c sin(g) e^{-beta (1 - cos g)}`, `c = m/m' + m'/m` for SA and `m + m'` for USA (U2), so alone it
/// would live for `T = e^{beta (1 - cos g)} / (beta c sin^2 g)`. Neighbours can only open a gap. If the shortest life T is at most
/// `e^{-3}` of every other, its two neighbours slow it down by at most `2 e^{-3}`, and when it ends another pair has spent at most the
/// share `e^{-3} / (1 - 2 e^{-3}) < 0.056` of its life; as `1 - t/T = e^{-beta (loss of 1 - cos)}`, its `1 - cos` has fallen by at most
/// `0.058/beta`, up to terms of relative size `1/(beta g^2)`. For equal masses lives are ordered as gaps; a ratio of masses beyond 20
/// outweighs `3/beta`, which is why the nearest pair of clusters need not be first (`nearest-first-folklore`).
pub static ENTRY: Claim = Claim {
    name: "nearest-first",
    title: "Saddle to saddle: the pair with the shortest life e^{beta (1 - cos gap)} / (beta c sin^2 gap) merges first",
    statement: "Clusters on an arc shorter than 3, all gaps at least 2 log(beta)/sqrt(beta), lives T = e^{beta (1 - cos g)} / (beta c sin^2 g) with c = m/m' + m'/m (SA), m + m' (USA, U2), the shortest at most e^{-3} of every \
                other: that pair merges first, and by then no other gap's 1 - cos has fallen by more than 0.07/beta. (Equal masses: the nearest pair.)",
    domain: DOMAIN,
    narrower: "neighbours on a circle only; the first merger of a run",
    citation: "arXiv:2410.06833, section 6; arXiv:2509.25040 (slow phase); lives of unequal masses derived",
    status: Status::Corrected,
    trials: (30, 300),
    trial: |case, ctx| first(case, ctx, First::ShortestLife),
    perturbed: "the loss 0.07/beta of the other gaps",
    control: Control {
        what: "the pair with the longest life first",
        trial: |ctx| first(&Case::weighted(4, 2, 1000.0, "usa").with_law("placed"), ctx, First::LongestLife),
    },
    ..Claim::INEQUALITY
};

/// Clusters that fit on the arc.
pub const DOMAIN: Domain = Domain {
    n: Sizes::Range(3, 8),
    d: Sizes::Fixed(2),
    beta: Betas::Log(200.0, 1e4),
    laws: &["placed"],
    also: Some(Also {
        text: "2.6 (n-1) log(beta)/sqrt(beta) <= 2.8, so that the gaps fit on the arc",
        holds: |c| 2.6 * (c.n - 1) as f64 * unit(c.beta) <= 2.8,
    }),
    ..Domain::ATTENTION
};

/// Which pair is said to merge first.
#[derive(Clone, Copy, PartialEq)]
pub enum First {
    /// The one with the shortest life, at most e^{-3} of the others.
    ShortestLife,
    /// The one with the longest.
    LongestLife,
    /// The nearest one, nearer than the others by 3/beta in 1 - cos.
    Nearest,
    /// The same with equal masses.
    NearestOfEqual,
}

fn unit(beta: f64) -> f64 {
    beta.ln() / beta.sqrt()
}

/// Two tokens have come closer than a chord.
struct Meeting {
    chord: f64,
}

impl Event for Meeting {
    fn name(&self) -> String {
        "meeting".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        let closest = x.coordinates().windows(4).step_by(2).map(|pair| chord2(&pair[..2], &pair[2..])).fold(4.0, f64::min);
        self.chord - closest.sqrt()
    }
}

/// Gaps of the clusters: the first pair's at will, the others so much longer that their lives (or their 1 - cos) keep the distance stated.
fn gaps(case: &Case, ctx: &mut Context, factors: &[f64], by_life: bool) -> Vec<f64> {
    let beta = case.beta;
    let base = unit(beta) * (2.2 + ctx.uniform_in(0.0, 1.0) * (if by_life { 0.3 } else { 0.2 }));
    let first = ctx.index(factors.len());
    let log_life = |g: f64, c: f64| beta * (1.0 - g.cos()) - if by_life { (c * g.sin().powi(2)).ln() } else { 0.0 };
    // Half of them at the least distance.
    let wanted: Vec<f64> = factors.iter().map(|_| 3.0 * 20f64.powf((2.0 * ctx.uniform_in(0.0, 1.0) - 1.0).max(0.0))).collect();
    let place = |share: f64| -> Vec<f64> {
        let at = |k: usize| {
            let target = log_life(base, factors[first]) + 3.0 + share * (wanted[k] - 3.0);
            bracketed_root(|g| log_life(g, factors[k]) - target, 0.9 * base, 1.5, 0.0).unwrap_or(1.5)
        };
        (0..factors.len()).map(|k| if k == first { base } else { at(k) }).collect()
    };
    // Where the gaps would not fit on the arc, less more than the least.
    let fits = |share: &f64| place(*share).iter().sum::<f64>() <= 3.0;
    place([1.0, 0.5, 0.25, 0.1, 0.03, 0.0].into_iter().find(fits).unwrap_or(0.0))
}

/// The first merger of a run against the pair said to make it.
pub fn first(case: &Case, ctx: &mut Context, which: First) -> Result<Finding> {
    let (n, beta) = (case.n, case.beta);
    // A third of all masses at the ends of their range.
    let drawn: Vec<f64> = ctx.masses(n).iter().map(|m| m.powf(1.5).clamp(0.1, 10.0)).collect();
    let masses = if which == First::NearestOfEqual { vec![1.0; n] } else { drawn };
    let total: f64 = masses.iter().sum();
    let usa = case.weights()? == RowWeights::Exponential;
    let factor = |k: usize| {
        let (a, b) = (masses[k] / total, masses[k + 1] / total);
        if usa { a + b } else { a / b + b / a }
    };
    let factors: Vec<f64> = (0..n - 1).map(factor).collect();
    let by_life = matches!(which, First::ShortestLife | First::LongestLife);
    let gaps = gaps(case, ctx, &factors, by_life);
    let order = |k: usize| beta * (1.0 - gaps[k].cos()) - if by_life { (factors[k] * gaps[k].sin().powi(2)).ln() } else { 0.0 };
    let sign = if which == First::LongestLife { -1.0 } else { 1.0 };
    let said = (0..n - 1).min_by(|&a, &b| (sign * order(a)).total_cmp(&(sign * order(b)))).unwrap_or(0);
    let mut angles = vec![0.0];
    gaps.iter().for_each(|g| angles.push(angles[angles.len() - 1] + g));
    let x = Tokens::from_angles(&angles)?.with_masses(&masses)?;
    let flow = dynamics::build(case.dynamics, false, &Spec { time_scale: TimeScale::U2, ..Spec::new(beta, n) })?;
    let meeting = Meeting { chord: 1e-2 / beta.sqrt() };
    let options =
        Options { rtol: 10.0 * ctx.rtol(), merge_radius: 0.0, events: vec![(Box::new(meeting), Action::Stop)], ..Options::default() };
    let end = solve(&flow, &x, 1e300, &options, &mut [])?;
    let Outcome::Event { .. } = end.outcome else { return Ok(Finding::Unfinished(end.outcome.to_string())) };
    let cosine = |k: usize| end.clusters.inner(k, k + 1);
    let lost = |k: usize| cosine(k) - gaps[k].cos();
    let others = (0..n - 1).filter(|k| *k != said);
    Ok(if by_life {
        // 0.058 by the derivation; the rest is for its terms of relative size 1/(beta g^2).
        Finding::at_most(others.map(|k| beta * lost(k)).fold(0.0, f64::max), ctx.stated(0.07))
    } else {
        Finding::at_most(others.map(|k| lost(k) / (1.0 - gaps[k].cos())).fold(0.0, f64::max), 0.5)
    })
}
