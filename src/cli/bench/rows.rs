//! `bench rows`: tokens of R^d, a step with noise, layers with random values.

use super::timing::{Timing, time};
use crate::attention::Dynamics;
use crate::attention::noise::Isotropic;
use crate::attention::random_values::RandomValues;
use crate::attention::{Spec, kernel::Attention, model::Model};
use crate::cli::output::Output;
use crate::error::{Result, in_range};
use crate::flow::{Options, Splitting, WALK_ACCURACY, Walk, solve, velocity_accuracy, walk};
use crate::num::stream::Stream;
use crate::sphere::{Tokens, law::Law};
use serde_json::json;

/// Flags of `bench rows`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Starts of the flow of R^d.
    #[arg(long, default_value_t = 20)]
    starts: usize,
    /// Its tolerance.
    #[arg(long, default_value_t = 1e-10)]
    rtol: f64,
}

/// A matrix with one growing direction (arXiv:2305.05465, one of the printed ones).
const V: [f64; 9] = [0.2362413, 0.0599536, 0.40506019, 0.81321448, 0.49948705, 0.33754772, 0.2160645, 0.38505272, 0.14588075];

/// Its rows are one-hot by then.
const T_END: f64 = 8.0;

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        in_range("--starts", self.starts as f64, 1.0, 100_000.0)?;
        in_range("--rtol", self.rtol, 1e-14, 1e-2)?;
        let (flow, step, layer, numbers) = (self.flow()?, noisy_step()?, random_layer()?, random_numbers());
        let per_start = flow.median / self.starts as f64;
        let json = json!({"flow_seconds_per_start": per_start, "flow_starts": self.starts, "flow_rtol": self.rtol, "noisy_step_seconds": step.median, "random_layer_seconds": layer.median, "random_numbers_seconds": numbers.median,
            "threads": rayon::current_num_threads()});
        let text = format!(
            "{per_start:.3e} s for a flow of R^3, n = 40, to t = {T_END} at rtol {:e}\n{:.3e} s for a Strang step with noise, n = 4096, d = 3\n{:.3e} s for a layer with random values, 64 systems, n = 16, d = 256, of which {:.3e} s for normal numbers\n{} threads",
            self.rtol,
            step.median,
            layer.median,
            numbers.median,
            rayon::current_num_threads()
        );
        out.result(&json, &text);
        Ok(0)
    }

    fn flow(&self) -> Result<Timing> {
        use rayon::prelude::*;
        let model = Model { rescaled: true, heads: vec![[None, None, Some((3, V.to_vec())), None]], ..Model::default() };
        let starts = (0..self.starts).map(|k| {
            let mut x = vec![0.0; 120];
            Stream::new(1, &["bench rows", &k.to_string()]).normals(&mut x);
            Tokens::flat(3, x)
        });
        let starts = starts.collect::<Result<Vec<_>>>()?;
        let spec = Spec { accuracy: velocity_accuracy(self.rtol, 1.0), ..Spec::new(1.0, 40) };
        let dynamics = model.build("sa", false, &spec, 3)?;
        let rtol = self.rtol;
        let run = |x: &Tokens| {
            let options = Options { rtol, merge_radius: 0.0, ..Options::default() };
            crate::num::threads::sequentially(|| solve(&dynamics, x, T_END, &options, &mut []).map(|_| ()))
        };
        starts.par_iter().with_max_len(1).try_for_each(run)?;
        Ok(time(|| {
            let _ = starts.par_iter().with_max_len(1).try_for_each(run);
        }))
    }
}

fn noisy_step() -> Result<Timing> {
    let x = Law::parse("uniform")?.sample(4096, 3, &mut Stream::new(1, &["bench rows", "noise"]))?;
    let (noise, sa) = (Isotropic::new(10.0)?, Dynamics::of(Attention { accuracy: WALK_ACCURACY, ..Attention::new(4.0) }));
    // Ten steps: a run has its buffers once.
    let plan = Walk { noise: &noise, step: 0.01, seed: 1, splitting: Splitting::Strang, cancel: None };
    walk(&sa, &x, 0.1, &plan, &mut [])?;
    let ten = time(|| {
        let _ = walk(&sa, &x, 0.1, &plan, &mut []);
    });
    Ok(Timing { median: 0.1 * ten.median, best: 0.1 * ten.best, repetitions: ten.repetitions })
}

/// The normal numbers alone of [`random_layer`].
fn random_numbers() -> Timing {
    use rayon::prelude::*;
    let mut systems: Vec<(Vec<f64>, Stream)> =
        (0..64).map(|k| (vec![0.0; 16 * 256], Stream::new(1, &["bench rows", "layer", &k.to_string()]))).collect();
    time(|| systems.par_iter_mut().for_each(|(x, stream)| stream.normals(x)))
}

fn random_layer() -> Result<Timing> {
    use rayon::prelude::*;
    let layer = RandomValues::new(1.0, 0.1)?;
    let system = |k: usize| -> Result<(Tokens, Stream)> {
        let mut stream = Stream::new(1, &["bench rows", "layer", &k.to_string()]);
        Ok((Law::parse("uniform")?.sample(16, 256, &mut stream)?, stream))
    };
    let mut systems = (0..64).map(system).collect::<Result<Vec<_>>>()?;
    Ok(time(|| systems.par_iter_mut().for_each(|(x, stream)| layer.apply(x, stream))))
}
