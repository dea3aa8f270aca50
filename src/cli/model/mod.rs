//! `model`: hidden states and attention of a trained model, and a comparison with the theory.

mod report;
mod report_columns;
mod report_page;

use super::output::{finite, note, number};
use super::progress;
use super::recording::create;
use crate::error::{Error, Result};
use crate::flow;
use crate::lab::{Provenance, arrays, npz, weights};
use crate::operation::{Answer, Operation, Parameters, Rows, Table, any, at_least, column};
use crate::paper_figs::iterated_block;
use crate::parameters;
use crate::sphere::Tokens;
use crate::transformer::Float;
use crate::transformer::observe::Cloud;
use crate::transformer::trained::{LayerPass, TrainedModel};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

parameters! {
    /// Parameters of `model`.
    struct Trained {
        /// Folder with model.safetensors (or its parts and their index), config.json and
        /// tokenizer.json (BERT, ALBERT, GPT-2, Llama), or a GGUF file (Llama).
        model: PathBuf, any().form("FOLDER|FILE").positional();
        /// Input text, or a file that contains it.
        text: Option<String>,
            any().excludes(&["ids", "tokens"]).unless(&["ids", "tokens"]);
        /// File of token ids of the model's tokenizer, one per row.
        ids: Option<PathBuf>, any().excludes(&["tokens"]);
        /// File of embeddings: the tokens before the first layer, n x d.
        tokens: Option<PathBuf>, any().also(&["embeddings"]);
        /// Compute in single precision.
        f32: bool;
        /// Apply only this block, counted from 0, in all layers.
        iterate: Option<usize>, at_least(0.0).form("BLOCK");
        /// Number of layers, with --iterate or for a model whose layers share one block.
        layers: Option<usize>, at_least(1.0);
        /// Leave the attention matrices out of hidden.npz.
        without_attention: bool;
        /// Compare the model with the theory: write report.html, report.json, layers.csv, heads.csv
        /// and spectra.csv. The page explains every column.
        report: bool, any().needs(&["out"]);
        /// New folder for hidden.npz, timeline, final tokens and record.json.
        out: Option<PathBuf>, any().form("FOLDER");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "model",
    group: "Simulate",
    summary: "Hidden states and attention of a trained model; how well the theory fits them",
    notes: "Examples:
  metastable model all-MiniLM-L6-v2/ --text 'When on board H.M.S. Beagle, as naturalist' --out run
  metastable model albert/ --text page.txt --report --out run
  metastable model smollm2.gguf --ids ids.csv --f32 --out run
  metastable model all-MiniLM-L6-v2/ --text page.txt --iterate 3 --layers 400 \\
      --without-attention --out run
  metastable figure iterated-block --from-run run/iterated-block
  metastable entropy --tokens run/hidden.npz:hidden_states --normalise",
    parameters: Trained::table,
    results: &[
        column("kind", "architecture of the model"),
        column("tokens", "number of tokens"),
        column("n", "number of tokens"),
        column("layers", "number of layers"),
        column("d", "dimension"),
        column("heads", "number of heads"),
        column("parameters", "number of parameters"),
        column("precision", "f32 or f64"),
        column("iterated_block", "the block that all layers apply"),
        column("words", "the tokens as words"),
        column("seconds", "seconds of the layers"),
        column("lyapunov_exponents", "Lyapunov exponents"),
        column("lyapunov_exponents_kind", "what they are of"),
        column("beta", "inverse temperature of the SA that fits best"),
        column("settings", "settings of the run"),
        column("final_columns", "columns of the final tokens"),
        column("timeline_columns", "columns of the time line"),
        column("provenance", "origin of the result"),
    ],
    tables: &[Table {
        name: "layers",
        what: "one row for each layer, from 0",
        rows: Rows::Lists,
        columns: &[column("mean_cosine", "mean cosine of two tokens")],
    }],
    run: |given, _| Trained::of(given)?.run(),
    ..Operation::EMPTY
};

/// Largest size of all attention matrices in hidden.npz, in bytes.
const MAX_ATTENTION_BYTES: usize = 4 << 30;

/// Result of running all layers.
struct ModelOutput {
    states: Vec<f64>,
    attention: Vec<f64>,
    last: Option<Vec<f64>>,
    seconds: f64,
    /// The inverse temperature of the report, in words.
    fitted_beta: Option<String>,
}

impl Trained {
    /// Runs the model.
    fn run(self) -> Result<Answer> {
        let model = weights::read(&self.model)?;
        let plan = self.plan(&model)?;
        let (x, words) = self.tokens(&model)?;
        let (d, n, heads) = (model.config().d, x.len() / model.config().d, model.config().heads);
        let keep = self.out.is_some() && !self.without_attention;
        let bytes = plan.len().saturating_mul(heads).saturating_mul(n * n).saturating_mul(8);
        if keep && bytes > MAX_ATTENTION_BYTES {
            let found = format!("{} MB", bytes >> 20);
            return Err(Error::parameter(
                "attention matrices",
                found,
                format!("--without-attention above {} MB", MAX_ATTENTION_BYTES >> 20),
            ));
        }
        if let Some(folder) = &self.out {
            create(folder)?;
        }
        let done = self.evaluate(&model, &x, &plan, keep, &words);
        let (mut json, pass) = done.inspect_err(|_| {
            // The folder is removed if it is empty.
            let _ = self.out.as_ref().map(std::fs::remove_dir);
        })?;
        json["n"] = json!(n);
        let text = text(&json, &pass, d);
        Ok(Answer::new(json, text))
    }

    /// Runs the model and writes the files.
    fn evaluate(
        &self,
        model: &TrainedModel,
        x: &[f64],
        plan: &[usize],
        keep: bool,
        words: &[String],
    ) -> Result<(Value, ModelOutput)> {
        let mut pass = if self.f32 {
            self.pass::<f32>(model, x, plan, keep)?
        } else {
            self.pass::<f64>(model, x, plan, keep)?
        };
        let mut json = self.json(model, plan, &pass, words);
        let Some(folder) = &self.out else { return Ok((json, pass)) };
        let report = if self.report { Some(report::report(model, x, plan)?) } else { None };
        self.write(folder, model, plan, &pass, &mut json)?;
        if let Some(report) = report {
            report_page::write(folder, model, &report, &self.provenance(&json))?;
            json["lyapunov_exponents"] =
                report.exponents.values.iter().map(|v| finite(*v)).collect();
            json["lyapunov_exponents_kind"] = json!(report.exponents.kind);
            report.beta.keys().into_iter().for_each(|(key, value)| json[key] = value);
            let few = if report.beta.decides() { "" } else { "; too few for a comparison with SA" };
            pass.fitted_beta = Some(report.beta.describe() + few);
        }
        note(&format!("wrote {}", folder.display()));
        Ok((json, pass))
    }

    /// The block of every layer.
    fn plan(&self, model: &TrainedModel) -> Result<Vec<usize>> {
        let own = model.block_sequence();
        match (self.iterate, self.layers) {
            (Some(b), _) if b >= model.blocks() => Err(Error::parameter(
                "--iterate",
                b,
                format!("a block below {}, the blocks of the model", model.blocks()),
            )),
            (Some(b), layers) => Ok(vec![b; layers.unwrap_or(own.len())]),
            (None, Some(layers)) if model.blocks() == 1 => Ok(vec![0; layers]),
            (None, Some(layers)) => Err(Error::parameter(
                "--layers",
                layers,
                "it only with --iterate, or for a model whose layers share one block",
            )),
            (None, None) => Ok(own),
        }
    }

    /// Tokens before the first layer, and their words if they are known.
    fn tokens(&self, model: &TrainedModel) -> Result<(Vec<f64>, Vec<String>)> {
        if let Some(path) = &self.tokens {
            let array = arrays::read(path, None)?;
            return match array.shape[..] {
                [_, d] if d == model.config().d => Ok((array.data, Vec::new())),
                _ => Err(Error::parameter(
                    "--tokens",
                    format!("shape {:?}", array.shape),
                    format!("n x {}", model.config().d),
                )),
            };
        }
        if let Some(path) = &self.ids {
            let numbers = arrays::list(path, None)?;
            let whole = |v: &f64| *v >= 0.0 && v.fract().abs() < f64::EPSILON;
            if let Some(k) = numbers.iter().position(|v| !whole(v)) {
                return Err(Error::parameter(
                    format!("--ids, id {}", k + 1),
                    numbers[k],
                    "a whole number >= 0",
                ));
            }
            let ids: Vec<usize> = numbers.iter().map(|v| *v as usize).collect();
            let x = model.embed(&ids).map_err(|e| rename(e, |name| format!("--{name}")))?;
            return Ok((x, Vec::new()));
        }
        let given = self.text.clone().unwrap_or_default();
        let path = Path::new(&given);
        let text = if path.is_file() {
            String::from_utf8_lossy(&arrays::load(path)?).into_owned()
        } else {
            given
        };
        let (ids, words) = weights::vocabulary(&self.model, model)?.encode(&text)?;
        let x = model.embed(&ids).map_err(|e| rename(e, |_| "--text".into()))?;
        Ok((x, words))
    }

    fn pass<T: Float>(
        &self,
        model: &TrainedModel,
        x: &[f64],
        plan: &[usize],
        keep: bool,
    ) -> Result<ModelOutput> {
        let wide = |numbers: &[T]| numbers.iter().map(|v| v.to_f64()).collect::<Vec<f64>>();
        let (mut states, mut attention) = (x.to_vec(), Vec::new());
        if self.f32 {
            states.iter_mut().for_each(|v| *v = T::from_f64(*v).to_f64());
        }
        let begun = Instant::now();
        let mut reading = 0.0;
        let last = model.run_layers::<T>(x, plan, keep, |layer: &LayerPass<T>| {
            progress::report(Some(layer.index as f64 / plan.len() as f64), || {
                format!("layer {} of {}", layer.index + 1, plan.len())
            });
            let shown = Instant::now();
            states.extend(wide(layer.after));
            attention.extend(wide(layer.weights));
            reading += shown.elapsed().as_secs_f64();
            Ok(())
        })?;
        let seconds = begun.elapsed().as_secs_f64() - reading;
        let last = model.final_norm()?.map(|norm| wide(&norm.rounded::<T>().apply(&last)));
        Ok(ModelOutput { states, attention, last, seconds, fitted_beta: None })
    }

    fn json(
        &self,
        model: &TrainedModel,
        plan: &[usize],
        pass: &ModelOutput,
        words: &[String],
    ) -> Value {
        let (config, n) = (model.config(), pass.states.len() / (plan.len() + 1) / model.config().d);
        let cosines: Vec<Value> = pass
            .states
            .chunks_exact(n * config.d)
            .map(|x| finite(Cloud::new(x, config.d).mean()))
            .collect();
        json!({
            "kind": model.architecture(),
            "tokens": n,
            "layers": plan.len(),
            "d": config.d,
            "heads": config.heads,
            "parameters": model.parameters(),
            "precision": if self.f32 { "f32" } else { "f64" },
            "iterated_block": self.iterate,
            "words": words,
            "mean_cosine": cosines,
            "seconds": pass.seconds,
        })
    }

    fn provenance(&self, json: &Value) -> Provenance {
        Provenance::new("model", &json.to_string(), crate::cli::command_line::reproduce())
    }

    /// Writes hidden.npz, and final tokens, time line and record for other commands.
    fn write(
        &self,
        folder: &Path,
        model: &TrainedModel,
        plan: &[usize],
        pass: &ModelOutput,
        json: &mut Value,
    ) -> Result<()> {
        let (d, heads, layers) = (model.config().d, model.config().heads, plan.len());
        let n = pass.states.len() / (layers + 1) / d;
        let (states, matrices, rows) = ([layers + 1, n, d], [layers, heads, n, n], [n, d]);
        let mut members: Vec<(&str, &[usize], &[f64])> =
            vec![("hidden_states", &states, &pass.states)];
        if !pass.attention.is_empty() {
            members.push(("attention", &matrices, &pass.attention));
        }
        if let Some(last) = &pass.last {
            members.push(("last_state", &rows, last));
        }
        let archive = npz::bytes(&members)?;
        let provenance = self.provenance(json);
        let end = Tokens::normalised(d, pass.states[layers * n * d..].to_vec())?;
        let last = flow::Table {
            columns: (0..d).map(|c| format!("x_{c}")).collect(),
            rows: end.rows().map(<[f64]>::to_vec).collect(),
        };
        let cosine = |l: usize| json["mean_cosine"][l].as_f64().unwrap_or(f64::NAN);
        let timeline = flow::Table {
            columns: vec!["t".into(), "mean_cosine".into()],
            rows: (0..=layers).map(|l| vec![l as f64, cosine(l)]).collect(),
        };
        json["settings"] = json!({"tokens": {"n": n, "d": d, "space": "sphere"}, "plan": plan, "dynamics": "sa", "beta": 1.0});
        json["final_columns"] = json!(last.columns);
        json["timeline_columns"] = json!(timeline.columns);
        json["provenance"] = serde_json::to_value(&provenance).unwrap_or_default();
        arrays::write_atomically(&folder.join("hidden.npz"), &archive)?;
        for (name, table) in [("final_tokens", &last), ("timeline", &timeline)] {
            arrays::write_atomically(
                &folder.join(format!("{name}.csv")),
                arrays::csv_text(table, &provenance.csv_header()).as_bytes(),
            )?;
        }
        // NPY: the tokens as a plain array, the time line with named columns.
        arrays::write_atomically(&folder.join("final_tokens.npy"), &arrays::npy_bytes(&last))?;
        arrays::write_atomically(&folder.join("timeline.npy"), &arrays::npy_table(&timeline))?;
        write_iterated_block(folder, model, plan, &pass.states, &provenance)?;
        arrays::write_atomically(&folder.join("record.json"), json.to_string().as_bytes())
    }
}

/// If all layers apply one block: the tables of the figure iterated-block. Layer 0 is left out: it
/// has another normalisation.
fn write_iterated_block(
    folder: &Path,
    model: &TrainedModel,
    plan: &[usize],
    states: &[f64],
    provenance: &Provenance,
) -> Result<()> {
    if plan.len() < 3 || plan.iter().any(|b| *b != plan[0]) {
        return Ok(());
    }
    let n = states.len() / (plan.len() + 1) / model.config().d;
    let block = model.block(plan[0], n)?;
    let norm = block.parts.last().and_then(|p| p.after.as_ref());
    let states: Vec<&[f64]> =
        states.chunks_exact(states.len() / (plan.len() + 1)).skip(1).collect();
    let own = folder.join("iterated-block");
    create(&own)?;
    for (name, table) in iterated_block::tables(model.config().d, &states, norm, 1) {
        arrays::write_atomically(
            &own.join(format!("{name}.csv")),
            arrays::csv_text(&table, &provenance.csv_header()).as_bytes(),
        )?;
    }
    Ok(())
}

/// Renames the parameter of an error.
fn rename(e: Error, flag: impl Fn(&str) -> String) -> Error {
    match e {
        Error::Parameter { name, found, expected } => {
            Error::Parameter { name: flag(&name), found, expected }
        }
        other => other,
    }
}

fn text(json: &Value, pass: &ModelOutput, d: usize) -> String {
    let mut text = format!(
        "{} with {} layers, d = {d}, {} heads, {} parameters; {} tokens in {} ({:.3} s)\nlayer  mean cosine\n",
        json["kind"].as_str().unwrap_or(""),
        json["layers"],
        json["heads"],
        json["parameters"],
        json["tokens"],
        json["precision"].as_str().unwrap_or(""),
        pass.seconds
    );
    for (l, c) in json["mean_cosine"].as_array().into_iter().flatten().enumerate() {
        text.push_str(&format!("{l:>5}  {:.6}\n", c.as_f64().unwrap_or(f64::NAN)));
    }
    if let (Some(values), Some(kind)) =
        (json["lyapunov_exponents"].as_array(), json["lyapunov_exponents_kind"].as_str())
    {
        let values: Vec<String> =
            values.iter().map(|v| v.as_f64().map_or("-".into(), number)).collect();
        text.push_str(&format!(
            "growth rates of small perturbations per layer, the four largest: {}\n  ({kind})\n",
            values.join(", ")
        ));
    }
    if let Some(beta) = &pass.fitted_beta {
        text.push_str(&format!(
            "fitted beta (median over layers of the median over heads): {beta}\n"
        ));
    }
    text
}
