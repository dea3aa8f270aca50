//! Merging times of two clusters against the exact reduction and its asymptotics.

use super::{Parameter, Part, Study, Tables, Values, table};
use crate::attention::{Spec, dynamics};
use crate::error::{Error, Result};
use crate::flow::{Options, solve};
use crate::sphere::Tokens;
use crate::theory::two_cluster::{mass_factor, merge_time_sa};

/// SA from three angles, two mass ratios, beta up to 400.
pub static ENTRY: Study = Study {
    name: "merging-times",
    title: "Merging times of two clusters: measured, exact quadrature, and the law \
        e^{beta (1 - rho)}",
    citation: "reduction of arXiv:2312.10794, (2.3) to two points; arXiv:2512.01868",
    parts: &[&PART],
};

/// The whole study.
pub static PART: Part = Part {
    parameters: &[
        Parameter::real(
            "beta",
            &[5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 400.0],
            (2.0, 600.0),
            "inverse temperatures",
        ),
        Parameter::real(
            "rho",
            &[-0.5, 0.0, 0.5],
            (-0.99, 0.9),
            "inner products of the two clusters at the start",
        ),
        Parameter::real("alpha", &[0.5, 0.2], (0.01, 0.99), "masses of the first cluster"),
    ],
    run,
};

/// A time that is too large, with the names of the parameters of the study.
fn named(error: Error, beta: f64, rho: f64) -> Error {
    match error {
        Error::Beyond { .. } => Error::Beyond {
            quantity: format!("the merging time at beta = {beta} and rho = {rho}"),
            hint: format!(
                "use a smaller beta or a larger rho: beta (1 - rho) = {:.0} is above 709, the \
                 logarithm of the largest double",
                beta * (1.0 - rho)
            ),
        },
        other => other,
    }
}

fn run(values: &Values) -> Result<Tables> {
    let mut out = table(&["rho", "alpha", "beta", "measured", "exact", "exponent", "rescaled"]);
    for &rho in values.list("rho")? {
        for &alpha in values.list("alpha")? {
            for &beta in values.list("beta")? {
                let from = rho.acos();
                let to = (1.0 - 1.0 / beta).acos();
                let x = Tokens::from_angles(&[0.0, from])?.with_masses(&[alpha, 1.0 - alpha])?;
                let sa = dynamics::build("sa", false, &Spec::new(beta, 2))?;
                let options = Options { merge_radius: to, ..Options::default() };
                let end = solve(&sa, &x, 1e300, &options, &mut [])?;
                let measured = end.merges.first().map_or(f64::NAN, |m| m.t);
                let exact =
                    merge_time_sa(beta, alpha, from, to).map_err(|e| named(e, beta, rho))?;
                let exact = exact.value;
                let exponent = beta * (1.0 - rho);
                let rescaled = measured * beta * mass_factor(alpha) * (1.0 - rho * rho);
                out.rows.push(vec![rho, alpha, beta, measured, exact, exponent, rescaled]);
            }
        }
    }
    Ok(vec![("times".into(), out)])
}
