//! Certificates as text: one record per line. Numbers are exact: `mpk` means `m 2^k`.

use super::proof::ConvergenceProof;

/// A double as `mpk`: an integer m, the letter p, the exponent k of a power of two.
fn dyadic(v: f64) -> String {
    let bits = v.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let (integer, power) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    if integer == 0 {
        return "0p0".into();
    }
    let zeros = integer.trailing_zeros();
    format!("{}{}p{}", if v < 0.0 { "-" } else { "" }, integer >> zeros, power + i64::from(zeros))
}

fn numbers(v: &[f64]) -> String {
    v.iter().map(|v| dyadic(*v)).collect::<Vec<_>>().join(" ")
}

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
            "metastable-trajectory 2".to_owned(),
            format!("# {}", self.statement()),
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
        let mut t = 0.0;
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
            t += step.h;
            lines.push(format!("# t = {t:.6e}, error at most {:.3e}", step.error));
        }
        lines.push(format!("end {}", numbers(&self.direction)));
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::dyadic;

    #[test]
    fn dyadics_are_the_number() {
        for v in [
            0.0,
            1.0,
            -0.75,
            1e-300,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            0.1,
            -1.0 / 3.0,
        ] {
            let text = dyadic(v);
            let (whole, power) = text.split_once('p').expect("a power");
            let (whole, power): (f64, i32) =
                (whole.parse().expect("an integer"), power.parse().expect("an integer"));
            // In two halves: 2^power alone may be no double.
            let found = whole * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
            assert_eq!(found.to_bits(), v.to_bits(), "{text}");
        }
    }
}
