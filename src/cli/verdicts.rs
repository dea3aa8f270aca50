//! Verdicts as text and JSON.

use crate::theorem::{Record, Status, Verdict, find};
use serde_json::{Value, json};

/// The table, with reasons where a verdict is not the expected one.
pub fn table(records: &[Record], seconds: f64) -> String {
    let mut text = format!(
        "{:<30} {:<11} {:<10} {:<20} {:>9} {:>8} {:>8} {:>8} {:>9}  {}\n",
        "claim", "status", "kind", "verdict", "margin", "error", "slack", "resolves", "trials", "control"
    );
    for r in records {
        text.push_str(&row(r));
    }
    let good = records.iter().filter(|r| r.as_expected).count();
    text.push_str(&format!("{good} of {} claims as expected, {seconds:.1} s\n", records.len()));
    text
}

fn row(r: &Record) -> String {
    let mark = match (r.as_expected, r.status) {
        (true, s) if s.expects_violation() => " (expected)",
        (true, _) => "",
        (false, Status::Open) if r.verdict == Verdict::Violated => " (a discovery!)",
        _ => " (!)",
    };
    let trials = if r.bound.is_some() { format!("{}/{}", r.held, r.trials + r.unfinished.0) } else { r.trials.to_string() };
    let slack = r.slack.map_or("-".to_owned(), |s| if s < 1e4 { format!("{s:.2}") } else { format!("{s:.0e}") });
    let mut text = format!(
        "{:<30} {:<11} {:<10} {:<20} {:>9} {:>8} {slack:>8} {:>8} {trials:>9}  {}\n",
        r.name,
        r.status,
        r.kind,
        format!("{}{mark}", r.verdict),
        r.margin.map_or("-".to_owned(), |m| short(m.value)),
        r.margin.map_or("-".to_owned(), |m| format!("{:.0e}", m.error())),
        r.power,
        if r.control_ok { "ok" } else { "WRONG SIDE" }
    );
    if let Some((proved, of)) = r.certified {
        text.push_str(&format!("    certified: {proved} of the {of} starts are proved by enclosures to converge to one point\n"));
    }
    if let Some(s) = r.searched.filter(|_| r.status == Status::Open || !r.as_expected) {
        text.push_str(&format!("    searched: {} trials, smallest margin {}\n", s.evaluations, short(s.best)));
    }
    if !r.as_expected || r.verdict == Verdict::Inconclusive {
        if let Some((case, trial)) = r.worst {
            text.push_str(&format!("    at {case}, trial {trial}; again: {}\n", again(r)));
        }
        if !r.reason.is_empty() {
            text.push_str(&format!("    {}\n", r.reason));
        }
    }
    text
}

/// A margin with three digits, not more than it needs.
fn short(v: f64) -> String {
    if v.abs() >= 1e-3 && v.abs() < 1e3 { format!("{v:.3}") } else { format!("{v:.1e}") }
}

/// The command that repeats a record.
pub fn again(r: &Record) -> String {
    format!("metastable check {} --seed {} --trials {}", r.name, r.seed, r.trials + r.missed + r.unfinished.0)
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
        "observed": r.margin.and_then(|m| m.seen).map(|s| s.0),
        "held_against": r.margin.and_then(|m| m.seen).map(|s| s.1),
        "slack": r.slack,
        "resolving_power": r.power.value(),
        "resolves": r.power.to_string(),
        "perturbed": claim.map(|c| c.perturbed),
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
        "reproduce": again(r),
    })
}
