//! `explain`: the meaning of a registered name or of a term.

use super::output::is_markdown;
use super::{list, paper_page, papers, printed, provenance, terms};
use crate::attention::{dynamics, interaction};
use crate::error::{Error, Result};
use crate::operation::Parameter;
use crate::operation::{Answer, Operation, Parameters, Rows, Table, any, column};
use crate::paper_figs::{self, PaperFigure};
use crate::parameters;
use crate::prediction::{self, Prediction};
use crate::recurrent::map;
use crate::sphere::mass_law::{self, MassFamily};
use crate::theorem::{self, Claim, Kind, Status, sentences};
use crate::{lab::experiment, lab::model::GRID, sphere::law};
use serde_json::{Value, json};
use std::path::Path;

parameters! {
    /// Parameters of `explain`.
    struct Explain {
        /// A theorem, prediction, dynamics, law, law of masses, observable, figure, experiment,
        /// study, kernel, column, command, outcome, verdict, other term of the table of verdicts,
        /// or the arXiv number of a paper. Or a result file (CSV, JSON, NPY, SVG, PNG, HTML, a
        /// certificate), to see where it comes from and the command that reproduces it.
        name: Vec<String>, any().positional().form("NAME|FILE");
        /// Print the derivation of a claim, if the cited paper does not contain it.
        proof: bool;
        /// As --format markdown: the page of a paper.
        markdown: bool, any().hidden().excludes(&["proof"]);
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "explain",
    group: "Papers",
    summary: "Explain a theorem, paper, law, figure or term: statement, hypotheses, citation, status",
    notes: "Examples:
  metastable explain cone-collapse
  metastable explain cone-collapse --proof
  metastable explain 2312.10794
  metastable explain hypotheses never met
  metastable explain runs/figures/gamma-curve.png",
    parameters: Explain::table,
    results: &[
        column("name", "the name"),
        column("text", "what it is"),
        column("derived", "whether the derivation is in this program"),
        column("proof", "the derivation of a claim"),
        column("markdown", "the page of a paper"),
        column("sentence", "a sentence with its verdict"),
        column("file", "the result file"),
        column("origin", "where it comes from and the command that reproduces it"),
        column("certificate", "what a certificate proves"),
        column("check", "the command that checks it"),
    ],
    tables: &[Table {
        name: "meanings",
        what: "one row for each meaning of the name",
        rows: Rows::Objects("meanings"),
        columns: &[column("kind", "kind of object"), column("text", "what it is")],
    }],
    run: |given, _| Explain::of(given)?.run(),
    ..Operation::EMPTY
};

/// One meaning of a name.
struct Meaning {
    kind: &'static str,
    text: String,
}

impl Explain {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        let name = self.name.join(" ");
        let name = name.as_str();
        if name.is_empty() {
            return Err(Error::parameter("name", "nothing", "a name (`list`), or a result file"));
        }
        if self.proof {
            let claim = theorem::find(name)?;
            let (text, derived) = derivation(claim);
            let values = json!({"name": name, "derived": derived, "proof": text});
            return Ok(Answer::new(values, text));
        }
        if self.markdown || is_markdown() {
            let expected =
                "the arXiv number of a paper (`list papers`); other pages have no Markdown";
            let paper = papers::find(name).ok_or_else(|| {
                Error::parameter("format", format!("markdown of `{name}`"), expected)
            })?;
            let text = paper_page::page(paper).markdown();
            let values = json!({"name": name, "markdown": text});
            return Ok(Answer::new(values, text));
        }
        let meanings = meanings(name);
        // A result file may have a name that is also a term; any other file is no answer then.
        if Path::new(name).is_file() {
            let answer = provenance::explained(Path::new(name));
            if answer.is_ok() || meanings.is_empty() {
                return answer;
            }
        }
        if meanings.is_empty() {
            let mut known: Vec<String> =
                list::kinds().flat_map(list::entries).map(|e| e.0).collect();
            known.extend(terms::TERMS.iter().map(|term| term.name.clone()));
            known.push(sentences::GROUP.to_owned());
            known.sort();
            known.dedup();
            return Err(Error::Unknown { kind: "name", found: name.into(), known });
        }
        let text = if let [one] = &meanings[..] {
            one.text.clone()
        } else {
            meanings
                .iter()
                .map(|m| format!("`{name}` is the name of {}:\n{}\n\n", m.kind, indented(&m.text)))
                .collect()
        };
        let all: Vec<Value> =
            meanings.iter().map(|m| json!({"kind": m.kind, "text": m.text})).collect();
        let mut result = json!({"name": name, "text": text.trim_end(), "meanings": all});
        if let Ok(sentence) = sentences::sentence(name) {
            result["sentence"] = super::sentences::fields(sentence);
        }
        Ok(Answer::new(result, text))
    }
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|l| if l.is_empty() { String::new() } else { format!("  {l}") })
        .collect::<Vec<_>>()
        .join("\n")
}

