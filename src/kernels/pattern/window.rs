use super::{Bias, Pattern};
use crate::error::{Error, Result};
use std::ops::Range;

/// Query i sees the sources with `|i - j| < w`; joined with [`super::Causal`], itself and the `w - 1` before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    w: usize,
}

impl Window {
    /// A window of half width `w`.
    ///
    /// **Errors** `w = 0`: nobody would see anything.
    ///
    /// ```
    /// use metastable::attention::pattern::{Pattern, Window};
    /// assert_eq!(Window::new(2)?.seen(5, 8), 4..7);
    /// assert_eq!(Window::new(0).unwrap_err().to_string(), "window w: found 0, expected at least 1");
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(w: usize) -> Result<Self> {
        if w == 0 { Err(Error::parameter("window w", w, "at least 1")) } else { Ok(Self { w }) }
    }
}

impl Pattern for Window {
    fn seen(&self, i: usize, sources: usize) -> Range<usize> {
        let end = i.saturating_add(self.w).min(sources);
        (i + 1).saturating_sub(self.w).min(end)..end
    }

    fn form(&self, _: usize) -> Bias {
        Bias::Absent
    }
}
