//! Flags of sweeps and hunts that restrict the range of a claim.

use super::parameter::axis;
use crate::attention::dynamics;
use crate::error::{Error, Result};
use crate::lab::provenance::quoted;
use crate::operation::any;
use crate::parameters;
use crate::sphere::law::Law;
use crate::theorem::{AxisValues, Region};

parameters! {
    /// A grid of values, or an interval of each variable.
    #[derive(Default, Clone)]
    pub struct GridFlags {
        /// Numbers of tokens: a list 5,9, an interval 2..64, five values 2..64:5 or 2..64:log5.
        n: Option<String>, any().form("RANGE").group("Range");
        /// Dimensions, as --n.
        d: Option<String>, any().form("RANGE").group("Range");
        /// Inverse temperatures, as --n: 0.1..300:log5 are five values in geometric progression.
        beta: Option<String>, any().form("RANGE").group("Range");
        /// One dynamics (see `list dynamics`).
        dynamics: Option<String>, any().form("NAME").group("Range");
        /// One law of tokens (see `list laws`).
        law: Option<String>, any().form("LAW").group("Range");
        /// Also test points outside the hypotheses; the verdict then no longer refers to the stated
        /// claim.
        beyond: bool, any().group("Range");
    }
}

impl GridFlags {
    /// The given flags as words of a command, with a blank before each.
    pub fn words(&self) -> String {
        let given = [
            ("n", &self.n),
            ("d", &self.d),
            ("beta", &self.beta),
            ("dynamics", &self.dynamics),
            ("law", &self.law),
        ];
        let word = |(flag, value): (&str, &Option<String>)| {
            value.as_ref().map_or(String::new(), |value| format!(" --{flag} {}", quoted(value)))
        };
        let words: String = given.into_iter().map(word).collect();
        words + if self.beyond { " --beyond" } else { "" }
    }

    /// The region. **Errors** unknown names and malformed ranges.
    pub fn region(&self) -> Result<Region> {
        let axis =
            |flag: &str, text: &Option<String>| text.as_ref().map(|t| axis(flag, t)).transpose();
        let sizes = |flag: &str, text: &Option<String>, least: f64| -> Result<Option<AxisValues>> {
            let found = axis(flag, text)?;
            match found
                .as_ref()
                .and_then(|a| a.points().into_iter().find(|v| *v < least || *v > 1e6))
            {
                Some(bad) => Err(Error::parameter(flag, bad, format!("sizes in [{least}, 1e6]"))),
                None => Ok(found),
            }
        };
        let dynamics = match &self.dynamics {
            None => None,
            Some(name) => Some(dynamics::find(name, false)?.name),
        };
        let law = match &self.law {
            None => None,
            Some(spec) => {
                Law::parse(spec)?;
                // A case holds the name of its law as `&'static str`.
                let name: &'static str = spec.clone().leak();
                Some(name)
            }
        };
        Ok(Region {
            n: sizes("--n", &self.n, 1.0)?,
            d: sizes("--d", &self.d, 2.0)?,
            beta: axis("--beta", &self.beta)?,
            dynamics,
            law,
            beyond_hypotheses: self.beyond,
        })
    }
}
