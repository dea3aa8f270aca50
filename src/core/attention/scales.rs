//! The normalisations of weights, time and energy used in the papers. Those of time and of energy
//! differ by factors, so every result states which one it uses.

use crate::error::{Error, Result};

/// The weights of a row, in the time scale [`TimeScale::U1`]. Closed forms depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowWeights {
    /// `m_j e^{beta G_ij} / sum_k m_k e^{beta G_ik}` (SA).
    Softmax,
    /// `m_j e^{beta G_ij}` (USA).
    Exponential,
    /// `f_i m_j e^{beta G_ij} f_j`, with row sums and column sums 1 (Sinkhorn attention).
    Sinkhorn,
}

impl RowWeights {
    /// All row weights.
    pub const ALL: [Self; 3] = [Self::Softmax, Self::Exponential, Self::Sinkhorn];

    /// Name of the dynamics with these weights.
    pub fn name(self) -> &'static str {
        match self {
            Self::Softmax => "sa",
            Self::Exponential => "usa",
            Self::Sinkhorn => "sinkhorn",
        }
    }

    /// Finds weights by name among `known`. **Errors** another name.
    pub fn parse(name: &str, known: &[Self]) -> Result<Self> {
        let found = known.iter().copied().find(|w| w.name() == name);
        found.ok_or_else(|| Error::unknown("dynamics", name, known.iter().map(|w| w.name())))
    }

    /// Logarithm of the row sum of the weights when all tokens coincide; 0 if rows are normalised.
    /// Velocities and rates have the magnitude of its exponential.
    pub fn log_consensus_row_sum(self, beta: f64) -> f64 {
        match self {
            Self::Softmax | Self::Sinkhorn => 0.0,
            Self::Exponential => beta,
        }
    }

    /// Description of the time scale; `None` if these weights have none.
    pub fn time_scale(self, scale: TimeScale) -> Option<&'static str> {
        match self {
            Self::Softmax | Self::Sinkhorn => None,
            Self::Exponential => Some(scale.describe()),
        }
    }
}

/// A variant of attention with identity matrices, as closed forms need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// How rows are normalised.
    pub weights: RowWeights,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// V = -I.
    pub repulsive: bool,
}

impl Variant {
    /// Full, attractive attention.
    pub const fn mutual(weights: RowWeights) -> Self {
        Self { weights, causal: false, repulsive: false }
    }

    /// The weights, if the attention is full and attractive.
    pub fn mutual_weights(self) -> Option<RowWeights> {
        (!self.causal && !self.repulsive).then_some(self.weights)
    }

    /// Number of tokens among n that token i sees.
    pub fn visible_count(self, i: usize, n: usize) -> usize {
        if self.causal { i + 1 } else { n }
    }
}

/// Time normalisation of USA. `t_U2 = e^beta t_U1`, `t_U3 = n e^beta t_U1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeScale {
    /// `(1/n) e^{beta G}` (2312.10794), the default.
    #[default]
    U1,
    /// `(1/n) e^{beta (G-1)}` (2410.06833, theorem): finite for every beta.
    U2,
    /// `(1/n^2) e^{beta (G-1)}` (2410.06833, circle figures).
    U3,
    /// `e^{beta G}` without `1/n`.
    U4,
}

impl TimeScale {
    /// Parses `u1` to `u4`.
    pub fn parse(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "u1" => Ok(Self::U1),
            "u2" => Ok(Self::U2),
            "u3" => Ok(Self::U3),
            "u4" => Ok(Self::U4),
            _ => Err(Error::unknown("time scale", name, ["u1", "u2", "u3", "u4"])),
        }
    }

    /// Logarithm of the factor in front of `sum_j m_j e^{beta G_ij} x_j` (masses 1/n).
    pub fn log_factor(self, beta: f64, n: usize) -> f64 {
        let n = n as f64;
        match self {
            Self::U1 => 0.0,
            Self::U2 => -beta,
            Self::U3 => -beta - n.ln(),
            Self::U4 => n.ln(),
        }
    }

    /// Name and formula, printed with every result.
    pub fn describe(self) -> &'static str {
        match self {
            Self::U1 => "U1: (1/n) e^{beta G}",
            Self::U2 => "U2: (1/n) e^{beta (G-1)}",
            Self::U3 => "U3: (1/n^2) e^{beta (G-1)}",
            Self::U4 => "U4: e^{beta G}, no 1/n",
        }
    }
}

/// Normalisation of the interaction energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnergyScale {
    /// `(1/(2 beta)) sum_ij m_i m_j e^{beta G_ij}` (2312.10794, Remark 3.8), the default.
    #[default]
    Mean,
    /// `(1/(2 beta)) sum_ij e^{beta G_ij}`, without `1/n^2` (2312.10794, section 3.4).
    Sum,
    /// `(e^{-beta}/2beta) sum_ij m_i m_j e^{beta G_ij}` (2410.06833): finite for every beta.
    Shifted,
    /// `sum_ij m_i m_j e^{beta (G_ij - 1)}` in (0, 1], as in the staircase figure.
    Unit,
}

impl EnergyScale {
    /// Parses `mean`, `sum`, `shifted` or `unit`.
    pub fn parse(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "mean" => Ok(Self::Mean),
            "sum" => Ok(Self::Sum),
            "shifted" => Ok(Self::Shifted),
            "unit" => Ok(Self::Unit),
            _ => Err(Error::unknown("energy scale", name, ["mean", "sum", "shifted", "unit"])),
        }
    }

    /// Logarithm of the factor relative to [`EnergyScale::Mean`].
    pub fn log_factor(self, beta: f64, n: usize) -> f64 {
        match self {
            Self::Mean => 0.0,
            Self::Sum => 2.0 * (n as f64).ln(),
            Self::Shifted => -beta,
            Self::Unit => (2.0 * beta.abs()).ln() - beta,
        }
    }

    /// Name and formula, printed with every result.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Mean => "mean: (1/(2 beta)) sum_ij m_i m_j e^{beta G_ij}",
            Self::Sum => "sum: (1/(2 beta)) sum_ij e^{beta G_ij}",
            Self::Shifted => "shifted: (e^{-beta}/2beta) sum_ij m_i m_j e^{beta G_ij}",
            Self::Unit => "unit: sum_ij m_i m_j e^{beta (G_ij - 1)}",
        }
    }
}

/// Length over which weights change by a factor e, `min(1, |beta|^{-1/2})`.
pub fn kernel_width(beta: f64) -> f64 {
    beta.abs().max(1.0).powf(-0.5)
}
