//! The operation `entropy`: negentropy of tokens, or of hidden states layer by layer, by two
//! estimators, and the SA that fits each layer best.

use super::bootstrap::{Estimate, estimate_negentropy_with};
use super::estimate::coincident;
use crate::error::{Error, Result};
use crate::flow::sa_fit::{LayerFit, fit_layers};
use crate::operation::digits::{counted, rounded, with_error};
use crate::operation::{
    Answer, Column, Operation, Parameters, Rows, Session, Table, any, at_least, column, one_of,
    within,
};
use crate::parameters;
use crate::sphere::Tokens;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `entropy`.
    struct Entropy {
        /// Tokens (n x d) or hidden states (layers x n x d) as CSV, NPY or NPZ (with the name of
        /// its array), or `-` for standard input. Rows are divided by their norms.
        tokens: Option<PathBuf>,
            one_of(&["from_run"]).excludes(&["from_run"]).form("FILE[:ARRAY]");
        /// Folder of a finished run (`solve --out`, `run`), with the name of a cell of an
        /// experiment; the tokens are those at --frame.
        from_run: Option<PathBuf>, any().form("FOLDER[:CELL]");
        /// Frame of --from-run: last (default), a row number from 0, or t=T (the last row up to
        /// time T). For an experiment add realisation=R.
        frame: Option<String>, any().form("FRAME").needs(&["from_run"]);
        /// Do not warn about rows that are not unit vectors.
        normalise: bool, any().excludes(&["from_run"]);
        /// Name of the array in an NPZ file.
        array: Option<String>, any().hidden().excludes(&["from_run"]);
        /// The first estimator uses the distance to this nearest neighbour.
        neighbours: usize, at_least(1.0).or("3");
        /// Inverse temperature of the kernels of the second estimator.
        kernel_beta: f64, within(0.0, 1e5).or("100");
    }
}

/// Columns of one estimator.
macro_rules! estimator {
    ($name:literal, $what:literal) => {
        [
            column($name, concat!("negentropy by ", $what, "; null if it is infinite"))
                .in_units("nat"),
            column(concat!($name, "_error"), "its standard error").in_units("nat"),
            column(concat!($name, "_bias"), "expected overestimate, from a smoothed bootstrap")
                .in_units("nat"),
            column(concat!($name, "_bias_error"), "standard error of the bias").in_units("nat"),
        ]
    };
}

const NEIGHBOURS: [Column; 4] = estimator!("nearest_neighbour", "distances to neighbours");
const KERNEL: [Column; 4] = estimator!("kernel", "kernels");

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "entropy",
    group: "Analyse",
    summary: "Estimate the negentropy of tokens, layer by layer for hidden states",
    notes: "Examples:
  metastable entropy --tokens tokens.csv
  metastable entropy --tokens hidden.npz:hidden_states --neighbours 3 --kernel-beta 100",
    parameters: Entropy::table,
    results: &[
        column("layers", "number of layers"),
        column("n", "number of tokens"),
        column("d", "ambient dimension"),
        column("neighbours", "the neighbour of the first estimator"),
        column("kernel_beta", "inverse temperature of the second estimator"),
        column("convention", "what the negentropy is relative to"),
        column("bias", "what the bias is"),
        column("fit", "what the columns beta, time and alignment are"),
    ],
    tables: &[Table {
        name: "layers",
        what: "one row for each layer",
        rows: Rows::Lists,
        columns: &[
            NEIGHBOURS[0],
            NEIGHBOURS[1],
            NEIGHBOURS[2],
            NEIGHBOURS[3],
            KERNEL[0],
            KERNEL[1],
            KERNEL[2],
            KERNEL[3],
            column("beta", "inverse temperature of the SA that fits the step to the next layer"),
            column("beta_error", "its error, by a jackknife over tokens"),
            column("time", "time of SA that the step takes"),
            column("alignment", "cosine of the angle between the step and SA"),
        ],
    }],
    run: |given, session| Entropy::of(given)?.run(session),
    ..Operation::EMPTY
};

const BIAS: &str = "expected overestimate, from a smoothed bootstrap; its sign is reliable, its \
                    size within a factor of three";
const CONVENTION: &str = "negentropy relative to the uniform law on the sphere (which has 0); null \
                          if coinciding samples make it infinite";
const FIT: &str = "SA whose velocity best matches the change of all inner products to the next \
                   layer; error by a jackknife over tokens; alignment: the cosine of the angle \
                   between both, 1 for a model that moves as SA; null where no beta in [0.01, \
                   1000] fits best";

