//! Exact numbers in certificates.

/// A double as `mpk`: an integer m, the letter p, the exponent k of a power of two.
pub(crate) fn dyadic(v: f64) -> String {
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

/// Doubles as words.
pub(crate) fn numbers(v: &[f64]) -> String {
    v.iter().map(|v| dyadic(*v)).collect::<Vec<_>>().join(" ")
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
