//! Verdicts as text and JSON.

use super::colour::Colour;
use crate::lab::report::{by_topic, headline_of, tightest};
use crate::theorem::{Claim, Record, Status, Verdict, claim, find};
use serde_json::{Value, json};

/// Number of smallest margins in a summary.
pub const TIGHTEST: usize = 10;

/// Writes the command that repeats a check.
pub type Repeat<'a> = &'a dyn Fn(&Record) -> String;

/// The table of verdicts, with reasons for unexpected ones.
pub fn table(records: &[Record], seconds: f64, colour: Colour) -> String {
    table_repeated_by(records, seconds, colour, &repeat_command)
}

/// The table of verdicts, with this command to repeat unexpected ones.
pub fn table_repeated_by(
    records: &[Record],
    seconds: f64,
    colour: Colour,
    repeat: Repeat,
) -> String {
    format!("{}{}, {seconds:.1} s\n", rows_of(records, colour, repeat), headline_of(records))
}

/// A summary of many verdicts: counts by topic, unexpected verdicts, smallest margins. `each` holds
/// the seconds of each record.
pub fn summary(records: &[Record], each: &[f64], seconds: f64, colour: Colour) -> String {
    let odd: Vec<Record> = records.iter().filter(|r| !r.as_expected).cloned().collect();
    let first = headline_of(records);
    let first = if odd.is_empty() { colour.calm(&first) } else { colour.alarm(&first) };
    let mut text = format!("{first}, {seconds:.1} s\n\n{}", topics(records, each));
    let mut part =
        |title: &str, body: String| text.push_str(&format!("\n{}\n{body}", colour.strong(title)));
    if !odd.is_empty() {
        part("Not as predicted", rows_of(&odd, colour, &repeat_command));
    }
    let closest: Vec<Record> = tightest(records, TIGHTEST).into_iter().cloned().collect();
    if !closest.is_empty() {
        let rows = rows_of(&closest, colour, &repeat_command);
        part("The smallest margins of claims that hold", rows);
    }
    text
}

/// One line for each topic. A claim and its variants are counted by their verdicts.
fn topics(records: &[Record], each: &[f64]) -> String {
    let mut out = format!(
        "{:<36} {:>6} {:>9} {:>9} {:>18} {:>12} {:>16} {:>8}\n",
        "topic",
        "claims",
        "certified",
        "supported",
        "violated, as known",
        "inconclusive",
        "not as predicted",
        "seconds"
    );
    for group in by_topic(records) {
        let of: Vec<&Record> = group.records.iter().map(|k| &records[*k]).collect();
        let claims = of.iter().filter(|r| !is_variant(r)).count();
        let count = |wanted: &dyn Fn(&Record) -> bool| match of.iter().filter(|r| wanted(r)).count()
        {
            0 => "-".to_owned(),
            many => many.to_string(),
        };
        let seconds: f64 = group.records.iter().filter_map(|k| each.get(*k)).sum();
        out.push_str(&format!(
            "{:<36} {claims:>6} {:>9} {:>9} {:>18} {:>12} {:>16} {seconds:>8.1}\n",
            group.title,
            count(&|r| r.as_expected && r.verdict == Verdict::Certified),
            count(&|r| r.as_expected && r.verdict == Verdict::Supported),
            count(&|r| r.as_expected && r.verdict == Verdict::Violated),
            count(&|r| r.as_expected
                && matches!(r.verdict, Verdict::Inconclusive | Verdict::HypothesesNeverMet)),
            count(&|r| !r.as_expected),
        ));
    }
    out
}

/// True if the record is that of a variant.
fn is_variant(r: &Record) -> bool {
    claim::row(r.name).is_some_and(|c| c.name != r.name)
}

/// The head of the table and a line for each record. The line of a variant is indented if it
/// follows its claim.
fn rows_of(records: &[Record], colour: Colour, repeat: Repeat) -> String {
    let mut text = format!(
        "{:<31} {:<11} {:<10} {:<20} {:>9} {:>8} {:>8} {:>15} {:>9}  {}\n",
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
    for r in records {
        let above = claim::row(r.name).is_some_and(|c| records.iter().any(|o| o.name == c.name));
        let name = if is_variant(r) && above { format!("  {}", r.name) } else { r.name.to_owned() };
        text.push_str(&line(r, &name, colour, repeat));
    }
    text
}

/// The line of a record.
pub fn row(r: &Record, colour: Colour) -> String {
    line(r, r.name, colour, &repeat_command)
}

fn line(r: &Record, name: &str, colour: Colour, repeat: Repeat) -> String {
    let mark = match (r.as_expected, r.status) {
        (true, s) if s.expects_violation() && r.verdict == Verdict::Violated => ", as known",
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
        "{name:<31} {:<11} {:<10} {verdict} {:>9} {:>8} {slack:>8} {:>15} {trials:>9}  {}\n",
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
            text.push_str(&format!("    at {case}, trial {trial}; repeat: {}\n", repeat(r)));
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
    rows_repeated_by(records, &repeat_command)
}

/// One JSON object per record, with this command to repeat it.
pub fn rows_repeated_by(records: &[Record], repeat: Repeat) -> Vec<Value> {
    records.iter().map(|r| object(r, repeat)).collect()
}

fn object(r: &Record, repeat: Repeat) -> Value {
    let claim = find(r.name).ok();
    json!({
        "name": r.name,
        "topic": claim::topic(r.name).map(|t| t.name),
        "variant_of": claim::row(r.name).map(|c| c.name).filter(|name| *name != r.name),
        "status": r.status.to_string(),
        "kind": r.kind.to_string(),
        "verdict": r.verdict.to_string(),
        "as_expected": r.as_expected,
        "reason": r.reason,
        "hypotheses": claim.map(Claim::hypotheses),
        "narrower": claim.map(|c| c.printed(c.narrower)),
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
        "constant": claim.map(|c| c.printed(c.constant)),
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
        "reproduce": repeat(r),
    })
}
