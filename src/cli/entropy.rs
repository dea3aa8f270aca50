//! `entropy`: negentropy of tokens, or of hidden states layer by layer, by two estimators, and
//! the SA that fits each layer best.

use super::digits::with_error;
use super::figure::layers;
use super::input::RunArguments;
use super::output::{Output, counted, finite, note, rounded};
use super::progress;
use crate::entropy::bootstrap::{Estimate, estimate_negentropy_with};
use crate::entropy::estimate::coincident;
use crate::error::{Error, Result, in_range};
use crate::flow::sa_fit::{LayerFit, fit_layers};
use crate::lab::arrays;
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Flags of `entropy`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable entropy --tokens tokens.csv
  metastable entropy --tokens hidden_states.npz --array hidden_states --neighbours 3 \\
      --kernel-beta 100")]
pub struct Arguments {
    /// Tokens (n x d) or hidden states (layers x n x d) as CSV, NPY or NPZ, or `-` for standard
    /// input. Rows are divided by their norms.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "from_run",
        conflicts_with = "from_run"
    )]
    tokens: Option<PathBuf>,
    #[command(flatten)]
    past: RunArguments,
    /// Do not warn about rows that are not unit vectors.
    #[arg(long, conflicts_with = "from_run")]
    normalise: bool,
    /// Name of the array in an NPZ file.
    #[arg(long, value_name = "NAME", conflicts_with = "from_run")]
    array: Option<String>,
    /// The first estimator uses the distance to this nearest neighbour.
    #[arg(long, default_value_t = 3, allow_hyphen_values = true)]
    neighbours: i64,
    /// Inverse temperature of the kernels of the second estimator.
    #[arg(long, default_value_t = 100.0, allow_hyphen_values = true)]
    kernel_beta: f64,
}

/// The lists of the result with one entry for each layer.
const COLUMNS: [&str; 12] = [
    "nearest_neighbour",
    "nearest_neighbour_error",
    "nearest_neighbour_bias",
    "nearest_neighbour_bias_error",
    "kernel",
    "kernel_error",
    "kernel_bias",
    "kernel_bias_error",
    "beta",
    "beta_error",
    "time",
    "alignment",
];

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let k = usize::try_from(self.neighbours)
            .map_err(|_| Error::parameter("--neighbours", self.neighbours, "at least 1"))?;
        let clouds = self.clouds()?;
        in_range("--kernel-beta", self.kernel_beta, 0.0, 1e5)?;
        let rows: Vec<[Estimate; 2]> = clouds
            .iter()
            .enumerate()
            .map(|(l, x)| {
                let report = |share: f64| {
                    progress::report(Some((l as f64 + share) / clouds.len() as f64), || {
                        format!("layer {} of {}", l + 1, clouds.len())
                    });
                };
                report(0.0);
                estimate_negentropy_with(x, k, self.kernel_beta, &report)
            })
            .collect::<Result<_>>()?;
        let list = |e: usize, pick: fn(&Estimate) -> f64| -> Vec<Value> {
            rows.iter().map(|r| finite(pick(&r[e]))).collect()
        };
        let mut json = json!({
            "layers": rows.len(), "n": clouds[0].n(), "d": clouds[0].d(), "neighbours": k, "kernel_beta": self.kernel_beta,
            "convention": "negentropy relative to the uniform law on the sphere (which has 0); null if coinciding samples make it infinite",
            "bias": "expected overestimate, from a smoothed bootstrap; its sign is reliable, its size within a factor of three",
        });
        for (e, name) in ["nearest_neighbour", "kernel"].into_iter().enumerate() {
            json[name] = list(e, |r| r.value).into();
            json[format!("{name}_error")] = list(e, |r| r.standard_error).into();
            json[format!("{name}_bias")] = list(e, |r| r.bias).into();
            json[format!("{name}_bias_error")] = list(e, |r| r.bias_error).into();
        }
        let fits = if clouds.len() > 1 { fit_layers(&clouds)? } else { Vec::new() };
        let fitted = |pick: fn(&LayerFit) -> f64| -> Vec<Value> {
            // The last layer has no step.
            let each = fits.iter().map(|f| f.as_ref().map_or(Value::Null, |f| finite(pick(f))));
            each.chain((!fits.is_empty()).then_some(Value::Null)).collect()
        };
        if !fits.is_empty() {
            json["beta"] = fitted(|f| f.beta).into();
            json["beta_error"] = fitted(|f| f.error).into();
            json["time"] = fitted(|f| f.time).into();
            json["alignment"] = fitted(|f| f.alignment).into();
            json["fit"] = "SA whose velocity best matches the change of all inner products to the next layer; error by a jackknife over tokens; alignment: the cosine of the angle between both, 1 for a model that moves as SA; null where no beta in [0.01, 1000] fits best".into();
        }
        out.table(&json, &COLUMNS, &text(&clouds[0], &rows, &fits));
        for l in (0..rows.len()).filter(|l| rows[*l][0].value.is_infinite()) {
            note(&format!(
                "warning: nearest neighbours, layer {l}: {} coincide with {k} or more others, so the estimate is infinite; use more --neighbours, or remove the copies",
                counted(coincident(&clouds[l], k), "token")
            ));
        }
        for (e, name) in ["nearest neighbours", "kernels"].into_iter().enumerate() {
            let poor = |l: &usize| rows[*l][e].value.is_finite() && rows[*l][e].is_unreliable();
            let poor: Vec<usize> = (0..rows.len()).filter(poor).collect();
            if let Some(worst) = poor
                .iter()
                .max_by(|a, b| rows[**a][e].bias.abs().total_cmp(&rows[**b][e].bias.abs()))
            {
                note(&format!(
                    "warning: {name}: in {} of {} layers the bias exceeds a tenth of the estimate ({:+.2} in layer {worst}); use differences of layers, more tokens, or another {}",
                    poor.len(),
                    rows.len(),
                    rows[*worst][e].bias,
                    if e == 0 { "estimator" } else { "--kernel-beta" }
                ));
            }
        }
        Ok(0)
    }
}

