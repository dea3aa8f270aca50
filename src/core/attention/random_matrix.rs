//! Matrices of heads that are drawn from a law instead of read from a file.

use super::Matrix;
use crate::error::{Error, Result};
use crate::num::{
    dense::{orthonormalise, transpose_mul},
    key_values::KeyValues,
    stream::Stream,
    vector::scale,
};

/// A probability law of d x d matrices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MatrixLaw {
    /// Independent normal entries of variance `scale^2 / d`.
    Normal {
        /// Factor.
        scale: f64,
        /// Seed, if the law has one.
        seed: Option<u64>,
    },
    /// Symmetric matrices with normal entries: variance `scale^2 / d` off the diagonal,
    /// `2 scale^2 / d` on it.
    Symmetric {
        /// Factor.
        scale: f64,
        /// Seed, if the law has one.
        seed: Option<u64>,
    },
    /// A product of normal d x r and r x d matrices with entries of variance `scale^2 / d`.
    LowRank {
        /// Rank.
        rank: usize,
        /// Factor.
        scale: f64,
        /// Seed, if the law has one.
        seed: Option<u64>,
    },
    /// A uniformly distributed orthogonal matrix.
    Rotation {
        /// Seed, if the law has one.
        seed: Option<u64>,
    },
    /// The diagonal matrix with these entries; the last one is repeated.
    Diagonal(Vec<f64>),
}

/// Seed of a matrix if neither its law nor its run gives one.
const DEFAULT_SEED: u64 = 1;

/// Names of the laws.
pub const LAWS: [&str; 5] = ["normal", "symmetric", "low-rank", "rotation", "diagonal"];

