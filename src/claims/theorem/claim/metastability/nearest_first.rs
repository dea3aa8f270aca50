//! From saddle to saddle: the pair with the shortest lifetime merges first.

use crate::flow::{Event, EventAction, Outcome};
use crate::num::roots::bracketed_root;
use crate::theorem::prelude::*;

const CLUSTERS: (usize, usize) = (3, 8);
const MASSES: (f64, f64) = (0.1, 10.0);
const ARC: f64 = 3.0;
const LEAST_BETA: f64 = 200.0;
/// The logarithm of the least ratio of lifetimes.
const LEAD: f64 = 3.0;
const LOSS: f64 = 0.07;
const CHORD: f64 = 0.01;
/// The arc is long enough if `WIDEST.0 (n-1) log(beta)/sqrt(beta) <= WIDEST.1`.
const WIDEST: (f64, f64) = (2.6, 2.8);

/// # Derivation
///
/// A pair of gap `g` closes at the speed `c sin(g) e^{-beta (1 - cos g)}`, `c = m/m' + m'/m` for SA
/// and `m + m'` for USA (U2), so alone it would have the lifetime `T = e^{beta (1 - cos g)} / (beta
/// c sin^2 g)`. Neighbours can only open a gap. If the shortest lifetime `T` is at most `e^{-3}`
/// times every other, the two neighbours slow the pair down by at most `2 e^{-3}`, and when it
/// merges, another pair has spent at most the fraction `e^{-3} / (1 - 2 e^{-3}) < 0.056` of its
/// lifetime; as `1 - t/T = e^{-beta (loss of 1 - cos)}`, its `1 - cos` has fallen by at most
/// `0.058/beta`, up to terms of relative size `1/(beta g^2)`.
///
/// For equal masses, lifetimes are ordered like gaps. For other masses the nearest pair need not
/// merge first: a difference of `3/beta` in `1 - cos g` is a factor `e^3 = 20` of the lifetime, and
/// SA at masses 50 : 1 has `c = 50` instead of 2.
pub static ENTRY: Claim = Claim {
    name: "nearest-first",
    title: "From saddle to saddle: the pair with the shortest lifetime `e^{beta (1 - cos gap)}` / \
            (`beta c sin^2` gap) merges first",
    lets: "{FEWEST} to {MOST} clusters, with masses in a ratio of at most {RATIO}, lie on an arc \
           shorter than {ARC} with all gaps `g` at least `2 log(beta)/sqrt(beta)`, `beta >= \
           {LEAST_BETA}`. A pair of neighbours with masses `m` and `m'` has the lifetime `T = \
           e^{beta (1 - cos g)} / (beta c sin^2 g)`, with `c = m/m' + m'/m` for SA and `c = m + \
           m'` for USA (U2)",
    then: "If the shortest lifetime is at most `e^{-{LEAD}}` times every other, this pair merges \
           first, and until then `1 - cos of` no other gap has decreased by more than \
           `{LOSS}/beta`. For equal masses it is the pair with the smallest gap.",
    tested: "until two clusters are within `{CHORD}/sqrt(beta)`; in half of the gaps the ratio of \
             lifetimes is `e^{-{LEAD}}`",
    numbers: &[
        ("FEWEST", CLUSTERS.0 as f64),
        ("MOST", CLUSTERS.1 as f64),
        ("RATIO", MASSES.1 / MASSES.0),
        ("ARC", ARC),
        ("LEAST_BETA", LEAST_BETA),
        ("LEAD", LEAD),
        ("LOSS", LOSS),
        ("CHORD", CHORD),
        ("FACTOR", WIDEST.0),
        ("WIDEST", WIDEST.1),
    ],
    domain: DOMAIN,
    narrower: "neighbours on a circle only; the first merger of a run",
    source: "arXiv:2410.06833, section 6 (equal masses); lifetimes for unequal masses derived",
    status: Status::Corrected,
    trials: (30, 300),
    trial: |case, ctx| first(case, ctx, First::ShortestLife),
    constant: "the bound `0.07/beta` on the decrease of the other gaps",
    control: Control {
        what: "the claim that the pair with the longest lifetime merges first",
        trial: |ctx| first(&Case::with_random_masses(4, 2, 1000.0, "usa"), ctx, First::LongestLife),
    },
    variants: &[&FOLKLORE],
    ..Claim::INEQUALITY
};