impl Arguments {
    /// The directions of the tokens, layer by layer.
    fn clouds(&self) -> Result<Vec<Tokens>> {
        if let Some(frame) =
            self.past.frame("it with --from-run; of an array all layers are used")?
        {
            return Ok(vec![Tokens::normalised(frame.d, frame.rows)?]);
        }
        let path = self.tokens.as_deref().unwrap_or(Path::new(""));
        let mut array = arrays::read(path, self.array.as_deref())?;
        if array.shape.len() == 2 {
            array.shape.insert(0, 1);
        }
        if let (Some(d), false) = (array.shape.last(), self.normalise) {
            let lengths = array
                .data
                .chunks_exact((*d).max(1))
                .map(|r| r.iter().map(|v| v * v).sum::<f64>().sqrt());
            let (low, high) =
                lengths.fold((f64::INFINITY, 0.0f64), |(a, b), l| (a.min(l), b.max(l)));
            if low < 1.0 - 1e-6 || high > 1.0 + 1e-6 {
                note(&format!(
                    "rows have norms from {low:.3e} to {high:.3e} and are normalised (--normalise suppresses this note)"
                ));
            }
        }
        layers(&array, path)
    }
}

fn text(first: &Tokens, rows: &[[Estimate; 2]], fits: &[Option<LayerFit>]) -> String {
    let mut text = format!(
        "{} tokens, d = {}\nlayer  {:<34}  {:<34}\n",
        first.n(),
        first.d(),
        "nearest neighbours",
        "kernels"
    );
    let one = |e: &Estimate| {
        if e.value.is_infinite() {
            return "infinite: tokens coincide".to_owned();
        }
        format!("{} (bias {})", with_error(e.value, e.standard_error), rounded(e.bias, 2))
    };
    rows.iter().enumerate().for_each(|(l, r)| {
        text.push_str(&format!("{l:>5}  {:<34}  {:<34}\n", one(&r[0]), one(&r[1])))
    });
    if !fits.is_empty() {
        text.push_str("SA that fits the step to the next layer best, for beta in [0.01, 1000]:\n");
        text.push_str(&format!("layer  {:<16}  {:<10}  alignment\n", "beta", "time"));
    }
    for (l, fit) in fits.iter().enumerate() {
        let row = fit.as_ref().map_or("none fits".to_owned(), |f| {
            let beta = with_error(f.beta, f.error);
            format!("{beta:<16}  {:<10}  {}", rounded(f.time, 2), rounded(f.alignment, 2))
        });
        text.push_str(&format!("{l:>5}  {row}\n"));
    }
    text
}
