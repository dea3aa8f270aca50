//! Certificates as text: one record per line. Numbers are exact: `mpk` means `m 2^k`.

use super::proof::ConvergenceProof;
use super::start::Neighbourhood;
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

impl Neighbourhood {
    /// The first lines of a certificate: what is given.
    pub fn hypotheses(&self) -> String {
        let name = match (self.softmax, self.causal) {
            (true, false) => "sa",
            (true, true) => "causal-sa",
            (false, false) => "usa",
            (false, true) => "causal-usa",
        };
        let masses = if self.softmax && self.causal {
            scaled_masses(&self.masses)
        } else {
            self.masses.clone()
        };
        let lines = [
            "metastable-trajectory 3".to_owned(),
            format!("dynamics {name}"),
            format!("tokens {}", self.masses.len()),
            format!("dimension {}", self.d),
            format!("beta {}", dyadic(self.beta)),
            format!("radius {}", dyadic(self.radius)),
            format!("masses {}", numbers(&masses)),
            format!("start {}", numbers(&self.x)),
        ];
        lines.join("\n") + "\n"
    }
}

impl ConvergenceProof {
    /// The certificate: the statement, and everything that a verifier needs. Lines that begin with
    /// `#` are for readers.
    pub fn to_text(&self) -> String {
        let s = &self.start;
        let mut lines = vec![
            s.hypotheses().trim_end().to_owned(),
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
