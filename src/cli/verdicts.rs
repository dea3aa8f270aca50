//! Verdicts as text and JSON.

use super::colour::Colour;
use crate::lab::report::{CitedPaper, STATUSES, by_paper, headline, tightest};
use crate::theorem::{Record, Status, Verdict, find};
use serde_json::{Value, json};

/// Number of smallest margins in a summary.
pub const TIGHTEST: usize = 10;

/// The table of verdicts, with reasons for unexpected ones.
pub fn table(records: &[Record], seconds: f64, colour: Colour) -> String {
    let good = records.iter().filter(|r| r.as_expected).count();
    format!("{}{}, {seconds:.1} s\n", rows_of(records, colour), headline(good, records.len()))
}

/// A summary of many verdicts: unexpected ones, counts by status and paper, smallest margins.
pub fn summary(records: &[Record], papers: &[CitedPaper], seconds: f64, colour: Colour) -> String {
    let odd: Vec<Record> = records.iter().filter(|r| !r.as_expected).cloned().collect();
    let first = headline(records.len() - odd.len(), records.len());
    let first = if odd.is_empty() { colour.calm(&first) } else { colour.alarm(&first) };
    let mut text = format!("{first}, {seconds:.1} s\n");
    let mut part =
        |title: &str, body: String| text.push_str(&format!("\n{}\n{body}", colour.strong(title)));
    if !odd.is_empty() {
        part("Not as predicted", rows_of(&odd, colour));
    }
    part("By status", by_status(records));
    part("By paper", by_papers(records, papers));
    let closest: Vec<Record> = tightest(records, TIGHTEST).into_iter().cloned().collect();
    if !closest.is_empty() {
        part("The smallest margins of claims that hold", rows_of(&closest, colour));
    }
    text
}

/// Verdicts in the order of the columns.
const VERDICTS: [Verdict; 5] = [
    Verdict::Certified,
    Verdict::Supported,
    Verdict::Violated,
    Verdict::Inconclusive,
    Verdict::HypothesesNeverMet,
];

/// Number of claims by status and verdict; empty columns are left out.
fn by_status(records: &[Record]) -> String {
    let given: Vec<Verdict> =
        VERDICTS.into_iter().filter(|v| records.iter().any(|r| r.verdict == *v)).collect();
    let width = |v: &Verdict| v.to_string().len().max(6);
    let cells = |text: &dyn Fn(&Verdict) -> String| {
        given.iter().map(|v| format!("  {:>1$}", text(v), width(v))).collect::<String>()
    };
    let mut out = format!("{:<12}{}  {:>6}\n", "status", cells(&Verdict::to_string), "claims");
    for status in STATUSES {
        let of: Vec<&Record> = records.iter().filter(|r| r.status == status).collect();
        let count = |v: &Verdict| match of.iter().filter(|r| r.verdict == *v).count() {
            0 => String::new(),
            many => many.to_string(),
        };
        // False statements should be violated.
        let note = if status.expects_violation() { "  (a violation is predicted)" } else { "" };
        if !of.is_empty() {
            out.push_str(&format!("{:<12}{}  {:>6}{note}\n", status, cells(&count), of.len()));
        }
    }
    out
}

/// Number of claims of each paper and of those as predicted; papers with few claims share a line.
fn by_papers(records: &[Record], papers: &[CitedPaper]) -> String {
    /// Columns of the titles of papers.
    const WIDTH: usize = 100;
    /// Papers with fewer claims than this share a line.
    const FEW: usize = 4;
    let line = |title: &str, records: usize, good: usize| {
        format!("{title:<WIDTH$}  {records:>6}  {good:>12}\n")
    };
    let mut out = format!("{:<WIDTH$}  {:>6}  {:>12}\n", "paper", "claims", "as predicted");
    let (mut small, mut all, mut right) = (0, 0, 0);
    for group in by_paper(records, papers) {
        let good = group.records.iter().filter(|k| records[**k].as_expected).count();
        if group.records.len() < FEW {
            (small, all, right) = (small + 1, all + group.records.len(), right + good);
            continue;
        }
        let short: String = match group.title.char_indices().nth(WIDTH - 3) {
            Some((end, _)) if group.title.chars().count() > WIDTH => {
                format!("{}...", &group.title[..end])
            }
            _ => group.title.clone(),
        };
        out.push_str(&line(&short, group.records.len(), good));
    }
    if small > 0 {
        let title =
            format!("{small} more with fewer than {FEW} claims each (metastable list papers)");
        out.push_str(&line(&title, all, right));
    }
    out
}

/// The head of the table and a line for each record.
fn rows_of(records: &[Record], colour: Colour) -> String {
    let mut text = format!(
        "{:<30} {:<11} {:<10} {:<20} {:>9} {:>8} {:>8} {:>15} {:>9}  {}\n",
        "claim",
        "status",
        "kind",
        "verdict",
        "margin",
        "error",
        "slack",
        "resolves (rel.)",
        "trials",
        "control"
    );
    records.iter().for_each(|r| text.push_str(&row(r, colour)));
    text
}

