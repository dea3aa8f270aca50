//! Proofs that a start, and every start near it, converges to one point.
//!
//! An accurate path is followed by polynomials in f64; what they miss of the flow (their defect), how fast nearby configurations part and how far the field is
//! from linear are bounded in intervals. One number bounds the distance between the path and every true solution; when it leaves all tokens in an open
//! hemisphere, the cone lemma ends the proof. Solvers propose, only intervals dispose, and [`Convergence::to_text`] writes down what a checker needs.
#![doc = include_str!("lemmas.md")]

mod curvature;
mod growth;
mod hemisphere;
mod local;
mod run;
mod series;
mod step;
mod system;
#[cfg(test)]
mod tests;
mod text;

use crate::attention::{RowWeights, Variant};
use crate::error::{Error, Result, in_range};
use crate::num::interval::trusted;
use crate::sphere::Tokens;
pub use step::Cause;

/// A start, and all that are near it.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbourhood {
    /// Rows of weights are divided by their sums (SA); else they are not (USA).
    pub softmax: bool,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// Inverse temperature.
    pub beta: f64,
    /// Ambient dimension.
    pub d: usize,
    /// Masses, in any unit.
    pub masses: Vec<f64>,
    /// Rows, taken as directions `x / |x|`.
    pub x: Vec<f64>,
    /// Every token may be anywhere within this chord of its direction.
    pub radius: f64,
}

impl Neighbourhood {
    /// Of tokens on the sphere. **Errors** attention that repels or that is neither SA nor USA; fewer than two tokens, or more than 512 coordinates; beta
    /// outside `[0, 1000]`; a radius outside `[0, 1]`.
    pub fn new(variant: Variant, beta: f64, tokens: &Tokens, radius: f64) -> Result<Self> {
        let softmax = match variant {
            Variant { weights: RowWeights::Softmax, repulsive: false, .. } => true,
            Variant { weights: RowWeights::Exponential, repulsive: false, .. } => false,
            _ => return Err(Error::parameter("dynamics", format!("{variant:?}"), "attracting SA or USA, mutual or causal")),
        };
        in_range("beta", beta, 0.0, 1e3)?;
        in_range("radius", radius, 0.0, 1.0)?;
        let (n, d) = (tokens.n(), tokens.d());
        if !tokens.space().is_unit() || n < 2 || n * d > 512 {
            let found = format!("{n} tokens of dimension {d}");
            return Err(Error::parameter("tokens", found, "at least two on the unit sphere, at most 512 coordinates"));
        }
        Ok(Self { softmax, causal: variant.causal, beta, d, masses: tokens.masses().to_vec(), x: tokens.coordinates().to_vec(), radius })
    }

    /// What a proof of it says.
    pub fn statement(&self) -> String {
        let name = match (self.softmax, self.causal) {
            (true, false) => "SA",
            (true, true) => "causal SA",
            (false, false) => "USA",
            (false, true) => "causal USA",
        };
        format!(
            "every solution of {name} with beta = {} whose {} tokens start on the unit sphere of R^{}, each within {} of the direction of its start row, converges \
             to one point",
            self.beta,
            self.masses.len(),
            self.d,
            crate::error::show(self.radius)
        )
    }
}

/// A part of a step: its end, a bound of the growth rate on it, and a bound of the error on it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    end: f64,
    growth: f64,
    tube: f64,
}

/// A step as it is written down.
#[derive(Clone, Debug, PartialEq)]
struct Stride {
    h: f64,
    pieces: Vec<Piece>,
    /// Where the next one starts.
    x: Vec<f64>,
    /// Labels of points that become one, and where.
    merged: Option<(Vec<usize>, Vec<f64>)>,
    /// The error bound after it, for readers.
    error: f64,
}

/// A proof of convergence to one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    start: Neighbourhood,
    order: usize,
    strides: Vec<Stride>,
    direction: Vec<f64>,
    /// When all tokens are in an open hemisphere; USA: in units of `e^{-beta}`.
    pub t: f64,
    /// Bound of `(sum_i m_i |x_i - p_i|^2)^(1/2)` there.
    pub error: f64,
    /// Integral of the growth rates.
    pub growth: f64,
}

impl Convergence {
    /// Steps of the path.
    pub fn steps(&self) -> usize {
        self.strides.len()
    }

    /// What is proved.
    pub fn statement(&self) -> String {
        self.start.statement()
    }
}

/// Where a proof was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// What ended it.
    pub cause: Cause,
    /// When.
    pub t: f64,
    /// The token that is deepest outside the best hemisphere, from 0.
    pub token: usize,
    /// Bound of the error then.
    pub error: f64,
    /// Integral of the growth rates.
    pub growth: f64,
    /// Integral of the bound of the defect.
    pub defect: f64,
    /// Steps until then.
    pub steps: usize,
}

/// Slacks of the growth rate, from coarse to fine.
const SLACKS: [f64; 3] = [0.5, 0.1, 0.02];

/// Proves that every start of the neighbourhood converges to one point, or says where that was lost with the finest pieces.
///
/// **Cost** about `n^3 d^2` operations per step and piece: 0.05 s for 8 tokens on the circle, 0.4 s for 16 in `R^3` at beta = 4, 2 s for 32.
/// **Errors** a processor that breaks the arithmetic ([`trusted`]).
///
/// ```
/// use metastable::attention::{RowWeights, Variant};
/// use metastable::landscape::trajectory::{Neighbourhood, prove};
/// use metastable::sphere::Tokens;
/// let x = Tokens::from_angles(&[0.0, 1.9, 4.0]).unwrap();
/// let near = Neighbourhood::new(Variant::mutual(RowWeights::Softmax), 1.0, &x, 1e-6).unwrap();
/// assert!(prove(&near).unwrap().is_ok());
/// // The regular triangle is at rest.
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.0].map(|k| k * std::f64::consts::TAU / 3.0)).unwrap();
/// let near = Neighbourhood::new(Variant::mutual(RowWeights::Softmax), 1.0, &x, 0.0).unwrap();
/// assert!(prove(&near).unwrap().is_err());
/// ```
pub fn prove(start: &Neighbourhood) -> Result<std::result::Result<Convergence, Lost>> {
    trusted()?;
    let mut found = run::attempt(start, SLACKS[0]);
    for slack in &SLACKS[1..] {
        if found.is_err() {
            found = run::attempt(start, *slack);
        }
    }
    Ok(found)
}
