//! Biases linear in the distance of two tokens (ALiBi).

use super::{AttentionShape, BiasForm, Pattern};
use crate::error::{Error, Result};

/// ALiBi (Press, Smith and Lewis 2022): `b_ij = -m_h |i - j|`, one slope for every head, added to
/// beta times the score.
///
/// Symmetric in i and j. Combined with [`super::Causal`] it is the paper's bias; alone, earlier and
/// later tokens are treated alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Alibi {
    slopes: Vec<f64>,
}

impl Alibi {
    /// The slopes of the paper, `m_h = 2^{-8h/H}` for h = 1 to H.
    ///
    /// **Errors** no heads.
    ///
    /// ```
    /// use metastable::attention::pattern::{Alibi, Pattern};
    /// let alibi = Alibi::new(4)?;
    /// assert_eq!((alibi.bias(0, 7, 4), alibi.bias(3, 0, 256)), (-0.75, -1.0));
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(heads: usize) -> Result<Self> {
        Self::with_slopes((1..=heads).map(|h| (-8.0 * h as f64 / heads as f64).exp2()).collect())
    }

    /// From given slopes, one per head.
    ///
    /// **Errors** no slopes, a non-finite slope.
    pub fn with_slopes(slopes: Vec<f64>) -> Result<Self> {
        if slopes.is_empty() {
            return Err(Error::parameter("ALiBi slopes", "none", "one slope for every head"));
        }
        match slopes.iter().position(|m| !m.is_finite()) {
            Some(h) => Err(Error::parameter(
                format!("ALiBi slope {}", h + 1),
                slopes[h],
                "a finite number",
            )),
            None => Ok(Self { slopes }),
        }
    }

    fn slope(&self, head: usize) -> f64 {
        self.slopes.get(head).copied().unwrap_or(0.0)
    }
}

impl Pattern for Alibi {
    fn check(&self, shape: &AttentionShape) -> Result<()> {
        let (found, heads) = (self.slopes.len(), shape.heads);
        if found == heads {
            Ok(())
        } else {
            Err(Error::parameter(
                "ALiBi slopes",
                found,
                format!("one for each of the {heads} heads"),
            ))
        }
    }

    fn bias(&self, head: usize, i: usize, j: usize) -> f64 {
        -self.slope(head) * i.abs_diff(j) as f64
    }

    fn bias_form(&self, head: usize) -> BiasForm {
        BiasForm::Distance { slope: self.slope(head) }
    }
}
