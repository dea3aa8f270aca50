//! `list`: all registered names.

use super::{output::Output, papers, printed};
use crate::attention::normalisation::Normalisation;
use crate::attention::{dynamics, interaction, kernel, normalisation};
use crate::error::{Error, Result, nearest};
use crate::{
    flow::observable, lab, lab::experiment, paper_figs, prediction, recurrent::map, sphere::law,
    sphere::mass_law, study, theorem,
};
use serde_json::{Value, json};

/// Flags of `list`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable list theorems")]
pub struct Arguments {
    /// Any of theorems, topics (of theorems), dynamics, interactions, laws, masses (laws of
    /// masses), observables, figures, experiments, studies, integrators, kernels, normalisations.
    /// Or predictions, maps (to compare with attention), sentences (of popular documents), model
    /// (keys of a model), papers, printed-figures (in papers, with the command that redraws each),
    /// columns (of results), commands. Default: all.
    kind: Option<String>,
    /// Print the table of theorems (default) or of printed-figures as Markdown.
    #[arg(long)]
    markdown: bool,
}

/// Name and summary.
type Line = (String, String);

fn line(name: &str, summary: &str) -> Line {
    (name.to_owned(), summary.to_owned())
}

type Lines = fn() -> Vec<Line>;

/// Kinds of names and the entries of each.
const KINDS: [(&str, Lines); 21] = [
    ("theorems", || {
        theorem::ALL
            .iter()
            .map(|c| line(c.name, &format!("[{}, {}] {}", c.status, c.kind, c.title)))
            .collect()
    }),
    ("topics", || theorem::TOPICS.iter().map(|t| line(t.name, t.title)).collect()),
    ("dynamics", || dynamics::ALL.iter().map(|e| line(e.name, e.summary)).collect()),
    ("laws", || law::ALL.iter().map(|e| line(e.name, e.summary)).collect()),
    ("masses", || mass_law::ALL.iter().map(|e| line(e.name, e.summary)).collect()),
    ("observables", || observable::ALL.iter().map(|e| line(e.name, e.summary)).collect()),
    ("figures", || paper_figs::ALL.iter().map(|e| line(e.name, &printed::titled(e))).collect()),
    ("experiments", || {
        let title = |name: &str| {
            experiment::Experiment::built_in(name).map_or_else(|e| e.to_string(), |e| e.title)
        };
        experiment::BUILT_IN.iter().map(|(name, _)| line(name, &title(name))).collect()
    }),
    ("studies", || study::ALL.iter().map(|s| line(s.name, s.title)).collect()),
    ("integrators", || {
        ["dop853", "dopri5"]
            .iter()
            .filter_map(|n| crate::flow::integrator(n).ok())
            .map(|t| line(t.name, t.citation))
            .collect()
    }),
    ("kernels", || kernel::ALL.iter().map(|k| line(k.name(), k.summary())).collect()),
    ("interactions", || {
        let polynomial = line("polynomial", "c_0 + c_1 s + c_2 s^2 + ..., as polynomial:1,0,2");
        let chebyshev =
            line("chebyshev", "c_0 + c_1 T_1(s) + c_2 T_2(s) + ..., as chebyshev:0,0,1");
        let all = interaction::ALL.iter().map(|e| line(e.name, e.summary));
        all.chain([polynomial, chebyshev]).collect()
    }),
    ("normalisations", || normalisation::ALL.iter().map(|n| line(n.name(), n.summary())).collect()),
    ("maps", || map::ALL.iter().map(|m| line(m.name, m.summary)).collect()),
    ("sentences", || {
        theorem::sentences::ALL
            .iter()
            .map(|s| line(&s.name, &format!("[{}, {}] {}", s.source, s.as_said, s.text)))
            .collect()
    }),
    ("model", || lab::model::KEYS.iter().map(|(key, _, meaning)| line(key, meaning)).collect()),
    ("predictions", || prediction::all().map(|p| line(p.name, p.summary)).collect()),
    ("papers", || papers::ALL.iter().map(|p| line(p.id, &p.summary())).collect()),
    ("printed-figures", printed::all),
    ("commands", super::listed),
    ("columns", || lab::run::COLUMNS.iter().map(|(name, meaning)| line(name, meaning)).collect()),
];

type Page = fn() -> String;

/// Kinds that have a page in Markdown; the first one is the default.
const MARKDOWN: [(&str, Page); 2] =
    [("theorems", lab::report::claims_table), ("printed-figures", printed::markdown)];

/// All kinds.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, _)| *kind)
}

/// Names and summaries of a kind.
pub fn entries(kind: &str) -> Vec<Line> {
    KINDS.iter().filter(|(known, _)| *known == kind).flat_map(|(_, all)| all()).collect()
}

/// The error for an unknown kind; it lists all kinds.
fn unknown(kind: &str) -> Error {
    let near =
        nearest(kind, kinds()).map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
    Error::parameter(
        "KIND",
        format!("`{kind}`"),
        format!("one of {}{near}", kinds().collect::<Vec<_>>().join(", ")),
    )
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if self.markdown {
            let kind = self.kind.as_deref().unwrap_or(MARKDOWN[0].0);
            let page = MARKDOWN.iter().find(|(known, _)| *known == kind).map(|(_, page)| page());
            let kinds: Vec<&str> = MARKDOWN.iter().map(|(known, _)| *known).collect();
            let expected = format!("one of {}, whose tables exist as Markdown", kinds.join(", "));
            let page = page.ok_or_else(|| {
                Error::parameter("--markdown", format!("--markdown of {kind}"), expected)
            })?;
            out.result(&json!({"markdown": page}), &page);
            return Ok(0);
        }
        let kinds = match &self.kind {
            None => KINDS.to_vec(),
            Some(kind) => {
                let found = KINDS.iter().find(|(known, _)| known == kind);
                vec![*found.ok_or_else(|| unknown(kind))?]
            }
        };
        let (mut text, mut json) = (String::new(), serde_json::Map::new());
        for (kind, all) in kinds {
            let all = all();
            text.push_str(&format!("{kind}\n"));
            all.iter().for_each(|(n, s)| text.push_str(&format!("  {n:30} {s}\n")));
            json.insert(
                kind.into(),
                all.iter().map(|(n, s)| json!({"name": n, "summary": s})).collect::<Value>(),
            );
        }
        let only: Vec<&str> = self.kind.as_deref().into_iter().collect();
        out.table(&Value::Object(json), &only, &text);
        Ok(0)
    }
}
