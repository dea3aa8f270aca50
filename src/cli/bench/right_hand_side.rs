//! `bench rhs`: the time and the error of one right-hand side, compared with the peak speeds of the
//! machine and with the exact sums.

use super::peak::Peaks;
use super::timing::{Timing, time, time_in_turn};
use crate::attention::interaction::{Interaction, InteractionAttention, RowSum};
use crate::attention::kernel::{
    EXACT_ACCURACY, OutputForm, Weights, Workspace, with_repeated_evaluations,
};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::cli::input::evaluated;
use crate::error::{Error, Result};
use crate::flow::parameters::Evaluation;
use crate::num::stream::Stream;
use crate::operation::{Answer, Operation, Parameters, any, column, within};
use crate::parameters;
use crate::sphere::{Tokens, law::Law};
use serde_json::json;

parameters! {
    /// Parameters of `bench rhs`.
    struct Rhs {
        ..timing: Timing;
        ..kernel: Evaluation;
        /// Number of tokens.
        n: usize, within(1.0, 1e7).or("1024");
        /// Dimension.
        d: usize, within(2.0, 1e6).or("3");
        /// Inverse temperature.
        beta: f64, any().or("4");
        /// Name of the dynamics (`list dynamics`).
        dynamics: String, any().or("sa");
        /// An interaction in the place of e^{beta s}; its time is compared with that of e^{beta s},
        /// in turn.
        interaction: Option<String>, any().form("PHI");
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    family: "bench",
    name: "rhs",
    group: "Develop",
    summary: "One right-hand side for n uniform tokens",
    notes: "Examples:
  metastable bench rhs --n 4096 --d 128 --accuracy 1e-9 --format json
Each speed stands beside the peaks of this machine, measured in the same run.",
    parameters: Rhs::table,
    results: &[
        column("median_seconds", "median time"),
        column("best_seconds", "shortest time"),
        column("repetitions", "number of repetitions"),
        column("threads", "number of threads"),
        column("simd", "instruction set"),
        column("n", "number of tokens"),
        column("d", "dimension"),
        column("largest_deviation", "largest deviation from the definition"),
        column("fraction_of_peak", "share of the peak speed"),
        column("peak", "peak speeds of this machine"),
        column("alone_seconds", "time of a single call"),
        column("pairs_per_second", "pairs of tokens per second"),
        column("beta", "inverse temperature"),
        column("dynamics", "name of the dynamics"),
        column("kernel", "algorithm"),
        column("accuracy", "its accuracy"),
        column("times_exponentials_alone", "time relative to the exponentials alone"),
        column("interaction", "the interaction"),
        column("terms", "terms of its series"),
        column("exponential_seconds", "median time of e^{beta s}"),
        column("exponential_best_seconds", "its shortest time"),
        column("exponential_kernel", "its algorithm"),
        column("times_exponential", "time relative to it"),
    ],
    run: |given, _| Rhs::of(given)?.run(),
    ..Operation::EMPTY
};

/// Number of rows compared with the exact sums.
const CHECKED_ROWS: usize = 16;

impl Rhs {
    /// Runs the benchmark.
    fn run(self) -> Result<Answer> {
        self.timing.set();
        let Self { n, d, beta, ref dynamics, .. } = self;
        let x = Law::parse("uniform")?.sample(n, d, &mut Stream::new(1, &["bench"]))?;
        let mut spec = evaluated(&self.kernel, Spec::new(beta, n), EXACT_ACCURACY)?;
        if self.kernel.accuracy.is_none() {
            // A named algorithm is timed at the accuracy that it reaches.
            spec.accuracy = dynamics::build(dynamics, false, &spec)?
                .attention()
                .map_or(EXACT_ACCURACY, |a| a.attainable_accuracy(&x, OutputForm::Tangent));
        }
        let (isa, built) = (spec.isa, dynamics::build(dynamics, false, &spec)?);
        if let Some(text) = &self.interaction {
            return self.run_interaction(text, &spec, &x, &built);
        }
        let kernel = built.kernel(&x)?;
        let (mut v, mut work) = (vec![0.0; x.coordinates().len()], Workspace::default());
        let timing =
            with_repeated_evaluations(&x, || time(|| built.rates(0.0, &x, &mut work, &mut v)));
        let alone = time(|| built.rates(0.0, &x, &mut work, &mut v));
        let peaks = Peaks::measure(isa);
        let exact = dynamics::build(&self.dynamics, false, &Spec::new(self.beta, n))?;
        let deviation = deviation(&x, &v, |i| {
            exact.attention().map_or_else(
                || exact.velocity(&x)[i * d..(i + 1) * d].to_vec(),
                |a| a.apply_row(&x, OutputForm::Tangent, i),
            )
        });
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
        Ok(Answer::new(json, text))
    }

    /// The benchmark of an interaction, beside the exponential.
    fn run_interaction(
        &self,
        text: &str,
        spec: &Spec,
        x: &Tokens,
        exponential: &Dynamics,
    ) -> Result<Answer> {
        let Some(attention) = exponential.attention() else {
            return Err(Error::parameter("--dynamics", &self.dynamics, "a dynamics of attention"));
        };
        let row_sum = match attention.weights {
            Weights::Softmax => RowSum::Normalised,
            Weights::Exponential { .. } => RowSum::Plain,
        };
        let interaction = Interaction::parse(text, &[("beta", self.beta)])?;
        let terms = interaction.terms();
        let flow = InteractionAttention::new(interaction, row_sum)?
            .causal(attention.causal)
            .repelling(attention.sign < 0.0)
            .with_accuracy(spec.accuracy)
            .with_isa(spec.isa);
        let built = Dynamics::single(flow.clone());
        let (kernel, other) = (built.kernel(x)?, exponential.kernel(x)?);
        let (mut v, mut work) = (vec![0.0; x.coordinates().len()], Workspace::default());
        let (mut w, mut second) = (v.clone(), Workspace::default());
        let [timing, reference] = with_repeated_evaluations(x, || {
            time_in_turn([&mut || built.rates(0.0, x, &mut work, &mut v), &mut || {
                exponential.rates(0.0, x, &mut second, &mut w)
            }])
        });
        let deviation = deviation(x, &v, |i| flow.row(x, OutputForm::Tangent, i));
        let ratio = timing.median / reference.median;
        let json = json!({"median_seconds": timing.median, "best_seconds": timing.best, "repetitions": timing.repetitions, "n": x.n(), "d": x.d(), "beta": self.beta,
            "dynamics": self.dynamics, "interaction": text, "terms": terms, "threads": rayon::current_num_threads(), "kernel": kernel, "simd": spec.isa.name(),
            "accuracy": spec.accuracy, "largest_deviation": deviation, "exponential_seconds": reference.median, "exponential_best_seconds": reference.best,
            "exponential_kernel": other, "times_exponential": ratio});
        let text = format!(
            "{:.4e} s per right-hand side ({kernel}, {}), {terms} terms, {} threads, {} repetitions\n{:.4e} s for e^{{beta s}} ({other}), in turn: {ratio:.2} times as long\nlargest deviation of {CHECKED_ROWS} rows from the exact sums: {deviation:.1e} of the largest of them",
            timing.median,
            spec.isa.name(),
            rayon::current_num_threads(),
            timing.repetitions,
            reference.median,
        );
        Ok(Answer::new(json, text))
    }
}

/// Largest deviation of some rows from the exact ones, relative to the longest row.
fn deviation(x: &Tokens, v: &[f64], exact: impl Fn(usize) -> Vec<f64>) -> f64 {
    let (n, d) = (x.n(), x.d());
    let step = n.div_ceil(CHECKED_ROWS);
    let (mut worst, mut longest) = (0.0f64, 0.0f64);
    for i in (0..n).step_by(step) {
        let row = exact(i);
        let difference = row
            .iter()
            .zip(&v[i * d..(i + 1) * d])
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
            .sqrt();
        worst = worst.max(difference);
        longest = longest.max(row.iter().map(|a| a * a).sum::<f64>().sqrt());
    }
    worst / longest.max(f64::MIN_POSITIVE)
}
