//! `energy`: value, log value, gradient norm and, with `--hessian`, the spectrum of the Hessian.

use super::input::TokenArguments;
use super::output::{Output, finite, more, note, number, shown};
use crate::attention::{Energy, EnergyScale, dynamics::MAX_BETA, energy::inertia};
use crate::error::{Result, in_range};
use serde_json::{Value, json};

/// Flags of `energy`.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  metastable energy --angles angles.csv --beta 7 --hessian --format json"
)]
pub struct Arguments {
    #[command(flatten)]
    tokens: TokenArguments,
    /// Inverse temperature.
    #[arg(long, allow_hyphen_values = true)]
    beta: f64,
    /// Normalisation of the energy: mean, sum, shifted or unit.
    #[arg(long, default_value = "mean")]
    energy_scale: String,
    /// Print all n(d-1) eigenvalues of the Riemannian Hessian in the metric sum_i |u_i|^2.
    #[arg(long)]
    hessian: bool,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        out.set_all_digits(self.tokens.all_digits);
        let beta = in_range("--beta", self.beta, -MAX_BETA, MAX_BETA)?;
        let scale = EnergyScale::parse(&self.energy_scale)?;
        let x = self.tokens.tokens()?;
        if self.hessian {
            Energy::check_hessian_size(&x)?;
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
            let sentence = out.sentence(&e);
            note(&format!("note: {sentence}"));
            json["note"] = json!(sentence);
        }
        if self.hessian {
            let spectrum = energy.hessian_eigenvalues(&x)?;
            let (negative, null, positive) = inertia(&spectrum);
            text.push_str(&format!(
                "Morse index {negative} (negative), {null} null, {positive} positive eigenvalues\n"
            ));
            spectrum
                .iter()
                .take(shown(spectrum.len()))
                .for_each(|v| text.push_str(&format!("  {}\n", number(*v))));
            text.push_str(&more(spectrum.len()));
            json["hessian_eigenvalues"] = json!(spectrum);
            json["morse_index"] = json!(negative);
            json["null_eigenvalues"] = json!(null);
            json["ascending_directions"] = json!(positive);
        }
        out.result(&json, &text);
        Ok(0)
    }
}
