//! Hardmax attention, the limit of infinite beta: every token attends to the tokens of largest
//! score, its leaders (arXiv:2407.01602).

use super::kernel::{OutputForm, Workspace};
use super::sublayer::{Input, Properties, Sublayer};
use crate::error::{Error, Result};
use crate::num::vector;
use crate::num::{dense::mat_vec, sum::dot};
use crate::sphere::Tokens;

/// `a_i` is the mean by mass of the leaders `x_j`, `j in C_i = argmax_j <A x_i, x_j>`. Scores
/// within `tie_tolerance (1 + |largest|)` of the largest score count as ties. The output is a
/// discontinuous function of the tokens: it is meant for layers; trajectories of a flow have
/// corners. **Cost** `2 n^2 d` operations.
#[derive(Clone, Debug)]
pub struct Hardmax {
    score_matrix: Option<Vec<f64>>,
    tie_tolerance: f64,
}

impl Hardmax {
    /// Hardmax with the d x d matrix A (the identity if absent) and the tolerance of ties.
    ///
    /// **Errors** a number that is not finite, a negative tolerance.
    ///
    /// ```
    /// use metastable::{attention::{Dynamics, hardmax::Hardmax}, sphere::Tokens};
    /// // On the sphere a token has the largest inner product with itself: it is its own leader.
    /// let x = Tokens::from_angles(&[0.0, 1.0, 3.0]).unwrap();
    /// let v = Dynamics::single(Hardmax::new(None, 1e-12).unwrap()).velocity(&x);
    /// assert!(v.iter().all(|v| v.abs() < 1e-15));
    /// ```
    pub fn new(score_matrix: Option<Vec<f64>>, tie_tolerance: f64) -> Result<Self> {
        if let Some(a) = score_matrix.iter().flatten().find(|a| !a.is_finite()) {
            return Err(Error::parameter("A", a, "finite entries"));
        }
        if !(tie_tolerance >= 0.0 && tie_tolerance.is_finite()) {
            return Err(Error::parameter("tie", tie_tolerance, "a finite number >= 0"));
        }
        Ok(Self { score_matrix, tie_tolerance })
    }

    /// The leaders of token i.
    ///
    /// **Errors** a matrix of another size than d x d.
    pub fn leaders(&self, x: &Tokens, i: usize) -> Result<Vec<usize>> {
        self.algorithm(x, OutputForm::Sum)?;
        let mut image = x.row(i).to_vec();
        if let Some(a) = &self.score_matrix {
            mat_vec(a, x.row(i), &mut image);
        }
        let scores: Vec<f64> = x.rows().map(|row| dot(&image, row)).collect();
        let top = vector::max(&scores);
        Ok((0..x.n())
            .filter(|j| scores[*j] >= top - self.tie_tolerance * (1.0 + top.abs()))
            .collect())
    }
}

impl Sublayer for Hardmax {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        let x = input.tokens;
        for (i, row) in out.chunks_exact_mut(x.d()).enumerate() {
            let Ok(leaders) = self.leaders(x, i) else { return row.fill(f64::NAN) };
            let total: f64 = leaders.iter().map(|j| x.masses()[*j]).sum();
            row.fill(0.0);
            for j in leaders {
                let share = x.masses()[j] / total;
                row.iter_mut()
                    .zip(x.row(j).iter().zip(x.row(i)))
                    .for_each(|(o, (y, x))| *o += share * (y - x));
            }
            if form == OutputForm::Sum {
                row.iter_mut().zip(x.row(i)).for_each(|(o, x)| *o += x);
            }
        }
        if form == OutputForm::Tangent {
            form.of_sums(x, out);
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            permutation_equivariant: true,
            rotation_equivariant: self.score_matrix.is_none(),
            odd: true,
            cone_invariant: true,
            autonomous: true,
            ..Properties::default()
        }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }

    fn algorithm(&self, x: &Tokens, _: OutputForm) -> Result<&'static str> {
        match &self.score_matrix {
            Some(a) if a.len() != x.d() * x.d() => {
                let expected = format!("a {d} x {d} matrix for tokens of dimension {d}", d = x.d());
                Err(Error::parameter("A", format!("{} numbers", a.len()), expected))
            }
            _ => Ok("hardmax"),
        }
    }
}
