//! The registered kernels, and the choice of one.

use super::algorithm::Kernel;
use super::choice::KernelChoice;
use super::exact::{direct::DIRECT, distributed::SINGLE_PROCESS, reference::ROWS};
use super::fast::{
    arcs::SortedArcs, fourier::Fourier, gram::GramMatrix, harmonics::Harmonics, heads::Heads,
    inner::Inner, products::Products,
};
use super::limits::EXACT_ACCURACY;
use super::problem::KernelProblem;
use super::weight::Weight;
use crate::error::{Error, Result, format_number};

/// All kernels, exact ones first.
pub static ALL: &[&dyn Kernel] = &[
    &ROWS,
    &DIRECT,
    &Inner,
    &GramMatrix,
    &Products,
    &Fourier,
    &SortedArcs,
    &Harmonics,
    &Heads,
    &SINGLE_PROCESS,
];

impl KernelChoice {
    /// Parses `auto` or the name of a kernel.
    ///
    /// **Errors** an unknown name; the error suggests the nearest known one.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Self::Auto),
            _ => find(name).map(Self::Named),
        }
    }

    /// The kernel for a problem.
    ///
    /// **Errors** a named kernel that does not support the problem or cannot reach its accuracy.
    pub fn select(self, problem: &KernelProblem) -> Result<&'static dyn Kernel> {
        let plain = problem.is_plain();
        match self {
            Self::Named(kernel) if !plain && !kernel.supports_any_heads() => {
                Err(refused(kernel, "one head without Q and K, weights within f64"))
            }
            Self::Named(kernel) => checked_by_name(kernel, problem),
            // Other weights than exponentials have no kernel for heads.
            Self::Auto if !plain && let Some(reason) = problem.not_exponential() => {
                Err(refused(&ROWS, reason))
            }
            Self::Auto => Ok(cheapest(
                problem,
                if plain { &DIRECT } else { &ROWS },
                typical_length(problem.tokens.n(), problem.two_sided),
                |k| if plain { !k.by_name_only() } else { k.supports_any_heads() },
            )),
        }
    }
}

/// The cheapest usable kernel whose error bound is at most the accuracy times `length`, if it is
/// cheaper than all others; else the exact kernel.
pub(super) fn cheapest(
    problem: &KernelProblem,
    exact: &'static dyn Kernel,
    length: f64,
    usable: impl Fn(&dyn Kernel) -> bool,
) -> &'static dyn Kernel {
    let mut best = (exact, f64::INFINITY);
    if matches!(problem.weight, Weight::Series { .. }) && problem.accuracy <= EXACT_ACCURACY {
        return exact;
    }
    for &k in ALL.iter().filter(|k| usable(**k)) {
        let cost = k.cost(problem);
        // Compare costs first: asking every kernel all questions took 5 % of an evaluation of 32
        // tokens.
        if cost < best.1
            && k.unsupported_reason(problem).is_none()
            && k.error_bound(problem) / length <= problem.accuracy
        {
            best = (k, cost);
        }
    }
    best.0
}

/// The relative accuracy that a kernel reaches on typical rows. If it were far above the required
/// one, most rows would be flagged.
pub fn attainable_accuracy(kernel: &dyn Kernel, problem: &KernelProblem) -> f64 {
    kernel.error_bound(problem) / typical_length(problem.tokens.n(), problem.two_sided)
}

/// A typical row of n tokens in units of its mass: drifts of random tokens are of order `n^{-1/2}`,
/// a field has about the norm of its mass.
pub fn typical_length(n: usize, is_drift: bool) -> f64 {
    if is_drift { TYPICAL_DRIFT * (100.0 / n as f64).sqrt().min(1.0) } else { 1.0 }
}

/// A named kernel, if it supports the problem and its accuracy.
fn checked_by_name(
    kernel: &'static dyn Kernel,
    problem: &KernelProblem,
) -> Result<&'static dyn Kernel> {
    if let Some(reason) = kernel.unsupported_reason(problem) {
        return Err(refused(kernel, reason));
    }
    let attainable = attainable_accuracy(kernel, problem);
    if attainable <= problem.accuracy {
        return Ok(kernel);
    }
    let (name, n, d, beta) =
        (kernel.name(), problem.tokens.n(), problem.tokens.d(), format_number(problem.beta()));
    // Rounded up, so that the printed accuracy is accepted.
    let least = 1.05 * attainable;
    Err(Error::parameter(
        "accuracy",
        format_number(problem.accuracy),
        format!(
            "at least {least:.1e}, which the kernel `{name}` reaches on typical rows for n = {n}, d = {d}, beta = {beta} \
             (other rows are recomputed exactly); or the kernel `auto`"
        ),
    ))
}

fn refused(kernel: &dyn Kernel, reason: &str) -> Error {
    Error::parameter(
        "kernel",
        kernel.name(),
        format!("auto, or a problem that it supports ({reason})"),
    )
}

/// Smaller drifts are rare until tokens cluster; rows with smaller drifts are flagged.
const TYPICAL_DRIFT: f64 = 1e-2;

/// Finds a kernel by name.
///
/// **Errors** an unknown name; the error suggests the nearest known one.
pub fn find(name: &str) -> Result<&'static dyn Kernel> {
    let names = ["auto"].into_iter().chain(ALL.iter().map(|k| k.name()));
    ALL.iter()
        .copied()
        .find(|k| k.name() == name)
        .ok_or_else(|| Error::unknown("kernel", name, names))
}
