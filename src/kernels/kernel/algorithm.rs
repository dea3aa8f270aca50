//! The trait of kernels, which solve problems.

use super::epilogue::finish;
use super::flagged_rows::FlaggedRows;
use super::problem::KernelProblem;
use super::sums::Sums;
use super::workspace::Workspace;

/// An algorithm that solves a [`KernelProblem`].
pub trait Kernel: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;
    /// One-line description.
    fn summary(&self) -> &'static str;
    /// Why the kernel does not support this problem; `None` if it does. Only called for plain
    /// problems (see [`KernelProblem::is_plain`]) unless [`Kernel::supports_any_heads`].
    fn unsupported_reason(&self, problem: &KernelProblem) -> Option<&'static str>;
    /// True if the kernel also solves problems that are not plain.
    fn supports_any_heads(&self) -> bool {
        false
    }
    /// True if [`Kernel::sums`] returns sums.
    fn keeps_masses(&self) -> bool {
        !self.supports_any_heads()
    }
    /// True if the kernel is never chosen automatically for a plain problem.
    fn by_name_only(&self) -> bool {
        false
    }
    /// Estimated nanoseconds on one thread; used for the choice only.
    fn cost(&self, problem: &KernelProblem) -> f64;
    /// A priori error bound of a drift, in units of its largest possible value: the mass of its
    /// row, or the total mass if masses have errors too. 0 if every row has full relative accuracy.
    /// Rows whose bound exceeds the accuracy are flagged and recomputed exactly.
    fn error_bound(&self, problem: &KernelProblem) -> f64;
    /// Writes the drifts of all rows (n x d) and returns the sums; `None` for a kernel that keeps
    /// none.
    fn sums<'a>(
        &self,
        _: &KernelProblem,
        _: &'a mut Workspace,
        _drifts: &mut [f64],
    ) -> Option<&'a mut Sums> {
        None
    }
    /// Writes all rows (n x d) and lists the flagged ones.
    fn evaluate(
        &self,
        problem: &KernelProblem,
        work: &mut Workspace,
        out: &mut [f64],
        flagged: &mut FlaggedRows,
    ) {
        match self.sums(problem, work, out) {
            Some(sums) => finish(problem, sums, out, flagged),
            None => out.fill(f64::NAN),
        }
    }
}
