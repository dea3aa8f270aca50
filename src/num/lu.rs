//! LU factorisation of small dense matrices for many right-hand sides: no allocation per solve, no
//! threads, bitwise reproducible.

/// `P A = L U` by partial pivoting, for matrices of a few dozen rows.
#[derive(Clone, Debug, Default)]
pub struct Lu {
    n: usize,
    /// L below the diagonal, U on and above it, row-major.
    a: Vec<f64>,
    pivots: Vec<usize>,
}

impl Lu {
    /// Factors the n x n matrix with these entries.
    /// **Cost** `2 n^3 / 3`. For a singular matrix the solutions are not finite.
    pub fn factor(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) {
        self.n = n;
        self.a.clear();
        self.a.extend((0..n * n).map(|k| entry(k / n, k % n)));
        self.pivots.clear();
        for k in 0..n {
            let pivot = (k..n)
                .max_by(|p, q| self.a[p * n + k].abs().total_cmp(&self.a[q * n + k].abs()))
                .unwrap_or(k);
            self.pivots.push(pivot);
            if pivot != k {
                (0..n).for_each(|c| self.a.swap(k * n + c, pivot * n + c));
            }
            for r in k + 1..n {
                let factor = self.a[r * n + k] / self.a[k * n + k];
                self.a[r * n + k] = factor;
                for c in k + 1..n {
                    self.a[r * n + c] -= factor * self.a[k * n + c];
                }
            }
        }
    }

    /// Solves `A x = b` in place. **Cost** `2 n^2`.
    ///
    /// ```
    /// let mut lu = metastable::num::lu::Lu::default();
    /// lu.factor(2, |r, c| [[0.0, 2.0], [4.0, 1.0]][r][c]);
    /// let mut x = [2.0, 9.0];
    /// lu.solve(&mut x);
    /// assert_eq!(x, [2.0, 1.0]);
    /// ```
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (k, &pivot) in self.pivots.iter().enumerate() {
            b.swap(k, pivot);
        }
        for r in 1..n {
            b[r] -= (0..r).map(|c| self.a[r * n + c] * b[c]).sum::<f64>();
        }
        for r in (0..n).rev() {
            let sum: f64 = (r + 1..n).map(|c| self.a[r * n + c] * b[c]).sum();
            b[r] = (b[r] - sum) / self.a[r * n + r];
        }
    }
}
