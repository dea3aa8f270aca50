//! Twenty interactions drawn at random against 60-digit values of tests/data/interactions.py, at
//! the documented accuracy: velocities, energies, Hessians, ends of runs, growth rates.

use crate::common::{number, numbers, reference, rows};
use metastable::Result;
use metastable::attention::Dynamics;
use metastable::attention::interaction::{
    Interaction, InteractionAttention, InteractionEnergy, RowSum,
};
use metastable::flow::{Options, solve};
use metastable::num::deviation::{largest, max_difference, relative_difference};
use metastable::sphere::Tokens;
use metastable::theory::interaction::growth_rates;
use serde_json::Value;

/// The interactions with their tokens.
fn cases() -> Vec<(Value, Interaction, Tokens)> {
    let read = |case: Value| {
        let text = case["formula"].as_str().expect("a formula");
        let phi = Interaction::parse(text, &[]).unwrap_or_else(|e| panic!("{text}: {e}"));
        let x = rows(&case["tokens"]);
        let tokens = Tokens::normalised(x[0].len(), x.concat())
            .and_then(|t| t.with_masses(&numbers(&case["masses"])))
            .expect("tokens");
        (case, phi, tokens)
    };
    let all: Vec<_> = reference("interactions").into_iter().map(read).collect();
    assert_eq!(all.len(), 20);
    all
}

/// The flows of a case with their names and the sizes of their weights.
fn flows(phi: &Interaction, case: &Value) -> Result<Vec<(&'static str, Dynamics, f64)>> {
    let size = phi.sizes().0;
    let mut all = vec![("usa", RowSum::Plain, size)];
    if !case["sa"].is_null() {
        // Weights are divided by their sum, which is at least 1/100 of the largest one.
        all.push(("sa", RowSum::Normalised, 100.0));
    }
    all.into_iter()
        .map(|(name, row_sum, scale)| {
            let flow = InteractionAttention::new(phi.clone(), row_sum)?;
            Ok((name, Dynamics::single(flow), scale))
        })
        .collect()
}

#[test]
fn velocities_of_random_interactions() -> Result<()> {
    let mut worst: f64 = 0.0;
    let mut divided = 0;
    for (case, phi, x) in cases() {
        for (name, flow, scale) in flows(&phi, &case)? {
            let error = max_difference(&flow.velocity(&x), &rows(&case[name]).concat()) / scale;
            worst = largest([worst, error]);
            assert!(error < 1e-14, "{name} of {}: {error:e}", phi.name());
            divided += usize::from(name == "sa");
        }
    }
    assert!(divided >= 5, "{divided} cases with normalised rows");
    println!("velocities to {worst:.1e}");
    Ok(())
}

#[test]
fn velocities_divided_by_row_weights_of_their_own() -> Result<()> {
    let mut worst: f64 = 0.0;
    for (case, phi, x) in cases() {
        let text = case["row_weights"].as_str().expect("a formula");
        let kappa = Interaction::parse_row_weights(text, &[])?;
        // kappa is at least a tenth.
        let scale = 10.0 * phi.sizes().0;
        let expected = rows(&case["divided"]).concat();
        let flow = Dynamics::single(InteractionAttention::with_row_weights(phi.clone(), kappa)?);
        let error = max_difference(&flow.velocity(&x), &expected) / scale;
        worst = largest([worst, error]);
        assert!(error < 1e-14, "{} over {text}: {error:e}", phi.name());
        // The reference tells kappa from a constant.
        let one = Interaction::parse("1", &[])?;
        let other = Dynamics::single(InteractionAttention::with_row_weights(phi.clone(), one)?);
        let apart = relative_difference(&other.velocity(&x), &expected);
        assert!((1e-3..f64::INFINITY).contains(&apart), "{text}: {apart:e}");
    }
    println!("divided velocities to {worst:.1e}");
    Ok(())
}

#[test]
fn energies_and_hessians_of_random_interactions() -> Result<()> {
    let mut worst = [0.0f64; 2];
    for (case, phi, x) in cases() {
        let (size, slope) = phi.sizes();
        let energy = InteractionEnergy::new(phi.clone());
        let error = (energy.value(&x) - number(&case["energy"])).abs() / size;
        assert!(error < 2e-15, "energy of {}: {error:e}", phi.name());
        let expected = numbers(&case["hessian_eigenvalues"]);
        let spread = max_difference(&energy.hessian_eigenvalues(&x)?, &expected) / (size + slope);
        assert!(spread < 1e-14, "Hessian of {}: {spread:e}", phi.name());
        worst = [largest([worst[0], error]), largest([worst[1], spread])];
    }
    println!("energies to {:.1e}, Hessians to {:.1e}", worst[0], worst[1]);
    Ok(())
}

#[test]
fn ends_of_runs_of_random_interactions() -> Result<()> {
    let mut worst: f64 = 0.0;
    for (case, phi, x) in cases() {
        for (name, flow, _) in flows(&phi, &case)? {
            let t = number(&case["t_end"]);
            let options = Options { rtol: 1e-13, merge_radius: 0.0, ..Options::default() };
            let end = solve(&flow, &x, t, &options, &mut [])?.clusters;
            let expected = rows(&case[format!("{name}_end")]).concat();
            let error = max_difference(end.coordinates(), &expected);
            worst = largest([worst, error]);
            assert!(error < 1e-12, "{name} of {}: {error:e}", phi.name());
        }
    }
    println!("ends of runs to {worst:.1e}");
    Ok(())
}

#[test]
fn growth_rates_of_random_interactions() -> Result<()> {
    let mut worst: f64 = 0.0;
    for (case, phi, x) in cases() {
        let found = growth_rates(&phi, RowSum::Plain, x.d(), 5)?;
        for (k, expected) in numbers(&case["growth_rates"]).iter().enumerate() {
            let rate = found[k + 1];
            let error = (rate.value - expected).abs();
            worst = largest([worst, error]);
            // The reference has 1e-20; the stated error covers the rest.
            assert!(error <= rate.error + 1e-18, "mode {} of {}: {error:e}", k + 1, phi.name());
        }
    }
    println!("growth rates to {worst:.1e}");
    Ok(())
}
