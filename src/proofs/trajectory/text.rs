//! Certificates as text: one record per line. Numbers are exact: `mpk` means `m 2^k`.

use super::proof::ConvergenceProof;
use crate::dyadic::{dyadic, numbers};

/// Masses times the power of two that makes the least mass at least 1, but at most 2^150.
///
/// A common factor does not change the rows of causal SA. The verifier computes in multiples of
/// 2^-128; without the factor it would lose the digits of a first token of mass 1e-30.
fn scaled_masses(masses: &[f64]) -> Vec<f64> {
    let least = masses.iter().copied().fold(f64::INFINITY, f64::min);
    let power = (-least.log2().floor()).clamp(0.0, 150.0);
    masses.iter().map(|m| m * power.exp2()).collect()
}

impl ConvergenceProof {
    /// The certificate: the statement, and everything that a verifier needs. Lines that begin with
    /// `#` are for readers.
    pub fn to_text(&self) -> String {
        let s = &self.start;
        let name = match (s.softmax, s.causal) {
            (true, false) => "sa",
            (true, true) => "causal-sa",
            (false, false) => "usa",
            (false, true) => "causal-usa",
        };
        let mut lines = vec![
            "metastable-trajectory 3".to_owned(),
            format!("dynamics {name}"),
            format!("tokens {}", s.masses.len()),
            format!("dimension {}", s.d),
            format!("beta {}", dyadic(s.beta)),
            format!("radius {}", dyadic(s.radius)),
            format!(
                "masses {}",
                numbers(&if s.softmax && s.causal {
                    scaled_masses(&s.masses)
                } else {
                    s.masses.clone()
                })
            ),
            format!("start {}", numbers(&s.x)),
            format!("order {}", self.order),
            format!("first {}", numbers(&super::step::normalise_rows(s.d, &s.x))),
        ];
        for step in &self.steps {
            lines.push(format!("step {}", dyadic(step.h)));
            lines.extend(
                step.pieces
                    .iter()
                    .map(|p| format!("piece {}", numbers(&[p.end, p.mu, p.r, p.kappa]))),
            );
            lines.push(format!("next {}", numbers(&step.x)));
            if let Some((labels, x)) = &step.merged {
                lines.push(format!(
                    "merge {}",
                    labels.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
                ));
                lines.push(format!("points {}", numbers(x)));
            }
        }
        lines.push(format!("end {}", numbers(&self.direction)));
        lines.join("\n") + "\n"
    }
}
