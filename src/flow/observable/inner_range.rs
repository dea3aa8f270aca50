//! Smallest and largest inner product of two different tokens (1 for one token).

use super::Observable;
use crate::sphere::Tokens;

/// Smallest and largest inner product of two different tokens (1 for one token).
pub static ENTRY: Observable = Observable {
    name: "inner-range",
    summary: "Smallest and largest inner product of two different tokens (1 for one token).",
    needs_unit: true,
    columns: |_| vec!["inner_min".into(), "inner_max".into()],
    measure: |_, frame, row| {
        let (low, high) = range(frame.tokens);
        let together = frame.tokens.n() == 1 || frame.tokens.n() < frame.labels.len();
        row.extend([low, if together { 1.0 } else { high }]);
    },
    batch: None,
};

/// Coordinates up to which a row of products is summed column by column, which is several times faster than product by product.
const FEW: usize = 16;

/// Smallest and largest `<x_i, x_j>`, i != j, as [`Tokens::inner`] gives them; 1 and -1 for one token.
fn range(x: &Tokens) -> (f64, f64) {
    let columns: Vec<Vec<f64>> = if x.d() <= FEW { (0..x.d()).map(|c| x.rows().map(|r| r[c]).collect()).collect() } else { Vec::new() };
    let mut products = vec![0.0; x.n()];
    let (mut low, mut high) = (1.0f64, -1.0f64);
    for i in 1..x.n() {
        let row = &mut products[..i];
        if columns.is_empty() {
            row.iter_mut().enumerate().for_each(|(j, g)| *g = x.inner(i, j));
        } else {
            row.fill(0.0);
            columns.iter().zip(x.row(i)).for_each(|(column, own)| row.iter_mut().zip(column).for_each(|(g, v)| *g += own * v));
        }
        let (least, most) = ends(row);
        // Of the row that holds an end the product is taken as everywhere else.
        if least < low {
            low = row.iter().position(|g| *g <= least).map_or(low, |j| x.inner(i, j).min(low));
        }
        if most > high {
            high = row.iter().position(|g| *g >= most).map_or(high, |j| x.inner(i, j).max(high));
        }
    }
    (low, high)
}

/// Smallest and largest number, in eight lanes.
fn ends(row: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    for part in row.chunks(8) {
        for (k, g) in part.iter().enumerate() {
            low[k] = if *g < low[k] { *g } else { low[k] };
            high[k] = if *g > high[k] { *g } else { high[k] };
        }
    }
    (low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::range;
    use crate::num::stream::Stream;
    use crate::sphere::law::Law;

    #[test]
    fn both_ways_of_summing_find_the_ends() {
        for (n, d) in [(1, 3), (2, 2), (37, 3), (40, 16), (41, 17)] {
            let x = Law::parse("uniform").and_then(|l| l.sample(n, d, &mut Stream::new(n as u64, &["range"]))).expect("tokens");
            let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| x.inner(i, j));
            let (low, high) = range(&x);
            // Of two pairs that agree to rounding either may be the end.
            assert!((low - pairs().fold(1.0, f64::min)).abs() <= 4.0 * f64::EPSILON, "n = {n}, d = {d}");
            assert!((high - pairs().fold(-1.0, f64::max)).abs() <= 4.0 * f64::EPSILON, "n = {n}, d = {d}");
        }
    }
}