/// All meanings of a name.
fn meanings(name: &str) -> Vec<Meaning> {
    let mut out = Vec::new();
    let mut add = |kind: &'static str, text: Option<String>| {
        out.extend(text.map(|text| Meaning { kind, text }))
    };
    add("a theorem", theorem::find(name).ok().map(claim));
    add("a topic", theorem::claim::find_topic(name).ok().map(topic));
    add("a prediction", prediction::find(name).ok().map(predicted));
    add(
        "a dynamics",
        dynamics::find(name, false).ok().map(|e| {
            format!(
                "{}\n\nSource  {}\nConformance: metastable check selftest {}",
                e.summary, e.citation, e.name
            )
        }),
    );
    add("a law", law::find(name).ok().map(|e| format!("{}\n{}", e.summary, keys(e.keys))));
    add("a law of masses", mass_law::ALL.iter().find(|e| e.name == name).map(|e| masses(e)));
    add(
        "an experiment",
        experiment::BUILT_IN
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, text)| format!("{}\n\nRun it: metastable run {name}", text.trim_end())),
    );
    add("a study", crate::study::find(name).ok().map(study));
    add("a sentence", sentences::sentence(name).ok().map(super::sentences::explained));
    add("all sentences", (name == sentences::GROUP).then(super::sentences::all));
    add(
        "a map",
        map::find(name).ok().map(|m| {
            format!(
                "{}\n\nSource  {}\nCompare it with others: metastable compare {}",
                m.summary, m.citation, m.name
            )
        }),
    );
    add("a paper", papers::find(name).map(|p| paper_page::page(p).plain()));
    add("a figure", paper_figs::ALL.iter().find(|f| f.name == name).map(|f| figure(f)));
    for (kind, listed) in [
        ("an observable", "observables"),
        ("an integrator", "integrators"),
        ("a kernel", "kernels"),
        ("an interaction", "interactions"),
        ("a normalisation", "normalisations"),
        ("a key of a model", "model"),
        ("a column of results", "columns"),
        ("a command", "commands"),
    ] {
        add(
            kind,
            list::entries(listed).into_iter().find(|(n, _)| n == name).map(|(_, summary)| summary),
        );
    }
    add("all interactions with a name", (name == "interaction").then(interactions));
    add("the models of a grid", (name == GRID.0).then(|| GRID.1.to_owned()));
    add("an outcome or another term of verdicts", terms::meaning(name).map(str::to_owned));
    out
}

/// The interactions with a name, with their formulas and parameters.
fn interactions() -> String {
    let mut text = String::from(
        "x_i' = P_i sum_j m_j phi(<x_i, x_j>) x_j; with the dynamics sa the weights of a row are \
         divided by their sum, which needs phi >= 0.\n",
    );
    for entry in &interaction::ALL {
        let keys = entry.parameters.iter().map(|p| {
            format!("{} (default {}, {})", p.name, p.default().unwrap_or_default(), p.interval())
        });
        let keys = keys.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("  {:10} phi(s) = {}; {keys}\n", entry.name, entry.formula));
    }
    text.push_str(
        "  polynomial phi(s) = c_0 + c_1 s + c_2 s^2 + ..., as polynomial:1,0,2\n  chebyshev  \
         phi(s) = c_0 + c_1 T_1(s) + c_2 T_2(s) + ..., as chebyshev:0,0,1\nA formula has s, beta, \
         numbers, + - * / ^ ( ), pi, exp, ln, sqrt, sin, cos, tan, sinh, cosh, tanh, abs and \
         relu.",
    );
    text
}

