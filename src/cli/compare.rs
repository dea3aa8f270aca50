//! `compare`: the same observables for attention and other maps.

use super::cancel::cancelled;
use super::output::finite;
use super::progress;
use crate::error::{Error, Result};
use crate::lab::difference::{self, TableDifference};
use crate::operation::{Answer, Exit, Operation, Parameters, Rows, Table, any, column, within};
use crate::parameters;
use crate::recurrent::{
    MapSpec, NamedMap, map,
    observe::{LayerSummary, MapSummary, summarise},
};
use serde_json::{Value, json};
use std::path::Path;

parameters! {
    /// Parameters of `compare`.
    struct Comparison {
        /// Maps (`list maps`), or two folders of `solve --out` or `run`, or two arrays. Default:
        /// all maps.
        names: Vec<String>, any().positional().form("MAP|FOLDER");
        /// Number of rows (tokens).
        n: usize, within(1.0, 256.0).or("8");
        /// Length of a row (dimension).
        d: usize, within(1.0, 256.0).or("8");
        /// Number of layers.
        layers: usize, within(1.0, 1000.0).or("24");
        /// Scale of the weights: their entries have variance gain^2/d.
        gain: f64, within(0.0, 1e6).or("1");
        /// Random seed of weights and rows.
        seed: u64, any().or("1");
        /// Number of Lyapunov exponents, at most n d.
        exponents: usize, within(0.0, 65536.0).or("3");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "compare",
    group: "Analyse",
    summary: "Compare attention with other maps layer by layer, or two runs",
    notes: "Examples:
  metastable compare
  metastable compare attention rnn lstm --gain 1.5 --exponents 4
  metastable compare causal-attention --n 32 --d 16 --layers 48 --format json
  metastable compare run-a run-b                    (folders of `solve --out` or `run`)
  metastable compare a.npy b.npy --format json      (the key `equal` is true or false)",
    parameters: Comparison::table,
    results: &[
        column("n", "number of rows"),
        column("d", "length of a row"),
        column("layers", "number of layers"),
        column("gain", "scale of the weights"),
        column("seed", "random seed"),
        column("settings", "settings in which two runs differ: name and both values"),
        column(
            "tables",
            "tables of both runs, with the number of entries that differ and the largest distance",
        ),
        column("alone", "tables that only one of the runs has"),
        column("equal", "whether two runs are equal"),
    ],
    tables: &[Table {
        name: "maps",
        what: "one row for each map",
        rows: Rows::Objects("maps"),
        columns: &[
            column("name", "name of the map"),
            column("mean_cosine", "mean cosine of two rows, layer by layer"),
            column("effective_rank", "effective rank, layer by layer"),
            column("residual", "distance from the mean row, relative, layer by layer"),
            column("change", "change of a layer, relative, layer by layer"),
            column("exponents", "Lyapunov exponents"),
            column("exponents_are", "what the exponents are of"),
            column("multiplications_of_a_layer", "number of products of a layer"),
        ],
    }],
    exits: &[
        (Exit::Shown, "computed, or two runs are equal"),
        (Exit::Counterexample, "two runs differ"),
        (Exit::Interrupted, "interrupted"),
    ],
    run: |given, _| Comparison::of(given)?.run(),
    ..Operation::EMPTY
};

impl Comparison {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        if let [a, b] = &self.names[..]
            && self.names.iter().any(|name| Path::new(name).exists())
        {
            return runs(Path::new(a), Path::new(b));
        }
        let maps: Vec<&NamedMap> = if self.names.is_empty() {
            map::ALL.to_vec()
        } else {
            self.names.iter().map(|n| map::find(n)).collect::<Result<_>>()?
        };
        let Self { n, d, layers, exponents, .. } = self;
        if exponents > n * d {
            return Err(Error::parameter(
                "exponents",
                exponents,
                format!("at most n d = {}", n * d),
            ));
        }
        let spec = MapSpec { n, d, layers, gain: self.gain, seed: self.seed };
        let mut found = Vec::new();
        for (k, named) in maps.iter().enumerate() {
            if cancelled() {
                return Err(Error::Interrupted {
                    resume: format!("{k} of {} maps were computed", maps.len()),
                });
            }
            progress::report(Some(k as f64 / maps.len() as f64), || {
                format!("{} ({} of {} maps)", named.name, k + 1, maps.len())
            });
            found.push((*named, summarise(named, &spec, exponents)?));
        }
        let json: Vec<Value> = found.iter().map(|(m, p)| object(m, p, &spec)).collect();
        let json = json!({"n": n, "d": d, "layers": layers, "gain": self.gain, "seed": self.seed, "maps": json});
        Ok(Answer::new(json, text(&found, &spec)))
    }
}

