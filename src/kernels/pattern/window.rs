//! Masks that limit attention to nearby tokens.

use super::{BiasForm, Pattern};
use crate::error::{Error, Result};
use std::ops::Range;

/// Query i sees the sources with `|i - j| < w`. Combined with [`super::Causal`]: itself and the
/// `w - 1` sources before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    w: usize,
}

impl Window {
    /// A window of half width `w`.
    ///
    /// **Errors** `w = 0`: no source would be visible.
    ///
    /// ```
    /// use metastable::attention::pattern::{Pattern, Window};
    /// assert_eq!(Window::new(2)?.visible(5, 8), 4..7);
    /// assert_eq!(Window::new(0).unwrap_err().to_string(), "window w: found 0, expected at least 1");
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(w: usize) -> Result<Self> {
        if w == 0 { Err(Error::parameter("window w", w, "at least 1")) } else { Ok(Self { w }) }
    }
}

impl Pattern for Window {
    fn visible(&self, i: usize, sources: usize) -> Range<usize> {
        let end = i.saturating_add(self.w).min(sources);
        (i + 1).saturating_sub(self.w).min(end)..end
    }

    fn bias_form(&self, _: usize) -> BiasForm {
        BiasForm::Absent
    }
}
