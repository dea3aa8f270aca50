//! Any interaction: series and sums against double-double definitions, derivatives against
//! differences, the exponential against its own code, closed forms, bad input.

use metastable::Result;
use metastable::attention::interaction::{
    ALL, Interaction, InteractionAttention, InteractionEnergy, RowSum,
};
use metastable::attention::kernel::{Attention, Weights, Workspace};
use metastable::attention::pattern::{Alibi, Causal, CombinedPattern, Pairs, Rotary, Window};
use metastable::attention::{Dynamics, Energy, EnergyScale, Head, Input, OutputForm, Sublayer};
use metastable::num::dd::Dd;
use metastable::num::deviation::{largest, max_difference};
use metastable::num::interval::Interval;
use metastable::num::simd::Isa;
use metastable::num::stats::{nan_max, nan_min};
use metastable::num::stream::Stream;
use metastable::num::sum::dot;
use metastable::num::vector::max_abs;
use metastable::sphere::Tokens;
use metastable::sphere::geometry::{exp, project};
use std::collections::BTreeSet;

/// Named interactions and formulas of every form: powers, Chebyshev sums, exponentials, pieces.
const INTERACTIONS: [&str; 14] = [
    "exp:beta=4",
    "exp:beta=60",
    "exp:beta=-3",
    "gauss:k=0.5",
    "power:p=3",
    "relu:p=1",
    "relu:p=2",
    "softplus:k=7",
    "sigmoid:k=9",
    "log:c=0.1",
    "inverse:c=0.1",
    "cosh:k=3",
    "polynomial:1,0,2",
    "exp(2*s) + 0.3*s^3 + abs(s - 0.25)",
];

fn tokens(n: usize, d: usize, name: &str) -> Tokens {
    let mut stream = Stream::new(46, &["interaction", name]);
    let mut rows = vec![0.0; n * d];
    stream.normals(&mut rows);
    let masses: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
    let total: f64 = masses.iter().sum();
    let masses: Vec<f64> = masses.iter().map(|m| m / total).collect();
    Tokens::normalised(d, rows).and_then(|x| x.with_masses(&masses)).expect("tokens")
}

fn evaluate(sublayer: &dyn Sublayer, x: &Tokens, form: OutputForm) -> Vec<f64> {
    let mut out = vec![f64::NAN; x.n() * x.d()];
    sublayer.evaluate(&Input { t: 0.0, tokens: x }, form, &mut Workspace::default(), &mut out);
    out
}

/// Largest error, relative to `scale`.
fn error(found: &[f64], expected: &[f64], scale: f64) -> f64 {
    max_difference(found, expected) / scale
}

#[test]
fn series_and_weights_agree_with_the_formula_in_double_doubles() -> Result<()> {
    for text in INTERACTIONS {
        let phi = Interaction::parse(text, &[])?;
        let size = phi.sizes().0;
        assert!(phi.error() <= 1e-16 * size, "{text}: {:e}", phi.error() / size);
        let mut worst: f64 = 0.0;
        for k in 0..=1000 {
            let z = f64::from(k) / 500.0;
            let exact = phi.at_exact(Dd::from(1.0) - Dd::from(z))?.value.to_f64();
            worst = largest([worst, (phi.weights().value(z) - exact).abs() / size]);
            let s = 1.0 - z;
            let inside = phi.enclosure(Interval::exact(s))?.value;
            let value = phi.at_exact(Dd::from(s))?.value.to_f64();
            assert!(inside.lo() <= value && value <= inside.hi(), "{text} at {s}");
        }
        println!("{text}: {} terms, weights to {worst:.1e}", phi.terms());
        assert!(worst < 1e-14, "{text}: {worst:e}");
    }
    // Exponentials keep small weights relatively accurate.
    let steep = Interaction::parse("exp:beta=200", &[])?;
    for z in [0.0, 0.3, 1.0, 1.7, 2.0] {
        let relative = steep.weights().value(z) / (200.0 * (1.0 - z)).exp() - 1.0;
        assert!(relative.abs() < 1e-13, "{z} {relative:e}");
    }
    Ok(())
}

