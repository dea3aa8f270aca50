//! The numerical method of an experiment: integrator, largest number of steps, kernel, accuracy of
//! velocities.

use super::toml_reader::Reader;
use crate::attention::Spec;
use crate::attention::kernel::KernelChoice;
use crate::error::Result;
use crate::flow::parameters::{Evaluation, Integration};
use crate::flow::{Options, integrator};
use crate::sphere::mass_law::{self, MassLaw};
use serde::Serialize;

/// The numerical method. `None` stands for the default.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Method {
    /// Name of the integrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrator: Option<String>,
    /// Largest number of steps of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// Name of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Relative accuracy of every velocity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
}

impl Method {
    /// Reads the keys `integrator`, `max_steps`, `kernel` and `accuracy` of a file.
    pub fn from_reader(r: &mut Reader) -> Self {
        let given = ["integrator", "max_steps", "kernel", "accuracy"].map(|key| r.has(key));
        let steps = r.parameters::<Integration>(&["integrator", "max_steps"]);
        let sums = r.parameters::<Evaluation>(&["kernel", "accuracy"]);
        let (steps, sums) = (steps.as_ref(), sums.as_ref());
        Self {
            integrator: steps.filter(|_| given[0]).map(|s| s.integrator.clone()),
            max_steps: steps.filter(|_| given[1]).map(|s| s.max_steps),
            kernel: sums.filter(|_| given[2]).map(|s| s.kernel.clone()),
            accuracy: sums.filter(|_| given[3]).and_then(|s| s.accuracy),
        }
    }

    /// True if everything is the default.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The options with the settings of this method.
    ///
    /// **Errors** an integrator that is not registered.
    pub fn options<'a>(&self, options: Options<'a>) -> Result<Options<'a>> {
        let chosen = self.integrator.as_deref().map(integrator).transpose()?;
        Ok(match chosen {
            Some(integrator) => Options {
                integrator,
                max_steps: self.max_steps.unwrap_or(options.max_steps),
                ..options
            },
            None => Options { max_steps: self.max_steps.unwrap_or(options.max_steps), ..options },
        })
    }

    /// The specification with the settings of this method.
    ///
    /// **Errors** a kernel that is not registered.
    pub fn spec(&self, spec: Spec) -> Result<Spec> {
        let kernel =
            self.kernel.as_deref().map(KernelChoice::parse).transpose()?.unwrap_or(spec.kernel);
        Ok(Spec { kernel, accuracy: self.accuracy.unwrap_or(spec.accuracy), ..spec })
    }

    /// The first of the given keys that is meaningful for error-controlled steps only.
    pub fn adaptive_only(&self) -> Option<&'static str> {
        self.integrator.as_ref().map(|_| "integrator").or(self.max_steps.map(|_| "max_steps"))
    }
}

/// The masses of the tokens, from the key `masses` or the file `masses_file` (empty for equal
/// masses), and the specification of a law of masses.
pub fn masses(r: &mut Reader, n: &[usize]) -> (Vec<f64>, String) {
    let law = law_of_masses(r);
    let given = if law.is_some() { None } else { r.numbers("masses", f64::MIN_POSITIVE, 1e300) };
    let (at, file) = (r.offset("masses_file"), r.string("masses_file"));
    let read = file.and_then(|f| match super::arrays::list(&r.sibling_path(&f), None) {
        Ok(list) => Some(list),
        Err(e) => {
            r.problem(at, format!("masses_file: {e}"));
            None
        }
    });
    let key = if r.has("masses") { "masses" } else { "masses_file" };
    let at = r.offset(key);
    if r.has("masses") && read.is_some() {
        r.problem(at, "masses_file: contradicts `masses`; give one of them".into());
    }
    let masses = given.or(read).unwrap_or_default();
    if let Some(bad) = masses.iter().find(|m| !(m.is_finite() && **m > 0.0)) {
        r.problem(at, format!("{key}: found {bad}, expected positive numbers"));
    }
    if let (false, Some(n)) = (masses.is_empty(), n.iter().find(|n| **n != masses.len())) {
        r.problem(
            at,
            format!(
                "{key}: found {} masses, expected one for each of n = {n} tokens",
                masses.len()
            ),
        );
    }
    (masses, law.unwrap_or_default())
}

/// The specification of the law of masses in the key `masses`; empty after a problem, `None` if the
/// key holds numbers.
fn law_of_masses(r: &mut Reader) -> Option<String> {
    let at = r.offset("masses");
    let is_law = |word: &str| MassLaw::parse(word).is_some();
    if let Some(word) = r.listed("masses", is_law) {
        let several = format!(
            "masses: found `{word}` in a list, expected one law, or one number for each token; run \
            once for each law"
        );
        r.problem(at, several);
        // The key is marked as known; its value is checked elsewhere.
        r.word("masses");
        return Some(String::new());
    }
    let word = r.word("masses")?;
    match MassLaw::parse(&word) {
        Some(Ok(law)) => Some(law.spec()),
        Some(Err(e)) => {
            r.problem(at, format!("masses: {e}"));
            Some(String::new())
        }
        // A range of numbers, one for each token.
        None if word.contains("..") => None,
        None => {
            r.problem(
                at,
                format!(
                    "masses: found \"{word}\", expected a number for each token, or a law: {}",
                    mass_law::usage()
                ),
            );
            Some(String::new())
        }
    }
}
