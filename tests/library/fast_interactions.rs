//! Fast sums of any interaction: their accuracy, their series, kinks beside doubles, threads.

use metastable::Result;
use metastable::attention::interaction::{Interaction, InteractionAttention, RowSum};
use metastable::attention::kernel::{Series, Workspace};
use metastable::attention::{Input, OutputForm, Sublayer};
use metastable::num::chebyshev_series::ChebyshevSeries;
use metastable::num::dd::Dd;
use metastable::num::deviation::largest;
use metastable::num::number::Number;
use metastable::num::simd::Isa;
use metastable::num::stream::Stream;
use metastable::num::sum::dot;
use metastable::sphere::Tokens;

fn tokens(n: usize, d: usize, equal_masses: bool) -> Tokens {
    let mut rows = vec![0.0; n * d];
    Stream::new(47, &["fast"]).normals(&mut rows);
    let x = Tokens::normalised(d, rows).expect("tokens");
    if equal_masses {
        return x;
    }
    let total: usize = (0..n).map(|i| 1 + i % 3).sum();
    let masses: Vec<f64> = (0..n).map(|i| (1 + i % 3) as f64 / total as f64).collect();
    x.with_masses(&masses).expect("masses")
}

fn evaluate(sublayer: &dyn Sublayer, x: &Tokens, form: OutputForm) -> Vec<f64> {
    let mut out = vec![f64::NAN; x.n() * x.d()];
    sublayer.evaluate(&Input { t: 0.0, tokens: x }, form, &mut Workspace::default(), &mut out);
    out
}

/// The largest error of a row, relative to its length.
fn row_error(found: &[f64], exact: &[f64], d: usize) -> f64 {
    let rows = found.chunks(d).zip(exact.chunks(d));
    let error = |(a, b): (&[f64], &[f64])| {
        let gap: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let square = dot(&gap, &gap);
        // The first token of a causal flow rests.
        if square == 0.0 { 0.0 } else { (square / dot(b, b)).sqrt() }
    };
    largest(rows.map(error))
}

/// Interactions of every form: powers, Chebyshev sums, exponentials, pieces.
const INTERACTIONS: [&str; 9] = [
    "exp:beta=4",
    "exp(2*s) + 0.3*s^3 + sin(7*s)",
    "power:p=3",
    "power:p=2",
    "sigmoid:k=9",
    "inverse:c=0.02",
    "relu:p=1",
    "relu(s + 0.9)",
    "abs(sin(4*s)) + exp(s)",
];

#[test]
fn fast_sums_keep_the_accuracy() -> Result<()> {
    // The tokens, and the algorithm for an interaction without and with kinks.
    for (n, d, smooth, kinked) in [
        (1500, 2, "fourier", "arcs"),
        (5000, 3, "harmonics", "inner"),
        (200, 6, "", ""),
        (300, 33, "products", "products"),
    ] {
        for text in INTERACTIONS {
            // Exact sums of many tokens take a while.
            if n > 2000 && !["exp:beta=4", "power:p=3", "relu(s + 0.9)"].contains(&text) {
                continue;
            }
            let phi = Interaction::parse(text, &[])?;
            let x = tokens(n, d, text.len() % 2 == 0);
            for row_sum in [RowSum::Plain, RowSum::Normalised] {
                let Ok(one) = InteractionAttention::new(phi.clone(), row_sum) else {
                    let values = (0..=100).map(|k| phi.value(f64::from(k) / 50.0 - 1.0));
                    let values = values.collect::<Result<Vec<_>>>()?;
                    let refuses = row_sum == RowSum::Normalised && values.iter().any(|v| *v < 0.0);
                    assert!(refuses, "{text} {row_sum:?}");
                    continue;
                };
                for (causal, form) in [
                    (false, OutputForm::Tangent),
                    (false, OutputForm::Sum),
                    (true, OutputForm::Tangent),
                ] {
                    let exact = one.clone().causal(causal).repelling(causal);
                    let expected = evaluate(&exact, &x, form);
                    for isa in Isa::available() {
                        let fast = exact.clone().with_accuracy(1e-9).with_isa(isa);
                        let error = row_error(&evaluate(&fast, &x, form), &expected, d);
                        assert!(
                            error <= 1e-9,
                            "{text} {row_sum:?} causal {causal} {form:?} {isa:?} n {n} d {d}: {error:e}"
                        );
                    }
                }
                let names = if phi.series().len() > 1 { kinked } else { smooth };
                let found = one.with_accuracy(1e-9).algorithm(&x, OutputForm::Tangent)?;
                let is_fast = found.starts_with(names) && found != "direct";
                assert!(is_fast, "{text} n {n} d {d}: {found}");
            }
        }
    }
    Ok(())
}

