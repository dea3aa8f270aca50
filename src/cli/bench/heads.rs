//! `bench heads`: projections, attention and output of random heads, compared with the machine's
//! peak.

use super::peak::Peaks;
use super::timing::{Timing, time};
use crate::attention::heads::{HeadsProblem, HeadsWorkspace, apply, apply_f32, reference};
use crate::attention::pattern::{Alibi, Causal, CombinedPattern, Pattern};
use crate::attention::{Head, kernel::Weights};
use crate::error::{Error, Result};
use crate::num::{simd::Isa, stream::Stream, threads::with_spinning_workers};
use crate::operation::{Answer, Operation, Parameters, any, at_least, column};
use crate::parameters;
use serde_json::json;

parameters! {
    /// Parameters of `bench heads`.
    struct Heads {
        ..timing: Timing;
        /// Number of queries.
        n: usize, at_least(1.0).or("512");
        /// Number of sources (keys and values). Default: the queries are the sources.
        memory: Option<usize>, at_least(1.0);
        /// Dimension.
        d: usize, at_least(1.0).or("256");
        /// Number of heads; the matrices of each have d / heads rows.
        heads: usize, at_least(1.0).or("1");
        /// Causal mask: query i sees the sources j <= i.
        causal: bool;
        /// Add ALiBi biases.
        alibi: bool;
        /// Compute in single precision.
        f32: bool;
        /// Instruction set: auto, avx512, avx2, portable.
        simd: String, any().or("auto").hidden();
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    family: "bench",
    name: "heads",
    group: "Develop",
    summary: "Projections, attention and output of several heads",
    notes: "Examples:
  metastable bench heads --n 512 --d 256 --heads 8",
    parameters: Heads::table,
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
        column("gflops", "billions of operations per second"),
        column("sources", "number of keys and values"),
        column("heads", "number of heads"),
        column("causal", "whether a causal mask is used"),
        column("alibi", "whether ALiBi biases are added"),
        column("f32", "whether single precision is used"),
    ],
    run: |given, _| Heads::of(given)?.run(),
    ..Operation::EMPTY
};

/// Largest n d^2 at which the result is compared with the definition in double-double numbers,
/// which then takes a few seconds.
const MAX_CHECKED: usize = 1 << 25;

impl Heads {
    /// Runs the benchmark.
    fn run(self) -> Result<Answer> {
        self.timing.set();
        let Self { n, d, heads: count, .. } = self;
        let sources = self.memory.unwrap_or(n);
        let isa = Isa::parse(&self.simd)?;
        self.check(sources)?;
        let mut stream = Stream::new(1, &["bench", "heads"]);
        let mut normals = |count: usize, scale: f64| {
            let mut x = vec![0.0; count];
            stream.normals(&mut x);
            x.iter_mut().for_each(|x| *x *= scale);
            x
        };
        let x = normals(n * d, 1.0);
        let memory = self.memory.map(|m| normals(m * d, 1.0));
        let (r, scale) = (d / count, 1.0 / (d as f64).sqrt());
        let heads = (0..count)
            .map(|_| {
                let [q, k, v, o] = std::array::from_fn(|_| normals(r * d, scale));
                Head::with_output(d, Some((r, q)), Some((r, k)), Some((r, v)), (d, o))
            })
            .collect::<Result<Vec<_>>>()?;
        let pattern = self.pattern()?;
        let masses = vec![1.0 / sources as f64; sources];
        let y = memory.as_deref().unwrap_or(&x);
        let beta = 1.0 / (r as f64).sqrt();
        let (pattern, weights) = (&pattern, Weights::Softmax);
        let job = HeadsProblem {
            queries: &x,
            sources: y,
            masses: &masses,
            d,
            beta,
            heads: &heads,
            pattern,
            weights,
            isa,
        };
        let (mut work, mut result) = (HeadsWorkspace::default(), vec![0.0; n * d]);
        let mut once = || {
            if self.f32 {
                apply_f32(&job, &mut work, &mut result)
            } else {
                apply(&job, &mut work, &mut result)
            }
        };
        once()?;
        let timing = with_spinning_workers(|| time(|| drop(once())));
        let peaks = Peaks::measure(isa);
        let deviation = if sources.max(n) * d * d <= MAX_CHECKED {
            Some(relative_deviation(&result, &reference(&job)?))
        } else {
            None
        };
        let pairs: usize = (0..n).map(|i| pattern.visible(i, sources).len()).sum();
        let operations = 4.0 * ((n + sources) * d * d) as f64 + 4.0 * pairs as f64 * d as f64;
        let rate = operations / timing.median;
        let fraction = rate / (peaks.flops * if self.f32 { 2.0 } else { 1.0 });
        let json = json!({"median_seconds": timing.median, "best_seconds": timing.best, "repetitions": timing.repetitions,
            "gflops": 1e-9 * rate, "fraction_of_peak": fraction, "n": n, "sources": sources, "d": d, "heads": count, "causal": self.causal,
            "alibi": self.alibi, "f32": self.f32, "threads": rayon::current_num_threads(), "simd": isa.name(),
            "largest_deviation": deviation, "peak": peaks.json()});
        let shown = deviation.map_or("not compared with the definition: the problem is too large".into(), |e| {
            format!("largest deviation from the double-double definition: {e:.1e} of the largest entry")
        });
        let text = format!(
            "{:.4e} s for {count} heads ({}, {}), {} threads, {} repetitions\n{:.1} GFLOP/s, {:.0} % of the peak\n{shown}\n{}",
            timing.median,
            if self.f32 { "f32" } else { "f64" },
            isa.name(),
            rayon::current_num_threads(),
            timing.repetitions,
            1e-9 * rate,
            100.0 * fraction,
            peaks.text()
        );
        Ok(Answer::new(json, text))
    }

    fn check(&self, sources: usize) -> Result<()> {
        let within = |name: &str, value: usize, most: usize| match value {
            0 => Err(Error::parameter(name, value, "at least 1")),
            _ if value > most => Err(Error::parameter(name, value, format!("at most {most}"))),
            _ => Ok(()),
        };
        within("--n", self.n, 1 << 20)?;
        within("--memory", sources, 1 << 20)?;
        within("--d", self.d, 1 << 14)?;
        within("--heads", self.heads, self.d)?;
        if self.d.is_multiple_of(self.heads) {
            return Ok(());
        }
        Err(Error::parameter("--heads", self.heads, format!("a divisor of d = {}", self.d)))
    }

    fn pattern(&self) -> Result<CombinedPattern> {
        let mut parts: Vec<Box<dyn Pattern>> = Vec::new();
        if self.causal {
            parts.push(Box::new(Causal));
        }
        if self.alibi {
            parts.push(Box::new(Alibi::new(self.heads)?));
        }
        Ok(CombinedPattern::new(parts))
    }
}

/// Largest difference relative to the largest expected entry.
fn relative_deviation(found: &[f64], expected: &[f64]) -> f64 {
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    found.iter().zip(expected).fold(0.0f64, |m, (x, y)| m.max((x - y).abs())) / largest
}
