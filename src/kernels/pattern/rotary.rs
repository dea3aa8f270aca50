//! Rotary positions (RoPE): queries and keys are rotated by angles proportional to their positions.

use super::{AttentionShape, Pattern};
use crate::error::{Error, Result};
use crate::num::dd::Dd;
use std::f64::consts::TAU;

/// Which coordinates of an image form a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// 2k and 2k + 1.
    Adjacent,
    /// k and k + r/2.
    Halves,
}

/// Rotary positions (Su et al. 2021): at position p, pair k of `Q x` and `K x` is rotated by the
/// angle `p w_k`, `w_k = base^{-2k/r}`.
///
/// Scores depend on differences of positions only. Angles are computed in double-double arithmetic
/// and reduced before rounding, so cosines and sines are accurate to `2^-52` for positions below
/// `2^53`.
#[derive(Clone, Debug)]
pub struct Rotary {
    pairs: Pairs,
    rank: usize,
    first: u64,
    /// `w_k / 2 pi`, turns per position.
    turns: Vec<Dd>,
    /// Factor of the norms of images.
    amplitude: f64,
    /// Cosine and sine of every pair at the first positions, if tabulated.
    table: Vec<[f64; 2]>,
}

impl Rotary {
    /// For heads of rank r (rows of Q and K).
    ///
    /// **Errors** a base that is not positive and finite, an odd rank.
    ///
    /// ```
    /// use metastable::attention::pattern::{Pairs, Pattern, Rotary};
    /// let mut image = [1.0, 0.0];
    /// Rotary::new(10000.0, Pairs::Adjacent, 2)?.rotate(3, &mut image);
    /// assert!((image[0] - 3f64.cos()).abs() < 1e-15 && (image[1] - 3f64.sin()).abs() < 1e-15);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(base: f64, pairs: Pairs, rank: usize) -> Result<Self> {
        if !(base > 0.0 && base.is_finite()) {
            return Err(Error::parameter("rotary base", base, "a positive number"));
        }
        if rank == 0 || !rank.is_multiple_of(2) {
            return Err(Error::parameter("rotary rank", rank, "an even number of rows of Q and K"));
        }
        // One Newton step from the rounded logarithm doubles its number of digits.
        let rough = base.ln();
        let log = Dd::from(rough) + (Dd::from(base) * Dd::from(-rough).exp() - Dd::from(1.0));
        let turns = (0..rank / 2)
            .map(|k| (log * (Dd::from(-2.0 * k as f64) / Dd::from(rank as f64))).exp() / two_pi())
            .collect();
        Ok(Self { pairs, rank, first: 0, turns, amplitude: 1.0, table: Vec::new() })
    }

    /// Numbers the positions from `first` instead of 0; discards the table.
    #[must_use]
    pub fn starting_at(self, first: u64) -> Self {
        Self { first, table: Vec::new(), ..self }
    }

    /// Rotates pair k by `p w_k factors[k]` and multiplies images by `amplitude`: this is how
    /// models are extended to more positions than they were trained on. Discards the table.
    ///
    /// **Errors** not one finite factor per pair, an amplitude that is not positive and finite.
    ///
    /// ```
    /// use metastable::attention::pattern::{Pairs, Pattern, Rotary};
    /// let mut image = [1.0, 0.0];
    /// Rotary::new(100.0, Pairs::Adjacent, 2)?.scaled(&[0.25], 2.0)?.rotate(4, &mut image);
    /// assert!((image[0] - 2.0 * 1f64.cos()).abs() < 1e-15 && (image[1] - 2.0 * 1f64.sin()).abs() < 1e-15);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn scaled(mut self, factors: &[f64], amplitude: f64) -> Result<Self> {
        if factors.len() != self.turns.len() {
            return Err(Error::parameter(
                "rotary factors",
                factors.len(),
                format!("{}, one for each pair", self.turns.len()),
            ));
        }
        if let Some(bad) = factors.iter().find(|f| !f.is_finite()) {
            return Err(Error::parameter("rotary factors", bad, "finite numbers"));
        }
        if !(amplitude > 0.0 && amplitude.is_finite()) {
            return Err(Error::parameter("rotary amplitude", amplitude, "a positive number"));
        }
        self.turns.iter_mut().zip(factors).for_each(|(t, f)| *t = *t * Dd::from(*f));
        Ok(Self { amplitude, table: Vec::new(), ..self })
    }

    /// Tabulates the cosines and sines of this many positions, `r` numbers each; about ten times as
    /// fast.
    #[must_use]
    pub fn with_table(mut self, positions: usize) -> Self {
        let half = self.turns.len();
        self.table = (0..positions * half).map(|at| self.rounded(at / half, at % half)).collect();
        self
    }

    /// The angle of pair k at token i as a fraction of a turn, in `[-1/2, 1/2]`.
    fn fraction(&self, i: usize, k: usize) -> Dd {
        let angle = self.turns[k] * Dd::from((self.first + i as u64) as f64);
        let whole = angle - Dd::from(angle.to_f64().round());
        whole - Dd::from(whole.to_f64().round())
    }

    /// Cosine and sine of pair k at token i, times the amplitude.
    fn rounded(&self, i: usize, k: usize) -> [f64; 2] {
        let (sin, cos) = (TAU * self.fraction(i, k).to_f64()).sin_cos();
        [self.amplitude * cos, self.amplitude * sin]
    }

    /// [`Rotary::rounded`] with 30 digits.
    fn exact(&self, i: usize, k: usize) -> [Dd; 2] {
        let fraction = self.fraction(i, k);
        let quarter = (4.0 * fraction.to_f64()).round();
        let angle = (fraction - Dd::from(0.25 * quarter)) * two_pi();
        let (cos, sin) = series(angle);
        let (cos, sin) = (cos * Dd::from(self.amplitude), sin * Dd::from(self.amplitude));
        match quarter as i32 {
            0 => [cos, sin],
            1 => [-sin, cos],
            -1 => [sin, -cos],
            _ => [-cos, -sin],
        }
    }

    fn pair(&self, k: usize) -> (usize, usize) {
        match self.pairs {
            Pairs::Adjacent => (2 * k, 2 * k + 1),
            Pairs::Halves => (k, k + self.turns.len()),
        }
    }
}

