//! `energy`: value, log value, gradient norm and, with `--hessian`, the spectrum of the Hessian.

use super::input::{self, TokenArguments};
use super::output::{finite, more, note, number, sentence, set_all_digits, shown};
use crate::attention::interaction::InteractionEnergy;
use crate::attention::{Energy, EnergyScale, HessianSpectrum, PairEnergy, dynamics::MAX_BETA};
use crate::error::Result;
use crate::lab::arrays;
use crate::num::vector::length;
use crate::operation::{Answer, Operation, Parameters, Rows, Table, any, column, within};
use crate::parameters;
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::path::PathBuf;

parameters! {
    /// Parameters of `energy`.
    struct Energies {
        ..tokens: TokenArguments;
        /// Inverse temperature.
        beta: Option<f64>, within(-MAX_BETA, MAX_BETA).unless(&["interaction"]);
        /// An interaction phi(s) in the place of e^{beta s}: power:p=3 or a formula of s and beta,
        /// with parameters of its own after a semicolon: 's^p + a; p=3, a=1'. The energy is (1/2)
        /// sum_ij m_i m_j W(<x_i, x_j>) with W' = phi.
        interaction: Option<String>, any().form("PHI").excludes(&["energy_scale"]);
        /// A symmetric d x d matrix D (a file): the energy is (1/2) sum_ij m_i m_j W(<x_i, D x_j>)
        /// with the interaction, or with W = e^{beta s} / beta.
        coupling: Option<PathBuf>, any().form("FILE").excludes(&["energy_scale"]);
        /// Normalisation of the energy: mean, sum, shifted or unit.
        energy_scale: String, any().or("mean").form("SCALE").check(scale);
        /// Print all n(d-1) eigenvalues of the Riemannian Hessian in the metric sum_i |u_i|^2.
        hessian: bool;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "energy",
    group: "Simulate",
    summary: "Energy, log energy, gradient norm, Hessian spectrum",
    notes: "Examples:
  metastable energy --angles angles.csv --beta 7 --hessian --format json
  metastable energy --tokens tokens.csv --interaction power:p=3 --coupling d.csv",
    parameters: Energies::table,
    results: &[
        column("energy", "the energy; null beyond double precision"),
        column("log_energy", "logarithm of the absolute value of the energy"),
        column("grad_norm", "norm of the gradient"),
        column("log_grad_norm", "its logarithm"),
        column("normalisation", "what the energy is"),
        column("potential_at_zero", "W(0) of an interaction"),
        column("n", "number of tokens"),
        column("d", "ambient dimension"),
        column("beta", "inverse temperature"),
        column("interaction", "the interaction"),
        column("coupling", "file of the matrix D"),
        column("note", "why a value is null"),
        column("morse_index", "number of negative eigenvalues"),
        column("null_eigenvalues", "number of eigenvalues that are 0 within their error"),
        column("null_may_be_rounding", "whether rounding may hide that some are not 0"),
        column("ascending_directions", "number of positive eigenvalues"),
    ],
    tables: &[Table {
        name: "hessian",
        what: "one row for each eigenvalue of the Riemannian Hessian",
        rows: Rows::Lists,
        columns: &[
            column("hessian_eigenvalues", "the eigenvalue"),
            column("hessian_eigenvalue_errors", "bound on its error"),
        ],
    }],
    run: |given, _| Energies::of(given)?.run(),
    ..Operation::EMPTY
};

/// **Errors** a text that is no scale of energies.
fn scale(text: &str) -> Result<()> {
    EnergyScale::parse(text).map(drop)
}

impl Energies {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        set_all_digits(self.tokens.all_digits);
        let beta = self.beta;
        let scale = EnergyScale::parse(&self.energy_scale)?;
        let x = self.tokens.tokens()?;
        if self.hessian {
            Energy::check_hessian_size(&x)?;
        }
        if let Some(text) = &self.interaction {
            return self.of_interaction(text, beta, &x);
        }
        let beta = beta.unwrap_or_default();
        if self.coupling.is_some() {
            return self.of_interaction(&format!("exp:beta={beta}"), Some(beta), &x);
        }
        let energy = Energy::new(beta, scale);
        let (value, log_value) = (energy.value(&x), energy.log_value(&x));
        let log_grad = energy.log_grad_norm(&x);
        let grad = log_grad.exp();
        let mut json = json!({
            "energy": value.as_ref().map_or(Value::Null, |v| finite(*v)),
            "log_energy": log_value.as_ref().map_or(Value::Null, |v| finite(*v)),
            "grad_norm": finite(grad),
            "log_grad_norm": finite(log_grad),
            "normalisation": scale.describe(),
            "n": x.n(),
            "d": x.d(),
            "beta": beta,
        });
        let show = |v: &Result<f64>| v.as_ref().map_or("beyond f64".to_owned(), |v| number(*v));
        let mut text = format!(
            "energy      {}\nlog {}  {}\ngrad norm   {}\nnormalisation  {}\n",
            show(&value),
            if beta < 0.0 { "|energy|" } else { "energy" },
            show(&log_value),
            if grad.is_finite() { number(grad) } else { format!("e^{log_grad}") },
            scale.describe()
        );
        if let Err(e) = value {
            let sentence = sentence(&e);
            note(&format!("note: {sentence}"));
            json["note"] = json!(sentence);
        }
        if self.hessian {
            add_spectrum(&energy.hessian_spectrum(&x)?, &mut json, &mut text);
        }
        Ok(Answer::new(json, text))
    }

    /// The energy of an interaction of its own.
    fn of_interaction(&self, text: &str, beta: Option<f64>, x: &Tokens) -> Result<Answer> {
        let mut energy = InteractionEnergy::new(input::interaction(text, beta)?);
        if let Some(path) = &self.coupling {
            energy = energy.with_form(x.d(), arrays::matrix(path, None)?)?;
        }
        let normalisation = energy.describe();
        let (value, grad) = (energy.value(x), length(&energy.resolved_grad(x)));
        let mut json = json!({
            "energy": finite(value),
            "log_energy": finite(value.ln()),
            "grad_norm": finite(grad),
            "log_grad_norm": finite(grad.ln()),
            "normalisation": normalisation,
            "potential_at_zero": energy.interaction().potential_at_zero(),
            "n": x.n(),
            "d": x.d(),
            "beta": beta,
            "interaction": text,
            "coupling": self.coupling.as_ref().map(|path| path.display().to_string()),
        });
        let mut text = format!(
            "energy      {}\ngrad norm   {}\nnormalisation  {normalisation}, W(0) = {}\n",
            number(value),
            number(grad),
            number(energy.interaction().potential_at_zero())
        );
        if self.hessian {
            add_spectrum(&energy.hessian_spectrum(x)?, &mut json, &mut text);
        }
        Ok(Answer::new(json, text))
    }
}

/// The energy of an interaction.
pub const NORMALISATION: &str = "(1/2) sum_ij m_i m_j W(<x_i, x_j>), W' = phi";

/// Adds the spectrum of the Hessian to a result.
fn add_spectrum(spectrum: &HessianSpectrum, json: &mut Value, text: &mut String) {
    let HessianSpectrum { values, errors, is_relative } = spectrum;
    let (negative, null, positive) = spectrum.inertia();
    let lost = if *is_relative || null == 0 { "" } else { " or lost to rounding" };
    text.push_str(&format!(
        "Morse index {negative} (negative), {null} null{lost}, {positive} positive eigenvalues\n"
    ));
    for (value, error) in values.iter().zip(errors).take(shown(values.len())) {
        text.push_str(&format!("  {} +- {error:.0e}\n", number(*value)));
    }
    text.push_str(&more(values.len()));
    json["hessian_eigenvalues"] = json!(values);
    json["hessian_eigenvalue_errors"] = json!(errors);
    json["morse_index"] = json!(negative);
    json["null_eigenvalues"] = Value::from(null);
    json["null_may_be_rounding"] = Value::from(null > 0 && !is_relative);
    json["ascending_directions"] = json!(positive);
}