pub fn row(r: &Record, colour: Colour) -> String {
    let mark = match (r.as_expected, r.status) {
        (true, s) if s.expects_violation() => ", as known",
        (true, _) => "",
        (false, Status::Open) if r.verdict == Verdict::Violated => " (a discovery!)",
        _ => " (!)",
    };
    // Padded before it is coloured, because escapes have no width.
    let verdict = format!("{:<20}", format!("{}{mark}", r.verdict));
    let verdict = match (r.as_expected, r.verdict) {
        (true, _) if r.status.expects_violation() => colour.faint(&verdict),
        (true, Verdict::Inconclusive | Verdict::HypothesesNeverMet)
        | (false, Verdict::Inconclusive) => colour.unsure(&verdict),
        (true, _) => colour.calm(&verdict),
        (false, _) => colour.alarm(&verdict),
    };
    let trials = if r.bound.is_some() {
        format!("{}/{}", r.held, r.trials + r.unfinished.0)
    } else {
        r.trials.to_string()
    };
    let slack = r
        .slack
        .map_or("-".to_owned(), |s| if s < 1e4 { format!("{s:.2}") } else { format!("{s:.0e}") });
    let mut text = format!(
        "{:<30} {:<11} {:<10} {verdict} {:>9} {:>8} {slack:>8} {:>15} {trials:>9}  {}\n",
        r.name,
        r.status,
        r.kind,
        r.margin.map_or("-".to_owned(), |m| short(m.value)),
        r.margin.map_or("-".to_owned(), |m| format!("{:.0e}", m.error())),
        r.power,
        if r.control_ok { "ok".to_owned() } else { colour.alarm("WRONG") }
    );
    if let Some((proved, of)) = r.certified {
        text.push_str(&format!(
            "    certified: {proved} of {of} starts are proved to converge to one point\n"
        ));
    }
    if let Some(s) = r.searched.filter(|_| r.status == Status::Open || !r.as_expected) {
        text.push_str(&format!(
            "    searched: {} trials, smallest margin {}\n",
            s.evaluations,
            short(s.best)
        ));
    }
    if !r.as_expected || r.verdict == Verdict::Inconclusive {
        if let Some((case, trial)) = r.worst {
            text.push_str(&format!(
                "    at {case}, trial {trial}; repeat: {}\n",
                repeat_command(r)
            ));
        }
        if !r.reason.is_empty() {
            text.push_str(&format!("    {}\n", r.reason));
        }
    }
    text
}

/// A margin with three digits, or two with an exponent.
fn short(v: f64) -> String {
    if v.abs() >= 1e-3 && v.abs() < 1e3 { format!("{v:.3}") } else { format!("{v:.1e}") }
}

/// The command that repeats a check.
pub fn repeat_command(r: &Record) -> String {
    format!(
        "metastable check {} --seed {} --trials {}",
        r.name,
        r.seed,
        r.trials + r.missed + r.unfinished.0
    )
}

/// One JSON object per record.
pub fn rows(records: &[Record]) -> Vec<Value> {
    records.iter().map(object).collect()
}

fn object(r: &Record) -> Value {
    let claim = find(r.name).ok();
    json!({
        "name": r.name,
        "status": r.status.to_string(),
        "kind": r.kind.to_string(),
        "verdict": r.verdict.to_string(),
        "as_expected": r.as_expected,
        "reason": r.reason,
        "hypotheses": claim.map(|c| c.domain.to_string()),
        "narrower": claim.map(|c| c.narrower),
        "drawn": {
            "n": [r.drawn.n.0, r.drawn.n.1],
            "d": [r.drawn.d.0, r.drawn.d.1],
            "beta": if r.drawn.dynamics.is_empty() { json!(null) } else { json!([r.drawn.beta.0, r.drawn.beta.1]) },
            "dynamics": r.drawn.dynamics,
            "laws": r.drawn.laws,
        },
        "margin": r.margin.map(|m| m.value),
        "error": r.margin.map(|m| m.error()),
        "error_parts": r.margin.map(|m| json!({"integrator": m.integrator, "evaluation": m.evaluation, "sampling": m.sampling})),
        "observed": r.margin.and_then(|m| m.compared).map(|s| s.0),
        "reference": r.margin.and_then(|m| m.compared).map(|s| s.1),
        "slack": r.slack,
        "resolving_power": r.power.value(),
        "resolves": r.power.to_string(),
        "constant": claim.map(|c| c.constant),
        "trials": r.trials,
        "held": r.held,
        "certified": r.certified.map(|(proved, of)| json!({"proved": proved, "starts": of})),
        "bound": r.bound,
        "missed": r.missed,
        "unfinished": r.unfinished.0,
        "control_ok": r.control_ok,
        "confirmed_by": r.confirmed,
        "searched": r.searched.map(|s| json!({"evaluations": s.evaluations, "best": s.best})),
        "worst": r.worst.map(|(c, t)| json!({"n": c.n, "d": c.d, "beta": c.beta, "dynamics": c.dynamics, "law": c.law, "trial": t})),
        "reproduce": repeat_command(r),
    })
}
