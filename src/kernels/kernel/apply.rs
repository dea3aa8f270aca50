//! Velocities and fields of attention: an algorithm is chosen, and what it does not vouch for is evaluated again.

use super::attention::Attention;
use super::choice::Choice;
use super::doubtful::Doubtful;
use super::exact::{direct::DIRECT, rows};
use super::job::{Form, Job, Kernel};
use super::limits::{EXACT, PARALLEL_WORK};
use super::registry::kept;
use super::workspace::Workspace;
use crate::Head;
use crate::error::Result;
use crate::num::{sum::dot, threads::inside_pool};
use crate::sphere::{Tokens, geometry::project};

/// The head of plain attention.
static IDENTITY: [Head; 1] = [Head::identity()];

impl Attention {
    /// The job of these tokens. The value matrix of a single head without Q and K is left out: see [`Attention::apply`].
    pub fn job<'a>(&'a self, tokens: &'a Tokens, form: Form) -> Job<'a> {
        let valued = self.value_at_the_end().is_some();
        let heads = if valued { &IDENTITY } else { &self.heads[..] };
        let form = if valued && form == Form::Tangent { Form::Sum } else { form };
        // Where a value matrix acts, differences keep no more than sums.
        let far = form == Form::Tangent && heads.iter().any(Head::has_identity_value);
        let &Self { beta, causal, weights, sign, accuracy, level, .. } = self;
        Job { tokens, form, heads, beta, causal, weights, sign, far, level, accuracy }
    }

    /// Evaluates all rows into `out` (n x d); the number of rows in which a fast algorithm did not keep the accuracy, so that they were evaluated
    /// again. The order of every sum depends on n and d only, so bytes do not depend on threads. The value matrix of a single head without Q and K is
    /// applied to the attention of its tokens; everything else is done by the algorithm.
    ///
    /// **Accuracy** relative error of a velocity row below `1e-13` of its own length while the weights are resolved, down to drifts of
    /// 1e-300; `self.accuracy` where that is larger and a fast algorithm was used, chosen or asked for by name.
    /// **Cost** `n^2/2` exponentials and about `3 n^2 d` flops for plain attention, twice that for heads with Q or K.
    /// **Errors** an algorithm asked for by name that cannot do it, or cannot keep the accuracy; nothing is written.
    pub fn apply(&self, x: &Tokens, form: Form, work: &mut Workspace, out: &mut [f64]) -> Result<usize> {
        inside_pool(x.n() * x.n() * x.d() >= PARALLEL_WORK, || {
            let job = self.job(x, form);
            let kernel = self.kernel.of(&job)?;
            let mut doubtful = std::mem::take(&mut work.doubtful);
            doubtful.rows.clear();
            kernel.evaluate(&job, work, out, &mut doubtful);
            let again = again(kernel, &job, work, out, &mut doubtful);
            work.doubtful = doubtful;
            if let Some(value) = self.value_at_the_end() {
                self.values(value, x, form, out);
            }
            Ok(again)
        })
    }

    /// Row i alone, by the exact row sum.
    pub fn apply_row(&self, x: &Tokens, form: Form, i: usize) -> Vec<f64> {
        let (job, mut out) = (self.job(x, form), vec![0.0; x.d()]);
        rows::some(&job, &mut Workspace::default(), &[i], &mut |_, row| out.copy_from_slice(row));
        if let Some(value) = self.value_at_the_end() {
            self.value(value, x.row(i), form, &mut out);
        }
        out
    }

    /// Name of the algorithm that [`Attention::apply`] uses for these tokens.
    ///
    /// **Errors** as [`Attention::apply`].
    pub fn kernel_name(&self, x: &Tokens, form: Form) -> Result<&'static str> {
        Ok(self.kernel.of(&self.job(x, form))?.name())
    }

    /// The relative accuracy that an algorithm asked for by name keeps of typical rows of these tokens: the least that it can be asked for. [`EXACT`]
    /// where none was asked for, or it cannot do it at all.
    pub fn kept(&self, x: &Tokens, form: Form) -> f64 {
        let job = self.job(x, form);
        match self.kernel {
            Choice::Named(kernel) if job.is_plain() && kernel.refuses(&job).is_none() => kept(kernel, &job).max(EXACT),
            _ => EXACT,
        }
    }

    fn values(&self, value: &[f64], x: &Tokens, form: Form, out: &mut [f64]) {
        out.chunks_exact_mut(x.d()).enumerate().for_each(|(i, row)| self.value(value, x.row(i), form, row));
    }

    /// `V a`, projected for a velocity.
    fn value(&self, value: &[f64], x: &[f64], form: Form, row: &mut [f64]) {
        let image: Vec<f64> = value.chunks_exact(x.len()).map(|v| dot(v, row)).collect();
        row.copy_from_slice(&image);
        if form == Form::Tangent {
            project(x, row);
        }
    }
}

/// Evaluates the doubtful rows again: all of them exactly when they are many. How many a fast algorithm left.
fn again(kernel: &dyn Kernel, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) -> usize {
    let (n, d) = (job.tokens.n(), job.tokens.d());
    let many = kernel.error(job) > 0.0 && doubtful.rows.len() * 8 > n;
    let left = if many { n } else { doubtful.rows.len() };
    if many && job.is_plain() {
        doubtful.rows.clear();
        DIRECT.evaluate(job, work, out, doubtful);
    }
    rows::some(job, work, &doubtful.rows, &mut |i, row| out[i * d..(i + 1) * d].copy_from_slice(row));
    left
}
