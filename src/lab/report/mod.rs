//! The status page: one self-contained HTML file. It asks the network for nothing and is complete without its script, which only filters.

mod claims;
mod figures;
mod words;

pub use figures::{Figure, Shown};

use super::Provenance;
use crate::theorem::{Effort, Record, Verdict};
pub use words::escape;
use words::{STATUSES, VERDICTS, kind};

/// How the records came about.
pub struct Budget {
    /// How much was spent.
    pub effort: Effort,
    /// Names of the claims that were asked for; empty for all.
    pub names: Vec<String>,
    /// Wall time in seconds.
    pub seconds: f64,
    /// The machine in words.
    pub machine: String,
    /// Root seed.
    pub seed: u64,
}

impl Budget {
    /// The command that makes the records again.
    pub fn command(&self) -> String {
        let named: String = self.names.iter().map(|n| format!(" {n}")).collect();
        format!("metastable check{named}{} --seed {}", self.flag(), self.seed)
    }

    fn flag(&self) -> String {
        match self.effort {
            Effort::Quick => " --quick".into(),
            Effort::Standard => String::new(),
            Effort::Draws(n) => format!(" --trials {n}"),
        }
    }

    fn words(&self) -> String {
        match self.effort {
            Effort::Quick => "Quick run: the ends of all ranges and a few draws of each claim".into(),
            Effort::Standard => "Full run: the standard number of draws and longer searches".into(),
            Effort::Draws(n) => format!("{n} draws of each claim and longer searches"),
        }
    }
}

/// The page, which links `page.html` beside it. `sparks` holds one small picture per record, as inline SVG with a text alternative.
pub fn html(records: &[Record], sparks: &[String], figures: &[Figure], provenance: &Provenance, budget: &Budget) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>metastable: status of the theorems</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <script type=\"application/json\" id=\"provenance\">{json}</script>\n<style>{style}{font}</style></head>\n<body>\n\
         <a class=\"skip\" href=\"#claims\">Skip to the claims</a>\n{header}{contents}<main>\n{summary}{words}{claims}{pictures}</main>\n\
         <script>{script}</script>\n</body></html>\n",
        json = provenance.json().replace("</", "<\\/"),
        style = include_str!("style.css"),
        font = figures::font(figures),
        header = header(records, provenance, budget),
        contents = contents(figures),
        summary = summary(records),
        words = WORDS,
        claims = claims::section(records, sparks, &budget.flag()),
        pictures = figures::section(figures),
        script = include_str!("filter.js"),
    )
}

fn header(records: &[Record], provenance: &Provenance, budget: &Budget) -> String {
    let good = records.iter().filter(|r| r.as_expected).count();
    let trials: usize = records.iter().map(|r| r.trials + r.missed + r.unfinished.0).sum();
    let searched: u64 = records.iter().filter_map(|r| r.searched).map(|s| s.evaluations).sum();
    let row = |name: &str, text: &str| format!("<tr><th scope=\"row\">{name}</th><td>{text}</td></tr>\n");
    format!(
        "<header>\n<h1>Status of the theorems</h1>\n<p><b>{effort}.</b> <b>{good} of {total}</b> claims have the verdict that the literature, with its \
         known errata, predicts.</p>\n<table><caption>This run</caption><tbody>\n{rows}</tbody></table>\n</header>\n",
        effort = budget.words(),
        total = records.len(),
        rows = [
            row("Budget", &format!("{trials} draws and {searched} trials of searches, {:.0} s", budget.seconds)),
            row("Machine", &escape(&format!("{}, {}, {}", provenance.target, budget.machine, provenance.compiler))),
            row(
                "Program",
                &escape(&format!("{}, numerical version {}, commit {}", provenance.tool, provenance.numerical_version, provenance.commit)),
            ),
            row("Again", &format!("<code>{}</code>", escape(&budget.command()))),
        ]
        .concat(),
    )
}

fn contents(figures: &[Figure]) -> String {
    let figures = if figures.is_empty() { "" } else { "<li><a href=\"#figures\">Figures</a></li>" };
    format!(
        "<nav aria-label=\"Contents\"><ul><li><a href=\"#summary\">What was found</a></li><li><a href=\"#words\">What the words mean</a></li>\
         <li><a href=\"#claims\">Claims: index</a></li><li><a href=\"#each\">Each claim</a></li>{figures}\
         <li><a href=\"page.html\">Tokens in motion</a>, a page that computes</li></ul></nav>\n"
    )
}

