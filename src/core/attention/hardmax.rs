//! Hardmax: every token is drawn to those of largest score (arXiv:2407.01602; the limit of infinite beta).

use super::kernel::{Form, Workspace};
use super::sublayer::{At, Facts, Sublayer};
use crate::error::{Error, Result};
use crate::num::vector;
use crate::num::{dense::mat_vec, sum::dot};
use crate::sphere::Tokens;

/// `a_i = mean of the x_j, j in C_i`, `C_i = argmax_j <A x_i, x_j>`, by mass; scores within `tie` of the largest, in units of `1 + |largest|`, count as
/// equal. A step function of the tokens: layers are its use, a flow has corners. **Cost** `2 n^2 d` operations.
#[derive(Clone, Debug)]
pub struct Hardmax {
    form: Option<Vec<f64>>,
    tie: f64,
}

impl Hardmax {
    /// With the d x d matrix A (the identity when absent) and the width of ties.
    ///
    /// **Errors** a number that is not finite, a negative width.
    ///
    /// ```
    /// use metastable::{attention::{Dynamics, hardmax::Hardmax}, sphere::Tokens};
    /// // Only itself is as near as itself: every token of a sphere is its own leader.
    /// let x = Tokens::from_angles(&[0.0, 1.0, 3.0]).unwrap();
    /// let v = Dynamics::of(Hardmax::new(None, 1e-12).unwrap()).velocity(&x);
    /// assert!(v.iter().all(|v| v.abs() < 1e-15));
    /// ```
    pub fn new(form: Option<Vec<f64>>, tie: f64) -> Result<Self> {
        if let Some(a) = form.iter().flatten().find(|a| !a.is_finite()) {
            return Err(Error::parameter("A", a, "finite entries"));
        }
        if !(tie >= 0.0 && tie.is_finite()) {
            return Err(Error::parameter("tie", tie, "a finite number >= 0"));
        }
        Ok(Self { form, tie })
    }

    /// The leaders of token i.
    ///
    /// **Errors** a matrix of another size than d x d.
    pub fn leaders(&self, x: &Tokens, i: usize) -> Result<Vec<usize>> {
        self.algorithm(x, Form::Sum)?;
        let mut image = x.row(i).to_vec();
        if let Some(a) = &self.form {
            mat_vec(a, x.row(i), &mut image);
        }
        let scores: Vec<f64> = x.rows().map(|row| dot(&image, row)).collect();
        let top = vector::max(&scores);
        Ok((0..x.n()).filter(|j| scores[*j] >= top - self.tie * (1.0 + top.abs())).collect())
    }
}

impl Sublayer for Hardmax {
    fn evaluate(&self, at: &At, form: Form, _: &mut Workspace, out: &mut [f64]) {
        let x = at.tokens;
        for (i, row) in out.chunks_exact_mut(x.d()).enumerate() {
            let Ok(leaders) = self.leaders(x, i) else { return row.fill(f64::NAN) };
            let total: f64 = leaders.iter().map(|j| x.masses()[*j]).sum();
            row.fill(0.0);
            for j in leaders {
                let share = x.masses()[j] / total;
                row.iter_mut().zip(x.row(j).iter().zip(x.row(i))).for_each(|(o, (y, x))| *o += share * (y - x));
            }
            if form == Form::Sum {
                row.iter_mut().zip(x.row(i)).for_each(|(o, x)| *o += x);
            }
        }
        if form == Form::Tangent {
            form.of_sums(x, out);
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            permutation_equivariant: true,
            rotation_equivariant: self.form.is_none(),
            odd: true,
            cone_invariant: true,
            autonomous: true,
            ..Facts::default()
        }
    }

    fn length_scale(&self) -> f64 {
        1.0
    }

    fn algorithm(&self, x: &Tokens, _: Form) -> Result<&'static str> {
        match &self.form {
            Some(a) if a.len() != x.d() * x.d() => {
                let expected = format!("a {d} x {d} matrix for tokens of dimension {d}", d = x.d());
                Err(Error::parameter("A", format!("{} numbers", a.len()), expected))
            }
            _ => Ok("hardmax"),
        }
    }
}
