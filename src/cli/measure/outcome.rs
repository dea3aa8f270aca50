//! The result of an evolution, its error from a run at a second resolution, and their output.

use crate::cli::digits::with_error;
use crate::cli::output::finite;
use crate::continuity::{EvolutionEnd, MeasureDynamics};
use crate::flow::Table;
use crate::num::deviation::largest;
use serde_json::{Map, Value, json};

/// Relative difference of two resolutions above which a number is unresolved.
const LEVEL: f64 = 1e-3;

/// Fraction of its natural scale below which a number counts as zero; smaller numbers are compared
/// with this fraction.
const SMALL: f64 = 1e-6;

/// The largest ratio of an error to the difference of two resolutions.
const SLOW: f64 = 5.0;

/// Names of [`LastState::numbers`], as JSON keys.
const NAMES: [&str; 3] = ["negentropy", "negentropy_rate", "energy_above_uniform"];

/// The result of an evolution.
pub(super) struct LastState {
    pub(super) t: f64,
    pub(super) end: EvolutionEnd,
    pub(super) method: &'static str,
    /// Columns k, cosine, sine (circle), k, cosine (zonal), or l, m, re, im (S^2).
    pub(super) coefficients: Table,
    /// Negentropy, its rate, energy above that of the uniform measure.
    pub(super) numbers: [f64; 3],
    /// Rounding errors of the negentropy, its rate, the energy and coefficients.
    pub(super) rounding: [f64; 4],
    /// Final density on a grid, or the particles with their masses and log densities.
    pub(super) values: Table,
    pub(super) timeline: Table,
}

/// The scales of the negentropy, its rate and the energy: those of tokens at one point.
fn natural_scales(medium: &MeasureDynamics, d: usize) -> [f64; 3] {
    let growth = medium.largest_rate().max(medium.diffusion);
    [1.0, (d as f64 - 1.0) * growth, medium.largest_energy()]
}

/// Rounding errors of results that have no bound of their own: some of their natural scale.
pub(super) fn natural_rounding(medium: &MeasureDynamics, d: usize) -> [f64; 4] {
    let [negentropy, rate, energy] = natural_scales(medium, d).map(|s| 4.0 * f64::EPSILON * s);
    [negentropy, rate, energy, 0.0]
}

/// A result with its differences from a second one.
pub(super) struct CheckedOutcome {
    pub(super) outcome: LastState,
    second: [f64; 3],
    /// Infinite without a second run.
    errors: [f64; 3],
    /// Largest error of the coefficients. The coefficient of P_k is divided by the dimension of the
    /// harmonics of degree k, which bounds it.
    coefficients_error: f64,
    /// These dimensions, one per cosine.
    scales: Vec<f64>,
    /// Whether the two runs agree on the state shown, at the end time or before.
    agree: bool,
    /// The end; under-resolved if the two runs disagree.
    pub(super) end: EvolutionEnd,
}

impl CheckedOutcome {
    /// Compares the numbers of two resolutions at the same time.
    pub(super) fn new(
        outcome: LastState,
        second: &LastState,
        medium: &MeasureDynamics,
        d: usize,
    ) -> Self {
        let natural = natural_scales(medium, d);
        // Both runs may share an error of rounding, and an error that falls like 1/n from n to
        // 5 n / 4 modes is five times the difference.
        let error = |k: usize| {
            let (a, b) = (outcome.numbers[k], second.numbers[k]);
            let own = outcome.rounding[k];
            SLOW * (a - b).abs() + own + 4.0 * f64::EPSILON * a.abs()
        };
        let errors = [error(0), error(1), error(2)];
        let fine =
            |k: usize| errors[k] <= SLOW * LEVEL * outcome.numbers[k].abs().max(SMALL * natural[k]);
        let scales: Vec<f64> =
            (0..column(&outcome.coefficients, "cosine").len()).map(|k| dimension(d, k)).collect();
        let gap = |name: &str, scales: &[f64]| {
            largest_gap(&outcome.coefficients, &second.coefficients, name, scales)
        };
        // Coefficients are means, as the energy.
        let rounding = 4.0 * f64::EPSILON + outcome.rounding[3];
        let others = ["sine", "re", "im"].map(|name| gap(name, &[]));
        let coefficients_error =
            largest(others.into_iter().chain([rounding, gap("cosine", &scales)]));
        if second.end == EvolutionEnd::Interrupted {
            return Self::interrupted(outcome);
        }
        let agree =
            second.end == EvolutionEnd::Reached && (0..3).all(fine) && coefficients_error <= LEVEL;
        let end = if agree { outcome.end } else { EvolutionEnd::UnderResolved };
        Self { second: second.numbers, errors, coefficients_error, scales, agree, end, outcome }
    }

    /// A state with unknown error.
    pub(super) fn interrupted(outcome: LastState) -> Self {
        let (second, errors) = (outcome.numbers, [f64::INFINITY; 3]);
        Self {
            second,
            errors,
            coefficients_error: f64::INFINITY,
            scales: Vec::new(),
            agree: true,
            end: EvolutionEnd::Interrupted,
            outcome,
        }
    }