/// The parameters of a law, one line for each.
fn keys(keys: &[Parameter]) -> String {
    let line = |p: &Parameter| {
        let default = p.default().unwrap_or_default();
        format!("  {} (default {default}, {}): {}", p.name, p.interval(), p.what)
    };
    keys.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A law of masses with its parameters and its flag.
fn masses(family: &MassFamily) -> String {
    let drawn = if family.random {
        "\nDrawn anew in every realisation of an experiment; in a single run drawn from --seed."
    } else {
        ""
    };
    let value = if family.keys.is_empty() { "" } else { ":VALUE" };
    let use_it =
        format!("--masses {0}{value}, or masses = \"{0}{value}\" in an experiment", family.name);
    format!("{}\n{}{drawn}\nUse it      {use_it}", family.summary, keys(family.keys))
}

/// A study with its parameters; a parameter that several parts share is listed once.
fn study(s: &crate::study::Study) -> String {
    let mut parameters: Vec<&Parameter> = Vec::new();
    for p in s.parts.iter().flat_map(|p| p.parameters) {
        if !parameters
            .iter()
            .any(|q| super::parameter::explained([*q]) == super::parameter::explained([p]))
        {
            parameters.push(p);
        }
    }
    let shared = parameters
        .iter()
        .enumerate()
        .any(|(k, p)| parameters[..k].iter().any(|q| q.name == p.name));
    let note = if shared {
        "A name that is listed twice belongs to two parts; --set changes both.\n"
    } else {
        ""
    };
    let lines = super::parameter::explained(parameters);
    format!(
        "{}\n\nSource  {}\nTables: metastable run {}\n{lines}{note}",
        s.title, s.citation, s.name
    )
    .trim_end()
    .to_owned()
}

/// A figure with its data.
fn figure(f: &'static PaperFigure) -> String {
    let mut text = format!("{}\n\n{}", f.title, printed::lines(f));
    f.experiments
        .iter()
        .for_each(|e| text.push_str(&format!("Experiment  {e} (metastable run {e})\n")));
    f.study.iter().filter_map(|p| p.study()).for_each(|s| {
        text.push_str(&format!(
            "Study       {} ({})\nSource      {}\n",
            s.name, s.title, s.citation
        ))
    });
    if f.needs_hidden_states {
        text.push_str("Model       built-in hidden states, or your own with --tokens FILE\n");
    }
    text.push_str(super::figure::explained(f).trim_end());
    text
}

/// The lines of a text beside a label of 11 characters.
fn paragraph(text: &str) -> String {
    super::sections::wrapped(text, super::sections::WIDTH - 12).join(&format!("\n{:12}", ""))
}

/// What is given, what is claimed and how it is tested, a paragraph each.
fn statement(c: &Claim) -> String {
    [("Let", c.lets), ("Then", c.then), ("Tested", c.tested)]
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(label, text)| {
            let label = if c.lets.is_empty() && *label == "Then" { "Statement" } else { label };
            format!("{label:<11} {}\n", paragraph(&c.printed(text)))
        })
        .collect()
}

/// The hypotheses from which cases are drawn, and how they are narrower than those of the source.
fn hypotheses(c: &Claim) -> String {
    let mut text = format!("Hypotheses  {}\n", paragraph(&c.hypotheses()));
    if !c.narrower.is_empty() {
        text.push_str(&format!("Narrower    {}\n", paragraph(&c.printed(c.narrower))));
    }
    text
}

/// The derivation of a claim (true), or its source (false).
fn derivation(c: &Claim) -> (String, bool) {
    let stated = format!("{}\n\n{}{}", c.printed(c.title), statement(c), hypotheses(c));
    match theorem::derivation(c) {
        Some(text) => {
            (format!("{stated}\n{}\n\nSource      {}", theorem::plain(text), c.source), true)
        }
        None => (format!("{stated}\nAs in the cited paper: {}", c.source), false),
    }
}

