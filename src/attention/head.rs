use crate::error::{Error, Result};

/// One attention head: optional matrices Q, K (r x d) and V (d x d), row-major; an absent matrix is the identity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    pub(crate) q: Option<Vec<f64>>,
    pub(crate) k: Option<Vec<f64>>,
    pub(crate) v: Option<Vec<f64>>,
    pub(crate) rank: usize,
}

/// A row-major matrix with its number of rows.
pub type Matrix = (usize, Vec<f64>);

impl Head {
    /// A head on `R^d`; shapes are checked: Q and K are r x d with the same r, V is d x d.
    ///
    /// **Errors** a wrong shape or a non-finite entry, naming the matrix.
    pub fn new(d: usize, q: Option<Matrix>, k: Option<Matrix>, v: Option<Matrix>) -> Result<Self> {
        let check = |name: &str, m: Option<Matrix>, rows: Option<usize>| -> Result<Option<Matrix>> {
            let Some((r, a)) = m else { return Ok(None) };
            let columns = a.len().checked_div(r).unwrap_or(0);
            let expected = match rows {
                Some(rows) => format!("a {rows} x {d} matrix"),
                None => format!("a matrix with d = {d} columns"),
            };
            if r == 0 || columns != d || a.len() != r * d || rows.is_some_and(|rows| rows != r) {
                return Err(Error::parameter(name, format!("a {r} x {columns} matrix"), expected));
            }
            match a.iter().position(|x| !x.is_finite()) {
                Some(i) => Err(Error::parameter(name, a[i], format!("finite entries (row {}, column {})", i / d + 1, i % d + 1))),
                None => Ok(Some((r, a))),
            }
        };
        let rank = match (&q, &k) {
            (Some((r, _)), _) | (None, Some((r, _))) => *r,
            (None, None) => d,
        };
        // An identity Q or K beside a given one forces r = d.
        let rows = if q.is_some() && k.is_some() { rank } else { d };
        let q = check("Q", q, Some(rows))?.map(|m| m.1);
        let k = check("K", k, Some(rows))?.map(|m| m.1);
        let v = check("V", v, Some(d))?.map(|m| m.1);
        Ok(Self { q, k, v, rank: rows })
    }

    /// Q, K and V as row-major slices; `None` stands for the identity.
    pub fn matrices(&self) -> [Option<&[f64]>; 3] {
        [self.q.as_deref(), self.k.as_deref(), self.v.as_deref()]
    }

    /// The head without matrices.
    pub(crate) const fn identity() -> Self {
        Self { q: None, k: None, v: None, rank: 0 }
    }

    /// True when Q, K and V are all the identity.
    pub fn is_identity(&self) -> bool {
        self.q.is_none() && self.k.is_none() && self.v.is_none()
    }

    /// True when V is the identity.
    pub fn has_identity_value(&self) -> bool {
        self.v.is_none()
    }
}
