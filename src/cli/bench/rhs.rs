//! `bench rhs`: the time and the error of one right-hand side, compared with the peak speeds of the
//! machine and with the exact sums.

use super::peak::Peaks;
use super::timing::time;
use crate::attention::kernel::{EXACT_ACCURACY, OutputForm, Workspace, with_repeated_evaluations};
use crate::attention::{Spec, dynamics};
use crate::cli::input::KernelArguments;
use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::num::stream::Stream;
use crate::sphere::{Tokens, law::Law};
use serde_json::json;

/// Flags of `bench rhs`.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub struct Arguments {
    /// Number of tokens.
    #[arg(long, default_value_t = 1024)]
    n: usize,
    /// Dimension.
    #[arg(long, default_value_t = 3)]
    d: usize,
    /// Inverse temperature.
    #[arg(long, default_value_t = 4.0, allow_hyphen_values = true)]
    beta: f64,
    /// Name of the dynamics (`list dynamics`).
    #[arg(long, default_value = "sa")]
    dynamics: String,
    #[command(flatten)]
    kernel: KernelArguments,
}

/// Number of rows compared with the exact sums.
const CHECKED_ROWS: usize = 16;

impl Arguments {
    /// Runs the benchmark.
    pub fn run(self, out: &Output) -> Result<i32> {
        let Self { n, d, beta, ref dynamics, .. } = self;
        if n > 10_000_000 {
            return Err(Error::parameter("--n", n, "at most 10000000 tokens"));
        }
        let x = Law::parse("uniform")?.sample(n, d, &mut Stream::new(1, &["bench"]))?;
        let mut spec = self.kernel.apply(Spec::new(beta, n), EXACT_ACCURACY)?;
        if self.kernel.accuracy.is_none() {
            // A named algorithm is timed at the accuracy that it reaches.
            spec.accuracy = dynamics::build(dynamics, false, &spec)?
                .attention()
                .map_or(EXACT_ACCURACY, |a| a.attainable_accuracy(&x, OutputForm::Tangent));
        }
        let (isa, built) = (spec.isa, dynamics::build(dynamics, false, &spec)?);
        let kernel = built.kernel(&x)?;
        let (mut v, mut work) = (vec![0.0; x.coordinates().len()], Workspace::default());
        let timing =
            with_repeated_evaluations(&x, || time(|| built.rates(0.0, &x, &mut work, &mut v)));
        let alone = time(|| built.rates(0.0, &x, &mut work, &mut v));
        let peaks = Peaks::measure(isa);
        let deviation = self.deviation(&x, &v)?;
        let pairs = (n as f64).powi(2) / timing.median;
        // 3 d fused operations per pair of tokens: its score and two sums. Exponentials are not
        // counted.
        let fraction = 3.0 * (n as f64).powi(2) * d as f64 / timing.median / peaks.flops;
        let exponentials = timing.median / ((n as f64).powi(2) * peaks.exponential);
        let json = json!({"median_seconds": timing.median, "best_seconds": timing.best, "alone_seconds": alone.median, "pairs_per_second": pairs,
            "repetitions": timing.repetitions, "n": n, "d": d, "beta": beta, "dynamics": dynamics, "threads": rayon::current_num_threads(),
            "kernel": kernel, "simd": isa.name(), "accuracy": spec.accuracy, "largest_deviation": deviation,
            "fraction_of_peak": fraction, "times_exponentials_alone": exponentials, "peak": peaks.json()});
        let text = format!(
            "{:.4e} s per right-hand side ({} kernel, {}), {:.3} ns per pair, {} threads, {} repetitions\n{:.4e} s for a single call, with the time to wake the threads\n{:.0} % of the peak counting 3 n^2 d operations; {exponentials:.2} times n^2 exponentials alone\nlargest deviation of {CHECKED_ROWS} rows from the exact sums: {deviation:.1e} of the largest of them\n{}",
            timing.median,
            kernel,
            isa.name(),
            1e9 / pairs,
            rayon::current_num_threads(),
            timing.repetitions,
            alone.median,
            100.0 * fraction,
            peaks.text()
        );
        out.result(&json, &text);
        Ok(0)
    }

    /// Largest deviation of some rows from the exact sums, relative to the longest row.
    fn deviation(&self, x: &Tokens, v: &[f64]) -> Result<f64> {
        let (n, d) = (x.n(), x.d());
        let step = n.div_ceil(CHECKED_ROWS);
        let (mut worst, mut longest) = (0.0f64, 0.0f64);
        let exact = dynamics::build(&self.dynamics, false, &Spec::new(self.beta, n))?;
        for i in (0..n).step_by(step) {
            let row = exact.attention().map_or_else(
                || exact.velocity(x)[i * d..(i + 1) * d].to_vec(),
                |a| a.apply_row(x, OutputForm::Tangent, i),
            );
            let difference = row
                .iter()
                .zip(&v[i * d..(i + 1) * d])
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>()
                .sqrt();
            worst = worst.max(difference);
            longest = longest.max(row.iter().map(|a| a * a).sum::<f64>().sqrt());
        }
        Ok(worst / longest.max(f64::MIN_POSITIVE))
    }
}
