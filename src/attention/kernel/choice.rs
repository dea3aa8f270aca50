//! The registered algorithms and the choice between them.

use super::close::Ending;
use super::workspace::Workspace;
use crate::error::{Error, Result, show};
use crate::num::simd::Level;
use crate::num::threads::{others_awake, parallel_allowed};
use crate::sphere::Tokens;

/// One evaluation: plain attention (Q = K = identity) of all tokens.
pub struct Job<'a> {
    /// The tokens.
    pub tokens: &'a Tokens,
    /// Inverse temperature.
    pub beta: f64,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// Drifts are differences to `-sigma x_i` for far tokens: exact in the tangent direction, useless in the radial one.
    pub far: bool,
    /// Instruction set.
    pub level: Level,
    /// Largest relative error of a row that is wanted.
    pub accuracy: f64,
}

impl Job<'_> {
    /// True when the work is worth threads and they are free.
    pub(super) fn parallel(&self) -> bool {
        let (n, d) = (self.tokens.n(), self.tokens.d());
        let least = if others_awake() { super::AWAKE_WORK } else { super::PARALLEL_WORK };
        n * n * d >= least && parallel_allowed()
    }
}

/// An algorithm for the sums of a [`Job`].
pub trait Kernel: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;
    /// What it does, in one line.
    fn summary(&self) -> &'static str;
    /// Why it cannot do this job, if it cannot.
    fn refuses(&self, job: &Job) -> Option<&'static str>;
    /// True when it is never chosen automatically.
    fn by_name_only(&self) -> bool {
        false
    }
    /// Estimated nanoseconds on one thread, for the choice only.
    fn cost(&self, job: &Job) -> f64;
    /// A priori error of a drift in units of the largest it could be, the mass of its row (of the total mass, where masses err too); 0 for relative
    /// accuracy row by row. Every row in which it exceeds the accuracy wanted is evaluated again, exactly.
    fn error(&self, job: &Job) -> f64;
    /// Computes `space.sums`.
    fn sums(&self, job: &Job, space: &mut Workspace);
    /// Writes rows and adds to `space.doubtful`, where the algorithm need not store sums; false where it must.
    fn close(&self, _: &Job, _: &Ending, _: &mut Workspace, _: &mut [f64]) -> bool {
        false
    }
}

/// All algorithms, exact ones first.
pub static ALL: &[&dyn Kernel] = &[
    &super::direct::DIRECT,
    &super::inner::Inner,
    &super::gram::Matrix,
    &super::products::Products,
    &super::fourier::Fourier,
    &super::harmonics::Harmonics,
    &super::single::Single,
];

/// Which algorithm to use.
#[derive(Clone, Copy, Default)]
pub enum Choice {
    /// The cheapest one that keeps the accuracy.
    #[default]
    Auto,
    /// Row by row, scalar: the reference.
    Rows,
    /// This one.
    Named(&'static dyn Kernel),
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Choice {
    /// Parses `auto`, `rows` or the name of a kernel.
    ///
    /// **Errors** an unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Self::Auto),
            "rows" => Ok(Self::Rows),
            _ => find(name).map(Self::Named),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rows => "rows",
            Self::Named(kernel) => kernel.name(),
        }
    }

    /// The algorithm of a job; `None` for rows of weights, the only ones where there is no job.
    ///
    /// **Errors** an algorithm asked for by name that cannot do the job, or cannot keep its accuracy.
    pub(super) fn of(self, job: Option<&Job>) -> Result<Option<&'static dyn Kernel>> {
        match (self, job) {
            (Self::Rows, _) | (Self::Auto, None) => Ok(None),
            (Self::Named(kernel), None) => Err(refused(kernel, "one head without Q and K, weights within f64")),
            (Self::Named(kernel), Some(job)) => named(kernel, job).map(Some),
            (Self::Auto, Some(job)) => {
                let suits = |k: &&&'static dyn Kernel| !k.by_name_only() && k.refuses(job).is_none() && kept(**k, job) <= job.accuracy;
                let cheapest = ALL.iter().filter(suits).min_by(|a, b| a.cost(job).total_cmp(&b.cost(job)));
                Ok(Some(cheapest.copied().unwrap_or(&super::direct::DIRECT)))
            }
        }
    }
}

/// The relative accuracy that an algorithm keeps of typical rows; an error far above the one wanted would send most rows back to the exact sums.
pub(super) fn kept(kernel: &dyn Kernel, job: &Job) -> f64 {
    // Drifts of n random tokens are of order n^{-1/2}; a field is as long as its mass.
    let drift = TYPICAL_DRIFT * (100.0 / job.tokens.n() as f64).sqrt().min(1.0);
    kernel.error(job) / if job.far { drift } else { 1.0 }
}

/// An algorithm asked for by name, where it can keep what is asked.
fn named(kernel: &'static dyn Kernel, job: &Job) -> Result<&'static dyn Kernel> {
    if let Some(reason) = kernel.refuses(job) {
        return Err(refused(kernel, reason));
    }
    let kept = kept(kernel, job);
    if kept <= job.accuracy {
        return Ok(kernel);
    }
    let (name, n, d, beta) = (kernel.name(), job.tokens.n(), job.tokens.d(), show(job.beta));
    // Rounded up, so that asking for what is printed works.
    let least = 1.05 * kept;
    Err(Error::parameter(
        "accuracy",
        show(job.accuracy),
        format!(
            "at least {least:.1e}, what the kernel `{name}` keeps of typical rows at n = {n}, d = {d}, beta = {beta} (rows in which it does not are \
             evaluated exactly); or the kernel `auto`"
        ),
    ))
}

fn refused(kernel: &dyn Kernel, reason: &str) -> Error {
    Error::parameter("kernel", kernel.name(), format!("auto, or what it is made for: {reason}"))
}

/// Drifts below this are rare until tokens cluster; rows below it are evaluated again.
const TYPICAL_DRIFT: f64 = 1e-2;

/// Finds a kernel by name.
///
/// **Errors** an unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static dyn Kernel> {
    let names = ["auto", "rows"].into_iter().chain(ALL.iter().map(|k| k.name()));
    ALL.iter().copied().find(|k| k.name() == name).ok_or_else(|| Error::unknown("kernel", name, names))
}