#[test]
fn velocities_agree_with_their_definition() -> Result<()> {
    let mut normalised = BTreeSet::new();
    for text in INTERACTIONS {
        for (n, d) in [(1, 3), (7, 2), (40, 3), (300, 4), (33, 5), (150, 17)] {
            let x = tokens(n, d, "definition");
            let phi = Interaction::parse(text, &[])?;
            let size = phi.sizes().0;
            let mut rows = vec![RowSum::Plain];
            if phi.check_row_weights().is_ok() {
                rows.push(RowSum::Normalised);
                normalised.insert(text);
            }
            // The definition takes a while.
            if n > 100 && !["relu:p=1", "exp:beta=4", "sigmoid:k=9"].contains(&text) {
                continue;
            }
            for (row_sum, causal) in rows.into_iter().flat_map(|r| [(r, false), (r, true)]) {
                let one = InteractionAttention::new(phi.clone(), row_sum)?.causal(causal);
                let scale = if row_sum == RowSum::Plain { size } else { 1.0 };
                let floor = if row_sum == RowSum::Plain { 1.0 } else { 20.0 };
                for form in [OutputForm::Tangent, OutputForm::Sum, OutputForm::Difference] {
                    let expected = one.definition(&Input { t: 0.0, tokens: &x }, form).expect("it");
                    for isa in Isa::available() {
                        let found = evaluate(&one.clone().with_isa(isa), &x, form);
                        let gap = error(&found, &expected, scale);
                        assert!(
                            gap < floor * 1e-14,
                            "{text} {row_sum:?} causal {causal} {form:?} {isa:?} n {n} d {d}: {gap:e}"
                        );
                    }
                    // The row sums are another algorithm.
                    let rows = one.clone().with_pattern(CombinedPattern::new(if causal {
                        vec![Box::new(Causal)]
                    } else {
                        Vec::new()
                    }))?;
                    let gap = error(&evaluate(&rows, &x, form), &expected, scale);
                    assert!(gap < floor * 1e-14, "rows: {text} {form:?} n {n} d {d}: {gap:e}");
                }
            }
        }
    }
    // Most of the interactions have no negative weights.
    assert!(normalised.len() >= 11, "{normalised:?}");
    Ok(())
}

/// Functions by whose sums rows are divided: of one piece, by their logarithm, with kinks, long.
const ROW_WEIGHTS: [&str; 4] = ["2 + s", "exp:beta=5", "0.1 + relu(s)", "1.5 + sin(20*s)"];

