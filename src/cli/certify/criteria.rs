//! `certify start --criteria`: which published criteria decide where given tokens end.

use crate::attention::dynamics::{self, MAX_BETA};
use crate::attention::{Energy, EnergyScale};
use crate::cli::output::vector;
use crate::error::{Error, Result, in_range};
use crate::landscape::critical::relative_gradient_norm;
use crate::operation::{Answer, Exit};
use crate::sphere::Tokens;
use crate::theory::convergence_criteria::check_theorems;
use serde_json::json;

/// Relative gradient norm below which tokens are at rest to rounding.
const AT_REST: f64 = 1e-14;

/// Tests the criteria for these tokens. Exit code 0 if one decides this very start, else 3.
pub(super) fn test(x: &Tokens, name: &str, beta: f64) -> Result<Answer> {
    let beta = in_range("--beta", beta, -MAX_BETA, MAX_BETA)?;
    let entry = dynamics::find(name, false)?;
    if entry.variant.is_none_or(|v| v.mutual_weights().is_none()) {
        return Err(Error::parameter(
            "--dynamics",
            name,
            "dynamics whose tokens all see each other: sa or usa",
        ));
    }
    let (all, hemisphere) = check_theorems(x, beta);
    let gradient = relative_gradient_norm(beta, x);
    let decided = all.iter().any(|d| d.this_start && d.holds);
    let json = json!({
        "decided": decided, "n": x.n(), "d": x.d(), "beta": beta, "dynamics": entry.name,
        "hemisphere": hemisphere.as_ref().map(|(w, margin)| json!({"w": w, "margin": margin})),
        "at_rest": gradient < AT_REST, "relative_gradient_norm": gradient,
        "log_energy": Energy::new(beta, EnergyScale::Unit).log_value(x)?,
        "theorems": all.iter().map(|d| json!({"statement": d.statement, "this_start": d.this_start, "holds": d.holds, "hypothesis": d.hypothesis, "citation": d.citation})).collect::<Vec<_>>(),
    });
    let mut text = if decided {
        "decided: this start converges to one point\n".to_owned()
    } else if gradient < AT_REST && x.n() > 1 {
        "not decided: the tokens are at a critical point of the energy, to rounding\n".to_owned()
    } else {
        "not decided for this start; the statements below hold for almost every start\n".to_owned()
    };
    // A hypothesis that fails is shown only if it concerns these tokens.
    for d in all.iter().filter(|d| d.holds || d.this_start) {
        let mark = if d.holds { "holds" } else { "fails" };
        let statement = if d.holds { format!(": {}", d.statement) } else { String::new() };
        text.push_str(&format!("  {mark}: {}\n      {}{statement}\n", d.hypothesis, d.citation));
    }
    if let Some((w, _)) = &hemisphere {
        text.push_str(&format!("certificate: w = {}\n", vector(w)));
    }
    let end = if decided { Exit::Shown } else { Exit::Undecided };
    Ok(Answer::new(json, text).ended(end))
}
