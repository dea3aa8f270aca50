//! `list`: all registered names.

use super::output::is_markdown;
use super::{papers, printed};
use crate::attention::normalisation::Normalisation;
use crate::attention::{dynamics, interaction, kernel, normalisation};
use crate::error::{Error, Result, nearest};
use crate::operation::{Answer, Column, Operation, Parameters, Rows, Table, any, column};
use crate::parameters;
use crate::{
    flow::observable, lab, lab::experiment, paper_figs, prediction, recurrent::map, sphere::law,
    sphere::mass_law, study, theorem,
};
use serde_json::{Value, json};

parameters! {
    /// Parameters of `list`.
    struct List {
        /// Any of theorems, topics (of theorems), dynamics, interactions, laws, masses (laws of
        /// masses), observables, figures, experiments, studies, integrators, kernels,
        /// normalisations. Or predictions, maps (to compare with attention), sentences (of popular
        /// documents), model (keys of a model), papers, printed-figures (in papers, with the
        /// command that redraws each), columns (of results), commands. Default: all.
        kind: Option<String>, any().positional().form("KIND").check(known_kind);
        /// As --format markdown: the table of theorems (default) or of printed-figures.
        markdown: bool, any().hidden();
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "list",
    group: "Papers",
    summary: "List theorems, dynamics, laws, observables, figures, experiments, papers and more",
    notes: "Examples:
  metastable list theorems
  metastable list columns --format csv",
    parameters: List::table,
    results: &[column("markdown", "the table as Markdown")],
    tables: &TABLES,
    run: |given, _| List::of(given)?.run(),
    ..Operation::EMPTY
};

/// **Errors** an unknown kind.
fn known_kind(kind: &str) -> Result<()> {
    if kinds().any(|known| known == kind) { Ok(()) } else { Err(unknown(kind)) }
}

/// One table for each kind.
const TABLES: [Table; KINDS.len()] = {
    let mut all = [const { names("") }; KINDS.len()];
    let mut k = 0;
    while k < all.len() {
        all[k] = names(KINDS[k].0);
        k += 1;
    }
    all
};

const fn names(kind: &'static str) -> Table {
    const COLUMNS: &[Column] = &[column("name", "the name"), column("summary", "what it is")];
    let columns = COLUMNS;
    Table { name: kind, what: "one row for each name", rows: Rows::Objects(kind), columns }
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
            .map(|c| line(c.name, &format!("[{}, {}] {}", c.status, c.kind, c.printed(c.title))))
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
    ("model", || lab::model::KEYS.iter().map(|key| line(key.name, key.what)).collect()),
    ("predictions", || prediction::all().map(|p| line(p.name, p.summary)).collect()),
    ("papers", || papers::ALL.iter().map(|p| line(&p.id, &p.summary())).collect()),
    ("printed-figures", printed::all),
    ("commands", super::listed),
    ("columns", columns),
];

/// Columns of results of experiments, then those of the answers of all commands.
fn columns() -> Vec<Line> {
    let recorded = lab::run::COLUMNS.iter().map(|(name, meaning)| line(name, meaning));
    let of = |o: &'static Operation| {
        let tables = o.tables.iter().flat_map(move |t| {
            let place =
                if o.tables.len() > 1 { format!(", table {}", t.name) } else { String::new() };
            t.columns.iter().map(move |c| (c, place.clone()))
        });
        let values = o.results.iter().map(|c| (c, String::new()));
        let name = o.full_name();
        let all: Vec<Line> = values
            .chain(tables)
            .map(|(c, place)| line(c.key, &format!("{} ({name}{place})", c.what)))
            .collect();
        all
    };
    let own = super::operations().filter(|o| o.family != "predict" && o.name != "list");
    recorded.chain(own.flat_map(of)).collect()
}

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

impl List {
    /// Runs it.
    fn run(self) -> Result<Answer> {
        if self.markdown || is_markdown() {
            let kind = self.kind.as_deref().unwrap_or(MARKDOWN[0].0);
            let page = MARKDOWN.iter().find(|(known, _)| *known == kind).map(|(_, page)| page());
            let kinds: Vec<&str> = MARKDOWN.iter().map(|(known, _)| *known).collect();
            let expected = format!("one of {}, whose tables exist as Markdown", kinds.join(", "));
            let page = page.ok_or_else(|| {
                Error::parameter("format", format!("markdown of {kind}"), expected)
            })?;
            return Ok(Answer::new(json!({"markdown": page}), page));
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
        Ok(Answer::new(Value::Object(json), text))
    }
}
