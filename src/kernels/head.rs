//! Attention heads: the matrices Q, K, V and O.

use crate::error::{Error, Result};
use crate::num::vector::axpy;
use std::sync::atomic::{AtomicU64, Ordering};

/// One attention head: optional matrices Q, K (r x d), V and O, row-major. An absent matrix is the
/// identity.
///
/// Without O, V is d x d ([`Head::new`]). With an output matrix O (d x s), V is s x d
/// ([`Head::with_output`]). The usual "concatenate all `V_h x_j`, then project" equals the sum over
/// heads of `O_h V_h x_j`.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Q, r x d. Read only: a change would not change `version`.
    #[doc(hidden)]
    pub q: Option<Vec<f64>>,
    /// K, r x d. Read only.
    #[doc(hidden)]
    pub k: Option<Vec<f64>>,
    /// V, or O V for a head with an output matrix: the d x d matrix that acts on tokens.
    pub v: Option<Vec<f64>>,
    /// r. Read only.
    #[doc(hidden)]
    pub rank: usize,
    dimension: usize,
    /// V (s x d, `None` for the identity) and O (d x s) of a head with an output matrix.
    output: Option<(Option<Vec<f64>>, Vec<f64>)>,
    /// Heads with the same version have the same matrices, so packed copies of them can be reused.
    /// 0: all matrices are the identity.
    version: u64,
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        (&self.q, &self.k, &self.v, self.rank, &self.output)
            == (&other.q, &other.k, &other.v, other.rank, &other.output)
    }
}

/// A row-major matrix with its number of rows.
pub type Matrix = (usize, Vec<f64>);

impl Head {
    /// A head on `R^d`. Q and K must be r x d with the same r, V must be d x d.
    ///
    /// **Errors** a wrong shape or a non-finite entry, naming the matrix.
    pub fn new(d: usize, q: Option<Matrix>, k: Option<Matrix>, v: Option<Matrix>) -> Result<Self> {
        let ([q, k], rank) = queries_and_keys(d, q, k)?;
        let v = checked("V", v, Some(d), d)?.map(|m| m.1);
        let version = if q.is_none() && k.is_none() && v.is_none() { 0 } else { new_version() };
        Ok(Self { q, k, v, rank, dimension: d, output: None, version })
    }

    /// A head with an output matrix. V is s x d (absent: the identity, s = d), O is d x s. The head
    /// adds `O sum_j A_ij V x_j`.
    ///
    /// **Errors** a wrong shape or a non-finite entry, naming the matrix.
    ///
    /// ```
    /// use metastable::attention::Head;
    /// // Keeps the first coordinate and writes it into the second.
    /// let head = Head::with_output(2, None, None, Some((1, vec![1.0, 0.0])), (2, vec![0.0, 1.0]))?;
    /// assert_eq!(head.matrices()[2], Some(&[0.0, 0.0, 1.0, 0.0][..]));
    /// let wrong = Head::with_output(2, None, None, Some((1, vec![1.0, 0.0])), (2, vec![0.0, 1.0, 0.0, 0.0]));
    /// assert_eq!(wrong.unwrap_err().to_string(), "O: found a 2 x 2 matrix, expected a 2 x 1 matrix");
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn with_output(
        d: usize,
        q: Option<Matrix>,
        k: Option<Matrix>,
        v: Option<Matrix>,
        o: Matrix,
    ) -> Result<Self> {
        let ([q, k], rank) = queries_and_keys(d, q, k)?;
        let v = checked("V", v, None, d)?;
        let size = v.as_ref().map_or(d, |m| m.0);
        let (v, o) =
            (v.map(|m| m.1), checked("O", Some(o), Some(d), size)?.map_or(Vec::new(), |m| m.1));
        let together = match &v {
            Some(v) => product(&o, v, size, d),
            None => o.clone(),
        };
        Ok(Self {
            q,
            k,
            v: Some(together),
            rank,
            dimension: d,
            output: Some((v, o)),
            version: new_version(),
        })
    }

    /// Q, K and V as row-major slices; `None` is the identity. For a head with an output matrix, O
    /// V takes the place of V.
    pub fn matrices(&self) -> [Option<&[f64]>; 3] {
        [self.q.as_deref(), self.k.as_deref(), self.v.as_deref()]
    }

    /// The head without matrices.
    pub const fn identity() -> Self {
        Self { q: None, k: None, v: None, rank: 0, dimension: 0, output: None, version: 0 }
    }

    /// V (s x d) and O (d x s); `None` is the identity.
    pub fn value_and_output(&self) -> [Option<&[f64]>; 2] {
        match &self.output {
            Some((v, o)) => [v.as_deref(), Some(o)],
            None => [self.v.as_deref(), None],
        }
    }

    /// True when Q, K and V are all the identity.
    pub fn is_identity(&self) -> bool {
        self.q.is_none() && self.k.is_none() && self.v.is_none()
    }

    /// True when V is the identity.
    pub fn has_identity_value(&self) -> bool {
        self.v.is_none()
    }

    /// Number of rows of Q and K, and number of rows of V, for tokens of dimension d.
    pub fn images(&self, d: usize) -> (usize, usize) {
        if self.is_identity() {
            return (d, d);
        }
        let size = self.value_and_output()[0].map_or(d, |v| v.len() / d);
        (self.rank, size)
    }

    /// Dimension of the tokens; 0 for the default head, the identity in every dimension.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Equal versions mean equal matrices.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// Checks Q and K and returns them with their common number of rows.
fn queries_and_keys(
    d: usize,
    q: Option<Matrix>,
    k: Option<Matrix>,
) -> Result<([Option<Vec<f64>>; 2], usize)> {
    // If one of Q and K is the identity, then r = d.
    let rank = match (&q, &k) {
        (Some((r, _)), Some(_)) => *r,
        _ => d,
    };
    let q = checked("Q", q, Some(rank), d)?.map(|m| m.1);
    let k = checked("K", k, Some(rank), d)?.map(|m| m.1);
    Ok(([q, k], rank))
}

/// Checks the shape of a matrix and that its entries are finite.
fn checked(
    name: &str,
    m: Option<Matrix>,
    rows: Option<usize>,
    columns: usize,
) -> Result<Option<Matrix>> {
    let Some((r, a)) = m else { return Ok(None) };
    let found = a.len().checked_div(r).unwrap_or(0);
    let expected = match rows {
        Some(rows) => format!("a {rows} x {columns} matrix"),
        None => format!("a matrix with d = {columns} columns"),
    };
    if r == 0
        || found != columns
        || r.checked_mul(columns) != Some(a.len())
        || rows.is_some_and(|rows| rows != r)
    {
        return Err(Error::parameter(name, format!("a {r} x {found} matrix"), expected));
    }
    match crate::num::stats::first_nonfinite(&a) {
        Some(i) => Err(Error::parameter(
            name,
            a[i],
            format!("finite entries (row {}, column {})", i / columns + 1, i % columns + 1),
        )),
        None => Ok(Some((r, a))),
    }
}

/// `O V`, row by row, so that the inner loop reads consecutive numbers.
fn product(o: &[f64], v: &[f64], size: usize, d: usize) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for (row, o) in out.chunks_exact_mut(d).zip(o.chunks_exact(size)) {
        for (factor, v) in o.iter().zip(v.chunks_exact(d)) {
            axpy(*factor, v, row);
        }
    }
    out
}

/// A new version number, unique and positive.
fn new_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