fn object(m: &NamedMap, p: &MapSummary, spec: &MapSpec) -> Value {
    let column =
        |f: fn(&LayerSummary) -> f64| p.layers.iter().map(|l| finite(f(l))).collect::<Vec<Value>>();
    json!({
        "name": m.name,
        "mean_cosine": column(|l| l.mean_cosine),
        "effective_rank": column(|l| l.effective_rank),
        "residual": column(|l| l.residual),
        "change": column(|l| l.change),
        "exponents": p.exponents.iter().map(|e| finite(*e)).collect::<Vec<Value>>(),
        "exponents_are": if p.in_time { "of the state, per row read" } else { "of all rows, per unit of depth" },
        "mixing": p.mixing.chunks_exact(spec.n).map(|r| r.iter().map(|v| finite(*v)).collect::<Vec<Value>>()).collect::<Vec<_>>(),
        "multiplications_of_a_layer": p.multiplications,
    })
}

/// First and last layers, exponents, and the share of the own row in the Jacobian.
fn text(found: &[(&NamedMap, MapSummary)], spec: &MapSpec) -> String {
    let mut out = format!(
        "{:17} {:>15} {:>15} {:>15} {:>9} {:>7} {:>10}  exponents\n",
        "map", "mean cosine", "effective rank", "residual", "change", "own", "products"
    );
    for (m, p) in found {
        let (Some(first), Some(last)) = (p.layers.first(), p.layers.last()) else { continue };
        let pair = |a: f64, b: f64| format!("{a:.3} > {b:.3}");
        let own: f64 = (0..spec.n).map(|i| p.mixing[i * spec.n + i]).sum::<f64>() / spec.n as f64;
        let exponents: Vec<String> = p.exponents.iter().map(|e| format!("{e:.3}")).collect();
        out.push_str(&format!(
            "{:17} {:>15} {:>15} {:>15} {:>9.3} {:>7.3} {:>10}  {} {}\n",
            m.name,
            pair(first.mean_cosine, last.mean_cosine),
            pair(first.effective_rank, last.effective_rank),
            pair(first.residual, last.residual),
            first.change,
            own,
            p.multiplications,
            exponents.join(" "),
            if p.in_time { "a row" } else { "a unit of depth" },
        ));
    }
    out.push_str(
        "first > last layer; residual |X - 1 mean|/|X|; change |X+ - X|/|X| of the first layer; own: share of j = i in |d x_i(L)/d x_j(0)|",
    );
    out
}

/// The name of a column, from the CSV file beside an array.
fn name_of_column(folder: &Path, array: &str, k: usize) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(array).with_extension("csv")).ok()?;
    let header = text.lines().find(|l| !l.starts_with('#'))?;
    header.split(',').nth(k).filter(|name| name.parse::<f64>().is_err()).map(str::to_owned)
}

/// The difference of two tables as text.
fn different(t: &TableDifference, folder: &Path) -> String {
    if let Some([a, b]) = &t.columns {
        return format!("{}: columns {} | {}\n", t.name, a.join(","), b.join(","));
    }
    let (Some(different), [a, b]) = (t.different, &t.shapes) else {
        return format!("{}: shapes {:?} and {:?}\n", t.name, t.shapes[0], t.shapes[1]);
    };
    if different == 0 {
        return format!("{}: equal, {a:?}\n", t.name);
    }
    let named = t.column.clone().or_else(|| name_of_column(folder, &t.name, t.at[1]));
    let place = format!("row {}, column {}", t.at[0], named.unwrap_or_else(|| t.at[1].to_string()));
    match t.ulps {
        Some(ulps) => {
            format!(
                "{}: {different} numbers of {b:?} differ, by at most {ulps} ulp, {:.2e} relative ({place})\n",
                t.name, t.relative
            )
        }
        None => format!(
            "{}: {different} numbers of {b:?} differ, some are NaN in one table only ({place})\n",
            t.name
        ),
    }
}

/// The differences of two runs.
fn runs(a: &Path, b: &Path) -> Result<Answer> {
    let found = difference::compare(a, b)?;
    let mut text = String::new();
    for (name, a, b) in &found.settings {
        text.push_str(&format!("{name}: {a} | {b}\n"));
    }
    found.tables.iter().for_each(|t| text.push_str(&different(t, a)));
    for name in &found.alone {
        text.push_str(&format!("{name}: in one of the two only\n"));
    }
    text.push_str(if found.is_none() { "no difference" } else { "they differ" });
    let mut value = json!(found);
    value["equal"] = json!(found.is_none());
    let end = if found.is_none() { Exit::Shown } else { Exit::Counterexample };
    Ok(Answer::new(value, text).ended(end))
}
