//! `selftest`: the conformance suite of every dynamics and of some interactions, with values and
//! bounds.

use crate::attention::interaction::{Interaction, InteractionAttention, RowSum};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::Result;
use crate::operation::{Answer, Exit};
use crate::theorem::conformance::suite;
use serde_json::{Value, json};

/// The word of `check` that stands for these checks.
pub const NAME: &str = "selftest";

/// The name of the rows of interactions.
const INTERACTION: &str = "interaction";

/// Interactions of every form: powers, pieces, Chebyshev sums, exponentials; the last two with
/// weights of one sign, so that rows can be normalised.
const INTERACTIONS: [(&str, RowSum); 6] = [
    ("power:p=3", RowSum::Plain),
    ("relu:p=1", RowSum::Plain),
    ("cos(3*s) + 0.3*s^5", RowSum::Plain),
    ("exp(2*s) + s^2", RowSum::Plain),
    ("sigmoid:k=9", RowSum::Normalised),
    ("gauss:k=3", RowSum::Normalised),
];

/// Pairs of an interaction and of positive row weights by whose sums rows are divided.
const DIVIDED: [(&str, &str); 3] = [
    ("power:p=3", "exp:beta=2"),
    ("cos(3*s) + 0.3*s^5", "2 + sin(s)"),
    ("exp:beta=4", "1.1 + abs(s - 0.25)"),
];

/// The rows so far.
#[derive(Default)]
struct Rows {
    text: String,
    lines: Vec<Value>,
    failed: i32,
}

impl Rows {
    /// Adds the suite of one dynamics.
    fn add(
        &mut self,
        name: &str,
        build: &dyn Fn(&Spec) -> Result<Dynamics>,
        seed: u64,
    ) -> Result<()> {
        self.text.push_str(&format!("{name}\n"));
        for check in suite(build, seed)? {
            let word = if check.passed() { "holds" } else { "FAILS" };
            self.failed += i32::from(!check.passed());
            self.text.push_str(&format!(
                "  {:55} {:9.1e} (bound {:.0e})  {word}\n",
                check.what, check.value, check.bound
            ));
            self.lines.push(json!({"dynamics": name, "check": check.what, "value": check.value, "bound": check.bound, "passed": check.passed()}));
        }
        Ok(())
    }
}

/// Attention with an interaction and the heads of a specification.
fn interaction(flow: Result<InteractionAttention>, spec: &Spec) -> Result<Dynamics> {
    let flow = flow?;
    let heads = spec.heads.clone();
    Ok(Dynamics::single(if heads.is_empty() { flow } else { flow.with_heads(heads)? }))
}

/// Runs the suite of a dynamics, of `interaction` for other functions than e^{beta s}, or of all.
pub fn run(name: Option<&str>, seed: u64) -> Result<Answer> {
    let entries: Vec<_> = match name {
        Some(INTERACTION) => Vec::new(),
        Some(name) => vec![dynamics::find(name, false)?],
        None => dynamics::ALL.to_vec(),
    };
    let text = format!(
        "metastable {}, {}-{}, {} threads, {}\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        rayon::current_num_threads(),
        crate::lab::provenance::build().1
    );
    let mut rows = Rows { text, ..Rows::default() };
    for entry in entries {
        rows.add(entry.name, &|spec| (entry.build)(spec), seed)?;
    }
    if name.is_none_or(|name| name == INTERACTION) {
        for (phi, row_sum) in INTERACTIONS {
            let like = if row_sum == RowSum::Plain { "usa" } else { "sa" };
            let name = format!("{INTERACTION} {phi}, {like}");
            let flow = || InteractionAttention::new(Interaction::parse(phi, &[])?, row_sum);
            rows.add(&name, &|spec| interaction(flow(), spec), seed)?;
        }
        for (phi, kappa) in DIVIDED {
            let name = format!("{INTERACTION} {phi}, row weights {kappa}");
            let flow = || {
                let phi = Interaction::parse(phi, &[])?;
                InteractionAttention::with_row_weights(
                    phi,
                    Interaction::parse_row_weights(kappa, &[])?,
                )
            };
            rows.add(&name, &|spec| interaction(flow(), spec), seed)?;
        }
    }
    let Rows { text, lines, failed } = rows;
    let threads = rayon::current_num_threads();
    let end = if failed > 0 { Exit::Counterexample } else { Exit::Shown };
    let values = json!({"checks": lines, "failed": failed, "threads": threads});
    Ok(Answer::new(values, text).ended(end))
}
