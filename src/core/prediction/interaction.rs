//! Predictions for interactions other than `e^{beta s}`.

use super::Values;
use crate::attention::interaction::{Interaction, RowSum};
use crate::attention::{RowWeights, TimeScale, Variant};
use crate::error::{Error, Result};
use crate::operation::{Kind, Parameter, any};
use crate::theory::{growth, interaction, spectra};
use serde_json::{Value, json};

/// The parameter of predictions that know any interaction.
pub const INTERACTION: Parameter = Parameter::new(
    "interaction",
    Kind::Text,
    any().excludes(&["time_scale"]).form("PHI"),
    "An interaction phi(s) in the place of e^{beta s}: power:p=3, sigmoid:k=9 or a formula of s and \
     beta such as \"exp(b*s) + s^3; b=2\"",
)
.optional();

/// The interaction, if one is given; beta is its parameter.
pub fn given(v: &Values) -> Result<Option<Interaction>> {
    let beta: Vec<(&str, f64)> = v.get("beta").into_iter().map(|beta| ("beta", beta)).collect();
    match v.get::<String>("interaction") {
        Ok(text) => Interaction::parse(&text, &beta).map(Some),
        Err(_) => Ok(None),
    }
}

fn row_sum(weights: RowWeights, phi: &Interaction) -> Result<RowSum> {
    match weights {
        RowWeights::Softmax => phi.check_row_weights().map(|()| RowSum::Normalised),
        RowWeights::Exponential => Ok(RowSum::Plain),
        RowWeights::Sinkhorn => Err(Error::parameter(
            "dynamics",
            "sinkhorn",
            "sa or usa with an interaction of its own",
        )),
    }
}

/// Growth rates of modes. Modes above the largest one asked for are not compared.
pub fn growth_rates(v: &Values, phi: &Interaction) -> Result<Value> {
    let weights = RowWeights::parse(&v.get::<String>("dynamics")?, &RowWeights::ALL)?;
    let (d, modes) = (v.get("d")?, v.get("modes")?);
    let found = interaction::growth_rates(phi, row_sum(weights, phi)?, d, modes)?;
    let (rates, errors): (Vec<f64>, Vec<f64>) = found.iter().map(|r| (r.value, r.error)).unzip();
    let fastest = growth::fastest_mode(&rates);
    Ok(json!({
        "rates": rates, "rates_error": errors, "fastest": fastest, "switch_points": null,
        "normalisation": null,
    }))
}

/// The spectrum at consensus: that of the variant at beta = 0, times `phi(1)` if rows are not
/// normalised.
pub fn consensus(v: &Values, phi: &Interaction, variant: Variant) -> Result<Value> {
    let (n, d) = (v.get("n")?, v.get("d")?);
    let rate = interaction::consensus_rate(phi, row_sum(variant.weights, phi)?)?;
    let unit = spectra::consensus(variant, n, d, 0.0, TimeScale::U1)?;
    let mut eigenvalues: Vec<f64> = unit.iter().map(|v| rate * v + 0.0).collect();
    eigenvalues.sort_by(f64::total_cmp);
    Ok(json!({"eigenvalues": eigenvalues, "normalisation": null}))
}

/// Rates of the regular polygon.
pub fn polygon(v: &Values, phi: &Interaction) -> Result<Value> {
    let row_sum = row_sum(v.weights()?, phi)?;
    let (rates, error) = interaction::polygon_rates_with_error(phi, row_sum, v.get("m")?)?;
    Ok(json!({"rates": rates, "rates_error": error, "normalisation": null}))
}
