//! Kernel for any heads: [`crate::heads`] behind the [`Kernel`] trait.

use crate::heads::{self, HeadsWorkspace};
use crate::kernel::algorithm::Kernel;
use crate::kernel::flagged_rows::FlaggedRows;
use crate::kernel::problem::{KernelProblem, OutputForm};
use crate::kernel::workspace::Workspace;
use crate::num::sum::dot;
use crate::pattern::{Causal, FullAttention, Pattern};

/// Kernel for heads with Q, K and V.
pub struct Heads;

/// Error of an entry, relative to the largest entry of the result.
const ERROR: f64 = 1e-13;

impl Kernel for Heads {
    fn name(&self) -> &'static str {
        "heads"
    }

    fn summary(&self) -> &'static str {
        "any heads, by matrix products; error 1e-13 of the largest entry; 8 n d^2 + 4 n^2 d operations (causal: 8 n d^2 + 2 n^2 d)"
    }

    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str> {
        let large = problem.weights.log_scale(problem.beta()) > 600.0;
        let shape = (problem.form == OutputForm::Difference || large)
            .then_some("sums and velocities, weights within f64");
        shape.or_else(|| problem.not_exponential())
    }

    fn by_name_only(&self) -> bool {
        true
    }

    fn supports_any_heads(&self) -> bool {
        true
    }

    fn cost(&self, problem: &KernelProblem) -> f64 {
        let (n, d) = (problem.tokens.n() as f64, problem.tokens.d() as f64);
        // Two nanoseconds per pair and head, besides the products at 30 operations per nanosecond.
        2e4 + problem.heads.len() as f64 * n * (n * (2.0 + 0.13 * d) + 0.27 * d * d)
    }

    fn error_bound(&self, _: &KernelProblem) -> f64 {
        ERROR
    }

    fn evaluate(
        &self,
        problem: &KernelProblem,
        work: &mut Workspace,
        out: &mut [f64],
        flagged: &mut FlaggedRows,
    ) {
        let (x, d) = (problem.tokens, problem.tokens.d());
        let pattern: &dyn Pattern = if problem.causal { &Causal } else { &FullAttention };
        let (rows, &KernelProblem { heads, weights, isa, .. }) = (x.coordinates(), problem);
        let all = heads::HeadsProblem {
            queries: rows,
            sources: rows,
            masses: x.masses(),
            d,
            beta: problem.beta(),
            heads,
            pattern,
            weights,
            isa,
        };
        if heads::apply(&all, work.buffers::<HeadsWorkspace>(), out).is_err() {
            return out.fill(f64::NAN);
        }
        let length = |row: &[f64]| dot(row, row).sqrt();
        for (i, (row, x)) in out.chunks_exact_mut(d).zip(x.rows()).enumerate() {
            row.iter_mut().for_each(|v| *v *= problem.sign);
            if problem.form == OutputForm::Tangent {
                let before = length(row);
                problem.tokens.space().project(d, x, row);
                // Cancellation in the projection: differences would be accurate where sums are not.
                if problem.two_sided && ERROR * before > problem.accuracy * length(row) {
                    flagged.rows.push(i);
                }
            }
        }
    }
}