#[test]
fn divided_velocities_agree_with_their_definition() -> Result<()> {
    for (text, kappa) in INTERACTIONS.iter().zip(ROW_WEIGHTS.iter().cycle()) {
        let (phi, kappa) = (Interaction::parse(text, &[])?, Interaction::parse(kappa, &[])?);
        let least = (0..=100).map(|k| kappa.value(f64::from(k) / 50.0 - 1.0));
        let least = least.collect::<Result<Vec<_>>>()?.into_iter().fold(f64::INFINITY, nan_min);
        let one = InteractionAttention::with_row_weights(phi.clone(), kappa.clone())?;
        for (n, d) in [(1, 3), (7, 2), (40, 3), (33, 5), (70, 17)] {
            let x = tokens(n, d, "divided");
            for causal in [false, true] {
                let flow = one.clone().causal(causal).repelling(causal);
                for form in [OutputForm::Tangent, OutputForm::Sum, OutputForm::Difference] {
                    let input = Input { t: 0.0, tokens: &x };
                    let expected = flow.definition(&input, form).expect("it");
                    for isa in Isa::available() {
                        let found = evaluate(&flow.clone().with_isa(isa), &x, form);
                        let gap = error(&found, &expected, phi.sizes().0 / least);
                        let name = kappa.name();
                        assert!(gap < 2e-14, "{text} over {name} {form:?} n {n} d {d}: {gap:e}");
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn exponential_interactions_are_softmax_and_usa_attention() -> Result<()> {
    for (beta, d) in [(4.0, 3), (-2.5, 2), (40.0, 9)] {
        let x = tokens(70, d, "exponential");
        let phi = Interaction::parse(&format!("exp:beta={beta}"), &[])?;
        let sa = InteractionAttention::new(phi.clone(), RowSum::Normalised)?;
        let usa = InteractionAttention::new(phi.clone(), RowSum::Plain)?;
        let known = Attention::new(beta);
        let plain =
            Attention { weights: Weights::Exponential { log_factor: 0.0 }, ..known.clone() };
        for (one, known) in [(sa, known), (usa, plain)] {
            let expected = evaluate(&known, &x, OutputForm::Tangent);
            let found = evaluate(&one, &x, OutputForm::Tangent);
            // Relative to each row: small weights are as accurate as large ones.
            for (f, e) in found.chunks(d).zip(expected.chunks(d)) {
                let size = dot(e, e).sqrt();
                assert!(error(f, e, size) < 1e-13, "beta {beta} d {d}: {f:?} {e:?}");
            }
        }
        let (energy, known) = (InteractionEnergy::new(phi), Energy::new(beta, EnergyScale::Mean));
        let expected = known.value(&x)?;
        assert!((energy.value(&x) / expected - 1.0).abs() < 2e-14, "beta {beta}");
        let x = tokens(6, d, "hessian");
        let (found, expected) = (energy.hessian_eigenvalues(&x)?, known.hessian_eigenvalues(&x)?);
        let scale = max_abs(&expected);
        assert!(error(&found, &expected, scale) < 1e-13);
    }
    Ok(())
}

#[test]
fn small_drifts_keep_their_digits() -> Result<()> {
    // Two tokens at the distance e: theta' = phi(cos e) sin(e) / 2.
    for text in ["power:p=3", "sigmoid:k=9", "exp:beta=4", "relu:p=1"] {
        let phi = Interaction::parse(text, &[])?;
        for gap in [1e-3, 1e-8, 1e-30] {
            for opposite in [false, true] {
                let sign = if opposite { -1.0 } else { 1.0 };
                let rows = vec![1.0, 0.0, sign * f64::cos(gap), sign * f64::sin(gap)];
                let x = Tokens::new(2, rows)?;
                let one = InteractionAttention::new(phi.clone(), RowSum::Plain)?;
                let v = evaluate(&one, &x, OutputForm::Tangent);
                let expected = 0.5 * phi.value(sign * gap.cos())? * sign * gap.sin();
                let scale = gap * phi.sizes().0;
                assert!((v[1] - expected).abs() < 1e-14 * scale, "{text} {gap} {opposite}");
            }
        }
    }
    Ok(())
}

#[test]
fn masks_biases_positions_and_matrices_agree_with_the_definition() -> Result<()> {
    let (n, d) = (24, 4);
    let x = tokens(n, d, "patterns");
    let normals = |name: &str| {
        let mut out = vec![0.0; d * d];
        Stream::new(5, &["interaction", name]).normals(&mut out);
        out.iter_mut().for_each(|v| *v *= 0.6);
        (d, out)
    };
    let heads = || -> Result<Vec<Head>> {
        Ok(vec![
            Head::new(d, Some(normals("q")), Some(normals("k")), Some(normals("v")))?,
            Head::new(d, Some(normals("q2")), None, None)?,
        ])
    };
    for text in ["exp(2*s) + 1", "relu:p=1", "1 + s^2"] {
        let phi = Interaction::parse(text, &[])?;
        let flow = || InteractionAttention::new(phi.clone(), RowSum::Normalised);
        let kappa = Interaction::parse("1.5 + sin(s)", &[])?;
        let divided = || InteractionAttention::with_row_weights(phi.clone(), kappa.clone());
        let all = [
            flow()?.with_pattern(Window::new(3)?)?,
            flow()?.with_pattern(CombinedPattern::new(vec![
                Box::new(Causal),
                Box::new(Alibi::new(1)?),
            ]))?,
            flow()?.with_pattern(Rotary::new(10.0, Pairs::Adjacent, d)?)?,
            flow()?.with_heads(heads()?)?,
            flow()?.with_heads(heads()?)?.with_pattern(Rotary::new(10.0, Pairs::Halves, d)?)?,
            divided()?.with_pattern(Window::new(3)?)?,
            divided()?.with_pattern(Alibi::new(1)?)?,
            divided()?.with_heads(heads()?)?,
            divided()?.with_heads(heads()?)?.with_pattern(Rotary::new(10.0, Pairs::Halves, d)?)?,
        ];
        for (k, one) in all.iter().enumerate() {
            for form in [OutputForm::Tangent, OutputForm::Sum, OutputForm::Difference] {
                let expected = one.definition(&Input { t: 0.0, tokens: &x }, form).expect("it");
                let scale = nan_max(1.0, max_abs(&expected));
                let gap = error(&evaluate(one, &x, form), &expected, scale);
                assert!(gap < 3e-14, "{text} pattern {k} {form:?}: {gap:e}");
            }
        }
    }
    Ok(())
}

#[test]
fn gradients_and_hessians_are_derivatives_of_the_energy() -> Result<()> {
    let d = 3;
    let form = vec![0.9, 0.2, -0.1, 0.2, -1.3, 0.3, -0.1, 0.3, 0.4];
    let x = tokens(9, d, "derivatives");
    let mut stream = Stream::new(9, &["interaction", "direction"]);
    let mut u = vec![0.0; x.n() * d];
    stream.normals(&mut u);
    for (row, own) in u.chunks_exact_mut(d).zip(x.rows()) {
        project(own, row);
    }
    let moved = |h: f64| {
        let rows = x.rows().zip(u.chunks_exact(d));
        let y =
            rows.flat_map(|(r, u)| exp(r, &u.iter().map(|v| h * v).collect::<Vec<_>>())).collect();
        Tokens::from_parts(d, y, x.masses().to_vec())
    };
    for text in ["exp:beta=4", "power:p=3", "sigmoid:k=5", "log:c=1", "cosh:k=2", "relu:p=3"] {
        for with_form in [false, true] {
            let mut energy = InteractionEnergy::new(Interaction::parse(text, &[])?);
            if with_form {
                if text.starts_with("log") {
                    // ln(3/(2 - s)) is not finite at s = -1.4... s = 2 stays outside.
                    continue;
                }
                energy = energy.with_form(d, (d, form.clone()))?;
            }
            let h = 1e-4;
            let e = |k: f64| energy.value(&moved(k * h));
            let slope = (8.0 * (e(1.0) - e(-1.0)) - (e(2.0) - e(-2.0))) / (12.0 * h);
            let curvature =
                (16.0 * (e(1.0) + e(-1.0)) - (e(2.0) + e(-2.0)) - 30.0 * e(0.0)) / (12.0 * h * h);
            let scale = energy.interaction().sizes().0 + energy.interaction().sizes().1;
            let (grad, hess) = (energy.grad(&x), energy.hess_vec(&x, &u));
            assert!((dot(&grad, &u) - slope).abs() < 1e-10 * scale, "{text} {with_form}");
            let gap = (dot(&hess, &u) - curvature).abs();
            assert!(gap < 3e-7 * scale, "{text} {with_form}: {gap:e}");
            // The dense matrix is the same operator.
            let dense = energy.hessian(&x)?;
            let size = x.n() * (d - 1);
            let bases: Vec<Vec<f64>> =
                x.rows().map(metastable::sphere::geometry::tangent_basis).collect();
            let c = |rows: &[f64]| -> Vec<f64> {
                (0..size)
                    .map(|k| {
                        let (i, a) = (k / (d - 1), k % (d - 1));
                        dot(&bases[i][a * d..][..d], &rows[i * d..][..d])
                    })
                    .collect()
            };
            let (v, expected) = (c(&u), c(&hess));
            let product: Vec<f64> = dense.chunks(size).map(|row| dot(row, &v)).collect();
            let gap = error(&product, &expected, scale);
            assert!(gap < 2e-14, "{text} {with_form}: {gap:e}");
        }
    }
    Ok(())
}

#[test]
fn flows_commute_with_rotations_and_keep_their_bytes_for_any_threads() -> Result<()> {
    let x = tokens(700, 9, "threads");
    let phi = Interaction::parse("sigmoid:k=9", &[])?;
    let one = InteractionAttention::new(phi, RowSum::Normalised)?;
    let rows = one.clone().with_pattern(Window::new(500)?)?;
    for sublayer in [&one, &rows] {
        let many = evaluate(sublayer, &x, OutputForm::Tangent);
        let single =
            metastable::num::threads::sequentially(|| evaluate(sublayer, &x, OutputForm::Tangent));
        assert!(many.iter().zip(&single).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
    // A reflection of the first coordinate.
    let flip = |rows: &[f64]| -> Vec<f64> {
        rows.iter().enumerate().map(|(k, v)| if k % 9 == 0 { -v } else { *v }).collect()
    };
    let mirrored = Tokens::from_parts(9, flip(x.coordinates()), x.masses().to_vec());
    let found = evaluate(&one, &mirrored, OutputForm::Tangent);
    assert!(error(&found, &flip(&evaluate(&one, &x, OutputForm::Tangent)), 1.0) < 1e-15);
    Ok(())
}

#[test]
fn cubic_tokens_gather_and_their_energy_rises() -> Result<()> {
    use metastable::flow::{Options, solve};
    let x = tokens(20, 3, "cubic");
    let phi = Interaction::parse("s^3", &[])?;
    let energy = InteractionEnergy::new(phi.clone());
    let flow = Dynamics::single(InteractionAttention::new(phi, RowSum::Plain)?);
    let end = solve(&flow, &x, 1e3, &Options::default(), &mut [])?;
    // s^3 is odd: tokens gather at two opposite points or at one.
    assert!(energy.value(&end.clusters) > energy.value(&x));
    assert!(end.clusters.n() <= 2, "{} clusters", end.clusters.n());
    Ok(())
}

#[test]
fn the_bound_of_the_speed_holds_between_samples() -> Result<()> {
    // The larger of two narrow maxima lies between two multiples of 2^-11.
    let text = "exp(-1e6*(s + 0.5)^2) + 1.02*exp(-1e6*(s - 0.300049)^2)";
    let flow = InteractionAttention::new(Interaction::parse(text, &[])?, RowSum::Plain)?;
    let bound = flow.properties().speed_bound.expect("a bound");
    assert!((1.02..1.02001).contains(&bound), "{bound}");
    // s - 2 T_2(s) is -3 at s = -1.
    let chebyshev = Interaction::parse("chebyshev:0,1,-2", &[])?;
    let flow = InteractionAttention::new(chebyshev, RowSum::Plain)?;
    let bound = flow.properties().speed_bound.expect("a bound");
    assert!((3.0..3.0001).contains(&bound), "{bound}");
    Ok(())
}

#[test]
fn wrong_interactions_are_refused_with_a_reason() {
    let said = |text: &str| Interaction::parse(text, &[]).unwrap_err().to_string();
    for (text, reason) in [
        ("", "a formula of s"),
        ("powr:p=3", "did you mean `power`?"),
        ("power:q=3", "parameter of the interaction"),
        ("exp:beta=1e9", "[-300, 300]"),
        ("polynomial:1,x", "numbers, such as 1,0,2"),
        ("exp(bta*s)", "unknown name in the formula `bta`"),
        ("1/(s - 0.5)", "inf at s = 0.5"),
        ("sqrt(s)", "no real number at s = -1"),
        ("ln(s)", "no real number at s = -1"),
        ("power:p=2.5", "no real number at s = -1"),
        ("sqrt(1 - s)", "near s = 1: a series needs more than 16384 terms"),
        ("1/(s - 0.3)", "near s = 0.3:"),
        ("relu(s)^0.5", "near s = 0:"),
        ("s^p", "s^p; p=1"),
    ] {
        let message = said(text);
        assert!(message.contains(reason), "`{text}`: {message}");
    }
    let cubic = Interaction::parse("s^3", &[]).expect("a polynomial");
    let message = InteractionAttention::new(cubic, RowSum::Normalised).err().expect("negative");
    assert!(message.to_string().contains("kappa >= 0"), "{message}");
    let relu = Interaction::parse("relu:p=1", &[]).expect("pieces");
    assert!(relu.derivative(0.0).unwrap_err().to_string().contains("a kink at s = 0"));
    assert!(relu.second_derivative(0.5).is_ok());
    let square = Interaction::parse("relu:p=2", &[]).expect("pieces");
    assert!(square.derivative(0.0).is_ok() && square.second_derivative(0.0).is_err());
    assert!(ALL.iter().all(|e| Interaction::parse(e.name, &[]).is_ok()));
    let own = Interaction::parse("s^p; p=3", &[]).expect("a parameter of its own");
    assert!(own.value(0.5).is_ok_and(|v| v.to_bits() == 0.125f64.to_bits()));
}
