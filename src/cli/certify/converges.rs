//! `certify --converges`: that every start near the given one converges to one point.

use crate::attention::{Variant, dynamics};
use crate::cli::digits::resolved;
use crate::cli::output::{Output, note, rounded};
use crate::error::{Error, Result};
use crate::lab::arrays;
use crate::proofs::trajectory::{Convergence, Lost, Neighbourhood, prove as prove_convergence};
use crate::sphere::Tokens;
use serde_json::json;
use std::path::Path;

/// The first words of a certificate.
pub(super) const KIND: &str = "metastable-trajectory";

/// The exit code where nothing is proved.
pub(super) const UNPROVED: i32 = 3;

/// The attention of dynamics that can be proved.
pub(super) fn variant(name: &str) -> Result<Variant> {
    let entry = dynamics::find(name, false)?;
    let known = || Error::parameter("--dynamics", entry.name, "sa, usa, causal-sa or causal-usa");
    entry.variant.filter(|v| !v.repulsive).ok_or_else(known)
}

pub(super) fn prove(x: &Tokens, name: &str, (beta, radius): (f64, f64), file: Option<&Path>, out: &Output) -> Result<i32> {
    let start = Neighbourhood::new(variant(name)?, beta, x, radius)?;
    // The proof of USA counts time in units of e^-beta.
    let unit = if start.softmax { 1.0 } else { (-beta).exp() };
    match prove_convergence(&start)? {
        Ok(proof) => {
            if let Some(path) = file {
                arrays::write_atomically(path, proof.to_text().as_bytes())?;
                note(&format!("wrote {}", path.display()));
            }
            proved(&proof, unit, file, out);
            Ok(0)
        }
        Err(lost) => {
            unproved(&lost, unit, out);
            Ok(UNPROVED)
        }
    }
}

fn proved(proof: &Convergence, unit: f64, file: Option<&Path>, out: &Output) {
    let (t, within) = (proof.t * unit, proof.shift * unit);
    let json = json!({
        "proved": true, "statement": proof.statement(), "t_hemisphere": t, "t_within": within, "steps": proof.steps(), "error_bound": proof.error, "growth": proof.growth,
        "file": file.map(|f| f.display().to_string()),
    });
    // Bounds that rounding does not lower.
    let up = |v: f64| format!("{:.1e}", 1.05 * v);
    let (printed, off) = resolved(t, within);
    let text = format!(
        "proved: {}\nall tokens lie in an open hemisphere at t = {printed} (within {}); {} steps, error at most {}, integral of the growth rate {:.1}",
        proof.statement(),
        up(within + off),
        proof.steps(),
        up(proof.error),
        proof.growth
    );
    out.result(&json, &text);
}

fn unproved(lost: &Lost, unit: f64, out: &Output) {
    let Lost { cause, t, token, error, growth, defect, steps } = lost;
    let t = t * unit;
    let json = json!({
        "proved": false, "cause": cause.describe(), "t": t, "token": token, "error_bound": error, "growth": growth, "defect": defect, "steps": steps,
    });
    let text = format!(
        "not proved: lost at t = {}, token {token} (from 0) is deepest outside a hemisphere: {}\nerror at most {error:.1e}, integral of the growth rate {growth:.1}, of the \
         defect {defect:.1e}, {steps} steps",
        rounded(t, 6),
        cause.describe()
    );
    out.result(&json, &text);
}

/// Lets the referee decide.
pub(super) fn check(path: &Path, text: &str, out: &Output) -> Result<i32> {
    let refused = |problem| Error::File { path: path.display().to_string(), place: String::new(), problem: format!("refused: {problem}") };
    let statement = metastable_verifier::check(text).map_err(refused)?;
    out.result(&json!({ "accepted": true, "statement": statement }), &format!("accepted: {statement}"));
    Ok(0)
}
