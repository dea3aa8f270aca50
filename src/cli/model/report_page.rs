//! The files of a report: report.html, report.json, layers.csv, heads.csv, spectra.csv.

use super::report::{LEAST_HEADS, Report};
use super::report_columns::{HEADS, LAYERS, PAGE, ReportColumn};
use crate::cli::output::{finite, number};
use crate::error::Result;
use crate::flow::Table;
use crate::lab::report::{document, escape};
use crate::lab::{Provenance, arrays};
use crate::num::cloud::COSINE_BINS;
use crate::transformer::trained::TrainedModel;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Writes the files.
pub fn write(
    folder: &Path,
    model: &TrainedModel,
    report: &Report,
    provenance: &Provenance,
) -> Result<()> {
    for (name, table) in
        [("layers", &report.layers), ("heads", &report.heads), ("spectra", &report.spectra)]
    {
        arrays::write_atomically(
            &folder.join(format!("{name}.csv")),
            arrays::csv_text(table, &provenance.csv_header()).as_bytes(),
        )?;
    }
    let mut json = json!({
        "layers": objects(&report.layers),
        "heads": objects(&report.heads),
        "lyapunov_exponents": report.exponents.values.iter().map(|v| finite(*v)).collect::<Vec<_>>(),
        "lyapunov_exponents_kind": report.exponents.kind,
        "lyapunov_exponents_error": finite(report.exponents.error),
        "histograms": report.histograms.iter().map(|h| json!({"raw": h[0], "bare": h[1], "sa": h[2]})).collect::<Vec<_>>(),
        "histogram_range": [-1.0, 1.0],
        "entries": PAGE.iter().chain(&*LAYERS).chain(&*HEADS).map(|e| json!({"column": e.column, "meaning": e.meaning, "theorem": e.theorem, "hypothesis_violated": e.violated})).collect::<Vec<_>>(),
        "provenance": provenance,
    });
    report.beta.keys().into_iter().for_each(|(key, value)| json[key] = value);
    arrays::write_atomically(&folder.join("report.json"), json.to_string().as_bytes())?;
    arrays::write_atomically(
        &folder.join("report.html"),
        html(model, report, provenance).as_bytes(),
    )
}

fn objects(table: &Table) -> Value {
    let one = |row: &Vec<f64>| {
        Value::Object(
            table
                .columns
                .iter()
                .cloned()
                .zip(row.iter().map(|v| finite(*v)))
                .collect::<Map<_, _>>(),
        )
    };
    table.rows.iter().map(one).collect()
}

/// Style rules of this page, after those of all reports.
const STYLE: &str = "\ntd{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\nthead th{text-align:right}\n\
    .words td,.words th{text-align:left;white-space:normal}\n.frame svg{width:9rem;height:2.2rem}\n.frame .spectra svg{width:5rem;height:5.6rem}";

fn html(model: &TrainedModel, report: &Report, provenance: &Provenance) -> String {
    let c = model.config();
    let exponents: Vec<String> = report.exponents.values.iter().map(|v| number(*v)).collect();
    let error = report.exponents.error;
    let body = format!(
        "<main>\n<h1>The theory compared with a model</h1>\n\
         <p>{kind}: {layers} layers run, d = {d}, {heads} heads, {parameters} parameters. No theorem applies to this model: each entry names a \
         theorem and the hypothesis of it that the model violates.</p>\n\
         <p>The four largest growth rates of small perturbations, per layer: {exponents} ({exponents_kind}{exponents_error}). Perturbations grow if they are above 0; if one cluster attracts they are finally below 0.</p>\n\
         <p>{comparison}</p>\n\
         <h2>Cosines of pairs</h2>\n{histograms}\n<h2>Layers</h2>\n{table}\n<h2>Heads</h2>\n{head_table}\n<h2>Spectra of V</h2>\n{spectra}\n<h2>Meaning of the columns</h2>\n{page}{words}{more}</main>\n",
        kind = escape(model.architecture()),
        layers = report.layers.rows.len() - 1,
        d = c.d,
        heads = c.heads,
        parameters = model.parameters(),
        exponents = exponents.join(", "),
        exponents_kind = report.exponents.kind,
        exponents_error =
            if error.is_finite() { format!("; within {}", number(error)) } else { String::new() },
        comparison = if report.beta.decides() {
            format!(
                "SA for comparison: from the directions of layer 0, at beta = {}, the median of \
                 the layers' medians of fitted betas, for times equal to the ratio |F(x)| / |x| \
                 of the attention sublayers.",
                report.beta.describe()
            )
        } else {
            format!(
                "Not compared with SA: this needs at least {LEAST_HEADS} heads with a fitted \
                 beta, and here it is {}.",
                report.beta.describe()
            )
        },
        histograms = histograms(report),
        table = table(&report.layers, "layers.csv"),
        head_table = table(&report.heads, "heads.csv"),
        spectra = spectra(&report.spectra),
        page = legend("Page", &PAGE),
        words = legend("Layers", &LAYERS),
        more = legend("Heads", &HEADS),
    );
    document("the theory compared with a model", provenance, STYLE, &body)
}

