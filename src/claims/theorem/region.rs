//! A part of a claim's range: the grid that `check` sweeps, or the intervals that `hunt` searches.

use super::{Case, Claim, Domain};
use crate::error::{Error, Result};
use crate::num::stream::Stream;

/// Values of one axis.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisValues {
    /// A list.
    List(Vec<f64>),
    /// An interval.
    Range(f64, f64),
}

impl AxisValues {
    /// The values of a list; five points of an interval, logarithmically spaced if it is positive.
    pub fn points(&self) -> Vec<f64> {
        match self {
            Self::List(values) => values.clone(),
            Self::Range(lo, hi) if hi <= lo => vec![*lo],
            Self::Range(lo, hi) => {
                let inside = |s: f64| {
                    if *lo > 0.0 {
                        (lo.ln() + s * (hi / lo).ln()).exp().clamp(*lo, *hi)
                    } else {
                        lo + s * (hi - lo)
                    }
                };
                vec![*lo, inside(0.25), inside(0.5), inside(0.75), *hi]
            }
        }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        match self {
            Self::List(values) => values[stream.index(values.len())],
            Self::Range(lo, hi) if *lo > 0.0 => {
                stream.uniform_in(lo.ln(), hi.ln()).exp().clamp(*lo, *hi)
            }
            Self::Range(lo, hi) => stream.uniform_in(*lo, *hi),
        }
    }

    fn contains(&self, value: f64) -> bool {
        match self {
            Self::List(values) => values.iter().any(|v| v.to_bits() == value.to_bits()),
            Self::Range(lo, hi) => (*lo..=*hi).contains(&value),
        }
    }
}

/// A part of the range; an empty field means the whole range.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Numbers of tokens.
    pub n: Option<AxisValues>,
    /// Dimensions.
    pub d: Option<AxisValues>,
    /// Inverse temperatures.
    pub beta: Option<AxisValues>,
    /// A dynamics.
    pub dynamics: Option<&'static str>,
    /// A law of tokens.
    pub law: Option<&'static str>,
    /// Include points outside the hypotheses.
    pub beyond_hypotheses: bool,
}

/// Values of an axis, rounded to integers without repetitions.
fn integers(axis: &AxisValues) -> Vec<usize> {
    let mut out: Vec<usize> = axis.points().iter().map(|v| v.round() as usize).collect();
    out.dedup();
    out
}

impl Region {
    /// True if no field is set.
    pub fn is_whole(&self) -> bool {
        self.n.is_none()
            && self.d.is_none()
            && self.beta.is_none()
            && self.dynamics.is_none()
            && self.law.is_none()
    }

    /// The grid of cases: all combinations that meet the hypotheses, or all if `beyond_hypotheses`
    /// is set. The second number counts combinations outside the hypotheses.
    ///
    /// **Errors** a grid without a point inside the hypotheses, with the first violated one.
    pub fn grid(&self, claim: &Claim) -> Result<(Vec<Case>, usize)> {
        let domain = &claim.domain;
        let ns = self.n.as_ref().map_or_else(|| domain.n.ends(), integers);
        let ds = self.d.as_ref().map_or_else(|| domain.d.ends(), integers);
        // A claim without dynamics or laws has the empty name.
        let named = |names: &'static [&'static str]| match names {
            [] => vec![""],
            names => names.to_vec(),
        };
        let dynamics = self.dynamics.map_or_else(|| named(domain.dynamics), |d| vec![d]);
        let laws = self.law.map_or_else(|| named(domain.laws), |l| vec![l]);
        let (mut cases, mut outside, mut reason) = (Vec::new(), 0, None);
        for &n in &ns {
            for &d in &ds {
                let betas =
                    self.beta.as_ref().map_or_else(|| domain.beta.ends(n, d), AxisValues::points);
                for (beta, dynamics, law) in betas.iter().flat_map(|b| {
                    dynamics
                        .iter()
                        .flat_map(|y| laws.iter().map(|l| (*b, *y, *l)))
                        .collect::<Vec<_>>()
                }) {
                    let case = Case { n, d, beta, dynamics, law, masses: domain.masses };
                    let why = domain.violated_hypothesis(&case);
                    if why.is_none() || self.beyond_hypotheses {
                        cases.push(case);
                    }
                    outside += usize::from(why.is_some());
                    reason = reason.or(why);
                }
            }
        }
        match reason {
            Some(why) if cases.is_empty() => Err(Error::parameter(
                "the grid",
                claim.printed(&why),
                format!("a point inside the hypotheses of {}: {}", claim.name, claim.hypotheses()),
            )),
            _ => Ok((cases, outside)),
        }
    }

    /// A random case of the region; `None` if a thousand draws miss it.
    pub fn draw(&self, domain: &Domain, stream: &mut Stream) -> Option<Case> {
        (0..1000).find_map(|_| {
            let mut case = domain.draw(stream)?;
            if let Some(axis) = &self.n {
                case.n = axis.draw(stream).round() as usize;
            }
            if let Some(axis) = &self.d {
                case.d = axis.draw(stream).round() as usize;
            }
            if let Some(axis) = &self.beta {
                case.beta = axis.draw(stream);
            }
            case.dynamics = self.dynamics.unwrap_or(case.dynamics);
            case.law = self.law.unwrap_or(case.law);
            self.admits(domain, &case).then_some(case)
        })
    }

    /// True if the case lies in the region, and inside the hypotheses unless `beyond_hypotheses` is
    /// set.
    pub fn admits(&self, domain: &Domain, case: &Case) -> bool {
        let on =
            |axis: &Option<AxisValues>, value: f64| axis.as_ref().is_none_or(|a| a.contains(value));
        let size = |axis: &Option<AxisValues>, value: usize| {
            axis.as_ref().is_none_or(|a| match a {
                AxisValues::List(list) => list.iter().any(|v| v.round() as usize == value),
                AxisValues::Range(lo, hi) => {
                    (lo.round() as usize..=hi.round() as usize).contains(&value)
                }
            })
        };
        size(&self.n, case.n)
            && size(&self.d, case.d)
            && on(&self.beta, case.beta)
            && self.dynamics.is_none_or(|d| d == case.dynamics)
            && self.law.is_none_or(|l| l == case.law)
            && (self.beyond_hypotheses || domain.violated_hypothesis(case).is_none())
    }
}