fn two_pi() -> Dd {
    Dd::from(TAU) + Dd::from(2.449_293_598_294_706_4e-16)
}

/// Cosine and sine of an angle of at most an eighth of a turn.
fn series(x: Dd) -> (Dd, Dd) {
    let (mut cos, mut sin, mut term) = (Dd::from(1.0), Dd::default(), Dd::from(1.0));
    for k in 1..28 {
        term = term * x / Dd::from(f64::from(k));
        match k % 4 {
            0 => cos = cos + term,
            1 => sin = sin + term,
            2 => cos = cos - term,
            _ => sin = sin - term,
        }
    }
    (cos, sin)
}

impl Pattern for Rotary {
    fn check(&self, shape: &AttentionShape) -> Result<()> {
        let (least, most) = shape.ranks;
        if (least, most) == (self.rank, self.rank) {
            return Ok(());
        }
        let found = if least == self.rank { most } else { least };
        Err(Error::parameter(
            "rows of Q and K",
            found,
            format!("{}, the rank of the rotary positions", self.rank),
        ))
    }

    fn bias_form(&self, _: usize) -> super::BiasForm {
        super::BiasForm::Absent
    }

    fn is_rotary(&self) -> bool {
        true
    }

    fn rotate(&self, i: usize, image: &mut [f64]) {
        let half = self.turns.len();
        for k in 0..half {
            let [cos, sin] =
                self.table.get(i * half + k).copied().unwrap_or_else(|| self.rounded(i, k));
            let (a, b) = self.pair(k);
            (image[a], image[b]) =
                (cos * image[a] - sin * image[b], sin * image[a] + cos * image[b]);
        }
    }

    fn rotate_exactly(&self, i: usize, image: &mut [Dd]) {
        for k in 0..self.turns.len() {
            let [cos, sin] = self.exact(i, k);
            let (a, b) = self.pair(k);
            (image[a], image[b]) =
                (cos * image[a] - sin * image[b], sin * image[a] + cos * image[b]);
        }
    }
}
