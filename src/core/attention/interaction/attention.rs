//! Attention with any interaction, as data: interaction, row sums, heads, pattern.

use super::{Interaction, as_row_weights};
use crate::attention::kernel::EXACT_ACCURACY;
use crate::attention::pattern::Pattern;
use crate::attention::{Head, Matrix};
use crate::error::{Error, Result};
use crate::num::dense::{identity, spectral_norm, transpose_mul};
use crate::num::simd::Isa;
use std::sync::Arc;

/// What a row of weights is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowSum {
    /// Nothing: `m_j phi(s_ij)`, the weights of USA.
    Plain,
    /// Its sum: `m_j phi(s_ij) / sum_k m_k phi(s_ik)`, the weights of SA.
    Normalised,
}

/// `sum_h V_h sum_j A^h_ij x_j` with `A_ij = m_j phi(<Q x_i, K x_j>)`, divided by its row sum if
/// normalised, or by that of other weights `m_j kappa(<Q x_i, K x_j>)`. A bias `b_ij` of a pattern
/// multiplies a weight by `e^{b_ij}`, as in softmax.
///
/// ```
/// use metastable::attention::{Dynamics, interaction::{Interaction, InteractionAttention, RowSum}};
/// use metastable::sphere::Tokens;
/// let cubic = Interaction::parse("power:p=3", &[])?;
/// let flow = Dynamics::single(InteractionAttention::new(cubic, RowSum::Plain)?);
/// let v = flow.velocity(&Tokens::from_angles(&[0.0, 1.0])?);
/// // theta_1' = sin(1) cos(1)^3 / 2
/// assert!((v[1] - 0.5 * 1f64.sin() * 1f64.cos().powi(3)).abs() < 1e-16);
/// # Ok::<(), metastable::Error>(())
/// ```
#[derive(Clone)]
pub struct InteractionAttention {
    pub(super) interaction: Arc<Interaction>,
    pub(super) row_sum: RowSum,
    /// kappa; `None` if rows are divided by their own sums or by nothing.
    pub(super) row_weights: Option<Arc<Interaction>>,
    pub(super) heads: Vec<Head>,
    pub(super) pattern: Option<Arc<dyn Pattern>>,
    pub(super) causal: bool,
    pub(super) sign: f64,
    pub(super) accuracy: f64,
    pub(super) isa: Isa,
}

impl InteractionAttention {
    /// One identity head, attracting, every token sees every token.
    ///
    /// **Errors** normalised weights that are negative somewhere.
    pub fn new(interaction: Interaction, row_sum: RowSum) -> Result<Self> {
        if row_sum == RowSum::Normalised {
            check_own_sums(&interaction)?;
        }
        Ok(Self { row_sum, ..Self::plain(interaction) })
    }

    /// Weights `m_j phi(s_ij) / sum_k m_k kappa(s_ik)` with row weights kappa of their own. phi may
    /// have any sign. The flow moves along that of [`RowSum::Plain`], each token at its own speed.
    ///
    /// **Accuracy** that of the sums of phi, plus the relative error of the sum of kappa: 1e-14 of
    /// its largest value at most. **Cost** the sums of both functions.
    /// **Errors** a kappa that is not positive on [-1, 1], see [`Interaction::check_positive`].
    ///
    /// ```
    /// use metastable::attention::{Dynamics, interaction::{Interaction, InteractionAttention}};
    /// use metastable::sphere::Tokens;
    /// let (cubic, kappa) = (Interaction::parse("s^3", &[])?, Interaction::parse("2 + s", &[])?);
    /// let flow = Dynamics::single(InteractionAttention::with_row_weights(cubic, kappa)?);
    /// let v = flow.velocity(&Tokens::from_angles(&[0.0, 1.0])?);
    /// // theta_1' = sin(1) cos(1)^3 / (kappa(1) + kappa(cos 1))
    /// assert!((v[1] - 1f64.sin() * 1f64.cos().powi(3) / (5.0 + 1f64.cos())).abs() < 1e-16);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn with_row_weights(interaction: Interaction, row_weights: Interaction) -> Result<Self> {
        row_weights.check_positive()?;
        let row_weights = Some(Arc::new(row_weights));
        Ok(Self { row_sum: RowSum::Normalised, row_weights, ..Self::plain(interaction) })
    }

    /// Weights of any sign, which are not divided.
    pub(super) fn plain(interaction: Interaction) -> Self {
        Self {
            interaction: Arc::new(interaction),
            row_sum: RowSum::Plain,
            row_weights: None,
            heads: vec![Head::default()],
            pattern: None,
            causal: false,
            sign: 1.0,
            accuracy: EXACT_ACCURACY,
            isa: Isa::best(),
        }
    }

    /// Sets the heads. The interaction is built again if matrices stretch inner products beyond 1.
    ///
    /// **Errors** no head, an interaction that is not finite on the larger interval.
    pub fn with_heads(mut self, heads: Vec<Head>) -> Result<Self> {
        if heads.is_empty() {
            return Err(Error::parameter("heads", "none", "at least one"));
        }
        self.heads = heads;
        self.fit_reach()
    }

    /// Sets one head with `Q = I`, `K = V = D`: `x_i' = P_i sum_j m_j phi(<x_i, D x_j>) D x_j`, the
    /// gradient flow of the energy with D.
    ///
    /// **Errors** a matrix that is not d x d and symmetric.
    pub fn with_form(self, d: usize, form: Matrix) -> Result<Self> {
        check_coupling(d, &form)?;
        self.with_heads(vec![Head::new(d, None, Some(form.clone()), Some(form))?])
    }

    /// Sets a pattern: a mask, biases, rotary positions.
    ///
    /// **Errors** as [`InteractionAttention::with_heads`].
    pub fn with_pattern(mut self, pattern: impl Pattern + 'static) -> Result<Self> {
        self.pattern = Some(Arc::new(pattern));
        self.fit_reach()
    }

    /// Hides later tokens, if no pattern is set.
    #[must_use]
    pub fn causal(self, causal: bool) -> Self {
        Self { causal, ..self }
    }

    /// Reverses the flow: V is multiplied by -1.
    #[must_use]
    pub fn repelling(self, repelling: bool) -> Self {
        Self { sign: if repelling { -1.0 } else { 1.0 }, ..self }
    }

    /// Sets the relative accuracy of a row, [`EXACT_ACCURACY`] by default. Above it fast sums may
    /// be used for one identity head without a pattern: Fourier series on the circle, spherical
    /// harmonics on S^2, inner products elsewhere. Rows whose error bound exceeds the accuracy are
    /// computed again by exact sums.
    #[must_use]
    pub fn with_accuracy(self, accuracy: f64) -> Self {
        Self { accuracy, ..self }
    }

    /// Sets the instruction set.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// The interaction.
    pub fn interaction(&self) -> &Interaction {
        &self.interaction
    }

    /// kappa, if rows are divided by other weights than their own.
    pub fn row_weights(&self) -> Option<&Interaction> {
        self.row_weights.as_deref()
    }

    /// Enlarges the interval of the interactions to all inner products of the heads.
    fn fit_reach(mut self) -> Result<Self> {
        let rotary = self.pattern.as_ref().is_some_and(|p| p.is_rotary());
        let reach = self.heads.iter().map(|h| head_reach(h, rotary)).fold(1.0, f64::max);
        if reach > self.interaction.reach() {
            let interaction = self.interaction.with_reach(reach)?;
            if let Some(row_weights) = &self.row_weights {
                let row_weights = row_weights.with_reach(reach).map_err(as_row_weights)?;
                row_weights.check_positive()?;
                self.row_weights = Some(Arc::new(row_weights));
            } else if self.row_sum == RowSum::Normalised {
                check_own_sums(&interaction)?;
            }
            self.interaction = Arc::new(interaction);
        }
        Ok(self)
    }

    /// True if the kernel of plain attention applies.
    pub(super) fn is_plain(&self) -> bool {
        let identity = self.heads.len() == 1 && self.heads[0].is_identity();
        // The kernel's weights are functions of 1 - s.
        identity && self.pattern.is_none() && self.interaction.reach() <= 1.0
    }
}