    /// Values and errors.
    fn numbers(&self) -> Map<String, Value> {
        let pairs = NAMES.iter().enumerate().flat_map(|(k, name)| {
            [
                ((*name).to_owned(), finite(self.outcome.numbers[k])),
                (format!("{name}_error"), finite(self.errors[k])),
            ]
        });
        pairs.collect()
    }

    /// The result as JSON. If the end time was not reached or not resolved, the usual keys are null
    /// and other keys hold the known numbers.
    pub(super) fn json(&self) -> Value {
        let end = &self.outcome;
        let reached = self.end == EvolutionEnd::Reached;
        let column = |name: &str| -> Vec<Value> {
            if self.agree {
                column(&end.coefficients, name).into_iter().map(finite).collect()
            } else {
                Vec::new()
            }
        };
        let (cosines, sines) = (column("cosine"), column("sine"));
        let density = end.values.columns.iter().position(|c| c == "density").filter(|_| self.agree);
        let values: Vec<Value> = density
            .map_or_else(Vec::new, |k| end.values.rows.iter().map(|r| finite(r[k])).collect());
        let mut out = json!({
            "t": end.t, "outcome": self.end.name(), "method": end.method, "modes": cosines.len().saturating_sub(1), "coefficients": cosines,
            "sine_coefficients": sines, "coefficients_error": if self.agree { finite(self.coefficients_error) } else { Value::Null }, "values": values,
            "resolution_error": finite(self.errors[0]),
            "error_from": "the difference from a run of another resolution and ten times the tolerance or more, plus rounding",
        });
        for (name, value) in self.numbers() {
            out[name.as_str()] = if reached { value } else { Value::Null };
        }
        if !reached && self.agree {
            out["last_resolved"] = Value::Object(self.numbers());
        } else if !reached {
            let pair = |k: usize| json!([finite(end.numbers[k]), finite(self.second[k])]);
            out["unresolved"] = NAMES
                .iter()
                .enumerate()
                .map(|(k, name)| ((*name).to_owned(), pair(k)))
                .collect::<Map<_, _>>()
                .into();
        }
        out
    }

    pub(super) fn text(&self) -> String {
        let (end, labels) = (&self.outcome, ["negentropy", "rate", "energy above uniform"]);
        let head = format!("t = {}: {} ({})\n", end.t, self.end.name(), end.method);
        if !self.agree {
            let pair = |k: usize| {
                format!(
                    "{} unresolved ({:.3e} and {:.3e} by two resolutions)\n",
                    labels[k], end.numbers[k], self.second[k]
                )
            };
            return head + &(0..3).map(pair).collect::<String>() + "coefficients unresolved";
        }
        let number =
            |k: usize| format!("{} {}\n", labels[k], with_error(end.numbers[k], self.errors[k]));
        let cosines = column(&end.coefficients, "cosine");
        // Each coefficient with the digits that its error allows.
        let digits = |(c, scale): (&f64, &f64)| {
            let text = with_error(*c, self.coefficients_error * scale);
            text.split_once(" +- ").map_or(text.clone(), |(digits, _)| digits.to_owned())
        };
        let shown: Vec<String> = cosines.iter().zip(&self.scales).take(9).map(digits).collect();
        let last = if self.end == EvolutionEnd::Reached {
            ""
        } else {
            "The last resolved state, before the end time:\n"
        };
        let numbers: String = (0..3).map(number).collect();
        format!(
            "{head}{last}{numbers}coefficients {} (over their bounds +- {:.0e})",
            shown.join(" "),
            self.coefficients_error
        )
    }
}

/// Largest difference of two columns over their common rows, each divided by its scale (default 1).
fn largest_gap(a: &Table, b: &Table, name: &str, scales: &[f64]) -> f64 {
    let scale = scales.iter().copied().chain(std::iter::repeat(1.0));
    let both = column(a, name).into_iter().zip(column(b, name));
    largest(both.zip(scale).map(|((a, b), s)| (a - b).abs() / s))
}

/// An empty table.
pub(super) fn table(columns: &[&str]) -> Table {
    Table { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
}

/// A column of a table without NaN; empty if there is no such column.
fn column(table: &Table, name: &str) -> Vec<f64> {
    let place = table.columns.iter().position(|c| c == name);
    place.map_or_else(Vec::new, |k| {
        table.rows.iter().map(|r| r[k]).filter(|v| !v.is_nan()).collect()
    })
}

/// Dimension of the harmonics of degree k on `S^{d-1}`.
pub(super) fn dimension(d: usize, k: usize) -> f64 {
    let binomial =
        |n: usize, k: usize| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
    match k {
        0 => 1.0,
        1 => d as f64,
        _ => binomial(d + k - 1, k) - binomial(d + k - 3, k - 2),
    }
}
