//! The hypothesis of a proof: a start, and the distance of other starts from it.

use crate::attention::{RowWeights, Variant};
use crate::error::{Error, Result, in_range};
use crate::sphere::Tokens;

/// All starts whose tokens are within `radius` of the directions of the given rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbourhood {
    /// SA: the weights of a row are divided by their sum. Otherwise USA.
    pub softmax: bool,
    /// Causal mask: token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// Inverse temperature.
    pub beta: f64,
    /// Ambient dimension.
    pub d: usize,
    /// Masses, in any unit.
    pub masses: Vec<f64>,
    /// One row per token, taken as the direction `x / |x|`.
    pub x: Vec<f64>,
    /// Largest distance (chord) of a token from the direction of its row.
    pub radius: f64,
}

impl Neighbourhood {
    /// For tokens on the unit sphere.
    ///
    /// **Errors** attention that repels, or that is neither SA nor USA; more than 512 coordinates;
    /// beta outside `[0, 1000]`; a radius outside `[0, 1]`.
    pub fn new(variant: Variant, beta: f64, tokens: &Tokens, radius: f64) -> Result<Self> {
        let softmax = match variant {
            Variant { weights: RowWeights::Softmax, repulsive: false, .. } => true,
            Variant { weights: RowWeights::Exponential, repulsive: false, .. } => false,
            _ => {
                return Err(Error::parameter(
                    "dynamics",
                    format!("{variant:?}"),
                    "attracting SA or USA, mutual or causal",
                ));
            }
        };
        in_range("beta", beta, 0.0, 1e3)?;
        in_range("radius", radius, 0.0, 1.0)?;
        let (n, d) = (tokens.n(), tokens.d());
        if !tokens.space().is_unit() || n * d > 512 {
            let found = format!("{n} tokens of dimension {d}");
            return Err(Error::parameter(
                "tokens",
                found,
                "tokens on the unit sphere, at most 512 coordinates in all",
            ));
        }
        Ok(Self {
            softmax,
            causal: variant.causal,
            beta,
            d,
            masses: tokens.masses().to_vec(),
            x: tokens.coordinates().to_vec(),
            radius,
        })
    }

    /// The statement of a proof, in one sentence.
    pub fn statement(&self) -> String {
        let name = match (self.softmax, self.causal) {
            (true, false) => "SA",
            (true, true) => "causal SA",
            (false, false) => "USA",
            (false, true) => "causal USA",
        };
        let near = if self.radius > 0.0 {
            format!("within {} of", crate::error::format_number(self.radius))
        } else {
            "in".to_owned()
        };
        let equal = self.masses.windows(2).all(|m| m[0].to_bits() == m[1].to_bits());
        let masses: Vec<String> = self.masses.iter().map(f64::to_string).collect();
        let tokens = match self.masses.len() {
            1 => "one token starts".to_owned(),
            n if equal => format!("{n} tokens of equal masses start"),
            n => format!("{n} tokens of masses {} start", masses.join(", ")),
        };
        format!(
            "every solution of {name} with beta = {} whose {tokens} on the unit sphere of R^{}, each {near} the direction of its start row, converges to one point",
            self.beta, self.d,
        )
    }
}
