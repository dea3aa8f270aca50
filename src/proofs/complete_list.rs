//! Whether a search on the circle found all critical points.

use crate::landscape::{BETA_RANGE, MAX_TOKENS, Report, Tokens, complete, seconds_complete};
use metastable_core::landscape::search::{SearchResult, critical_point_near};
use metastable_core::landscape::starts::on_circle;
use metastable_core::landscape::{CriticalPoint, Exponential};
use metastable_core::theory::partitions;
use metastable_num::error::Result;

/// Why a list of critical points is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompleteBy {
    /// The theorem for large beta ([`partitions`]) gives as many points as were found.
    Theorem,
    /// [`complete`] found as many points.
    Boxes {
        /// Number of boxes.
        boxes: u64,
        /// The certificate.
        certificate: String,
    },
}

/// Decides whether the critical points of n equal tokens on the circle that a search has found are
/// all, up to rotations, reflections and permutations: by the theorem for large beta, or by
/// [`complete`] if its estimate is at most `seconds`. Points that the search missed are added.
/// `None` if neither decides.
///
/// The points of the list are computed; their number and their kinds are proved.
///
/// **Cost** that of [`complete`]. **Errors** arithmetic that is not IEEE.
///
/// ```
/// use metastable::landscape::{Exponential, search::Search};
/// use metastable::proofs::complete_list::{CompleteBy, prove};
/// let search = |beta: f64| {
///     let energy = Exponential { beta };
///     Search { energy, n: 4, d: 2, starts: 8, max_starts: 8, fixed: true, seed: 1 }.run()
/// };
/// let mut found = search(4.0)?;
/// assert_eq!(prove(4.0, 4, &mut found, 5.0, &|_, _| true)?, Some(CompleteBy::Theorem));
/// let mut found = search(1.0)?;
/// assert!(matches!(prove(1.0, 4, &mut found, 5.0, &|_, _| true)?, Some(CompleteBy::Boxes { .. })));
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn prove(
    beta: f64,
    n: usize,
    found: &mut SearchResult<CriticalPoint>,
    seconds: f64,
    report: Report,
) -> Result<Option<CompleteBy>> {
    let masses = vec![1.0; n];
    if partitions::holds(&masses, beta)? && n <= 60 && found.points.len() == partitions::orbits(n) {
        return Ok(Some(CompleteBy::Theorem));
    }
    let in_range = (BETA_RANGE.0..=BETA_RANGE.1).contains(&beta) && beta.abs() > 0.0;
    if n > MAX_TOKENS || !in_range {
        return Ok(None);
    }
    let tokens = Tokens::new(&masses, (beta, beta))?;
    if seconds_complete(&tokens) > seconds {
        return Ok(None);
    }
    let all = complete(&tokens, true, report)?;
    let Some(certificate) = all.certificate.filter(|_| all.complete) else { return Ok(None) };
    for orbit in &all.orbits {
        let (x, sizes) = on_circle(&orbit.gaps, &orbit.sizes());
        if let Ok(point) = critical_point_near(&Exponential { beta }, &x, &sizes) {
            found.add(point);
        }
    }
    // Several orbits may be numerically the same point: then their number differs.
    let by = CompleteBy::Boxes { boxes: all.boxes, certificate };
    Ok((found.points.len() == all.orbits.len()).then_some(by))
}