/// A prediction with its parameters and its results.
fn predicted(p: &Prediction) -> String {
    let parameter =
        |p: &Parameter| vec![format!("  --{}", super::operation::flag(p.name)), p.help()];
    let parameters: Vec<Vec<String>> =
        p.parameters.iter().filter(|p| !p.is_hidden()).map(parameter).collect();
    let result = |key: &str, meaning: &str| vec![format!("  {key}"), meaning.to_owned()];
    let results: Vec<Vec<String>> = p.results.iter().map(|r| result(r.key, r.meaning)).collect();
    format!(
        "{}\n\n{}\n\n{}\n\nSource      {}\nEvaluate it: metastable predict {} --help",
        p.summary,
        super::sections::columns(&["parameter", "meaning"], &parameters).trim_end(),
        super::sections::columns(&["result", "meaning"], &results).trim_end(),
        p.source,
        p.name
    )
}

/// A topic with its page and its claims.
fn topic(t: &theorem::Topic) -> String {
    let paragraph =
        |p: &str| super::sections::wrapped(&theorem::plain(p), super::sections::WIDTH).join("\n");
    let page = t.page.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n");
    let lines: Vec<Vec<String>> = t
        .claims
        .iter()
        .flat_map(|c| c.with_variants())
        .map(|c| {
            let indent = if c.is_variant() { "  " } else { "" };
            vec![format!("{indent}{}", c.name), c.status.to_string(), c.printed(c.title)]
        })
        .collect();
    format!(
        "{}\n\n{}\n\n{}\nCheck them: metastable check {}",
        t.title,
        page,
        super::sections::columns(&["claim", "status", "title"], &lines),
        t.name
    )
}

/// A claim with its hypotheses, status, control, source and trials.
fn claim(c: &Claim) -> String {
    let expected = match c.status {
        Status::Theorem => "theorem: a violation is a failure (exit code 2)",
        Status::Corrected => {
            "corrected (the source prints it wrongly): a violation is a failure (exit code 2)"
        }
        Status::Misprinted => "misprinted: a violation is expected",
        Status::RefutedConjecture => "refuted conjecture: a violation is expected",
        Status::Folklore => "folklore, and false: a violation is expected",
        Status::Open => "open: a violation is a discovery",
        Status::Observation => "observation without a proof",
    };
    let kind = match c.kind {
        Kind::Share(level) => format!(
            "share: at least {level} of the draws at every place of the range (Clopper-Pearson, 99.9 %)"
        ),
        Kind::Every(exceptions) => {
            format!("share: every draw; supported when exceptions are below {exceptions} at 99.9 %")
        }
        Kind::Identity | Kind::Exact | Kind::Inequality | Kind::Law => {
            let name = c.kind.to_string();
            let term = terms::meaning(&name).unwrap_or_default();
            format!("{name}: {}", term.strip_prefix("a kind of claim: ").unwrap_or(term))
        }
    };
    let kind = paragraph(&kind);
    let mut text = format!("{}\n\n{}{}", c.printed(c.title), statement(c), hypotheses(c));
    let mut line = |label: &str, words: &str| {
        if !words.is_empty() {
            text.push_str(&format!("{label:<11} {words}\n"));
        }
    };
    line("Correct", &c.printed(c.correct));
    line("Status", expected);
    line("Kind", &kind);
    line(
        "Resolves",
        &if c.constant.is_empty() {
            c.no_constant.to_owned()
        } else {
            format!("{} is perturbed until the check notices", c.printed(c.constant))
        },
    );
    let side = if c.status.expects_violation() { "must hold" } else { "must be violated" };
    line("Control", &format!("{} ({side})", c.printed(c.control.what)));
    line("Certified", &c.printed(c.proof.as_ref().map_or("", |p| p.what)));
    line("Source", c.source);
    if theorem::derivation(c).is_some() {
        line("Derivation", &format!("metastable explain {} --proof", c.name));
    }
    line(
        "Trials",
        &format!(
            "{} quick, {} standard, the ends of all ranges among them; try: metastable check {}",
            c.trials.0, c.trials.1, c.name
        ),
    );
    line("Search", &format!("metastable hunt {}", c.name));
    let variants: Vec<String> =
        c.variants.iter().map(|v| format!("{} ({})", v.name, v.status)).collect();
    line("Variants", &variants.join(", "));
    text.trim_end().to_owned()
}