static FOLKLORE: Claim = Claim {
    name: "nearest-first-folklore",
    title: "From saddle to saddle: the nearest pair of clusters merges first, whatever the masses",
    lets: "clusters lie on an arc with all gaps at least `2 log(beta)/sqrt(beta)`, `beta >= \
           {LEAST_BETA}`, and let `1 - cos of` the smallest gap be smaller than that of every \
           other gap by at least `{LEAD}/beta`",
    then: "The first merger joins the nearest pair, and until then no other gap has lost half of \
           its 1 - cos.",
    numbers: &[
        ("LEAST_BETA", LEAST_BETA),
        ("LEAD", LEAD),
        ("FACTOR", WIDEST.0),
        ("WIDEST", WIDEST.1),
    ],
    domain: DOMAIN,
    narrower: "neighbours on a circle only; the first merger of a run",
    source: "arXiv:2410.06833, section 6, read for clusters of any masses",
    status: Status::Folklore,
    trials: (40, 400),
    trial: |case, ctx| first(case, ctx, First::Nearest),
    control: Control {
        what: "equal masses",
        trial: |ctx| first(&Case::new(4, 2, 1000.0, "sa"), ctx, First::NearestOfEqual),
    },
    ..Claim::INEQUALITY
};

const DOMAIN: Domain = Domain {
    n: Sizes::Range(CLUSTERS.0, CLUSTERS.1),
    d: Sizes::Fixed(2),
    beta: Betas::Log(LEAST_BETA, 1e4),
    laws: &[],
    draws: "the gaps",
    condition: Some(Condition {
        text: "`{FACTOR} (n-1) log(beta)/sqrt(beta) <= {WIDEST}`, so that the gaps fit on the arc",
        holds: |c| WIDEST.0 * (c.n - 1) as f64 * unit(c.beta) <= WIDEST.1,
    }),
    ..Domain::ATTENTION
};

/// The pair that is claimed to merge first.
#[derive(Clone, Copy, PartialEq)]
enum First {
    /// The pair with the shortest lifetime, at most e^{-3} times the others.
    ShortestLife,
    /// The pair with the longest lifetime.
    LongestLife,
    /// The nearest pair, with 1 - cos smaller than for the others by 3/beta.
    Nearest,
    /// The nearest pair, for equal masses.
    NearestOfEqual,
}

fn unit(beta: f64) -> f64 {
    beta.ln() / beta.sqrt()
}

/// Event: two tokens are closer than a given chord.
struct Meeting {
    chord: f64,
}

impl Event for Meeting {
    fn name(&self) -> String {
        "meeting".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        let closest = x
            .coordinates()
            .windows(4)
            .step_by(2)
            .map(|pair| chord2(&pair[..2], &pair[2..]))
            .fold(4.0, nan_min);
        self.chord - closest.sqrt()
    }
}

