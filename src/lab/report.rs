//! The status page: one self-contained HTML file, readable without scripts or network.

use super::Provenance;
use crate::theorem::{Kind, Record, Verdict, find};

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
         {certified} certified, {violated} violated, {inconclusive} inconclusive, {vacuous} with hypotheses never met.</p>\n\
         <p>A numerical verdict is not a proof. <i>Certified</i>: interval arithmetic decides the printed box. <i>Supported</i>: every margin exceeded its error in every \
         trial that met the hypotheses, and the control came out on its side. <i>Violated</i>: violated as encoded, confirmed by another integrator, tolerance, precision or seed. \
         Margins have no unit: 1 is far from the threshold, 0 on it; the small picture shows all of them on a symmetric log scale, the threshold in the middle. <i>Slack</i>: how \
         many times larger a bound is than what happens. <i>Resolves</i>: the relative change of the stated constant or law that the check would notice.</p>\n\
         <table><thead><tr><th>claim</th><th>status, kind</th><th>verdict</th><th>margin</th><th>error</th><th>slack</th><th>resolves</th><th>trials</th><th>hypotheses missed</th>\
         <th>control</th><th>margins</th><th>reproduce</th></tr></thead><tbody>\n{rows}</tbody></table>\n{pictures}</body></html>\n",
        json = provenance.json().replace("</", "<\\/"),
        tool = escape(&provenance.tool),
        commit = escape(&provenance.commit[..provenance.commit.len().min(12)]),
        target = escape(&provenance.target),
        total = records.len(),
        supported = count(Verdict::Supported),
        certified = count(Verdict::Certified),
        violated = count(Verdict::Violated),
        inconclusive = count(Verdict::Inconclusive),
        vacuous = count(Verdict::HypothesesNeverMet),
    )
}

/// The table of theorems of the README, generated from the claims.
pub fn readme_table() -> String {
    let mut out = String::from("| claim | what is tested | status | kind | source |\n|---|---|---|---|---|\n");
    for claim in crate::theorem::ALL {
        // Asterisks and pipes would be read as markup.
        let plain = |text: &str| text.replace('|', "\\|").replace('*', "\\*");
        let kind = match claim.kind {
            Kind::Every(_) => "every draw".to_owned(),
            kind => kind.to_string(),
        };
        out.push_str(&format!("| `{}` | {} | {} | {kind} | {} |\n", claim.name, plain(claim.title), claim.status, plain(claim.citation)));
    }
    out
}

fn row(r: &Record, spark: &str, flag: &str) -> String {
    let Ok(claim) = find(r.name) else { return String::new() };
    let (shape, class) = match r.verdict {
        Verdict::Certified => ("&#9632;", "supported"),
        Verdict::Supported => ("&#9679;", "supported"),
        Verdict::Inconclusive => ("&#9680;", "inconclusive"),
        Verdict::Violated => ("&#9650;", "violated"),
        Verdict::HypothesesNeverMet => ("&#9675;", "vacuous"),
    };
    let note = if r.status.expects_violation() { " <small>(expected)</small>" } else { "" };
    let trials = match r.bound {
        Some(bound) => format!("{} of {}<br><small>failures below {bound:.2e}</small>", r.held, r.trials + r.unfinished.0),
        None => r.trials.to_string(),
    };
    let small = |label: &str, text: &str| if text.is_empty() { String::new() } else { format!("<p>{label}{}.</p>", escape(text)) };
    let words = [
        small("Hypotheses: ", &claim.domain.to_string()),
        small("Narrower than the source: ", claim.narrower),
        small("Drawn: ", &r.drawn.to_string()),
        small("Perturbed for the resolving power: ", claim.perturbed),
        small("Confirmed by ", &r.confirmed.join(", ")),
        r.searched.map_or(String::new(), |s| format!("<p>Searched: {} trials, smallest margin {:.2e}.</p>", s.evaluations, s.best)),
        small("", &r.reason),
    ]
    .concat();
    format!(
        "<tr id=\"{name}\"><td><details><summary><b>{title}</b></summary><p>{statement}</p>{words}<p><small>{citation}</small></p></details></td><td>{status}<br>{kind}</td>\
         <td class=\"{class}\">{shape} {verdict}{note}</td><td>{margin}{place}</td><td>{error}</td><td>{slack}</td><td>{power}</td><td>{trials}</td><td>{missed}</td>\
         <td>{control}<br><small>{what}</small></td><td>{spark}</td><td><code>metastable check {name}{flag} --seed {seed}</code></td></tr>\n",
        name = r.name,
        title = escape(claim.title),
        statement = escape(claim.statement),
        citation = escape(claim.citation),
        status = r.status,
        kind = r.kind,
        verdict = r.verdict,
        margin = r.margin.map_or("none".into(), |m| format!("{:.2e}", m.value)),
        place = r.worst.map_or(String::new(), |(c, t)| format!("<br><small>{} #{t}</small>", escape(&c.to_string()))),
        error = r.margin.map_or("none".into(), |m| format!("{:.0e}", m.error())),
        slack = r.slack.map_or("-".into(), |s| format!("{s:.3}")),
        power = r.power,
        missed = r.missed,
        control = if r.control_ok { "on its side" } else { "<b>on the wrong side</b>" },
        what = escape(claim.control.what),
        seed = r.seed,
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#111;background:#fff}\
table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #ccc;padding:.4em;text-align:left;vertical-align:top}\
th{background:#f0f0f0}td:nth-child(4),td:nth-child(5){white-space:nowrap}.supported{color:#00583f}.violated{color:#8f2a00}.inconclusive,.vacuous{color:#5c4400}code{font-size:12px;user-select:all}\
figure{margin:2em 0}img{max-width:100%}figcaption{color:#333}summary{cursor:pointer}";
