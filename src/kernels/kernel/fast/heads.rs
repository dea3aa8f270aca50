//! Any heads by products of slabs and tiles with a running maximum: [`crate::heads`] as an algorithm among others.

use crate::heads::{self, Work};
use crate::kernel::doubtful::Doubtful;
use crate::kernel::job::{Form, Job, Kernel};
use crate::kernel::workspace::Workspace;
use crate::num::sum::dot;
use crate::pattern::{Causal, Everything, Pattern};

/// Heads with Q, K and V.
pub struct Heads;

/// Error of an entry, in units of the largest of its result.
const ERROR: f64 = 1e-13;

impl Kernel for Heads {
    fn name(&self) -> &'static str {
        "heads"
    }

    fn summary(&self) -> &'static str {
        "any heads by products of slabs, error 1e-13 of the largest entry; 8 n d^2 + 4 n^2 d operations, half of the second when causal"
    }

    fn refuses(&self, job: &Job) -> Option<&'static str> {
        let large = job.weights.log_scale(job.beta) > 600.0;
        (job.form == Form::Difference || large).then_some("sums and velocities, weights within f64")
    }

    fn by_name_only(&self) -> bool {
        true
    }

    fn any_heads(&self) -> bool {
        true
    }

    fn cost(&self, job: &Job) -> f64 {
        let (n, d) = (job.tokens.n() as f64, job.tokens.d() as f64);
        // Two nanoseconds per pair and head beside the products, at 30 operations a nanosecond.
        2e4 + job.heads.len() as f64 * n * (n * (2.0 + 0.13 * d) + 0.27 * d * d)
    }

    fn error(&self, _: &Job) -> f64 {
        ERROR
    }

    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful) {
        let (x, d) = (job.tokens, job.tokens.d());
        let pattern: &dyn Pattern = if job.causal { &Causal } else { &Everything };
        let (rows, &Job { beta, heads, weights, level, .. }) = (x.coordinates(), job);
        let all = heads::HeadsJob { queries: rows, sources: rows, masses: x.masses(), d, beta, heads, pattern, weights, level };
        if heads::apply(&all, work.of::<Work>(), out).is_err() {
            return out.fill(f64::NAN);
        }
        let length = |row: &[f64]| dot(row, row).sqrt();
        for (i, (row, x)) in out.chunks_exact_mut(d).zip(x.rows()).enumerate() {
            row.iter_mut().for_each(|v| *v *= job.sign);
            if job.form == Form::Tangent {
                let before = length(row);
                job.tokens.space().project(d, x, row);
                // Differences would keep what sums have lost.
                if job.far && ERROR * before > job.accuracy * length(row) {
                    doubtful.rows.push(i);
                }
            }
        }
    }
}
