//! `certify --dwell`: bounds of the time that two clusters need.

use crate::attention::dynamics;
use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::proofs::dwell::enclosed_merge_time;
use serde_json::json;

pub(super) fn bound(angles: &[f64], share: f64, name: &str, beta: f64, out: &Output) -> Result<i32> {
    let entry = dynamics::find(name, false)?;
    let weights = entry.variant.and_then(|v| v.mutual_weights());
    let weights = weights.ok_or_else(|| Error::parameter("--dynamics", entry.name, "sa or usa"))?;
    let &[from, to] = angles else {
        return Err(Error::parameter("--dwell", format!("{} numbers", angles.len()), "two angles in radians, FROM,TO"));
    };
    let t = enclosed_merge_time(weights, beta, share, from, to)?;
    let width = t.width() / t.lo();
    let json = json!({
        "certified": true, "lower": t.lo(), "upper": t.hi(), "relative_width": width, "beta": beta, "dynamics": entry.name, "from": from, "to": to,
        "share": share, "log_time_over_beta": (beta > 0.0).then(|| t.mid().ln() / beta), "exponent": 1.0 - from.cos(),
    });
    let text = format!(
        "{} <= time <= {} (relative width {width:.1e})\nln(time) / beta {:.6} beside 1 - cos(from) = {:.6}",
        t.lo(),
        t.hi(),
        t.mid().ln() / beta,
        1.0 - from.cos()
    );
    out.result(&json, &text);
    Ok(0)
}