fn summary(records: &[Record]) -> String {
    // A verdict that no claim has is no column: on a phone the others fit.
    let given: Vec<&Verdict> = VERDICTS.iter().filter(|v| records.iter().any(|r| r.verdict == **v)).collect();
    let head: String = given.iter().map(|v| format!("<th scope=\"col\">{v}</th>")).collect();
    let rows: String = STATUSES
        .iter()
        .map(|s| {
            let cell = |v: &&Verdict| match records.iter().filter(|r| r.status == *s && r.verdict == **v).count() {
                0 => "<td></td>".to_owned(),
                count => format!("<td>{count}</td>"),
            };
            format!("<tr><th scope=\"row\">{s}</th>{}</tr>\n", given.iter().map(cell).collect::<String>())
        })
        .collect();
    let odd: String = records
        .iter()
        .filter(|r| !r.as_expected)
        .map(|r| format!("<li><a href=\"#{0}\">{0}</a>: {1}. {2}</li>\n", r.name, r.verdict, escape(&r.reason)))
        .collect();
    let odd = if odd.is_empty() { String::new() } else { format!("<p>Not as predicted:</p><ul>{odd}</ul>\n") };
    format!(
        "<section id=\"summary\" aria-labelledby=\"h-summary\"><h2 id=\"h-summary\">What was found</h2>\n<div class=\"frame\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Table of verdicts\"><table><caption>Verdicts by status in the literature</caption><thead><tr><th scope=\"col\">status</th>{head}</tr></thead>\
         <tbody>\n{rows}</tbody></table></div>\n<p>Misprinted and folklore statements are expected to be violated.</p>\n{odd}</section>\n"
    )
}

const WORDS: &str = "<section id=\"words\" aria-labelledby=\"h-words\"><h2 id=\"h-words\">What the words mean</h2>\n<p>A numerical verdict is not a proof.</p>\n<dl>\
<dt>certified</dt><dd>Interval arithmetic decides exactly the printed box, and every trial agrees.</dd>\
<dt>supported</dt><dd>Every margin exceeded its error in every trial that met the hypotheses, and the control came out on its side.</dd>\
<dt>inconclusive</dt><dd>An error bar covers the threshold, a run did not finish, a violation was not confirmed, or too few draws met the hypotheses.</dd>\
<dt>violated</dt><dd>Violated as encoded, and confirmed by another integrator, tolerance, precision or seed.</dd>\
<dt>hypotheses never met</dt><dd>Nothing was tested.</dd>\
<dt>margin</dt><dd>Signed distance to the claim without a unit: 1 is far from the threshold, 0 on it, negative beyond. The small picture shows all margins on a symmetric \
log scale, the threshold in the middle.</dd>\
<dt>observed</dt><dd>What the worst trial measured, beside what it was held against: a deviation and its tolerance, a value and its bound, a number and the stated one.</dd>\
<dt>slack</dt><dd>How many times larger the bound of an inequality is than what happens; the smallest of all trials.</dd>\
<dt>resolves</dt><dd>The relative change of the stated constant or law that the check would notice; \"not 2x\": half or twice would pass too.</dd>\
<dt>control</dt><dd>The same code with one thing changed: violated for a claim that should hold, held for one that is false.</dd></dl></section>\n";

/// All claims as a Markdown table, the one beside their sources.
pub fn claims_table() -> String {
    table(crate::theorem::ALL)
}

/// A Markdown table of some claims.
pub fn table(claims: &[&crate::theorem::Claim]) -> String {
    let mut out = String::from("| claim | what is tested | status | kind | source |\n|---|---|---|---|---|\n");
    for claim in claims {
        // Asterisks, pipes and angles would be read as markup.
        let plain = |text: &str| text.replace('|', "\\|").replace('*', "\\*").replace('<', "\\<");
        out.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            claim.name,
            plain(claim.title),
            claim.status,
            kind(claim.kind),
            plain(claim.citation)
        ));
    }
    out
}
