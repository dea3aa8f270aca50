//! The status page: one self-contained HTML file. It loads nothing from the network and is complete
//! without its script, which only filters.

mod changes;
mod claims;
mod figures;
mod groups;
#[doc(hidden)]
pub mod math;
mod terms;

pub use changes::{headline, headline_of, tightest};
pub use figures::{Figure, FigurePicture};
#[doc(hidden)]
pub use groups::number as theorem_number;
pub use groups::{CitedPaper, Group, by_paper, by_topic};

use super::Provenance;
use crate::theorem::{Effort, Record, Verdict};
pub use terms::{STATUSES, escape};
use terms::{VERDICTS, kind};

/// How the records were computed.
pub struct Budget {
    /// The effort.
    pub effort: Effort,
    /// Names of the requested claims; empty for all.
    pub names: Vec<String>,
    /// Names of the requested topics; empty for all.
    pub topics: Vec<String>,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Description of the machine.
    pub machine: String,
    /// Root seed.
    pub seed: u64,
}

impl Budget {
    /// The command that reproduces the records.
    pub fn command(&self) -> String {
        let named: String = self.names.iter().map(|n| format!(" {n}")).collect();
        let topics = if self.topics.is_empty() {
            String::new()
        } else {
            format!(" --topic {}", self.topics.join(","))
        };
        format!("metastable check{named}{topics}{} --seed {}", self.flag(), self.seed)
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
            Effort::Quick => {
                "Quick run: the ends of all ranges and a few draws of each claim".into()
            }
            Effort::Standard => "Full run: the standard number of draws and longer searches".into(),
            Effort::Draws(n) => format!("{n} draws of each claim and longer searches"),
        }
    }
}

/// The status page, which links to `page.html` beside it. `sparks` holds one small picture per
/// record, as inline SVG with a text alternative; `papers` are the papers by which claims are
/// grouped.
pub fn html(
    records: &[Record],
    sparks: &[String],
    figures: &[Figure],
    papers: &[CitedPaper],
    provenance: &Provenance,
    budget: &Budget,
) -> String {
    let body = format!(
        "<a class=\"skip\" href=\"#claims\">Skip to the \
        claims</a>\n{header}{contents}<main>\n{summary}{news}{claims}{words}{pictures}{run}</main>\n<script>{script}</script>\n",
        header = header(records, budget),
        contents = contents(figures),
        news = changes::section(records),
        summary = summary(records),
        claims = claims::section(records, sparks, papers, &budget.flag()),
        words = terms::SECTION,
        pictures = figures::section(figures),
        run = run(records, provenance, budget),
        script = include_str!("filter.js"),
    );
    document("status of the theorems", provenance, &figures::font(figures), &body)
}

/// An HTML page in the style of the report, with extra CSS rules and its provenance.
pub fn document(title: &str, provenance: &Provenance, rules: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>metastable: \
        {title}</title>\n<meta name=\"viewport\" content=\"width=device-width, \
        initial-scale=1\">\n<script type=\"application/json\" \
        id=\"provenance\">{}</script>\n<style>{}{rules}</style></head>\n<body>\n{body}</body></html>\n",
        provenance.json().replace("</", "<\\/"),
        include_str!("style.css"),
    )
}

fn header(records: &[Record], budget: &Budget) -> String {
    format!(
        "<header>\n<h1>Status of the theorems</h1>\n<p class=\"headline\">{}.</p>\n<p>{}. A \
        numerical verdict is not a proof.</p>\n</header>\n",
        headline_of(records),
        budget.words(),
    )
}

/// How the page was computed and how to reproduce it.
fn run(records: &[Record], provenance: &Provenance, budget: &Budget) -> String {
    let trials: usize = records.iter().map(|r| r.trials + r.missed + r.unfinished.0).sum();
    let searched: u64 = records.iter().filter_map(|r| r.searched).map(|s| s.evaluations).sum();
    let row = |name: &str, text: &str| {
        format!(
            "<tr><th \
        scope=\"row\">{name}</th><td>{text}</td></tr>\n"
        )
    };
    format!(
        "<section id=\"run\" aria-labelledby=\"h-run\"><h2 id=\"h-run\">This \
        run</h2>\n<table><caption>How to make it \
        again</caption><tbody>\n{rows}</tbody></table>\n</section>\n",
        rows = [
            row(
                "Budget",
                &format!(
                    "{trials} draws and {searched} trials of searches, {:.0} s",
                    budget.seconds
                )
            ),
            row(
                "Machine",
                &escape(&format!(
                    "{}, {}, {}",
                    provenance.target, budget.machine, provenance.compiler
                ))
            ),
            row(
                "Program",
                &escape(&format!(
                    "{}, numerical version {}, commit {}",
                    provenance.tool, provenance.numerical_version, provenance.commit
                )),
            ),
            row("Again", &format!("<code>{}</code>", escape(&budget.command()))),
        ]
        .concat(),
    )
}

fn contents(figures: &[Figure]) -> String {
    let figures = if figures.is_empty() { "" } else { "<li><a href=\"#figures\">Figures</a></li>" };
    format!(
        "<nav aria-label=\"Contents\"><ul><li><a href=\"#summary\">Verdicts by \
        topic</a></li><li><a href=\"#news\">What is new</a></li><li><a href=\"#claims\">All \
        claims</a></li><li><a href=\"#words\">What the words mean</a></li>{figures}<li><a \
        href=\"#run\">This run</a></li><li><a href=\"page.html\">Tokens in motion</a>, a page that \
        computes</li></ul></nav>\n"
    )
}

fn summary(records: &[Record]) -> String {
    // Verdicts that no claim has get no column, so the others fit on a phone.
    let given: Vec<&Verdict> =
        VERDICTS.iter().filter(|v| records.iter().any(|r| r.verdict == **v)).collect();
    let head: String = given.iter().map(|v| format!("<th scope=\"col\">{v}</th>")).collect();
    let row = |g: &Group| {
        let cell =
            |v: &&Verdict| match g.records.iter().filter(|k| records[**k].verdict == **v).count() {
                0 => "<td></td>".to_owned(),
                count => format!("<td>{count}</td>"),
            };
        format!(
            "<tr><th scope=\"row\"><a href=\"#h-topic-{}\">{}</a></th>{}</tr>\n",
            g.name,
            escape(&g.title),
            given.iter().map(cell).collect::<String>()
        )
    };
    let rows: String = by_topic(records).iter().map(row).collect();
    format!(
        "<section id=\"summary\" aria-labelledby=\"h-summary\"><h2 id=\"h-summary\">Verdicts by \
        topic</h2>\n<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"Table of \
        verdicts\"><table><caption>Topic and verdict</caption><thead><tr><th \
        scope=\"col\">topic</th>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n<p>Misprinted \
        statements, refuted conjectures and folklore are expected to be violated.</p>\n</section>\n"
    )
}

/// All claims as a Markdown table.
pub fn claims_table() -> String {
    table(&crate::theorem::ALL)
}

/// A Markdown table of some claims.
pub fn table(claims: &[&crate::theorem::Claim]) -> String {
    let mut out = String::from(
        "| claim | what is tested | status | kind | source |\n|---|---|---|---|---|\n",
    );
    for claim in claims {
        // Asterisks, pipes and angle brackets are markup in Markdown.
        let plain = |text: &str| text.replace('|', "\\|").replace('*', "\\*").replace('<', "\\<");
        out.push_str(&format!(
            "| `{}` | {} | {} | {} | {} |\n",
            claim.name,
            plain(&claim.printed(claim.title)),
            claim.status,
            kind(claim.kind),
            plain(claim.source)
        ));
    }
    out
}