impl Entropy {
    fn run(&self, session: &dyn Session) -> Result<Answer> {
        let clouds = self.clouds(session)?;
        let k = self.neighbours;
        let rows = clouds
            .iter()
            .enumerate()
            .map(|(l, x)| {
                let report = |share: f64| {
                    session.progress((l as f64 + share) / clouds.len() as f64, &|| {
                        format!("layer {} of {}", l + 1, clouds.len())
                    });
                };
                report(0.0);
                estimate_negentropy_with(x, k, self.kernel_beta, &report)
            })
            .collect::<Result<Vec<[Estimate; 2]>>>()?;
        let mut json = json!({
            "layers": rows.len(), "n": clouds[0].n(), "d": clouds[0].d(), "neighbours": k,
            "kernel_beta": self.kernel_beta, "convention": CONVENTION, "bias": BIAS,
        });
        for (e, name) in ["nearest_neighbour", "kernel"].into_iter().enumerate() {
            let list = |pick: fn(&Estimate) -> f64| -> Value {
                rows.iter().map(|r| pick(&r[e])).collect::<Vec<_>>().into()
            };
            json[name] = list(|r| r.value);
            json[format!("{name}_error")] = list(|r| r.standard_error);
            json[format!("{name}_bias")] = list(|r| r.bias);
            json[format!("{name}_bias_error")] = list(|r| r.bias_error);
        }
        let fits = if clouds.len() > 1 { fit_layers(&clouds)? } else { Vec::new() };
        if !fits.is_empty() {
            let fitted = |pick: fn(&LayerFit) -> f64| -> Value {
                // The last layer has no step.
                fits.iter().map(|f| f.as_ref().map(pick)).chain([None]).collect::<Vec<_>>().into()
            };
            json["beta"] = fitted(|f| f.beta);
            json["beta_error"] = fitted(|f| f.error);
            json["time"] = fitted(|f| f.time);
            json["alignment"] = fitted(|f| f.alignment);
            json["fit"] = FIT.into();
        }
        for l in (0..rows.len()).filter(|l| rows[*l][0].value.is_infinite()) {
            session.note(&format!(
                "warning: nearest neighbours, layer {l}: {} coincide with {k} or more others, so \
                 the estimate is infinite; use more --neighbours, or remove the copies",
                counted(coincident(&clouds[l], k), "token")
            ));
        }
        warn_of_bias(&rows, session);
        Ok(Answer::new(json, text(&clouds[0], &rows, &fits)))
    }

    /// The directions of the tokens, layer by layer.
    fn clouds(&self, session: &dyn Session) -> Result<Vec<Tokens>> {
        if let Some(folder) = &self.from_run {
            let frame = session.frame(folder, self.frame.as_deref())?;
            return Ok(vec![Tokens::normalised(frame.d, frame.rows)?]);
        }
        let path = self.tokens.as_deref().unwrap_or(Path::new(""));
        let mut array = session.array(path, self.array.as_deref())?;
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
                session.note(&format!(
                    "rows have norms from {low:.3e} to {high:.3e} and are normalised (--normalise \
                     suppresses this note)"
                ));
            }
        }
        let [_, n, d] = array.shape[..] else {
            let problem =
                format!("found shape {:?}, expected layers x tokens x dimensions", array.shape);
            let path = path.display().to_string();
            return Err(Error::File { path, place: String::new(), problem });
        };
        array.data.chunks(n * d).map(|layer| Tokens::normalised(d, layer.to_vec())).collect()
    }
}

/// Notes for estimators whose bias exceeds a tenth of the estimate.
fn warn_of_bias(rows: &[[Estimate; 2]], session: &dyn Session) {
    for (e, name) in ["nearest neighbours", "kernels"].into_iter().enumerate() {
        let poor = |l: &usize| rows[*l][e].value.is_finite() && rows[*l][e].is_unreliable();
        let poor: Vec<usize> = (0..rows.len()).filter(poor).collect();
        let bias = |l: &usize| rows[*l][e].bias.abs();
        let worst = poor.iter().max_by(|a, b| bias(a).total_cmp(&bias(b)));
        let Some(worst) = worst else { continue };
        session.note(&format!(
            "warning: {name}: in {} of {} layers the bias exceeds a tenth of the estimate ({:+.2} \
             in layer {worst}); use differences of layers, more tokens, or another {}",
            poor.len(),
            rows.len(),
            rows[*worst][e].bias,
            if e == 0 { "estimator" } else { "--kernel-beta" }
        ));
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
    for (l, r) in rows.iter().enumerate() {
        text.push_str(&format!("{l:>5}  {:<34}  {:<34}\n", one(&r[0]), one(&r[1])));
    }
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