fn table(table: &Table, file: &str) -> String {
    let head: String = table
        .columns
        .iter()
        .map(|c| format!("<th scope=\"col\">{}</th>", c.replace('_', " ")))
        .collect();
    let rows = table.rows.iter().map(|r| {
        format!(
            "<tr>{}</tr>\n",
            r.iter().map(|v| format!("<td>{}</td>", cell(*v))).collect::<String>()
        )
    });
    format!(
        "<div class=\"frame\"><table><caption>{file}</caption><thead><tr>{head}</tr></thead><tbody>\n{}</tbody></table></div>",
        rows.collect::<String>()
    )
}

/// About four digits; the CSV file has all.
fn cell(v: f64) -> String {
    match v.abs() {
        _ if !v.is_finite() => "-".into(),
        size if v.fract().abs() < f64::EPSILON && size < 1e9 => format!("{v:.0}"),
        size if !(1e-3..1e6).contains(&size) => format!("{v:.1e}"),
        size if size >= 100.0 => format!("{v:.1}"),
        size if size >= 1.0 => format!("{v:.3}"),
        _ => format!("{v:.4}"),
    }
}

fn legend(caption: &str, entries: &[ReportColumn]) -> String {
    let row = |e: &ReportColumn| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            e.column.replace('_', " "),
            escape(&e.meaning),
            escape(&e.theorem),
            escape(&e.violated)
        )
    };
    format!(
        "<table class=\"words\"><caption>{caption}</caption><thead><tr><th>column</th><th>meaning</th><th>theorem</th><th>violated hypothesis</th></tr></thead><tbody>\n{}</tbody></table>\n",
        entries.iter().map(row).collect::<String>()
    )
}

/// A row of histograms for every state: the model, without the affine part, SA.
fn histograms(report: &Report) -> String {
    let row = |(l, h): (usize, &[Vec<usize>; 3])| {
        format!(
            "<tr><th scope=\"row\">{l}</th>{}</tr>\n",
            h.iter().map(|h| format!("<td>{}</td>", bars(h))).collect::<String>()
        )
    };
    format!(
        "<div class=\"frame\"><table><caption>Cosines from -1 (left) to 1 (right), each scaled to its highest bar</caption><thead><tr><th>layer</th>\
         <th>model</th><th>without gain and shift</th><th>SA</th></tr></thead><tbody>\n{}</tbody></table></div>",
        report.histograms.iter().enumerate().map(row).collect::<String>()
    )
}

/// One row per layer, one picture per head: the eigenvalues of V in the complex plane, and above
/// them those of its symmetric part on a line.
fn spectra(table: &Table) -> String {
    let heads: Vec<&[Vec<f64>]> = table.rows.chunk_by(|a, b| a[..2] == b[..2]).collect();
    let row = |layer: &[&[Vec<f64>]]| {
        let cells: String = layer.iter().map(|head| format!("<td>{}</td>", plane(head))).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", layer[0][0][0])
    };
    format!(
        "<div class=\"frame\"><table class=\"spectra\"><caption>spectra.csv: eigenvalues of V in the complex plane, 0 in the middle, and above them those of its symmetric part (positive blue: V attracts; negative red: V repels); each \
         picture is scaled to its largest. One row per layer, one picture per head, counted from 0. All other eigenvalues are 0.</caption><tbody>\n{}</tbody></table></div>",
        heads.chunk_by(|a, b| a[0][..1] == b[0][..1]).map(row).collect::<String>()
    )
}

fn plane(head: &[Vec<f64>]) -> String {
    let largest =
        head.iter().flat_map(|r| [r[3].hypot(r[4]), r[5].abs()]).fold(f64::MIN_POSITIVE, f64::max);
    let at = |v: f64| 50.0 + 46.0 * v / largest;
    let dot = |r: &Vec<f64>| {
        format!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.5\"/>",
            at(r[3]),
            64.0 - 46.0 * r[4] / largest
        )
    };
    let mark = |r: &Vec<f64>| {
        let colour = if r[5] > 0.0 { "#0072b2" } else { "#d55e00" };
        format!("<path d=\"M{:.1} 2V12\" stroke=\"{colour}\"/>", at(r[5]))
    };
    let (values, marks): (String, String) = (
        head.iter().filter(|r| r[3] != 0.0 || r[4] != 0.0).map(dot).collect(),
        head.iter().filter(|r| r[5] != 0.0).map(mark).collect(),
    );
    format!(
        "<svg role=\"img\" aria-label=\"spectrum, largest {}\" viewBox=\"0 0 100 112\"><path d=\"M4 64H96M50 18V110\" stroke=\"#bbb\"/>{marks}{values}</svg>",
        number(largest)
    )
}

fn bars(counts: &[usize]) -> String {
    let Some(highest) = counts.iter().max().filter(|m| **m > 0) else { return "-".into() };
    let bar = |(k, c): (usize, &usize)| {
        let height = 30.0 * *c as f64 / *highest as f64;
        format!("<rect x=\"{k}\" y=\"{:.2}\" width=\"1\" height=\"{height:.2}\"/>", 30.0 - height)
    };
    let all: String = counts.iter().enumerate().filter(|(_, c)| **c > 0).map(bar).collect();
    format!(
        "<svg role=\"img\" aria-label=\"histogram\" viewBox=\"0 0 {COSINE_BINS} 30\" preserveAspectRatio=\"none\"><line x1=\"0\" x2=\"{COSINE_BINS}\" y1=\"30\" y2=\"30\" stroke=\"#777\"/>{all}</svg>"
    )
}
