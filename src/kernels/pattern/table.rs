//! Biases or masks given by a table.

use super::{AttentionShape, Pattern};
use crate::error::{Error, Result};

/// Biases or a mask from a table: row i and column j for query i and source j.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasTable {
    heads: usize,
    queries: usize,
    sources: usize,
    biases: Vec<f64>,
    /// Name used in errors: `bias` or `mask`, as the user gave it.
    name: &'static str,
}

impl BiasTable {
    /// Additive biases, `queries x sources`, row-major, the same for every head; minus infinity if
    /// the query does not see the source.
    ///
    /// **Errors** a wrong number of entries, NaN or plus infinity.
    ///
    /// ```
    /// use metastable::attention::pattern::{Pattern, BiasTable};
    /// let table = BiasTable::biases(2, 2, vec![0.0, 1.5, f64::NEG_INFINITY, 0.0])?;
    /// assert_eq!(table.bias(0, 0, 1), 1.5);
    /// let wrong = BiasTable::biases(2, 2, vec![0.0; 3]).unwrap_err();
    /// assert_eq!(wrong.to_string(), "table of biases: found 3 entries, expected 2 x 2 = 4");
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn biases(queries: usize, sources: usize, biases: Vec<f64>) -> Result<Self> {
        length("table of biases", biases.len(), &[queries, sources])?;
        Self::finite(Self { heads: 1, queries, sources, biases, name: "bias" })
    }

    /// Additive biases for every head, `heads x queries x sources`.
    ///
    /// **Errors** as [`BiasTable::biases`].
    pub fn biases_by_head(
        heads: usize,
        queries: usize,
        sources: usize,
        biases: Vec<f64>,
    ) -> Result<Self> {
        length("table of biases", biases.len(), &[heads, queries, sources])?;
        Self::finite(Self { heads, queries, sources, biases, name: "bias" })
    }

    /// A mask, `queries x sources`, row-major: true if the query sees the source.
    ///
    /// **Errors** a wrong number of entries.
    pub fn mask(queries: usize, sources: usize, visible: &[bool]) -> Result<Self> {
        length("mask", visible.len(), &[queries, sources])?;
        let biases = visible.iter().map(|s| if *s { 0.0 } else { f64::NEG_INFINITY }).collect();
        Ok(Self { heads: 1, queries, sources, biases, name: "mask" })
    }

    fn finite(self) -> Result<Self> {
        match self.biases.iter().position(|b| b.is_nan() || *b == f64::INFINITY) {
            None => Ok(self),
            Some(k) => {
                let (i, j) = (k / self.sources % self.queries + 1, k % self.sources + 1);
                Err(Error::parameter(
                    "table of biases",
                    self.biases[k],
                    format!("finite numbers or -inf (row {i}, column {j})"),
                ))
            }
        }
    }

    fn start(&self, head: usize, i: usize) -> usize {
        ((if self.heads == 1 { 0 } else { head }) * self.queries + i) * self.sources
    }
}

fn length(name: &str, found: usize, sides: &[usize]) -> Result<()> {
    let expected = sides.iter().try_fold(1usize, |p, s| p.checked_mul(*s));
    if expected == Some(found) {
        return Ok(());
    }
    let product = sides.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
    let value = expected.map_or(String::new(), |e| format!(" = {e}"));
    Err(Error::parameter(name, format!("{found} entries"), product + &value))
}

impl Pattern for BiasTable {
    fn check(&self, shape: &AttentionShape) -> Result<()> {
        let sizes = |(q, s): (usize, usize)| format!("{q} queries and {s} sources");
        let (own, wanted) = ((self.queries, self.sources), (shape.queries, shape.sources));
        if own != wanted {
            return Err(Error::parameter(self.name, sizes(own), sizes(wanted)));
        }
        if self.heads != 1 && self.heads != shape.heads {
            return Err(Error::parameter(
                self.name,
                format!("{} heads", self.heads),
                format!("{} heads, or one for all", shape.heads),
            ));
        }
        Ok(())
    }

    fn bias(&self, head: usize, i: usize, j: usize) -> f64 {
        self.biases[self.start(head, i) + j]
    }

    fn bias_row(&self, head: usize, i: usize, from: usize, out: &mut [f64]) {
        let start = self.start(head, i) + from;
        out.copy_from_slice(&self.biases[start..start + out.len()]);
    }
}