/// The gaps: the gap of the first pair is free, and the others are so much wider that their
/// lifetimes (or their 1 - cos) meet the hypothesis.
fn gaps(case: &Case, ctx: &mut Context, factors: &[f64], by_life: bool) -> Vec<f64> {
    let beta = case.beta;
    let base = unit(beta) * (2.2 + ctx.uniform_in(0.0, 1.0) * (if by_life { 0.3 } else { 0.2 }));
    let first = ctx.index(factors.len());
    let log_life = |g: f64, c: f64| {
        beta * (1.0 - g.cos()) - if by_life { (c * g.sin().powi(2)).ln() } else { 0.0 }
    };
    // Half of the gaps meet it with equality.
    let wanted: Vec<f64> = factors
        .iter()
        .map(|_| LEAD * 20f64.powf((2.0 * ctx.uniform_in(0.0, 1.0) - 1.0).max(0.0)))
        .collect();
    let place = |share: f64| -> Vec<f64> {
        let at = |k: usize| {
            let target = log_life(base, factors[first]) + LEAD + share * (wanted[k] - LEAD);
            bracketed_root(|g| log_life(g, factors[k]) - target, 0.9 * base, 1.5, 0.0)
                .unwrap_or(1.5)
        };
        (0..factors.len()).map(|k| if k == first { base } else { at(k) }).collect()
    };
    // The excess over the least gap is reduced if the gaps would not fit on the arc.
    let fits = |share: &f64| place(*share).iter().sum::<f64>() <= ARC;
    place([1.0, 0.5, 0.25, 0.1, 0.03, 0.0].into_iter().find(fits).unwrap_or(0.0))
}

/// Compares the first merger of a run with the pair that is claimed to merge first.
fn first(case: &Case, ctx: &mut Context, which: First) -> Result<Finding> {
    let (n, beta) = (case.n, case.beta);
    // A third of the masses are at the ends of their range.
    let drawn: Vec<f64> =
        ctx.masses(n).iter().map(|m| m.powf(1.5).clamp(MASSES.0, MASSES.1)).collect();
    let masses = if which == First::NearestOfEqual { vec![1.0; n] } else { drawn };
    let total: f64 = masses.iter().sum();
    let usa = case.row_weights()? == RowWeights::Exponential;
    let factor = |k: usize| {
        let (a, b) = (masses[k] / total, masses[k + 1] / total);
        if usa { a + b } else { a / b + b / a }
    };
    let factors: Vec<f64> = (0..n - 1).map(factor).collect();
    let by_life = matches!(which, First::ShortestLife | First::LongestLife);
    let gaps = gaps(case, ctx, &factors, by_life);
    let order = |k: usize| {
        beta * (1.0 - gaps[k].cos())
            - if by_life { (factors[k] * gaps[k].sin().powi(2)).ln() } else { 0.0 }
    };
    let sign = if which == First::LongestLife { -1.0 } else { 1.0 };
    let nearest =
        (0..n - 1).min_by(|&a, &b| (sign * order(a)).total_cmp(&(sign * order(b)))).unwrap_or(0);
    let mut angles = vec![0.0];
    gaps.iter().for_each(|g| angles.push(angles[angles.len() - 1] + g));
    let x = Tokens::from_angles(&angles)?.with_masses(&masses)?;
    let flow = dynamics::build(
        case.dynamics,
        false,
        &Spec { time_scale: TimeScale::U2, ..Spec::new(beta, n) },
    )?;
    let meeting = Meeting { chord: CHORD / beta.sqrt() };
    let options = Options {
        rtol: 10.0 * ctx.rtol(),
        merge_radius: 0.0,
        events: vec![(Box::new(meeting), EventAction::Stop)],
        ..Options::default()
    };
    let end = solve(&flow, &x, 1e300, &options, &mut [])?;
    let Outcome::Event { .. } = end.outcome else {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    };
    let cosine = |k: usize| end.clusters.inner(k, k + 1);
    let change = |k: usize| cosine(k) - gaps[k].cos();
    let others = (0..n - 1).filter(|k| *k != nearest);
    Ok(if by_life {
        // The derivation gives 0.058; the rest covers its terms of relative size 1/(beta g^2).
        Finding::at_most(largest(others.map(|k| beta * change(k))), ctx.claimed_constant(LOSS))
    } else {
        Finding::at_most(largest(others.map(|k| change(k) / (1.0 - gaps[k].cos()))), 0.5)
    })
}
