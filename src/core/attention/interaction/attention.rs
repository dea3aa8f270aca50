//! Attention with any interaction, as data: interaction, row sums, heads, pattern.

use super::Interaction;
use crate::attention::kernel::EXACT_ACCURACY;
use crate::attention::pattern::Pattern;
use crate::attention::{Head, Matrix};
use crate::error::{Error, Result};
use crate::num::dense::{identity, spectral_norm, transpose_mul};
use crate::num::simd::Isa;
use std::sync::Arc;

/// What a row of weights is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSum {
    /// Nothing: `m_j phi(s_ij)`, the weights of USA.
    Plain,
    /// Its sum: `m_j phi(s_ij) / sum_k m_k phi(s_ik)`, the weights of SA.
    Normalised,
}

/// `sum_h V_h sum_j A^h_ij x_j` with `A_ij = m_j phi(<Q x_i, K x_j>)`, divided by its row sum if
/// normalised. A bias `b_ij` of a pattern multiplies a weight by `e^{b_ij}`, as in softmax.
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
            interaction.check_row_weights()?;
        }
        Ok(Self {
            interaction: Arc::new(interaction),
            row_sum,
            heads: vec![Head::default()],
            pattern: None,
            causal: false,
            sign: 1.0,
            accuracy: EXACT_ACCURACY,
            isa: Isa::best(),
        })
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
        check_symmetric(d, &form.1)?;
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

    /// Enlarges the interval of the interaction to all inner products of the heads.
    fn fit_reach(mut self) -> Result<Self> {
        let rotary = self.pattern.as_ref().is_some_and(|p| p.is_rotary());
        let reach = self.heads.iter().map(|h| head_reach(h, rotary)).fold(1.0, f64::max);
        if reach > self.interaction.reach() {
            let interaction = self.interaction.with_reach(reach)?;
            if self.row_sum == RowSum::Normalised {
                interaction.check_row_weights()?;
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

/// **Errors** a matrix that is not d x d and symmetric.
pub(super) fn check_symmetric(d: usize, form: &[f64]) -> Result<()> {
    if form.len() != d * d {
        let found = format!("a matrix of {} numbers", form.len());
        return Err(Error::parameter("D", found, format!("a {d} x {d} matrix")));
    }
    for (i, j) in crate::num::pairs(d) {
        let (a, b) = (form[i * d + j], form[j * d + i]);
        let gap = (a - b).abs();
        if gap.is_nan() || gap > 1e-14 * (a.abs() + b.abs()) {
            return Err(Error::parameter(
                "D",
                format!("{a} and {b} in row {} and column {}", i + 1, j + 1),
                "a symmetric matrix: only then the flow is a gradient flow",
            ));
        }
    }
    Ok(())
}

/// Upper bound of `|<Q x, K y>|` for unit vectors, or of `|Q x| |K y|`.
pub(super) fn head_reach(head: &Head, separate: bool) -> f64 {
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