impl MatrixLaw {
    /// Parses `normal:seed=1,scale=1`, `symmetric:..`, `low-rank:rank=2,..`, `rotation:seed=1`,
    /// `diagonal:1,0.5`; `None` if the text does not begin with the name of a law.
    ///
    /// **Errors** invalid parameters after the name.
    pub fn parse(text: &str) -> Option<Result<Self>> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        LAWS.contains(&name).then(|| Self::read(name, rest))
    }

    fn read(name: &str, rest: &str) -> Result<Self> {
        let number = |key: &str, text: &str| {
            let value = text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
            value.ok_or_else(|| {
                Error::parameter(
                    format!("{name} {key}"),
                    text,
                    format!("a finite number{}", range_hint(text)),
                )
            })
        };
        let whole = |key: &str, text: &str| {
            let value = text.trim().parse::<u64>().ok();
            value.ok_or_else(|| {
                Error::parameter(
                    format!("{name} {key}"),
                    text,
                    format!("a whole number >= 0{}", range_hint(text)),
                )
            })
        };
        if name == "diagonal" {
            let entries =
                rest.split(',').map(|t| number("entry", t)).collect::<Result<Vec<_>>>()?;
            return Ok(Self::Diagonal(entries));
        }
        let keys: &[&str] = match name {
            "low-rank" => &["rank", "scale", "seed"],
            "rotation" => &["seed"],
            _ => &["scale", "seed"],
        };
        let found = KeyValues::parse(name, rest).with_keys("matrix parameter", keys)?;
        let scale = found.get("scale").map_or(Ok(1.0), |v| number("scale", v))?;
        let seed = found.get("seed").map(|v| whole("seed", v)).transpose()?;
        let rank =
            found.get("rank").map(|v| whole("rank", v)).transpose()?.map(|rank| rank as usize);
        match (name, rank) {
            ("normal", _) => Ok(Self::Normal { scale, seed }),
            ("symmetric", _) => Ok(Self::Symmetric { scale, seed }),
            ("rotation", _) => Ok(Self::Rotation { seed }),
            (_, Some(rank)) if rank > 0 => Ok(Self::LowRank { rank, scale, seed }),
            (_, found) => {
                Err(Error::parameter("low-rank rank", found.unwrap_or(0), "a rank of at least 1"))
            }
        }
    }

    /// The seed of the law; `None` for a law without a seed and for diagonal matrices.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Self::Normal { seed, .. }
            | Self::Symmetric { seed, .. }
            | Self::LowRank { seed, .. }
            | Self::Rotation { seed } => *seed,
            Self::Diagonal(_) => None,
        }
    }

    /// True for a random matrix whose law has no seed. Its run then supplies one, a different one
    /// for every realisation of an experiment.
    ///
    /// ```
    /// use metastable::attention::random_matrix::MatrixLaw;
    /// let needs_seed = |law: &str| MatrixLaw::parse(law).unwrap().unwrap().needs_seed();
    /// assert!(needs_seed("low-rank:rank=1") && !needs_seed("low-rank:rank=1,seed=1") && !needs_seed("diagonal:1,2"));
    /// ```
    pub fn needs_seed(&self) -> bool {
        !matches!(self, Self::Diagonal(_)) && self.seed().is_none()
    }

    /// Sets the seed if the law has none.
    #[must_use]
    pub fn with_seed(&self, default: u64) -> Self {
        let mut law = self.clone();
        match &mut law {
            Self::Normal { seed, .. }
            | Self::Symmetric { seed, .. }
            | Self::LowRank { seed, .. }
            | Self::Rotation { seed } => {
                seed.get_or_insert(default);
            }
            Self::Diagonal(_) => {}
        }
        law
    }

    /// **Errors** a rank above d, more than d diagonal entries.
    pub fn check_dimension(&self, d: usize) -> Result<()> {
        match self {
            Self::LowRank { rank, .. } if *rank > d => {
                Err(Error::parameter("low-rank rank", *rank, format!("a rank of at most d = {d}")))
            }
            Self::Diagonal(entries) if entries.len() > d => Err(Error::parameter(
                "diagonal",
                format!("{} entries", entries.len()),
                format!("at most d = {d}; the last one is repeated"),
            )),
            _ => Ok(()),
        }
    }

    /// The matrix for tokens of dimension d. `label` names it among the matrices of a model (head,
    /// Q or K or V, layer), so that equal seeds give different matrices. A law without a seed uses
    /// seed 1.
    ///
    /// ```
    /// use metastable::attention::random_matrix::MatrixLaw;
    /// let (rows, q) = MatrixLaw::parse("rotation:seed=3").unwrap().unwrap().draw(3, "head 0 q");
    /// let first: f64 = q[..3].iter().map(|v| v * v).sum();
    /// assert!(rows == 3 && (first - 1.0).abs() < 1e-14);
    /// assert!(MatrixLaw::parse("q.npy").is_none());
    /// ```
    pub fn draw(&self, d: usize, label: &str) -> Matrix {
        let normals = |seed: Option<u64>, count: usize, size: f64| {
            let mut out = vec![0.0; count];
            Stream::new(seed.unwrap_or(DEFAULT_SEED), &["matrix", label]).normals(&mut out);
            scale(size / (d as f64).sqrt(), &mut out);
            out
        };
        let entries = match self {
            Self::Normal { scale, seed } => normals(*seed, d * d, *scale),
            Self::Symmetric { scale, seed } => {
                let g = normals(*seed, d * d, scale * std::f64::consts::FRAC_1_SQRT_2);
                (0..d * d).map(|k| g[k] + g[(k % d) * d + k / d]).collect()
            }
            Self::LowRank { rank, scale, seed } => {
                // Sums of `rank` products; the second factor has entries of variance 1/d as well.
                let both = normals(*seed, 2 * rank * d, 1.0);
                let (a, b) = both.split_at(rank * d);
                transpose_mul(a, b, *rank).iter().map(|v| scale * v).collect()
            }
            Self::Rotation { seed } => {
                let mut q = normals(*seed, d * d, 1.0);
                orthonormalise(&mut q, d);
                q
            }
            Self::Diagonal(entries) => {
                let entry = |k: usize| entries[k.min(entries.len() - 1)];
                (0..d * d).map(|k| if k / d == k % d { entry(k / d) } else { 0.0 }).collect()
            }
        };
        (d, entries)
    }
}

/// Hint of an error message if a range stands in place of a number.
fn range_hint(text: &str) -> &'static str {
    if text.contains("..") {
        "; a range makes an axis in the [model] table of an experiment"
    } else {
        ""
    }
}
