//! Certificates as text: a line a record, numbers exact, `m p k` for `m 2^k`.

use super::proof::Convergence;

/// A double as `mp k`: an integer, `p`, a power of two.
fn dyadic(v: f64) -> String {
    let bits = v.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    let (whole, power) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    if whole == 0 {
        return "0p0".into();
    }
    let zeros = whole.trailing_zeros();
    format!("{}{}p{}", if v < 0.0 { "-" } else { "" }, whole >> zeros, power + i64::from(zeros))
}

fn numbers(v: &[f64]) -> String {
    v.iter().map(|v| dyadic(*v)).collect::<Vec<_>>().join(" ")
}

/// Masses times a power of two that brings the least to 1 or more, as far as exponents of at most
/// 100 allow. Rows of causal softmax do not change by a common factor, and a checker that computes
/// in multiples of 2^-128 loses a leading token of mass 1e-30 otherwise.
fn raised(masses: &[f64]) -> Vec<f64> {
    let least = masses.iter().copied().fold(f64::INFINITY, f64::min);
    let power = (-least.log2().floor()).clamp(0.0, 150.0);
    masses.iter().map(|m| m * power.exp2()).collect()
}

impl Convergence {
    /// The certificate: what it says, and all that a checker needs. Lines that begin with `#` are for readers.
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
            format!("masses {}", numbers(&if s.softmax && s.causal { raised(&s.masses) } else { s.masses.clone() })),
            format!("start {}", numbers(&s.x)),
            format!("order {}", self.order),
            format!("first {}", numbers(&super::step::unit(s.d, &s.x))),
        ];
        let mut t = 0.0;
        for stride in &self.strides {
            lines.push(format!("step {}", dyadic(stride.h)));
            lines.extend(stride.pieces.iter().map(|p| format!("piece {}", numbers(&[p.end, p.growth, p.tube, p.along]))));
            lines.push(format!("next {}", numbers(&stride.x)));
            if let Some((labels, x)) = &stride.merged {
                lines.push(format!("merge {}", labels.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")));
                lines.push(format!("points {}", numbers(x)));
            }
            t += stride.h;
            lines.push(format!("# t = {t:.6e}, error at most {:.3e}", stride.error));
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
        for v in [0.0, 1.0, -0.75, 1e-300, f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), 0.1, -1.0 / 3.0] {
            let text = dyadic(v);
            let (whole, power) = text.split_once('p').expect("a power");
            let (whole, power): (f64, i32) = (whole.parse().expect("an integer"), power.parse().expect("an integer"));
            // In two halves: 2^power alone may be no double.
            let found = whole * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
            assert_eq!(found.to_bits(), v.to_bits(), "{text}");
        }
    }
}
