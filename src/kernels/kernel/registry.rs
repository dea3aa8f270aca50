//! The registered algorithms and the choice between them.

use super::choice::Choice;
use super::exact::{direct::DIRECT, rows::ROWS, shared::ALONE};
use super::fast::{fourier::Fourier, gram::GramMatrix, harmonics::Harmonics, heads::Heads, inner::Inner, products::Products};
use super::job::{Job, Kernel};
use crate::error::{Error, Result, show};

/// All algorithms, exact ones first.
pub static ALL: &[&dyn Kernel] = &[&ROWS, &DIRECT, &Inner, &GramMatrix, &Products, &Fourier, &Harmonics, &Heads, &ALONE];

impl Choice {
    /// Parses `auto` or the name of a kernel.
    ///
    /// **Errors** an unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Self::Auto),
            _ => find(name).map(Self::Named),
        }
    }

    /// The algorithm of a job.
    ///
    /// **Errors** an algorithm asked for by name that cannot do the job, or cannot keep its accuracy.
    pub fn of(self, job: &Job) -> Result<&'static dyn Kernel> {
        let plain = job.is_plain();
        match self {
            Self::Named(kernel) if !plain && !kernel.any_heads() => Err(refused(kernel, "one head without Q and K, weights within f64")),
            Self::Named(kernel) => named(kernel, job),
            Self::Auto => {
                let mut cheapest: (&'static dyn Kernel, f64) = (if plain { &DIRECT } else { &ROWS }, f64::INFINITY);
                for &k in ALL.iter().filter(|k| if plain { !k.by_name_only() } else { k.any_heads() }) {
                    let cost = k.cost(job);
                    // The short question first: all of them, of every kernel, took a twentieth of an evaluation of 32 tokens.
                    if cost < cheapest.1 && k.refuses(job).is_none() && kept(k, job) <= job.accuracy {
                        cheapest = (k, cost);
                    }
                }
                Ok(cheapest.0)
            }
        }
    }
}

/// The relative accuracy that an algorithm keeps of typical rows; an error far above the one wanted would send most rows back to the exact sums.
pub fn kept(kernel: &dyn Kernel, job: &Job) -> f64 {
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
    let names = ["auto"].into_iter().chain(ALL.iter().map(|k| k.name()));
    ALL.iter().copied().find(|k| k.name() == name).ok_or_else(|| Error::unknown("kernel", name, names))
}
