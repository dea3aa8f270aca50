//! `bench hessian`: one Hessian-vector product, the dense Hessian and its spectrum.

use super::timing::time;
use crate::attention::{Energy, EnergyScale, kernel::Workspace};
use crate::cli::output::Output;
use crate::error::Result;
use crate::landscape::spectrum::ends;
use crate::num::{dense::symmetric_eigenvalues, stream::Stream};
use crate::sphere::law::Law;
use serde_json::json;

/// Flags of `bench hessian`.
#[derive(clap::Args)]
#[command(allow_negative_numbers = true)]
pub struct Arguments {
    /// Number of tokens.
    #[arg(long, default_value_t = 128)]
    n: usize,
    /// Dimension.
    #[arg(long, default_value_t = 8)]
    d: usize,
    /// Inverse temperature.
    #[arg(long, default_value_t = 4.0, allow_hyphen_values = true)]
    beta: f64,
    /// Eigenvalues at each end, without a matrix.
    #[arg(long, default_value_t = 0)]
    leading: usize,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let x = Law::parse("uniform")?.sample(self.n, self.d, &mut Stream::new(1, &["bench"]))?;
        let energy = Energy::new(self.beta, EnergyScale::Mean);
        let u = vec![0.01; x.coordinates().len()];
        let mut image = vec![0.0; u.len()];
        let mut work = Workspace::default();
        let product = time(|| energy.scaled_hess_vec(&x, &u, &mut work, &mut image)).median;
        let unknowns = x.n() * (x.d() - 1);
        let (mut dense, mut spectrum) = (None, None);
        if unknowns <= 2000 {
            dense = Some(time(|| drop(energy.scaled_hessian(&x))).median);
            let h = energy.scaled_hessian(&x);
            spectrum = Some(time(|| drop(symmetric_eigenvalues(&h, unknowns))).median);
        }
        let leading = if self.leading > 0 {
            let started = std::time::Instant::now();
            let ends = ends(self.beta, &x, self.leading)?;
            Some((started.elapsed().as_secs_f64(), ends))
        } else {
            None
        };
        let json = json!({"leading_seconds": leading.as_ref().map(|l| l.0), "highest": leading.as_ref().map(|l| l.1.highest.clone()),
            "lowest": leading.as_ref().map(|l| l.1.lowest.clone()), "residual": leading.as_ref().map(|l| l.1.residual), "hess_vec_seconds": product, "dense_seconds": dense, "spectrum_seconds": spectrum, "unknowns": unknowns,
            "n": self.n, "d": self.d, "beta": self.beta, "threads": rayon::current_num_threads()});
        let show = |s: Option<f64>| s.map_or("not formed (more than 2000 unknowns)".into(), |s| format!("{s:.3e} s"));
        let text = format!(
            "{product:.3e} s per Hessian-vector product, {unknowns} unknowns\ndense Hessian {}\nits spectrum {}",
            show(dense),
            show(spectrum)
        );
        let ends = leading.map_or(String::new(), |(seconds, e)| {
            format!("\n{} eigenvalues at each end in {seconds:.2} s, residual {:.1e}", self.leading, e.residual)
        });
        out.result(&json, &(text + &ends));
        Ok(0)
    }
}