#[test]
fn fast_sums_divided_by_row_weights_of_their_own_keep_the_accuracy() -> Result<()> {
    let kappas = ["2 + sin(7*s)", "exp:beta=6", "0.1 + relu(s)"];
    for (n, d) in [(1500, 2), (1800, 3), (200, 6), (300, 33)] {
        let x = tokens(n, d, d == 3);
        for (text, kappa) in INTERACTIONS.iter().zip(kappas.iter().cycle()) {
            let (phi, kappa) = (Interaction::parse(text, &[])?, Interaction::parse(kappa, &[])?);
            let one = InteractionAttention::with_row_weights(phi, kappa.clone())?;
            for form in [OutputForm::Tangent, OutputForm::Sum] {
                let expected = evaluate(&one, &x, form);
                let fast = one.clone().with_accuracy(1e-9);
                let error = row_error(&evaluate(&fast, &x, form), &expected, d);
                let name = kappa.name();
                assert!(error <= 2e-9, "{text} over {name} {form:?} n {n} d {d}: {error:e}");
            }
            // Elsewhere differences may be the fastest.
            let fast = one.with_accuracy(1e-9).algorithm(&x, OutputForm::Tangent)?;
            assert!(![2, 33].contains(&d) || fast != "direct", "{text} n {n} d {d}");
        }
    }
    Ok(())
}

#[test]
fn row_weights_below_their_error_bound_are_exact() -> Result<()> {
    // kappa is 1e-6 of its largest value where most tokens are: series do not resolve it.
    for d in [2, 3] {
        let mut rows = vec![0.0; 900 * d];
        let mut stream = Stream::new(7, &["fast", "far"]);
        stream.normals(&mut rows);
        // A few tokens are alone at the other end.
        for (i, row) in rows.chunks_exact_mut(d).enumerate() {
            row.iter_mut().for_each(|v| *v *= 0.05);
            row[0] += if i % 100 == 7 { -1.0 } else { 1.0 };
        }
        let masses: Vec<f64> =
            (0..900).map(|i| if i % 100 == 7 { 1e-9 } else { 1.0 / 891.0 }).collect();
        let total: f64 = masses.iter().sum();
        let masses: Vec<f64> = masses.iter().map(|m| m / total).collect();
        let x = Tokens::normalised(d, rows)?.with_masses(&masses)?;
        let phi = Interaction::parse("1 + s^3", &[])?;
        let kappa = Interaction::parse("1e-7 + ((1 + s)/2)^40", &[])?;
        let one = InteractionAttention::with_row_weights(phi, kappa)?;
        let expected = evaluate(&one, &x, OutputForm::Tangent);
        let found = evaluate(&one.clone().with_accuracy(1e-9), &x, OutputForm::Tangent);
        assert!(row_error(&found, &expected, d) <= 2e-9);
        let input = Input { t: 0.0, tokens: &x };
        let defined = one.definition(&input, OutputForm::Tangent).expect("a definition");
        assert!(row_error(&expected, &defined, d) <= 1e-7);
    }
    Ok(())
}

#[test]
fn rows_beyond_their_error_bound_are_exact() -> Result<()> {
    // Two clusters of width 1e-7: velocities of this size are far below the rounding of sums.
    for (d, count) in [(2, 40), (3, 300), (9, 40)] {
        let mut rows = vec![0.0; 2 * count * d];
        let mut stream = Stream::new(5, &["fast", "clusters"]);
        stream.normals(&mut rows);
        for (i, row) in rows.chunks_exact_mut(d).enumerate() {
            row.iter_mut().for_each(|v| *v *= 1e-7);
            row[i % 2] += 1.0;
        }
        let x = Tokens::normalised(d, rows)?;
        let one = InteractionAttention::new(Interaction::parse("power:p=3", &[])?, RowSum::Plain)?;
        let expected = evaluate(&one, &x, OutputForm::Tangent);
        let found = evaluate(&one.with_accuracy(1e-9), &x, OutputForm::Tangent);
        assert!(row_error(&found, &expected, d) <= 1e-9);
    }
    Ok(())
}

