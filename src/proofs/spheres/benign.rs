//! Benign landscapes on spheres: by Lemma 8, or from the complete list.

use super::{Orbit, Report, Tokens, UndecidedBox, certificate, check_dimension, complete};
use crate::error::Result;
use crate::num::interval::{Interval, check_fp_environment};

/// Whether a landscape is benign.
#[derive(Clone, Debug, PartialEq)]
pub struct Benign {
    /// Whether it is proved, for all beta in the interval.
    pub proved: bool,
    /// Whether Lemma 8 proves it. Then it holds for every number of tokens and all masses.
    pub average: bool,
    /// A proved local maximum other than one cluster, with its beta and its dimension.
    pub counterexample: Option<(f64, usize, Orbit)>,
    /// Number of boxes.
    pub boxes: u64,
    /// Number of undecided boxes.
    pub undecided: u64,
    /// The first undecided boxes.
    pub undecided_boxes: Vec<UndecidedBox>,
    /// The intervals of beta in which something is undecided.
    pub open: Vec<(f64, f64)>,
    /// Whether the search was stopped.
    pub interrupted: bool,
    /// The certificate, if it was wanted and there is a proof.
    pub certificate: Option<String>,
}

/// Proves that every critical point except one cluster has a direction in which the energy
/// increases at second order, on the sphere of `R^d` or for `None` in all dimensions from 2 on, for
/// all beta in the interval; or finds a proved local maximum with several clusters.
///
/// **Cost** none if Lemma 8 applies, else that of [`complete`].
/// **Errors** a dimension below 2 or above [`MAX_DIMENSION`](super::MAX_DIMENSION); those of
/// [`complete`] if Lemma 8 does not apply.
///
/// ```
/// use metastable::proofs::spheres::{Tokens, benign};
/// let tokens = Tokens::new(&[1.0; 5], (-0.5, 50.0)).unwrap();
/// assert!(benign(&tokens, Some(3), false, &|_, _| true).unwrap().average);
/// let tokens = Tokens::new(&[1.0; 4], (-1.6, -1.6)).unwrap();
/// let found = benign(&tokens, Some(3), false, &|_, _| true).unwrap();
/// assert_eq!(found.counterexample.unwrap().2.symmetries, 24);
/// ```
pub fn benign(tokens: &Tokens, d: Option<usize>, keep: bool, report: Report) -> Result<Benign> {
    check_fp_environment()?;
    check_dimension(d)?;
    if let Some(d) = d.filter(|d| ascends_on_average(*d, tokens.beta.0)) {
        return Ok(Benign {
            proved: true,
            average: true,
            counterexample: None,
            boxes: 0,
            undecided: 0,
            undecided_boxes: Vec::new(),
            open: Vec::new(),
            interrupted: false,
            certificate: keep.then(|| certificate::average(tokens.masses(), tokens.beta, d)),
        });
    }
    let found = complete(tokens, d, keep, report)?;
    let middle = std::iter::once((found.at, &found.orbits));
    let lists = middle.chain(found.pieces.iter().map(|p| (p.at, &p.orbits)));
    let maximum = lists
        .flat_map(|(at, orbits)| orbits.iter().map(move |o| (at, o)))
        .filter(|(_, o)| o.clusters.len() > 1)
        .find_map(|(at, o)| {
            let least = d.unwrap_or(o.rank.max(2));
            (o.index(least) == Some(0)).then(|| (at, least, o.clone()))
        });
    Ok(Benign {
        proved: found.complete && maximum.is_none(),
        average: false,
        counterexample: maximum,
        boxes: found.boxes,
        undecided: found.undecided,
        undecided_boxes: found.undecided_boxes,
        open: found.open,
        interrupted: found.interrupted,
        certificate: found.certificate,
    })
}

/// Whether Lemma 8 applies in `R^d` to all beta from this one on. The sum of Lemma 8 grows with
/// beta.
fn ascends_on_average(d: usize, beta: f64) -> bool {
    if d < 3 || beta >= -0.5 {
        return d >= 3;
    }
    let (b, four) = (Interval::exact(-beta), Interval::exact(4.0));
    // The smallest bracket, d - 2 - b - 1 / (4 b), times 4 b.
    let least = four * b * (Interval::exact((d - 2) as f64) - b) - Interval::exact(1.0);
    least.is_positive()
}

#[cfg(test)]
mod tests {
    use super::ascends_on_average;

    #[test]
    fn the_average_ascends_where_the_bracket_is_positive() {
        assert!(ascends_on_average(3, -0.5) && !ascends_on_average(3, (-0.5f64).next_down()));
        // 1 + sqrt(3) / 2 for d = 4.
        assert!(ascends_on_average(4, -1.866) && !ascends_on_average(4, -1.8661));
        assert!(!ascends_on_average(2, 1.0) && ascends_on_average(1000, -90.0));
        // The bracket on a grid, in floating point.
        for (d, beta) in [(3, -0.4), (4, -1.8), (6, -3.9)] {
            for k in 0..2000 {
                let g = f64::from(k) / 1000.0 - 1.0;
                let bracket = f64::from(d - 3) + (1.0 - g) * (1.0 + beta * (1.0 + g));
                assert!(bracket > 0.0 && ascends_on_average(d as usize, beta), "{d} {beta} {g}");
            }
        }
    }
}