/// Checks that rows can be divided by their own sums.
fn check_own_sums(interaction: &Interaction) -> Result<()> {
    interaction.check_row_weights().map_err(|e| match e {
        Error::Parameter { name, found, expected } => Error::Parameter {
            name,
            found,
            expected: format!("{expected}; or positive --row-weights of their own"),
        },
        other => other,
    })
}

/// Checks the matrix D of an energy `(1/2) sum_ij m_i m_j W(<x_i, D x_j>)`.
///
/// **Errors** a matrix that is not d x d, finite and symmetric to 1e-14 of its entries; the error
/// names the place.
///
/// ```
/// use metastable::attention::interaction::check_coupling;
/// assert!(check_coupling(2, &(2, vec![1.0, 0.5, 0.5, -1.0])).is_ok());
/// assert!(check_coupling(2, &(2, vec![1.0, 0.5, 0.4, -1.0])).is_err());
/// ```
pub fn check_coupling(d: usize, (rows, form): &Matrix) -> Result<()> {
    if *rows != d || form.len() != d * d {
        let columns = form.len() / (*rows).max(1);
        let found = format!("a {rows} x {columns} matrix");
        let expected = format!("a {d} x {d} matrix D, as many rows as tokens have coordinates");
        return Err(Error::parameter("coupling", found, expected));
    }
    if let Some(k) = form.iter().position(|v| !v.is_finite()) {
        let found = format!("{} in row {} and column {}", form[k], k / d + 1, k % d + 1);
        return Err(Error::parameter("coupling", found, "a matrix of finite numbers"));
    }
    for (i, j) in crate::num::pairs(d) {
        let (a, b) = (form[i * d + j], form[j * d + i]);
        let (r, c) = (i + 1, j + 1);
        let gap = (a - b).abs();
        if gap.is_nan() || gap > 1e-14 * (a.abs() + b.abs()) {
            return Err(Error::parameter(
                "coupling",
                format!("{a} in row {r}, column {c} and {b} in row {c}, column {r}"),
                "a symmetric matrix D: only then the flow is a gradient flow",
            ));
        }
    }
    Ok(())
}

/// Upper bound of `|<Q x, K y>|` for unit vectors, or of `|Q x| |K y|`.
fn head_reach(head: &Head, separate: bool) -> f64 {
    let [q, k, _] = head.matrices();
    if q.is_none() && k.is_none() {
        return 1.0;
    }
    let d = head.dimension();
    let (rank, whole) = (head.images(d).0, identity(d));
    let (q, k) = (q.unwrap_or(&whole), k.unwrap_or(&whole));
    let reach = if separate {
        spectral_norm(q, rank) * spectral_norm(k, rank)
    } else {
        spectral_norm(&transpose_mul(k, q, rank), d)
    };
    // The norm is exact to rounding.
    reach * (1.0 + 1e-12)
}
