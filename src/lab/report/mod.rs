//! The status page: one self-contained HTML file. It asks the network for nothing and is complete without its script, which only filters.

mod claims;
pub mod errata;
mod figures;
mod groups;
#[doc(hidden)]
pub mod math;
mod news;
mod words;

pub use figures::{Figure, Shown};
#[doc(hidden)]
pub use groups::number as theorem_number;
pub use groups::{CitedPaper, Group, by_paper, by_topic};
pub use news::{headline, tightest};

use super::Provenance;
use crate::theorem::{Effort, Record, Verdict};
pub use words::{STATUSES, escape};
use words::{VERDICTS, kind};

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

/// The page, which links `page.html` beside it. `sparks` holds one small picture per record, as inline SVG with a text
/// alternative; `papers` are those that claims are grouped by.
pub fn html(
    records: &[Record],
    sparks: &[String],
    figures: &[Figure],
    papers: &[CitedPaper],
    provenance: &Provenance,
    budget: &Budget,
) -> String {
    let body = format!(
        "<a class=\"skip\" href=\"#claims\">Skip to the claims</a>\n{header}{contents}<main>\n{news}{summary}{claims}{words}{pictures}{run}</main>\n\
         <script>{script}</script>\n",
        header = header(records, budget),
        contents = contents(figures),
        news = news::section(records),
        summary = summary(records),
        claims = claims::section(records, sparks, papers, &budget.flag()),
        words = words::SECTION,
        pictures = figures::section(figures),
        run = run(records, provenance, budget),
        script = include_str!("filter.js"),
    );
    document("status of the theorems", provenance, &figures::font(figures), &body)
}

/// A page in the style of the report, with rules of its own; it carries its provenance.
pub fn document(title: &str, provenance: &Provenance, rules: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>metastable: {title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <script type=\"application/json\" id=\"provenance\">{}</script>\n<style>{}{rules}</style></head>\n<body>\n{body}</body></html>\n",
        provenance.json().replace("</", "<\\/"),
        include_str!("style.css"),
    )
}

fn header(records: &[Record], budget: &Budget) -> String {
    let good = records.iter().filter(|r| r.as_expected).count();
    format!(
        "<header>\n<h1>Status of the theorems</h1>\n<p class=\"headline\">{}.</p>\n<p>{}. A numerical verdict is not a proof.</p>\n</header>\n",
        news::headline(good, records.len()),
        budget.words(),
    )
}

/// How the page came about and how to make it again.
fn run(records: &[Record], provenance: &Provenance, budget: &Budget) -> String {
    let trials: usize = records.iter().map(|r| r.trials + r.missed + r.unfinished.0).sum();
    let searched: u64 = records.iter().filter_map(|r| r.searched).map(|s| s.evaluations).sum();
    let row = |name: &str, text: &str| format!("<tr><th scope=\"row\">{name}</th><td>{text}</td></tr>\n");
    format!(
        "<section id=\"run\" aria-labelledby=\"h-run\"><h2 id=\"h-run\">This run</h2>\n<table><caption>How to make it again</caption><tbody>\n{rows}</tbody></table>\n</section>\n",
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
        "<nav aria-label=\"Contents\"><ul><li><a href=\"#news\">What is new</a></li><li><a href=\"#summary\">Verdicts by status</a></li>\
         <li><a href=\"#claims\">All claims</a></li><li><a href=\"#words\">What the words mean</a></li>{figures}\
         <li><a href=\"#run\">This run</a></li><li><a href=\"page.html\">Tokens in motion</a>, a page that computes</li></ul></nav>\n"
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
    format!(
        "<section id=\"summary\" aria-labelledby=\"h-summary\"><h2 id=\"h-summary\">Verdicts by status</h2>\n<div class=\"frame\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Table of verdicts\"><table><caption>Status in the literature and verdict here</caption><thead><tr><th scope=\"col\">status</th>{head}</tr></thead>\
         <tbody>\n{rows}</tbody></table></div>\n<p>Misprinted and folklore statements are expected to be violated.</p>\n</section>\n"
    )
}

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
