//! Flags that name a part of a claim's range: for sweeps and hunts.

use crate::attention::dynamics;
use crate::error::{Error, Result};
use crate::lab::range::range;
use crate::sphere::law::Law;
use crate::theorem::{AxisValues, Region};

/// The flags.
#[derive(clap::Args, Default, Clone)]
pub struct Flags {
    /// Numbers of tokens: `5,9`, `2..64`, `2..64:5` or `2..64:log5`.
    #[arg(long, value_name = "RANGE", help_heading = "Part of the range")]
    n: Option<String>,
    /// Dimensions, as --n.
    #[arg(long, value_name = "RANGE", help_heading = "Part of the range")]
    d: Option<String>,
    /// Inverse temperatures, as --n: `0.1..300:log5` are five, spaced logarithmically.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, help_heading = "Part of the range")]
    beta: Option<String>,
    /// One dynamics (see `list dynamics`).
    #[arg(long, value_name = "NAME", help_heading = "Part of the range")]
    dynamics: Option<String>,
    /// One law of tokens (see `list laws`).
    #[arg(long, value_name = "LAW", help_heading = "Part of the range")]
    law: Option<String>,
    /// Also where the hypotheses do not hold; the verdict then is about other hypotheses than the claim's.
    #[arg(long, help_heading = "Part of the range")]
    beyond: bool,
}

impl Flags {
    /// The region; names are checked.
    pub fn region(&self) -> Result<Region> {
        let axis = |flag: &str, text: &Option<String>| text.as_ref().map(|t| axis(flag, t)).transpose();
        let sizes = |flag: &str, text: &Option<String>, least: f64| -> Result<Option<AxisValues>> {
            let found = axis(flag, text)?;
            match found.as_ref().and_then(|a| a.points().into_iter().find(|v| *v < least || *v > 1e6)) {
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
                // A case is a small value that names its law; the name of a user's law lives as long as the program.
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
            beyond: self.beyond,
        })
    }
}

/// `a,b,c`; `a..b`, all of an interval; points of one as [`range`] reads them.
fn axis(flag: &str, text: &str) -> Result<AxisValues> {
    let expected = "a list 5,9, an interval 2..64, or points of one 0.1..300:5 or, of a positive one, 0.1..300:log5";
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| Error::parameter(flag, s.trim(), expected));
    let Some((lo, rest)) = text.split_once("..") else {
        return Ok(AxisValues::List(text.split(',').map(number).collect::<Result<_>>()?));
    };
    let (hi, points) = rest.split_once(':').map_or((rest, false), |(hi, _)| (hi, true));
    let (lo, hi) = (number(lo)?, number(hi)?);
    if hi < lo {
        return Err(Error::parameter(flag, text, "an interval whose first end is the smaller"));
    }
    if !points {
        return Ok(AxisValues::Range(lo, hi));
    }
    range(text).map(AxisValues::List).map_err(|_| Error::parameter(flag, text, expected))
}