#[test]
fn weights_that_vanish_are_sums_of_nothing() -> Result<()> {
    // Only the token itself has a weight, or none at all.
    for text in ["relu(s - 0.5)", "relu(-0.5 - s)"] {
        for d in [2, 3, 9] {
            let rows = (0..d).flat_map(|i| (0..d).map(move |k| f64::from(u8::from(i == k))));
            let x = Tokens::new(d, rows.collect())?;
            let phi = Interaction::parse(text, &[])?;
            let one = InteractionAttention::new(phi, RowSum::Normalised)?.with_accuracy(1e-9);
            let v = evaluate(&one, &x, OutputForm::Tangent);
            assert!(v.iter().all(|v| v.abs() < 1e-15), "{text} {d}: {v:?}");
        }
    }
    Ok(())
}

#[test]
fn series_of_the_exponential_are_its_bessel_functions() -> Result<()> {
    for beta in [0.5, 4.0, 30.0, -9.0] {
        let value = |s: Dd| {
            let exponent = Dd::from(beta) * s - Dd::from(f64::abs(beta));
            Ok(Number::exp(exponent))
        };
        let series = ChebyshevSeries::fit(value, -1.0, 1.0)?;
        for (found, known) in [
            (
                Series::from_chebyshev(&series.coefficients(), 1e-15, series.error()),
                Series::circle(beta, 1e-15),
            ),
            (
                Series::from_legendre(&series.legendre(), 1e-15, series.error()),
                Series::sphere(beta, 1e-15),
            ),
        ] {
            let pairs = known.kernel.iter().zip(&found.kernel);
            let slopes = known.primitive.iter().zip(&found.primitive);
            for (k, (a, b)) in pairs.chain(slopes).enumerate() {
                assert!((a - b).abs() < 2e-16, "beta {beta} {k}: {a} {b}");
            }
            assert!(found.kernel.len().abs_diff(known.kernel.len()) <= 1, "beta {beta}");
        }
    }
    Ok(())
}

#[test]
fn kinks_beside_their_doubles_are_pieces() -> Result<()> {
    for (text, kinks) in [
        ("relu(s + 0.9)", 1),
        ("abs(sin(4*s))", 3),
        ("relu(s - 0.7)^2*exp(s)", 1),
        ("relu(abs(s) - 0.3)", 3),
        ("relu(0.1 - relu(s + 0.3))", 2),
    ] {
        let phi = Interaction::parse(text, &[])?;
        assert!(phi.terms() < 40 && phi.series().len() <= kinks + 1, "{text}");
        let mut stream = Stream::new(3, &["fast", "kinks"]);
        for k in 0..400 {
            let ends = phi.series()[k % phi.series().len()].interval();
            let s = if k < 50 { ends.0 } else { stream.uniform_in(-1.0, 1.0) };
            let exact = phi.at_exact(Dd::from(s))?.value.to_f64();
            let found = phi.weights().value(1.0 - s);
            // 1 - s rounds, and slopes are at most 4.
            assert!((found - exact).abs() < 2e-15, "{text} at {s}: {found} {exact}");
        }
    }
    Ok(())
}

#[test]
fn fast_sums_keep_their_bytes_for_any_threads() -> Result<()> {
    for (n, d) in [(3000, 2), (1500, 3), (700, 7), (400, 40)] {
        let x = tokens(n, d, true);
        for text in ["exp(2*s) + 0.3*s^3", "relu(s + 0.9)"] {
            let phi = Interaction::parse(text, &[])?;
            let one = InteractionAttention::new(phi, RowSum::Plain)?.with_accuracy(1e-9);
            let many = evaluate(&one, &x, OutputForm::Tangent);
            let single =
                metastable::num::threads::sequentially(|| evaluate(&one, &x, OutputForm::Tangent));
            assert!(many.iter().zip(&single).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
    Ok(())
}
