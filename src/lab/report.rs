//! The status page: one self-contained HTML file, readable without scripts or network.

use super::Provenance;
use crate::theorem::{Expected, Record, Verdict, find};

/// A figure for the page.
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The SVG text.
    pub svg: String,
    /// The caption, also the alternative text.
    pub caption: String,
}

/// The page. `sparks` holds one small picture per record, as inline SVG.
pub fn html(records: &[Record], sparks: &[String], figures: &[Figure], provenance: &Provenance, flag: &str, seconds: f64) -> String {
    let count = |v: Verdict| records.iter().filter(|r| r.verdict == v).count();
    let good = records.iter().filter(|r| r.as_expected).count();
    let rows: String = records.iter().zip(sparks).map(|(r, s)| row(r, s, flag)).collect();
    let pictures: String = figures
        .iter()
        .map(|f| {
            // As an image, so that the fonts and ids of one figure cannot touch another.
            use base64::Engine;
            let data = base64::engine::general_purpose::STANDARD.encode(&f.svg);
            format!(
                "<figure id=\"{0}\"><img alt=\"{1}\" src=\"data:image/svg+xml;base64,{data}\"><figcaption><b>{2}.</b> {1}</figcaption></figure>\n",
                f.name,
                escape(f.caption.trim()),
                escape(f.title)
            )
        })
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>metastable: status of the theorems</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<script type=\"application/json\" id=\"provenance\">{json}</script>\n<style>{STYLE}</style></head><body>\n\
         <h1>Status of the theorems</h1>\n\
         <p>{tool}, commit {commit}, {target}; {seconds:.0} s. <b>{good} of {total}</b> claims have the verdict the literature predicts: {supported} supported, \
         {violated} violated, {inconclusive} inconclusive, {vacuous} with hypotheses never met.</p>\n\
         <p>A numerical verdict is not a proof. <i>Supported</i>: every margin exceeded its numerical error in every trial that met the hypotheses, and the negative \
         control failed as it should. <i>Violated</i>: violated as encoded, confirmed at a hundredth of the tolerance. Margins are signed distances to the claim; \
         the small picture shows all of them on a symmetric log scale, the threshold in the middle.</p>\n\
         <table><thead><tr><th>claim</th><th>verdict</th><th>margin</th><th>error</th><th>trials</th><th>hypotheses missed</th><th>negative control</th><th>margins</th>\
         <th>reproduce</th></tr></thead><tbody>\n{rows}</tbody></table>\n{pictures}</body></html>\n",
        json = provenance.json().replace("</", "<\\/"),
        tool = escape(&provenance.tool),
        commit = escape(&provenance.commit[..provenance.commit.len().min(12)]),
        target = escape(&provenance.target),
        total = records.len(),
        supported = count(Verdict::Supported),
        violated = count(Verdict::Violated),
        inconclusive = count(Verdict::Inconclusive),
        vacuous = count(Verdict::HypothesesNeverMet),
    )
}

/// The table of theorems of the README, generated from the claims.
pub fn readme_table() -> String {
    let mut out = String::from("| claim | what is tested | status in the literature | source |\n|---|---|---|---|\n");
    for claim in crate::theorem::ALL {
        let status = match claim.expected {
            Expected::Holds if claim.almost_sure => "holds for almost every start",
            Expected::Holds => "holds",
            Expected::Violated => "printed wrongly: expected violated",
        };
        // Asterisks and pipes would be read as markup.
        let plain = |text: &str| text.replace('|', "\\|").replace('*', "\\*");
        out.push_str(&format!("| `{}` | {} | {status} | {} |\n", claim.name, plain(claim.title), plain(claim.citation)));
    }
    out
}

fn row(r: &Record, spark: &str, flag: &str) -> String {
    let Ok(claim) = find(r.name) else { return String::new() };
    let (shape, class) = match r.verdict {
        Verdict::Supported => ("&#9679;", "supported"),
        Verdict::Inconclusive => ("&#9680;", "inconclusive"),
        Verdict::Violated => ("&#9650;", "violated"),
        Verdict::HypothesesNeverMet => ("&#9675;", "vacuous"),
    };
    let note = match claim.expected {
        Expected::Violated => " <small>(printed wrongly: expected)</small>",
        Expected::Holds => "",
    };
    let trials = match r.exception_bound {
        Some(bound) => format!("{} of {}<br><small>exceptions below {bound:.2e}</small>", r.held, r.trials),
        None => r.trials.to_string(),
    };
    let place =
        r.worst.map_or(String::new(), |(c, t)| format!("<br><small>n={} d={} &beta;={} {} #{t}</small>", c.n, c.d, c.beta, c.dynamics));
    format!(
        "<tr id=\"{name}\"><td><details><summary><b>{title}</b></summary><p>{statement}</p><p>Hypotheses: {hypotheses}.</p><p><small>{citation}</small></p></details></td>\
         <td class=\"{class}\">{shape} {verdict}{note}</td><td>{margin:.2e}{place}</td><td>{error:.1e}</td><td>{trials}</td><td>{missed}</td><td>{control}<br><small>{what}</small></td>\
         <td>{spark}</td><td><code>metastable check {name}{flag} --seed {seed}</code></td></tr>\n",
        name = r.name,
        title = escape(claim.title),
        statement = escape(claim.statement),
        hypotheses = escape(claim.hypotheses),
        citation = escape(claim.citation),
        verdict = r.verdict,
        margin = r.margin.map_or(f64::NAN, |m| m.value),
        error = r.margin.map_or(f64::NAN, |m| m.error()),
        missed = r.missed,
        control = if r.control_failed { "fails as it should" } else { "<b>does not fail</b>" },
        what = escape(claim.control.what),
        seed = r.seed,
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#111;background:#fff}\
table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #ccc;padding:.4em;text-align:left;vertical-align:top}\
th{background:#f0f0f0}td:nth-child(3),td:nth-child(4){white-space:nowrap}.supported{color:#00583f}.violated{color:#8f2a00}.inconclusive,.vacuous{color:#5c4400}code{font-size:12px;user-select:all}\
figure{margin:2em 0}img{max-width:100%}figcaption{color:#333}summary{cursor:pointer}";
