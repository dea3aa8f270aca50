//! `bench sweep`: the workload of the phase diagram. Random starts for each beta are integrated to
//! time T; the share of merged pairs is recorded.

use crate::attention::{RowWeights, Spec, dynamics, kernel::EXACT_ACCURACY, layer::Layer};
use crate::cli::input::KernelArguments;
use crate::cli::output::Output;
use crate::error::{Error, Result};
use crate::flow::observable::{self, RunParameters, linear_times};
use crate::flow::{
    Options, Recorder, apply_layers_many, integrator, preferred_batch, solve_many,
    velocity_accuracy,
};
use crate::num::{stream::Stream, threads::sequentially};
use crate::sphere::{Tokens, law::Law};
use rayon::prelude::*;
use serde_json::json;
use std::time::Instant;

/// Flags of `bench sweep`.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub struct Arguments {
    /// Number of tokens.
    #[arg(long, default_value_t = 32)]
    n: usize,
    /// Dimension.
    #[arg(long, default_value_t = 2)]
    d: usize,
    /// Name of the dynamics (`list dynamics`).
    #[arg(long, default_value = "sa")]
    dynamics: String,
    /// Number of betas in [0.1, 9].
    #[arg(long, default_value_t = 10)]
    betas: usize,
    /// Number of starts for each beta.
    #[arg(long, default_value_t = 64)]
    starts: usize,
    /// End time.
    #[arg(long, default_value_t = 30.0)]
    t_end: f64,
    /// Step of a layer; for USA it is divided by max(sqrt(beta) e^{beta - 1/2}, 1), as published.
    #[arg(long, default_value_t = 0.1)]
    eta: f64,
    /// Use adaptive steps with this tolerance instead of layers.
    #[arg(long)]
    rtol: Option<f64>,
    /// Merge radius of adaptive runs. Default: 10 sqrt(rtol), at most 0.01. Pairs closer than 0.045
    /// count as merged; the error of their mean share is 1.5e-4 at radius 0.01 and 1.2e-5 at 0.001
    /// (layers of step 0.1: 9e-3).
    #[arg(long)]
    merge_radius: Option<f64>,
    #[command(flatten)]
    kernel: KernelArguments,
}

/// Number of sample times, including t = 0.
const SAMPLES: usize = 201;

impl Arguments {
    /// Runs the benchmark.
    pub fn run(self, out: &Output) -> Result<i32> {
        if self.betas == 0
            || self.starts == 0
            || self.n < 2
            || !(self.t_end > 0.0 && self.eta > 0.0)
        {
            return Err(Error::parameter(
                "bench sweep",
                "an empty sweep",
                "at least one beta and start, n >= 2, positive t-end and eta",
            ));
        }
        let betas: Vec<f64> = (0..self.betas)
            .map(|k| 0.1 + 8.9 * k as f64 / (self.betas.max(2) - 1) as f64)
            .collect();
        let law = Law::parse("uniform")?;
        let starts = (0..self.starts)
            .map(|m| law.sample(self.n, self.d, &mut Stream::new(1, &["sweep", &m.to_string()])))
            .collect::<Result<Vec<_>>>()?;
        let started = Instant::now();
        let tasks: Vec<(f64, &[Tokens])> = betas
            .iter()
            .flat_map(|b| starts.chunks(preferred_batch(self.d)).map(|s| (*b, s)))
            .collect();
        let shares: Vec<Vec<f64>> = tasks
            .par_iter()
            .with_max_len(1)
            .map(|(beta, starts)| sequentially(|| self.batch(*beta, starts)))
            .collect::<Result<_>>()?;
        let seconds = started.elapsed().as_secs_f64();
        let per_beta = tasks.len() / betas.len();
        let curves: Vec<Vec<f64>> =
            shares.chunks(per_beta).map(|parts| mean(parts, self.starts)).collect();
        let unit = seconds / (self.betas as f64 * self.starts as f64 * self.t_end);
        let published_hours = unit * 90.0 * 2048.0 * 30.0 / 3600.0;
        let method = self.rtol.map_or(format!("layers of step {}", self.eta), |r| {
            format!("adaptive steps at rtol {r:e}")
        });
        let json = json!({"total_seconds": seconds, "seconds_per_beta_start_time": unit, "published_grid_hours": published_hours,
            "n": self.n, "d": self.d, "betas": betas, "starts": self.starts, "t_end": self.t_end, "dynamics": self.dynamics, "method": method,
            "threads": rayon::current_num_threads(), "pair_share": curves});
        let last = |k: usize| curves[k].last().copied().unwrap_or(0.0);
        let text = format!(
            "{seconds:.3} s for {} betas x {} starts of {} tokens, d = {}, to t = {} by {method}, {} threads\n{:.3e} s per beta, start and unit of time; the published grid (90 x 2048, t = 30) would take {:.1} s\nshare of merged pairs at the end: {:.4} at beta = {}, {:.4} at beta = {}",
            self.betas,
            self.starts,
            self.n,
            self.d,
            self.t_end,
            rayon::current_num_threads(),
            unit,
            published_hours * 3600.0,
            last(0),
            betas[0],
            last(betas.len() - 1),
            betas[betas.len() - 1],
        );
        out.table(&json, &["betas", "pair_share"], &text);
        Ok(0)
    }

    /// The share of merged pairs at the sample times, summed over the starts.
    fn batch(&self, beta: f64, starts: &[Tokens]) -> Result<Vec<f64>> {
        let accuracy = self.rtol.map_or(EXACT_ACCURACY, |rtol| velocity_accuracy(rtol, beta));
        let dynamics = dynamics::build(
            &self.dynamics,
            false,
            &self.kernel.apply(Spec::new(beta, self.n), accuracy)?,
        )?;
        let setting = RunParameters { n: self.n, d: self.d, beta };
        let share = observable::find("pair-share")?;
        let recorder =
            || Recorder::new(setting, linear_times(self.t_end, SAMPLES), false, vec![share]);
        let mut recorders: Vec<Recorder> = starts.iter().map(|_| recorder()).collect();
        if let Some(rtol) = self.rtol {
            let merge_radius = self.merge_radius.unwrap_or((10.0 * rtol.sqrt()).min(0.01));
            let options = Options {
                rtol,
                integrator: integrator("dop853")?,
                merge_radius,
                ..Options::default()
            }
            .validated()?;
            solve_many(&dynamics, starts, self.t_end, &options, &mut recorders)?;
        } else {
            let weights = dynamics::find(&self.dynamics, false)?.variant.map(|v| v.weights);
            let rule = if weights == Some(RowWeights::Exponential) {
                (beta.sqrt() * (beta - 0.5).exp()).max(1.0)
            } else {
                1.0
            };
            let eta = self.eta / rule;
            let layers = (self.t_end / eta - 1e-9).ceil() as usize;
            apply_layers_many(
                &dynamics,
                &mut starts.to_vec(),
                Layer::new(eta)?,
                layers,
                eta,
                None,
                &mut recorders,
            )?;
        }
        let mut sums = vec![0.0; SAMPLES];
        for recorder in &recorders {
            let column = recorder.table.column("pair_share");
            // After the end of a run its share stays constant.
            (0..SAMPLES)
                .for_each(|k| sums[k] += column.get(k).or(column.last()).copied().unwrap_or(0.0));
        }
        Ok(sums)
    }
}

fn mean(parts: &[Vec<f64>], starts: usize) -> Vec<f64> {
    (0..SAMPLES).map(|k| parts.iter().map(|p| p[k]).sum::<f64>() / starts as f64).collect()
}
